/* Builds the JSON of an event, as the ADK writes it, and appends it. */
#include "agent/builder.h"

#include <string.h>

#include "base/argument.h"
#include "base/error.h"
#include "base/utf8.h"
#include "json/reader.h"
#include "json/writer.h"
#include "session/handle.h"

/* How deep values are nested in an event. */
enum { FIELD_DEPTH = 1, ACTION_DEPTH = 2 };

/* ------------------------------------------------------------------------------------- life of a builder */

int ses_builder_open(ses_store *store, const char *author, const char *invocation_id, ses_builder **builder,
                     ses_error *error)
{
    int code = ses__check_output(builder, "builder", error);

    if (code == SES_OK)
        code = ses__check_argument(store, "store", error);
    if (code == SES_OK)
        code = ses__check_id(author, "author", error);
    if (code == SES_OK && invocation_id)
        code = ses__check_id(invocation_id, "invocation", error);
    if (code != SES_OK)
        return code;
    ses_builder *fresh = ses__memory_zeroed(ses__store_allocator(store), sizeof *fresh);
    if (!fresh)
        return ses__error_nomem(error);
    fresh->allocator = *ses__store_allocator(store);
    fresh->only_responses = true;
    ses__buffer_init(&fresh->parts, &fresh->allocator);
    ses__buffer_init(&fresh->json, &fresh->allocator);
    fresh->author = ses__memory_text_of(&fresh->allocator, ses__span_of(author));
    if (invocation_id)
        fresh->invocation = ses__memory_text_of(&fresh->allocator, ses__span_of(invocation_id));
    if (!fresh->author || (invocation_id && !fresh->invocation)) {
        ses_builder_close(fresh);
        return ses__error_nomem(error);
    }
    *builder = fresh;
    return SES_OK;
}

static void fields_free(const ses_allocator *allocator, struct built_field *field)
{
    while (field) {
        struct built_field *next = field->next;
        ses__memory_free(allocator, field);
        field = next;
    }
}

void ses_builder_close(ses_builder *builder)
{
    if (builder) {
        ses_allocator allocator = builder->allocator;
        fields_free(&allocator, builder->content);
        fields_free(&allocator, builder->actions);
        fields_free(&allocator, builder->fields);
        ses__buffer_free(&builder->parts);
        ses__buffer_free(&builder->json);
        ses_free(builder->author);
        ses_free(builder->invocation);
        ses__memory_free(&allocator, builder);
    }
}

int ses__check_builder(const ses_builder *builder, ses_error *error)
{
    int code = ses__check_argument(builder, "builder", error);
    if (code == SES_OK)
        ses__error_clear(error);
    return code;
}

/* Checks a JSON text that will be nested `depth` levels deep in the event. */
static int check_json(const char *json, size_t len, const char *what, unsigned depth, struct span *value,
                      ses_error *error)
{
    struct span text;
    int code = ses__check_span(json, len, what, &text, error);

    if (code != SES_OK)
        return code;
    code = ses__json_check_within(text.ptr, text.len, depth, value, error);
    if (code != SES_OK)
        ses__error_prefix(error, "%.100s: ", what);
    return code;
}

int ses__check_object(const char *json, size_t len, const char *what, unsigned depth, struct span *value,
                      ses_error *error)
{
    int code = check_json(json, len, what, depth, value, error);
    if (code == SES_OK && ses__json_type_of(*value) != JSON_OBJECT)
        code = ses__error_set(error, SES_INVALID, "%s must be a JSON object", what);
    return code;
}

int ses__check_utf8(const char *text, size_t len, const char *what, struct span *span, ses_error *error)
{
    int code = ses__check_span(text, len, what, span, error);
    if (code == SES_OK && !ses__utf8_valid(span->ptr, span->len))
        code = ses__error_set(error, SES_INVALID, "%s is not valid UTF-8", what);
    return code;
}

/* -------------------------------------------------------------------------------------------- fields */

/* The order of the ADK's Event; other fields come between customMetadata and invocationId. */
static const char *const field_order[] = {"modelVersion",
                                          "content",
                                          "groundingMetadata",
                                          "partial",
                                          "turnComplete",
                                          "finishReason",
                                          "errorCode",
                                          "errorMessage",
                                          "interrupted",
                                          "customMetadata",
                                          "",
                                          "invocationId",
                                          "author",
                                          "actions",
                                          "longRunningToolIds",
                                          "branch",
                                          "id",
                                          "timestamp"};
enum {
    RANK_CONTENT = 1,
    RANK_UNNAMED = 10,
    RANK_ACTIONS = 13,
    RANK_COUNT = sizeof field_order / sizeof field_order[0]
};

/* The order of the ADK's EventActions; other fields come last. */
static const char *const action_order[] = {"skipSummarization",         "stateDelta", "artifactDelta",
                                           "transferToAgent",           "escalate",   "requestedAuthConfigs",
                                           "requestedToolConfirmations"};
enum { RANK_ACTION_COUNT = sizeof action_order / sizeof action_order[0] };

static unsigned rank_of(struct span name, const char *const *order, unsigned count, unsigned unnamed)
{
    unsigned rank = unnamed;
    for (unsigned i = 0; i < count; i++) {
        if (strlen(order[i]) == name.len && memcmp(order[i], name.ptr, name.len) == 0)
            rank = i;
    }
    return rank;
}

/* Inserts the field at its rank, and removes an older one of that name. On failure the list is as before. */
static int put_field(ses_builder *builder, struct built_field **list, struct span name, struct span value,
                     ses_error *error)
{
    const ses_allocator *allocator = &builder->allocator;
    const unsigned rank = list == &builder->actions
                              ? rank_of(name, action_order, RANK_ACTION_COUNT, RANK_ACTION_COUNT)
                              : rank_of(name, field_order, RANK_COUNT, RANK_UNNAMED);
    struct built_field *field = ses__memory_new(allocator, sizeof *field + name.len + value.len);
    struct built_field **at = list;

    if (!field)
        return ses__error_nomem(error);
    *field = (struct built_field){NULL, rank, name.len, value.len};
    memcpy(field->bytes, name.ptr, name.len);
    memcpy(field->bytes + name.len, value.ptr, value.len);
    while (*at && !((*at)->name_len == name.len && memcmp((*at)->bytes, name.ptr, name.len) == 0))
        at = &(*at)->next;
    if (*at) {
        struct built_field *old = *at;
        *at = old->next;
        ses__memory_free(allocator, old);
    }
    at = list;
    while (*at && (*at)->rank <= rank)
        at = &(*at)->next;
    field->next = *at;
    *at = field;
    return SES_OK;
}

static void add_fields(struct buffer *buffer, const struct built_field *field, unsigned from, unsigned to,
                       size_t start)
{
    for (; field; field = field->next) {
        if (field->rank >= from && field->rank < to)
            ses__json_add_member(buffer, start, (struct span){field->bytes, field->name_len},
                                 (struct span){field->bytes + field->name_len, field->value_len});
    }
}

int ses_builder_content(ses_builder *builder, const char *json, size_t len, ses_error *error)
{
    static const struct span name = {"content", 7};
    struct span value;
    int code = ses__check_builder(builder, error);

    if (code == SES_OK)
        code = ses__check_object(json, len, "content", FIELD_DEPTH, &value, error);
    return code == SES_OK ? put_field(builder, &builder->content, name, value, error) : code;
}

static int check_field_name(const char *field, const char *const *own, const char *call, struct span *name,
                            ses_error *error)
{
    int code = ses__check_utf8(field, SES_NUL, "field", name, error);

    if (code == SES_OK && name->len == 0)
        code = ses__error_set(error, SES_INVALID, "the name of a field is empty");
    for (size_t i = 0; code == SES_OK && own[i]; i++) {
        if (strcmp(field, own[i]) == 0)
            code = ses__error_set(error, SES_INVALID, "the field %s has a call of its own: %s", field, call);
    }
    return code;
}

int ses_builder_delta(ses_builder *builder, const char *json, size_t len, ses_error *error)
{
    static const struct span name = {"stateDelta", 10};
    struct span value;
    int code = ses__check_builder(builder, error);

    if (code == SES_OK)
        code = ses__check_object(json, len, "delta", ACTION_DEPTH, &value, error);
    return code == SES_OK ? put_field(builder, &builder->actions, name, value, error) : code;
}

int ses_builder_action(ses_builder *builder, const char *field, const char *json, size_t len,
                       ses_error *error)
{
    static const char *const own[] = {"stateDelta", "state_delta", NULL};
    struct span name;
    struct span value;
    int code = ses__check_builder(builder, error);

    if (code == SES_OK)
        code = check_field_name(field, own, "ses_builder_delta", &name, error);
    if (code == SES_OK)
        code = check_json(json, len, field, ACTION_DEPTH, &value, error);
    return code == SES_OK ? put_field(builder, &builder->actions, name, value, error) : code;
}

int ses_builder_field(ses_builder *builder, const char *field, const char *json, size_t len, ses_error *error)
{
    static const char *const own[] = {"content", "author", "invocationId", "invocation_id", "actions", NULL};
    struct span name;
    struct span value;
    int code = ses__check_builder(builder, error);

    if (code == SES_OK)
        code = check_field_name(field, own, "ses_builder_open, _content, _action or _delta", &name, error);
    if (code == SES_OK)
        code = check_json(json, len, field, FIELD_DEPTH, &value, error);
    if (code == SES_OK)
        code = put_field(builder, &builder->fields, name, value, error);
    if (code == SES_OK && strcmp(field, "id") == 0)
        builder->made_id[0] = '\0';
    return code;
}

/* Sets the field to the text. */
static int put_text_field(ses_builder *builder, const char *field, const char *text, size_t len,
                          int (*set)(ses_builder *, const char *, const char *, size_t, ses_error *),
                          ses_error *error)
{
    struct span plain;
    int code = ses__check_builder(builder, error);

    struct buffer json;

    if (code == SES_OK)
        code = ses__check_utf8(text, len, "text", &plain, error);
    if (code != SES_OK)
        return code;
    ses__buffer_init(&json, &builder->allocator);
    ses__json_add_string(&json, plain.ptr, plain.len);
    code = json.failed ? ses__error_nomem(error) : set(builder, field, json.data, json.len, error);
    ses__buffer_free(&json);
    return code;
}

int ses_builder_action_string(ses_builder *builder, const char *field, const char *text, size_t len,
                              ses_error *error)
{
    return put_text_field(builder, field, text, len, ses_builder_action, error);
}

int ses_builder_field_string(ses_builder *builder, const char *field, const char *text, size_t len,
                             ses_error *error)
{
    return put_text_field(builder, field, text, len, ses_builder_field, error);
}

/* ---------------------------------------------------------------------------------------- the event */

const char *ses_builder_json(ses_builder *builder, size_t *len)
{
    struct buffer *json = &builder->json;
    const bool from_user = builder->only_responses || strcmp(builder->author, "user") == 0;

    ses__buffer_cut(json, 0);
    ses__buffer_add_word(json, "{");
    add_fields(json, builder->fields, 0, RANK_CONTENT, 1);
    if (builder->content) {
        add_fields(json, builder->content, RANK_CONTENT, RANK_COUNT, 1);
    } else if (builder->parts.len > 0) {
        ses__buffer_add_word(json, json->len > 1 ? "," : "");
        ses__buffer_add_word(json, "\"content\":{\"parts\":[");
        ses__buffer_add(json, builder->parts.data, builder->parts.len);
        ses__buffer_add_word(json, from_user ? "],\"role\":\"user\"}" : "],\"role\":\"model\"}");
    }
    add_fields(json, builder->fields, RANK_CONTENT, RANK_ACTIONS, 1);
    ses__buffer_add_word(json, json->len > 1 ? "," : "");
    if (builder->invocation) {
        ses__json_add_named(json, "\"invocationId\":", ses__span_of(builder->invocation));
        ses__buffer_add_word(json, ",");
    }
    ses__json_add_named(json, "\"author\":", ses__span_of(builder->author));
    if (builder->actions) {
        ses__buffer_add_word(json, ",\"actions\":{");
        add_fields(json, builder->actions, 0, RANK_COUNT, json->len);
        ses__buffer_add_word(json, "}");
    }
    add_fields(json, builder->fields, RANK_ACTIONS, RANK_COUNT, 1);
    ses__buffer_add_word(json, "}");
    if (len)
        *len = json->failed ? 0 : json->len;
    return json->failed ? NULL : json->data;
}

/* ---------------------------------------------------------------------------------------------- appending */

/* Gives the event an id if it has none. */
static int prepare_built(ses_builder *builder, ses_store *store, struct span *json, ses_error *error)
{
    const struct built_field *field = NULL;
    char id[SES_ID_MAX + 1];
    int code = ses__check_builder(builder, error);

    if (code != SES_OK)
        return code;
    for (field = builder->fields; field && !(field->name_len == 2 && memcmp(field->bytes, "id", 2) == 0);)
        field = field->next;
    if (!field || field->bytes[field->name_len] != '"') { /* null counts as no id */
        code = ses_store_make_id(store, id, sizeof id, error);
        if (code == SES_OK)
            code = ses_builder_field_string(builder, "id", id, SES_NUL, error);
        if (code == SES_OK && strlen(id) < sizeof builder->made_id)
            memcpy(builder->made_id, id, strlen(id) + 1);
    }
    if (code != SES_OK)
        return code;
    json->ptr = ses_builder_json(builder, &json->len);
    return json->ptr ? SES_OK : ses__error_nomem(error);
}

/* The id is shown even if an earlier call made it, which has failed. */
static int show_made_id(int code, const ses_builder *builder, ses_appended *appended)
{
    if ((code >= 0 || code == SES_UNKNOWN) && appended)
        memcpy(appended->made_id, builder->made_id, sizeof appended->made_id);
    return code;
}

int ses_builder_append(ses_builder *builder, ses_session *session, const ses_append_options *options,
                       ses_appended *appended, ses_error *error)
{
    struct span json;
    int code = ses__session_check(session, error);

    if (code == SES_OK)
        code = prepare_built(builder, ses__session_store(session), &json, error);
    if (code != SES_OK)
        return code;
    code = ses_append(session, json.ptr, json.len, options, appended, error);
    return show_made_id(code, builder, appended);
}

int ses_builder_append_by_key(ses_builder *builder, ses_store *store, const ses_key *key,
                              const ses_append_options *options, ses_appended *appended, ses_error *error)
{
    struct span json;
    int code = prepare_built(builder, store, &json, error);

    if (code != SES_OK)
        return code;
    code = ses_append_by_key(store, key, json.ptr, json.len, options, appended, error);
    return show_made_id(code, builder, appended);
}
