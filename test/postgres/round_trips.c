/* How often a call waits for the server, as a proxy counts it: what a distant server costs. */
#include "database.h"
#include "proxy.h"
#include "seslite_artifact.h"
#include "seslite_draft.h"
#include "seslite_erase.h"
#include "seslite_history.h"
#include "seslite_inbox.h"
#include "seslite_postgres.h"

static const ses_key key = {.app = "app", .user = "user", .session = "s"};
static const char event[] = "{\"author\":\"agent\",\"actions\":{\"stateDelta\":"
                            "{\"a\":1,\"b\":{\"c\":[]},\"gone\":\"__ADK_SENTINEL_REMOVED__\",\"user:u\":2,"
                            "\"app:x\":3,\"temp:t\":4}}}";

/* So long that all of a request has been sent before the first of its answers arrives: else that looks like
 * another. */
enum { DELAY_US = 4000, LONG_DELAY_US = 60000 };

struct far_store {
    struct proxy *proxy;
    ses_store *store;
    ses_session *session;
    int made; /* ids that were made up */
    char place[900];
    ses_postgres_options options;
};

/* A store that is reached through a proxy, in a database of its own; all that is done once a connection has
 * been. */
static void open_far(struct far_store *far, const struct database *database, const char *name, int unprepared,
                     unsigned delay_us)
{
    char sql[100];
    ses_error error;

    snprintf(sql, sizeof sql, "CREATE DATABASE %s", name);
    database_run(database, sql);
    *far = (struct far_store){.proxy = proxy_start(database->place, delay_us),
                              .options = {.size = sizeof far->options, .unprepared = unprepared}};
    assert_non_null(far->proxy);
    snprintf(far->place, sizeof far->place, "%s dbname=%s", far->proxy->place, name);
    assert_ok(ses_open_postgres(far->place, NULL, &far->options, &far->store, &error));
    far->session = must_open_new(far->store, &key, "{\"a\":0,\"user:u\":1}");
    assert_ok(ses_title_set(far->session, "A title", NULL, &error));
    assert_ok(ses_labels_set(far->session, &(ses_label){"color", "blue"}, 1, NULL, &error));
    must_append(far->session, event);
}

static void close_far(struct far_store *far)
{
    ses_session_close(far->session);
    ses_close(far->store);
    proxy_stop(far->proxy);
}

static const char *value_of(const ses_session *session, const char *name)
{
    const char *json;
    size_t len;
    ses_error error;

    assert_ok(ses_state_get(session, name, &json, &len, &error));
    return json;
}

#define assert_trips(far, most, call)                                      \
    do {                                                                   \
        proxy_reset((far)->proxy);                                         \
        call;                                                              \
        const unsigned long trips = proxy_turns((far)->proxy);             \
        if (trips > (most))                                                \
            fail_msg("%lu round trips, not %d: %s", trips, (most), #call); \
    } while (0)

static void test_an_append_is_one(struct far_store *far)
{
    ses_append_options options = {.size = sizeof options};
    ses_appended appended;
    ses_error error;

    assert_trips(far, 1, assert_ok(ses_append(far->session, event, SES_NUL, NULL, &appended, &error)));
    assert_int_equal(appended.status, SES_OK);
    assert_trips(far, 1,
                 assert_ok(ses_append(far->session, "{\"author\":\"user\"}", SES_NUL, NULL, NULL, &error)));
    options.flags = SES_AT_VERSION;
    options.version = ses_session_version(far->session);
    assert_trips(far, 1,
                 assert_ok(ses_append_by_key(far->store, &key, event, SES_NUL, &options, NULL, &error)));
    assert_trips(far, 1,
                 assert_ok(ses_append_by_key(far->store, &key, event, SES_NUL, NULL, &appended, &error)));
    assert_int_equal(appended.status, SES_OK);
    must_refresh(far->session);
    assert_int_equal(appended.seq, ses_session_last_seq(far->session));
}

enum { MANY = 200 };

/* Each event sets two keys, one of which is its own. */
static void make_events(struct far_store *far, ses_text events[MANY])
{
    for (int i = 0; i < MANY; i++) {
        char *text = malloc(200);
        assert_non_null(text);
        const int len = snprintf(
            text, 200, "{\"id\":\"made-%d\",\"actions\":{\"stateDelta\":{\"key-%d\":%d,\"last\":%d}}}",
            far->made++, i, i, i);
        events[i] = (ses_text){text, (size_t)len};
    }
}

static void append_batches(struct far_store *far)
{
    ses_appended appended[MANY];
    ses_text events[MANY];
    ses_error error;

    make_events(far, events);
    assert_trips(far, 1, assert_ok(ses_append_batch(far->session, events, MANY, NULL, appended, &error)));
    assert_int_equal(appended[MANY - 1].seq, ses_session_last_seq(far->session));
    assert_string_equal(value_of(far->session, "last"), "199");
    assert_trips(far, 2, assert_ok(ses_append_batch(far->session, events, MANY, NULL, appended, &error)));
    assert_int_equal(appended[0].status, SES_DUPLICATE);
    assert_int_equal(appended[MANY - 1].status, SES_DUPLICATE);
    for (int i = 0; i < MANY; i++)
        free((char *)(uintptr_t)events[i].text);
}

/* One to look, and one to write. */
static void test_small_writes_are_two(struct far_store *far)
{
    const ses_label labels[] = {{"l", "v"}, {"color", "red"}, {"none", NULL}};
    const ses_append_options marking = {
        .size = sizeof marking, .title = "Marked", .labels = labels, .label_count = 3};
    const int64_t later = INT64_C(4000000000000000);
    const ses_append_options expecting = {.size = sizeof expecting,
                                          .expected = "{\"user:none\":\"__ADK_SENTINEL_REMOVED__\"}",
                                          .expected_len = SES_NUL};
    ses_append_options answer = {.size = sizeof answer, .answers = "request"};
    ses_draft_options mine = {.size = sizeof mine};
    ses_inputs *inputs = NULL;
    char *text = NULL;
    ses_lease lease;
    ses_error error;

    assert_trips(far, 2, assert_ok(ses_append(far->session, event, SES_NUL, &expecting, NULL, &error)));
    for (int i = 0; i < 2; i++) { /* the second time there is little to change */
        assert_trips(far, 2, assert_ok(ses_append(far->session, event, SES_NUL, &marking, NULL, &error)));
        assert_trips(far, 2,
                     assert_ok(ses_append_by_key(far->store, &key, event, SES_NUL, &marking, NULL, &error)));
        assert_string_equal(ses_session_title(far->session), "Marked");
        assert_string_equal(ses_session_label_value(far->session, "color"), "red");
        must_refresh(far->session);
    }
    assert_ok(ses_labels_set(far->session, &(ses_label){"color", "blue"}, 1, NULL, &error));
    assert_trips(far, 2, assert_ok(ses_lease_take(far->store, &key, "owner", NULL, &lease, &error)));
    assert_trips(far, 2, assert_ok(ses_lease_renew(far->store, &key, lease.token, NULL, NULL, &error)));
    assert_trips(far, 2, assert_ok(ses_draft_set(far->store, &key, "Hel", SES_NUL, NULL, &error)));
    mine.lease = lease.token;
    assert_trips(far, 2, assert_ok(ses_draft_set(far->store, &key, "Hello", SES_NUL, &mine, &error)));
    assert_trips(far, 1, assert_ok(ses_draft_get(far->store, &key, NULL, &text, NULL, NULL, &error)));
    ses_free(text);
    assert_trips(far, 2, assert_ok(ses_draft_clear(far->store, &key, &mine, &error)));
    assert_trips(far, 2, assert_ok(ses_lease_release(far->store, &key, lease.token, NULL, &error)));
    assert_trips(far, 2, assert_ok(ses_inbox_add(far->store, &key, "request", "1", 1, NULL, &error)));
    assert_trips(
        far, 2, assert_code(SES_DUPLICATE, ses_inbox_add(far->store, &key, "request", "1", 1, NULL, &error)));
    assert_trips(far, 6, assert_ok(ses_inbox_take(far->store, &key, "owner", NULL, &inputs, &lease, &error)));
    ses_inputs_close(inputs);
    assert_trips(far, 2, assert_ok(ses_inbox_list(far->store, &key, NULL, &inputs, &error)));
    ses_inputs_close(inputs);
    answer.lease = lease.token;
    assert_trips(far, 1, assert_ok(ses_append_by_key(far->store, &key, "{}", 2, &answer, NULL, &error)));
    must_refresh(far->session);
    assert_trips(far, 2,
                 assert_code(SES_UNCHANGED, ses_inbox_remove(far->store, &key, "request", NULL, &error)));
    assert_trips(far, 2, assert_ok(ses_title_set(far->session, "Some title", NULL, &error)));
    assert_trips(far, 2, assert_ok(ses_title_set_by_key(far->store, &key, "Another", NULL, &error)));
    assert_trips(far, 2, assert_ok(ses_labels_set(far->session, &(ses_label){"l", "v"}, 1, NULL, &error)));
    assert_trips(far, 2, assert_ok(ses_labels_set(far->session, &(ses_label){"l", NULL}, 1, NULL, &error)));
    assert_trips(far, 2, assert_ok(ses_expiry_set(far->session, &later, NULL, &error)));
    assert_ok(ses_title_set(far->session, "A title", NULL, &error));
}

static void test_so_is_one_under_a_lease(struct far_store *far)
{
    ses_append_options options = {.size = sizeof options};
    ses_lease lease = {.token = 0};
    ses_error error;

    assert_ok(ses_lease_take(far->store, &key, "owner", NULL, &lease, &error));
    options.lease = lease.token;
    assert_trips(far, 1, assert_ok(ses_append(far->session, event, SES_NUL, &options, NULL, &error)));
    assert_ok(ses_lease_release(far->store, &key, lease.token, NULL, &error));
}

static void test_one_that_is_stale_or_a_duplicate_is_two(struct far_store *far)
{
    const ses_append_options marking = {.size = sizeof marking, .title = "Never"};
    ses_appended appended;
    ses_error error;
    char named[100];
    char other[100];

    snprintf(named, sizeof named, "{\"id\":\"named-%d\",\"timestamp\":1.5}", far->made);
    snprintf(other, sizeof other, "{\"id\":\"named-%d\",\"timestamp\":2.5}", far->made++);
    must_append_by_key(far->store, &key, named);
    assert_trips(far, 2,
                 assert_code(SES_STALE, ses_append(far->session, event, SES_NUL, NULL, NULL, &error)));
    assert_trips(far, 2,
                 assert_code(SES_STALE, ses_append(far->session, event, SES_NUL, &marking, NULL, &error)));
    assert_trips(
        far, 2,
        assert_int_equal(ses_append_by_key(far->store, &key, named, SES_NUL, NULL, &appended, &error),
                         SES_DUPLICATE));
    assert_int_equal(appended.status, SES_DUPLICATE);
    assert_trips(
        far, 2,
        assert_int_equal(ses_append(far->session, named, SES_NUL, NULL, &appended, &error), SES_DUPLICATE));
    assert_int_equal(appended.status, SES_DUPLICATE);
    assert_trips(
        far, 2,
        assert_int_equal(ses_append(far->session, named, SES_NUL, &marking, NULL, &error), SES_DUPLICATE));
    assert_string_equal(ses_session_title(far->session), "A title");
    assert_trips(far, 2,
                 assert_code(SES_EXISTS, ses_append(far->session, other, SES_NUL, NULL, NULL, &error)));
}

static void test_a_read_is_one(struct far_store *far)
{
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = 3};
    const ses_range live = {.size = sizeof live, .which = SES_RANGE_LIVE};
    const ses_get_options few = {.size = sizeof few, .range = &newest};
    const ses_get_options as_live = {.size = sizeof as_live, .range = &live};
    unsigned char is_live[64];
    int64_t seq = 0;
    ses_session *session;
    size_t len;
    char *json;
    ses_error error;

    assert_trips(far, 1, assert_ok(ses_get(far->store, &key, NULL, &session, &error)));
    assert_string_equal(ses_session_title(session), "A title");
    assert_string_equal(ses_session_label_value(session, "color"), "blue");
    assert_string_equal(value_of(session, "user:u"), "2");
    assert_int_equal(ses_session_event_count(session), (size_t)ses_session_last_seq(session));
    ses_session_close(session);
    assert_trips(far, 1, assert_ok(ses_get(far->store, &key, &few, &session, &error)));
    assert_int_equal(ses_session_event_count(session), 3);
    ses_session_close(session);
    assert_trips(far, 1, assert_ok(ses_get(far->store, &key, &as_live, &session, &error)));
    assert_in_range(ses_session_event_count(session), 1, sizeof is_live);
    assert_trips(far, 1, assert_ok(ses_session_live(session, NULL, is_live, sizeof is_live, &error)));
    assert_int_equal(is_live[0], 1);
    const char *id = ses_session_event(session, 0)->id;
    assert_trips(far, 1,
                 assert_ok(ses_event_get_by_key(far->store, &key, id, NULL, &seq, &json, &len, &error)));
    assert_string_equal(json, ses_session_event(session, 0)->json);
    assert_int_equal(seq, ses_session_event(session, 0)->seq);
    ses_free(json);
    assert_trips(far, 1, assert_ok(ses_event_count_by_key(far->store, &key, NULL, &seq, NULL, &error)));
    assert_int_equal(seq, ses_session_stored(session));
    ses_session_close(session);
    assert_trips(far, 1,
                 assert_ok(ses_state_get_by_key(far->store, &key, "user:u", NULL, &json, &len, &error)));
    assert_string_equal(json, "2");
    ses_free(json);
    assert_trips(far, 1, assert_ok(ses_state_json_by_key(far->store, &key, NULL, &json, &len, &error)));
    ses_free(json);
}

static void test_a_refresh_is_one(struct far_store *far)
{
    ses_error error;

    must_append_by_key(far->store, &key, event);
    assert_trips(far, 1, assert_ok(ses_refresh(far->session, NULL, &error)));
    assert_trips(far, 1, assert_ok(ses_refresh(far->session, NULL, &error)));
}

static void test_a_page_of_a_list_is_one(struct far_store *far)
{
    ses_list_options options = {.size = sizeof options, .limit = 2};
    char name[20];
    ses_page *page;
    ses_error error;

    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "listed-%d", far->made++);
        (must_create(far->store, &(ses_key){"app", i ? "user" : "other", name}, "{\"k\":1,\"user:o\":2}"));
    }
    for (int whole = 0; whole < 2; whole++) {
        const char *user = whole ? NULL : "user";
        for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CHANGED; order++) {
            options.order = order;
            options.token = NULL;
            assert_trips(far, 1, assert_ok(ses_list(far->store, "app", user, &options, &page, &error)));
            assert_int_equal(ses_page_count(page), 2);
            options.token = ses_page_token(page);
            ses_page *next;
            assert_trips(far, 1, assert_ok(ses_list(far->store, "app", user, &options, &next, &error)));
            ses_page_close(next);
            ses_page_close(page);
        }
    }
}

/* The session's events are read 64 a page. */
static void test_a_page_of_a_cursor_is_one(struct far_store *far)
{
    for (int backward = 0; backward < 2; backward++) {
        const ses_cursor_options options = {.size = sizeof options,
                                            .flags = backward ? SES_CURSOR_BACKWARD : 0};
        const ses_event *event_at;
        ses_cursor *cursor;
        ses_error error;
        int count = 0;

        proxy_reset(far->proxy);
        assert_ok(ses_cursor_open(far->store, &key, &options, &cursor, &error));
        while (ses_cursor_next(cursor, &event_at, &error) == SES_ROW)
            count++;
        assert_ok(ses_cursor_close(cursor, &error));
        assert_true(proxy_turns(far->proxy) <= (unsigned long)count / 64 + 1);
    }
}

static void test_creating_is_two_at_most(struct far_store *far)
{
    char user[20];
    char app[20];
    snprintf(user, sizeof user, "new-%d", far->made);
    snprintf(app, sizeof app, "app-%d", far->made++);
    const ses_key keys[] = {{"app", "user", user}, {"app", user, "s"}, {app, user, "s"}};
    const ses_create_options options = {
        .size = sizeof options, .title = "T", .labels = &(ses_label){"l", "v"}, .label_count = 1};
    static const char state[] = "{\"app:x\":9,\"user:u\":8,\"k\":{},\"temp:t\":0}";
    ses_session *session;
    ses_error error;

    for (int i = 0; i < 3; i++) {
        assert_trips(far, 1,
                     assert_ok(ses_create(far->store, &keys[i], state, SES_NUL, &options, &session, &error)));
        assert_string_equal(ses_session_title(session), "T");
        assert_string_equal(value_of(session, "user:u"), "8");
        assert_string_equal(value_of(session, "k"), "{}");
        ses_session_close(session);
        assert_trips(far, 2,
                     assert_code(SES_EXISTS, ses_create(far->store, &keys[i], NULL, 0, NULL, NULL, &error)));
        assert_trips(
            far, 1,
            assert_int_equal(ses_get_or_create(far->store, &keys[i], NULL, 0, NULL, &session, &error),
                             SES_EXISTING));
        ses_session_close(session);
    }
    snprintf(user, sizeof user, "new-%d", far->made++);
    assert_trips(far, 2,
                 assert_ok(ses_get_or_create(far->store, &(ses_key){"app", user, "s"}, NULL, 0, NULL,
                                             &session, &error)));
    ses_session_close(session);
}

static void list_artifacts(struct far_store *far)
{
    ses_artifact_list *list;
    ses_error error;

    assert_trips(far, 1, assert_ok(ses_artifact_names(far->session, NULL, &list, &error)));
    assert_true(ses_artifact_list_count(list) > 0);
    ses_artifact_list_close(list);
    assert_trips(far, 1, assert_ok(ses_artifact_versions_by_key(far->store, &key, "a", NULL, &list, &error)));
    assert_int_equal(ses_artifact_list_count(list), 2);
    ses_artifact_list_close(list);
}

static void test_an_artifact_is_one_to_read_and_three_to_save(struct far_store *far)
{
    const ses_artifact_save_options reference = {.size = sizeof reference, .kind = SES_ARTIFACT_URI};
    static const char address[] = "artifact://apps/app/users/user/sessions/s/artifacts/a/versions/1";
    static const char referring[] =
        "{\"content\":{\"parts\":[{\"fileData\":{\"fileUri\":\"artifact://apps/x/users/y/"
        "sessions/z/artifacts/a/versions/0\"}}]},\"actions\":{\"artifactDelta\":{\"a\":0}}}";
    char *inlined = NULL;
    ses_artifact *artifact;
    int64_t deleted = 0;
    ses_error error;
    char bytes[20];
    size_t len;

    assert_ok(ses_artifact_save(far->session, "user:b", "", 0, NULL, NULL, &error));
    for (int i = 0; i < 2; i++) /* the second time they are there already */
        assert_trips(far, 3, assert_ok(ses_artifact_save(far->session, "a", "bytes", 5, NULL, NULL, &error)));
    assert_trips(far, 3, assert_ok(ses_artifact_save(far->session, "user:b", "own", 3, NULL, NULL, &error)));
    assert_trips(far, 1, assert_ok(ses_artifact_open(far->session, "a", NULL, &artifact, &error)));
    assert_trips(far, 1, assert_ok(ses_artifact_read(artifact, 0, bytes, sizeof bytes, &len, &error)));
    assert_int_equal(len, 5);
    ses_artifact_close(artifact);
    assert_trips(
        far, 2,
        assert_ok(ses_artifact_inline(far->session, referring, SES_NUL, NULL, &inlined, NULL, &error)));
    ses_free(inlined);
    list_artifacts(far);
    assert_ok(ses_artifact_save(far->session, "r", address, SES_NUL, &reference, NULL, &error));
    assert_trips(far, 2, assert_ok(ses_artifact_open(far->session, "r", NULL, &artifact, &error)));
    assert_int_equal(ses_artifact_info_of(artifact)->size, 5);
    ses_artifact_close(artifact);
    assert_trips(far, 2, assert_ok(ses_artifact_delete(far->session, "a", NULL, &deleted, &error)));
    assert_int_equal(deleted, 2);
    assert_trips(far, 2, assert_ok(ses_artifact_delete(far->session, "none", NULL, &deleted, &error)));
    assert_int_equal(deleted, 0);
}

/* Two more than without: one to look for the versions, and another before it stores them. */
static void test_an_append_with_artifacts_is_three(struct far_store *far)
{
    ses_append_options options = {.size = sizeof options};
    ses_error error;

    assert_ok(ses_artifacts_open(far->store, &key, &options.artifacts, &error));
    assert_ok(ses_artifacts_add(options.artifacts, "with", "bytes", 5, NULL, &error));
    for (int i = 0; i < 2; i++)
        assert_trips(far, 3, assert_ok(ses_append(far->session, "{}", SES_NUL, &options, NULL, &error)));
    assert_trips(far, 3,
                 assert_ok(ses_append_by_key(far->store, &key, "{}", SES_NUL, &options, NULL, &error)));
    must_refresh(far->session);
    ses_artifacts_close(options.artifacts);
    assert_ok(ses_artifact_delete(far->session, "with", NULL, NULL, &error));
}

/* The server's welcome, the connection's settings, and the version of the schema. */
static void test_opening_is_three(struct far_store *far)
{
    ses_store *store = NULL;
    ses_error error;

    assert_trips(far, 3, assert_ok(ses_open_postgres(far->place, NULL, &far->options, &store, &error)));
    ses_close(store);
}

/* The ids and annotations, the state, the state at the beginning (which is two), the names of artifacts, and
 * the draft, the inbox (which is two) and the events. */
static void find_in_a_session(struct far_store *far, const ses_key *of)
{
    ses_findings *page = NULL;
    ses_error error;

    assert_trips(far, 9, assert_ok(ses_store_find(far->store, of, "agent", SES_NUL, NULL, &page, &error)));
    assert_int_equal(ses_findings_count(page), 2);
    assert_null(ses_findings_token(page));
    ses_findings_close(page);
}

/* A call that reads much of a session goes table by table. The session has two events. */
static void test_history_takes_more(struct far_store *far)
{
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};
    const ses_key small = {"history", "user", "small"};
    const ses_key forked = {"history", "user", "forked"};
    ses_session *session = must_open_new(far->store, &small, "{\"a\":1}");
    ses_session *fork;
    size_t len;
    char *json;
    ses_error error;

    must_append(session, event);
    must_append(session, event);
    find_in_a_session(far, &small);
    assert_trips(far, 14, assert_ok(ses_fork(session, NULL, &forked, NULL, &fork, &error)));
    assert_trips(far, 13, assert_ok(ses_cut(fork, &first, NULL, NULL, &error)));
    assert_trips(far, 7, assert_ok(ses_delete(far->store, &forked, NULL, NULL, &error)));
    assert_trips(far, 2, assert_ok(ses_delete(far->store, &forked, NULL, NULL, &error)));
    assert_trips(far, 2,
                 assert_ok(ses_shared_state_change(far->store, "history", "user", "{\"v\":1,\"w\":2}",
                                                   SES_NUL, NULL, &error)));
    assert_trips(
        far, 3,
        assert_ok(ses_shared_state_get(far->store, "history", "user", "v", NULL, &json, &len, &error)));
    ses_free(json);
    ses_session_close(fork);
    ses_session_close(session);
    must_delete(far->store, &small);
}

static int look_for_pending(ses_store *store, const ses_key *of, ses_error *error)
{
    ses_pending *pending = NULL;
    const int code = ses_pending_open_by_key(store, of, NULL, &pending, error);

    ses_pending_close(pending);
    return code;
}

/* An undo plans in a transaction that reads, table by table, and then writes in another. */
static void test_undo_takes_more(struct far_store *far)
{
    static const char turn[] =
        "{\"author\":\"user\",\"invocationId\":\"v%d\",\"content\":{\"parts\":[{\"text\":"
        "\"t\"}]},\"actions\":{\"stateDelta\":{\"n\":%d}}}";
    const ses_point last_turn = {.size = sizeof last_turn, .kind = SES_POINT_LAST_TURN};
    const ses_key of = {"history", "user", "turns"};
    char *json = NULL;
    ses_error error;

    must_create(far->store, &of, "{\"n\":0}");
    for (int i = 0; i < 4; i++) {
        char text[200];
        snprintf(text, sizeof text, turn, i, i);
        must_append_by_key(far->store, &of, text);
    }
    assert_trips(far, 11, assert_ok(ses_rewind_by_key(far->store, &of, &last_turn, NULL, NULL, &error)));
    assert_trips(far, 13, assert_ok(ses_redo_by_key(far->store, &of, NULL, NULL, &error)));
    assert_trips(
        far, 5,
        assert_ok(ses_state_json_as_of_by_key(far->store, &of, &last_turn, NULL, &json, NULL, &error)));
    ses_free(json);
    assert_trips(far, 2, assert_ok(look_for_pending(far->store, &of, &error)));
    must_delete(far->store, &of);
}

static void run_all(const struct database *database, const char *name, int unprepared)
{
    struct far_store far;

    open_far(&far, database, name, unprepared, DELAY_US);
    for (int round = 0; round < 2; round++) { /* what is prepared already costs no more, and no less */
        test_an_append_is_one(&far);
        test_so_is_one_under_a_lease(&far);
        test_one_that_is_stale_or_a_duplicate_is_two(&far);
        test_a_refresh_is_one(&far);
        test_a_read_is_one(&far);
        test_a_page_of_a_list_is_one(&far);
        test_a_page_of_a_cursor_is_one(&far);
        test_small_writes_are_two(&far);
        test_creating_is_two_at_most(&far);
        test_an_artifact_is_one_to_read_and_three_to_save(&far);
        test_an_append_with_artifacts_is_three(&far);
    }
    test_history_takes_more(&far);
    test_undo_takes_more(&far);
    test_opening_is_three(&far);
    close_far(&far);
}

SERVER_TEST(most_calls_wait_once)
{
    run_all(database, "prepared", 0);
}

SERVER_TEST(so_they_do_unprepared)
{
    run_all(database, "unprepared", 1);
}

SERVER_TEST(a_batch_of_many_events_and_keys_waits_once)
{
    struct far_store far;

    open_far(&far, database, "batches", 0, LONG_DELAY_US);
    append_batches(&far);
    close_far(&far);
}

/* ------------------------------------------------------------------------------------------ large events */

enum { LARGE = 20, LARGE_BYTES = 500000, PLENTY = 1 << 30 };

static const ses_key large = {.app = "large", .user = "user", .session = "s"};

static void append_large(ses_store *store)
{
    char *text = malloc(LARGE_BYTES + 100);

    assert_non_null(text);
    memset(text, 'x', LARGE_BYTES);
    memcpy(text, "{\"x\":\"", 6);
    strcpy(text + LARGE_BYTES, "\"}");
    must_create(store, &large, NULL);
    for (int i = 0; i < LARGE; i++)
        must_append_by_key(store, &large, text);
    free(text);
}

static int walk_with_cursor(ses_store *store)
{
    const ses_event *at;
    ses_cursor *cursor;
    ses_error error;
    int count = 0;

    assert_ok(ses_cursor_open(store, &large, NULL, &cursor, &error));
    while (ses_cursor_next(cursor, &at, &error) == SES_ROW)
        count++;
    assert_ok(ses_cursor_close(cursor, &error));
    return count;
}

static int walk_with_follower(ses_store *store)
{
    ses_follower *follower;
    const ses_event *at;
    ses_error error;
    int count = 0;

    assert_ok(ses_follower_open(store, &large, NULL, &follower, &error));
    while (ses_follower_next(follower, 0, &at, &error) == SES_ROW)
        count++;
    ses_follower_close(follower);
    return count;
}

static int count_lines(void *context, const char *data, size_t len, ses_error *error)
{
    int *lines = context;
    (void)error;

    for (size_t i = 0; i < len; i++)
        *lines += data[i] == '\n';
    return 0;
}

/* A session and its events. */
static int walk_with_export(ses_store *store)
{
    const ses_export_options options = {
        .size = sizeof options, .app = "large", .user = "user", .session = "s"};
    int lines = 0;
    ses_error error;

    assert_ok(ses_store_export(store, &options, count_lines, &lines, &error));
    return lines >= LARGE ? LARGE : 0;
}

/* Rows that a walk has no room for are not sent, only to be asked for again. */
SERVER_TEST(large_events_are_sent_once)
{
    static int (*const walks[])(ses_store * store) = {walk_with_cursor, walk_with_follower, walk_with_export};
    struct far_store far;

    open_far(&far, database, "large", 0, 0);
    append_large(far.store);
    for (size_t i = 0; i < sizeof walks / sizeof walks[0]; i++) {
        atomic_store(&far.proxy->down_left, PLENTY);
        assert_int_equal(walks[i](far.store), LARGE);
        assert_in_range(PLENTY - atomic_load(&far.proxy->down_left), LARGE * LARGE_BYTES,
                        (LARGE + 1) * LARGE_BYTES);
    }
    close_far(&far);
}
