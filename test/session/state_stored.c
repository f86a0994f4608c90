/*
 * State that another program wrote, past the guards: what is not JSON, or has a key that breaks the rules, is
 * CORRUPT wherever it is shown first, and nothing of it gets into a text.
 */
#include "support.h"

#include "open.h"
#include "seslite_cjson.h"

static const ses_key key = {"app", "user", "session"};

/* --------------------------------------------------------------------------------------- by hand */

struct piece {
    const char *bytes;
    size_t len;
};
#define PIECE(literal)                 \
    (struct piece)                     \
    {                                  \
        (literal), sizeof(literal) - 1 \
    }

/* Runs the statement with ?1 and ?2 bound, while no trigger guards the file. */
static void write_by_hand(const char *path, const char *sql, struct piece first, struct piece second)
{
    sqlite3 *db = raw_open(path);
    sqlite3_stmt *statement = NULL;

    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_bind_text(statement, 1, first.bytes, (int)first.len, SQLITE_STATIC), SQLITE_OK);
    assert_int_equal(sqlite3_bind_text(statement, 2, second.bytes, (int)second.len, SQLITE_STATIC),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
    assert_int_equal(sqlite3_changes(db), 1);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Puts the bytes into the row of one of the three keys of `create`. */
static void write_value(const char *path, const char *name, struct piece value)
{
    static const char *const updates[] = {"UPDATE app_state SET value = ?2 WHERE key = ?1",
                                          "UPDATE user_state SET value = ?2 WHERE key = ?1",
                                          "UPDATE session_state SET value = ?2 WHERE key = ?1"};
    int table = strncmp(name, "app:", 4) == 0 ? 0 : strncmp(name, "user:", 5) == 0 ? 1 : 2;

    write_by_hand(path, updates[table], PIECE("k"), value);
}

static void create(ses_store *store)
{
    must_create(store, &key, Q("{'app:k':1,'user:k':2,'k':3,'good':'fine'}"));
}

static ses_session *get(ses_store *store)
{
    static const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    ses_session *session = NULL;
    ses_error error;
    assert_ok(ses_get(store, &key, GET_RANGE(&none), &session,
                      &error)); /* reading the rows does not look into them */
    return session;
}

/* ------------------------------------------------------------------------------------------- values */

static const char *const names[] = {"app:k", "user:k", "k"};

static void handle_refuses(const ses_session *session, const char *name)
{
    const char *json = "before";
    const char *text = "before";
    size_t len = 99;
    int64_t integer = -5;
    double real = -0.5;
    int flag = 3;
    ses_error error;

    for (int again = 0; again < 2; again++) {
        assert_code(SES_CORRUPT, ses_state_get(session, name, &json, &len, &error));
        assert_message(name);
        assert_message("not JSON");
        assert_code(SES_CORRUPT, ses_state_get_string(session, name, &text, &len, &error));
        assert_true(json == NULL && text == NULL);
        assert_code(SES_CORRUPT, ses_state_get_int64(session, name, &integer, &error));
        assert_code(SES_CORRUPT, ses_state_get_double(session, name, &real, &error));
        assert_code(SES_CORRUPT, ses_state_get_bool(session, name, &flag, &error));
        assert_message(name);
        json = "before";
        assert_code(SES_CORRUPT, ses_state_json(session, &json, &len, &error));
        assert_message(name);
        assert_null(json);
    }
    assert_true(integer == -5 && real == -0.5 && flag == 3 && len == 99);
    assert_ok(ses_state_get(session, "good", &json, NULL, &error));
    assert_string_equal(json, Q("'fine'"));
}

static void walk_refuses(const ses_session *session, const char *name)
{
    int corrupt = 0;
    ses_error error;

    for (size_t i = 0; i < ses_state_count(session); i++) {
        const char *json = "before";
        const char *at = "before";
        int code = ses_state_at(session, i, &at, &json, NULL, &error);
        if (code == SES_CORRUPT) {
            assert_message(name);
            assert_true(at == NULL && json == NULL);
            corrupt++;
        } else {
            assert_int_equal(code, SES_OK);
            assert_string_not_equal(at, name);
        }
    }
    assert_int_equal(corrupt, 1);
}

static void view_refuses(ses_session *session, const char *name)
{
    ses_tracked *tracked = NULL;
    const char *json = "before";
    char *all = (char *)(uintptr_t) "before";
    int64_t integer = -5;
    cJSON *tree = NULL;
    ses_error error;

    assert_ok(ses_tracked_open(session, NULL, &tracked, &error));
    assert_code(SES_CORRUPT, ses_tracked_get(tracked, name, &json, NULL, &error));
    assert_message(name);
    assert_null(json);
    assert_code(SES_CORRUPT, ses_tracked_get_string(tracked, name, &json, NULL, &error));
    assert_code(SES_CORRUPT, ses_tracked_get_int64(tracked, name, &integer, &error));
    assert_int_equal(integer, -5);
    assert_int_equal(ses_tracked_has(tracked, name), 1);
    assert_code(SES_CORRUPT, ses_tracked_json(tracked, &all, NULL, &error));
    assert_message(name);
    assert_null(all);
    assert_code(SES_CORRUPT, ses_tracked_get_cjson(tracked, name, &tree, &error));
    assert_code(SES_CORRUPT, ses_state_get_cjson(session, name, &tree, &error));
    assert_code(SES_CORRUPT, ses_state_cjson(session, &tree, &error));
    assert_null(tree);
    ses_tracked_close(tracked);
}

static void templates_refuse(ses_session *session, const char *name)
{
    static const char *const forms[] = {"a {%s} b", "a {%s?} b"};
    ses_error error;

    for (size_t i = 0; i < 2; i++) {
        char text[32];
        char *rendered = (char *)(uintptr_t) "before";
        snprintf(text, sizeof text, forms[i], name);
        assert_code(SES_CORRUPT, ses_render(session, text, SES_NUL, NULL, &rendered, NULL, &error));
        assert_message(name);
        assert_null(rendered);
    }
}

static void reading_by_key_refuses(ses_store *store, const char *name)
{
    char *json = (char *)(uintptr_t) "before";
    ses_error error;

    assert_code(SES_CORRUPT, ses_state_get_by_key(store, &key, name, NULL, &json, NULL, &error));
    assert_message(name);
    assert_null(json);
    assert_code(SES_CORRUPT, ses_state_json_by_key(store, &key, NULL, &json, NULL, &error));
    assert_message(name);
    assert_null(json);
    assert_ok(ses_state_get_by_key(store, &key, "good", NULL, &json, NULL, &error));
    ses_free(json);
}

static void page_refuses(ses_store *store, const char *name)
{
    ses_page *page = NULL;
    const char *json = NULL;
    ses_error error;

    assert_ok(ses_list(store, "app", NULL, NULL, &page, &error));
    assert_int_equal(ses_page_count(page), 1);
    assert_code(SES_CORRUPT, ses_state_json(ses_page_session(page, 0), &json, NULL, &error));
    assert_message(name);
    assert_code(SES_CORRUPT, ses_state_get(ses_page_session(page, 0), name, &json, NULL, &error));
    ses_page_close(page);
}

static void refused_everywhere(ses_store *store, const char *name)
{
    ses_session *session = get(store);

    handle_refuses(session, name);
    walk_refuses(session, name);
    view_refuses(session, name);
    templates_refuse(session, name);
    ses_session_close(session);
    session = get(store);
    templates_refuse(session, name); /* also as the first to look */
    ses_session_close(session);
    session = get(store);
    view_refuses(session, name);
    ses_session_close(session);
    reading_by_key_refuses(store, name);
    page_refuses(store, name);
}

TEST(a_value_that_is_not_json_is_corrupt)
{
    const struct piece wrong[] = {
        PIECE(""),         PIECE(" "),
        PIECE("x"),        PIECE("nul"),
        PIECE("{bad"),     PIECE("1,\"app:admin\":true"),
        PIECE("1}"),       PIECE("1} {"),
        PIECE("\"open"),   PIECE("\"x\" \"y\""),
        PIECE("\"a\\"),    PIECE("\"line\nend\""),
        PIECE("\"\xFF\""), PIECE("\"\xED\xA0\x80\""),
        PIECE("1\0,2"),    PIECE("1\0"),
        PIECE("01"),       PIECE("1."),
        PIECE("NaN"),      PIECE("'x'"),
        PIECE("[1,]"),     PIECE("{\"a\":1,}"),
        PIECE("// no\n1"),
    };

    create(fixture->store);
    for (size_t n = 0; n < 3; n++) {
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            write_value(fixture->path, names[n], wrong[i]);
            refused_everywhere(fixture->store, names[n]);
        }
        write_value(fixture->path, names[n], PIECE("1"));
    }
}

/* A value stands one level deep in the merged state. */
TEST(a_value_that_is_nested_too_deep_is_corrupt)
{
    char deep[2001];

    create(fixture->store);
    memset(deep, '[', 1000);
    memset(deep + 1000, ']', 1000);
    write_value(fixture->path, "k", (struct piece){deep, 2000});
    refused_everywhere(fixture->store, "k");
    write_value(fixture->path, "k", (struct piece){deep + 1, 1998});
    ses_session *session = get(fixture->store);
    const char *json = support_state(session, NULL);
    must_create(fixture->store, &(ses_key){"app", "user", "copy"}, json);
    ses_session_close(session);
}

TEST(an_append_mends_what_it_overwrites)
{
    ses_tracked *tracked = NULL;

    create(fixture->store);
    write_value(fixture->path, "k", PIECE("{bad"));
    write_value(fixture->path, "user:k", PIECE("}"));
    ses_session *session = get(fixture->store);
    assert_code(SES_CORRUPT, ses_state_json(session, &(const char *){NULL}, NULL, &error));
    assert_ok(ses_tracked_open(session, NULL, &tracked, &error));
    assert_ok(ses_tracked_set_int64(tracked, "k", 4, &error));
    assert_ok(ses_tracked_remove(tracked, "user:k", &error));
    assert_ok(ses_tracked_append(tracked, "{}", SES_NUL, NULL, NULL, &error));
    assert_string_equal(support_state(session, NULL), Q("{'app:k':1,'good':'fine','k':4}"));
    ses_tracked_close(tracked);
    ses_session_close(session);
    session = get(fixture->store);
    assert_string_equal(support_state(session, NULL), Q("{'app:k':1,'good':'fine','k':4}"));
    ses_session_close(session);
}

/* JSON may have white space around it. */
TEST(white_space_around_a_value_is_fine)
{
    const char *text = NULL;
    char *rendered = NULL;
    int64_t integer = 0;
    double real = 0;
    int flag = 0;

    create(fixture->store);
    write_value(fixture->path, "app:k", PIECE(" \n12\t"));
    write_value(fixture->path, "user:k", PIECE("\r true "));
    write_value(fixture->path, "k", PIECE("  \"a\\nb\" \n"));
    ses_session *session = get(fixture->store);
    assert_string_equal(support_state(session, NULL), Q("{'app:k': \n12\t,'user:k':\r true ,'good':'fine',"
                                                        "'k':  'a\\nb' \n}"));
    assert_ok(ses_state_get_int64(session, "app:k", &integer, &error));
    assert_int_equal(integer, 12);
    assert_ok(ses_state_get_double(session, "app:k", &real, &error));
    assert_true(real == 12);
    assert_ok(ses_state_get_bool(session, "user:k", &flag, &error));
    assert_int_equal(flag, 1);
    assert_ok(ses_state_get_string(session, "k", &text, NULL, &error));
    assert_string_equal(text, "a\nb");
    assert_code(SES_TYPE, ses_state_get_int64(session, "k", &integer, &error));
    assert_message("a string");
    assert_ok(ses_render(session, "<{app:k}|{user:k}|{k}>", SES_NUL, NULL, &rendered, NULL, &error));
    assert_string_equal(rendered, "<12|true|a\nb>");
    ses_free(rendered);
    ses_session_close(session);
}

/* --------------------------------------------------------------------------------------------- keys */

#define INTO_APP "INSERT INTO app_state (app_id, key, value, session_id, seq) VALUES (1, ?1, ?2, 1, 0)"
#define INTO_USER "INSERT INTO user_state (user_id, key, value, session_id, seq) VALUES (1, ?1, ?2, 1, 0)"
#define INTO_SESSION "INSERT INTO session_state (session_id, key, value, seq) VALUES (1, ?1, ?2, 0)"

static void key_refused_everywhere(ses_store *store)
{
    ses_session *session = get(store);
    ses_tracked *tracked = NULL;
    ses_page *page = NULL;
    const char *json = NULL;
    char *all = NULL;
    int corrupt = 0;
    ses_error error;

    for (size_t i = 0; i < ses_state_count(session); i++)
        corrupt += ses_state_at(session, i, NULL, NULL, NULL, &error) == SES_CORRUPT;
    assert_int_equal(corrupt, 1);
    assert_code(SES_CORRUPT, ses_state_json(session, &json, NULL, &error));
    assert_message("key");
    assert_ok(ses_tracked_open(session, NULL, &tracked, &error));
    assert_code(SES_CORRUPT, ses_tracked_json(tracked, &all, NULL, &error));
    ses_tracked_close(tracked);
    for (size_t i = 0; i < 3; i++)
        assert_ok(ses_state_get(session, names[i], &json, NULL, &error));
    ses_session_close(session);
    assert_code(SES_CORRUPT, ses_state_json_by_key(store, &key, NULL, &all, NULL, &error));
    assert_null(all);
    assert_ok(ses_list(store, "app", "user", NULL, &page, &error));
    assert_code(SES_CORRUPT, ses_state_json(ses_page_session(page, 0), &json, NULL, &error));
    ses_page_close(page);
}

TEST(a_key_that_breaks_the_rules_is_corrupt)
{
    static const char *const tables[][2] = {
        {INTO_APP, "DELETE FROM app_state WHERE key = ?1 AND ?2 <> ''"},
        {INTO_USER, "DELETE FROM user_state WHERE key = ?1 AND ?2 <> ''"},
        {INTO_SESSION, "DELETE FROM session_state WHERE key = ?1 AND ?2 <> ''"}};
    char large[513];
    const struct piece wrong[] = {
        PIECE("\xFF"), PIECE("a\xC3"), PIECE("\xED\xA0\x80"),
        PIECE("a\0b"), PIECE("\0"),    {large, sizeof large},
    };

    memset(large, 'x', sizeof large);
    create(fixture->store);
    for (size_t table = 0; table < 3; table++) {
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            write_by_hand(fixture->path, tables[table][0], wrong[i], PIECE("1"));
            key_refused_everywhere(fixture->store);
            write_by_hand(fixture->path, tables[table][1], wrong[i], PIECE("1"));
        }
    }
    write_by_hand(fixture->path, INTO_SESSION, (struct piece){large, 512}, PIECE("1"));
    ses_session *session = get(fixture->store);
    assert_non_null(support_state(session, NULL));
    ses_session_close(session);
}

TEST(a_session_key_cannot_pass_for_another_scope)
{
    const struct piece forged[] = {PIECE("app:k"), PIECE("user:new"), PIECE("temp:t"), PIECE("app:")};
    const char *json = NULL;
    char *text = NULL;

    create(fixture->store);
    for (size_t i = 0; i < sizeof forged / sizeof forged[0]; i++) {
        write_by_hand(fixture->path, INTO_SESSION, forged[i], PIECE("\"forged\""));
        key_refused_everywhere(fixture->store);
        ses_session *session = get(fixture->store);
        assert_code(SES_CORRUPT, ses_state_json(session, &json, NULL, &error));
        assert_message(forged[i].bytes);
        assert_message("another scope");
        assert_code(i == 0 ? SES_OK : SES_ABSENT,
                    ses_state_get(session, forged[i].bytes, &json, NULL, &error));
        assert_true(i != 0 || strcmp(json, "1") == 0);
        assert_code(i == 0 ? SES_OK : SES_ABSENT,
                    ses_state_get_by_key(fixture->store, &key, forged[i].bytes, NULL, &text, NULL, &error));
        assert_true(i != 0 || strcmp(text, "1") == 0);
        ses_free(text);
        ses_session_close(session);
        write_by_hand(fixture->path, "DELETE FROM session_state WHERE key = ?1 AND ?2 <> ''", forged[i],
                      PIECE("1"));
    }
    write_by_hand(fixture->path, INTO_APP, PIECE("user:x"), PIECE("5")); /* prefixes end at the first colon */
    ses_session *session = get(fixture->store);
    assert_ok(ses_state_get(session, "app:user:x", &json, NULL, &error));
    assert_non_null(strstr(support_state(session, NULL), "\"app:user:x\":5"));
    ses_session_close(session);
}

/* Readers can tell a value that is returned as the file has it from JSON. */
TEST(an_event_that_is_not_json_comes_out_as_it_stands)
{
    ses_content *content = NULL;
    cJSON *tree = NULL;

    create(fixture->store);
    ses_session *before = get(fixture->store);
    must_append_by_key(fixture->store, &key, Q("{'id':'e'}"));
    write_by_hand(fixture->path, "UPDATE events SET body = ?2, id_at = ?1, invocation_at = ''", PIECE("e"),
                  PIECE("{bad"));
    ses_session *session = must_get(fixture->store, &key);
    const ses_event *event = ses_session_event(session, 0);
    assert_string_equal(event->json, "{bad");
    assert_code(SES_JSON, ses_content_open(fixture->store, event->json, event->json_len, &content, &error));
    assert_code(SES_CORRUPT, ses_event_cjson(event, &tree, &error));
    assert_message("the event with number 1 is not JSON (at byte 1: ");
    assert_code(SES_CORRUPT, ses_refresh(before, NULL, &error));
    ses_session_close(before);
}

/* cJSON reads the first value of a text, and numbers that JSON does not have. */
TEST(text_that_only_cjson_accepts_is_corrupt_in_an_event)
{
    const struct piece bodies[] = {PIECE("{} {}"), PIECE("{\"n\":01}"), PIECE("{\"t\":\"\xFF\"}")};

    create(fixture->store);
    must_append_by_key(fixture->store, &key, Q("{'id':'e'}"));
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        cJSON *tree = (cJSON *)(void *)&fixture;
        write_by_hand(fixture->path, "UPDATE events SET body = ?2, id_at = ?1, invocation_at = ''",
                      PIECE("e"), bodies[i]);
        ses_session *session = must_get(fixture->store, &key);
        assert_code(SES_CORRUPT, ses_event_cjson(ses_session_event(session, 0), &tree, &error));
        assert_null(tree);
        ses_session_close(session);
    }
}
