#include "files/place.h"

#include <string.h>

#include "text/refuse.h"

typedef int open_server(const char *, const ses_open_options *, ses_store **, ses_error *);

#ifdef WITH_POSTGRES
#include "seslite_postgres.h"

static int open_postgres(const char *place, const ses_open_options *options, ses_store **store,
                         ses_error *error)
{
    return ses_open_postgres(place, options, NULL, store, error);
}
#else
#define open_postgres NULL
#endif

#ifdef WITH_MYSQL
#include "seslite_mysql.h"

static int open_mysql(const char *place, const ses_open_options *options, ses_store **store, ses_error *error)
{
    return ses_open_mysql(place, options, NULL, store, error);
}
#else
#define open_mysql NULL
#endif

/* The engines for servers, by the schemes of their addresses. `open` is NULL if this command lacks the
 * engine, which `option` builds in. */
static const struct server {
    const char *scheme;
    open_server *open;
    const char *name;
    const char *option;
} servers[] = {
    {"postgresql://", open_postgres, "PostgreSQL", "POSTGRES=1"}, /* libpq knows both schemes */
    {"postgres://", open_postgres, "PostgreSQL", "POSTGRES=1"},
    {"mysql://", open_mysql, "MySQL", "MYSQL=1"},
    {"mariadb://", open_mysql, "MySQL", "MYSQL=1"},
};

/* The engine whose address the text begins with, or NULL. */
static const struct server *server_of(const char *place)
{
    for (size_t i = 0; i < sizeof servers / sizeof servers[0]; i++)
        if (strncmp(place, servers[i].scheme, strlen(servers[i].scheme)) == 0)
            return &servers[i];
    return NULL;
}

bool place_is_server(const char *place)
{
    return server_of(place) != NULL;
}

/* ------------------------------------------------------------------------------------------------ opening */

int place_open(const char *place, const ses_open_options *options, ses_store **store, ses_error *error)
{
    const struct server *server = server_of(place);

    if (!server)
        return ses_open(place, options, store, error);
    *store = NULL;
    return server->open
               ? server->open(place, options, store, error)
               : refuse(error, SES_MISUSE, "this seslite was built without %s: rebuild it with make %s",
                        server->name, server->option);
}

/* ------------------------------------------------------------------------------------------------ showing */

/* One address, after its scheme: user:password@host/database?parameters. */
static void add_address(struct text *text, const char *address, size_t len)
{
    const char *query = memchr(address, '?', len);
    const char *end = query ? query : address + len;
    const char *host = address;

    for (const char *at = address; at < end; at++)
        if (*at == '@')
            host = at;
    const char *colon = memchr(address, ':', (size_t)(host - address));
    text_add(text, address, (size_t)((colon ? colon : host) - address));
    text_add(text, host, (size_t)(end - host));
}

void place_add_clean(struct text *text, const char *words)
{
    while (*words) {
        const struct server *server = server_of(words);
        if (server) {
            const size_t scheme = strlen(server->scheme);
            const size_t len = strcspn(words + scheme, " \t\n\"'");
            text_add(text, words, scheme);
            add_address(text, words + scheme, len);
            words += scheme + len;
        } else {
            text_add(text, words++, 1);
        }
    }
    text_add(text, "", 0);
}
