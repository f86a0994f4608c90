/* Waiting for a server. */
#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "storage/postgres/connection/connection.h"

/* The longest time until an interrupt is seen. */
enum { LONGEST_POLL_MS = 50 };

int ses__pg_wait(struct pg *pg, bool writes)
{
    struct pollfd socket = {.fd = PQsocket(pg->conn), .events = (short)(POLLIN | (writes ? POLLOUT : 0))};
    int ready = 0;

    while (ready == 0) {
        const int64_t left_us = pg->base.deadline_us - ses__clock_steady_us();
        if (atomic_load(&pg->interrupted))
            return SES_INTERRUPTED;
        if (left_us <= 0)
            return SES_BUSY;
        const int64_t left_ms = left_us / 1000 + 1;
        ready = poll(&socket, 1, left_ms < LONGEST_POLL_MS ? (int)left_ms : LONGEST_POLL_MS);
        if (ready < 0 && errno == EINTR)
            ready = 0;
    }
    return SES_OK; /* using the socket shows what is wrong with it */
}
