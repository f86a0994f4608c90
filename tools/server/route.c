/* Finds the handler of a request. */
#include "server.h"

#include <string.h>

struct route {
    const char *method;
    const char
        *path; /* "*" matches a name: app, user, session, label; "**" all the rest, which is not empty */
    handler *handler;
};

#define SESSION "apps/*/users/*/sessions/*"

static const struct route routes[] = {
    {"GET", "health", show_health},
    {"GET", "version", show_version},
    {"GET", "list-apps", list_apps},
    {"GET", "apps/*/app-info", show_app},
    {"GET", "apps/*/users/*/sessions", list_sessions},
    {"POST", "apps/*/users/*/sessions", create_session},
    {"GET", SESSION, show_session},
    {"POST", SESSION, create_named_session},
    {"PATCH", SESSION, change_session},
    {"DELETE", SESSION, delete_session},
    {"POST", "run", run_turn},
    {"POST", "run_sse", run_turn_streamed},
    {"PATCH", "apps/*/users/*/memory", remember_session},
    {"GET", SESSION "/artifacts", list_artifacts},
    {"POST", SESSION "/artifacts", save_artifact},
    {"GET", SESSION "/artifacts/**", show_artifact},
    {"DELETE", SESSION "/artifacts/**", delete_artifact},
    {"POST", SESSION "/messages", post_message},
    {"GET", SESSION "/events", stream_events},
    {"GET", "apps/*/users/*/events", stream_events},
    {"PUT", SESSION "/labels/*", set_label},
    {"DELETE", SESSION "/labels/*", remove_label},
    {"GET", "apps/*/state", show_shared_state},
    {"GET", "apps/*/users/*/state", show_shared_state},
    {"PATCH", "apps/*/state", change_shared_state},
    {"PATCH", "apps/*/users/*/state", change_shared_state},
    {"DELETE", "apps/*/users/*", delete_user},
};

/* The page of google-adk, and the paths that only it asks for. They are there with --web. */
static const struct route page_routes[] = {
    {"GET", "", show_root},
    {"GET", "dev-ui", show_page},
    {"GET", "dev-ui/config", show_page_config},
    {"GET", "dev-ui/assets/config/runtime-config.json", show_page_config},
    {"GET", "dev-ui/**", show_page},
    {"GET", "config/telemetry", show_telemetry},
    {"GET", "dev/apps/*/build_graph", show_graph},
    {"GET", "dev/apps/*/build_graph_image", show_graph_image},
    {"GET", "dev/apps/*/builder", show_builder},
    {"GET", "dev/apps/*/eval_sets", show_nothing},
    {"GET", "dev/apps/*/eval_results", show_nothing},
    {"GET", "dev/apps/*/debug/trace/session/*", show_nothing},
    {"GET", "dev/apps/*/debug/trace/*", no_trace},
};

/* Returns true if the path matches the pattern, and stores the names in it. */
static bool match(struct request *request, const char *path)
{
    const char **names[] = {&request->key.app, &request->key.user, &request->key.session, &request->label};
    size_t name = 0;
    size_t i = 0;

    request->key = (ses_key){NULL, NULL, NULL};
    request->label = NULL;
    for (; i < request->part_count && *path; i++) {
        const char *part = request->texts[i];
        size_t len = strcspn(path, "/");
        request->rest = i;
        if (len == 2 && *path == '*')
            return true;
        if (*path == '*')
            *names[name++] = part;
        else if (strlen(part) != len || memcmp(part, path, len) != 0)
            return false;
        path += len;
        path += *path == '/';
    }
    return i == request->part_count && *path == '\0';
}

/* The methods that a path has, for the header Allow. */
struct methods {
    char text[64];
    size_t len;
};

static void add_method(struct methods *methods, const char *method)
{
    const int len = snprintf(methods->text + methods->len, sizeof methods->text - methods->len, "%s%s",
                             methods->len > 0 ? ", " : "", method);

    if (len > 0 && (size_t)len < sizeof methods->text - methods->len)
        methods->len += (size_t)len;
}

/* Returns true if there is such a route, whose handler has replied. A path can have several, each for one
 * method. */
static bool try_routes(struct request *request, const struct route *table, size_t count,
                       struct methods *methods, enum MHD_Result *result)
{
    const bool is_head =
        strcmp(request->method, MHD_HTTP_METHOD_HEAD) == 0; /* a GET whose body is not sent */
    const char *method = is_head ? MHD_HTTP_METHOD_GET : request->method;

    for (size_t i = 0; i < count; i++) {
        if (!match(request, table[i].path))
            continue;
        request->route = table[i].path;
        if (strcmp(method, table[i].method) == 0) {
            *result = table[i].handler(request);
            return true;
        }
        add_method(methods, table[i].method);
        if (strcmp(table[i].method, MHD_HTTP_METHOD_GET) == 0)
            add_method(methods, MHD_HTTP_METHOD_HEAD);
    }
    return false;
}

static enum MHD_Result reply_no_method(struct request *request, const struct methods *methods)
{
    static const char text[] = "{\"detail\":\"Method Not Allowed\"}";
    struct MHD_Response *response =
        MHD_create_response_from_buffer(sizeof text - 1, (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);

    if (response && MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, methods->text) != MHD_YES) {
        MHD_destroy_response(response);
        response = NULL;
    }
    return reply_with(request, MHD_HTTP_METHOD_NOT_ALLOWED, response, "application/json");
}

enum MHD_Result route_request(struct request *request)
{
    struct methods methods = {.len = 0};
    enum MHD_Result result = MHD_NO;

    if (preflight(request, &result) ||
        try_routes(request, routes, sizeof routes / sizeof routes[0], &methods, &result))
        return result;
    if (request->server->arguments.web &&
        try_routes(request, page_routes, sizeof page_routes / sizeof page_routes[0], &methods, &result))
        return result;
    return methods.len > 0 ? reply_no_method(request, &methods)
                           : reply_detail(request, MHD_HTTP_NOT_FOUND, "Not Found");
}
