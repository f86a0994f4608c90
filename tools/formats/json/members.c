#include "formats/json/members.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "json/decimal.h"

void reader_begin(struct json_reader *reader, struct span json)
{
    ses__json_start(reader, json.ptr, json.len);
    (void)ses__json_enter(reader);
}

int members_check(struct span json, ses_error *error)
{
    return ses__json_check(json.ptr, json.len, error);
}

int members_visit(struct span json, int (*visit)(void *context, struct span name, struct span value),
                  void *context)
{
    struct json_reader reader;
    struct json_string name;
    struct span value;
    int result = 0;

    ses__json_start(&reader, json.ptr, json.len);
    if (ses__json_peek(&reader) != JSON_OBJECT || !ses__json_enter(&reader))
        return -1;
    while (result == 0 && ses__json_member(&reader, &name) && ses__json_skip(&reader, &value))
        result = visit(context, name.raw, value);
    return result;
}

void members_read(struct members *members, struct span json)
{
    struct json_reader reader;
    struct json_string name;
    struct span value;

    *members = (struct members){.count = 0};
    ses__json_start(&reader, json.ptr, json.len);
    if (ses__json_type_of(json) != JSON_OBJECT || !ses__json_enter(&reader))
        return;
    while (ses__json_member(&reader, &name) && ses__json_skip(&reader, &value)) {
        if (members->count == MEMBERS_MAX) {
            members->more = true;
            return;
        }
        members->names[members->count] = name;
        members->values[members->count++] = ses__json_trim(value);
    }
}

struct span member_of(const struct members *members, const char *name, enum json_type type)
{
    for (size_t i = 0; i < members->count; i++)
        if (ses__json_string_is(members->names[i], name) && ses__json_type_of(members->values[i]) == type)
            return members->values[i];
    return (struct span){NULL, 0};
}

struct span member_in(struct span object, const char *name)
{
    struct json_reader reader;
    struct json_string own;
    struct span value;

    ses__json_start(&reader, object.ptr, object.len);
    if (!object.ptr || ses__json_type_of(object) != JSON_OBJECT || !ses__json_enter(&reader))
        return (struct span){NULL, 0};
    while (ses__json_member(&reader, &own) && ses__json_skip(&reader, &value))
        if (ses__json_string_is(own, name) && ses__json_type_of(ses__json_trim(value)) != JSON_NULL)
            return ses__json_trim(value);
    return (struct span){NULL, 0};
}

int member_typed(struct span object, const char *name, enum json_type type, struct span *value,
                 ses_error *error)
{
    *value = member_in(object, name);
    if (!value->ptr || ses__json_type_of(*value) == type)
        return SES_OK;
    return ses__error_set(error, SES_INVALID, "%s must be an %s", name,
                          type == JSON_ARRAY ? "array" : "object");
}

bool member_is(const struct members *members, const char *name, const char *string)
{
    const struct span value = member_of(members, name, JSON_STRING);
    return value.ptr && ses__json_string_is(ses__json_string_of(value), string);
}

bool member_number(struct span value, int decimals, int64_t *number)
{
    bool half = false;

    return value.ptr && ses__json_type_of(value) == JSON_NUMBER &&
           ses__decimal_truncate(value, decimals, number, &half) == DECIMAL_EXACT;
}

bool member_plain(struct span value, struct text *text)
{
    if (!value.ptr || ses__json_type_of(value) != JSON_STRING)
        return false;
    const struct json_string string = ses__json_string_of(value);
    size_t len = 0;

    char *plain = allocate(string.raw.len + 1);
    bool ok = ses__json_unescape(string, plain, &len) && !memchr(plain, '\0', len);
    text_clear(text);
    if (ok)
        text_add(text, plain, len);
    else
        text_puts(text, "");
    free(plain);
    return ok;
}

static bool is_one_of(struct json_string name, const char *const *names)
{
    for (; *names; names++)
        if (ses__json_string_is(name, *names))
            return true;
    return false;
}

int members_only(struct span object, const char *const *names, ses_error *error)
{
    struct json_reader reader;
    struct json_string name;

    reader_begin(&reader, object);
    while (ses__json_member(&reader, &name) && ses__json_skip(&reader, NULL))
        if (!is_one_of(name, names))
            return ses__error_set(error, SES_INVALID, "the unknown field \"%.*s\" would be lost",
                                  (int)(name.raw.len < 100 ? name.raw.len : 100), name.raw.ptr);
    return SES_OK;
}
