/*
 * A server does not notice that its client has gone while it waits for a lock or for a standby. Its process
 * would stay, and a store that opens another connection for each would fill the server. So the library
 * cancels the statement, and counts the connection until the server has closed its end of the socket.
 *
 * That end may never come: a proxy may lose or hold the cancels, a firewall may have forgotten the
 * connection. So each connection stops counting after a few seconds in any case. pg_terminate_backend would
 * not help. A process that ignores a cancel mostly ignores that, too. And it needs a second connection, which
 * may lead to another server (after a failover) or through a pooler (whose process numbers are made up), so
 * that it could end the process of a stranger.
 *
 * PQcancel has no timeout of its own. It runs on a thread, which nobody waits for.
 */
#include "storage/postgres/connection/connection.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"

/* A cancel that arrives between two statements has no effect, so it is repeated, with pauses that double. */
enum { FIRST_PAUSE_MS = 100 };
/* The limits of how long a connection counts: until the first cancel is through, and in all. */
enum { REACHED_WITHIN_US = 2000000, ENDED_WITHIN_US = 5000000 };

struct pg_leaving {
    struct pg_leaving *next;
    atomic_int holders; /* the pool and the thread: the last one frees it */
    atomic_int_least64_t counts_until_us;
    atomic_bool tried; /* the first cancel is through, or cannot be sent */
    PGconn *conn;      /* closed after the first cancel: a pooler forgets with it what to cancel */
    int socket;        /* a duplicate of its socket, to see when the server closes it */
    PGcancel *cancel;
};

/* True at the end of what the server sends. */
static bool ends_within(int socket, int ms)
{
    const int64_t deadline_us = ses__clock_steady_us() + ms * INT64_C(1000);
    struct pollfd polled = {.fd = socket, .events = POLLIN};
    char bytes[4096];

    for (int64_t left_us = ms * INT64_C(1000); left_us > 0; left_us = deadline_us - ses__clock_steady_us()) {
        if (poll(&polled, 1, (int)(left_us / 1000) + 1) > 0 && recv(socket, bytes, sizeof bytes, 0) <= 0)
            return true;
    }
    return false;
}

static void let_go(struct pg_leaving *leaving)
{
    if (atomic_fetch_sub(&leaving->holders, 1) > 1)
        return;
    PQfinish(leaving->conn);
    PQfreeCancel(leaving->cancel);
    if (leaving->socket >= 0)
        (void)close(leaving->socket);
    free(leaving);
}

static void *see_off(void *context)
{
    struct pg_leaving *leaving = context;
    const int64_t deadline_us = ses__clock_steady_us() + ENDED_WITHIN_US;
    char message[256];
    bool reached = true;
    bool ended = false;

    for (int pause_ms = FIRST_PAUSE_MS; reached && !ended && ses__clock_steady_us() < deadline_us;
         pause_ms *= 2) {
        reached = PQcancel(leaving->cancel, message, sizeof message) == 1;
        if (reached)
            atomic_store(&leaving->counts_until_us, deadline_us);
        atomic_store(&leaving->tried, true);
        PQfinish(leaving->conn);
        leaving->conn = NULL;
        (void)shutdown(leaving->socket, SHUT_WR);
        ended = reached && ends_within(leaving->socket, pause_ms);
    }
    atomic_store(&leaving->counts_until_us, 0);
    let_go(leaving);
    return NULL;
}

bool ses__pg_leave(struct pg *pg, struct pg_leaving **list)
{
    const bool is_at_work =
        pg->conn && PQstatus(pg->conn) == CONNECTION_OK && PQtransactionStatus(pg->conn) == PQTRANS_ACTIVE;
    /* It may outlive the store, and so does not use the store's allocator. */
    struct pg_leaving *leaving = is_at_work ? malloc(sizeof *leaving) : NULL;
    pthread_t thread;

    if (leaving) {
        *leaving = (struct pg_leaving){.next = *list,
                                       .holders = 2,
                                       .counts_until_us = ses__clock_steady_us() + REACHED_WITHIN_US,
                                       .conn = pg->conn,
                                       .socket = dup(PQsocket(pg->conn)),
                                       .cancel = PQgetCancel(pg->conn)};
        pg->conn = NULL;
    }
    ses__pg_close(&pg->base);
    if (leaving && leaving->socket >= 0 && leaving->cancel && ses__thread_start(&thread, see_off, leaving)) {
        (void)pthread_detach(thread);
        *list = leaving;
        return true;
    }
    if (leaving) {
        atomic_store(&leaving->holders, 1);
        let_go(leaving);
    }
    return false;
}

static bool has_left(const struct pg_leaving *leaving)
{
    return ses__clock_steady_us() >= atomic_load(&leaving->counts_until_us);
}

unsigned ses__pg_leaving_forget(struct pg_leaving **list)
{
    unsigned count = 0;

    while (*list) {
        struct pg_leaving *leaving = *list;
        if (has_left(leaving)) {
            *list = leaving->next;
            (void)shutdown(leaving->socket, SHUT_WR); /* if a cancel hangs, the server must see it */
            let_go(leaving);
            count++;
        } else {
            list = &leaving->next;
        }
    }
    return count;
}

void ses__pg_leaving_close(struct pg_leaving **list)
{
    const struct timespec pause = {0, 1000000};

    while (*list) {
        struct pg_leaving *leaving = *list;
        while (!atomic_load(&leaving->tried) && !has_left(leaving))
            (void)nanosleep(&pause, NULL);
        *list = leaving->next;
        let_go(leaving);
    }
}
