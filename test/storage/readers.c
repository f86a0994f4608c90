/* Readers: each sees one moment, and readers and writers never block each other; interrupting them, closing
 * the store. */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <time.h>

#include "support.h"

static const ses_key key = {"app", "user", "one"};

struct background {
    ses_store *store;
    atomic_bool stop;
    atomic_int failures;
    atomic_int done;
    pthread_t thread;
};

/* Writes the same number under an app, a user and a session key, in each event. */
static void *write_numbers(void *context)
{
    struct background *own = context;
    for (int n = 1; !atomic_load(&own->stop); n++) {
        char event[200];
        snprintf(event, sizeof event, "{\"actions\":{\"stateDelta\":{\"app:n\":%d,\"user:n\":%d,\"n\":%d}}}",
                 n, n, n);
        if (ses_append_by_key(own->store, &key, event, SES_NUL, NULL, NULL, NULL) != SES_OK)
            atomic_fetch_add(&own->failures, 1);
        atomic_store(&own->done, n);
    }
    return NULL;
}

static void begin(struct background *own, ses_store *store, void *(*work)(void *))
{
    own->store = store;
    atomic_init(&own->stop, false);
    atomic_init(&own->failures, 0);
    atomic_init(&own->done, 0);
    assert_int_equal(pthread_create(&own->thread, NULL, work, own), 0);
}

static void end(struct background *own)
{
    atomic_store(&own->stop, true);
    assert_int_equal(pthread_join(own->thread, NULL), 0);
    assert_int_equal(atomic_load(&own->failures), 0);
}

static void assert_one_moment(const ses_session *session)
{
    int64_t app = 0;
    int64_t user = 0;
    int64_t own = 0;
    ses_error error;

    if (ses_session_version(session) > 0) {
        assert_ok(ses_state_get_int64(session, "app:n", &app, &error));
        assert_ok(ses_state_get_int64(session, "user:n", &user, &error));
        assert_ok(ses_state_get_int64(session, "n", &own, &error));
    }
    assert_int_equal(app, user);
    assert_int_equal(app, own);
    assert_int_equal(app, ses_session_version(session));
}

/* On a busy machine a thread may wait long for its turn, but not for a minute. */
static bool lacks_turns(struct background *background, int turns, int64_t begun_us)
{
    return atomic_load(&background->done) < turns && support_steady_us() < begun_us + 60000000;
}

static void *read_all_the_time(void *context)
{
    struct background *own = context;
    while (!atomic_load(&own->stop)) {
        ses_cursor *cursor = NULL;
        const ses_event *event = NULL;
        int64_t last = 0;
        if (ses_cursor_open(own->store, &key, NULL, &cursor, NULL) != SES_OK)
            atomic_fetch_add(&own->failures, 1);
        while (ses_cursor_next(cursor, &event, NULL) == SES_ROW) {
            if (event->seq != last + 1)
                atomic_fetch_add(&own->failures, 1);
            last = event->seq;
        }
        if (ses_cursor_close(cursor, NULL) != SES_OK || last != 500)
            atomic_fetch_add(&own->failures, 1);
        atomic_fetch_add(&own->done, 1);
    }
    return NULL;
}

static void fill(ses_store *store, int events)
{
    enum { BATCH = 100 };
    ses_text batch[BATCH];
    ses_error error;

    for (int i = 0; i < BATCH; i++)
        batch[i] = (ses_text){
            "{\"author\":\"a\",\"text\":\"some words, so that there is something to read\"}", SES_NUL};
    for (int done = 0; done < events; done += BATCH)
        assert_ok(ses_append_batch_by_key(store, &key, batch, BATCH, NULL, NULL, &error));
}

static void *get_until_interrupted(void *context)
{
    struct background *own = context;
    for (int i = 0; i < 10000 && !atomic_load(&own->stop); i++) {
        ses_session *session = NULL;
        ses_error error;
        int code = ses_get(own->store, &key, NULL, &session, &error);
        if (code == SES_INTERRUPTED && !session && error.message[0])
            atomic_fetch_add(&own->done, 1);
        else if (code != SES_OK)
            atomic_fetch_add(&own->failures, 1);
        ses_session_close(session);
    }
    return NULL;
}

static void interrupt_gets(struct fixture *fixture)
{
    struct background reader;
    ses_error error;

    must_create(fixture->store, &key, NULL);
    fill(fixture->store, 20000);
    begin(&reader, fixture->store, get_until_interrupted);
    const int64_t begun = support_steady_us();
    while (lacks_turns(&reader, 3, begun)) {
        const struct timespec pause = {0, 2000000};
        nanosleep(&pause, NULL);
        assert_ok(ses_store_interrupt(fixture->store, &error));
    }
    end(&reader);
    assert_true(atomic_load(&reader.done) >= 3);
    ses_session *session = must_get(fixture->store, &key); /* nothing lingers */
    assert_int_equal(ses_session_event_count(session), 20000);
    ses_session_close(session);
}

static void *use_until_closed(void *context)
{
    struct background *own = context;
    int code = SES_OK;
    while (code == SES_OK) {
        ses_session *session = NULL;
        code = ses_get(own->store, &key, NULL, &session, NULL);
        if (code == SES_OK)
            code = ses_append_by_key(own->store, &key, "{}", SES_NUL, NULL, NULL, NULL);
        ses_session_close(session);
        atomic_fetch_add(&own->done, 1);
    }
    if (code != SES_MISUSE)
        atomic_fetch_add(&own->failures, 1);
    return NULL;
}

/* A program may let its connections share a cache, in which readers wait for writers. The store's do not. */
TEST(a_program_whose_connections_share_a_cache)
{
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = -1};
    ses_store *store = NULL;
    sqlite3 *writer = NULL;
    ses_session *session = NULL;

    support_need_file();
    must_create(fixture->store, &key, NULL);
    assert_int_equal(sqlite3_enable_shared_cache(1), SQLITE_OK);
    assert_int_equal(sqlite3_open(fixture->path, &writer), SQLITE_OK);
    assert_ok(ses_open(fixture->path, &options, &store, &error));
    assert_int_equal(sqlite3_exec(writer, "BEGIN; UPDATE sessions SET version = 7", NULL, NULL, NULL),
                     SQLITE_OK);
    int code = ses_get(store, &key, NULL, &session, &error);
    assert_int_equal(sqlite3_enable_shared_cache(0), SQLITE_OK);
    assert_code(SES_OK, code);
    assert_int_equal(ses_session_version(session), 0);
    ses_session_close(session);
    sqlite3_close(writer);
    ses_close(store);
}

TEST(a_get_never_shows_half_an_append)
{
    struct background writer;
    const int64_t until = support_steady_us() + 1500000;

    must_create(fixture->store, &key, NULL);
    ses_session *kept = must_get(fixture->store, &key);
    begin(&writer, fixture->store, write_numbers);
    while (support_steady_us() < until || lacks_turns(&writer, 11, until)) {
        const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = 3};
        ses_session *session = NULL;
        ses_page *page = NULL;

        assert_ok(ses_get(fixture->store, &key, GET_RANGE(&newest), &session, &error));
        assert_one_moment(session);
        size_t count = ses_session_event_count(session);
        if (count > 0)
            assert_int_equal(ses_session_event(session, count - 1)->seq, ses_session_version(session));
        ses_session_close(session);
        assert_ok(ses_list(fixture->store, "app", NULL, NULL, &page, &error));
        assert_one_moment(ses_page_session(page, 0));
        ses_page_close(page);
        must_refresh(kept);
        assert_one_moment(kept);
        assert_int_equal(ses_session_event_count(kept), ses_session_version(kept));
    }
    end(&writer);
    assert_true(atomic_load(&writer.done) > 10);
}

TEST(a_reader_does_not_wait_for_a_writer)
{
    sqlite3 *other = NULL;

    must_create(fixture->store, &key, Q("{'k':1}"));
    assert_int_equal(sqlite3_open(fixture->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE; DELETE FROM session_state", NULL, NULL, NULL),
                     SQLITE_OK);
    int64_t start = support_steady_us() / 1000;
    ses_session *session = must_get(fixture->store, &key);
    assert_string_equal(support_state(session, NULL), Q("{'k':1}"));
    assert_true(support_steady_us() / 1000 - start < 8000); /* below the timeout of ten seconds */
    ses_session_close(session);
    sqlite3_close(other);
}

/* Four threads share one reading connection, and then have one each. */
TEST(readers_share_connections)
{
    static const unsigned limits[] = {1, 64};

    must_create(fixture->store, &key, NULL);
    fill(fixture->store, 500);
    for (size_t i = 0; i < 2; i++) {
        struct background readers[4];
        ses_stats stats = {.size = sizeof stats};

        fixture->options.max_readers = limits[i];
        fixture_reopen(fixture);
        for (int r = 0; r < 4; r++)
            begin(&readers[r], fixture->store, read_all_the_time);
        while (atomic_load(&readers[0].done) < 20)
            ;
        for (int r = 0; r < 4; r++)
            end(&readers[r]);
        assert_ok(ses_store_stats(fixture->store, &stats, &error));
        assert_true(stats.readers_open >= 1 && stats.readers_open <= (limits[i] == 1 ? 1 : 4));
        assert_int_equal(stats.readers_in_use, 0);
        assert_true(stats.read_calls > 100);
        assert_true(stats.sqlite.cache_hits > 0);
    }
}

/* Every connection parses the schema, so that one more costs a short program as much as opening the store. */
TEST(a_store_that_is_only_read_has_one_connection)
{
    ses_stats stats = {.size = sizeof stats};

    must_create(fixture->store, &key, NULL);
    fixture->options.flags = SES_OPEN_READ_ONLY;
    fixture_reopen(fixture);
    for (int reads = 0; reads < 3; reads++) {
        assert_ok(ses_store_stats(fixture->store, &stats, &error));
        assert_int_equal(stats.readers_open, 1);
        assert_int_equal(stats.readers_in_use, 0);
        assert_int_equal(stats.read_calls, reads);
        ses_session_close(must_get(fixture->store, &key));
    }
    assert_ok(ses_store_interrupt(fixture->store, &error));
    assert_code(SES_READONLY, ses_delete(fixture->store, &key, NULL, NULL, &error));
}

TEST(an_open_cursor_holds_nobody_up)
{
    ses_cursor *cursor = NULL;
    const ses_event *event = NULL;

    fixture->options.max_readers = 1;
    fixture_reopen(fixture);
    must_create(fixture->store, &key, NULL);
    fill(fixture->store, 200);
    assert_ok(ses_cursor_open(fixture->store, &key, NULL, &cursor, &error));
    assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
    ses_session *session = must_get(fixture->store, &key); /* with the only connection */
    must_append(session, "{}");
    ses_session_close(session);
    assert_ok(ses_cursor_close(cursor, &error));
}

TEST(reads_are_interrupted)
{
    interrupt_gets(fixture);
}

MEMORY_TEST(reads_in_memory_are_interrupted)
{
    interrupt_gets(fixture);
}

TEST(close_waits_for_calls_under_way)
{
    ses_session *keeps_memory = NULL; /* a handle keeps what the threads look at, when the store is closed */
    struct background users[4];

    keeps_memory = must_open_new(fixture->store, &key, NULL);
    for (int i = 0; i < 4; i++)
        begin(&users[i], fixture->store, use_until_closed);
    while (atomic_load(&users[0].done) < 10)
        ;
    ses_close(fixture->store);
    for (int i = 0; i < 4; i++)
        end(&users[i]);
    assert_code(SES_MISUSE, ses_refresh(keeps_memory, NULL, &error));
    ses_session_close(keeps_memory);
    fixture->store = NULL;
    assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
}
