/* Calls that ran out of time: the server cancels their work, and their connections count until it has, but
 * not for ever. */
#include <sys/wait.h>

#include "database.h"
#include "proxy.h"
#include "seslite_postgres.h"

static const ses_key key = {.app = "app", .user = "user", .session = "s"};

/* A store with so few connections that those which a call leaves matter. */
static ses_store *open_narrow(const char *place, unsigned connections)
{
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = 300};
    const ses_postgres_options few = {.size = sizeof few, .max_connections = connections};
    ses_store *store = NULL;
    ses_error error;

    assert_ok(ses_open_postgres(place, &options, &few, &store, &error));
    return store;
}

static void wait_until_none_work(const struct database *database, int seconds)
{
    for (int i = 0; i < 100 * seconds && database_backends(database) > 0; i++)
        support_pause_us(10000);
    assert_int_equal(database_backends(database), 0);
}

static void make_session(const struct database *database)
{
    ses_store *store = open_narrow(database->place, 1);

    must_create(store, &key, NULL);
    ses_close(store);
    wait_until_none_work(database, 5);
}

static void delete_sessions(const struct database *database)
{
    database_run(database, "DELETE FROM seslite.sessions");
    database_run(database, "DELETE FROM seslite.events");
}

static int set_title(ses_store *store, ses_error *error)
{
    return ses_title_set_by_key(store, &key, "t", NULL, error);
}

static int append_any(ses_store *store, ses_error *error)
{
    return ses_append_by_key(store, &key, "{}", SES_NUL, NULL, NULL, error);
}

static int create_any(ses_store *store, ses_error *error)
{
    return ses_create(store, &(ses_key){"app", "user", NULL}, NULL, 0, NULL, NULL, error);
}

static int get_any(ses_store *store, ses_error *error)
{
    ses_session *session = NULL;
    return ses_get(store, &key, NULL, &session, error);
}

static int list_any(ses_store *store, ses_error *error)
{
    ses_page *page = NULL;
    return ses_list(store, "app", NULL, NULL, &page, error);
}

static void give_up(ses_store *store, int (*call)(ses_store *store, ses_error *error))
{
    ses_error error;
    const int code = call(store, &error);

    if (code != SES_BUSY && code != SES_UNKNOWN)
        fail_msg("%s: %s", ses_code_name(code), error.message);
}

/* At most two processes, whatever the calls had asked for, and none after a while. */
static void give_up_often(const struct database *database, int (*call)(ses_store *store, ses_error *error))
{
    ses_store *store = open_narrow(database->place, 2);

    for (int i = 0; i < 4; i++) {
        give_up(store, call);
        assert_in_range(database_backends(database), 0, 2);
    }
    ses_close(store);
    wait_until_none_work(database, 4);
}

SERVER_TEST(calls_that_are_given_up_leave_no_processes)
{
    make_session(database);
    database_run(database, "BEGIN; SELECT 1 FROM seslite.sessions WHERE name = 's' FOR UPDATE");
    give_up_often(database, set_title);
    database_run(database, "ROLLBACK");
    database_run(database, "BEGIN; LOCK TABLE seslite.sessions");
    give_up_often(database, append_any);
    give_up_often(database, get_any); /* a read sets no lock_timeout */
    give_up_often(database, list_any);
    database_run(database, "ROLLBACK");
    database_run(database, "SET synchronous_commit = local");
    database_want_standby(database, "nobody");
    give_up_often(database, create_any);
    database_want_standby(database, "");
    delete_sessions(database);
}

/* One that comes between two statements, or takes another way than the connection. */
SERVER_TEST(a_cancel_that_was_lost_is_sent_again)
{
    struct proxy *proxy = proxy_start(database->place, 0);

    assert_non_null(proxy);
    make_session(database);
    database_run(database, "SET synchronous_commit = local");
    database_want_standby(database, "nobody");
    atomic_store(&proxy->cancels, PROXY_CANCELS_ARE_LOST);
    ses_store *store = open_narrow(proxy->place, 1);
    give_up(store, append_any);
    while (atomic_load(&proxy->cancels_seen) < 2)
        support_pause_us(10000);
    assert_int_equal(database_backends(database), 1);
    atomic_store(&proxy->cancels, PROXY_CANCELS_PASS);
    wait_until_none_work(database, 4);
    ses_session_close(must_get(store, &key));
    ses_close(store);
    database_want_standby(database, "");
    proxy_stop(proxy);
    delete_sessions(database);
}

SERVER_TEST(a_program_that_ends_at_once_leaves_no_process)
{
    int status = -1;

    make_session(database);
    database_run(database, "SET synchronous_commit = local");
    database_want_standby(database, "nobody");
    const pid_t child = fork();
    if (child == 0) {
        ses_store *store = open_narrow(database->place, 1);
        const int code = append_any(store, &error);
        ses_close(store);
        _exit(code == SES_UNKNOWN ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    wait_until_none_work(database, 4);
    database_want_standby(database, "");
    delete_sessions(database);
}

/* How a proxy treats the first cancels of a store, and those after them. */
struct way_to_fail {
    ses_key key; /* of a session of its own, since it stays locked */
    int first;
    int later;
    struct proxy *proxy;
    ses_store *store;
};

/* The only connection of the store is missed ... */
static void give_up_for_good(const struct database *database, struct way_to_fail *way)
{
    ses_session *session = NULL;
    ses_error error;

    way->proxy = proxy_start(database->place, 0);
    assert_non_null(way->proxy);
    atomic_store(&way->proxy->cancels, way->first);
    way->store = open_narrow(way->proxy->place, 1);
    assert_code(SES_UNKNOWN, ses_append_by_key(way->store, &way->key, "{}", SES_NUL, NULL, NULL, &error));
    assert_code(SES_BUSY, ses_get(way->store, &way->key, NULL, &session, &error));
    assert_message("connections are still in use");
    assert_true(atomic_load(&way->proxy->cancels_seen) > 0);
    atomic_store(&way->proxy->cancels, way->later);
}

/* ... for seconds, and then there again. */
static void wait_for_connection(const struct way_to_fail *way)
{
    ses_session *session = NULL;
    ses_error error;
    int code = SES_BUSY;

    for (int i = 0; i < 24 && code == SES_BUSY; i++) /* 7 seconds */
        code = ses_get(way->store, &way->key, NULL, &session, &error);
    support_assert_code(SES_OK, code, &error, "ses_get", __FILE__, __LINE__);
    ses_session_close(session);
    ses_close(way->store);
    proxy_stop(way->proxy);
}

SERVER_TEST(cancels_that_never_work_cost_a_connection_for_seconds_only)
{
    struct way_to_fail ways[] = {
        {.key = {"app", "user", "a"}, PROXY_CANCELS_ARE_LOST, PROXY_CANCELS_ARE_LOST},
        {.key = {"app", "user", "b"}, PROXY_CANCELS_HANG, PROXY_CANCELS_HANG},
        {.key = {"app", "user", "c"}, PROXY_CANCELS_ARE_LOST, PROXY_CANCELS_HANG},
    };
    ses_store *store = open_narrow(database->place, 1);

    for (size_t i = 0; i < 3; i++)
        must_create(store, &ways[i].key, NULL);
    ses_close(store);
    database_run(database, "SET synchronous_commit = local");
    database_want_standby(database, "nobody");
    for (size_t i = 0; i < 3; i++)
        give_up_for_good(database, &ways[i]);
    for (size_t i = 0; i < 3; i++)
        wait_for_connection(&ways[i]);
    database_want_standby(database, "");
    wait_until_none_work(database, 4);
    delete_sessions(database);
}
