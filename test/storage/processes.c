/* Several processes with one file: making it, writing to it, being killed, opening it again after a fork. */
#include "open.h"

#include <signal.h>

enum { CHILDREN = 4 };

static const ses_key key = {"app", "user", "session"};

static ses_store *open_store(const char *path, int64_t busy_timeout_ms, unsigned flags)
{
    const ses_open_options options = {
        .size = sizeof options, .busy_timeout_ms = busy_timeout_ms, .flags = flags};
    ses_store *store = must_open(path, &options);
    return store;
}

/* In a child: prints what went wrong, because the exit code only says that something did. */
static int complain(const char *doing, int code, const ses_error *error)
{
    fprintf(stderr, "process %d, %s: %s %s\n", (int)getpid(), doing, ses_code_name(code), error->message);
    return 1;
}

struct work {
    const char *path;
    int number; /* of the process */
    int events;
    int gate;   /* read end of a pipe: work begins when its other end is closed; -1: at once */
    int report; /* where each acknowledged event is reported; -1: nowhere */
    bool own_session;
    unsigned flags;
};

static void wait_at_gate(const struct work *work)
{
    char byte;
    if (work->gate >= 0)
        (void)!read(work->gate, &byte, 1);
}

static int append_events(ses_store *store, const struct work *work)
{
    char session[32];
    char event[200];
    ses_error error;

    snprintf(session, sizeof session, work->own_session ? "session-%d" : "session", work->number);
    const ses_key own = {"app", "user", session};
    int code = ses_get_or_create(store, &own, NULL, 0, NULL, NULL, &error);
    if (code < 0)
        return complain("creating", code, &error);
    for (int i = 1; i <= work->events; i++) {
        snprintf(event, sizeof event,
                 "{\"id\":\"p%d-%d\",\"actions\":{\"stateDelta\":{\"app:p%d\":%d,\"n\":%d}}}", work->number,
                 i, work->number, i, i);
        code = ses_append_by_key(store, &own, event, SES_NUL, NULL, NULL, &error);
        if (code != SES_OK)
            return complain("appending", code, &error);
        if (work->report >= 0 && write(work->report, &i, sizeof i) != (ssize_t)sizeof i)
            return 1;
    }
    return 0;
}

static int run_work(void *context)
{
    const struct work *work = context;
    const ses_open_options options = {.size = sizeof options, .flags = work->flags};
    ses_store *store = NULL;
    ses_error error;

    wait_at_gate(work);
    int code = ses_open(work->path, &options, &store, &error);
    if (code != SES_OK)
        return complain("opening", code, &error);
    int result = append_events(store, work);
    ses_close(store);
    return result;
}

/* Starts them all, lets them go at the same moment, and waits. */
static void run_together(const char *path, int events, bool own_session)
{
    struct work work[CHILDREN];
    pid_t children[CHILDREN];
    int gate[2];

    assert_int_equal(pipe(gate), 0);
    assert_int_equal(fcntl(gate[1], F_SETFD, FD_CLOEXEC), 0);
    for (int i = 0; i < CHILDREN; i++) {
        work[i] = (struct work){path, i, events, gate[0], -1, own_session, 0};
        fflush(NULL);
        children[i] = fork();
        assert_int_not_equal(children[i], -1);
        if (children[i] == 0) {
            close(gate[1]);
            _exit(run_work(&work[i]));
        }
    }
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < CHILDREN; i++)
        assert_int_equal(child_end(children[i]), 0);
}

static void assert_counts(const char *path, const char *expected)
{
    assert_sound(path);
    /* Sessions, events, and sessions whose sequence has a gap or whose counters are not those of their
     * events. */
    assert_query(
        path,
        "SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM events),"
        " (SELECT count(*) FROM sessions AS s WHERE (s.last_seq, s.version, s.event_count) <>"
        "  (SELECT max(position) & 4294967295, count(*), count(*) FROM events WHERE session_id = s.id))",
        expected);
}

FOLDER_TEST(one_new_file_is_made_by_many)
{
    for (int round = 0; round < 12; round++) {
        run_together(folder->path, 2, true);
        assert_counts(folder->path, "4|8|0\n");
        assert_query(folder->path, "PRAGMA user_version", "3\n");
        assert_int_equal(mode_of(folder->path), 0600);
        assert_int_equal(unlink(folder->path), 0);
    }
}

FOLDER_TEST(one_session_of_many_writers)
{
    run_together(folder->path, 100, false);
    assert_counts(folder->path, "1|400|0\n");
    /* Each process's events in its order. */
    assert_query(folder->path,
                 "SELECT count(*) FROM (SELECT CAST(substr(id, 4) AS INTEGER) AS n, row_number() OVER"
                 " (PARTITION BY substr(id, 1, 2) ORDER BY seq) AS place FROM event_log) WHERE n <> place",
                 "0\n");
}

FOLDER_TEST(shared_state_of_many_writers)
{
    run_together(folder->path, 100, true);
    assert_counts(folder->path, "4|400|0\n");
    assert_query(folder->path, "SELECT key, value FROM app_state ORDER BY key",
                 "p0|100\np1|100\np2|100\np3|100\n");
}

/* ------------------------------------------------------------------------------------------------- locks */

/* Holds the write lock until it is let go, and a while longer, as another program may. */
struct holder {
    const char *path;
    int ms;
    int ready;     /* told by a byte */
    int let_go[2]; /* told by its end */
};

static int run_holder(void *context)
{
    const struct holder *holder = context;
    sqlite3 *db = NULL;
    int rc = sqlite3_open(holder->path, &db);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db,
                          "PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE; UPDATE sessions SET updated_us = 77;",
                          NULL, NULL, NULL);
    char byte = 0;
    (void)close(holder->let_go[1]);
    if (rc == SQLITE_OK && write(holder->ready, "r", 1) == 1 && read(holder->let_go[0], &byte, 1) == 0)
        support_pause_us(holder->ms * 1000L);
    return rc == SQLITE_OK ? sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL) : rc;
}

/* `*let_go` is to be closed. */
static pid_t hold_lock(const char *path, int ms, int *let_go)
{
    int ready[2];
    char byte = 0;
    assert_int_equal(pipe(ready), 0);
    struct holder holder = {.path = path, .ms = ms, .ready = ready[1]};
    assert_int_equal(pipe(holder.let_go), 0);
    pid_t child = child_start(run_holder, &holder);
    close(ready[1]);
    close(holder.let_go[0]);
    *let_go = holder.let_go[1];
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static int try_append(ses_store *store, int64_t *took_ms, ses_error *error)
{
    int64_t start = support_steady_us() / 1000;
    int code = ses_append_by_key(store, &key, Q("{'author':'a'}"), SES_NUL, NULL, NULL, error);
    *took_ms = support_steady_us() / 1000 - start;
    return code;
}

FOLDER_TEST(busy_only_after_the_whole_timeout)
{
    ses_store *patient = open_store(folder->path, 400, 0);
    ses_store *hasty = open_store(folder->path, -1, 0);
    ses_store *default_store = open_store(folder->path, 0, 0);
    int64_t took = 0;
    int let_go = -1;

    must_create(patient, &key, NULL);
    pid_t child = hold_lock(folder->path, 700, &let_go);
    assert_code(SES_BUSY, try_append(hasty, &took, &error));
    assert_in_range(took, 0, 5000);
    assert_code(SES_BUSY, try_append(patient, &took, &error));
    assert_message("400 ms");
    assert_in_range(took, 400, 5000);
    /* The default is longer than the lock is held now. */
    close(let_go);
    assert_ok(try_append(default_store, &took, &error));
    assert_in_range(took, 0, 9000);
    assert_int_equal(child_end(child), 0);
    assert_ok(try_append(hasty, &took, &error));
    ses_close(default_store);
    ses_close(hasty);
    ses_close(patient);
    assert_counts(folder->path, "1|2|0\n");
}

FOLDER_TEST(opening_waits_too)
{
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = 300};
    ses_store *store = NULL;
    int64_t start;

    /* An empty file, whose schema cannot be made while another program holds the lock. */
    write_file(folder->path, "", 0);
    sqlite3 *db = raw_open(folder->path);
    raw_run(db, "BEGIN EXCLUSIVE");
    start = support_steady_us() / 1000;
    assert_code(SES_BUSY, ses_open(folder->path, &options, &store, &error));
    assert_in_range(support_steady_us() / 1000 - start, 300, 20000);
    assert_null(store);
    raw_run(db, "ROLLBACK");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_ok(ses_open(folder->path, &options, &store, &error));
    ses_close(store);
}

FOLDER_TEST(readers_do_not_wait_for_a_writer)
{
    ses_store *store = open_store(folder->path, -1, 0);
    ses_page *page = NULL;
    int let_go = -1;

    must_create(store, &key, Q("{'k':1}"));
    pid_t child = hold_lock(folder->path, 0, &let_go);
    int64_t start = support_steady_us() / 1000;
    ses_session *session = must_get(store, &key);
    assert_true(ses_session_updated_us(session) != 77); /* which is not committed */
    must_refresh(session);
    assert_ok(ses_list(store, "app", NULL, NULL, &page, &error));
    assert_int_equal(ses_page_count(page), 1);
    /* Opening the file does not wait either. */
    ses_store *other = open_store(folder->path, -1, 0);
    ses_store *reader = open_store(folder->path, -1, SES_OPEN_READ_ONLY);
    assert_in_range(support_steady_us() / 1000 - start, 0, 8000); /* below the timeout of ten seconds */
    close(let_go);
    ses_close(reader);
    ses_close(other);
    ses_page_close(page);
    ses_session_close(session);
    assert_int_equal(child_end(child), 0);
    ses_close(store);
}

/* With a rollback journal the writer waits for readers of other processes, as long as it may. */
FOLDER_TEST(rollback_journal_waits_for_readers)
{
    const ses_open_options options = {
        .size = sizeof options, .busy_timeout_ms = 300, .journal = SES_JOURNAL_ROLLBACK};
    struct text rows = {NULL, 0};
    int64_t took = 0;

    ses_store *store = must_open(folder->path, &options);
    must_create(store, &key, NULL);
    sqlite3 *db = raw_open(folder->path);
    raw_run(db, "BEGIN");
    raw_query(db, "SELECT count(*) FROM sessions", &rows);
    assert_code(SES_BUSY, try_append(store, &took, &error));
    assert_in_range(took, 300, 20000);
    raw_run(db, "COMMIT");
    assert_ok(try_append(store, &took, &error));
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    ses_close(store);
    assert_counts(folder->path, "1|1|0\n");
    free(rows.data);
}

/* ------------------------------------------------------------------------------------------------- kills */

enum { KILLS = 8 };

FOLDER_TEST(killed_writers_harm_nothing)
{
    for (int round = 0; round < KILLS; round++) {
        int report[2];
        int number = 0;
        int acknowledged = 0;
        assert_int_equal(pipe(report), 0);
        struct work work = {folder->path, round, 100000, -1, report[1], true, 0};
        pid_t child = child_start(run_work, &work);
        close(report[1]);
        /* Some events must be stored. Then it is killed at some moment during the next ones. */
        while (acknowledged < 5 + round && read(report[0], &number, sizeof number) == (ssize_t)sizeof number)
            acknowledged = number;
        const struct timespec moment = {0, round * 370000L};
        nanosleep(&moment, NULL);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(child_end(child), -1);
        while (read(report[0], &number, sizeof number) == (ssize_t)sizeof number)
            acknowledged = number;
        close(report[0]);

        struct text sql = {NULL, 0};
        text_printf(
            &sql,
            "SELECT count(*) BETWEEN %d AND %d, max(position) & 4294967295 = count(*) FROM events AS e"
            " JOIN sessions AS s ON s.id = e.session_id WHERE s.name = 'session-%d'",
            acknowledged, acknowledged + 1, round);
        /* The next store finds all that was acknowledged. */
        ses_store *store = open_store(folder->path, 0, 0);
        assert_query(folder->path, sql.data, "1|1\n");
        ses_close(store);
        assert_sound(folder->path);
        free(sql.data);
    }
    support_figure("kills", KILLS);
}

/* ------------------------------------------------------------------- opening what another process writes */

static int run_large_writer(void *context)
{
    const struct work *work = context;
    const ses_open_options options = {.size = sizeof options, .synchronous = SES_SYNC_NORMAL};
    static char event[20000];
    ses_store *store = NULL;
    ses_error error;

    int code = ses_open(work->path, &options, &store, &error);
    for (int i = 0; code == SES_OK && i < work->events; i++) {
        snprintf(event, sizeof event, "{\"author\":\"%0*d\"}", (int)sizeof event - 100, i);
        code = ses_append_by_key(store, &key, event, SES_NUL, NULL, NULL, &error);
    }
    ses_close(store);
    return code == SES_OK ? 0 : complain("writing", code, &error);
}

/* Checkpoints of another process go on all the time: the file must not seem damaged, or locked. */
FOLDER_TEST(opening_while_another_process_checkpoints)
{
    struct work work = {folder->path, 0, 3000, -1, -1, false, 0};
    int opened = 0;
    int status = 0;
    int64_t last = 0;

    ses_store *store = open_store(folder->path, 0, 0);
    must_create(store, &key, NULL);
    ses_close(store);
    pid_t child = child_start(run_large_writer, &work);
    while (waitpid(child, &status, WNOHANG) == 0) {
        const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
        ses_session *session = NULL;
        ses_store *reader = open_store(folder->path, 0, opened % 2 ? SES_OPEN_READ_ONLY : 0);
        assert_ok(ses_get(reader, &key, GET_RANGE(&none), &session, &error));
        assert_true(ses_session_version(session) >= last);
        last = ses_session_version(session);
        ses_session_close(session);
        ses_close(reader);
        opened++;
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_in_range(opened, 10, 1000000);
    assert_counts(folder->path, "1|3000|0\n");
}
