/* Instruction templates. */
#include "agent.h"

#include <stdbool.h>

#include "seslite_artifact.h"
#include "seslite_cjson.h"

struct artifacts {
    ses_store *store;
    int calls;
};

static int give(ses_store *store, const char *words, char **text, size_t *len)
{
    *len = strlen(words);
    *text = ses_text_make(store, *len);
    assert_non_null(*text);
    memcpy(*text, words, *len);
    return SES_OK;
}

/* Artifacts by what they do. */
static int read_artifact(void *context, const char *name, char **text, size_t *len, ses_error *error)
{
    struct artifacts *artifacts = context;
    int code = SES_NOTFOUND;

    artifacts->calls++;
    if (strcmp(name, "report v1.txt") == 0 || strcmp(name, "x") == 0) {
        code = give(artifacts->store, "{a} of the artifact", text, len);
    } else if (strcmp(name, "broken") == 0) {
        snprintf(error->message, sizeof error->message, "the disk of artifacts is gone");
        code = SES_IO;
    } else if (strcmp(name, "silent") == 0) {
        code = SES_BUSY;
    } else if (strcmp(name, "half") == 0) {
        (void)give(artifacts->store, "half", text, len);
        code = SES_IO;
    } else if (strcmp(name, "nothing") == 0) {
        code = SES_OK;
    } else if (strcmp(name, "odd") == 0) {
        code = 5;
    } else if (strcmp(name, "bytes") == 0) {
        code = give(artifacts->store, "\xff", text, len);
    }
    return code;
}

struct render_case {
    const char *text;
    const char *expected; /* NULL: it fails with `code` */
    int code;
    const char *words;
};

static void check_cases(ses_session *session, const ses_render_options *options,
                        const struct render_case *cases, size_t count)
{
    ses_tracked *tracked = agent_view(session, 0);
    ses_error error;

    for (size_t i = 0; i < count; i++) {
        char *rendered = NULL;
        size_t len = 0;
        const struct render_case *it = &cases[i];
        for (int by_view = 0; by_view < 2; by_view++) {
            int code = by_view
                           ? ses_tracked_render(tracked, it->text, SES_NUL, options, &rendered, &len, &error)
                           : ses_render(session, it->text, SES_NUL, options, &rendered, &len, &error);
            if (it->expected) {
                assert_ok(code);
                assert_string_equal(rendered, it->expected);
                assert_int_equal(len, strlen(it->expected));
            } else {
                assert_code(it->code, code);
                assert_message(it->words);
                assert_null(rendered);
            }
            ses_free(rendered);
        }
    }
    ses_tracked_close(tracked);
}

#define CHECK_CASES(session, options, cases) \
    check_cases(session, options, cases, sizeof cases / sizeof cases[0])

/* The shared cases. Their state is taken as text, since cJSON would round its numbers. */
MEMORY_TEST(the_shared_cases)
{
    char *text = support_test_data("vectors/template.json", NULL);

    if (text) {
        char *first = strstr(text, "\"state\": ") + strlen("\"state\": ");
        char *last = strstr(first, ",\n\"cases\"");
        assert_non_null(last);
        char *initial = strndup(first, (size_t)(last - first));
        ses_session *session = agent_session(fixture, initial);
        cJSON *vectors = cJSON_Parse(text);
        const cJSON *item;
        char event[8192];
        size_t count = 0;

        /* temp: keys live in an invocation, so they come with an event. */
        snprintf(event, sizeof event, "{\"actions\":{\"stateDelta\":%s}}", initial);
        must_append(session, event);
        cJSON_ArrayForEach(item, cJSON_GetObjectItem(vectors, "cases"))
        {
            const cJSON *expect = cJSON_GetObjectItem(item, "expect");
            const struct render_case one = {cJSON_GetObjectItem(item, "template")->valuestring,
                                            expect ? expect->valuestring : NULL, SES_NOTFOUND, "state key"};
            check_cases(session, NULL, &one, 1);
            if (!expect)
                assert_string_equal(cJSON_GetObjectItem(item, "error")->valuestring, "NOTFOUND");
            count++;
        }
        assert_true(count > 30);
        cJSON_Delete(vectors);
        ses_session_close(session);
        free(initial);
        free(text);
    }
}

static const char *const STATE =
    "{\"a\":\"X\",\"b\":\"B\",\"n\":30,\"nil\":null,\"obj\":{\"k\": [1]},\"esc\":\"q\\\"\\n\\u00e9\","
    "\"tpl\":\"{a}\",\"user:name\":\"Lin\",\"app:x\":1,\"app.x\":\"dot\",\"user:p.q\":\"dark\",\"a-b\":1,"
    "\"artifact.key\":\"key\",\"artifact\":\"A\",\"app\":\"plain\",\"x1\":\"one\",\"lone\":\"\\ud800\","
    "\"empty\":\"\"}";

/* As Python's str.isidentifier decides: what is no name is left as it is, and a name that is not there is an
 * error. */
MEMORY_TEST(names_are_identifiers_of_any_script)
{
    static const struct render_case cases[] = {
        {"{\xe2\x80\xa6}", "{\xe2\x80\xa6}", 0, NULL}, /* an ellipsis */
        {"{\xe2\x80\x9cquoted\xe2\x80\x9d}", "{\xe2\x80\x9cquoted\xe2\x80\x9d}", 0, NULL},
        {"{a\xe3\x80\x81}", "{a\xe3\x80\x81}", 0, NULL}, /* an ideographic comma */
        {"{\xe2\x86\x92}", "{\xe2\x86\x92}", 0, NULL},   /* an arrow */
        {"{ a\xc2\xa0}", "{ a\xc2\xa0}", 0, NULL},       /* a blank of its own kind */
        {"{a\xe2\x80\x94"
         "b}",
         "{a\xe2\x80\x94"
         "b}",
         0, NULL},                                             /* a dash */
        {"{\xf0\x9f\x98\x80}", "{\xf0\x9f\x98\x80}", 0, NULL}, /* an emoji */
        {"{\xcc\x81"
         "a}",
         "{\xcc\x81"
         "a}",
         0, NULL},                             /* a mark cannot begin a name */
        {"{\xd9\xa3}", "{\xd9\xa3}", 0, NULL}, /* neither can a digit */
        {"{\xed\x98\x95\xec\x8b\x9d}", NULL, SES_NOTFOUND, "\xed\x98\x95\xec\x8b\x9d"}, /* two syllables */
        {"{e\xcc\x81}", NULL, SES_NOTFOUND, "e\xcc\x81"},      /* a letter and a mark */
        {"{x\xd9\xa3}", NULL, SES_NOTFOUND, "x\xd9\xa3"},      /* a digit of another script */
        {"{\xf0\xa0\x80\x80?}|", "|", 0, NULL},                /* beyond the first plane */
        {"{\xf3\xa0\x84\x80}", "{\xf3\xa0\x84\x80}", 0, NULL}, /* a variation selector */
        {"{\xf4\x8f\xbf\xbf}", "{\xf4\x8f\xbf\xbf}", 0, NULL}, /* the last of all */
    };
    ses_session *session = agent_session(fixture, "{\"a\":1}");

    CHECK_CASES(session, NULL, cases);
}

MEMORY_TEST(values_by_their_type)
{
    static const struct render_case cases[] = {
        {"{esc}|{obj}|{n}|{nil}|{empty}|", "q\"\n\xc3\xa9|{\"k\": [1]}|30|||", 0, NULL},
        {"{tpl}{a}", "{a}X", 0, NULL}, /* not rendered again */
        {"{lone}", NULL, SES_RANGE, "lone surrogate"},
        {"", "", 0, NULL},
        {"{a}", "X", 0, NULL},
        {"a}b}{", "a}b}{", 0, NULL},
    };
    ses_session *session = agent_session(fixture, STATE);
    CHECK_CASES(session, NULL, cases);
}

MEMORY_TEST(names_and_other_texts)
{
    static const struct render_case cases[] = {
        {"{\t\r\n a \t}", "X", 0, NULL},
        {"{a ?}", "{a ?}", 0, NULL},
        {"{?}", "{?}", 0, NULL},
        {"{ }", "{ }", 0, NULL},
        {"{a b}", "{a b}", 0, NULL},
        {"{1x}", "{1x}", 0, NULL},
        {"{x1}", "one", 0, NULL},
        {"{x0?}{x9?}", "", 0, NULL},
        {"{a\v}", "{a\v}", 0, NULL},
        {"{user:}", "{user:}", 0, NULL},
        {"{user: name}", "{user: name}", 0, NULL},
        {"{user:name}", "Lin", 0, NULL},
        {"{USER:name}", "{USER:name}", 0, NULL},
        {"{app:user:name}", "{app:user:name}", 0, NULL},
        {"{app}", "plain", 0, NULL},
        {"{app.x}", "dot", 0, NULL},
        {"{user:p.q}", "dark", 0, NULL},
        {"{user:p.q?}", "dark", 0, NULL},
        {"{user:p.z}", "{user:p.z}", 0, NULL},
        {"{user:p.z?}", "{user:p.z?}", 0, NULL},
        {"{.a}", "{.a}", 0, NULL},
        {"{artifact}", "A", 0, NULL},
        {"{a-b?}", "{a-b?}", 0, NULL},
        {"{\xe5\x90\x8d?}", "", 0, NULL},
        {"{\xe5\x90\x8d}", NULL, SES_NOTFOUND, "\xe5\x90\x8d"},
        {"{temp:gone}", NULL, SES_NOTFOUND, "\"temp:gone\""},
        {"{a?}{gone?}{b}", "XB", 0, NULL},
        {"{a??}", "{a??}", 0, NULL},
    };
    ses_session *session = agent_session(fixture, STATE);
    CHECK_CASES(session, NULL, cases);
}

MEMORY_TEST(braces)
{
    static const struct render_case cases[] = {
        {"{{a}}", "{{a}}", 0, NULL},
        {"{{{a}}}", "{{{a}}}", 0, NULL},
        {"{a}}", "X}", 0, NULL},
        {"{a}{{b}}{a}", "X{{b}}X", 0, NULL},
        {"{a{b}", "{aB", 0, NULL},
        {"{ {a} }", "{ X }", 0, NULL},
        {"{{", "{{", 0, NULL},
        {"{", "{", 0, NULL},
        {"{a", "{a", 0, NULL},
        {"}{", "}{", 0, NULL},
        {"{}{a}", "{}X", 0, NULL},
        {"{\"k\": {\"j\": {a}}}", "{\"k\": {\"j\": X}}", 0, NULL},
        {"{{gone}}", "{{gone}}", 0, NULL},
        {"x{a}", "xX", 0, NULL},
    };
    ses_session *session = agent_session(fixture, STATE);
    CHECK_CASES(session, NULL, cases);
}

/* The ADK's code matches r'{+[^{}]*}+', and strips all braces and spaces. */
MEMORY_TEST(the_flag_for_the_adks_braces)
{
    static const struct render_case cases[] = {
        {"{{a}}", "X", 0, NULL},
        {"{{{ a? }}}}", "X", 0, NULL},
        {"{a}}", "X", 0, NULL},
        {"{{a}", "X", 0, NULL},
        {"{{gone}}", NULL, SES_NOTFOUND, "gone"},
        {"{{gone?}}-", "-", 0, NULL},
        {"{{a{b}}", "{{aB", 0, NULL},
        {"{{}}", "{{}}", 0, NULL},
        {"{{a-b}}}", "{{a-b}}}", 0, NULL},
        {"{{", "{{", 0, NULL},
        {"{{a", "{{a", 0, NULL},
        {"{{artifact.x}}", NULL, SES_NOTFOUND, "\"x\""},
        {"{a}{{b}}", "XB", 0, NULL},
    };
    const ses_render_options options = {.size = sizeof options, .flags = SES_RENDER_ADK_BRACES};
    ses_session *session = agent_session(fixture, STATE);
    CHECK_CASES(session, &options, cases);
}

/* As str.strip does. */
MEMORY_TEST(the_adks_code_ignores_all_white_space)
{
    static const struct render_case cases[] = {
        {"{\xe3\x80\x80"
         "a\xe3\x80\x80}",
         "X", 0, NULL}, /* ideographic spaces */
        {"{\xc2\xa0\xe2\x80\xaf\v\x1f"
         "a?\xe1\x9a\x80\xc2\x85\xe2\x80\xa8\f}",
         "X", 0, NULL},
        {"{ artifact.gone?\xe3\x80\x80}|", "|", 0, NULL},
        {"{\xe3\x80\x80}", "{\xe3\x80\x80}", 0, NULL},
        {"{a\xe3\x80\x80"
         "b}",
         "{a\xe3\x80\x80"
         "b}",
         0, NULL},                                       /* inside */
        {"{a\xe2\x80\x8b}", "{a\xe2\x80\x8b}", 0, NULL}, /* a space without width is none */
        {"{a\xe3\x80\x80?}", "{a\xe3\x80\x80?}", 0, NULL},
    };
    const ses_render_options options = {.size = sizeof options, .flags = SES_RENDER_ADK_SPACES};
    ses_session *session = agent_session(fixture, STATE);

    CHECK_CASES(session, &options, cases);
}

MEMORY_TEST(artifacts_come_from_the_callback)
{
    static const struct render_case cases[] = {
        {"<{artifact.x}>{a}", "<{a} of the artifact>X", 0, NULL},
        {"{ artifact.report v1.txt }", "{a} of the artifact", 0, NULL},
        {"{artifact.x?}", "{a} of the artifact", 0, NULL},
        {"{artifact.gone}", NULL, SES_NOTFOUND, "\"gone\""},
        {"[{artifact.gone?}]", "[]", 0, NULL},
        {"{artifact.}", NULL, SES_INVALID, "without a name"},
        {"{artifact.?}", NULL, SES_INVALID, "without a name"},
        {"{artifact.broken}", NULL, SES_IO, "the disk of artifacts is gone"},
        {"{artifact.broken?}", NULL, SES_IO, "the disk of artifacts is gone"},
        {"{artifact.silent}", NULL, SES_BUSY, "\"silent\""},
        {"{artifact.half}", NULL, SES_IO, "\"half\""},
        {"{artifact.nothing}", NULL, SES_MISUSE, "returned no text"},
        {"{artifact.odd}", NULL, SES_MISUSE, "returned 5"},
        {"{artifact.bytes}", NULL, SES_INVALID, "not valid UTF-8"},
    };
    struct artifacts artifacts = {fixture->store, 0};
    const ses_render_options options = {
        .size = sizeof options, .artifacts = read_artifact, .artifacts_context = &artifacts};
    ses_session *session = agent_session(fixture, STATE);

    CHECK_CASES(session, &options, cases);
    assert_int_equal(artifacts.calls, 24); /* not for those without a name */
}

MEMORY_TEST(without_a_callback_artifacts_come_from_the_store)
{
    static const struct render_case cases[] = {
        {"<{artifact.x}>{a}", "<of the session>X", 0, NULL},
        {"{artifact.user:x}", "of the user", 0, NULL},
        {"{artifact.gone}", NULL, SES_NOTFOUND, "\"gone\""},
        {"[{artifact.gone?}]", "[]", 0, NULL},
        {"{artifact.}", NULL, SES_INVALID, "without a name"},
        {"{artifact.bytes}", NULL, SES_INVALID, "not valid UTF-8"},
    };
    ses_session *session = agent_session(fixture, STATE);

    assert_ok(ses_artifact_save(session, "x", "of the session", SES_NUL, NULL, NULL, &error));
    assert_ok(ses_artifact_save(session, "user:x", "of the user", SES_NUL, NULL, NULL, &error));
    assert_ok(ses_artifact_save(session, "bytes", "\xff", 1, NULL, NULL, &error));
    CHECK_CASES(session, NULL, cases);
}

static int close_handle(void *context, const char *name, char **text, size_t *len, ses_error *error)
{
    (void)name, (void)text, (void)len, (void)error;
    ses_session_close(context);
    return SES_NOTFOUND;
}

/* A callback must not close the handle. If it does, a key that can no longer be looked up is an error, even
 * with `?`. */
MEMORY_TEST(a_callback_that_closes_the_handle)
{
    ses_session *session = agent_session(fixture, STATE);
    ses_tracked *tracked = agent_view(session, 0);
    const ses_render_options options = {
        .size = sizeof options, .artifacts = close_handle, .artifacts_context = session};
    char *rendered = NULL;

    assert_code(SES_MISUSE,
                ses_tracked_render(tracked, "{artifact.x?}{a?}", SES_NUL, &options, &rendered, NULL, &error));
    assert_message("\"a\"");
    assert_message("the session handle is closed");
    assert_null(rendered);
}

MEMORY_TEST(artifacts_without_a_callback)
{
    static const struct render_case cases[] = {
        {"{artifact.x}", NULL, SES_NOTFOUND, "there is no artifact"},
        {"[{artifact.x?}]", "[]", 0, NULL},
        {"{artifact.}", NULL, SES_INVALID, "without a name"},
        {"{artifact.x{a}}", "{artifact.xX}", 0, NULL},
    };
    ses_session *session = agent_session(fixture, STATE);
    CHECK_CASES(session, NULL, cases);
}

MEMORY_TEST(a_view_renders_what_it_shows)
{
    ses_session *session = agent_session(fixture, Q("{'a':1,'b':2}"));
    ses_tracked *tracked = agent_view(session, 0);
    char *rendered = NULL;

    assert_ok(ses_tracked_set_string(tracked, "a", "own", SES_NUL, &error));
    assert_ok(ses_tracked_remove(tracked, "b", &error));
    assert_ok(ses_tracked_set(tracked, "temp:t", "3", SES_NUL, &error));
    assert_ok(ses_tracked_render(tracked, "{a} {b?} {temp:t}", SES_NUL, NULL, &rendered, NULL, &error));
    assert_string_equal(rendered, "own  3");
    ses_free(rendered);
    assert_code(SES_NOTFOUND, ses_tracked_render(tracked, "{b}", SES_NUL, NULL, &rendered, NULL, &error));
    assert_ok(ses_render(session, "{a}", SES_NUL, NULL, &rendered, NULL, &error));
    assert_string_equal(rendered, "1");
    ses_free(rendered);
}

/* A template cut anywhere: either as it is, or refused in the middle of a character; never read past its end.
 */
MEMORY_TEST(cut_templates)
{
    static const char whole[] = "{a} \xc3\xa9 {b?} \xf0\x9f\x98\x80 {gone?}";
    static const size_t torn[] = {5, 13, 14, 15};
    ses_session *session = agent_session(fixture, STATE);

    for (size_t len = 0; len < sizeof whole; len++) {
        bool inside = false;
        char *copy = malloc(len + 1);
        char *rendered = NULL;
        memcpy(copy, whole, len);
        for (size_t i = 0; i < sizeof torn / sizeof torn[0]; i++)
            inside = inside || torn[i] == len;
        copy = realloc(copy, len ? len : 1); /* no NUL behind it */
        if (inside) {
            assert_code(SES_INVALID, ses_render(session, copy, len, NULL, &rendered, NULL, &error));
            assert_message("not valid UTF-8");
            assert_true(error.offset >= 0 && (size_t)error.offset < len);
        } else {
            assert_ok(ses_render(session, copy, len, NULL, &rendered, NULL, &error));
        }
        ses_free(rendered);
        free(copy);
    }
}

MEMORY_TEST(texts_with_nuls_and_names_too_long)
{
    ses_session *session = agent_session(fixture, STATE);
    char *rendered = NULL;
    size_t len = 0;
    char text[1200];

    assert_ok(ses_render(session, "\0{a}\0{a\0}{artifact.x\0}", 22, NULL, &rendered, &len, &error));
    assert_int_equal(len, 20);
    assert_memory_equal(rendered, "\0X\0{a\0}{artifact.x\0}", 20);
    ses_free(rendered);
    memset(text, 'k', sizeof text);
    text[0] = '{';
    text[1000] = '}';
    assert_code(SES_NOTFOUND, ses_render(session, text, 1001, NULL, &rendered, NULL, &error));
    text[999] = '?';
    assert_ok(ses_render(session, text, 1001, NULL, &rendered, &len, &error));
    assert_int_equal(len, 0);
    ses_free(rendered);
}

MEMORY_TEST(wrong_arguments)
{
    ses_session *session = agent_session(fixture, STATE);
    ses_render_options options = {.size = sizeof options, .flags = 8};
    char *rendered = (char *)"untouched";

    assert_code(SES_MISUSE, ses_render(session, "x", SES_NUL, &options, &rendered, NULL, &error));
    assert_null(rendered);
    options = (ses_render_options){.flags = 0};
    assert_code(SES_MISUSE, ses_render(session, "x", SES_NUL, &options, &rendered, NULL, &error));
    assert_message("size");
    assert_code(SES_MISUSE, ses_render(NULL, "x", SES_NUL, NULL, &rendered, NULL, &error));
    assert_code(SES_MISUSE, ses_render(session, NULL, 0, NULL, &rendered, NULL, &error));
    assert_code(SES_MISUSE, ses_render(session, "x", SES_NUL, NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_tracked_render(NULL, "x", SES_NUL, NULL, &rendered, NULL, &error));
    assert_code(SES_MISUSE, ses_tracked_render(NULL, "x", SES_NUL, NULL, NULL, NULL, &error));
    assert_null(ses_text_make(NULL, 1));
}

/* A long template whose placeholders are many; and braces that would make a second look at the text costly.
 */
MEMORY_TEST(long_templates)
{
    enum { COUNT = 20000 };
    ses_session *session = agent_session(fixture, STATE);
    char *text = malloc(COUNT * 4 + 1);
    char *rendered = NULL;
    size_t len = 0;

    for (int i = 0; i < COUNT; i++)
        memcpy(text + 4 * i, "{a} ", 4);
    assert_ok(ses_render(session, text, COUNT * 4, NULL, &rendered, &len, &error));
    assert_int_equal(len, COUNT * 2);
    for (int i = 0; i < COUNT; i++)
        assert_memory_equal(rendered + 2 * i, "X ", 2);
    ses_free(rendered);
    for (int i = 0; i < COUNT; i++)
        memcpy(text + 4 * i, "{a{a", 4);
    assert_ok(ses_render(session, text, COUNT * 4, NULL, &rendered, &len, &error));
    assert_int_equal(len, COUNT * 4);
    assert_memory_equal(rendered, text, COUNT * 4);
    ses_free(rendered);
    free(text);
}

/* UTF-8 wherever it stands in the text, against the simple rule. */
MEMORY_TEST(utf8_at_every_place)
{
    ses_session *session = agent_session(fixture, STATE);
    char text[128];
    char *rendered = NULL;

    for (size_t at = 0; at < 100; at++) {
        memset(text, 'x', sizeof text);
        memcpy(text + at, "\xe2\x82\xac", 3);
        assert_ok(ses_render(session, text, sizeof text, NULL, &rendered, NULL, &error));
        assert_memory_equal(rendered, text, sizeof text);
        ses_free(rendered);
        text[at + 1] = 'x';
        assert_code(SES_INVALID, ses_render(session, text, sizeof text, NULL, &rendered, NULL, &error));
        assert_int_equal(error.offset, at);
    }
}
