/*
 * Reads JSON in place. The parts of a body are stored byte by byte, so that numbers and texts stay what they
 * are, and a body that is hostile needs no more memory than its bytes.
 */
#include "server.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

/* A builder reads its fields strictly. */
int json_check(ses_store *store, const char *text, size_t len, ses_error *error)
{
    ses_builder *builder = NULL;
    int code = ses_builder_open(store, "user", NULL, &builder, error);

    if (code == SES_OK)
        code = ses_builder_field(builder, "body", text, len, error);
    ses_builder_close(builder);
    return code;
}

/* ------------------------------------------------------------------------------------------------ walking */

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

/* The end of the string that begins at `at`. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\' && at + 1 < end;
    return at < end ? at + 1 : end;
}

/* The end of the value that begins at `at`. */
static const char *skip_value(const char *at, const char *end)
{
    size_t depth = 0;

    do {
        if (*at == '"') {
            at = skip_string(at, end);
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (*at == '}' || *at == ']') {
            depth--;
            at++;
        } else if (depth > 0) {
            at++;
        } else { /* a number or a word */
            while (at < end && !strchr(",]} \t\n\r", *at))
                at++;
        }
    } while (depth > 0 && at < end);
    return at;
}

void json_walk_begin(struct json_walk *walk, ses_text value)
{
    const char *end = value.text ? value.text + value.len : NULL;
    const char *at = value.text ? skip_space(value.text, end) : NULL;
    const bool has_members = at < end && (*at == '{' || *at == '[');

    *walk = (struct json_walk){.at = has_members ? at + 1 : end, .end = end};
    walk->is_object = has_members && *at == '{';
}

bool json_walk_next(struct json_walk *walk, ses_text *key, ses_text *value)
{
    const char *end = walk->end;
    const char *at = walk->at == end ? end : skip_space(walk->at, end);

    if (at < end && *at == ',')
        at = skip_space(at + 1, end);
    if (at == end || *at == '}' || *at == ']')
        return false;
    *key = (ses_text){"", 0};
    if (walk->is_object) {
        const char *after = skip_string(at, end);
        *key = (ses_text){at + 1, (size_t)(after - at) - 2};
        at = skip_space(after, end);
        at = skip_space(at < end ? at + 1 : end, end); /* the colon */
        if (at == end)
            return false;
    }
    walk->at = skip_value(at, end);
    *value = (ses_text){at, (size_t)(walk->at - at)};
    return true;
}

/* ------------------------------------------------------------------------------------------------- values */

bool json_key_is(ses_text key, const char *name)
{
    return key.len == strlen(name) && memcmp(key.text, name, key.len) == 0;
}

ses_text json_member(ses_text object, const char *name)
{
    ses_text found = {NULL, 0};
    struct json_walk walk;
    ses_text key;
    ses_text value;

    json_walk_begin(&walk, object);
    while (walk.is_object && json_walk_next(&walk, &key, &value))
        if (json_key_is(key, name))
            found = value;
    return found;
}

bool json_is_null(ses_text value)
{
    return !value.text || (value.len == 4 && memcmp(value.text, "null", 4) == 0);
}

/* A string that names the character 0, or may name it. */
static bool has_nul(ses_text value)
{
    for (size_t i = 0; i + 6 <= value.len; i++)
        if (memcmp(value.text + i, "\\u0000", 6) == 0)
            return true;
    return false;
}

char *json_string(ses_text value)
{
    if (!value.text || value.text[0] != '"' || has_nul(value))
        return NULL;
    cJSON *tree = cJSON_ParseWithLength(value.text, value.len);
    const char *text = cJSON_GetStringValue(tree);
    char *copy = text ? strdup(text) : NULL;
    cJSON_Delete(tree);
    return copy;
}

void json_put(struct server *server, FILE *out, const char *text, size_t len)
{
    char *json = NULL;
    size_t json_len = 0;

    if (ses_text_quote(server->store, text, len, &json, &json_len, NULL) < 0)
        fputs("\"\"", out); /* not UTF-8 */
    else
        fwrite(json, 1, json_len, out);
    ses_free(json);
}
