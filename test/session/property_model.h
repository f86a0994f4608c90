/*
 * The model of the property test: a few apps, users and sessions in plain arrays. All of it is small, so that
 * the steps meet the same sessions, keys and ids again and again.
 */
#ifndef SESLITE_TEST_PROPERTY_MODEL_H
#define SESLITE_TEST_PROPERTY_MODEL_H

#include <stdbool.h>

#include "support.h"

enum { APPS = 2, USERS = 2, NAMES = 3, SLOTS = APPS * USERS * NAMES };
enum { KEYS = 5, MOST_CHANGES = 4, MOST_EVENTS = 600, MOST_BATCH = 5, MOST_TEXT = 600 };
enum { APP, USER, SESSION, TEMP, SCOPES };
enum { NO_VALUE = -1, NO_INVOCATION = -1 };

static const char *const app_ids[APPS] = {"app", "app "};
static const char *const user_ids[USERS] = {"user", "User"};
static const char *const session_ids[NAMES] = {"s", "S", "caf\xC3\xA9"};
static const char *const prefixes[SCOPES] = {"app:", "user:", "", "temp:"};
static const char *const keys[KEYS] = {"", "a", "a.b", "b", "caf\xC3\xA9"}; /* in order */
static const char *const values[] = {
    "1",           "null", "\"x\"", "[1, 2]",     "9007199254740993", "{\"n\":{\"m\":1.10}}",
    "\"\\u0000\"", "-0.0", "true",  "\"\\ud800\""};
enum { VALUES = sizeof values / sizeof values[0] };
static const char *const invocations[] = {"", "i1", "i2"};
enum { INVOCATIONS = sizeof invocations / sizeof invocations[0] };

/* The index of a key's value, for each key of a scope. */
typedef signed char scope_values[KEYS];

struct change {
    int scope;
    int key;
    int value; /* NO_VALUE: removed */
};

struct event {
    char id[64]; /* "" until the library has made one */
    bool brings_id;
    bool brings_time;
    bool partial;
    int content; /* the same for the same event; another for one that only has the same id */
    int invocation;
    int64_t time_us;
    struct change changes[MOST_CHANGES];
    int change_count;
    char sent[MOST_TEXT];   /* as it is appended */
    char stored[MOST_TEXT]; /* without its temp: keys; what is missing is added in front */
};

struct session {
    bool exists;
    int number; /* in order of creation, never again the same */
    int64_t created_us;
    int64_t updated_us;
    scope_values own;
    struct event *events;
    int count;
    int64_t begin; /* its version when it was created: one more with each event */
    int64_t floor; /* above the versions of those that had its name before */
};

struct model {
    uint64_t random;
    int created; /* sessions so far */
    int content; /* events so far */
    scope_values app[APPS];
    scope_values user[APPS][USERS];
    struct session sessions[SLOTS];
};

/* ------------------------------------------------------------------------------------------- chance */

/* xorshift64 */
static int chance(struct model *model, int below)
{
    model->random ^= model->random << 13;
    model->random ^= model->random >> 7;
    model->random ^= model->random << 17;
    return (int)((model->random >> 33) % (uint64_t)below);
}

static bool once_in(struct model *model, int times)
{
    return chance(model, times) == 0;
}

/* ------------------------------------------------------------------------------------------- places */

static int app_of(int slot)
{
    return slot / (USERS * NAMES);
}

static int user_of(int slot)
{
    return slot / NAMES % USERS;
}

static ses_key key_of(int slot)
{
    return (ses_key){app_ids[app_of(slot)], user_ids[user_of(slot)], session_ids[slot % NAMES]};
}

static int64_t version_of(const struct session *session)
{
    return session->begin + session->count;
}

static void model_delete(struct session *session)
{
    if (session->exists)
        session->floor = version_of(session) + 1;
    session->exists = false;
    session->count = 0;
}

static void clear_values(scope_values scope)
{
    memset(scope, NO_VALUE, sizeof(scope_values));
}

static void model_init(struct model *model, uint64_t seed)
{
    memset(model, 0, sizeof *model);
    model->random = seed;
    for (int app = 0; app < APPS; app++) {
        clear_values(model->app[app]);
        for (int user = 0; user < USERS; user++)
            clear_values(model->user[app][user]);
    }
    for (int slot = 0; slot < SLOTS; slot++) {
        model->sessions[slot].events = calloc(MOST_EVENTS, sizeof(struct event));
        assert_non_null(model->sessions[slot].events);
    }
}

static void model_free(struct model *model)
{
    for (int slot = 0; slot < SLOTS; slot++)
        free(model->sessions[slot].events);
}

/* ------------------------------------------------------------------------------------------- state */

static void apply_changes(scope_values scope, int which, const struct change *changes, int count)
{
    for (int i = 0; i < count; i++) {
        if (changes[i].scope == which)
            scope[changes[i].key] = (signed char)changes[i].value;
    }
}

/* The stored scopes of a session. */
static void model_apply(struct model *model, int slot, const struct change *changes, int count)
{
    apply_changes(model->app[app_of(slot)], APP, changes, count);
    apply_changes(model->user[app_of(slot)][user_of(slot)], USER, changes, count);
    apply_changes(model->sessions[slot].own, SESSION, changes, count);
}

/* The stored scopes as a session shows them; its temp: values are left alone. */
static void model_view(const struct model *model, int slot, scope_values view[SCOPES])
{
    memcpy(view[APP], model->app[app_of(slot)], sizeof(scope_values));
    memcpy(view[USER], model->user[app_of(slot)][user_of(slot)], sizeof(scope_values));
    memcpy(view[SESSION], model->sessions[slot].own, sizeof(scope_values));
}

/* The merged state as the header says it is written. */
static const char *view_json(scope_values view[SCOPES], char json[2000])
{
    size_t at = (size_t)sprintf(json, "{");
    for (int scope = 0; scope < SCOPES; scope++) {
        for (int i = 0; i < KEYS; i++) {
            if (view[scope][i] != NO_VALUE)
                at += (size_t)sprintf(json + at, "%s\"%s%s\":%s", at > 1 ? "," : "", prefixes[scope], keys[i],
                                      values[(int)view[scope][i]]);
        }
    }
    sprintf(json + at, "}");
    return json;
}

static int random_changes(struct model *model, struct change changes[MOST_CHANGES])
{
    int count = chance(model, MOST_CHANGES + 1);
    for (int i = 0; i < count; i++)
        changes[i] = (struct change){chance(model, SCOPES), chance(model, KEYS),
                                     once_in(model, 4) ? NO_VALUE : chance(model, VALUES)};
    return count;
}

/* As a JSON object, in order. */
static size_t write_changes(char *json, const struct change *changes, int count, bool with_temp)
{
    size_t at = (size_t)sprintf(json, "{");
    for (int i = 0; i < count; i++) {
        const char *value =
            changes[i].value == NO_VALUE ? "\"__ADK_SENTINEL_REMOVED__\"" : values[changes[i].value];
        if (changes[i].scope != TEMP || with_temp)
            at += (size_t)sprintf(json + at, "%s\"%s%s\":%s", at > 1 ? "," : "", prefixes[changes[i].scope],
                                  keys[changes[i].key], value);
    }
    return at + (size_t)sprintf(json + at, "}");
}

/* ------------------------------------------------------------------------------------------- events */

static void write_event(const struct event *event, char *json, bool with_temp)
{
    size_t at = (size_t)sprintf(json, "{");
    if (event->brings_id)
        at += (size_t)sprintf(json + at, "\"id\":\"%s\",", event->id);
    if (event->brings_time)
        at += (size_t)sprintf(json + at, "\"timestamp\":%lld,", (long long)event->time_us / 1000000);
    if (event->invocation != 0)
        at += (size_t)sprintf(json + at, "\"invocationId\":\"%s\",", invocations[event->invocation]);
    if (event->partial)
        at += (size_t)sprintf(json + at, "\"partial\":true,");
    at += (size_t)sprintf(json + at, "\"actions\":{\"stateDelta\":");
    at += write_changes(json + at, event->changes, event->change_count, with_temp);
    at += (size_t)sprintf(json + at, "},\"content\":%d}", event->content);
    assert_true(at < MOST_TEXT);
}

/* The event of that id among the session's; -1 for none. */
static int find_event(const struct session *session, const char *id)
{
    int found = -1;
    for (int i = 0; i < session->count && found < 0 && id[0] != '\0'; i++) {
        if (strcmp(session->events[i].id, id) == 0)
            found = i;
    }
    return found;
}

static void new_event(struct model *model, struct event *event)
{
    memset(event, 0, sizeof *event);
    event->content = ++model->content;
    event->brings_id = !once_in(model, 4);
    event->brings_time = !once_in(model, 3);
    event->partial = once_in(model, 10);
    event->invocation = chance(model, INVOCATIONS);
    event->time_us = INT64_C(1700000000000000) + (int64_t)(chance(model, 40000) - 20000) * 1000000;
    event->change_count = random_changes(model, event->changes);
    if (event->brings_id)
        snprintf(event->id, sizeof event->id, "e%d", event->content);
}

/* A new event; or one that is stored already, or that only has the id of one. */
static void random_event(struct model *model, const struct session *session, struct event *event)
{
    int kind = chance(model, 8);
    int known = session->count > 0 ? chance(model, session->count) : -1;

    if (known >= 0 && session->count > 8 && once_in(model, 2))
        known = session->count - 1 - chance(model, 8); /* late ones are those that handles have not seen */
    if (kind <= 1 && known >= 0 && session->events[known].brings_id) {
        *event = session->events[known];
        if (kind == 1 && once_in(model, 2)) {
            event->content = ++model->content;
            write_event(event, event->sent, true);
        }
    } else {
        new_event(model, event);
        write_event(event, event->sent, true);
        write_event(event, event->stored, false);
    }
}

/* ------------------------------------------------------------------------------------------- append */

/* The expected outcome of the events of one call. */
struct outcome {
    int code;               /* 0, or why none of them is stored */
    int index;              /* then: the event that is refused */
    bool stores_or_repeats; /* not all are partial */
    struct {
        int status;
        int seq; /* 0: partial */
    } of[MOST_BATCH];
};

/* The caller is behind: all may be there already, anything else is refused. */
static void refuse_stale(const struct session *session, const struct event *events, int count,
                         struct outcome *outcome)
{
    for (int i = 0; i < count && outcome->code == SES_OK; i++) {
        int known = find_event(session, events[i].brings_id ? events[i].id : "");
        outcome->index = i;
        if (!events[i].partial && known < 0)
            outcome->code = SES_STALE;
        else if (!events[i].partial && session->events[known].content != events[i].content)
            outcome->code = SES_EXISTS;
    }
}

/* Puts the events behind the session's log, or none of them. */
static struct outcome model_append(struct session *session, const struct event *events, int count, bool stale,
                                   int64_t now)
{
    struct outcome outcome = {.code = SES_OK};
    int before = session->count;

    if (stale)
        refuse_stale(session, events, count, &outcome);
    for (int i = 0; i < count && outcome.code == SES_OK; i++) {
        int known = find_event(session, events[i].brings_id ? events[i].id : "");
        outcome.index = i;
        outcome.stores_or_repeats = outcome.stores_or_repeats || !events[i].partial;
        if (events[i].partial) {
            outcome.of[i].status = SES_PARTIAL;
        } else if (known >= 0) {
            outcome.code = session->events[known].content == events[i].content ? SES_OK : SES_EXISTS;
            outcome.of[i].status = SES_DUPLICATE;
            outcome.of[i].seq = known + 1;
        } else {
            struct event *added = &session->events[session->count++];
            *added = events[i];
            if (!added->brings_time)
                added->time_us = now;
            outcome.of[i].seq = session->count;
        }
    }
    if (outcome.code != SES_OK)
        session->count = before;
    return outcome;
}

#endif
