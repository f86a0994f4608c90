/* Reads the state of a handle. */
#include <string.h>

#include "base/error.h"
#include "session/session.h"
#include "model/state/state.h"

int ses_state_json(const ses_session *session, const char **json, size_t *len, ses_error *error)
{
    struct span all;
    int code = ses__check_output(json, "json", error);

    if (code == SES_OK)
        code = ses__session_check(session, error);
    if (code == SES_OK)
        code = ses__state_to_json(&session->snapshot.state, &all, error);
    if (code == SES_OK) {
        *json = all.ptr;
        if (len)
            *len = all.len;
    }
    return code;
}

size_t ses_state_count(const ses_session *session)
{
    return ses__state_count(&session->snapshot.state);
}

/* Finds the entry of that name, or returns SES_ABSENT. */
static int find_entry(const ses_session *session, const char *name, const void *output,
                      struct state_entry **entry, ses_error *error)
{
    int code = ses__session_check(session, error);

    if (code == SES_OK)
        code = ses__check_argument(name, "name", error);
    if (code == SES_OK)
        code = ses__check_argument(output, "output", error);
    if (code == SES_OK) {
        *entry = ses__state_find(&session->snapshot.state, (struct span){name, strlen(name)});
        code = *entry ? ses__state_entry_check(*entry, error) : SES_ABSENT;
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
        struct span value = entry ? ses__state_entry_value(entry) : (struct span){NULL, 0};
        *json = value.ptr;
        if (len)
            *len = value.len;
    }
    return code;
}

int ses_state_get_string(const ses_session *session, const char *name, const char **text, size_t *len,
                         ses_error *error)
{
    struct state_entry *entry = NULL;

    if (text)
        *text = NULL;
    int code = find_entry(session, name, text, &entry, error);

    if (code == SES_OK)
        code = ses__state_entry_text(&session->snapshot.state, entry, error);
    if (code >= 0) {
        *text = entry ? entry->text : NULL;
        if (len)
            *len = entry ? entry->text_len : 0;
    }
    return code;
}

int ses_state_get_int64(const ses_session *session, const char *name, int64_t *value, ses_error *error)
{
    struct state_entry *entry = NULL;
    int code = find_entry(session, name, value, &entry, error);
    return code == SES_OK ? ses__typed_int64(ses__state_entry_value(entry), name, value, error) : code;
}

int ses_state_get_double(const ses_session *session, const char *name, double *value, ses_error *error)
{
    struct state_entry *entry = NULL;
    int code = find_entry(session, name, value, &entry, error);
    return code == SES_OK ? ses__typed_double(ses__state_entry_value(entry), name, value, error) : code;
}

int ses_state_get_bool(const ses_session *session, const char *name, int *value, ses_error *error)
{
    struct state_entry *entry = NULL;
    int code = find_entry(session, name, value, &entry, error);
    return code == SES_OK ? ses__typed_bool(ses__state_entry_value(entry), name, value, error) : code;
}

int ses_state_at(const ses_session *session, size_t index, const char **name, const char **json, size_t *len,
                 ses_error *error)
{
    int code = ses__session_check(session, error);

    if (name)
        *name = NULL;
    if (json)
        *json = NULL;
    if (code != SES_OK)
        return code;
    const struct state *state = &session->snapshot.state;
    if (index >= ses__state_count(state))
        return ses__error_set(error, SES_NOTFOUND, "the state has %zu keys", ses__state_count(state));
    struct state_entry *const *sorted = ses__state_sorted(state);
    code = sorted ? ses__state_entry_check(sorted[index], error) : ses__error_nomem(error);
    if (code != SES_OK)
        return code;
    const struct span value = ses__state_entry_value(sorted[index]);
    if (name)
        *name = ses__state_entry_span(sorted[index]).ptr;
    if (json)
        *json = value.ptr;
    if (len)
        *len = value.len;
    return SES_OK;
}
