/* How often a call waits for the server. A proxy counts how often the client sends something after an
 * answer. */
#include "mysql/database.h"
#include "seslite_draft.h"
#include "seslite_erase.h"
#include "seslite_history.h"
#include "seslite_inbox.h"

static const ses_key key = {"app", "user", "s1"};

static struct {
    struct proxy *proxy;
    ses_store *store;
} far;

static int open_far(void **state)
{
    const struct database *database = *state;

    far.proxy = database_proxy(database, 0);
    far.store = database_open(far.proxy->place, 20000);
    return 0;
}

static int close_far(void **state)
{
    (void)state;
    ses_close(far.store);
    proxy_stop(far.proxy);
    return 0;
}

/* The messages that nobody waited for have passed the proxy. */
static void begin(void)
{
    support_pause_us(20000);
    proxy_reset(far.proxy);
}

/* The end of a transaction that reads is sent with its last question, or is not waited for. */
static void assert_round_trips(unsigned long expected)
{
    support_pause_us(20000);
    assert_int_equal(proxy_turns(far.proxy), expected);
}

#define assert_trips(most, call)                                           \
    do {                                                                   \
        begin();                                                           \
        call;                                                              \
        support_pause_us(20000);                                           \
        const unsigned long trips = proxy_turns(far.proxy);                \
        if (trips > (most))                                                \
            fail_msg("%lu round trips, not %d: %s", trips, (most), #call); \
    } while (0)

#define FAR_TEST(name) TEST_WITH(struct database *database, open_far, close_far, name)

FAR_TEST(creating_takes_one)
{
    ses_session *session = NULL;

    assert_ok(
        ses_create(far.store, &key, "{\"a\":1,\"user:b\":2,\"app:c\":3}", SES_NUL, NULL, &session, &error));
    ses_session_close(session);
    const ses_key second = {"app", "user", "s2"};
    begin();
    assert_ok(ses_create(far.store, &second, "{\"a\":1,\"user:b\":2,\"app:c\":3}", SES_NUL, NULL, &session,
                         &error));
    assert_round_trips(1);
    assert_int_equal(ses_session_last_seq(session), 0);
    ses_session_close(session);
}

FAR_TEST(appending_takes_one)
{
    static const char event[] = "{\"author\":\"user\",\"actions\":{\"stateDelta\":{\"a\":2,\"user:b\":3,"
                                "\"app:c\":4,\"d\":5,\"e\":6}}}";
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
    const ses_append_options titled = {.size = sizeof titled, .title = "a title"};

    ses_session *session = must_get(far.store, &key);
    begin();
    must_append(session, event);
    assert_round_trips(1);
    begin();
    must_append_by_key(far.store, &key, event);
    assert_round_trips(1);
    begin(); /* refused, rolled back, asked, what the handle lacks, and stored */
    assert_ok(ses_append(session, event, SES_NUL, &anyway, NULL, &error));
    assert_round_trips(5);
    begin();
    assert_ok(ses_append_by_key(far.store, &key, event, SES_NUL, &titled, NULL, &error));
    assert_round_trips(2);
    ses_session_close(session);
}

FAR_TEST(reading_takes_one)
{
    ses_page *page = NULL;

    begin();
    ses_session *session = must_get(far.store, &key);
    assert_round_trips(1);
    begin();
    must_refresh(session);
    assert_round_trips(1);
    ses_session_close(session);
    begin();
    assert_ok(ses_list(far.store, "app", "user", NULL, &page, &error));
    assert_round_trips(1);
    ses_page_close(page);
}

/* PostgreSQL needs 1 for new events and for an append under a lease, since one statement there can look and
 * write. Here what is stored is asked for first, and all is written in a second packet. */
FAR_TEST(batches_take_two)
{
    enum { MANY = 200 };
    static char texts[MANY][120];
    ses_text events[MANY];
    ses_appended appended[MANY];
    ses_session *session = must_get(far.store, &key);
    ses_append_options leased = {.size = sizeof leased};
    ses_lease lease;

    for (int i = 0; i < MANY; i++) {
        const int len =
            snprintf(texts[i], sizeof texts[i],
                     "{\"id\":\"b%d\",\"actions\":{\"stateDelta\":{\"k%d\":1,\"last\":%d}}}", i, i, i);
        events[i] = (ses_text){texts[i], (size_t)len};
    }
    assert_trips(2, assert_ok(ses_append_batch(session, events, MANY, NULL, appended, &error)));
    assert_int_equal(appended[MANY - 1].status, SES_OK);
    assert_trips(2, assert_ok(ses_append_batch(session, events, MANY, NULL, appended, &error)));
    assert_int_equal(appended[MANY - 1].status, SES_DUPLICATE);
    assert_ok(ses_lease_take(far.store, &key, "owner", NULL, &lease, &error));
    leased.lease = lease.token;
    assert_trips(2, assert_ok(ses_append(session, "{}", SES_NUL, &leased, NULL, &error)));
    assert_ok(ses_lease_release(far.store, &key, lease.token, NULL, &error));
    ses_session_close(session);
}

/* As on PostgreSQL: one to look, and one to write. */
FAR_TEST(small_writes_take_two)
{
    const ses_label label = {"color", "blue"};
    const int64_t later = INT64_C(4000000000000000);
    ses_session *session = must_get(far.store, &key);
    ses_append_options answer = {.size = sizeof answer, .answers = "request"};
    ses_draft_options mine = {.size = sizeof mine};
    ses_inputs *inputs = NULL;
    char *text = NULL;
    ses_lease lease;

    assert_trips(2, assert_ok(ses_lease_take(far.store, &key, "owner", NULL, &lease, &error)));
    assert_trips(2, assert_ok(ses_lease_renew(far.store, &key, lease.token, NULL, NULL, &error)));
    assert_trips(2, assert_ok(ses_draft_set(far.store, &key, "Hel", SES_NUL, NULL, &error)));
    mine.lease = lease.token;
    assert_trips(2, assert_ok(ses_draft_set(far.store, &key, "Hello", SES_NUL, &mine, &error)));
    assert_trips(1, assert_ok(ses_draft_get(far.store, &key, NULL, &text, NULL, NULL, &error)));
    ses_free(text);
    assert_trips(2, assert_ok(ses_draft_clear(far.store, &key, &mine, &error)));
    assert_trips(2, assert_ok(ses_lease_release(far.store, &key, lease.token, NULL, &error)));
    assert_trips(2, assert_ok(ses_inbox_add(far.store, &key, "request", "1", 1, NULL, &error)));
    assert_trips(2,
                 assert_code(SES_DUPLICATE, ses_inbox_add(far.store, &key, "request", "1", 1, NULL, &error)));
    assert_trips(7, assert_ok(ses_inbox_take(far.store, &key, "owner", NULL, &inputs, &lease, &error)));
    ses_inputs_close(inputs);
    assert_trips(2, assert_ok(ses_inbox_list(far.store, &key, NULL, &inputs, &error)));
    ses_inputs_close(inputs);
    answer.lease = lease.token;
    assert_trips(2, assert_ok(ses_append_by_key(far.store, &key, "{}", 2, &answer, NULL, &error)));
    assert_trips(2, assert_code(SES_UNCHANGED, ses_inbox_remove(far.store, &key, "request", NULL, &error)));
    assert_trips(2, assert_ok(ses_title_set(session, "A title", NULL, &error)));
    assert_trips(2, assert_ok(ses_title_set_by_key(far.store, &key, "Another", NULL, &error)));
    assert_trips(2, assert_ok(ses_labels_set(session, &label, 1, NULL, &error)));
    assert_trips(2, assert_ok(ses_expiry_set(session, &later, NULL, &error)));
    assert_trips(2, assert_ok(ses_shared_state_change(far.store, "app", "user", "{\"v\":1,\"w\":2}", SES_NUL,
                                                      NULL, &error)));
    ses_session_close(session);
}

/* PostgreSQL needs 2. Here the server stops at the statement that refuses, which is one; what came before is
 * rolled back, another transaction looks, and ends. */
FAR_TEST(an_append_that_is_refused_takes_four)
{
    ses_session *session = must_get(far.store, &key);
    ses_appended appended;

    must_append_by_key(far.store, &key, "{\"id\":\"named\",\"timestamp\":1.5}");
    assert_trips(4, assert_code(SES_STALE, ses_append(session, "{}", SES_NUL, NULL, NULL, &error)));
    assert_trips(4,
                 assert_int_equal(ses_append_by_key(far.store, &key, "{\"id\":\"named\",\"timestamp\":1.5}",
                                                    SES_NUL, NULL, &appended, &error),
                                  SES_DUPLICATE));
    assert_trips(4, assert_code(SES_EXISTS, ses_append_by_key(far.store, &key, "{\"id\":\"named\"}", SES_NUL,
                                                              NULL, NULL, &error)));
    assert_trips(4, assert_code(SES_NOTFOUND, ses_append_by_key(far.store, &(ses_key){"app", "user", "none"},
                                                                "{}", SES_NUL, NULL, NULL, &error)));
    ses_session_close(session);
}

/* PostgreSQL needs one less. */
static void find_in_a_session(const ses_key *of)
{
    ses_findings *page = NULL;
    ses_error error;

    assert_trips(11, assert_ok(ses_store_find(far.store, of, "agent", SES_NUL, NULL, &page, &error)));
    assert_int_equal(ses_findings_count(page), 2);
    assert_null(ses_findings_token(page));
    ses_findings_close(page);
}

/* A call that reads much of a session goes table by table. The session has two events. PostgreSQL needs one
 * less for a fork and a cut. */
FAR_TEST(history_takes_more)
{
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};
    static const char event[] =
        "{\"author\":\"agent\",\"actions\":{\"stateDelta\":"
        "{\"a\":1,\"b\":{\"c\":[]},\"gone\":\"__ADK_SENTINEL_REMOVED__\",\"user:u\":2,"
        "\"app:x\":3,\"temp:t\":4}}}";
    const ses_key small = {"history", "user", "small"};
    const ses_key forked = {"history", "user", "forked"};
    ses_session *session = must_open_new(far.store, &small, "{\"a\":1}");
    ses_session *fork;
    size_t len;
    char *json;

    must_append(session, event);
    must_append(session, event);
    find_in_a_session(&small);
    assert_trips(15, assert_ok(ses_fork(session, NULL, &forked, NULL, &fork, &error)));
    assert_trips(14, assert_ok(ses_cut(fork, &first, NULL, NULL, &error)));
    assert_trips(7, assert_ok(ses_delete(far.store, &forked, NULL, NULL, &error)));
    assert_trips(2, assert_ok(ses_delete(far.store, &forked, NULL, NULL, &error)));
    assert_trips(2, assert_ok(ses_shared_state_change(far.store, "history", "user", "{\"v\":1,\"w\":2}",
                                                      SES_NUL, NULL, &error)));
    assert_trips(
        3, assert_ok(ses_shared_state_get(far.store, "history", "user", "v", NULL, &json, &len, &error)));
    ses_free(json);
    ses_session_close(fork);
    ses_session_close(session);
}

static int look_for_pending(ses_store *store, const ses_key *of, ses_error *error)
{
    ses_pending *pending = NULL;
    const int code = ses_pending_open_by_key(store, of, NULL, &pending, error);

    ses_pending_close(pending);
    return code;
}

/* An undo plans in a transaction that reads, table by table, and then writes in another. PostgreSQL needs one
 * less for each. */
FAR_TEST(undo_takes_more)
{
    static const char turn[] =
        "{\"author\":\"user\",\"invocationId\":\"v%d\",\"content\":{\"parts\":[{\"text\":"
        "\"t\"}]},\"actions\":{\"stateDelta\":{\"n\":%d}}}";
    const ses_point last_turn = {.size = sizeof last_turn, .kind = SES_POINT_LAST_TURN};
    const ses_key of = {"history", "user", "turns"};
    char *json = NULL;

    must_create(far.store, &of, "{\"n\":0}");
    for (int i = 0; i < 4; i++) {
        char text[200];
        snprintf(text, sizeof text, turn, i, i);
        must_append_by_key(far.store, &of, text);
    }
    assert_trips(12, assert_ok(ses_rewind_by_key(far.store, &of, &last_turn, NULL, NULL, &error)));
    assert_trips(14, assert_ok(ses_redo_by_key(far.store, &of, NULL, NULL, &error)));
    assert_trips(
        6, assert_ok(ses_state_json_as_of_by_key(far.store, &of, &last_turn, NULL, &json, NULL, &error)));
    ses_free(json);
    assert_trips(3, assert_ok(look_for_pending(far.store, &of, &error)));
}

static int read_first(ses_cursor **cursor, const ses_event **event)
{
    ses_error error;
    const int code = ses_cursor_open(far.store, &key, NULL, cursor, &error);

    return code == SES_OK ? ses_cursor_next(*cursor, event, &error) : code;
}

FAR_TEST(so_does_other_reading)
{
    ses_session *session = must_get(far.store, &key);
    ses_cursor *cursor;
    const ses_event *event;
    int64_t count;
    size_t len;
    char *json;

    assert_trips(1, assert_ok(ses_state_get_by_key(far.store, &key, "a", NULL, &json, &len, &error)));
    ses_free(json);
    assert_trips(1, assert_ok(ses_state_json_by_key(far.store, &key, NULL, &json, &len, &error)));
    ses_free(json);
    assert_trips(1, assert_ok(ses_event_count_by_key(far.store, &key, NULL, &count, NULL, &error)));
    must_append_by_key(far.store, &key, "{}");
    assert_trips(1, assert_ok(ses_refresh(session, NULL, &error)));
    assert_trips(1, assert_int_equal(read_first(&cursor, &event), SES_ROW));
    assert_ok(ses_cursor_close(cursor, &error));
    ses_session_close(session);
}

TEST_GROUP(database_setup, database_teardown)
