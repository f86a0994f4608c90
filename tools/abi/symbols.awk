# Writes the version script of the shared library, which says since which version each call has been there:
#     awk -f tools/abi/symbols.awk tools/abi/symbols.map HEADER...
# A call that the map has keeps its version. A new one gets the last version of the map, or that of the
# headers if it is later. A call that no header declares is left out. So the map need not name the calls that
# are added before a release.

FILENAME ~ /\.map$/ && /^SESLITE_/ {
    node = $1
    add_node(node)
}
FILENAME ~ /\.map$/ && /^ +ses_/ {
    sub(/;.*/, "", $1)
    since[$1] = node
}
/^#define SES_VERSION_MAJOR / { major = $3 }
/^#define SES_VERSION_MINOR / { minor = $3 }
/^SES_API / && match($0, /[ *]ses_[a-z0-9_]+\(/) { call[++calls] = substr($0, RSTART + 1, RLENGTH - 2) }

END {
    now = "SESLITE_" major "." minor
    if (!nodes || number_of(now) > number_of(nodes_in_order[nodes]))
        is_new = now
    for (i = 1; i <= calls; i++)
        if (!(call[i] in since)) {
            if (is_new != "") {
                add_node(is_new)
                is_new = ""
            }
            since[call[i]] = nodes_in_order[nodes]
        }
    for (i = 1; i <= nodes; i++)
        print_node(nodes_in_order[i], nodes_in_order[i - 1])
}

function add_node(name) { nodes_in_order[++nodes] = name }

function number_of(name, part) {
    sub(/^SESLITE_/, "", name)
    split(name, part, ".")
    return part[1] * 1000 + part[2]
}

function print_node(name, before, i) {
    print name " {"
    print "global:"
    for (i = 1; i <= calls; i++)
        if (since[call[i]] == name)
            print "    " call[i] ";"
    if (before == "")
        print "local:\n    *;"
    print "}" (before == "" ? "" : " " before) ";"
}
