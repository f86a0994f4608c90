/* Redacts the fields of an event, each as the table of the ADK's fields says. */
#include "erase/erase.h"

#include "base/error.h"
#include "model/adk/fields.h"

/* The fate of a value. One that is gone is not built, and its object or list goes without it. */
enum fate { FATE_SAME, FATE_NEW, FATE_GONE };

static void put_value(struct redacting *run, struct span value, struct span fresh, enum fate *fate)
{
    ses__buffer_add(&run->built, fresh.ptr, fresh.len);
    *fate = fresh.ptr == value.ptr || ses__span_is(fresh, value) ? FATE_SAME : FATE_NEW;
}

static bool is_empty_value(struct span value)
{
    size_t at = 1;

    while (at < value.len && ses__json_is_space(value.ptr[at]))
        at++;
    return at + 1 == value.len;
}

/* ----------------------------------------------------------------------------------------- plain values */

/* A value that belongs to the user. */
static void erase_free_value(struct redacting *run, struct span value, enum fate *fate)
{
    switch (ses__json_type_of(value)) {
    case JSON_STRING:
        put_value(run, value, run->asked->text, fate);
        return;
    case JSON_NUMBER:
        put_value(run, value, (struct span){"null", 4}, fate);
        return;
    case JSON_OBJECT:
        put_value(run, value, is_empty_value(value) ? value : (struct span){"{}", 2}, fate);
        return;
    case JSON_ARRAY:
        put_value(run, value, is_empty_value(value) ? value : (struct span){"[]", 2}, fate);
        return;
    default:
        put_value(run, value, value, fate);
    }
}

/* A value of a redaction as a whole. */
static void erase_value(struct redacting *run, const struct adk_field *field, struct span value,
                        enum fate *fate)
{
    const bool is_text = field->kind == ADK_TEXT && field->form == ADK_ONE && value.ptr[0] == '"';

    if (field->erasure == ADK_ARGUMENTS)
        put_value(run, value, value.ptr[0] == '{' && is_empty_value(value) ? value : run->asked->object,
                  fate);
    else if (field->erasure == ADK_DROP)
        *fate = FATE_GONE;
    else if (field->kind == ADK_JSON || field->erasure == ADK_ARTIFACTS)
        erase_free_value(run, value, fate);
    else if (is_text)
        put_value(run, value, value.len == 2 ? value : run->asked->text, fate);
    else
        *fate = FATE_GONE;
}

/* A value in which pieces are looked for. If its class allows no text in place of them, all of it is gone. */
static int find_in_value(struct redacting *run, const struct adk_field *field, struct span value,
                         enum fate *fate, ses_error *error)
{
    const size_t start = run->built.len;
    const bool is_data = field && field->kind == ADK_BYTES && value.ptr[0] == '"';
    const bool takes_text =
        !field || field->kind == ADK_TEXT || field->kind == ADK_JSON || field->erasure == ADK_ARTIFACTS;
    bool any = false;
    int code = is_data ? ses__found_add_data(run, value, &any, error)
                       : ses__found_add(run, value, field ? (struct span){NULL, 0} : (struct span){"null", 4},
                                        &any, error);

    *fate = !any ? FATE_SAME : takes_text || is_data ? FATE_NEW : FATE_GONE;
    if (any && is_data && field->erasure == ADK_DROP)
        *fate = FATE_GONE;
    if (*fate == FATE_GONE)
        ses__buffer_take_back(&run->built, start);
    return code;
}

/* Fields that are kept are plain values, but for those that the class says are not. */
static bool is_kept(const struct adk_field *field, enum json_type type)
{
    if (field->erasure != ADK_KEEP)
        return false;
    return type == JSON_OBJECT  ? field->kind == ADK_OBJECT
           : type == JSON_ARRAY ? field->form == ADK_LIST
                                : true;
}

/* A name or an id, or a list of these, which stays. */
static int find_in_kept(struct redacted_body *body, struct span value, ses_error *error)
{
    struct redacting *run = body->run;
    const size_t start = run->built.len;
    bool any = false;
    const int code = ses__found_add(run, value, (struct span){NULL, 0}, &any, error);

    ses__buffer_take_back(&run->built, start);
    ses__buffer_add(&run->built, value.ptr, value.len);
    body->found_kept |= any;
    return code;
}

static int redact_value(struct redacted_body *body, const struct adk_field *field, struct span value,
                        enum fate *fate, ses_error *error)
{
    struct redacting *run = body->run;
    const enum json_type type = ses__json_type_of(value);

    if (!body->copies && run->asked->find && field && field->kind == ADK_TEXT && is_kept(field, type))
        return find_in_kept(body, value, error);
    if (body->copies || type == JSON_NULL || type == JSON_BOOL || (field && is_kept(field, type)))
        put_value(run, value, value, fate);
    else if (run->asked->find)
        return find_in_value(run, field, value, fate, error);
    else if (field)
        erase_value(run, field, value, fate);
    else
        *fate = FATE_GONE;
    return SES_OK;
}

/* --------------------------------------------------------------------------------------- special values */

typedef int value_redactor(struct redacting *run, struct span value, struct span *after, ses_error *error);

static int redact_state(struct redacted_body *body, struct span value, enum fate *fate, ses_error *error)
{
    struct span fresh;
    const int code = body->copies
                         ? ses__delta_redact_copies(body->run, value, body->event->seq, &fresh, error)
                         : ses__delta_redact(body->run, value, body->event->seq, &fresh, error);
    if (code == SES_OK)
        put_value(body->run, value, fresh, fate);
    return code;
}

static int redact_artifacts(struct redacted_body *body, const struct adk_field *field, struct span value,
                            enum fate *fate, ses_error *error)
{
    struct span fresh = value;
    int code = SES_OK;

    if (!body->copies && ses__json_type_of(value) != JSON_OBJECT)
        return redact_value(body, field, value, fate, error);
    if (body->copies)
        code = ses__versions_leave_out(body->run, value, &fresh, error);
    else if (!is_empty_value(value))
        body->named = value;
    if (!body->copies && !body->run->asked->find && !is_empty_value(value))
        fresh = (struct span){"{}", 2};
    if (code == SES_OK)
        put_value(body->run, value, fresh, fate);
    return code;
}

/* --------------------------------------------------------------------------------------------- classes */

static int redact_field(struct redacted_body *body, const struct adk_field *field, enum adk_form form,
                        struct span value, enum fate *fate, ses_error *error);

static void add_text_of_part(struct redacting *run, bool first)
{
    static const char name[] = "\"text\":";

    ses__buffer_add(&run->built, ",", first ? 0 : 1);
    ses__buffer_add(&run->built, name, sizeof name - 1);
    ses__buffer_add(&run->built, run->asked->text.ptr, run->asked->text.len);
}

/* An object whose members are redacted one by one. */
struct redacted_object {
    const struct adk_field *field; /* that holds it */
    bool is_map;
    const char *gap; /* between the members, with what precedes the value */
    bool first;      /* no member was built yet */
    bool says;       /* a member says something: it is no flag, and not null */
    bool lacks;      /* a member is gone that the class requires */
    enum fate fate;
};

static int redact_member(struct redacted_body *body, struct redacted_object *object, struct json_string key,
                         struct span value, ses_error *error)
{
    struct buffer *built = &body->run->built;
    const size_t start = built->len;
    const struct adk_field *field =
        object->is_map ? object->field : ses__adk_field_of(object->field->model, key);
    const enum json_type type = ses__json_type_of(value);
    enum fate fate = FATE_SAME;

    ses__buffer_add(built, ",", object->first ? 0 : 1);
    ses__buffer_add(built, object->gap, (size_t)(value.ptr - object->gap));
    const int code =
        redact_field(body, field, object->is_map || !field ? ADK_ONE : field->form, value, &fate, error);
    object->gap = value.ptr + value.len;
    if (fate != FATE_SAME)
        object->fate = FATE_NEW;
    if (fate == FATE_GONE) {
        ses__buffer_take_back(built, start);
        object->lacks |= !object->is_map && field && field->flags & ADK_REQUIRED;
    } else {
        object->first = false;
        object->says |= type != JSON_NULL && type != JSON_BOOL;
    }
    return code;
}

static int refuse_unreadable_event(const struct redacted_body *body, ses_error *error)
{
    return ses__error_set(error, SES_CORRUPT, "the stored event %lld of session number %lld cannot be read",
                          (long long)body->event->seq, (long long)body->run->row.id);
}

static int redact_object_members(struct redacted_body *body, struct redacted_object *object, struct span text,
                                 ses_error *error)
{
    struct json_reader reader;
    struct json_string key;
    struct span value;
    int code = SES_OK;

    ses__json_start(&reader, text.ptr, text.len);
    if (!ses__json_enter(&reader))
        return refuse_unreadable_event(body, error);
    object->gap = text.ptr + 1;
    while (code == SES_OK && ses__json_member(&reader, &key) && ses__json_skip(&reader, &value)) {
        object->gap = ses__after_comma(object->gap);
        code = redact_member(body, object, key, ses__json_trim(value), error);
    }
    return code == SES_OK && reader.wrong ? refuse_unreadable_event(body, error) : code;
}

static int redact_object(struct redacted_body *body, const struct adk_field *field, enum adk_form form,
                         struct span value, enum fate *fate, ses_error *error)
{
    struct redacting *run = body->run;
    const size_t start = run->built.len;
    struct redacted_object object = {
        .field = field, .is_map = form == ADK_MAP, .first = true, .fate = FATE_SAME};

    ses__buffer_add(&run->built, "{", 1);
    int code = redact_object_members(body, &object, value, error);
    if (code != SES_OK)
        return code;
    if (field->erasure == ADK_PARTS && object.fate == FATE_NEW && !object.says)
        add_text_of_part(run, object.first);
    ses__buffer_add(&run->built, object.gap, (size_t)(value.ptr + value.len - object.gap));
    *fate = object.lacks ? FATE_GONE : object.fate;
    if (object.lacks)
        ses__buffer_take_back(&run->built, start);
    return SES_OK;
}

/* A list whose values are redacted one by one. */
struct redacted_list {
    const struct adk_field *field;
    const char *gap; /* between the values */
    bool first;      /* no value was built yet */
    enum fate fate;
};

static int redact_element(struct redacted_body *body, struct redacted_list *list, struct span value,
                          ses_error *error)
{
    struct redacting *run = body->run;
    const size_t start = run->built.len;
    enum fate fate = FATE_SAME;

    ses__buffer_add(&run->built, ",", list->first ? 0 : 1);
    ses__buffer_add(&run->built, list->gap, (size_t)(value.ptr - list->gap));
    const int code = redact_field(body, list->field, ADK_ONE, value, &fate, error);
    list->gap = value.ptr + value.len;
    if (fate != FATE_SAME)
        list->fate = FATE_NEW;
    if (fate == FATE_GONE && list->field->erasure == ADK_PARTS) {
        ses__buffer_add(&run->built, "{", 1);
        add_text_of_part(run, true);
        ses__buffer_add(&run->built, "}", 1);
    } else if (fate == FATE_GONE && list->field->kind == ADK_OBJECT) {
        ses__buffer_take_back(&run->built, start);
        return code;
    } else if (fate == FATE_GONE) {
        list->fate = FATE_GONE;
    }
    list->first = false;
    return code;
}

/* An object that is gone from a list leaves the others there. A plain value that is gone takes the list
 * along, since other lists may belong to it value by value. */
static int redact_list(struct redacted_body *body, const struct adk_field *field, struct span text,
                       enum fate *fate, ses_error *error)
{
    struct buffer *built = &body->run->built;
    const size_t start = built->len;
    struct redacted_list list = {.field = field, .gap = text.ptr + 1, .first = true, .fate = FATE_SAME};
    struct json_reader reader;
    struct span value;
    int code = SES_OK;

    ses__json_start(&reader, text.ptr, text.len);
    if (!ses__json_enter(&reader))
        return refuse_unreadable_event(body, error);
    ses__buffer_add(built, "[", 1);
    while (code == SES_OK && list.fate != FATE_GONE && ses__json_element(&reader) &&
           ses__json_skip(&reader, &value)) {
        list.gap = ses__after_comma(list.gap);
        code = redact_element(body, &list, ses__json_trim(value), error);
    }
    ses__buffer_add(built, list.gap, (size_t)(text.ptr + text.len - list.gap));
    *fate = list.fate;
    if (list.fate == FATE_GONE)
        ses__buffer_take_back(built, start);
    return code;
}

/* Is the value looked into? As a whole, most objects, lists and maps become empty. */
static bool is_walked(const struct redacted_body *body, const struct adk_field *field)
{
    return body->run->asked->find || field->erasure == ADK_WALK || field->erasure == ADK_CONTENT ||
           field->erasure == ADK_PARTS;
}

/* An object, a list or a map of a redaction as a whole. */
static void empty_field(struct redacting *run, const struct adk_field *field, enum adk_form form,
                        struct span value, enum fate *fate)
{
    const char *empty = form == ADK_LIST ? "[]" : "{}";

    if (field->erasure == ADK_DROP || (form == ADK_ONE && ses__adk_has_required(field->model)))
        *fate = FATE_GONE;
    else
        put_value(run, value, is_empty_value(value) ? value : (struct span){empty, 2}, fate);
}

/* *fate is FATE_SAME. */
static int redact_field(struct redacted_body *body, const struct adk_field *field, enum adk_form form,
                        struct span value, enum fate *fate, ses_error *error)
{
    struct redacting *run = body->run;
    const enum json_type type = ses__json_type_of(value);

    if (!field || field->erasure == ADK_KEEP)
        return redact_value(body, field, value, fate, error);
    if (field->erasure == ADK_STATE)
        return redact_state(body, value, fate, error);
    if (field->erasure == ADK_ARTIFACTS)
        return redact_artifacts(body, field, value, fate, error);
    body->has_content |= field->erasure == ADK_CONTENT;
    if (field->erasure == ADK_CONTENT && run->asked->content.ptr && !body->copies) {
        put_value(run, value, run->asked->content, fate);
        return SES_OK;
    }
    const bool is_list = form == ADK_LIST && type == JSON_ARRAY;
    const bool is_object =
        type == JSON_OBJECT && (form == ADK_MAP || (form == ADK_ONE && field->kind == ADK_OBJECT));
    if ((!is_list && !is_object) || (body->copies && field->erasure != ADK_WALK))
        return redact_value(body, field, value, fate, error);
    if (!is_walked(body, field)) {
        empty_field(run, field, form, value, fate);
        return SES_OK;
    }
    return is_list ? redact_list(body, field, value, fate, error)
                   : redact_object(body, field, form, value, fate, error);
}

int ses__fields_redact(struct redacted_body *body, bool *changed, ses_error *error)
{
    const struct adk_field event = {.kind = ADK_OBJECT, .erasure = ADK_WALK, .model = ses__adk_event};
    enum fate fate = FATE_SAME;
    int code = redact_field(body, &event, ADK_ONE, ses__json_trim(body->event->body), &fate, error);

    if (code == SES_OK && body->run->built.failed)
        code = ses__error_nomem(error);
    *changed = fate == FATE_NEW;
    return code;
}
