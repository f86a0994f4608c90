/* Answers what is asked about the server, and what google-adk's page asks for besides sessions. */
#include "server.h"

#include <stdlib.h>
#include <string.h>

static const char json_type[] = "application/json";

enum MHD_Result show_health(struct request *request)
{
    return reply_static(request, MHD_HTTP_OK, "{\"status\":\"ok\"}", json_type);
}

enum MHD_Result show_version(struct request *request)
{
    char text[128];
    const int len =
        snprintf(text, sizeof text, "{\"version\":\"%s\",\"language\":\"c\",\"language_version\":\"11\"}",
                 ses_version());

    return reply_text(request, MHD_HTTP_OK, strdup(text), (size_t)len, json_type);
}

/* ------------------------------------------------------------------------------------------------- agents */

static enum MHD_Result reply_written(struct request *request, FILE *out, char *const *text, const size_t *len)
{
    if (fclose(out) == 0)
        return reply_text(request, MHD_HTTP_OK, *text, *len, json_type);
    free(*text);
    return MHD_NO;
}

/* Writes {"name": APP, and the agent's members. */
static void put_app(struct request *request, FILE *out, const char *agents)
{
    fputs("{\"name\":", out);
    json_put(request->server, out, request->server->arguments.app, SES_NUL);
    fprintf(out, ",%s,\"agents\":%s}", agent_info, agents);
}

enum MHD_Result list_apps(struct request *request)
{
    struct field detailed = {.name = "detailed", .kind = FIELD_FLAG};
    const char *given = request_parameter(request, "detailed");
    char *text = NULL;
    size_t len = 0;

    if (given)
        detailed.value = (ses_text){given, strlen(given)};
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return MHD_NO;
    if (body_flag(&detailed)) {
        fputs("{\"apps\":[", out);
        put_app(request, out, "null");
        fputs("]}", out);
    } else {
        fputc('[', out);
        json_put(request->server, out, request->server->arguments.app, SES_NUL);
        fputc(']', out);
    }
    return reply_written(request, out, &text, &len);
}

/* Replies if the app is not this server's. */
static bool is_served(struct request *request, enum MHD_Result *result)
{
    const bool same = strcmp(request->key.app, request->server->arguments.app) == 0;

    if (!same)
        *result = reply_detail(request, MHD_HTTP_NOT_FOUND, "Agent not found");
    return same;
}

enum MHD_Result show_app(struct request *request)
{
    enum MHD_Result result = MHD_NO;
    char *text = NULL;
    size_t len = 0;

    if (!is_served(request, &result))
        return result;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return MHD_NO;
    put_app(request, out, agent_description);
    return reply_written(request, out, &text, &len);
}

/* ---------------------------------------------------------------------------------- for google-adk's page */

enum MHD_Result show_telemetry(struct request *request)
{
    return reply_static(request, MHD_HTTP_OK, "{\"telemetry\":false}", json_type);
}

enum MHD_Result show_graph(struct request *request)
{
    enum MHD_Result result = MHD_NO;

    return is_served(request, &result) ? reply_static(request, MHD_HTTP_OK, agent_graph, json_type) : result;
}

enum MHD_Result show_graph_image(struct request *request)
{
    enum MHD_Result result = MHD_NO;

    return is_served(request, &result) ? reply_static(request, MHD_HTTP_OK, agent_graph_image, json_type)
                                       : result;
}

/* The agent is not one that the page can build. */
enum MHD_Result show_builder(struct request *request)
{
    return reply_static(request, MHD_HTTP_OK, "", "text/plain; charset=utf-8");
}

/* There are no evaluations, and --trace has the traces. */
enum MHD_Result show_nothing(struct request *request)
{
    return reply_static(request, MHD_HTTP_OK, "[]", json_type);
}

enum MHD_Result no_trace(struct request *request)
{
    return reply_detail(request, MHD_HTTP_NOT_FOUND, "Trace not found");
}
