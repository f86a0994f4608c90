/*
 * Rows that no library has written or deleted: what is reported, and that nothing is stored. OVERFLOW is a
 * trigger that adds too much to `changed_us` of a session that is written.
 */
#include <time.h>

static const ses_key key = {"app", "user", "s"};

#define REMOVED "\"__ADK_SENTINEL_REMOVED__\""

static int64_t count_rows(const struct place *place)
{
    return database_number(&place->at,
                           "SELECT (SELECT count(*) FROM " TABLE "events) + (SELECT count(*) FROM " TABLE
                           "user_state) + (SELECT count(*) FROM " TABLE
                           "app_state) + (SELECT sum(version) FROM " TABLE "sessions)");
}

static void assert_corrupt(int code, const ses_error *error, const char *word)
{
    if (code != SES_CORRUPT || !strstr(error->message, word))
        fail_msg("%d: %s", code, code < 0 ? error->message : "");
}

/* One event and two: either may be sent as a whole, or be a job. */
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

SERVER_TEST(a_shared_key_without_an_owner_is_not_stored)
{
    struct place place;

    place_make(&place, database, "owners");
    ses_store *store = place_store(&place);
    ses_session *session = must_open_new(store, &key, NULL);
    place_run(&place, "DELETE FROM " TABLE "users");
    refuse_appends(&place, session, "{\"actions\":{\"stateDelta\":{\"user:k\":1}}}", "row of its user");
    refuse_appends(&place, session, "{\"actions\":{\"stateDelta\":{\"app:k\":1,\"user:k\":1}}}",
                   "row of its user");
    refuse_appends(&place, session, "{\"actions\":{\"stateDelta\":{\"user:a\":" REMOVED ",\"user:k\":1}}}",
                   "row of its user");
    must_append(session, "{\"actions\":{\"stateDelta\":{\"k\":1,\"app:k\":1}}}");
    place_run(&place, "DELETE FROM " TABLE "apps");
    refuse_appends(&place, session, "{\"actions\":{\"stateDelta\":{\"app:k\":2}}}", "row of its app");
    ses_close(store);
    place_end(&place);
}

/* It makes the rows of its app and its user, if they are not there. */
SERVER_TEST(a_new_session_has_owners)
{
    const ses_key other = {"app", "user", "other"};
    struct place place;

    place_make(&place, database, "new_owners");
    ses_store *store = place_store(&place);
    must_create(store, &key, "{\"user:k\":1,\"app:k\":1}");
    place_run(&place, "DELETE FROM " TABLE "users");
    place_run(&place, "DELETE FROM " TABLE "apps");
    assert_string_equal(support_state(must_open_new(store, &other, "{\"user:k\":2,\"app:k\":2}"), NULL),
                        "{\"app:k\":2,\"user:k\":2}");
    ses_close(store);
    place_end(&place);
}

/* Behind the first statement of an append, which tells a job to look by such a number. */
SERVER_TEST(a_number_out_of_range_is_damage)
{
    struct place place;

    place_make(&place, database, "numbers");
    ses_store *store = place_store(&place);
    ses_session *session = must_open_new(store, &key, NULL);
    place_run(&place, OVERFLOW);
    refuse_appends(&place, session, "{}", "out of range");
    ses_close(store);
    place_end(&place);
}
