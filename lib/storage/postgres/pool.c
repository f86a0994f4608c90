/* The pool of connections. */
#include <poll.h>

#include "base/clock.h"
#include "base/condition.h"
#include "base/error.h"
#include "storage/postgres/parts.h"

static bool says_something(const struct pg *pg)
{
    struct pollfd socket = {.fd = PQsocket(pg->conn), .events = POLLIN};

    return poll(&socket, 1, 0) != 0;
}

/* Has the server ended it while it was idle? What a transaction that is over has not waited for is taken in; the server says
 * hardly anything else to one that asks nothing: that one of its settings has changed, and then a new connection costs
 * little. */
static bool is_over(struct pg *pg)
{
    if (!says_something(pg))
        return false;
    if (pg->awaited_count == 0 || PQconsumeInput(pg->conn) != 1)
        return true;
    ses__pg_drain(pg);
    return pg->lost || (pg->awaited_count == 0 && says_something(pg));
}

/* With the lock held. An idle one, or (then *pg is NULL) the right to open one. */
static int reserve(struct postgres *storage, struct pg **pg, int64_t deadline_us, ses_error *error)
{
    const unsigned most = storage->config.max_connections;
    bool in_time = true;

    while (!storage->idle && storage->open >= most && in_time) {
        storage->counts.reader_waits++;
        in_time = ses__condition_wait(&storage->given_back, &storage->lock, deadline_us);
    }
    *pg = storage->idle;
    if (*pg)
        storage->idle = (*pg)->next_idle;
    else if (storage->open < most)
        storage->open++;
    else
        return ses__error_set(error, SES_BUSY, "%s: all %u connections are still in use after %lld ms",
                              storage->config.name, most, (long long)(storage->config.timeout_us / 1000));
    storage->in_use++;
    return SES_OK;
}

/* With the lock held. */
static void one_less_in_use(struct postgres *storage)
{
    storage->in_use--;
    (void)pthread_cond_signal(&storage->given_back);
}

/* An idle one that is not over, or (then *pg is NULL) the right to open one. */
static int take_idle(struct postgres *storage, int64_t deadline_us, struct pg **pg, ses_error *error)
{
    int code = SES_OK;
    bool over = true;

    while (code == SES_OK && over) {
        (void)pthread_mutex_lock(&storage->lock);
        code = reserve(storage, pg, deadline_us, error);
        (void)pthread_mutex_unlock(&storage->lock);
        over = code == SES_OK && *pg && is_over(*pg);
        if (over) {
            (*pg)->lost = true;
            ses__pool_give_back(storage, *pg);
        }
    }
    return code;
}

/* From now on ses_store_interrupt knows of it. */
static void begin_call(struct postgres *storage, struct pg *pg, int64_t deadline_us, bool interruptible)
{
    pg->base.deadline_us = deadline_us;
    (void)pthread_mutex_lock(&storage->lock);
    atomic_store(&pg->interrupted, false);
    atomic_store(&pg->interruptible, interruptible);
    (void)pthread_mutex_unlock(&storage->lock);
}

/* One of which the right to open it is reserved. */
static struct pg *add_new(struct postgres *storage)
{
    struct pg *pg = ses__pg_new(&storage->config);

    (void)pthread_mutex_lock(&storage->lock);
    if (pg) {
        pg->next_open = storage->all;
        storage->all = pg;
    } else {
        storage->open--;
        one_less_in_use(storage);
    }
    (void)pthread_mutex_unlock(&storage->lock);
    return pg;
}

int ses__pool_take(struct postgres *storage, int64_t deadline_us, bool interruptible, struct pg **pg,
                   ses_error *error)
{
    struct pg *taken = NULL;
    int code = take_idle(storage, deadline_us, &taken, error);
    const bool connected = taken != NULL;

    if (code == SES_OK && !connected)
        taken = add_new(storage);
    if (code != SES_OK)
        return code;
    if (!taken)
        return ses__error_nomem(error);
    begin_call(storage, taken, deadline_us, interruptible);
    if (!connected)
        code = ses__pg_connect(taken, &storage->host, error);
    if (code == SES_OK) {
        *pg = taken;
    } else {
        taken->lost = true;
        ses__pool_give_back(storage, taken);
    }
    return code;
}

static void forget(struct postgres *storage, const struct pg *pg)
{
    struct pg **link = &storage->all;

    while (*link != pg)
        link = &(*link)->next_open;
    *link = pg->next_open;
}

/* With the lock held. What made one useless, a server that hangs or a way that is cut, has most likely met the idle ones,
 * too, and each would use up the time of a call. They are a list, to be closed. */
static struct pg *give_up_idle(struct postgres *storage)
{
    struct pg *given_up = storage->idle;

    storage->idle = NULL;
    for (struct pg *pg = given_up; pg; pg = pg->next_idle) {
        forget(storage, pg);
        storage->open--;
    }
    return given_up;
}

void ses__pool_give_back(struct postgres *storage, struct pg *pg)
{
    const bool keeps = !pg->lost;
    struct pg *closed = NULL;

    (void)pthread_mutex_lock(&storage->lock);
    atomic_store(&pg->interruptible, false);
    storage->counts.events += pg->base.events;
    pg->base.events = 0;
    pg->next_idle = storage->idle;
    storage->idle = pg;
    if (!keeps)
        closed = give_up_idle(storage);
    one_less_in_use(storage);
    (void)pthread_mutex_unlock(&storage->lock);
    while (closed) {
        struct pg *next = closed->next_idle;
        ses__pg_close(closed);
        closed = next;
    }
}

void ses__pool_close(struct postgres *storage)
{
    while (storage->all) {
        struct pg *pg = storage->all;
        storage->all = pg->next_open;
        ses__pg_close(pg);
    }
    storage->idle = NULL;
    storage->open = 0;
}
