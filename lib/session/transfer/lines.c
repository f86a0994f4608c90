#include "session/transfer/lines.h"

#include <string.h>

#include "base/error.h"
#include "json/reader.h"
#include "model/state/typed.h"

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
    if (code < 0)
        return ses__error_called(error, code, &own, "reads");
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

enum line_type { LINE_TYPE_TEXT, LINE_TYPE_NUMBER, LINE_TYPE_OBJECT, LINE_TYPE_ANY };

#define NAME_AND_TYPE(field, name, type) [LINE_##field] = {name, LINE_TYPE_##type},
static const struct {
    const char *name;
    enum line_type type;
} line_fields[LINE_FIELDS] = {LINE_FIELD_TABLE(NAME_AND_TYPE)};
#undef NAME_AND_TYPE

static enum line_field line_field_named(struct json_string key)
{
    enum line_field field = LINE_KIND;

    while (field < LINE_FIELDS &&
           ((!key.escaped && (key.raw.len == 0 || key.raw.ptr[0] != line_fields[field].name[0])) ||
            !ses__json_string_is(key, line_fields[field].name)))
        field++;
    return field;
}

/* Reads a text that can be a C string. */
static int take_line_text(struct arena *arena, struct json_reader *reader, struct line_value *value,
                          ses_error *error)
{
    struct json_string string;

    if (!ses__json_read_string(reader, &string))
        return ses__json_error(reader, error);
    int code = ses__json_decode(string, arena, &value->text);
    if (code == SES_OK && !string.escaped) {
        value->text.ptr = ses__arena_text(arena, string.raw.ptr, string.raw.len);
        code = value->text.ptr ? SES_OK : SES_NOMEM;
    }
    if (code == SES_NOMEM)
        return ses__error_nomem(error);
    if (code != SES_OK || memchr(value->text.ptr, '\0', value->text.len))
        return ses__error_set(error, SES_INVALID, "a text holds a NUL or a lone surrogate");
    return SES_OK;
}

/* Reads JSON that is checked when it is stored. Here only its end is found, however deep it is. */
static int take_line_json(struct json_reader *reader, enum json_type type, struct line_value *value,
                          ses_error *error)
{
    const char *start = reader->at;

    reader->lenient = type == JSON_OBJECT || type == JSON_ARRAY;
    bool ok = ses__json_skip(reader, reader->lenient ? NULL : &value->text);
    if (reader->lenient)
        value->text = (struct span){start, (size_t)(reader->at - start)};
    reader->lenient = false;
    return ok ? SES_OK : ses__json_error(reader, error);
}

static int take_line_number(struct json_reader *reader, const char *name, struct line_value *value,
                            ses_error *error)
{
    if (!ses__json_skip(reader, &value->text))
        return ses__json_error(reader, error);
    int code = ses__typed_int64(value->text, name, &value->number, error);
    return code == SES_OK ? code
                          : ses__error_set(error, SES_INVALID, "%s must be an integer of 64 bits", name);
}

static bool line_may_be(enum line_type due, enum json_type is)
{
    return due == LINE_TYPE_ANY    ? is != JSON_NONE
           : due == LINE_TYPE_TEXT ? is == JSON_STRING
                                   : is == (due == LINE_TYPE_NUMBER ? JSON_NUMBER : JSON_OBJECT);
}

static int take_line_value(struct arena *arena, struct json_reader *reader, enum line_field field,
                           struct line_value *value, ses_error *error)
{
    static const char *const due[] = {"a string", "a number", "an object", "a value"};
    const enum line_type type = line_fields[field].type;
    const enum json_type is = ses__json_peek(reader);

    if (!line_may_be(type, is))
        return ses__error_set(error, SES_INVALID, "%s must be %s", line_fields[field].name, due[type]);
    if (value->text.ptr)
        return ses__error_set(error, SES_INVALID, "%s appears twice", line_fields[field].name);
    return type == LINE_TYPE_TEXT     ? take_line_text(arena, reader, value, error)
           : type == LINE_TYPE_NUMBER ? take_line_number(reader, line_fields[field].name, value, error)
                                      : take_line_json(reader, is, value, error);
}

static int take_line_members(struct arena *arena, struct line *line, ses_error *error)
{
    struct json_reader reader;
    struct json_string key;
    int code = ses__json_start_object(&reader, line->text, "a line", error);

    if (code == SES_OK && !ses__json_enter(&reader))
        code = ses__json_error(&reader, error);
    while (code == SES_OK && ses__json_member(&reader, &key)) {
        const enum line_field field = line_field_named(key);
        if (field < LINE_FIELDS)
            code = take_line_value(arena, &reader, field, &line->of[field], error);
        else if (!ses__json_skip(&reader, NULL))
            code = ses__json_error(&reader, error);
    }
    if (code == SES_OK && (reader.wrong || !ses__json_finish(&reader)))
        code = ses__json_error(&reader, error);
    return code;
}

int ses__lines_next(struct lines *lines, struct line *line, ses_error *error)
{
    memset(line, 0, sizeof *line);
    ses__arena_reset(&lines->arena);
    int result = cut_line(lines, &line->text, error);
    if (result <= 0)
        return result;
    int code = take_line_members(&lines->arena, line, error);
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
