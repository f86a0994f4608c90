/* Reads the lines of an import one after the other: cuts the text that the application's function gives into
 * lines, and finds the members of each. */
#include <string.h>

#include "base/error.h"
#include "json/object.h"
#include "model/state/state.h"
#include "session/transfer/import.h"

enum { READ_AT_ONCE = 64 * 1024 };

void ses__lines_init(struct lines *lines, const ses_allocator *allocator)
{
    *lines = (struct lines){.longest = 0};
    ses__buffer_init(&lines->in, allocator);
    ses__arena_init(&lines->arena, allocator);
    ses__crc32_prepare(&lines->tables);
}

void ses__lines_free(struct lines *lines)
{
    ses__arena_free(&lines->arena);
    ses__buffer_free(&lines->in);
}

int ses__lines_refuse(const struct lines *lines, ses_error *error, int code)
{
    ses__error_prefix(error, "line %lld: ", (long long)lines->number);
    return code;
}

/* ------------------------------------------------------------------------------------------------ lines */

/* Reads more, after the unread text. Text that is done with is removed first. */
static int read_more(struct lines *lines, ses_error *error)
{
    struct buffer *in = &lines->in;
    ses_error own;
    size_t len = 0;

    if (lines->next > 0) {
        memmove(in->data, in->data + lines->next, in->len - lines->next);
        in->len -= lines->next;
        lines->looked -= lines->next;
        lines->next = 0;
    }
    if (in->len > lines->longest) {
        lines->number++;
        return ses__lines_refuse(
            lines, error,
            ses__error_set(error, SES_LIMIT, "it is longer than max_event_bytes allows for any line"));
    }
    if (!ses__buffer_reserve(in, READ_AT_ONCE))
        return ses__error_nomem(error);
    ses__error_clear(&own);
    int code = lines->read(lines->context, in->data + in->len, READ_AT_ONCE, &len, &own);
    if (code != SES_OK)
        return ses__error_called(error, code, 0, &own, "reads");
    if (len > READ_AT_ONCE)
        return ses__error_set(error, SES_MISUSE, "the function that reads gave more than was asked for");
    in->len += len;
    lines->ended = len == 0;
    return SES_OK;
}

/* Returns 1 and the line, or 0 at the end. */
static int cut_line(struct lines *lines, struct span *text, ses_error *error)
{
    struct buffer *in = &lines->in;

    for (;;) {
        const char *end =
            in->len > lines->looked ? memchr(in->data + lines->looked, '\n', in->len - lines->looked) : NULL;
        if (end || (lines->ended && in->len > lines->next)) {
            const size_t past = end ? (size_t)(end - in->data) + 1 : in->len;
            *text = (struct span){in->data + lines->next, past - lines->next};
            lines->next = past;
            lines->looked = past;
            lines->number++;
            return 1;
        }
        lines->looked = in->len;
        if (lines->ended)
            return 0;
        int code = read_more(lines, error);
        if (code != SES_OK)
            return code;
    }
}

/* ---------------------------------------------------------------------------------------------- members */

/* Finds the end of JSON of any depth. It is checked when it is stored. */
static int read_line_json(void *into, const struct json_found *found, ses_error *error)
{
    struct line_value *value = into;

    found->reader->lenient = found->type == JSON_OBJECT || found->type == JSON_ARRAY;
    int code = ses__json_pass(found, error);
    found->reader->lenient = false;
    value->text = ses__json_taken(found);
    return code;
}

static int read_line_number(void *into, const struct json_found *found, ses_error *error)
{
    struct line_value *value = into;
    int code = ses__json_read_value(&value->text, found, error);

    return code == SES_OK && ses__typed_int64(value->text, found->name, &value->number, NULL) != SES_OK
               ? ses__json_must_be(found, "an integer of 64 bits", error)
               : code;
}

#define INTO_LINE(field) JSON_INTO(struct line, of[LINE_##field])
#define A_LINE_TEXT(field) JSON_MAY_BE(JSON_STRING) | JSON_NOT_NULL | INTO_LINE(field), ses__json_read_c_text
#define A_LINE_NUMBER(field) JSON_MAY_BE(JSON_NUMBER) | JSON_NOT_NULL | INTO_LINE(field), read_line_number
#define A_LINE_OBJECT(field) JSON_MAY_BE(JSON_OBJECT) | JSON_NOT_NULL | INTO_LINE(field), read_line_json
#define A_LINE_VALUE(field) JSON_MAY_BE_ANYTHING | JSON_MAY_BE(JSON_NULL) | INTO_LINE(field), read_line_json
#define LINE_FIELD(field, name, type) {name, NULL, A_LINE_##type(field), NULL},

static const struct json_object line_object = {
    "the line", "", (const struct json_field[]){LINE_FIELD_TABLE(LINE_FIELD){.name = NULL}}};
#undef LINE_FIELD

/* Reads the next line. Returns 1, or 0 at the end. Its texts live until the next call. INVALID, JSON, LIMIT,
 * NOMEM with the line's number; and the codes of `read`. */
static int next_line(struct lines *lines, struct line *line, ses_error *error)
{
    struct json_reader reader;

    memset(line, 0, sizeof *line);
    ses__arena_reset(&lines->arena);
    int result = cut_line(lines, &line->text, error);
    if (result <= 0)
        return result;
    int code = ses__json_start_object(&reader, line->text, line_object.whole, error);
    reader.arena = &lines->arena;
    if (code == SES_OK)
        code = ses__json_read_last(&reader, &line_object, line, error);
    line->others = reader.others;
    return code == SES_OK ? 1 : ses__lines_refuse(lines, error, code);
}

bool ses__line_is(const struct line *line, const char *kind)
{
    const char *own = ses__line_text(line, LINE_KIND);
    return own && strcmp(own, kind) == 0;
}

struct span ses__line_json(const struct line *line, enum line_field field, enum line_field as_text)
{
    return line->of[as_text].text.ptr ? line->of[as_text].text : line->of[field].text;
}

/* ------------------------------------------------------------------------------------ lines of an import */

bool ses__import_knows(const struct line *line)
{
    static const char *const kinds[] = {"seslite", "app",  "user",          "key",   "artifact", "bytes",
                                        "session", "base", "base_artifact", "event", "end",      "total"};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (ses__line_is(line, kinds[i]))
            return true;
    }
    return !ses__line_has(line, LINE_KIND);
}

int ses__import_next(struct import_call *call, ses_error *error)
{
    const struct line *line = &call->line;
    const struct crc32_tables *tables = &call->lines.tables;

    if (call->stopped)
        return ses__error_set(error, SES_INTERRUPTED,
                              "the function that is told of sessions and keys ended the import");
    if (call->pending) {
        call->pending = false;
        return 1;
    }
    if (ses__limits_passed(&call->limits))
        return ses__limits_refuse(call->store->path, error);
    int code = next_line(&call->lines, &call->line, error);
    if (code != 1)
        return code;
    /* The lines of a session have their own check sum, in its last line. */
    if (!call->in_session && ses__line_is(line, "session")) {
        call->in_session = true;
        call->session_crc = 0;
    } else if (call->in_session && ses__line_is(line, "end")) {
        call->in_session = false;
    }
    if (call->in_session)
        call->session_crc = ses__crc32(tables, call->session_crc, line->text.ptr, line->text.len);
    else if (!ses__line_is(line, "total"))
        call->crc = ses__crc32(tables, call->crc, line->text.ptr, line->text.len);
    /* Counts a line of an unknown kind once, and in other lines each unknown member. Lines of artifacts have
     * their own members. */
    if (!ses__import_knows(line))
        call->report.unknown++;
    else if (!ses__line_is(line, "artifact") && !ses__line_is(line, "bytes"))
        call->report.unknown += (int64_t)line->others;
    return 1;
}

int ses__import_refuse(struct import_call *call, int code, const char *what, ses_error *error)
{
    return ses__lines_refuse(&call->lines, error, ses__error_set(error, code, "%s", what));
}

void ses__import_report(struct import_call *call, const ses_import_item *item)
{
    if (call->options.report && !call->stopped)
        call->stopped = call->options.report(call->options.report_context, item) != 0;
}
