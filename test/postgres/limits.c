/* Limits of calls on a server: what waits for a lock there, for an answer or for a connection ends in time,
 * but no commit. */
#include <pthread.h>

#include "database.h"
#include "seslite_artifact.h"
#include "seslite_postgres.h"

static const ses_key key = {.app = "app", .user = "user", .session = "s"};

/* The time of a call; what a call without one waits for; and how late a call may be on a busy machine. */
enum { SHORT_MS = 250, BUSY_MS = 8000, LATE_US = 3000000 };

static ses_store *open_store(const struct database *database, unsigned connections)
{
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = BUSY_MS};
    const ses_postgres_options few = {.size = sizeof few, .max_connections = connections};
    ses_store *store = NULL;
    ses_error error;

    assert_ok(ses_open_postgres(database->place, &options, &few, &store, &error));
    if (database_number(database, "SELECT count(*) FROM seslite.sessions") == 0)
        must_create(store, &key, NULL);
    return store;
}

/* Nearly all of it, as the server ends its waiting for a lock a little before. */
static void check_time(int64_t begun_us)
{
    const int64_t took_us = support_steady_us() - begun_us;

    assert_true(took_us >= SHORT_MS * 800 && took_us < SHORT_MS * 1000 + LATE_US);
}

SERVER_TEST(locks_of_the_server)
{
    ses_store *store = open_store(database, 2);
    const ses_call_options call = {.size = sizeof call, .timeout_ms = SHORT_MS};
    const ses_append_options append = {.size = sizeof append, .timeout_ms = SHORT_MS};

    database_run(database, "BEGIN; SELECT 1 FROM seslite.sessions WHERE name = 's' FOR UPDATE");
    int64_t begun_us = support_steady_us();
    assert_code(SES_BUSY, ses_title_set_by_key(store, &key, "title", &call, &error));
    check_time(begun_us);
    begun_us = support_steady_us();
    assert_code(SES_BUSY, ses_append_by_key(store, &key, "{}", SES_NUL, &append, NULL, &error));
    check_time(begun_us);
    database_run(database, "ROLLBACK");
    assert_ok(ses_append_by_key(store, &key, "{}", SES_NUL, &append, NULL, &error));
    ses_close(store);
}

#define assert_limited(code, call)                    \
    do {                                              \
        const int64_t begun_us = support_steady_us(); \
        assert_code(code, call);                      \
        check_time(begun_us);                         \
    } while (0)

/* The server gives up waiting, or on a busy machine the call does so before. */
#define assert_given_up(call)                                       \
    do {                                                            \
        const int64_t begun_us = support_steady_us();               \
        const int given = (call);                                   \
        assert_true(given == SES_BUSY || given == SES_INTERRUPTED); \
        check_time(begun_us);                                       \
    } while (0)

/* Another has the session, or its user: whose artifacts nobody else changes meanwhile. */
SERVER_TEST(locks_before_artifacts)
{
    static const char *const locks[] = {"BEGIN; SELECT 1 FROM seslite.sessions WHERE name = 's' FOR UPDATE",
                                        "BEGIN; SELECT 1 FROM seslite.users FOR UPDATE"};
    static char bytes[4194304 + 10];
    ses_store *store = open_store(database, 2);
    const ses_artifact_save_options save = {.size = sizeof save, .timeout_ms = SHORT_MS};
    const ses_delete_options delete = {.size = sizeof delete, .timeout_ms = SHORT_MS};
    ses_append_options append = {.size = sizeof append, .timeout_ms = SHORT_MS};

    assert_ok(ses_artifacts_open(store, &key, &append.artifacts, &error));
    assert_ok(ses_artifacts_add(append.artifacts, "b", "bytes", 5, NULL, &error));
    for (int i = 0; i < 2; i++) {
        database_run(database, locks[i]);
        assert_given_up(ses_artifact_save_by_key(store, &key, "a", "", 0, &save, NULL, &error));
        assert_given_up(ses_artifact_save_by_key(store, &key, "a", bytes, sizeof bytes, &save, NULL, &error));
        assert_given_up(ses_append_by_key(store, &key, "{}", SES_NUL, &append, NULL, &error));
        if (i == 1)
            assert_given_up(ses_artifact_delete_by_key(store, &key, "a", &delete, NULL, &error));
        database_run(database, "ROLLBACK");
    }
    assert_int_equal(database_number(database, "SELECT count(*) FROM seslite.artifacts"), 0);
    assert_int_equal(database_number(database, "SELECT count(*) FROM seslite.artifact_contents"), 0);
    assert_ok(ses_append_by_key(store, &key, "{}", SES_NUL, &append, NULL, &error));
    ses_artifacts_close(append.artifacts);
    ses_close(store);
}

SERVER_TEST(reads_of_artifacts_that_are_not_answered)
{
    ses_store *store = open_store(database, 2);
    const ses_artifact_open_options open = {.size = sizeof open, .timeout_ms = SHORT_MS};
    const ses_artifact_list_options list = {.size = sizeof list, .timeout_ms = SHORT_MS};
    ses_artifact *artifact = NULL;
    ses_artifact *none = NULL;
    ses_artifact_list *names = NULL;
    char byte;
    size_t len = 0;

    assert_ok(ses_artifact_save_by_key(store, &key, "c", "bytes", 5, NULL, NULL, &error));
    assert_ok(ses_artifact_open_by_key(store, &key, "c", &open, &artifact, &error));
    database_run(database, "BEGIN; LOCK TABLE seslite.artifacts, seslite.artifact_chunks");
    assert_limited(SES_INTERRUPTED, ses_artifact_open_by_key(store, &key, "c", &open, &none, &error));
    assert_limited(SES_INTERRUPTED, ses_artifact_read(artifact, 0, &byte, 1, &len, &error));
    assert_limited(SES_INTERRUPTED, ses_artifact_names_by_key(store, &key, &list, &names, &error));
    assert_limited(SES_INTERRUPTED, ses_artifact_versions_by_key(store, &key, "c", &list, &names, &error));
    database_run(database, "ROLLBACK");
    assert_ok(ses_artifact_read(artifact, 0, &byte, 1, &len, &error));
    assert_int_equal(len, 1);
    ses_artifact_close(artifact);
    ses_close(store);
}

SERVER_TEST(a_cancelled_call_sends_nothing)
{
    ses_store *store = open_store(database, 2);
    ses_append_options append = {.size = sizeof append};

    const long stored = database_number(database, "SELECT count(*) FROM seslite.events");
    assert_ok(ses_cancel_open(store, &append.cancel, &error));
    ses_cancel_pull(append.cancel);
    for (int i = 0; i < 20; i++)
        assert_code(SES_INTERRUPTED, ses_append_by_key(store, &key, "{}", SES_NUL, &append, NULL, &error));
    assert_int_equal(database_number(database, "SELECT count(*) FROM seslite.events"), stored);
    ses_cancel_close(append.cancel);
    ses_close(store);
}

SERVER_TEST(a_read_that_is_not_answered)
{
    ses_store *store = open_store(database, 2);
    const ses_get_options get = {.size = sizeof get, .timeout_ms = SHORT_MS};
    ses_session *session = NULL;

    database_run(database, "BEGIN; LOCK TABLE seslite.sessions");
    const int64_t begun_us = support_steady_us();
    assert_code(SES_INTERRUPTED, ses_get(store, &key, &get, &session, &error));
    assert_message("timeout_ms");
    check_time(begun_us);
    database_run(database, "ROLLBACK");
    assert_ok(ses_get(store, &key, NULL, &session, &error));
    ses_session_close(session);
    ses_close(store);
}

/* A read in a thread of its own. */
struct read {
    ses_store *store;
    ses_cancel *cancel;
    int code;
    pthread_t thread;
};

static void *run_read(void *context)
{
    struct read *read = context;
    const ses_get_options get = {.size = sizeof get, .cancel = read->cancel};
    ses_session *session = NULL;

    read->code = ses_get(read->store, &key, &get, &session, NULL);
    ses_session_close(session);
    return NULL;
}

/* The only connection waits for an answer: another call waits for the connection. Then a handle ends the
 * first. */
SERVER_TEST(a_connection_and_a_handle)
{
    ses_store *store = open_store(database, 1);
    const ses_get_options get = {.size = sizeof get, .timeout_ms = SHORT_MS};
    struct read read = {.store = store};
    ses_session *session = NULL;

    assert_ok(ses_cancel_open(store, &read.cancel, &error));
    database_run(database, "BEGIN; LOCK TABLE seslite.sessions");
    assert_int_equal(pthread_create(&read.thread, NULL, run_read, &read), 0);
    support_pause_us(100000);
    int64_t begun_us = support_steady_us();
    assert_code(SES_BUSY, ses_get(store, &key, &get, &session, &error));
    check_time(begun_us);
    begun_us = support_steady_us();
    ses_cancel_pull(read.cancel);
    assert_int_equal(pthread_join(read.thread, NULL), 0);
    assert_int_equal(read.code, SES_INTERRUPTED);
    assert_true(support_steady_us() - begun_us < LATE_US);
    database_run(database, "ROLLBACK");
    ses_close(store);
    ses_cancel_close(read.cancel);
}

/* The commit waits for a standby that does not exist: no limit of the call ends that, but the rules of the
 * store do. */
SERVER_TEST(a_commit_is_waited_for)
{
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = 4 * SHORT_MS};
    const ses_append_options append = {.size = sizeof append, .timeout_ms = SHORT_MS};
    ses_store *store = open_store(database, 2);

    ses_close(store);
    assert_ok(ses_open_postgres(database->place, &options, NULL, &store, &error));
    database_run(database, "SET synchronous_commit = local");
    database_want_standby(database, "nobody");
    const int64_t begun_us = support_steady_us();
    assert_code(SES_UNKNOWN, ses_append_by_key(store, &key, "{}", SES_NUL, &append, NULL, &error));
    assert_true(support_steady_us() - begun_us >= 4 * SHORT_MS * 900);
    database_want_standby(database, "");
    ses_close(store);
}
