/* A program that reads for a long time keeps the write-ahead file from being copied: what that costs, and
 * what follows. */
#include "open.h"

#include <signal.h>
#include <stdatomic.h>

#include "../../tools/bench/over_vfs.h"

static const ses_key key = {"app", "user", "one"};

/* ---- writes to the database file that are seen, held, or the process's last: all of them are copies from
 * the log */

static atomic_int writes_left; /* until one is the last thing this process does; 0: none is */
static atomic_bool held;       /* writes wait */
static atomic_bool waiting;    /* one does */
static atomic_int written;
static atomic_bool let_go_by_interrupt;

static int seen_write(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 at)
{
    struct over_file *own = over_file_of(file);

    if (own->flags & SQLITE_OPEN_MAIN_DB) {
        atomic_fetch_add(&written, 1);
        if (atomic_load(&writes_left) > 0 && atomic_fetch_sub(&writes_left, 1) == 1)
            (void)raise(SIGKILL);
        while (atomic_load(&held)) {
            atomic_store(&waiting, true);
            support_pause_us(200);
        }
    }
    return own->real->xWrite(file, data, bytes, at);
}

void __real_sqlite3_interrupt(sqlite3 *handle);
void __wrap_sqlite3_interrupt(sqlite3 *handle);
void __wrap_sqlite3_interrupt(sqlite3 *handle)
{
    __real_sqlite3_interrupt(handle);
    if (atomic_load(&let_go_by_interrupt)) {
        atomic_store(&written, 0);
        atomic_store(&held, false);
    }
}

/* ---- */

static void make_event(char event[20100], int number)
{
    snprintf(event, 20100, "{\"id\":\"e%d\",\"author\":\"%020000d\"}", number, number);
}

static void append(ses_store *store, int *number)
{
    static char event[20100];

    make_event(event, ++*number);
    must_append_by_key(store, &key, event);
}

static ses_stats statistics(ses_store *store)
{
    ses_stats stats = {.size = sizeof stats};
    ses_error error;
    assert_ok(ses_store_stats(store, &stats, &error));
    return stats;
}

static void append_until_pages(ses_store *store, int *number, int64_t pages)
{
    while (statistics(store).sqlite.wal_pages < pages)
        append(store, number);
}

static sqlite3 *begin_reading(const char *path)
{
    sqlite3 *reader = raw_open(path);
    raw_run(reader, "BEGIN; SELECT count(*) FROM events");
    return reader;
}

static void start(struct fixture *fixture, int *number)
{
    fixture->options.synchronous = SES_SYNC_NORMAL;
    fixture_reopen(fixture);
    must_create(fixture->store, &key, NULL);
    append(fixture->store, number);
}

enum { LONG_ENOUGH_US = 120000000 };

/* The log's pages have all been copied, and commits write at its beginning. */
static void append_until_anew(ses_store *store, int *number)
{
    const int64_t until = support_steady_us() + LONG_ENOUGH_US;

    while (statistics(store).sqlite.wal_pages >= 4000) {
        assert_true(support_steady_us() < until);
        append(store, number);
        support_pause_us(500);
    }
}

static sqlite3_int64 used_before;

static void assert_all_there(const char *path, int events)
{
    char expected[32];

    snprintf(expected, sizeof expected, "%d|%d\n", events, events);
    assert_sound(path);
    assert_query(path, "SELECT count(*), max(seq) FROM event_log", expected);
}

static int teardown(void **state)
{
    atomic_store(&held, false);
    const int result = fixture_teardown(state);
    assert_int_equal(sqlite3_memory_used(), used_before); /* every connection was closed */
    return result;
}

static int setup(void **state)
{
    used_before = sqlite3_memory_used();
    atomic_store(&held, false);
    atomic_store(&writes_left, 0);
    return fixture_setup(state);
}

#define CHECKPOINT_READER_TEST(name) TEST_WITH(struct fixture *fixture, setup, teardown, name)

CHECKPOINT_READER_TEST(a_reader_costs_the_writers_little)
{
    int number = 0;

    start(fixture, &number);
    const ses_stats before = statistics(fixture->store);
    sqlite3 *reader = begin_reading(fixture->path);
    append_until_pages(fixture->store, &number, 20000);
    const ses_stats held_back = statistics(fixture->store);
    /* It had begun every 1000 pages, each time for 200 ms and without a result: four seconds. */
    assert_in_range(held_back.sqlite.checkpoint_turn_us - before.sqlite.checkpoint_turn_us, 0, 2000000);
    assert_true(held_back.sqlite.wal_bytes > INT64_C(20000) * 4096);

    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
    append_until_anew(fixture->store, &number);
    const ses_stats after = statistics(fixture->store);
    assert_true(after.sqlite.checkpoint_us - after.sqlite.checkpoint_turn_us >
                held_back.sqlite.checkpoint_us - held_back.sqlite.checkpoint_turn_us);

    /* Its file is cut off piece by piece. */
    const int64_t until = support_steady_us() + LONG_ENOUGH_US;
    while (statistics(fixture->store).sqlite.wal_bytes > INT64_C(24) << 20) {
        assert_true(support_steady_us() < until);
        append(fixture->store, &number);
    }
    ses_close(fixture->store);
    fixture->store = NULL;
    assert_all_there(fixture->path, number);
}

/* The copying is held; the store goes on. */
static void begin_copying(struct fixture *fixture, int *number)
{
    const int64_t until = support_steady_us() + LONG_ENOUGH_US;
    sqlite3 *reader = begin_reading(fixture->path);

    append_until_pages(fixture->store, number, 9000);
    atomic_store(&waiting, false);
    atomic_store(&held, true);
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
    while (!atomic_load(&waiting)) {
        assert_true(support_steady_us() < until);
        append(fixture->store, number);
        support_pause_us(500);
    }
}

CHECKPOINT_READER_TEST(writers_faster_than_the_copying)
{
    int number = 0;

    start(fixture, &number);
    begin_copying(fixture, &number);
    append_until_pages(fixture->store, &number, 2 * statistics(fixture->store).sqlite.wal_pages);
    atomic_store(&held, false);
    append_until_anew(fixture->store, &number);
    ses_close(fixture->store);
    fixture->store = NULL;
    assert_all_there(fixture->path, number);
}

CHECKPOINT_READER_TEST(closing_stops_the_copying)
{
    int number = 0;

    start(fixture, &number);
    begin_copying(fixture, &number);
    /* With it, closing is not the last to close, and copies nothing itself. */
    sqlite3 *other = raw_open(fixture->path);
    raw_run(other, "SELECT count(*) FROM events");
    atomic_store(&let_go_by_interrupt, true);
    ses_close(fixture->store);
    fixture->store = NULL;
    assert_in_range(atomic_load(&written), 0, 1);
    atomic_store(&let_go_by_interrupt, false);
    assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    append(fixture->store, &number);
    append_until_anew(fixture->store, &number);
    ses_close(fixture->store);
    fixture->store = NULL;
    assert_all_there(fixture->path, number);
}

/* ---- a process that is killed */

struct victim {
    const char *path;
    int report; /* each event that was acknowledged */
};

static int append_and_report(ses_store *store, const struct victim *victim, int *number)
{
    static char event[20100];

    make_event(event, ++*number);
    return ses_append_by_key(store, &key, event, SES_NUL, NULL, NULL, NULL) == SES_OK &&
                   write(victim->report, number, sizeof *number) == (ssize_t)sizeof *number
               ? 0
               : 1;
}

/* Ends by itself only when something went wrong. */
static int run_victim(void *context)
{
    const struct victim *victim = context;
    const int64_t until = support_steady_us() + LONG_ENOUGH_US;
    ses_stats stats = {.size = sizeof stats};
    ses_store *store = NULL;
    sqlite3 *reader = NULL;
    int number = 0;
    int failed = ses_open(victim->path, NULL, &store, NULL) != SES_OK ||
                 ses_create(store, &key, NULL, 0, NULL, NULL, NULL) != SES_OK ||
                 append_and_report(store, victim, &number) != 0 ||
                 sqlite3_open(victim->path, &reader) != SQLITE_OK ||
                 sqlite3_exec(reader, "BEGIN; SELECT count(*) FROM events", NULL, NULL, NULL) != SQLITE_OK;

    while (!failed && stats.sqlite.wal_pages < 6000)
        failed =
            append_and_report(store, victim, &number) != 0 || ses_store_stats(store, &stats, NULL) != SES_OK;
    atomic_store(&writes_left, 1500);
    failed = failed || sqlite3_close(reader) != SQLITE_OK;
    while (!failed && support_steady_us() < until)
        failed = append_and_report(store, victim, &number);
    return 1;
}

CHECKPOINT_READER_TEST(killed_while_copying)
{
    struct victim victim = {.path = fixture->path};
    int number = 0;
    int last = 0;
    int ends[2];
    int status = 0;

    ses_close(fixture->store);
    fixture->store = NULL;
    assert_int_equal(pipe(ends), 0);
    victim.report = ends[1];
    fflush(NULL);
    pid_t child = fork();
    assert_int_not_equal(child, -1);
    if (child == 0)
        _exit(run_victim(&victim));
    close(ends[1]);
    while (read(ends[0], &number, sizeof number) == (ssize_t)sizeof number)
        last = number;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(last > 400);

    assert_ok(ses_open(fixture->path, NULL, &fixture->store, &error));
    ses_session *session = must_get(fixture->store, &key);

    int stored = (int)ses_session_event_count(session);
    ses_session_close(session);
    assert_in_range(stored, last, last + 1); /* one was perhaps stored and not reported */
    append(fixture->store, &stored);
    ses_close(fixture->store);
    fixture->store = NULL;
    assert_all_there(fixture->path, stored);
}

BEFORE_TESTS()
{

    assert_int_equal(sqlite3_initialize(), SQLITE_OK);
    over_init("seen", (sqlite3_io_methods){.xWrite = seen_write});
    assert_int_equal(sqlite3_vfs_register(&over_vfs, 1), SQLITE_OK);
}
