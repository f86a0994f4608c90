# Turns the statements of sql/ into C.
#
#   awk -f embed.awk -v mode=names statements.sql          the names of the statements (statements.h)
#   awk -f embed.awk -v mode=texts statements.sql          their texts (statements.c)
#
# Each statement is an object of its own, so that a program links only those that it runs.

function c_string(line) {
    gsub(/\\/, "&&", line)
    gsub(/"/, "\\\"", line)
    return "    \"" line "\\n\""
}

function close_text() {
    if (open) {
        print "    ;"
        print "const struct statement ses__statement_" name " = {" count++ ", \"" name "\", text_" name "};"
    }
    open = 0
}

NR == 1 {
    print "/* Made from sql/ by tools/embed.awk. */"
    if (mode == "names") {
        print "#ifndef SESLITE_STATEMENTS_H\n#define SESLITE_STATEMENTS_H\n\n#include \"base/common.h\"\n"
        print "struct statement {"
        print "    size_t slot; /* of a connection, where it is kept when it was prepared */"
        print "    const char *name;\n    const char *sql;\n};\n"
    } else {
        print "#include \"statements.h\"\n"
        print "/* Longer than the 4095 characters that every C compiler must take; all we know of take more. */"
        print "#if defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#endif\n"
    }
}

/^-- name: / {
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
    } else {
        close_text()
    }
}
