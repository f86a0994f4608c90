/*
 * A session for Vertex AI Agent Engine: {"session": ..., "events": [...]}, which import can read. Each event
 * is the body of the request with which google-adk 2.13 appends it: names in content, actions and
 * eventMetadata are in snake_case, and rawEvent holds the unchanged event in camelCase.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "formats/json/add_json.h"
#include "formats/json/members.h"
#include "formats/write/convert.h"
#include "formats/write/event.h"

/* ------------------------------------------------------------------------------------------------ members */

/* "2025-10-15T12:41:11.968201+00:00" */
static void put_moment(struct text *text, const char *name, int64_t time_us)
{
    const int64_t us = ((time_us % 1000000) + 1000000) % 1000000;
    const time_t seconds = (time_t)((time_us - us) / 1000000);
    struct tm tm;
    char date[40] = "";

    if (!gmtime_r(&seconds, &tm) || strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm) == 0)
        return;
    add_name(text, name);
    text_print(text, "\"%s.%06" PRId64 "+00:00\"", date, us);
}

/* The field of an object in either spelling. ptr is NULL if it is absent or null. */
static struct span field_in(struct span object, const char *camel)
{
    struct json_reader reader;
    struct json_string name;
    struct span value;

    ses__json_start(&reader, object.ptr, object.len);
    if (!object.ptr || ses__json_type_of(object) != JSON_OBJECT || !ses__json_enter(&reader))
        return (struct span){NULL, 0};
    while (ses__json_member(&reader, &name) && ses__json_skip(&reader, &value))
        if (ses__adk_is_named(name, camel) && ses__json_type_of(value) != JSON_NULL)
            return value;
    return (struct span){NULL, 0};
}

/* ----------------------------------------------------------------------------------------------- an event */

struct body {
    struct writing *writing;
    struct span event;
    struct span actions;
    struct text *text;
    struct adk_conversion conversion;
};

/* Adds a field of a google-adk class in snake_case. */
static void put_snake(struct body *body, const char *name, struct span value, const char *field_name,
                      const struct adk_model *of)
{
    if (!value.ptr)
        return;
    add_name(body->text, name);
    (void)adk_convert(&body->conversion, ses__adk_field_called(of, field_name), value, body->text);
}

static void put_actions(struct body *body)
{
    static const char *const names[][2] = {{"skipSummarization", "skip_summarization"},
                                           {"transferToAgent", "transfer_agent"},
                                           {"escalate", "escalate"}};
    static const char *const always[][2] = {{"stateDelta", "state_delta"},
                                            {"artifactDelta", "artifact_delta"},
                                            {"requestedAuthConfigs", "requested_auth_configs"}};

    add_name(body->text, "actions");
    text_puts(body->text, "{");
    for (size_t i = 0; i < 3; i++)
        add_member(body->text, names[i][1], field_in(body->actions, names[i][0]));
    for (size_t i = 0; i < 3; i++) {
        const struct span value = field_in(body->actions, always[i][0]);
        add_member(body->text, always[i][1], value.ptr ? value : (struct span){"{}", 2});
    }
    text_puts(body->text, "}");
}

/* Adds customMetadata: the user's own, and the fields that have no other place in the API. */
static void put_custom(struct body *body)
{
    const struct span custom = field_in(body->event, "customMetadata");
    const struct span compaction = field_in(body->actions, "compaction");
    const struct span usage = field_in(body->event, "usageMetadata");
    const bool has_custom = custom.ptr && ses__json_type_of(custom) == JSON_OBJECT;

    if (!has_custom && !compaction.ptr && !usage.ptr)
        return;
    add_name(body->text, "custom_metadata");
    if (has_custom)
        text_add(body->text, custom.ptr, custom.len - 1); /* without the closing bracket */
    else
        text_puts(body->text, "{");
    while (strchr(" \t\r\n", body->text->data[body->text->len - 1]))
        body->text->len--;
    put_snake(body, "_compaction", compaction, "compaction",
              ses__adk_field_called(ses__adk_event, "actions")->model);
    put_snake(body, "_usage_metadata", usage, "usageMetadata", ses__adk_event);
    text_puts(body->text, "}");
}

static void put_metadata(struct body *body)
{
    static const char *const names[][2] = {{"partial", "partial"},
                                           {"turnComplete", "turn_complete"},
                                           {"interrupted", "interrupted"},
                                           {"branch", "branch"}};
    const struct span ids = field_in(body->event, "longRunningToolIds");

    add_name(body->text, "eventMetadata");
    text_puts(body->text, "{");
    for (size_t i = 0; i < 4; i++)
        add_member(body->text, names[i][1], field_in(body->event, names[i][0]));
    put_custom(body);
    if (ids.ptr && memchr(ids.ptr, '"', ids.len)) /* the list is not empty */
        add_member(body->text, "long_running_tool_ids", ids);
    put_snake(body, "grounding_metadata", field_in(body->event, "groundingMetadata"), "groundingMetadata",
              ses__adk_event);
    text_puts(body->text, "}");
}

/* Adds the event in camelCase, with its time in seconds. */
static void put_raw_event(struct body *body, const ses_event *event)
{
    struct json_reader reader;
    struct json_string name;
    struct span value;

    body->conversion.spelling = ADK_CAMEL;
    add_name(body->text, "rawEvent");
    text_puts(body->text, "{");
    reader_begin(&reader, body->event);
    while (ses__json_member(&reader, &name) && ses__json_skip(&reader, &value)) {
        const struct adk_field *field = ses__adk_field_of(ses__adk_event, name);
        if (ses__json_type_of(value) == JSON_NULL)
            continue;
        if (!field) {
            write_note(body->writing, WRITE_NOTE_FIELDS, 1);
            add_spelled_member(body->text, name.raw, value);
            continue;
        }
        add_name(body->text, field->name);
        if (strcmp(field->name, "timestamp") == 0)
            add_seconds(body->text, event->time_us);
        else
            (void)adk_convert(&body->conversion, field, value, body->text);
    }
    text_puts(body->text, "}");
}

static void put_body(struct writing *writing, const ses_event *event, struct span json, struct text *text)
{
    struct body body = {
        .writing = writing,
        .event = ses__json_trim(json),
        .text = text,
        .conversion = {.spelling = ADK_SNAKE, .without_null = true, .without_part_metadata = true}};

    body.actions = field_in(body.event, "actions");
    text_puts(text, "{");
    add_text(text, "author", event->author);
    add_text(text, "invocationId", event->invocation_id);
    put_moment(text, "timestamp", event->time_us);
    put_snake(&body, "content", field_in(body.event, "content"), "content", ses__adk_event);
    put_actions(&body);
    add_member(text, "errorCode", field_in(body.event, "errorCode"));
    add_member(text, "errorMessage", field_in(body.event, "errorMessage"));
    put_metadata(&body);
    body.conversion.unknown = body.conversion.part_metadata = 0; /* rawEvent keeps all of them */
    put_raw_event(&body, event);
    text_puts(text, "}");
    write_note(writing, WRITE_NOTE_UNKNOWN, body.conversion.unknown);
    write_note(writing, WRITE_NOTE_PART_METADATA, body.conversion.part_metadata);
}

/* -------------------------------------------------------------------------------------------- the session */

/* "Label keys and values can be no longer than 64 characters, can only contain lowercase letters, numeric
 * characters, underscores and dashes. International characters are allowed." */
static bool is_label_text(const char *text)
{
    size_t characters = 0;

    for (const char *at = text; *at; at++) {
        const unsigned char c = (unsigned char)*at;
        if (c < 0x80 && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_' && c != '-')
            return false;
        characters += (c & 0xc0) != 0x80;
    }
    return characters <= 64;
}

static void put_labels(struct writing *writing, const ses_session *session, struct text *text)
{
    struct text labels = {NULL, 0, 0};

    text_puts(&labels, "{");
    for (size_t i = 0; i < ses_session_label_count(session); i++) {
        const ses_label *label = ses_session_label(session, i);
        if (is_label_text(label->name) && is_label_text(label->value))
            add_text(&labels, label->name, label->value);
        else
            write_note(writing, WRITE_NOTE_LABELS, 1);
    }
    text_puts(&labels, "}");
    if (labels.len > 2)
        add_member(text, "labels", (struct span){labels.data, labels.len});
    text_free(&labels);
}

static void put_session(struct writing *writing, const ses_session *session, const char *state,
                        struct text *text)
{
    struct text name = {NULL, 0, 0};

    text_print(&name, "projects/-/locations/-/reasoningEngines/%s/sessions/%s", ses_session_app(session),
               ses_session_id(session));
    text_puts(text, "{\"session\":{");
    add_text(text, "name", name.data);
    text_free(&name);
    put_moment(text, "createTime", ses_session_created_us(session));
    put_moment(text, "updateTime", ses_session_updated_us(session));
    add_text(text, "userId", ses_session_user(session));
    add_text(text, "displayName", ses_session_title(session));
    put_labels(writing, session, text);
    if (ses_session_expires_us(session) != INT64_MAX)
        put_moment(text, "expireTime", ses_session_expires_us(session));
    add_member(text, "sessionState", (struct span){state, strlen(state)});
    text_puts(text, "},\"events\":[");
}

int write_vertex_json(struct writing *writing, const ses_session *session, struct text *json,
                      ses_error *error)
{
    const char *state = NULL;
    int code = ses_state_json(session, &state, NULL, error);

    if (code < 0)
        return code;
    put_session(writing, session, state, json);
    for (size_t i = 0; i < ses_session_event_count(session) && code >= 0; i++) {
        const ses_event *event = ses_session_event(session, i);
        struct span body = {event->json, event->json_len};
        char *inlined = NULL;
        code = write_inlined(writing, session, &body, &inlined, error);
        text_puts(json, i > 0 ? "," : "");
        put_body(writing, event, body, json);
        ses_free(inlined);
    }
    text_puts(json, "]}");
    (void)write_mended(writing, json);
    return code;
}
