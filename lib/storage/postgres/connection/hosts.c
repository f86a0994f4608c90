/*
 * The choice of a host. libpq can try a list by itself, but it only moves on when a host refuses, not when it
 * does not answer, because connect_timeout does not apply to nonblocking connections. So libpq gets one host
 * at a time.
 */
#include "storage/postgres/connection/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/postgres/connection/connection.h"

enum { MAX_OPTIONS = 100, PART_SIZE = 512 };

/* The options that are lists with an item for each host. */
static const char *const lists[] = {"host", "hostaddr", "port"};
enum { HOST, HOST_ADDRESS, PORT, LISTS };

static const char *find(const PQconninfoOption *options, const char *keyword)
{
    for (; options && options->keyword; options++) {
        if (strcmp(options->keyword, keyword) == 0)
            return options->val;
    }
    return NULL;
}

/* The value of an option, from the string or from the defaults; "" if there is none. */
static const char *option(const struct pg_hosts *hosts, const char *keyword)
{
    const char *value = find(hosts->given, keyword);

    if (!value)
        value = find(hosts->defaults, keyword);
    return value ? value : "";
}

/* ------------------------------------------------------------------------------------------------- lists */

static size_t count_parts(const char *list)
{
    size_t count = *list ? 1 : 0;

    for (; *list; list++)
        count += *list == ',';
    return count;
}

/* ------------------------------------------------------------------------------------------------- hosts */

/* The options of a service, and libpq's defaults for the rest. libpq only reports them for a connection, so
 * this makes one that fails before it connects. Returns NULL if out of memory. */
static PQconninfoOption *service_options(const char *service)
{
    const char *const names[] = {"service", "sslmode", NULL};
    const char *const values[] = {service, "none of libpq's", NULL};
    PGconn *conn = PQconnectStartParams(names, values, 0);
    PQconninfoOption *options = PQconninfo(conn);

    PQfinish(conn);
    return options;
}

int ses__pg_hosts_init(struct pg_hosts *hosts, const char *connection, ses_error *error)
{
    char *message = NULL;

    *hosts = (struct pg_hosts){.given = PQconninfoParse(connection, &message), .count = 1};
    if (!hosts->given) {
        const char *user = strstr(connection, "://");
        const char *host = user ? strrchr(user, '@') : NULL;
        /* libpq's message might quote it. */
        const bool may_have_password =
            strstr(connection, "pass") || (host && memchr(user + 3, ':', (size_t)(host - user) - 3));
        const int code =
            !message ? ses__error_nomem(error)
            : may_have_password
                ? ses__error_set(
                      error, SES_INVALID,
                      "not a PostgreSQL connection string, such as postgresql://user@host/database (the details may contain a password and are left out)")
                : ses__error_set(error, SES_INVALID, "not a PostgreSQL connection string: %.*s",
                                 (int)strcspn(message, "\n"), message);
        PQfreemem(message);
        return code;
    }
    const char *service = find(hosts->given, "service");
    hosts->defaults = service ? service_options(service) : PQconndefaults();
    /* Lists of different lengths are left to libpq, which reports them. */
    const size_t names = count_parts(option(hosts, lists[HOST]));
    const size_t addresses = count_parts(option(hosts, lists[HOST_ADDRESS]));
    const size_t ports = count_parts(option(hosts, lists[PORT]));
    const size_t count = addresses > 0 ? addresses : names;
    if (count > 0 && (names == 0 || names == count) && (ports <= 1 || ports == count))
        hosts->count = count;
    hosts->prefers_standby = strcmp(option(hosts, "target_session_attrs"), "prefer-standby") == 0;
    const long seconds = strtol(option(hosts, "connect_timeout"), NULL, 10);
    hosts->max_us = seconds > 0 && seconds < INT32_MAX ? seconds * INT64_C(1000000) : INT64_MAX;
    return SES_OK;
}

void ses__pg_hosts_free(struct pg_hosts *hosts)
{
    PQconninfoFree(hosts->given);
    PQconninfoFree(hosts->defaults);
}

int ses__postgres_name(const char *connection, char **name, ses_error *error)
{
    static const char format[] = "postgresql://%s:%s/%s";
    ses_allocator allocator;
    struct pg_hosts hosts;
    int code = ses__pg_hosts_init(&hosts, connection, error);

    if (code == SES_OK) {
        const char *host = option(&hosts, lists[HOST]);
        const char *port = option(&hosts, lists[PORT]);
        const char *database = option(&hosts, "dbname");
        const size_t len = strlen(host) + strlen(port) + strlen(database) + sizeof format;
        ses__memory_default(&allocator);
        *name = ses__memory_text(&allocator, len);
        if (*name)
            (void)snprintf(*name, len, format, host, port, database);
        else
            code = ses__error_nomem(error);
    }
    ses__pg_hosts_free(&hosts);
    return code;
}

/* With prefer-standby, looks for a standby first, then for any server. */
size_t ses__pg_hosts_tries(const struct pg_hosts *hosts)
{
    return hosts->prefers_standby ? 2 * hosts->count : hosts->count;
}

struct parameters {
    const char *names[MAX_OPTIONS + 1];
    const char *values[MAX_OPTIONS + 1];
    size_t count;
    char parts[LISTS][PART_SIZE];
    char names_of_addresses[MAX_ADDRESSES * PART_SIZE];
};

/* If a name is added twice, the last value counts. */
static void add(struct parameters *parameters, const char *name, const char *value)
{
    if (parameters->count < MAX_OPTIONS && value && *value) {
        parameters->names[parameters->count] = name;
        parameters->values[parameters->count++] = value;
    }
}

static bool is_list(const char *keyword)
{
    bool found = false;

    for (size_t i = 0; i < LISTS; i++)
        found = found || strcmp(keyword, lists[i]) == 0;
    return found;
}

/* Certificates and passwords need the host's name, so it is repeated for each address. */
static void add_addresses(struct parameters *parameters, const char *name, const char *addresses)
{
    const size_t count = count_parts(addresses);
    size_t len = 0;

    for (size_t i = 0; i < count && len < sizeof parameters->names_of_addresses; i++)
        len += (size_t)snprintf(parameters->names_of_addresses + len,
                                sizeof parameters->names_of_addresses - len, "%s%s", i > 0 ? "," : "", name);
    add(parameters, lists[HOST], parameters->names_of_addresses);
    add(parameters, lists[HOST_ADDRESS], addresses);
}

int ses__pg_hosts_start(const struct pg_hosts *hosts, size_t first, size_t tried, struct pg *pg,
                        char addresses[ADDRESSES_SIZE])
{
    struct parameters parameters = {.count = 0};

    for (size_t i = 0; i < LISTS; i++) { /* a list with a single item holds for all hosts */
        const char *list = option(hosts, lists[i]);
        size_t len = strcspn(list, ",");
        for (size_t index = (first + tried) % hosts->count; index > 0 && list[len] == ','; index--) {
            list += len + 1;
            len = strcspn(list, ",");
        }
        (void)snprintf(parameters.parts[i], PART_SIZE, "%.*s", (int)(len < PART_SIZE ? len : PART_SIZE - 1),
                       list);
    }
    const char *name = parameters.parts[HOST];
    const bool resolves = hosts->count == count_parts(option(hosts, lists[HOST])) &&
                          !parameters.parts[HOST_ADDRESS][0] && ses__pg_is_host_name(name);
    const int code = resolves ? ses__pg_resolve(pg, name, addresses) : SES_OK;
    if (code != SES_OK)
        return code;
    /* Options of the string come later and override this; the encoding overrides them. */
    add(&parameters, "application_name", "seslite");
    for (const PQconninfoOption *given = hosts->given; given->keyword; given++) {
        if (hosts->count == 1 || !is_list(given->keyword))
            add(&parameters, given->keyword, given->val);
    }
    for (size_t i = 0; i < LISTS && hosts->count > 1; i++)
        add(&parameters, lists[i], parameters.parts[i]);
    if (resolves)
        add_addresses(&parameters, name, addresses);
    if (hosts->prefers_standby)
        add(&parameters, "target_session_attrs", tried < hosts->count ? "standby" : "any");
    add(&parameters, "client_encoding", "UTF8");
    pg->conn = PQconnectStartParams(parameters.names, parameters.values, 0);
    return pg->conn ? SES_OK : SES_NOMEM;
}
