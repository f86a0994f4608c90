/* The log that appending makes: its order, its times, what a handle keeps of it, and what a failure leaves.
 */
#include "session/append.h"

static void append(ses_session *session, const char *event)
{
    must_append(session, event);
}

/* The order is that of the commits, whatever the timestamps say. */
MEMORY_TEST(events_stand_in_the_order_of_commit)
{
    static const char *const events[] = {
        "{'id':'c','timestamp':1800000000}", "{'id':'a','timestamp':1}",
        "{'id':'b','timestamp':1900000000}", "{'id':'e','timestamp':-5}",
        "{'id':'d','timestamp':1900000000}",
    };
    enum { COUNT = sizeof events / sizeof events[0] };
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_cursor *cursor = NULL;
    const ses_event *event = NULL;

    for (size_t i = 0; i < COUNT; i++)
        append(session, Q(events[i]));
    assert_handle_is_current(fixture->store, session);
    assert_ok(ses_cursor_open(fixture->store, &key, NULL, &cursor, &error));
    for (size_t i = 0; i < COUNT; i++) {
        assert_string_equal(ses_session_event(session, i)->json, Q(events[i]));
        assert_int_equal(ses_session_event(session, i)->seq, i + 1);
        assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
        assert_string_equal(event->json, Q(events[i]));
        assert_int_equal(event->seq, i + 1);
    }
    assert_ok(ses_cursor_close(cursor, &error));
}

MEMORY_TEST(the_update_time_never_goes_back)
{
    static const struct {
        const char *event;
        int64_t updated_us;
    } steps[] = {
        {"{'timestamp':1600000000}", INT64_C(1700000000000000)}, /* before the session was made */
        {"{'timestamp':1700000000.000001}", INT64_C(1700000000000001)},
        {"{'timestamp':1700000000}", INT64_C(1700000000000001)},
        {"{'timestamp':1700000000.000001}", INT64_C(1700000000000001)},
        {"{'timestamp':1800000000}", INT64_C(1800000000000000)},
        {"{}", INT64_C(1800000000000000)}, /* the store's clock is behind */
        {"{'timestamp':-1}", INT64_C(1800000000000000)},
        {"{'timestamp':'2100-01-01T00:00:00Z'}", INT64_C(4102444800000000)},
        {"{'timestamp':4102444799999}", INT64_C(4102444800000000)},
    };
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    assert_int_equal(ses_session_updated_us(session), fixture->now);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        append(session, Q(steps[i].event));
        assert_int_equal(ses_session_updated_us(session), steps[i].updated_us);
        assert_int_equal(ses_session_created_us(session), fixture->now);
        assert_handle_is_current(fixture->store, session);
    }
}

MEMORY_TEST(the_update_time_of_an_imported_session_is_that_of_its_events)
{
    static const int64_t created_us = INT64_C(-1000000);
    const ses_create_options options = {.size = sizeof options, .created_us = &created_us};
    ses_session *session = NULL;

    assert_ok(ses_create(fixture->store, &key, NULL, 0, &options, &session, &error));
    assert_int_equal(ses_session_updated_us(session), created_us);
    append(session, Q("{'timestamp':-0.5}"));
    assert_int_equal(ses_session_updated_us(session), -500000);
    append(session, Q("{'timestamp':12.5}"));
    assert_int_equal(ses_session_updated_us(session), 12500000);
    assert_handle_is_current(fixture->store, session);
    ses_session_close(session);
}

/* An event is borrowed until the handle is closed, however many events follow it. */
MEMORY_TEST(events_of_a_handle_stay_where_they_are)
{
    enum { COUNT = 2000 };
    const ses_event *events[COUNT];
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    char event[128];

    for (int i = 0; i < COUNT; i++) {
        snprintf(event, sizeof event, "{\"id\":\"%d\",\"timestamp\":1,\"author\":\"author %d\"}", i, i);
        if (i % 2) {
            append(session, event);
        } else { /* by another way, which a refresh brings in */
            must_append_by_key(fixture->store, &key, event);
            must_refresh(session);
        }
        events[i] = ses_session_event(session, (size_t)i);
    }
    assert_int_equal(ses_session_event_count(session), COUNT);
    for (int i = 0; i < COUNT; i++) {
        char id[16];
        snprintf(id, sizeof id, "%d", i);
        assert_ptr_equal(ses_session_event(session, (size_t)i), events[i]);
        assert_string_equal(events[i]->id, id);
        assert_int_equal(events[i]->seq, i + 1);
        assert_memory_equal(events[i]->author, "author ", 7);
        assert_string_equal(events[i]->author + 7, id);
    }
}

/* ------------------------------------------------------------------------------------------- ranges */

MEMORY_TEST(a_handle_without_events_keeps_none)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
    ses_session *session = must_open_new(fixture->store, &key, Q("{'a':0}"));
    ses_appended appended;

    append(session, Q("{'actions':{'stateDelta':{'a':1}}}"));
    ses_session_close(session);
    assert_ok(ses_get(fixture->store, &key, GET_RANGE(&none), &session, &error));
    assert_int_equal(ses_session_event_count(session), 0);
    assert_int_equal(ses_session_stored(session), 1);
    assert_int_equal(ses_session_last_seq(session), 1);

    append(session, Q("{'actions':{'stateDelta':{'a':2,'temp:t':1}}}"));
    assert_state(session, Q("{'a':2,'temp:t':1}"));
    assert_int_equal(ses_session_event_count(session), 0);

    must_append_by_key(fixture->store, &key, Q("{'actions':{'stateDelta':{'a':3}}}"));
    must_refresh(session);
    assert_state(session, Q("{'a':3,'temp:t':1}"));
    assert_int_equal(ses_session_event_count(session), 0);

    must_append_by_key(fixture->store, &key, Q("{'actions':{'stateDelta':{'b':4}}}"));
    assert_ok(
        ses_append(session, Q("{'actions':{'stateDelta':{'c':5}}}"), SES_NUL, &anyway, &appended, &error));
    assert_int_equal(appended.seq, 5);
    assert_state(session, Q("{'a':3,'b':4,'c':5,'temp:t':1}"));
    assert_int_equal(ses_session_event_count(session), 0);
    assert_null(ses_session_event(session, 0));
    assert_int_equal(ses_session_stored(session), 5);
    assert_int_equal(ses_session_last_seq(session), 5);
    assert_int_equal(ses_session_version(session), 5);
    ses_session_close(session);
}

MEMORY_TEST(a_handle_with_a_range_keeps_what_comes_behind)
{
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = 1};
    const ses_range nothing = {.size = sizeof nothing, .which = SES_RANGE_NEWEST, .newest = 0};
    ses_session *session = NULL;
    ses_session *empty = NULL;

    must_create(fixture->store, &key, NULL);
    for (int i = 0; i < 3; i++)
        must_append_by_key(fixture->store, &key, Q("{'timestamp':1}"));
    assert_ok(ses_get(fixture->store, &key, GET_RANGE(&newest), &session, &error));
    assert_ok(ses_get(fixture->store, &key, GET_RANGE(&nothing), &empty, &error));
    assert_int_equal(ses_session_event_count(session), 1);
    assert_int_equal(ses_session_event_count(empty), 0);
    append(session, Q("{'timestamp':2}"));
    must_refresh(empty);
    assert_int_equal(ses_session_event_count(session), 2);
    assert_int_equal(ses_session_event(session, 0)->seq, 3);
    assert_int_equal(ses_session_event(session, 1)->seq, 4);
    assert_int_equal(ses_session_event_count(empty), 1); /* none was its range, but it does keep events */
    assert_int_equal(ses_session_event(empty, 0)->seq, 4);
    ses_session_close(session);
    ses_session_close(empty);
}

/* ------------------------------------------------------------------------------------------ failures */

/* Each fails behind a delta that was good so far, or because of what is stored. */
static const struct {
    int code;
    const char *event;
} failures[] = {
    {SES_JSON, "{'actions':{'stateDelta':{'app:a':2,'user:a':2,'a':2,'temp:a':2}}"},
    {SES_JSON, "{'actions':{'stateDelta':{'app:a':2,'a':" REMOVED ",'temp:a':02}}}"},
    {SES_JSON, "{'invocationId':'other','actions':{'stateDelta':{'a':2}}} x"},
    {SES_INVALID, "{'actions':{'stateDelta':{'app:a':2,'user:a':2,'a':2,'temp:a':2,'\\u0000':2}}}"},
    {SES_INVALID, "{'invocationId':'other','actions':{'stateDelta':{'app:a':2}},'author':1}"},
    {SES_INVALID, "{'id':'','actions':{'stateDelta':{'a':2}}}"},
    {SES_INVALID, "{'timestamp':'','actions':{'stateDelta':{'a':2}}}"},
    {SES_EXISTS, "{'id':'first','timestamp':1800000000,'actions':{'stateDelta':{'app:a':2,'temp:a':2}}}"},
    {SES_EXISTS,
     "{'id':'first','invocationId':'other','actions':{'stateDelta':{'user:a':2,'a':" REMOVED "}}}"},
};

TEST(a_failure_leaves_the_handle_and_the_file_as_before)
{
    ses_session *session = must_open_new(fixture->store, &key, Q("{'app:a':0,'user:a':0,'a':0}"));

    append(session, Q("{'id':'first','invocationId':'i','actions':{'stateDelta':{'a':1,'temp:a':1}}}"));
    char *handle = describe(session, 1);
    char *file = describe_stored(fixture->store, &key);
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        ses_appended appended;
        ses_appended untouched;
        memset(&untouched, 0x55, sizeof untouched);
        memcpy(&appended, &untouched, sizeof appended);
        assert_code(failures[i].code,
                    ses_append(session, Q(failures[i].event), SES_NUL, NULL, &appended, &error));
        assert_code(failures[i].code, ses_append_by_key(fixture->store, &key, Q(failures[i].event), SES_NUL,
                                                        NULL, &appended, &error));
        assert_memory_equal(&appended, &untouched, sizeof appended);
        assert_int_equal(ses_append(session, Q(failures[i].event), SES_NUL, NULL, NULL, NULL),
                         failures[i].code);
        char *handle_after = describe(session, 1);
        char *file_after = describe_stored(fixture->store, &key);
        assert_string_equal(handle_after, handle);
        assert_string_equal(file_after, file);
        free(handle_after);
        free(file_after);
    }
    /* And it can go on: the next number is the next one. */
    append(session, Q("{'actions':{'stateDelta':{'a':2}}}"));
    assert_int_equal(ses_session_last_seq(session), 2);
    assert_handle_is_current(fixture->store, session);
    free(handle);
    free(file);
}

MEMORY_TEST(wrong_options_are_misuse)
{
    const ses_append_options sizeless = {.flags = SES_ANYWAY};
    const ses_append_options unknown = {.size = sizeof unknown, .flags = 0x80000000U};
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    assert_code(SES_MISUSE, ses_append(session, "{}", SES_NUL, &sizeless, NULL, &error));
    assert_code(SES_MISUSE, ses_append(session, "{}", SES_NUL, &unknown, NULL, &error));
    assert_code(SES_MISUSE, ses_append_by_key(fixture->store, &key, "{}", SES_NUL, &unknown, NULL, &error));
    assert_code(SES_MISUSE, ses_append(NULL, "{}", SES_NUL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_append_by_key(NULL, &key, "{}", SES_NUL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_append_by_key(fixture->store, NULL, "{}", SES_NUL, NULL, NULL, &error));
    assert_int_equal(ses_session_version(session), 0);
}
