/* Strict JSON (RFC 8259): what is refused, with which code and at which byte; nothing of it is stored. */
#include "texts.h"

static const ses_key key = {"app", "user", "session"};
static const ses_key fresh_key = {"app", "user", "fresh"};

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
    witness->fixture = fixture;
    witness->session = must_open_new(fixture->store, &key, Q("{'v':0,'app:v':0,'user:v':0}"));
    must_append(witness->session, Q("{'id':'first','timestamp':1}"));
    witness->before = describe(witness->session);
}

static void assert_untouched(const struct witness *witness)
{
    ses_error error;
    char *after = describe(witness->session);

    assert_string_equal(after, witness->before);
    free(after);
    ses_session *stored = must_get(witness->fixture->store, &key);
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
    const ses_text batch[] = {{Q("{'id':'second'}"), SES_NUL}, {text, len}};
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
    {"{'content':", "}"},
    {"{'id':'x','content':{'parts':[1,", "]},\"author\":\"a\"}"},
    {"{'actions':{'artifactDelta':", "}}"},
    {"{'actions':{'stateDelta':{'v':", "}}}"},
    {"{'actions':{'state_delta':{'app:v':1,'user:v':", ",\"v\":2}}}"},
    {"{'actions':{'stateDelta':{'temp:v':", ",\"v\":1}}}"},
    {"{'partial':true,'content':", "}"},
};

static const struct place state_places[] = {
    {"{'v':", "}"},
    {"{'app:v':1,'user:v':2,'v':", "}"},
    {"{'app:v':1,'temp:v':", ",\"v\":1}"},
};

enum {
    EVENT_PLACES = sizeof event_places / sizeof event_places[0],
    STATE_PLACES = sizeof state_places / sizeof state_places[0]
};

MEMORY_TEST(wrong_texts_are_refused)
{
    struct witness witness;

    witness_start(&witness, fixture);
    for (size_t i = 0; i < TEXT_COUNT; i++) {
        const struct refused *text = &refused_texts[i];
        assert_event_refused(&witness, SES_JSON, text->offset, text->text, text->len);
        assert_state_refused(&witness, SES_JSON, text->offset, text->text, text->len);
    }
    witness_end(&witness);
}

MEMORY_TEST(wrong_values_are_refused_in_every_place)
{
    struct witness witness;

    witness_start(&witness, fixture);
    for (size_t i = 0; i < VALUE_COUNT; i++) {
        const struct refused *value = &refused_values[i];
        char *text = NULL;
        for (size_t place = 0; place < EVENT_PLACES; place++) {
            size_t len = surround(&text, Q(event_places[place].before), value, event_places[place].after);
            assert_event_refused(&witness, SES_JSON,
                                 (int64_t)strlen(Q(event_places[place].before)) + value->offset, text, len);
            free(text);
        }
        for (size_t place = 0; place < STATE_PLACES; place++) {
            size_t len = surround(&text, Q(state_places[place].before), value, state_places[place].after);
            assert_state_refused(&witness, SES_JSON,
                                 (int64_t)strlen(Q(state_places[place].before)) + value->offset, text, len);
            free(text);
        }
    }
    witness_end(&witness);
}

/* A reader that takes several bytes at a time must see a wrong one wherever it stands. */
MEMORY_TEST(wrong_bytes_are_found_at_every_place_of_a_string)
{
    static const char wrong_bytes[] = {'\0', '\x01', '\n', '\x1F', '\x80', '\xFF'};
    static const char before[] = "{\"content\":\"";
    struct witness witness;
    char text[128];

    witness_start(&witness, fixture);
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

MEMORY_TEST(other_json_than_an_object_is_invalid)
{
    static const char *const texts[] = {"[]",   "[{}]",  "1",    "-1.5",  "\"text\"",
                                        "true", "false", "null", " null "};
    struct witness witness;

    witness_start(&witness, fixture);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_code(SES_INVALID, ses_append(witness.session, texts[i], SES_NUL, NULL, NULL, &error));
        assert_code(SES_INVALID,
                    ses_append_by_key(witness.fixture->store, &key, texts[i], SES_NUL, NULL, NULL, &error));
        assert_code(SES_INVALID,
                    ses_create(witness.fixture->store, &fresh_key, texts[i], SES_NUL, NULL, NULL, &error));
    }
    witness_end(&witness);
}

MEMORY_TEST(no_text_is_misuse_and_no_state_is_an_empty_one)
{
    const ses_text batch[] = {{NULL, 0}};
    struct witness witness;
    ses_session *session = NULL;

    witness_start(&witness, fixture);
    assert_code(SES_MISUSE, ses_append(witness.session, NULL, 0, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_append(witness.session, NULL, SES_NUL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_append_by_key(witness.fixture->store, &key, NULL, 0, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_append_batch(witness.session, batch, 1, NULL, NULL, &error));
    witness_end(&witness);
    session = must_open_new(witness.fixture->store, &fresh_key, NULL);
    assert_string_equal(support_state(session, NULL), Q("{'app:v':0,'user:v':0}"));
    ses_session_close(session);
}
