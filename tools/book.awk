# Makes the book of an engine, sqlite, postgres or mysql: all its statements, with the macros replaced.
#
#   awk -f book.awk -v engine=postgres sql/statements.sql sql/postgres/statements.sql
#
# The first file has the statements that engines share, in the form that its head describes. The second one
# has those of this engine alone. Its lines `-- own: ` and `-- without: ` go into the book; other comments do
# not.
#
# Both define macros, as `-- macro: NAME(parameter, ...) = TEXT`, continued on lines that begin with `--` and
# five spaces. A call is a name in capitals directly followed by a parenthesis, and is closed on its line. It
# is replaced by the text, with each word that is the name of a parameter replaced by the argument, also after
# a dot and in quotes. Texts and arguments may call macros defined above them.

function fail_at(place, message) {
    print place ": " message > "/dev/stderr"
    failed = 1
    exit 1
}

function fail(message) { fail_at(FILENAME ": line " FNR, message) }

# -------------------------------------------------------------------------------------------------- dialects

# A line of the first file, as this engine takes it.
function translate(line) {
    if (engine != "postgres") {
        gsub(/([a-z]+\.)?shard = ([a-z]+\.shard|SHARD\(([^()]|\([^()]*\))*\)) AND /, "", line)
        gsub(/shard, |SHARD\(([^()]|\([^()]*\))*\), /, "", line)
        gsub(/::(bigint|text)/, "", line)
    }
    if (engine == "sqlite") {
        gsub(/\$/, "?", line)
        gsub(/greatest\(/, "max(", line)
        gsub(/least\(/, "min(", line)
        sub(/ON CONFLICT \([a-z_, ]*\)/, "ON CONFLICT", line)
        return line
    }
    gsub(/ AND \+[a-z_]+ = \$[0-9]+/, "", line)
    gsub(/ INDEXED BY [a-z_]+/, "", line)
    line = translate_words(line)
    if (engine == "mysql")
        sub(/ON CONFLICT \([^()]*\) DO UPDATE SET/, "ON DUPLICATE KEY UPDATE", line)
    return line
}

# Tables get their prefix. MySQL quotes `key`, and has another word for the values that an insert was given.
function translate_words(line,    result, word, before) {
    while (match(line, /[A-Za-z_]+/)) {
        word = substr(line, RSTART, RLENGTH)
        result = result substr(line, 1, RSTART - 1)
        line = substr(line, RSTART + RLENGTH)
        if (before ~ /^(FROM|JOIN|INTO|UPDATE)$/ && word ~ /^[a-z]/ && line !~ /^[.(]/)
            word = (engine == "mysql" ? "seslite_" : "seslite.") word
        else if (engine == "mysql" && word == "key")
            word = "`key`"
        else if (engine == "mysql" && word == "excluded" && match(line, /^\.[a-z_]+/)) {
            word = "values(" substr(line, 2, RLENGTH - 1) ")"
            line = substr(line, 1 + RLENGTH)
        }
        result = result word
        before = word
    }
    return result line
}

# ---------------------------------------------------------------------------------------------------- macros

# Splits the arguments at the beginning of `text` at their commas. Returns the length up to the closing
# parenthesis.
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
function expand(text, place,    result, macro, arguments, length_of_call, given) {
    while (match(text, /[A-Z][A-Z_]*\(/)) {
        macro = substr(text, RSTART, RLENGTH - 1)
        result = result substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        if (!(macro in bodies))
            fail_at(place, "there is no macro " macro)
        length_of_call = split_arguments(text, arguments)
        if (length_of_call > length(text))
            fail_at(place, "the call of " macro " is not closed")
        given = 0
        while ((given + 1) in arguments)
            given++
        if (given != arity[macro])
            fail_at(place, macro " takes " arity[macro] " arguments, not " given)
        text = fill_in(macro, arguments) substr(text, length_of_call + 1)
    }
    return result text
}

function define(text,    head, macro, names, i) {
    if (!match(text, /^[A-Z][A-Z_]*\([a-z_, ]*\) =/))
        fail("a macro is defined as NAME(parameter, ...) = TEXT")
    head = substr(text, 1, RLENGTH - 3)
    macro = substr(head, 1, index(head, "(") - 1)
    if (macro in bodies)
        fail("the macro " macro " is there twice")
    arity[macro] = split(substr(head, length(macro) + 2), names, /, */)
    for (i = 1; i <= arity[macro]; i++)
        positions[macro, names[i]] = i
    text = substr(text, RLENGTH + 2)
    expand(text, FILENAME ": line " FNR) # which fails if it calls what is not above it
    bodies[macro] = text
    return macro
}

# ------------------------------------------------------------------------------------------------- the files

# Keeps a line until all macros are known.
function keep(line) {
    lines[++count] = line
    places[count] = FILENAME ": line " FNR
}

FNR == 1 {
    file++
    macro = ""
    skipped = 0
}
{ text = file == 1 ? translate($0) : $0 }

/^-- macro: / {
    macro = define(substr(text, 11))
    next
}
/^--     / && macro != "" {
    so_far = bodies[macro]
    delete bodies[macro]
    expand(text, FILENAME ": line " FNR)
    sub(/^-- */, "", text)
    bodies[macro] = so_far " " text
    next
}
{ macro = "" }

/^-- (own|without): / && file == 2 { print }
/^-- name: / {
    name = $3
    if (name in names)
        fail("the statement " name " is there twice")
    names[name] = 1
    skipped = 0
    start = count
    keep("")
    keep($0)
}
# The engines that share a statement, if others have it in their own books or do not have it.
/^-- only: / && !(engine == $3 || engine == $4) {
    delete names[name]
    count = start
    skipped = 1
}
!skipped && ((/^-- locks: / && engine != "sqlite") || (/^-- prepared: / && engine == "mysql")) { keep($0) }
/^--/ || /^$/ || skipped { next }
{ keep(text) }

END {
    if (failed)
        exit 1
    for (i = 1; i <= count; i++)
        print (lines[i] ~ /^--/ ? lines[i] : expand(lines[i], places[i]))
}
