/* Objects in which single members are not JSON, such as Python's NaN. The others can still be read. */
#include "formats/load/event_read.h"

#include <string.h>

#include "formats/json/add_json.h"

/* A walk over the members that understands only strings and brackets. */
struct loose {
    const char *at;
    const char *end;
    struct span key; /* with its quotes */
    struct span value;
};

static void pass_space(struct loose *loose)
{
    while (loose->at < loose->end && strchr(" \t\r\n", *loose->at) && *loose->at)
        loose->at++;
}

static bool pass_byte(struct loose *loose, char byte)
{
    pass_space(loose);
    if (loose->at == loose->end || *loose->at != byte)
        return false;
    loose->at++;
    return true;
}

static bool pass_string(struct loose *loose)
{
    if (!pass_byte(loose, '"'))
        return false;
    for (; loose->at < loose->end && *loose->at != '"'; loose->at++)
        if (*loose->at == '\\' && loose->end - loose->at > 1)
            loose->at++;
    return pass_byte(loose, '"');
}

/* Skips to the comma or bracket after the value. */
static bool pass_value(struct loose *loose)
{
    size_t depth = 0;

    while (loose->at < loose->end) {
        const char byte = *loose->at;
        if (depth == 0 && (byte == ',' || byte == '}'))
            return true;
        if ((byte == ']' || byte == '}') && depth-- == 0)
            return false;
        if (byte == '"') {
            if (!pass_string(loose))
                return false;
            continue;
        }
        depth += byte == '[' || byte == '{';
        loose->at++;
    }
    return false;
}

/* Returns 1 with the next member, 0 at the end, or -1 if the text cannot be split into members. */
static int next_member(struct loose *loose, bool first)
{
    if (pass_byte(loose, '}')) {
        pass_space(loose);
        return loose->at == loose->end ? 0 : -1;
    }
    if (!first && !pass_byte(loose, ','))
        return -1;
    pass_space(loose);
    loose->key.ptr = loose->at;
    if (!pass_string(loose))
        return -1;
    loose->key.len = (size_t)(loose->at - loose->key.ptr);
    if (!pass_byte(loose, ':'))
        return -1;
    loose->value.ptr = loose->at;
    if (!pass_value(loose))
        return -1;
    loose->value.len = (size_t)(loose->at - loose->value.ptr);
    loose->value = ses__json_trim(loose->value);
    return 1;
}

static bool begin(struct loose *loose, struct span json)
{
    *loose = (struct loose){.at = json.ptr, .end = json.ptr ? json.ptr + json.len : NULL};
    return json.ptr && pass_byte(loose, '{');
}

static bool has_members(struct span json)
{
    struct loose loose;
    bool first = true;
    int more = begin(&loose, json) ? 1 : -1;

    for (; more == 1; first = false)
        more = next_member(&loose, first);
    return more == 0;
}

static bool is_json(struct span text, ses_error *error)
{
    if (ses__json_check(text.ptr, text.len, error) == SES_OK)
        return true;
    (void)explain_json(text, error);
    return false;
}

bool loose_object(struct span json, struct text *sound,
                  void (*refused)(void *context, const char *key, const ses_error *error), void *context)
{
    struct text key = {NULL, 0, 0};
    struct loose loose;

    if (!has_members(json))
        return false;
    (void)begin(&loose, json);
    text_clear(sound);
    text_puts(sound, "{");
    for (bool first = true; next_member(&loose, first) == 1; first = false) {
        ses_error error;
        if (is_json(loose.key, &error) && is_json(loose.value, &error)) {
            add_spelled_member(sound, (struct span){loose.key.ptr + 1, loose.key.len - 2}, loose.value);
            continue;
        }
        text_clear(&key);
        text_add(&key, loose.key.ptr + 1, loose.key.len - 2);
        refused(context, key.data, &error);
    }
    text_puts(sound, "}");
    text_free(&key);
    return true;
}
