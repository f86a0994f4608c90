/* Rows that no library has written or deleted: what is reported, and that nothing is stored. */
#include <time.h>

#include "database.h"
#include "seslite_postgres.h"

static const ses_key key = {"app", "user", "s"};

struct place {
    ses_store *store;
    PGconn *conn;
};

static struct place make_place(const struct database *database, const char *name)
{
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = 20000};
    struct place place = {.store = NULL};
    ses_error error;
    char address[600];

    database_fresh(database, name, "", address);
    assert_ok(ses_open_postgres(address, &options, NULL, &place.store, &error));
    place.conn = PQconnectdb(address);
    assert_int_equal(PQstatus(place.conn), CONNECTION_OK);
    return place;
}

static void close_place(struct place *place)
{
    ses_close(place->store);
    PQfinish(place->conn);
}

static void run(const struct place *place, const char *sql)
{
    PQclear(database_take(place->conn, PQexec(place->conn, sql), sql));
}

static int64_t count_rows(const struct place *place)
{
    static const char sql[] =
        "SELECT (SELECT count(*) FROM seslite.events) + (SELECT count(*) FROM seslite.user_state) +"
        " (SELECT count(*) FROM seslite.app_state) + (SELECT sum(version) FROM seslite.sessions)";
    PGresult *result = database_take(place->conn, PQexec(place->conn, sql), sql);
    const int64_t count = strtoll(PQgetvalue(result, 0, 0), NULL, 10);

    PQclear(result);
    return count;
}

static void assert_corrupt(int code, const ses_error *error, const char *word)
{
    if (code != SES_CORRUPT || !strstr(error->message, word))
        fail_msg("%d: %s", code, code < 0 ? error->message : "");
}

/* One event and two, which are sent as a whole. */
static void refuse_appends(const struct place *place, ses_session *session, const char *event,
                           const char *word)
{
    const ses_text events[] = {{event, strlen(event)}, {event, strlen(event)}};
    const int64_t rows = count_rows(place);
    const time_t begun = time(NULL);
    ses_error error;

    assert_corrupt(ses_append(session, event, SES_NUL, NULL, NULL, &error), &error, word);
    assert_corrupt(ses_append_batch(session, events, 2, NULL, NULL, &error), &error, word);
    assert_in_range(time(NULL) - begun, 0, 10); /* and not after the time of the calls */
    assert_int_equal(count_rows(place), rows);
}

static void test_a_shared_key_without_an_owner_is_not_stored(void **state)
{
    struct place place = make_place(*state, "owners");
    ses_error error;

    must_create(place.store, &key, NULL);
    ses_session *session = must_get(place.store, &key);
    run(&place, "DELETE FROM seslite.users");
    refuse_appends(&place, session, "{\"actions\":{\"stateDelta\":{\"user:k\":1}}}", "row of its user");
    refuse_appends(&place, session, "{\"actions\":{\"stateDelta\":{\"app:k\":1,\"user:k\":1}}}",
                   "row of its user");
    assert_ok(ses_append(session, "{\"actions\":{\"stateDelta\":{\"k\":1,\"app:k\":1}}}", SES_NUL, NULL, NULL,
                         &error));
    run(&place, "DELETE FROM seslite.apps");
    refuse_appends(&place, session, "{\"actions\":{\"stateDelta\":{\"app:k\":2}}}", "row of its app");
    ses_session_close(session);
    close_place(&place);
}

static void test_a_number_out_of_range_is_damage(void **state)
{
    struct place place = make_place(*state, "numbers");

    must_create(place.store, &key, NULL);
    ses_session *session = must_get(place.store, &key);
    run(&place, "CREATE FUNCTION public.overflow() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN NEW.changed_us := NEW.changed_us + 9223372036854775807; RETURN NEW; END $$;"
                "CREATE TRIGGER overflow BEFORE UPDATE ON seslite.sessions "
                "FOR EACH ROW EXECUTE FUNCTION public.overflow()");
    refuse_appends(&place, session, "{}", "out of range");
    ses_session_close(session);
    close_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_shared_key_without_an_owner_is_not_stored),
        cmocka_unit_test(test_a_number_out_of_range_is_damage),
    };
    return cmocka_run_group_tests_name("PostgreSQL: damage", tests, database_setup, database_teardown);
}
