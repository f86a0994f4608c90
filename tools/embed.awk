# Turns the scripts of sql/ into C.
#
#   awk -f embed.awk -v mode=ids  statements.sql           the enum of the statements (statement_ids.h)
#   awk -f embed.awk -v mode=text statements.sql 0*.sql    their texts and the schema scripts (sql_text.c)
#
# A schema script's version is the number its file name begins with.

function base_name(path) {
    sub(/.*\//, "", path)
    return path
}

function c_string(line) {
    gsub(/\\/, "\\\\", line)
    gsub(/"/, "\\\"", line)
    return "    \"" line "\\n\""
}

function close_text() {
    if (open)
        print "    },"
    open = 0
}

FNR == 1 {
    file = base_name(FILENAME)
    is_statements = (file == "statements.sql")
    if (mode == "text" && !is_statements) {
        close_text()
        if (!in_scripts) {
            print "};\n\nstatic const struct schema_script schema_scripts[] = {"
            in_scripts = 1
        }
        print "    {" (file + 0) ", \"" file "\","
        open = 1
    }
}

FNR == 1 && NR == 1 {
    print "/* Made from sql/ by tools/embed.awk. */"
    if (mode == "ids") {
        print "#ifndef SESLITE_STATEMENT_IDS_H\n#define SESLITE_STATEMENT_IDS_H\n\nenum statement_id {"
    } else {
        print "#include \"storage/sqlite/sql_text.h\"\n"
        print "/* Longer than the 4095 characters that every C compiler must take; all we know of take more. */"
        print "#if defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#endif\n"
        print "static const struct statement_text statement_texts[] = {"
    }
}

is_statements && /^-- name: / {
    name = $3
    if (mode == "ids") {
        print "    STATEMENT_" toupper(name) ","
    } else {
        close_text()
        print "    {\"" name "\","
        open = 1
    }
    next
}

/^--/ || /^$/ { next } # comments between statements are for people

mode == "text" && open { print c_string($0) }

END {
    if (mode == "ids") {
        print "    STATEMENT_COUNT\n};\n\n#endif"
    } else {
        close_text()
        print "};\n"
        print "const struct statement_text *ses__statement_text(enum statement_id id)\n{"
        print "    return &statement_texts[id];\n}\n"
        print "size_t ses__schema_script_count(void)\n{"
        print "    return sizeof schema_scripts / sizeof schema_scripts[0];\n}\n"
        print "const struct schema_script *ses__schema_script(size_t index)\n{"
        print "    return &schema_scripts[index];\n}"
    }
}
