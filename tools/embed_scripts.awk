# Turns the schema, and the scripts that make it, into C (scripts.c).
#
#   awk -f embed_scripts.awk schema.sql 0*.sql
#
# schema.sql is made by tools/schema.sh. A script's version is the number its file name begins with. Every
# program has all of this in it, so it is packed: a byte below 128 is a character; a byte b from 128 on stands
# for the b - 124 characters that begin d characters earlier, where d is in the two bytes after it.
# ses__schema_unpack undoes this. The texts are the type, name and SQL of each object of the schema, then its
# end, and then the scripts. Each ends with a NUL.

BEGIN {
    for (i = 2; i < 128; i++)
        number_of[sprintf("%c", i)] = i
    NUL = sprintf("%c", 1) # which awk can hold
    number_of[NUL] = 0
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
function find_run(at,    from, count, key) {
    run = 0
    key = key_at(at)
    for (from = last[key]; from && at - from < 65536; from = before[from]) {
        count = common(from, at)
        if (count > 3 && count > run) {
            run = count
            distance = at - from
        }
    }
}

function key_at(at) { return character[at] character[at + 1] character[at + 2] character[at + 3] }

# Runs of `text` may begin in earlier texts.
function pack(text,    start, at, end, line) {
    start = len
    len += length(text)
    for (at = start + 1; at <= len; at++)
        if (!((character[at] = substr(text, at - start, 1)) in number_of)) {
            print file ": only ASCII can be packed" >"/dev/stderr"
            exit failed = 1
        }
    for (at = start + 1; at <= len;) {
        find_run(at)
        line = line (run ? run + 124 ", " int(distance / 256) ", " distance % 256 : number_of[character[at]]) ", "
        for (end = at + (run ? run : 1); at < end; at++) {
            before[at] = last[key_at(at)]
            last[key_at(at)] = at
        }
        if (length(line) > 100) {
            print "    " line
            line = ""
        }
    }
    print "    " line
}

# The text of an object ends with a semicolon, which SQLite does not keep.
function close_object() {
    sub(/;\n*$/, NUL, text)
    schema = schema text
}

function close_file() {
    if (!version) {
        pack(text NUL)
    } else {
        pack(text NUL)
        scripts = scripts "    {" version ", \"" file "\"},\n"
    }
}

FNR == 1 {
    if (file)
        close_file()
    file = FILENAME
    sub(/.*\//, "", file)
    version = file + 0
    text = ""
}

!version && /^-- (table|index|trigger) [a-z0-9_]+$/ {
    if (objects++)
        close_object()
    text = $2 NUL $3 NUL
    next
}

!version && /^-- the views/ {
    close_object()
    pack(schema)
    schema_bytes = len
    text = ""
}

/^--/ || /^$/ { next } # comments between statements are for people

{ text = text $0 "\n" }

END {
    if (failed)
        exit 1
    close_file()
    print "};\n"
    print "static const struct schema_script schema_scripts[] = {\n" scripts "};\n"
    print "const struct schema_scripts ses__schema_scripts = {"
    print "    schema_scripts, sizeof schema_scripts / sizeof schema_scripts[0],"
    print "    packed_scripts, " len ", " schema_bytes ", " objects "};"
}
