/* How often a call waits for the server. A proxy counts how often the client sends something after an answer. */
#include "mysql/database.h"

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

/* What nobody waited for has passed the proxy. */
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

static void test_creating_takes_one(void **state)
{
    ses_error error;
    ses_session *session = NULL;
    (void)state;

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

static void test_appending_takes_one(void **state)
{
    static const char event[] = "{\"author\":\"user\",\"actions\":{\"stateDelta\":{\"a\":2,\"user:b\":3,"
                                "\"app:c\":4,\"d\":5,\"e\":6}}}";
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
    const ses_append_options titled = {.size = sizeof titled, .title = "a title"};
    ses_session *session = NULL;
    ses_error error;
    (void)state;

    assert_ok(ses_get(far.store, &key, NULL, &session, &error));
    begin();
    assert_ok(ses_append(session, event, SES_NUL, NULL, NULL, &error));
    assert_round_trips(1);
    begin();
    assert_ok(ses_append_by_key(far.store, &key, event, SES_NUL, NULL, NULL, &error));
    assert_round_trips(1);
    begin(); /* refused, rolled back, asked, what the handle lacks, and stored */
    assert_ok(ses_append(session, event, SES_NUL, &anyway, NULL, &error));
    assert_round_trips(5);
    begin();
    assert_ok(ses_append_by_key(far.store, &key, event, SES_NUL, &titled, NULL, &error));
    assert_round_trips(2);
    ses_session_close(session);
}

static void test_reading_takes_one(void **state)
{
    ses_session *session = NULL;
    ses_page *page = NULL;
    ses_error error;
    (void)state;

    begin();
    assert_ok(ses_get(far.store, &key, NULL, &session, &error));
    assert_round_trips(1);
    begin();
    assert_ok(ses_refresh(session, NULL, &error));
    assert_round_trips(1);
    ses_session_close(session);
    begin();
    assert_ok(ses_list(far.store, "app", "user", NULL, &page, &error));
    assert_round_trips(1);
    ses_page_close(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_creating_takes_one, open_far, close_far),
        cmocka_unit_test_setup_teardown(test_appending_takes_one, open_far, close_far),
        cmocka_unit_test_setup_teardown(test_reading_takes_one, open_far, close_far),
    };
    return cmocka_run_group_tests_name("round_trips", tests, database_setup, database_teardown);
}
