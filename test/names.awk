# Checks that the names of the public headers follow the rule in CONTRIBUTING, "Names". Prints each that does
# not.
#     awk -f test/names.awk include/*.h

function fault(text) {
    print text
    faults++
}

# The parameters from one number on.
function rest(call, from, text, i) {
    for (i = from; i <= parameters[call]; i++)
        text = text ", " parameter[call, i]
    return text
}

# A handle returns its own values without options, and lends them; by key they are read, and given away.
function bare(text) {
    sub(/, const ses_call_options \*options/, "", text)
    gsub(/const /, "", text)
    return text
}

function read_call(text, call, count, i, parts) {
    call = text
    sub(/\(.*/, "", call)
    sub(/.*[ *]/, "", call)
    sub(/^[^(]*\(/, "", text)
    sub(/\);.*/, "", text)
    count = split(text, parts, / *, */)
    parameters[call] = count
    for (i = 1; i <= count; i++)
        parameter[call, i] = parts[i]
    calls[++call_count] = call
}

# Comments take whole lines, or the end of one.
/^ *\/\*/ { comment = "" }
/\/\*/ && !/\*\// { in_comment = 1 }
in_comment || /^ *\/\*/ { comment = comment " " $0 }
in_comment { if (/\*\//) in_comment = 0; next }
{ gsub(/\/\*[^*]*\*\//, "") }
/^typedef enum ses_flags/ { in_flags = 1 }
/^}/ { in_flags = 0 }
/^ +SES_[A-Z_]+_(ANYWAY|SECURE)[ ,=]/ || /^ +SES_[A-Z_]+_VERSION = 0x/ {
    if (!in_flags)
        fault($1 ": a flag of several calls has no call in its name: use the one of ses_flags")
}
/^typedef struct [a-z_]+ \{/ {
    name = $3
    gsub(/[ *\t]+/, " ", comment)
    says = comment ~ /will not change|never make or copy this struct/
    comment = ""
    getline
    if ($0 !~ /^    size_t size;/ && !says)
        fault(name ": has no `size`, and no comment says whether it grows")
}
/^SES_API/ { declaration = "" ; declaring = 1 }
declaring {
    declaration = declaration " " $0
    if (/;/) {
        gsub(/[ \t]+/, " ", declaration)
        read_call(declaration)
        declaring = 0
    }
}

function is_of_store(call) { return parameter[call, 1] ~ /^(const )?ses_store \*store$/ }

# It takes a store to work on something of it, or to make an object.
function is_of_part(call) {
    return parameter[call, 2] ~ /ses_key \*key$|char \*app$/ || call ~ /_open$|^ses_list_apps$|^ses_text_|^ses_output_/
}

function check(call, base, text) {
    if (is_of_store(call) && !is_of_part(call) && call !~ /^ses_(store_|close$|open_copy$)/)
        fault(call ": a call about a whole store begins with ses_store_")
    if (call ~ /^ses_store_/ && !is_of_store(call))
        fault(call ": begins with ses_store_ and takes no store")
    if (rest(call, 1) ~ /ses_store \*\*/ && call !~ /^ses_open/)
        fault(call ": a call that opens a store begins with ses_open")
    if (call !~ /_by_key/)
        return
    base = call
    sub(/_by_key/, "", base)
    text = bare(rest(call, 1))
    if (!sub(/ses_store \*store, ses_key \*key/, "ses_session *session", text))
        fault(call ": takes no store and key")
    else if (base in parameters && text != bare(rest(base, 1)))
        fault(call ": takes other parameters than " base)
}

END {
    for (i = 1; i <= call_count; i++)
        check(calls[i])
    if (call_count < 100)
        fault("only " call_count " calls were found")
    exit faults > 0
}
