/* Rows that no library has written or deleted: what is reported, and that nothing is stored. */
#include "mysql/database.h"

static const ses_key key = {"app", "user", "s"};

#define REMOVED "\"__ADK_SENTINEL_REMOVED__\""

static int begin(void **state)
{
    const struct database *database = *state;

    (void)database_ask(database, "DROP DATABASE agents");
    (void)database_ask(database, "CREATE DATABASE agents");
    (void)database_ask(database, "USE agents");
    return 0;
}

static int64_t count_rows(const struct database *database)
{
    return database_number(
        database, "SELECT (SELECT count(*) FROM seslite_events) + (SELECT count(*) FROM seslite_user_state) +"
                  " (SELECT count(*) FROM seslite_app_state) + (SELECT sum(version) FROM seslite_sessions)");
}

static void assert_corrupt(int code, const ses_error *error, const char *word)
{
    if (code != SES_CORRUPT || !strstr(error->message, word))
        fail_msg("%d: %s", code, code < 0 ? error->message : "");
}

/* One event, which is sent as a whole, and two, which are a job. */
static void refuse_appends(const struct database *database, ses_session *session, const char *event,
                           const char *word)
{
    const ses_text events[] = {{event, strlen(event)}, {event, strlen(event)}};
    const int64_t rows = count_rows(database);
    const time_t begun = time(NULL);
    ses_error error;

    assert_corrupt(ses_append(session, event, SES_NUL, NULL, NULL, &error), &error, word);
    assert_corrupt(ses_append_batch(session, events, 2, NULL, NULL, &error), &error, word);
    assert_in_range(time(NULL) - begun, 0, 10); /* and not after the time of the calls */
    assert_int_equal(count_rows(database), rows);
}

static void test_a_shared_key_without_an_owner_is_not_stored(void **state)
{
    const struct database *database = *state;
    ses_store *store = database_open(database->uri, 20000);
    ses_error error;

    must_create(store, &key, NULL);
    ses_session *session = must_get(store, &key);
    (void)database_ask(database, "DELETE FROM seslite_users");
    refuse_appends(database, session, "{\"actions\":{\"stateDelta\":{\"user:k\":1}}}", "row of its user");
    refuse_appends(database, session, "{\"actions\":{\"stateDelta\":{\"app:k\":1,\"user:k\":1}}}",
                   "row of its user");
    refuse_appends(database, session, "{\"actions\":{\"stateDelta\":{\"user:a\":" REMOVED ",\"user:k\":1}}}",
                   "row of its user");
    assert_ok(ses_append(session, "{\"actions\":{\"stateDelta\":{\"k\":1,\"app:k\":1}}}", SES_NUL, NULL, NULL,
                         &error));
    (void)database_ask(database, "DELETE FROM seslite_apps");
    refuse_appends(database, session, "{\"actions\":{\"stateDelta\":{\"app:k\":2}}}", "row of its app");
    ses_session_close(session);
    ses_close(store);
}

enum { PROBLEM_BYTES = 1000 };

static int note_problem(void *context, const ses_problem *problem)
{
    snprintf(context, PROBLEM_BYTES, "%s", problem->message);
    return 0;
}

static void test_a_check_finds_a_wrong_number_of_origin(void **state)
{
    const struct database *database = *state;
    const ses_fork_options none = {.size = sizeof none};
    const ses_key fork = {"app", "user", "fork"};
    char message[PROBLEM_BYTES] = "";
    const ses_check_options options = {
        .size = sizeof options, .level = SES_CHECK_LOG, .report = note_problem, .report_context = message};
    ses_store *store = database_open(database->uri, 20000);
    int64_t problems = 0;
    ses_error error;

    must_create(store, &key, NULL);
    assert_ok(ses_fork_by_key(store, &key, NULL, &fork, &none, NULL, &error));
    assert_ok(ses_store_check(store, &options, &problems, &error));
    assert_int_equal(problems, 0);
    (void)database_ask(database, "UPDATE seslite_session_details SET origin = -origin");
    assert_ok(ses_store_check(store, &options, &problems, &error));
    assert_int_equal(problems, 2);
    assert_non_null(strstr(message, "origin is not a positive number"));
    ses_close(store);
}

/* It makes the rows of its app and its user, if they are not there. */
static void test_a_new_session_has_owners(void **state)
{
    const struct database *database = *state;
    const ses_key other = {"app", "user", "other"};
    ses_store *store = database_open(database->uri, 20000);

    must_create(store, &key, "{\"user:k\":1,\"app:k\":1}");
    (void)database_ask(database, "DELETE FROM seslite_users");
    (void)database_ask(database, "DELETE FROM seslite_apps");
    must_create(store, &other, "{\"user:k\":2,\"app:k\":2}");
    ses_session *session = must_get(store, &other);
    assert_string_equal(support_state(session, NULL), "{\"app:k\":2,\"user:k\":2}");
    ses_session_close(session);
    ses_close(store);
}

/* Behind the first statement of an append, which tells a job to look by such a number. */
static void test_a_number_out_of_range_is_damage(void **state)
{
    const struct database *database = *state;
    ses_store *store = database_open(database->uri, 20000);

    must_create(store, &key, NULL);
    ses_session *session = must_get(store, &key);
    (void)database_ask(database, "CREATE TRIGGER overflow BEFORE UPDATE ON seslite_sessions FOR EACH ROW "
                                 "SET NEW.changed_us = NEW.changed_us + 9223372036854775807");
    refuse_appends(database, session, "{}", "out of range");
    ses_session_close(session);
    ses_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_shared_key_without_an_owner_is_not_stored, begin),
        cmocka_unit_test_setup(test_a_check_finds_a_wrong_number_of_origin, begin),
        cmocka_unit_test_setup(test_a_new_session_has_owners, begin),
        cmocka_unit_test_setup(test_a_number_out_of_range_is_damage, begin),
    };
    return cmocka_run_group_tests_name("damage", tests, database_setup, database_teardown);
}
