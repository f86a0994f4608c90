# Writes HTML pages from the records of read.awk, an index of them, and the texts that search.js looks
# through:
#
#     awk -f records.awk -f html_index.awk -f html.awk -v version=0.2.0 -v folder=build/docs/html RECORDS

END {
    find_uses()
    for (p = 1; p <= pages; p++)
        write_page(p)
    write_index()
    write_search()
}

# ---- text

function plain(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    return text
}

function literal(text) { return "<code>" plain(text) "</code>" }
function web(address) { return "<a href=\"" plain(address) "\">" plain(address) "</a>" }
function address_of(called) { return page_of[called] ".html" (anchor_of[called] == "" ? "" : "#" anchor_of[called]) }

function link(to, text) {
    if (address_of(to) == this_page ".html")
        return literal(text)
    return "<a href=\"" address_of(to) "\">" literal(text) "</a>"
}

function section_address(s) { return name[in_header[s]] ".html#" anchor(name[s]) }
function section_link(s, text) { return "<a href=\"" section_address(s) "\">" plain(text) "</a>" }

function anchor(text) {
    text = tolower(text)
    gsub(/[^a-z0-9]+/, "-", text)
    return text
}

function put(text) { print text > path }

function put_blocks(e, i, kind, last) {
    for (i = 1; i <= blocks[e]; i++) {
        kind = block_kind[e, i]
        if (kind != last)
            put(close_block(last) (kind == "item" ? "<ul>" : kind == "verse" ? "<pre>" : ""))
        put(kind == "item" ? "<li>" inline(block[e, i]) "</li>" : kind == "para" ? "<p>" inline(block[e, i]) "</p>" : linked_code(block[e, i]))
        last = kind
    }
    put(close_block(last))
}

function close_block(kind) { return kind == "item" ? "</ul>" : kind == "verse" ? "</pre>" : "" }

# Types and calls in code become links; in a declaration names of parameters are marked.
function declaration(text) { return linked_code(text, 1) }

function linked_code(text, with_marks, out, word) {
    while (match(text, /[A-Za-z_][A-Za-z0-9_]*/)) {
        word = substr(text, RSTART, RLENGTH)
        out = out plain(substr(text, 1, RSTART - 1))
        text = substr(text, RSTART + RLENGTH)
        if ((word in page_of) && address_of(word) != this_page ".html")
            out = out "<a href=\"" address_of(word) "\">" word "</a>"
        else if (word in group_of)
            out = out "<b>" word "</b>"
        else
            out = out (with_marks && text ~ /^[,)]/ && word != "void" ? "<i>" word "</i>" : word)
    }
    return out plain(text)
}

# ---- a page

function begin(title, about) {
    path = folder "/" this_page ".html"
    put("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")
    put("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
    put("<meta name=\"color-scheme\" content=\"light dark\">")
    put("<title>" plain(title) "</title>\n<meta name=\"description\" content=\"" attribute(about) "\">")
    put("<link rel=\"stylesheet\" href=\"style.css\">")
    put("<script src=\"texts.js\" defer></script>\n<script src=\"search.js\" defer></script>\n</head>\n<body>")
    put("<header><a class=\"home\" href=\"index.html\">seslite <small>" version "</small></a>")
    put("<div class=\"search\"><input id=\"query\" type=\"search\" placeholder=\"Search calls, types, codes and texts\" " \
        "aria-label=\"Search\" autocomplete=\"off\" spellcheck=\"false\"><div id=\"results\" hidden></div></div></header>")
}

function attribute(text) {
    text = plain(text)
    gsub(/`/, "", text)
    gsub(/"/, "\\&quot;", text)
    return text
}

function end() {
    put("<footer>Made from the headers of seslite " version ".</footer>\n</body>\n</html>")
    close(path)
}

function write_page(p, e) {
    e = page_entry[p]
    this_page = page[p]
    begin(this_page (what[e] == "header" ? ".h" : "") " \342\200\224 seslite", summary(e))
    put("<div class=\"columns\">")
    write_side(e)
    put("<main>")
    write_place(e)
    put("<h1>" names_of(e) "</h1>\n<p class=\"summary\">" inline(capital(summary(e))) "</p>")
    if (what[e] == "group")
        write_group(e)
    else if (what[e] == "type")
        write_type(e)
    else
        write_header(e)
    write_neighbours(p)
    put("</main>\n</div>")
    end()
}

function capital(text) { return text ~ /^[a-z]+[ ,;']/ ? toupper(substr(text, 1, 1)) substr(text, 2) : text }

function names_of(e, i, text) {
    if (what[e] == "header")
        return name[e] ".h"
    text = name[e]
    for (i = 2; i <= function_count[e]; i++)
        text = text ", <wbr>" function_name[e, i]
    return text
}

function write_place(e) {
    if (what[e] == "header")
        put("<p class=\"place\"><a href=\"index.html\">Index</a></p>")
    else
        put("<p class=\"place\"><a href=\"index.html\">Index</a> \342\200\272 <a href=\"" name[in_header[e]] ".html\">" name[in_header[e]] ".h</a>" \
            (in_section[e] ? " \342\200\272 <a href=\"" section_address(in_section[e]) "\">" name[in_section[e]] "</a>" : "") "</p>")
}

# The other pages of the section; on a header's page, its sections.
function write_side(e, i) {
    put("<nav aria-label=\"Section\"><p>" (what[e] == "header" ? "Sections" : name[in_section[e]]) "</p><ul>")
    if (what[e] == "header") {
        for (i = e; i <= entries && in_header[i] == e; i++)
            if (what[i] == "section")
                put("<li><a href=\"#" anchor(name[i]) "\">" name[i] "</a></li>")
    } else {
        put_side_names(e, "group")
        put_side_names(e, "type")
    }
    put("</ul></nav>")
}

function put_side_names(e, kind, i) {
    for (i = in_section[e]; i && i <= entries && in_section[i] == in_section[e]; i++)
        if (what[i] == kind)
            put(i == e ? "<li class=\"here\">" name[i] "</li>" : "<li><a href=\"" name[i] ".html\">" name[i] "</a></li>")
}

function write_neighbours(p) {
    put("<p class=\"neighbours\">" (p > 1 ? "<a rel=\"prev\" href=\"" page[p - 1] ".html\">\342\206\220 " page[p - 1] "</a>" : "<span></span>") \
        (p < pages ? "<a rel=\"next\" href=\"" page[p + 1] ".html\">" page[p + 1] " \342\206\222</a>" : "<span></span>") "</p>")
}

function heading(text) { put("<h2 id=\"" anchor(text) "\">" text "</h2>") }

# ---- calls

function write_group(e, i, n, j) {
    put("<pre class=\"declaration\">#include &lt;" include_of(e) ".h&gt;\n")
    for (i = 1; i <= function_count[e]; i++) {
        n = wrap_prototype(function_prototype[e, i], 84)
        for (j = 1; j <= n; j++)
            put(declaration(declared[j]))
    }
    put("</pre>")
    heading("Description")
    put_blocks(e)
    write_function_texts(e)
    write_options(e)
    write_returns(e)
    write_errors(e)
    write_background(e)
    write_see(e)
}

function write_function_texts(e, i, begun) {
    for (i = 1; i <= function_count[e]; i++)
        if (function_text[e, i] != "") {
            put((begun++ ? "" : "<dl>\n") "<dt><code>" function_name[e, i] "</code></dt><dd>" inline(sentence(function_text[e, i])) "</dd>")
        }
    if (begun)
        put("</dl>")
}

function write_options(e, type) {
    type = options_of(e)
    if (!type)
        return
    heading("Options")
    if (options_home(type) != name[e]) {
        put("<p>The options are described in " link(name[type], name[type]) ".</p>")
        return
    }
    put_blocks(type)
    put("<p>The members of " link(name[type], name[type]) ":</p>")
    write_parts(type, 1)
}

# `inside`: as a part of a page of another type.
function write_parts(type, inside, m, n, i) {
    put("<dl>")
    for (m = type + 1; is_part(m); m++) {
        if (inside && name[m] == "size")
            continue
        write_part(m, inside)
        n = inside ? find_constants(m) : 0
        if (n)
            put("<dl>")
        for (i = 1; i <= n; i++) {
            write_part(constant_taken[i], 1)
            put("</dd>")
        }
        if (n)
            put("</dl>")
        put("</dd>")
    }
    put("</dl>")
}

# The caller ends it.
function write_part(m, inside, i) {
    put("<dt" (inside ? "" : " id=\"" name[m] "\"") ">" part_title(m) "</dt>\n<dd>")
    for (i = 1; i <= blocks[m]; i++)
        put("<p>" inline(i == 1 ? sentence(block[m, i]) : block[m, i]) "</p>")
}

function part_title(m, text) {
    text = value[m]
    sub(/;$/, "", text)
    if (what[m] == "member")
        return "<code>" member_declaration(text) "</code>"
    return "<code><b>" name[m] "</b></code>" (text == "" ? "" : " <span class=\"value\">" plain(text) "</span>")
}

# The name of the member, the last word before an array or parameters, is marked.
function member_declaration(text, tail, called) {
    tail = ""
    if (match(text, /\)\(.*|\[.*/)) {
        tail = substr(text, RSTART)
        text = substr(text, 1, RSTART - 1)
    }
    match(text, /[a-z_0-9]+$/)
    called = substr(text, RSTART)
    return declaration(substr(text, 1, RSTART - 1)) "<b>" called "</b>" declaration(tail)
}

function write_returns(e, n, i) {
    if (!error_count[e])
        return
    heading("Return value")
    n = find_positive_codes(e)
    put("<p>" (n ? "0 or one of these positive codes" : "0") " on success; otherwise a negative code, as listed under Errors.</p>")
    for (i = 1; i <= n; i++)
        put((i == 1 ? "<dl class=\"codes\">\n" : "") "<dt>" link(name[positive_code[i]], name[positive_code[i]]) "</dt><dd>" \
            inline(sentence(block[positive_code[i], 1])) "</dd>")
    if (n)
        put("</dl>")
}

function write_errors(e, i, condition) {
    if (!error_count[e])
        return
    heading("Errors")
    put("<dl class=\"codes\">")
    for (i = 1; i <= error_count[e]; i++) {
        condition = error_condition[e, i]
        if (error_code[e, i] == "")
            put("<dt>Also</dt><dd>" inline(sentence(condition)) "</dd>")
        else
            put("<dt>" link("SES_" error_code[e, i], "SES_" error_code[e, i]) \
                (condition == "" ? "" : " <span class=\"value\">" inline(condition) "</span>") "</dt><dd>" \
                inline(sentence(code_meaning(e, i))) "</dd>")
    }
    put("</dl>")
}

function write_background(e, n, begun) {
    for (n = in_section[e]; n && n < e; n++)
        if (what[n] == "note" && blocks[n] && !has_constants[n]) {
            if (!begun++)
                heading("Background")
            put_blocks(n)
        }
}

function write_see(e, i, calls, types, place) {
    collect_see(e)
    for (i = 1; i <= see_count; i++) {
        place = link(see_also[i], see_also[i])
        if (what[page_entry_of(see_also[i])] == "group")
            calls = calls (calls == "" ? "" : ",\n") place
        else
            types = types (types == "" ? "" : ",\n") place
    }
    if (error_count[e] && !("ses_code" in seen))
        types = types (types == "" ? "" : ",\n") link("ses_code", "ses_code")
    heading("See also")
    if (calls != "")
        put("<p class=\"see\">Calls: " calls ".</p>")
    if (types != "")
        put("<p class=\"see\">Types: " types ".</p>")
    put("<p>The <a href=\"seslite.html\">rules for every call</a>.</p>")
}

# ---- types and headers

function write_type(e, n, i) {
    put("<pre class=\"declaration\">#include &lt;" include_of(e) ".h&gt;\n")
    n = declare_type(e)
    for (i = 1; i <= n; i++)
        put(declaration(declared[i]))
    put("</pre>")
    if (blocks[e] && block_kind[e, 1] != "verse" && (blocks[e] > 1 || length(block[e, 1]) > length(summary(e)) + 1)) {
        heading("Description")
        put_blocks(e)
    }
    if (is_part(e + 1)) {
        heading(what[e + 1] == "member" ? "Members" : "Values")
        write_parts(e, 0)
    }
    if (name[e] == "ses_code")
        write_codes()
    write_see(e)
}

function write_codes(m) {
    heading("Negative codes")
    put("<p>Numbers are never reused.</p>\n<dl class=\"codes\">")
    for (m = 1; m <= entries; m++)
        if (what[m] == "code")
            put("<dt id=\"" name[m] "\">" part_title(m) "</dt><dd>" inline(sentence(block[m, 1])) "</dd>")
    put("</dl>")
}

function write_header(e, s) {
    put("<pre class=\"declaration\">#include &lt;" include_of(e) ".h&gt;</pre>")
    put_blocks(e)
    write_constants(e)
    for (s = e + 1; s <= entries && in_header[s] == e; s++)
        if (what[s] == "section")
            write_section(s, 1)
}

function write_constants(e, i) {
    if (!has_constants[e])
        return
    heading("Constants")
    for (i = e; i <= entries && in_header[i] == e; i++)
        if (what[i] == "note" && has_constants[i])
            put_blocks(i)
        else if (what[i] == "constant" && what[owner[i]] != "type")
            put("<dl class=\"codes\"><dt id=\"" name[i] "\">" part_title(i) "</dt><dd>" (blocks[i] ? inline(sentence(block[i, 1])) : "") "</dd></dl>")
}
