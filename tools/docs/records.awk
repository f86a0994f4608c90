# The part that man.awk and html.awk share: the records of read.awk in arrays, and facts that follow from
# them.
#
# An entry is a header, section, note, group, type, member, constant or code: what[e], name[e], value[e],
# in_section[e], owner[e] (of a member or constant: its type or note). Its comment is block[e, 1] to block[e,
# blocks[e]], each of a block_kind. The program that is run with this one has the functions plain, literal,
# link and web for its kind of text.

BEGIN { FS = "\t" }

function add_entry(kind, called) {
    what[++entries] = kind
    name[entries] = called
    in_header[entries] = header
    in_section[entries] = section
    return entries
}

$1 == "header" {
    header = add_entry("header", base_name($2))
    in_header[header] = header
    section = type = note = 0
    add_page(header, name[header])
}
$1 == "include" { includes[name[header], base_name($2)] = 1 }
$1 == "section" {
    section = add_entry("section", $2)
    in_section[section] = section
    section_called[tolower($2)] = section
    type = note = 0
}
$1 == "note" { note = add_entry("note", ""); type = 0 }
$1 == "group" { group = add_entry("group", ""); functions = errors = 0 }
$1 == "func" { add_function($2, $3, $4) }
$1 == "error" {
    error_count[group] = ++errors
    error_code[group, errors] = $2
    error_condition[group, errors] = $3
    error_meaning[group, errors] = $4
}
$1 == "type" {
    type = add_entry("type", $3)
    value[type] = $2
    type_called[$3] = type
    add_page(type, $3)
}
$1 == "member" {
    add_entry("member", $2)
    value[entries] = $3
    owner[entries] = type
    add_place(name[type] "." $2, page_of[name[type]], $2)
}
$1 == "constant" { add_constant($2, $3) }
$1 == "code" {
    add_entry("code", "SES_" $2)
    value[entries] = $3
    code_text[$2] = $4
    new_block(entries, "para", $4)
    add_place("SES_" $2, "ses_code", "SES_" $2)
}
$1 == "para" || $1 == "item" || $1 == "verse" { new_block(entries, $1, $2) }

function base_name(path) {
    sub(/.*\//, "", path)
    sub(/\.h$/, "", path)
    return path
}

function new_block(e, kind, text) {
    block[e, ++blocks[e]] = text
    block_kind[e, blocks[e]] = kind
}

# Every name has a page, and a place on it if it shares the page.
function add_place(called, page, anchor) {
    page_of[called] = page
    anchor_of[called] = anchor
}

function add_page(e, called) {
    page[++pages] = called
    page_entry[pages] = e
    add_place(called, called, "")
}

function add_function(called, prototype, text) {
    function_count[group] = ++functions
    function_name[group, functions] = called
    function_prototype[group, functions] = prototype
    function_text[group, functions] = text
    group_of[called] = group
    if (functions == 1) {
        name[group] = called
        add_page(group, called)
    } else
        add_place(called, page_of[name[group]], "")
    sub(/^[^(]*/, "", prototype)
    use_types(prototype, called)
}

function add_constant(called, number, prefix, place) {
    add_entry("constant", called)
    value[entries] = number
    owner[entries] = type ? type : note
    if (type)
        constant_called[called] = entries
    place = type ? name[type] : name[header]
    add_place(called, place, called)
    if (!type)
        has_constants[note ? note : section] = has_constants[header] = 1
    if (place == "ses_code" && number > 0)
        positive[called] = entries
    for (prefix = called; type && sub(/_[A-Z0-9]+$/, "", prefix);)
        if (!((prefix "_") in enum_of))
            enum_of[prefix "_"] = type
}

# The header that programs include for an entry: seslite.h also for its parts, which it includes.
function include_of(e) {
    return ("seslite", name[in_header[e]]) in includes ? "seslite" : name[in_header[e]]
}

# ---- what is used where

# Notes that `user`, a call or a type, uses the types in the text.
function use_types(text, user, used) {
    while (match(text, /ses_[a-z0-9_]+/)) {
        used = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if (used != "ses_error" && used != user && !((used, user) in is_use)) {
            is_use[used, user] = 1
            use[used, ++uses[used]] = user
        }
    }
}

function find_uses(e, i, n, text, used) {
    for (e = 1; e <= entries; e++) {
        if (what[e] != "member")
            continue
        use_types(value[e], name[owner[e]])
        n = find_constants(e)
        for (i = 1; i <= n; i++)
            use_types(name[owner[constant_taken[i]]], name[owner[e]])
        for (i = 1; i <= blocks[e]; i++) {
            text = block[e, i]
            while (match(text, /SES_[A-Z_]*_\*/)) {
                used = substr(text, RSTART, RLENGTH - 1)
                text = substr(text, RSTART + RLENGTH)
                if (used in enum_of)
                    use_types(name[enum_of[used]], name[owner[e]])
            }
        }
    }
}

# The page on which the options are described in full: that of the first call that takes them.
function options_home(e) {
    return value[e] == "struct" && name[e] ~ /_options$/ && uses[name[e]] && (use[name[e], 1] in group_of) \
        ? page_of[use[name[e], 1]] : ""
}

# ---- short descriptions

# The beginning of the first sentence: "appends one event, a JSON object as the ADK writes it".
function summary(e, text) {
    if (!blocks[e])
        return derived_summary(e)
    text = block[e, 1]
    sub(/^seslite: /, "", text)
    gsub(/ \(http[^)]*\)/, "", text)
    sub(/^(Each of these calls|These calls) /, "", text)
    if (match(text, /[.:;]( |$)/))
        text = substr(text, 1, RSTART - 1)
    sub(/ \([^)]*$/, "", text)
    if (text ~ /^[A-Z][a-z]*( |$)/)
        text = tolower(substr(text, 1, 1)) substr(text, 2)
    return text
}

# Options and flags may have no comment: they are those of what takes them.
function derived_summary(e, i, list) {
    for (i = 1; i <= uses[name[e]]; i++)
        list = list (i == 1 ? "" : i == uses[name[e]] ? " and " : ", ") use[name[e], i]
    return (name[e] ~ /flags$/ ? "flags of " : "options of ") list
}

function sentence(text) {
    if (text ~ /^[a-z]+[ ,;']/)
        text = toupper(substr(text, 1, 1)) substr(text, 2)
    return text (text ~ /([.:]\)?|\*)$/ ? "" : ".")
}

# ---- running text

# The names, codes, `code` and addresses in a text as links or marked, by the functions of the program.
function inline(text, out, token) {
    while (match(text, /`[^`]*`|(ses|SES)_[A-Za-z0-9_]*\*?(\.[a-z_]+)?|https?:[^ )]*|\(see [A-Z][^).,;]*|[A-Z][A-Z]+/)) {
        token = substr(text, RSTART, RLENGTH)
        out = out plain(substr(text, 1, RSTART - 1))
        text = substr(text, RSTART + RLENGTH)
        out = out inline_token(token)
    }
    return out plain(text)
}

function inline_token(token, inner, title) {
    if (token ~ /^`/) {
        inner = substr(token, 2, length(token) - 2)
        return inner in page_of ? link(inner, inner) : literal(inner)
    }
    if (token ~ /^http/)
        return web(token)
    if (token ~ /^\(see [A-Z]/) {
        if (token ~ /^\(see SES_/)
            return plain("(see ") inline_token(substr(token, 6))
        title = tolower(substr(token, 6))
        sub(/ in seslite.*/, "", title)
        return plain("(see ") section_link(section_called[title], substr(token, 6))
    }
    if (token ~ /\*$/)
        return wildcard(token, substr(token, 1, length(token) - 1))
    if (token in page_of)
        return link(token, token)
    inner = token
    if (sub(/\..*/, "", inner) && inner in page_of)
        return link(inner, inner) plain(substr(token, length(inner) + 1))
    if (token in code_text && token != "JSON")
        return link("SES_" token, token)
    return plain(token)
}

# "SES_OPEN_*" leads to the enum of these constants.
function wildcard(token, prefix) { return (prefix in enum_of) ? link(name[enum_of[prefix]], token) : literal(token) }

# The types and calls that a page should lead to: those that its text and its prototypes name, and its
# section's.
function collect_see(e, i, j, p) {
    split("", seen)
    see_count = 0
    seen[page_of[name[e]]] = 1
    for (i = 1; i <= blocks[e]; i++)
        see_names(block[e, i])
    for (i = 1; i <= function_count[e]; i++)
        see_names(function_prototype[e, i])
    for (p = 1; p <= pages; p++)
        if (in_section[e] && in_section[page_entry[p]] == in_section[e] && what[page_entry[p]] == "group")
            see(page[p])
    for (i = 1; i <= uses[name[e]]; i++)
        see(use[name[e], i])
}

function see_names(text) {
    while (match(text, /(ses|SES)_[A-Za-z0-9_]+/)) {
        see(substr(text, RSTART, RLENGTH))
        text = substr(text, RSTART + RLENGTH)
    }
}

function see(called, place) {
    place = (called in page_of) ? page_of[called] : ""
    if (place != "" && !(place in seen) && what[page_entry_of(place)] != "header") {
        seen[place] = 1
        see_also[++see_count] = place
    }
}

function page_entry_of(place, p) {
    if (!has_page_index) {
        for (p = 1; p <= pages; p++)
            entry_of_page[page[p]] = page_entry[p]
        has_page_index = 1
    }
    return entry_of_page[place]
}

# The positive codes that a call returns: those that its comment names, in positive_code[1] to
# positive_code[n].
function find_positive_codes(e, text, n, i, named) {
    for (i = 1; i <= blocks[e]; i++)
        text = text " " block[e, i]
    for (n = 0; match(text, /SES_[A-Z]+/);) {
        named = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        if ((named in positive) && !((e, named) in is_found)) {
            is_found[e, named] = 1
            positive_code[++n] = positive[named]
        }
    }
    return n
}

function code_meaning(e, i) {
    return error_meaning[e, i] != "" ? error_meaning[e, i] : code_text[error_code[e, i]]
}

# The members or constants of a type are the entries after it.
function is_part(m) { return m <= entries && what[m] ~ /^(member|constant|code)$/ }

# Finds the constants that a member takes, as constant_taken[1] and so on: its comment begins with SES_OPEN_*,
# for example, or names them: SES_ANYWAY, SES_SECURE. Returns how many these are.
function find_constants(m, n, text, token, c) {
    text = what[m] == "member" ? block[m, 1] : ""
    for (; match(text, /^SES_[A-Z0-9_]*\*?/); sub(/^, /, "", text)) {
        token = substr(text, 1, RLENGTH)
        text = substr(text, RLENGTH + 1)
        if (token in constant_called)
            constant_taken[++n] = constant_called[token]
        else if (sub(/\*$/, "", token) && token in enum_of)
            for (c = enum_of[token] + 1; is_part(c); c++)
                constant_taken[++n] = c
    }
    return n + 0
}

# Whether the section has notes before the entry, beside those of constants.
function has_notes(s, before, i) {
    for (i = s; i && i < before; i++)
        if (what[i] == "note" && blocks[i] && !has_constants[i])
            return 1
    return 0
}

# The options that a call of the group takes.
function options_of(e, i, text) {
    for (i = 1; i <= function_count[e]; i++) {
        text = function_prototype[e, i]
        while (match(text, /ses_[a-z_]+_options/)) {
            if (substr(text, RSTART, RLENGTH) in type_called)
                return type_called[substr(text, RSTART, RLENGTH)]
            text = substr(text, RSTART + RLENGTH)
        }
    }
    return 0
}

# ---- declarations, as lines declared[1] to declared[n]

# "int ses_x(a, b)" in lines of at most `width` signs.
function wrap_prototype(text, width, n) {
    n = wrap_at(text, width, index(text, "("))
    return n ? n : wrap_at(text, width, 4)
}

function wrap_at(text, width, indent, n, room) {
    for (n = 1; ; n++) {
        room = n == 1 ? width : width - indent
        declared[n] = sprintf("%" (n == 1 ? "" : indent) "s", "")
        if (length(text) <= room) {
            declared[n] = declared[n] text
            return n
        }
        match(substr(text, 1, room), /^.*, /)
        if (RLENGTH < 1)
            return 0
        declared[n] = declared[n] substr(text, 1, RLENGTH - 1)
        text = substr(text, RLENGTH + 1)
    }
}

function declare_type(e, n, m, outer, inner, parts) {
    if (value[e] == "handle") {
        declared[1] = "typedef struct " name[e] " " name[e] ";"
        return 1
    }
    if (value[e] == "callback")
        return wrap_prototype(block[e, blocks[e]], 72)
    declared[n = 1] = "typedef " value[e] " " name[e] " {"
    for (m = e + 1; is_part(m); m++) {
        inner = split(name[m], parts, /\./) > 1
        if (outer != "" && !inner) {
            declared[++n] = "    } " outer ";"
            outer = ""
        }
        if (what[m] == "constant")
            declared[++n] = "    " name[m] " = " value[m] ","
        else if (what[m] == "member" && value[m] == "struct " name[m] ";") {
            outer = name[m]
            declared[++n] = "    struct {"
        } else if (what[m] == "member")
            declared[++n] = (inner ? "        " : "    ") value[m]
    }
    if (outer != "")
        declared[++n] = "    } " outer ";"
    declared[++n] = "} " name[e] ";"
    return n
}
