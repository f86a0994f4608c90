/* Appending events: one at a time or in batches, through a handle or by key. */
#include <string.h>

#include "base/error.h"
#include "model/event/event.h"
#include "session/append_extras.h"
#include "session/session.h"
#include "session/followers.h"
#include "session/temp.h"

/* One call. The drafts are read and sealed before they are stored. */
struct append_call {
    struct session_call *at;
    bool is_batch;
    struct append_extras *extras;
    struct append_artifacts *artifacts; /* or NULL */
    struct annotating annotating;
    struct append_op op;
    struct event_draft draft; /* these two of a single event, so that it takes no memory */
    ses_appended result;
};

/* ------------------------------------------------------------------------------------------- one event */

int ses__store_complete_event(ses_store *store, struct event_draft *draft, ses_error *error)
{
    char id[SES_ID_MAX + 1];

    if (!draft->has_time)
        draft->row.time_us = ses__store_now(store);
    if (!draft->has_id) {
        int code = ses__store_make_id(store, id, error);
        if (code != SES_OK)
            return code;
        draft->row.id = (struct span){ses__arena_text(&draft->arena, id, strlen(id)), strlen(id)};
        if (!draft->row.id.ptr)
            return ses__error_nomem(error);
    }
    return ses__event_seal(draft, error);
}

/* Reads one event, and adds a missing id or time. A stored event may be given again whatever its length: a
 * rewind may be longer than the limit, and the limit may have changed. */
static int prepare_draft(struct append_call *call, const ses_text *event, struct event_draft *draft,
                         ses_appended *result, ses_error *error)
{
    const ses_store *store = call->at->store;
    const size_t changes_len = call->extras->writes.members.len;
    struct span text;
    int code = ses__check_span(event->text, event->len, "event", &text, error);

    *result = (ses_appended){0};
    draft->extras = call->is_batch ? NULL : &call->extras->writes;
    if (code == SES_OK) /* before it is read */
        code = ses__check_event_size(store, text.len, LARGEST_MAX_EVENT, error);
    if (code == SES_OK)
        code = ses__event_read(draft, text, error);
    if (code == SES_OK && (!draft->has_id || !draft->has_time || changes_len > 0))
        code = ses__check_event_size(store, text.len + changes_len, store->max_event_bytes, error);
    else if (code == SES_OK)
        draft->too_long = text.len > store->max_event_bytes + EVENT_ALLOWANCE;
    if (code == SES_OK && draft->partial)
        result->status = SES_PARTIAL;
    else if (code == SES_OK)
        code = ses__store_complete_event(call->at->store, draft, error);
    if (code == SES_OK && !draft->has_id && draft->row.id.len < sizeof result->made_id && !draft->partial)
        memcpy(result->made_id, draft->row.id.ptr, draft->row.id.len + 1);
    return code;
}

static int store_drafts(struct append_call *call, ses_error *error)
{
    struct append_op *op = &call->op;
    ses_session *session = call->at->session;
    struct temp_update temp;
    int code = ses__temp_stage(&temp, session, op->drafts, op->count, error);

    for (size_t i = 0; i < op->count; i++)
        op->bytes += op->drafts[i].row.body.len;
    if (code == SES_OK) {
        code = ses__door_append(call->at->store->storage, op, error);
        ses__followers_notify(call->at->store, code, &call->at->key);
        if (code == SES_OK && session) { /* brings the events to the handle, which cannot fail */
            const int64_t shown = session->snapshot.row.last_seq;
            ses__advance_apply(&op->advance);
            for (size_t i = 0; i < op->count; i++) {
                const ses_appended *result = &op->results[i];
                /* A duplicate is new to a handle that lacked the event. */
                if (result->status == SES_OK || (result->status == SES_DUPLICATE && result->seq > shown &&
                                                 result->seq <= op->before.last_seq))
                    ses__temp_apply(&temp, i);
            }
        }
        ses__advance_free(&op->advance);
    }
    ses__temp_free(&temp);
    for (size_t i = 0; i < op->count && code == SES_OK; i++) {
        if (op->results[i].status != SES_PARTIAL) {
            op->results[i].version = op->row.version;
            op->results[i].updated_us = op->row.updated_us;
        }
    }
    return code;
}

/* Sets the index of the refused event of a batch. */
static void name_event(ses_error *error, const struct append_call *call, size_t index)
{
    if (error)
        error->index = (int64_t)index;
    ses__error_prefix(error, "event %zu of %zu: ", index + 1, call->op.count);
}

/* ------------------------------------------------------------------------------------------ the options */

/* How deep the members of a stateDelta are nested in an event: in the event and its actions. */
enum { DELTA_DEPTH = 2 };

static int take_delta(struct append_call *call, const ses_append_options *options, ses_error *error)
{
    struct changes *writes = &call->extras->writes;
    struct span text;

    if (call->is_batch)
        return ses__error_set(
            error, SES_MISUSE,
            "append options: `delta` is only for single events; the events of a batch carry their own");
    int code = ses__check_text(call->at->store, options->delta, options->delta_len, "delta", &text, error);
    if (code == SES_OK)
        code = ses__delta_read_text(text, DELTA_DEPTH, &writes->arena, &writes->delta, error);
    if (code != SES_OK && error) {
        ses__error_prefix(error, "append options: `delta`: ");
        error->offset = -1; /* it would be taken for an offset in the event */
    }
    return code;
}

static int take_append_options(struct append_call *call, const ses_append_options *given, ses_error *error)
{
    struct append_op *op = &call->op;
    struct changes *seen = &call->extras->seen;
    ses_append_options options;
    struct span text;
    int code =
        ses__take_flagged(&options, sizeof options, given,
                          (unsigned)SES_APPEND_TAKES_DRAFT | (unsigned)SES_ANYWAY | (unsigned)SES_AT_VERSION,
                          "append options", error);
    if (code == SES_OK)
        code = ses__call_take_version(call->at, options.flags, options.version, "append options", error);
    if (code != SES_OK)
        return code;
    if (options.lease < 0)
        return ses__error_set(error, SES_INVALID, "append options: lease is negative");
    if (options.answers)
        code = ses__check_id(options.answers, "append options: answers", error);
    if (code != SES_OK)
        return code;
    op->lease = options.lease;
    op->answers = options.answers;
    op->takes_draft = (options.flags & (unsigned)SES_APPEND_TAKES_DRAFT) != 0;
    op->limits = LIMITS_OF(call->at->store, options);
    op->anyway = call->at->anyway;
    op->checks_version = call->at->checks_version;
    op->version = call->at->version;
    if (!op->anyway && options.expected) {
        code = ses__check_span(options.expected, options.expected_len, "expected", &text, error);
        if (code == SES_OK)
            code = ses__expected_read(seen, text, error);
    }
    if (!op->anyway && seen->delta.count > 0)
        op->expected = &seen->delta;
    if (code == SES_OK && options.delta)
        code = take_delta(call, &options, error);
    if (code == SES_OK) {
        code = ses__annotating_take(&call->annotating, options.title, options.labels, options.label_count,
                                    false, &call->extras->writes.arena, error);
        if (code != SES_OK)
            ses__error_prefix(error, "append options: ");
    }
    if (options.title || options.label_count > 0)
        op->annotating = &call->annotating;
    if (code == SES_OK && options.artifacts && call->is_batch)
        code =
            ses__error_set(error, SES_MISUSE,
                           "append options: `artifacts` is only for single events; append them one by one");
    call->artifacts = (struct append_artifacts *)options.artifacts;
    return code == SES_OK ? ses__changes_settle(&call->extras->writes, error) : code;
}

/* ------------------------------------------------------------------------------------------- the appends */

void ses__append_extras_init(struct append_extras *extras, const ses_allocator *allocator)
{
    ses__changes_init(&extras->writes, allocator);
    ses__changes_init(&extras->seen, allocator);
}

void ses__append_extras_free(struct append_extras *extras)
{
    ses__changes_free(&extras->writes);
    ses__changes_free(&extras->seen);
}

/* Stores the events of the call, of which there is at least one. */
static int append_all(struct append_call *call, const ses_text *events, ses_appended *appended,
                      ses_error *error)
{
    struct arena *arena = &call->extras->writes.arena;
    struct append_op *op = &call->op;
    const bool fits = op->count < SIZE_MAX / (sizeof *op->drafts + sizeof *op->results);
    size_t ready = 0;
    bool stores = false; /* an event that is not partial */
    int code = SES_OK;

    op->drafts = &call->draft;
    op->results = &call->result;
    if (op->count > 1) {
        op->drafts = fits ? ses__arena_new(arena, op->count * sizeof *op->drafts) : NULL;
        op->results = fits ? ses__arena_new(arena, op->count * sizeof *op->results) : NULL;
    }
    if (!op->drafts || !op->results)
        return ses__error_nomem(error);
    for (size_t i = 0; i < op->count; i++)
        ses__event_draft_init(&op->drafts[i], &call->at->store->allocator);
    while (ready < op->count && code == SES_OK) {
        code = prepare_draft(call, &events[ready], &op->drafts[ready], &op->results[ready], error);
        if (code == SES_OK)
            stores = !op->drafts[ready++].partial || stores;
        else if (call->is_batch)
            name_event(error, call, ready);
    }
    if (code == SES_OK && stores)
        code = store_drafts(call, error);
    for (size_t i = 0; i < op->count; i++) {
        ses_appended *result = &op->results[i];
        if (code == SES_UNKNOWN && !op->drafts[i].partial) { /* keeps the ids, to send the events again */
            result->status = SES_UNKNOWN;
            result->seq = 0;
            result->time_us = 0;
        }
        ses__event_draft_free(&op->drafts[i]);
    }
    if (call->is_batch && op->at > 0 && (code == SES_EXISTS || code == SES_STALE || code == SES_LEASED))
        name_event(error, call, op->at - 1);
    if ((code == SES_OK || code == SES_UNKNOWN) && appended)
        memcpy(appended, op->results, op->count * sizeof *appended);
    return code == SES_OK && !call->is_batch ? op->results->status : code;
}

/* Appends an event together with artifacts. */
static int append_with_artifacts(struct append_call *call, const ses_text *event, ses_appended *appended,
                                 ses_error *error)
{
    struct append_artifacts *artifacts = call->artifacts;
    struct span text;
    struct span merged;
    int code = ses__check_span(event->text, event->len, "event", &text, error);

    call->op.artifacts = &artifacts->rows;
    for (int tries = 0; code == SES_OK && tries < MAX_OUTRUN; tries++) {
        code = artifacts->prepare(artifacts, call->at, &call->op.limits, text, &merged, error);
        if (code != SES_OK)
            break;
        code = append_all(call, &(ses_text){merged.ptr, merged.len}, appended, error);
        if (code != SES_BUSY || !artifacts->rows.outrun)
            return code;
        code = tries + 1 < MAX_OUTRUN ? SES_OK : code;
    }
    return code;
}

/* `extras` may be NULL. */
static int append_events(const struct target *target, bool is_batch, const ses_text *events, size_t count,
                         struct append_extras *extras, const ses_append_options *options,
                         ses_appended *appended, ses_error *error)
{
    struct session_call at;
    struct append_extras none;
    int code = ses__call_begin(&at, target, error);

    if (code != SES_OK)
        return code;
    const ses_store *store = at.store;
    struct append_call call = {.at = &at,
                               .is_batch = is_batch,
                               .extras = extras ? extras : &none,
                               .op = {.session = at.ref,
                                      .snapshot = at.snapshot,
                                      .count = count,
                                      .max_events = store->max_session_events,
                                      .max_event_bytes = store->max_event_bytes,
                                      .now_us = ses__store_now(store)}};
    code = count > 0 ? ses__check_argument(events, "events", error) : SES_OK;
    if (code != SES_OK)
        return ses__call_end(&at, code);
    ses__append_extras_init(&none, &store->allocator);
    code = take_append_options(&call, options, error);
    if (code == SES_OK && count > 0)
        code = call.artifacts ? append_with_artifacts(&call, events, appended, error)
                              : append_all(&call, events, appended, error);
    ses__append_extras_free(&none);
    return ses__call_end(&at, code);
}

/* -------------------------------------------------------------------------------------------- the calls */

int ses__append_with(const char *name, ses_session *session, const char *event, size_t event_len,
                     struct append_extras *extras, const ses_append_options *options, ses_appended *appended,
                     ses_error *error)
{
    const struct target target = {.call = name, .session = session};
    return append_events(&target, false, &(ses_text){event, event_len}, 1, extras, options, appended, error);
}

int ses_append(ses_session *session, const char *event, size_t event_len, const ses_append_options *options,
               ses_appended *appended, ses_error *error)
{
    const ses_text text = {event, event_len};
    return append_events(ON(session), false, &text, 1, NULL, options, appended, error);
}

int ses_append_by_key(ses_store *store, const ses_key *key, const char *event, size_t event_len,
                      const ses_append_options *options, ses_appended *appended, ses_error *error)
{
    const ses_text text = {event, event_len};
    return append_events(AT(store, key), false, &text, 1, NULL, options, appended, error);
}

int ses_append_batch(ses_session *session, const ses_text *events, size_t count,
                     const ses_append_options *options, ses_appended *appended, ses_error *error)
{
    return append_events(ON(session), true, events, count, NULL, options, appended, error);
}

int ses_append_batch_by_key(ses_store *store, const ses_key *key, const ses_text *events, size_t count,
                            const ses_append_options *options, ses_appended *appended, ses_error *error)
{
    return append_events(AT(store, key), true, events, count, NULL, options, appended, error);
}
