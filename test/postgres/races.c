/* Calls that meet others on the server: locks, deadlocks, deletions, and commits that are not waited for. */
#include <pthread.h>
#include <stdatomic.h>

#include "database.h"
#include "seslite_postgres.h"

static const ses_key key = {.app = "app", .user = "user", .session = "s"};
static const char *const with_user_state = "{\"id\":\"one\",\"actions\":{\"stateDelta\":{\"user:n\":1}}}";

/* A store of that timeout; `more` is added to the connection string. */
static ses_store *open_with(const struct database *database, int timeout_ms, const char *more)
{
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = timeout_ms};
    ses_store *store = NULL;
    ses_error error;
    char place[700];

    snprintf(place, sizeof place, "%s %s", database->place, more);
    assert_ok(ses_open_postgres(place, &options, NULL, &store, &error));
    return store;
}

/* One append on a thread of its own. */
struct appender {
    ses_store *store;
    const char *event;
    int code;
    int64_t took_us;
    ses_error error;
    atomic_bool done;
    pthread_t thread;
};

static void *append_once(void *context)
{
    struct appender *appender = context;
    const int64_t begun = support_steady_us();

    appender->code =
        ses_append_by_key(appender->store, &key, appender->event, SES_NUL, NULL, NULL, &appender->error);
    appender->took_us = support_steady_us() - begun;
    atomic_store(&appender->done, true);
    return NULL;
}

static void start_appender(struct appender *appender, ses_store *store, const char *event)
{
    *appender = (struct appender){.store = store, .event = event};
    assert_int_equal(pthread_create(&appender->thread, NULL, append_once, appender), 0);
}

/* The number of backends of ours that wait for that kind of event. */
static bool are_waiting(const struct database *database, const char *kind)
{
    char sql[200];

    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'seslite' AND '%s' IN "
             "(wait_event, wait_event_type)",
             kind);
    return database_number(database, sql) > 0;
}

static void wait_until_waiting(const struct database *database, const struct appender *appender,
                               const char *kind)
{
    for (int i = 0; i < 2000 && !atomic_load(&appender->done) && !are_waiting(database, kind); i++)
        support_pause_us(2000);
    assert_false(atomic_load(&appender->done));
}

static int64_t count_stored(ses_store *store)
{
    ses_session *session = must_get(store, &key);
    const int64_t count = ses_session_stored(session);

    ses_session_close(session);
    return count;
}

/* ----------------------------------------------------------------------------------------------- locks */

#define LOCK_SESSION "SELECT 1 FROM seslite.sessions WHERE name = 's' FOR UPDATE"
#define LOCK_USER "SELECT 1 FROM seslite.users WHERE name = 'user' FOR UPDATE"

/* An append that has reported a timeout is not stored when the lock becomes free. */
SERVER_TEST(an_append_that_timed_out_is_not_stored_later)
{
    static const char *const locks[] = {LOCK_SESSION, LOCK_USER};
    ses_store *store = open_with(database, 400, "");
    struct appender appender;

    for (size_t i = 0; i < 2; i++) {
        must_create(store, &key, "{\"user:n\":0}");
        database_run(database, "BEGIN");
        database_run(database, locks[i]);
        start_appender(&appender, store, with_user_state);
        assert_int_equal(pthread_join(appender.thread, NULL), 0);
        assert_true(appender.code == SES_BUSY || appender.code == SES_UNKNOWN);
        assert_in_range(appender.took_us, 340000, 1400000); /* it ends a little early, so as to know */
        database_run(database, "COMMIT");
        while (are_waiting(database, "Lock"))
            support_pause_us(2000);
        support_pause_us(50000);
        if (appender.code == SES_BUSY)
            assert_int_equal(count_stored(store), 0);
        const int code = ses_append_by_key(store, &key, with_user_state, SES_NUL, NULL, NULL, NULL);
        assert_int_equal(code,
                         appender.code == SES_UNKNOWN && code == SES_DUPLICATE ? SES_DUPLICATE : SES_OK);
        assert_int_equal(count_stored(store), 1);
        must_delete(store, &key);
    }
    ses_close(store);
}

/* The other transaction holds one row and asks for the second while the append has that and asks for the
 * first. In one of the two orders they meet. */
SERVER_TEST(a_deadlock_is_tried_again)
{
    static const char *const locks[] = {LOCK_SESSION, LOCK_USER};
    ses_store *store = open_with(database, 10000, "options='-c deadlock_timeout=300ms'");
    struct appender appender;

    must_create(store, &key, "{\"user:n\":0}");
    for (size_t i = 0; i < 2; i++) {
        database_run(database, "BEGIN");
        database_run(database, "SET LOCAL deadlock_timeout = '1min'");
        database_run(database, locks[i]);
        start_appender(&appender, store,
                       i == 0 ? "{\"id\":\"a\",\"actions\":{\"stateDelta\":{\"user:n\":1}}}"
                              : "{\"id\":\"b\",\"actions\":{\"stateDelta\":{\"user:n\":2}}}");
        wait_until_waiting(database, &appender, "Lock");
        database_run(database, locks[1 - i]);
        database_run(database, "COMMIT");
        assert_int_equal(pthread_join(appender.thread, NULL), 0);
        support_assert_code(SES_OK, appender.code, &appender.error, "append", __FILE__, __LINE__);
    }
    assert_int_equal(count_stored(store), 2);
    must_delete(store, &key);
    ses_close(store);
    /* The server counts when a connection ends, or a little later. One that is begun again can meet the other
     * once more. */
    const char *count = "SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'";
    for (int i = 0; i < 500 && database_number(database, count) == 0; i++)
        support_pause_us(10000);
    assert_true(database_number(database, count) > 0);
}

/* ------------------------------------------------------------------------------------ stricter isolation */

struct writer {
    ses_store *store;
    int number;
    int stored;
    int refused;
    int code;
    bool holds_handle;
    atomic_bool *stop;
    ses_error error;
    pthread_t thread;
};

static void join(struct writer *writers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
        support_assert_code(SES_OK, writers[i].code, &writers[i].error, "a writer", __FILE__, __LINE__);
    }
}

static void *append_some(void *context)
{
    struct writer *writer = context;

    for (int i = 0; i < 50 && writer->code == SES_OK; i++) {
        char event[120];
        snprintf(event, sizeof event, "{\"id\":\"%d-%d\",\"actions\":{\"stateDelta\":{\"user:n\":%d}}}",
                 writer->number, i, i);
        writer->code = ses_append_by_key(writer->store, &key, event, SES_NUL, NULL, NULL, &writer->error);
    }
    return NULL;
}

SERVER_TEST(the_isolation_that_is_set_elsewhere_does_not_matter)
{
    ses_store *store = open_with(database, 10000, "options='-c default_transaction_isolation=serializable'");
    struct writer writers[4];

    must_create(store, &key, NULL);
    for (int i = 0; i < 4; i++) {
        writers[i] = (struct writer){.store = store, .number = i};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, append_some, &writers[i]), 0);
    }
    join(writers, 4);
    assert_int_equal(count_stored(store), 200);
    must_delete(store, &key);
    ses_close(store);
}

/* ------------------------------------------------------------------------------------------- deletions */

enum { WRITERS = 6, LIVES = 40 };

/* With a handle: of another life of the session it must not become part. */
static void append_to_a_life(struct writer *writer)
{
    ses_session *session = NULL;
    ses_error error;
    int code = ses_get(writer->store, &key, NULL, &session, &error);

    while (code >= 0) {
        const int64_t created_us = ses_session_created_us(session);
        char event[100];
        snprintf(event, sizeof event, "{\"author\":\"%lld\",\"actions\":{\"stateDelta\":{\"user:h\":%d}}}",
                 (long long)created_us, writer->number);
        const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
        code = ses_append(session, event, SES_NUL, &anyway, NULL, &error);
        writer->stored += code == SES_OK;
    }
    writer->refused++;
    ses_session_close(session);
    if (code != SES_NOTFOUND && code != SES_STALE) {
        writer->code = code;
        writer->error = error;
    }
}

static void append_by_name(struct writer *writer)
{
    const int code = ses_append_by_key(writer->store, &key, "{\"actions\":{\"stateDelta\":{\"app:k\":1}}}",
                                       SES_NUL, NULL, NULL, &writer->error);

    writer->stored += code == SES_OK;
    writer->refused += code == SES_NOTFOUND;
    if (code != SES_OK && code != SES_NOTFOUND)
        writer->code = code;
}

static void *append_until_stopped(void *context)
{
    struct writer *writer = context;

    while (!atomic_load(writer->stop) && writer->code == SES_OK) {
        if (writer->holds_handle)
            append_to_a_life(writer);
        else
            append_by_name(writer);
    }
    return NULL;
}

/* The events of a life were written for it, and its versions begin above those of the life before. */
static void look_at_life(ses_session *session, int64_t *version)
{
    char created[24];

    snprintf(created, sizeof created, "%lld", (long long)ses_session_created_us(session));
    for (size_t i = 0; i < ses_session_event_count(session); i++) {
        const ses_event *event = ses_session_event(session, i);
        if (event->author && *event->author)
            assert_string_equal(event->author, created);
    }
    assert_true(ses_session_version(session) >= *version);
    *version = ses_session_version(session);
}

static void live(ses_store *store, int64_t *version)
{
    ses_session *session = must_open_new(store, &key, NULL);

    assert_true(ses_session_version(session) >= *version);
    ses_session_close(session);
    support_pause_us(10000);
    session = must_get(store, &key);
    look_at_life(session, version);
    ses_session_close(session);
}

SERVER_TEST(a_session_is_deleted_and_made_again_under_writers)
{
    const ses_check_options log = {.size = sizeof log, .level = SES_CHECK_LOG};
    ses_store *store = open_with(database, 10000, "");
    struct writer writers[WRITERS];
    atomic_bool stop = false;
    int64_t version = 0;
    int64_t problems = -1;

    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.store = store, .number = i, .stop = &stop, .holds_handle = i % 2 == 0};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, append_until_stopped, &writers[i]), 0);
    }
    for (int i = 0; i < LIVES; i++) {
        live(store, &version);
        if (i + 1 < LIVES)
            must_delete(store, &key);
    }
    atomic_store(&stop, true);
    must_delete(store, &key); /* ends those that hold a handle */
    join(writers, WRITERS);
    for (int i = 0; i < WRITERS; i++)
        assert_true(writers[i].stored > 0 && writers[i].refused > 0);
    assert_ok(ses_store_check(store, &log, &problems, &error));
    assert_int_equal(problems, 0);
    ses_close(store);
}

static void *delete_user_once(void *context)
{
    struct appender *deleter = context;

    deleter->code = ses_delete_user(deleter->store, "app", "user", NULL, NULL, NULL, &deleter->error);
    atomic_store(&deleter->done, true);
    return NULL;
}

static void *keep_two(void *context)
{
    const ses_expire_options two = {.size = sizeof two, .sessions_per_user = 2};
    struct appender *deleter = context;

    deleter->code = ses_store_expire(deleter->store, NULL, &two, NULL, &deleter->error);
    atomic_store(&deleter->done, true);
    return NULL;
}

/* Runs while another transaction deletes the first of three sessions, and gives the number of those that are
 * left. */
static int64_t delete_beside_another(const struct database *database, void *(*delete_some)(void *))
{
    static const ses_key others[] = {{"app", "user", "t"}, {"app", "user", "u"}};
    ses_store *store = open_with(database, 10000, "");
    struct appender deleter = {.store = store};
    int64_t sessions = -1;
    ses_error error;

    must_create(store, &key, NULL);
    must_create(store, &others[0], NULL);
    must_create(store, &others[1], NULL);
    database_run(database, "UPDATE seslite.sessions SET updated_us = 0, active_30s = 0 WHERE name = 's'");
    database_run(database, "BEGIN");
    database_run(database, "DELETE FROM seslite.sessions WHERE name = 's'");
    assert_int_equal(pthread_create(&deleter.thread, NULL, delete_some, &deleter), 0);
    wait_until_waiting(database, &deleter, "Lock");
    database_run(database, "COMMIT");
    assert_int_equal(pthread_join(deleter.thread, NULL), 0);
    support_assert_code(SES_OK, deleter.code, &deleter.error, "deleting", __FILE__, __LINE__);
    assert_ok(ses_delete_user(store, "app", "user", NULL, &sessions, NULL, &error));
    ses_close(store);
    return sessions;
}

SERVER_TEST(a_session_that_another_has_deleted_meanwhile_is_no_damage)
{
    assert_int_equal(delete_beside_another(database, delete_user_once), 0);
    assert_int_equal(delete_beside_another(database, keep_two), 2);
}

static void *delete_app_once(void *context)
{
    struct appender *deleter = context;

    deleter->code = ses_delete_app(deleter->store, "app", NULL, NULL, &deleter->error);
    atomic_store(&deleter->done, true);
    return NULL;
}

/* Two that count the sessions before either has deleted any must not both delete what is beyond. */
SERVER_TEST(expiries_at_once_keep_as_many_sessions_as_one)
{
    ses_store *store = open_with(database, 10000, "");
    int64_t sessions = -1;

    for (int i = 0; i < 200; i++) {
        struct appender deleters[3];
        for (char name[] = "a"; *name < 'g'; (*name)++)
            must_create(store, &(ses_key){"app", "user", name}, NULL);
        for (int k = 0; k < 3; k++) {
            deleters[k] = (struct appender){.store = store};
            assert_int_equal(pthread_create(&deleters[k].thread, NULL, keep_two, &deleters[k]), 0);
        }
        for (int k = 0; k < 3; k++) {
            assert_int_equal(pthread_join(deleters[k].thread, NULL), 0);
            support_assert_code(SES_OK, deleters[k].code, &deleters[k].error, "expiry", __FILE__, __LINE__);
        }
        assert_ok(ses_delete_user(store, "app", "user", NULL, &sessions, NULL, &error));
        assert_int_equal(sessions, 2);
    }
    ses_close(store);
}

SERVER_TEST(an_app_is_deleted_while_a_user_of_it_is)
{
    ses_store *store = open_with(database, 10000, "");
    struct appender deleter = {.store = store};

    must_create(store, &key, NULL);
    must_delete(store, &key);
    database_run(database, "BEGIN");
    database_run(database, "DELETE FROM seslite.users WHERE name = 'user'");
    assert_int_equal(pthread_create(&deleter.thread, NULL, delete_app_once, &deleter), 0);
    wait_until_waiting(database, &deleter, "Lock");
    database_run(database, "COMMIT");
    assert_int_equal(pthread_join(deleter.thread, NULL), 0);
    support_assert_code(SES_OK, deleter.code, &deleter.error, "ses_delete_app", __FILE__, __LINE__);
    ses_close(store);
}

/* ------------------------------------------------------------------------ commits that are not waited for */

/* Appends while no standby is there, and does that to each backend that waits for one. */
static int append_unreplicated(const struct database *database, ses_store *store, const char *interfere)
{
    struct appender appender;
    char sql[200];

    snprintf(sql, sizeof sql, "SELECT %s(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'", interfere);
    start_appender(&appender, store, with_user_state);
    while (!atomic_load(&appender.done)) {
        database_run(database, sql);
        support_pause_us(5000);
    }
    assert_int_equal(pthread_join(appender.thread, NULL), 0);
    assert_in_range(appender.took_us, 0, 2500000);
    return appender.code;
}

/* -------------------------------------------------------------------------------- set and removed at once */

struct setter {
    ses_store *store;
    int number;
    int code;
};

enum { SETTERS = 8, SETS = 60 };

/* All set and remove the same keys, by events that say what. */
static void *set_and_remove(void *context)
{
    struct setter *setter = context;

    for (int i = 0; i < SETS && setter->code == SES_OK; i++) {
        char event[300];
        char value[40] = SES_TOMBSTONE;
        if ((i * 7 + setter->number) % 3 != 0)
            snprintf(value, sizeof value, "\"%d\"", setter->number * 1000 + i);
        snprintf(event, sizeof event,
                 "{\"author\":%s,\"actions\":{\"stateDelta\":{\"k\":%s,\"user:k\":%s,\"app:k\":%s}}}", value,
                 value, value, value);
        setter->code = ses_append_by_key(setter->store, &key, event, SES_NUL, NULL, NULL, NULL);
    }
    return NULL;
}

static void assert_value(const ses_session *session, const char *name, const char *author)
{
    const char *json;
    ses_error error;
    char expected[40];

    snprintf(expected, sizeof expected, "\"%s\"", author);

    const int code = ses_state_get(session, name, &json, NULL, &error);
    assert_int_equal(code, strcmp(expected, SES_TOMBSTONE) == 0 ? SES_ABSENT : SES_OK);
    if (code == SES_OK)
        assert_string_equal(json, expected);
}

/* A removal that waits for a lock removes what is there then, not what was there when it began. */
SERVER_TEST(keys_that_are_set_and_removed_at_once_are_as_the_last_event_left_them)
{
    const ses_check_options log = {.size = sizeof log, .level = SES_CHECK_LOG};
    ses_store *stores[2] = {open_with(database, 20000, ""), open_with(database, 20000, "")};
    struct setter setters[SETTERS];
    pthread_t threads[SETTERS];
    int64_t problems = -1;

    must_create(stores[0], &key, "{\"k\":0,\"user:k\":0,\"app:k\":0}");
    for (int i = 0; i < SETTERS; i++) {
        setters[i] = (struct setter){stores[i % 2], i, SES_OK};
        assert_int_equal(pthread_create(&threads[i], NULL, set_and_remove, &setters[i]), 0);
    }
    for (int i = 0; i < SETTERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(setters[i].code, SES_OK);
    }
    ses_session *session = must_get(stores[1], &key);
    assert_int_equal(ses_session_event_count(session), SETTERS * SETS);
    const char *last = ses_session_event(session, SETTERS * SETS - 1)->author;
    assert_value(session, "k", last);
    assert_value(session, "user:k", last);
    assert_value(session, "app:k", last);
    ses_session_close(session);
    assert_ok(ses_store_check(stores[0], &log, &problems, &error));
    assert_int_equal(problems, 0);
    must_delete(stores[0], &key);
    ses_close(stores[0]);
    ses_close(stores[1]);
}

SERVER_TEST(a_commit_that_no_standby_has_is_not_acknowledged)
{
    static const char *const interferences[] = {"pg_cancel_backend", "pg_terminate_backend", "abs",
                                                "pg_cancel_backend"};
    static const char *const settings[] = {"", "", "", "options='-c client_min_messages=error'"};
    ses_appended appended;

    for (size_t i = 0; i < 4; i++) {
        ses_store *store = open_with(database, 800, settings[i]);
        must_create(store, &key, NULL);
        database_run(database, "SET synchronous_commit = local");
        database_want_standby(database, "nobody");
        assert_int_equal(append_unreplicated(database, store, interferences[i]), SES_UNKNOWN);
        /* It is there, and yet must not be called stored. BUSY: a backend that still waits has it locked. */
        const int again = append_unreplicated(database, store, interferences[i]);
        assert_true(again == SES_UNKNOWN || again == SES_BUSY);
        database_want_standby(database, "");
        assert_code(SES_DUPLICATE,
                    ses_append_by_key(store, &key, with_user_state, SES_NUL, NULL, &appended, &error));
        assert_int_equal(count_stored(store), 1);
        must_delete(store, &key);
        ses_close(store);
    }
}

/* ------------------------------------------------------------------------------- users that come and go */

struct coming {
    ses_store *store;
    int64_t until_us;
    int code;
    ses_error error;
    pthread_t thread;
};

static void *create_and_set(void *context)
{
    struct coming *coming = context;

    while (coming->code == SES_OK && support_steady_us() < coming->until_us) {
        coming->code = ses_create(coming->store, &(ses_key){"app", "passing", NULL}, NULL, 0, NULL, NULL,
                                  &coming->error);
        if (coming->code == SES_OK)
            coming->code = ses_shared_state_change(coming->store, "app", "passing", "{\"k\":1}", SES_NUL,
                                                   NULL, &coming->error);
    }
    return NULL;
}

SERVER_TEST(sessions_are_made_while_their_user_is_deleted)
{
    struct coming coming = {.store = open_with(database, 10000, ""),
                            .until_us = support_steady_us() + 400000};

    assert_int_equal(pthread_create(&coming.thread, NULL, create_and_set, &coming), 0);
    while (support_steady_us() < coming.until_us)
        assert_ok(ses_delete_user(coming.store, "app", "passing", NULL, NULL, NULL, &error));
    assert_int_equal(pthread_join(coming.thread, NULL), 0);
    support_assert_code(SES_OK, coming.code, &coming.error, "create", __FILE__, __LINE__);
    ses_close(coming.store);
}

/* ----------------------------------------------------------------------------------------- large reads */

struct background_writer {
    ses_store *store;
    atomic_bool stops;
    int64_t written;
    pthread_t thread;
};

static void *write_beside_reads(void *context)
{
    struct background_writer *writer = context;
    ses_error error;

    while (!atomic_load(&writer->stops)) {
        assert_ok(ses_append_by_key(writer->store, &key, "{}", 2, NULL, NULL, &error));
        writer->written++;
    }
    return NULL;
}

/* A read that needs more than one page of events goes on in another transaction only while the session stays
 * as it is. It must still end. */
SERVER_TEST(much_is_read_while_another_writes)
{
    enum { EVENTS = 5000, BATCH = 500, READS = 10 };
    struct background_writer writer = {.store = open_with(database, 10000, "")};
    ses_store *store = open_with(database, 2000, "");
    ses_text events[BATCH];

    for (int i = 0; i < BATCH; i++)
        events[i] = (ses_text){"{}", 2};
    must_delete(store, &key);
    must_create(store, &key, NULL);
    for (int i = 0; i < EVENTS / BATCH; i++)
        assert_ok(ses_append_batch_by_key(store, &key, events, BATCH, NULL, NULL, &error));
    assert_int_equal(pthread_create(&writer.thread, NULL, write_beside_reads, &writer), 0);
    for (int i = 0; i < READS; i++) {
        ses_session *session = must_get(store, &key);
        assert_true(ses_session_event_count(session) >= EVENTS);
        assert_int_equal(ses_session_event_count(session), ses_session_last_seq(session));
        ses_session_close(session);
    }
    atomic_store(&writer.stops, true);
    assert_int_equal(pthread_join(writer.thread, NULL), 0);
    assert_true(writer.written > READS);
    ses_close(writer.store);
    ses_close(store);
}
