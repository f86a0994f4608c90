/* The calls of seslite_cjson.h for sessions and events, which use only public calls. */
#include "cjson/text.h"

#include "base/argument.h"
#include "base/error.h"
#include "json/reader.h"

int ses_create_cjson(ses_store *store, const ses_key *key, const cJSON *state,
                     const ses_create_options *options, ses_session **session, ses_error *error)
{
    char *text = NULL;
    size_t len = 0;
    int code = state ? ses__cjson_write(state, &text, &len, error) : SES_OK;

    if (code == SES_OK)
        code = ses_create(store, key, text, len, options, session, error);
    else if (session)
        *session = NULL;
    cJSON_free(text);
    return code;
}

int ses_append_cjson(ses_session *session, const cJSON *event, const ses_append_options *options,
                     ses_appended *appended, ses_error *error)
{
    char *text = NULL;
    size_t len = 0;
    int code = ses__cjson_take(event, "event", &text, &len, error);

    if (code == SES_OK)
        code = ses_append(session, text, len, options, appended, error);
    cJSON_free(text);
    return code;
}

int ses_append_by_key_cjson(ses_store *store, const ses_key *key, const cJSON *event,
                            const ses_append_options *options, ses_appended *appended, ses_error *error)
{
    char *text = NULL;
    size_t len = 0;
    int code = ses__cjson_take(event, "event", &text, &len, error);

    if (code == SES_OK)
        code = ses_append_by_key(store, key, text, len, options, appended, error);
    cJSON_free(text);
    return code;
}

/* -------------------------------------------------------------------------------------------- reading */

int ses_state_get_cjson(const ses_session *session, const char *name, cJSON **value, ses_error *error)
{
    const char *json = NULL;
    size_t len = 0;
    int code = ses__check_output(value, "value", error);

    if (code == SES_OK)
        code = ses_state_get(session, name, &json, &len, error);
    return code == SES_OK ? ses__cjson_parse(json, len, value, error) : code;
}

int ses_state_cjson(const ses_session *session, cJSON **state, ses_error *error)
{
    const char *json = NULL;
    size_t len = 0;
    int code = ses__check_output(state, "state", error);

    if (code == SES_OK)
        code = ses_state_json(session, &json, &len, error);
    return code == SES_OK ? ses__cjson_parse(json, len, state, error) : code;
}

/* Checks a stored body, which another program may have written, because cJSON accepts some texts that are not
 * JSON. */
static int check_body(const ses_event *event, ses_error *error)
{
    ses_error wrong;
    int code = ses__json_check_stored(event->json, event->json_len, &wrong);
    return code == SES_OK
               ? SES_OK
               : ses__error_set(
                     error, SES_CORRUPT,
                     "the event with number %lld is not JSON (%s); another program wrote it: correct or delete it with the sqlite3 program",
                     (long long)event->seq, wrong.message);
}

int ses_event_cjson(const ses_event *event, cJSON **tree, ses_error *error)
{
    int code = ses__check_output(tree, "tree", error);

    if (code == SES_OK)
        code = ses__check_argument(event, "event", error);
    if (code == SES_OK)
        code = check_body(event, error);
    return code == SES_OK ? ses__cjson_parse(event->json, event->json_len, tree, error) : code;
}
