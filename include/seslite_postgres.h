/*
 * A store in a PostgreSQL database, for programs on more than one machine. Every call works on it and means
 * the same, except for those about files: ses_store_backup, ses_open_copy and secure deletion return MISUSE
 * with a message that says what to do instead. ses_store_check looks at the tables, columns and indexes in
 * place of pages (SES_CHECK_QUICK). It has no time limit; ses_store_interrupt ends it.
 *
 * The library has this call if it was built with `make POSTGRES=1`. Link with -lpq. A program that does not
 * call ses_open_postgres does not need libpq.
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
     * 1: do not prepare statements on the server. A pooler needs this that may give each transaction another
     * connection and does not know prepared statements (PgBouncer before 1.21 in transaction mode): without
     * it, calls return MISUSE there. The server's client_min_messages must not be "error" then (CANTOPEN).
     */
    int unprepared;
    /*
     * The limit of connections, which are opened when needed, and kept; 0: 8; at most 1000. After a call that
     * ran out of time, the library has the server cancel its work. The connection counts until that has
     * ended, but at most 5 seconds. ses_close waits up to 2 seconds until the server has been asked to
     * cancel.
     */
    unsigned max_connections;
    /*
     * A connection string for a replica of the same database, or NULL. Lists and counts of sessions, names of
     * apps and users, cursors and exports then read from the replica, and may be behind. Everything else,
     * including handles and followers, reads from the primary.
     *
     * The store connects to the replica when it first needs it, with up to max_connections connections of its
     * own. If the replica cannot be read, these calls do not turn to the primary. They return CANTOPEN (it
     * cannot be reached, or has no store that this library reads), IO, or BUSY after the time of the call.
     * The string may name several hosts with target_session_attrs=prefer-standby. A cursor ends with STALE if
     * its next page comes from a replica that is behind the one before.
     */
    const char *replica;
} ses_postgres_options;

/*
 * Opens the store in the database that `connection` names, a connection string or URI of libpq
 * (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING). The store is the schema
 * "seslite" of that database, whose encoding must be UTF8. The call creates the schema if it does not exist.
 *
 * The string, or a service file that it refers to, may name several hosts, with
 * target_session_attrs=read-write. A new connection tries the host that took the last one first, then those
 * after it in the list, then those before. Each may take an equal share of the remaining time, or
 * connect_timeout if that is shorter, including the time for resolving its name. After a connection that
 * could not be opened, the store waits before the next attempt, up to half a second.
 *
 * The flags SES_OPEN_READ_ONLY and SES_OPEN_MUST_EXIST of `options`, which may be NULL, hold. busy_timeout_ms
 * is how long a call takes at most, including the server's part (0: 10,000). synchronous, journal, checkpoint
 * and max_readers are about files and must be 0 (MISUSE). `postgres` may be NULL. ses_info.path is the
 * primary's address without secrets. ses_stats and ses_store_interrupt cover the connections to the primary
 * and to the replica.
 *
 * An acknowledged write is as durable as the server is configured to make it (synchronous_commit,
 * synchronous_standby_names). Every call that writes can return UNKNOWN: the server went away, or stopped
 * waiting for its standbys, after it was asked to commit. An append is tried again first, by the ids of its
 * events, until its time is up; its caller can try again in the same way.
 *
 * Codes: INVALID (not a connection string; also of the replica), NOTFOUND (SES_OPEN_MUST_EXIST or
 * SES_OPEN_READ_ONLY, and no store), NOTASTORE (a schema "seslite" that does not belong to a store, or that
 * a version before the first release made), TOONEW, CANTOPEN (the server cannot be reached or refuses, the
 * encoding is another, or the role may not read the store), and those of a write except UNKNOWN.
 */
SES_API int ses_open_postgres(const char *connection, const ses_open_options *options,
                              const ses_postgres_options *postgres, ses_store **store, ses_error *error);

#ifdef __cplusplus
}
#endif

#endif
