# Every link of the Markdown files leads somewhere, and every chapter is found:
#     FILES="$(git ls-files)" awk -f test/links.awk README.md lib/agent/README.md ...
# A relative link names a file of FILES or a folder; an anchor names a heading, by GitHub's rules. Links to
# other sites are not looked at. A chapter is a README.md below lib/, sql/ or tools/: the top README links
# each, and each links back, but for the packages of Python and Rust, whose README files go to registries. In
# files that are not Markdown, each X/README.md that is mentioned exists.

function complain(where, text) {
    print where ": " text
    failed = 1
}

# The anchor that GitHub gives a heading.
function anchor_of(text) {
    gsub(/\]\([^)]*\)/, "", text)
    text = tolower(text)
    gsub(/[][!-,.\/:-@\\^`{-~]/, "", text)
    gsub(/ /, "-", text)
    return text
}

# The path of `target`, which is relative to the folder of `file`.
function path_of(file, target,    count, parts, stack, depth, i, path) {
    if (!sub(/\/[^\/]*$/, "", file))
        file = "."
    count = split(file "/" target, parts, "/")
    depth = 0
    for (i = 1; i <= count; i++) {
        if (parts[i] == ".." && depth > 0 && stack[depth] != "..")
            depth--
        else if (parts[i] != "." && parts[i] != "")
            stack[++depth] = parts[i]
    }
    path = depth ? stack[1] : "."
    for (i = 2; i <= depth; i++)
        path = path "/" stack[i]
    return path
}

function note_link(target) {
    sub(/[ \t].*/, "", target)
    gsub(/[<>"]/, "", target)
    if (target ~ /^[a-z]+:/)
        return
    place[++links] = FILENAME ":" FNR
    from[links] = FILENAME
    to[links] = target
}

function note_links(line,    rest) {
    gsub(/`[^`]*`/, "", line)
    for (rest = line; match(rest, /\]\([^)]+\)/); rest = substr(rest, RSTART + RLENGTH))
        note_link(substr(rest, RSTART + 2, RLENGTH - 3))
    for (rest = line; match(rest, /(src|srcset|href)="[^"]+"/); rest = substr(rest, RSTART + RLENGTH))
        note_link(substr(rest, index(substr(rest, RSTART), "\"") + RSTART, RLENGTH - index(substr(rest, RSTART), "\"") - 1))
    if (match(line, /^\[[^]]+\]: /))
        note_link(substr(line, RLENGTH + 1))
}

function look_at(i,    hash, target, anchor, path) {
    hash = index(to[i], "#")
    target = hash ? substr(to[i], 1, hash - 1) : to[i]
    anchor = hash ? substr(to[i], hash + 1) : ""
    path = target == "" ? from[i] : path_of(from[i], target)
    sub(/\/$/, "", path)
    if (!(path in exists))
        complain(place[i], "there is no " to[i])
    else if (anchor != "" && !((path "#" anchor) in anchors))
        complain(place[i], "there is no heading " to[i])
    linked[from[i], path] = 1
}

BEGIN {
    count = split(ENVIRON["FILES"], listed, "\n")
    for (i = 1; i <= count; i++) {
        path = listed[i]
        exists[path] = 1
        while (sub(/\/[^\/]*$/, "", path))
            exists[path] = 1
    }
}

FNR == 1 { fenced = 0 }
FILENAME !~ /\.md$/ {
    for (rest = $0; match(rest, /[A-Za-z0-9_.\/-]*README\.md/); rest = substr(rest, RSTART + RLENGTH)) {
        named = substr(rest, RSTART, RLENGTH)
        if (!(named in exists) && !(path_of(FILENAME, named) in exists))
            complain(FILENAME ":" FNR, "there is no " named)
    }
    next
}
/^ *```/ { fenced = !fenced; next }
fenced { next }
/^#+ / {
    heading = $0
    sub(/^#+ +/, "", heading)
    heading = anchor_of(heading)
    again = seen[FILENAME, heading]++
    anchors[FILENAME "#" heading (again ? "-" again : "")] = 1
}
{ note_links($0) }

END {
    for (i = 1; i <= links; i++)
        look_at(i)
    for (path in exists) {
        if (path !~ /^(lib|sql|tools)\/.*README\.md$/)
            continue
        chapters++
        if (!(("README.md", path) in linked) && path !~ /seslite-sys/)
            complain("README.md", "no link to " path)
        if (!((path, "README.md") in linked) && path !~ /^tools\/(python|rust)\//)
            complain(path, "no link back to README.md")
    }
    if (!links || !chapters)
        complain("links", "nothing was looked at")
    exit failed
}
