#include "model/event/artifacts.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------ members */

static bool enter_value(struct json_reader *reader, struct span value, enum json_type type)
{
    ses__json_start(reader, value.ptr, value.len);
    return ses__json_peek(reader) == type && ses__json_enter(reader);
}

static bool is_named(struct json_string key, const char *name, const char *other)
{
    return ses__json_string_is(key, name) || ses__json_string_is(key, other);
}

struct found_member {
    struct span whole; /* from its key on */
    struct span value;
};

/* The last member of that name. */
static struct found_member member_of(struct span object, const char *name, const char *other)
{
    struct found_member found = {{NULL, 0}, {NULL, 0}};
    struct json_reader reader;
    struct json_string key;
    struct span value;

    if (!object.ptr || !enter_value(&reader, object, JSON_OBJECT))
        return found;
    while (ses__json_member(&reader, &key) && ses__json_skip(&reader, &value)) {
        if (!is_named(key, name, other))
            continue;
        found.value = ses__json_trim(value);
        found.whole.ptr = key.raw.ptr - 1;
        found.whole.len = (size_t)(found.value.ptr + found.value.len - found.whole.ptr);
    }
    return found;
}

/* ------------------------------------------------------------------------------------------- the delta */

/* The value that comes next, as it is in the text. */
static bool take_value_of(struct json_reader *reader, struct span *value)
{
    const bool taken = ses__json_skip(reader, value);
    if (taken)
        *value = ses__json_trim(*value);
    return taken;
}

bool ses__artifact_outline(struct span event, struct artifact_outline *outline)
{
    struct json_reader reader;
    struct json_string key;
    struct span value;

    *outline = (struct artifact_outline){.object = ses__json_trim(event)};
    if (!enter_value(&reader, event, JSON_OBJECT))
        return false;
    while (ses__json_member(&reader, &key) && take_value_of(&reader, &value)) {
        const enum json_type type = ses__json_type_of(value);
        if (ses__json_string_is(key, "id") && type == JSON_STRING)
            outline->id = ses__json_string_of(value);
        else if (is_named(key, "invocationId", "invocation_id") && type == JSON_STRING)
            outline->invocation_id = ses__json_string_of(value);
        else if (ses__json_string_is(key, "partial"))
            outline->partial = value.ptr[0] == 't';
        else if (ses__json_string_is(key, "actions"))
            outline->actions = value;
    }
    if (!ses__json_finish(&reader))
        return false;
    outline->delta = member_of(outline->actions, "artifactDelta", "artifact_delta").value;
    return true;
}

void ses__artifact_delta_open(struct artifact_delta_walk *walk, struct span delta)
{
    walk->any = delta.ptr && enter_value(&walk->reader, delta, JSON_OBJECT);
}

int64_t ses__artifact_version_of(struct span value)
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
    *version = ses__artifact_version_of(*value);
    return true;
}

/* ------------------------------------------------------------------------------------------- addresses */

bool ses__artifact_uri_split(struct span rest, struct span *name, int64_t *version)
{
    static const char word[] = "/versions/";
    const size_t word_len = sizeof word - 1;
    size_t digits = 0;

    *version = 0;
    while (digits < rest.len && digits < 11 && rest.ptr[rest.len - digits - 1] >= '0' &&
           rest.ptr[rest.len - digits - 1] <= '9')
        digits++;
    if (digits == 0 || digits > 10 || rest.len < digits + word_len + 1 ||
        memcmp(rest.ptr + rest.len - digits - word_len, word, word_len) != 0)
        return false;
    for (size_t at = rest.len - digits; at < rest.len; at++)
        *version = *version * 10 + (rest.ptr[at] - '0');
    *name = (struct span){rest.ptr, rest.len - digits - word_len};
    return name->len <= SES_ID_MAX && !memchr(name->ptr, '\0', name->len);
}

/* Moves past the next `word`. */
static bool pass_word(struct span *text, const char *word)
{
    const size_t len = strlen(word);

    for (; text->len >= len; text->ptr++, text->len--) {
        if (memcmp(text->ptr, word, len) == 0) {
            *text = (struct span){text->ptr + len, text->len - len};
            return true;
        }
    }
    return false;
}

void ses__artifact_uri_open(struct artifact_uri_walk *walk, struct span uri)
{
    walk->rest = ses__artifact_is_uri(uri) ? uri : (struct span){"", 0};
}

bool ses__artifact_uri_next(struct artifact_uri_walk *walk, struct span *name, int64_t *version)
{
    while (pass_word(&walk->rest, "/artifacts/")) {
        if (ses__artifact_uri_split(walk->rest, name, version))
            return true;
    }
    return false;
}

/* A quote that opens a string has no backslash before it, and a quote inside a string has one. */
bool ses__artifact_uri_find(struct span text, size_t *at, struct json_string *uri)
{
    struct span rest = {text.ptr + *at, text.len - *at};

    while (pass_word(&rest, "\"artifact:")) {
        const char *start = rest.ptr - strlen("\"artifact:");
        struct json_reader reader;
        *at = (size_t)(rest.ptr - text.ptr);
        ses__json_start(&reader, start, (size_t)(text.ptr + text.len - start));
        if ((start == text.ptr || start[-1] != '\\') && ses__json_read_string(&reader, uri))
            return true;
    }
    return false;
}

/* -------------------------------------------------------------------------------------------------- parts */

static struct span string_member(struct span object, const char *name, const char *other)
{
    const struct span value = member_of(object, name, other).value;
    const struct span none = {NULL, 0};
    return value.ptr && value.ptr[0] == '"' ? value : none;
}

static struct part_data data_of(struct found_member member, struct span source)
{
    return (struct part_data){.whole = member.whole,
                              .source = source,
                              .mime_type = string_member(member.value, "mimeType", "mime_type"),
                              .display_name = string_member(member.value, "displayName", "display_name")};
}

struct part_data ses__part_inline_data(struct span part)
{
    const struct found_member member = member_of(part, "inlineData", "inline_data");
    return data_of(member, string_member(member.value, "data", "data"));
}

struct part_data ses__part_file_data(struct span part)
{
    const struct found_member member = member_of(part, "fileData", "file_data");
    return data_of(member, string_member(member.value, "fileUri", "file_uri"));
}

void ses__parts_open(struct part_walk *walk, struct span content)
{
    const struct span parts = member_of(content, "parts", "parts").value;
    walk->any = parts.ptr && enter_value(&walk->reader, parts, JSON_ARRAY);
}

bool ses__parts_next(struct part_walk *walk, struct span *part)
{
    if (!walk->any || !ses__json_element(&walk->reader) || !ses__json_skip(&walk->reader, part))
        return false;
    *part = ses__json_trim(*part);
    return true;
}

struct span ses__event_content(struct span event)
{
    return member_of(event, "content", "content").value;
}
