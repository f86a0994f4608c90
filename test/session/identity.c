/* Ids: what is one, what is refused by which call, and that nothing but the very same bytes names a session.
 */
#include "support.h"

#include <stdbool.h>

#include "seslite_cjson.h"

/* ------------------------------------------------------------------ every call that takes app, user, session
 */

static int call_create(ses_store *store, const ses_key *key, ses_error *error)
{
    return ses_create(store, key, Q("{'k':1}"), SES_NUL, NULL, NULL, error);
}

static int call_create_with(ses_store *store, const ses_key *key, ses_error *error)
{
    const ses_create_options options = {.size = sizeof options};
    return ses_create(store, key, Q("{'k':1}"), SES_NUL, &options, NULL, error);
}

static int call_create_cjson(ses_store *store, const ses_key *key, ses_error *error)
{
    return ses_create_cjson(store, key, NULL, NULL, NULL, error);
}

static int call_get_or_create(ses_store *store, const ses_key *key, ses_error *error)
{
    return ses_get_or_create(store, key, Q("{'k':1}"), SES_NUL, NULL, NULL, error);
}

static int call_get(ses_store *store, const ses_key *key, ses_error *error)
{
    ses_session *session = NULL;
    int code = ses_get(store, key, NULL, &session, error);
    ses_session_close(session);
    return code;
}

static int call_append(ses_store *store, const ses_key *key, ses_error *error)
{
    return ses_append_by_key(store, key, "{}", SES_NUL, NULL, NULL, error);
}

static int call_append_batch(ses_store *store, const ses_key *key, ses_error *error)
{
    const ses_text event = {"{}", 2};
    return ses_append_batch_by_key(store, key, &event, 1, NULL, NULL, error);
}

static int call_append_cjson(ses_store *store, const ses_key *key, ses_error *error)
{
    cJSON *event = cJSON_CreateObject();
    int code = ses_append_by_key_cjson(store, key, event, NULL, NULL, error);
    cJSON_Delete(event);
    return code;
}

static int call_read_state(ses_store *store, const ses_key *key, ses_error *error)
{
    char *json = NULL;
    int code = ses_state_json_by_key(store, key, NULL, &json, NULL, error);
    ses_free(json);
    return code;
}

static int call_read_value(ses_store *store, const ses_key *key, ses_error *error)
{
    char *json = NULL;
    int code = ses_state_get_by_key(store, key, "k", NULL, &json, NULL, error);
    ses_free(json);
    return code;
}

static int call_cursor_open(ses_store *store, const ses_key *key, ses_error *error)
{
    ses_cursor *cursor = NULL;
    int code = ses_cursor_open(store, key, NULL, &cursor, error);
    ses_cursor_close(cursor, NULL);
    return code;
}

static int call_delete(ses_store *store, const ses_key *key, ses_error *error)
{
    return ses_delete(store, key, NULL, NULL, error);
}

static int call_list(ses_store *store, const ses_key *key, ses_error *error)
{
    ses_page *page = NULL;
    int code = ses_list(store, key->app, key->user, NULL, &page, error);
    ses_page_close(page);
    return code;
}

static int call_delete_user(ses_store *store, const ses_key *key, ses_error *error)
{
    return ses_delete_user(store, key->app, key->user, NULL, NULL, NULL, error);
}

struct call {
    const char *name;
    int (*run)(ses_store *store, const ses_key *key, ses_error *error);
    int when_there;  /* what it returns when the session exists with the key "k" */
    int when_absent; /* and when it does not */
    int null_user;   /* and when user, or session, is NULL */
    int null_session;
    bool names_session;
};

/* The ones that delete come last: the others then find the session there. */
static const struct call calls[] = {
    {"create", call_create, SES_EXISTS, SES_OK, SES_MISUSE, SES_OK, true},
    {"create_with", call_create_with, SES_EXISTS, SES_OK, SES_MISUSE, SES_OK, true},
    {"create_cjson", call_create_cjson, SES_EXISTS, SES_OK, SES_MISUSE, SES_OK, true},
    {"get_or_create", call_get_or_create, SES_EXISTING, SES_OK, SES_MISUSE, SES_OK, true},
    {"get", call_get, SES_OK, SES_NOTFOUND, SES_MISUSE, SES_MISUSE, true},
    {"append_by_key", call_append, SES_OK, SES_NOTFOUND, SES_MISUSE, SES_MISUSE, true},
    {"append_batch_by_key", call_append_batch, SES_OK, SES_NOTFOUND, SES_MISUSE, SES_MISUSE, true},
    {"append_by_key_cjson", call_append_cjson, SES_OK, SES_NOTFOUND, SES_MISUSE, SES_MISUSE, true},
    {"read_state", call_read_state, SES_OK, SES_NOTFOUND, SES_MISUSE, SES_MISUSE, true},
    {"read_value", call_read_value, SES_OK, SES_NOTFOUND, SES_MISUSE, SES_MISUSE, true},
    {"cursor_open", call_cursor_open, SES_OK, SES_NOTFOUND, SES_MISUSE, SES_MISUSE, true},
    {"list", call_list, SES_OK, SES_OK, SES_OK, SES_OK, false},
    {"delete", call_delete, SES_OK, SES_OK, SES_MISUSE, SES_MISUSE, true},
    {"delete_user", call_delete_user, SES_OK, SES_OK, SES_MISUSE, SES_OK, false},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

static void check_call(const struct call *call, ses_store *store, const ses_key *key, int expected)
{
    ses_error error;
    int code = call->run(store, key, &error);
    if (code != expected)
        print_error("%s returned %s, not %s\n", call->name, ses_code_name(code), ses_code_name(expected));
    assert_code(expected, code);
}

/* `bytes` bytes, of the same character over and over. */
static char *repeated(const char *character, size_t bytes)
{
    size_t len = strlen(character);
    char *text = malloc(bytes + 1);

    assert_non_null(text);
    for (size_t i = 0; i < bytes; i++)
        text[i] = character[i % len];
    text[bytes] = '\0';
    return text;
}

static size_t count_listed(ses_store *store, const char *app, const char *user)
{
    ses_page *page = NULL;
    ses_error error;
    assert_ok(ses_list(store, app, user, NULL, &page, &error));
    size_t count = ses_page_count(page);
    ses_page_close(page);
    return count;
}

/* ------------------------------------------------------------------------------------ what is refused */

TEST(an_invalid_id_is_refused_by_every_call)
{
    char *too_long = repeated("x", SES_ID_MAX + 1);
    const char *const bad[] = {
        "",
        too_long,
        "\x80",             /* a continuation without a start */
        "caf\xC3",          /* cut off */
        "\xC0\xAF",         /* more bytes than it takes */
        "\xE0\x80\xAF",     /* the same with three */
        "\xF0\x80\x80\xAF", /* the same with four */
        "\xED\xA0\x80",     /* a surrogate */
        "\xF4\x90\x80\x80", /* beyond U+10FFFF */
        "a\xFF",
        "ISO \xE9t\xE9",
    };

    for (size_t i = 0; i < CALLS; i++) {
        for (size_t j = 0; j < sizeof bad / sizeof bad[0]; j++) {
            check_call(&calls[i], fixture->store, &(ses_key){bad[j], "user", "session"}, SES_INVALID);
            check_call(&calls[i], fixture->store, &(ses_key){"app", bad[j], "session"}, SES_INVALID);
            if (calls[i].names_session)
                check_call(&calls[i], fixture->store, &(ses_key){"app", "user", bad[j]}, SES_INVALID);
        }
    }
    assert_int_equal(count_listed(fixture->store, "app", NULL), 0);
    free(too_long);
}

TEST(null_ids_are_misuse_but_where_they_have_a_meaning)
{
    for (size_t i = 0; i < CALLS; i++) {
        check_call(&calls[i], fixture->store, &(ses_key){NULL, "user", "session"}, SES_MISUSE);
        check_call(&calls[i], fixture->store, &(ses_key){"app", NULL, "session"}, calls[i].null_user);
        check_call(&calls[i], fixture->store, &(ses_key){"app", "user", NULL}, calls[i].null_session);
        check_call(&calls[i], NULL, &(ses_key){"app", "user", "session"}, SES_MISUSE);
    }
}

TEST(ids_of_512_bytes_are_taken_by_every_call)
{
    char *app = repeated("a", SES_ID_MAX);
    char *user = repeated("\xC3\xA9", SES_ID_MAX);
    char *name = repeated("\xF0\x9F\x98\x80", SES_ID_MAX);
    const ses_key key = {app, user, name};

    assert_ok(call_create(fixture->store, &key, &error));
    ses_session *session = must_get(fixture->store, &key);
    assert_string_equal(ses_session_app(session), app);
    assert_string_equal(ses_session_user(session), user);
    assert_string_equal(ses_session_id(session), name);
    ses_session_close(session);
    assert_int_equal(count_listed(fixture->store, app, user), 1);
    for (size_t i = 0; i < CALLS; i++)
        check_call(&calls[i], fixture->store, &key, calls[i].when_there);
    assert_code(SES_NOTFOUND, call_get(fixture->store, &key, &error));
    free(app);
    free(user);
    free(name);
}

/* --------------------------------------------------------------------------------- the very same bytes */

/* Pairs that someone might take for the same; all are different ids. */
static const char *const variants[] = {
    "session",
    "Session",
    "SESSION",
    "session ",
    " session",
    "session\n",
    "\tsession",
    "session\x01",
    "caf\xC3\xA9",
    "cafe\xCC\x81",
    "stra\303\237e",
    "strasse",
    "1",
    "01",
    "1.0",
    "s\xE2\x80\x8B",
    "s\xC2\xA0",
    "\xEF\xBB\xBFs",
    "s",
    "%",
    "_",
    "s%",
    "'; DROP TABLE",
    "\"",
    "\\",
    "a/b",
    "a",
    "b",
    "/",
    "null",
    "\xEF\xBC\x91",
    "*",
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

static void check_state(ses_store *store, const ses_key *key, size_t number)
{
    char expected[32];
    char *json = NULL;
    ses_error error;

    snprintf(expected, sizeof expected, "{\"n\":%zu}", number);
    assert_ok(ses_state_json_by_key(store, key, NULL, &json, NULL, &error));
    assert_string_equal(json, expected);
    ses_free(json);
}

/* Makes a session under each variant, put at one place of the key, and finds each again. */
static void check_variants(struct fixture *fixture, size_t place)
{
    ses_error error;
    int64_t deleted = 0;

    for (size_t i = 0; i < VARIANTS; i++) {
        const char *ids[3] = {"app", "user", "session"};
        char json[32];
        ids[place] = variants[i];
        snprintf(json, sizeof json, "{\"n\":%zu}", i);
        must_create(fixture->store, &(ses_key){ids[0], ids[1], ids[2]}, json);
    }
    for (size_t i = 0; i < VARIANTS; i++) {
        const char *ids[3] = {"app", "user", "session"};
        ids[place] = variants[i];
        check_state(fixture->store, &(ses_key){ids[0], ids[1], ids[2]}, i);
    }
    for (size_t i = 0; i < VARIANTS; i++) {
        const char *ids[3] = {"app", "user", "session"};
        ids[place] = variants[i];
        assert_ok(ses_delete(fixture->store, &(ses_key){ids[0], ids[1], ids[2]}, NULL, &deleted, &error));
        assert_int_equal(deleted, 1);
        if (i + 1 < VARIANTS) {
            ids[place] = variants[i + 1];
            check_state(fixture->store, &(ses_key){ids[0], ids[1], ids[2]}, i + 1);
        }
    }
}

MEMORY_TEST(ids_are_never_trimmed_or_folded)
{
    for (size_t place = 0; place < 3; place++)
        check_variants(fixture, place);
}

TEST(wrong_app_or_user_is_the_same_as_absent)
{
    const ses_key key = {"app", "user", "session"};
    const ses_key wrong[] = {
        {"App", "user", "session"},  {"app ", "user", "session"}, {"app", "User", "session"},
        {"app", "user2", "session"}, {"user", "app", "session"},  {"app", "session", "user"},
        {"app", "user", "Session"},  {"app", "user", "session "}, {"ap", "puser", "session"}};

    assert_ok(call_create(fixture->store, &key, &error));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        for (size_t j = 0; j < CALLS; j++) {
            bool creates = calls[j].when_absent == SES_OK && calls[j].names_session;
            bool deletes_its_user = calls[j].run == call_delete_user && strcmp(wrong[i].app, key.app) == 0 &&
                                    strcmp(wrong[i].user, key.user) == 0;
            if (!creates && !deletes_its_user)
                check_call(&calls[j], fixture->store, &wrong[i], calls[j].when_absent);
        }
        int64_t deleted = 7;
        assert_ok(ses_delete(fixture->store, &wrong[i], NULL, &deleted, &error));
        assert_int_equal(deleted, 0);
    }
    char *json = NULL;
    assert_ok(ses_state_json_by_key(fixture->store, &key, NULL, &json, NULL, &error));
    assert_string_equal(json, Q("{'k':1}"));
    ses_free(json);
}

TEST(same_session_id_under_two_users_is_two_sessions)
{
    const ses_key alice = {"app", "alice", "s"};
    const ses_key bob = {"app", "bob", "s"};
    const ses_key elsewhere = {"other", "alice", "s"};
    int64_t deleted = 0;

    must_create(fixture->store, &alice, Q("{'n':1}"));
    must_create(fixture->store, &bob, Q("{'n':2}"));
    must_create(fixture->store, &elsewhere, Q("{'n':3}"));
    must_append_by_key(fixture->store, &bob, Q("{'actions':{'stateDelta':{'n':4}}}"));
    check_state(fixture->store, &alice, 1);
    check_state(fixture->store, &bob, 4);
    check_state(fixture->store, &elsewhere, 3);
    assert_ok(ses_delete(fixture->store, &alice, NULL, &deleted, &error));
    assert_int_equal(deleted, 1);
    check_state(fixture->store, &bob, 4);
    check_state(fixture->store, &elsewhere, 3);
}
