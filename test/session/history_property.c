/*
 * Thousands of random appends, rewinds, redos, cuts, forks, prunes and expiries over a few sessions, held
 * against a model after every step. The seed is fixed; SESLITE_TEST_SEED gives another. A failure tells the
 * seed and the step.
 */
#include <sqlite3.h>

#include "session/history_model.h"

enum { STEPS = 4000, REOPEN_EVERY = 150, HANDLES = 3 };

struct handle {
    ses_session *session; /* NULL: there is none */
    int slot;
    int number;
};

struct run {
    struct fixture *fixture;
    uint64_t seed;
    uint64_t random;
    int step;
    const char *doing;
    bool finished;
    int made; /* logs, events and names so far */
    struct log logs[SLOTS];
    struct {
        int number;
        int64_t version;
    } noted[SLOTS]; /* of the logs, after the last step */
    struct handle handles[HANDLES];
    sqlite3 *file; /* NULL: not open since the store was opened */
    sqlite3_stmt *state_rows;
};

static struct run run;

static int chance(int below)
{
    return (int)random_below(&run.random, (size_t)below);
}

static ses_key key_of(int slot)
{
    static const char *const users[USERS] = {"u1", "u2"};
    static const char *const names[NAMES] = {"s1", "s2", "s3"};
    return (ses_key){"app", users[slot / NAMES], names[slot % NAMES]};
}

/* ---------------------------------------------------------------------------------------------- checks */

static const struct logged *event_at(const struct log *log, int64_t seq)
{
    int count = count_until(log, seq);
    assert_true(count > 0 && log->events[count - 1].seq == seq);
    return &log->events[count - 1];
}

static void check_stored_event(const struct log *log, const ses_event *found)
{
    const struct logged *expected = event_at(log, found->seq);

    assert_string_equal(found->id, expected->id);
    assert_string_equal(found->invocation_id, expected->invocation);
    assert_int_equal(found->time_us, expected->time_us);
    assert_string_equal(found->json, expected->json);
}

/* The events of a handle or a cursor are those of the log that are chosen. */
static void check_events(const struct log *log, const ses_session *session, const bool chosen[MOST_EVENTS])
{
    size_t next = 0;

    for (int i = 0; i < log->count; i++) {
        if (chosen[i]) {
            const ses_event *event = ses_session_event(session, next++);
            assert_non_null(event);
            assert_int_equal(event->seq, log->events[i].seq);
            check_stored_event(log, event);
        }
    }
    assert_int_equal(ses_session_event_count(session), next);
}

static void check_cursor(int slot, bool live_only, bool backward, const bool chosen[MOST_EVENTS])
{
    const struct log *log = &run.logs[slot];
    const ses_key key = key_of(slot);
    const ses_range range = {.size = sizeof range, .which = live_only ? SES_RANGE_LIVE : 0};
    const ses_cursor_options options = {
        .size = sizeof options, .flags = backward ? SES_CURSOR_BACKWARD : 0, .range = &range};
    const ses_event *event = NULL;
    ses_cursor *cursor = NULL;
    ses_error error;

    assert_ok(ses_cursor_open(run.fixture->store, &key, &options, &cursor, &error));
    for (int i = 0; i < log->count; i++) {
        int at = backward ? log->count - 1 - i : i;
        if (chosen[at]) {
            assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
            assert_int_equal(event->seq, log->events[at].seq);
            check_stored_event(log, event);
        }
    }
    assert_ok(ses_cursor_next(cursor, &event, &error));
    assert_ok(ses_cursor_close(cursor, &error));
}

static void check_numbers(const struct log *log, const ses_session *session)
{
    int64_t parent_seq = -1;
    const ses_key *parent = ses_session_parent(session, &parent_seq);

    assert_int_equal(ses_session_version(session), log->version);
    assert_int_equal(ses_session_last_seq(session), log->last_seq);
    assert_int_equal(ses_session_base_seq(session), log->base_seq);
    assert_int_equal(ses_session_stored(session), log->count);
    assert_int_equal(ses_session_created_us(session), log->created_us);
    assert_int_equal(ses_session_updated_us(session), log->updated_us);
    assert_int_equal(ses_session_expires_us(session), log->expires_us);
    assert_int_equal(parent != NULL, log->parent >= 0);
    if (parent) {
        const ses_key expected = key_of(log->parent);
        assert_string_equal(parent->app, expected.app);
        assert_string_equal(parent->user, expected.user);
        assert_string_equal(parent->session, expected.session);
        assert_int_equal(parent_seq, log->parent_seq);
    }
}

static void open_state_rows(void)
{
    static const char sql[] =
        "SELECT st.key, st.value, st.seq FROM session_state AS st"
        " JOIN sessions AS s ON s.id = st.session_id JOIN users AS u ON u.id = s.user_id"
        " WHERE u.name = ?1 AND s.name = ?2 ORDER BY st.key";

    assert_int_equal(sqlite3_open_v2(run.fixture->path, &run.file, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(run.file, sql, -1, &run.state_rows, NULL), SQLITE_OK);
}

static void close_state_rows(void)
{
    (void)sqlite3_finalize(run.state_rows);
    (void)sqlite3_close(run.file);
    run.state_rows = NULL;
    run.file = NULL;
}

/* The stored rows are what the log leads to, each with the event that set it. */
static void check_state_rows(int slot)
{
    const struct log *log = &run.logs[slot];
    const ses_key key = key_of(slot);
    struct entry state[KEYS];

    if (same_text(run.fixture->path, ":memory:") || support_on_server())
        return;
    state_as_of(log, log->last_seq, state);
    if (!run.file)
        open_state_rows();
    sqlite3_stmt *rows = run.state_rows;
    assert_int_equal(sqlite3_bind_text(rows, 1, key.user, -1, SQLITE_STATIC), SQLITE_OK);
    assert_int_equal(sqlite3_bind_text(rows, 2, key.session, -1, SQLITE_STATIC), SQLITE_OK);
    for (int i = 0; i < OWN; i++) {
        if (state[i].value == ABSENT)
            continue;
        assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
        assert_string_equal((const char *)sqlite3_column_text(rows, 0), key_names[i]);
        assert_string_equal((const char *)sqlite3_column_text(rows, 1), value_texts[state[i].value]);
        assert_int_equal(sqlite3_column_int64(rows, 2), state[i].seq);
    }
    assert_int_equal(sqlite3_step(rows), SQLITE_DONE);
    assert_int_equal(sqlite3_reset(rows), SQLITE_OK);
}

/* The boundary before the last turn; -1: there is none. */
static int64_t before_last_turn(const struct log *log)
{
    bool live[MOST_EVENTS];
    int64_t found = -1;

    find_live(log, log->count, live);
    for (int i = 0; i < log->count; i++) {
        const struct logged *event = &log->events[i];
        bool is_first = live[i] && event->invocation[0];
        for (int j = 0; j < i; j++)
            is_first = is_first && !(live[j] && same_text(log->events[j].invocation, event->invocation));
        if (is_first && event->by_user && event->has_content)
            found = event->seq - 1;
    }
    return found;
}

static void check_before_last_turn(int slot)
{
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_LAST_TURN};
    const struct log *log = &run.logs[slot];
    const ses_key key = key_of(slot);
    const int64_t seq = before_last_turn(log);
    struct entry state[KEYS];
    char expected[400];
    char *json = NULL;
    ses_error error;
    int code = ses_state_json_as_of_by_key(run.fixture->store, &key, &point, NULL, &json, NULL, &error);

    assert_code(seq < 0 ? SES_NOTFOUND : SES_OK, code);
    if (json) {
        state_as_of(log, seq, state);
        assert_string_equal(json, state_text(state, false, expected));
    }
    ses_free(json);
}

static void check_as_of(int slot)
{
    const ses_as_of_options with_shared = {.size = sizeof with_shared, .flags = SES_AS_OF_SHARED};
    const struct log *log = &run.logs[slot];
    const ses_key key = key_of(slot);
    struct entry state[KEYS];
    char expected[400];
    char *json = NULL;
    ses_error error;

    for (int64_t seq = 0; seq <= log->last_seq + 1; seq++) {
        const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = seq};
        const bool shared = chance(2) == 0;
        int code = ses_state_json_as_of_by_key(run.fixture->store, &key, &point, shared ? &with_shared : NULL,
                                               &json, NULL, &error);
        if (seq < log->base_seq || seq > log->last_seq) {
            assert_code(SES_NOTFOUND, code);
            assert_null(json);
        } else {
            assert_code(SES_OK, code);
            state_as_of(log, seq, state);
            assert_string_equal(json, state_text(state, shared, expected));
        }
        ses_free(json);
    }
}

static void check_initial(int slot)
{
    const struct log *log = &run.logs[slot];
    const ses_key key = key_of(slot);
    struct entry state[KEYS];
    char expected[400];
    char *json = NULL;
    ses_error error;

    for (int i = 0; i < KEYS; i++)
        state[i].value = log->initial[i];
    assert_ok(ses_state_json_initial_by_key(run.fixture->store, &key, NULL, &json, NULL, &error));
    assert_string_equal(json, state_text(state, true, expected));
    ses_free(json);
}

static void check_slot(int slot)
{
    const struct log *log = &run.logs[slot];
    const ses_key key = key_of(slot);
    const ses_range range = {.size = sizeof range, .which = SES_RANGE_LIVE};
    bool all[MOST_EVENTS];
    bool live[MOST_EVENTS];
    ses_session *session = NULL;
    ses_error error;
    int code = ses_get(run.fixture->store, &key, NULL, &session, &error);

    assert_code(log->exists ? SES_OK : SES_NOTFOUND, code);
    if (!log->exists)
        return;
    memset(all, 1, sizeof all);
    find_live(log, log->count, live);
    check_numbers(log, session);
    check_events(log, session, all);
    ses_session_close(session);
    assert_ok(ses_get(run.fixture->store, &key, GET_RANGE(&range), &session, &error));
    check_events(log, session, live);
    ses_session_close(session);
    check_cursor(slot, false, chance(2) == 0, all);
    check_cursor(slot, true, chance(2) == 0, live);
    check_state_rows(slot);
    check_as_of(slot);
    check_before_last_turn(slot);
    check_initial(slot);
}

/* --------------------------------------------------------------------------------------------- handles */

static bool handle_is_current(const struct handle *handle)
{
    const struct log *log = &run.logs[handle->slot];
    return handle->session && log->exists && log->number == handle->number &&
           ses_session_version(handle->session) == log->version;
}

static void handle_close(struct handle *handle)
{
    ses_session_close(handle->session);
    handle->session = NULL;
}

static void handle_open(struct handle *handle, int slot)
{
    const ses_key key = key_of(slot);

    handle_close(handle);
    if (run.logs[slot].exists) {
        handle->session = must_get(run.fixture->store, &key);
        handle->slot = slot;
        handle->number = run.logs[slot].number;
    }
}

static void check_own_keys(const struct log *log, const ses_session *session)
{
    struct entry state[KEYS];
    ses_error error;

    state_as_of(log, log->last_seq, state);
    for (int i = 0; i < OWN; i++) {
        const char *json = NULL;
        assert_code(state[i].value == ABSENT ? SES_ABSENT : SES_OK,
                    ses_state_get(session, key_names[i], &json, NULL, &error));
        if (json)
            assert_string_equal(json, value_texts[state[i].value]);
    }
}

/* Own state and events are those of the log; what was pruned since it was read it may still show. Shared keys
 * may have been changed by other sessions. */
static void check_handle(const struct handle *handle)
{
    const struct log *log = &run.logs[handle->slot];
    const ses_key key = key_of(handle->slot);
    ses_session *fresh = must_get(run.fixture->store, &key);
    size_t at = ses_session_event_count(handle->session) - ses_session_event_count(fresh);

    assert_int_equal(ses_session_version(handle->session), log->version);
    assert_int_equal(ses_session_last_seq(handle->session), log->last_seq);
    check_own_keys(log, handle->session);
    assert_true(ses_session_event_count(handle->session) >= ses_session_event_count(fresh));
    for (size_t i = 0; i < ses_session_event_count(fresh); i++)
        assert_int_equal(ses_session_event(handle->session, at + i)->seq, ses_session_event(fresh, i)->seq);
    for (size_t i = 0; i < at; i++)
        assert_true(ses_session_event(handle->session, i)->seq <= log->base_seq);
    ses_session_close(fresh);
}

static void step_refresh(struct handle *handle)
{
    const struct log *log = &run.logs[handle->slot];
    bool there = log->exists && log->number == handle->number;
    ses_error error;

    assert_code(there ? SES_OK : SES_NOTFOUND, ses_refresh(handle->session, NULL, &error));
    if (there) {
        const ses_key key = key_of(handle->slot);
        ses_session *fresh = must_get(run.fixture->store, &key);
        assert_string_equal(support_state(handle->session, NULL), support_state(fresh, NULL));
        ses_session_close(fresh);
        check_handle(handle);
    } else {
        handle_close(handle);
    }
}

/* --------------------------------------------------------------------------------------------- appends */

static void random_changes(int changes[KEYS], bool removes)
{
    for (int key = 0; key < KEYS; key++)
        changes[key] = chance(4) > 0 ? UNTOUCHED : removes ? chance(VALUES + 1) - 1 : chance(VALUES);
}

static void changes_text(const int changes[KEYS], char *out, size_t room)
{
    char member[80];
    bool first = true;

    out[0] = '\0';
    for (int key = 0; key < KEYS; key++) {
        if (changes[key] != UNTOUCHED) {
            snprintf(member, sizeof member, "%s\"%s\":%s", first ? "" : ",", key_names[key],
                     changes[key] == ABSENT ? SES_TOMBSTONE : value_texts[changes[key]]);
            add_text(out, room, member);
            first = false;
        }
    }
}

/* A call that has no answer yet, or 0. */
static int open_call(const struct log *log)
{
    for (int i = log->count - 1; i >= 0; i--) {
        bool answered = log->events[i].call == 0;
        for (int j = i + 1; j < log->count; j++)
            answered = answered || log->events[j].response == log->events[i].call;
        if (!answered)
            return log->events[i].call;
    }
    return 0;
}

static void random_invocation(const struct log *log, struct logged *event)
{
    int kind = chance(20);

    if (kind < 12 && log->count > 0) {
        const struct logged *last = &log->events[log->count - 1];
        snprintf(event->invocation, sizeof event->invocation, "%s", last->invocation);
    } else if (kind == 12 && log->count > 0) {
        snprintf(event->invocation, sizeof event->invocation, "%s",
                 log->events[chance(log->count)].invocation);
        event->by_user = chance(2) == 0;
    } else if (kind != 13) {
        snprintf(event->invocation, sizeof event->invocation, "i%d", ++run.made);
        event->by_user = chance(8) > 0;
    }
}

static const char *content_text(const struct logged *event, char out[200])
{
    out[0] = '\0';
    if (event->call)
        snprintf(out, 200, "\"content\":{\"parts\":[{\"functionCall\":{\"id\":\"c%d\",\"name\":\"f\"}}]},",
                 event->call);
    else if (event->response)
        snprintf(out, 200,
                 "\"content\":{\"parts\":[{\"functionResponse\":{\"id\":\"c%d\",\"name\":\"f\"}}]},",
                 event->response);
    else if (event->has_content)
        snprintf(out, 200, "\"content\":{\"parts\":[{\"text\":\"%d\"}]},", run.made);
    return out;
}

static void print_event(struct logged *event)
{
    char content[200];
    char changes[400];
    char rewinds[120] = "";

    changes_text(event->changes, changes, sizeof changes);
    if (event->rewinds[0])
        snprintf(rewinds, sizeof rewinds, ",\"rewindBeforeInvocationId\":\"%s\"", event->rewinds);
    int len = snprintf(event->json, sizeof event->json,
                       "{\"id\":\"%s\",\"invocationId\":\"%s\",\"author\":\"%s\",\"timestamp\":%lld.%06d,%s"
                       "\"actions\":{\"stateDelta\":{%s}%s}}",
                       event->id, event->invocation, event->by_user ? "user" : "agent",
                       (long long)(event->time_us / 1000000), (int)(event->time_us % 1000000),
                       content_text(event, content), changes, rewinds);
    assert_true(len > 0 && (size_t)len < sizeof event->json);
}

static void random_logged(const struct log *log, struct logged *event)
{
    int call = open_call(log);

    memset(event, 0, sizeof *event);
    event->time_us = run.fixture->now + (chance(4) - 1) * INT64_C(3000000);
    snprintf(event->id, sizeof event->id, "e%d", ++run.made);
    random_invocation(log, event);
    random_changes(event->changes, true);
    if (call && chance(2) == 0)
        event->response = call;
    else if (chance(5) == 0)
        event->call = ++run.made;
    event->has_content = event->call > 0 || (!event->response && chance(4) > 0);
    if (chance(25) == 0) { /* by another program, which makes rewinds as the ADK does */
        snprintf(event->rewinds, sizeof event->rewinds, "%s",
                 log->count > 0 && chance(4) > 0 ? log->events[chance(log->count)].invocation : "none");
    }
    print_event(event);
}

static void step_append(int slot, struct handle *handle)
{
    struct log *log = &run.logs[slot];
    const ses_key key = key_of(slot);
    struct logged event;
    ses_error error;

    if (!log->exists || log->count >= MOST_EVENTS - 2)
        return;
    random_logged(log, &event);
    if (!handle || handle->slot != slot) {
        must_append_by_key(run.fixture->store, &key, event.json);
    } else if (!handle_is_current(handle)) {
        int code = ses_append(handle->session, event.json, SES_NUL, NULL, NULL, &error);
        assert_code(log->number == handle->number ? SES_STALE : SES_NOTFOUND, code);
        return;
    } else {
        must_append(handle->session, event.json);
    }
    log_add(log, &event);
    if (handle && handle->slot == slot)
        check_handle(handle);
}

/* ------------------------------------------------------------------------------------ rewinds and redos */

/* The event that the library has appended is added to the model, if it is as it must be. */
static void take_rewind(struct log *log, int slot, const char *before, const struct entry wanted[KEYS],
                        const ses_appended *appended)
{
    const ses_key key = key_of(slot);
    struct logged event = {.time_us = run.fixture->now, .by_user = true};
    struct entry now[KEYS];
    char changes[400];
    ses_session *session = must_get(run.fixture->store, &key);
    const ses_event *added = ses_session_event(session, ses_session_event_count(session) - 1);

    state_as_of(log, log->last_seq, now);
    for (int i = 0; i < KEYS; i++)
        event.changes[i] = i >= OWN || now[i].value == wanted[i].value ? UNTOUCHED : wanted[i].value;
    changes_text(event.changes, changes, sizeof changes);
    snprintf(event.id, sizeof event.id, "%s", added->id);
    snprintf(event.invocation, sizeof event.invocation, "%s", added->invocation_id);
    snprintf(event.rewinds, sizeof event.rewinds, "%s", before);
    snprintf(event.json, sizeof event.json, "%s", added->json);
    assert_string_equal(added->author, "user");
    assert_true(strncmp(added->invocation_id, "e-", 2) == 0);
    assert_int_equal(first_of_invocation(log, added->invocation_id), -1);
    assert_non_null(strstr(added->json, before));
    assert_non_null(strstr(added->json, "\"rewindBeforeInvocationId\""));
    if (!strstr(added->json, changes))
        fail_msg("the delta of %s should be {%s}", added->json, changes);
    assert_int_equal(appended->seq, log->last_seq + 1);
    log_add(log, &event);
    assert_int_equal(appended->version, log->version);
    assert_int_equal(appended->updated_us, log->updated_us);
    ses_session_close(session);
}

/* True if the log, live events and own state, is as it was at the point. */
static bool is_there(const struct log *log, int64_t seq)
{
    bool now[MOST_EVENTS];
    bool then[MOST_EVENTS];
    struct entry state_now[KEYS];
    struct entry state_then[KEYS];

    find_live(log, log->count, now);
    find_live(log, count_until(log, seq), then);
    state_as_of(log, log->last_seq, state_now);
    state_as_of(log, seq, state_then);
    return memcmp(now, then, sizeof now) == 0 && same_own(state_now, state_then);
}

/* The rules for a rewind to after the event `seq`: 0, SES_UNCHANGED or INVALID; where two hold, either may be
 * told. */
static void check_rewind(int slot, int64_t seq, int code, const ses_appended *appended)
{
    struct log *log = &run.logs[slot];
    struct entry wanted[KEYS];
    int next = count_until(log, seq);
    bool there = is_there(log, seq);
    const char *invocation = next < log->count ? log->events[next].invocation : "";
    bool fits = next < log->count && invocation[0] && first_of_invocation(log, invocation) == next;

    if (code == SES_UNCHANGED) {
        assert_true(there);
    } else if (code == SES_INVALID) {
        assert_false(fits);
    } else {
        assert_int_equal(code, SES_OK);
        assert_true(fits && !there);
        state_as_of(log, seq, wanted);
        take_rewind(log, slot, invocation, wanted, appended);
    }
}

/* A point, and the number it stands for; -1: it is not there. */
static int64_t random_point(const struct log *log, ses_point *point)
{
    static char id[64];
    int kind = chance(10);

    *point = (ses_point){.size = sizeof *point};
    snprintf(id, sizeof id, "missing");
    if (kind == 0)
        return log->last_seq;
    if (kind == 1 || log->count == 0) {
        point->kind = SES_POINT_LAST_TURN;
        return before_last_turn(log);
    }
    const struct logged *event = &log->events[chance(log->count)];
    point->id = id;
    if (kind < 5) {
        point->kind = SES_POINT_EVENT;
        snprintf(id, sizeof id, "%s", event->id);
        return event->seq;
    }
    if (kind < 8) {
        point->kind = SES_POINT_INVOCATION;
        if (event->invocation[0])
            snprintf(id, sizeof id, "%s", event->invocation);
        return event->invocation[0] ? log->events[first_of_invocation(log, id)].seq - 1 : -1;
    }
    point->kind = SES_POINT_SEQ;
    point->seq = (int64_t)random_below(&run.random, (size_t)log->last_seq + 2);
    return point->seq >= log->base_seq && point->seq <= log->last_seq ? point->seq : -1;
}

static void step_rewind(int slot, struct handle *handle)
{
    struct log *log = &run.logs[slot];
    const ses_key key = key_of(slot);
    bool by_handle = handle->slot == slot && handle_is_current(handle);
    ses_appended appended;
    ses_point point;
    ses_error error;

    if (!log->exists || log->count >= MOST_EVENTS - 2)
        return;
    int64_t seq = random_point(log, &point);
    int code = by_handle ? ses_rewind(handle->session, &point, NULL, &appended, &error)
                         : ses_rewind_by_key(run.fixture->store, &key, &point, NULL, &appended, &error);
    if (seq < 0) {
        assert_code(point.kind == SES_POINT_LAST_TURN ? SES_UNCHANGED : SES_NOTFOUND, code);
    } else {
        if (code < 0 && code != SES_INVALID)
            assert_code(SES_OK, code);
        check_rewind(slot, seq, code, &appended);
    }
    if (by_handle)
        check_handle(handle);
}

/* The rewind that a redo takes back: a place in the log, or -1. */
static int to_redo(const struct log *log)
{
    for (int i = log->count - 1; i >= 0;) {
        const char *rewinds = log->events[i].rewinds;
        int first = rewinds[0] ? first_of_invocation(log, rewinds) : -1;
        if (!rewinds[0])
            return -1;
        if (first < 0 || first >= i || !log->events[first].rewinds[0])
            return i;
        i = first - 1;
    }
    return -1;
}

static void step_redo(int slot, struct handle *handle)
{
    struct log *log = &run.logs[slot];
    const ses_key key = key_of(slot);
    bool by_handle = handle->slot == slot && handle_is_current(handle);
    ses_appended appended;
    ses_error error;

    if (!log->exists || log->count >= MOST_EVENTS - 2)
        return;
    int rewind = to_redo(log);
    int code = by_handle ? ses_redo(handle->session, NULL, &appended, &error)
                         : ses_redo_by_key(run.fixture->store, &key, NULL, &appended, &error);
    if (rewind < 0) {
        assert_code(SES_UNCHANGED, code);
    } else if (!log->events[rewind].invocation[0]) {
        assert_true(code == SES_INVALID || code == SES_UNCHANGED);
    } else {
        if (code < 0 && code != SES_INVALID)
            assert_code(SES_OK, code);
        check_rewind(slot, log->events[rewind].seq - 1, code, &appended);
    }
    if (by_handle)
        check_handle(handle);
}

/* ---------------------------------------------------------------------------------- cuts, forks, prunes */

static void step_cut(int slot, struct handle *handle)
{
    struct log *log = &run.logs[slot];
    const ses_key key = key_of(slot);
    bool by_handle = handle->slot == slot && handle_is_current(handle);
    int64_t deleted = -1;
    ses_point point;
    ses_error error;

    if (!log->exists)
        return;
    int64_t seq = random_point(log, &point);
    int code = by_handle ? ses_cut(handle->session, &point, NULL, &deleted, &error)
                         : ses_cut_by_key(run.fixture->store, &key, &point, NULL, &deleted, &error);
    if (seq < 0) {
        assert_code(SES_NOTFOUND, code);
    } else {
        int gone = log->count - count_until(log, seq);
        assert_code(gone > 0 ? SES_OK : SES_UNCHANGED, code);
        assert_int_equal(deleted, gone);
        if (gone > 0)
            log_cut(log, seq);
    }
    if (by_handle)
        check_handle(handle);
}

static void step_fork(int slot, int to)
{
    const ses_fork_options options = {.size = sizeof options, .flags = SES_FORK_OTHER_USER};
    const struct log *log = &run.logs[slot];
    const ses_key key = key_of(slot);
    const ses_key fork_key = key_of(to);
    bool other_user = slot / NAMES != to / NAMES;
    bool may = !other_user || chance(4) > 0;
    ses_session *fork = NULL;
    ses_point point;
    ses_error error;

    if (!log->exists)
        return;
    int64_t seq = random_point(log, &point);
    int code =
        ses_fork_by_key(run.fixture->store, &key, &point, &fork_key, may ? &options : NULL, &fork, &error);
    if (!may) {
        assert_code(SES_INVALID, code);
    } else if (seq < 0) {
        assert_true(code == SES_NOTFOUND || (run.logs[to].exists && code == SES_EXISTS));
    } else if (run.logs[to].exists) {
        assert_code(SES_EXISTS, code);
    } else {
        assert_code(SES_OK, code);
        log_fork(log, seq, run.fixture->now, &run.logs[to]);
        run.logs[to].number = ++run.made;
        run.logs[to].parent = slot;
        run.logs[to].version = ses_session_version(fork);
        check_numbers(&run.logs[to], fork);
        ses_session_close(fork);
        check_slot(to);
        return;
    }
    assert_null(fork);
}

/* The last event that may be pruned by what the options ask. */
static int64_t random_goal(const struct log *log, ses_prune_options *options)
{
    int goal = log->count;

    *options = (ses_prune_options){.size = sizeof *options, .limit = chance(2) ? 0 : 1 + chance(6)};
    if (chance(2)) {
        options->which |= SES_PRUNE_KEEP;
        options->keep = chance(log->count + 2);
        goal = log->count - (int)options->keep;
    }
    if (chance(2)) {
        int until = 0;
        options->which |= SES_PRUNE_BEFORE;
        options->before_us = run.fixture->now - chance(20) * INT64_C(1000000);
        while (until < log->count && log->events[until].time_us < options->before_us)
            until++;
        goal = until < goal ? until : goal;
    }
    if (!options->which || chance(3) == 0) {
        options->which |= SES_PRUNE_SEQ;
        options->last_seq = (int64_t)random_below(&run.random, (size_t)log->last_seq + 2);
        int until = count_until(log, options->last_seq);
        goal = until < goal ? until : goal;
    }
    return goal > 0 ? log->events[goal - 1].seq : log->base_seq;
}

static void step_prune(int slot)
{
    struct log *log = &run.logs[slot];
    const ses_key key = key_of(slot);
    ses_prune_options options;
    int64_t total = 0;
    ses_error error;
    int code;

    if (!log->exists)
        return;
    int64_t to = log_prune_to(log, random_goal(log, &options));
    int64_t gone = count_until(log, to);
    do {
        int64_t deleted = -1;
        if (options.which & SES_PRUNE_KEEP) /* of what is stored now */
            assert_true(options.keep >= 0);
        code = ses_prune_by_key(run.fixture->store, &key, &options, &deleted, &error);
        if (code == SES_MORE)
            assert_true(deleted > 0);
        total += deleted;
    } while (code == SES_MORE);
    assert_code(gone > 0 ? SES_OK : SES_UNCHANGED, code);
    assert_int_equal(total, gone);
    if (gone > 0)
        log_prune(log, to);
}

/* ------------------------------------------------------------------------------------ lives of sessions */

static void step_create(int slot)
{
    struct log *log = &run.logs[slot];
    const ses_key key = key_of(slot);
    const int64_t expires_us = run.fixture->now + 1 + chance(40) * INT64_C(1000000);
    const ses_create_options options = {.size = sizeof options, .expires_us = chance(3) ? NULL : &expires_us};
    struct entry state[KEYS];
    char json[400];
    ses_session *session = NULL;
    ses_error error;

    if (log->exists)
        return;
    memset(log, 0, sizeof *log);
    random_changes(log->initial, false);
    for (int i = 0; i < KEYS; i++) {
        log->initial[i] = log->initial[i] < 0 ? ABSENT : log->initial[i];
        log->base[i] = state[i] = (struct entry){log->initial[i], 0};
    }
    assert_ok(ses_create(run.fixture->store, &key, state_text(state, true, json), SES_NUL, &options, &session,
                         &error));
    log->exists = true;
    log->number = ++run.made;
    log->created_us = log->updated_us = run.fixture->now;
    log->expires_us = options.expires_us ? expires_us : INT64_MAX;
    log->version = ses_session_version(session);
    log->parent = -1;
    ses_session_close(session);
}

static void step_expiry(int slot)
{
    struct log *log = &run.logs[slot];
    const ses_key key = key_of(slot);
    const int64_t expires_us = run.fixture->now + (chance(40) - 4) * INT64_C(1000000);
    bool clears = chance(3) == 0;
    bool good = clears || expires_us > run.fixture->now;
    ses_error error;

    if (!log->exists)
        return;
    assert_code(good ? SES_OK : SES_INVALID,
                ses_expiry_set_by_key(run.fixture->store, &key, clears ? NULL : &expires_us, NULL, &error));
    if (good)
        log->expires_us = clears ? INT64_MAX : expires_us;
}

static bool goes(const struct log *log, const ses_expire_options *options)
{
    return log->exists && (log->expires_us <= run.fixture->now ||
                           (options->idle_us > 0 && log->changed_us < run.fixture->now - options->idle_us));
}

static void step_expire(void)
{
    const ses_expire_options options = {.size = sizeof options,
                                        .idle_us = chance(3) ? 0 : (10 + chance(60)) * INT64_C(1000000),
                                        .limit = 1 + chance(3)};
    int64_t total = 0;
    int expected = 0;
    ses_error error;
    int code;

    do {
        int64_t deleted = 0;
        code = ses_store_expire(run.fixture->store, chance(2) ? "app" : NULL, &options, &deleted, &error);
        assert_true(deleted <= options.limit);
        total += deleted;
    } while (code == SES_MORE);
    assert_code(SES_OK, code);
    for (int slot = 0; slot < SLOTS; slot++) {
        if (goes(&run.logs[slot], &options)) {
            run.logs[slot].exists = false;
            expected++;
        }
    }
    assert_int_equal(total, expected);
}

static void step_delete(int slot)
{
    const ses_key key = key_of(slot);
    must_delete(run.fixture->store, &key);
    run.logs[slot].exists = false;
}

static void step_reopen(void)
{
    for (int i = 0; i < HANDLES; i++)
        handle_close(&run.handles[i]);
    close_state_rows();
    if (!same_text(run.fixture->path, ":memory:"))
        fixture_reopen(run.fixture);
    for (int slot = 0; slot < SLOTS; slot++)
        check_slot(slot);
}

/* ----------------------------------------------------------------------------------------------- steps */

/* A session is idle since it was written to, whatever times its events have. */
static void note_changes(void)
{
    for (int slot = 0; slot < SLOTS; slot++) {
        struct log *log = &run.logs[slot];
        if (log->number != run.noted[slot].number || log->version != run.noted[slot].version)
            log->changed_us = run.fixture->now;
        run.noted[slot].number = log->number;
        run.noted[slot].version = log->version;
    }
}

static void take_step(void)
{
    struct handle *handle = &run.handles[chance(HANDLES)];
    int slot = handle->session && chance(2) ? handle->slot : chance(SLOTS);
    int kind = chance(100);

    run.fixture->now += chance(3) * INT64_C(1000000);
    if (kind < 6) {
        run.doing = "create";
        step_create(slot);
    } else if (kind < 50) {
        run.doing = "append";
        step_append(slot, handle->session && chance(2) ? handle : NULL);
    } else if (kind < 58) {
        run.doing = "open or refresh";
        if (handle->session)
            step_refresh(handle);
        else
            handle_open(handle, slot);
    } else if (kind < 68) {
        run.doing = "rewind";
        step_rewind(slot, handle);
    } else if (kind < 76) {
        run.doing = "redo";
        step_redo(slot, handle);
    } else if (kind < 81) {
        run.doing = "cut";
        step_cut(slot, handle);
    } else if (kind < 87) {
        run.doing = "fork";
        step_fork(slot, chance(SLOTS));
    } else if (kind < 94) {
        run.doing = "prune";
        step_prune(slot);
    } else if (kind < 96) {
        run.doing = "set expiry";
        step_expiry(slot);
    } else if (kind < 98) {
        run.doing = "expire";
        step_expire();
    } else {
        run.doing = "delete";
        step_delete(slot);
    }
    note_changes();
    check_slot(slot);
}

static int teardown(void **state)
{
    if (!run.finished)
        print_error("seed %llu, step %d (%s)\n", (unsigned long long)run.seed, run.step, run.doing);
    for (int i = 0; i < HANDLES; i++)
        handle_close(&run.handles[i]);
    close_state_rows();
    return fixture_teardown(state);
}

TEST_ALSO(fixture_setup_memory, teardown, random_histories_agree_with_the_model)
TEST_WITH(struct fixture *fixture, fixture_setup, teardown, random_histories_agree_with_the_model)
{
    const char *seed = getenv("SESLITE_TEST_SEED");

    memset(&run, 0, sizeof run);
    run.fixture = fixture;
    run.seed = run.random = seed ? strtoull(seed, NULL, 10) : UINT64_C(1234567);
    run.fixture->options.synchronous = SES_SYNC_NORMAL;
    fixture_reopen(run.fixture);
    for (run.step = 1; run.step <= support_steps(STEPS); run.step++) {
        take_step();
        if (run.step % REOPEN_EVERY == 0)
            step_reopen();
    }
    step_reopen();
    run.finished = true;
}
