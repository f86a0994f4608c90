/* A store on a server: how it is opened, what it refuses, and what it does when the server goes away. */
#include <pthread.h>
#include <stdatomic.h>

#include "database.h"
#include "seslite_postgres.h"

static const ses_key key = {.app = "app", .user = "user", .session = "s"};

SERVER_TEST(a_store_is_made_where_there_is_none)
{
    const ses_open_options must_exist = {.size = sizeof must_exist, .flags = SES_OPEN_MUST_EXIST};
    const ses_open_options read_only = {.size = sizeof read_only, .flags = SES_OPEN_READ_ONLY};
    ses_info info = {.size = sizeof info};
    ses_store *store = NULL;
    char place[600];

    database_fresh(database, "made", "", place);
    assert_code(SES_NOTFOUND, ses_open_postgres(place, &must_exist, NULL, &store, &error));
    assert_code(SES_NOTFOUND, ses_open_postgres(place, &read_only, NULL, &store, &error));
    assert_null(store);
    assert_ok(ses_open_postgres(place, NULL, NULL, &store, &error));
    must_create(store, &key, "{\"user:n\":1}");
    assert_ok(ses_store_info(store, &info, &error));
    assert_string_equal(info.engine, "postgresql");
    ses_close(store);

    assert_ok(ses_open_postgres(place, &read_only, NULL, &store, &error));
    ses_session *session = must_get(store, &key);
    assert_string_equal(support_state(session, NULL), "{\"user:n\":1}");
    ses_session_close(session);
    assert_code(SES_READONLY, ses_append_by_key(store, &key, "{}", SES_NUL, NULL, NULL, &error));
    ses_close(store);
}

/* All views, in one text. */
static PGresult *read_views(PGconn *conn)
{
    static const char sql[] = "SELECT string_agg(pg_get_viewdef(oid), '' ORDER BY relname) FROM pg_class "
                              "WHERE relkind = 'v' AND relnamespace = 'seslite'::regnamespace";
    return database_take(conn, PQexec(conn, sql), sql);
}

/* Where a backslash in an ordinary string is an escape, unless the library says otherwise. */
SERVER_TEST(the_meaning_of_backslashes_that_is_set_elsewhere_does_not_matter)
{
    ses_store *store = NULL;
    char place[600];
    char escaping[700];

    database_fresh(database, "escaping", "", place);
    snprintf(escaping, sizeof escaping, "%s options='-c standard_conforming_strings=off'", place);
    assert_ok(ses_open_postgres(escaping, NULL, NULL, &store, &error));
    must_create(store, &key, NULL);
    must_append_by_key(store, &key, "{\"text\":\"a\\\\b'\\u0000\"}");
    ses_close(store);
    PGconn *conn = PQconnectdb(place);
    PGresult *views = read_views(conn);
    PGresult *expected = read_views(database->conn);
    assert_true(strstr(PQgetvalue(expected, 0, 0), "\\") != NULL);
    assert_string_equal(PQgetvalue(views, 0, 0), PQgetvalue(expected, 0, 0));
    PQclear(expected);
    PQclear(views);
    PQfinish(conn);
}

SERVER_TEST(messages_do_not_tell_the_password)
{
    ses_info info = {.size = sizeof info};
    ses_store *store = NULL;
    char place[600];

    snprintf(place, sizeof place, "%s password=secret", database->place);
    assert_ok(ses_open_postgres(place, NULL, NULL, &store, &error));
    assert_ok(ses_store_info(store, &info, &error));
    assert_null(strstr(info.path, "secret"));
    ses_close(store);
    assert_code(SES_CANTOPEN, ses_open_postgres("host=/nowhere password=secret", NULL, NULL, &store, &error));
    assert_null(strstr(error.message, "secret"));
}

SERVER_TEST(a_file_that_is_not_a_store_is_refused_and_stays)
{
    ses_store *store = NULL;
    char place[600];

    assert_code(SES_INVALID, ses_open_postgres("nonsense nonsense", NULL, NULL, &store, &error));
    database_fresh(database, "foreign_schema", "", place);
    database_run_in(place, "CREATE SCHEMA seslite; CREATE TABLE seslite.theirs (n int)");
    assert_code(SES_NOTASTORE, ses_open_postgres(place, NULL, NULL, &store, &error));
    database_run_in(place, "SELECT n FROM seslite.theirs");
    database_fresh(database, "newer", "", place);
    assert_ok(ses_open_postgres(place, NULL, NULL, &store, &error));
    ses_close(store);
    database_run_in(place, "UPDATE seslite.schema_version SET version = 99");
    assert_code(SES_TOONEW, ses_open_postgres(place, NULL, NULL, &store, &error));
    assert_message("99");
    database_run_in(place, "UPDATE seslite.schema_version SET version = 1");
    assert_code(SES_NOTASTORE, ses_open_postgres(place, NULL, NULL, &store, &error));
    assert_message("an unreleased version of seslite wrote this store (schema version 1)");
}

SERVER_TEST(another_encoding_is_refused)
{
    ses_store *store = NULL;
    char place[600];

    database_run(database,
                 "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    snprintf(place, sizeof place, "%s dbname=latin", database->place);
    assert_code(SES_CANTOPEN, ses_open_postgres(place, NULL, NULL, &store, &error));
    assert_message("UTF8");
}

SERVER_TEST(a_store_on_a_server_is_checked_and_measured)
{
    ses_store *store = NULL;
    char place[600];
    int64_t problems = -1;
    ses_space space = {.size = sizeof space};
    const ses_check_options log = {.size = sizeof log, .level = SES_CHECK_LOG};

    assert_ok(ses_open_postgres(database_fresh(database, "sound", "", place), NULL, NULL, &store, &error));
    must_create(store, &key, "{\"app:a\":1,\"user:b\":2,\"c\":3}");
    must_append_by_key(store, &key, "{\"actions\":{\"stateDelta\":{\"c\":4}}}");
    assert_ok(ses_store_check(store, &log, &problems, &error));
    assert_int_equal(problems, 0);
    assert_ok(ses_store_space(store, NULL, &space, &error));
    assert_true(space.bytes > 0);
    database_run_in(place, "UPDATE seslite.session_state SET value = '5'");
    assert_ok(ses_store_check(store, &log, &problems, &error));
    assert_int_equal(problems, 1);
    ses_close(store);
}

SERVER_TEST(options_about_files_are_misuse)
{
    const ses_open_options of_file = {.size = sizeof of_file, .synchronous = SES_SYNC_NORMAL};
    const ses_delete_options secure = {.size = sizeof secure, .flags = SES_SECURE};
    ses_store *store = NULL;
    ses_store *copy = NULL;

    assert_code(SES_MISUSE, ses_open_postgres(database->place, &of_file, NULL, &store, &error));
    assert_ok(ses_open_postgres(database->place, NULL, NULL, &store, &error));
    assert_code(SES_MISUSE, ses_store_backup(store, "/nowhere", NULL, &error));
    assert_message("pg_dump");
    assert_code(SES_MISUSE, ses_open_copy(store, NULL, &copy, &error));
    assert_code(SES_MISUSE, ses_delete(store, &key, &secure, NULL, &error));
    ses_close(store);
}

/* A caller who gives a key expects encryption, which a server's tables do not have. */
SERVER_TEST(a_key_is_misuse)
{
    static const unsigned char secret[SES_KEY_BYTES] = "a key of 32 bytes that is secret";
    static const ses_open_options with_key[] = {
        {.size = sizeof with_key[0], .key = secret, .key_len = sizeof secret},
        {.size = sizeof with_key[0], .key = secret},
        {.size = sizeof with_key[0], .key_len = sizeof secret}};
    const ses_backup_options backup = {.size = sizeof backup, .key = secret, .key_len = sizeof secret};
    ses_store *store = NULL;
    char place[600];

    database_fresh(database, "keyless", "", place);
    for (size_t i = 0; i < sizeof with_key / sizeof with_key[0]; i++) {
        assert_code(SES_MISUSE, ses_open_postgres(place, &with_key[i], NULL, &store, &error));
        assert_null(store);
        assert_message("a key is about files");
        assert_message("sslmode=verify-full");
        assert_null(strstr(error.message, "secret"));
    }
    const ses_open_options must_exist = {.size = sizeof must_exist, .flags = SES_OPEN_MUST_EXIST};
    assert_code(SES_NOTFOUND,
                ses_open_postgres(place, &must_exist, NULL, &store, &error)); /* nothing was made */
    assert_ok(ses_open_postgres(place, NULL, NULL, &store, &error));
    assert_code(SES_MISUSE, ses_store_backup(store, "/nowhere", &backup, &error));
    assert_message("pg_dump");
    ses_close(store);
}

SERVER_TEST(a_server_that_is_not_there_is_waited_for_in_time)
{
    const ses_open_options brief = {.size = sizeof brief, .busy_timeout_ms = 300};
    ses_store *store = NULL;

    const int64_t begun = support_steady_us();
    assert_code(SES_CANTOPEN, ses_open_postgres("host=127.0.0.1 port=1", &brief, NULL, &store, &error));
    assert_in_range(support_steady_us() - begun, 0, 5000000);
}

/* ---------------------------------------------------------------------------- connections that are killed */

enum { WRITERS = 8, APPENDS = 100 };

struct writer {
    ses_store *store;
    int number;
    int code;
    char message[640];
    pthread_t thread;
};

static void *append_many(void *context)
{
    struct writer *writer = context;
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};

    for (int i = 0; i < APPENDS && writer->code == SES_OK; i++) {
        char event[100];
        ses_error error;
        snprintf(event, sizeof event, "{\"id\":\"%d-%d\",\"actions\":{\"stateDelta\":{\"user:n%d\":%d}}}",
                 writer->number, i, writer->number, i);
        do {
            writer->code = ses_append_by_key(writer->store, &key, event, SES_NUL, &anyway, NULL, &error);
        } while (writer->code == SES_UNKNOWN); /* the id tells whether it was stored */
        if (writer->code != SES_OK)
            snprintf(writer->message, sizeof writer->message, "%s", error.message);
    }
    return NULL;
}

SERVER_TEST(killed_connections_lose_nothing)
{
    struct writer writers[WRITERS];
    ses_store *stores[2];
    char place[600];

    database_fresh(database, "killed", "", place);
    for (int i = 0; i < 2; i++)
        assert_ok(ses_open_postgres(place, NULL, NULL, &stores[i], &error));
    must_create(stores[0], &key, NULL);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.store = stores[i % 2], .number = i};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, append_many, &writers[i]), 0);
    }
    for (int i = 0; i < 20; i++) {
        support_pause_us(20000);
        database_run(database,
                     "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'killed' "
                     "ORDER BY random() LIMIT 2");
    }
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
        if (writers[i].code != SES_OK)
            fail_msg("%s", writers[i].message);
    }
    ses_session *session = must_get(stores[1], &key);
    assert_int_equal(ses_session_event_count(session), WRITERS * APPENDS);
    assert_int_equal(ses_session_version(session), WRITERS * APPENDS);
    ses_session_close(session);
    ses_close(stores[0]);
    ses_close(stores[1]);
}
