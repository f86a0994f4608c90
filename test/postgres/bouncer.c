/* A store behind a pooler that gives each transaction any of its connections: statements must not be
 * prepared. */
#include <pthread.h>
#include <sys/stat.h>

#include "database.h"
#include "../session/lines.h"
#include "seslite_postgres.h"

static const ses_key one = {.app = "app", .user = "user", .session = "s"};

struct bouncer {
    void *database;
    char *folder;
    char place[600];
};

static int setup(void **state)
{
    static struct bouncer bouncer;
    char words[600];

    database_setup(&bouncer.database);
    bouncer.folder = support_folder_make();
    assert_int_equal(chmod(bouncer.folder, 0711), 0);
    snprintf(words, sizeof words, "sh test/postgres/bouncer.sh start '%s'", bouncer.folder);
    if (database_shell(bouncer.place, sizeof bouncer.place, words,
                       ((const struct database *)bouncer.database)->folder) != 0)
        fail_msg("%s", bouncer.place);
    *state = &bouncer;
    return 0;
}

static int teardown(void **state)
{
    struct bouncer *bouncer = *state;
    char line[200];

    assert_int_equal(database_shell(line, sizeof line, "sh test/postgres/bouncer.sh stop", bouncer->folder),
                     0);
    support_folder_remove(bouncer->folder);
    return database_teardown(&bouncer->database);
}

/* In a database of that name, which is new. */
static ses_store *open_behind(const struct bouncer *bouncer, const char *name)
{
    const ses_postgres_options unprepared = {.size = sizeof unprepared, .unprepared = 1};
    ses_store *store = NULL;
    ses_error error;
    char text[700];

    if (strcmp(bouncer->place, "none") == 0) {
        printf("skipped: a store behind a pooler, for want of pgbouncer\n");
        skip();
    }
    snprintf(text, sizeof text, "CREATE DATABASE %s TEMPLATE template0", name);
    database_run(bouncer->database, text);
    snprintf(text, sizeof text, "%s dbname=%s", bouncer->place, name);
    assert_ok(ses_open_postgres(text, NULL, &unprepared, &store, &error));
    return store;
}

#define BOUNCER_TEST(name) GROUP_TEST(struct bouncer *bouncer, name)

BOUNCER_TEST(a_session_is_written_read_listed_and_rewound)
{
    ses_store *store = open_behind(bouncer, "operations");
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};
    ses_page *page = NULL;

    must_create(store, &one, "{\"app:a\":1,\"user:b\":2,\"c\":3}");
    must_append_by_key(
        store, &one,
        "{\"id\":\"1\",\"invocationId\":\"i1\",\"actions\":{\"stateDelta\":{\"app:a\":4,\"c\":5}}}");
    must_append_by_key(
        store, &one,
        "{\"id\":\"2\",\"invocationId\":\"i2\",\"actions\":{\"stateDelta\":{\"user:b\":6,\"c\":7}}}");
    assert_code(
        SES_DUPLICATE,
        ses_append_by_key(
            store, &one,
            "{\"id\":\"2\",\"invocationId\":\"i2\",\"actions\":{\"stateDelta\":{\"user:b\":6,\"c\":7}}}",
            SES_NUL, NULL, NULL, &error));
    assert_ok(ses_rewind_by_key(store, &one, &first, NULL, NULL, &error));
    ses_session *session = must_get(store, &one);
    assert_string_equal(support_state(session, NULL), "{\"app:a\":4,\"user:b\":6,\"c\":5}");
    assert_int_equal(ses_session_event_count(session), 3);
    must_append(session, "{\"id\":\"4\"}");
    ses_session_close(session);
    assert_ok(ses_list(store, "app", NULL, NULL, &page, &error));
    assert_int_equal(ses_page_count(page), 1);
    ses_page_close(page);
    must_delete(store, &one);
    assert_code(SES_NOTFOUND, ses_get(store, &one, NULL, &session, &error));
    ses_close(store);
}

BOUNCER_TEST(a_lease_is_taken_and_a_session_followed)
{
    ses_store *store = open_behind(bouncer, "waiting");
    const ses_lease_options at_once = {.size = sizeof at_once, .wait_ms = -1};
    ses_follower *follower = NULL;
    const ses_event *event = NULL;
    ses_lease lease;

    must_create(store, &one, NULL);
    assert_ok(ses_follower_open(store, &one, NULL, &follower, &error));
    assert_ok(ses_lease_take(store, &one, "me", NULL, &lease, &error));
    assert_code(SES_BUSY, ses_lease_take(store, &one, "you", &at_once, &lease, &error));
    const ses_append_options leased = {.size = sizeof leased, .lease = lease.token};
    assert_ok(ses_append_by_key(store, &one, "{\"id\":\"1\"}", SES_NUL, &leased, NULL, &error));
    assert_code(SES_ROW, ses_follower_next(follower, 5000, &event, &error));
    assert_string_equal(event->id, "1");
    assert_ok(ses_lease_release(store, &one, lease.token, NULL, &error));
    ses_follower_close(follower);
    ses_close(store);
}

BOUNCER_TEST(lines_go_in_and_out_unchanged)
{
    ses_store *store = open_behind(bouncer, "lines");
    ses_store *source = empty_store();
    ses_import_report report;

    must_create(source, &one, "{\"app:a\":1,\"user:b\":2,\"c\":3}");
    for (int i = 0; i < 300; i++)
        must_append_by_key(source, &one, "{\"actions\":{\"stateDelta\":{\"app:a\":4,\"c\":5}}}");
    struct text text = exported(source, NULL);
    assert_ok(import_text(store, text.data, text.len, 0, &report, &error));
    assert_same_store(source, store);
    free(text.data);
    ses_close(source);
    ses_close(store);
}

/* An error that a commit could not report would be lost with it. */
BOUNCER_TEST(a_server_that_keeps_its_warnings_to_itself_is_refused)
{
    const ses_postgres_options unprepared = {.size = sizeof unprepared, .unprepared = 1};
    ses_store *store = open_behind(bouncer, "quiet");
    char place[700];

    ses_close(store);
    database_run(bouncer->database, "CREATE DATABASE quieter TEMPLATE template0");
    database_run(bouncer->database, "ALTER DATABASE quieter SET client_min_messages = error");
    snprintf(place, sizeof place, "%s dbname=quieter", bouncer->place);
    assert_code(SES_CANTOPEN, ses_open_postgres(place, NULL, &unprepared, &store, &error));
    assert_message("client_min_messages");
}

enum { WRITERS = 8, APPENDS = 50 };

struct writer {
    ses_store *store;
    int number;
    int code;
    ses_error error;
    pthread_t thread;
};

static void *append_many(void *context)
{
    struct writer *writer = context;

    for (int i = 0; i < APPENDS && writer->code == SES_OK; i++) {
        char event[100];
        snprintf(event, sizeof event, "{\"id\":\"%d-%d\",\"actions\":{\"stateDelta\":{\"user:n%d\":%d}}}",
                 writer->number, i, writer->number, i);
        writer->code = ses_append_by_key(writer->store, &one, event, SES_NUL, NULL, NULL, &writer->error);
    }
    return NULL;
}

/* More writers than the pooler has connections. */
BOUNCER_TEST(many_write_at_once)
{
    ses_store *store = open_behind(bouncer, "writers");
    struct writer writers[WRITERS];

    must_create(store, &one, NULL);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.store = store, .number = i};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, append_many, &writers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
        support_assert_code(SES_OK, writers[i].code, &writers[i].error, "append", __FILE__, __LINE__);
    }
    ses_session *session = must_get(store, &one);
    assert_int_equal(ses_session_stored(session), WRITERS * APPENDS);
    ses_session_close(session);
    ses_close(store);
}

/* ------------------------------------------------------------------------- a store that is opened wrongly */

static int open_prepared(const struct bouncer *bouncer, const char *name, ses_store **store, ses_error *error)
{
    char place[700];

    snprintf(place, sizeof place, "%s dbname=%s", bouncer->place, name);
    return ses_open_postgres(place, NULL, NULL, store, error);
}

/* Takes the connection that the pooler used last. */
static PGconn *hold_a_connection(const struct bouncer *bouncer, const char *name)
{
    char place[700];

    support_pause_us(50000); /* until the pooler has it back */
    snprintf(place, sizeof place, "%s dbname=%s", bouncer->place, name);
    PGconn *conn = PQconnectdb(place);
    PQclear(database_take(conn, PQexec(conn, "BEGIN"), "BEGIN"));
    return conn;
}

BOUNCER_TEST(statements_that_the_pooler_has_lost_or_kept_are_misuse)
{
    ses_store *unprepared = open_behind(bouncer, "prepared");
    ses_session *session = NULL;
    ses_store *store = NULL;
    ses_store *second = NULL;

    must_create(unprepared, &one, NULL);
    ses_close(unprepared);
    assert_ok(open_prepared(bouncer, "prepared", &store, &error));
    ses_session_close(must_get(store, &one));
    assert_ok(open_prepared(bouncer, "prepared", &second, &error));
    support_pause_us(50000); /* until the pooler has the connection back */
    assert_code(SES_MISUSE, ses_get(second, &one, NULL, &session, &error));
    assert_string_equal(error.sqlstate, "42P05");
    assert_message("ses_postgres_options.unprepared");
    PGconn *holder = hold_a_connection(bouncer, "prepared");
    assert_code(SES_MISUSE, ses_get(store, &one, NULL, &session, &error));
    assert_string_equal(error.sqlstate, "26000");
    assert_message("ses_postgres_options.unprepared");
    PQfinish(holder);
    ses_close(store);
    ses_close(second);
}

static PGresult *prepared_on(PGconn *conn)
{
    return database_take(conn, PQexec(conn, "SELECT name, statement FROM pg_prepared_statements"), "SELECT");
}

/* Elsewhere a name means the same statement or none: no statement of another client runs in the place of
 * one's own. */
BOUNCER_TEST(a_name_means_one_statement)
{
    ses_store *unprepared = open_behind(bouncer, "mixed");
    ses_store *reader = NULL;
    ses_store *writer = NULL;

    must_create(unprepared, &one, NULL);
    assert_ok(open_prepared(bouncer, "mixed", &reader, &error));
    ses_session_close(must_get(reader, &one));
    PGconn *of_reader = hold_a_connection(bouncer, "mixed");
    assert_ok(open_prepared(bouncer, "mixed", &writer, &error));
    must_append_by_key(writer, &one, "{}");
    PGconn *of_writer = hold_a_connection(bouncer, "mixed");
    PGresult *read = prepared_on(of_reader);
    PGresult *written = prepared_on(of_writer);
    assert_true(PQntuples(read) > 3 && PQntuples(written) > 3);
    for (int i = 0; i < PQntuples(read); i++) {
        for (int j = 0; j < PQntuples(written); j++) {
            if (strcmp(PQgetvalue(read, i, 0), PQgetvalue(written, j, 0)) == 0)
                assert_string_equal(PQgetvalue(read, i, 1), PQgetvalue(written, j, 1));
        }
    }
    PQclear(read);
    PQclear(written);
    PQfinish(of_reader);
    PQfinish(of_writer);
    ses_close(reader);
    ses_close(writer);
    ses_close(unprepared);
}

BOUNCER_TEST(statement_mode_is_misuse)
{
    const ses_postgres_options unprepared = {.size = sizeof unprepared, .unprepared = 1};
    ses_store *store = open_behind(bouncer, "elsewhere");
    char place[700];

    ses_close(store);
    database_run(bouncer->database, "CREATE DATABASE statement_mode TEMPLATE template0");
    snprintf(place, sizeof place, "%s dbname=statement_mode", bouncer->place);
    assert_code(SES_MISUSE, ses_open_postgres(place, NULL, &unprepared, &store, &error));
    assert_message("use its session or transaction mode");
    assert_code(SES_MISUSE, ses_open_postgres(place, NULL, NULL, &store, &error));
    assert_message("use its session or transaction mode");
}

static int64_t waiting_for_standby(const struct database *database)
{
    return database_number(database, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
}

/* The pooler has the server cancel what a client asked for, as long as it knows the client. */
BOUNCER_TEST(a_call_that_is_given_up_leaves_no_process)
{
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = 300};
    const ses_postgres_options unprepared = {.size = sizeof unprepared, .unprepared = 1};
    ses_store *store = open_behind(bouncer, "given_up");
    char place[700];

    must_create(store, &one, NULL);
    ses_close(store);
    snprintf(place, sizeof place, "%s dbname=given_up", bouncer->place);
    assert_ok(ses_open_postgres(place, &options, &unprepared, &store, &error));
    database_want_standby(bouncer->database, "nobody");
    assert_code(SES_UNKNOWN, ses_append_by_key(store, &one, "{}", SES_NUL, NULL, NULL, &error));
    for (int i = 0; i < 100 && waiting_for_standby(bouncer->database) > 0; i++)
        support_pause_us(10000);
    assert_int_equal(waiting_for_standby(bouncer->database), 0);
    database_want_standby(bouncer->database, "");
    ses_close(store);
}

TEST_GROUP(setup, teardown)
