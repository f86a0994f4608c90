/*
 * The work that a request causes. It ends when its time is over, or when its client goes away: then its
 * handle is pulled, and whatever call of the library is under way returns INTERRUPTED. (While a connection is
 * suspended libmicrohttpd does not look at it, so a thread looks at the sockets of all requests.)
 */
#include "server.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

enum { LOOK_MS = 50, IDLE_LOOKS = 20, SOCKETS = 64, PULSE_US = 15000000 };

struct work {
    struct server *server;
    ses_cancel *cancel;
    struct span *span; /* or NULL */
    const char *route;
    unsigned status; /* of the reply; 0: none yet */
    int64_t deadline_us;
    /* Guarded by the lock of the watch. */
    unsigned threads;
    int socket;        /* -1: the client has left */
    work_pulse *pulse; /* NULL unless this is a stream */
    void *pulse_context;
    int64_t pulse_us; /* time of the next pulse */
    struct work *next;
    struct work **at; /* NULL: nobody looks after it */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    struct work *first;
    bool sleeps;
    bool stops;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int64_t steady_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* --------------------------------------------------------------------------------------------- the watch */

/* Whether what is to be read is the end: a client that goes away closes its side. It may also be the next
 * request. */
static bool has_left(const struct pollfd *socket)
{
    char byte;

    return (socket->revents & (POLLHUP | POLLERR | POLLNVAL)) != 0 ||
           ((socket->revents & POLLIN) != 0 && recv(socket->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0);
}

static void give_up(struct work *work)
{
    ses_cancel_pull(work->cancel);
    if (work->pulse)
        work->pulse(work->pulse_context, true);
}

/* Gives up those whose client has gone. The caller holds the lock. */
static void look_at_sockets(struct work **works, struct pollfd *sockets, nfds_t count)
{
    if (poll(sockets, count, 0) <= 0)
        return;
    for (nfds_t i = 0; i < count; i++)
        if (has_left(&sockets[i]))
            give_up(works[i]);
}

static void look_at_clock(struct work *work, int64_t now_us)
{
    if (now_us >= work->deadline_us)
        ses_cancel_pull(work->cancel);
    if (work->pulse && now_us >= work->pulse_us) {
        work->pulse_us = now_us + PULSE_US;
        work->pulse(work->pulse_context, false);
    }
}

/* Returns whether there is work other than streams. */
static bool look(void)
{
    bool is_busy = false;
    const int64_t now_us = steady_us();
    struct pollfd sockets[SOCKETS];
    struct work *works[SOCKETS];
    nfds_t count = 0;

    for (struct work *work = watch.first; work; work = work->next) {
        look_at_clock(work, now_us);
        is_busy = is_busy || !work->pulse;
        if (work->socket < 0)
            continue;
        works[count] = work;
        sockets[count++] = (struct pollfd){.fd = work->socket, .events = POLLIN};
        if (count == SOCKETS) {
            look_at_sockets(works, sockets, count);
            count = 0;
        }
    }
    look_at_sockets(works, sockets, count);
    return is_busy;
}

/* Waits until there is new work; while there are streams, at most for a second. */
static void sleep_until_work(void)
{
    struct timespec until;

    if (!watch.first) {
        (void)pthread_cond_wait(&watch.changed, &watch.lock);
        return;
    }
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    (void)pthread_cond_timedwait(&watch.changed, &watch.lock, &until);
}

/* It sleeps when there has been no work for a second, so that a busy server need not wake it for each
 * request. */
static void *watch_main(void *context)
{
    const struct timespec pause = {0, LOOK_MS * 1000000L};
    int idle = 0;

    (void)context;
    (void)pthread_mutex_lock(&watch.lock);
    while (!watch.stops) {
        idle = look() ? 0 : idle + 1;
        watch.sleeps = idle > IDLE_LOOKS;
        if (watch.sleeps) {
            sleep_until_work();
        } else {
            (void)pthread_mutex_unlock(&watch.lock);
            (void)nanosleep(&pause, NULL); /* a signal may cut it short: then it looks earlier */
            (void)pthread_mutex_lock(&watch.lock);
        }
    }
    (void)pthread_mutex_unlock(&watch.lock);
    return NULL;
}

bool work_watch_start(void)
{
    return pthread_create(&watch.thread, NULL, watch_main, NULL) == 0;
}

void work_watch_stop(void)
{
    (void)pthread_mutex_lock(&watch.lock);
    watch.stops = true;
    (void)pthread_cond_signal(&watch.changed);
    (void)pthread_mutex_unlock(&watch.lock);
    (void)pthread_join(watch.thread, NULL);
}

/* ----------------------------------------------------------------------------------------------- its life */

static void add_to_watch(struct work *work)
{
    (void)pthread_mutex_lock(&watch.lock);
    work->next = watch.first;
    work->at = &watch.first;
    if (work->next)
        work->next->at = &work->next;
    watch.first = work;
    if (watch.sleeps)
        (void)pthread_cond_signal(&watch.changed);
    (void)pthread_mutex_unlock(&watch.lock);
}

/* The caller holds the lock. */
static void remove_from_watch(struct work *work)
{
    if (!work->at)
        return;
    *work->at = work->next;
    if (work->next)
        work->next->at = work->at;
    work->at = NULL;
}

void work_watch_stream(struct work *work, work_pulse *pulse, void *context)
{
    (void)pthread_mutex_lock(&watch.lock);
    work->deadline_us = INT64_MAX;
    work->pulse = pulse;
    work->pulse_context = context;
    work->pulse_us = steady_us() + PULSE_US;
    (void)pthread_mutex_unlock(&watch.lock);
}

void work_unwatch(struct work *work)
{
    (void)pthread_mutex_lock(&watch.lock);
    remove_from_watch(work);
    (void)pthread_mutex_unlock(&watch.lock);
}

bool work_is_late(const struct work *work)
{
    return steady_us() >= work->deadline_us;
}

static int socket_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    return info ? info->connect_fd : -1;
}

struct work *work_begin(struct server *server, struct MHD_Connection *connection, const char *method,
                        const char *url)
{
    struct work *work = calloc(1, sizeof *work);

    if (!work || ses_cancel_open(server->store, &work->cancel, NULL) < 0) {
        free(work);
        return NULL;
    }
    work->server = server;
    work->threads = 1;
    work->socket = socket_of(connection);
    work->deadline_us = steady_us() + server->arguments.timeout_ms * 1000;
    if (server->tracer)
        work->span = span_begin(server->tracer, method, url,
                                MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "traceparent"));
    add_to_watch(work);
    return work;
}

void work_share(struct work *work)
{
    (void)pthread_mutex_lock(&watch.lock);
    work->threads++;
    (void)pthread_mutex_unlock(&watch.lock);
}

void work_client_left(struct work *work)
{
    (void)pthread_mutex_lock(&watch.lock);
    work->socket = -1; /* its number will soon be another's */
    (void)pthread_mutex_unlock(&watch.lock);
    ses_cancel_pull(work->cancel);
}

void work_end(struct work *work)
{
    (void)pthread_mutex_lock(&watch.lock);
    const bool is_last = --work->threads == 0;
    if (is_last)
        remove_from_watch(work);
    (void)pthread_mutex_unlock(&watch.lock);
    if (is_last) {
        span_end(work->span, work->route, work->status);
        ses_cancel_close(work->cancel);
        free(work);
    }
}

ses_cancel *work_cancel(struct work *work)
{
    return work->cancel;
}

void work_enter(struct work *work)
{
    span_enter(work ? work->span : NULL);
}

void work_set_reply(struct work *work, const char *route, unsigned status)
{
    work->route = route;
    work->status = status;
}
