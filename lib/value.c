/* Looking at the state of a handle. */
#include <string.h>

#include "decimal.h"
#include "error.h"
#include "json.h"
#include "session.h"

const char *ses_state_json(const ses_session *session, size_t *len)
{
    return state_to_json(&session->state, len);
}

size_t ses_state_count(const ses_session *session)
{
    return state_count(&session->state);
}

/* The entry of that name. */
static int find_entry(const ses_session *session, const char *name, const void *output,
                      struct state_entry **entry, ses_error *error)
{
    int code = check_argument(session, "session", error);

    if (code == SES_OK)
        code = check_argument(name, "name", error);
    if (code == SES_OK)
        code = check_argument(output, "output", error);
    if (code == SES_OK) {
        error_clear(error);
        *entry = state_find(&session->state, (struct span){name, strlen(name)});
        if (!*entry)
            code = error_set(error, SES_NOTFOUND, "there is no state key \"%.200s\"", name);
    }
    return code;
}

static int find_typed(const ses_session *session, const char *name, const void *output, enum json_type type,
                      struct state_entry **entry, ses_error *error)
{
    static const char *const names[] = {
        [JSON_NONE] = "not JSON",    [JSON_NULL] = "null",       [JSON_BOOL] = "true or false",
        [JSON_NUMBER] = "a number",  [JSON_STRING] = "a string", [JSON_ARRAY] = "an array",
        [JSON_OBJECT] = "an object",
    };
    int code = find_entry(session, name, output, entry, error);

    if (code == SES_OK) {
        enum json_type is = json_type_of(state_entry_value(*entry));
        if (is != type)
            code = error_set(error, SES_TYPE, "the value of \"%.200s\" is %s, not %s", name, names[is],
                             names[type]);
    }
    return code;
}

int ses_state_get(const ses_session *session, const char *name, const char **json, size_t *len,
                  ses_error *error)
{
    struct state_entry *entry = NULL;

    if (json)
        *json = NULL;
    int code = find_entry(session, name, json, &entry, error);

    if (code == SES_OK) {
        struct span value = state_entry_value(entry);
        *json = value.ptr;
        if (len)
            *len = value.len;
    }
    return code;
}

int ses_state_string(const ses_session *session, const char *name, const char **text, size_t *len,
                     ses_error *error)
{
    struct state_entry *entry = NULL;

    if (text)
        *text = NULL;
    int code = find_typed(session, name, text, JSON_STRING, &entry, error);

    if (code == SES_OK)
        code = state_entry_text(&session->state, entry, error);
    if (code == SES_OK) {
        *text = entry->text;
        if (len)
            *len = entry->text_len;
    }
    return code;
}

int ses_state_int64(const ses_session *session, const char *name, int64_t *value, ses_error *error)
{
    struct state_entry *entry = NULL;
    int code = find_typed(session, name, value, JSON_NUMBER, &entry, error);

    if (code == SES_OK) {
        int64_t exact = 0;
        switch (decimal_round(state_entry_value(entry), 0, &exact)) {
        case DECIMAL_EXACT:
            *value = exact;
            break;
        case DECIMAL_INEXACT:
            code = error_set(error, SES_TYPE, "the value of \"%.200s\" is not an integer", name);
            break;
        case DECIMAL_TOO_LARGE:
            code = error_set(error, SES_RANGE, "the value of \"%.200s\" does not fit into 64 bits", name);
            break;
        }
    }
    return code;
}

int ses_state_double(const ses_session *session, const char *name, double *value, ses_error *error)
{
    struct state_entry *entry = NULL;
    int code = find_typed(session, name, value, JSON_NUMBER, &entry, error);

    if (code == SES_OK) {
        bool nomem = false;
        bool finite = decimal_to_double(state_entry_value(entry), value, &nomem);
        if (nomem)
            code = error_nomem(error);
        else if (!finite)
            code = error_set(error, SES_RANGE, "the value of \"%.200s\" is larger than any double", name);
    }
    return code;
}

int ses_state_bool(const ses_session *session, const char *name, int *value, ses_error *error)
{
    struct state_entry *entry = NULL;
    int code = find_typed(session, name, value, JSON_BOOL, &entry, error);

    if (code == SES_OK)
        *value = state_entry_value(entry).ptr[0] == 't';
    return code;
}

int ses_state_at(const ses_session *session, size_t index, const char **name, const char **json, size_t *len,
                 ses_error *error)
{
    int code = check_argument(session, "session", error);

    if (name)
        *name = NULL;
    if (json)
        *json = NULL;
    if (code == SES_OK)
        error_clear(error);
    if (code == SES_OK && index >= state_count(&session->state)) {
        code = error_set(error, SES_NOTFOUND, "the state has %zu keys", state_count(&session->state));
    } else if (code == SES_OK) {
        struct state_entry *const *sorted = state_sorted(&session->state);
        if (!sorted) {
            code = error_nomem(error);
        } else {
            struct span value = state_entry_value(sorted[index]);
            if (name)
                *name = state_entry_name(sorted[index]);
            if (json)
                *json = value.ptr;
            if (len)
                *len = value.len;
        }
    }
    return code;
}
