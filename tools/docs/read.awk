# Reads the public headers and prints what they document, one record a line, for man.awk and html.awk:
#
#     awk -f tools/docs/comments.awk -f tools/docs/read.awk include/seslite.h include/seslite_agent.h ...
#
# A comment that is not in the agreed form (lib/README.md, "Comments of the headers") is reported as
# FILE:LINE: fault, and the exit status is then 1. The fields of a record are separated by tabs:
#
#     header FILE                        begins a header; the blocks after it are the comment at its head
#     include FILE                       a header that this one includes
#     section TITLE                      a line /* ---- title */
#     note                               a comment for all that follows it in its section
#     group                              a comment for the calls after it
#     func NAME PROTOTYPE TEXT           a call; TEXT is the comment behind it
#     error CODE CONDITION MEANING       a code that the group's calls return; CODE may be empty
#     type KIND NAME                     KIND is struct, enum, handle or callback
#     member NAME DECLARATION            of a struct; a member of a struct within it is called OUTER.NAME
#     constant NAME VALUE                of an enum, or a macro
#     code NAME NUMBER TEXT              of SES_CODES
#     para TEXT, item TEXT, verse TEXT   a paragraph, an item of a list, or a line of code, of the last record's comment

BEGIN {
    for (argument = 1; argument < ARGC; argument++)
        read_header(ARGV[argument])
    check_names()
    close("cat 1>&2")
    exit failed
}

function fault(number, text) {
    print file ":" number ": " text | "cat 1>&2"
    failed = 1
}

function print_record(a, b, c, d) { print a "\t" b "\t" c "\t" d }

function trim(text) {
    sub(/^[ \t]+/, "", text)
    sub(/[ \t]+$/, "", text)
    return text
}

# ---- a header: its lines are line[1] to line[count], and `at` is the one to be read

function read_header(path) {
    file = path
    count = 0
    while ((getline line[count + 1] < path) > 0)
        count++
    close(path)
    if (count == 0)
        fault(1, "cannot be read, or is empty")
    print_record("header", path)
    has_head = has_comment = 0
    for (at = 1; at <= count;)
        read_next()
}

function read_next() {
    if (line[at] ~ /^\/\* -----/)
        read_section()
    else if (line[at] ~ /^\/\*/)
        read_top_comment()
    else if (line[at] ~ /^SES_API /)
        read_group()
    else if (line[at] ~ /^typedef struct [a-z_]+ [a-z_]+;/)
        read_handle()
    else if (line[at] ~ /^typedef (struct|enum) [a-z_]+ \{/ || line[at] ~ /^enum \{/)
        read_type()
    else if (line[at] ~ /^typedef /)
        read_callback()
    else if (line[at] ~ /^#define SES_CODES\(/)
        read_codes()
    else if (line[at] ~ /^#define SES_[A-Z_]+\(/)
        read_macro_call()
    else if (line[at] ~ /^#define [A-Z_]+[^A-Z_(a-z]/)
        read_macro()
    else if (line[at] ~ /^#include "/)
        read_include()
    else {
        if (line[at] !~ /^($|#|\}|extern "C")/)
            fault(at, "a declaration that is not understood: " line[at])
        at++
    }
}

function read_include(name) {
    blocks = has_comment = 0
    name = line[at++]
    gsub(/^#include "|".*/, "", name)
    print_record("include", name)
}

function read_section(title) {
    title = line[at++]
    sub(/^\/\* -+ /, "", title)
    sub(/ \*\/$/, "", title)
    is_section[title] = 1
    print_record("section", toupper(substr(title, 1, 1)) substr(title, 2))
}

function read_top_comment() {
    read_comment()
    if (!has_head) {
        has_head = 1
        take_common_codes(whole_comment())
        print_blocks()
    } else if (line[at] == "") {
        print_record("note")
        print_blocks()
    } else
        has_comment = 1
}

# ---- calls

# The calls that one comment documents: those after it, up to the next comment or empty line.
function read_group(text, is_documented, i) {
    is_documented = has_comment
    if (is_documented)
        text = whole_comment()
    else
        fault(at, function_name(line[at]) ": there is no comment before it")
    functions = errors = 0
    while (line[at] ~ /^SES_API /)
        read_function()
    print_record("group")
    if (is_documented) {
        check_group(text)
        take_codes()
        print_blocks()
    }
    for (i = 1; i <= errors; i++)
        print_record("error", error_code[i], error_condition[i], meaning[error_code[i]])
    for (i = 1; i <= functions; i++)
        print_record("func", function_of[i], prototype[i], behind[i])
}

function function_name(text) {
    sub(/\(.*/, "", text)
    sub(/.*[ *]/, "", text)
    return text
}

function read_function(text, note) {
    function_line[++functions] = at
    text = substr(line[at], 9)
    while (text !~ /;/ && at < count)
        text = text " " trim(line[++at])
    if (match(text, /; *\/\*/)) {
        note = substr(text, RSTART + 1)
        if (note !~ /\*\/$/)
            fault(at, "the comment behind a call is longer than its line")
        gsub(/^ *\/\* *| *\*\/$/, "", note)
        check_text(at, note)
    }
    sub(/;.*/, ";", text)
    at++
    prototype[functions] = text
    function_of[functions] = function_name(text)
    behind[functions] = note
    note_name(function_of[functions])
}

function check_group(text, first, i, name, base) {
    first = block[1]
    if (first !~ /^[A-Z][a-z]*s / && first !~ /^(These calls|Each of these calls) /)
        fault(comment_line, function_of[1] ": the comment does not begin with what the call does (Returns ..., These calls ...)")
    if (text !~ /\.$/)
        fault(comment_line, function_of[1] ": the comment does not end with a full stop")
    for (i = 1; i <= functions; i++) {
        name = base = function_of[i]
        sub(/_by_key/, "", base)
        if (i > 1 && text !~ /hese calls/ && text !~ (name "([^a-z_]|$)") && !(base != name && base in in_group))
            fault(function_line[i], name ": the comment before it says nothing of this call")
        in_group[name] = 1
    }
}

# ---- types

function begin_type(what, name) {
    if (!has_comment && name !~ /_(options|flags)$/)
        fault(at, name ": there is no comment before it")
    note_name(name)
    print_record("type", what, name)
    print_blocks()
}

function read_handle(name) {
    name = line[at]
    gsub(/^typedef struct [a-z_]+ |;.*/, "", name)
    begin_type("handle", name)
    at++
}

function read_callback(text, first, name) {
    first = at
    text = line[at]
    while (text !~ /;/ && at < count)
        text = text " " trim(line[++at])
    name = substr(text, 9)
    name = function_name(name)
    begin_type("callback", name)
    print_record("verse", text)
    at++
}

function read_type(enum) {
    enum = line[at] ~ /^(typedef )?enum/
    if (line[at] ~ /^enum/) {
        type_name = ""
        print_record("note")
        print_blocks()
    } else {
        split(line[at], type_word, " ")
        type_name = type_word[3]
        begin_type(enum ? "enum" : "struct", type_name)
        if (!enum)
            is_struct[type_name] = 1
    }
    outer = companion_of = ""
    if (line[at] ~ /^enum \{.*\};$/) {
        line[at] = substr(line[at], 7, length(line[at]) - 8)
        read_member(enum)
        return
    }
    for (at++; line[at] !~ /^\}/ && at <= count;)
        read_member(enum)
    at++
}

# One member or constant, with the comment before it or behind it.
function read_member(enum, text, number, rest, name) {
    blocks = 0
    if (line[at] ~ /^ *(#.*)?$/ || line[at] ~ /SES_CODES\(SES_/) {
        at++
        return
    }
    if (line[at] ~ /^ *struct \{$/) {
        outer = "?"
        held = 0
        at++
        return
    }
    if (line[at] ~ /^ *\/\*/)
        read_comment()
    number = at
    text = trim(line[at])
    rest = ""
    while (text !~ /[;,]/ && text !~ /\/\*/ && !enum && at < count)
        text = text " " trim(line[++at])
    if (match(text, /\/\*/)) {
        rest = substr(text, RSTART)
        text = trim(substr(text, 1, RSTART - 1))
    }
    if (rest != "" && blocks)
        fault(number, "a comment both before and behind " text)
    if (rest != "")
        read_comment(rest)
    else
        at++
    if (enum)
        take_constant(text, number)
    else
        take_member(text, number)
}

function take_constant(text, number, name, value) {
    sub(/,$/, "", text)
    name = text
    sub(/ *=.*/, "", name)
    value = text
    if (!sub(/^[^=]*= */, "", value))
        value = ""
    if (!blocks)
        fault(number, name ": there is no comment at it")
    note_name(name)
    print_record("constant", name, value)
    print_blocks()
}

function take_member(text, number, name) {
    if (text ~ /^\}/) {
        end_inner(text)
        return
    }
    name = text
    sub(/;$/, "", name)
    sub(/\[.*/, "", name)
    if (match(name, /\(\*[a-z_]+\)/))
        name = substr(name, RSTART + 2, RLENGTH - 3)
    sub(/.*[ *]/, "", name)
    if (!blocks)
        supply_comment(name, number)
    else
        companion_of = name
    if (outer != "")
        hold_member(name, text)
    else
        print_member(name, text)
}

function print_member(name, text) {
    is_name[type_name "." name] = 1
    print_record("member", name, text)
    print_blocks()
}

# Some members mean the same in every struct.
function supply_comment(name, number) {
    if (name == "size")
        new_block("para", "`sizeof(" type_name ")`, which the caller sets.")
    else if (name ~ /_len$/ && companion_of != "")
        new_block("para", "The length of `" companion_of "` in bytes.")
    else if (name ~ /_count$/ && companion_of != "")
        new_block("para", "The number of `" companion_of "`.")
    else if (name ~ /_context$/ && companion_of != "")
        new_block("para", "The `context` that `" companion_of "` is called with.")
    else
        fault(number, type_name "." name ": there is no comment at it")
}

# The members of a struct within a struct are held until the name of it is known, which comes last.
function hold_member(name, text) {
    held_name[++held] = name
    held_text[held] = text
    held_comment[held] = whole_comment()
    held_line[held] = at - 1
}

function end_inner(text, name, i) {
    name = text
    gsub(/^\} *|;$/, "", name)
    outer = ""
    print_member(name, "struct " name ";")
    for (i = 1; i <= held; i++) {
        blocks = 0
        new_block("para", held_comment[i])
        block_line[1] = held_line[i]
        print_member(name "." held_name[i], held_text[i])
    }
}

# ---- macros

function read_macro(name, value) {
    name = line[at]
    sub(/^#define /, "", name)
    value = name
    sub(/[^A-Z_].*/, "", name)
    value = trim(substr(value, length(name) + 1))
    if (name ~ /^(SESLITE|SES_API)/ || name ~ /_H$/) {
        at++
        has_comment = blocks = 0
        return
    }
    if (has_comment) {
        print_record("note")
        print_blocks()
        macro_follows = at
    } else if (macro_follows != at)
        fault(at, name ": there is no comment before it")
    note_name(name)
    print_record("constant", name, value)
    at++
    macro_follows = at
}

# A macro with parameters, of which there may be one for each language.
function read_macro_call(name, form) {
    form = line[at]
    sub(/^#define /, "", form)
    sub(/\).*/, ")", form)
    name = form
    sub(/\(.*/, "", name)
    if (has_comment) {
        print_record("note")
        print_blocks()
        note_name(name)
        print_record("constant", name, substr(form, length(name) + 1))
    } else if (!(name in is_name))
        fault(at, name ": there is no comment before it")
    while (line[at++] ~ /\\$/)
        continue
}

# X(NOMEM, -1, "out of memory")
function read_codes(text, name, number) {
    if (!has_comment)
        fault(at, "SES_CODES: there is no comment before it")
    is_name["SES_CODES"] = 1
    blocks = has_comment = 0
    for (at++; line[at] ~ /X\(/; at++) {
        text = trim(line[at])
        name = text
        gsub(/^X\(|,.*/, "", name)
        number = text
        gsub(/^[^,]*, *|,.*/, "", number)
        sub(/^[^"]*"/, "", text)
        if (!sub(/"\).*/, "", text) || text == "")
            fault(at, "SES_" name ": there is no text")
        is_code[name] = 1
        note_name("SES_" name)
        print_record("code", name, number, text)
    }
}
