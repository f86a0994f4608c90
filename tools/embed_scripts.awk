# Turns the schema scripts of sql/sqlite into C (scripts.c).
#
#   awk -f embed_scripts.awk 0*.sql
#
# A script's version is the number its file name begins with. Every program has the scripts in it, so they are packed, to a
# quarter of their length: a byte below 128 is a character; a byte b from 128 on stands for the b - 124 characters that
# begin d characters earlier, where d is in the two bytes after it. ses__schema_unpack undoes this. Each script ends with a
# NUL, and so does the list of them.

BEGIN {
    for (i = 1; i < 128; i++)
        number_of[sprintf("%c", i)] = i
    print "/* Made from sql/sqlite by tools/embed_scripts.awk. */"
    print "#include \"storage/sqlite/connection/scripts.h\"\n"
    print "static const unsigned char packed_scripts[] = {"
}

# How many characters from `at` on, up to 131, are those from `from` on.
function common(from, at,    count) {
    while (count < 131 && at + count <= len && character[from + count] == character[at + count])
        count++
    return count
}

# The longest run that begins earlier, by the places where the same four characters do.
function find_run(at,    from, count) {
    run = 0
    for (from = last[substr(text, at, 4)]; from && at - from < 65536; from = before[from]) {
        count = common(from, at)
        if (count > 3 && count > run) {
            run = count
            distance = at - from
        }
    }
}

function print_packed(    at, end, line) {
    len = length(text)
    split("", last)
    split("", before)
    for (at = 1; at <= len; at++)
        if (!((character[at] = substr(text, at, 1)) in number_of)) {
            print file ": only ASCII can be packed" >"/dev/stderr"
            exit 1
        }
    for (at = 1; at <= len;) {
        find_run(at)
        line = line (run ? run + 124 ", " int(distance / 256) ", " distance % 256 : number_of[character[at]]) ", "
        for (end = at + (run ? run : 1); at < end; at++) {
            before[at] = last[substr(text, at, 4)]
            last[substr(text, at, 4)] = at
        }
        if (length(line) > 100) {
            print "    " line
            line = ""
        }
    }
    print "    " line "0,"
}

function close_script() {
    if (!file)
        return
    print_packed()
    scripts = scripts "    {" version ", \"" file "\"},\n"
    bytes += len + 1
}

FNR == 1 {
    close_script()
    file = FILENAME
    sub(/.*\//, "", file)
    version = file + 0
    text = ""
}

/^--/ || /^$/ { next } # comments between statements are for people

{ text = text $0 "\n" }

END {
    close_script()
    print "    0,\n};\n"
    print "static const struct schema_script schema_scripts[] = {\n" scripts "};\n"
    print "const struct schema_scripts ses__schema_scripts = {"
    print "    schema_scripts, sizeof schema_scripts / sizeof schema_scripts[0],"
    print "    packed_scripts, sizeof packed_scripts, " bytes + 1 "};"
}
