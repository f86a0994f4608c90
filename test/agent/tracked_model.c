/*
 * Views against a model: random writes, appends, invocations and other writers, on a handle with two views;
 * after each step the views, the handle, and the store show what plain arrays say they should.
 */
#include "agent.h"

#include <stdbool.h>

enum { KEYS = 10, SHARED = 4, STORED = 8, VIEWS = 2, STEPS = 20000 };
enum { NONE = -2, REMOVED = -1 }; /* else the value */

static const ses_key other_key = {"app", "user", "other"};

/* In the order of ses_state_json; the last two are of the invocation. */
static const char *const names[KEYS] = {"app:a", "app:b", "user:a", "user:b", "",
                                        "a",     "b",     "c",      "temp:a", "temp:b"};
static const char *const invocations[] = {"", "i", "j"};

struct model {
    int stored[STORED];
    int handle[KEYS];
    int own[VIEWS][KEYS];
    int read[VIEWS][SHARED]; /* what the handle showed; NONE: it was not asked */
    int invocation;          /* of `invocations`; NONE at first */
    bool behind;             /* another writer has come between */
};

struct world {
    ses_store *store;
    ses_session *session;
    ses_tracked *views[VIEWS];
    struct model model;
    uint32_t random;
    int refused; /* appends, for what a view had read */
};

static int pick(struct world *world, int below)
{
    world->random = world->random * 1664525u + 1013904223u;
    return (int)((world->random >> 8) % (uint32_t)below);
}

/* The members of an object, as the library writes them. */
static void write_members(char *to, const int *values, int keys, bool tombstones)
{
    const char *comma = "";

    to += sprintf(to, "{");
    for (int i = 0; i < keys; i++) {
        if (values[i] >= 0)
            to += sprintf(to, "%s\"%s\":%d", comma, names[i], values[i]);
        else if (values[i] == REMOVED && tombstones)
            to += sprintf(to, "%s\"%s\":\"__ADK_SENTINEL_REMOVED__\"", comma, names[i]);
        if (values[i] >= 0 || (values[i] == REMOVED && tombstones))
            comma = ",";
    }
    strcpy(to, "}");
}

static void random_delta(struct world *world, int *delta)
{
    for (int i = 0; i < KEYS; i++)
        delta[i] = pick(world, 4) == 0 ? pick(world, 10) - 1 : NONE;
}

static void apply(const int *delta, int *values, int from, int to)
{
    for (int i = from; i < to; i++) {
        if (delta[i] != NONE)
            values[i] = delta[i];
    }
}

static void clear_temp(struct model *model)
{
    for (int i = STORED; i < KEYS; i++)
        model->handle[i] = REMOVED;
}

/* -------------------------------------------------------------------------------------------- the steps */

static void step_write(struct world *world)
{
    int view = pick(world, VIEWS);
    int key = pick(world, KEYS);
    int value = pick(world, 10) - 1;
    ses_error error;

    if (value == REMOVED)
        assert_ok(ses_tracked_remove(world->views[view], names[key], &error));
    else
        assert_ok(ses_tracked_set_int64(world->views[view], names[key], value, &error));
    world->model.own[view][key] = value;
}

static void forget_view(struct model *model, int view)
{
    for (int i = 0; i < KEYS; i++)
        model->own[view][i] = NONE;
    for (int i = 0; i < SHARED; i++)
        model->read[view][i] = NONE;
}

/* A shared key that the view read and writes, and that is another now. */
static const char *outdated_read(const struct model *model, int view)
{
    const char *name = NULL;

    for (int i = 0; i < SHARED && !name; i++) {
        if (model->own[view][i] != NONE && model->read[view][i] != NONE &&
            model->read[view][i] != model->stored[i])
            name = names[i];
    }
    return name;
}

static void step_append(struct world *world)
{
    struct model *model = &world->model;
    const bool anyway = pick(world, 2) == 0;
    const ses_append_options options = {.size = sizeof options, .flags = anyway ? SES_ANYWAY : 0};
    int view = pick(world, VIEWS);
    int invocation = pick(world, 3);
    int delta[KEYS];
    char members[1024];
    char event[1200];
    ses_error error;

    random_delta(world, delta);
    write_members(members, delta, KEYS, true);
    snprintf(event, sizeof event, "{\"invocationId\":\"%s\",\"actions\":{\"stateDelta\":%s}}",
             invocations[invocation], members);
    const char *outdated = outdated_read(model, view);
    int code = ses_tracked_append(world->views[view], event, SES_NUL, &options, NULL, &error);
    if ((model->behind || outdated) && !anyway) {
        assert_code(SES_STALE, code);
        assert_message(model->behind ? "version" : outdated);
        world->refused += !model->behind;
    } else {
        assert_ok(code);
        apply(model->own[view], delta, 0, KEYS);
        apply(delta, model->stored, 0, STORED);
        apply(delta, model->handle, 0, STORED);
        if (model->behind) /* else it keeps what it showed of the shared keys */
            memcpy(model->handle, model->stored, sizeof model->stored);
        if (model->invocation != invocation)
            clear_temp(model);
        apply(delta, model->handle, STORED, KEYS);
        model->invocation = invocation;
        model->behind = false;
        forget_view(model, view);
    }
}

static void step_other_writer(struct world *world)
{
    int delta[KEYS];
    char members[1024];
    char event[1200];

    random_delta(world, delta);
    write_members(members, delta, KEYS, true);
    snprintf(event, sizeof event, "{\"actions\":{\"stateDelta\":%s}}", members);
    must_append_by_key(world->store, &agent_key, event);
    apply(delta, world->model.stored, 0, STORED);
    world->model.behind = true;
}

/* A handle on another session of the same user. */
static void step_other_session(struct world *world)
{
    int delta[KEYS];
    char members[1024];
    char event[1200];

    random_delta(world, delta);
    write_members(members, delta, SHARED, true);
    snprintf(event, sizeof event, "{\"actions\":{\"stateDelta\":%s}}", members);
    must_append_by_key(world->store, &other_key, event);
    apply(delta, world->model.stored, 0, SHARED);
}

static void step_refresh(struct world *world)
{
    must_refresh(world->session);
    memcpy(world->model.handle, world->model.stored, sizeof world->model.stored);
    world->model.behind = false;
}

static void step_invocation(struct world *world)
{
    struct model *model = &world->model;
    int invocation = pick(world, 3);
    ses_error error;

    if (invocation == 0) {
        assert_ok(ses_invocation_end(world->session, &error));
        model->invocation = NONE;
        clear_temp(model);
    } else {
        assert_ok(ses_invocation_begin(world->session, invocations[invocation], &error));
        if (model->invocation != invocation)
            clear_temp(model);
        model->invocation = invocation;
    }
}

/* A view is dropped, or starts again. */
static void step_discard(struct world *world)
{
    int view = pick(world, VIEWS);

    if (pick(world, 2) == 0) {
        ses_tracked_discard(world->views[view]);
    } else {
        ses_tracked_close(world->views[view]);
        world->views[view] = agent_view(world->session, 0);
    }
    forget_view(&world->model, view);
}

/* ------------------------------------------------------------------------------------------- the checks */

static void assert_renders(const ses_tracked *tracked, const int *shown)
{
    static const int used[] = {1, 3, 5, 8};
    char expected[64] = "";
    char *rendered = NULL;
    ses_error error;

    for (size_t i = 0; i < 4; i++) {
        if (shown[used[i]] >= 0)
            sprintf(expected + strlen(expected), "%d", shown[used[i]]);
        strcat(expected, ";");
    }
    assert_ok(ses_tracked_render(tracked, "{app:b?};{user:b?};{a?};{temp:a?};", SES_NUL, NULL, &rendered,
                                 NULL, &error));
    assert_string_equal(rendered, expected);
    ses_free(rendered);
}

static void check_view(struct world *world, int view)
{
    const ses_tracked *tracked = world->views[view];
    const int *own = world->model.own[view];
    const bool reads = pick(world, 3) == 0;
    int shown[KEYS];
    char expected[1024];

    memcpy(shown, world->model.handle, sizeof shown);
    apply(own, shown, 0, KEYS);
    write_members(expected, shown, KEYS, false);
    agent_assert_shows(tracked, expected);
    write_members(expected, own, KEYS, true);
    agent_assert_delta(tracked, expected);
    assert_int_equal(ses_tracked_changed(tracked), strcmp(expected, "{}") != 0);
    for (int i = 0; i < KEYS; i++) {
        char value[16];
        snprintf(value, sizeof value, "%d", shown[i]);
        if (reads || i >= SHARED)
            agent_assert_value(tracked, names[i], shown[i] >= 0 ? value : NULL);
        if (reads && i < SHARED && own[i] == NONE)
            world->model.read[view][i] = shown[i];
    }
    assert_renders(tracked, shown);
}

static void check_all(struct world *world)
{
    const struct model *model = &world->model;
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const char *id = ses_invocation_id(world->session);
    ses_session *fresh = NULL;
    char expected[1024];
    ses_error error;

    for (int view = 0; view < VIEWS; view++)
        check_view(world, view);
    write_members(expected, model->handle, KEYS, false);
    assert_string_equal(support_state(world->session, NULL), expected);
    assert_ok(ses_get(world->store, &agent_key, GET_RANGE(&none), &fresh, &error));
    write_members(expected, model->stored, STORED, false);
    assert_string_equal(support_state(fresh, NULL), expected);
    ses_session_close(fresh);
    if (model->invocation <= 0)
        assert_null(id);
    else
        assert_string_equal(id, invocations[model->invocation]);
}

MEMORY_TEST(views_are_as_the_model)
{
    static void (*const steps[])(struct world *) = {
        step_write,        step_write,         step_write,   step_append,     step_append,
        step_other_writer, step_other_session, step_refresh, step_invocation, step_discard};
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    struct world world = {.store = fixture->store, .random = 4711};

    ses_session_close(agent_session(fixture, NULL));
    assert_ok(ses_create(fixture->store, &other_key, NULL, 0, NULL, NULL, &error));
    assert_ok(ses_get(fixture->store, &agent_key, GET_RANGE(&none), &world.session, &error));
    for (int i = 0; i < KEYS; i++)
        world.model.handle[i] = REMOVED;
    memcpy(world.model.stored, world.model.handle, sizeof world.model.stored);
    world.model.invocation = NONE;
    for (int view = 0; view < VIEWS; view++) {
        world.views[view] = agent_view(world.session, 0);
        forget_view(&world.model, view);
    }
    for (int i = 0; i < support_steps(STEPS); i++) {
        steps[pick(&world, sizeof steps / sizeof steps[0])](&world);
        check_all(&world);
    }
    assert_true(world.refused > support_steps(STEPS) / 200);
    for (int view = 0; view < VIEWS; view++)
        ses_tracked_close(world.views[view]);
    ses_session_close(world.session);
}
