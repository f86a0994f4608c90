/* Loads a session with its history. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/event/artifacts.h"
#include "model/event/event.h"
#include "model/event/timestamp.h"
#include "session/followers.h"
#include "session/initial_state.h"
#include "session/transfer/import.h"

/* Numbers of events have 32 bits. */
static const int64_t LAST_NUMBER = INT64_C(0xFFFFFFFF);

/* One call. Everything but the events is read and checked before the storage is used. */
struct load_call {
    ses_store *store;
    ses_loaded loaded;
    struct initial_state initial;
    struct changes state;
    struct event_draft draft; /* the last event */
    bool refused;             /* the event could not be read */
    struct load_op op;
};

/* ------------------------------------------------------------------------------------------------- events */

static int read_draft(struct load_call *call, const ses_loaded_event *event, ses_error *error)
{
    struct event_draft *draft = &call->draft;
    struct span text;
    int code = ses__check_span(event->json, event->json_len, "event", &text, error);

    if (code == SES_OK)
        code = ses__event_read(draft, text, error);
    if (code == SES_OK &&
        draft->row.rewinds_before.len == 0) /* a rewind may be as long as the state it restores */
        code = ses__check_event_size(
            call->store, text.len,
            call->store->max_event_bytes + (draft->has_id && draft->has_time ? EVENT_ALLOWANCE : 0), error);
    if (code == SES_OK && draft->partial)
        code = ses__error_set(error, SES_INVALID, "it is `partial`, and such events are never stored");
    if (code == SES_OK)
        code = ses__store_complete_event(call->store, draft, error);
    if (code == SES_OK && event->seq < 0)
        code = ses__error_set(error, SES_INVALID, "its number is negative");
    draft->row.seq = event->seq;
    draft->row.high_us = event->updated_us ? *event->updated_us : INT64_MIN;
    return code;
}

/* Gets an event from the application's function, and reads it. */
static int next_draft(void *context, struct event_draft **draft, ses_error *error)
{
    struct load_call *call = context;
    ses_loaded_event event = {.seq = 0};
    ses_error own;

    if (!call->loaded.next)
        return 0;
    ses__error_clear(&own);
    int code = call->loaded.next(call->loaded.next_context, &event, &own);
    code = ses__error_called(error, code, 1, &own, "gives the events");
    if (code <= 0)
        return code;
    ses__event_draft_free(&call->draft);
    ses__event_draft_init(&call->draft, &call->store->allocator);
    code = read_draft(call, &event, error);
    call->refused = code != SES_OK;
    *draft = &call->draft;
    return code == SES_OK ? 1 : code;
}

/* ------------------------------------------------------------------------------------------- the options */

static int take_numbers(struct load_call *call, ses_error *error)
{
    const ses_loaded *loaded = &call->loaded;
    struct load_op *op = &call->op;

    op->now_us = ses__store_now(call->store);
    op->created_us = loaded->created_us ? *loaded->created_us : op->now_us;
    op->updated_us = loaded->updated_us ? *loaded->updated_us : INT64_MIN;
    op->expires_us = loaded->expires_us ? *loaded->expires_us : INT64_MAX;
    op->annotating.sets_archived = true;
    op->annotating.archived_us = loaded->archived_us ? *loaded->archived_us : 0;
    op->annotating.remembered_seq = loaded->remembered_seq;
    op->version = loaded->version ? *loaded->version : -1;
    op->last_seq = loaded->last_seq;
    op->base_seq = loaded->base_seq;
    op->parent_seq = loaded->parent_seq;
    op->origin = loaded->origin;
    if (!ses__timestamp_holds(op->created_us) ||
        (loaded->updated_us && !ses__timestamp_holds(op->updated_us)) ||
        !ses__timestamp_holds_expiry(op->expires_us))
        return ses__error_set(error, SES_INVALID, "a time is outside the years 0 to 9999");
    if (loaded->archived_us &&
        (op->annotating.archived_us <= 0 || !ses__timestamp_holds(op->annotating.archived_us)))
        return ses__error_set(error, SES_INVALID, "the time of the archive is not after 1970");
    if (loaded->version && (op->version < 0 || op->version > MAX_LOADED_VERSION))
        return ses__error_set(error, SES_INVALID, "the version is not from 0 to 2^52");
    if (op->base_seq < 0 || op->base_seq > LAST_NUMBER || op->last_seq < 0 || op->last_seq > LAST_NUMBER ||
        op->parent_seq < 0 || op->parent_seq > LAST_NUMBER || loaded->remembered_seq < 0 ||
        loaded->remembered_seq > LAST_NUMBER)
        return ses__error_set(error, SES_INVALID, "a sequence number is negative, or above 2^32 - 1");
    if (op->origin < 0)
        return ses__error_set(error, SES_INVALID, "the number of the origin is negative");
    return SES_OK;
}

/* Another session of the app. */
static int check_link(const struct load_call *call, const ses_key *link, const char *what, ses_error *error)
{
    int code = SES_OK;

    if (!link)
        return SES_OK;
    if (link->app && strcmp(link->app, call->op.key->app) != 0)
        return ses__error_set(error, SES_INVALID, "the %s is in another app than the session", what);
    code = ses__check_id(link->user, "user", error);
    if (code == SES_OK)
        code = ses__check_id(link->session, "session", error);
    if (code != SES_OK)
        ses__error_prefix(error, "the %s: ", what);
    return code;
}

static int take_links(struct load_call *call, ses_error *error)
{
    const ses_loaded *loaded = &call->loaded;
    struct load_op *op = &call->op;
    int code = check_link(call, loaded->parent, "parent", error);

    if (code == SES_OK)
        code = check_link(call, loaded->child_of, "child_of", error);
    op->parent = loaded->parent;
    op->child_of = loaded->child_of;
    op->is_memory = loaded->kind == SES_KIND_MEMORY;
    if (code == SES_OK && loaded->kind != 0 && (!op->is_memory || loaded->child_of || loaded->remembered_seq))
        code = ses__error_set(
            error, SES_INVALID,
            "the kind is neither 0 nor SES_KIND_MEMORY, or memory is a child or has remembered_seq");
    return code;
}

/* ------------------------------------------------------------------------------------------------- state */

static int take_own_state(struct load_call *call, ses_error *error)
{
    struct span text;

    if (!call->loaded.state)
        return SES_OK;
    int code = ses__check_span(call->loaded.state, call->loaded.state_len, "state", &text, error);
    if (code == SES_OK)
        code = ses__delta_read_text(text, 0, &call->state.arena, &call->state.delta, error);
    for (size_t i = 0; i < call->state.delta.count && code == SES_OK; i++) {
        if (call->state.delta.ops[i].scope != SCOPE_SESSION)
            code = ses__error_set(error, SES_INVALID, "the key \"%.200s\" is not one of the session's own",
                                  call->state.delta.ops[i].name.ptr);
    }
    if (code != SES_OK)
        ses__error_prefix(error, "the own state: ");
    call->op.state = &call->state.delta;
    return code;
}

/* Only an import has artifacts. An artifact has a version; the one without a name has null. */
static int check_base_value(const ses_loaded_value *given, int64_t base_seq, bool has_artifacts,
                            struct base_value *own, ses_error *error)
{
    static const struct span null = {"null", 4};
    int code = ses__check_argument(given->name, "name", error);

    if (code == SES_OK)
        code = ses__check_span(given->json, given->json_len, "json", &own->value, error);
    if (code != SES_OK)
        return code;
    own->name = ses__span_of(given->name);
    own->seq = given->seq;
    const bool is_artifact = has_artifacts && ses__base_is_artifact(own);
    if (is_artifact) {
        const char *name = own->name.ptr + sizeof BASE_ARTIFACT - 1;
        code = name[0] ? ses__check_id(name, "artifact", error) : SES_OK;
        if (code == SES_OK &&
            !(name[0] ? ses__artifact_version_of(own->value) >= 0 : ses__span_is(own->value, null)))
            code = ses__error_set(error, SES_INVALID, "the artifact \"%.200s\" has no version", name);
    } else {
        code = ses__scope_check_name(own->name, error);
    }
    if (code == SES_OK)
        code = ses__json_check_within(own->value.ptr, own->value.len, 1, &own->value, error);
    if (code != SES_OK)
        return code;
    const bool sound = (is_artifact || ses__scope_of(own->name, NULL) != SCOPE_TEMP) &&
                       !ses__scope_is_tombstone(own->value) && own->seq >= 0 && own->seq <= base_seq;
    return sound
               ? SES_OK
               : ses__error_set(
                     error, SES_INVALID,
                     "the key \"%.200s\" has the prefix temp:, is removed, or was set by an event after the base",
                     given->name);
}

static int compare_base_names(const void *left, const void *right)
{
    const struct base_value *a = left;
    const struct base_value *b = right;
    return strcmp(a->name.ptr, b->name.ptr);
}

/* Sorts the values by their names. A value that no event had set must come from the initial state. */
static int check_base_values(struct load_call *call, struct base_value *values, size_t count,
                             ses_error *error)
{
    struct changes *initial = &call->initial.changes;
    int code = SES_OK;

    qsort(values, count, sizeof *values, compare_base_names);
    for (size_t i = 1; i < count && code == SES_OK; i++) {
        if (compare_base_names(&values[i - 1], &values[i]) == 0)
            code = ses__error_set(error, SES_INVALID, "the key \"%.200s\" appears twice", values[i].name.ptr);
    }
    if (code == SES_OK)
        code = ses__changes_settle(initial, error);
    for (size_t i = 0; i < count && code == SES_OK; i++) {
        const struct delta_op *set = ses__changes_find(initial, values[i].name);
        if (values[i].seq == 0 && !ses__base_is_artifact(&values[i]) &&
            !(set && ses__span_is(set->value, values[i].value)))
            code = ses__error_set(
                error, SES_INVALID,
                "the key \"%.200s\" was set by no event, and the initial state has another value of it, or none",
                values[i].name.ptr);
    }
    return code;
}

static int take_base(struct load_call *call, ses_error *error)
{
    const ses_loaded *loaded = &call->loaded;
    const size_t count = loaded->base_count;
    int code = count > 0 ? ses__check_argument(loaded->base, "base", error) : SES_OK;

    if (code != SES_OK || count == 0)
        return code;
    if (call->op.base_seq == 0)
        return ses__error_set(error, SES_INVALID, "a session without pruned events cannot have a base");
    struct base_value *values =
        count < SIZE_MAX / sizeof *values ? ses__arena_new(&call->state.arena, count * sizeof *values) : NULL;
    if (!values)
        return ses__error_nomem(error);
    for (size_t i = 0; i < count && code == SES_OK; i++)
        code = check_base_value(&loaded->base[i], call->op.base_seq, call->op.artifacts != NULL, &values[i],
                                error);
    if (code == SES_OK)
        code = check_base_values(call, values, count, error);
    if (code != SES_OK)
        ses__error_prefix(error, "the base: ");
    call->op.base = values;
    call->op.base_count = count;
    return code;
}

/* --------------------------------------------------------------------------------------------- the call */

static int take_loaded(struct load_call *call, const ses_loaded *given, ses_error *error)
{
    const ses_loaded *loaded = &call->loaded;
    struct span text;
    int code = ses__check_argument(given, "loaded", error);

    if (code == SES_OK)
        code = ses__take_options(&call->loaded, sizeof call->loaded, given, "loaded", error);
    if (code == SES_OK)
        code = take_numbers(call, error);
    if (code == SES_OK)
        code = take_links(call, error);
    if (code == SES_OK)
        code = ses__annotating_take(&call->op.annotating, loaded->title, loaded->labels, loaded->label_count,
                                    true, &call->state.arena, error);
    if (code == SES_OK && loaded->initial_state) {
        code =
            ses__check_span(loaded->initial_state, loaded->initial_state_len, "initial_state", &text, error);
        if (code == SES_OK)
            code = ses__initial_state_read(&call->initial, text, error);
        call->op.initial = call->initial.stored;
    }
    if (code == SES_OK)
        code = take_own_state(call, error);
    return code == SES_OK ? take_base(call, error) : code;
}

static int store_loaded_session(struct load_call *call, ses_load_result *result, ses_error *error)
{
    struct load_op *op = &call->op;
    const ses_key key = {op->key->app, op->key->user, op->name};
    int code = ses__door_load(call->store->storage, op, error);

    if (code != SES_OK && (op->refused || call->refused)) {
        const int64_t index = op->begun - (op->refused ? 1 : 0);
        if (error)
            error->index = index;
        ses__error_prefix(error, "event %lld, counted from 0: ", (long long)index);
    }
    if (code != SES_OK)
        return code;
    if (op->outcome != SES_LOADED_EQUAL && !(op->flags & SES_LOAD_DRY_RUN))
        ses__followers_notify(call->store, code, &key);
    if (op->outcome == SES_LOADED_REPLACED)
        ses__lease_queue_wake(&call->store->leases, &key);
    if (result) {
        *result = (ses_load_result){.outcome = op->outcome, .events = op->events, .version = op->version_now};
        memcpy(result->session, op->name, sizeof result->session);
    }
    return op->outcome == SES_LOADED_EQUAL ? SES_UNCHANGED : SES_OK;
}

int ses__load_session(ses_store *store, const ses_key *key, const ses_loaded *loaded,
                      struct artifact_source *artifacts, const ses_load_options *given,
                      const struct limits *limits, ses_load_result *result, ses_error *error)
{
    const unsigned known =
        SES_LOAD_UPDATE | SES_LOAD_REPLACE | SES_LOAD_RENAME | SES_LOAD_DRY_RUN | SES_LOAD_FOLLOW;
    const unsigned either = SES_LOAD_REPLACE | SES_LOAD_RENAME;
    ses_load_options options;
    int code = ses__check_key(key, error);

    if (code == SES_OK)
        code = ses__take_flagged(&options, sizeof options, given, known, "load options", error);
    if (code == SES_OK && (options.flags & either) == either)
        code = ses__error_set(error, SES_MISUSE,
                              "load options: SES_LOAD_REPLACE and SES_LOAD_RENAME contradict each other");
    if (code == SES_OK && (options.flags & SES_LOAD_FOLLOW) && !(options.flags & SES_LOAD_UPDATE))
        code = ses__error_set(error, SES_MISUSE, "load options: SES_LOAD_FOLLOW needs SES_LOAD_UPDATE");
    if (code != SES_OK)
        return code;
    struct load_call call = {.store = store,
                             .op = {.limits = *limits,
                                    .key = key,
                                    .flags = options.flags,
                                    .max_events = store->max_session_events,
                                    .seed = store->seed,
                                    .next = next_draft,
                                    .context = &call,
                                    .artifacts = artifacts}};
    ses__initial_state_init(&call.initial, store);
    ses__changes_init(&call.state, &store->allocator);
    ses__event_draft_init(&call.draft, &store->allocator);
    code = take_loaded(&call, loaded, error);
    if (code == SES_OK)
        code = store_loaded_session(&call, result, error);
    ses__event_draft_free(&call.draft);
    ses__changes_free(&call.state);
    ses__initial_state_free(&call.initial);
    return code;
}

int ses_load(ses_store *store, const ses_key *key, const ses_loaded *loaded, const ses_load_options *options,
             ses_load_result *result, ses_error *error)
{
    ses_load_options own;
    int code = ses__store_begin(store, error);

    if (code != SES_OK)
        return code;
    code = ses__take_options(&own, sizeof own, options, "load options", error);
    if (code == SES_OK) {
        const struct limits limits = LIMITS_OF(store, own);
        own.size = sizeof own;
        code = ses__load_session(store, key, loaded, NULL, &own, &limits, result, error);
    }
    return ses__store_end(store, code);
}
