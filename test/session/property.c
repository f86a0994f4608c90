/*
 * Thousands of random steps over a few sessions, through handles and by key, held against a model after every
 * step. The seed is fixed; SESLITE_TEST_SEED gives another. A failure tells the seed and the step.
 */
#include "session/property_check.h"

enum { HANDLES = 8, STEPS = 15000, CHECK_ALL_EVERY = 150, REOPEN_EVERY = 700 };

/* A handle, and what it should show. */
struct handle {
    ses_session *session; /* NULL: there is none */
    int slot;
    int number;    /* of the session it was made for */
    int count;     /* of events when it was read */
    int64_t begin; /* the version of the session when it was created */
    int first;     /* the first event it holds; none at all when it keeps none */
    bool keeps_events;
    int invocation;
    scope_values view[SCOPES];
};

struct run {
    struct fixture *fixture;
    struct model model;
    struct handle handles[HANDLES];
    uint64_t seed;
    int step;
    bool finished;
};

static struct run run;

/* -------------------------------------------------------------------------------------------- checks */

static const struct session *session_of(const struct handle *handle)
{
    const struct session *session = &run.model.sessions[handle->slot];
    return session->exists && session->number == handle->number ? session : NULL;
}

static void check_handle(struct handle *handle)
{
    const struct session *session = session_of(handle);
    char json[2000];

    assert_string_equal(support_state(handle->session, NULL), view_json(handle->view, json));
    assert_int_equal(ses_session_version(handle->session), handle->begin + handle->count);
    assert_int_equal(ses_session_last_seq(handle->session), handle->count);
    assert_int_equal(ses_session_stored(handle->session), handle->count);
    size_t count = handle->keeps_events ? (size_t)(handle->count - handle->first) : 0;
    assert_int_equal(ses_session_event_count(handle->session), count);
    if (session && handle->count == session->count) {
        assert_int_equal(ses_session_updated_us(handle->session), session->updated_us);
        assert_int_equal(ses_session_created_us(handle->session), session->created_us);
    }
    for (size_t i = count > 3 ? count - 3 : 0; i < count && session; i++)
        check_event(ses_session_event(handle->session, i), &session->events[(size_t)handle->first + i],
                    handle->first + (int)i + 1);
}

static void check_everything(void)
{
    for (int slot = 0; slot < SLOTS; slot++)
        check_slot(run.fixture->store, &run.model, slot);
    for (int i = 0; i < HANDLES; i++) {
        if (run.handles[i].session)
            check_handle(&run.handles[i]);
    }
    for (int app = 0; app < APPS; app++) {
        for (int user = 0; user <= USERS; user++)
            check_list(run.fixture->store, &run.model, app, user, chance(&run.model, 3),
                       1 + (size_t)chance(&run.model, 4));
    }
}

/* -------------------------------------------------------------------------------------------- handles */

static void close_handle(struct handle *handle)
{
    ses_session_close(handle->session);
    handle->session = NULL;
}

static void keep_handle(ses_session *session, int slot, bool keeps_events, int first)
{
    struct handle *handle = &run.handles[chance(&run.model, HANDLES)];
    close_handle(handle);
    *handle = (struct handle){.session = session,
                              .slot = slot,
                              .number = run.model.sessions[slot].number,
                              .count = run.model.sessions[slot].count,
                              .begin = run.model.sessions[slot].begin,
                              .first = first,
                              .keeps_events = keeps_events,
                              .invocation = NO_INVOCATION};
    clear_values(handle->view[TEMP]);
    model_view(&run.model, slot, handle->view);
    check_handle(handle);
}

static void step_get(int slot)
{
    const struct session *session = &run.model.sessions[slot];
    ses_range range = {.size = sizeof range, .newest = chance(&run.model, 6)};
    const ses_key key = key_of(slot);
    ses_session *read = NULL;
    int first = 0;
    ses_error error;

    range.which = (const unsigned[]){0, SES_RANGE_NEWEST, SES_RANGE_NONE}[chance(&run.model, 3)];
    int code = ses_get(run.fixture->store, &key, GET_RANGE(&range), &read, &error);
    assert_code(session->exists ? SES_OK : SES_NOTFOUND, code);
    if (session->exists && range.which == SES_RANGE_NEWEST && session->count > range.newest)
        first = session->count - (int)range.newest;
    if (session->exists)
        keep_handle(read, slot, range.which != SES_RANGE_NONE, first);
}

static void step_refresh(struct handle *handle)
{
    const struct session *session = session_of(handle);
    ses_error error;

    assert_code(session ? SES_OK : SES_NOTFOUND, ses_refresh(handle->session, NULL, &error));
    if (session) {
        handle->count = session->count;
        model_view(&run.model, handle->slot, handle->view);
    }
    check_handle(handle);
}

static void show_temp(struct handle *handle, const struct event *event)
{
    if (handle->invocation != event->invocation)
        clear_values(handle->view[TEMP]);
    handle->invocation = event->invocation;
    apply_changes(handle->view[TEMP], TEMP, event->changes, event->change_count);
}

/* -------------------------------------------------------------------------------------- create, delete */

/* A new session begins above the deleted ones that had its name; how much above is the engine's to say. */
static int64_t begin_of(int slot)
{
    const ses_key key = key_of(slot);
    ses_session *session = must_get(run.fixture->store, &key);
    const int64_t version = ses_session_version(session);

    assert_true(version >= run.model.sessions[slot].floor);
    ses_session_close(session);
    return version;
}

static void step_create(int slot)
{
    struct session *session = &run.model.sessions[slot];
    const int64_t given = run.fixture->now - chance(&run.model, 1000) * INT64_C(7000000);
    const bool gets = once_in(&run.model, 2);
    const ses_create_options options = {.size = sizeof options,
                                        .created_us = once_in(&run.model, 2) ? &given : NULL};
    const ses_key key = key_of(slot);
    struct change changes[MOST_CHANGES];
    int count = random_changes(&run.model, changes);
    char json[MOST_TEXT];
    ses_session *made = NULL;
    ses_error error;

    (void)write_changes(json, changes, count, true);
    int expected = !session->exists ? SES_OK : gets ? SES_EXISTING : SES_EXISTS;
    assert_code(expected, (gets ? ses_get_or_create : ses_create)(run.fixture->store, &key, json, SES_NUL,
                                                                  &options, &made, &error));
    if (!session->exists) {
        session->exists = true;
        session->number = ++run.model.created;
        session->created_us = session->updated_us = options.created_us ? given : run.fixture->now;
        session->count = 0;
        session->begin = begin_of(slot);
        clear_values(session->own);
        model_apply(&run.model, slot, changes, count);
    }
    if (expected >= 0)
        keep_handle(made, slot, true, 0);
}

static void step_delete(int slot)
{
    struct session *session = &run.model.sessions[slot];
    const ses_key key = key_of(slot);
    int64_t deleted = -1;
    ses_error error;

    assert_ok(ses_delete(run.fixture->store, &key, NULL, &deleted, &error));
    assert_int_equal(deleted, session->exists);
    model_delete(session);
}

static void step_delete_user(int slot)
{
    int app = app_of(slot);
    int user = user_of(slot);
    int64_t sessions = 0;
    int64_t state_keys = 0;
    ses_error error;

    assert_ok(ses_delete_user(run.fixture->store, app_ids[app], user_ids[user], NULL, &sessions, &state_keys,
                              &error));
    for (int i = 0; i < KEYS; i++)
        state_keys -= run.model.user[app][user][i] != NO_VALUE;
    for (int i = 0; i < SLOTS; i++) {
        if (app_of(i) == app && user_of(i) == user) {
            sessions -= run.model.sessions[i].exists;
            model_delete(&run.model.sessions[i]);
        }
    }
    clear_values(run.model.user[app][user]);
    assert_int_equal(sessions, 0);
    assert_int_equal(state_keys, 0);
}

/* -------------------------------------------------------------------------------------------- append */

/* Calls one of the four that append; `anyway` is for handles, `version` (or -1) for keys. */
static int call_append(struct handle *handle, int slot, const struct event *events, int count, bool is_batch,
                       bool anyway, int64_t version, ses_appended *appended, ses_error *error)
{
    const ses_append_options options = {.size = sizeof options,
                                        .flags =
                                            (anyway ? SES_ANYWAY : 0) | (version >= 0 ? SES_AT_VERSION : 0),
                                        .version = version};
    ses_store *store = run.fixture->store;
    const ses_key key = key_of(slot);
    ses_text texts[MOST_BATCH];
    size_t texts_count = (size_t)count;
    int code;

    for (int i = 0; i < count; i++)
        texts[i] = (ses_text){events[i].sent, SES_NUL};
    if (handle && is_batch)
        code = ses_append_batch(handle->session, texts, texts_count, &options, appended, error);
    else if (handle)
        code = ses_append(handle->session, events[0].sent, SES_NUL, &options, appended, error);
    else if (is_batch)
        code = ses_append_batch_by_key(store, &key, texts, texts_count, &options, appended, error);
    else
        code = ses_append_by_key(store, &key, events[0].sent, SES_NUL, &options, appended, error);
    return code;
}

/* The call's report about one event; an id that was made goes to the model. */
static void check_appended(struct session *session, const struct event *sent, const struct outcome *outcome,
                           int i, const ses_appended *appended)
{
    int seq = outcome->of[i].seq;

    assert_int_equal(appended->status, outcome->of[i].status);
    assert_int_equal(appended->seq, seq);
    assert_int_equal(appended->version, seq > 0 ? version_of(session) : 0);
    assert_int_equal(appended->made_id[0] != '\0', seq > 0 && !sent->brings_id);
    if (seq > 0 && !sent->brings_id)
        strcpy(session->events[seq - 1].id, appended->made_id);
    assert_int_equal(appended->time_us, seq > 0 ? session->events[seq - 1].time_us : 0);
}

/* The model and the handle take in what was appended; there were `before` events. */
static void take_in(struct handle *handle, int slot, const struct outcome *outcome, const struct event *sent,
                    int count, int before)
{
    struct session *session = &run.model.sessions[slot];
    bool behind = handle && handle->count != before;

    for (int i = 0; i < count; i++) {
        const struct event *event = &session->events[outcome->of[i].seq - 1];
        bool stored = outcome->of[i].status == SES_OK;
        bool is_news = outcome->of[i].status == SES_DUPLICATE && outcome->of[i].seq <= before && handle &&
                       outcome->of[i].seq > handle->count;
        if (stored) {
            model_apply(&run.model, slot, event->changes, event->change_count);
            session->updated_us = event->time_us > session->updated_us ? event->time_us : session->updated_us;
        }
        if (handle && stored) {
            for (int scope = APP; scope <= SESSION; scope++)
                apply_changes(handle->view[scope], scope, event->changes, event->change_count);
        }
        if (handle && (stored || is_news))
            show_temp(handle, &sent[i]);
    }
    if (behind)
        model_view(&run.model, slot, handle->view);
    if (handle)
        handle->count = session->count;
}

/* A version that a caller may expect: the session's, the one before, or any of this or an earlier life. -1:
 * it does not ask. */
static int64_t random_version(const struct session *session)
{
    int64_t version = -1;

    if (once_in(&run.model, 6))
        version = version_of(session) - once_in(&run.model, 3);
    else if (once_in(&run.model, 5))
        version = chance(&run.model, (int)version_of(session) + 1);
    return version;
}

/* Through the handle, or without one (NULL) by key; one event or a batch. */
static void step_append(struct handle *handle, int slot)
{
    static struct event nothing[1];
    struct session none = {.events = nothing};
    struct session *session = &run.model.sessions[slot];
    bool there = handle ? session_of(handle) != NULL : session->exists;
    int count = once_in(&run.model, 3) ? 1 + chance(&run.model, MOST_BATCH) : 1;
    bool is_batch = count > 1 || once_in(&run.model, 4);
    bool anyway = handle && once_in(&run.model, 2);
    int before = session->count;
    int64_t version = handle ? -1 : random_version(session);
    struct event events[MOST_BATCH];
    ses_appended appended[MOST_BATCH];
    struct outcome outcome = {.code = SES_NOTFOUND};
    ses_error error;

    if (before > MOST_EVENTS - MOST_BATCH) {
        step_delete(slot);
        return;
    }
    for (int i = 0; i < count; i++) {
        if (i > 0 && once_in(&run.model, 8))
            events[i] = events[i - 1];
        else
            random_event(&run.model, there ? session : &none, &events[i]);
        if (!there && events[i].partial) /* whether it is NOTFOUND or PARTIAL then is open */
            return;
    }
    bool stale = handle ? handle->count != before && !anyway : version >= 0 && version != version_of(session);
    if (there)
        outcome = model_append(session, events, count, stale, run.fixture->now);
    int code = call_append(handle, slot, events, count, is_batch, anyway, version, appended, &error);
    if (outcome.code != SES_OK) {
        if (outcome.code == SES_EXISTS && stale && code == SES_STALE)
            outcome.code = SES_STALE; /* both are right; which is told is open */
        assert_code(outcome.code, code);
        assert_int_equal(error.index, is_batch && there ? outcome.index : -1);
    } else {
        assert_code(is_batch ? SES_OK : outcome.of[0].status, code);
        for (int i = 0; i < count; i++)
            check_appended(session, &events[i], &outcome, i, &appended[i]);
        if (outcome.stores_or_repeats)
            take_in(handle, slot, &outcome, events, count, before);
    }
    if (handle)
        check_handle(handle);
    check_slot(run.fixture->store, &run.model, slot);
}

/* -------------------------------------------------------------------------------------------- steps */

static void step_value(int slot)
{
    const ses_key key = key_of(slot);
    int scope = chance(&run.model, SCOPES);
    int which = chance(&run.model, KEYS);
    scope_values view[SCOPES];
    char name[64];
    char *json = NULL;
    ses_error error;

    clear_values(view[TEMP]);
    model_view(&run.model, slot, view);
    snprintf(name, sizeof name, "%s%s", prefixes[scope], keys[which]);
    int code = ses_state_get_by_key(run.fixture->store, &key, name, NULL, &json, NULL, &error);
    bool exists = run.model.sessions[slot].exists;
    bool there = exists && view[scope][which] != NO_VALUE;
    assert_code(there ? SES_OK : exists ? SES_ABSENT : SES_NOTFOUND, code);
    if (there)
        assert_string_equal(json, values[(int)view[scope][which]]);
    ses_free(json);
}

static void step_reopen(void)
{
    for (int i = 0; i < HANDLES; i++)
        close_handle(&run.handles[i]);
    if (strcmp(run.fixture->path, ":memory:") != 0)
        fixture_reopen(run.fixture);
    check_everything();
}

static void take_step(void)
{
    struct handle *handle = &run.handles[chance(&run.model, HANDLES)];
    int slot = chance(&run.model, SLOTS);
    int kind = chance(&run.model, 100);
    ses_error error;

    run.fixture->now += chance(&run.model, 3) * INT64_C(40000000);
    if (kind < 8)
        step_create(slot);
    else if (kind < 16 || (kind < 66 && !handle->session))
        step_get(slot);
    else if (kind < 46)
        step_append(handle, handle->slot);
    else if (kind < 60)
        step_refresh(handle);
    else if (kind < 66) {
        assert_ok(ses_invocation_end(handle->session, &error));
        handle->invocation = NO_INVOCATION;
        clear_values(handle->view[TEMP]);
        check_handle(handle);
    } else if (kind < 88)
        step_append(NULL, slot);
    else if (kind < 92)
        step_value(slot);
    else if (kind < 98)
        check_list(run.fixture->store, &run.model, app_of(slot), chance(&run.model, USERS + 1),
                   chance(&run.model, 3), 2);
    else if (!once_in(&run.model, 10))
        step_delete(slot);
    else
        step_delete_user(slot);
    check_slot(run.fixture->store, &run.model, slot);
}

static int teardown(void **state)
{
    if (!run.finished)
        print_error("seed %llu, step %d\n", (unsigned long long)run.seed, run.step);
    for (int i = 0; i < HANDLES; i++)
        close_handle(&run.handles[i]);
    model_free(&run.model);
    return fixture_teardown(state);
}

TEST_ALSO(fixture_setup_memory, teardown, random_steps_agree_with_the_model)
TEST_WITH(struct fixture *fixture, fixture_setup, teardown, random_steps_agree_with_the_model)
{
    const char *seed = getenv("SESLITE_TEST_SEED");

    memset(&run, 0, sizeof run);
    run.fixture = fixture;
    run.seed = seed ? strtoull(seed, NULL, 10) : UINT64_C(88172645463325252);
    model_init(&run.model, run.seed);
    run.fixture->options.synchronous = SES_SYNC_NORMAL;
    fixture_reopen(run.fixture);
    for (run.step = 1; run.step <= support_steps(STEPS); run.step++) {
        take_step();
        if (run.step % CHECK_ALL_EVERY == 0)
            check_everything();
        if (run.step % REOPEN_EVERY == 0)
            step_reopen();
    }
    step_reopen();
    run.finished = true;
}
