#include "model/event.h"

#include <string.h>

#include "base/error.h"
#include "model/timestamp.h"
#include "base/utf8.h"

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

enum field {
    FIELD_ID,
    FIELD_INVOCATION,
    FIELD_AUTHOR,
    FIELD_BRANCH,
    FIELD_TIME,
    FIELD_PARTIAL,
    FIELD_ACTIONS,
    FIELD_DELTA,
    FIELD_COUNT
};

struct field_names {
    const char *camel;
    const char *snake; /* NULL: the same */
};

static const struct field_names field_names[FIELD_COUNT] = {
    [FIELD_ID] = {"id", NULL},           [FIELD_INVOCATION] = {"invocationId", "invocation_id"},
    [FIELD_AUTHOR] = {"author", NULL},   [FIELD_BRANCH] = {"branch", NULL},
    [FIELD_TIME] = {"timestamp", NULL},  [FIELD_PARTIAL] = {"partial", NULL},
    [FIELD_ACTIONS] = {"actions", NULL}, [FIELD_DELTA] = {"stateDelta", "state_delta"},
};

/* How each field was spelled, to tell which stand twice. */
struct envelope {
    struct json_reader reader;
    const char *seen[FIELD_COUNT];
};

/* Which of the fields from `first` to `last` the key is; FIELD_COUNT for none. */
static enum field field_of(struct json_string key, enum field first, enum field last, const char **spelling)
{
    enum field found = FIELD_COUNT;
    for (enum field field = first; field <= last && found == FIELD_COUNT; field++) {
        const struct field_names *names = &field_names[field];
        if (ses__json_string_is(key, names->camel))
            *spelling = names->camel;
        else if (names->snake && ses__json_string_is(key, names->snake))
            *spelling = names->snake;
        else
            continue;
        found = field;
    }
    return found;
}

static size_t offset_in(const struct envelope *envelope, const char *at)
{
    return (size_t)(at - envelope->reader.text);
}

static int wrong_type(const struct envelope *envelope, enum field field, const char *at, const char *due,
                      ses_error *error)
{
    size_t offset = offset_in(envelope, at);
    return ses__error_at(error, SES_INVALID, offset, "at byte %zu: the event's %s%s must be %s", offset,
                         field == FIELD_DELTA ? "actions." : "", envelope->seen[field], due);
}

static int mark_seen(struct envelope *envelope, enum field field, const char *spelling,
                     struct json_string key, ses_error *error)
{
    const char *before = envelope->seen[field];
    size_t offset = offset_in(envelope, key.raw.ptr - 1);
    int code = SES_OK;

    if (before && strcmp(before, spelling) == 0)
        code = ses__error_at(error, SES_INVALID, offset, "at byte %zu: the event's %s stands there twice",
                             offset, spelling);
    else if (before)
        code = ses__error_at(error, SES_INVALID, offset,
                             "at byte %zu: the event has both %s and %s; only one spelling may stand", offset,
                             before, spelling);
    envelope->seen[field] = spelling;
    return code;
}

/* A string field, decoded: as it stands when it holds no escapes, else into the draft's arena. */
static int read_text(struct envelope *envelope, struct event_draft *draft, enum field field,
                     struct span *text, ses_error *error)
{
    struct json_string string = {{NULL, 0}, false};
    const char *at = envelope->reader.at;
    int code = SES_OK;

    if (!ses__json_read_string(&envelope->reader, &string)) {
        code = ses__json_error(&envelope->reader, error);
    } else if (!string.escaped) {
        *text = string.raw;
    } else {
        char *plain = ses__arena_new(&draft->arena, string.raw.len + 1);
        if (!plain) {
            code = ses__error_nomem(error);
        } else if (!ses__json_unescape(string, plain, &text->len) || memchr(plain, '\0', text->len)) {
            code = wrong_type(envelope, field, at, "text without NULs and lone surrogates", error);
        } else {
            plain[text->len] = '\0';
            text->ptr = plain;
        }
    }
    return code;
}

static int read_id(struct envelope *envelope, struct event_draft *draft, ses_error *error)
{
    const char *at = envelope->reader.at;
    int code = read_text(envelope, draft, FIELD_ID, &draft->row.id, error);

    if (code == SES_OK && (draft->row.id.len == 0 || draft->row.id.len > SES_ID_MAX))
        code = wrong_type(envelope, FIELD_ID, at, "1 to 512 bytes long", error);
    draft->has_id = code == SES_OK;
    return code;
}

static int read_time(struct envelope *envelope, struct event_draft *draft, enum json_type type,
                     ses_error *error)
{
    const char *at = envelope->reader.at;
    const char *wrong = NULL;
    struct span text = {NULL, 0};
    int code = SES_OK;

    if (type == JSON_STRING) {
        code = read_text(envelope, draft, FIELD_TIME, &text, error);
        if (code == SES_OK)
            wrong = ses__timestamp_from_text(text.ptr, text.len, &draft->row.time_us);
    } else if (!ses__json_skip(&envelope->reader, &text)) {
        code = ses__json_error(&envelope->reader, error);
    } else {
        wrong = ses__timestamp_from_number(text, &draft->row.time_us);
    }
    if (wrong) {
        size_t offset = offset_in(envelope, at);
        code =
            ses__error_at(error, SES_INVALID, offset, "at byte %zu: the event's timestamp %s", offset, wrong);
    }
    draft->has_time = code == SES_OK;
    return code;
}

static int read_partial(struct envelope *envelope, struct event_draft *draft, ses_error *error)
{
    struct span value;
    int code = SES_OK;
    if (!ses__json_skip(&envelope->reader, &value))
        code = ses__json_error(&envelope->reader, error);
    else
        draft->partial = value.ptr[0] == 't';
    return code;
}

static int read_actions(struct envelope *envelope, struct event_draft *draft, ses_error *error);

/* A field that is null counts as absent. Where an id or a time will be put in, it takes the null's place. */
static int read_null(struct envelope *envelope, struct event_draft *draft, enum field field, ses_error *error)
{
    struct span value;
    int code = SES_OK;

    if (!ses__json_skip(&envelope->reader, &value)) {
        code = ses__json_error(&envelope->reader, error);
    } else if (field == FIELD_ID || field == FIELD_TIME) {
        size_t start = offset_in(envelope, value.ptr);
        *(field == FIELD_ID ? &draft->id_edit : &draft->time_edit) = draft->edits.count;
        if (!ses__edits_add(&draft->edits, draft->arena.allocator,
                            (struct edit){start, start + value.len, value}))
            code = ses__error_nomem(error);
    }
    return code;
}

static int read_field(struct envelope *envelope, struct event_draft *draft, enum field field,
                      ses_error *error)
{
    static const struct {
        enum json_type type;
        const char *name;
    } due[FIELD_COUNT] = {
        [FIELD_ID] = {JSON_STRING, "a string"},
        [FIELD_INVOCATION] = {JSON_STRING, "a string"},
        [FIELD_AUTHOR] = {JSON_STRING, "a string"},
        [FIELD_BRANCH] = {JSON_STRING, "a string"},
        [FIELD_TIME] = {JSON_STRING, "a number of seconds or RFC 3339 text"},
        [FIELD_PARTIAL] = {JSON_BOOL, "true or false"},
        [FIELD_ACTIONS] = {JSON_OBJECT, "an object"},
        [FIELD_DELTA] = {JSON_OBJECT, "an object"},
    };
    enum json_type type = ses__json_peek(&envelope->reader);
    int code;

    if (type == JSON_NULL) {
        code = read_null(envelope, draft, field, error);
    } else if (type != JSON_NONE && type != due[field].type &&
               !(field == FIELD_TIME && type == JSON_NUMBER)) {
        code = wrong_type(envelope, field, envelope->reader.at, due[field].name, error);
    } else if (type == JSON_NONE) {
        (void)ses__json_skip(&envelope->reader, NULL); /* tells what is wrong */
        code = ses__json_error(&envelope->reader, error);
    } else {
        switch (field) {
        case FIELD_ID:
            code = read_id(envelope, draft, error);
            break;
        case FIELD_INVOCATION:
            code = read_text(envelope, draft, field, &draft->row.invocation_id, error);
            break;
        case FIELD_AUTHOR:
            code = read_text(envelope, draft, field, &draft->row.author, error);
            break;
        case FIELD_BRANCH:
            code = read_text(envelope, draft, field, &draft->row.branch, error);
            break;
        case FIELD_TIME:
            code = read_time(envelope, draft, type, error);
            break;
        case FIELD_PARTIAL:
            code = read_partial(envelope, draft, error);
            break;
        case FIELD_ACTIONS:
            code = read_actions(envelope, draft, error);
            break;
        default:
            code = ses__delta_read(&envelope->reader, &draft->arena, &draft->delta, &draft->edits, error);
            break;
        }
    }
    return code;
}

/* The members of the object that comes next; those that are fields from `first` to `last` are read. */
static int read_object(struct envelope *envelope, struct event_draft *draft, enum field first,
                       enum field last, ses_error *error)
{
    struct json_reader *reader = &envelope->reader;
    struct json_string key;
    int code = ses__json_enter(reader) ? SES_OK : ses__json_error(reader, error);

    while (code == SES_OK && ses__json_member(reader, &key)) {
        const char *spelling = NULL;
        enum field field = field_of(key, first, last, &spelling);
        if (field == FIELD_COUNT) {
            code = ses__json_skip(reader, NULL) ? SES_OK : ses__json_error(reader, error);
        } else {
            code = mark_seen(envelope, field, spelling, key, error);
            if (code == SES_OK)
                code = read_field(envelope, draft, field, error);
        }
    }
    if (code == SES_OK && reader->wrong)
        code = ses__json_error(reader, error);
    return code;
}

static int read_actions(struct envelope *envelope, struct event_draft *draft, ses_error *error)
{
    return read_object(envelope, draft, FIELD_DELTA, FIELD_DELTA, error);
}

int ses__event_read(struct event_draft *draft, struct span text, ses_error *error)
{
    static const struct span empty = {"", 0};
    struct envelope envelope = {.seen = {NULL}};
    int code = SES_OK;

    draft->text = text;
    draft->row.invocation_id = empty;
    draft->row.author = empty;
    ses__json_start(&envelope.reader, text.ptr, text.len);
    enum json_type type = ses__json_peek(&envelope.reader);
    if (type == JSON_OBJECT) {
        /* The first edit stands at the front of the object, for an id or a time that is missing. */
        size_t front = offset_in(&envelope, envelope.reader.at) + 1;
        if (!ses__edits_add(&draft->edits, draft->arena.allocator, (struct edit){front, front, {NULL, 0}}))
            code = ses__error_nomem(error);
        if (code == SES_OK)
            code = read_object(&envelope, draft, FIELD_ID, FIELD_ACTIONS, error);
        if (code == SES_OK && !ses__json_finish(&envelope.reader))
            code = ses__json_error(&envelope.reader, error);
    } else {
        code = ses__json_check(text.ptr, text.len, error);
        if (code == SES_OK)
            code = ses__error_at(error, SES_INVALID, 0, "an event must be a JSON object");
    }
    return code;
}

/* -------------------------------------------------------------------------------------------- sealing */

static bool object_is_empty(struct span text, size_t front)
{
    while (front < text.len && strchr(" \t\r\n", text.ptr[front]))
        front++;
    return text.ptr[front] == '}';
}

static struct span buffer_span(const struct buffer *buffer)
{
    return (struct span){buffer->data, buffer->len};
}

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
    if (id_at_front) {
        ses__buffer_add(&lead, "\"id\":", 5);
        ses__buffer_add(&lead, id.data, id.len);
    }
    if (time_at_front) {
        ses__buffer_add(&lead, id_at_front ? "," : "", id_at_front ? 1 : 0);
        ses__buffer_add(&lead, "\"timestamp\":", 12);
        ses__buffer_add(&lead, time, time_len);
    }
    if (lead.len && !object_is_empty(draft->text, front->end))
        ses__buffer_add(&lead, ",", 1);
    if (id.failed || lead.failed) {
        code = ses__error_nomem(error);
    } else if (draft->edits.count == 1 && lead.len == 0) {
        draft->row.body = draft->text; /* nothing to change: the common case of a complete event */
    } else {
        front->text = buffer_span(&lead);
        if (draft->id_edit != NO_EDIT)
            draft->edits.items[draft->id_edit].text = buffer_span(&id);
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
        result = draft->row.body.len == stored->body.len &&
                 memcmp(draft->row.body.ptr, stored->body.ptr, stored->body.len) == 0;
    return result;
}
