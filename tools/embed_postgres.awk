# Turns the scripts of sql/postgres/ into C.
#
#   awk -f embed_postgres.awk -v mode=names sqlite/statements.sql postgres/statements.sql    postgres_statements.h
#   awk -f embed_postgres.awk -v mode=text sqlite/statements.sql postgres/statements.sql postgres/0*.sql    postgres_sql.c
#
# A statement has the slot that SQLite's of that name has; PostgreSQL's own follow after these. Both must have all names
# but those that the head of postgres/statements.sql excepts, as `-- without: NAME WHY` and `-- own: NAME WHY`.

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
file == 2 && /^-- name: / {
    name = $3
    if (!(name in slot))
        fail("SQLite has no statement " name ", and it is not in the list of our own")
    if (name in text || name in without)
        fail("the statement " name " is there twice, or is in the list of those that are not")
    text[name] = ""
    locks[name] = "NULL"
    first = 1
}
file == 2 && /^-- locks: / { locks[name] = "\"" substr($0, 11) "\"" }
file == 2 && (/^--/ || /^$/) { next }
file == 2 {
    if (first && /^SELECT/ || /RETURNING/)
        returns[name] = 1
    if (/RETURNING/)
        gives[name] = 1
    first = 0
    count_parameters($0)
    sub(/;$/, "")
    text[name] = text[name] c_string($0)
    next
}

# ---------------------------------------------------------------------------------------------- the scripts

FNR == 1 { scripts = scripts (file > 3 ? "},\n" : "") "    {" (base_name(FILENAME) + 0) ", \"" base_name(FILENAME) "\"," }
/^--/ || /^$/ { next } # comments between statements are for people
{ scripts = scripts c_string($0) }

# -------------------------------------------------------------------------------------------------- the output

function print_names(    i) {
    print "#ifndef SESLITE_POSTGRES_STATEMENTS_H\n#define SESLITE_POSTGRES_STATEMENTS_H\n"
    print "#include \"statements.h\"\n\n/* The slots of those that SQLite has not. */\nenum {"
    for (i = 0; i < own_count; i++)
        print "    POSTGRES_" toupper(own[i]) (i == 0 ? " = STATEMENT_COUNT" : "") ","
    print "    POSTGRES_STATEMENT_COUNT" (own_count == 0 ? " = STATEMENT_COUNT" : "") "\n};"
    print "enum { POSTGRES_MAX_PARAMETERS = " max_parameters " };\n"
    for (i = 0; i < own_count; i++) {
        print "extern SESLITE_PRIVATE const struct statement ses__statement_" own[i] ";"
        print "#define STATEMENT_" toupper(own[i]) " (&ses__statement_" own[i] ")"
    }
    print "\n#endif"
}

function print_statement(name) {
    if (!(name in text) && !(name in without))
        fail("there is no statement " name)
    if (name in text)
        print "    [" slot[name] "] = {" text[name] ",\n        " locks[name] ", " parameters[name] + 0 ", " \
            returns[name] + 0 ", " gives[name] + 0 ", \"" name "\"},"
}

function print_text(    i) {
    print "#include \"storage/postgres/sql_text.h\"\n"
    print "/* Longer than the 4095 characters that every C compiler must take; all we know of take more. */"
    print "#if defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#endif\n"
    print "const struct postgres_statement ses__postgres_statements[POSTGRES_STATEMENT_COUNT] = {"
    for (i = 0; i < count; i++)
        print_statement(names[i])
    for (i = 0; i < own_count; i++)
        print_statement(own[i])
    print "};\n"
    for (i = 0; i < own_count; i++)
        print "const struct statement ses__statement_" own[i] " = {" slot[own[i]] ", \"" own[i] "\", NULL};"
    print "\nstatic const struct postgres_script postgres_scripts[] = {\n" scripts "},\n};\n"
    print "size_t ses__postgres_script_count(void)\n{"
    print "    return sizeof postgres_scripts / sizeof postgres_scripts[0];\n}\n"
    print "const struct postgres_script *ses__postgres_script(size_t index)\n{"
    print "    return &postgres_scripts[index];\n}"
}

END {
    if (failed)
        exit 1
    print "/* Made from sql/ by tools/embed_postgres.awk. */"
    if (mode == "names")
        print_names()
    else
        print_text()
}
