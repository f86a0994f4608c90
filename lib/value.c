/* Looking at the state of a handle. */
#include <string.h>

#include "error.h"
#include "session.h"
#include "typed.h"

int ses_state_json(const ses_session *session, const char **json, size_t *len, ses_error *error)
{
    struct span all;
    int code = session_check(session, error);

    if (json)
        *json = NULL;
    if (code == SES_OK)
        code = check_argument(json, "json", error);
    if (code == SES_OK)
        code = state_to_json(&session->state, &all, error);
    if (code == SES_OK) {
        *json = all.ptr;
        if (len)
            *len = all.len;
    }
    return code;
}

size_t ses_state_count(const ses_session *session)
{
    return state_count(&session->state);
}

/* The entry of that name, or SES_ABSENT. */
static int find_entry(const ses_session *session, const char *name, const void *output,
                      struct state_entry **entry, ses_error *error)
{
    int code = session_check(session, error);

    if (code == SES_OK)
        code = check_argument(name, "name", error);
    if (code == SES_OK)
        code = check_argument(output, "output", error);
    if (code == SES_OK) {
        *entry = state_find(&session->state, (struct span){name, strlen(name)});
        code = *entry ? state_entry_check(*entry, error) : SES_ABSENT;
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

    if (code >= 0) {
        struct span value = entry ? state_entry_value(entry) : (struct span){NULL, 0};
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
    int code = find_entry(session, name, text, &entry, error);

    if (code == SES_OK)
        code = state_entry_text(&session->state, entry, error);
    if (code >= 0) {
        *text = entry ? entry->text : NULL;
        if (len)
            *len = entry ? entry->text_len : 0;
    }
    return code;
}

int ses_state_int64(const ses_session *session, const char *name, int64_t *value, ses_error *error)
{
    struct state_entry *entry = NULL;
    int code = find_entry(session, name, value, &entry, error);
    return code == SES_OK ? typed_int64(state_entry_value(entry), name, value, error) : code;
}

int ses_state_double(const ses_session *session, const char *name, double *value, ses_error *error)
{
    struct state_entry *entry = NULL;
    int code = find_entry(session, name, value, &entry, error);
    return code == SES_OK ? typed_double(state_entry_value(entry), name, value, error) : code;
}

int ses_state_bool(const ses_session *session, const char *name, int *value, ses_error *error)
{
    struct state_entry *entry = NULL;
    int code = find_entry(session, name, value, &entry, error);
    return code == SES_OK ? typed_bool(state_entry_value(entry), name, value, error) : code;
}

int ses_state_at(const ses_session *session, size_t index, const char **name, const char **json, size_t *len,
                 ses_error *error)
{
    int code = session_check(session, error);

    if (name)
        *name = NULL;
    if (json)
        *json = NULL;
    if (code == SES_OK && index >= state_count(&session->state)) {
        code = error_set(error, SES_NOTFOUND, "the state has %zu keys", state_count(&session->state));
    } else if (code == SES_OK) {
        struct state_entry *const *sorted = state_sorted(&session->state);
        code = sorted ? state_entry_check(sorted[index], error) : error_nomem(error);
        if (code == SES_OK) {
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
