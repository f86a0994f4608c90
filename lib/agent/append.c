/* Appending an event together with what a view wrote. */
#include "agent/agent.h"

#include <stdio.h>
#include <string.h>

#include "base/argument.h"
#include "base/error.h"
#include "json/reader.h"

/*
 * Where the members of a state delta go into an event: its bytes from `start` to `end` are replaced by
 * `before`, the members, and `after`. All other bytes stay.
 */
struct place {
    size_t start;
    size_t end;
    const char *before;
    const char *after;
};

struct event_reader {
    struct json_reader json;
    struct place place;
    bool found_actions;
    const char *delta; /* how it is spelled, when it is there */
    const ses_tracked *tracked;
    const struct member *last; /* one more change of state; NULL: none */
    struct buffer kept; /* the members of the event's delta that neither of them writes, each with a comma */
    bool overrides;     /* there are others */
};

static bool writes_key(const ses_tracked *tracked, const struct member *last, struct span name)
{
    return ses__tracked_own(tracked, name) || (last && ses__state_key_order(name, last->name) == 0);
}

/* --------------------------------------------------------------------------------- finding the place */

static size_t splice_offset(const struct event_reader *reader, const char *at)
{
    return (size_t)(at - reader->json.text);
}

static int splice_wrong_type(struct event_reader *reader, const char *field, ses_error *error)
{
    size_t offset = splice_offset(reader, reader->json.at);
    return ses__error_at(error, SES_INVALID, offset, "at byte %zu: the event's %s must be an object", offset,
                         field);
}

static int twice(struct event_reader *reader, struct json_string key, const char *before, const char *now,
                 ses_error *error)
{
    size_t offset = splice_offset(reader, key.raw.ptr - 1);
    return strcmp(before, now) == 0
               ? ses__error_at(error, SES_INVALID, offset, "at byte %zu: the event's %s stands there twice",
                               offset, now)
               : ses__error_at(error, SES_INVALID, offset,
                               "at byte %zu: the event has both %s and %s; only one spelling may stand",
                               offset, before, now);
}

static int splice_skip(struct event_reader *reader, struct span *value, ses_error *error)
{
    return ses__json_skip(&reader->json, value) ? SES_OK : ses__json_error(&reader->json, error);
}

/* The value is null, which is replaced as a whole. */
static int replace_null(struct event_reader *reader, const char *before, const char *after, ses_error *error)
{
    struct span value;
    int code = splice_skip(reader, &value, error);

    if (code == SES_OK) {
        size_t start = splice_offset(reader, value.ptr);
        reader->place = (struct place){start, start + value.len, before, after};
    }
    return code;
}

static int is_overridden(const struct event_reader *reader, struct json_string key, bool *overridden,
                         ses_error *error)
{
    const ses_allocator *allocator = reader->tracked->allocator;
    struct span name = key.raw;
    char *plain = NULL;
    bool decoded = true; /* not a lone surrogate, which appending will refuse */
    int code = SES_OK;

    *overridden = false;
    if (key.escaped) {
        plain = ses__memory_new(allocator, key.raw.len);
        name.ptr = plain;
        if (!plain)
            code = ses__error_nomem(error);
        else
            decoded = ses__json_unescape(key, plain, &name.len);
    }
    if (code == SES_OK && decoded)
        *overridden = writes_key(reader->tracked, reader->last, name);
    ses__memory_free(allocator, plain);
    return code;
}

/* A member of the event's own delta. */
static int splice_member(struct event_reader *reader, struct json_string key, ses_error *error)
{
    const char *from = key.raw.ptr - 1;
    struct span value;
    bool overridden = false;
    int code = splice_skip(reader, &value, error);

    if (code == SES_OK)
        code = is_overridden(reader, key, &overridden, error);
    if (code == SES_OK && overridden) {
        reader->overrides = true;
    } else if (code == SES_OK) {
        ses__buffer_add(&reader->kept, from, (size_t)(value.ptr + value.len - from));
        ses__buffer_add(&reader->kept, ",", 1);
        if (reader->kept.failed)
            code = ses__error_nomem(error);
    }
    return code;
}

/*
 * The members go behind those of the event; what they override goes, as SQLite's JSON functions and others
 * read the first of two members with one name.
 */
static int splice_delta(struct event_reader *reader, ses_error *error)
{
    struct json_reader *json = &reader->json;
    struct json_string key;
    size_t front = splice_offset(reader, json->at) + 1;
    bool empty = true;
    int code = ses__json_enter(json) ? SES_OK : ses__json_error(json, error);

    while (code == SES_OK && ses__json_member(json, &key)) {
        empty = false;
        code = splice_member(reader, key, error);
    }
    if (code == SES_OK && json->wrong)
        code = ses__json_error(json, error);
    if (code == SES_OK) {
        size_t end = splice_offset(reader, json->at) - 1;
        reader->place = reader->overrides
                            ? (struct place){front, end, reader->kept.data ? reader->kept.data : "", ""}
                            : (struct place){end, end, empty ? "" : ",", ""};
    }
    return code;
}

static int splice_action(struct event_reader *reader, struct json_string key, ses_error *error)
{
    const char *spelling = ses__json_string_is(key, "stateDelta")    ? "stateDelta"
                           : ses__json_string_is(key, "state_delta") ? "state_delta"
                                                                     : NULL;
    enum json_type type = ses__json_peek(&reader->json);
    int code;

    if (spelling && reader->delta)
        code = twice(reader, key, reader->delta, spelling, error);
    else if (!spelling || type == JSON_NONE)
        code = splice_skip(reader, NULL, error);
    else if (type == JSON_NULL)
        code = replace_null(reader, "{", "}", error);
    else if (type == JSON_OBJECT)
        code = splice_delta(reader, error);
    else
        code = splice_wrong_type(reader, spelling[5] == 'D' ? "actions.stateDelta" : "actions.state_delta",
                                 error);
    if (spelling)
        reader->delta = spelling;
    return code;
}

static int splice_actions(struct event_reader *reader, ses_error *error)
{
    struct json_reader *json = &reader->json;
    struct json_string key;
    size_t front = splice_offset(reader, json->at) + 1;
    bool empty = true;
    int code = ses__json_enter(json) ? SES_OK : ses__json_error(json, error);

    while (code == SES_OK && ses__json_member(json, &key)) {
        empty = false;
        code = splice_action(reader, key, error);
    }
    if (code == SES_OK && json->wrong)
        code = ses__json_error(json, error);
    if (code == SES_OK && !reader->delta)
        reader->place = (struct place){front, front, "\"stateDelta\":{", empty ? "}" : "},"};
    return code;
}

static int splice_field(struct event_reader *reader, struct json_string key, ses_error *error)
{
    bool actions = ses__json_string_is(key, "actions");
    enum json_type type = ses__json_peek(&reader->json);
    int code;

    if (actions && reader->found_actions)
        code = twice(reader, key, "actions", "actions", error);
    else if (!actions || type == JSON_NONE)
        code = splice_skip(reader, NULL, error);
    else if (type == JSON_NULL)
        code = replace_null(reader, "{\"stateDelta\":{", "}}", error);
    else if (type == JSON_OBJECT)
        code = splice_actions(reader, error);
    else
        code = splice_wrong_type(reader, "actions", error);
    reader->found_actions = reader->found_actions || actions;
    return code;
}

static int splice_fields(struct event_reader *reader, ses_error *error)
{
    struct json_reader *json = &reader->json;
    struct json_string key;
    bool empty = true;
    int code = ses__json_enter(json) ? SES_OK : ses__json_error(json, error);

    while (code == SES_OK && ses__json_member(json, &key)) {
        empty = false;
        code = splice_field(reader, key, error);
    }
    size_t end = splice_offset(reader, json->at) - 1;
    if (code == SES_OK && (json->wrong || !ses__json_finish(json)))
        code = ses__json_error(json, error);
    if (code == SES_OK && !reader->found_actions)
        reader->place = (struct place){
            end, end, empty ? "\"actions\":{\"stateDelta\":{" : ",\"actions\":{\"stateDelta\":{", "}}"};
    return code;
}

/* One strict pass over the whole event: what is refused here has changed nothing. */
static int find_place(struct event_reader *reader, struct span event, ses_error *error)
{
    int code;

    ses__json_start(&reader->json, event.ptr, event.len);
    if (ses__json_peek(&reader->json) == JSON_OBJECT) {
        code = splice_fields(reader, error);
    } else {
        code = ses__json_check(event.ptr, event.len, error);
        if (code == SES_OK)
            code = ses__error_at(error, SES_INVALID, 0, "an event must be a JSON object");
    }
    return code;
}

/* ------------------------------------------------------------------------- shared keys read and written */

static bool writes_shared(const ses_tracked *tracked, const struct member *last)
{
    /* They come first. */
    return (tracked->writes.count > 0 && ses__scope_is_shared(tracked->writes.items[0]->scope)) ||
           (last && ses__scope_is_shared(ses__scope_of(last->name, NULL)));
}

/* The members of the `expected` that the caller has given, perhaps none. False: it is no object. */
static bool given_members(const ses_append_options *options, struct span *members)
{
    struct json_reader reader;
    struct json_string key;
    struct span object;
    bool ok = true;

    *members = (struct span){"", 0};
    if (options->expected) {
        size_t len = options->expected_len == SES_NUL ? strlen(options->expected) : options->expected_len;
        ses__json_start(&reader, options->expected, len);
        ok = ses__json_peek(&reader) == JSON_OBJECT && ses__json_skip(&reader, &object) &&
             ses__json_finish(&reader);
    }
    if (ok && options->expected) {
        ses__json_start(&reader, object.ptr, object.len);
        if (ses__json_enter(&reader) && ses__json_member(&reader, &key))
            *members = (struct span){object.ptr + 1, object.len - 2};
    }
    return ok;
}

/* What the caller has given, and what the handle showed of each key that is written after it was read. */
static void join_expected(const ses_tracked *tracked, const struct member *last, struct span given,
                          struct buffer *expected)
{
    const struct view_list *reads = &tracked->reads->list;

    ses__buffer_add(expected, "{", 1);
    size_t start = expected->len;
    ses__buffer_add(expected, given.ptr, given.len);
    for (size_t i = 0; i < reads->count; i++) {
        const struct member seen = {ses__entry_name(reads->items[i]), ses__entry_value(reads->items[i])};
        if (writes_key(tracked, last, seen.name))
            ses__member_add(expected, start, seen);
    }
    ses__buffer_add(expected, "}", 1);
}

/* Makes the options of the append: those of the caller, and that the shared keys are still as they were read. */
static int ask_for_reads(const ses_tracked *tracked, const struct member *last,
                         const ses_append_options *given, ses_append_options *options,
                         struct buffer *expected, ses_error *error)
{
    struct span members;
    int code = ses__take_options(options, sizeof *options, given, "append options", error);

    options->size = sizeof *options;
    if (code != SES_OK || (options->flags & SES_APPEND_ANYWAY) || !writes_shared(tracked, last))
        return code;
    if (tracked->reads->lacks_one)
        return ses__error_set(
            error, SES_STALE,
            "memory was out when this view was to note what ses_tracked_has showed: discard its "
            "writes, look again and compute anew");
    if (tracked->reads->list.count > 0 && given_members(options, &members)) { /* else appending refuses it */
        join_expected(tracked, last, members, expected);
        if (expected->failed)
            return ses__error_nomem(error);
        options->expected = expected->data;
        options->expected_len = expected->len;
    }
    return SES_OK;
}

/* ---------------------------------------------------------------------------------------- appending */

static void splice_delta_into(struct buffer *whole, struct span event, const struct event_reader *reader)
{
    const struct place *place = &reader->place;

    ses__buffer_reserve(whole, event.len + 256);
    ses__buffer_add(whole, event.ptr, place->start);
    ses__buffer_add(whole, place->before, strlen(place->before));
    ses__tracked_add_delta(reader->tracked, reader->last, whole);
    ses__buffer_add(whole, place->after, strlen(place->after));
    ses__buffer_add(whole, event.ptr + place->end, event.len - place->end);
}

/* An offset in the text that was made, behind the place, becomes one in the event of the caller. */
static void restore_offset(ses_error *error, const struct place *place, size_t event_len, size_t whole_len)
{
    if (error && error->offset > (int64_t)place->start) {
        char rest[sizeof error->message];
        int64_t offset = error->offset - (int64_t)(whole_len - event_len);
        int head = snprintf(rest, sizeof rest, "at byte %lld:", (long long)error->offset);

        error->offset = offset < (int64_t)place->start ? (int64_t)place->start : offset;
        if (strncmp(error->message, rest, (size_t)head) == 0) {
            memcpy(rest, error->message + head, sizeof rest - (size_t)head);
            snprintf(error->message, sizeof error->message, "at byte %lld:%.*s", (long long)error->offset,
                     (int)(sizeof rest - (size_t)head), rest);
        }
    }
}

int ses__tracked_append(ses_tracked *tracked, struct span event, const struct member *last,
                        const ses_append_options *options, ses_appended *appended, ses_error *error)
{
    struct event_reader reader = {.tracked = tracked, .last = last};
    ses_append_options asked;
    struct buffer whole;
    struct buffer expected;
    int result = SES_OK;

    ses__buffer_init(&whole, tracked->allocator);
    ses__buffer_init(&expected, tracked->allocator);
    ses__buffer_init(&reader.kept, tracked->allocator);
    if (tracked->writes.count == 0 && !last) {
        result = ses_append(tracked->session, event.ptr, event.len, options, appended, error);
    } else {
        result = find_place(&reader, event, error);
        if (result == SES_OK) {
            splice_delta_into(&whole, event, &reader);
            if (whole.failed)
                result = ses__error_nomem(error);
        }
        if (result == SES_OK)
            result = ask_for_reads(tracked, last, options, &asked, &expected, error);
        if (result == SES_OK) {
            result = ses_append(tracked->session, whole.data, whole.len, &asked, appended, error);
            if (result < 0)
                restore_offset(error, &reader.place, event.len, whole.len);
        }
    }
    ses__buffer_free(&whole);
    ses__buffer_free(&expected);
    ses__buffer_free(&reader.kept);
    if (result == SES_OK || result == SES_DUPLICATE)
        ses__tracked_forget(tracked);
    return result;
}

int ses_tracked_append(ses_tracked *tracked, const char *event, size_t event_len,
                       const ses_append_options *options, ses_appended *appended, ses_error *error)
{
    struct span text;
    int code = ses__tracked_check_write(tracked, error);

    if (code == SES_OK)
        code = ses__check_span(event, event_len, "event", &text, error);
    return code == SES_OK ? ses__tracked_append(tracked, text, NULL, options, appended, error) : code;
}
