/*
 * The events that a session is created with: a conversation from elsewhere. They are stored as google-adk
 * stores them. An event may not pretend to be one that only google-adk makes: it changes no state, waits for
 * no tool, and asks the user for nothing. Its metadata says that it was restored.
 */
#include "server.h"

#include <stdlib.h>
#include <string.h>

struct restored {
    ses_text *events; /* JSON, each from malloc */
    size_t count;
};

/* ------------------------------------------------------------------------------------------- what may not */

/* Calls that google-adk makes itself, to ask the user. */
static bool is_reserved(ses_text function)
{
    static const char *const names[] = {"\"adk_request_credential\"", "\"adk_request_confirmation\"",
                                        "\"adk_request_input\""};
    const ses_text name = json_member(function, "name");

    for (size_t i = 0; name.text && i < sizeof names / sizeof names[0]; i++)
        if (json_key_is(name, names[i]))
            return true;
    return false;
}

static bool has_reserved_call(ses_text event)
{
    static const char *const kinds[] = {"functionCall", "function_call", "functionResponse",
                                        "function_response"};
    struct json_walk walk;
    ses_text none;
    ses_text part;

    json_walk_begin(&walk, json_member(json_member(event, "content"), "parts"));
    while (json_walk_next(&walk, &none, &part))
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
            if (is_reserved(json_member(part, kinds[i])))
                return true;
    return false;
}

/* Members whose values are null or empty say nothing. */
static bool has_actions(ses_text event)
{
    struct json_walk walk;
    struct json_walk members;
    ses_text key;
    ses_text value;

    json_walk_begin(&walk, json_member(event, "actions"));
    while (json_walk_next(&walk, &key, &value)) {
        json_walk_begin(&members, value);
        const bool is_empty = members.is_object && !json_walk_next(&members, &key, &(ses_text){NULL, 0});
        if (!is_empty && !json_is_null(value))
            return true;
    }
    return false;
}

static bool has_elements(ses_text array)
{
    struct json_walk walk;
    ses_text key;
    ses_text value;

    json_walk_begin(&walk, array);
    return json_walk_next(&walk, &key, &value);
}

/* Returns false after a reply. */
static bool check_event(struct request *request, ses_text event, size_t index, enum MHD_Result *result)
{
    const char *wrong = NULL;
    char text[120];

    if (event.text[0] != '{') {
        (void)snprintf(text, sizeof text, "\"body\",\"events\",%zu", index);
        *result = reply_invalid(request, "model_attributes_type", text,
                                "Input should be a valid dictionary or object to extract fields from", event);
        return false;
    }
    if (has_elements(json_member(event, "longRunningToolIds")) ||
        has_elements(json_member(event, "long_running_tool_ids")))
        wrong = "long-running tool IDs";
    else if (has_actions(event))
        wrong = "event actions";
    else if (has_reserved_call(event))
        wrong = "ADK protocol function calls";
    if (!wrong)
        return true;
    (void)snprintf(text, sizeof text, "Session initialization event %zu cannot include %s.", index, wrong);
    *result = reply_detail(request, MHD_HTTP_BAD_REQUEST, text);
    return false;
}

/* ----------------------------------------------------------------------------------------- what is stored */

/* Writes a name in camelCase. */
static void put_name(FILE *out, ses_text name)
{
    fputc('"', out);
    for (size_t i = 0; i < name.len; i++) {
        const bool is_upper = name.text[i] == '_' && i > 0 && i + 1 < name.len && name.text[i + 1] >= 'a' &&
                              name.text[i + 1] <= 'z';
        if (is_upper)
            fputc(name.text[++i] - 'a' + 'A', out);
        else
            fputc(name.text[i], out);
    }
    fputs("\":", out);
}

static bool is_kept(ses_text key, ses_text value)
{
    return !json_is_null(value) && !json_key_is(key, "actions") && !json_key_is(key, "customMetadata") &&
           !json_key_is(key, "custom_metadata");
}

static bool has(ses_text event, const char *name, const char *snake)
{
    return !json_is_null(json_member(event, name)) || (snake && !json_is_null(json_member(event, snake)));
}

/* Writes the event with the members that google-adk's always have. */
static void put_event(FILE *out, ses_text event)
{
    struct json_walk walk;
    ses_text key;
    ses_text value;

    fputc('{', out);
    json_walk_begin(&walk, event);
    while (json_walk_next(&walk, &key, &value)) {
        if (is_kept(key, value)) {
            put_name(out, key);
            fwrite(value.text, 1, value.len, out);
            fputc(',', out);
        }
    }
    if (!has(event, "invocationId", "invocation_id"))
        fputs("\"invocationId\":\"\",", out);
    if (!has(event, "author", NULL))
        fputs("\"author\":\"\",", out);
    if (!has(event, "nodeInfo", "node_info"))
        fputs("\"nodeInfo\":{\"path\":\"\"},", out);
    fputs("\"actions\":{\"stateDelta\":{},\"artifactDelta\":{},\"requestedAuthConfigs\":{},"
          "\"requestedToolConfirmations\":{}},\"customMetadata\":{",
          out);
    const ses_text metadata = json_member(event, "customMetadata");
    if (write_public_metadata(out, metadata.text ? metadata : json_member(event, "custom_metadata")))
        fputc(',', out);
    fputs("\"__adk_internal_restored_event\":true}}", out);
}

static bool add_event(struct restored *restored, ses_text event)
{
    ses_text *grown = realloc(restored->events, (restored->count + 1) * sizeof *grown);
    char *text = NULL;
    size_t len = 0;

    if (!grown)
        return false;
    restored->events = grown;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return false;
    put_event(out, event);
    if (fclose(out) != 0) {
        free(text);
        return false;
    }
    restored->events[restored->count++] = (ses_text){text, len};
    return true;
}

struct restored *restored_read(struct request *request, ses_text events, enum MHD_Result *result)
{
    struct restored *restored = calloc(1, sizeof *restored);
    struct json_walk walk;
    ses_text none;
    ses_text event;
    bool ok = restored != NULL;

    *result = MHD_NO;
    json_walk_begin(&walk, events);
    while (ok && json_walk_next(&walk, &none, &event))
        ok = check_event(request, event, restored->count, result) && add_event(restored, event);
    if (!ok) {
        restored_free(restored);
        restored = NULL;
    }
    return restored;
}

int restored_append(const struct restored *restored, struct request *request, ses_session *session,
                    ses_error *error)
{
    const ses_append_options options = {.size = sizeof options, .cancel = work_cancel(request->work)};

    return restored->count == 0
               ? SES_OK
               : ses_append_batch(session, restored->events, restored->count, &options, NULL, error);
}

void restored_free(struct restored *restored)
{
    for (size_t i = 0; restored && i < restored->count; i++)
        free((char *)(uintptr_t)restored->events[i].text);
    free(restored ? restored->events : NULL);
    free(restored);
}
