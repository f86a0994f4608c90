/* A page of sessions with their titles, for a list that people look through. */
#include "server.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

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

static enum MHD_Result reply_tree(struct request *request, cJSON *tree)
{
    char *json = tree ? cJSON_PrintUnformatted(tree) : NULL;
    char *text = json ? strdup(json) : NULL;

    cJSON_free(json);
    cJSON_Delete(tree);
    return reply_text(request, MHD_HTTP_OK, text, text ? strlen(text) : 0, "application/json");
}

enum MHD_Result list_page(struct request *request)
{
    const char *limit = request_parameter(request, "limit");
    const ses_filter filter = {.size = sizeof filter,
                               .label = request_parameter(request, "label"),
                               .label_value = request_parameter(request, "value")};
    ses_list_options options = {.size = sizeof options,
                                .flags = SES_LIST_NO_STATE,
                                .filter = &filter,
                                .cancel = work_cancel(request->work),
                                .token = request_parameter(request, "token")};
    ses_page *page = NULL;
    ses_error error = {0};
    int64_t number = 0;

    if (limit && !read_number(limit, &number))
        return reply_detail(request, MHD_HTTP_BAD_REQUEST, "limit is not a number");
    options.limit = (size_t)number;
    if (ses_list(request->server->store, request->key.app, request->key.user, &options, &page, &error) < 0)
        return reply_error(request, &error);
    cJSON *reply = page_json(page, &error);
    ses_page_close(page);
    return reply || error.code == 0 ? reply_tree(request, reply) : reply_error(request, &error);
}
