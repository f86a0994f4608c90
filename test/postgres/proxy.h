/* The proxy of test/network.h before a PostgreSQL server. */
#ifndef SESLITE_TEST_POSTGRES_PROXY_H
#define SESLITE_TEST_POSTGRES_PROXY_H

#include <libpq-fe.h>

#include "network.h"

/* The server that a connection string names. */
static inline bool proxy_find(struct proxy *proxy, const char *server)
{
    PQconninfoOption *options = PQconninfoParse(server, NULL);
    const char *host = NULL;
    const char *port = NULL;

    for (PQconninfoOption *option = options; option && option->keyword; option++) {
        if (strcmp(option->keyword, "host") == 0)
            host = option->val;
        else if (strcmp(option->keyword, "port") == 0)
            port = option->val;
    }
    port = port ? port : "5432";
    char path[96] = "";
    if (host && host[0] == '/')
        snprintf(path, sizeof path, "%s/.s.PGSQL.%s", host, port);
    const bool found = host && (path[0] ? proxy_find_unix(proxy, path) : proxy_find_host(proxy, host, port));
    PQconninfoFree(options);
    return found;
}

/*
 * A proxy before the server that a connection string (keywords and values, with one host) names, which hands
 * on what comes `delay_us` later: half a round trip. Its `place` is the same string with the proxy for the
 * host. NULL: it cannot be started.
 */
static inline struct proxy *proxy_start(const char *server, unsigned delay_us)
{
    struct proxy *proxy = proxy_new(delay_us);

    if (!proxy || !proxy_find(proxy, server) || !proxy_go(proxy) ||
        snprintf(proxy->place, sizeof proxy->place, "%s host=%s port=5432", server, proxy->folder) >=
            (int)sizeof proxy->place) {
        free(proxy);
        return NULL;
    }
    return proxy;
}

#endif
