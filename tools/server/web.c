/* The files of google-adk's page, from the folder that --web names, under /dev-ui/. */
#include "server.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char page_path[] = "/dev-ui/";

/* Where the page finds the server: where it came from. */
enum MHD_Result show_page_config(struct request *request)
{
    const bool is_logo = request->part_count == 2;

    return reply_static(request, MHD_HTTP_OK,
                        is_logo ? "{\"logo_text\":null,\"logo_image_url\":null}"
                                : "{\"backendUrl\":\"\",\"telemetry\":false}",
                        "application/json");
}

enum MHD_Result show_root(struct request *request)
{
    return reply_redirect(request, page_path);
}

/* ------------------------------------------------------------------------------------------------- files */

static const char *type_of(const char *name)
{
    static const char *const types[][2] = {{".html", "text/html; charset=utf-8"},
                                           {".js", "text/javascript; charset=utf-8"},
                                           {".css", "text/css; charset=utf-8"},
                                           {".svg", "image/svg+xml"},
                                           {".json", "application/json"},
                                           {".png", "image/png"},
                                           {".woff2", "font/woff2"},
                                           {".wasm", "application/wasm"}};
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(dot, types[i][0]) == 0)
            return types[i][1];
    return "application/octet-stream";
}

/* The path of the file, or NULL: out of memory, or a part of it is hidden, leads upwards, or holds a "/". */
static char *file_path(const struct request *request)
{
    char *path = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&path, &len);
    bool ok = out != NULL;

    if (!out)
        return NULL;
    fputs(request->server->arguments.web, out);
    for (size_t i = 1; i < request->part_count; i++) {
        ok = ok && request->texts[i][0] != '.' && !strchr(request->texts[i], '/');
        fprintf(out, "/%s", request->texts[i]);
    }
    if (request->part_count == 1)
        fputs("/index.html", out);
    if (fclose(out) != 0 || !ok) {
        free(path);
        return NULL;
    }
    return path;
}

/* Replies with the file, or, if the browser has it already, without. */
static enum MHD_Result reply_file(struct request *request, int file, const struct stat *found,
                                  const char *type)
{
    const char *known = request_header(request, MHD_HTTP_HEADER_IF_NONE_MATCH);
    char tag[64];

    (void)snprintf(tag, sizeof tag, "\"%" PRIx64 "-%" PRIx64 "\"", (uint64_t)found->st_mtime,
                   (uint64_t)found->st_size);
    const bool is_known = known && strcmp(known, tag) == 0;
    struct MHD_Response *response = is_known
                                        ? MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT)
                                        : MHD_create_response_from_fd((uint64_t)found->st_size, file);
    if (is_known || !response)
        (void)close(file);
    if (response && MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, tag) != MHD_YES) {
        MHD_destroy_response(response);
        response = NULL;
    }
    return reply_with(request, is_known ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, response, type);
}

enum MHD_Result show_page(struct request *request)
{
    struct stat found;

    if (request->part_count == 1 && !request->ends_in_slash)
        return reply_redirect(request, page_path);
    char *path = file_path(request);
    const int file = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    const char *type = type_of(path ? path : "");
    free(path);
    if (file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode))
        return reply_file(request, file, &found, type);
    if (file >= 0)
        (void)close(file);
    return reply_detail(request, MHD_HTTP_NOT_FOUND, "Not Found");
}
