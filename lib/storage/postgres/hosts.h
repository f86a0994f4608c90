/* The hosts that a connection string names. */
#ifndef SESLITE_STORAGE_POSTGRES_HOSTS_H
#define SESLITE_STORAGE_POSTGRES_HOSTS_H

#include <libpq-fe.h>

#include "storage/door.h"

struct pg_hosts {
    PQconninfoOption *given;
    PQconninfoOption *defaults;
    size_t count;
    bool prefers_standby;
    int64_t most_us; /* that one may take to answer; INT64_MAX: the string does not say */
};

/* NOMEM, INVALID. To be freed, whatever it returns. */
SESLITE_PRIVATE int ses__pg_hosts_init(struct pg_hosts *hosts, const char *connection, ses_error *error);
SESLITE_PRIVATE void ses__pg_hosts_free(struct pg_hosts *hosts);

/* How often one is to be tried, at most. */
SESLITE_PRIVATE size_t ses__pg_hosts_tries(const struct pg_hosts *hosts);
enum { PG_HOST_SIZE = 512 };
/* The name of one of them, where it has to be looked up; else "". `first` is the one that comes first. */
SESLITE_PRIVATE void ses__pg_hosts_name(const struct pg_hosts *hosts, size_t first, size_t tried,
                                        char name[PG_HOST_SIZE]);
/* Begins to connect to one of them, at the addresses that were found for its name (NULL: it has none). NULL: no memory. */
SESLITE_PRIVATE PGconn *ses__pg_hosts_start(const struct pg_hosts *hosts, size_t first, size_t tried,
                                            const char *addresses);

/* What the string says of that keyword, or what the environment does; "" if neither. */
SESLITE_PRIVATE const char *ses__pg_option(const PQconninfoOption *given, const PQconninfoOption *defaults,
                                           const char *keyword);

#endif
