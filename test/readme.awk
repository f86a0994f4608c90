# Makes a program of the C code in the chapters, so that all of it compiles and runs:
#     awk -f test/readme.awk README.md lib/agent/README.md ... > chapters.c
# Each fragment becomes a function that runs twice, each time on a fresh store with one session: once nothing
# has been stored in it before, once it has state and four events. Fragments that begin with static are
# functions for the fragments after them. Fragments that begin with #include are whole programs: they are left
# out here, and
#     awk -v whole=1 -f test/readme.awk README.md > program.c
# gives the one of a chapter. A chapter has at most one.

/^```c$/ {
    getline
    program = $0 ~ /^#include/
    functions = $0 ~ /^static/
    shown = whole ? program : !program
    if (program && ++programs[FILENAME] > 1) {
        print FILENAME ":" FNR ": a second whole program, which no test would build" > "/dev/stderr"
        failed = 1
    }
    if (shown && !whole && !functions) {
        name[++count] = FILENAME ":" FNR
        print "static void fragment_" count "(ses_store *store, ses_key key, ses_session *s, ses_error err)"
        print "{\n    (void)store; (void)key; (void)s; (void)err;"
    }
    if (shown)
        print "#line " FNR " \"" FILENAME "\""
    inside = 1
}
/^```$/ && inside {
    if (shown && !whole && !functions)
        print "}\n"
    inside = 0
    next
}
inside && shown { print }

BEGIN {
    if (!whole) {
        print "#include <inttypes.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n#include <unistd.h>"
        print "#include \"seslite_agent.h\"\n#include \"seslite_artifact.h\"\n#include \"seslite_draft.h\"\n#include \"seslite_inbox.h\"\n#include \"seslite_cjson.h\"\n#include \"seslite_memory.h\"\n#include \"seslite_usage.h\"\n#include \"seslite_erase.h\"\n"
        print "static const char *current;"
        print "static void die(const char *message) { fprintf(stderr, \"%s: %s\\n\", current, message); exit(1); }\n"
    }
}

END {
    if (failed)
        exit 1
    if (whole)
        exit 0
    print "static void fill(ses_session *s, ses_error *err)\n{"
    print "    static const char *const delta = \"{\\\"actions\\\":{\\\"stateDelta\\\":{\\\"topic\\\":\\\"start\\\",\\\"counter\\\":41}}}\";"
    print "    if (ses_append(s, delta, SES_NUL, NULL, NULL, err) < 0) die(err->message);"
    print "    for (int n = 0; n < 3; n++)"
    print "        if (ses_append(s, \"{\\\"author\\\":\\\"user\\\",\\\"invocationId\\\":\\\"inv-0\\\"}\", SES_NUL, NULL, NULL, err) < 0) die(err->message);"
    print "}\n"
    print "int main(void)\n{"
    print "    static const struct {"
    print "        const char *name;"
    print "        void (*run)(ses_store *, ses_key, ses_session *, ses_error);"
    print "    } fragments[] = {"
    for (i = 1; i <= count; i++)
        print "        {\"" name[i] "\", fragment_" i "},"
    print "    };"
    print "    for (size_t i = 0; i < 2 * (sizeof fragments / sizeof fragments[0]); i++) {"
    print "        ses_store *store = NULL; ses_session *s = NULL; ses_error err;"
    print "        ses_key key = {\"my_app\", \"alice\", \"s1\"};"
    print "        current = fragments[i / 2].name;"
    print "        if (ses_open(\":memory:\", NULL, &store, &err) < 0) die(err.message);"
    print "        if (ses_create(store, &key, NULL, 0, NULL, &s, &err) < 0) die(err.message);"
    print "        if (i % 2) fill(s, &err);"
    print "        fragments[i / 2].run(store, key, s, err);"
    print "        ses_session_close(s); ses_close(store);"
    print "    }\n    return 0;\n}"
}
