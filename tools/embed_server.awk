# Turns the scripts of an engine for servers, sql/postgres/ or sql/mysql/, into C. With -v engine=postgres:
#
#   awk -f embed_server.awk -v mode=names sqlite/statements.sql postgres/statements.sql    postgres_statements.h
#   awk -f embed_server.awk -v mode=text sqlite/statements.sql postgres/statements.sql postgres/0*.sql    postgres_sql.c
#
# A statement has the slot that SQLite's of that name has; the engine's own follow after these. Both must have all names
# but those that the head of its statements.sql excepts, as `-- without: NAME WHY` and `-- own: NAME WHY`.
#
# The head also defines macros, as `-- macro: NAME(parameter, ...) = TEXT`, continued on lines that begin with `--` and five
# spaces. A call is a name in capitals directly followed by a parenthesis, and is closed on its line. It is replaced by the
# text, with each parameter's name replaced by the argument. Texts and arguments may call macros defined above them.

function fail(message) {
    print ARGV[2] ": " message > "/dev/stderr"
    failed = 1
    exit 1
}

function base_name(path) {
    sub(/.*\//, "", path)
    return path
}

function c_string(line) {
    gsub(/\\/, "&&", line)
    gsub(/"/, "\\\"", line)
    return "\n        \"" line "\\n\""
}

# The highest $n.
function count_parameters(line,    number) {
    while (match(line, /\$[0-9]+/)) {
        number = substr(line, RSTART + 1, RLENGTH - 1) + 0
        if (number > parameters[name])
            parameters[name] = number
        if (number > max_parameters)
            max_parameters = number
        line = substr(line, RSTART + RLENGTH)
    }
}

# Collects the text that a statement is prepared with, whose parameters are question marks, and the list of these.
function prepare(line,    result) {
    if (line ~ /\\/)
        fail_at("a prepared statement has no backslashes")
    while (match(line, /\$[0-9]+(@[a-z_]+)?/)) {
        using[name] = using[name] (using[name] == "" ? " USING " : ",") substr(line, RSTART, RLENGTH)
        result = result substr(line, 1, RSTART - 1) "?"
        line = substr(line, RSTART + RLENGTH)
    }
    result = result line
    gsub(/'/, "''", result)
    preparing[name] = preparing[name] c_string(result)
}

function fail_at(message) { fail("line " FNR ": " message) }

# Splits the arguments at the beginning of `text` at their commas. Returns the length up to the closing parenthesis.
function split_arguments(text, arguments,    at, c, depth, quoted, count) {
    split("", arguments)
    for (at = 1; at <= length(text); at++) {
        c = substr(text, at, 1)
        if (c == "'")
            quoted = !quoted
        else if (c == "(" && !quoted)
            depth++
        else if (c == ")" && !quoted && depth-- == 0)
            break
        if (c == "," && !quoted && depth == 0)
            count++
        else if (c != " " || arguments[count + 1] != "")
            arguments[count + 1] = arguments[count + 1] c
    }
    return at
}

# Replaces each word of a macro's text that is the name of a parameter.
function fill_in(macro, arguments,    text, result, word) {
    text = bodies[macro]
    while (match(text, /[A-Za-z_][A-Za-z_0-9]*/)) {
        word = substr(text, RSTART, RLENGTH)
        result = result substr(text, 1, RSTART - 1) \
            ((macro, word) in positions ? arguments[positions[macro, word]] : word)
        text = substr(text, RSTART + RLENGTH)
    }
    return result text
}

# Replaces the calls of macros, from left to right, and those in the replacements.
function expand(text,    result, macro, arguments, length_of_call, given) {
    while (match(text, /[A-Z][A-Z_]*\(/)) {
        macro = substr(text, RSTART, RLENGTH - 1)
        result = result substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        if (!(macro in bodies))
            fail_at("there is no macro " macro)
        length_of_call = split_arguments(text, arguments)
        if (length_of_call > length(text))
            fail_at("the call of " macro " is not closed")
        given = 0
        while ((given + 1) in arguments)
            given++
        if (given != arity[macro])
            fail_at(macro " takes " arity[macro] " arguments, not " given)
        text = fill_in(macro, arguments) substr(text, length_of_call + 1)
    }
    return result text
}

function define(text,    head, macro, names, i) {
    if (!match(text, /^[A-Z][A-Z_]*\([a-z_, ]*\) =/))
        fail_at("a macro is defined as NAME(parameter, ...) = TEXT")
    head = substr(text, 1, RLENGTH - 3)
    macro = substr(head, 1, index(head, "(") - 1)
    if (macro in bodies)
        fail_at("the macro " macro " is there twice")
    arity[macro] = split(substr(head, length(macro) + 2), names, /, */)
    for (i = 1; i <= arity[macro]; i++)
        positions[macro, names[i]] = i
    text = substr(text, RLENGTH + 2)
    expand(text) # which fails if it calls what is not above it
    bodies[macro] = text
    return macro
}

BEGIN { upper = toupper(engine) }
FNR == 1 { file++ }

file == 1 && /^-- name: / {
    slot[$3] = count + 0
    names[count++] = $3
}
file == 1 { next }

# ------------------------------------------------------------------------------------------------ the statements

file == 2 && /^-- (without|own): / && NF < 4 { fail($2 " " $3 " needs a word why") }
file == 2 && /^-- without: / {
    if (!($3 in slot))
        fail("without: SQLite has no statement " $3)
    without[$3] = 1
}
file == 2 && /^-- own: / {
    if ($3 in slot)
        fail("own: SQLite has a statement " $3)
    slot[$3] = count + own_count
    own[own_count++] = $3
}
file == 2 && /^-- macro: / {
    macro = define(substr($0, 11))
    next
}
file == 2 && /^--     / && macro != "" {
    so_far = bodies[macro]
    delete bodies[macro]
    expand($0)
    sub(/^-- */, "")
    bodies[macro] = so_far " " $0
    next
}
file == 2 { macro = "" }
file == 2 && /^-- name: / {
    name = $3
    if (!(name in slot))
        fail("SQLite has no statement " name ", and it is not in the list of our own")
    if (name in text || name in without)
        fail("the statement " name " is there twice, or is in the list of those that are not")
    text[name] = ""
    first = 1
}
file == 2 && /^-- locks: / { locks[name] = "\" " substr($0, 11) "\"" }
file == 2 && /^-- prepared: / { prepared[name] = ++prepared_count }
file == 2 && (/^--/ || /^$/) { next }
file == 2 {
    $0 = expand($0)
    if (first && /^(SELECT|WITH (page|found|RECURSIVE)) / || /RETURNING/)
        returns[name] = 1
    else if (first) # the last of several returns the rows
        returns[name] = 0
    if (/RETURNING/)
        gives[name] = 1
    if (first && /^DO /)
        blocks[name] = 1 # of statements, that ends with its tag
    count_parameters($0)
    if (engine == "mysql" && first && name in parts) # of several statements
        text[name] = text[name] " \";\""
    first = engine == "mysql" && /;$/
    parts[name] += first
    if (!(name in blocks) || /\$;$/)
        sub(/;$/, "")
    if (name in prepared)
        prepare($0)
    text[name] = text[name] c_string($0)
    next
}

# ---------------------------------------------------------------------------------------------- the scripts

FNR == 1 { scripts = scripts (file > 3 ? "},\n" : "") "    {" (base_name(FILENAME) + 0) ", \"" base_name(FILENAME) "\"," }
/^--/ || /^$/ { next } # comments between statements are for people
{ scripts = scripts c_string($0) }

# -------------------------------------------------------------------------------------------------- the output

function print_names(    i) {
    print "#ifndef SESLITE_" upper "_STATEMENTS_H\n#define SESLITE_" upper "_STATEMENTS_H\n"
    print "#include \"statements.h\"\n\n/* The slots of those that SQLite has not. */\nenum {"
    for (i = 0; i < own_count; i++)
        print "    " upper "_" toupper(own[i]) (i == 0 ? " = STATEMENT_COUNT" : "") ","
    print "    " upper "_STATEMENT_COUNT" (own_count == 0 ? " = STATEMENT_COUNT" : "") "\n};"
    print "enum { " upper "_MAX_PARAMETERS = " max_parameters ", " upper "_PREPARED_COUNT = " prepared_count + 0 " };\n"
    for (i = 0; i < own_count; i++) {
        print "extern SESLITE_PRIVATE const char ses__" engine "_statement_" own[i] "[];"
        print "#define STATEMENT_" toupper(own[i]) " ((const struct statement *)ses__" engine "_statement_" own[i] ")"
    }
    print "\n#endif"
}

function prepared_text(name) {
    if (name in prepared)
        return prepared[name] ", \"PREPARE ses_" name " FROM '\"" preparing[name] " \"'\", \"EXECUTE ses_" name using[name] "\""
    return "0, NULL, NULL"
}

function print_statement(name,    locked) {
    locked = name in locks ? text[name] " " locks[name] : "NULL"
    if (!(name in text) && !(name in without))
        fail("there is no statement " name)
    if (name in prepared && parts[name] > 1)
        fail("the statement " name " is several, which cannot be prepared as one")
    if (name in text)
        print "    [" slot[name] "] = {" text[name] ",\n        " locked ", " parameters[name] + 0 ", " \
            returns[name] + 0 ", " (engine == "mysql" ? parts[name] ", " prepared_text(name) : gives[name] + 0) ", \"" \
            name "\"},"
}

function print_text(    i) {
    print "#include \"storage/" engine "/connection/sql_text.h\"\n"
    print "/* Longer than the 4095 characters that every C compiler must take; all we know of take more. */"
    print "#if defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#endif\n"
    print "const struct " engine "_statement ses__" engine "_statements[" upper "_STATEMENT_COUNT] = {"
    for (i = 0; i < count; i++)
        print_statement(names[i])
    for (i = 0; i < own_count; i++)
        print_statement(own[i])
    print "};\n"
    for (i = 0; i < own_count; i++)
        printf "const char ses__%s_statement_%s[] = \"\\%03o\\%03o\" \"%s\";\n", engine, own[i], slot[own[i]] % 256, slot[own[i]] / 256, own[i]
    print "\nstatic const struct " engine "_script all_scripts[] = {\n" scripts "},\n};\n"
    print "size_t ses__" engine "_script_count(void)\n{"
    print "    return sizeof all_scripts / sizeof all_scripts[0];\n}\n"
    print "const struct " engine "_script *ses__" engine "_script(size_t index)\n{"
    print "    return &all_scripts[index];\n}"
}

END {
    if (failed)
        exit 1
    print "/* Made from sql/ by tools/embed_server.awk. */"
    if (mode == "names")
        print_names()
    else
        print_text()
}
