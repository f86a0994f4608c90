/* A call that sends everything at once reports as stored exactly what the server has stored. */
#include <pthread.h>

#include "database.h"
#include "seslite_postgres.h"

static const ses_key first = {.app = "app", .user = "user", .session = "first"};
static const ses_key second = {.app = "app", .user = "user", .session = "second"};

struct creation {
    ses_store *store;
    ses_session *session;
    pthread_t thread;
};

static void *create_second(void *context)
{
    struct creation *creation = context;
    creation->session = must_open_new(creation->store, &second, NULL);
    return NULL;
}

static void wait_for_a_lock(const struct database *database)
{
    bool waits = false;

    while (!waits) {
        PGresult *result = database_ask(database, "SELECT 1 FROM pg_locks WHERE NOT granted");
        waits = PQntuples(result) > 0;
        PQclear(result);
        support_pause_us(5000);
    }
}

/* A session of another user in the shard is deleted just before the new one begins. */
SERVER_TEST(a_session_has_the_version_that_it_began_with)
{
    struct creation creation;
    char place[600];

    database_fresh(database, "floor", "", place);
    assert_ok(ses_open_postgres(place, NULL, NULL, &creation.store, &error));
    must_create(creation.store, &first, NULL);
    PGconn *conn = PQconnectdb(place);
    PQclear(database_take(conn, PQexec(conn, "BEGIN; LOCK TABLE seslite.sessions IN SHARE MODE"), "LOCK"));
    assert_int_equal(pthread_create(&creation.thread, NULL, create_second, &creation), 0);
    wait_for_a_lock(database);
    PQclear(database_take(
        conn, PQexec(conn, "INSERT INTO seslite.version_floor SELECT shard, 100 FROM seslite.users; COMMIT"),
        "INSERT"));
    assert_int_equal(pthread_join(creation.thread, NULL), 0);
    assert_int_equal(ses_session_version(creation.session), 100);
    must_append(creation.session, "{}");
    ses_session_close(creation.session);
    ses_close(creation.store);
    PQfinish(conn);
}

/* A store that has not met the session before looks for it by its name first. */
SERVER_TEST(an_append_that_waited_in_vain_is_not_stored_later)
{
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = 300};
    ses_store *store = NULL;
    char place[600];

    database_fresh(database, "waiting", "", place);
    assert_ok(ses_open_postgres(place, NULL, NULL, &store, &error));
    must_create(store, &first, NULL);
    ses_close(store);
    PGconn *conn = PQconnectdb(place);
    PQclear(database_take(conn, PQexec(conn, "BEGIN; SELECT 1 FROM seslite.sessions FOR UPDATE"), "LOCK"));
    assert_ok(ses_open_postgres(place, &options, NULL, &store, &error));
    const int code = ses_append_by_key(store, &first, "{}", SES_NUL, NULL, NULL, &error);
    assert_true(code == SES_BUSY || code == SES_UNKNOWN);
    support_pause_us(100000);
    PQfinish(conn);
    support_pause_us(100000);
    ses_session *session = must_get(store, &first);
    assert_int_equal(ses_session_stored(session), 0);
    ses_session_close(session);
    ses_close(store);
}
