/* Interrupts end the reads under way, but neither calls that may write nor later calls. */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <time.h>

#include "open.h"

static const ses_key key = {"app", "user", "one"};

enum { EVENTS = 200 };

/* ---- a read that is held, and an interrupt that takes its time: see flags.mk */

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);
void __real_sqlite3_interrupt(sqlite3 *handle);
void __wrap_sqlite3_interrupt(sqlite3 *handle);

static atomic_int rows_to_hold; /* counts down; the row of events that makes it zero is held */
static atomic_bool held;
static atomic_bool let_go;
static atomic_bool slowly; /* the next interrupt lets the read go first, and waits for it to end if it will */
static atomic_bool interrupting;
static atomic_bool ended_meanwhile; /* a transaction was ended while SQLite was being interrupted */

static ses_store *interrupted_at_a_feature; /* NULL: none */
static sqlite3 *reading_features;

int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    const char *sql = sqlite3_sql(statement);

    if (strncmp(sql, "SELECT position", 15) == 0 && atomic_load(&rows_to_hold) > 0 &&
        atomic_fetch_sub(&rows_to_hold, 1) == 1) {
        atomic_store(&held, true);
        while (!atomic_load(&let_go))
            support_pause_us(200);
    }
    if ((strncmp(sql, "COMMIT", 6) == 0 || strncmp(sql, "ROLLBACK", 8) == 0) && atomic_load(&interrupting))
        atomic_store(&ended_meanwhile, true);
    const int rc = __real_sqlite3_step(statement);
    if (rc == SQLITE_ROW && interrupted_at_a_feature && strstr(sql, "FROM features")) {
        assert_int_equal(ses_store_interrupt(interrupted_at_a_feature, NULL), SES_OK);
        reading_features = sqlite3_db_handle(statement);
    }
    return rc;
}

void __wrap_sqlite3_interrupt(sqlite3 *handle)
{
    if (atomic_exchange(&slowly, false)) {
        const int64_t until = support_steady_us() + 100000;
        atomic_store(&interrupting, true);
        atomic_store(&let_go, true);
        while (!atomic_load(&ended_meanwhile) && support_steady_us() < until)
            support_pause_us(200);
        __real_sqlite3_interrupt(handle);
        atomic_store(&interrupting, false);
    } else {
        __real_sqlite3_interrupt(handle);
    }
}

int __real_sqlite3_declare_vtab(sqlite3 *handle, const char *sql);
int __wrap_sqlite3_declare_vtab(sqlite3 *handle, const char *sql);

static ses_store *interrupted_at_declaring; /* NULL: none */

int __wrap_sqlite3_declare_vtab(sqlite3 *handle, const char *sql)
{
    if (!interrupted_at_declaring)
        return __real_sqlite3_declare_vtab(handle, sql);
    assert_int_equal(ses_store_interrupt(interrupted_at_declaring, NULL), SES_OK);
    return SQLITE_ERROR; /* as SQLite does if the interrupt comes while it parses */
}

struct reader {
    ses_store *store;
    atomic_bool stop;
    atomic_int gets;
    int interrupted;
    int failed; /* otherwise */
    pthread_t thread;
};

static void get_once(struct reader *reader)
{
    ses_session *session = NULL;
    int code = ses_get(reader->store, &key, NULL, &session, NULL);

    atomic_fetch_add(&reader->gets, 1);
    reader->interrupted += code == SES_INTERRUPTED && !session;
    reader->failed += code != SES_INTERRUPTED && code != SES_OK;
    ses_session_close(session);
}

static void *run_once(void *reader)
{
    get_once(reader);
    return NULL;
}

static void *get_or_create_once(void *context)
{
    struct reader *reader = context;
    ses_session *session = NULL;
    int code = ses_get_or_create(reader->store, &key, NULL, 0, NULL, &session, NULL);

    reader->failed += code != SES_EXISTING || ses_session_event_count(session) != EVENTS;
    ses_session_close(session);
    return NULL;
}

static void *create_until_stopped(void *context)
{
    struct reader *reader = context;
    char id[32];
    const ses_key own = {"app", "user", id};

    while (!atomic_load(&reader->stop)) {
        snprintf(id, sizeof id, "made-%d", atomic_fetch_add(&reader->gets, 1));
        reader->failed += ses_get_or_create(reader->store, &own, NULL, 0, NULL, NULL, NULL) != SES_OK;
        reader->failed += ses_get_or_create(reader->store, &own, NULL, 0, NULL, NULL, NULL) != SES_EXISTING;
    }
    return NULL;
}

static void *run_until_stopped(void *context)
{
    struct reader *reader = context;
    while (!atomic_load(&reader->stop))
        get_once(reader);
    return NULL;
}

static void fill(ses_store *store)
{
    ses_text batch[EVENTS];
    ses_error error;

    for (size_t i = 0; i < EVENTS; i++)
        batch[i] = (ses_text){"{}", 2};
    must_create(store, &key, NULL);
    assert_ok(ses_append_batch_by_key(store, &key, batch, EVENTS, NULL, NULL, &error));
}

/* Later calls succeed, and no connection was left in a transaction, so the whole log can be checkpointed. */
static void assert_nothing_lingers(struct fixture *fixture)
{
    sqlite3 *other = NULL;

    must_append_by_key(fixture->store, &key, "{}");
    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_wal_checkpoint_v2(other, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    ses_session *session = must_get(fixture->store, &key);
    assert_int_equal(ses_session_event_count(session), EVENTS + 1);
    ses_session_close(session);
}

static int teardown(void **state)
{
    atomic_store(&rows_to_hold, 0);
    atomic_store(&let_go, true);
    return fixture_teardown(state);
}

#define INTERRUPT_TEST(name) TEST_WITH(struct fixture *fixture, fixture_setup, teardown, name)
#define INTERRUPT_TEST_TWICE(name) TEST_ALSO(fixture_setup_memory, teardown, name) INTERRUPT_TEST(name)

/* The read sees the interrupt before SQLite does. Its transaction ends only when SQLite has seen it too. */
INTERRUPT_TEST(an_interrupt_ends_before_what_it_meets)
{
    struct reader reader = {.store = fixture->store};
    const int64_t until = support_steady_us() + 20000000;

    fill(fixture->store);
    atomic_store(&rows_to_hold, EVENTS / 2);
    assert_int_equal(pthread_create(&reader.thread, NULL, run_once, &reader), 0);
    while (!atomic_load(&held) && support_steady_us() < until)
        support_pause_us(200);
    assert_true(atomic_load(&held));
    atomic_store(&slowly, true);
    assert_ok(ses_store_interrupt(fixture->store, &error));
    assert_int_equal(pthread_join(reader.thread, NULL), 0);
    assert_int_equal(reader.interrupted, 1);
    assert_false(atomic_load(&ended_meanwhile));
    assert_nothing_lingers(fixture);
}

/* On a busy machine the thread may wait long for its turn, but not for a minute. */
static bool lacks_its_turn(struct reader *reader, int64_t since_us)
{
    return atomic_load(&reader->gets) == 0 && support_steady_us() < since_us + 60000000;
}

INTERRUPT_TEST(interrupts_at_any_moment)
{
    struct reader reader = {.store = fixture->store};
    const int64_t until = support_steady_us() + 500000;

    fill(fixture->store);
    atomic_init(&reader.stop, false);
    assert_int_equal(pthread_create(&reader.thread, NULL, run_until_stopped, &reader), 0);
    while (support_steady_us() < until || lacks_its_turn(&reader, until))
        assert_ok(ses_store_interrupt(fixture->store, &error));
    atomic_store(&reader.stop, true);
    assert_int_equal(pthread_join(reader.thread, NULL), 0);
    assert_true(atomic_load(&reader.gets) > 0);
    assert_int_equal(reader.failed, 0);
    assert_nothing_lingers(fixture);
}

/* SQLite says of the list's virtual table only that it cannot be made. */
INTERRUPT_TEST_TWICE(an_interrupt_while_a_list_is_prepared)
{
    ses_page *page = NULL;

    must_create(fixture->store, &key, "{\"k\":1}");
    interrupted_at_declaring = fixture->store;
    assert_code(SES_INTERRUPTED, ses_list(fixture->store, "app", NULL, NULL, &page, &error));
    interrupted_at_declaring = NULL;
    assert_ok(ses_list(fixture->store, "app", NULL, NULL, &page, &error));
    ses_page_close(page);
}

/* Otherwise the reader would keep the log from being reset. */
INTERRUPT_TEST(an_interrupt_while_features_are_looked_for_leaves_no_transaction)
{
    ses_session *session = NULL;

    must_create(fixture->store, &key, NULL);
    raw_exec(fixture->path, "INSERT INTO features VALUES ('use', 1)");
    interrupted_at_a_feature = fixture->store;
    assert_code(SES_INTERRUPTED, ses_get(fixture->store, &key, NULL, &session, &error));
    interrupted_at_a_feature = NULL;
    assert_non_null(reading_features);
    assert_true(sqlite3_get_autocommit(reading_features));
    ses_session_close(must_get(fixture->store, &key));
}

/* It has not written yet when it is interrupted, but it might have had to. */
INTERRUPT_TEST_TWICE(an_interrupt_leaves_a_get_or_create)
{
    struct reader reader = {.store = fixture->store};
    const int64_t until = support_steady_us() + 20000000;

    fill(fixture->store);
    atomic_store(&held, false);
    atomic_store(&let_go, false);
    atomic_store(&rows_to_hold, EVENTS / 2);
    assert_int_equal(pthread_create(&reader.thread, NULL, get_or_create_once, &reader), 0);
    while (!atomic_load(&held) && support_steady_us() < until)
        support_pause_us(200);
    assert_true(atomic_load(&held));
    assert_ok(ses_store_interrupt(fixture->store, &error));
    atomic_store(&let_go, true);
    assert_int_equal(pthread_join(reader.thread, NULL), 0);
    assert_int_equal(reader.failed, 0);
}

INTERRUPT_TEST_TWICE(interrupts_leave_creations)
{
    struct reader reader = {.store = fixture->store};
    const int64_t until = support_steady_us() + 300000;

    atomic_init(&reader.stop, false);
    assert_int_equal(pthread_create(&reader.thread, NULL, create_until_stopped, &reader), 0);
    while (support_steady_us() < until || lacks_its_turn(&reader, until))
        assert_ok(ses_store_interrupt(fixture->store, &error));
    atomic_store(&reader.stop, true);
    assert_int_equal(pthread_join(reader.thread, NULL), 0);
    assert_true(atomic_load(&reader.gets) > 0);
    assert_int_equal(reader.failed, 0);
}
