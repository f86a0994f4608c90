/* Stores and sessions. See calls.h. */
#include "calls.h"

#include <stdlib.h>

#include "host.h"

/* JavaScript writes arrays of these. */
_Static_assert(sizeof(ses_text) == 8 && sizeof(ses_label) == 8, "two words of 32 bits");

int64_t js_out[OUT_SLOTS];
ses_error js_failure;

/* ------------------------------------------------------------------------------------------ foundations */

EXPORT(out) int64_t *js_out_address(void)
{
    return js_out;
}

EXPORT(allocate) void *js_allocate(size_t bytes)
{
    return malloc(bytes);
}

EXPORT(release) void js_release(void *memory)
{
    free(memory);
}

EXPORT(free_text) void js_free_text(char *text)
{
    ses_free(text);
}

EXPORT(version) const char *js_version(void)
{
    return ses_version();
}

/* Returns the message of the failure, and its other facts in `out`. */
EXPORT(failure) const char *js_take_failure(void)
{
    js_out[0] = js_failure.version;
    js_out[1] = js_failure.engine_code;
    js_out[2] = js_failure.offset;
    js_out[3] = js_failure.index;
    return js_failure.message;
}

void js_put_event(const ses_event *event)
{
    js_out[0] = event->seq;
    js_out[1] = event->time_us;
    js_out[2] = js_slot(event->id);
    js_out[3] = js_slot(event->invocation_id);
    js_out[4] = js_slot(event->author);
    js_out[5] = js_slot(event->branch);
    js_out[6] = js_slot(event->json);
    js_out[7] = (int64_t)event->json_len;
}

const ses_range *js_range(const int64_t *slots, ses_range *range)
{
    if (!slots)
        return NULL;
    *range = (ses_range){.size = sizeof *range,
                         .which = (unsigned)slots[0],
                         .newest = slots[1],
                         .since_us = slots[2],
                         .first_seq = slots[3],
                         .last_seq = slots[4]};
    return range;
}

const int64_t *js_optional(const int64_t *slots)
{
    return slots[0] ? &slots[1] : NULL;
}

int js_put_text(int code, char *text, size_t len)
{
    js_out[0] = js_slot(text);
    js_out[1] = (int64_t)len;
    return code;
}

/* ---------------------------------------------------------------------------------------------- a store */

/* Options: flags, synchronous, journal, max_event_bytes, max_session_events. */
EXPORT(open) int js_open(const char *path, const int64_t *slots)
{
    const ses_open_options options = {.size = sizeof options,
                                      .flags = (unsigned)slots[0],
                                      .synchronous = (int)slots[1],
                                      .journal = (int)slots[2],
                                      .busy_timeout_ms = -1, /* nobody else has the file */
                                      .max_event_bytes = (size_t)slots[3],
                                      .max_session_events = slots[4],
                                      .max_readers = 1};
    ses_store *store = NULL;
    const int code = ses_open(path, &options, &store, &js_failure);

    js_out[0] = js_slot(store);
    return code;
}

EXPORT(close) void js_close_store(ses_store *store)
{
    ses_close(store);
}

EXPORT(info) int js_info(ses_store *store)
{
    ses_info info = {.size = sizeof info};
    const int code = ses_store_info(store, &info, &js_failure);

    js_out[0] = js_slot(info.sqlite.journal_mode);
    js_out[1] = js_slot(info.sqlite.version);
    js_out[2] = info.schema_version;
    js_out[3] = info.read_only;
    return code;
}

EXPORT(maintain) int js_maintain(ses_store *store)
{
    return ses_store_maintain(store, NULL, &js_failure);
}

/* --------------------------------------------------------------------------------------------- sessions */

/* Options: title, labels, their number, and expiry and creation as optional numbers. */
static ses_key js_child_of(const int64_t *slots)
{
    return (ses_key){NULL, (const char *)(uintptr_t)slots[7], (const char *)(uintptr_t)slots[8]};
}

EXPORT(create)
int js_create(ses_store *store, const char *app, const char *user, const char *id, const char *state,
              size_t state_len, const int64_t *slots)
{
    const ses_key key = {app, user, id};
    const ses_key child_of = js_child_of(slots);
    const ses_create_options options = {.size = sizeof options,
                                        .title = (const char *)(uintptr_t)slots[0],
                                        .labels = (const ses_label *)(uintptr_t)slots[1],
                                        .label_count = (size_t)slots[2],
                                        .expires_us = js_optional(slots + 3),
                                        .created_us = js_optional(slots + 5),
                                        .child_of = child_of.session ? &child_of : NULL};
    ses_session *session = NULL;
    const int code = ses_create(store, &key, state, state_len, &options, &session, &js_failure);

    js_out[0] = js_slot(session);
    return code;
}

EXPORT(get_or_create)
int js_get_or_create(ses_store *store, const char *app, const char *user, const char *id, const char *state,
                     size_t state_len, const int64_t *slots, const int64_t *range_slots)
{
    const ses_key key = {app, user, id};
    const ses_key child_of = js_child_of(slots);
    ses_range range;
    const ses_create_options options = {.size = sizeof options,
                                        .range = js_range(range_slots, &range),
                                        .title = (const char *)(uintptr_t)slots[0],
                                        .labels = (const ses_label *)(uintptr_t)slots[1],
                                        .label_count = (size_t)slots[2],
                                        .expires_us = js_optional(slots + 3),
                                        .created_us = js_optional(slots + 5),
                                        .child_of = child_of.session ? &child_of : NULL};
    ses_session *session = NULL;
    const int code = ses_get_or_create(store, &key, state, state_len, &options, &session, &js_failure);

    js_out[0] = js_slot(session);
    return code;
}

EXPORT(get)
int js_get(ses_store *store, const char *app, const char *user, const char *id, const int64_t *range_slots)
{
    const ses_key key = {app, user, id};
    ses_range range;
    const ses_get_options options = {.size = sizeof options, .range = js_range(range_slots, &range)};
    ses_session *session = NULL;
    const int code = ses_get(store, &key, &options, &session, &js_failure);

    js_out[0] = js_slot(session);
    return code;
}

EXPORT(refresh) int js_refresh(ses_session *session)
{
    return ses_refresh(session, NULL, &js_failure);
}

EXPORT(session_close) void js_session_close(ses_session *session)
{
    ses_session_close(session);
}

EXPORT(session_facts) void js_session_facts(const ses_session *session)
{
    int64_t parent_seq = 0;
    const ses_key *parent = ses_session_parent(session, &parent_seq);
    const ses_key *child_of = ses_session_child_of(session);

    js_out[0] = js_slot(ses_session_app(session));
    js_out[1] = js_slot(ses_session_user(session));
    js_out[2] = js_slot(ses_session_id(session));
    js_out[3] = ses_session_version(session);
    js_out[4] = ses_session_last_seq(session);
    js_out[5] = ses_session_stored(session);
    js_out[6] = ses_session_created_us(session);
    js_out[7] = ses_session_updated_us(session);
    js_out[8] = ses_session_expires_us(session);
    js_out[9] = ses_session_base_seq(session);
    js_out[10] = (int64_t)ses_session_event_count(session);
    js_out[11] = js_slot(ses_session_title(session));
    js_out[12] = (int64_t)ses_session_label_count(session);
    js_out[13] = parent ? js_slot(parent->app) : 0;
    js_out[14] = parent ? js_slot(parent->user) : 0;
    js_out[15] = parent ? js_slot(parent->session) : 0;
    js_out[16] = parent_seq;
    js_out[17] = ses_session_archived_us(session);
    js_out[18] = ses_session_kind(session);
    js_out[19] = child_of ? js_slot(child_of->user) : 0;
    js_out[20] = child_of ? js_slot(child_of->session) : 0;
}

EXPORT(session_label) void js_session_label(const ses_session *session, size_t index)
{
    const ses_label *label = ses_session_label(session, index);

    js_out[0] = js_slot(label->name);
    js_out[1] = js_slot(label->value);
}

EXPORT(session_event) void js_session_event(const ses_session *session, size_t index)
{
    js_put_event(ses_session_event(session, index));
}

EXPORT(session_json) int js_session_json(const ses_session *session)
{
    char *json = NULL;
    size_t len = 0;
    const int code = ses_session_json(session, &json, &len, &js_failure);
    return js_put_text(code, json, len);
}

EXPORT(archive_set) int js_archive_set(ses_session *session, int archived)
{
    return ses_archive_set(session, archived, NULL, &js_failure);
}

EXPORT(title_set) int js_title_set(ses_session *session, const char *title)
{
    return ses_title_set(session, title, NULL, &js_failure);
}

EXPORT(labels_set) int js_labels_set(ses_session *session, const ses_label *labels, size_t count)
{
    return ses_labels_set(session, labels, count, NULL, &js_failure);
}

/* ------------------------------------------------------------------------------------------------ state */

EXPORT(state_json) int js_state_json(const ses_session *session)
{
    const char *json = NULL;
    size_t len = 0;
    const int code = ses_state_json(session, &json, &len, &js_failure);

    js_out[0] = js_slot(json);
    js_out[1] = (int64_t)len;
    return code;
}

EXPORT(state_get) int js_state_get(const ses_session *session, const char *name)
{
    const char *json = NULL;
    size_t len = 0;
    const int code = ses_state_get(session, name, &json, &len, &js_failure);

    js_out[0] = js_slot(json);
    js_out[1] = (int64_t)len;
    return code;
}

EXPORT(shared_state) int js_shared_state(ses_store *store, const char *app, const char *user)
{
    char *json = NULL;
    size_t len = 0;
    const int code = ses_shared_state_json(store, app, user, NULL, &json, &len, &js_failure);
    return js_put_text(code, json, len);
}

EXPORT(shared_state_change)
int js_shared_state_change(ses_store *store, const char *app, const char *user, const char *delta,
                           size_t delta_len, const char *expected, size_t expected_len)
{
    const ses_shared_state_options options = {
        .size = sizeof options, .expected = expected, .expected_len = expected_len};
    return ses_shared_state_change(store, app, user, delta, delta_len, &options, &js_failure);
}

/* ----------------------------------------------------------------------------------------------- append */

/* Flags, version, expected and its length, delta and its length, title, labels and their number. */
static ses_append_options append_options(const int64_t *slots)
{
    return (ses_append_options){.size = sizeof(ses_append_options),
                                .flags = (unsigned)slots[0],
                                .version = slots[1],
                                .expected = (const char *)(uintptr_t)slots[2],
                                .expected_len = (size_t)slots[3],
                                .delta = (const char *)(uintptr_t)slots[4],
                                .delta_len = (size_t)slots[5],
                                .title = (const char *)(uintptr_t)slots[6],
                                .labels = (const ses_label *)(uintptr_t)slots[7],
                                .label_count = (size_t)slots[8]};
}

static void put_appended(const ses_appended *appended)
{
    js_out[0] = appended->status;
    js_out[1] = appended->seq;
    js_out[2] = appended->version;
    js_out[3] = appended->time_us;
    js_out[4] = appended->updated_us;
    js_out[5] = js_slot(appended->made_id);
}

/* The result of the last call for one event. */
static ses_appended last_appended;

static int put_last(int code)
{
    put_appended(&last_appended);
    return code;
}

EXPORT(append) int js_append(ses_session *session, const char *event, size_t len, const int64_t *slots)
{
    const ses_append_options options = append_options(slots);

    last_appended = (ses_appended){0};
    return put_last(ses_append(session, event, len, &options, &last_appended, &js_failure));
}

EXPORT(append_by_key)
int js_append_by_key(ses_store *store, const char *app, const char *user, const char *id, const char *event,
                     size_t len, const int64_t *slots)
{
    const ses_key key = {app, user, id};
    const ses_append_options options = append_options(slots);

    last_appended = (ses_appended){0};
    return put_last(ses_append_by_key(store, &key, event, len, &options, &last_appended, &js_failure));
}

/* Slot 0 is the array of results, which the caller releases. */
EXPORT(append_batch)
int js_append_batch(ses_session *session, const ses_text *events, size_t count, const int64_t *slots)
{
    const ses_append_options options = append_options(slots);
    ses_appended *appended = calloc(count ? count : 1, sizeof *appended);

    js_out[0] = js_slot(appended);
    if (!appended) {
        js_failure = (ses_error){.code = SES_NOMEM, .offset = -1, .index = -1, .version = -1};
        return SES_NOMEM;
    }
    return ses_append_batch(session, events, count, &options, appended, &js_failure);
}

EXPORT(appended_at) void js_appended_at(const ses_appended *appended, size_t index)
{
    put_appended(&appended[index]);
}

/* ---------------------------------------------------------------------------------------------- history */

static ses_point point_of(int kind, int64_t seq, const char *id)
{
    return (ses_point){.size = sizeof(ses_point), .kind = kind, .seq = seq, .id = id};
}

EXPORT(rewind) int js_rewind(ses_session *session, int kind, int64_t seq, const char *id, int flags)
{
    const ses_point point = point_of(kind, seq, id);
    const ses_rewind_options options = {.size = sizeof options, .flags = (unsigned)flags};

    last_appended = (ses_appended){0};
    return put_last(ses_rewind(session, &point, &options, &last_appended, &js_failure));
}

EXPORT(redo) int js_redo(ses_session *session, int flags)
{
    const ses_rewind_options options = {.size = sizeof options, .flags = (unsigned)flags};

    last_appended = (ses_appended){0};
    return put_last(ses_redo(session, &options, &last_appended, &js_failure));
}

EXPORT(cut) int js_cut(ses_session *session, int kind, int64_t seq, const char *id, int flags)
{
    const ses_point point = point_of(kind, seq, id);
    const ses_cut_options options = {.size = sizeof options, .flags = (unsigned)flags};
    return ses_cut(session, &point, &options, &js_out[0], &js_failure);
}

/* Slot 0 is what was popped, which the caller closes, slot 1 the number of events. */
EXPORT(pop) int js_pop(ses_session *session, int kind, int64_t seq, const char *id, int flags)
{
    const ses_point point = point_of(kind, seq, id);
    const ses_cut_options options = {.size = sizeof options, .flags = (unsigned)flags};
    ses_popped *popped = NULL;
    const int code = ses_pop(session, &point, &options, &popped, &js_failure);

    js_out[0] = js_slot(popped);
    js_out[1] = popped ? (int64_t)ses_popped_count(popped) : 0;
    return code;
}

EXPORT(popped_event) void js_popped_event(const ses_popped *popped, size_t index)
{
    js_put_event(ses_popped_event(popped, index));
}

EXPORT(popped_close) void js_popped_close(ses_popped *popped)
{
    ses_popped_close(popped);
}

/* Options: which, flags, keep, before_us, last_seq, limit. */
EXPORT(prune) int js_prune(ses_session *session, const int64_t *slots)
{
    const ses_prune_options options = {.size = sizeof options,
                                       .which = (unsigned)slots[0],
                                       .flags = (unsigned)slots[1],
                                       .keep = slots[2],
                                       .before_us = slots[3],
                                       .last_seq = slots[4],
                                       .limit = slots[5]};
    return ses_prune(session, &options, &js_out[0], &js_failure);
}

/* Option: when it expires, as an optional number. */
EXPORT(fork)
int js_fork(ses_session *session, int kind, int64_t seq, const char *id, const char *to_user,
            const char *to_id, const int64_t *range_slots, const int64_t *slots)
{
    const ses_point point = point_of(kind, seq, id);
    const ses_key to = {ses_session_app(session), to_user ? to_user : ses_session_user(session), to_id};
    ses_range range;
    const ses_fork_options options = {.size = sizeof options,
                                      .flags = to_user ? SES_FORK_OTHER_USER : 0,
                                      .range = js_range(range_slots, &range),
                                      .expires_us = js_optional(slots)};
    ses_session *fork = NULL;
    const int code = ses_fork(session, &point, &to, &options, &fork, &js_failure);

    js_out[0] = js_slot(fork);
    return code;
}

EXPORT(state_as_of) int js_state_as_of(ses_session *session, int kind, int64_t seq, const char *id)
{
    const ses_point point = point_of(kind, seq, id);
    char *json = NULL;
    size_t len = 0;
    const int code = ses_state_json_as_of(session, &point, NULL, &json, &len, &js_failure);
    return js_put_text(code, json, len);
}
