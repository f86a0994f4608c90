# The C code in documents is that of other files, word for word, so that it compiles and stays true: in those
# for contributors the library's and the tests', and in a chapter with a program the pieces of that:
#     awk -f test/contributing.awk CONTRIBUTING.md test/README.md lib/*/*.c lib/*/*/*.c test/*/*.c
#     awk -v 'begin=```c chat.c' -f test/contributing.awk tools/chat/README.md tools/chat/chat.c

function look_for_blocks() {
    for (i = 1; i <= count; i++) {
        if (index(code, block[i]))
            found[i] = 1
    }
    code = ""
}

BEGIN {
    if (!begin)
        begin = "```c"
}

FNR == 1 { look_for_blocks() }

FILENAME !~ /\.md$/ { code = code $0 "\n"; next }
$0 == begin { place[++count] = FILENAME ":" FNR + 1; inside = 1; next }
/^```$/ { inside = 0 }
inside { block[count] = block[count] $0 "\n" }

END {
    look_for_blocks()
    for (i = 1; i <= count; i++) {
        if (!found[i]) {
            print place[i] ": no file has this code"
            failed = 1
        }
    }
    exit failed || count == 0
}
