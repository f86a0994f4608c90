/* The name of a server's store in messages. */
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/postgres/connection/config.h"
#include "storage/postgres/connection/hosts.h"

static int make_name(const PQconninfoOption *given, const PQconninfoOption *defaults, char **name,
                     ses_error *error)
{
    static const char format[] = "postgresql://%s:%s/%s";
    const char *host = ses__pg_option(given, defaults, "host");
    const char *port = ses__pg_option(given, defaults, "port");
    const char *database = ses__pg_option(given, defaults, "dbname");
    ses_allocator allocator;

    ses__memory_default(&allocator);
    const int len = snprintf(NULL, 0, format, host, port, database);
    *name = len > 0 ? ses__memory_text(&allocator, (size_t)len) : NULL;
    if (!*name)
        return ses__error_nomem(error);
    (void)snprintf(*name, (size_t)len + 1, format, host, port, database);
    return SES_OK;
}

int ses__postgres_name(const char *connection, char **name, ses_error *error)
{
    struct pg_hosts hosts;
    int code = ses__pg_hosts_init(&hosts, connection, error);

    if (code == SES_OK)
        code = make_name(hosts.given, hosts.defaults, name, error);
    ses__pg_hosts_free(&hosts);
    return code;
}
