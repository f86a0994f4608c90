/* Eight writers at once, with connections of their own. */
#include <pthread.h>

#include "mysql/database.h"

enum { WRITERS = 8, EVENTS = 40 };

struct writer {
    pthread_t thread;
    ses_store *store;
    int number;
    int code;
    int64_t seqs[EVENTS];
};

static void start_writers(struct writer writers[WRITERS], ses_store *store, void *(*work)(void *))
{
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.store = store, .number = i};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, work, &writers[i]), 0);
    }
}

static void join_writers(struct writer writers[WRITERS])
{
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
}

/* ------------------------------------------------------------------------------------------ one session */

static const ses_key key = {"app", "user", "s1"};

static void *append_events(void *context)
{
    struct writer *writer = context;

    for (int i = 0; i < EVENTS && writer->code == SES_OK; i++) {
        char event[200];
        ses_appended appended;
        ses_error error;
        snprintf(event, sizeof event,
                 "{\"id\":\"w%d-%d\",\"actions\":{\"stateDelta\":{\"app:a\":%d,\"user:b\":%d,\"c%d\":%d}}}",
                 writer->number, i, i, i, writer->number, i);
        writer->code = ses_append_by_key(writer->store, &key, event, SES_NUL, NULL, &appended, &error);
        writer->seqs[i] = appended.seq;
        if (writer->code != SES_OK)
            print_error("%s\n", error.message);
    }
    return NULL;
}

struct reader {
    ses_store *store;
    atomic_bool stop;
    int looks;
    bool failed;
};

/* A reader never sees gaps, nor less than before. */
static void *look(void *context)
{
    struct reader *reader = context;
    int64_t before = 0;

    while (!atomic_load(&reader->stop)) {
        ses_session *session = NULL;
        ses_error error;
        if (ses_get(reader->store, &key, NULL, &session, &error) != SES_OK) {
            print_error("%s\n", error.message);
            reader->failed = true;
            return NULL;
        }
        const int64_t last = ses_session_last_seq(session);
        reader->failed = reader->failed || last < before ||
                         ses_session_event_count(session) != (size_t)last ||
                         ses_session_version(session) != last;
        before = last;
        reader->looks++;
        ses_session_close(session);
    }
    return NULL;
}

SERVER_TEST(numbers_are_given_in_the_order_of_commits)
{
    struct reader reader = {.store = database_open(database->uri, 20000)};
    ses_store *store = database_open(database->uri, 60000);
    bool seen[WRITERS * EVENTS + 1] = {false};
    struct writer writers[WRITERS];
    pthread_t thread;

    must_create(store, &key, NULL);
    assert_int_equal(pthread_create(&thread, NULL, look, &reader), 0);
    start_writers(writers, store, append_events);
    join_writers(writers);
    atomic_store(&reader.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(reader.failed);
    assert_true(reader.looks > 0);
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(writers[i].code, SES_OK);
        for (int k = 0; k < EVENTS; k++) {
            assert_in_range(writers[i].seqs[k], 1, WRITERS * EVENTS);
            assert_false(seen[writers[i].seqs[k]]);
            assert_true(k == 0 || writers[i].seqs[k] > writers[i].seqs[k - 1]);
            seen[writers[i].seqs[k]] = true;
        }
    }
    ses_close(store);
    ses_close(reader.store);
}

/* --------------------------------------------------------------------------------------------- creating */

static void *create_the_same(void *context)
{
    struct writer *writer = context;

    for (int i = 0; i < EVENTS && writer->code >= 0; i++) {
        char app[20];
        char name[20];
        ses_session *session = NULL;
        ses_error error;
        snprintf(app, sizeof app, "app%d", i % 3);
        snprintf(name, sizeof name, "session%d", i);
        const ses_key same = {app, "user", name};
        const int code = writer->number % 2
                             ? ses_create(writer->store, &same, NULL, 0, NULL, &session, &error)
                             : ses_get_or_create(writer->store, &same, NULL, 0, NULL, &session, &error);
        writer->seqs[i] = code == SES_OK;
        if (code != SES_OK && code != SES_EXISTS && code != SES_EXISTING) {
            print_error("%d %s\n", code, error.message);
            writer->code = code;
        }
        ses_session_close(session);
    }
    return NULL;
}

SERVER_TEST(a_session_is_created_once)
{
    ses_store *store = database_open(database->uri, 60000);
    struct writer writers[WRITERS];

    start_writers(writers, store, create_the_same);
    join_writers(writers);
    for (int i = 0; i < EVENTS; i++) {
        int64_t made = 0;
        for (int k = 0; k < WRITERS; k++)
            made += writers[k].seqs[i];
        assert_int_equal(made, 1);
    }
    for (int k = 0; k < WRITERS; k++)
        assert_int_equal(writers[k].code, SES_OK);
    ses_close(store);
}

/* ---------------------------------------------------------------------- users that come and go meanwhile */

static void *come_and_go(void *context)
{
    struct writer *writer = context;

    for (int i = 0; i < EVENTS && writer->code >= 0; i++) {
        const ses_key one = {"app", "guest", "s"};
        ses_error error;
        int code;
        if (writer->number < 2)
            code = ses_delete_user(writer->store, one.app, one.user, NULL, NULL, NULL, &error);
        else if (writer->number < 5)
            code = ses_get_or_create(writer->store, &one, "{\"user:k\":1}", SES_NUL, NULL, NULL, &error);
        else
            code = ses_append_by_key(writer->store, &one, "{}", SES_NUL, NULL, NULL, &error);
        if (code < 0 && code != SES_NOTFOUND) {
            print_error("%d %s\n", code, error.message);
            writer->code = code;
        }
    }
    return NULL;
}

SERVER_TEST(a_user_who_is_deleted_leaves_nothing_behind)
{
    const ses_check_options whole = {.size = sizeof whole, .level = SES_CHECK_LOG};
    ses_store *store = database_open(database->uri, 60000);
    struct writer writers[WRITERS];
    int64_t problems = -1;

    start_writers(writers, store, come_and_go);
    join_writers(writers);
    for (int i = 0; i < WRITERS; i++)
        assert_true(writers[i].code >= 0);
    assert_ok(ses_store_check(store, &whole, &problems, &error));
    assert_int_equal(problems, 0);
    ses_close(store);
}

/* ----------------------------------------------------------------------------- statements that are killed */

static const ses_key killed = {"app", "killed", "s"};

static void *append_one(void *context)
{
    struct writer *writer = context;
    ses_error error;

    writer->code = ses_append_by_key(writer->store, &killed, "{\"actions\":{\"stateDelta\":{\"user:a\":1}}}",
                                     SES_NUL, NULL, NULL, &error);
    if (writer->code != SES_OK)
        print_error("%s\n", error.message);
    return NULL;
}

/* The server's answer is the same whether it had committed or not, so the append looks, and stores what is
 * not there. */
SERVER_TEST(an_append_whose_statement_is_killed_is_stored_once)
{
    struct writer writer = {.store = database_open(database->uri, 20000)};
    char sql[60];
    int64_t id = 0;

    must_create(writer.store, &killed, NULL);
    (void)database_ask(database, "BEGIN");
    (void)database_ask(database, "SELECT id FROM agents.seslite_users WHERE name = 'killed' FOR UPDATE");
    assert_int_equal(pthread_create(&writer.thread, NULL, append_one, &writer), 0);
    for (int i = 0; i < 500 && id == 0; i++) {
        support_pause_us(20000);
        id = database_number(database, "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx "
                                       "WHERE trx_state = 'LOCK WAIT'");
    }
    assert_true(id > 0);
    snprintf(sql, sizeof sql, "KILL QUERY %lld", (long long)id);
    (void)database_ask(database, sql);
    (void)database_ask(database, "ROLLBACK");
    assert_int_equal(pthread_join(writer.thread, NULL), 0);
    if (strstr(mysql_get_server_info(database->conn), "MariaDB")) /* MySQL has no blocks */
        assert_int_equal(writer.code, SES_OK);
    ses_session *session = must_get(writer.store, &killed);
    assert_int_equal(ses_session_event_count(session), writer.code == SES_OK);
    ses_session_close(session);
    ses_close(writer.store);
}

/* ------------------------------------------------------------------------------- limits, behind a lock */

static int64_t steady_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The connection that was waiting is killed: nothing of it is left on the server, long before its own time is
 * over. */
SERVER_TEST(a_call_that_waits_for_a_lock_ends_in_time)
{
    ses_store *store = database_open(database->uri, 20000);
    const ses_append_options soon = {.size = sizeof soon, .timeout_ms = 200};
    const ses_key locked = {"app", "user", "locked"};

    must_create(store, &locked, NULL);
    (void)database_ask(database, "BEGIN");
    (void)database_ask(database, "SELECT id FROM agents.seslite_sessions FOR UPDATE");
    const int64_t begun = steady_ms();
    const int code = ses_append_by_key(store, &locked, "{}", SES_NUL, &soon, NULL, &error);
    assert_true(code == SES_BUSY || code == SES_INTERRUPTED);
    assert_in_range(steady_ms() - begun, 150, 8000); /* long before the lock is given up */
    int64_t waiting = -1;
    for (int i = 0; i < 200 && waiting != 0; i++) {
        support_pause_us(20000);
        waiting = database_number(
            database, "SELECT count(*) FROM information_schema.processlist WHERE db = 'agents' AND "
                      "command = 'Query' AND id <> connection_id()");
    }
    assert_int_equal(waiting, 0);
    assert_in_range(steady_ms() - begun, 150, 15000);
    (void)database_ask(database, "ROLLBACK");
    must_append_by_key(store, &locked, "{}");
    ses_close(store);
}

/* A reader locks nothing, however long it stays in its transaction. */
static int count_locks(void *context, const char *data, size_t len, ses_error *error)
{
    const struct database *database = context;
    (void)data;
    (void)len;
    (void)error;

    assert_int_equal(database_number(database, "SELECT coalesce(sum(trx_rows_locked), 0) FROM "
                                               "information_schema.innodb_trx"),
                     0);
    return 0;
}

SERVER_TEST(reads_lock_nothing)
{
    enum { BYTES = 300000 };
    const ses_key large = {"app", "user", "large"};
    ses_store *store = database_open(database->uri, 20000);
    char *event = malloc(BYTES + 100);

    assert_non_null(event);
    (void)snprintf(event, BYTES + 100, "{\"author\":\"%0*d\"}", BYTES, 0);
    must_create(store, &large, NULL);
    for (int i = 0; i < 3; i++) /* so that the text comes in pieces, before the transaction ends */
        must_append_by_key(store, &large, event);
    assert_ok(ses_store_export(store, NULL, count_locks, database, &error));
    free(event);
    ses_close(store);
}
