# Makes a C program from the records of tools/docs/read.awk. It prints the binary interface of the headers,
# one line each:
#
#     call NAME: TYPE
#     struct NAME: SIZE, KIND            a caller sets its `size` (sized), the library lends it (lent), or it stays (fixed)
#     member STRUCT.NAME: FROM to END, TYPE
#     constant NAME: VALUE
#     type NAME: enum, handle, or the type of a callback
#
# Names of parameters are left out: changing one changes nothing for a compiled program.

BEGIN { FS = "\t" }

# Prints a line of the description. `numbers` are the arguments for the conversions in it.
function describe(text, numbers) {
    lines = lines "    printf(\"" text "\\n\"" (numbers == "" ? "" : ", " numbers) ");\n"
}

# A declaration without its names: "int (*next)(void *context, int x[2])" is "int (*)(void *, int[2])".
function type_of(text, called, shown) {
    sub(/;$/, "", text)
    sub(called "\\(", "(", text)
    text = text ","
    while (match(text, /[ *][a-z_0-9]+[[,)]/)) {
        shown = shown substr(text, 1, RSTART - 1)
        if (substr(text, RSTART, 1) == "*")
            shown = shown "*"
        text = substr(text, RSTART + RLENGTH - 1)
    }
    text = shown text
    sub(/,$/, "", text)
    return text
}

function end_struct(i, offset) {
    if (struct != "")
        describe("struct " struct ": %zu, " kind, "sizeof(" struct ")")
    for (i = 1; i <= members; i++) {
        offset = "offsetof(" struct ", " member[i] ")"
        describe("member " struct "." member[i] ": %zu to %zu, " member_type[i],
            offset ", " offset " + sizeof(((" struct " *)0)->" member[i] ")")
    }
    struct = callback = ""
    members = 0
}

$1 ~ /^(header|section|note|group|type)$/ { end_struct() }
# Only the room cjson needs cJSON, and its header has no types.
$1 == "header" && $2 !~ /cjson/ {
    sub(/.*\//, "", $2)
    headers = headers "#include \"" $2 "\"\n"
}
$1 == "func" { describe("call " $2 ": " type_of($3, $2)) }
$1 == "type" && $2 == "struct" {
    struct = $3
    kind = "fixed"
}
$1 == "type" && $2 ~ /^(enum|handle)$/ { describe("type " $3 ": " $2) }
$1 == "type" && $2 == "callback" { callback = $3 }
$1 == "verse" && callback != "" {
    sub(/^typedef /, "", $2)
    describe("type " callback ": " type_of($2, callback))
}
$1 == "para" && struct != "" && !members && /never make or copy this struct/ { kind = "lent" }
$1 == "member" {
    member[++members] = $2
    member_type[members] = $3 ~ /^struct / ? "struct" : type_of($3)
    if (members == 1 && $2 == "size")
        kind = "sized"
}
$1 == "code" { describe("constant SES_" $2 ": %d", "SES_" $2) }
# A version changes with each release, and a macro with parameters is no part of a compiled library.
$1 == "constant" && $2 !~ /^SES_(SCHEMA_)?VERSION/ && $3 !~ /^\([a-z]+,/ {
    if ($3 ~ /^"/)
        describe("constant " $2 ": \\\"%s\\\"", $2)
    else
        describe("constant " $2 ": %lld", "(long long)" $2)
}
END {
    end_struct()
    print headers "#include <stdio.h>\n\nint main(void)\n{\n    if (sizeof(void *) != 8)\n        return 77;\n" lines "    return 0;\n}"
}
