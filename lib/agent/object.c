#include "agent/object.h"

#include <string.h>

#include "base/error.h"

size_t ses__content_offset(const struct content_reader *reader, const char *at)
{
    return (size_t)(at - reader->json.text);
}

int ses__content_wrong_type(const struct content_reader *reader, const char *where, const char *name,
                            enum json_type due, ses_error *error)
{
    static const char *const names[] = {
        [JSON_BOOL] = "true or false",
        [JSON_STRING] = "a string",
        [JSON_ARRAY] = "an array",
        [JSON_OBJECT] = "an object",
    };
    size_t offset = ses__content_offset(reader, reader->json.at);
    return ses__error_at(error, SES_INVALID, offset, "at byte %zu: the event's %s%s must be %s", offset,
                         where, name, names[due]);
}

int ses__content_skip(struct content_reader *reader, ses_error *error)
{
    return ses__json_skip(&reader->json, NULL) ? SES_OK : ses__json_error(&reader->json, error);
}

static const struct known_field *content_field_of(const struct known_object *object, struct json_string key,
                                                  const char **spelling)
{
    const struct known_field *found = NULL;
    for (size_t i = 0; i < MOST_FIELDS && object->fields[i].camel && !found; i++) {
        const struct known_field *field = &object->fields[i];
        *spelling = ses__json_string_is(key, field->camel)                   ? field->camel
                    : field->snake && ses__json_string_is(key, field->snake) ? field->snake
                                                                             : NULL;
        if (*spelling)
            found = field;
    }
    return found;
}

/* A field may stand once, in one spelling. */
static int check_once(const struct content_reader *reader, const struct known_object *object,
                      struct json_string key, const char *before, const char *now, ses_error *error)
{
    size_t offset = ses__content_offset(reader, key.raw.ptr - 1);
    int code = SES_OK;

    if (before && strcmp(before, now) == 0)
        code = ses__error_at(error, SES_INVALID, offset, "at byte %zu: the event's %s%s stands there twice",
                             offset, object->where, now);
    else if (before)
        code = ses__error_at(error, SES_INVALID, offset,
                             "at byte %zu: the event has both %s%s and %s%s; only one spelling may stand",
                             offset, object->where, before, object->where, now);
    return code;
}

/* The value of a field; null counts as absent. */
static int read_value(struct content_reader *reader, const struct known_object *object,
                      const struct known_field *field, const char *spelling, ses_error *error)
{
    enum json_type type = ses__json_peek(&reader->json);
    int code;

    if (type == JSON_NULL || type == JSON_NONE)
        code = ses__content_skip(reader, error);
    else if (type != field->type)
        code = ses__content_wrong_type(reader, object->where, spelling, field->type, error);
    else
        code = field->read(reader, error);
    return code;
}

int ses__content_read_object(struct content_reader *reader, const struct known_object *object,
                             ses_error *error)
{
    const char *seen[MOST_FIELDS] = {NULL};
    struct json_string key;
    int code = ses__json_enter(&reader->json) ? SES_OK : ses__json_error(&reader->json, error);

    while (code == SES_OK && ses__json_member(&reader->json, &key)) {
        const char *spelling = NULL;
        const struct known_field *field = content_field_of(object, key, &spelling);
        if (!field) {
            code = ses__content_skip(reader, error);
        } else {
            size_t index = (size_t)(field - object->fields);
            code = check_once(reader, object, key, seen[index], spelling, error);
            seen[index] = spelling;
            if (code == SES_OK)
                code = read_value(reader, object, field, spelling, error);
        }
    }
    if (code == SES_OK && reader->json.wrong)
        code = ses__json_error(&reader->json, error);
    return code;
}
