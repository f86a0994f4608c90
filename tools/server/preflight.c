/* Answers a browser that asks whether a page of another site may send a request (CORS). */
#include "server.h"

#include <string.h>

static bool add(struct MHD_Response *response, const char *name, const char *value)
{
    return MHD_add_response_header(response, name, value) == MHD_YES;
}

bool preflight(struct request *request, enum MHD_Result *result)
{
    static const char ok[] = "OK";
    const struct arguments *arguments = &request->server->arguments;
    const char *origin = request_header(request, MHD_HTTP_HEADER_ORIGIN);
    const char *headers = request_header(request, MHD_HTTP_HEADER_ACCESS_CONTROL_REQUEST_HEADERS);

    if (strcmp(request->method, MHD_HTTP_METHOD_OPTIONS) != 0 || !origin ||
        !origin_is_allowed(arguments, origin) ||
        !request_header(request, MHD_HTTP_HEADER_ACCESS_CONTROL_REQUEST_METHOD))
        return false;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(sizeof ok - 1, (void *)(uintptr_t)ok, MHD_RESPMEM_PERSISTENT);
    if (response && (!add(response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_METHODS,
                          "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT") ||
                     !add(response, MHD_HTTP_HEADER_ACCESS_CONTROL_MAX_AGE, "600") ||
                     (headers && !add(response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_HEADERS, headers)))) {
        MHD_destroy_response(response);
        response = NULL;
    }
    *result = reply_with(request, MHD_HTTP_OK, response, "text/plain; charset=utf-8");
    return true;
}
