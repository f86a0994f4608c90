/* The pool of connections. */
#include <poll.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/error.h"
#include "storage/mysql/parts.h"

/* How long the pool leaves a server alone that refuses. */
enum { FIRST_PAUSE_US = 10000, LONGEST_PAUSE_US = 500000 };

static bool says_something(const struct my *my)
{
    struct pollfd socket = {.fd = mysql_get_socket(my->conn), .events = POLLIN};

    return poll(&socket, 1, 0) != 0;
}

/* True if the server has ended the connection while it was idle: nothing else arrives unasked. Reads the answer to the end of
 * the last transaction first, if it has arrived; else the next statement waits for it. */
static bool is_over(struct my *my)
{
    if (!says_something(my))
        return false;
    if (!my->sent)
        return true;
    ses__my_forget_failure(my);
    (void)ses__my_settle(my);
    return my->lost || says_something(my);
}

/* With the lock held. Wakes up in time to try a server again. */
static bool wait_for_one(struct mysql *storage, const struct limits *limits, int64_t deadline_us)
{
    int64_t until_us = deadline_us;

    if (storage->open < storage->config.max_connections && until_us > storage->open_after_us)
        until_us = storage->open_after_us;
    (void)ses__limits_wait(limits, &storage->given_back, &storage->lock, until_us);
    return ses__clock_steady_us() < deadline_us && !ses__limits_cancelled(limits);
}

/* With the lock held. True if another connection may be opened. While the server refuses, only one call at a time tries,
 * and seldom. */
static bool may_open(struct mysql *storage, int64_t now_us)
{
    if (storage->open >= storage->config.max_connections || now_us < storage->open_after_us)
        return false;
    storage->open_after_us = now_us + storage->pause_us;
    return true;
}

static int refuse_to_wait(const struct mysql *storage, const struct limits *limits, int64_t waited_us,
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
static int add_new(struct mysql *storage, struct my **my, ses_error *error)
{
    *my = ses__my_new(&storage->config);
    if (!*my)
        return ses__error_nomem(error);
    (*my)->next_open = storage->all;
    storage->all = *my;
    storage->open++;
    return SES_OK;
}

/* With the lock held. Takes an idle connection, or a new one. */
static int reserve(struct mysql *storage, struct my **my, const struct limits *limits, int64_t deadline_us,
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
        in_time = wait_for_one(storage, limits, deadline_us);
        now_us = ses__clock_steady_us();
    }
    *my = storage->idle;
    if (*my)
        storage->idle = (*my)->next_idle;
    else
        code = add_new(storage, my, error);
    storage->in_use += code == SES_OK;
    return code;
}

/* Waits longer after each refusal, so that a server that starts, or is full, is not flooded. */
static void learn_from_opening(struct mysql *storage, int code, const ses_error *error)
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

static int connect_new(struct mysql *storage, struct my *my, ses_error *error)
{
    ses_error refusal = {.code = SES_OK};
    const int code = ses__my_connect(my, &refusal);

    learn_from_opening(storage, code, &refusal);
    if (code != SES_OK && error)
        *error = refusal;
    return code;
}

int ses__mysql_take(struct mysql *storage, const struct limits *limits, int64_t deadline_us,
                    bool interruptible, struct my **my, ses_error *error)
{
    int code = SES_OK;
    bool works = false;

    while (code == SES_OK && !works) {
        (void)pthread_mutex_lock(&storage->lock);
        code = reserve(storage, my, limits, deadline_us, error);
        if (code == SES_OK) { /* from now on ses_store_interrupt ends the call */
            (*my)->base.deadline_us = deadline_us;
            (*my)->commit_deadline_us = deadline_us;
            (*my)->base.limits = limits;
            atomic_store(&(*my)->interrupted, false);
            atomic_store(&(*my)->interruptible, interruptible);
        }
        (void)pthread_mutex_unlock(&storage->lock);
        if (code != SES_OK)
            return code;
        const bool is_new = !(*my)->conn;
        if (is_new)
            code = connect_new(storage, *my, error);
        works = is_new ? code == SES_OK : !is_over(*my);
        (*my)->lost = !works;
        if (!works)
            ses__mysql_give_back(storage, *my);
    }
    return code;
}

static void forget(struct mysql *storage, const struct my *my)
{
    struct my **link = &storage->all;

    while (*link != my)
        link = &(*link)->next_open;
    *link = my->next_open;
    storage->open--;
}

/* If one connection is lost because the server hangs or the network is cut, and not because the time of its call is over,
 * the idle ones most likely are, too, and each would cost a call its time. The server ends idle connections at once. */
static void close_idle(struct mysql *storage)
{
    while (storage->idle) {
        struct my *my = storage->idle;
        storage->idle = my->next_idle;
        forget(storage, my);
        ses__my_close(my);
    }
}

void ses__mysql_give_back(struct mysql *storage, struct my *my)
{
    (void)pthread_mutex_lock(&storage->lock);
    atomic_store(&my->interruptible, false);
    storage->counts.events += my->base.events;
    my->base.events = 0;
    if (my->lost) {
        forget(storage, my);
        const bool is_limit = ses__limits_passed(my->base.limits);
        ses__my_leave(my);
        if (!is_limit)
            close_idle(storage);
    } else {
        my->base.limits = NULL;
        my->next_idle = storage->idle;
        storage->idle = my;
    }
    storage->in_use--;
    (void)pthread_cond_signal(&storage->given_back);
    (void)pthread_mutex_unlock(&storage->lock);
}

void ses__mysql_close_all(struct mysql *storage)
{
    while (storage->all) {
        struct my *my = storage->all;
        storage->all = my->next_open;
        ses__my_close(my);
    }
    storage->idle = NULL;
    storage->open = 0;
}
