/* The pool of connections. */
#include <poll.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/error.h"
#include "storage/postgres/parts.h"

/* How often the pool looks whether connections have left, and how long it leaves a server alone that refuses. */
enum { LEAVING_POLL_US = 10000, FIRST_PAUSE_US = 10000, LONGEST_PAUSE_US = 500000 };

static bool says_something(const struct pg *pg)
{
    struct pollfd socket = {.fd = PQsocket(pg->conn), .events = POLLIN};

    return poll(&socket, 1, 0) != 0;
}

/* True if the server has ended the connection while it was idle. Reads the remaining answers of the last transaction
 * first. Anything else that arrives is the end, or the rare notice of a changed setting, for which a new connection costs
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

/* With the lock held. Wakes up in time to look for connections that have left, and to try a server again, since nothing
 * signals these. */
static bool wait_for_one(struct postgres *storage, const struct limits *limits, int64_t now_us,
                         int64_t deadline_us)
{
    int64_t until_us = deadline_us;

    if (storage->leaving && until_us > now_us + LEAVING_POLL_US)
        until_us = now_us + LEAVING_POLL_US;
    if (storage->open < storage->config.max_connections && until_us > storage->open_after_us)
        until_us = storage->open_after_us;
    (void)ses__limits_wait(limits, &storage->given_back, &storage->lock, until_us);
    return ses__clock_steady_us() < deadline_us && !ses__limits_cancelled(limits);
}

/* With the lock held. True if another connection may be opened. While the server refuses, only one call at a time tries,
 * and seldom. */
static bool may_open(struct postgres *storage, int64_t now_us)
{
    storage->open -= ses__pg_leaving_forget(&storage->leaving);
    if (storage->open >= storage->config.max_connections || now_us < storage->open_after_us)
        return false;
    storage->open_after_us = now_us + storage->pause_us;
    return true;
}

static int refuse_to_wait(const struct postgres *storage, const struct limits *limits, int64_t waited_us,
                          ses_error *error)
{
    if (ses__limits_cancelled(limits))
        return ses__limits_refuse(storage->config.name, error);
    if (storage->open < storage->config.max_connections && storage->refusal.code != SES_OK) {
        if (error)
            *error = storage->refusal;
        return storage->refusal.code;
    }
    return ses__error_set(error, SES_BUSY, "%s: all %u connections are still in use after %lld ms",
                          storage->config.name, storage->config.max_connections,
                          (long long)(waited_us / 1000));
}

/* With the lock held. A connection that is not connected yet. */
static int add_new(struct postgres *storage, struct pg **pg, ses_error *error)
{
    *pg = ses__pg_new(&storage->config);
    if (!*pg)
        return ses__error_nomem(error);
    (*pg)->next_open = storage->all;
    storage->all = *pg;
    storage->open++;
    return SES_OK;
}

/* With the lock held. Takes an idle connection, or a new one. */
static int reserve(struct postgres *storage, struct pg **pg, const struct limits *limits, int64_t deadline_us,
                   ses_error *error)
{
    const int64_t begun_us = ses__clock_steady_us();
    int64_t now_us = begun_us;
    bool in_time = true;
    bool waited = false;
    int code = SES_OK;

    while (!storage->idle && !may_open(storage, now_us)) {
        if (!in_time)
            return refuse_to_wait(storage, limits, now_us - begun_us, error);
        storage->counts.reader_waits += !waited;
        waited = true;
        in_time = wait_for_one(storage, limits, now_us, deadline_us);
        now_us = ses__clock_steady_us();
    }
    *pg = storage->idle;
    if (*pg)
        storage->idle = (*pg)->next_idle;
    else
        code = add_new(storage, pg, error);
    storage->in_use += code == SES_OK;
    return code;
}

/* Waits longer after each refusal, so that a server that starts, or is full, is not flooded. */
static void learn_from_opening(struct postgres *storage, int code, const ses_error *error)
{
    (void)pthread_mutex_lock(&storage->lock);
    if (code == SES_OK) {
        storage->pause_us = 0;
        storage->open_after_us = 0;
        (void)pthread_cond_broadcast(&storage->given_back);
    } else if (code == SES_CANTOPEN || code == SES_BUSY) {
        const int64_t now_us = ses__clock_steady_us();
        const int64_t longer_us = storage->pause_us > 0 ? 2 * storage->pause_us : FIRST_PAUSE_US;
        storage->pause_us = longer_us < LONGEST_PAUSE_US ? longer_us : LONGEST_PAUSE_US;
        storage->open_after_us = now_us + storage->pause_us;
        storage->refusal = *error;
    }
    (void)pthread_mutex_unlock(&storage->lock);
}

static int connect_new(struct postgres *storage, struct pg *pg, ses_error *error)
{
    ses_error refusal = {.code = SES_OK};
    const int code = ses__pg_connect(pg, &storage->host, &refusal);

    learn_from_opening(storage, code, &refusal);
    if (code != SES_OK && error)
        *error = refusal;
    return code;
}

int ses__pool_take(struct postgres *storage, const struct limits *limits, int64_t deadline_us,
                   bool interruptible, struct pg **pg, ses_error *error)
{
    int code = SES_OK;
    bool works = false;

    while (code == SES_OK && !works) {
        (void)pthread_mutex_lock(&storage->lock);
        code = reserve(storage, pg, limits, deadline_us, error);
        if (code == SES_OK) { /* from now on ses_store_interrupt ends the call */
            (*pg)->base.deadline_us = deadline_us;
            (*pg)->commit_deadline_us = deadline_us;
            (*pg)->base.limits = limits;
            atomic_store(&(*pg)->interrupted, false);
            atomic_store(&(*pg)->interruptible, interruptible);
        }
        (void)pthread_mutex_unlock(&storage->lock);
        if (code != SES_OK)
            return code;
        const bool is_new = !(*pg)->conn;
        if (is_new)
            code = connect_new(storage, *pg, error);
        works = is_new ? code == SES_OK : !is_over(*pg);
        (*pg)->lost = !works;
        if (!works)
            ses__pool_give_back(storage, *pg);
    }
    return code;
}

static void forget(struct postgres *storage, const struct pg *pg)
{
    struct pg **link = &storage->all;

    while (*link != pg)
        link = &(*link)->next_open;
    *link = pg->next_open;
    storage->open--;
}

/* If one connection is lost because the server hangs or the network is cut, and not because the time of its call is over,
 * the idle ones most likely are, too, and each would cost a call its time. The server ends idle connections at once. */
static void close_idle(struct postgres *storage)
{
    while (storage->idle) {
        struct pg *pg = storage->idle;
        storage->idle = pg->next_idle;
        forget(storage, pg);
        ses__pg_close(pg);
    }
}

/* A lost connection counts as open until the server has ended it. */
void ses__pool_give_back(struct postgres *storage, struct pg *pg)
{
    (void)pthread_mutex_lock(&storage->lock);
    atomic_store(&pg->interruptible, false);
    storage->counts.events += pg->base.events;
    pg->base.events = 0;
    if (pg->lost) {
        forget(storage, pg);
        const bool is_limit = ses__limits_passed(pg->base.limits);
        storage->open += ses__pg_leave(pg, &storage->leaving);
        if (!is_limit)
            close_idle(storage);
    } else {
        pg->base.limits = NULL;
        pg->next_idle = storage->idle;
        storage->idle = pg;
    }
    storage->in_use--;
    (void)pthread_cond_signal(&storage->given_back);
    (void)pthread_mutex_unlock(&storage->lock);
}

void ses__pool_close(struct postgres *storage)
{
    while (storage->all) {
        struct pg *pg = storage->all;
        storage->all = pg->next_open;
        ses__pg_close(pg);
    }
    ses__pg_leaving_close(&storage->leaving);
    storage->idle = NULL;
    storage->open = 0;
}
