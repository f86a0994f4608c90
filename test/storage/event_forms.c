/* Events that a later library has stored in another form than text. */
#include "open.h"

static const ses_key key = {"app", "user", "one"};

#define FORM "x'01ff227b7d'"

/* As a later library would, whose triggers are off: event 1 gets another form. */
static void change_form(const char *path)
{
    sqlite3 *db = raw_open(path);

    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL), SQLITE_OK);
    raw_run(db, "UPDATE events SET body = " FORM " WHERE position = (1 << 32) + 1");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void make_session(const struct fixture *fixture)
{
    must_create(fixture->store, &key, Q("{'k':1}"));
    must_append_by_key(fixture->store, &key, Q("{'id':'e1','invocationId':'i1','author':'a','timestamp':5}"));
    must_append_by_key(fixture->store, &key,
                       Q("{'id':'e2','invocationId':'i2','author':'b','timestamp':6,"
                         "'content':{'parts':[{'text':'hello'}]},"
                         "'usageMetadata':{'totalTokenCount':7}}"));
    change_form(fixture->path);
}

static int put_nothing(void *context, const char *data, size_t len, ses_error *error)
{
    (void)context;
    (void)data;
    (void)len;
    (void)error;
    return 0;
}

TEST(an_unknown_form_is_unsupported)
{
    const ses_range range = {.size = sizeof range, .which = SES_RANGE_NEWEST, .newest = 1};
    const ses_get_options newest = {.size = sizeof newest, .range = &range};
    const ses_check_options log = {.size = sizeof log, .level = SES_CHECK_LOG};
    const ses_key forked = {"app", "user", "two"};
    ses_session *session = NULL;
    int64_t problems = 0;
    int64_t deleted = 0;

    make_session(fixture);
    assert_code(SES_UNSUPPORTED, ses_get(fixture->store, &key, NULL, &session, &error));
    assert_message("event 1 of session number 1 is stored in a form that this seslite");
    assert_code(SES_UNSUPPORTED, ses_store_export(fixture->store, NULL, put_nothing, NULL, &error));
    assert_message("event 1");
    assert_code(SES_UNSUPPORTED,
                ses_append_by_key(fixture->store, &key, Q("{'id':'e1'}"), SES_NUL, NULL, NULL, &error));
    assert_ok(ses_store_check(fixture->store, &log, &problems, &error));
    assert_int_equal(problems, 2); /* the event, and a log that ends there */

    /* All else goes on. */
    assert_ok(ses_get(fixture->store, &key, &newest, &session, &error));
    assert_string_equal(ses_session_event(session, 0)->id, "e2");
    must_append(session, Q("{'id':'e3'}"));
    ses_session_close(session);
    assert_ok(ses_fork_by_key(fixture->store, &key, NULL, &forked, NULL, NULL, &error));
    assert_query(fixture->path, "SELECT count(*) FROM events WHERE body = " FORM, "2\n");
    assert_ok(ses_delete(fixture->store, &key, NULL, &deleted, &error));
    assert_query(fixture->path, "SELECT count(*) FROM events WHERE body = " FORM, "1\n");
}

TEST(views_show_nothing_of_an_unknown_form)
{
    make_session(fixture);
    assert_query(fixture->path, "SELECT seq, id, invocation_id, author, body IS NULL FROM event_log",
                 "1|NULL|NULL|a|1\n2|e2|i2|b|0\n");
    assert_query(fixture->path, "SELECT seq, author, text, files, error FROM transcript",
                 "1|a|NULL|NULL|NULL\n2|b|hello|NULL|NULL\n");
    assert_query(fixture->path, "SELECT count(*) FROM tool_calls", "0\n");
    assert_query(fixture->path, "SELECT calls, total FROM usage", "1|7\n");
    assert_query(fixture->path, "SELECT events FROM session_overview", "2\n");
}

TEST(other_programs_must_write_text)
{
    static const char *const refused[] = {
        "UPDATE events SET body = x'7b7d', id_at = 'e2', invocation_at = '' WHERE position & 3 = 2",
        "UPDATE events SET body = 5, id_at = 'e2', invocation_at = '' WHERE position & 3 = 2",
        ("INSERT INTO events (position, session_id, id_key, id_at, invocation_at, author, time_us, body)"
         " VALUES ((1 << 32) + 3, 1, 'e3', 'e3', '', '', 0, x'7b7d')"),
    };

    make_session(fixture);
    sqlite3 *db = raw_open(fixture->path);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_int_equal(sqlite3_exec(db, refused[i], NULL, NULL, NULL), SQLITE_CONSTRAINT);
        assert_string_equal(sqlite3_errmsg(db), "events.body: not valid JSON");
    }
    /* A query of the ids in the table fails; the view has them. */
    assert_int_equal(sqlite3_exec(db, "SELECT * FROM events WHERE id = 'e2'", NULL, NULL, NULL),
                     SQLITE_ERROR);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_query(fixture->path, "SELECT seq FROM event_log WHERE id = 'e2' AND invocation_id = 'i2'", "2\n");
}
