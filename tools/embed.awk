# Turns the scripts of sql/ into C.
#
#   awk -f embed.awk -v mode=names statements.sql          the names of the statements (statements.h)
#   awk -f embed.awk -v mode=texts statements.sql          their texts (statements.c)
#   awk -f embed.awk -v mode=scripts 0*.sql                the schema scripts (scripts.c)
#
# A schema script's version is the number its file name begins with. Each statement is an object of its own, so that a
# program links only those that it runs.

function base_name(path) {
    sub(/.*\//, "", path)
    return path
}

function c_string(line) {
    gsub(/\\/, "&&", line)
    gsub(/"/, "\\\"", line)
    return "    \"" line "\\n\""
}

function close_text() {
    if (open && mode == "scripts")
        print "    },"
    else if (open) {
        print "    ;"
        print "const struct statement ses__statement_" name " = {" count++ ", \"" name "\", text_" name "};"
    }
    open = 0
}

FNR == 1 {
    if (NR == 1)
        begin_file()
    if (mode == "scripts") {
        file = base_name(FILENAME)
        close_text()
        print "    {" (file + 0) ", \"" file "\","
        open = 1
    }
}

function begin_file() {
    print "/* Made from sql/ by tools/embed.awk. */"
    if (mode == "names") {
        print "#ifndef SESLITE_STATEMENTS_H\n#define SESLITE_STATEMENTS_H\n\n#include \"base/common.h\"\n"
        print "struct statement {"
        print "    size_t slot; /* of a connection, where it is kept when it was prepared */"
        print "    const char *name;\n    const char *sql;\n};\n"
    } else {
        print "#include \"" (mode == "texts" ? "statements.h" : "storage/sqlite/connection/scripts.h") "\"\n"
        print "/* Longer than the 4095 characters that every C compiler must take; all we know of take more. */"
        print "#if defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#endif\n"
    }
    if (mode == "scripts")
        print "static const struct schema_script schema_scripts[] = {"
}

mode != "scripts" && /^-- name: / {
    if (mode == "names") {
        print "extern SESLITE_PRIVATE const struct statement ses__statement_" $3 ";"
        print "#define STATEMENT_" toupper($3) " (&ses__statement_" $3 ")"
        count++
    } else {
        close_text()
        name = $3
        print "static const char text_" name "[] ="
        open = 1
    }
    next
}

/^--/ || /^$/ { next } # comments between statements are for people

open { print c_string($0) }

END {
    if (mode == "names") {
        print "enum { STATEMENT_COUNT = " count " };\n\n#endif"
    } else if (mode == "texts") {
        close_text()
    } else {
        close_text()
        print "};\n"
        print "size_t ses__schema_script_count(void)\n{"
        print "    return sizeof schema_scripts / sizeof schema_scripts[0];\n}\n"
        print "const struct schema_script *ses__schema_script(size_t index)\n{"
        print "    return &schema_scripts[index];\n}"
    }
}
