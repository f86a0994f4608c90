# Turns the book of an engine for servers, which tools/book.awk makes, and its scripts into C. With -v
# engine=postgres:
#
#   awk -f embed_server.awk -v mode=names gen/sqlite.sql gen/postgres.sql                          postgres_statements.h
#   awk -f embed_server.awk -v mode=text gen/sqlite.sql gen/postgres.sql sql/postgres/0*.sql       postgres_sql.c
#
# A statement has the slot that SQLite's of that name has; the engine's own follow after these. Both must have
# all names but those that the book excepts, as `-- without: NAME WHY` and `-- own: NAME WHY`.

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

# Collects the text that a statement is prepared with, whose parameters are question marks, and the list of
# these.
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

BEGIN { upper = toupper(engine) }
FNR == 1 { file++ }

file == 1 && /^-- name: / {
    slot[$3] = count + 0
    names[count++] = $3
}
file == 1 { next }

# --------------------------------------------------------------------------------------------- the statements

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

# ------------------------------------------------------------------------------------------------- the output

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
