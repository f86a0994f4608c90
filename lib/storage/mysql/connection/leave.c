/*
 * A server does not notice that its client has gone while it waits for a lock: it would keep what it holds.
 * So the library kills the connection from another one. A connection's number may be another's on another
 * server, to which a proxy or a failover may lead. So the server is asked which connection holds the lock of
 * this one, and a server that knows none is left alone.
 *
 * A commit may wait for a replica. If it is killed then, it is done without one, and an append that finds the
 * event would take it for one that survives the loss of the server. So a transaction whose commit was sent is
 * killed only while it waits for a table.
 *
 * A thread does that, and nobody waits for it. The server ends a wait for a row by itself
 * (innodb_lock_wait_timeout).
 */
#include "storage/mysql/connection/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"

enum { SECONDS = 3 };

/* The thread's. It may outlive the store, and so does not use the store's allocator. */
struct leaving {
    ses_allocator allocator;
    struct mysql_address address;
    char mark[MARK_SIZE];
    bool committing;
};

static void kill_holder(MYSQL *conn, const struct leaving *leaving)
{
    char sql[256];

    (void)snprintf(sql, sizeof sql,
                   "SELECT id FROM information_schema.processlist WHERE id = is_used_lock('%s')%s",
                   leaving->mark, leaving->committing ? " AND state LIKE 'Waiting for %lock'" : "");
    MYSQL_RES *rows = mysql_query(conn, sql) == 0 ? mysql_store_result(conn) : NULL;
    const MYSQL_ROW row = rows ? mysql_fetch_row(rows) : NULL;
    const bool is_there = row && row[0];
    (void)snprintf(sql, sizeof sql, "KILL %s", is_there ? row[0] : "");
    mysql_free_result(rows);
    if (is_there)
        (void)mysql_query(conn, sql); /* it may have ended by itself */
}

static void *see_off(void *context)
{
    struct leaving *leaving = context;
    const struct mysql_address *address = &leaving->address;
    const unsigned seconds = SECONDS;
    MYSQL *conn = mysql_init(NULL);

    if (conn && ses__my_set_address(conn, address) &&
        mysql_options(conn, MYSQL_OPT_CONNECT_TIMEOUT, &seconds) == 0 &&
        mysql_options(conn, MYSQL_OPT_READ_TIMEOUT, &seconds) == 0 &&
        mysql_options(conn, MYSQL_OPT_WRITE_TIMEOUT, &seconds) == 0 &&
        mysql_real_connect(conn, address->socket ? NULL : address->host, address->user, address->password,
                           NULL, address->port, address->socket, 0))
        kill_holder(conn, leaving);
    if (conn)
        mysql_close(conn);
    mysql_thread_end();
    ses__mysql_address_free(&leaving->address);
    free(leaving);
    return NULL;
}

bool ses__my_leave(struct server *server, struct remote *remote)
{
    struct my *my = ses__my_of(&remote->db);
    const bool is_at_work = my->conn && my->at_work && my->mark[0];
    struct leaving *leaving = is_at_work ? malloc(sizeof *leaving) : NULL;
    pthread_t thread;

    if (leaving) {
        memcpy(leaving->mark, my->mark, MARK_SIZE);
        leaving->committing = my->committing;
        ses__memory_default(&leaving->allocator);
        const bool ok =
            ses__mysql_address_init(&leaving->address, &leaving->allocator, my->config->uri, NULL) == SES_OK;
        if (ok && ses__thread_start(&thread, see_off, leaving)) {
            (void)pthread_detach(thread);
        } else {
            ses__mysql_address_free(&leaving->address);
            free(leaving);
        }
    }
    ses__my_close(remote);
    (void)server;
    return false;
}
