# Turns files into C: each is a text of its name, with _ for any other character than a letter (page.css:
# page_css).
#
#   awk -f embed_files.awk page.css page.js

function close_text() {
    if (name != "")
        print "    ;"
}

FNR == 1 {
    close_text()
    if (NR == 1) {
        print "/* Made by tools/embed_files.awk. */\n#include \"embedded.h\"\n"
        print "/* Longer than the 4095 characters that every C compiler must take; all we know of take more. */"
        print "#if defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#endif"
    }
    name = FILENAME
    sub(/.*\//, "", name)
    gsub(/[^A-Za-z0-9]/, "_", name)
    print "\nconst char " name "[] ="
}

{
    gsub(/\\/, "&&")
    gsub(/"/, "\\\\&")
    print "    \"" $0 "\\n\""
}

END { close_text() }
