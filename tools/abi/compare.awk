# Compares two descriptions by describe.sh, and prints a line for each difference:
#     awk -f tools/abi/compare.awk OLD NEW
# `added` means that programs which were compiled with the old headers work as before. `BROKEN` means that
# they may not.

{
    key = $1 " " $2
    sub(/:$/, "", key)
    value = $0
    sub(/^[^:]*: /, "", value)
}
FNR == NR {
    old[key] = value
    next
}
{
    new[key] = value
    order[++keys] = key
}

END {
    for (key in old)
        if (!(key in new))
            broken(key ": " old[key] " is gone")
    for (i = 1; i <= keys; i++)
        if (!(order[i] in old))
            look_at_new(order[i], new[order[i]])
        else if (old[order[i]] != new[order[i]])
            look_at_changed(order[i], old[order[i]], new[order[i]])
}

function added(text) { print "added   " text }
function broken(text) { print "BROKEN  " text }

# A struct may grow at its end, unless it is fixed, and the members called `reserved` may become others.
function look_at_changed(key, before, after) {
    if (key ~ /^struct / && kind_of(before) == kind_of(after) && kind_of(before) != "fixed" && after + 0 > before + 0)
        added(key ": " before " grows to " after + 0)
    else if (key ~ /\.reserved$/ && end_of(before) == end_of(after) && after + 0 > before + 0)
        added(key ": " before " becomes " after)
    else
        broken(key ": " before " becomes " after)
}

# The `size` that a caller sets does not cover the padding at the end of its struct, which can hold anything.
# So a member that lies in it cannot be told from one that the caller has set.
function look_at_new(key, value, owner, is_in_old) {
    if (key !~ /^member /) {
        added(key ": " value)
        return
    }
    owner = "struct " substr(key, 8)
    sub(/\..*/, "", owner)
    is_in_old = owner in old && value + 0 < old[owner] + 0
    if (owner in old && kind_of(old[owner]) == "fixed" && !is_reserved(key, value))
        broken(key ": " value " is new in a struct that stays as it is")
    else if (is_in_old && kind_of(old[owner]) == "sized" && !is_reserved(key, value))
        broken(key ": " value " is new within the " old[owner] + 0 " bytes that callers have: append a member, and not in padding")
    else
        added(key ": " value)
}

function kind_of(value) {
    sub(/.*, /, "", value)
    return value
}

function end_of(value) {
    sub(/^[0-9]+ to /, "", value)
    return value + 0
}

# True if a new member lies where the old header has the `reserved` of the same struct.
function is_reserved(key, value, place) {
    sub(/[^.]*$/, "reserved", key)
    place = old[key]
    return place != "" && value + 0 >= place + 0 && end_of(value) <= end_of(place)
}
