/* Redacts the content of an event: its parts, of which the calls and responses keep their ids and names. */
#include "erase/erase.h"

#include "base/error.h"

static bool is_call_key(struct json_string key)
{
    return ses__key_is(key, "functionCall", "function_call");
}

static bool is_response_key(struct json_string key)
{
    return ses__key_is(key, "functionResponse", "function_response");
}

/* The names by which a response finds its call. A value that is not a string is not a name. */
static bool is_function_name(struct json_string key, struct span value)
{
    return ses__json_type_of(value) == JSON_STRING &&
           (ses__json_string_is(key, "id") || ses__json_string_is(key, "name"));
}

static bool enter_object_of(struct json_reader *reader, struct span value)
{
    ses__json_start(reader, value.ptr, value.len);
    return ses__json_peek(reader) == JSON_OBJECT && ses__json_enter(reader);
}

static bool next_of_object(struct json_reader *reader, struct json_string *key, struct span *value)
{
    const bool any = ses__json_member(reader, key) && ses__json_skip(reader, value);

    if (any)
        *value = ses__json_trim(*value);
    return any;
}

/* Adds a member, with a comma after another. */
static void add_redacted_member(struct redacting *run, bool *first, struct json_string key, struct span value)
{
    ses__buffer_add(&run->built, ",", *first ? 0 : 1);
    ses__buffer_add(&run->built, key.raw.ptr - 1, key.raw.len + 2);
    ses__buffer_add(&run->built, ":", 1);
    ses__buffer_add(&run->built, value.ptr, value.len);
    *first = false;
}

static bool is_empty_argument(struct span value)
{
    struct json_reader reader;
    struct json_string key;

    return enter_object_of(&reader, value) && !ses__json_member(&reader, &key);
}

/* ------------------------------------------------------------------------------------------ as a whole */

/* Adds a call or a response. Of what is unknown only what has no text stays. */
static void add_redacted_function(struct redacting *run, bool *first, struct json_string name,
                                  struct span function)
{
    struct json_reader reader;
    struct json_string key;
    struct span value;
    bool first_inside = true;

    add_redacted_member(run, first, name, (struct span){"{", 1});
    (void)enter_object_of(&reader, function);
    while (next_of_object(&reader, &key, &value)) {
        const enum json_type type = ses__json_type_of(value);
        if (ses__json_string_is(key, "args") || ses__json_string_is(key, "response"))
            add_redacted_member(run, &first_inside, key,
                                is_empty_argument(value) ? value : run->asked->object);
        else if (is_function_name(key, value) || type == JSON_BOOL || type == JSON_NULL ||
                 (ses__json_string_is(key, "scheduling") && type == JSON_STRING))
            add_redacted_member(run, &first_inside, key, value);
    }
    ses__buffer_add(&run->built, "}", 1);
}

/* Adds a part: texts, calls and responses are redacted, and anything else is replaced by a text. */
static void add_redacted_part(struct redacting *run, struct span part)
{
    static const char quoted[] = "\"text\"";
    const struct json_string text_key = {{quoted + 1, sizeof quoted - 3}, false};
    struct json_reader reader;
    struct json_string key;
    struct span value;
    bool first = true;
    bool any = false;  /* a text or function was kept or replaced */
    bool other = true; /* something was left out */

    ses__buffer_add(&run->built, "{", 1);
    if (enter_object_of(&reader, part)) {
        other = false;
        while (next_of_object(&reader, &key, &value)) {
            const enum json_type type = ses__json_type_of(value);
            const bool is_text = ses__json_string_is(key, "text") && type == JSON_STRING;
            const bool is_function = type == JSON_OBJECT && (is_call_key(key) || is_response_key(key));
            if (is_function)
                add_redacted_function(run, &first, key, value);
            else if (is_text || type == JSON_NULL ||
                     (ses__json_string_is(key, "thought") && type == JSON_BOOL))
                add_redacted_member(run, &first, key, is_text ? run->asked->text : value);
            else
                other = true;
            any = any || is_text || is_function;
        }
    }
    if (!any && other)
        add_redacted_member(run, &first, text_key, run->asked->text);
    ses__buffer_add(&run->built, "}", 1);
}

static void add_redacted_parts(struct redacting *run, struct span parts)
{
    struct json_reader reader;
    struct span part;
    bool first = true;

    ses__json_start(&reader, parts.ptr, parts.len);
    ses__buffer_add(&run->built, "[", 1);
    if (ses__json_enter(&reader)) {
        while (ses__json_element(&reader) && ses__json_skip(&reader, &part)) {
            ses__buffer_add(&run->built, ",", first ? 0 : 1);
            add_redacted_part(run, ses__json_trim(part));
            first = false;
        }
    }
    ses__buffer_add(&run->built, "]", 1);
}

int ses__content_redact(struct redacting *run, struct span content, struct span *after, ses_error *error)
{
    const size_t start = run->built.len;
    struct json_reader reader;
    struct json_string key;
    struct span value;
    bool first = true;

    *after = content;
    if (!enter_object_of(&reader, content)) {
        if (ses__json_type_of(content) != JSON_NULL)
            *after = run->asked->text;
        return SES_OK;
    }
    ses__buffer_add(&run->built, "{", 1);
    while (next_of_object(&reader, &key, &value)) {
        const enum json_type type = ses__json_type_of(value);
        if (ses__json_string_is(key, "parts") && type == JSON_ARRAY) {
            add_redacted_member(run, &first, key, (struct span){"", 0});
            add_redacted_parts(run, value);
        } else if ((ses__json_string_is(key, "role") && type == JSON_STRING) || type == JSON_NULL) {
            add_redacted_member(run, &first, key, value);
        }
    }
    ses__buffer_add(&run->built, "}", 1);
    if (!run->built.failed && run->built.len - start == content.len &&
        memcmp(run->built.data + start, content.ptr, content.len) == 0) {
        ses__buffer_cut(&run->built, start);
        return SES_OK;
    }
    return ses__built_take(run, start, after, error);
}

/* ------------------------------------------------------------------------------------- what is found */

/* Edits of one content. */
struct content_edits {
    struct redacting *run;
    struct span content;
    bool in_response; /* at the parts of a response */
    struct edits edits;
};

static int put_found(struct content_edits *own, struct span value, struct span fresh, ses_error *error)
{
    const size_t start = (size_t)(value.ptr - own->content.ptr);

    if (fresh.ptr == value.ptr || ses__edits_add(&own->edits, own->run->asked->allocator,
                                                 (struct edit){start, start + value.len, fresh}))
        return SES_OK;
    return ses__error_nomem(error);
}

/* A value of which nothing is known. */
static int find_in_value(struct content_edits *own, struct span value, ses_error *error)
{
    struct span fresh;
    const int code = ses__found_replace(own->run, value, &fresh, error);
    return code == SES_OK ? put_found(own, value, fresh, error) : code;
}

static int find_in_data(struct content_edits *own, struct span value, ses_error *error)
{
    struct span fresh;
    const int code = ses__found_replace_data(own->run, value, &fresh, error);
    return code == SES_OK ? put_found(own, value, fresh, error) : code;
}

static int find_in_inline_data(struct content_edits *own, struct span object, ses_error *error)
{
    struct json_reader reader;
    struct json_string key;
    struct span value;
    int code = SES_OK;

    (void)enter_object_of(&reader, object);
    while (code == SES_OK && next_of_object(&reader, &key, &value)) {
        const bool is_base64 = ses__json_string_is(key, "data") && value.ptr[0] == '"';
        code = is_base64 ? find_in_data(own, value, error) : find_in_value(own, value, error);
    }
    return code;
}

static int find_in_parts(struct content_edits *own, struct span parts, ses_error *error);

/* The members of a call or a response. A response may have parts with inline data, and those have none themselves. */
static int find_in_function(struct content_edits *own, struct span object, ses_error *error)
{
    struct json_reader reader;
    struct json_string key;
    struct span value;
    int code = SES_OK;

    (void)enter_object_of(&reader, object);
    while (code == SES_OK && next_of_object(&reader, &key, &value)) {
        if (is_function_name(key, value))
            continue;
        if (ses__json_string_is(key, "parts") && value.ptr[0] == '[' && !own->in_response) {
            own->in_response = true;
            code = find_in_parts(own, value, error);
            own->in_response = false;
        } else {
            code = find_in_value(own, value, error);
        }
    }
    return code;
}

static int find_in_part(struct content_edits *own, struct span part, ses_error *error)
{
    struct json_reader reader;
    struct json_string key;
    struct span value;
    int code = SES_OK;

    if (!enter_object_of(&reader, part))
        return find_in_value(own, part, error);
    while (code == SES_OK && next_of_object(&reader, &key, &value)) {
        const bool is_object = value.ptr[0] == '{';
        if (is_object && ses__key_is(key, "inlineData", "inline_data"))
            code = find_in_inline_data(own, value, error);
        else if (is_object && (is_call_key(key) || is_response_key(key)))
            code = find_in_function(own, value, error);
        else
            code = find_in_value(own, value, error);
    }
    return code;
}

static int find_in_parts(struct content_edits *own, struct span parts, ses_error *error)
{
    struct json_reader reader;
    struct span part;
    int code = SES_OK;

    ses__json_start(&reader, parts.ptr, parts.len);
    (void)ses__json_enter(&reader);
    while (code == SES_OK && ses__json_element(&reader) && ses__json_skip(&reader, &part))
        code = find_in_part(own, ses__json_trim(part), error);
    return code;
}

static int find_in_content(struct content_edits *own, struct json_reader *reader, ses_error *error)
{
    struct json_string key;
    struct span value;
    int code = SES_OK;

    while (code == SES_OK && next_of_object(reader, &key, &value)) {
        if (ses__json_string_is(key, "parts") && value.ptr[0] == '[')
            code = find_in_parts(own, value, error);
        else if (!ses__json_string_is(key, "role"))
            code = find_in_value(own, value, error);
    }
    return code;
}

int ses__content_replace_found(struct redacting *run, struct span content, struct span *after,
                               ses_error *error)
{
    struct content_edits own = {.run = run, .content = content};
    struct json_reader reader;

    *after = content;
    if (!enter_object_of(&reader, content))
        return ses__found_replace(run, content, after, error);
    int code = find_in_content(&own, &reader, error);
    if (code == SES_OK && own.edits.count > 0) {
        after->ptr = ses__edits_apply(&own.edits, &run->arena, content, &after->len);
        code = after->ptr ? SES_OK : ses__error_nomem(error);
    }
    ses__edits_free(&own.edits, run->asked->allocator);
    return code;
}
