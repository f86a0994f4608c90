/* The pool of connections. */
#include "storage/server/server.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"

/* The interval at which the pool looks whether connections have left, and the time for which it leaves a
 * server alone that refuses. */
enum { LEAVING_POLL_US = 10000, FIRST_REFUSED_US = 10000, LONGEST_REFUSED_US = 500000 };

bool ses__server_init(struct server *server, const struct server_config *config)
{
    const bool lock = pthread_mutex_init(&server->lock, NULL) == 0;
    const bool given_back = lock && ses__condition_init(&server->given_back);

    if (lock && !given_back)
        (void)pthread_mutex_destroy(&server->lock);
    server->base = (struct storage){
        .engine = config->engine, .allocator = config->allocator, .read_only = config->read_only};
    server->config = *config;
    return given_back;
}

void ses__server_close(struct storage *storage)
{
    struct server *server = (struct server *)storage;

    while (server->all) {
        struct remote *remote = server->all;
        server->all = remote->next_open;
        remote->driver->close(remote);
    }
    server->idle = NULL;
    server->open = 0;
    server->leaving = 0;
}

void ses__server_free(struct server *server)
{
    (void)pthread_cond_destroy(&server->given_back);
    (void)pthread_mutex_destroy(&server->lock);
}

void ses__server_interrupt(struct storage *storage)
{
    struct server *server = (struct server *)storage;

    (void)pthread_mutex_lock(&server->lock);
    for (struct remote *remote = server->all; remote; remote = remote->next_open) {
        if (atomic_load(&remote->interruptible))
            atomic_store(&remote->interrupted, true);
    }
    (void)pthread_mutex_unlock(&server->lock);
}

void ses__server_count(struct server *server, ses_stats *counts)
{
    (void)pthread_mutex_lock(&server->lock);
    counts->events += server->counts.events;
    counts->commits += server->counts.commits;
    counts->write_calls += server->counts.write_calls;
    counts->read_calls += server->counts.read_calls;
    counts->reader_waits += server->counts.reader_waits;
    counts->readers_open += server->open;
    counts->readers_in_use += server->in_use;
    (void)pthread_mutex_unlock(&server->lock);
}

/* --------------------------------------------------------------------------------------------- taking one */

/* With the lock held. Wakes up in time to look for connections that have left, and to try a server again,
 * since nothing signals these. */
static bool wait_for_one(struct server *server, const struct limits *limits, int64_t now_us,
                         int64_t deadline_us)
{
    int64_t until_us = deadline_us;

    if (server->leaving > 0 && until_us > now_us + LEAVING_POLL_US)
        until_us = now_us + LEAVING_POLL_US;
    if (server->open < server->config.max_connections && until_us > server->open_after_us)
        until_us = server->open_after_us;
    (void)ses__limits_wait(limits, &server->given_back, &server->lock, until_us);
    return ses__clock_steady_us() < deadline_us && !ses__limits_cancelled(limits);
}

/* With the lock held. True if another connection may be opened. While the server refuses, only one call at a
 * time tries, and seldom. */
static bool may_open(struct server *server, int64_t now_us)
{
    const unsigned left = server->leaving > 0 ? server->config.driver->left(server) : 0;

    server->leaving -= left;
    server->open -= left;
    if (server->open >= server->config.max_connections || now_us < server->open_after_us)
        return false;
    server->open_after_us = now_us + server->pause_us;
    return true;
}

static int refuse_to_wait(const struct server *server, const struct limits *limits, int64_t waited_us,
                          ses_error *error)
{
    if (ses__limits_cancelled(limits))
        return ses__limits_refuse(server->config.name, error);
    if (server->open < server->config.max_connections && server->refusal.code != SES_OK) {
        if (error)
            *error = server->refusal;
        return server->refusal.code;
    }
    return ses__error_set(error, SES_BUSY, "%s: all %u connections are still in use after %lld ms",
                          server->config.name, server->config.max_connections, (long long)(waited_us / 1000));
}

/* With the lock held. Takes an idle connection, or a new one. */
static int idle_or_new(struct server *server, struct remote **remote, const struct limits *limits,
                       int64_t deadline_us, ses_error *error)
{
    const int64_t begun_us = ses__clock_steady_us();
    int64_t now_us = begun_us;
    bool in_time = true;
    bool waited = false;

    while (!server->idle && !may_open(server, now_us)) {
        if (!in_time)
            return refuse_to_wait(server, limits, now_us - begun_us, error);
        server->counts.reader_waits += !waited;
        waited = true;
        in_time = wait_for_one(server, limits, now_us, deadline_us);
        now_us = ses__clock_steady_us();
    }
    *remote = server->idle;
    if (*remote) {
        server->idle = (*remote)->next_idle;
    } else { /* it is not connected yet */
        *remote = server->config.driver->make(server);
        if (!*remote)
            return ses__error_nomem(error);
        (*remote)->next_open = server->all;
        server->all = *remote;
        server->open++;
    }
    server->in_use++;
    return SES_OK;
}

/* Connects. The pool waits longer after each refusal, so that a server that starts, or is full, is not
 * flooded. */
static int connect_new(struct server *server, struct remote *remote, ses_error *error)
{
    ses_error refusal = {.code = SES_OK};
    const int code = remote->driver->connect(remote, &refusal);

    remote->connected = true;
    (void)pthread_mutex_lock(&server->lock);
    if (code == SES_OK) {
        server->pause_us = 0;
        server->open_after_us = 0;
        (void)pthread_cond_broadcast(&server->given_back);
    } else if (code == SES_CANTOPEN || code == SES_BUSY) {
        const int64_t now_us = ses__clock_steady_us();
        const int64_t longer_us = server->pause_us > 0 ? 2 * server->pause_us : FIRST_REFUSED_US;
        server->pause_us = longer_us < LONGEST_REFUSED_US ? longer_us : LONGEST_REFUSED_US;
        server->open_after_us = now_us + server->pause_us;
        server->refusal = refusal;
    }
    (void)pthread_mutex_unlock(&server->lock);
    if (code != SES_OK && error)
        *error = refusal;
    return code;
}

int ses__server_take(struct server *server, const struct limits *limits, int64_t deadline_us,
                     bool interruptible, struct remote **taken, ses_error *error)
{
    int code = SES_OK;
    bool works = false;

    while (code == SES_OK && !works) {
        struct remote *remote = NULL;
        (void)pthread_mutex_lock(&server->lock);
        code = idle_or_new(server, &remote, limits, deadline_us, error);
        if (code == SES_OK) { /* from now on ses_store_interrupt ends the call */
            remote->db.deadline_us = deadline_us;
            remote->commit_deadline_us = deadline_us;
            remote->db.limits = limits;
            atomic_store(&remote->interrupted, false);
            atomic_store(&remote->interruptible, interruptible);
        }
        (void)pthread_mutex_unlock(&server->lock);
        if (code != SES_OK)
            return code;
        if (remote->connected)
            works = !remote->driver->is_over(remote);
        else
            works = (code = connect_new(server, remote, error)) == SES_OK;
        remote->lost = !works;
        *taken = remote;
        if (!works)
            ses__server_give_back(server, remote);
    }
    return code;
}

/* ---------------------------------------------------------------------------------------- giving it back */

static void take_out(struct server *server, const struct remote *remote)
{
    struct remote **link = &server->all;

    while (*link != remote)
        link = &(*link)->next_open;
    *link = remote->next_open;
    server->open--;
}

/* A lost connection counts as open until the server has ended it. If one is lost because the server hangs or
 * the network is cut, and not because the time of its call is over, the idle ones most likely are, too, and
 * each would cost a call its time. The server ends idle connections at once. */
static void leave(struct server *server, struct remote *remote)
{
    const bool is_limit = ses__limits_passed(remote->db.limits);

    take_out(server, remote);
    if (remote->driver->leave(server, remote)) {
        server->leaving++;
        server->open++;
    }
    while (server->idle && !is_limit) {
        struct remote *idle = server->idle;
        server->idle = idle->next_idle;
        take_out(server, idle);
        idle->driver->close(idle);
    }
}

void ses__server_give_back(struct server *server, struct remote *remote)
{
    (void)pthread_mutex_lock(&server->lock);
    atomic_store(&remote->interruptible, false);
    server->counts.events += remote->db.events;
    remote->db.events = 0;
    if (remote->lost) {
        leave(server, remote);
    } else {
        remote->db.limits = NULL;
        remote->next_idle = server->idle;
        server->idle = remote;
    }
    server->in_use--;
    (void)pthread_cond_signal(&server->given_back);
    (void)pthread_mutex_unlock(&server->lock);
}
