/* The function calls of a session that have no response. */
#include <string.h>

#include "agent/pending.h"
#include "agent/tracked.h"
#include "base/argument.h"
#include "base/error.h"
#include "json/object.h"
#include "model/event/event_list.h"
#include "model/event/stored_event.h"
#include "session/handle.h"

/* -------------------------------------------------------------------------------------- the pending calls */

static void pending_event_free(struct pending_event *event)
{
    const ses_allocator *allocator = event->arena.allocator;

    ses__arena_free(&event->arena);
    ses__memory_free(allocator, event);
}

static void drop_answered_calls(ses_pending *pending)
{
    size_t kept = 0;

    for (size_t i = 0; i < pending->count; i++) {
        struct pending_call *call = pending->items[i];
        if (!call)
            continue;
        call->index = kept;
        pending->items[kept++] = call;
    }
    pending->count = kept;
}

/* Makes room for one more call. The list takes memory for the pending calls only, however long the log is. */
static bool make_room_for_call(ses_pending *pending)
{
    if (pending->count < pending->capacity)
        return true;
    drop_answered_calls(pending);
    return ses__memory_grow(&pending->allocator, &pending->items, &pending->capacity, 2 * pending->count + 1,
                            sizeof *pending->items);
}

static bool add_pending_call(ses_pending *pending, struct pending_event *event,
                             const struct stored_function *function, size_t number)
{
    struct pending_call *call = ses__arena_new(&event->arena, sizeof *call);

    if (!call || !make_room_for_call(pending))
        return false;
    *call = (struct pending_call){
        .function = {ses__text(function->id), ses__text(function->name), ses__text(function->args)},
        .event = event,
        .number = number,
        .index = pending->count};
    if (!ses__calls_add(&pending->open, function->id, function->name, &call->call))
        return false;
    pending->items[pending->count++] = call;
    pending->unanswered++;
    event->calls++;
    return true;
}

/* Frees the call's event with its last call. */
static void remove_pending_call(ses_pending *pending, struct pending_call *call)
{
    struct pending_event *event = call->event;

    pending->items[call->index] = NULL;
    pending->unanswered--;
    if (--event->calls == 0)
        pending_event_free(event);
}

static void answer_pending_calls(ses_pending *pending, struct span id, struct span name)
{
    struct call *call = ses__calls_answer(&pending->open, id, name);

    while (call) {
        struct call *next = call->next;
        remove_pending_call(pending, (struct pending_call *)call);
        call = next;
    }
}

void ses__pending_answered(ses_pending *pending, const struct pending_call *call)
{
    const struct span id = {call->function.id.text, call->function.id.len};
    const struct span name = {call->function.name.text, call->function.name.len};

    answer_pending_calls(pending, id, name);
}

/* ------------------------------------------------------------------------------------------- one event */

/* Marks the calls of an id in the event, whose calls were added last. */
static int mark_long_running(void *into, const struct json_found *found, ses_error *error)
{
    struct pending_event *event = into;
    struct pending_call *own = NULL;
    struct span id = {NULL, 0};

    if (found->type != JSON_STRING)
        return ses__json_pass(found, error);
    int code = ses__json_take_name(found, &event->arena, &id, error);
    if (code == SES_OK && id.len > 0)
        own = (struct pending_call *)ses__calls_find(event->open, id, (struct span){NULL, 0});
    for (; own && own->event == event && !own->is_long_running; own = (struct pending_call *)own->call.next)
        own->is_long_running = true;
    return code;
}

static int mark_all_long_running(void *into, const struct json_found *found, ses_error *error)
{
    return ses__json_take_elements(found, "longRunningToolIds[]", mark_long_running, into, error);
}

static int take_scope(void *into, const struct json_found *found, ses_error *error)
{
    struct pending_event *event = into;
    return ses__json_take_name(found, &event->arena, &event->scope, error);
}

static const struct json_object pending_event_fields = {
    "the event",
    "",
    JSON_FIELDS(
        {"longRunningToolIds", "long_running_tool_ids", JSON_MAY_BE(JSON_ARRAY), mark_all_long_running, NULL},
        {"isolationScope", "isolation_scope", JSON_MAY_BE(JSON_STRING), take_scope, NULL}),
};

/* Within an event, responses come before calls. */
static int match_functions(ses_pending *pending, struct pending_event *event,
                           const struct stored_event *stored, ses_error *error)
{
    struct json_reader reader;

    for (size_t i = 0; i < stored->function_count; i++) {
        if (stored->functions[i].is_response)
            answer_pending_calls(pending, stored->functions[i].id, stored->functions[i].name);
    }
    for (size_t i = 0; i < stored->function_count; i++) {
        if (!stored->functions[i].is_response && !add_pending_call(pending, event, &stored->functions[i], i))
            return ses__error_nomem(error);
    }
    if (event->calls == 0)
        return SES_OK;
    /* The event was read before, so this cannot fail on its text. */
    ses__json_start(&reader, event->event->json, event->event->json_len);
    reader.lenient = true;
    return ses__json_read_object(&reader, &pending_event_fields, event, error);
}

static int read_pending_event(ses_pending *pending, struct pending_event *event, const struct event_row *row,
                              ses_error *error)
{
    struct stored_event stored;

    event->event = ses__event_copy(&event->arena, row);
    if (!event->event)
        return ses__error_nomem(error);
    const struct event_row copy = {.seq = row->seq, .body = {event->event->json, event->event->json_len}};
    ses__stored_event_init(&stored, &event->arena);
    int code = ses__stored_event_read(&stored, &copy, STORED_CONTENT, error);
    if (code == SES_OK)
        code = match_functions(pending, event, &stored, error);
    ses__stored_event_free(&stored);
    return code;
}

/* The event is kept if calls of it are pending. */
static int match_event(ses_pending *pending, const ses_event *read, ses_error *error)
{
    const struct event_row row = {.seq = read->seq,
                                  .time_us = read->time_us,
                                  .id = ses__span_of(read->id),
                                  .invocation_id = ses__span_of(read->invocation_id),
                                  .author = ses__span_of(read->author),
                                  .branch = ses__span_of(read->branch),
                                  .body = {read->json, read->json_len}};

    if (!ses__stored_event_may_call(&row))
        return SES_OK;
    struct pending_event *event = ses__memory_zeroed(&pending->allocator, sizeof *event);
    if (!event)
        return ses__error_nomem(error);
    ses__arena_init(&event->arena, &pending->allocator);
    event->open = &pending->open;
    int code = read_pending_event(pending, event, &row, error);
    if (event->calls == 0)
        pending_event_free(event);
    return code;
}

/* ---------------------------------------------------------------------------------------------- the log */

/* If the stored session is the handle's now, it also was when the cursor was opened. */
static int check_handle(const ses_session *handle, ses_store *store, const ses_key *key,
                        const struct limits *limits, ses_error *error)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_get_options options = {.size = sizeof options, .range = &none, LEFT_OF(limits)};
    ses_session *fresh = NULL;
    int code = ses__begun_get(store, key, &options, &fresh, error);

    if (code == SES_OK)
        code = ses__check_epoch(fresh, handle, error);
    ses_session_close(fresh);
    return code;
}

static int read_log(ses_pending *pending, ses_store *store, const ses_key *key, const ses_session *handle,
                    const struct limits *limits, ses_error *error)
{
    const ses_range live = {.size = sizeof live, .which = SES_RANGE_LIVE};
    const ses_cursor_options options = {.size = sizeof options, .range = &live, LEFT_OF(limits)};
    const ses_event *event = NULL;
    ses_cursor *cursor = NULL;
    int64_t settled = 0;
    int code = ses__begun_cursor_open(store, key, &options, true, &cursor, error);

    if (code == SES_OK && handle)
        code = check_handle(handle, store, key, limits, error);
    while (code == SES_OK && (code = ses__begun_cursor_next(cursor, &event, error)) == SES_ROW) {
        code = match_event(pending, event, error);
        if (code == SES_OK && pending->unanswered == 0 && ses__cursor_may_settle(cursor, event->seq))
            settled = event->seq;
    }
    if (code == SES_OK && settled > 0)
        ses__begun_cursor_settle(cursor, settled);
    (void)ses_cursor_close(cursor, NULL); /* the walk has reported its errors */
    return code;
}

/* ------------------------------------------------------------------------------------------------ opening */

static int make_pending(ses_store *store, const ses_key *key, const ses_session *handle,
                        const ses_call_options *options, ses_pending **pending, ses_error *error)
{
    const ses_allocator *allocator = ses__store_allocator(store);
    ses_call_options own;
    int code = ses__take_flagged(&own, sizeof own, options, 0, "call options", error);

    if (code != SES_OK)
        return code;
    const struct limits limits = ses__limits(store, own.timeout_ms, own.cancel);
    ses_pending *fresh = ses__memory_zeroed(allocator, sizeof *fresh);
    if (!fresh)
        return ses__error_nomem(error);
    fresh->allocator = *allocator;
    fresh->open =
        (struct calls){.allocator = &fresh->allocator, .seed = ses__store_seed(store), .forgets = true};
    code = read_log(fresh, store, key, handle, &limits, error);
    drop_answered_calls(fresh);
    if (code == SES_OK)
        *pending = fresh;
    else
        ses_pending_close(fresh);
    return code;
}

static int open_pending(ses_store *store, const char *call, const ses_key *key, const ses_session *handle,
                        const ses_call_options *options, ses_pending **pending, ses_error *error)
{
    int code = ses__store_begin_as(store, call, error);
    return code == SES_OK ? ses__store_end(store, make_pending(store, key, handle, options, pending, error))
                          : code;
}

int ses_pending_open(ses_session *session, const ses_call_options *options, ses_pending **pending,
                     ses_error *error)
{
    int code = ses__check_output(pending, "pending", error);

    if (code == SES_OK)
        code = ses__session_check(session, error);
    if (code != SES_OK)
        return code;
    const ses_key key = {ses_session_app(session), ses_session_user(session), ses_session_id(session)};
    return open_pending(ses__session_store(session), __func__, &key, session, options, pending, error);
}

int ses_pending_open_by_key(ses_store *store, const ses_key *key, const ses_call_options *options,
                            ses_pending **pending, ses_error *error)
{
    int code = ses__check_output(pending, "pending", error);
    return code == SES_OK ? open_pending(store, __func__, key, NULL, options, pending, error) : code;
}

void ses_pending_close(ses_pending *pending)
{
    if (pending) {
        const ses_allocator allocator = pending->allocator;
        for (size_t i = 0; i < pending->count; i++) {
            if (pending->items[i])
                remove_pending_call(pending, pending->items[i]);
        }
        ses__calls_free(&pending->open);
        ses__memory_free(&allocator, pending->items);
        ses__memory_free(&allocator, pending);
    }
}

/* ---------------------------------------------------------------------------------------------- accessors */

size_t ses_pending_count(const ses_pending *pending)
{
    return pending->count;
}

const ses_function *ses_pending_call(const ses_pending *pending, size_t index)
{
    return index < ses_pending_count(pending) ? &pending->items[index]->function : NULL;
}

const ses_event *ses_pending_event(const ses_pending *pending, size_t index)
{
    return index < ses_pending_count(pending) ? pending->items[index]->event->event : NULL;
}

int ses_pending_is_long_running(const ses_pending *pending, size_t index)
{
    return index < ses_pending_count(pending) && pending->items[index]->is_long_running;
}
