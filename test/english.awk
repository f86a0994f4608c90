# Looks at the English and the width of the files that it is given, by the rules of CONTRIBUTING, "Style":
#     awk -f test/english.awk lib/base/clock.c sql/statements.sql test/README.md ...
# Prints for each folder `FOLDER LINES HEADLESS WIDE`: the lines of its comments and documents, the headless
# sentences in them, and the lines of more than 110 columns. -v all=1 also prints each that it counts.
#
# A headless sentence has no noun as its subject: it begins with `What`, `Of` or `Whoever`, or it is a
# question in place of a condition (`Is it there?`). Some phrases that no native speaker writes are counted
# with them. The code and the tables of documents are not looked at, nor is their width. Strings and tables do
# not make a line wide.

# The folder of a path: in lib/ the room, since each room has a limit of its own.
function folder_of(path,    parts, count) {
    count = split(path, parts, "/")
    if (count == 1)
        return "."
    return parts[1] == "lib" && count > 2 ? parts[1] "/" parts[2] : parts[1]
}

function columns_of(text) {
    gsub(/[\200-\277]/, "", text) # the bytes of a character after its first
    return length(text)
}

function note(kind, line, text) {
    counts[kind, folder]++
    if (all)
        print path ":" line ": " kind ": " text
}

function look_at_sentence(text) {
    sub(/^[ (]+/, "", text)
    if ((text ~ /^(What|Whatever|Who|Whoever|Whichever|Whose|Of|So many|So much|The same of) / &&
         text !~ /\?$/) ||
        text ~ /^(Is|Are|Was|Were|Do|Does|Did|Has|Have|Had|Can|May|Must|Says) .*\?$/ ||
        text ~ /(the same of|(^| )in vain|[^f] all the same)/)
        note("headless", started, text)
}

# Splits the text that was gathered into sentences.
function end_text(    sentence) {
    while (match(gathered, /[.?:;!]\)? +[A-Z(]/)) {
        sentence = substr(gathered, 1, RSTART)
        gathered = substr(gathered, RSTART + RLENGTH - 1)
        look_at_sentence(sentence)
    }
    if (gathered != "")
        look_at_sentence(gathered)
    gathered = ""
}

# Gathers a line of text. An empty one, and an item of a list, end the sentence before them.
function add_text(text) {
    counts["lines", folder]++
    sub(/^ *\**!?[ \t]*/, "", text)
    sub(/[ \t]+$/, "", text)
    if (text == "" || text ~ /^- /)
        end_text()
    sub(/^- +/, "", text)
    if (gathered == "")
        started = FNR
    gathered = gathered (gathered == "" ? "" : " ") text
}

FNR == 1 {
    end_text()
    path = FILENAME
    folder = folder_of(path)
    in_comment = in_code = 0
    is_c = path ~ /\.([ch]|h\.in)$/
    mark = path ~ /\.sql$/ ? "--" : "#"
}

path ~ /\.md$/ {
    if (/^ *```/)
        in_code = !in_code
    if (in_code || /^ *(```|[|#!<])/)
        end_text()
    else
        add_text($0)
    next
}

# A table is numbers in C, or columns in a comment.
length($0) > 110 && columns_of($0) > 110 && !(is_c && /^[ \t]*[{]?[0-9]/) &&
    !/^ *(\*|#|--) .*[^ ]   +[^ ]/ {
    line = $0
    gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
    if (!is_c)
        gsub(/'[^']*'/, "\047\047", line)
    if (columns_of(line) > 110)
        note("wide", FNR, substr($0, 1, 60))
}

is_c {
    line = $0
    if (!in_comment) {
        gsub(/"([^"\\]|\\.)*"/, "", line)
        in_comment = sub(/.*\/\*/, "", line)
        end_text()
        if (!in_comment && !sub(/^(.*[ \t])?\/\//, "", line))
            next
    }
    ends = match(line, /\*\//)
    add_text(ends ? substr(line, 1, RSTART - 1) : line)
    if (ends) {
        in_comment = 0
        end_text()
    }
    next
}

{
    trails = $0 !~ ("^[ \t]*" mark)
    if (trails)
        end_text()
    if (match($0, trails ? "[ \t]" mark " " : mark)) {
        add_text(substr($0, RSTART + RLENGTH))
        if (trails)
            end_text()
    }
}

END {
    end_text()
    for (key in counts) {
        split(key, parts, SUBSEP)
        folders[parts[2]] = 1
    }
    for (folder in folders)
        print folder, counts["lines", folder] + 0, counts["headless", folder] + 0, counts["wide", folder] + 0
}
