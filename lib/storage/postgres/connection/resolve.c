/*
 * libpq calls getaddrinfo, which has no deadline. A name server that does not answer would cost many seconds, and the
 * other hosts would not be tried. So a thread resolves the name, and is left to itself if that takes too long.
 */
#include "storage/postgres/connection/resolve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/thread.h"

/* The longest time until an interrupt is seen. */
enum { LONGEST_WAIT_US = 50000 };

/* Shared by the waiting call and the thread: the last one frees it. */
struct lookup {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int holders;
    bool done;
    bool found;
    char addresses[ADDRESSES_SIZE]; /* or the reason why there are none */
    char host[];
};

bool ses__pg_is_host_name(const char *host)
{
    struct in6_addr address;

    return *host && *host != '/' && *host != '@' && inet_pton(AF_INET, host, &address) != 1 &&
           inet_pton(AF_INET6, host, &address) != 1 && !strchr(host, '%');
}

static bool add_address(struct lookup *lookup, const struct addrinfo *info)
{
    char text[64];
    const size_t len = strlen(lookup->addresses);

    if (getnameinfo(info->ai_addr, info->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST) != 0)
        return false;
    const int added =
        snprintf(lookup->addresses + len, sizeof lookup->addresses - len, "%s%s", len > 0 ? "," : "", text);
    if (added < 0 || (size_t)added >= sizeof lookup->addresses - len)
        lookup->addresses[len] = '\0';
    return lookup->addresses[len] != '\0';
}

static void look_up(struct lookup *lookup)
{
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const int failure = getaddrinfo(lookup->host, NULL, &wanted, &found);

    for (const struct addrinfo *info = failure == 0 ? found : NULL; info; info = info->ai_next)
        lookup->found = add_address(lookup, info) || lookup->found;
    if (failure == 0)
        freeaddrinfo(found);
    if (!lookup->found)
        (void)snprintf(lookup->addresses, sizeof lookup->addresses,
                       "the host name \"%.200s\" could not be resolved: %.200s", lookup->host,
                       failure ? gai_strerror(failure) : "it has no addresses");
}

static void let_go(struct lookup *lookup)
{
    (void)pthread_mutex_lock(&lookup->lock);
    const bool last = --lookup->holders == 0;
    (void)pthread_mutex_unlock(&lookup->lock);
    if (last) {
        (void)pthread_cond_destroy(&lookup->changed);
        (void)pthread_mutex_destroy(&lookup->lock);
        free(lookup);
    }
}

static void *run_lookup(void *context)
{
    struct lookup *lookup = context;

    look_up(lookup);
    (void)pthread_mutex_lock(&lookup->lock);
    lookup->done = true;
    (void)pthread_cond_signal(&lookup->changed);
    (void)pthread_mutex_unlock(&lookup->lock);
    let_go(lookup);
    return NULL;
}

/* It may outlive the store, and so does not use the store's allocator. */
static struct lookup *new_lookup(const char *host)
{
    const size_t size = strlen(host) + 1;
    struct lookup *lookup = calloc(1, sizeof *lookup + size);
    const bool lock = lookup && pthread_mutex_init(&lookup->lock, NULL) == 0;

    if (lock && ses__condition_init(&lookup->changed)) {
        memcpy(lookup->host, host, size);
        lookup->holders = 2;
        return lookup;
    }
    if (lock)
        (void)pthread_mutex_destroy(&lookup->lock);
    free(lookup);
    return NULL;
}

static int wait_for(struct lookup *lookup, const struct pg *pg)
{
    int code = SES_OK;

    (void)pthread_mutex_lock(&lookup->lock);
    while (code == SES_OK && !lookup->done) {
        const int64_t now_us = ses__clock_steady_us();
        const int64_t deadline_us = pg->base.deadline_us;
        if (atomic_load(&pg->interrupted))
            code = SES_INTERRUPTED;
        else if (now_us >= deadline_us)
            code = SES_BUSY;
        else
            (void)ses__condition_wait(&lookup->changed, &lookup->lock,
                                      now_us + LONGEST_WAIT_US < deadline_us ? now_us + LONGEST_WAIT_US
                                                                             : deadline_us);
    }
    (void)pthread_mutex_unlock(&lookup->lock);
    return code;
}

int ses__pg_resolve(const struct pg *pg, const char *host, char addresses[ADDRESSES_SIZE])
{
    struct lookup *lookup = new_lookup(host);
    pthread_t thread;

    if (!lookup)
        return SES_NOMEM;
    if (!ses__thread_start(&thread, run_lookup, lookup)) {
        lookup->holders = 1;
        let_go(lookup);
        return SES_NOMEM;
    }
    (void)pthread_detach(thread);
    int code = wait_for(lookup, pg);
    if (code == SES_OK) {
        memcpy(addresses, lookup->addresses, ADDRESSES_SIZE);
        code = lookup->found ? SES_OK : SES_CANTOPEN;
    }
    let_go(lookup);
    return code;
}
