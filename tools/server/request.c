/* Reads a request: its path, its parameters, its body. */
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
        request->ends_in_slash = *at == '/';
        at += *at == '/';
    }
    return ok;
}

const char *request_header(const struct request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *request_parameter(struct request *request, const char *name)
{
    const char *encoded = MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);

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

/* ------------------------------------------------------------------------------------------------- bodies */

/* A client may send much and slowly, and so may many at once. */
static bool count_bytes(struct server *server, size_t added)
{
    (void)pthread_mutex_lock(&server->lock);
    bool ok = added <= MAX_BODIES - server->body_bytes;
    server->body_bytes += ok ? added : 0;
    (void)pthread_mutex_unlock(&server->lock);
    return ok;
}

void request_body_freed(struct server *server, size_t room)
{
    (void)pthread_mutex_lock(&server->lock);
    server->body_bytes -= room;
    (void)pthread_mutex_unlock(&server->lock);
}

void request_free_body(struct request *request)
{
    free(request->body);
    request_body_freed(request->server, request->body_room);
    request->body = NULL;
    request->body_len = 0;
    request->body_room = 0;
}

char *request_take_body(struct request *request)
{
    char *body = request->body;

    request->body = NULL;
    request->body_len = 0;
    request->body_room = 0;
    return body;
}

static bool grow(struct request *request, size_t needed)
{
    const size_t room = needed < 4096 ? 4096 : needed + needed / 2;

    if (!count_bytes(request->server, room - request->body_room)) {
        request->body_refused = true;
        request_free_body(request);
        return true;
    }
    char *grown = realloc(request->body, room);
    if (!grown) {
        request_body_freed(request->server, room - request->body_room);
        return false;
    }
    request->body = grown;
    request->body_room = room;
    return true;
}

bool request_add_body(struct request *request, const char *data, size_t len)
{
    if (request->body_refused)
        return true;
    if (len > MAX_BODY - request->body_len)
        return false;
    if (request->body_len + len + 1 > request->body_room && !grow(request, request->body_len + len + 1))
        return false;
    if (request->body_refused)
        return true;
    memcpy(request->body + request->body_len, data, len);
    request->body_len += len;
    request->body[request->body_len] = '\0';
    return true;
}
