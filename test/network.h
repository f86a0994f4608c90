/*
 * A network of a given round trip between a program and its server, on one machine: a thread that hands on
 * what each side sends, later. It looks at the clock and does not sleep between reads, so that a long delay
 * costs no throughput. It counts the round trips: how often a client was given something of an answer after it
 * had sent something. (Not the other way about: the end of a read is sent, and nobody waits for its answer.)
 *
 * Connections come in by a socket in a folder of the proxy's own, where clients use neither TLS nor GSSAPI.
 */
#ifndef SESLITE_TEST_NETWORK_H
#define SESLITE_TEST_NETWORK_H

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Connections that a proxy takes in its life; what one read takes. */
enum { PROXY_LINKS = 4096, PROXY_READ = 65536 };
/* The descriptors that are polled before the connections. */
enum { PROXY_WAKE, PROXY_TIMER, PROXY_LISTENER, PROXY_FIXED };
/* A sleep ends so much before its time, and the rest is waited out by asking again. */
enum { PROXY_SPIN_NS = 30000 };

/* How the proxy treats requests to cancel: it hands them on, closes them, or never answers. */
enum { PROXY_CANCELS_PASS, PROXY_CANCELS_ARE_LOST, PROXY_CANCELS_HANG };

/* The bytes of one read. Empty: the end of what this side sends. */
struct proxy_piece {
    struct proxy_piece *next;
    int64_t due_ns;
    size_t len;
    size_t sent;
    char bytes[];
};

struct proxy_way {
    struct proxy_piece *first;
    struct proxy_piece *last;
    bool ended;   /* nothing more is read */
    bool blocked; /* the other end has no room */
    bool done;    /* the end was handed on */
};

struct proxy_link {
    int client; /* -1: closed */
    int server;
    struct proxy_way up; /* to the server */
    struct proxy_way down;
    bool cut;
    atomic_bool asked; /* the client sent something since it was given something, or since a reset */
    atomic_ulong turns;
};

struct proxy {
    char place[600]; /* for the client */
    char folder[64];
    char path[96];                  /* of the socket there */
    struct sockaddr_storage server; /* where it is */
    socklen_t server_len;
    int listener;
    int timer;
    int wake[2]; /* a pipe: what is closed at its far end ends the thread */
    int64_t delay_ns;
    pthread_t thread;
    atomic_int count; /* of links */
    atomic_int cancels;
    atomic_int cancels_seen;
    atomic_bool refuses; /* new connections are closed at once */
    atomic_int refused;
    /* The number of bytes that are still handed on before the link that they belong to is cut; negative: all
     * are. */
    atomic_long up_left;
    atomic_long down_left;
    struct proxy_link links[PROXY_LINKS];
    struct pollfd polled[PROXY_FIXED + 2 * PROXY_LINKS];
};

static inline int64_t proxy_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ------------------------------------------------------------------------------------------ handing on */

static inline void proxy_forget(struct proxy_way *way)
{
    while (way->first) {
        struct proxy_piece *next = way->first->next;
        free(way->first);
        way->first = next;
    }
    way->last = NULL;
}

static inline void proxy_close_link(struct proxy_link *link)
{
    close(link->client);
    close(link->server);
    link->client = -1;
    proxy_forget(&link->up);
    proxy_forget(&link->down);
}

/* Sets `*any` if something came. False: the connection is broken, or there is no memory. */
static inline bool proxy_read(const struct proxy *proxy, int from, struct proxy_way *way, bool *any)
{
    char bytes[PROXY_READ];
    const ssize_t len = read(from, bytes, sizeof bytes);

    *any = len > 0;
    if (len < 0)
        return errno == EAGAIN || errno == EINTR;
    struct proxy_piece *piece = malloc(sizeof *piece + (size_t)len);
    if (!piece)
        return false;
    *piece = (struct proxy_piece){.due_ns = proxy_now() + proxy->delay_ns, .len = (size_t)len};
    memcpy(piece->bytes, bytes, (size_t)len);
    *(way->first ? &way->last->next : &way->first) = piece;
    way->last = piece;
    way->ended = len == 0;
    return true;
}

/* Sends what is due. */
static inline bool proxy_send(int to, struct proxy_way *way, int64_t now)
{
    way->blocked = false;
    while (way->first && way->first->due_ns <= now) {
        struct proxy_piece *piece = way->first;
        if (piece->len == 0) {
            (void)shutdown(to, SHUT_WR);
            way->done = true;
        } else {
            const ssize_t sent = send(to, piece->bytes + piece->sent, piece->len - piece->sent, MSG_NOSIGNAL);
            if (sent < 0 && errno != EAGAIN && errno != EINTR)
                return false;
            piece->sent += sent > 0 ? (size_t)sent : 0;
            way->blocked = piece->sent < piece->len;
            if (way->blocked)
                return true;
        }
        way->first = piece->next;
        free(piece);
    }
    return true;
}

/* Keeps of what came last only what is to be handed on before the link is cut. */
static inline void proxy_count(atomic_long *left, struct proxy_way *way, bool *cut)
{
    const long most = atomic_load(left);

    if (most < 0 || *cut)
        return;
    *cut = (long)way->last->len > most;
    if (*cut)
        way->last->len = (size_t)most;
    atomic_store(left, *cut ? -1 : most - (long)way->last->len);
}

/* https://www.postgresql.org/docs/current/protocol-message-formats.html, CancelRequest */
static inline bool proxy_is_cancel(const struct proxy_piece *piece)
{
    return piece->len == 16 && memcmp(piece->bytes, "\0\0\0\x10\x04\xd2\x16\x2e", 8) == 0;
}

static inline bool proxy_serve_client(struct proxy *proxy, struct proxy_link *link)
{
    const int cancels = atomic_load(&proxy->cancels);
    bool any = false;

    if (!proxy_read(proxy, link->client, &link->up, &any))
        return false;
    if (any && proxy_is_cancel(link->up.last)) {
        atomic_fetch_add(&proxy->cancels_seen, 1);
        if (cancels != PROXY_CANCELS_PASS) {
            proxy_forget(&link->up);
            return cancels == PROXY_CANCELS_HANG;
        }
    }
    if (any)
        proxy_count(&proxy->up_left, &link->up, &link->cut);
    if (any)
        atomic_store(&link->asked, true);
    return true;
}

/* Before the client is given something, so that it finds it counted. */
static inline void proxy_count_turn(struct proxy_link *link, int64_t now)
{
    const struct proxy_piece *piece = link->down.first;

    if (piece && piece->due_ns <= now && piece->len > 0 && piece->sent == 0 &&
        atomic_exchange(&link->asked, false))
        atomic_fetch_add(&link->turns, 1);
}

/* `client` and `server`: what poll found there. */
static inline void proxy_serve(struct proxy *proxy, struct proxy_link *link, short client, short server)
{
    const short readable = POLLIN | POLLHUP | POLLERR;
    bool good = true;
    bool any = false;

    if (client & readable && !link->up.ended)
        good = proxy_serve_client(proxy, link);
    if (good && server & readable && !link->down.ended)
        good = proxy_read(proxy, link->server, &link->down, &any);
    if (any)
        proxy_count(&proxy->down_left, &link->down, &link->cut);
    const int64_t now = proxy_now();
    proxy_count_turn(link, now);
    good = good && proxy_send(link->server, &link->up, now) && proxy_send(link->client, &link->down, now);
    if (!good || (link->up.done && link->down.done) || (link->cut && !link->up.first && !link->down.first))
        proxy_close_link(link);
}

/* ------------------------------------------------------------------------------------------ the thread */

static inline void proxy_accept(struct proxy *proxy)
{
    const int client = accept(proxy->listener, NULL, NULL);
    const int number = atomic_load(&proxy->count);
    const int on = 1;

    if (client < 0)
        return;
    if (atomic_load(&proxy->refuses)) {
        atomic_fetch_add(&proxy->refused, 1);
        close(client);
        return;
    }
    const int server = socket(proxy->server.ss_family, SOCK_STREAM, 0);
    if (number == PROXY_LINKS || server < 0 ||
        connect(server, (const struct sockaddr *)&proxy->server, proxy->server_len) != 0) {
        close(client);
        if (server >= 0)
            close(server);
        return;
    }
    if (proxy->server.ss_family != AF_UNIX)
        (void)setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)fcntl(client, F_SETFL, O_NONBLOCK);
    (void)fcntl(server, F_SETFL, O_NONBLOCK);
    proxy->links[number].client = client;
    proxy->links[number].server = server;
    proxy->links[number].cut = false;
    atomic_store(&proxy->count, number + 1);
}

static inline short proxy_events(const struct proxy_way *in, const struct proxy_way *out)
{
    return (short)((in->ended ? 0 : POLLIN) | (out->blocked ? POLLOUT : 0));
}

static inline int64_t proxy_sooner(int64_t due, const struct proxy_way *way)
{
    return way->first && !way->blocked && way->first->due_ns < due ? way->first->due_ns : due;
}

/* Fills `polled`; when something is due. */
static inline int64_t proxy_watch(struct proxy *proxy)
{
    const int count = atomic_load(&proxy->count);
    int64_t due = INT64_MAX;

    proxy->polled[PROXY_WAKE] = (struct pollfd){.fd = proxy->wake[0], .events = POLLIN};
    proxy->polled[PROXY_TIMER] = (struct pollfd){.fd = proxy->timer, .events = POLLIN};
    proxy->polled[PROXY_LISTENER] = (struct pollfd){.fd = proxy->listener, .events = POLLIN};
    for (int i = 0; i < count; i++) {
        const struct proxy_link *link = &proxy->links[i];
        struct pollfd *polled = &proxy->polled[PROXY_FIXED + 2 * i];
        const short client = link->client < 0 ? 0 : proxy_events(&link->up, &link->down);
        const short server = link->client < 0 ? 0 : proxy_events(&link->down, &link->up);
        /* One of which nothing is wanted is not watched: it would say again and again that it hung up. */
        polled[0] = (struct pollfd){.fd = client ? link->client : -1, .events = client};
        polled[1] = (struct pollfd){.fd = server ? link->server : -1, .events = server};
        if (link->client >= 0)
            due = proxy_sooner(proxy_sooner(due, &link->up), &link->down);
    }
    return due;
}

/* Waits for what is polled, or until something is due. */
static inline void proxy_wait(struct proxy *proxy, int64_t due)
{
    const int count = atomic_load(&proxy->count);
    const int64_t until = due == INT64_MAX ? 0 : due - PROXY_SPIN_NS; /* 0: the timer is off */
    const bool spin = due != INT64_MAX && until <= proxy_now();
    const struct itimerspec timer = {
        .it_value = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000}};

    if (!spin)
        (void)timerfd_settime(proxy->timer, TFD_TIMER_ABSTIME, &timer, NULL);
    if (poll(proxy->polled, (nfds_t)(PROXY_FIXED + 2 * count), spin ? 0 : -1) >= 0)
        return;
    for (int i = 0; i < PROXY_FIXED + 2 * count; i++)
        proxy->polled[i].revents = 0;
}

static inline void *proxy_run(void *context)
{
    struct proxy *proxy = context;

    /* As root, it is on time on a busy machine, too. (On Linux it is this thread's.) */
    (void)setpriority(PRIO_PROCESS, 0, -20);
    for (;;) {
        proxy_wait(proxy, proxy_watch(proxy));
        if (proxy->polled[PROXY_WAKE].revents)
            return NULL;
        const int count = atomic_load(&proxy->count);
        for (int i = 0; i < count; i++) {
            const struct pollfd *polled = &proxy->polled[PROXY_FIXED + 2 * i];
            if (proxy->links[i].client >= 0)
                proxy_serve(proxy, &proxy->links[i], polled[0].revents, polled[1].revents);
        }
        if (proxy->polled[PROXY_LISTENER].revents)
            proxy_accept(proxy);
    }
}

/* ----------------------------------------------------------------------------------- beginning and end */

static inline bool proxy_find_unix(struct proxy *proxy, const char *path)
{
    struct sockaddr_un *address = (struct sockaddr_un *)&proxy->server;

    address->sun_family = AF_UNIX;
    proxy->server_len = sizeof *address;
    return snprintf(address->sun_path, sizeof address->sun_path, "%s", path) < (int)sizeof address->sun_path;
}

static inline bool proxy_find_host(struct proxy *proxy, const char *host, const char *port)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;

    if (getaddrinfo(host, port, &hints, &found) != 0)
        return false;
    memcpy(&proxy->server, found->ai_addr, found->ai_addrlen);
    proxy->server_len = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

static inline bool proxy_listen(struct proxy *proxy)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    strcpy(proxy->folder, "/tmp/seslite-proxy-XXXXXX");
    if (!mkdtemp(proxy->folder))
        return false;
    snprintf(proxy->path, sizeof proxy->path, "%s/.s.PGSQL.5432", proxy->folder); /* as libpq wants it */
    strcpy(address.sun_path, proxy->path);
    proxy->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    return proxy->listener >= 0 && bind(proxy->listener, (struct sockaddr *)&address, sizeof address) == 0 &&
           listen(proxy->listener, 128) == 0 && fcntl(proxy->listener, F_SETFL, O_NONBLOCK) == 0;
}

/* NULL: there is no memory. */
static inline struct proxy *proxy_new(unsigned delay_us)
{
    struct proxy *proxy = calloc(1, sizeof *proxy);

    if (proxy) {
        proxy->delay_ns = (int64_t)delay_us * 1000;
        atomic_store(&proxy->up_left, -1);
        atomic_store(&proxy->down_left, -1);
    }
    return proxy;
}

/* Starts a proxy that has found its server. */
static inline bool proxy_go(struct proxy *proxy)
{
    proxy->timer = timerfd_create(CLOCK_MONOTONIC, 0);
    return proxy->timer >= 0 && proxy_listen(proxy) && pipe(proxy->wake) == 0 &&
           pthread_create(&proxy->thread, NULL, proxy_run, proxy) == 0;
}

/* Cuts what is connected. */
static inline void proxy_stop(struct proxy *proxy)
{
    close(proxy->wake[1]);
    (void)pthread_join(proxy->thread, NULL);
    for (int i = 0; i < atomic_load(&proxy->count); i++) {
        if (proxy->links[i].client >= 0)
            proxy_close_link(&proxy->links[i]);
    }
    close(proxy->wake[0]);
    close(proxy->listener);
    close(proxy->timer);
    (void)unlink(proxy->path);
    (void)rmdir(proxy->folder);
    free(proxy);
}

/* ------------------------------------------------------------------------------------------- counting */

/* Connections so far. */
static inline int proxy_connections(struct proxy *proxy)
{
    return atomic_load(&proxy->count);
}

/* Round trips of the n-th connection (from 0) since the last reset. */
static inline unsigned long proxy_turns_of(struct proxy *proxy, int number)
{
    return atomic_load(&proxy->links[number].turns);
}

/* The bytes of all connections. */
static inline unsigned long proxy_turns(struct proxy *proxy)
{
    unsigned long sum = 0;

    for (int i = 0; i < proxy_connections(proxy); i++)
        sum += proxy_turns_of(proxy, i);
    return sum;
}

static inline void proxy_reset(struct proxy *proxy)
{
    for (int i = 0; i < proxy_connections(proxy); i++) {
        atomic_store(&proxy->links[i].asked, false);
        atomic_store(&proxy->links[i].turns, 0);
    }
}

#endif
