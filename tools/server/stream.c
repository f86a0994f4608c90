/*
 * Streams events, as they are stored, as server-sent events
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html). A stream needs no thread: its connection
 * is suspended while there is nothing to send, and the follower's `notify` resumes it. So does the watch over
 * all work: every 15 seconds, for a comment that shows proxies and the client that the stream is alive, and
 * when the client has left.
 */
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stream {
    struct server *server;
    struct MHD_Connection *connection;
    struct work *work;      /* of its request, which lives longer */
    ses_follower *follower; /* NULL until it is open; set with the server's lock held */
    char *text;             /* the message being sent */
    size_t len;
    size_t sent;
    bool ended;           /* `text` is the last message */
    pthread_mutex_t lock; /* guards the members below */
    bool woken;           /* the follower may have events that arrived since it was last asked */
    bool asleep;
    bool due;            /* a comment */
    bool left;           /* by its client */
    struct stream *next; /* guarded by the server's lock */
};

/* ----------------------------------------------------------------------------------------------- sleeping */

/* The caller holds the stream's lock. */
static void wake_up(struct stream *stream)
{
    stream->woken = true;
    if (stream->asleep) {
        stream->asleep = false;
        MHD_resume_connection(stream->connection);
    }
}

/* Called by the library with its locks held, so it may only wake the stream. */
static void wake(void *context)
{
    struct stream *stream = context;

    (void)pthread_mutex_lock(&stream->lock);
    wake_up(stream);
    (void)pthread_mutex_unlock(&stream->lock);
}

/* Called with the lock of the watch held. */
static void pulse(void *context, bool has_left)
{
    struct stream *stream = context;

    (void)pthread_mutex_lock(&stream->lock);
    stream->due = !has_left;
    stream->left = stream->left || has_left;
    wake_up(stream);
    (void)pthread_mutex_unlock(&stream->lock);
}

/* A comment is sent once. */
static bool take_due(struct stream *stream)
{
    (void)pthread_mutex_lock(&stream->lock);
    const bool due = stream->due;
    stream->due = false;
    (void)pthread_mutex_unlock(&stream->lock);
    return due;
}

static bool has_left(struct stream *stream)
{
    (void)pthread_mutex_lock(&stream->lock);
    const bool left = stream->left;
    (void)pthread_mutex_unlock(&stream->lock);
    return left;
}

static void sleep_unless_woken(struct stream *stream)
{
    (void)pthread_mutex_lock(&stream->lock);
    if (!stream->woken) {
        stream->asleep = true;
        MHD_suspend_connection(stream->connection);
    }
    stream->woken = false;
    (void)pthread_mutex_unlock(&stream->lock);
}

/* A stream that has no follower yet sees that the server stops before it sleeps. */
void streams_end(struct server *server)
{
    for (struct stream *stream = server->streams; stream; stream = stream->next)
        if (stream->follower)
            ses_follower_wake(stream->follower);
}

static bool server_stops(struct server *server)
{
    (void)pthread_mutex_lock(&server->lock);
    bool stops = server->stops;
    (void)pthread_mutex_unlock(&server->lock);
    return stops;
}

/* ----------------------------------------------------------------------------------------------- messages */

/* The text of an event may have several lines; each is sent with its field name. */
static void write_data(FILE *out, const char *text, size_t len)
{
    for (size_t at = 0; at <= len;) {
        size_t end = at;
        while (end < len && text[end] != '\n' && text[end] != '\r')
            end++;
        fputs("data: ", out);
        fwrite(text + at, 1, end - at, out);
        fputc('\n', out);
        at = end + 1;
    }
}

static FILE *open_message(struct stream *stream)
{
    free(stream->text);
    stream->text = NULL;
    stream->len = 0;
    stream->sent = 0;
    return open_memstream(&stream->text, &stream->len);
}

/* Returns false if out of memory, as all of these. If `id` is NULL, the reader's position does not change. */
static bool write_message(struct stream *stream, const char *kind, const char *id, const char *data,
                          size_t len)
{
    FILE *out = open_message(stream);
    if (!out)
        return false;
    if (kind)
        fprintf(out, "event: %s\n", kind);
    if (id)
        fprintf(out, "id: %s\n", id);
    write_data(out, data, len);
    fputc('\n', out);
    return fclose(out) == 0;
}

static bool write_comment(struct stream *stream)
{
    FILE *out = open_message(stream);
    if (!out)
        return false;
    fputs(":\n\n", out);
    return fclose(out) == 0;
}

/* The client's copy of the session, or of all sessions if none is named, is outdated and has to be fetched
 * again. */
static bool write_reset(struct stream *stream)
{
    const char *session = ses_follower_session(stream->follower);
    char *name = NULL;
    size_t len = 0;
    bool ok =
        ses_text_quote(stream->server->store, session ? session : "", SES_NUL, &name, &len, NULL) >= 0 &&
        write_message(stream, "reset", ses_follower_place(stream->follower), name, len);
    ses_free(name);
    return ok;
}

/* Ends the stream: the store is closing, the session was deleted, or reading failed. */
static bool write_end(struct stream *stream, int code)
{
    stream->ended = true;
    return write_message(stream, code == SES_NOTFOUND ? "deleted" : "end", NULL, "", 0);
}

/* Puts the next message into `text`, or suspends the stream. Returns false if out of memory. */
static bool next_message(struct stream *stream)
{
    const ses_event *event = NULL;
    ses_error error;
    int result = server_stops(stream->server) ? SES_INTERRUPTED
                                              : ses_follower_next(stream->follower, 0, &event, &error);
    bool ok = true;

    if (result == SES_ROW)
        ok = write_message(stream, NULL, ses_follower_place(stream->follower), event->json, event->json_len);
    else if (result == SES_RESET)
        ok = write_reset(stream);
    else if (result < 0)
        ok = write_end(stream, result);
    else if (take_due(stream))
        ok = write_comment(stream);
    else
        sleep_unless_woken(stream);
    return ok;
}

/* --------------------------------------------------------------------------------------------- connection */

static ssize_t send_some(void *context, uint64_t position, char *buffer, size_t room)
{
    struct stream *stream = context;

    (void)position;
    if (stream->sent == stream->len) {
        if (stream->ended)
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (has_left(stream))
            return MHD_CONTENT_READER_END_WITH_ERROR;
        work_enter(stream->work);
        const bool ok = next_message(stream);
        work_enter(NULL);
        if (!ok)
            return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    size_t len = stream->len - stream->sent;
    if (len > room)
        len = room;
    if (len > 0)
        memcpy(buffer, stream->text + stream->sent, len);
    stream->sent += len;
    return (ssize_t)len;
}

static void stream_close(void *context)
{
    struct stream *stream = context;
    struct server *server = stream->server;

    (void)pthread_mutex_lock(&server->lock);
    for (struct stream **at = &server->streams; *at; at = &(*at)->next) {
        if (*at == stream) {
            *at = stream->next;
            break;
        }
    }
    (void)pthread_cond_signal(&server->idle);
    (void)pthread_mutex_unlock(&server->lock);
    work_unwatch(stream->work);
    ses_follower_close(stream->follower); /* it calls `notify` no more */
    work_end(stream->work);
    (void)pthread_mutex_destroy(&stream->lock);
    free(stream->text);
    free(stream);
}

/* Finds where the stream begins: after the client's last position, after a given event, or with the next
 * event. Returns false if the given event is not a number. */
static bool read_start(struct request *request, ses_follow_options *options)
{
    const char *after = request_parameter(request, "after");

    options->place = request_header(request, "Last-Event-ID");
    if (options->place)
        return true;
    if (!after)
        options->flags = SES_FOLLOW_NEW;
    return !after || read_number(after, &options->after_seq);
}

static struct stream *stream_new(const struct request *request)
{
    struct server *server = request->server;
    struct stream *stream = calloc(1, sizeof *stream);

    if (!stream || pthread_mutex_init(&stream->lock, NULL) != 0) {
        free(stream);
        return NULL;
    }
    stream->server = server;
    stream->connection = request->connection;
    stream->work = request->work;
    work_share(stream->work); /* the server may end the request before it closes the stream */
    (void)pthread_mutex_lock(&server->lock);
    stream->next = server->streams;
    server->streams = stream;
    (void)pthread_mutex_unlock(&server->lock);
    return stream;
}

static enum MHD_Result reply_stream(struct request *request, struct stream *stream)
{
    struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, (size_t)16 * 1024,
                                                                      send_some, stream, stream_close);

    if (!response) {
        stream_close(stream);
        return MHD_NO;
    }
    if (MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache") != MHD_YES) {
        MHD_destroy_response(response); /* which closes the stream */
        return MHD_NO;
    }
    return reply_with(request, MHD_HTTP_OK, response, "text/event-stream");
}

enum MHD_Result stream_events(struct request *request)
{
    ses_follow_options options = {.size = sizeof options, .notify = wake};
    ses_error error;

    if (!read_start(request, &options))
        return reply_detail(request, MHD_HTTP_BAD_REQUEST, "after is not a number");
    struct stream *stream = stream_new(request);
    if (!stream)
        return MHD_NO;
    options.notify_context = stream;
    ses_follower *follower = NULL;
    const int code = ses_follower_open(request->server->store, &request->key, &options, &follower, &error);
    (void)pthread_mutex_lock(&request->server->lock);
    stream->follower = follower;
    (void)pthread_mutex_unlock(&request->server->lock);
    if (code < 0) {
        stream_close(stream);
        return reply_error(request, &error);
    }
    work_watch_stream(request->work, pulse, stream);
    return reply_stream(request, stream);
}
