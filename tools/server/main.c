/*
 * The chat server's program:
 *     server [--port N] [--lease MILLISECONDS] FILE
 * It listens on 127.0.0.1 only, prints its port (0, the default, picks a free one), and ends on SIGINT or
 * SIGTERM. A lease lasts 10 seconds by default.
 */
#include "server.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4 /* serving connections; turns have their own */ };

/* ------------------------------------------------------------------------------------------------- routes */

struct route {
    const char *method;
    const char *path; /* "*" matches a name: app, user, session, label */
    handler *handler;
};

static const struct route routes[] = {
    {"GET", "apps/*/users/*/sessions", list_sessions},
    {"POST", "apps/*/users/*/sessions", create_session},
    {"GET", "apps/*/users/*/sessions/*", show_session},
    {"DELETE", "apps/*/users/*/sessions/*", delete_session},
    {"POST", "apps/*/users/*/sessions/*/messages", post_message},
    {"GET", "apps/*/users/*/sessions/*/events", stream_events},
    {"GET", "apps/*/users/*/events", stream_events},
    {"PUT", "apps/*/users/*/sessions/*/labels/*", set_label},
    {"DELETE", "apps/*/users/*/sessions/*/labels/*", remove_label},
    {"GET", "apps/*/state", show_shared_state},
    {"GET", "apps/*/users/*/state", show_shared_state},
    {"PATCH", "apps/*/state", change_shared_state},
    {"PATCH", "apps/*/users/*/state", change_shared_state},
    {"DELETE", "apps/*/users/*", delete_user},
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
        if (*path == '*')
            *names[name++] = part;
        else if (strlen(part) != len || memcmp(part, path, len) != 0)
            return false;
        path += len;
        path += *path == '/';
    }
    return i == request->part_count && *path == '\0';
}

static enum MHD_Result route(struct request *request, struct MHD_Connection *connection, const char *method)
{
    bool known = false;

    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        if (!match(request, routes[i].path))
            continue;
        known = true;
        if (strcmp(method, routes[i].method) == 0)
            return routes[i].handler(request, connection);
    }
    return known ? reply_message(request, connection, MHD_HTTP_METHOD_NOT_ALLOWED, "method not allowed")
                 : reply_message(request, connection, MHD_HTTP_NOT_FOUND, "no such page");
}

/* ----------------------------------------------------------------------------------------------- requests */

static enum MHD_Result begin_request(struct server *server, const char *url, void **context)
{
    struct request *request = calloc(1, sizeof *request);

    if (!request)
        return MHD_NO;
    *context = request; /* end_request frees it */
    request->server = server;
    if (!request_read_path(request, url))
        request->part_count = 0; /* matches no route */
    return MHD_YES;
}

static enum MHD_Result answer_request(struct request *request, struct MHD_Connection *connection,
                                      const char *method)
{
    if (request->body_too_long)
        return reply_message(request, connection, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too long");
    return route(request, connection, method);
}

/* Called with the headers, with each piece of the body, then to answer, and again after a suspension. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data, size_t *data_len,
                              void **request_context)
{
    struct request *request = *request_context;
    enum MHD_Result result = MHD_YES;

    (void)version;
    if (!request) {
        result = begin_request(context, url, request_context);
    } else if (*data_len > 0) {
        result = request_add_body(request, data, *data_len) ? MHD_YES : MHD_NO;
        *data_len = 0;
    } else {
        result = answer_request(request, connection, method);
    }
    return result;
}

static void end_request(void *context, struct MHD_Connection *connection, void **request_context,
                        enum MHD_RequestTerminationCode reason)
{
    struct request *request = *request_context;

    (void)context;
    (void)connection;
    (void)reason;
    if (request) {
        for (size_t i = 0; i < request->text_count; i++)
            free(request->texts[i]);
        turn_free(request->turn);
        free(request->body);
        free(request);
        *request_context = NULL;
    }
}

/* Does not decode: each part of a path is decoded on its own, since an id may contain a "/", and so are
 * parameters. */
static size_t leave_encoded(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

/* -------------------------------------------------------------------------------------------- the program */

static struct MHD_Daemon *start_daemon(struct server *server, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, port, NULL, NULL, handle,
                            server, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
                            MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS, MHD_OPTION_UNESCAPE_CALLBACK,
                            leave_encoded, NULL, MHD_OPTION_NOTIFY_COMPLETED, end_request, NULL,
                            MHD_OPTION_END);
}

/* Blocks the signals in all threads, so that they never interrupt a call of the library. */
static void await_signal(const sigset_t *signals)
{
    int number = 0;
    while (sigwait(signals, &number) != 0)
        ;
}

/* A daemon may be stopped only when no connection is suspended, so all turns end first and the streams are
 * resumed. */
static void stop(struct server *server, struct MHD_Daemon *daemon)
{
    (void)pthread_mutex_lock(&server->lock);
    server->stops = true;
    streams_end(server);
    while (server->turns > 0 || server->streams)
        (void)pthread_cond_wait(&server->idle, &server->lock);
    (void)pthread_mutex_unlock(&server->lock);
    MHD_stop_daemon(daemon);
}

static int serve(struct server *server, uint16_t port, const sigset_t *signals)
{
    struct MHD_Daemon *daemon = start_daemon(server, port);

    if (!daemon) {
        fprintf(stderr, "server: cannot listen on port %u\n", (unsigned)port);
        return 1;
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    printf("http://127.0.0.1:%u\n", info ? (unsigned)info->port : (unsigned)port);
    (void)fflush(stdout);
    await_signal(signals);
    stop(server, daemon);
    return 0;
}

struct arguments {
    const char *file;
    int64_t port;
    int64_t lease_ms;
};

static bool read_arguments(int argc, char **argv, struct arguments *arguments)
{
    static const struct option options[] = {
        {"port", required_argument, NULL, 'p'}, {"lease", required_argument, NULL, 'l'}, {NULL, 0, NULL, 0}};
    bool ok = true;
    int option;

    while (ok && (option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'p')
            ok = read_number(optarg, &arguments->port) && arguments->port <= UINT16_MAX;
        else
            ok = option == 'l' && read_number(optarg, &arguments->lease_ms) &&
                 arguments->lease_ms <= INT64_C(86400000);
    }
    if (ok && optind == argc - 1)
        arguments->file = argv[optind];
    return arguments->file != NULL;
}

int main(int argc, char **argv)
{
    struct server server = {.lock = PTHREAD_MUTEX_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER};
    struct arguments arguments = {.lease_ms = 10000};
    sigset_t signals;
    ses_error error;

    if (!read_arguments(argc, argv, &arguments)) {
        fprintf(stderr, "usage: server [--port N] [--lease MILLISECONDS] FILE\n");
        return 2;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (ses_open(arguments.file, NULL, &server.store, &error) < 0) {
        fprintf(stderr, "server: %s\n", error.message);
        return 1;
    }
    server.lease_us = arguments.lease_ms * 1000;
    int status = serve(&server, (uint16_t)arguments.port, &signals);
    ses_close(server.store);
    return status;
}
