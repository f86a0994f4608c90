/* A server that hangs or stops in the middle of a call: a code that says so, in time, and nothing half
 * done. */
#include <pthread.h>
#include <signal.h>

#include "database.h"
#include "../session/lines.h"
#include "seslite_postgres.h"

static const ses_key one = {.app = "app", .user = "user", .session = "s"};

static ses_store *open_in_time(const char *place, int timeout_ms)
{
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = timeout_ms};
    ses_store *store = NULL;
    ses_error error;

    assert_ok(ses_open_postgres(place, &options, NULL, &store, &error));
    return store;
}

static ses_store *open_fresh(const struct database *database, const char *name, int timeout_ms,
                             char place[600])
{
    return open_in_time(database_fresh(database, name, "", place), timeout_ms);
}

/* The codes that a call may return if its server has gone. */
static bool is_loss(int code)
{
    return code == SES_BUSY || code == SES_IO || code == SES_CANTOPEN || code == SES_UNKNOWN;
}

static void assert_loss(int code, const ses_error *error)
{
    if (!is_loss(code))
        fail_msg("%s: %s", ses_code_name(code), error->message);
}

/* ---------------------------------------------------------------------------------- a server that hangs */

static void signal_backends(const struct database *database, const char *of, int signal_number)
{
    char sql[200];

    snprintf(sql, sizeof sql,
             "SELECT pid FROM pg_stat_activity WHERE application_name = 'seslite' AND datname = '%s'", of);
    PGresult *result = database_ask(database, sql);
    for (int i = 0; i < PQntuples(result); i++)
        assert_int_equal(kill((pid_t)strtol(PQgetvalue(result, i, 0), NULL, 10), signal_number), 0);
    PQclear(result);
}

static void *get_once(void *context)
{
    ses_session_close(must_get(context, &one));
    return NULL;
}

/* As many connections as that are opened when they are all needed at once. */
static void open_connections(const char *place, ses_store *store, int count)
{
    pthread_t threads[10];
    PGconn *conn = PQconnectdb(place);

    PQclear(database_take(conn, PQexec(conn, "BEGIN; LOCK TABLE seslite.sessions"), "LOCK"));
    for (int i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, get_once, store), 0);
    support_pause_us(200000);
    PQfinish(conn);
    for (int i = 0; i < count; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* All idle connections hang with the first: only one call waits for nothing. */
SERVER_TEST(a_server_that_hangs_is_left)
{
    char place[600];
    ses_store *store = open_fresh(database, "hanging", 1500, place);

    must_create(store, &one, NULL);
    open_connections(place, store, 4);
    signal_backends(database, "hanging", SIGSTOP);
    const int64_t begun = support_steady_us();
    const int code = ses_append_by_key(store, &one, "{\"id\":\"1\"}", SES_NUL, NULL, NULL, &error);
    const int64_t took_us = support_steady_us() - begun;
    const int next = ses_append_by_key(store, &one, "{\"id\":\"2\"}", SES_NUL, NULL, NULL, &error);
    signal_backends(database, "hanging", SIGCONT);
    assert_true(code == SES_BUSY || code == SES_UNKNOWN);
    assert_in_range(took_us, 1490000, 2500000);
    support_assert_code(SES_OK, next, &error, "append", __FILE__, __LINE__);
    ses_close(store);
}

struct waiting {
    ses_store *store;
    int code;
    int64_t took_us;
    ses_error error;
    pthread_t thread;
};

static void *get_and_wait(void *context)
{
    struct waiting *waiting = context;
    ses_session *session = NULL;
    const int64_t begun = support_steady_us();

    waiting->code = ses_get(waiting->store, &one, NULL, &session, &waiting->error);
    waiting->took_us = support_steady_us() - begun;
    ses_session_close(session);
    return NULL;
}

/* Its first process takes new connections; while it is stopped nobody answers them. */
static pid_t first_process(const struct database *database)
{
    char *path = support_path(database->folder, "data/postmaster.pid");
    char *text = support_read_file(path, NULL);
    const pid_t pid = (pid_t)strtol(text, NULL, 10);

    free(text);
    free(path);
    return pid;
}

SERVER_TEST(connecting_is_interrupted)
{
    char place[600];
    ses_store *store = open_fresh(database, "connecting", 10000, place);
    struct waiting waiting = {.store = store};

    must_create(store, &one, NULL);
    database_run(database,
                 "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = 'connecting'");
    assert_int_equal(kill(first_process(database), SIGSTOP), 0);
    assert_int_equal(pthread_create(&waiting.thread, NULL, get_and_wait, &waiting), 0);
    support_pause_us(200000);
    assert_ok(ses_store_interrupt(store, &error));
    assert_int_equal(pthread_join(waiting.thread, NULL), 0);
    assert_int_equal(kill(first_process(database), SIGCONT), 0);
    support_assert_code(SES_INTERRUPTED, waiting.code, &waiting.error, "ses_get", __FILE__, __LINE__);
    assert_in_range(waiting.took_us, 100000, 3000000);
    ses_session_close(must_get(store, &one));
    ses_close(store);
}

/* --------------------------------------------------------------------------------- a server that stops */

static void command(const struct database *database, const char *what)
{
    char line[600];
    char words[100];

    snprintf(words, sizeof words, "sh test/postgres/server.sh %s", what);
    if (database_shell(line, sizeof line, words, database->folder) != 0)
        fail_msg("%s", line);
}

static void start_again(struct database *database)
{
    command(database, "start");
    PQreset(database->conn);
    assert_int_equal(PQstatus(database->conn), CONNECTION_OK);
}

/* An export tells what it reads, and so is not begun again. */
SERVER_TEST(connections_that_ended_while_idle_are_not_used)
{
    char place[600];
    ses_store *store = open_fresh(database, "idle", 5000, place);

    must_create(store, &one, NULL);
    struct text before = exported(store, NULL);
    for (int i = 0; i < 2; i++) {
        open_connections(place, store, 4);
        if (i == 0) {
            database_run(database,
                         "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = "
                         "'idle'");
        } else {
            command(database, "stop");
            start_again(database);
        }
        struct text after = exported(store, NULL);
        assert_same_text(&before, &after);
        free(after.data);
    }
    free(before.data);
    ses_close(store);
}

static void fill_with_events(ses_store *store, int events)
{
    ses_text texts[1000];
    ses_error error;

    must_create(store, &one, NULL);
    for (int i = 0; i < 1000; i++)
        texts[i] = (ses_text){"{\"author\":\"a\"}", SES_NUL};
    for (int i = 0; i < events / 1000; i++)
        assert_ok(ses_append_batch_by_key(store, &one, texts, 1000, NULL, NULL, &error));
}

static int collect_slowly(void *context, const char *data, size_t len, ses_error *error)
{
    support_pause_us(300000);
    return collect_lines(context, data, len, error);
}

SERVER_TEST(a_server_ends_what_takes_too_long)
{
    char place[600];
    char impatient[700];
    ses_store *store = open_fresh(database, "slow", 0, place);
    struct text text = {NULL, 0};

    fill_with_events(store, 3000);
    ses_close(store);
    snprintf(impatient, sizeof impatient, "%s options='-c idle_in_transaction_session_timeout=100ms'", place);
    store = open_in_time(impatient, 10000);
    assert_code(SES_IO, ses_store_export(store, NULL, collect_slowly, &text, &error));
    assert_string_equal(error.sqlstate, "25P03");
    free(text.data);
    ses_close(store);
}

struct reader {
    ses_store *store;
    int code;
    int64_t took_us;
    int good;
    ses_error error;
    pthread_t thread;
};

static void *read_until_it_fails(void *context)
{
    struct reader *reader = context;

    while (reader->code >= 0) {
        ses_session *session = NULL;
        const int64_t begun = support_steady_us();
        reader->code = ses_get(reader->store, &one, NULL, &session, &reader->error);
        reader->took_us = support_steady_us() - begun;
        reader->good += reader->code == SES_OK && ses_session_event_count(session) == 3000;
        ses_session_close(session);
    }
    return NULL;
}

SERVER_TEST(a_server_stops_in_the_middle_of_a_read)
{
    char place[600];
    ses_store *store = open_fresh(database, "reading", 60000, place);
    struct reader reader = {.store = NULL};
    const ses_event *event = NULL;
    ses_cursor *cursor = NULL;
    int code = SES_ROW;

    fill_with_events(store, 3000);
    ses_close(store);
    reader.store = store = open_in_time(place, 2500);
    assert_ok(ses_cursor_open(store, &one, NULL, &cursor, &error));
    for (int i = 0; i < 10; i++)
        assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
    assert_int_equal(pthread_create(&reader.thread, NULL, read_until_it_fails, &reader), 0);
    support_pause_us(100000);
    command(database, "stop");
    assert_int_equal(pthread_join(reader.thread, NULL), 0);
    while (code == SES_ROW)
        code = ses_cursor_next(cursor, &event, &error);
    assert_loss(code, &error);
    assert_int_equal(ses_cursor_close(cursor, &error), code);
    assert_loss(reader.code, &reader.error);
    assert_in_range(reader.took_us, 0, 3500000);
    assert_true(reader.good > 0);

    start_again(database);
    ses_session *session = must_get(store, &one);
    assert_int_equal(ses_session_event_count(session), 3000);
    ses_session_close(session);
    ses_close(store);
}

struct appender {
    ses_store *store;
    int code;
    int64_t took_us;
    ses_error error;
    pthread_t thread;
};

static void *append_once(void *context)
{
    struct appender *appender = context;
    const int64_t begun = support_steady_us();

    appender->code =
        ses_append_by_key(appender->store, &one, "{\"id\":\"1\"}", SES_NUL, NULL, NULL, &appender->error);
    appender->took_us = support_steady_us() - begun;
    return NULL;
}

/* The append waits for a row that is locked, and then for a server that stops, and may start again in
 * time. */
static void stop_in_an_append(struct database *database, const char *place, int timeout_ms,
                              bool starts_in_time)
{
    struct appender appender = {.code = SES_OK};
    PGconn *conn = PQconnectdb(place);

    appender.store = open_in_time(place, timeout_ms);
    PQclear(database_take(conn, PQexec(conn, "BEGIN; SELECT 1 FROM seslite.sessions FOR UPDATE"), "LOCK"));
    assert_int_equal(pthread_create(&appender.thread, NULL, append_once, &appender), 0);
    support_pause_us(100000);
    command(database, "stop");
    PQfinish(conn);
    if (starts_in_time)
        start_again(database);
    assert_int_equal(pthread_join(appender.thread, NULL), 0);
    assert_in_range(appender.took_us, 0, timeout_ms * 1000 + 1000000);
    if (!starts_in_time)
        start_again(database);
    if (starts_in_time)
        support_assert_code(SES_OK, appender.code, &appender.error, "append", __FILE__, __LINE__);
    else
        assert_loss(appender.code, &appender.error);
    ses_session *session = must_get(appender.store, &one);
    assert_int_equal(ses_session_stored(session), starts_in_time ? 1 : 0);
    ses_session_close(session);
    ses_close(appender.store);
}

SERVER_TEST(a_server_stops_in_the_middle_of_an_append)
{
    char place[600];
    ses_store *store = open_fresh(database, "appending", 0, place);

    must_create(store, &one, NULL);
    ses_close(store);
    stop_in_an_append(database, place, 700, false);
    stop_in_an_append(database, place, 30000, true);
}

/* Lines in whose middle the server stops. */
struct interrupted {
    struct piecewise text;
    struct database *database;
    bool stopped;
};

static int give_and_stop(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    struct interrupted *interrupted = context;

    if (!interrupted->stopped && interrupted->text.at > interrupted->text.len / 2) {
        command(interrupted->database, "stop");
        interrupted->stopped = true;
    }
    return give_lines(&interrupted->text, buffer, capacity, len, error);
}

static struct text lines_of_sessions(ses_store *source, int sessions)
{
    char name[20];
    const ses_key named = {.app = "app", .user = "user", .session = name};

    for (int s = 0; s < sessions; s++) {
        snprintf(name, sizeof name, "%d", s);
        must_create(source, &named, NULL);
        for (int i = 0; i < 20; i++)
            must_append_by_key(source, &named, "{\"actions\":{\"stateDelta\":{\"a\":4,\"c\":5}}}");
    }
    return exported(source, NULL);
}

SERVER_TEST(a_server_stops_in_the_middle_of_an_import)
{
    char place[600];
    ses_store *store = open_fresh(database, "importing", 2500, place);
    ses_store *source = empty_store();
    struct text text = lines_of_sessions(source, 20);
    struct interrupted interrupted = {.text = {.data = text.data, .len = text.len, .piece = 1000},
                                      .database = database};
    ses_import_report report;
    ses_page *page = NULL;

    const int code = ses_store_import(store, give_and_stop, &interrupted, NULL, NULL, &error);
    assert_loss(code, &error);
    start_again(database);
    assert_ok(ses_list(store, "app", "user", NULL, &page, &error));
    assert_in_range(ses_page_count(page), 5, 12);
    for (size_t i = 0; i < ses_page_count(page); i++)
        assert_int_equal(ses_session_stored(ses_page_session(page, i)), 20);
    ses_page_close(page);
    assert_ok(import_text(store, text.data, text.len, 0, &report, &error)); /* the rest */
    assert_same_store(source, store);
    free(text.data);
    ses_close(source);
    ses_close(store);
}
