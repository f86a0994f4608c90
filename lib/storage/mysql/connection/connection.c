/* Opening and closing a connection. */
#include "storage/mysql/connection/connection.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/error.h"

enum { MIN_MYSQL = 80000, MIN_MARIADB = 100600 };

bool ses__my_set_address(MYSQL *conn, const struct mysql_address *address)
{
    const my_bool on = 1;
    const my_bool verifies = address->tls == MYSQL_TLS_VERIFY;
    const unsigned off = 0;
    const unsigned protocol = address->socket ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
    bool ok = mysql_options(conn, MYSQL_OPT_LOCAL_INFILE, &off) == 0;

    if (address->socket || address->host)
        ok = ok && mysql_options(conn, MYSQL_OPT_PROTOCOL, &protocol) == 0;
    if (address->tls != MYSQL_TLS_OFF)
        ok = ok && mysql_options(conn, MYSQL_OPT_SSL_ENFORCE, &on) == 0 &&
             mysql_options(conn, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verifies) == 0 &&
             mysql_ssl_set(conn, address->tls_key, address->tls_cert, address->tls_ca, NULL, NULL) == 0;
    return ok;
}

/*
 * Makes all settings that the statements depend on, whatever the server's are. A connection that is given up
 * is found again by a lock that it holds, since its number may be another's on another server. FOUND_ROWS
 * counts rows that an UPDATE leaves as they are.
 */
static const char setup_sql[] =
    "SET NAMES binary;"
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE;"
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', SESSION time_zone = '+00:00',"
    " SESSION autocommit = 1, SESSION completion_type = 'NO_CHAIN', SESSION foreign_key_checks = 1,"
    " SESSION unique_checks = 1, SESSION sql_safe_updates = 0, SESSION sql_big_selects = 1,"
    " SESSION sql_select_limit = 18446744073709551615, SESSION sql_auto_is_null = 0,"
    " SESSION group_concat_max_len = 16777216, @ses_mark = concat('seslite ', uuid());"
    "SELECT get_lock(@ses_mark, 0), @ses_mark, @@max_allowed_packet /*M!100600 , (SELECT count(*)"
    " FROM information_schema.global_variables WHERE variable_name = 'WSREP_ON' AND variable_value = 'ON') */";

/* A transaction that reads begins when the node has applied what was acknowledged elsewhere. */
static const char cluster_sql[] = "SET SESSION wsrep_sync_wait = 1";

/* The bytes of a packet besides statements. */
enum { PACKET_HEADER = 64 };

static int set_up(struct my *my, ses_error *error)
{
    ses__remote_forget_failure(&my->base);
    MYSQL_RES *rows = ses__my_script(my, setup_sql);
    const MYSQL_ROW row = rows ? mysql_fetch_row(rows) : NULL;

    if (row && row[1] && row[2] && strlen(row[1]) < MARK_SIZE) {
        memcpy(my->mark, row[1], strlen(row[1]) + 1);
        my->packet_bytes = (size_t)ses__my_number(row[2]) - PACKET_HEADER;
        my->is_mariadb = mariadb_connection(my->conn);
        my->is_cluster = mysql_num_fields(rows) > 3 && row[3] && row[3][0] == '1';
        my->kept[KEEPS_READ] = KEPT;
    } else {
        ses__my_fail(my, "setting up a connection");
    }
    mysql_free_result(rows);
    if (my->is_cluster)
        mysql_free_result(ses__my_script(my, cluster_sql));
    if (my->base.code != SES_OK && error)
        *error = my->base.error;
    if (my->base.code == SES_IO) { /* another connection may work */
        my->base.code = SES_CANTOPEN;
        if (error)
            error->code = SES_CANTOPEN;
    }
    return my->base.code;
}

static int log_in(struct my *my, ses_error *error)
{
    const struct mysql_address *address = &my->config->address;
    const unsigned long flags = CLIENT_MULTI_STATEMENTS | CLIENT_FOUND_ROWS;
    int code = SES_OK;
    MYSQL *connected = NULL;
    int status =
        mysql_real_connect_start(&connected, my->conn, address->socket ? NULL : address->host, address->user,
                                 address->password, address->database, address->port, address->socket, flags);

    while (status)
        status = mysql_real_connect_cont(&connected, my->conn, ses__my_wait(my, status, &code));
    if (code == SES_OK && connected)
        return SES_OK;
    if (code == SES_INTERRUPTED)
        return ses__refuse_interrupted("connecting", error);
    if (code == SES_BUSY)
        return ses__error_set(error, SES_BUSY, "%s: the server did not answer in time", my->base.db.name);
    ses__remote_forget_failure(&my->base);
    ses__my_fail(my, "connecting");
    if (my->base.code != SES_NOMEM && my->base.code != SES_BUSY)
        my->base.code = my->base.error.code = SES_CANTOPEN;
    if (error)
        *error = my->base.error;
    return my->base.code;
}

/* The client library resolves a name, and waits for that, before it returns to this one. */
int ses__my_connect(struct remote *remote, ses_error *error)
{
    struct my *my = ses__my_of(&remote->db);
    const int64_t left_us = my->base.db.deadline_us - ses__clock_steady_us();
    const unsigned seconds = left_us > 1000000 ? (unsigned)(left_us / 1000000) : 1;

    my->conn = mysql_init(NULL);
    if (!my->conn || mysql_options(my->conn, MYSQL_OPT_NONBLOCK, NULL) != 0 ||
        mysql_options(my->conn, MYSQL_OPT_CONNECT_TIMEOUT, &seconds) != 0 ||
        !ses__my_set_address(my->conn, &my->config->address))
        return ses__error_nomem(error);
    const int code = log_in(my, error);
    if (code != SES_OK)
        return code;
    const unsigned long least = mariadb_connection(my->conn) ? MIN_MARIADB : MIN_MYSQL;
    if (mysql_get_server_version(my->conn) < least)
        return ses__error_set(error, SES_CANTOPEN,
                              "%s: the server is %s, which is older than MySQL 8.0 or MariaDB 10.6",
                              my->base.db.name, mysql_get_server_info(my->conn));
    return set_up(my, error);
}

struct remote *ses__my_new(const struct server_config *common, const struct mysql_config *config)
{
    struct my *my = ses__memory_zeroed(common->allocator, sizeof *my);

    if (!my)
        return NULL;
    ses__remote_init(&my->base, common);
    my->config = config;
    ses__buffer_init(&my->text, common->allocator);
    ses__buffer_init(&my->head, common->allocator);
    return &my->base;
}

/* The server says nothing unasked but that. Reads the answer to the end of the last transaction first, if it
 * has arrived; else the next statement waits for it. */
bool ses__my_is_over(struct remote *remote)
{
    struct my *my = ses__my_of(&remote->db);

    if (!ses__remote_has_news(mysql_get_socket(my->conn)))
        return false;
    if (!my->sent)
        return true;
    ses__remote_forget_failure(remote);
    (void)ses__my_settle(my);
    return remote->lost || ses__remote_has_news(mysql_get_socket(my->conn));
}

/* A connection that is lost is not said goodbye to, which would wait. */
void ses__my_close(struct remote *remote)
{
    struct my *my = ses__my_of(&remote->db);
    const ses_allocator *allocator = remote->db.allocator;

    if (my->conn && remote->lost)
        (void)shutdown(mysql_get_socket(my->conn), SHUT_RDWR);
    if (my->conn)
        mysql_close(my->conn);
    ses__memory_free(allocator, my->awaited);
    ses__buffer_free(&my->text);
    ses__buffer_free(&my->head);
    ses__memory_free(allocator, my);
}
