# The part of html.awk that lists all calls and types: on the index, on the pages of headers, and for
# search.js.

# A section's calls and types, each with what it is; with its notes, or without.
function write_section(s, with_notes, i) {
    put("<section>")
    if (with_notes)
        heading(name[s])
    else
        put("<h3 id=\"" anchor(name[in_header[s]] " " name[s]) "\">" section_link(s, name[s]) "</h3>")
    for (i = s; with_notes && i <= entries && in_section[i] == s; i++)
        if (what[i] == "note" && !has_constants[i])
            put_blocks(i)
    put("<table class=\"names\">")
    put_names(s, "group")
    put_names(s, "type")
    put("</table>\n</section>")
}

function put_names(s, kind, i) {
    for (i = s; i <= entries && in_section[i] == s; i++)
        if (what[i] == kind)
            put("<tr class=\"" kind "\"><td>" all_links(i) "</td><td>" inline(capital(summary(i))) "</td></tr>")
}

function all_links(e, i, text) {
    text = link(name[e], name[e])
    for (i = 2; i <= function_count[e]; i++)
        text = text "<br>" link(function_name[e, i], function_name[e, i])
    return text
}

function write_index(e) {
    this_page = "index"
    begin("seslite reference", "every call, type and code of seslite")
    put("<main class=\"wide\">\n<h1>seslite reference</h1>")
    put("<p class=\"summary\">" inline(capital(summary(1))) ". The " \
        "<a href=\"seslite.html\">rules for every call</a> come first, with an example; all codes are on the page of " link("ses_code", "ses_code") ".</p>")
    for (e = 1; e <= entries; e++) {
        if (what[e] == "header")
            put("<h2 id=\"" name[e] "\">" link(name[e], name[e] ".h") " <small>" inline(capital(summary(e))) "</small></h2>")
        if (what[e] == "section")
            write_section(e, 0)
    }
    put("</main>")
    end()
}

# [name, kind, address, summary, text]
function write_search(e, i) {
    path = folder "/texts.js"
    put("\"use strict\";\nconst texts = [")
    for (e = 1; e <= entries; e++) {
        if (what[e] == "group") {
            for (i = 1; i <= function_count[e]; i++)
                put_search(function_name[e, i], "call", name[e] ".html", summary(e), e)
        } else if (what[e] == "header" || what[e] == "type")
            put_search(name[e] (what[e] == "header" ? ".h" : ""), what[e], name[e] ".html", summary(e), e)
        else if (what[e] ~ /^(constant|code)$/)
            put_search(name[e], "constant", address_of(name[e]), blocks[e] ? block[e, 1] : "", 0)
        else if (what[e] == "member" && name[e] != "size")
            put_search(name[owner[e]] "." name[e], "member", address_of(name[owner[e]] "." name[e]), block[e, 1], 0)
        else if (what[e] == "section")
            put_search(name[e], "section", section_address(e), "", 0)
    }
    put("];")
    close(path)
}

function put_search(called, kind, address, about, e, i, text) {
    for (i = 1; i <= blocks[e]; i++)
        text = text (i == 1 ? "" : " ") block[e, i]
    for (i = 1; i <= error_count[e]; i++)
        text = text " " error_code[e, i] " " error_meaning[e, i]
    put("[" quoted(called) "," quoted(kind) "," quoted(address) "," quoted(about) "," quoted(text) "],")
}

function quoted(text) {
    gsub(/\\/, "&&", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\""
}
