# Makes a program of the C code in README.md, so that all of it compiles and runs:
#     awk -f test/readme.awk README.md > readme.c
# Each fragment becomes a function that runs twice, each time on a fresh store with one session: once nothing has
# been stored in it before, once it has state and four events. Fragments that begin with #include are whole
# programs and are built by themselves: they are left out here. Fragments that begin with static are functions for the
# fragments after them.

/^```c$/ {
    getline
    if ($0 ~ /^#include/) {
        whole = 1
    } else if ($0 ~ /^static/) {
        whole = 0
        functions = 1
        print "#line " NR " \"README.md\""
    } else {
        count++
        whole = 0
        print "static void fragment_" count "(ses_store *store, ses_key key, ses_session *s, ses_error err)"
        print "{\n    (void)store; (void)key; (void)s; (void)err;"
        print "#line " NR " \"README.md\""
    }
    inside = 1
}
/^```$/ && inside {
    if (!whole && !functions)
        print "}\n"
    functions = 0
    inside = 0
    next
}
inside && !whole { print }

BEGIN {
    print "#include <inttypes.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n#include <unistd.h>"
    print "#include \"seslite_agent.h\"\n#include \"seslite_cjson.h\"\n"
    print "static void die(const char *message) { fprintf(stderr, \"README: %s\\n\", message); exit(1); }\n"
}

END {
    print "static void fill(ses_session *s, ses_error *err)\n{"
    print "    static const char *const delta = \"{\\\"actions\\\":{\\\"stateDelta\\\":{\\\"topic\\\":\\\"start\\\",\\\"counter\\\":41}}}\";"
    print "    if (ses_append(s, delta, SES_NUL, NULL, NULL, err) < 0) die(err->message);"
    print "    for (int n = 0; n < 3; n++)"
    print "        if (ses_append(s, \"{\\\"author\\\":\\\"user\\\",\\\"invocationId\\\":\\\"inv-0\\\"}\", SES_NUL, NULL, NULL, err) < 0) die(err->message);"
    print "}\n"
    print "int main(void)\n{"
    print "    void (*const fragments[])(ses_store *, ses_key, ses_session *, ses_error) = {"
    for (i = 1; i <= count; i++)
        print "        fragment_" i ","
    print "    };"
    print "    for (size_t i = 0; i < 2 * (sizeof fragments / sizeof fragments[0]); i++) {"
    print "        ses_store *store = NULL; ses_session *s = NULL; ses_error err;"
    print "        ses_key key = {\"my_app\", \"alice\", \"s1\"};"
    print "        if (ses_open(\":memory:\", NULL, &store, &err) < 0) die(err.message);"
    print "        if (ses_create(store, &key, NULL, 0, NULL, &s, &err) < 0) die(err.message);"
    print "        if (i % 2) fill(s, &err);"
    print "        fragments[i / 2](store, key, s, err);"
    print "        ses_session_close(s); ses_close(store);"
    print "    }\n    return 0;\n}"
}
