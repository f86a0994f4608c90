/* Every code: something provokes it, and its message names the cause. */
#include <sqlite3.h>

#include "support.h"

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);

/* The code that the next step returns; SQLITE_OK: what SQLite does. */
static int next_step;
/* The same for the next COMMIT, which is done. */
static int next_commit;

int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    int rc = next_step;
    if (rc != SQLITE_OK) {
        next_step = SQLITE_OK;
        return rc;
    }
    rc = __real_sqlite3_step(statement);
    if (next_commit != SQLITE_OK && strncmp(sqlite3_sql(statement), "COMMIT", 6) == 0) {
        rc = next_commit;
        next_commit = SQLITE_OK;
    }
    return rc;
}

static const ses_key key = {"app", "user", "one"};

/* The code of a call on a fixture's store, in which a session "one" stands with the state {"n":1e400}. */
typedef int provocation(struct fixture *fixture, ses_error *error);

static int provoke_nomem(struct fixture *fixture, ses_error *error)
{
    next_step = SQLITE_NOMEM;
    return ses_delete(fixture->store, &key, NULL, NULL, error);
}

static int provoke_misuse(struct fixture *fixture, ses_error *error)
{
    return ses_get(fixture->store, &key, NULL, NULL, error);
}

static int provoke_invalid(struct fixture *fixture, ses_error *error)
{
    const ses_key empty = {"app", "", "one"};
    return ses_delete(fixture->store, &empty, NULL, NULL, error);
}

static int provoke_json(struct fixture *fixture, ses_error *error)
{
    return ses_append_by_key(fixture->store, &key, Q("{'a':tru}"), SES_NUL, NULL, NULL, error);
}

static int provoke_notfound(struct fixture *fixture, ses_error *error)
{
    const ses_key other = {"app", "user", "two"};
    return ses_append_by_key(fixture->store, &other, "{}", SES_NUL, NULL, NULL, error);
}

static int provoke_exists(struct fixture *fixture, ses_error *error)
{
    return ses_create(fixture->store, &key, NULL, 0, NULL, NULL, error);
}

static int provoke_stale(struct fixture *fixture, ses_error *error)
{
    const ses_append_options options = {.size = sizeof options, .flags = SES_AT_VERSION, .version = 7};
    return ses_append_by_key(fixture->store, &key, "{}", SES_NUL, &options, NULL, error);
}

static int provoke_busy(struct fixture *fixture, ses_error *error)
{
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = 20};
    sqlite3 *other = NULL;
    ses_store *store = NULL;

    assert_int_equal(ses_open(fixture->path, &options, &store, error), SES_OK);
    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    int code = ses_delete(store, &key, NULL, NULL, error);
    sqlite3_close(other);
    ses_close(store);
    return code;
}

static int provoke_readonly(struct fixture *fixture, ses_error *error)
{
    const ses_open_options options = {.size = sizeof options, .flags = SES_OPEN_READ_ONLY};
    ses_store *store = NULL;

    assert_int_equal(ses_open(fixture->path, &options, &store, error), SES_OK);
    int code = ses_delete(store, &key, NULL, NULL, error);
    ses_close(store);
    return code;
}

static int provoke_full(struct fixture *fixture, ses_error *error)
{
    next_step = SQLITE_FULL;
    return ses_append_by_key(fixture->store, &key, "{}", SES_NUL, NULL, NULL, error);
}

static int provoke_io(struct fixture *fixture, ses_error *error)
{
    next_step = SQLITE_IOERR;
    return ses_delete(fixture->store, &key, NULL, NULL, error);
}

static int provoke_corrupt(struct fixture *fixture, ses_error *error)
{
    sqlite3 *other = NULL;
    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "DROP TABLE events", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
    return ses_append_by_key(fixture->store, &key, "{}", SES_NUL, NULL, NULL, error);
}

static int provoke_notastore(struct fixture *fixture, ses_error *error)
{
    char *path = support_path(fixture->folder, "letter.txt");
    FILE *file = fopen(path, "w");
    ses_store *store = NULL;

    assert_non_null(file);
    for (int i = 0; i < 100; i++)
        fputs("Dear reader, this is no database.\n", file);
    fclose(file);
    int code = ses_open(path, NULL, &store, error);
    free(path);
    return code;
}

static int provoke_toonew(struct fixture *fixture, ses_error *error)
{
    sqlite3 *other = NULL;
    ses_store *store = NULL;
    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
    return ses_open(fixture->path, NULL, &store, error);
}

static int provoke_limit(struct fixture *fixture, ses_error *error)
{
    const ses_open_options options = {.size = sizeof options, .max_event_bytes = 10};
    ses_store *store = NULL;

    assert_int_equal(ses_open(fixture->path, &options, &store, error), SES_OK);
    int code = ses_append_by_key(store, &key, Q("{'text':'longer'}"), SES_NUL, NULL, NULL, error);
    ses_close(store);
    return code;
}

static int provoke_interrupted(struct fixture *fixture, ses_error *error)
{
    next_step = SQLITE_INTERRUPT;
    return ses_delete(fixture->store, &key, NULL, NULL, error);
}

static int provoke_type(struct fixture *fixture, ses_error *error)
{
    ses_session *session = NULL;
    int flag = 0;
    assert_int_equal(ses_get(fixture->store, &key, NULL, &session, error), SES_OK);
    int code = ses_state_get_bool(session, "n", &flag, error);
    ses_session_close(session);
    return code;
}

static int provoke_range(struct fixture *fixture, ses_error *error)
{
    ses_session *session = NULL;
    double number = 0;
    assert_int_equal(ses_get(fixture->store, &key, NULL, &session, error), SES_OK);
    int code = ses_state_get_double(session, "n", &number, error);
    ses_session_close(session);
    return code;
}

static int provoke_cantopen(struct fixture *fixture, ses_error *error)
{
    ses_store *store = NULL;
    return ses_open(fixture->folder, NULL, &store, error);
}

static int provoke_internal(struct fixture *fixture, ses_error *error)
{
    next_step = SQLITE_MISUSE;
    return ses_delete(fixture->store, &key, NULL, NULL, error);
}

static int provoke_leased(struct fixture *fixture, ses_error *error)
{
    const ses_append_options options = {.size = sizeof options, .lease = 7};
    return ses_append_by_key(fixture->store, &key, "{}", SES_NUL, &options, NULL, error);
}

static int provoke_unknown(struct fixture *fixture, ses_error *error)
{
    const ses_open_options options = {.size = sizeof options, .journal = SES_JOURNAL_ROLLBACK};
    char *path = support_path(fixture->folder, "rollback.db");
    ses_store *store = NULL;

    assert_int_equal(ses_open(path, &options, &store, error), SES_OK);
    next_commit = SQLITE_IOERR_DIR_FSYNC;
    int code = ses_create(store, &key, NULL, 0, NULL, NULL, error);
    ses_close(store);
    free(path);
    return code;
}

static int provoke_constraint(struct fixture *fixture, ses_error *error)
{
    sqlite3 *other = NULL;
    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other,
                                  "CREATE TABLE notes (session_id REFERENCES sessions);"
                                  "INSERT INTO notes SELECT id FROM sessions",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(other);
    return ses_delete(fixture->store, &key, NULL, NULL, error);
}

static int write_nothing(void *context, const char *data, size_t len, ses_error *error)
{
    (void)context, (void)data, (void)len, (void)error;
    return 0;
}

static int provoke_unsupported(struct fixture *fixture, ses_error *error)
{
    sqlite3 *other = NULL;

    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "INSERT INTO features VALUES ('fts', 2)", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(other);
    return ses_store_export(fixture->store, NULL, write_nothing, NULL, error);
}

static const struct {
    int code;
    provocation *provoke;
    const char *says;
} provocations[] = {
    {SES_NOMEM, provoke_nomem, "out of memory"},
    {SES_MISUSE, provoke_misuse, "`session` is NULL"},
    {SES_INVALID, provoke_invalid, "the user id is empty"},
    {SES_JSON, provoke_json, "at byte 5"},
    {SES_NOTFOUND, provoke_notfound, "app/user/two"},
    {SES_EXISTS, provoke_exists, "app/user/one"},
    {SES_STALE, provoke_stale, "at version 0 and the caller at 7"},
    {SES_BUSY, provoke_busy, "after 20 ms"},
    {SES_READONLY, provoke_readonly, "opened read-only"},
    {SES_FULL, provoke_full, "full"},
    {SES_IO, provoke_io, "disk I/O error"},
    {SES_CORRUPT, provoke_corrupt, "no such table: events"},
    {SES_NOTASTORE, provoke_notastore, "letter.txt"},
    {SES_TOONEW, provoke_toonew, "schema version 99"},
    {SES_LIMIT, provoke_limit, "max_event_bytes, 10"},
    {SES_INTERRUPTED, provoke_interrupted, "interrupted"},
    {SES_TYPE, provoke_type, "\"n\" is a number, not true or false"},
    {SES_RANGE, provoke_range, "\"n\" is larger than any double"},
    {SES_CANTOPEN, provoke_cantopen, "this is a directory"},
    {SES_INTERNAL, provoke_internal, "begin_write failed"},
    {SES_UNKNOWN, provoke_unknown, "may be stored or not"},
    {SES_LEASED, provoke_leased, "the token 7 is not that of the session's lease"},
    {SES_CONSTRAINT, provoke_constraint, "(notes)"},
    {SES_KEY, NULL, NULL}, /* for later versions */
    {SES_UNSUPPORTED, provoke_unsupported, "\"fts\""},
};

PLAIN_TEST(every_code_is_provoked)
{
    static const int codes[] = {
#define CODE_NUMBER(name, number, text) number,
        SES_CODES(CODE_NUMBER)
#undef CODE_NUMBER
    };
    size_t at = 0;

    for (; at < sizeof provocations / sizeof provocations[0]; at++) {
        void *own = NULL;

        assert_int_equal(codes[at], provocations[at].code);
        if (!provocations[at].provoke)
            continue;
        assert_int_equal(fixture_setup(&own), 0);
        struct fixture *fixture = own;
        must_create(fixture->store, &key, Q("{'n':1e400}"));
        assert_code(provocations[at].code, provocations[at].provoke(fixture, &error));
        assert_message(provocations[at].says);
        fixture_teardown(&own);
    }
    assert_int_equal(at, sizeof codes / sizeof codes[0]);
}

PLAIN_TEST(names_and_texts)
{
#define CODE_NAME(name, number, text)                         \
    assert_string_equal(ses_code_name(number), "SES_" #name); \
    assert_string_equal(ses_code_text(SES_##name), text);
    SES_CODES(CODE_NAME)
#undef CODE_NAME
    assert_string_equal(ses_code_name(SES_OK), "SES_OK");
    assert_string_equal(ses_code_name(SES_DUPLICATE), "SES_DUPLICATE");
    assert_string_equal(ses_code_name(SES_ABSENT), "SES_ABSENT");
    assert_string_equal(ses_code_name(SES_RESET), "SES_RESET");
    assert_string_equal(ses_code_name(-1000), "?");
    assert_string_equal(ses_code_name(1000), "?");
    assert_true(strlen(ses_code_text(1000)) > 0);
}

TEST(a_success_clears_the_error)
{
    assert_code(SES_JSON, ses_create(fixture->store, &key, "{", SES_NUL, NULL, NULL, &error));
    assert_int_equal(error.offset, 1);
    assert_ok(ses_create(fixture->store, &key, "{}", SES_NUL, NULL, NULL, &error));
    assert_int_equal(error.code, SES_OK);
    assert_int_equal(error.engine_code, 0);
    assert_int_equal(error.offset, -1);
    assert_int_equal(error.index, -1);
    assert_string_equal(error.message, "");
    assert_int_equal(ses_create(fixture->store, &key, "{", SES_NUL, NULL, NULL, NULL),
                     SES_JSON); /* no error wanted */
}

TEST(a_long_message_is_cut_between_characters)
{
    char id[SES_ID_MAX + 1] = "x";

    for (int i = 0; i < 100; i++)
        strcat(id, "\xE2\x82\xAC");
    const ses_key long_key = {id, id, id};
    assert_code(SES_NOTFOUND,
                ses_append_by_key(fixture->store, &long_key, "{}", SES_NUL, NULL, NULL, &error));
    assert_message("\xE2\x82\xAC/x\xE2\x82\xAC"); /* cut, but whole characters all through */
    for (const char *p = error.message; *p; p += (*p & 0x80) ? 3 : 1)
        assert_true((*p & 0x80) == 0 || memcmp(p, "\xE2\x82\xAC", 3) == 0);
}

PLAIN_TEST(the_version_is_that_of_the_header)
{
    char text[32];

    snprintf(text, sizeof text, "%d.%d.%d", SES_VERSION_MAJOR, SES_VERSION_MINOR, SES_VERSION_PATCH);
    assert_string_equal(ses_version(), text);
    assert_int_equal(ses_version_number(), SES_VERSION_NUMBER);
}
