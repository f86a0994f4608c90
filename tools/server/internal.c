/*
 * Metadata of events that google-adk keeps to itself, customMetadata.__adk_internal_*: a client can neither
 * write nor see it.
 */
#include "server.h"

#include <stdlib.h>
#include <string.h>

static const char internal[] = "__adk_internal_";

static void put_member(FILE *out, bool is_first, ses_text key, ses_text value)
{
    fprintf(out, "%s\"", is_first ? "" : ",");
    fwrite(key.text, 1, key.len, out);
    fputs("\":", out);
    fwrite(value.text, 1, value.len, out);
}

static bool is_internal(ses_text key)
{
    return key.len >= sizeof internal - 1 && memcmp(key.text, internal, sizeof internal - 1) == 0;
}

bool write_public_metadata(FILE *out, ses_text metadata)
{
    struct json_walk walk;
    bool is_first = true;
    ses_text key;
    ses_text value;

    json_walk_begin(&walk, metadata);
    while (json_walk_next(&walk, &key, &value)) {
        if (walk.is_object && !is_internal(key)) {
            put_member(out, is_first, key, value);
            is_first = false;
        }
    }
    return !is_first;
}

static bool is_metadata(ses_text key)
{
    return json_key_is(key, "customMetadata") || json_key_is(key, "custom_metadata");
}

/* Writes an event without internal metadata. */
static void put_public_event(FILE *out, ses_text event)
{
    struct json_walk walk;
    bool is_first = true;
    ses_text key;
    ses_text value;

    fputc('{', out);
    json_walk_begin(&walk, event);
    while (json_walk_next(&walk, &key, &value)) {
        if (is_metadata(key)) {
            char *kept = NULL;
            size_t len = 0;
            FILE *metadata = open_memstream(&kept, &len);
            const bool is_left = metadata && write_public_metadata(metadata, value);
            if (metadata && fclose(metadata) == 0 && is_left) {
                fprintf(out, "%s\"customMetadata\":{%s}", is_first ? "" : ",", kept);
                is_first = false;
            }
            free(kept);
        } else {
            put_member(out, is_first, key, value);
            is_first = false;
        }
    }
    fputc('}', out);
}

static void put_public_session(FILE *out, ses_text session)
{
    struct json_walk walk;
    struct json_walk events;
    bool is_first = true;
    ses_text key;
    ses_text value;

    fputc('{', out);
    json_walk_begin(&walk, session);
    while (json_walk_next(&walk, &key, &value)) {
        if (!json_key_is(key, "events")) {
            put_member(out, is_first, key, value);
        } else {
            ses_text none;
            ses_text event;
            size_t count = 0;
            fputs(is_first ? "\"events\":[" : ",\"events\":[", out);
            json_walk_begin(&events, value);
            while (json_walk_next(&events, &none, &event)) {
                fputs(count++ > 0 ? "," : "", out);
                put_public_event(out, event);
            }
            fputc(']', out);
        }
        is_first = false;
    }
    fputc('}', out);
}

enum MHD_Result reply_public_session(struct request *request, unsigned status, char *json, size_t len)
{
    char *text = NULL;
    size_t text_len = 0;

    if (!strstr(json, internal))
        return reply_json(request, status, json, len);
    FILE *out = open_memstream(&text, &text_len);
    if (out)
        put_public_session(out, (ses_text){json, len});
    ses_free(json);
    if (out && fclose(out) == 0)
        return reply_text(request, status, text, text_len, "application/json");
    free(text);
    return MHD_NO;
}
