/* Redacts the fields of an event, each as the table of the ADK's fields says. */
#include "erase/erase.h"

#include "base/error.h"
#include "model/adk/fields.h"

/* The fate of a value. One that is gone is not built, and its object or list goes without it. */
enum fate { FATE_SAME, FATE_NEW, FATE_GONE };

static enum fate put_value(struct redacting *run, struct span value, struct span fresh)
{
    ses__buffer_add(&run->built, fresh.ptr, fresh.len);
    return fresh.ptr == value.ptr || ses__span_is(fresh, value) ? FATE_SAME : FATE_NEW;
}

/* An object or a list. */
static bool is_empty_value(struct span value)
{
    size_t at = 1;

    while (at < value.len && ses__json_is_space(value.ptr[at]))
        at++;
    return at + 1 == value.len;
}

static enum fate put_empty(struct redacting *run, struct span value)
{
    const struct span empty = {value.ptr[0] == '[' ? "[]" : "{}", 2};
    return put_value(run, value, is_empty_value(value) ? value : empty);
}

/* ----------------------------------------------------------------------------------------- plain values */

/* A value of a redaction as a whole. */
static enum fate erase_value(struct redacting *run, const struct adk_field *field, struct span value)
{
    const enum json_type type = ses__json_type_of(value);

    if (field->erasure == ADK_ARGUMENTS)
        return put_value(run, value,
                         type == JSON_OBJECT && is_empty_value(value) ? value : run->asked->object);
    if (field->erasure == ADK_DROP)
        return FATE_GONE;
    if (field->kind == ADK_JSON || field->erasure == ADK_ARTIFACTS) /* it belongs to the user */
        return type == JSON_STRING                         ? put_value(run, value, run->asked->text)
               : type == JSON_NUMBER                       ? put_value(run, value, (struct span){"null", 4})
               : type == JSON_OBJECT || type == JSON_ARRAY ? put_empty(run, value)
                                                           : put_value(run, value, value);
    if (field->kind == ADK_TEXT && field->form == ADK_ONE && type == JSON_STRING)
        return put_value(run, value, value.len == 2 ? value : run->asked->text);
    return FATE_GONE;
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

static int find_in_name(struct redacting *run, struct json_string name, bool *found, ses_error *error)
{
    run->plain.len = 0;
    ses__json_add_replaced(&run->plain, name);
    if (run->plain.failed)
        return ses__error_nomem(error);
    return ses__found_in(run, (struct span){run->plain.data, run->plain.len}, found, error);
}

/* The names of a map are those of artifacts, and ids of calls, which stay. */
static int find_in_names(struct redacted_body *body, struct span map, ses_error *error)
{
    struct json_reader reader;
    struct json_string name;
    struct span value;
    bool found = false;
    int code = SES_OK;

    ses__json_start(&reader, map.ptr, map.len);
    bool goes_on = ses__json_enter(&reader);
    while (code == SES_OK && !found && goes_on) {
        goes_on = ses__json_member(&reader, &name) && ses__json_skip(&reader, &value);
        if (goes_on)
            code = find_in_name(body->run, name, &found, error);
    }
    body->found_kept |= found;
    return code;
}

static int redact_value(struct redacted_body *body, const struct adk_field *field, struct span value,
                        enum fate *fate, ses_error *error)
{
    struct redacting *run = body->run;
    const enum json_type type = ses__json_type_of(value);
    const bool keeps = field && is_kept(field, type);
    const bool looks = !body->copies && run->asked->find != NULL;
    bool any = false;
    int code = SES_OK;

    if (looks && keeps && field->kind == ADK_TEXT) { /* a name or an id, or a list of these, which stays */
        const size_t start = run->built.len;
        code = ses__found_add(run, value, (struct span){NULL, 0}, &any, error);
        ses__buffer_take_back(&run->built, start);
        body->found_kept |= any;
    }
    if (body->copies || type == JSON_NULL || type == JSON_BOOL || keeps)
        *fate = put_value(run, value, value);
    else if (looks)
        return find_in_value(run, field, value, fate, error);
    else
        *fate = field ? erase_value(run, field, value) : FATE_GONE;
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

/* An object, a map or a list whose values are redacted one by one. */
struct redacted_whole {
    const struct adk_field *field;
    enum adk_form form; /* ADK_ONE: an object */
    const char *gap;    /* between the values, with what precedes the next */
    bool first;         /* no value was built yet */
    bool says;          /* a value says something: it is no flag, and not null */
    bool lacks;         /* a value is gone without which the whole cannot be */
    bool is_named;      /* something was found in the name of the next value, a field that is not known */
    enum fate fate;
};

/* An object that is gone from a list leaves the others there. A plain value that is gone takes the list
 * along, since other lists may belong to it value by value. */
static int redact_inner(struct redacted_body *body, struct redacted_whole *whole,
                        const struct adk_field *field, struct span value, ses_error *error)
{
    struct redacting *run = body->run;
    const size_t start = run->built.len;
    const char *const gap = ses__after_comma(whole->gap);
    const enum json_type type = ses__json_type_of(value);
    enum fate fate = FATE_SAME;

    ses__buffer_add(&run->built, ",", whole->first ? 0 : 1);
    ses__buffer_add(&run->built, gap, (size_t)(value.ptr - gap));
    const enum adk_form form = whole->form == ADK_ONE && field ? field->form : ADK_ONE;
    const int code = whole->is_named ? SES_OK : redact_field(body, field, form, value, &fate, error);
    if (whole->is_named)
        fate = FATE_GONE;
    whole->gap = value.ptr + value.len;
    if (fate != FATE_SAME)
        whole->fate = FATE_NEW;
    if (fate == FATE_GONE && whole->form == ADK_LIST && field->erasure == ADK_PARTS) {
        ses__buffer_add(&run->built, "{", 1);
        add_text_of_part(run, true);
        ses__buffer_add(&run->built, "}", 1);
    } else if (fate == FATE_GONE) {
        ses__buffer_take_back(&run->built, start);
        whole->lacks |= whole->form == ADK_LIST  ? field->kind != ADK_OBJECT
                        : whole->form == ADK_ONE ? field && field->flags & ADK_REQUIRED
                                                 : false;
        return code;
    }
    whole->first = false;
    whole->says |= type != JSON_NULL && type != JSON_BOOL;
    return code;
}

static int redact_whole(struct redacted_body *body, const struct adk_field *field, enum adk_form form,
                        struct span text, enum fate *fate, ses_error *error)
{
    struct redacting *run = body->run;
    const size_t start = run->built.len;
    struct redacted_whole whole = {
        .field = field, .form = form, .gap = text.ptr + 1, .first = true, .fate = FATE_SAME};
    const bool is_list = form == ADK_LIST;
    struct json_reader reader;
    struct json_string key;
    struct span value;
    int code = form == ADK_MAP && !body->copies ? find_in_names(body, text, error) : SES_OK;

    ses__json_start(&reader, text.ptr, text.len);
    bool goes_on = ses__json_enter(&reader);
    ses__buffer_add(&run->built, text.ptr, 1);
    while (code == SES_OK && goes_on) {
        goes_on = (is_list ? ses__json_element(&reader) : ses__json_member(&reader, &key)) &&
                  ses__json_skip(&reader, &value);
        if (!goes_on)
            break;
        const struct adk_field *inner = form == ADK_ONE ? ses__adk_field_of(field->model, key) : field;
        if (form == ADK_ONE && !inner && !body->copies)
            code = find_in_name(run, key, &whole.is_named, error);
        if (code == SES_OK)
            code = redact_inner(body, &whole, inner, ses__json_trim(value), error);
        whole.is_named = false;
        goes_on = !(is_list && whole.lacks);
    }
    if (code == SES_OK && reader.wrong)
        code =
            ses__error_set(error, SES_CORRUPT, "the stored event %lld of session number %lld cannot be read",
                           (long long)body->event->seq, (long long)run->row.id);
    if (field->erasure == ADK_PARTS && !is_list && whole.fate == FATE_NEW && !whole.says)
        add_text_of_part(run, whole.first);
    ses__buffer_add(&run->built, whole.gap, (size_t)(text.ptr + text.len - whole.gap));
    *fate = whole.lacks ? FATE_GONE : whole.fate;
    if (whole.lacks)
        ses__buffer_take_back(&run->built, start);
    return code;
}

/* *fate is FATE_SAME. */
static int redact_field(struct redacted_body *body, const struct adk_field *field, enum adk_form form,
                        struct span value, enum fate *fate, ses_error *error)
{
    struct redacting *run = body->run;
    const bool is_object = value.ptr[0] == '{';
    struct span fresh = value;
    int code = SES_OK;

    if (!field || field->erasure == ADK_KEEP)
        return redact_value(body, field, value, fate, error);
    if (field->erasure == ADK_STATE || (field->erasure == ADK_ARTIFACTS && body->copies)) {
        code = field->erasure == ADK_ARTIFACTS ? ses__versions_leave_out(run, value, &fresh, error)
               : body->copies ? ses__delta_redact_copies(run, value, body->event->seq, &fresh, error)
                              : ses__delta_redact(run, value, body->event->seq, &fresh, error);
        if (code == SES_OK)
            *fate = put_value(run, value, fresh);
        return code;
    }
    if (field->erasure == ADK_ARTIFACTS && is_object) {
        if (!is_empty_value(value))
            body->named = value;
        *fate = run->asked->find ? put_value(run, value, value) : put_empty(run, value);
        return find_in_names(body, value, error);
    }
    body->has_content |= field->erasure == ADK_CONTENT;
    if (field->erasure == ADK_CONTENT && run->asked->content.ptr && !body->copies) {
        *fate = put_value(run, value, run->asked->content);
        return SES_OK;
    }
    const bool is_whole =
        form == ADK_LIST ? value.ptr[0] == '[' : is_object && (form == ADK_MAP || field->kind == ADK_OBJECT);
    if (!is_whole || (body->copies && field->erasure != ADK_WALK))
        return redact_value(body, field, value, fate, error);
    if (run->asked->find || field->erasure == ADK_WALK || field->erasure == ADK_CONTENT ||
        field->erasure == ADK_PARTS)
        return redact_whole(body, field, form, value, fate, error);
    const bool goes = field->erasure == ADK_DROP || (form == ADK_ONE && ses__adk_has_required(field->model));
    *fate = goes ? FATE_GONE : put_empty(run, value);
    return SES_OK;
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
