/*
 * Many threads, and many processes of which one is killed again and again, on one file; then the file is held
 * against what each has noted. SESLITE_STRESS_SECONDS is how long each of the two goes on (2).
 *
 * Every event has an id of its own and writes that id under an app key, a user key and a session key. Each
 * session has a user of its own. So in the end the session's and the user's key must hold the id of the
 * session's last event, and the app's key that of the last event of one session.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

enum { SESSIONS = 5, THREADS = 16, PROCESSES = 8 };

static const char *const app = "app";

struct names {
    char session[16];
    char user[16];
};

static ses_key key_of(struct names *names, int number)
{
    snprintf(names->session, sizeof names->session, "session-%d", number);
    snprintf(names->user, sizeof names->user, "user-%d", number);
    return (ses_key){app, names->user, names->session};
}

static double seconds(void)
{
    const char *text = getenv("SESLITE_STRESS_SECONDS");
    return text ? atof(text) : 2;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static void make_event(char event[300], const char *id)
{
    snprintf(event, 300,
             "{\"id\":\"%s\",\"author\":\"a\",\"actions\":{\"stateDelta\":{\"app:last\":\"%s\",\"user:last\":"
             "\"%s\","
             "\"last\":\"%s\",\"temp:x\":1}}}",
             id, id, id, id);
}

static void make_sessions(ses_store *store)
{
    for (int i = 0; i < SESSIONS; i++) {
        struct names names;
        const ses_key key = key_of(&names, i);
        must_create(store, &key, NULL);
    }
}

/* ------------------------------------------------------------------------------------------ the check */

static sqlite3 *open_raw(const char *path)
{
    sqlite3 *handle = NULL;
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle,
                                  "CREATE TEMP TABLE stored AS SELECT id FROM event_log;"
                                  "CREATE INDEX temp.stored_by_id ON stored (id);",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    return handle;
}

static int64_t number(sqlite3 *handle, const char *sql, const char *id)
{
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_prepare_v2(handle, sql, -1, &statement, NULL), SQLITE_OK);
    if (id)
        assert_int_equal(sqlite3_bind_text(statement, 1, id, -1, SQLITE_TRANSIENT), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static void check_file(sqlite3 *handle)
{
    /* integrity_check gives one row, "ok", or many */
    assert_int_equal(
        number(handle, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'", NULL), 1);
    assert_int_equal(number(handle, "SELECT count(*) FROM pragma_foreign_key_check", NULL), 0);
    /* no gap and no double in the sequence numbers, and the counters agree */
    assert_int_equal(
        number(handle,
               "SELECT count(*) FROM sessions AS s WHERE s.event_count <> "
               "(SELECT count(*) FROM events WHERE session_id = s.id) OR s.last_seq <> s.event_count "
               "OR s.version <> s.event_count OR s.last_seq <> "
               "(SELECT coalesce(max(position) & 4294967295, 0) FROM events WHERE session_id = s.id)",
               NULL),
        0);
    /* every key holds what the last event wrote */
    assert_int_equal(
        number(handle,
               "SELECT count(*) FROM sessions AS s JOIN events AS e ON e.position = s.id << 32 | s.last_seq "
               "JOIN session_state AS k ON k.session_id = s.id AND k.key = 'last' "
               "JOIN user_state AS u ON u.user_id = s.user_id AND u.key = 'last' "
               "WHERE s.name LIKE 'session-%' AND (k.value <> '\"' || json_extract(e.body, '$.id') || '\"' "
               "OR u.value <> k.value)",
               NULL),
        0);
    assert_int_equal(number(handle,
                            "SELECT count(*) FROM app_state AS a JOIN sessions AS s ON s.id = a.session_id "
                            "JOIN events AS e ON e.position = s.id << 32 | s.last_seq "
                            "WHERE a.key = 'last' AND a.value = '\"' || json_extract(e.body, '$.id') || '\"'",
                            NULL),
                     1);
    assert_int_equal(number(handle, "SELECT count(*) FROM events WHERE body LIKE '%temp:%'", NULL), 0);
}

static void check_stored_once(sqlite3 *handle, const char *id)
{
    int64_t count = number(handle, "SELECT count(*) FROM temp.stored WHERE id = ?1", id);
    if (count != 1) {
        print_error("the acknowledged event %s is stored %d times\n", id, (int)count);
        fail();
    }
}

/* --------------------------------------------------------------------------------------------- threads */

struct worker {
    ses_store *store;
    int number;
    double until;
    int acknowledged; /* events with the ids "t<number>-1" to so many */
    char problem[640];
    pthread_t thread;
};

static void complain(struct worker *worker, const char *what, int code, const ses_error *error)
{
    if (!worker->problem[0])
        snprintf(worker->problem, sizeof worker->problem, "%s: %s %s", what, ses_code_name(code),
                 error->message);
}

static void append_once(struct worker *worker, uint32_t *seed, ses_session *session, const ses_key *key)
{
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
    char id[32];
    char event[300];
    ses_error error;
    int code;

    snprintf(id, sizeof id, "t%d-%d", worker->number, worker->acknowledged + 1);
    make_event(event, id);
    if (next_random(seed) % 2) {
        code = ses_append(session, event, SES_NUL, NULL, NULL, &error);
        if (code == SES_STALE)
            code = ses_append(session, event, SES_NUL, &anyway, NULL, &error);
    } else {
        code = ses_append_by_key(worker->store, key, event, SES_NUL, NULL, NULL, &error);
    }
    if (code == SES_OK)
        worker->acknowledged++;
    else
        complain(worker, "append", code, &error);
    if (next_random(seed) % 4 == 0) {
        code = ses_append_by_key(worker->store, key, event, SES_NUL, NULL, NULL, &error);
        if (code != SES_DUPLICATE && code != SES_EXISTS) /* its time was made anew: the same, or another */
            complain(worker, "retry", code, &error);
    }
}

static void read_once(struct worker *worker, uint32_t *seed, ses_session *session, const ses_key *key)
{
    ses_page *page = NULL;
    ses_cursor *cursor = NULL;
    const ses_event *event = NULL;
    char *json = NULL;
    ses_error error;
    int code;

    switch (next_random(seed) % 4) {
    case 0:
        code = ses_refresh(session, NULL, &error);
        break;
    case 1:
        code = ses_list(worker->store, app, NULL, NULL, &page, &error);
        ses_page_close(page);
        break;
    case 2:
        code = ses_state_json_by_key(worker->store, key, NULL, &json, NULL, &error);
        ses_free(json);
        break;
    default:
        code = ses_cursor_open(worker->store, key, NULL, &cursor, &error);
        for (int i = 0; i < 100 && ses_cursor_next(cursor, &event, NULL) == SES_ROW; i++)
            ;
        if (code == SES_OK)
            code = ses_cursor_close(cursor, &error);
        break;
    }
    if (code != SES_OK)
        complain(worker, "read", code, &error);
}

static void create_and_delete(struct worker *worker)
{
    char id[32];
    ses_error error;
    int64_t deleted = 0;

    snprintf(id, sizeof id, "passing-%d", worker->number);
    const ses_key key = {app, "passing", id};
    int code = ses_create(worker->store, &key, Q("{'user:p':1,'k':2}"), SES_NUL, NULL, NULL, &error);
    if (code == SES_OK)
        code = ses_append_by_key(worker->store, &key, Q("{'author':'p'}"), SES_NUL, NULL, NULL, &error);
    if (code == SES_OK)
        code = ses_delete(worker->store, &key, NULL, &deleted, &error);
    if (code != SES_OK || deleted != 1)
        complain(worker, "create and delete", code, &error);
}

static void *work(void *context)
{
    struct worker *worker = context;
    uint32_t seed = 0x9E3779B9u * (uint32_t)(worker->number + 1);
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};

    while (now() < worker->until && !worker->problem[0]) {
        struct names names;
        const ses_key key = key_of(&names, (int)(next_random(&seed) % SESSIONS));
        ses_session *session = NULL;
        ses_error error;
        int code = ses_get(worker->store, &key, GET_RANGE(&none), &session, &error);
        if (code != SES_OK)
            complain(worker, "get", code, &error);
        for (int i = 0; i < 8 && session; i++) {
            append_once(worker, &seed, session, &key);
            read_once(worker, &seed, session, &key);
        }
        ses_session_close(session);
        create_and_delete(worker);
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------- processes */

/* Each process writes "?id" to its log before an append and "+id" after one that was acknowledged. */
static void note(int log, char mark, const char *id)
{
    char line[64];
    int len = snprintf(line, sizeof line, "%c%s\n", mark, id);
    if (write(log, line, (size_t)len) != len)
        _exit(3);
}

static void run_process(const char *path, int number_of, int life, double until)
{
    const ses_open_options options = {.size = sizeof options, .synchronous = SES_SYNC_NORMAL};
    uint32_t seed = 0x9E3779B9u * (uint32_t)(number_of * 1000 + life + 1);
    char log_path[1024];
    ses_store *store = NULL;
    ses_error error;

    snprintf(log_path, sizeof log_path, "%s.log-%d", path, number_of);
    int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (log < 0 || ses_open(path, &options, &store, &error) != SES_OK) {
        fprintf(stderr, "open: %s\n", log < 0 ? "no log" : error.message);
        _exit(2);
    }
    for (int n = 1; now() < until; n++) {
        struct names names;
        const ses_key key = key_of(&names, (int)(next_random(&seed) % SESSIONS));
        char id[32];
        char event[300];
        snprintf(id, sizeof id, "p%d-%d-%d", number_of, life, n);
        make_event(event, id);
        note(log, '?', id);
        int code = ses_append_by_key(store, &key, event, SES_NUL, NULL, NULL, &error);
        if (code != SES_OK) {
            fprintf(stderr, "append: %s %s\n", ses_code_name(code), error.message);
            _exit(1);
        }
        note(log, '+', id);
    }
    ses_close(store);
    _exit(0);
}

static pid_t start_process(const char *path, int number_of, int life, double until)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        run_process(path, number_of, life, until);
    return child;
}

/* Every acknowledged event is there once. Returns how many the process was acknowledged. */
static int64_t check_log(sqlite3 *handle, const char *path, int number_of)
{
    char log_path[1024];
    int64_t count = 0;

    snprintf(log_path, sizeof log_path, "%s.log-%d", path, number_of);
    char *text = support_read_file(log_path, NULL);
    assert_non_null(text);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (line[0] == '+') {
            check_stored_once(handle, line + 1);
            count++;
        }
    }
    free(text);
    return count;
}

/* However busy the machine is. */
static void await_acknowledgement(const char *path, int number_of)
{
    char log_path[1024];
    bool acknowledged = false;

    snprintf(log_path, sizeof log_path, "%s.log-%d", path, number_of);
    for (double end = now() + 60; !acknowledged && now() < end; support_pause_us(1000)) {
        char *text = support_read_file(log_path, NULL);
        acknowledged = text && strchr(text, '+');
        free(text);
    }
    assert_true(acknowledged);
}

TEST(processes_of_which_one_is_killed)
{
    pid_t children[PROCESSES];
    double until = now() + seconds();
    int lives = 0;
    uint32_t seed = 12345;

    make_sessions(fixture->store);
    ses_close(fixture->store); /* no store is open while processes fork */
    fixture->store = NULL;
    for (int i = 1; i < PROCESSES; i++)
        children[i] = start_process(fixture->path, i, 0, until);
    while (now() < until) {
        const struct timespec pause = {0, 20000000 + (long)(next_random(&seed) % 100000000)};
        int status = 0;
        pid_t victim = start_process(fixture->path, 0, lives++, until + 60);
        if (lives == 1)
            await_acknowledgement(fixture->path, 0);
        nanosleep(&pause, NULL);
        assert_int_equal(kill(victim, SIGKILL), 0);
        assert_int_equal(waitpid(victim, &status, 0), victim);
        assert_true(WIFSIGNALED(status)); /* it did not end of itself: nothing had failed */
    }
    for (int i = 1; i < PROCESSES; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    assert_true(lives > 3);
    support_figure("kills", lives);

    assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
    fixture_reopen(fixture);
    sqlite3 *handle = open_raw(fixture->path);
    check_file(handle);
    int64_t acknowledged = 0;
    for (int i = 0; i < PROCESSES; i++) {
        int64_t own = check_log(handle, fixture->path, i);
        assert_true(own > 0); /* each has made progress */
        acknowledged += own;
    }
    /* At most one event of each life is in doubt: the one at which it was killed. */
    int64_t stored = number(handle, "SELECT count(*) FROM events", NULL);
    assert_true(stored >= acknowledged && stored <= acknowledged + lives);
    sqlite3_close(handle);
}

TEST(threads)
{
    static struct worker workers[THREADS];

    fixture->options.clock = NULL;
    fixture->options.synchronous = SES_SYNC_NORMAL;
    fixture_reopen(fixture);
    make_sessions(fixture->store);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.store = fixture->store, .number = i, .until = now() + seconds()};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    int64_t acknowledged = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_string_equal(workers[i].problem, "");
        assert_true(workers[i].acknowledged > 0);
        acknowledged += workers[i].acknowledged;
    }
    fixture_reopen(fixture);
    sqlite3 *handle = open_raw(fixture->path);
    check_file(handle);
    assert_int_equal(number(handle, "SELECT count(*) FROM events", NULL), acknowledged);
    for (int i = 0; i < THREADS; i++) {
        char id[32];
        snprintf(id, sizeof id, "t%d-%d", i, workers[i].acknowledged);
        check_stored_once(handle, id);
    }
    assert_int_equal(number(handle, "SELECT count(*) FROM sessions", NULL), SESSIONS);
    sqlite3_close(handle);
}
