/* The parts of an event's content, as they are added to a builder. */
#include "agent/builder.h"

#include <string.h>

#include "base/argument.h"
#include "base/error.h"
#include "json/reader.h"
#include "json/writer.h"

/* How deep parts, and the JSON of a function, are nested in an event. */
enum { PART_DEPTH = 3, FUNCTION_JSON_DEPTH = 5 };

static int start_part(ses_builder *builder, size_t *before, ses_error *error)
{
    *before = builder->parts.len;
    if (builder->content)
        return ses__error_set(error, SES_MISUSE, "the builder has a whole content and takes no parts");
    ses__buffer_add_word(&builder->parts, *before > 0 ? "," : "");
    return SES_OK;
}

/* Keeps the part whose bytes were added, or removes all of them. */
static int end_part(ses_builder *builder, size_t before, bool is_response, ses_error *error)
{
    if (builder->parts.failed) {
        ses__buffer_cut(&builder->parts, before);
        return ses__error_nomem(error);
    }
    builder->only_responses = builder->only_responses && is_response;
    return SES_OK;
}

static int builder_add_text(ses_builder *builder, const char *text, size_t len, bool thought,
                            ses_error *error)
{
    struct span plain;
    size_t before;
    int code = ses__check_builder(builder, error);

    if (code == SES_OK)
        code = ses__check_utf8(text, len, "text", &plain, error);
    if (code == SES_OK)
        code = start_part(builder, &before, error);
    if (code != SES_OK)
        return code;
    ses__buffer_add_word(&builder->parts, "{\"text\":");
    ses__json_add_string(&builder->parts, plain.ptr, plain.len);
    ses__buffer_add_word(&builder->parts, thought ? ",\"thought\":true}" : "}");
    return end_part(builder, before, false, error);
}

int ses_builder_text(ses_builder *builder, const char *text, size_t len, ses_error *error)
{
    return builder_add_text(builder, text, len, false, error);
}

int ses_builder_thought(ses_builder *builder, const char *text, size_t len, ses_error *error)
{
    return builder_add_text(builder, text, len, true, error);
}

struct function_part {
    struct span id; /* without text: none */
    struct span name;
    struct span json;
};

/* The ADK writes a call's arguments before its name, and a response after it. */
static void add_function(struct buffer *parts, const struct function_part *function, bool is_response)
{
    ses__buffer_add_word(parts, is_response ? "{\"functionResponse\":{" : "{\"functionCall\":{");
    if (function->id.ptr) {
        ses__json_add_named(parts, "\"id\":", function->id);
        ses__buffer_add_word(parts, ",");
    }
    if (is_response) {
        ses__json_add_named(parts, "\"name\":", function->name);
        ses__buffer_add_word(parts, ",\"response\":");
        ses__buffer_add(parts, function->json.ptr, function->json.len);
    } else {
        ses__buffer_add_word(parts, "\"args\":");
        ses__buffer_add(parts, function->json.ptr, function->json.len);
        ses__json_add_named(parts, ",\"name\":", function->name);
    }
    ses__buffer_add_word(parts, "}}");
}

static int put_function(ses_builder *builder, ses_text id, ses_text name, ses_text json, bool is_response,
                        ses_error *error)
{
    struct function_part function = {.id = {NULL, 0}, .json = {"{}", 2}};
    size_t before;
    int code = ses__check_builder(builder, error);

    if (code == SES_OK)
        code = ses__check_utf8(name.text, name.len, "name", &function.name, error);
    if (code == SES_OK && id.text)
        code = ses__check_utf8(id.text, id.len, "id", &function.id, error);
    if (code == SES_OK && json.text)
        code = ses__check_object(json.text, json.len, is_response ? "response" : "args", FUNCTION_JSON_DEPTH,
                                 &function.json, error);
    if (code == SES_OK)
        code = start_part(builder, &before, error);
    if (code != SES_OK)
        return code;
    add_function(&builder->parts, &function, is_response);
    return end_part(builder, before, is_response, error);
}

int ses_builder_call(ses_builder *builder, const char *id, const char *name, const char *args,
                     size_t args_len, ses_error *error)
{
    return put_function(builder, (ses_text){id, SES_NUL}, (ses_text){name, SES_NUL},
                        (ses_text){args, args_len}, false, error);
}

int ses_builder_response(ses_builder *builder, const char *id, const char *name, const char *response,
                         size_t response_len, ses_error *error)
{
    return put_function(builder, (ses_text){id, SES_NUL}, (ses_text){name, SES_NUL},
                        (ses_text){response, response_len}, true, error);
}

int ses_builder_response_to(ses_builder *builder, const ses_function *call, const char *response,
                            size_t response_len, ses_error *error)
{
    int code = ses__check_builder(builder, error);

    if (code == SES_OK)
        code = ses__check_argument(call, "call", error);
    return code == SES_OK
               ? put_function(builder, call->id, call->name, (ses_text){response, response_len}, true, error)
               : code;
}

int ses_builder_interrupted(ses_builder *builder, const ses_function *call, ses_error *error)
{
    static const char interrupted[] = "{\"error\":\"interrupted\"}";
    const size_t parts_before = builder ? builder->parts.len : 0;
    const bool only_responses = builder && builder->only_responses;
    ses_function named = call ? *call : (ses_function){{NULL, 0}, {NULL, 0}, {NULL, 0}};

    if (!named.name.text) /* a response needs a name: a call without one gives an empty one */
        named.name = (ses_text){"", 0};
    int code =
        ses_builder_response_to(builder, call ? &named : NULL, interrupted, sizeof interrupted - 1, error);
    if (code != SES_OK)
        return code;
    code = ses_builder_field_string(builder, "errorCode", "INVOCATION_ABORTED", SES_NUL, error);
    if (code != SES_OK) {
        ses__buffer_cut(&builder->parts, parts_before);
        builder->only_responses = only_responses;
    }
    return code;
}

int ses_builder_part(ses_builder *builder, const char *json, size_t len, ses_error *error)
{
    struct span part;
    size_t before;
    int code = ses__check_builder(builder, error);

    if (code == SES_OK)
        code = ses__check_object(json, len, "part", PART_DEPTH, &part, error);
    if (code == SES_OK)
        code = start_part(builder, &before, error);
    if (code != SES_OK)
        return code;
    ses__buffer_add(&builder->parts, part.ptr, part.len);
    return end_part(builder, before, false, error);
}
