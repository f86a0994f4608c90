/* Adding to what is remembered. */
#include <string.h>

#include "base/argument.h"
#include "base/error.h"
#include "base/utf8.h"
#include "json/writer.h"
#include "memory/memory.h"
#include "model/adk/fields.h"
#include "model/event/event.h"
#include "session/handle.h"
#include "session/store.h"
#include "session/transfer/import.h"

/* An event that is to be remembered. */
struct added {
    struct span id;
    struct span copy; /* what is kept of it, without text once it need not be copied */
    int64_t seq;      /* in the session of the store; 0: it is not there */
};

struct remembering {
    ses_store *store;
    const ses_key *key; /* which may have no session */
    ses_memory_add_options options;
    struct limits limits;
    struct arena arena;
    struct added *items;
    size_t count;
    bool is_stored; /* the session */
    int64_t remembered_seq;
    /* out */
    size_t added;
};

static ses_call_options call_options(const struct remembering *adding)
{
    return (ses_call_options){.size = sizeof(ses_call_options), LEFT_OF(&adding->limits)};
}

/* ------------------------------------------------------------------------------------------ what is given */

/* Keeps the fields of a memory, as they are spelled. */
static int make_copy(struct remembering *adding, struct span body, struct span *copy, ses_error *error)
{
    static const char *const kept[] = {"id", "author", "timestamp", "content", "customMetadata"};
    struct json_reader reader;
    struct json_string name;
    struct buffer out;
    struct span value;

    ses__buffer_init(&out, adding->arena.allocator);
    ses__buffer_add(&out, "{", 1);
    int code = ses__json_start_object(&reader, body, "the event", error);
    for (bool more = code == SES_OK && ses__json_enter(&reader); more && ses__json_member(&reader, &name);) {
        struct span keeps = {NULL, 0};
        for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
            if (ses__adk_is_named(name, kept[i]))
                keeps = name.escaped ? ses__span_of(kept[i]) : name.raw;
        if (ses__json_skip(&reader, &value) && keeps.ptr)
            ses__json_add_member(&out, 1, keeps, value);
    }
    ses__buffer_add(&out, "}", 1);
    *copy = (struct span){ses__arena_text(&adding->arena, out.data, out.len), out.len};
    if (code == SES_OK && (out.failed || !copy->ptr))
        code = ses__error_nomem(error);
    ses__buffer_free(&out);
    return code;
}

static bool is_given(const struct remembering *adding, struct span id)
{
    for (size_t i = 0; i < adding->count; i++)
        if (ses__span_is(adding->items[i].id, id))
            return true;
    return false;
}

static int take_given(struct remembering *adding, const ses_text *given, ses_error *error)
{
    struct event_draft draft;
    struct span text;
    bool is_said = false;

    ses__event_draft_init(&draft, adding->arena.allocator);
    int code = ses__check_text(adding->store, given->text, given->len, "event", &text, error);
    if (code == SES_OK)
        code = ses__event_read(&draft, text, error);
    if (code == SES_OK && !draft.partial)
        code = ses__memories_is_said(adding->arena.allocator, text, &is_said, error);
    if (code == SES_OK && is_said)
        code = ses__store_complete_event(adding->store, &draft, error);
    if (code == SES_OK && is_said && !is_given(adding, draft.row.id)) {
        struct added *item = &adding->items[adding->count];
        *item = (struct added){
            .id = {ses__arena_text(&adding->arena, draft.row.id.ptr, draft.row.id.len), draft.row.id.len}};
        code = item->id.ptr ? make_copy(adding, draft.row.body, &item->copy, error) : ses__error_nomem(error);
        adding->count++;
    }
    ses__event_draft_free(&draft);
    return code;
}

static int take_all_given(struct remembering *adding, const ses_text *events, size_t count, ses_error *error)
{
    int code = count > 0 ? ses__check_argument(events, "events", error) : SES_OK;

    if (code != SES_OK || count == 0)
        return code;
    adding->items = count < SIZE_MAX / sizeof *adding->items
                        ? ses__arena_new(&adding->arena, count * sizeof *adding->items)
                        : NULL;
    if (!adding->items)
        return ses__error_nomem(error);
    for (size_t i = 0; i < count && code == SES_OK; i++) {
        code = take_given(adding, &events[i], error);
        if (code != SES_OK && error)
            error->index = (int64_t)i;
    }
    return code;
}

/* ----------------------------------------------------------------------------- those that the session has */

/* The number of the event in that session. 0: it is not there. */
static int find_copy(const struct remembering *adding, const ses_key *key, const struct added *item,
                     int64_t *seq, ses_error *error)
{
    const ses_call_options options = call_options(adding);
    char *json = NULL;
    const int code =
        ses_event_get_by_key(adding->store, key, item->id.ptr, &options, seq, &json, NULL, error);

    ses_free(json);
    if (code != SES_ABSENT && code != SES_NOTFOUND)
        return code;
    ses__error_clear(error);
    *seq = 0;
    return SES_OK;
}

/* One that keeps copies is not the session that they come from. */
static int look_at_source(struct remembering *adding, ses_error *error)
{
    ses_session *session = NULL;
    const int code = ses__memories_look(adding->store, adding->key, &adding->limits, &session, error);

    adding->is_stored = session && ses_session_kind(session) != SES_KIND_MEMORY;
    if (adding->is_stored)
        adding->remembered_seq = ses_session_remembered_seq(session);
    ses_session_close(session);
    return code;
}

/* Looks which of the events the session has. `*last` is the greatest number that is not remembered yet. */
static int find_given(struct remembering *adding, int64_t *last, ses_error *error)
{
    int code = look_at_source(adding, error);

    for (size_t i = 0; i < adding->count && code == SES_OK && adding->is_stored; i++) {
        struct added *item = &adding->items[i];
        code = find_copy(adding, adding->key, item, &item->seq, error);
        if (item->seq > 0 && item->seq <= adding->remembered_seq)
            item->copy.ptr = NULL;
        else if (item->seq > *last)
            *last = item->seq;
    }
    return code;
}

/* Finds out whether nothing else was said from what is remembered up to the number. */
static int are_all_given(const struct remembering *adding, int64_t last, bool *are_all, ses_error *error)
{
    const ses_range range = {.size = sizeof range,
                             .which = SES_RANGE_SEQ | SES_RANGE_LIVE,
                             .first_seq = adding->remembered_seq + 1,
                             .last_seq = last};
    const ses_cursor_options options = {.size = sizeof options, .range = &range, LEFT_OF(&adding->limits)};
    const ses_event *event = NULL;
    ses_cursor *cursor = NULL;
    int code = ses__begun_cursor_open(adding->store, adding->key, &options, false, &cursor, error);

    *are_all = true;
    while (cursor && code >= 0 && *are_all) {
        code = ses__begun_cursor_next(cursor, &event, error);
        if (code != SES_ROW)
            break;
        if (is_given(adding, ses__span_of(event->id)))
            continue;
        bool is_said = false;
        code = ses__memories_is_said(adding->arena.allocator, (struct span){event->json, event->json_len},
                                     &is_said, error);
        *are_all = !is_said;
    }
    (void)ses_cursor_close(cursor, NULL); /* its failure is known */
    return code < 0 ? code : SES_OK;
}

/* Raises the session's number, if that says the same as copies would. */
static int raise_number(struct remembering *adding, ses_error *error)
{
    int64_t last = 0;
    bool are_all = false;
    int code = find_given(adding, &last, error);

    if (code == SES_OK && last > 0 && !(adding->options.flags & SES_MEMORY_COPY))
        code = are_all_given(adding, last, &are_all, error);
    if (code == SES_OK && are_all)
        code = ses__begun_remember(adding->store, adding->key, last, &adding->limits, error);
    for (size_t i = 0; i < adding->count && code == SES_OK && are_all; i++) {
        struct added *item = &adding->items[i];
        if (item->seq > 0 && item->copy.ptr) {
            item->copy.ptr = NULL;
            adding->added++;
        }
    }
    return code;
}

/* ------------------------------------------------------------------------------------------------- copies */

/* The events that are to be copied, one after the other. */
struct copying {
    const struct remembering *adding;
    size_t next;
};

static bool next_copy(struct copying *copying, struct span *copy)
{
    const struct remembering *adding = copying->adding;

    while (copying->next < adding->count) {
        *copy = adding->items[copying->next++].copy;
        if (copy->ptr)
            return true;
    }
    return false;
}

static int load_copy(void *context, ses_loaded_event *event, ses_error *error)
{
    struct span copy;

    (void)error;
    if (!next_copy(context, &copy))
        return 0;
    event->json = copy.ptr;
    event->json_len = copy.len;
    return 1;
}

/* A link to the session that the copies come from lets a redaction of that one find them. */
static int load_place(struct remembering *adding, const ses_key *key, const struct memory_place *place,
                      unsigned flags, struct copying *copying, ses_error *error)
{
    const ses_loaded loaded = {.size = sizeof loaded,
                               .kind = SES_KIND_MEMORY,
                               .labels = place->labels,
                               .label_count = place->label_count,
                               .parent = adding->is_stored ? adding->key : NULL,
                               .next = copying ? load_copy : NULL,
                               .next_context = copying};
    const ses_load_options options = {.size = sizeof options, .flags = flags};

    return ses__load_session(adding->store, key, &loaded, NULL, &options, &adding->limits, NULL, error);
}

/* EXISTS: a session of another kind has the id. */
static int look_at_place(const struct remembering *adding, const ses_key *key, bool *is_there,
                         ses_error *error)
{
    ses_session *session = NULL;
    int code = ses__memories_look(adding->store, key, &adding->limits, &session, error);

    *is_there = session != NULL;
    if (session && ses_session_kind(session) != SES_KIND_MEMORY)
        code = ses__error_set(error, SES_EXISTS, "session '%s' exists, and is not of the kind memory",
                              key->session);
    ses_session_close(session);
    return code;
}

/* Passes over those that the place has. */
static int pass_known(struct remembering *adding, const ses_key *key, ses_error *error)
{
    int code = SES_OK;

    for (size_t i = 0; i < adding->count && code == SES_OK; i++) {
        struct added *item = &adding->items[i];
        int64_t seq = 0;
        if (item->copy.ptr)
            code = find_copy(adding, key, item, &seq, error);
        if (seq > 0)
            item->copy.ptr = NULL;
    }
    return code;
}

static size_t count_left(const struct remembering *adding)
{
    struct copying copying = {.adding = adding};
    struct span copy;
    size_t count = 0;

    while (next_copy(&copying, &copy))
        count++;
    return count;
}

static int append_copies(struct remembering *adding, const ses_key *key, ses_error *error)
{
    const ses_append_options options = {.size = sizeof options, LEFT_OF(&adding->limits)};
    struct copying copying = {.adding = adding};
    ses_text *texts = ses__arena_new(&adding->arena, adding->count * sizeof *texts);
    ses_appended *results = ses__arena_new(&adding->arena, adding->count * sizeof *results);
    struct span copy;
    size_t count = 0;

    if (!texts || !results)
        return ses__error_nomem(error);
    while (next_copy(&copying, &copy))
        texts[count++] = (ses_text){copy.ptr, copy.len};
    const int code = ses_append_batch_by_key(adding->store, key, texts, count, &options, results, error);
    for (size_t i = 0; i < count && code == SES_OK; i++)
        adding->added += results[i].status != SES_DUPLICATE;
    return code;
}

/* One may have other words than a copy of its id that the place has, which is passed over. Others may add the
 * same events meanwhile, or forget the place. */
static int keep_copies(struct remembering *adding, const ses_key *key, const struct memory_place *place,
                       ses_error *error)
{
    bool is_there = false;
    int code = look_at_place(adding, key, &is_there, error);

    for (int i = 0; i < MAX_OUTRUN && code == SES_OK; i++) {
        if (!is_there)
            code = load_place(adding, key, place, 0, NULL, error);
        if (code == SES_OK || code == SES_EXISTS)
            code = append_copies(adding, key, error);
        if (code == SES_EXISTS)
            code = pass_known(adding, key, error);
        else if (code != SES_NOTFOUND)
            return code;
        if (code == SES_OK && count_left(adding) == 0)
            return SES_OK;
        code = look_at_place(adding, key, &is_there, error);
    }
    return code == SES_OK ? ses__error_set(error, SES_BUSY,
                                           "others add to session '%s', or forget it, meanwhile", place->id)
                          : code;
}

static int replace_copies(struct remembering *adding, const ses_key *key, const struct memory_place *place,
                          ses_error *error)
{
    struct copying copying = {.adding = adding};
    bool is_there = false;
    int code = look_at_place(adding, key, &is_there, error);

    if (code == SES_OK && count_left(adding) == 0) {
        const ses_delete_options options = {.size = sizeof options, LEFT_OF(&adding->limits)};
        return is_there ? ses_delete(adding->store, key, &options, NULL, error) : SES_OK;
    }
    if (code == SES_OK)
        code = load_place(adding, key, place, SES_LOAD_REPLACE, &copying, error);
    return code < 0 ? code : SES_OK;
}

static int copy_events(struct remembering *adding, ses_error *error)
{
    const bool replaces = (adding->options.flags & SES_MEMORY_REPLACE) != 0;
    struct memory_place place;

    ses__memories_place_of(&place, adding->options.project, adding->key->session);
    const ses_key key = {adding->key->app, adding->key->user, place.id};
    if (!replaces)
        return count_left(adding) > 0 ? keep_copies(adding, &key, &place, error) : SES_OK;
    const int code = replace_copies(adding, &key, &place, error);
    if (code == SES_OK)
        adding->added += count_left(adding);
    return code;
}

/* ---------------------------------------------------------------------------------------------- the calls */

static int add_given(struct remembering *adding, const ses_text *events, size_t count, ses_error *error)
{
    int code = take_all_given(adding, events, count, error);

    if (code == SES_OK && adding->key->session)
        code = adding->options.project ? look_at_source(adding, error) : raise_number(adding, error);
    return code == SES_OK ? copy_events(adding, error) : code;
}

static int add_begun(ses_store *store, const ses_key *key, const ses_text *events, size_t count,
                     const ses_memory_add_options *given, size_t *added, ses_error *error)
{
    const unsigned known = SES_MEMORY_REPLACE | SES_MEMORY_COPY;
    struct remembering adding = {.store = store, .key = key};
    int code = ses__check_argument(key, "key", error);

    if (code == SES_OK)
        code = ses__check_argument(key->user, "key: user", error);
    if (code == SES_OK)
        code = ses__check_owner(key->app, key->user, key->session, error);
    if (code == SES_OK)
        code =
            ses__take_flagged(&adding.options, sizeof adding.options, given, known, "memory options", error);
    if (code == SES_OK)
        code = ses__memories_check_project(adding.options.project, error);
    if (code != SES_OK)
        return code;
    adding.limits = LIMITS_OF(store, adding.options);
    ses__arena_init(&adding.arena, &store->allocator);
    code = add_given(&adding, events, count, error);
    ses__arena_free(&adding.arena);
    if (added)
        *added = code == SES_OK ? adding.added : 0;
    return code;
}

int ses__memories_copy(ses_store *store, const ses_key *key, const ses_text *events, size_t count,
                       const struct limits *limits, ses_error *error)
{
    struct remembering adding = {.store = store, .key = key, .limits = *limits, .is_stored = true};

    ses__arena_init(&adding.arena, &store->allocator);
    int code = take_all_given(&adding, events, count, error);
    if (code == SES_OK)
        code = copy_events(&adding, error);
    ses__arena_free(&adding.arena);
    return code;
}

int ses_memory_add_events(ses_store *store, const ses_key *key, const ses_text *events, size_t count,
                          const ses_memory_add_options *options, size_t *added, ses_error *error)
{
    const int code = ses__store_begin(store, error);

    return code == SES_OK ? ses__store_end(store, add_begun(store, key, events, count, options, added, error))
                          : code;
}

int ses_memory_add(ses_store *store, const ses_key *key, const char *text, size_t len,
                   const ses_memory_add_options *options, ses_error *error)
{
    struct buffer event;
    struct span span;
    int code = ses__store_begin(store, error);

    if (code != SES_OK)
        return code;
    ses__buffer_init(&event, &store->allocator);
    code = ses__check_text(store, text, len, "text", &span, error);
    if (code == SES_OK && !ses__utf8_valid(span.ptr, span.len))
        code = ses__error_set(error, SES_INVALID, "text: it is not valid UTF-8");
    if (code == SES_OK) {
        ses__json_add_named(
            &event, "{\"author\":\"user\",\"content\":{\"role\":\"user\",\"parts\":[{\"text\":", span);
        ses__buffer_add_word(&event, "}]}}");
        code = event.failed
                   ? ses__error_nomem(error)
                   : add_begun(store, key, &(ses_text){event.data, event.len}, 1, options, NULL, error);
    }
    ses__buffer_free(&event);
    return ses__store_end(store, code);
}

int ses_memory_add_session(ses_store *store, const ses_key *key, int64_t last_seq,
                           const ses_call_options *options, ses_error *error)
{
    struct limits limits;
    int code = ses__store_begin(store, error);

    if (code != SES_OK)
        return code;
    code = ses__take_call_options(store, options, &limits, error);
    if (code == SES_OK)
        code = ses__check_key(key, error);
    if (code == SES_OK && (last_seq < 0 || last_seq > MAX_SEQ))
        code = ses__error_set(error, SES_INVALID, "last_seq is negative, or above 2^32 - 1");
    if (code == SES_OK)
        code = ses__begun_remember(store, key, last_seq == 0 ? INT64_MAX : last_seq, &limits, error);
    return ses__store_end(store, code);
}
