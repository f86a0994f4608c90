/*
 * A store in a database of MySQL (8.0 or newer) or MariaDB (10.6 or newer), for programs on more than one
 * machine. Every call works on it and means the same, except for those about files: ses_store_backup,
 * ses_open_copy and secure deletion return MISUSE with a message that says what to do instead. There is no
 * index of words: ses_store_index returns UNSUPPORTED, and searches read the events. ses_store_check looks at
 * the tables, columns and indexes in place of pages (SES_CHECK_QUICK). It has no time limit;
 * ses_store_interrupt ends it.
 *
 * The library has this call if it was built with `make MYSQL=1`. Link with -lmariadb. A program that does not
 * call ses_open_mysql does not need MariaDB's client library.
 */
#ifndef SESLITE_MYSQL_H
#define SESLITE_MYSQL_H

#include "seslite.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ses_mysql_options {
    size_t size;
    /*
     * The limit of connections, which are opened when needed, and kept; 0: 8; at most 1000. After a call that
     * ran out of time, the library has the server kill its connection, in the background, unless it was asked
     * to commit and waits for no table. The old connection no longer counts.
     */
    unsigned max_connections;
} ses_mysql_options;

/*
 * Opens the store in the database that `uri` names:
 *
 *     mysql://user:password@host:port/database?parameter=value&...
 *
 * (or mariadb://). Its tables have names that begin with `seslite_`. The call creates them if they do not
 * exist; the database must. Bytes such as `/` in a part of the address are written as `%2F`. Without a host,
 * or with `localhost`, the client library may choose its socket. The parameters are:
 *
 *  - `socket`: the path of the server's socket
 *  - `tls`: `verify` encrypts, and compares the server's certificate with `tls-ca` and its name with the
 *    host; `encrypt` compares nothing; `off`. The default is `verify` with `tls-ca`, otherwise `off`
 *  - `tls-ca`, `tls-cert`, `tls-key`: files with the certificates that sign servers', and with the client's
 *    own certificate and key
 *
 * The flags SES_OPEN_READ_ONLY and SES_OPEN_MUST_EXIST of `options`, which may be NULL, hold. busy_timeout_ms
 * is how long a call takes at most, including the server's part (0: 10,000); resolving the name of a host is
 * not limited by it. synchronous, journal, checkpoint and max_readers are about files and must be 0 (MISUSE).
 * `mysql` may be NULL. ses_info.path is the server's address without secrets.
 *
 * Each connection sets its own character set, SQL mode, time zone and isolation, whatever the server's are.
 * An acknowledged write is as durable as the server is configured to make it (innodb_flush_log_at_trx_commit,
 * sync_binlog). Every call that writes can return UNKNOWN: the server went away after it was asked to commit.
 * An append is tried again first, by the ids of its events, until its time is up; its caller can try again in
 * the same way. A write that meets a read-only server, as a replica is, connects again until its time is up,
 * since another may take its place (READONLY). The user should not have the right to write there. The
 * statements of one write must fit into the server's max_allowed_packet (LIMIT).
 *
 * Codes: INVALID (not an address), NOTFOUND (SES_OPEN_MUST_EXIST or SES_OPEN_READ_ONLY, and no store),
 * NOTASTORE (a table `seslite_schema_version` that does not belong to a store, or a store of an unreleased
 * version of seslite), TOONEW, CANTOPEN (the server cannot be reached or refuses, is too old, or the user may
 * not read the store), and those of a write except UNKNOWN.
 */
SES_API int ses_open_mysql(const char *uri, const ses_open_options *options, const ses_mysql_options *mysql,
                           ses_store **store, ses_error *error);

#ifdef __cplusplus
}
#endif

#endif
