/*
 * Failures of an engine below a public call: it fails with any code, before its work or with the answer lost
 * after it, and it begins an operation again from the start.
 */
#include <sqlite3.h>
#include <unistd.h>

#include "append.h"
#include "fake_engine.h"
#include "storage/sqlite/connection/config.h"

static const int codes[] = {
#define CODE(name, number, text) SES_##name,
    SES_CODES(CODE)
#undef CODE
};

enum { CODES = sizeof codes / sizeof codes[0] };

static const char event[] =
    "{\"id\":\"e\",\"invocationId\":\"i\",\"actions\":{\"stateDelta\":{\"app:a\":5,\"user:b\":5,"
    "\"c\":5,\"temp:d\":5}}}";

struct faults {
    struct fixture *fixture;
    ses_store *store;
    struct fake_engine fake;
    ses_session *session; /* at version 1, of 2 */
};

static int faults_setup(void **state)
{
    struct faults *faults = calloc(1, sizeof *faults);

    assert_non_null(faults);
    assert_int_equal(fixture_setup((void **)&faults->fixture), 0);
    faults->store = faults->fixture->store;
    fake_engine_put(&faults->fake, faults->store);
    faults->session = must_open_new(faults->store, &key, Q("{'app:a':1,'user:b':2,'c':3}"));
    must_append(faults->session, Q("{'id':'first','invocationId':'i'}"));
    must_append_by_key(faults->store, &key, Q("{'id':'second','actions':{'stateDelta':{'c':4}}}"));
    *state = faults;
    return 0;
}

static int faults_teardown(void **state)
{
    struct faults *faults = *state;
    void *fixture = faults->fixture;

    ses_session_close(faults->session);
    (void)fixture_teardown(&fixture);
    free(faults);
    return 0;
}

/* ------------------------------------------------------------------------------- engines that fail */

static void *const UNTOUCHED = &(char){0};

static void fail_creating(struct faults *faults, int code)
{
    const ses_key other = {"app", "user", "other"};
    ses_session *session = UNTOUCHED;
    ses_error error;

    assert_code(code, ses_create(faults->store, &other, Q("{'a':1}"), SES_NUL, NULL, &session, &error));
    assert_null(session);
    session = UNTOUCHED;
    assert_code(code, ses_get_or_create(faults->store, &key, NULL, 0, NULL, &session, &error));
    assert_null(session);
}

static void fail_reading(struct faults *faults, int code)
{
    ses_session *session = UNTOUCHED;
    ses_page *page = UNTOUCHED;
    ses_cursor *cursor = UNTOUCHED;
    char *json = UNTOUCHED;
    size_t len = 77;
    ses_error error;

    assert_code(code, ses_get(faults->store, &key, NULL, &session, &error));
    assert_null(session);
    assert_code(code, ses_refresh(faults->session, NULL, &error));
    assert_code(code, ses_state_json_by_key(faults->store, &key, NULL, &json, &len, &error));
    assert_null(json);
    json = UNTOUCHED;
    assert_code(code, ses_state_get_by_key(faults->store, &key, "c", NULL, &json, &len, &error));
    assert_null(json);
    assert_int_equal(len, 77);
    assert_code(code, ses_list(faults->store, "app", NULL, NULL, &page, &error));
    assert_null(page);
    assert_code(code, ses_cursor_open(faults->store, &key, NULL, &cursor, &error));
    assert_null(cursor);
    ses_follower *follower = UNTOUCHED;
    assert_code(code, ses_follower_open(faults->store, &key, NULL, &follower, &error));
    assert_null(follower);
}

/* Nothing, unless the outcome is not known: then the ids that were made, by which it is sent again. */
static void assert_told(int code, const ses_appended *appended, const ses_appended *before, bool made_id)
{
    if (code == SES_UNKNOWN) {
        assert_int_equal(appended->status, SES_UNKNOWN);
        assert_int_equal(strlen(appended->made_id), made_id ? 36 : 0);
        assert_int_equal(appended->seq + appended->version + appended->time_us + appended->updated_us, 0);
    } else {
        assert_memory_equal(appended, before, sizeof *before);
    }
}

static void fail_appending(struct faults *faults, int code)
{
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
    const ses_text events[] = {{"{}", 2}, {event, SES_NUL}};
    ses_appended appended[2];
    ses_appended before[2];
    ses_tracked *view = NULL;
    ses_error error;

    memset(before, 0x55, sizeof before);
    memcpy(appended, before, sizeof before);
    assert_ok(ses_tracked_open(faults->session, NULL, &view, &error));
    assert_ok(ses_tracked_set_bool(view, "app:new", 1, &error));
    assert_code(code, ses_append(faults->session, event, SES_NUL, &anyway, appended, &error));
    assert_code(code, ses_append_by_key(faults->store, &key, event, SES_NUL, NULL, appended, &error));
    assert_told(code, &appended[0], &before[0], false);
    assert_code(code, ses_append_by_key(faults->store, &key, "{}", 2, NULL, appended, &error));
    assert_told(code, &appended[0], &before[0], true);
    memcpy(appended, before, sizeof before);
    assert_code(code, ses_append_batch(faults->session, events, 2, &anyway, appended, &error));
    assert_told(code, &appended[0], &before[0], true);
    assert_told(code, &appended[1], &before[1], false);
    assert_code(code, ses_append_batch_by_key(faults->store, &key, events, 2, NULL, appended, &error));
    if (!faults->fake.answer_lost) /* it has looked at none */
        assert_int_equal(error.index, -1);
    assert_code(code, ses_tracked_append(view, event, SES_NUL, &anyway, appended, &error));
    assert_told(code, &appended[0], &before[0], false);
    assert_true(ses_tracked_changed(view));
    ses_tracked_close(view);
}

static const ses_point first_event = {.size = sizeof first_event, .kind = SES_POINT_SEQ, .seq = 1};

static void fail_history(struct faults *faults, int code)
{
    const ses_rewind_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
    const ses_cut_options cut_anyway = {.size = sizeof cut_anyway, .flags = SES_ANYWAY};
    ses_appended appended;
    ses_appended before;
    ses_session *fork = UNTOUCHED;
    char *json = UNTOUCHED;
    int64_t count = 77;
    ses_error error;

    memset(&before, 0x55, sizeof before);
    appended = before;
    assert_code(code, ses_state_json_as_of(faults->session, NULL, NULL, &json, NULL, &error));
    assert_null(json);
    json = UNTOUCHED;
    assert_code(code, ses_state_json_initial_by_key(faults->store, &key, NULL, &json, NULL, &error));
    assert_null(json);
    assert_code(code, ses_rewind(faults->session, &first_event, &anyway, &appended, &error));
    if (code == SES_UNKNOWN) /* what it is known by */
        assert_int_equal(strlen(appended.made_id), 36);
    else
        assert_memory_equal(&appended, &before, sizeof before);
    assert_code(code, ses_redo_by_key(faults->store, &key, NULL, NULL, &error));
    assert_code(code, ses_cut(faults->session, &first_event, &cut_anyway, &count, &error));
    assert_int_equal(count, 77);
    assert_code(code, ses_fork(faults->session, &first_event, NULL, NULL, &fork, &error));
    assert_null(fork);
}

static void fail_annotating(struct faults *faults, int code)
{
    static const ses_label label = {"a", "1"};
    char *json = UNTOUCHED;
    int64_t count = 77;
    ses_error error;

    assert_code(code, ses_title_set(faults->session, "T", NULL, &error));
    assert_code(code, ses_labels_set(faults->session, &label, 1, NULL, &error));
    assert_code(code, ses_labels_set_by_key(faults->store, &key, &label, 1, NULL, &error));
    assert_null(ses_session_title(faults->session));
    assert_int_equal(ses_session_label_count(faults->session), 0);
    assert_code(code, ses_list_count(faults->store, "app", NULL, NULL, NULL, &count, &error));
    assert_int_equal(count, 77);
    assert_code(code, ses_shared_state_json(faults->store, "app", NULL, NULL, &json, NULL, &error));
    assert_null(json);
    assert_code(code, ses_shared_state_change(faults->store, "app", NULL, "{\"x\":1}", 7, NULL, &error));
}

static void fail_deleting(struct faults *faults, int code)
{
    int64_t count = 77;
    ses_error error;

    assert_code(code, ses_delete(faults->store, &key, NULL, &count, &error));
    assert_code(code, ses_delete_user(faults->store, "app", "user", NULL, &count, &count, &error));
    assert_int_equal(count, 77);
}

static void fail_leasing(struct faults *faults, int code)
{
    const ses_lease_options at_once = {.size = sizeof at_once, .wait_ms = -1};
    ses_lease lease = {.token = 77, .until_us = 78};
    ses_error error;

    assert_code(code, ses_lease_take(faults->store, &key, "a", &at_once, &lease, &error));
    assert_code(code, ses_lease_renew(faults->store, &key, 1, NULL, &lease, &error));
    assert_code(code, ses_lease_release(faults->store, &key, 1, NULL, &error));
    assert_int_equal(lease.token, 77);
    assert_int_equal(lease.until_us, 78);
}

#define FAULTS_TEST(name) TEST_WITH(struct faults *faults, faults_setup, faults_teardown, name)

/* The handle, and what is stored, before and after. */
FAULTS_TEST(an_engine_that_fails_with_any_code_changes_nothing)
{
    char *handle = describe(faults->session, 1);
    char *stored = describe_stored(faults->store, &key);

    for (int i = 0; i < CODES; i++) {
        faults->fake.fails_with = codes[i];
        fail_creating(faults, codes[i]);
        fail_reading(faults, codes[i]);
        fail_appending(faults, codes[i]);
        fail_history(faults, codes[i]);
        fail_annotating(faults, codes[i]);
        fail_deleting(faults, codes[i]);
        fail_leasing(faults, codes[i]);
        faults->fake.fails_with = SES_OK;
        char *handle_after = describe(faults->session, 1);
        char *stored_after = describe_stored(faults->store, &key);
        assert_string_equal(handle_after, handle);
        assert_string_equal(stored_after, stored);
        free(handle_after);
        free(stored_after);
    }
    free(handle);
    free(stored);
}

/* Results that the engine has filled in by then are freed, and never shown. */
FAULTS_TEST(an_answer_that_is_lost_is_not_shown)
{
    char *handle = describe(faults->session, 1);

    faults->fake.answer_lost = true;
    for (int i = 0; i < CODES; i++) {
        faults->fake.fails_with = codes[i];
        fail_reading(faults, codes[i]);
        fail_appending(faults, codes[i]);
        fail_creating(faults, codes[i]);
        fail_history(faults, codes[i]);
        fail_annotating(faults, codes[i]);
        fail_deleting(faults, codes[i]);
        char *after = describe(faults->session, 1);
        assert_string_equal(after, handle);
        free(after);
    }
    free(handle);
}

/* It is stored, and nobody knows: the caller appends it again. */
FAULTS_TEST(an_append_whose_answer_was_lost_is_repeated)
{
    ses_appended appended;

    must_refresh(faults->session);
    faults->fake.answer_lost = true;
    faults->fake.fails_with = SES_IO;
    assert_code(SES_IO, ses_append(faults->session, event, SES_NUL, NULL, &appended, &error));
    faults->fake.fails_with = SES_OK;
    faults->fixture->now += 1000000;
    assert_int_equal(ses_session_version(faults->session), 2);
    assert_code(SES_DUPLICATE, ses_append(faults->session, event, SES_NUL, NULL, &appended, &error));
    assert_int_equal(appended.seq, 3);
    assert_state(faults->session, Q("{'app:a':5,'user:b':5,'c':5,'temp:d':5}"));
    assert_handle_is_current(faults->store, faults->session);
}

FAULTS_TEST(a_cursor_keeps_the_failure_of_a_page)
{
    enum { PAGE = 64 };
    ses_text events[PAGE];
    const ses_event *shown = NULL;
    ses_cursor *cursor = NULL;

    for (size_t i = 0; i < PAGE; i++)
        events[i] = (ses_text){"{}", 2};
    assert_ok(ses_append_batch_by_key(faults->store, &key, events, PAGE, NULL, NULL, &error));
    for (int lost = 0; lost < 2; lost++) {
        assert_ok(ses_cursor_open(faults->store, &key, NULL, &cursor, &error));
        for (int i = 0; i < PAGE; i++)
            assert_code(SES_ROW, ses_cursor_next(cursor, &shown, &error));
        faults->fake.answer_lost = lost;
        faults->fake.fails_with = SES_BUSY;
        assert_code(SES_BUSY, ses_cursor_next(cursor, &shown, &error));
        faults->fake.fails_with = SES_OK;
        assert_null(shown);
        assert_code(SES_BUSY, ses_cursor_next(cursor, &shown, &error));
        assert_code(SES_BUSY, ses_cursor_close(cursor, &error));
        assert_message("the fake engine fails");
    }
}

/* But a follower of a session that is not there any more has come to its end. */
FAULTS_TEST(a_follower_goes_on_after_a_failure)
{
    const ses_key of_user = {"app", "user", NULL};
    const ses_event *shown = NULL;

    for (size_t i = 0; i < CODES; i++) {
        for (int kind = 0; kind < 4; kind++) {
            ses_follower *follower = NULL;
            assert_ok(ses_follower_open(faults->store, kind % 2 ? &of_user : &key, NULL, &follower, &error));
            faults->fake.answer_lost = kind / 2;
            faults->fake.fails_with = codes[i];
            assert_code(codes[i], ses_follower_next(follower, -1, &shown, &error));
            assert_null(shown);
            faults->fake.fails_with = SES_OK;
            if (codes[i] == SES_NOTFOUND) {
                assert_code(SES_NOTFOUND, ses_follower_next(follower, -1, &shown, &error));
            } else {
                assert_code(SES_ROW, ses_follower_next(follower, -1, &shown, &error));
                assert_string_equal(shown->id, "first");
                assert_code(SES_ROW, ses_follower_next(follower, -1, &shown, &error));
                assert_string_equal(shown->id, "second");
                assert_ok(ses_follower_next(follower, 0, &shown, &error));
            }
            ses_follower_close(follower);
        }
    }
}

/* ---------------------------------------------------------------------- engines that begin again */

/* Operations whose results are thrown away run here: a copy of the file, taken anew for each. */
struct elsewhere {
    struct faults *faults;
    char *path;
    struct sqlite_config config;
    bool moved_on; /* others have written there */
};

static void copy_file(struct elsewhere *place)
{
    sqlite3 *db = NULL;
    char *sql = sqlite3_mprintf("VACUUM INTO %Q", place->path);

    (void)unlink(place->path);
    assert_int_equal(sqlite3_open(place->faults->fixture->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    sqlite3_free(sql);
}

/* Another event, other state, another session; or the session is gone. */
static void move_on(const struct elsewhere *place, bool deletes)
{
    const ses_key other = {"app", "user", "of the copy"};
    ses_error error;

    ses_store *store = must_open(place->path, &place->faults->fixture->options);
    if (deletes) {
        must_delete(store, &key);
    } else {
        int code = ses_append_by_key(
            store, &key, Q("{'id':'of the copy','actions':{'stateDelta':{'app:x':1,'user:x':1,'x':1}}}"),
            SES_NUL, NULL, NULL, &error);
        assert_true(code == SES_OK || code == SES_NOTFOUND);
        must_create(store, &other, Q("{'y':1}"));
    }
    ses_close(store);
}

static struct storage *open_elsewhere(void *context)
{
    struct elsewhere *place = context;
    struct storage *storage = NULL;
    ses_error error;

    copy_file(place);
    if (place->moved_on)
        move_on(place, fake_total(&place->faults->fake) % 2 == 0);
    place->config = (struct sqlite_config){.path = place->path,
                                           .busy_timeout_us = 1000000,
                                           .max_readers = 1,
                                           .allocator = &place->faults->store->allocator};
    assert_ok(ses__sqlite_open(&place->config, &storage, &error));
    return storage;
}

static void tell_appended(FILE *out, int code, const ses_appended *appended)
{
    fprintf(out, "append %d: %d %lld %lld %lld %s\n", code, appended->status, (long long)appended->seq,
            (long long)appended->version, (long long)appended->time_us, appended->made_id);
}

static void tell_session(FILE *out, const ses_session *session)
{
    char *text = describe(session, 1);
    fputs(text, out);
    free(text);
}

/* Ids that are the same in each play. */
static int make_id(void *context, char *id, size_t capacity)
{
    int *last = context;
    return snprintf(id, capacity, "made %d", ++*last) < 0;
}

static void play_appends(struct faults *faults, FILE *out)
{
    const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};
    const ses_text events[] = {{event, SES_NUL}, {Q("{'partial':true}"), SES_NUL}, {"{}", 2}};
    ses_appended appended[3] = {{0}};
    ses_error error;
    int code = ses_append(faults->session, event, SES_NUL, NULL, appended, &error);

    fprintf(out, "behind: %d\n", code);
    code = ses_append(faults->session, Q("{'author':'a'}"), SES_NUL, &anyway, appended, &error);
    tell_appended(out, code, appended);
    tell_session(out, faults->session);
    code = ses_append_batch(faults->session, events, 3, NULL, appended, &error);
    for (int i = 0; i < 3; i++)
        tell_appended(out, code, &appended[i]);
    code = ses_append_by_key(faults->store, &key, event, SES_NUL, NULL, appended, &error);
    tell_appended(out, code, appended);
    code = ses_append_by_key(faults->store, &key, Q("{'id':'later','actions':{'stateDelta':{'c':null}}}"),
                             SES_NUL, NULL, appended, &error);
    tell_appended(out, code, appended);
    code = ses_refresh(faults->session, NULL, &error);
    fprintf(out, "refresh %d\n", code);
    tell_session(out, faults->session);
}

static void play_labels(struct faults *faults, FILE *out)
{
    static const ses_label labels[] = {{"a", "1"}, {"b", "2"}};
    static const ses_filter filter = {.size = sizeof filter, .label = "b"};
    const ses_list_options options = {.size = sizeof options, .filter = &filter};
    ses_page *page = NULL;
    char *json = NULL;
    int64_t count = 0;
    ses_error error;

    fprintf(out, "title %d\n", ses_title_set(faults->session, "T", NULL, &error));
    fprintf(out, "labels %d\n", ses_labels_set(faults->session, labels, 2, NULL, &error));
    fprintf(out, "%s %s\n", ses_session_title(faults->session),
            ses_session_label_value(faults->session, "b"));
    fprintf(out, "filter %d\n", ses_list(faults->store, "app", NULL, &options, &page, &error));
    for (size_t i = 0; i < ses_page_count(page); i++)
        fprintf(out, "%s %s\n", ses_session_id(ses_page_session(page, i)),
                ses_session_title(ses_page_session(page, i)));
    ses_page_close(page);
    fprintf(out, "count %d\n", ses_list_count(faults->store, "app", NULL, &filter, NULL, &count, &error));
    fprintf(out, "%d\n", (int)count);
    fprintf(out, "change %d\n",
            ses_shared_state_change(faults->store, "app", "user", "{\"s\":1}", 7, NULL, &error));
    fprintf(out, "shared %d\n",
            ses_shared_state_json(faults->store, "app", "user", NULL, &json, NULL, &error));
    fprintf(out, "%s\n", json);
    ses_free(json);
}

static void play_reads(struct faults *faults, FILE *out)
{
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST | SES_RANGE_LIVE, .newest = 3};
    const ses_cursor_options backward = {
        .size = sizeof backward, .flags = SES_CURSOR_BACKWARD, .range = &newest};
    ses_session *session = NULL;
    ses_page *page = NULL;
    const ses_event *shown = NULL;
    char *json = NULL;
    ses_error error;

    fprintf(out, "get %d\n", ses_get(faults->store, &key, GET_RANGE(&newest), &session, &error));
    tell_session(out, session);
    ses_session_close(session);
    fprintf(out, "state %d\n", ses_state_json_by_key(faults->store, &key, NULL, &json, NULL, &error));
    fprintf(out, "%s\n", json);
    ses_free(json);
    fprintf(out, "value %d\n", ses_state_get_by_key(faults->store, &key, "app:a", NULL, &json, NULL, &error));
    fprintf(out, "%s\n", json);
    ses_free(json);
    fprintf(out, "no value %d\n", ses_state_get_by_key(faults->store, &key, "x", NULL, &json, NULL, &error));
    for (int back = 0; back < 2; back++) {
        ses_cursor *cursor = NULL;
        fprintf(out, "open %d\n",
                ses_cursor_open(faults->store, &key, back ? &backward : NULL, &cursor, &error));
        while (ses_cursor_next(cursor, &shown, &error) == SES_ROW)
            fprintf(out, "%s\n", shown->json);
        fprintf(out, "close %d\n", ses_cursor_close(cursor, &error));
    }
    play_labels(faults, out);
    fprintf(out, "list %d\n", ses_list(faults->store, "app", "user", NULL, &page, &error));
    for (size_t i = 0; i < ses_page_count(page); i++) {
        fprintf(out, "%s\n", ses_session_id(ses_page_session(page, i)));
        tell_session(out, ses_page_session(page, i));
    }
    ses_page_close(page);
}

static void play_following(struct faults *faults, FILE *out)
{
    const ses_key keys[] = {key, {"app", "user", NULL}};

    for (size_t i = 0; i < 2; i++) {
        const ses_event *shown = NULL;
        ses_follower *follower = NULL;
        int code;
        ses_error error;
        fprintf(out, "follow %d\n", ses_follower_open(faults->store, &keys[i], NULL, &follower, &error));
        while ((code = ses_follower_next(follower, 0, &shown, &error)) > 0)
            fprintf(out, "%d %s %s %s\n", code, ses_follower_session(follower), ses_follower_place(follower),
                    shown ? shown->json : "");
        fprintf(out, "end %d %s\n", code, ses_follower_place(follower));
        ses_follower_close(follower);
    }
}

static void play_history(struct faults *faults, FILE *out)
{
    const ses_point last_turn = {.size = sizeof last_turn, .kind = SES_POINT_INVOCATION, .id = "play"};
    const ses_key copy = {"app", "user", "played"};
    ses_session *fork = NULL;
    ses_appended appended = {0};
    char *json = NULL;
    int64_t count = 0;
    ses_error error;

    must_append(faults->session,
                Q("{'id':'p','invocationId':'play','actions':{'stateDelta':{'c':8,'temp:t':1}}}"));
    fprintf(out, "as of %d\n",
            ses_state_json_as_of(faults->session, &first_event, NULL, &json, NULL, &error));
    fprintf(out, "%s\n", json);
    ses_free(json);
    fprintf(out, "initial %d\n", ses_state_json_initial(faults->session, NULL, &json, NULL, &error));
    fprintf(out, "%s\n", json);
    ses_free(json);
    int code = ses_rewind(faults->session, &last_turn, NULL, &appended, &error);
    tell_appended(out, code, &appended);
    tell_session(out, faults->session);
    code = ses_rewind(faults->session, &last_turn, NULL, &appended, &error);
    tell_appended(out, code, &appended);
    code = ses_redo(faults->session, NULL, &appended, &error);
    tell_appended(out, code, &appended);
    tell_session(out, faults->session);
    fprintf(out, "fork %d\n", ses_fork(faults->session, &last_turn, &copy, NULL, &fork, &error));
    tell_session(out, fork);
    fprintf(out, "cut %d", ses_cut(fork, &first_event, NULL, &count, &error));
    fprintf(out, " %lld\n", (long long)count);
    tell_session(out, fork);
    ses_session_close(fork);
}

static void play_leases(struct faults *faults, FILE *out)
{
    const ses_lease_options brief = {.size = sizeof brief, .wait_ms = 100};
    ses_lease lease = {0};
    ses_lease other = {0};
    ses_error error;
    int code = ses_lease_take(faults->store, &key, "a", NULL, &lease, &error);

    fprintf(out, "take %d: %lld %lld\n", code, (long long)lease.token, (long long)lease.until_us);
    fprintf(out, "busy %d\n", ses_lease_take(faults->store, &key, "b", &brief, &other, &error));
    code = ses_lease_renew(faults->store, &key, lease.token, &brief, &lease, &error);
    fprintf(out, "renew %d: %lld\n", code, (long long)lease.until_us);
    fprintf(out, "release %d\n", ses_lease_release(faults->store, &key, lease.token, NULL, &error));
    code = ses_lease_take(faults->store, &key, "b", NULL, &lease, &error);
    fprintf(out, "take %d: %lld %lld\n", code, (long long)lease.token, (long long)lease.until_us);
    fprintf(out, "lost %d\n", ses_lease_release(faults->store, &key, lease.token - 1, NULL, &error));
}

static void play_the_rest(struct faults *faults, FILE *out)
{
    const ses_key other = {"app", "user", "other"};
    ses_session *session = NULL;
    int64_t count = 0;
    int64_t keys = 0;
    ses_error error;

    fprintf(out, "create %d\n",
            ses_create(faults->store, &other, Q("{'app:a':8,'o':1}"), SES_NUL, NULL, &session, &error));
    tell_session(out, session);
    ses_session_close(session);
    fprintf(out, "exists %d\n", ses_create(faults->store, &other, NULL, 0, NULL, NULL, &error));
    fprintf(out, "or get %d\n", ses_get_or_create(faults->store, &key, NULL, 0, NULL, &session, &error));
    tell_session(out, session);
    ses_session_close(session);
    fprintf(out, "delete %d %lld\n", ses_delete(faults->store, &other, NULL, &count, &error),
            (long long)count);
    fprintf(out, "or create %d\n", ses_get_or_create(faults->store, &other, NULL, 0, NULL, &session, &error));
    tell_session(out, session);
    ses_session_close(session);
    fprintf(out, "user %d", ses_delete_user(faults->store, "app", "user", NULL, &count, &keys, &error));
    fprintf(out, " %lld %lld\n", (long long)count, (long long)keys);
    fprintf(out, "gone %d\n", ses_append(faults->session, "{}", SES_NUL, NULL, NULL, &error));
}

/* Some calls of every kind, and all that came out of them; free it. */
static char *play(bool begins_again, bool moved_on)
{
    struct faults *faults = NULL;
    char *text = NULL;
    size_t size = 0;
    int last_id = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(faults_setup((void **)&faults), 0);
    struct elsewhere place = {
        .faults = faults, .path = support_path(faults->fixture->folder, "copy.db"), .moved_on = moved_on};
    faults->store->make_id = make_id;
    faults->store->make_id_context = &last_id;
    if (begins_again) {
        faults->fake.context = &place;
        faults->fake.elsewhere = open_elsewhere;
    }
    play_appends(faults, out);
    play_reads(faults, out);
    play_history(faults, out);
    play_leases(faults, out);
    play_following(faults, out);
    play_the_rest(faults, out);
    faults->fake.elsewhere = NULL;
    assert_int_equal(faults_teardown((void **)&faults), 0);
    assert_int_equal(fclose(out), 0);
    free(place.path);
    return text;
}

/* A lock, a lost connection: the run that counts is the last one, whatever those before it have seen. */
PLAIN_TEST(an_operation_that_begins_again_leaves_nothing_behind)
{
    char *expected = play(false, false);

    for (int moved_on = 0; moved_on < 2; moved_on++) {
        char *text = play(true, moved_on);
        assert_string_equal(text, expected);
        free(text);
    }
    free(expected);
}
