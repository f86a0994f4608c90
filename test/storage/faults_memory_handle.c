/*
 * A call that fails for lack of memory leaves everything as it was: the handle it was made through, to the
 * last byte of its state and events, the outputs, and the file. The Nth allocation of the call fails, for N =
 * 1, 2, ... until the call succeeds; and the same with all allocations from the Nth on.
 */
#include "open.h"

static const ses_key key = {"app", "user", "session"};

struct handle_test {
    struct folder *folder;
    struct counting_memory memory;
    ses_allocator allocator;
    int64_t now;
    ses_store *store;
    ses_session *session;
};

static int setup(void **state)
{
    struct handle_test *test = calloc(1, sizeof *test);
    void *folder = NULL;
    ses_error error;

    assert_non_null(test);
    support_folders_in_memory();
    assert_int_equal(folder_setup(&folder), 0);
    test->folder = folder;
    test->now = 1000000;
    test->allocator = counting_allocator(&test->memory);
    const ses_open_options options = {.size = sizeof options,
                                      .allocator = &test->allocator,
                                      .clock = support_clock,
                                      .clock_context = &test->now};
    assert_ok(ses_open(test->folder->path, &options, &test->store, &error));
    test->session = must_open_new(test->store, &key, Q("{'app:a':1,'user:u':'two','s':[3],'t':'\\u0041'}"));
    raw_exec(test->folder->path, /* a fork */
             "UPDATE sessions SET details = 1;"
             "UPDATE session_details SET parent_user = 'u', parent_session = 's', parent_seq = 1");
    must_append(test->session,
                Q("{'id':'first','invocationId':'i1','actions':{'stateDelta':{'temp:x':'kept'}}}"));
    *state = test;
    return 0;
}

static int teardown(void **state)
{
    struct handle_test *test = *state;
    void *folder = test->folder;

    ses_session_close(test->session);
    ses_close(test->store);
    assert_no_blocks(&test->memory);
    assert_sound(test->folder->path);
    assert_int_equal(folder_teardown(&folder), 0);
    free(test);
    return 0;
}

/* All that a handle shows. */
static char *snapshot(const ses_session *session)
{
    struct text out = {NULL, 0};
    const char *json = support_state(session, NULL);

    text_printf(&out, "%s/%s/%s version %lld last %lld stored %lld times %lld %lld, %zu keys\n",
                ses_session_app(session), ses_session_user(session), ses_session_id(session),
                (long long)ses_session_version(session), (long long)ses_session_last_seq(session),
                (long long)ses_session_stored(session), (long long)ses_session_created_us(session),
                (long long)ses_session_updated_us(session), ses_state_count(session));
    assert_non_null(json);
    text_add(&out, json, strlen(json));
    for (size_t i = 0; i < ses_session_event_count(session); i++) {
        const ses_event *event = ses_session_event(session, i);
        text_printf(&out, "\n%lld %lld %s %s %s %s ", (long long)event->seq, (long long)event->time_us,
                    event->id, event->invocation_id, event->author, event->branch ? event->branch : "-");
        text_add(&out, event->json, event->json_len);
    }
    return out.data;
}

static char *stored_rows(const struct handle_test *test)
{
    struct text out = {NULL, 0};
    sqlite3 *db = raw_open(test->folder->path);
    raw_query(db, "SELECT * FROM sessions", &out);
    raw_query(db, "SELECT * FROM app_state UNION ALL SELECT * FROM user_state", &out);
    raw_query(db, "SELECT * FROM session_state", &out);
    raw_query(db, "SELECT * FROM events", &out);
    raw_query(db, "SELECT * FROM event_marks", &out);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return out.data;
}

typedef int handle_call(struct handle_test *test, ses_error *error);

/* Returns how often the call failed before it succeeded with `expected`. */
static int fail_until_success(struct handle_test *test, handle_call *call, int expected, int fail_on)
{
    int failures = 0;
    int code = SES_NOMEM;

    for (long n = 1; code == SES_NOMEM; n++) {
        ses_error error;
        char *handle_before = snapshot(test->session);
        char *rows_before = stored_rows(test);
        long live_before = test->memory.live;

        counting_arm(&test->memory, n, fail_on);
        code = call(test, &error);
        test->memory.armed = 0;
        assert_in_range(n, 1, 5000);
        if (code == SES_NOMEM) {
            char *handle_after = snapshot(test->session);
            char *rows_after = stored_rows(test);
            failures++;
            assert_int_equal(error.code, SES_NOMEM);
            assert_message("out of memory");
            assert_string_equal(handle_after, handle_before);
            assert_string_equal(rows_after, rows_before);
            /* Connections, prepared statements and spare room may stay, but must not grow without end. */
            assert_in_range(test->memory.live - live_before + 8, 0, 16);
            free(rows_after);
            free(handle_after);
        } else {
            assert_code(expected, code);
        }
        free(rows_before);
        free(handle_before);
    }
    assert_int_equal(test->memory.wrong, 0);
    return failures;
}

/* Once each way; `prepare` (may be NULL) comes first, and sets up the same situation again. */
static void fail_both_ways(struct handle_test *test, void (*prepare)(struct handle_test *), handle_call *call,
                           int expected, int least)
{
    for (int fail_on = 0; fail_on < 2; fail_on++) {
        if (prepare)
            prepare(test);
        assert_in_range(fail_until_success(test, call, expected, fail_on), least, 1000);
    }
}

static void write_by_another(struct handle_test *test)
{
    static const char *const events[] = {"{'actions':{'stateDelta':{'app:other':[1],'user:u':"
                                         "'theirs','s':'theirs','more':{}}}}",
                                         "{'actions':{'stateDelta':{'gone':1}}}",
                                         "{'branch':'b','author':'\\u00e9','actions':{"
                                         "'stateDelta':{'gone':'__ADK_SENTINEL_REMOVED__'}}}"};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        must_append_by_key(test->store, &key, Q(events[i]));
}

/* All events but the first are cut, and others come. */
static void cut_by_another(struct handle_test *test)
{
    write_by_another(test);
    raw_exec(test->folder->path, "DELETE FROM events WHERE position > (1 << 32) + 1;"
                                 "DELETE FROM session_state WHERE key = 't';"
                                 "UPDATE sessions SET version = version + 1, event_count = 1 WHERE id = 1");
    write_by_another(test);
}

static void catch_up(struct handle_test *test)
{
    must_refresh(test->session);
}

static int call_append(struct handle_test *test, ses_error *error)
{
    ses_appended appended = {.seq = -7};
    int code =
        ses_append(test->session,
                   Q("{'invocation_id':'i2','author':'a\\n','actions':{'stateDelta':{'temp:y':1,'a b':2,"
                     "'temp:z':'\\u0041','app:a':'__ADK_SENTINEL_REMOVED__','user:new':{'x':1.10},"
                     "'k1':1,'k2':2,'k3':3,'k4':4,'k5':5,'k6':6,'k7':7,'k8':8,'k9':9}}}"),
                   SES_NUL, NULL, &appended, error);
    if (code < 0)
        assert_int_equal(appended.seq, -7);
    return code;
}

static int call_append_anyway(struct handle_test *test, ses_error *error)
{
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
    return ses_append(test->session, Q("{'invocationId':'i3','actions':{'stateDelta':{'temp:w':1,'s':0}}}"),
                      SES_NUL, &anyway, NULL, error);
}

static int call_append_batch(struct handle_test *test, ses_error *error)
{
    const ses_text events[] = {
        {Q("{'invocationId':'i4','actions':{'stateDelta':{'temp:a':1,'b':1}}}"), SES_NUL},
        {Q("{'partial':true,'id':'p'}"), SES_NUL},
        {Q("{'invocationId':'i5','actions':{'stateDelta':{'temp:b':2,'b':'\\ud83d\\ude00'}}}"), SES_NUL}};
    ses_appended appended[3] = {{.seq = -7}};
    int code = ses_append_batch(test->session, events, 3, NULL, appended, error);
    if (code < 0)
        assert_int_equal(appended[0].seq, -7);
    return code;
}

static int call_refresh(struct handle_test *test, ses_error *error)
{
    return ses_refresh(test->session, NULL, error);
}

static int call_get(struct handle_test *test, ses_error *error)
{
    ses_session *session = test->session;
    int code = ses_get(test->store, &key, NULL, &session, error);
    if (code < 0)
        assert_null(session);
    ses_session_close(session);
    return code;
}

static int call_list(struct handle_test *test, ses_error *error)
{
    ses_page *page = (ses_page *)(void *)test;
    int code = ses_list(test->store, "app", NULL, NULL, &page, error);
    if (code < 0)
        assert_null(page);
    ses_page_close(page);
    return code;
}

static int call_read_state(struct handle_test *test, ses_error *error)
{
    char *json = (char *)test;
    size_t len = 77;
    int code = ses_state_json_by_key(test->store, &key, NULL, &json, &len, error);
    if (code < 0) {
        assert_null(json);
        assert_int_equal(len, 77);
    }
    ses_free(json);
    return code;
}

static int call_create(struct handle_test *test, ses_error *error)
{
    const ses_key fresh = {"app", "user", NULL};
    ses_session *session = test->session;
    int code = ses_create(test->store, &fresh, Q("{'app:c':1,'user:c':2,'c':3,'temp:c':4}"), SES_NUL, NULL,
                          &session, error);
    if (code < 0)
        assert_null(session);
    ses_session_close(session);
    return code;
}

static int call_state_string(struct handle_test *test, ses_error *error)
{
    const char *text = "as before";
    int code = ses_state_get_string(test->session, "t", &text, NULL, error);
    if (code < 0)
        assert_null(text);
    else
        assert_string_equal(text, "A");
    return code;
}

/* A turn by another, which the handle has not seen. */
static void turn_by_another(struct handle_test *test)
{
    static int turns;
    char event[300];

    snprintf(event, sizeof event,
             "{\"invocationId\":\"turn %d\",\"author\":\"user\",\"content\":{\"parts\":[{\"text\":\"x\"}]},"
             "\"actions\":{\"stateDelta\":{\"s\":%d,\"new %d\":1,\"t\":\"__ADK_SENTINEL_REMOVED__\"}}}",
             turns, turns, turns);
    turns++;
    must_append_by_key(test->store, &key, event);
}

static const ses_point last_turn = {.size = sizeof last_turn, .kind = SES_POINT_LAST_TURN};

static void undo_by_handle(struct handle_test *test)
{
    ses_error error;
    turn_by_another(test);
    catch_up(test);
    assert_ok(ses_rewind(test->session, &last_turn, NULL, NULL, &error));
}

static int call_rewind(struct handle_test *test, ses_error *error)
{
    const ses_rewind_options anyway = {
        .size = sizeof anyway, .flags = SES_ANYWAY, .artifact_delta = "{}", .artifact_delta_len = 2};
    ses_appended appended = {.seq = -7};
    int code = ses_rewind(test->session, &last_turn, &anyway, &appended, error);
    if (code < 0)
        assert_int_equal(appended.seq, -7);
    return code;
}

static int call_redo(struct handle_test *test, ses_error *error)
{
    return ses_redo(test->session, NULL, NULL, error);
}

static int call_cut(struct handle_test *test, ses_error *error)
{
    const ses_cut_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
    int64_t deleted = -7;
    int code = ses_cut(test->session, &last_turn, &anyway, &deleted, error);
    if (code < 0)
        assert_int_equal(deleted, -7);
    return code;
}

static int call_fork(struct handle_test *test, ses_error *error)
{
    ses_session *fork = test->session;
    int code = ses_fork(test->session, &last_turn, NULL, NULL, &fork, error);
    if (code < 0)
        assert_null(fork);
    ses_session_close(fork);
    return code;
}

static int call_as_of(struct handle_test *test, ses_error *error)
{
    char *json = (char *)test;
    int code = ses_state_json_as_of(test->session, &last_turn, NULL, &json, NULL, error);
    if (code < 0)
        assert_null(json);
    ses_free(json);
    return code;
}

#define HANDLE_TEST(name) TEST_WITH(struct handle_test *test, setup, teardown, name)

HANDLE_TEST(rewind)
{
    fail_both_ways(test, turn_by_another, call_rewind, SES_OK, 20);
}

HANDLE_TEST(redo)
{
    fail_both_ways(test, undo_by_handle, call_redo, SES_OK, 20);
}

HANDLE_TEST(cut)
{
    fail_both_ways(test, turn_by_another, call_cut, SES_OK, 20);
}

HANDLE_TEST(fork)
{
    fail_both_ways(test, turn_by_another, call_fork, SES_OK, 20);
}

HANDLE_TEST(as_of)
{
    fail_both_ways(test, turn_by_another, call_as_of, SES_OK, 10);
}

HANDLE_TEST(append)
{
    fail_both_ways(test, NULL, call_append, SES_OK, 10);
}

HANDLE_TEST(append_anyway)
{
    fail_both_ways(test, write_by_another, call_append_anyway, SES_OK, 10);
}

HANDLE_TEST(append_batch)
{
    fail_both_ways(test, NULL, call_append_batch, SES_OK, 10);
}

HANDLE_TEST(refresh)
{
    fail_both_ways(test, write_by_another, call_refresh, SES_OK, 10);
}

HANDLE_TEST(append_anyway_after_a_cut)
{
    fail_both_ways(test, cut_by_another, call_append_anyway, SES_OK, 10);
    assert_int_equal(ses_session_event_count(test->session), 5);
}

HANDLE_TEST(refresh_after_a_cut)
{
    fail_both_ways(test, cut_by_another, call_refresh, SES_OK, 10);
    assert_int_equal(ses_session_event_count(test->session), 4);
}

HANDLE_TEST(get)
{
    fail_both_ways(test, NULL, call_get, SES_OK, 10);
}

HANDLE_TEST(list)
{
    fail_both_ways(test, NULL, call_list, SES_OK, 10);
}

HANDLE_TEST(read_state)
{
    fail_both_ways(test, NULL, call_read_state, SES_OK, 5);
}

HANDLE_TEST(create)
{
    fail_both_ways(test, NULL, call_create, SES_OK, 10);
}

HANDLE_TEST(state_string)
{
    /* The text is made once, and kept: so there is one way only. */
    assert_int_equal(fail_until_success(test, call_state_string, SES_OK, 0), 1);
}

/* Lack of memory does not hide STALE: a handle that was behind still is, and says so. */
static int call_append_stale(struct handle_test *test, ses_error *error)
{
    return ses_append(test->session, Q("{'id':'late'}"), SES_NUL, NULL, NULL, error);
}

HANDLE_TEST(append_to_a_stale_handle)
{
    write_by_another(test);
    for (int fail_on = 0; fail_on < 2; fail_on++)
        assert_in_range(fail_until_success(test, call_append_stale, SES_STALE, fail_on), 1, 1000);
    catch_up(test);
    assert_int_equal(ses_session_event_count(test->session), 4);
}
