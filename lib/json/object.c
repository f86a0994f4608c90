#include "json/object.h"

#include <string.h>

#include "base/error.h"

static size_t offset_of(const struct json_reader *reader, const char *at)
{
    return (size_t)(at - reader->text);
}

static bool has_name(struct json_string key, const char *name)
{
    /* Most names differ in their first byte. */
    return name && (key.escaped || (key.raw.len > 0 && key.raw.ptr[0] == name[0])) &&
           ses__json_string_is(key, name);
}

/* Returns the field of that key, or what comes after the fields, which has no name. */
static const struct json_field *field_named(const struct json_object *object, struct json_string key,
                                            const char **spelling)
{
    const struct json_field *field = object->fields;

    for (; field->name; field++) {
        *spelling = has_name(key, field->name)    ? field->name
                    : has_name(key, field->other) ? field->other
                                                  : NULL;
        if (*spelling)
            break;
    }
    return field;
}

static int appears_twice(const struct json_reader *reader, const struct json_object *object,
                         struct json_string key, const char *before, const char *now, ses_error *error)
{
    size_t offset = offset_of(reader, key.raw.ptr - 1);

    if (strcmp(before, now) == 0)
        return ses__error_at(error, SES_INVALID, offset, "at byte %zu: %s's %s%s appears twice", offset,
                             object->whole, object->path, now);
    return ses__error_at(error, SES_INVALID, offset,
                         "at byte %zu: %s has both %s%s and %s%s; only one spelling may be used", offset,
                         object->whole, object->path, before, object->path, now);
}

int ses__json_must_be(const struct json_found *found, const char *due, ses_error *error)
{
    return ses__error_at(error, SES_INVALID, found->offset, "at byte %zu: %s's %s%s must be %s",
                         found->offset, found->whole, found->path, found->name, due);
}

static int skip(struct json_reader *reader, ses_error *error)
{
    return ses__json_skip(reader, NULL) ? SES_OK : ses__json_error(reader, error);
}

static int read_field(struct json_reader *reader, const struct json_object *object,
                      const struct json_field *field, const char *spelling, void *context, ses_error *error)
{
    struct json_found found = {reader, ses__json_peek(reader), 0, object->whole, object->path, spelling};

    found.offset = offset_of(reader, reader->at);
    if (field->types & JSON_MAY_BE(found.type))
        return field->read((char *)context + (field->types >> JSON_INTO_SHIFT), &found, error);
    const bool is_absent = found.type == JSON_NULL && !(field->types & JSON_NOT_NULL);
    if (is_absent || found.type == JSON_NONE || reader->lenient)
        return skip(reader, error);
    enum json_type type = JSON_BOOL; /* the first that it may be */
    while (!field->due && !(field->types & JSON_MAY_BE(type)))
        type++;
    return ses__json_must_be(&found, field->due ? field->due : ses__json_type_name(type), error);
}

int ses__json_read_object(struct json_reader *reader, const struct json_object *object, void *context,
                          ses_error *error)
{
    uint64_t seen[2] = {0, 0}; /* a bit for each field, by its first or its other spelling */
    struct json_string key;
    int code = SES_OK;

    if (!ses__json_enter(reader))
        return ses__json_error(reader, error);
    while (code == SES_OK && ses__json_member(reader, &key)) {
        const char *spelling = NULL;
        const struct json_field *field = field_named(object, key, &spelling);
        if (!field->name) {
            const size_t offset = offset_of(reader, key.raw.ptr - 1);
            code = !field->types
                       ? skip(reader, error)
                       : ses__error_at(error, SES_INVALID, offset,
                                       "at byte %zu: %s's field \"%s%.*s\" is not known, and cannot be kept",
                                       offset, object->whole, object->path,
                                       key.raw.len < 100 ? (int)key.raw.len : 100, key.raw.ptr);
            reader->others++;
            continue;
        }
        const uint64_t bit = UINT64_C(1) << (field - object->fields);
        if (((seen[0] | seen[1]) & bit) && !reader->lenient)
            return appears_twice(reader, object, key, seen[0] & bit ? field->name : field->other, spelling,
                                 error);
        seen[spelling != field->name] |= bit;
        code = read_field(reader, object, field, spelling, context, error);
    }
    return code == SES_OK && reader->wrong ? ses__json_error(reader, error) : code;
}

int ses__json_read_last(struct json_reader *reader, const struct json_object *object, void *context,
                        ses_error *error)
{
    int code = ses__json_read_object(reader, object, context, error);
    return code == SES_OK && !ses__json_finish(reader) ? ses__json_error(reader, error) : code;
}

int ses__json_read_whole(struct span text, const struct json_object *object, void *context, ses_error *error)
{
    struct json_reader reader;
    int code = ses__json_start_object(&reader, text, object->whole, error);

    return code == SES_OK ? ses__json_read_last(&reader, object, context, error) : code;
}

/* -------------------------------------------------------------------------------------------- values */

int ses__json_pass(const struct json_found *found, ses_error *error)
{
    return skip(found->reader, error);
}

struct span ses__json_taken(const struct json_found *found)
{
    const struct json_reader *reader = found->reader;
    return (struct span){reader->text + found->offset, offset_of(reader, reader->at) - found->offset};
}

int ses__json_take_object(const struct json_found *found, const struct json_object *object, void *context,
                          ses_error *error)
{
    if (found->type == JSON_OBJECT)
        return ses__json_read_object(found->reader, object, context, error);
    return found->type == JSON_NONE || found->reader->lenient
               ? ses__json_pass(found, error)
               : ses__json_must_be(found, ses__json_type_name(JSON_OBJECT), error);
}

int ses__json_take_elements(const struct json_found *found, const char *name, json_field_reader *read,
                            void *context, ses_error *error)
{
    struct json_reader *reader = found->reader;
    struct json_found element = *found;
    int code = ses__json_enter(reader) ? SES_OK : ses__json_error(reader, error);

    element.name = name;
    while (code == SES_OK && ses__json_element(reader)) {
        element.type = ses__json_peek(reader);
        element.offset = offset_of(reader, reader->at);
        code = read(context, &element, error);
    }
    return code == SES_OK && reader->wrong ? ses__json_error(reader, error) : code;
}

int ses__json_lone_surrogate(const struct json_reader *reader, struct json_string string, ses_error *error)
{
    size_t offset = offset_of(reader, string.raw.ptr - 1);
    return ses__error_at(error, SES_RANGE, offset,
                         "at byte %zu: a text holds a lone surrogate, which UTF-8 cannot express", offset);
}

int ses__json_take_text(const struct json_found *found, struct arena *arena, struct span *text,
                        ses_error *error)
{
    struct json_string string;

    if (!ses__json_read_string(found->reader, &string))
        return ses__json_error(found->reader, error);
    int code = found->reader->shows ? ses__json_decode_shown(string, arena, text)
                                    : ses__json_decode(string, arena, text);
    if (code == SES_NOMEM)
        return ses__error_nomem(error);
    return code == SES_OK ? SES_OK : ses__json_lone_surrogate(found->reader, string, error);
}

int ses__json_take_name(const struct json_found *found, struct arena *arena, struct span *name,
                        ses_error *error)
{
    int code = ses__json_take_text(found, arena, name, error);

    if (code != SES_RANGE)
        return code;
    *name = ses__json_string_of(ses__json_taken(found)).raw;
    ses__error_clear(error);
    return SES_OK;
}

int ses__json_read_value(void *into, const struct json_found *found, ses_error *error)
{
    return ses__json_skip(found->reader, into) ? SES_OK : ses__json_error(found->reader, error);
}

int ses__json_read_text(void *into, const struct json_found *found, ses_error *error)
{
    const struct span *text = into;
    int code = ses__json_take_text(found, found->reader->arena, into, error);

    if (code == SES_RANGE || (code == SES_OK && text->len > 0 && memchr(text->ptr, '\0', text->len)))
        code = ses__json_must_be(found, "text without NULs and lone surrogates", error);
    return code;
}

int ses__json_read_c_text(void *into, const struct json_found *found, ses_error *error)
{
    struct span *text = into;
    int code = ses__json_read_text(text, found, error);

    if (code == SES_OK && text->ptr[text->len] != '\0') /* it is in the JSON, and ends at a quote */
        text->ptr = ses__arena_text(found->reader->arena, text->ptr, text->len);
    return code == SES_OK && !text->ptr ? ses__error_nomem(error) : code;
}

int ses__json_read_bool(void *into, const struct json_found *found, ses_error *error)
{
    struct span value;
    int code = ses__json_read_value(&value, found, error);

    if (code == SES_OK)
        *(bool *)into = value.ptr[0] == 't';
    return code;
}

int ses__json_note(void *into, const struct json_found *found, ses_error *error)
{
    *(bool *)into = true;
    return ses__json_pass(found, error);
}
