# The part of read.awk that is about comments: their blocks, the names in them, and the codes of calls.

# ---- comments: the comment read last is block[1] to block[blocks], each of a kind, with the number of its
# line

# Reads the comment that begins at `at`, or in `rest`, the part of the line after a declaration.
function read_comment(rest, text, first) {
    first = at
    blocks = open_block = gap = 0
    text = rest != "" ? rest : trim(line[at])
    sub(/^\/\* ?/, "", text)
    while (text !~ /\*\// && at < count) {
        add_line(text)
        text = trim_left_star(line[++at])
    }
    if (text ~ /\*\/./ && trim(substr(text, index(text, "*/") + 2)) != "")
        fault(at, "something follows the comment on its line")
    sub(/ *\*\/.*$/, "", text)
    add_line(text)
    at++
    comment_line = first
}

function trim_left_star(text) {
    sub(/^[ \t]*\*?( |$)/, "", text)
    if (text ~ /^\//)
        text = "*" text
    return text
}

function add_line(text) {
    sub(/[ \t]+$/, "", text)
    if (text == "") {
        gap = open_block && kind[blocks] == "verse"
        open_block = 0
    }
    else if (text ~ /^ - /)
        new_block("item", substr(text, 4))
    else if (text ~ /^    / && gap && !open_block) {
        new_block("verse", "")
        new_block("verse", substr(text, 5))
    } else if (text ~ /^    / && (!open_block || kind[blocks] == "verse"))
        new_block("verse", substr(text, 5))
    else if (!open_block && text ~ /^[^ ]/)
        new_block("para", text)
    else if (open_block && kind[blocks] == "item" ? text ~ /^   [^ ]/ : text ~ /^[^ ]/)
        block[blocks] = block[blocks] " " trim(text)
    else
        fault(at, "the line is indented as neither text, an item nor code")
}

function new_block(what, text) {
    kind[++blocks] = what
    block[blocks] = text
    block_line[blocks] = at
    open_block = 1
}

function print_blocks(i) {
    for (i = 1; i <= blocks; i++) {
        check_text(block_line[i], block[i], kind[i])
        if (block[i] != "" || kind[i] == "verse")
            print_record(kind[i], block[i])
    }
    blocks = has_comment = 0
}

function whole_comment(i, text) {
    for (i = 1; i <= blocks; i++)
        text = text " " block[i]
    return substr(text, 2)
}

# Notes the names in a comment. check_names looks for them when all headers are read.
function check_text(number, text, what, name) {
    if (what == "verse")
        return
    if (gsub(/`/, "`", text) % 2)
        fault(number, "a ` without its pair")
    while (match(text, /(ses|SES)_[A-Za-z0-9_]*\*?(\.[a-z_]+)?|\(see [A-Z][^).,;]*/)) {
        name = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        mention[++mentions] = name
        mention_place[mentions] = file ":" number
    }
}

function check_names(i, name, member, known) {
    for (i = 1; i <= mentions; i++) {
        name = mention[i]
        member = index(name, ".") ? name : ""
        if (name ~ /^\(see SES_/ || name == "SES_")
            continue
        if (name ~ /^\(see /) {
            name = tolower(substr(name, 6))
            sub(/ in seslite.*/, "", name)
            known = name in is_section
        } else if (name ~ /\*$/)
            known = substr(name, 1, length(name) - 1) in is_prefix
        else {
            sub(/\..*/, "", name)
            known = name in is_name && (!(name in is_struct) || member == "" || member in is_name)
        }
        if (!known) {
            print mention_place[i] ": " mention[i] " is in no header" | "cat 1>&2"
            failed = 1
        }
    }
}

function note_name(name, prefix) {
    is_name[name] = 1
    for (prefix = name; sub(/_[A-Za-z0-9]*$/, "", prefix);)
        is_prefix[prefix "_"] = 1
}

# ---- codes: "Codes: those of a read, A, B (condition), those of ses_x except C; condition also D."

# Takes the codes of a common set from the rules at the head of a header: "Those of a read are A, B and C."
function take_common_codes(text, sentence, name) {
    while (match(text, /Those of an? [a-z]+ are [A-Z, ]+( and [A-Z]+)?\./)) {
        sentence = substr(text, RSTART, RLENGTH - 1)
        text = substr(text, RSTART + RLENGTH)
        name = sentence
        gsub(/^Those of an? | are .*/, "", name)
        sub(/.* are /, "", sentence)
        gsub(/,| and/, "", sentence)
        common_codes[name] = sentence
    }
}

function take_codes(text, i, last) {
    split("", meaning)
    split("", has_code)
    sets = 0
    last = block[blocks]
    if (match(last, /(^|[.] )Codes: /)) {
        text = substr(last, RSTART + RLENGTH)
        block[blocks] = RSTART == 1 ? substr(last, 1, 0) : substr(last, 1, RSTART)
        sub(/\.$/, "", text)
        read_codes_of(text)
        add_common_codes()
        for (i = 1; i <= blocks; i++)
            take_meanings(i)
    } else if (prototype[1] ~ /^int .*ses_error \*error/)
        fault(comment_line, function_of[1] ": the comment does not end with \"Codes: ...\"")
    for (i = 1; i <= blocks; i++)
        if (block[i] ~ /(^|[.] )Codes: /)
            fault(block_line[i], function_of[1] ": \"Codes:\" is not the last sentence")
    for (i = 1; i <= functions; i++)
        codes_of[function_of[i]] = all_codes()
}

function all_codes(i, text) {
    for (i = 1; i <= errors; i++)
        if (error_code[i] != "")
            text = text " " error_code[i]
    return text == "" ? " " : text
}

# Clauses are divided by ";". In one, words before a code are the condition of it and of those after it.
function read_codes_of(text, clauses, clause, i, j, parts, part, condition, words) {
    clauses = split(hide_inner(text), clause, /; */)
    for (i = 1; i <= clauses; i++) {
        condition = words = ""
        parts = split(clause[i], part, /, */)
        for (j = 1; j <= parts; j++) {
            sub(/^and /, "", part[j])
            if (part[j] ~ /those of ses_/) {
                take_codes_from(part[j])
                words = ""
            } else if (part[j] ~ /^those of an? /) {
                set[++sets] = part[j]
            } else if (match(part[j], /(^| )[A-Z]+( \(.*\))?$/)) {
                words = words (words == "" ? "" : ", ") trim(substr(part[j], 1, RSTART - 1))
                if (words != "")
                    condition = words
                sub(/,? *also$/, "", condition)
                add_code(trim(substr(part[j], RSTART, RLENGTH)), condition)
                words = ""
            } else if (part[j] ~ /^(those|every|any) /)
                add_error("", part[j])
            else
                words = words (words == "" ? "" : ", ") part[j]
        }
        if (words != "")
            fault(comment_line, function_of[1] ": not understood in its codes: " words)
    }
}

# Signs in parentheses do not divide.
function hide_inner(text, shown) {
    while (match(text, /\([^()]*[;,][^()]*\)/)) {
        shown = substr(text, RSTART, RLENGTH)
        gsub(/;/, "\1", shown)
        gsub(/,/, "\2", shown)
        text = substr(text, 1, RSTART - 1) shown substr(text, RSTART + RLENGTH)
    }
    return text
}

function show_inner(text) {
    gsub(/\1/, ";", text)
    gsub(/\2/, ",", text)
    return text
}

function add_code(text, condition, code) {
    code = text
    sub(/ .*/, "", code)
    if (match(text, /\(.*\)/))
        condition = show_inner(substr(text, RSTART + 1, RLENGTH - 2))
    if (!(code in is_code))
        fault(comment_line, function_of[1] ": there is no code " code)
    if (code in has_code)
        fault(comment_line, function_of[1] ": the code " code " is listed twice")
    add_error(code, condition)
}

function add_error(code, condition) {
    error_code[++errors] = code
    error_condition[errors] = condition
    has_code[code] = 1
    condition_of[code] = condition
}

# "those of ses_append except EXISTS and LEASED"
function take_codes_from(text, name, except, i, n, code) {
    match(text, /ses_[a-z0-9_]+/)
    name = substr(text, RSTART, RLENGTH)
    except = substr(text, RSTART + RLENGTH) " "
    if (!(name in codes_of))
        fault(comment_line, function_of[1] ": no comment above lists the codes of " name)
    n = split(codes_of[name], code, " ")
    for (i = 1; i <= n; i++)
        if (except !~ (" " code[i] "[ ,]"))
            add_error(code[i], "")
}

# "those of a read except CORRUPT": the codes of the set follow those that are particular to the call. One
# that the comment lists with a condition keeps that.
function add_common_codes(i, j, n, name, except, code) {
    for (i = 1; i <= sets; i++) {
        name = set[i]
        gsub(/^those of an? | except .*/, "", name)
        except = set[i] " "
        if (!sub(/.* except /, " ", except))
            except = ""
        if (!(name in common_codes))
            fault(comment_line, function_of[1] ": no rule says which codes are those of a " name)
        n = split(common_codes[name], code, " ")
        for (j = 1; j <= n; j++)
            if (except !~ (" " code[j] " ") && !(code[j] in has_code && condition_of[code[j]] != ""))
                add_code(code[j], "")
    }
}

# A sentence "INVALID: the id breaks a rule." of a paragraph is the meaning of that code, and so is an item
# that begins like this. They move from the description to the list of codes.
function take_meanings(b, rest, sentence, kept, code, length_of_it) {
    if (kind[b] == "verse" || (kind[b] == "item" && !begins_with_code(block[b])))
        return
    code = ""
    for (rest = block[b]; rest != ""; rest = substr(rest, length_of_it + 1)) {
        length_of_it = match(rest, /[.]\)? /) ? RSTART + RLENGTH - 1 : length(rest)
        sentence = trim(substr(rest, 1, length_of_it))
        if (begins_with_code(sentence))
            code = substr(sentence, 1, index(sentence, ":") - 1)
        else if (kind[b] != "item")
            code = ""
        if (code == "")
            kept = kept " " sentence
        else
            add_meaning(code, sentence)
    }
    block[b] = substr(kept, 2)
}

function begins_with_code(text, n, code, i) {
    if (!match(text, /^[A-Z]+(, [A-Z]+)*: /))
        return 0
    n = split(substr(text, 1, RLENGTH - 2), code, ", ")
    for (i = 1; i <= n; i++)
        if (!(code[i] in has_code))
            return 0
    return 1
}

function add_meaning(codes, sentence, n, code, i) {
    sub(/^[A-Z]+(, [A-Z]+)*: /, "", sentence)
    n = split(codes, code, ", ")
    for (i = 1; i <= n; i++)
        meaning[code[i]] = meaning[code[i]] (meaning[code[i]] == "" ? "" : " ") sentence
}
