/* Settings outside a conversation: labels, and the state that sessions share. */
#include "server.h"

static enum MHD_Result label(struct request *request, const char *value)
{
    const ses_call_options options = {.size = sizeof options, .cancel = work_cancel(request->work)};
    const ses_label label = {request->label, value};
    ses_error error;

    if (ses_labels_set_by_key(request->server->store, &request->key, &label, 1, &options, &error) < 0)
        return reply_error(request, &error);
    return reply_empty(request, MHD_HTTP_NO_CONTENT);
}

enum MHD_Result set_label(struct request *request)
{
    return label(request, request->body ? request->body : "");
}

enum MHD_Result remove_label(struct request *request)
{
    return label(request, NULL);
}

/* The state of the user, or of the app if the path names no user. */
enum MHD_Result show_shared_state(struct request *request)
{
    const ses_call_options options = {.size = sizeof options, .cancel = work_cancel(request->work)};
    const ses_key *key = &request->key;
    ses_error error;
    char *json = NULL;
    size_t len = 0;

    if (ses_shared_state_json(request->server->store, key->app, key->user, &options, &json, &len, &error) < 0)
        return reply_error(request, &error);
    return reply_json(request, MHD_HTTP_OK, json, len);
}

enum MHD_Result change_shared_state(struct request *request)
{
    const ses_shared_state_options options = {.size = sizeof options, .cancel = work_cancel(request->work)};
    const ses_key *key = &request->key;
    ses_error error;

    if (ses_shared_state_change(request->server->store, key->app, key->user,
                                request->body ? request->body : "", request->body_len, &options, &error) < 0)
        return reply_error(request, &error);
    return show_shared_state(request);
}

/* A memory belongs to an agent that uses one. This one only has its notes. */
enum MHD_Result remember_session(struct request *request)
{
    return reply_detail(request, MHD_HTTP_BAD_REQUEST, "Memory service is not configured.");
}
