/* Walks that ask the server for a page of rows at a time: they go on where a page ends, and miss nothing. */
#include "database.h"
#include "seslite_postgres.h"

/* More than a first page and a second one hold; MARKED events have as many rewinds among them. */
enum { SESSIONS = 2500, MARKED = 4800 };

static const ses_key first_key = {.app = "app", .user = "user", .session = "s00001"};
static const ses_key user_key = {.app = "app", .user = "user", .session = NULL};

/*
 * Three seconds apart, so that 30 seconds have 10: all have one label, every fifth another, and those from 1
 * to 300 and from 1001 to 1600 a third. Each has an event; the first has MARKED, and every fourth is a rewind
 * of the one before it.
 */
static const char filling[] =
    "INSERT INTO seslite.sessions SELECT shard, ((id >> 12) + n << 12) + shard, app_id, id,"
    " 's' || lpad(n::text, 5, '0'), n * 3000000, n * 3000000, n / 10, 1, 1, 1, NULL, 0, 4, n * 3000000"
    " FROM seslite.users, generate_series(1::bigint, 2500) AS n;"
    "UPDATE seslite.sessions SET version = 4800, last_seq = 4800, event_count = 4800 WHERE name = 's00001';"
    "INSERT INTO seslite.events SELECT shard, id, n, 'e' || n, 'i', 'user', NULL, 1, updated_us,"
    " '{\"id\":\"e' || n || '\",\"invocationId\":\"i\",\"author\":\"user\"}'"
    " FROM seslite.sessions, generate_series(1, 4800) AS n WHERE n <= last_seq;"
    "INSERT INTO seslite.event_marks SELECT shard, id, n, 1, n - 1"
    " FROM seslite.sessions, generate_series(4, 4800, 4) AS n WHERE name = 's00001';"
    "INSERT INTO seslite.session_labels SELECT shard, id, 'all', '', app_id FROM seslite.sessions;"
    "INSERT INTO seslite.session_labels SELECT shard, id, 'fifth', '', app_id FROM seslite.sessions"
    " WHERE right(name, 5)::int % 5 = 0;"
    "INSERT INTO seslite.session_labels SELECT shard, id, 'parts', '', app_id FROM seslite.sessions"
    " WHERE right(name, 5)::int <= 300 OR right(name, 5)::int BETWEEN 1001 AND 1600";

static bool has_all(int number)
{
    return number >= 1 && number <= SESSIONS;
}

static bool is_fifth(int number)
{
    return number % 5 == 0;
}

static bool is_in_parts(int number)
{
    return number <= 300 || (number > 1000 && number <= 1600);
}

static ses_store *open_filled(const struct database *database, const char *name)
{
    const ses_key key = {.app = "app", .user = "user", .session = "removed"};
    char place[600];
    ses_store *store;
    ses_error error;

    assert_ok(ses_open_postgres(database_fresh(database, name, "", place), NULL, NULL, &store, &error));
    assert_ok(ses_create(store, &key, NULL, 0, NULL, NULL, &error));
    database_run_in(place, "DELETE FROM seslite.sessions");
    database_run_in(place, filling);
    return store;
}

static int number_of(const char *name)
{
    return (int)strtol(name + 1, NULL, 10);
}

/* The pages of the list have those sessions, in its order. */
static void check_list(ses_store *store, int order, const char *label, bool (*has)(int number))
{
    const ses_filter filter = {.size = sizeof filter, .label = label};
    ses_list_options options = {
        .size = sizeof options, .order = order, .limit = 700, .flags = SES_LIST_NO_STATE, .filter = &filter};
    const int step = order == SES_ORDER_NEWEST ? -1 : 1;
    int expected = order == SES_ORDER_NEWEST ? SESSIONS + 1 : 0;
    ses_page *page = NULL;
    ses_error error;

    do {
        ses_page *next;
        options.token = page ? ses_page_token(page) : NULL;
        assert_ok(ses_list(store, "app", NULL, &options, &next, &error));
        ses_page_close(page);
        page = next;
        for (size_t i = 0; i < ses_page_count(page); i++) {
            do
                expected += step;
            while (!has(expected) && has_all(expected));
            assert_int_equal(number_of(ses_session_id(ses_page_session(page, i))), expected);
        }
    } while (ses_page_token(page));
    ses_page_close(page);
    do
        expected += step;
    while (!has(expected) && has_all(expected));
    assert_false(has_all(expected));
}

SERVER_TEST(lists_by_label_have_all)
{
    ses_store *store = open_filled(database, "lists");

    for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CREATED; order++) {
        check_list(store, order, "all", has_all);
        check_list(store, order, "fifth", is_fifth);
        check_list(store, order, "parts", is_in_parts);
    }
    ses_close(store);
}

SERVER_TEST(a_follower_of_a_user_gets_all_sessions)
{
    ses_store *store = open_filled(database, "follower");
    ses_follower *follower;
    const ses_event *event;
    int got[SESSIONS + 1] = {0};

    assert_ok(ses_follower_open(store, &user_key, NULL, &follower, &error));
    while (ses_follower_next(follower, 0, &event, &error) == SES_ROW) {
        const int number = number_of(ses_follower_session(follower));
        assert_true(has_all(number));
        assert_int_equal(event->seq, ++got[number]);
    }
    assert_int_equal(got[1], MARKED);
    for (int number = 2; number <= SESSIONS; number++)
        assert_int_equal(got[number], 1);
    ses_follower_close(follower);
    ses_close(store);
}

SERVER_TEST(all_rewinds_count)
{
    const ses_range live = {.size = sizeof live, .which = SES_RANGE_LIVE};
    const ses_get_options options = {.size = sizeof options, .range = &live};
    ses_store *store = open_filled(database, "rewinds");
    ses_session *session;

    assert_ok(ses_get(store, &first_key, &options, &session, &error));
    assert_int_equal(ses_session_event_count(session), MARKED / 2);
    for (int i = 0; i < MARKED / 2; i++)
        assert_int_equal(ses_session_event(session, (size_t)i)->seq, i / 2 * 4 + i % 2 + 1);
    ses_session_close(session);
    ses_close(store);
}
