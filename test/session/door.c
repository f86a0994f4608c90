/* Which transactions a public call runs: as a rule one, whatever it has to do there. */
#include "append.h"
#include "fake_engine.h"

struct door {
    struct fixture *fixture;
    ses_store *store;
    struct fake_engine fake;
};

static int door_setup(void **state)
{
    struct door *door = calloc(1, sizeof *door);

    assert_non_null(door);
    assert_int_equal(fixture_setup_memory((void **)&door->fixture), 0);
    door->store = door->fixture->store;
    fake_engine_put(&door->fake, door->store);
    *state = door;
    return 0;
}

static int door_teardown(void **state)
{
    struct door *door = *state;
    void *fixture = door->fixture;

    (void)fixture_teardown(&fixture);
    free(door);
    return 0;
}

/* A session with that state; how it was made is not counted. */
static ses_session *new_session(struct door *door, const ses_key *of, const char *json)
{
    ses_session *session = must_open_new(door->store, of, json);

    memset(door->fake.calls, 0, sizeof door->fake.calls);
    return session;
}

/* ------------------------------------------------------------------------------------------- creating */

#define DOOR_TEST(name) TEST_WITH(struct door *door, door_setup, door_teardown, name)

DOOR_TEST(creating_is_one_operation)
{
    const ses_key nameless = {"app", "user", NULL};
    ses_session *session = must_open_new(door->store, &key, Q("{'app:a':1,'user:b':2,'c':3,'temp:d':4}"));

    assert_writes(&door->fake, 1);
    ses_session_close(session);
    must_create(door->store, &nameless, NULL);
    assert_writes(&door->fake, 1);
    assert_code(SES_EXISTS, ses_create(door->store, &key, NULL, 0, NULL, NULL, &error));
    assert_writes(&door->fake, 1);
}

DOOR_TEST(get_or_create_is_one_operation)
{
    ses_session *session = NULL;

    assert_ok(ses_get_or_create(door->store, &key, Q("{'a':1}"), SES_NUL, NULL, &session, &error));
    assert_transactions(&door->fake, 1, 1);
    ses_session_close(session);
    must_append_by_key(door->store, &key, "{}");
    assert_writes(&door->fake, 1);
    assert_code(SES_EXISTING, ses_get_or_create(door->store, &key, NULL, 0, NULL, &session, &error));
    assert_reads(&door->fake, 1);
    assert_int_equal(ses_session_event_count(session), 1);
    ses_session_close(session);
}

/* ------------------------------------------------------------------------------------------ appending */

enum { EVENTS = 100, KEYS = 30 };

/* An event that changes so many keys of each scope; free it. */
static char *event_with_keys(int number)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    fprintf(out, "{\"id\":\"e%d\",\"invocationId\":\"i\",\"actions\":{\"stateDelta\":{", number);
    for (int i = 0; i < KEYS; i++)
        fprintf(out, "\"app:%d\":%d,\"user:%d\":%d,\"temp:%d\":%d,\"%d\":%d%s", i, number, i, number, i,
                number, i, number, i + 1 < KEYS ? "," : "}}}");
    assert_int_equal(fclose(out), 0);
    return text;
}

DOOR_TEST(appending_one_event_is_one_operation)
{
    static const ses_append_options options = {.size = sizeof options,
                                               .expected = "{\"app:0\":7,\"user:1\":7}",
                                               .expected_len = SES_NUL,
                                               .delta = "{\"app:0\":1,\"more\":1}",
                                               .delta_len = SES_NUL};
    ses_session *session = new_session(door, &key, NULL);
    char *event = event_with_keys(7);

    must_append(session, event);
    assert_writes(&door->fake, 1);
    assert_ok(ses_append(session, "{}", SES_NUL, &options, NULL, &error));
    assert_writes(&door->fake, 1);
    must_append_by_key(door->store, &key, "{}");
    assert_writes(&door->fake, 1);
    free(event);
    ses_session_close(session);
}

DOOR_TEST(appending_many_events_is_one_operation)
{
    ses_session *session = new_session(door, &key, NULL);
    ses_text events[EVENTS];
    ses_appended appended[EVENTS];

    for (int i = 0; i < EVENTS; i++)
        events[i] = (ses_text){event_with_keys(i), SES_NUL};
    assert_ok(ses_append_batch(session, events, EVENTS / 2, NULL, appended, &error));
    assert_writes(&door->fake, 1);
    assert_ok(ses_append_batch_by_key(door->store, &key, events, EVENTS, NULL, appended, &error));
    assert_writes(&door->fake, 1);
    assert_int_equal(appended[0].status, SES_DUPLICATE);
    assert_int_equal(appended[EVENTS - 1].status, SES_OK);
    for (int i = 0; i < EVENTS; i++)
        free((char *)events[i].text);
    ses_session_close(session);
}

DOOR_TEST(appending_through_a_view_is_one_operation)
{
    ses_session *session = new_session(door, &key, Q("{'app:n':1,'user:n':1}"));
    ses_tracked *view = NULL;
    int64_t number = 0;

    assert_ok(ses_tracked_open(session, NULL, &view, &error));
    assert_ok(ses_tracked_get_int64(view, "app:n", &number, &error));
    assert_ok(ses_tracked_set_int64(view, "app:n", number + 1, &error));
    assert_ok(ses_tracked_set_string(view, "s", "text", SES_NUL, &error));
    assert_no_transaction(&door->fake);
    assert_ok(ses_tracked_append(view, "{}", SES_NUL, NULL, NULL, &error));
    assert_writes(&door->fake, 1);
    assert_ok(ses_output_append(view, Q("{'author':'agent','content':{'parts':[{'text':'said'}]}}"), SES_NUL,
                                "agent", "answer", NULL, NULL, &error));
    assert_writes(&door->fake, 1);
    assert_state(session, Q("{'app:n':2,'user:n':1,'answer':'said','s':'text'}"));
    ses_tracked_close(view);
    ses_session_close(session);
}

/* A handle that is behind needs no second call to find out, nor to catch up. */
DOOR_TEST(a_stale_append_is_one_operation)
{
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
    const ses_append_options unlike = {
        .size = sizeof unlike, .expected = Q("{'app:n':5}"), .expected_len = SES_NUL};
    ses_session *session = new_session(door, &key, Q("{'app:n':1}"));

    assert_code(SES_STALE, ses_append(session, "{}", SES_NUL, &unlike, NULL, &error));
    assert_writes(&door->fake, 1);
    must_append_by_key(door->store, &key, Q("{'actions':{'stateDelta':{'a':1}}}"));
    assert_writes(&door->fake, 1);
    assert_code(SES_STALE, ses_append(session, "{}", SES_NUL, NULL, NULL, &error));
    assert_writes(&door->fake, 1);
    assert_ok(ses_append(session, "{}", SES_NUL, &anyway, NULL, &error));
    assert_writes(&door->fake, 1);
    assert_state(session, Q("{'app:n':1,'a':1}"));
    assert_int_equal(ses_session_event_count(session), 2);
    ses_session_close(session);
}

DOOR_TEST(a_repeated_append_is_one_operation)
{
    ses_session *session = new_session(door, &key, NULL);

    must_append_by_key(door->store, &key, Q("{'id':'e'}"));
    assert_writes(&door->fake, 1);
    assert_code(SES_DUPLICATE, ses_append(session, Q("{'id':'e'}"), SES_NUL, NULL, NULL, &error));
    assert_writes(&door->fake, 1);
    assert_int_equal(ses_session_event_count(session), 1);
    assert_code(SES_EXISTS, ses_append(session, Q("{'id':'e','author':'x'}"), SES_NUL, NULL, NULL, &error));
    assert_writes(&door->fake, 1);
    ses_session_close(session);
}

DOOR_TEST(calls_without_storage_are_not_operations)
{
    static const ses_text partials[] = {{"{\"partial\":true}", SES_NUL}, {"{\"partial\":true}", SES_NUL}};
    ses_session *session = new_session(door, &key, Q("{'a':1}"));
    const char *json = NULL;
    char id[40];

    assert_code(SES_PARTIAL, ses_append(session, partials[0].text, SES_NUL, NULL, NULL, &error));
    assert_ok(ses_append_batch(session, partials, 2, NULL, NULL, &error));
    assert_ok(ses_append_batch(session, NULL, 0, NULL, NULL, &error));
    assert_code(SES_JSON, ses_append(session, "{", SES_NUL, NULL, NULL, &error));
    assert_code(SES_INVALID,
                ses_append_by_key(door->store, &key, Q("{'id':1}"), SES_NUL, NULL, NULL, &error));
    assert_ok(ses_state_get(session, "a", &json, NULL, &error));
    assert_string_equal(support_state(session, NULL), Q("{'a':1}"));
    assert_ok(ses_invocation_begin(session, NULL, &error));
    assert_ok(ses_store_make_id(door->store, id, sizeof id, &error));
    assert_no_transaction(&door->fake);
    ses_session_close(session);
    assert_no_transaction(&door->fake);
}

/* ------------------------------------------------------------------------------------------- reading */

DOOR_TEST(reading_is_one_operation)
{
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = 1};
    ses_session *session = new_session(door, &key, Q("{'app:a':1,'user:b':2,'c':3}"));
    char *json = NULL;

    must_append_by_key(door->store, &key, "{}");
    assert_writes(&door->fake, 1);
    ses_session *other = must_get(door->store, &key);
    assert_reads(&door->fake, 1);
    ses_session_close(other);
    assert_ok(ses_get(door->store, &key, GET_RANGE(&newest), &other, &error));
    assert_reads(&door->fake, 1);
    ses_session_close(other);
    for (int i = 0; i < 2; i++) { /* behind, and no longer */
        must_refresh(session);
        assert_reads(&door->fake, 1);
    }
    assert_ok(ses_state_json_by_key(door->store, &key, NULL, &json, NULL, &error));
    assert_reads(&door->fake, 1);
    ses_free(json);
    assert_ok(ses_state_get_by_key(door->store, &key, "user:b", NULL, &json, NULL, &error));
    assert_reads(&door->fake, 1);
    ses_free(json);
    assert_code(SES_ABSENT, ses_state_get_by_key(door->store, &key, "nothing", NULL, &json, NULL, &error));
    assert_reads(&door->fake, 1);
    ses_session_close(session);
}

DOOR_TEST(shared_state_is_one_operation)
{
    const ses_shared_state_options seen = {
        .size = sizeof seen, .expected = "{\"a\":1}", .expected_len = SES_NUL};
    char *json = NULL;

    assert_ok(ses_shared_state_change(door->store, "app", "user", "{\"a\":1}", 7, NULL, &error));
    assert_writes(&door->fake, 1);
    assert_ok(ses_shared_state_change(door->store, "app", "user", "{\"a\":2}", 7, &seen, &error));
    assert_writes(&door->fake, 1);
    assert_ok(ses_shared_state_json(door->store, "app", "user", NULL, &json, NULL, &error));
    ses_free(json);
    assert_ok(ses_shared_state_get(door->store, "app", "user", "a", NULL, &json, NULL, &error));
    ses_free(json);
    assert_reads(&door->fake, 2);
    assert_code(SES_INVALID, ses_shared_state_change(door->store, "app", NULL, "[]", 2, NULL, &error));
    assert_no_transaction(&door->fake);
}

DOOR_TEST(a_page_of_sessions_is_one_operation)
{
    enum { USERS = 5, SESSIONS = 8 };
    const ses_list_options first = {.size = sizeof first, .limit = USERS * SESSIONS / 2};
    ses_list_options second = first;
    ses_page *page = NULL;
    ses_page *rest = NULL;

    for (int i = 0; i < USERS * SESSIONS; i++) {
        char user[16];
        char name[16];
        const ses_key of = {"app", user, name};
        snprintf(user, sizeof user, "u%d", i % USERS);
        snprintf(name, sizeof name, "s%d", i);
        ses_session_close(new_session(door, &of, Q("{'app:a':1,'user:b':2,'c':3}")));
    }
    assert_ok(ses_list(door->store, "app", NULL, &first, &page, &error));
    assert_reads(&door->fake, 1);
    second.token = ses_page_token(page);
    assert_ok(ses_list(door->store, "app", NULL, &second, &rest, &error));
    assert_reads(&door->fake, 1);
    assert_int_equal(ses_page_count(page) + ses_page_count(rest), USERS * SESSIONS);
    for (size_t i = 0; i < ses_page_count(page); i++)
        assert_state(ses_page_session(page, i), Q("{'app:a':1,'user:b':2,'c':3}"));
    ses_page_close(page);
    ses_page_close(rest);
    assert_ok(ses_list(door->store, "app", "u1", NULL, &page, &error));
    assert_int_equal(ses_page_count(page), SESSIONS);
    ses_page_close(page);
    assert_reads(&door->fake, 1);
}

DOOR_TEST(filtered_lists_and_counts_are_one_operation)
{
    static const ses_filter filter = {.size = sizeof filter, .label = "l"};
    static const ses_filter wrong = {.size = sizeof wrong, .label = ""};
    const ses_list_options options = {.size = sizeof options, .filter = &filter};
    ses_page *page = NULL;
    int64_t count = -1;

    ses_session_close(new_session(door, &key, NULL));
    assert_ok(ses_list(door->store, "app", NULL, &options, &page, &error));
    assert_reads(&door->fake, 1);
    assert_int_equal(ses_page_count(page), 0);
    ses_page_close(page);
    assert_ok(ses_list_count(door->store, "app", "user", NULL, NULL, &count, &error));
    assert_int_equal(count, 1);
    assert_ok(ses_list_count(door->store, "app", NULL, &filter, NULL, &count, &error));
    assert_reads(&door->fake, 2);
    assert_int_equal(count, 0);
    assert_code(SES_INVALID, ses_list_count(door->store, "app", NULL, &wrong, NULL, &count, &error));
    assert_no_transaction(&door->fake);
}

DOOR_TEST(a_page_of_names_is_one_operation)
{
    ses_names *names = NULL;

    ses_session_close(new_session(door, &key, NULL));
    assert_ok(ses_list_apps(door->store, NULL, &names, &error));
    assert_string_equal(ses_names_at(names, 0), "app");
    ses_names_close(names);
    assert_ok(ses_list_users(door->store, "app", NULL, &names, &error));
    assert_string_equal(ses_names_at(names, 0), "user");
    ses_names_close(names);
    assert_reads(&door->fake, 2);
}

/* Opening a cursor reads its first page. */
DOOR_TEST(a_page_of_events_is_one_operation)
{
    enum { PAGE = 64, EVENTS_WALKED = 2 * PAGE + 2 };
    const ses_cursor_options backward = {.size = sizeof backward, .flags = SES_CURSOR_BACKWARD};
    ses_text events[EVENTS_WALKED];

    ses_session_close(new_session(door, &key, NULL));
    for (size_t i = 0; i < EVENTS_WALKED; i++)
        events[i] = (ses_text){"{}", 2};
    assert_ok(ses_append_batch_by_key(door->store, &key, events, EVENTS_WALKED, NULL, NULL, &error));
    assert_writes(&door->fake, 1);
    for (int back = 0; back < 2; back++) {
        const ses_event *event = NULL;
        ses_cursor *cursor = NULL;
        assert_ok(ses_cursor_open(door->store, &key, back ? &backward : NULL, &cursor, &error));
        assert_reads(&door->fake, 1);
        for (int i = 0; i < EVENTS_WALKED; i++) {
            assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
            assert_reads(&door->fake, i == PAGE || i == 2 * PAGE);
        }
        assert_ok(ses_cursor_next(cursor, &event, &error));
        assert_ok(ses_cursor_close(cursor, &error));
        assert_no_transaction(&door->fake);
    }
}

/* Opening a follower reads where it begins, if that must be known. */
DOOR_TEST(following_is_one_operation_a_page)
{
    enum { PAGE = 64 };
    const ses_key of_user = {"app", "user", NULL};
    ses_text events[2 * PAGE];
    const ses_event *event = NULL;
    ses_follower *follower = NULL;

    for (size_t i = 0; i < 2 * PAGE; i++)
        events[i] = (ses_text){"{}", 2};
    ses_session_close(new_session(door, &key, NULL));
    assert_ok(ses_append_batch_by_key(door->store, &key, events, 2 * PAGE, NULL, NULL, &error));
    assert_writes(&door->fake, 1);
    for (int user = 0; user < 2; user++) {
        assert_ok(ses_follower_open(door->store, user ? &of_user : &key, NULL, &follower, &error));
        assert_reads(&door->fake, user ? 0 : 1);
        for (int i = 0; i < 2 * PAGE; i++) {
            assert_code(SES_ROW, ses_follower_next(follower, 0, &event, &error));
            /* A user's other sessions are looked at between the pages of one. */
            assert_reads(&door->fake, i == 0 ? 1 : i == PAGE ? 1 + (unsigned)user : 0);
        }
        assert_ok(ses_follower_next(follower, 0, &event, &error));
        assert_reads(&door->fake, 1 + (unsigned)user);
        assert_ok(ses_follower_next(follower, 0, &event, &error));
        assert_reads(&door->fake, 1);
        assert_non_null(ses_follower_place(follower));
        ses_follower_close(follower);
        assert_no_transaction(&door->fake);
    }
}

/* ------------------------------------------------------------------------------------------- history */

DOOR_TEST(every_step_in_history_is_one_operation)
{
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};
    const ses_key copy = {"app", "user", "copy"};
    ses_session *session = new_session(door, &key, Q("{'a':1}"));
    ses_session *fork = NULL;
    char *json = NULL;

    must_append(session, Q("{'invocationId':'i1','actions':{'stateDelta':{'a':2}}}"));
    must_append(session, Q("{'invocationId':'i2','actions':{'stateDelta':{'a':3}}}"));
    assert_writes(&door->fake, 2);
    assert_ok(ses_state_json_as_of(session, &first, NULL, &json, NULL, &error));
    ses_free(json);
    assert_ok(ses_state_json_as_of_by_key(door->store, &key, &first, NULL, &json, NULL, &error));
    ses_free(json);
    assert_ok(ses_state_json_initial(session, NULL, &json, NULL, &error));
    ses_free(json);
    assert_reads(&door->fake, 3);
    assert_ok(ses_rewind(session, &first, NULL, NULL, &error));
    assert_code(SES_UNCHANGED, ses_rewind_by_key(door->store, &key, &first, NULL, NULL, &error));
    assert_ok(ses_redo(session, NULL, NULL, &error));
    assert_transactions(&door->fake, 3, 3); /* each plans in a read */
    assert_ok(ses_fork(session, &first, &copy, NULL, &fork, &error));
    assert_ok(ses_fork_by_key(door->store, &key, &first, NULL, NULL, NULL, &error));
    assert_transactions(&door->fake, 2, 2);
    assert_ok(ses_cut(session, &first, NULL, NULL, &error));
    assert_code(SES_UNCHANGED, ses_cut_by_key(door->store, &key, &first, NULL, NULL, &error));
    assert_transactions(&door->fake, 2, 2);
    assert_code(SES_INVALID, ses_rewind(session, &(ses_point){sizeof(ses_point), SES_POINT_SEQ, -1, NULL},
                                        NULL, NULL, &error));
    assert_no_transaction(&door->fake);
    ses_session_close(fork);
    ses_session_close(session);
}

static int give_two_events(void *context, ses_loaded_event *event, ses_error *error)
{
    int *given = context;

    (void)error;
    event->json = *given ? Q("{'id':'2','timestamp':2}") : Q("{'id':'1','timestamp':1}");
    event->json_len = SES_NUL;
    return (*given)++ < 2;
}

DOOR_TEST(loading_is_one_operation)
{
    int given = 0;
    const ses_loaded loaded = {.size = sizeof loaded,
                               .created_us = &(int64_t){1},
                               .title = "T",
                               .next = give_two_events,
                               .next_context = &given};

    assert_ok(ses_load(door->store, &key, &loaded, NULL, NULL, &error));
    given = 0;
    assert_code(SES_UNCHANGED, ses_load(door->store, &key, &loaded, NULL, NULL, &error));
    assert_writes(&door->fake, 2);
}

static int pass_lines(void *context, const char *data, size_t len, ses_error *error)
{
    (void)context, (void)data, (void)len, (void)error;
    return 0;
}

/* However much there is. */
DOOR_TEST(an_export_is_one_operation)
{
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        ses_session_close(new_session(door, &(ses_key){"app", "user", name}, Q("{'app:a':1,'k':2}")));
    }
    assert_ok(ses_store_export(door->store, NULL, pass_lines, NULL, &error));
    assert_reads(&door->fake, 1);
}

/* ------------------------------------------------------------------------------------------- deleting */

DOOR_TEST(deleting_is_one_operation)
{
    ses_session *session = new_session(door, &key, Q("{'user:b':2,'c':3}"));
    int64_t count = 0;

    for (int64_t there = 1; there >= 0; there--) {
        assert_ok(ses_delete(door->store, &key, NULL, &count, &error));
        assert_writes(&door->fake, 1);
        assert_int_equal(count, there);
    }
    assert_code(SES_NOTFOUND, ses_append(session, "{}", SES_NUL, NULL, NULL, &error));
    assert_writes(&door->fake, 1);
    ses_session_close(session);
    ses_session_close(new_session(door, &key, NULL));
    assert_ok(ses_delete_user(door->store, "app", "user", NULL, &count, NULL, &error));
    assert_writes(&door->fake, 1);
    assert_int_equal(count, 1);
}

DOOR_TEST(pruning_is_one_operation)
{
    const ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_KEEP, .keep = 1};
    ses_session *session = new_session(door, &key, NULL);
    int64_t deleted = 0;

    for (int i = 0; i < 3; i++)
        must_append(session, "{}");
    memset(door->fake.calls, 0, sizeof door->fake.calls);
    assert_ok(ses_prune(session, &options, &deleted, &error));
    assert_transactions(&door->fake, 1, 1);
    assert_int_equal(deleted, 2);
    assert_code(SES_UNCHANGED, ses_prune_by_key(door->store, &key, &options, &deleted, &error));
    assert_reads(&door->fake, 1);
    ses_session_close(session);
}

DOOR_TEST(title_and_labels_are_one_operation)
{
    static const ses_label label = {"a", "1"};
    ses_session *session = new_session(door, &key, NULL);

    assert_ok(ses_title_set(session, "T", NULL, &error));
    assert_ok(ses_title_set_by_key(door->store, &key, "T", NULL, &error));
    assert_ok(ses_labels_set(session, &label, 1, NULL, &error));
    assert_ok(ses_labels_set_by_key(door->store, &key, &label, 1, NULL, &error));
    assert_writes(&door->fake, 4);
    assert_string_equal(ses_session_title(session), "T");
    assert_string_equal(ses_session_label_value(session, "a"), "1");
    assert_code(SES_INVALID, ses_title_set(session, "", NULL, &error));
    assert_no_transaction(&door->fake);
    ses_session_close(session);
}

DOOR_TEST(expiring_and_upkeep_are_one_operation)
{
    ses_session *session = new_session(door, &key, NULL);
    const int64_t later = door->fixture->now + 1;
    ses_space space = {.size = sizeof space};
    int64_t deleted = 0;

    assert_ok(ses_expiry_set(session, &later, NULL, &error));
    assert_writes(&door->fake, 1);
    assert_ok(ses_expiry_set_by_key(door->store, &key, &later, NULL, &error));
    assert_writes(&door->fake, 1);
    door->fixture->now++;
    assert_ok(ses_store_expire(door->store, NULL, NULL, &deleted, &error));
    assert_transactions(&door->fake, 1, 1);
    assert_int_equal(deleted, 1);
    assert_ok(ses_delete_app(door->store, "app", NULL, &deleted, &error));
    assert_writes(&door->fake, 1);
    assert_ok(ses_store_maintain(door->store, NULL, &error));
    assert_whole(&door->fake, 1);
    assert_ok(ses_store_space(door->store, NULL, &space, &error));
    assert_whole(&door->fake, 1);
    ses_session_close(session);
}

DOOR_TEST(a_lease_is_one_operation)
{
    const ses_lease_options at_once = {.size = sizeof at_once, .wait_ms = -1};
    ses_append_options options = {.size = sizeof options};
    ses_lease lease;

    ses_session_close(new_session(door, &key, NULL));
    assert_ok(ses_lease_take(door->store, &key, "a", NULL, &lease, &error));
    assert_transactions(&door->fake, 1, 1);
    assert_code(SES_BUSY, ses_lease_take(door->store, &key, "b", &at_once, &lease, &error));
    assert_reads(&door->fake, 1);
    options.lease = lease.token;
    assert_ok(ses_append_by_key(door->store, &key, "{}", SES_NUL, &options, NULL, &error));
    assert_writes(&door->fake, 1);
    assert_ok(ses_lease_renew(door->store, &key, lease.token, NULL, NULL, &error));
    assert_writes(&door->fake, 1);
    assert_ok(ses_lease_release(door->store, &key, lease.token, NULL, &error));
    assert_writes(&door->fake, 1);
}

DOOR_TEST(upkeep_of_the_whole_store_is_one_operation_each)
{
    char *folder = support_folder_make();
    char *target = support_path(folder, "copy.db");
    ses_store *copy = NULL;
    int64_t problems = 0;

    assert_ok(ses_store_backup(door->store, target, NULL, &error));
    assert_no_transaction(&door->fake); /* a backup is the engine's alone */
    assert_ok(ses_open_copy(door->store, NULL, &copy, &error));
    assert_no_transaction(&door->fake);
    ses_close(copy);
    assert_ok(ses_store_check(door->store, NULL, &problems, &error));
    assert_whole(&door->fake, 1);
    free(target);
    support_folder_remove(folder);
}
