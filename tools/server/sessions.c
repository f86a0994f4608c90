/* Lists, creates, shows, changes and deletes sessions, with the requests and replies of google-adk. */
#include "server.h"

#include <stdlib.h>
#include <string.h>

static enum MHD_Result reply_no_session(struct request *request, const ses_error *error)
{
    return error->code == SES_NOTFOUND ? reply_detail(request, MHD_HTTP_NOT_FOUND, "Session not found")
                                       : reply_error(request, error);
}

enum MHD_Result reply_session(struct request *request, unsigned status, ses_session *session)
{
    ses_error error;
    char *json = NULL;
    size_t len = 0;
    int code = ses_session_json(session, &json, &len, &error);

    ses_session_close(session);
    if (code < 0)
        return reply_error(request, &error);
    return reply_public_session(request, status, json, len);
}

/* ------------------------------------------------------------------------------------------------ listing */

/* Writes the sessions of a page. Returns a negative code if one is damaged. */
static int put_page(FILE *out, const ses_page *page, bool is_first, ses_error *error)
{
    for (size_t i = 0; i < ses_page_count(page); i++) {
        char *json = NULL;
        size_t len = 0;
        int code = ses_session_json(ses_page_session(page, i), &json, &len, error);
        if (code < 0)
            return code;
        fputs(is_first && i == 0 ? "" : ",", out);
        fwrite(json, 1, len, out);
        ses_free(json);
    }
    return SES_OK;
}

/* google-adk has no pages: the reply has all sessions. */
static int put_all(struct request *request, FILE *out, ses_error *error)
{
    ses_list_options options = {.size = sizeof options, .limit = 500, .cancel = work_cancel(request->work)};
    ses_page *page = NULL;
    int code;

    do {
        ses_page *next = NULL;
        code = ses_list(request->server->store, request->key.app, request->key.user, &options, &next, error);
        if (code == SES_OK)
            code = put_page(out, next, !page, error);
        ses_page_close(page); /* the token was its */
        page = next;
        options.token = page ? ses_page_token(page) : NULL;
    } while (code == SES_OK && options.token);
    ses_page_close(page);
    return code;
}

static bool wants_page(struct request *request)
{
    static const char *const names[] = {"limit", "token", "label", "value"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, names[i]))
            return true;
    return false;
}

enum MHD_Result list_sessions(struct request *request)
{
    char *text = NULL;
    size_t len = 0;
    ses_error error;

    if (wants_page(request))
        return list_page(request);
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return MHD_NO;
    fputc('[', out);
    const int code = put_all(request, out, &error);
    fputc(']', out);
    if (fclose(out) == 0 && code == SES_OK)
        return reply_text(request, MHD_HTTP_OK, text, len, "application/json");
    free(text);
    return code < 0 ? reply_error(request, &error) : MHD_NO;
}

/* ----------------------------------------------------------------------------------------------- creating */

static enum MHD_Result reply_not_created(struct request *request, const ses_key *key, const ses_error *error)
{
    char message[SES_ID_MAX + 40];

    if (error->code != SES_EXISTS)
        return reply_error(request, error);
    (void)snprintf(message, sizeof message, "Session already exists: %s", key->session);
    return reply_detail(request, MHD_HTTP_CONFLICT, message);
}

/* Creates the session, and appends the events that it begins with, if any. Without them it does not exist. */
static enum MHD_Result create(struct request *request, const ses_key *key, ses_text state,
                              const struct restored *events)
{
    const ses_create_options options = {.size = sizeof options, .cancel = work_cancel(request->work)};
    ses_store *store = request->server->store;
    ses_session *session = NULL;
    ses_error error;

    if (ses_create(store, key, state.text, state.len, &options, &session, &error) < 0)
        return reply_not_created(request, key, &error);
    if (events && restored_append(events, request, session, &error) < 0) {
        const ses_key made = {key->app, key->user, ses_session_id(session)};
        (void)ses_delete(store, &made, NULL, NULL, NULL);
        ses_session_close(session);
        return reply_error(request, &error);
    }
    return reply_session(request, MHD_HTTP_OK, session);
}

/* An id that is blank is made, as by google-adk. */
static bool is_blank(const char *id)
{
    return id[strspn(id, " \t\r\n")] == '\0';
}

enum MHD_Result create_session(struct request *request)
{
    struct field fields[] = {{.name = "sessionId", .snake = "session_id", .kind = FIELD_STRING},
                             {.name = "state", .kind = FIELD_DICT},
                             {.name = "events", .kind = FIELD_LIST},
                             {.name = "options", .kind = FIELD_DICT}};
    struct restored *events = NULL;
    ses_key key = request->key;
    enum MHD_Result result = MHD_NO;

    if (!body_read(request, fields, 4, true, &result))
        return result;
    if (fields[3].value.text && fields[3].value.len > 2)
        return reply_detail(request, MHD_HTTP_BAD_REQUEST,
                            "Session options are not supported by the configured session service.");
    if (fields[2].value.text && !(events = restored_read(request, fields[2].value, &result)))
        return result;
    char *id = json_string(fields[0].value);
    if (fields[0].value.text && !id)
        result =
            reply_detail(request, MHD_HTTP_BAD_REQUEST, "an id cannot contain a NUL or half a character");
    else {
        key.session = id && !is_blank(id) ? id : NULL;
        result = create(request, &key, fields[1].value, events);
    }
    free(id);
    restored_free(events);
    return result;
}

enum MHD_Result create_named_session(struct request *request)
{
    enum MHD_Result result = MHD_NO;
    ses_text state;

    return body_read_dict(request, &state, &result) ? create(request, &request->key, state, NULL) : result;
}

/* -------------------------------------------------------------------------------------- showing, changing */

static int get(struct request *request, ses_session **session, ses_error *error)
{
    const ses_get_options options = {.size = sizeof options, .cancel = work_cancel(request->work)};

    return ses_get(request->server->store, &request->key, &options, session, error);
}

enum MHD_Result show_session(struct request *request)
{
    ses_session *session = NULL;
    ses_error error;

    if (get(request, &session, &error) < 0)
        return reply_no_session(request, &error);
    return reply_session(request, MHD_HTTP_OK, session);
}

/* Appends an event that only changes state. The handle may be outdated: the change does not depend on what it
 * shows. */
static int append_change(struct request *request, ses_session *session, ses_text delta, ses_error *error)
{
    const ses_append_options options = {.size = sizeof options, .cancel = work_cancel(request->work)};
    const ses_call_options call = {.size = sizeof call, .cancel = options.cancel};
    ses_store *store = request->server->store;
    char invocation[44] = "p-";
    ses_builder *builder = NULL;
    int code = ses_store_make_id(store, invocation + 2, sizeof invocation - 2, error);

    if (code == SES_OK)
        code = event_open(store, "user", invocation, &builder, error);
    if (code == SES_OK)
        code = ses_builder_delta(builder, delta.text, delta.len, error);
    if (code == SES_OK)
        code = ses_builder_append(builder, session, &options, NULL, error);
    while (code == SES_STALE) {
        code = ses_refresh(session, &call, error);
        if (code >= 0)
            code = ses_builder_append(builder, session, &options, NULL, error);
    }
    ses_builder_close(builder);
    return code;
}

enum MHD_Result change_session(struct request *request)
{
    struct field delta = {
        .name = "stateDelta", .snake = "state_delta", .kind = FIELD_DICT, .is_required = true};
    enum MHD_Result result = MHD_NO;
    ses_session *session = NULL;
    ses_error error;

    if (!body_read(request, &delta, 1, false, &result))
        return result;
    if (get(request, &session, &error) < 0)
        return reply_no_session(request, &error);
    if (append_change(request, session, delta.value, &error) < 0) {
        ses_session_close(session);
        return reply_no_session(request, &error);
    }
    return reply_session(request, MHD_HTTP_OK, session);
}

/* ----------------------------------------------------------------------------------------------- deleting */

/* That there is no such session is not an error to google-adk. */
enum MHD_Result delete_session(struct request *request)
{
    const ses_delete_options options = {.size = sizeof options, .cancel = work_cancel(request->work)};
    ses_error error;

    if (ses_delete(request->server->store, &request->key, &options, NULL, &error) < 0)
        return reply_error(request, &error);
    return reply_null(request);
}

enum MHD_Result delete_user(struct request *request)
{
    const ses_delete_options options = {
        .size = sizeof options, .flags = SES_SECURE, .cancel = work_cancel(request->work)};
    const ses_key *key = &request->key;
    ses_error error;

    /* SES_MORE means that a reader keeps the WAL from being emptied. The user is deleted anyway. */
    if (ses_delete_user(request->server->store, key->app, key->user, &options, NULL, NULL, &error) < 0)
        return reply_error(request, &error);
    return reply_empty(request, MHD_HTTP_NO_CONTENT);
}
