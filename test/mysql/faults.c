/*
 * The server is killed, and connections are cut, while threads append. Nothing that was acknowledged is lost
 * or there twice. An append that returned UNKNOWN is stored once or not at all, and one that failed in
 * another way is not stored.
 *
 * SESLITE_MYSQL_FAULTS: so many faults, of which every fifth is a kill (20 by default; 1,000 take some
 * minutes).
 */
#include <pthread.h>

#include "mysql/database.h"
#include "random.h"

enum { THREADS = 4, MAX_EVENTS = 200000 };

/* The outcome of an append. */
enum { STORED = 1, OPEN = 2, FAILED = 3 };

static struct {
    ses_store *store;
    pthread_t threads[THREADS];
    atomic_bool stop;
    atomic_int count[THREADS];
    unsigned char outcomes[THREADS][MAX_EVENTS];
} run;

/* All write to one session, and each to one of its own. */
static void name_session(char name[16], int thread, int number)
{
    if (number % 2)
        snprintf(name, 16, "own%d", thread);
    else
        snprintf(name, 16, "common");
}

static int append_one(int thread, int number)
{
    char name[16];
    char event[200];
    ses_error error;

    name_session(name, thread, number);
    snprintf(
        event, sizeof event,
        "{\"id\":\"t%d-%d\",\"author\":\"agent\",\"actions\":{\"stateDelta\":{\"n%d\":%d,\"user:n%d\":%d}}}",
        thread, number, thread, number, thread, number);
    const int code =
        ses_append_by_key(run.store, &(ses_key){"app", "user", name}, event, SES_NUL, NULL, NULL, &error);
    if (code != SES_OK && code != SES_UNKNOWN && code != SES_IO && code != SES_CANTOPEN && code != SES_BUSY) {
        print_error("append: %d %s\n", code, error.message);
        return -1;
    }
    return code == SES_OK ? STORED : code == SES_UNKNOWN ? OPEN : FAILED;
}

static void *work(void *context)
{
    const int thread = (int)(intptr_t)context;

    for (int i = 0; i < MAX_EVENTS && !atomic_load(&run.stop); i++) {
        const int outcome = append_one(thread, i);
        if (outcome < 0)
            return (void *)1;
        run.outcomes[thread][i] = (unsigned char)outcome;
        atomic_store(&run.count[thread], i + 1);
        if (outcome != STORED)
            support_pause_us(2000);
    }
    return NULL;
}

static void start_all(const char *uri)
{
    run.store = database_open(uri, 1500);
    atomic_store(&run.stop, false);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&run.threads[i], NULL, work, (void *)(intptr_t)i), 0);
}

static void stop_all(void)
{
    void *failed;

    atomic_store(&run.stop, true);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(run.threads[i], &failed), 0);
        assert_null(failed);
    }
    ses_close(run.store);
}

/* Counts what is there of the thread's events in one session. The numbers of a thread ascend in each. */
static void count_events(ses_store *store, const char *name, unsigned char *there[THREADS])
{
    int last[THREADS] = {-1, -1, -1, -1};

    ses_session *session = must_get(store, &(ses_key){"app", "user", name});
    const size_t count = ses_session_event_count(session);
    assert_int_equal(count, ses_session_last_seq(session));
    for (size_t i = 0; i < count; i++) {
        const ses_event *event = ses_session_event(session, i);
        int thread = -1;
        int number = -1;
        assert_int_equal(event->seq, i + 1);
        assert_int_equal(sscanf(event->id, "t%d-%d", &thread, &number), 2);
        assert_in_range(thread, 0, THREADS - 1);
        assert_true(number > last[thread]);
        last[thread] = number;
        there[thread][number]++;
    }
    ses_session_close(session);
}

static void account(const char *uri)
{
    ses_store *store = database_open(uri, 20000);
    const ses_check_options whole = {.size = sizeof whole, .level = SES_CHECK_LOG};
    unsigned char *there[THREADS];
    int sums[4] = {0};
    int64_t problems = -1;
    ses_error error;
    char name[16];

    for (int i = 0; i < THREADS; i++)
        assert_non_null(there[i] = calloc(MAX_EVENTS, 1));
    count_events(store, "common", there);
    for (int i = 0; i < THREADS; i++) {
        snprintf(name, sizeof name, "own%d", i);
        count_events(store, name, there);
    }
    for (int i = 0; i < THREADS; i++) {
        for (int n = 0; n < atomic_load(&run.count[i]); n++) {
            const int outcome = run.outcomes[i][n];
            const int most = outcome == FAILED ? 0 : 1;
            const int least = outcome == STORED ? 1 : 0;
            if (there[i][n] < least || there[i][n] > most)
                fail_msg("t%d-%d: outcome %d, and it is there %d times", i, n, outcome, there[i][n]);
            sums[outcome]++;
        }
        free(there[i]);
    }
    assert_ok(ses_store_check(store, &whole, &problems, &error));
    assert_int_equal(problems, 0);
    ses_close(store);
    print_message("stored: %d, unknown: %d, failed: %d\n", sums[STORED], sums[OPEN], sums[FAILED]);
    assert_true(sums[STORED] > 0);
}

static int faults_wanted(void)
{
    const char *given = getenv("SESLITE_MYSQL_FAULTS");
    return given ? atoi(given) : 20;
}

static void make_sessions(const char *uri)
{
    ses_store *store = database_open(uri, 20000);
    char name[16];

    must_create(store, &(ses_key){"app", "user", "common"}, NULL);
    for (int i = 0; i < THREADS; i++) {
        snprintf(name, sizeof name, "own%d", i);
        must_create(store, &(ses_key){"app", "user", name}, NULL);
    }
    ses_close(store);
}

static int fresh_database(void **state)
{
    struct database *database = *state;

    (void)database_ask(database, "DROP DATABASE agents");
    (void)database_ask(database, "CREATE DATABASE agents");
    memset(run.outcomes, 0, sizeof run.outcomes);
    make_sessions(database->uri);
    return 0;
}

TEST_WITH(struct database *database, fresh_database, NULL, kills_of_the_server)
{
    const int kills = (faults_wanted() + 4) / 5;
    uint64_t seed = 1;
    char line[512];

    start_all(database->uri);
    for (int i = 0; i < kills; i++) {
        support_pause_us(20000 + (long)random_below(&seed, 200000));
        assert_int_equal(database_shell(line, sizeof line, "sh test/mysql/server.sh kill", database->folder),
                         0);
        database_start(database);
    }
    support_pause_us(100000);
    stop_all();
    mysql_close(database->conn);
    database_connect(database);
    account(database->uri);
}

/* After so many bytes in one direction the connection to which they belong is gone, for both sides. */
TEST_WITH(struct database *database, fresh_database, NULL, cuts_of_connections)
{
    struct proxy *proxy = database_proxy(database, 0);
    const int cuts = faults_wanted() - faults_wanted() / 5;
    uint64_t seed = 2;

    start_all(proxy->place);
    for (int i = 0; i < cuts; i++) {
        atomic_long *const left = i % 2 ? &proxy->up_left : &proxy->down_left;
        atomic_store(left, (long)random_below(&seed, 12000));
        for (int k = 0; k < 5000 && atomic_load(left) >= 0; k++)
            support_pause_us(1000);
        assert_true(atomic_load(left) < 0);
    }
    stop_all();
    proxy_stop(proxy);
    account(database->uri);
}

/* Writes must be whole, and a commit is on the disk, as servers have it by default. */
static int safe_setup(void **state)
{
    (void)setenv("SERVER_OPTIONS",
                 "--innodb-doublewrite=ON --innodb-flush-method=fsync --innodb-flush-log-at-trx-commit=1", 1);
    return database_setup(state);
}

TEST_GROUP(safe_setup, database_teardown)
