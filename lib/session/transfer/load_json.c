/* Loads the JSON of a session, as the ADK and ses_session_json write it. */
#include <string.h>

#include "base/error.h"
#include "json/object.h"
#include "model/event/event.h"
#include "model/state/delta.h"
#include "model/event/timestamp.h"
#include "session/transfer/import.h"

/* One call. Texts without a pointer are not in the JSON. */
struct json_loading {
    ses_store *store;
    struct limits limits;
    struct arena arena;
    struct span id;
    struct span app;
    struct span user;
    struct span state;
    struct span events;
    int64_t time_us; /* the last update time; INT64_MIN: not in the JSON */
    bool timeless;   /* an event has no time */
    int64_t first_us;
    int64_t last_us;
    int64_t count;          /* events read */
    struct changes touched; /* the events' changes of the session's own keys */
    struct changes final;   /* the state at the end */
    struct buffer initial;
    struct json_reader reader; /* reads the events when they are given */
};

/* ------------------------------------------------------------------------------------------- the session */

#define INTO_LOADING(member) JSON_INTO(struct json_loading, member)

static const struct json_object session_json_fields = {
    "the session", "",
    JSON_FIELDS(
        {"id", NULL, JSON_MAY_BE(JSON_STRING) | INTO_LOADING(id), ses__json_read_c_text, NULL},
        {"appName", "app_name", JSON_MAY_BE(JSON_STRING) | INTO_LOADING(app), ses__json_read_c_text, NULL},
        {"userId", "user_id", JSON_MAY_BE(JSON_STRING) | INTO_LOADING(user), ses__json_read_c_text, NULL},
        {"state", NULL, JSON_MAY_BE(JSON_OBJECT) | INTO_LOADING(state), ses__json_read_value, NULL},
        {"events", NULL, JSON_MAY_BE(JSON_ARRAY) | INTO_LOADING(events), ses__json_read_value, NULL},
        {"lastUpdateTime", "last_update_time",
         JSON_MAY_BE(JSON_NUMBER) | JSON_MAY_BE(JSON_STRING) | INTO_LOADING(time_us), ses__timestamp_read,
         "a number or a string"},
        JSON_NO_OTHERS), /* they would be lost */
};

/* --------------------------------------------------------------------------------------------- the events */

static void begin_session_events(struct json_loading *own)
{
    ses__json_start(&own->reader, own->events.ptr, own->events.len);
    own->reader.max_depth += JSON_AROUND;
    (void)ses__json_enter(&own->reader); /* it has been read */
}

static bool next_session_event(struct json_loading *own, struct span *event)
{
    return ses__json_element(&own->reader) && ses__json_skip(&own->reader, event);
}

/* Reads the events a first time: for their times, and for the keys of the session that they change. */
static int look_at_events(struct json_loading *own, ses_error *error)
{
    const ses_allocator *allocator = &own->store->allocator;
    struct span event;
    int code = SES_OK;

    begin_session_events(own);
    for (; code == SES_OK && next_session_event(own, &event); own->count++) {
        struct event_draft draft;
        ses__event_draft_init(&draft, allocator);
        code = ses__event_read(&draft, event, error);
        for (size_t i = 0; code == SES_OK && i < draft.delta.count; i++) {
            struct delta_op op = draft.delta.ops[i];
            if (op.scope != SCOPE_SESSION)
                continue;
            op.name.ptr = ses__arena_text(&own->touched.arena, op.name.ptr, op.name.len);
            if (!op.name.ptr || !ses__delta_add(&own->touched.delta, allocator, op))
                code = ses__error_nomem(error);
        }
        own->timeless = own->timeless || !draft.has_time;
        if (draft.has_time && draft.row.time_us < own->first_us)
            own->first_us = draft.row.time_us;
        if (draft.has_time && draft.row.time_us > own->last_us)
            own->last_us = draft.row.time_us;
        ses__event_draft_free(&draft);
    }
    if (code != SES_OK) {
        ses__error_prefix(error, "event %lld, counted from 0: ", (long long)own->count - 1);
        if (error)
            error->index = own->count - 1;
    }
    return code;
}

/* Gives ses_load the next event. */
static int give_session_event(void *context, ses_loaded_event *event, ses_error *error)
{
    struct json_loading *own = context;
    struct span text;

    (void)error;
    if (!next_session_event(own, &text))
        return 0;
    event->json = text.ptr;
    event->json_len = text.len;
    return 1;
}

/* ------------------------------------------------------------------------------------- the initial state */

static int read_final_state(struct json_loading *own, ses_error *error)
{
    if (!own->state.ptr)
        return SES_OK;
    int code = ses__delta_read_text(own->state, 0, &own->final.arena, &own->final.delta, error);
    if (code == SES_OK)
        code = ses__changes_settle(&own->final, error);
    if (code == SES_OK)
        code = ses__changes_settle(&own->touched, error);
    if (code == SES_OK)
        code = ses__initial_find(&own->final, &own->touched, &own->initial, error);
    if (code != SES_OK)
        ses__error_prefix(error, "the session's state: ");
    return code;
}

/* ---------------------------------------------------------------------------------------- shared scopes */

/* Writes the missing shared keys, as an import does. */
static int write_shared(struct json_loading *own, const ses_key *key, enum scope scope, ses_error *error)
{
    struct import_call call = {.store = own->store, .limits = own->limits};
    struct import_keys *keys = &call.keys;
    int code = SES_OK;

    ses__arena_init(&keys->arena, &own->store->allocator);
    keys->has_owner = keys->is_written = true;
    keys->user = scope == SCOPE_USER ? key->user : NULL;
    memcpy(keys->app, key->app, strlen(key->app) + 1);
    for (size_t i = 0; i < own->final.name_count && code == SES_OK; i++) {
        const struct delta_op *op = own->final.by_name[i];
        if (op->scope != scope || op->removes)
            continue;
        keys->bytes += op->name.len + op->value.len;
        code = ses__delta_add(&keys->delta, &own->store->allocator, *op) ? SES_OK : ses__error_nomem(error);
    }
    if (code == SES_OK)
        code = ses__import_write_keys(&call, error);
    ses__delta_free(&keys->delta, &own->store->allocator);
    ses__arena_free(&keys->arena);
    return code;
}

/* ----------------------------------------------------------------------------------------------- the call */

static int load_read(struct json_loading *own, const ses_key *key, unsigned flags, ses_load_result *result,
                     ses_error *error)
{
    const ses_load_options options = {.size = sizeof options, .flags = flags & ~(unsigned)SES_LOAD_SHARED};
    const int64_t created =
        own->time_us != INT64_MIN && own->time_us < own->first_us ? own->time_us : own->first_us;
    const int64_t updated = own->time_us > own->last_us ? own->time_us : own->last_us;
    const ses_loaded loaded = {.size = sizeof loaded,
                               .initial_state = own->initial.data,
                               .initial_state_len = own->initial.len,
                               .created_us = created < INT64_MAX ? &created : NULL,
                               .updated_us = updated > INT64_MIN && !own->timeless ? &updated : NULL,
                               .next = give_session_event,
                               .next_context = own};

    begin_session_events(own);
    int code = ses__load_session(own->store, key, &loaded, NULL, &options, &own->limits, result, error);
    if (code < 0 || !(flags & SES_LOAD_SHARED) || (flags & SES_LOAD_DRY_RUN))
        return code;
    int written = write_shared(own, key, SCOPE_APP, error);
    if (written == SES_OK)
        written = write_shared(own, key, SCOPE_USER, error);
    return written < 0 ? written : code;
}

/* The given key, which may be NULL, is completed with the names in the JSON. */
static int load_json(ses_store *store, const ses_key *given, struct span text,
                     const ses_load_options *options, ses_load_result *result, ses_error *error)
{
    struct json_loading own = {.store = store,
                               .limits = LIMITS_OF(store, *options),
                               .events = {"[]", 2},
                               .time_us = INT64_MIN,
                               .first_us = INT64_MAX,
                               .last_us = INT64_MIN};
    ses_key key = given ? *given : (ses_key){NULL, NULL, NULL};
    struct json_reader reader;

    ses__arena_init(&own.arena, &store->allocator);
    ses__changes_init(&own.touched, &store->allocator);
    ses__changes_init(&own.final, &store->allocator);
    ses__buffer_init(&own.initial, &store->allocator);
    int code = ses__json_start_object(&reader, text, session_json_fields.whole, error);
    /* The session, its state and its events are levels around values that may themselves be JSON_MAX_DEPTH
     * deep. */
    reader.max_depth += JSON_AROUND;
    reader.arena = &own.arena;
    if (code == SES_OK)
        code = ses__json_read_last(&reader, &session_json_fields, &own, error);
    if (code == SES_OK)
        code = look_at_events(&own, error);
    if (code == SES_OK)
        code = read_final_state(&own, error);
    if (!key.app)
        key.app = own.app.ptr;
    if (!key.user)
        key.user = own.user.ptr;
    if (!key.session)
        key.session = own.id.ptr;
    const char *missing = !key.app ? "appName" : !key.user ? "userId" : !key.session ? "id" : NULL;
    if (code == SES_OK && missing)
        code = ses__error_set(error, SES_INVALID, "the session has no %s, and the key does not name one",
                              missing);
    if (code == SES_OK)
        code = load_read(&own, &key, options->flags, result, error);
    ses__buffer_free(&own.initial);
    ses__changes_free(&own.touched);
    ses__changes_free(&own.final);
    ses__arena_free(&own.arena);
    return code;
}

int ses_load_json(ses_store *store, const ses_key *key, const char *json, size_t len,
                  const ses_load_options *options, ses_load_result *result, ses_error *error)
{
    ses_load_options taken;
    struct span text;
    int code = ses__store_begin(store, error);

    if (code != SES_OK)
        return code;
    code = ses__check_span(json, len, "json", &text, error);
    if (code == SES_OK)
        code = ses__take_options(&taken, sizeof taken, options, "load options", error);
    if (code == SES_OK)
        code = load_json(store, key, text, &taken, result, error);
    return ses__store_end(store, code);
}
