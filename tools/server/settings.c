/* Settings outside a conversation: labels, and the state that sessions share. */
#include "server.h"

static enum MHD_Result label(struct request *request, struct MHD_Connection *connection, const char *value)
{
    const ses_label label = {request->label, value};
    ses_error error;

    if (ses_labels_set_by_key(request->server->store, &request->key, &label, 1, NULL, &error) < 0)
        return reply_error(request, connection, &error);
    return reply_empty(connection, MHD_HTTP_NO_CONTENT);
}

enum MHD_Result set_label(struct request *request, struct MHD_Connection *connection)
{
    return label(request, connection, request->body ? request->body : "");
}

enum MHD_Result remove_label(struct request *request, struct MHD_Connection *connection)
{
    return label(request, connection, NULL);
}

/* The state of the user, or of the app if the path names no user. */
enum MHD_Result show_shared_state(struct request *request, struct MHD_Connection *connection)
{
    const ses_key *key = &request->key;
    ses_error error;
    char *json = NULL;
    size_t len = 0;

    if (ses_shared_state_json(request->server->store, key->app, key->user, NULL, &json, &len, &error) < 0)
        return reply_error(request, connection, &error);
    return reply_json(connection, MHD_HTTP_OK, json, len);
}

enum MHD_Result change_shared_state(struct request *request, struct MHD_Connection *connection)
{
    const ses_key *key = &request->key;
    ses_error error;

    if (ses_shared_state_change(request->server->store, key->app, key->user,
                                request->body ? request->body : "", request->body_len, NULL, &error) < 0)
        return reply_error(request, connection, &error);
    return show_shared_state(request, connection);
}
