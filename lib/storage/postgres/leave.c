/*
 * A server does not notice that its client has gone while it waits for a lock or for a standby: the process would stay, and
 * a store that opens another connection for each would fill the server. So the process is told to stop, and counts among the
 * connections of the store until it has closed its end of the socket.
 *
 * PQcancel may wait as long as the system tries to connect. It runs on a thread, which nobody waits for.
 */
#include "storage/postgres/leave.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"

/* It is told so often: a cancel that comes between two statements is lost. Then it is given up: where a firewall has
 * forgotten the connection, its end never arrives. */
enum { CANCELS = 5, CANCEL_EVERY_MS = 1000 };
/* So long the first cancel may take. Then nobody can say whether the server is there. */
enum { REACHED_WITHIN_US = 2000000 };

struct pg_leaving {
    struct pg_leaving *next;
    atomic_int holders; /* the pool and the thread: the last one frees it */
    atomic_bool over;
    atomic_bool reached;
    int socket; /* the connection's, which libpq has closed for itself */
    PGcancel *cancel;
    int64_t begun_us;
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

static void *see_off(void *context)
{
    struct pg_leaving *leaving = context;
    char message[256];
    bool reached = true;
    bool ended = false;

    (void)shutdown(leaving->socket, SHUT_WR);
    for (int i = 0; i < CANCELS && reached && !ended; i++) {
        reached = PQcancel(leaving->cancel, message, sizeof message) == 1;
        atomic_store(&leaving->reached, reached);
        ended = reached && ends_within(leaving->socket, CANCEL_EVERY_MS);
    }
    atomic_store(&leaving->over, true);
    ses__pg_leaving_free(leaving);
    return NULL;
}

static bool is_at_work(const struct pg *pg)
{
    return pg->conn && PQstatus(pg->conn) == CONNECTION_OK && PQtransactionStatus(pg->conn) == PQTRANS_ACTIVE;
}

/* It outlives the store, and so does not use the store's allocator. */
static struct pg_leaving *take_over(const struct pg *pg)
{
    struct pg_leaving *leaving = malloc(sizeof *leaving);

    if (!leaving)
        return NULL;
    *leaving = (struct pg_leaving){.holders = 2,
                                   .socket = dup(PQsocket(pg->conn)),
                                   .cancel = PQgetCancel(pg->conn),
                                   .begun_us = ses__clock_steady_us()};
    if (leaving->socket >= 0 && leaving->cancel)
        return leaving;
    atomic_store(&leaving->holders, 1);
    ses__pg_leaving_free(leaving);
    return NULL;
}

struct pg_leaving *ses__pg_leave(struct pg *pg)
{
    struct pg_leaving *leaving = is_at_work(pg) ? take_over(pg) : NULL;
    pthread_t thread;

    ses__pg_close(pg);
    if (!leaving)
        return NULL;
    if (ses__thread_start(&thread, see_off, leaving)) {
        (void)pthread_detach(thread);
        return leaving;
    }
    atomic_store(&leaving->holders, 1);
    ses__pg_leaving_free(leaving);
    return NULL;
}

bool ses__pg_has_left(const struct pg_leaving *leaving)
{
    return atomic_load(&leaving->over) || (!atomic_load(&leaving->reached) &&
                                           ses__clock_steady_us() - leaving->begun_us > REACHED_WITHIN_US);
}

void ses__pg_leaving_free(struct pg_leaving *leaving)
{
    if (atomic_fetch_sub(&leaving->holders, 1) > 1)
        return;
    PQfreeCancel(leaving->cancel);
    if (leaving->socket >= 0)
        (void)close(leaving->socket);
    free(leaving);
}

struct pg_leaving **ses__pg_leaving_next(struct pg_leaving *leaving)
{
    return &leaving->next;
}
