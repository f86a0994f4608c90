# Writes man pages from the records of read.awk, one for each page and one for each further name on it:
#
#     awk -f records.awk -f man.awk -v version=0.2.0 -v folder=build/docs/man/man3 RECORDS

END {
    find_uses()
    for (p = 1; p <= pages; p++)
        write_page(page_entry[p], page[p])
}

# ---- text

function plain(text) {
    gsub(/\\/, "\\e", text)
    gsub(/~/, "\\(ti", text)
    gsub(/\^/, "\\(ha", text)
    gsub(/`/, "\\(ga", text)
    return text
}

function literal(text) {
    text = plain(text)
    gsub(/-/, "\\-", text)
    gsub(/'/, "\\(aq", text)
    return "\\fB" text "\\fP"
}

function link(to, text) { return literal(text) }
function web(address) { return plain(address) }
function section_link(to, text) { return "\\(lq" plain(text) "\\(rq in \\fB" name[in_header[to]] "\\fP(3)" }

function put(text) { print text > path }

# A line of text, which may not begin with a sign of a macro.
function put_text(text) { put((text ~ /^[.']/ ? "\\&" : "") text) }

function put_blocks(e, first, i, kind, last) {
    for (i = first; i <= blocks[e]; i++) {
        kind = block_kind[e, i]
        if (last == "verse" && kind != "verse")
            put(".fi\n.RE")
        if (kind == "item")
            put(".IP \\(bu 2")
        else if (kind == "verse" && last != "verse")
            put(".PP\n.RS 4\n.nf")
        else if (kind == "para" && (i > first || last != ""))
            put(".PP")
        put_text(kind == "verse" ? verse(block[e, i]) : inline(block[e, i]))
        last = kind
    }
    if (last == "verse")
        put(".fi\n.RE")
}

function verse(text) {
    text = plain(text)
    gsub(/'/, "\\(aq", text)
    gsub(/-/, "\\-", text)
    return text
}

# ---- pages

function write_page(e, title, i) {
    path = folder "/" title ".3"
    put(".\\\" Made from " name[in_header[e]] ".h by tools/docs.")
    put(".TH " title " 3 \"\" \"seslite " version "\" \"seslite\"")
    put(".ad l\n.nh\n.SH NAME")
    put(names_of(e) " \\- " inline(summary(e)))
    put(".SH LIBRARY\nSessions of AI agents in SQLite\n.RI ( libseslite ,\\~ \\-lseslite )")
    put(".SH SYNOPSIS\n.nf\n.B #include <" include_of(e) ".h>")
    if (what[e] == "group")
        write_group(e)
    else if (what[e] == "type")
        write_type(e)
    else
        write_header(e)
    close(path)
    for (i = 2; i <= function_count[e]; i++) {
        path = folder "/" function_name[e, i] ".3"
        put(".so man3/" title ".3")
        close(path)
    }
}

function names_of(e, i, text) {
    text = name[e]
    for (i = 2; i <= function_count[e]; i++)
        text = text ", " function_name[e, i]
    return text
}

function write_group(e, i, n, j) {
    for (i = 1; i <= function_count[e]; i++) {
        if (i == 1 || length(function_prototype[e, i]) > 72 || length(function_prototype[e, i - 1]) > 72)
            put(".P")
        n = wrap_prototype(function_prototype[e, i], 72)
        for (j = 1; j <= n; j++)
            put(prototype_line(declared[j]))
    }
    put(".fi\n.SH DESCRIPTION")
    put_blocks(e, 1)
    write_function_texts(e)
    write_options(e)
    write_returns(e)
    write_errors(e)
    write_background(e)
    write_see(e)
}

# In bold, with the names of parameters in italics.
function prototype_line(text, out) {
    text = plain(text)
    while (match(text, /[a-z_0-9]+[,)]/)) {
        if (substr(text, RSTART, RLENGTH) == "void)")
            out = out substr(text, 1, RSTART + RLENGTH - 1)
        else
            out = out substr(text, 1, RSTART - 1) "\\fI" substr(text, RSTART, RLENGTH - 1) "\\fB" substr(text, RSTART + RLENGTH - 1, 1)
        text = substr(text, RSTART + RLENGTH)
    }
    return "\\fB" out text "\\fP"
}

function write_function_texts(e, i) {
    for (i = 1; i <= function_count[e]; i++)
        if (function_text[e, i] != "")
            put(".TP\n\\fB" function_name[e, i] "\\fP\n" inline(sentence(function_text[e, i])))
}

# The members of the options, on the page of the first call that takes them.
function write_options(e, type) {
    type = options_of(e)
    if (!type)
        return
    put(".SH OPTIONS")
    if (options_home(type) != name[e]) {
        put("The options are described in \\fB" name[type] "\\fP(3).")
        return
    }
    put_blocks(type, 1)
    if (blocks[type])
        put(".PP")
    put("The members of \\fB" name[type] "\\fP:")
    write_parts(type, 1)
}

function write_parts(type, without_size, m, n, i) {
    for (m = type + 1; is_part(m); m++) {
        if (without_size && name[m] == "size")
            continue
        write_part(m)
        n = without_size ? find_constants(m) : 0
        if (n)
            put(".RS")
        for (i = 1; i <= n; i++)
            write_part(constant_taken[i])
        if (n)
            put(".RE")
    }
}

function write_part(m, i) {
    put(".TP\n" part_title(m))
    for (i = 1; i <= blocks[m]; i++) {
        if (i > 1)
            put(".IP")
        put_text(inline(i == 1 ? sentence(block[m, i]) : block[m, i]))
    }
}

function part_title(m, text) {
    text = value[m]
    sub(/;$/, "", text)
    if (what[m] == "member")
        return "\\fB" plain(text) "\\fP"
    gsub(/-/, "\\-", text)
    return "\\fB" name[m] "\\fP" (text == "" ? "" : text ~ /^\(/ ? " " text : " (" text ")")
}

function write_returns(e, n, i) {
    if (!error_count[e])
        return
    put(".SH RETURN VALUE")
    n = find_positive_codes(e)
    put((n ? "0 or one of these positive codes" : "0") " on success; otherwise a negative code, as listed under ERRORS." )
    for (i = 1; i <= n; i++)
        put(".TP\n" part_title(positive_code[i]) "\n" inline(sentence(block[positive_code[i], 1])))
}

function write_errors(e, i, condition) {
    if (!error_count[e])
        return
    put(".SH ERRORS")
    for (i = 1; i <= error_count[e]; i++) {
        condition = error_condition[e, i]
        if (error_code[e, i] == "")
            put(".PP\n" inline(sentence("Also " condition)))
        else
            put(".TP\n\\fBSES_" error_code[e, i] "\\fP" (condition == "" ? "" : " (" inline(condition) ")") "\n" \
                inline(sentence(code_meaning(e, i))))
    }
}

# The comments for all calls of the section that come before this call.
function write_background(e, s) {
    s = in_section[e]
    if (has_notes(s, e)) {
        put(".SH BACKGROUND")
        put_notes(s, e)
    }
}

function write_see(e, i, text) {
    collect_see(e)
    put(".SH SEE ALSO")
    for (i = 1; i <= see_count; i++)
        if (what[page_entry_of(see_also[i])] == "group")
            put(".BR " see_also[i] " (3),")
    for (i = 1; i <= see_count; i++)
        if (what[page_entry_of(see_also[i])] == "type")
            put(".BR " see_also[i] " (3),")
    put(".BR " (error_count[e] && !("ses_code" in seen) ? "ses_code (3),\n.BR " : "") name[in_header[e]] " (3)")
}

function write_type(e, n, i) {
    put(".P")
    n = declare_type(e)
    for (i = 1; i <= n; i++)
        put("\\fB" plain(declared[i]) "\\fP")
    put(".fi\n.SH DESCRIPTION")
    if (blocks[e] && block_kind[e, 1] != "verse")
        put_blocks(e, 1)
    else
        put_text(inline(sentence(summary(e))))
    if (is_part(e + 1)) {
        put(".SH " (what[e + 1] == "member" ? "MEMBERS" : "VALUES"))
        write_parts(e, 0)
    }
    if (name[e] == "ses_code")
        write_codes()
    write_see(e)
}

function write_codes(m) {
    put(".SS Negative codes\nNumbers are never reused.")
    for (m = 1; m <= entries; m++)
        if (what[m] == "code")
            put(".TP\n" part_title(m) "\n" inline(sentence(block[m, 1])))
}

function write_header(e, s) {
    put(".fi\n.SH DESCRIPTION")
    put_blocks(e, 1)
    write_constants(e)
    put(".SH CALLS")
    for (s = e + 1; s <= entries && in_header[s] == e; s++)
        if (what[s] == "section")
            write_section(s)
    put(".SH SEE ALSO")
    for (s = 1; s <= entries; s++)
        if (what[s] == "header" && s != e)
            put(".BR " name[s] " (3),")
    put(".BR seslite (1)")
}

# The notes of a section, its calls and its types.
function write_section(s, i) {
    put(".SS " name[s])
    put_notes(s)
    put_names(s, "group")
    put_names(s, "type")
}

# The notes of a section before the entry, or all.
function put_notes(s, before, i, begun) {
    for (i = s; i <= entries && in_section[i] == s && (!before || i < before); i++)
        if (what[i] == "note" && blocks[i] && !has_constants[i]) {
            if (begun++)
                put(".PP")
            put_blocks(i, 1)
        }
}

function put_names(s, kind, i) {
    for (i = s; i <= entries && in_section[i] == s; i++)
        if (what[i] == kind)
            put(".TP\n\\fB" names_of(i) "\\fP(3)\n" inline(sentence(summary(i))))
}

function write_constants(e, i, begun) {
    if (!has_constants[e])
        return
    put(".SH CONSTANTS")
    for (i = e; i <= entries && in_header[i] == e; i++)
        if (what[i] == "note" && has_constants[i] && blocks[i]) {
            if (begun++)
                put(".PP")
            put_blocks(i, 1)
        } else if (what[i] == "constant" && what[owner[i]] != "type")
            put(blocks[i] ? ".TP\n" part_title(i) "\n" inline(sentence(block[i, 1])) : ".IP \\(bu 2\n" part_title(i))
}
