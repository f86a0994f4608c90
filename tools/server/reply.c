/* Replies, in the form of google-adk's. */
#include "server.h"

#include <stdlib.h>
#include <string.h>

enum MHD_Result reply_with(struct request *request, unsigned status, struct MHD_Response *response,
                           const char *type)
{
    enum MHD_Result result = MHD_NO;

    if (!response)
        return MHD_NO; /* out of memory: the connection is closed */
    if ((!type || MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES) &&
        origin_allow(request, response)) {
        work_set_reply(request->work, request->route, status);
        result = MHD_queue_response(request->connection, status, response);
    }
    MHD_destroy_response(response);
    return result;
}

enum MHD_Result reply_empty(struct request *request, unsigned status)
{
    return reply_with(request, status, MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT),
                      NULL);
}

static void free_json(void *json)
{
    ses_free(json);
}

enum MHD_Result reply_json(struct request *request, unsigned status, char *json, size_t len)
{
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback(len, json, free_json);

    if (!response)
        ses_free(json);
    return reply_with(request, status, response, "application/json");
}

enum MHD_Result reply_text(struct request *request, unsigned status, char *text, size_t len, const char *type)
{
    struct MHD_Response *response = NULL;

    if (text)
        response = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
    if (!response)
        free(text);
    return reply_with(request, status, response, type);
}

enum MHD_Result reply_static(struct request *request, unsigned status, const char *text, const char *type)
{
    return reply_with(
        request, status,
        MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT), type);
}

enum MHD_Result reply_null(struct request *request)
{
    return reply_static(request, MHD_HTTP_OK, "null", "application/json");
}

enum MHD_Result reply_detail(struct request *request, unsigned status, const char *message)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    if (!out)
        return MHD_NO;
    fputs("{\"detail\":", out);
    json_put(request->server, out, message, strlen(message));
    fputc('}', out);
    if (fclose(out) != 0) {
        free(text);
        return MHD_NO;
    }
    return reply_text(request, status, text, len, "application/json");
}

static unsigned status_of(int code)
{
    switch (code) {
    case SES_NOTFOUND:
        return MHD_HTTP_NOT_FOUND;
    case SES_EXISTS:
    case SES_CONSTRAINT:
        return MHD_HTTP_CONFLICT;
    case SES_INVALID:
    case SES_JSON:
    case SES_MISUSE: /* parameters that cannot be combined */
        return MHD_HTTP_BAD_REQUEST;
    case SES_LIMIT:
        return MHD_HTTP_CONTENT_TOO_LARGE;
    case SES_BUSY:
    case SES_LEASED:
    case SES_INTERRUPTED:
        return MHD_HTTP_SERVICE_UNAVAILABLE; /* the same request may be sent again */
    default:
        return MHD_HTTP_INTERNAL_SERVER_ERROR;
    }
}

enum MHD_Result reply_error(struct request *request, const ses_error *error)
{
    return reply_detail(request, status_of(error->code), error->message);
}

enum MHD_Result reply_redirect(struct request *request, const char *place)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);

    if (response && MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, place) != MHD_YES) {
        MHD_destroy_response(response);
        response = NULL;
    }
    return reply_with(request, MHD_HTTP_TEMPORARY_REDIRECT, response, NULL);
}
