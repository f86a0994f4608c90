#include "model/event/event.h"

#include <string.h>

#include "base/error.h"
#include "json/object.h"
#include "json/writer.h"
#include "model/event/timestamp.h"

static const size_t NO_EDIT = (size_t)-1;

void ses__event_draft_init(struct event_draft *draft, const ses_allocator *allocator)
{
    *draft = (struct event_draft){.id_edit = NO_EDIT, .time_edit = NO_EDIT};
    ses__arena_init(&draft->arena, allocator);
}

void ses__event_draft_free(struct event_draft *draft)
{
    const ses_allocator *allocator = draft->arena.allocator;
    ses__delta_free(&draft->delta, allocator);
    ses__edits_free(&draft->edits, allocator);
    ses__arena_free(&draft->arena);
}

/* ------------------------------------------------------------------------------------ envelope fields */

static int draft_edit(struct event_draft *draft, size_t start, size_t end, struct span text, ses_error *error)
{
    return ses__edits_add(&draft->edits, draft->arena.allocator, (struct edit){start, end, text})
               ? SES_OK
               : ses__error_nomem(error);
}

static size_t end_of(const struct json_found *found)
{
    return (size_t)(found->reader->at - found->reader->text);
}

/* Notes a null in place of an id or a time: the edit that inserts one gets the null's place, and keeps its
 * index. */
static int read_null(struct event_draft *draft, const struct json_found *found, size_t *index,
                     ses_error *error)
{
    int code = ses__json_pass(found, error);

    if (code != SES_OK)
        return code;
    *index = draft->edits.count;
    return draft_edit(draft, found->offset, end_of(found), (struct span){"null", 4}, error);
}

static int read_id(void *context, const struct json_found *found, ses_error *error)
{
    struct event_draft *draft = context;

    if (found->type == JSON_NULL)
        return read_null(draft, found, &draft->id_edit, error);
    int code = ses__json_read_text(&draft->row.id, found, error);
    if (code == SES_OK && (draft->row.id.len == 0 || draft->row.id.len > SES_ID_MAX))
        code = ses__json_must_be(found, "1 to 512 bytes long", error);
    draft->has_id = code == SES_OK;
    return code;
}

static int read_time(void *context, const struct json_found *found, ses_error *error)
{
    struct event_draft *draft = context;

    if (found->type == JSON_NULL)
        return read_null(draft, found, &draft->time_edit, error);
    int code = ses__timestamp_read(&draft->row.time_us, found, error);
    draft->has_time = code == SES_OK;
    return code;
}

/* -------------------------------------------------------------------------------------------- the delta */

static bool object_is_empty(struct span text, size_t front)
{
    while (front < text.len && strchr(" \t\r\n", text.ptr[front]))
        front++;
    return text.ptr[front] == '}';
}

/* Puts the changes given with the event, if there are any, in place of the bytes from `start` to `end`. */
static int put_extras(struct event_draft *draft, size_t start, size_t end, const char *before,
                      const char *after, ses_error *error)
{
    if (!draft->extras || draft->extras->delta.count == 0 || draft->has_extras)
        return SES_OK;
    draft->has_extras = true;
    int code = draft_edit(draft, start, end, (struct span){before, strlen(before)}, error);
    if (code == SES_OK)
        code = draft_edit(draft, end, end, draft->extras->members, error);
    if (code == SES_OK)
        code = draft_edit(draft, end, end, (struct span){after, strlen(after)}, error);
    return code;
}

static int read_delta(void *context, const struct json_found *found, ses_error *error)
{
    struct event_draft *draft = context;
    int code;

    draft->has_delta = true;
    if (found->type == JSON_NULL) {
        code = ses__json_pass(found, error);
        return code == SES_OK ? put_extras(draft, found->offset, end_of(found), "{", "}", error) : code;
    }
    draft->has_extras = draft->extras != NULL;
    /* A value may be as deep as in an initial state: a rewind brings it back. */
    const unsigned around = found->reader->depth;
    found->reader->depth = 0;
    code = ses__delta_merge(found->reader, &draft->arena, draft->extras, &draft->delta, &draft->edits, error);
    found->reader->depth = around;
    return code;
}

#define DRAFT_TEXT(member) \
    JSON_MAY_BE(JSON_STRING) | JSON_INTO(struct event_draft, row.member), ses__json_read_text

static const struct json_object actions_fields = {
    "the event",
    "actions.",
    JSON_FIELDS(
        {"stateDelta", "state_delta", JSON_MAY_BE(JSON_OBJECT) | JSON_MAY_BE(JSON_NULL), read_delta, NULL},
        {"rewindBeforeInvocationId", "rewind_before_invocation_id", DRAFT_TEXT(rewinds_before), NULL},
        {"compaction", NULL, JSON_MAY_BE(JSON_OBJECT) | JSON_INTO(struct event_draft, row.compacts),
         ses__json_note, NULL}),
};

static int read_actions(void *context, const struct json_found *found, ses_error *error)
{
    struct event_draft *draft = context;
    size_t front = found->offset + 1;
    int code;

    if (found->type == JSON_NULL) {
        code = ses__json_pass(found, error);
        return code == SES_OK
                   ? put_extras(draft, found->offset, end_of(found), "{\"stateDelta\":{", "}}", error)
                   : code;
    }
    code = ses__json_read_object(found->reader, &actions_fields, draft, error);
    if (code != SES_OK || draft->has_delta)
        return code;
    return put_extras(draft, front, front, "\"stateDelta\":{",
                      object_is_empty(draft->text, front) ? "}" : "},", error);
}

/* -------------------------------------------------------------------------------------------- reading */

static const struct json_object event_fields = {
    "the event",
    "",
    JSON_FIELDS({"id", NULL, JSON_MAY_BE(JSON_STRING) | JSON_MAY_BE(JSON_NULL), read_id, NULL},
                {"invocationId", "invocation_id", DRAFT_TEXT(invocation_id), NULL},
                {"author", NULL, DRAFT_TEXT(author), NULL}, {"branch", NULL, DRAFT_TEXT(branch), NULL},
                {"timestamp", NULL,
                 JSON_MAY_BE(JSON_NUMBER) | JSON_MAY_BE(JSON_STRING) | JSON_MAY_BE(JSON_NULL), read_time,
                 "a number of seconds or RFC 3339 text"},
                {"partial", NULL, JSON_MAY_BE(JSON_BOOL) | JSON_INTO(struct event_draft, partial),
                 ses__json_read_bool, NULL},
                {"actions", NULL, JSON_MAY_BE(JSON_OBJECT) | JSON_MAY_BE(JSON_NULL), read_actions, NULL}),
};

/* Inserts the extra changes if the event has no actions to put them into, and adds all of them to its
 * delta. */
static int join_extras(struct event_draft *draft, size_t end, ses_error *error)
{
    bool empty = object_is_empty(draft->text, draft->edits.items[0].end);
    int code =
        put_extras(draft, end, end,
                   empty ? "\"actions\":{\"stateDelta\":{" : ",\"actions\":{\"stateDelta\":{", "}}", error);

    for (size_t i = 0; code == SES_OK && i < draft->extras->delta.count; i++) {
        if (!ses__delta_add(&draft->delta, draft->arena.allocator, draft->extras->delta.ops[i]))
            code = ses__error_nomem(error);
    }
    return code;
}

int ses__event_read(struct event_draft *draft, struct span text, ses_error *error)
{
    static const struct span empty = {"", 0};
    struct json_reader reader;
    int code = ses__json_start_object(&reader, text, "an event", error);
    const size_t front = (size_t)(reader.at - reader.text) + 1;

    reader.arena = &draft->arena;
    draft->text = text;
    draft->row.invocation_id = empty;
    draft->row.author = empty;
    /* The first edit is at the front of the object, for a missing id or time. */
    if (code == SES_OK)
        code = draft_edit(draft, front, front, (struct span){NULL, 0}, error);
    if (code == SES_OK)
        code = ses__json_read_object(&reader, &event_fields, draft, error);
    if (code == SES_OK && draft->extras)
        code = join_extras(draft, (size_t)(reader.at - 1 - reader.text), error);
    if (code == SES_OK && !ses__json_finish(&reader))
        code = ses__json_error(&reader, error);
    return code;
}

/* -------------------------------------------------------------------------------------------- sealing */

int ses__event_seal(struct event_draft *draft, ses_error *error)
{
    struct edit *front = &draft->edits.items[0];
    bool id_at_front = !draft->has_id && draft->id_edit == NO_EDIT;
    bool time_at_front = !draft->has_time && draft->time_edit == NO_EDIT;
    struct buffer id;
    struct buffer lead;
    char time[TIMESTAMP_ROOM];
    size_t time_len = ses__timestamp_to_number(draft->row.time_us, time);
    int code = SES_OK;

    ses__buffer_init(&id, draft->arena.allocator);
    ses__buffer_init(&lead, draft->arena.allocator);
    if (!draft->has_id)
        ses__json_add_string(&id, draft->row.id.ptr, draft->row.id.len);
    /* The time comes first, so that a retry that puts the made id in front of the same event gets the same
     * bytes. */
    if (time_at_front) {
        ses__buffer_add(&lead, "\"timestamp\":", 12);
        ses__buffer_add(&lead, time, time_len);
    }
    if (id_at_front) {
        ses__buffer_add(&lead, time_at_front ? ",\"id\":" : "\"id\":", time_at_front ? 6 : 5);
        ses__buffer_add(&lead, id.data, id.len);
    }
    if (lead.len && (draft->has_extras || !object_is_empty(draft->text, front->end)))
        ses__buffer_add(&lead, ",", 1);
    if (id.failed || lead.failed) {
        code = ses__error_nomem(error);
    } else if (draft->edits.count == 1 && lead.len == 0) {
        draft->row.body = draft->text; /* nothing to change: the common case of a complete event */
    } else {
        front->text = (struct span){lead.data, lead.len};
        if (draft->id_edit != NO_EDIT)
            draft->edits.items[draft->id_edit].text = (struct span){id.data, id.len};
        if (draft->time_edit != NO_EDIT)
            draft->edits.items[draft->time_edit].text = (struct span){time, time_len};
        draft->row.body.ptr =
            ses__edits_apply(&draft->edits, &draft->arena, draft->text, &draft->row.body.len);
        if (!draft->row.body.ptr)
            code = ses__error_nomem(error);
    }
    ses__buffer_free(&lead);
    ses__buffer_free(&id);
    return code;
}

int ses__event_is(struct event_draft *draft, const struct event_row *stored, ses_error *error)
{
    int result = SES_OK;

    if (!draft->has_time && draft->row.time_us != stored->time_us) {
        draft->row.time_us = stored->time_us;
        result = ses__event_seal(draft, error);
    }
    if (result == SES_OK)
        result = ses__span_is(draft->row.body, stored->body);
    return result;
}
