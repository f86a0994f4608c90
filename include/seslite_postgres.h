/*
 * A store in a PostgreSQL database, for programs on more than one machine. Every call of seslite.h and seslite_agent.h
 * works on it, and means the same, but for what is about files: ses_backup, ses_store_copy and secure deletions return
 * MISUSE with a message that says what to do instead. ses_check looks at the tables, columns and indexes in place of pages
 * (SES_CHECK_QUICK), and takes as long as there is to be looked at: ses_store_interrupt ends it.
 *
 * The library has this call if it was built with `make POSTGRES=1`. Link with -lpq. A program that does not call
 * ses_open_postgres does not need libpq.
 */
#ifndef SESLITE_POSTGRES_H
#define SESLITE_POSTGRES_H

#include "seslite.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ses_postgres_options {
    size_t size;
    /*
     * 1: statements are not prepared on the server. For a pooler that may give each transaction another connection and
     * does not know prepared statements (PgBouncer before 1.21 in transaction mode): calls return MISUSE there without it.
     * The server's client_min_messages must not be error then (CANTOPEN).
     */
    int unprepared;
    /* Opened when they are needed, and kept; 0: 8; at most 1000. After a call that ran out of time the library has the
     * server cancel its work. The connection counts until that has ended, but at most 5 seconds. ses_close waits up to 2
     * seconds until the server has been asked. */
    unsigned max_connections;
    /*
     * A second connection string, of a replica of the same database; NULL: none. Lists of sessions and counts of them, names
     * of apps and users, cursors and exports then read there, and may be behind what is stored. All else, handles and
     * followers among it, reads from the primary.
     *
     * The replica is connected to when it is first needed, by up to max_connections of its own. Where it cannot be read,
     * these calls do not turn to the primary: CANTOPEN (it cannot be reached, or has no store that this library reads), IO,
     * or BUSY after the time of the call. A list may name hosts with target_session_attrs=prefer-standby. A cursor whose
     * next page comes from a replica that is behind its last one ends with STALE.
     */
    const char *replica;
} ses_postgres_options;

/*
 * Opens the store in the database that `connection` names, a connection string or URI of libpq
 * (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING). The store is the schema "seslite" of that
 * database, whose encoding must be UTF8. If there is none, creates it.
 *
 * The string, or a service file that it refers to, may name several hosts, with target_session_attrs=read-write. A new
 * connection tries the host that took the last one first, then those after it in the list, then those before. Each may
 * take an equal share of the time that is left, or connect_timeout if that is shorter; the time in which its name is looked
 * up is part of that. After a connection that could not be opened, the store waits before the next, up to half a second.
 *
 * Of `options`, which may be NULL, SES_OPEN_READ_ONLY and SES_OPEN_MUST_EXIST hold; busy_timeout_ms is how long a call
 * takes at most, the server's part included (0: 10,000); synchronous, journal, checkpoint and max_readers are about files
 * and must be 0 (MISUSE). `postgres` may be NULL. ses_info.path is the address without what is secret; that of a replica is
 * not told. ses_stats and ses_store_interrupt are about the connections to both.
 *
 * What is acknowledged is as durable as the server was told to make it (synchronous_commit, synchronous_standby_names).
 * UNKNOWN, which every call that writes can return: the server went away, or stopped to wait for its standbys, after it
 * was asked to commit. An append is tried again by the ids of its events first, until its time is up; and so it can be by
 * its caller.
 *
 * Codes: MISUSE, INVALID (not a connection string; also of the replica), NOTFOUND (SES_OPEN_MUST_EXIST or
 * SES_OPEN_READ_ONLY, and no store), NOTASTORE (a schema "seslite" that is not a store's), TOONEW, CANTOPEN (the server
 * cannot be reached or refuses, the encoding is another, or the role may not read the store), BUSY, READONLY, IO, CORRUPT,
 * FULL, INTERNAL, NOMEM.
 */
SES_API int ses_open_postgres(const char *connection, const ses_open_options *options,
                              const ses_postgres_options *postgres, ses_store **store, ses_error *error);

#ifdef __cplusplus
}
#endif

#endif
