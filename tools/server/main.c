/*
 * The chat server's program:
 *     server [--port N] [--app NAME] [--web FOLDER] [--allow-origins ORIGIN]... [--timeout MILLISECONDS]
 *            [--lease MILLISECONDS] [--trace FILE] FILE
 * It listens on 127.0.0.1 only, prints its port (0, the default, picks a free one), and ends on SIGINT or
 * SIGTERM. A lease lasts 10 seconds by default, and a request at most 60. FOLDER holds google-adk's page.
 */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 4, /* serving connections; turns have their own */
    IDLE_S = 60, /* a connection that says nothing for so long is closed */
    DAY_MS = 86400000
};

/* ----------------------------------------------------------------------------------------------- requests */

static bool is_too_long(const struct request *request)
{
    const char *length = request_header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
    int64_t bytes = 0;

    return length && (!read_number(length, &bytes) || bytes > MAX_BODY);
}

/* Its headers are there. A reply now ends the request before its body is read. */
static enum MHD_Result begin_request(struct server *server, struct MHD_Connection *connection,
                                     const char *url, const char *method, void **context)
{
    struct request *request = calloc(1, sizeof *request);
    const char *refusal = NULL;

    if (!request)
        return MHD_NO;
    request->server = server;
    request->connection = connection;
    request->method = method;
    request->work = work_begin(server, connection, method, url);
    if (!request->work) {
        free(request);
        return MHD_NO;
    }
    *context = request; /* end_request frees it */
    refusal = origin_refuse(request);
    if (refusal)
        return reply_static(request, MHD_HTTP_FORBIDDEN, refusal, "text/plain");
    if (!request_read_path(request, url))
        return reply_detail(request, MHD_HTTP_NOT_FOUND, "Not Found");
    return is_too_long(request) ? reply_detail(request, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too long")
                                : MHD_YES;
}

/* Called with the headers, with each piece of the body, then to answer, and again after a suspension. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data, size_t *data_len,
                              void **request_context)
{
    struct request *request = *request_context;
    enum MHD_Result result = MHD_YES;

    (void)version;
    if (!request)
        return begin_request(context, connection, url, method, request_context);
    if (*data_len > 0) {
        if (work_is_late(request->work) || !request_add_body(request, data, *data_len))
            result = MHD_NO;
        *data_len = 0;
    } else if (request->body_refused) {
        result = reply_detail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "too many long requests at once");
    } else {
        request->method = method;
        work_enter(request->work);
        result = route_request(request);
        work_enter(NULL);
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
        turn_leave(request->turn);
        work_client_left(request->work);
        work_end(request->work);
        request_free_body(request);
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

/* --------------------------------------------------------------------------------------------- the daemon */

static struct MHD_Daemon *start_daemon(struct server *server, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, port, NULL, NULL, handle,
                            server, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_SOCK_ADDR,
                            (struct sockaddr *)&address, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS,
                            MHD_OPTION_UNESCAPE_CALLBACK, leave_encoded, NULL, MHD_OPTION_NOTIFY_COMPLETED,
                            end_request, NULL, MHD_OPTION_END);
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

/* ---------------------------------------------------------------------------------------------- arguments */

static bool read_limited(const char *text, int64_t limit, int64_t *number)
{
    return read_number(text, number) && *number <= limit;
}

static bool add_origin(struct arguments *arguments, const char *origin)
{
    if (arguments->origin_count == MAX_ORIGINS || !origin_is_valid(origin))
        return false;
    arguments->origins[arguments->origin_count++] = origin;
    return true;
}

static bool read_option(struct arguments *arguments, int option, const char *value)
{
    switch (option) {
    case 'p':
        return read_limited(value, UINT16_MAX, &arguments->port);
    case 'l':
        return read_limited(value, DAY_MS, &arguments->lease_ms);
    case 'm':
        return read_limited(value, DAY_MS, &arguments->timeout_ms) && arguments->timeout_ms > 0;
    case 'a':
        arguments->app = value;
        return *value != '\0';
    case 'w':
        arguments->web = value;
        return true;
    case 't':
        arguments->trace = value;
        return true;
    case 'o':
        return add_origin(arguments, value);
    default:
        return false;
    }
}

static bool read_arguments(int argc, char **argv, struct arguments *arguments)
{
    static const struct option options[] = {
        {"port", required_argument, NULL, 'p'},          {"lease", required_argument, NULL, 'l'},
        {"timeout", required_argument, NULL, 'm'},       {"app", required_argument, NULL, 'a'},
        {"web", required_argument, NULL, 'w'},           {"trace", required_argument, NULL, 't'},
        {"allow-origins", required_argument, NULL, 'o'}, {NULL, 0, NULL, 0}};
    bool ok = true;
    int option;

    while (ok && (option = getopt_long(argc, argv, "", options, NULL)) != -1)
        ok = read_option(arguments, option, optarg);
    if (ok && optind == argc - 1)
        arguments->file = argv[optind];
    return arguments->file != NULL;
}

/* -------------------------------------------------------------------------------------------- the program */

static bool open_trace(struct server *server)
{
    const char *path = server->arguments.trace;

    if (path && !(server->tracer = tracer_open(path))) {
        fprintf(stderr, "server: cannot open %s: %s\n", path, strerror(errno));
        return false;
    }
    return true;
}

static bool open_store(struct server *server)
{
    ses_open_options options = {.size = sizeof options, .timeout_ms = server->arguments.timeout_ms};
    ses_error error;

    if (server->tracer) {
        options.trace = trace_call;
        options.trace_context = server->tracer;
    }
    if (ses_open(server->arguments.file, &options, &server->store, &error) < 0) {
        fprintf(stderr, "server: %s\n", error.message);
        return false;
    }
    return true;
}

static int run(struct server *server, const sigset_t *signals)
{
    int status = 1;

    if (open_trace(server) && open_store(server)) {
        if (work_watch_start()) {
            status = serve(server, (uint16_t)server->arguments.port, signals);
            work_watch_stop();
        } else {
            fprintf(stderr, "server: cannot start a thread\n");
        }
    }
    ses_close(server->store);
    tracer_close(server->tracer);
    return status;
}

int main(int argc, char **argv)
{
    struct server server = {.arguments = {.app = agent_name, .lease_ms = 10000, .timeout_ms = 60000},
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .idle = PTHREAD_COND_INITIALIZER};
    sigset_t signals;

    if (!read_arguments(argc, argv, &server.arguments)) {
        fprintf(stderr,
                "usage: server [--port N] [--app NAME] [--web FOLDER] [--allow-origins ORIGIN]...\n"
                "              [--timeout MILLISECONDS] [--lease MILLISECONDS] [--trace FILE] FILE\n");
        return 2;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    return run(&server, &signals);
}
