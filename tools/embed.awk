# Turns the book of SQLite, which tools/book.awk makes, into C.
#
#   awk -f embed.awk -v mode=names gen/sqlite.sql          the names of the statements (statements.h)
#   awk -f embed.awk -v mode=texts gen/sqlite.sql          their texts (statements.c)
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
    }
    open = 0
}

NR == 1 {
    print "/* Made from sql/ by tools/embed.awk. */"
    if (mode == "names") {
        print "#ifndef SESLITE_STATEMENTS_H\n#define SESLITE_STATEMENTS_H\n\n#include \"base/common.h\"\n"
        print "/* It lies in an array of characters, since each pointer in it would cost a relocation. */"
        print "struct statement {"
        print "    unsigned char slot[2]; /* of a connection, where it is kept when it was prepared; the low byte first */"
        print "    char name[];           /* and after its NUL the text */\n};\n"
        print "static inline size_t ses__statement_slot(const struct statement *statement)\n{"
        print "    return statement->slot[0] + 256U * statement->slot[1];\n}\n"
    } else {
        print "#include \"statements.h\"\n"
        print "/* Longer than the 4095 characters that every C compiler must take; all we know of take more. */"
        print "#if defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#endif\n"
    }
}

/^-- name: / {
    if (mode == "names") {
        print "extern SESLITE_PRIVATE const char ses__statement_" $3 "[];"
        print "#define STATEMENT_" toupper($3) " ((const struct statement *)ses__statement_" $3 ")"
        count++
    } else {
        close_text()
        name = $3
        printf "const char ses__statement_%s[] = \"\\%03o\\%03o\" \"%s\\0\"\n", name, count % 256, count / 256, name
        count++
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
