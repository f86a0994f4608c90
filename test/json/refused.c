/* Strict JSON (RFC 8259): what is refused, with which code and at which byte; nothing of it is stored. */
#include "support.h"

static const ses_key key = {"app", "user", "session"};
static const ses_key fresh_key = {"app", "user", "fresh"};

/* A literal and its length, for texts that hold NULs. */
#define TEXT(literal) literal, sizeof(literal) - 1

struct refused {
    const char *text;
    size_t len;
    int64_t offset;
};

/* Whole texts, wrong as an event and as a state. */
static const struct refused refused_texts[] = {
    {TEXT(""), 0},
    {TEXT(" \t\r\n"), 4},
    {TEXT("{"), 1},
    {TEXT("{ "), 2},
    {TEXT("}"), 0},
    {TEXT("{\"a\""), 4},
    {TEXT("{\"a\":"), 5},
    {TEXT("{\"a\":1"), 6},
    {TEXT("{\"a\":1,"), 7},
    {TEXT("{\"a"), 3},
    {TEXT("{\"a\":\"b"), 7},
    {TEXT("{\"a\":[1"), 7},
    {TEXT("{\"a\":[1,"), 8},
    {TEXT("{\"a\":\"\xC3"), 6},
    {TEXT("{\"a\":\"\\"), 6},
    {TEXT("{\"a\":\"\\u00"), 6},
    {TEXT("{\"a\":1]"), 6},
    {TEXT("{,}"), 1},
    {TEXT("{\"a\":1,}"), 7},
    {TEXT("{\"a\":1,,\"b\":2}"), 7},
    {TEXT("{,\"a\":1}"), 1},
    {TEXT("{\"a\"}"), 4},
    {TEXT("{\"a\" 1}"), 5},
    {TEXT("{\"a\"=1}"), 4},
    {TEXT("{\"a\":1 \"b\":2}"), 7},
    {TEXT("{\"a\":1;\"b\":2}"), 6},
    {TEXT("{a:1}"), 1},
    {TEXT("{'a':1}"), 1},
    {TEXT("{1:1}"), 1},
    {TEXT("{null:1}"), 1},
    {TEXT("{[]:1}"), 1},
    {TEXT("{}}"), 2},
    {TEXT("{}]"), 2},
    {TEXT("{},"), 2},
    {TEXT("{}{}"), 2},
    {TEXT("{} x"), 3},
    {TEXT("{}\n{}"), 3},
    {TEXT("{}\0"), 2},
    {TEXT("{} // end"), 3},
    {TEXT("// start\n{}"), 0},
    {TEXT("/**/{}"), 0},
    {TEXT("{/**/}"), 1},
    {TEXT("#\n{}"), 0},
    {TEXT("\xEF\xBB\xBF{}"), 0}, /* a byte order mark */
    {TEXT("\xC2\xA0{}"), 0},     /* a no-break space */
    {TEXT("\v{}"), 0},
    {TEXT("\f{}"), 0},
    {TEXT("\0{}"), 0},
    {TEXT("[1}"), 2},
    {TEXT("[1] 2"), 4},
    {TEXT("\"text"), 5},
    {TEXT("nul"), 0},
    {TEXT("NaN"), 0},
    {TEXT("1 2"), 2},
};

/* Single values, to be put into an object; the offset counts from where the value stands. */
static const struct refused refused_values[] = {
    {TEXT(""), 0},
    {TEXT(","), 0},
    {TEXT("01"), 0},
    {TEXT("1."), 2},
    {TEXT("1.e1"), 2},
    {TEXT(".5"), 0},
    {TEXT("+1"), 0},
    {TEXT("-"), 1},
    {TEXT("-a"), 1},
    {TEXT("--1"), 1},
    {TEXT("-.5"), 1},
    {TEXT("1e"), 2},
    {TEXT("1E+"), 3},
    {TEXT("1e-x"), 3},
    {TEXT("1e1.5"), 3},
    {TEXT("0x10"), 1},
    {TEXT("1a"), 1},
    {TEXT("1_000"), 1},
    {TEXT("1 2"), 2},
    {TEXT("1.2.3"), 3},
    {TEXT("NaN"), 0},
    {TEXT("Infinity"), 0},
    {TEXT("-Infinity"), 1},
    {TEXT("undefined"), 0},
    {TEXT("True"), 0},
    {TEXT("tru"), 0},
    {TEXT("truth"), 0},
    {TEXT("false0"), 5},
    {TEXT("nulll"), 4},
    {TEXT("nil"), 0},
    {TEXT("'a'"), 0},
    {TEXT("\"\\x41\""), 1},
    {TEXT("\"\\'\""), 1},
    {TEXT("\"\\\0\""), 1},
    {TEXT("\"\\u12\""), 1},
    {TEXT("\"\\u12G4\""), 1},
    {TEXT("\"\\u 123\""), 1},
    {TEXT("\"\\U0041\""), 1},
    {TEXT("\"a\nb\""), 2},
    {TEXT("\"\t\""), 1},
    {TEXT("\"\0\""), 1},
    {TEXT("\"\x01\""), 1},
    {TEXT("\"abcdefghijklmnop\x1F\""), 17},
    {TEXT("[1,]"), 3},
    {TEXT("[,1]"), 1},
    {TEXT("[1,,2]"), 3},
    {TEXT("[1 2]"), 3},
    {TEXT("[1:2]"), 2},
    {TEXT("[1}"), 2},
    {TEXT("]"), 0},
    {TEXT("{\"b\":1]"), 6},
    {TEXT("{\"b\":1,}"), 7},
    {TEXT("{\"b\"}"), 4},
    {TEXT("{b:1}"), 1},
    {TEXT("[{\"b\":[01]}]"), 7},
    {TEXT("/**/1"), 0},
    {TEXT("1//"), 1},
    /* Bytes that are no UTF-8. */
    {TEXT("\xC3\xA9"), 0},
    {TEXT("\"\x80\""), 1},
    {TEXT("\"\xBF\""), 1},
    {TEXT("\"\xC0\xAF\""), 1}, /* "/" in two bytes */
    {TEXT("\"\xC1\xBF\""), 1},
    {TEXT("\"\xE0\x9F\xBF\""), 1}, /* too long a form */
    {TEXT("\"\xED\xA0\x80\""), 1}, /* a surrogate */
    {TEXT("\"\xED\xBF\xBF\""), 1},
    {TEXT("\"\xF0\x8F\xBF\xBF\""), 1}, /* too long a form */
    {TEXT("\"\xF4\x90\x80\x80\""), 1}, /* past U+10FFFF */
    {TEXT("\"\xF5\x80\x80\x80\""), 1},
    {TEXT("\"\xFE\""), 1},
    {TEXT("\"\xFF\""), 1},
    {TEXT("\"\xC3\""), 1}, /* cut off */
    {TEXT("\"a\xC3(\""), 2},
    {TEXT("\"\xE2\x82\""), 1},
    {TEXT("\"\xE2(\xA1\""), 1},
    {TEXT("\"\xF0\x9F\x98\""), 1},
    {TEXT("\"\xF0(\x8C\xBC\""), 1},
    {TEXT("\"ok \xE2\x82\xAC then \xE9\""), 13},
    {TEXT("{\"\xFF\":1}"), 2},
};

/* Everything that can be seen of a session, to compare before and after. */
static char *describe(const ses_session *session)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    fprintf(out, "version %lld, last %lld, stored %lld, updated %lld\n%s\n",
            (long long)ses_session_version(session), (long long)ses_session_last_seq(session),
            (long long)ses_session_stored(session), (long long)ses_session_updated_us(session),
            support_state(session, NULL));
    for (size_t i = 0; i < ses_session_event_count(session); i++)
        fprintf(out, "%s\n", ses_session_event(session, i)->json);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* A session with something in it, and how it looked: what a refusal must not touch. */
struct witness {
    struct fixture *fixture;
    ses_session *session;
    char *before;
};

static void witness_start(struct witness *witness, struct fixture *fixture)
{
    ses_error error;

    witness->fixture = fixture;
    assert_ok(ses_create(fixture->store, &key, "{\"v\":0,\"app:v\":0,\"user:v\":0}", SES_NUL, NULL,
                         &witness->session, &error));
    assert_ok(
        ses_append(witness->session, "{\"id\":\"first\",\"timestamp\":1}", SES_NUL, NULL, NULL, &error));
    witness->before = describe(witness->session);
}

static void assert_untouched(const struct witness *witness)
{
    ses_session *stored = NULL;
    ses_error error;
    char *after = describe(witness->session);

    assert_string_equal(after, witness->before);
    free(after);
    assert_ok(ses_get(witness->fixture->store, &key, NULL, &stored, &error));
    after = describe(stored);
    assert_string_equal(after, witness->before);
    free(after);
    ses_session_close(stored);
    assert_code(SES_NOTFOUND, ses_get(witness->fixture->store, &fresh_key, NULL, &stored, &error));
}

static void witness_end(struct witness *witness)
{
    assert_untouched(witness);
    ses_session_close(witness->session);
    free(witness->before);
}

static void assert_refusal(int expected, int64_t offset, int code, const ses_error *error, const char *where,
                           const char *text)
{
    if (code != expected || error->code != expected || error->offset != offset || error->message[0] == '\0') {
        print_error("%s %.100s\n    returned %s at %lld, not %s at %lld: %s\n", where, text,
                    ses_code_name(code), (long long)error->offset, ses_code_name(expected), (long long)offset,
                    error->message);
        fail();
    }
}

/* The text as an event, in each way there is to append one. */
static void assert_event_refused(const struct witness *witness, int expected, int64_t offset,
                                 const char *text, size_t len)
{
    const ses_text batch[] = {{"{\"id\":\"second\"}", SES_NUL}, {text, len}};
    ses_store *store = witness->fixture->store;
    ses_error error;
    int code = ses_append(witness->session, text, len, NULL, NULL, &error);

    assert_refusal(expected, offset, code, &error, "ses_append", text);
    code = ses_append_by_key(store, &key, text, len, NULL, NULL, &error);
    assert_refusal(expected, offset, code, &error, "ses_append_by_key", text);
    code = ses_append_batch(witness->session, batch, 2, NULL, NULL, &error);
    assert_refusal(expected, offset, code, &error, "ses_append_batch", text);
    assert_int_equal(error.index, 1);
    code = ses_append_batch_by_key(store, &key, batch, 2, NULL, NULL, &error);
    assert_refusal(expected, offset, code, &error, "ses_append_batch_by_key", text);
    assert_int_equal(error.index, 1);
    assert_untouched(witness);
}

static void assert_state_refused(const struct witness *witness, int expected, int64_t offset,
                                 const char *text, size_t len)
{
    ses_store *store = witness->fixture->store;
    ses_session *session = NULL;
    ses_error error;
    int code = ses_create(store, &fresh_key, text, len, NULL, &session, &error);

    assert_refusal(expected, offset, code, &error, "ses_create", text);
    assert_null(session);
    code = ses_get_or_create(store, &fresh_key, text, len, NULL, &session, &error);
    assert_refusal(expected, offset, code, &error, "ses_get_or_create", text);
    assert_null(session);
    /* "Then the state is checked but not used": also where the session exists. */
    code = ses_get_or_create(store, &key, text, len, NULL, &session, &error);
    assert_refusal(expected, offset, code, &error, "ses_get_or_create of an existing session", text);
    assert_null(session);
    assert_untouched(witness);
}

/* `before`, the value and `after` as one text, in *text; returns its length. */
static size_t surround(char **text, const char *before, const struct refused *value, const char *after)
{
    size_t before_len = strlen(before);
    size_t after_len = strlen(after);

    *text = malloc(before_len + value->len + after_len + 1);
    assert_non_null(*text);
    memcpy(*text, before, before_len);
    memcpy(*text + before_len, value->text, value->len);
    memcpy(*text + before_len + value->len, after, after_len + 1);
    return before_len + value->len + after_len;
}

struct place {
    const char *before;
    const char *after;
};

/* Where values stand in an event: in what the store passes through, and in what it reads. */
static const struct place event_places[] = {
    {"{\"content\":", "}"},
    {"{\"id\":\"x\",\"content\":{\"parts\":[1,", "]},\"author\":\"a\"}"},
    {"{\"actions\":{\"artifactDelta\":", "}}"},
    {"{\"actions\":{\"stateDelta\":{\"v\":", "}}}"},
    {"{\"actions\":{\"state_delta\":{\"app:v\":1,\"user:v\":", ",\"v\":2}}}"},
    {"{\"actions\":{\"stateDelta\":{\"temp:v\":", ",\"v\":1}}}"},
    {"{\"partial\":true,\"content\":", "}"},
};

static const struct place state_places[] = {
    {"{\"v\":", "}"},
    {"{\"app:v\":1,\"user:v\":2,\"v\":", "}"},
    {"{\"app:v\":1,\"temp:v\":", ",\"v\":1}"},
};

enum {
    TEXT_COUNT = sizeof refused_texts / sizeof refused_texts[0],
    VALUE_COUNT = sizeof refused_values / sizeof refused_values[0],
    EVENT_PLACES = sizeof event_places / sizeof event_places[0],
    STATE_PLACES = sizeof state_places / sizeof state_places[0]
};

static void test_wrong_texts_are_refused(void **state)
{
    struct witness witness;

    witness_start(&witness, *state);
    for (size_t i = 0; i < TEXT_COUNT; i++) {
        const struct refused *text = &refused_texts[i];
        assert_event_refused(&witness, SES_JSON, text->offset, text->text, text->len);
        assert_state_refused(&witness, SES_JSON, text->offset, text->text, text->len);
    }
    witness_end(&witness);
}

static void test_wrong_values_are_refused_in_every_place(void **state)
{
    struct witness witness;

    witness_start(&witness, *state);
    for (size_t i = 0; i < VALUE_COUNT; i++) {
        const struct refused *value = &refused_values[i];
        char *text = NULL;
        for (size_t place = 0; place < EVENT_PLACES; place++) {
            size_t len = surround(&text, event_places[place].before, value, event_places[place].after);
            assert_event_refused(&witness, SES_JSON,
                                 (int64_t)strlen(event_places[place].before) + value->offset, text, len);
            free(text);
        }
        for (size_t place = 0; place < STATE_PLACES; place++) {
            size_t len = surround(&text, state_places[place].before, value, state_places[place].after);
            assert_state_refused(&witness, SES_JSON,
                                 (int64_t)strlen(state_places[place].before) + value->offset, text, len);
            free(text);
        }
    }
    witness_end(&witness);
}

/* A reader that takes several bytes at a time must see a wrong one wherever it stands. */
static void test_wrong_bytes_are_found_at_every_place_of_a_string(void **state)
{
    static const char wrong_bytes[] = {'\0', '\x01', '\n', '\x1F', '\x80', '\xFF'};
    static const char before[] = "{\"content\":\"";
    struct witness witness;
    char text[128];

    witness_start(&witness, *state);
    for (size_t at = 0; at < 34; at++) {
        for (size_t i = 0; i < sizeof wrong_bytes; i++) {
            size_t len = sizeof before - 1 + 34;
            memcpy(text, before, sizeof before - 1);
            memset(text + sizeof before - 1, 'a', 34);
            text[sizeof before - 1 + at] = wrong_bytes[i];
            memcpy(text + len, "\"}", 2);
            assert_event_refused(&witness, SES_JSON, (int64_t)(sizeof before - 1 + at), text, len + 2);
        }
    }
    witness_end(&witness);
}

static void test_other_json_than_an_object_is_invalid(void **state)
{
    static const char *const texts[] = {"[]",   "[{}]",  "1",    "-1.5",  "\"text\"",
                                        "true", "false", "null", " null "};
    struct witness witness;
    ses_error error;

    witness_start(&witness, *state);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_code(SES_INVALID, ses_append(witness.session, texts[i], SES_NUL, NULL, NULL, &error));
        assert_code(SES_INVALID,
                    ses_append_by_key(witness.fixture->store, &key, texts[i], SES_NUL, NULL, NULL, &error));
        assert_code(SES_INVALID,
                    ses_create(witness.fixture->store, &fresh_key, texts[i], SES_NUL, NULL, NULL, &error));
    }
    witness_end(&witness);
}

static void test_no_text_is_misuse_and_no_state_is_an_empty_one(void **state)
{
    const ses_text batch[] = {{NULL, 0}};
    struct witness witness;
    ses_session *session = NULL;
    ses_error error;

    witness_start(&witness, *state);
    assert_code(SES_MISUSE, ses_append(witness.session, NULL, 0, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_append(witness.session, NULL, SES_NUL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_append_by_key(witness.fixture->store, &key, NULL, 0, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_append_batch(witness.session, batch, 1, NULL, NULL, &error));
    witness_end(&witness);
    assert_ok(ses_create(witness.fixture->store, &fresh_key, NULL, SES_NUL, NULL, &session, &error));
    assert_string_equal(support_state(session, NULL), "{\"app:v\":0,\"user:v\":0}");
    ses_session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_wrong_texts_are_refused, fixture_setup_memory, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_wrong_values_are_refused_in_every_place, fixture_setup_memory,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_wrong_bytes_are_found_at_every_place_of_a_string,
                                        fixture_setup_memory, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_other_json_than_an_object_is_invalid, fixture_setup_memory,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_no_text_is_misuse_and_no_state_is_an_empty_one,
                                        fixture_setup_memory, fixture_teardown),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
