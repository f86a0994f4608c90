/* Lists, creates, shows and deletes sessions. */
#include "server.h"

#include <cjson/cJSON.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ listing */

/* A session in the list. The library writes its JSON; cJSON only inserts it. */
static bool add_listed(cJSON *sessions, const ses_session *session, ses_error *error)
{
    cJSON *item = cJSON_CreateObject();
    char *json = NULL;
    bool ok = item && cJSON_AddItemToArray(sessions, item);

    if (!ok) {
        cJSON_Delete(item);
        return false;
    }
    if (ses_session_json(session, &json, NULL, error) < 0)
        return false;
    const char *title = ses_session_title(session);
    ok = (!title || cJSON_AddStringToObject(item, "title", title)) &&
         cJSON_AddRawToObject(item, "session", json);
    ses_free(json);
    return ok;
}

static cJSON *page_json(const ses_page *page, ses_error *error)
{
    cJSON *reply = cJSON_CreateObject();
    cJSON *sessions = reply ? cJSON_AddArrayToObject(reply, "sessions") : NULL;
    const char *token = ses_page_token(page);
    bool ok = sessions != NULL;

    for (size_t i = 0; ok && i < ses_page_count(page); i++)
        ok = add_listed(sessions, ses_page_session(page, i), error);
    if (ok && token)
        ok = cJSON_AddStringToObject(reply, "next", token) != NULL;
    if (!ok) {
        cJSON_Delete(reply);
        reply = NULL;
    }
    return reply;
}

static enum MHD_Result reply_tree(struct MHD_Connection *connection, cJSON *tree)
{
    char *json = tree ? cJSON_PrintUnformatted(tree) : NULL;
    enum MHD_Result result = reply_copy(connection, MHD_HTTP_OK, json);

    cJSON_free(json);
    cJSON_Delete(tree);
    return result;
}

enum MHD_Result list_sessions(struct request *request, struct MHD_Connection *connection)
{
    const char *limit = request_parameter(request, connection, "limit");
    const ses_filter filter = {.size = sizeof filter,
                               .label = request_parameter(request, connection, "label"),
                               .label_value = request_parameter(request, connection, "value")};
    ses_list_options options = {.size = sizeof options,
                                .flags = SES_LIST_NO_STATE,
                                .filter = &filter,
                                .token = request_parameter(request, connection, "token")};
    ses_page *page = NULL;
    ses_error error = {0};
    int64_t number = 0;

    if (limit && !read_number(limit, &number))
        return reply_message(request, connection, MHD_HTTP_BAD_REQUEST, "limit is not a number");
    options.limit = (size_t)number;
    if (ses_list(request->server->store, request->key.app, request->key.user, &options, &page, &error) < 0)
        return reply_error(request, connection, &error);
    cJSON *reply = page_json(page, &error);
    ses_page_close(page);
    return reply || error.code == 0 ? reply_tree(connection, reply)
                                    : reply_error(request, connection, &error);
}

/* -------------------------------------------------------------------------------------- creating, showing */

static enum MHD_Result reply_session(struct request *request, struct MHD_Connection *connection,
                                     unsigned status, ses_session *session)
{
    ses_error error;
    char *json = NULL;
    size_t len = 0;
    int code = ses_session_json(session, &json, &len, &error);

    ses_session_close(session);
    return code < 0 ? reply_error(request, connection, &error) : reply_json(connection, status, json, len);
}

enum MHD_Result create_session(struct request *request, struct MHD_Connection *connection)
{
    ses_session *session = NULL;
    ses_error error;

    if (ses_create(request->server->store, &request->key, request->body, request->body_len, NULL, &session,
                   &error) < 0)
        return reply_error(request, connection, &error);
    return reply_session(request, connection, MHD_HTTP_CREATED, session);
}

enum MHD_Result show_session(struct request *request, struct MHD_Connection *connection)
{
    ses_session *session = NULL;
    ses_error error;

    if (ses_get(request->server->store, &request->key, NULL, &session, &error) < 0)
        return reply_error(request, connection, &error);
    return reply_session(request, connection, MHD_HTTP_OK, session);
}

/* ----------------------------------------------------------------------------------------------- deleting */

enum MHD_Result delete_session(struct request *request, struct MHD_Connection *connection)
{
    ses_error error;
    int64_t deleted = 0;

    if (ses_delete(request->server->store, &request->key, NULL, &deleted, &error) < 0)
        return reply_error(request, connection, &error);
    return reply_empty(connection, deleted ? MHD_HTTP_NO_CONTENT : MHD_HTTP_NOT_FOUND);
}

enum MHD_Result delete_user(struct request *request, struct MHD_Connection *connection)
{
    const ses_delete_options options = {.size = sizeof options, .flags = SES_SECURE};
    const ses_key *key = &request->key;
    ses_error error;

    /* SES_MORE means that a reader keeps the WAL from being emptied. The user is deleted anyway. */
    if (ses_delete_user(request->server->store, key->app, key->user, &options, NULL, NULL, &error) < 0)
        return reply_error(request, connection, &error);
    return reply_empty(connection, MHD_HTTP_NO_CONTENT);
}
