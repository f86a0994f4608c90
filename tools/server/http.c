#include "server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------- requests */

/* Returns NULL if there are too many texts, memory ran out, or the text contains a NUL. Ids are C strings, so
 * the part before a NUL would be mistaken for the whole. */
static const char *add_text(struct request *request, const char *encoded, size_t len)
{
    char *text = request->text_count < MAX_TEXTS ? strndup(encoded, len) : NULL;

    if (!text)
        return NULL;
    request->texts[request->text_count++] = text;
    return MHD_http_unescape(text) == strlen(text) ? text : NULL;
}

bool request_read_path(struct request *request, const char *url)
{
    bool ok = *url == '/';

    for (const char *at = url + 1; ok && *at; request->part_count++) {
        size_t len = strcspn(at, "/");
        ok = len > 0 && add_text(request, at, len);
        at += len;
        at += *at == '/';
    }
    return ok;
}

bool request_add_body(struct request *request, const char *data, size_t len)
{
    if (request->body_too_long || len > MAX_BODY - request->body_len) {
        request->body_too_long = true;
        return true;
    }
    char *grown = realloc(request->body, request->body_len + len + 1);
    if (!grown)
        return false;
    memcpy(grown + request->body_len, data, len);
    request->body = grown;
    request->body_len += len;
    grown[request->body_len] = '\0';
    return true;
}

const char *request_parameter(struct request *request, struct MHD_Connection *connection, const char *name)
{
    const char *encoded = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
    return encoded ? add_text(request, encoded, strlen(encoded)) : NULL;
}

bool read_number(const char *text, int64_t *number)
{
    char *end = NULL;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return errno == 0 && *end == '\0';
}

/* ------------------------------------------------------------------------------------------------ replies */

static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status,
                             struct MHD_Response *response, const char *type)
{
    enum MHD_Result result = MHD_NO;

    if (!response)
        return MHD_NO; /* out of memory: the connection is closed */
    if (!type || MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES)
        result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

enum MHD_Result reply_empty(struct MHD_Connection *connection, unsigned status)
{
    return queue(connection, status, MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT), NULL);
}

static void free_json(void *json)
{
    ses_free(json);
}

enum MHD_Result reply_json(struct MHD_Connection *connection, unsigned status, char *json, size_t len)
{
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback(len, json, free_json);

    if (!response)
        ses_free(json);
    return queue(connection, status, response, "application/json");
}

enum MHD_Result reply_copy(struct MHD_Connection *connection, unsigned status, const char *json)
{
    struct MHD_Response *response = NULL;

    if (json)
        response =
            MHD_create_response_from_buffer(strlen(json), (void *)(uintptr_t)json, MHD_RESPMEM_MUST_COPY);
    return queue(connection, status, response, "application/json");
}

enum MHD_Result reply_message(struct request *request, struct MHD_Connection *connection, unsigned status,
                              const char *message)
{
    char *json = NULL;
    size_t len = 0;

    if (ses_text_quote(request->server->store, message, SES_NUL, &json, &len, NULL) < 0)
        return MHD_NO;
    return reply_json(connection, status, json, len);
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

enum MHD_Result reply_error(struct request *request, struct MHD_Connection *connection,
                            const ses_error *error)
{
    return reply_message(request, connection, status_of(error->code), error->message);
}
