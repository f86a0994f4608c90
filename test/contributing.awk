# The C code in the documents for contributors is the library's and the tests' own, word for word, so that it
# compiles and stays true:
#     awk -f test/contributing.awk CONTRIBUTING.md test/README.md lib/*/*.c lib/*/*/*.c test/*/*.c

function look_for_blocks() {
    for (i = 1; i <= count; i++) {
        if (index(code, block[i]))
            found[i] = 1
    }
    code = ""
}

FNR == 1 { look_for_blocks() }

FILENAME !~ /\.md$/ { code = code $0 "\n"; next }
/^```c$/ { place[++count] = FILENAME ":" FNR + 1; inside = 1; next }
/^```$/ { inside = 0 }
inside { block[count] = block[count] $0 "\n" }

END {
    look_for_blocks()
    for (i = 1; i <= count; i++) {
        if (!found[i]) {
            print place[i] ": no file of lib/ or test/ has this code"
            failed = 1
        }
    }
    exit failed || count == 0
}
