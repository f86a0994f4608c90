#include "model/event/artifact_delta.h"

/* The value that comes next, as it is in the text. */
static bool take_value_of(struct json_reader *reader, struct span *value)
{
    const bool taken = ses__json_skip(reader, value);
    if (taken)
        *value = ses__json_trim(*value);
    return taken;
}

static bool is_named(struct json_string key, const char *name, const char *other)
{
    return ses__json_string_is(key, name) || ses__json_string_is(key, other);
}

static void outline_actions(struct span actions, struct artifact_outline *outline)
{
    struct json_reader reader;
    struct json_string key;
    struct span value;

    ses__json_start(&reader, actions.ptr, actions.len);
    if (ses__json_peek(&reader) != JSON_OBJECT || !ses__json_enter(&reader))
        return;
    while (ses__json_member(&reader, &key) && take_value_of(&reader, &value)) {
        if (is_named(key, "artifactDelta", "artifact_delta"))
            outline->delta = value;
    }
}

bool ses__artifact_outline(struct span event, struct artifact_outline *outline)
{
    struct json_reader reader;
    struct json_string key;
    struct span value;

    *outline = (struct artifact_outline){.object = ses__json_trim(event)};
    ses__json_start(&reader, event.ptr, event.len);
    if (ses__json_peek(&reader) != JSON_OBJECT || !ses__json_enter(&reader))
        return false;
    while (ses__json_member(&reader, &key) && take_value_of(&reader, &value)) {
        const enum json_type type = ses__json_type_of(value);
        if (ses__json_string_is(key, "id") && type == JSON_STRING)
            outline->id = ses__json_string_of(value);
        else if (is_named(key, "invocationId", "invocation_id") && type == JSON_STRING)
            outline->invocation_id = ses__json_string_of(value).raw;
        else if (ses__json_string_is(key, "partial"))
            outline->partial = value.ptr[0] == 't';
        else if (ses__json_string_is(key, "actions"))
            outline->actions = value;
    }
    if (!ses__json_finish(&reader))
        return false;
    if (outline->actions.ptr)
        outline_actions(outline->actions, outline);
    return true;
}

void ses__artifact_delta_open(struct artifact_delta_walk *walk, struct span delta)
{
    walk->any = delta.ptr != NULL;
    if (!walk->any)
        return;
    ses__json_start(&walk->reader, delta.ptr, delta.len);
    walk->any = ses__json_peek(&walk->reader) == JSON_OBJECT && ses__json_enter(&walk->reader);
}

static int64_t artifact_version_of(struct span value)
{
    int64_t version = 0;

    if (value.len == 0 || value.len > 10 || (value.len > 1 && value.ptr[0] == '0'))
        return -1;
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9')
            return -1;
        version = version * 10 + (value.ptr[i] - '0');
    }
    return version;
}

bool ses__artifact_delta_next(struct artifact_delta_walk *walk, struct json_string *name, struct span *value,
                              int64_t *version)
{
    if (!walk->any || !ses__json_member(&walk->reader, name) || !take_value_of(&walk->reader, value))
        return false;
    *version = artifact_version_of(*value);
    return true;
}
