/* The addresses that test/mysql/server.sh prints: mysql://user:password@host:port/?socket=path, without a
 * database. */
#ifndef SESLITE_TEST_MYSQL_ADDRESS_H
#define SESLITE_TEST_MYSQL_ADDRESS_H

#include <mysql.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The address of a database there. */
static inline const char *address_of(const char *server, const char *database, char *uri, size_t size)
{
    const size_t len = strcspn(server, "?");

    snprintf(uri, size, "%.*s%s%s", (int)len, server, database, server + len);
    return uri;
}

/* Connects as the client library does; NULL: to no database. */
static inline bool address_connect(MYSQL *conn, const char *server, const char *database)
{
    char host[100] = "";
    char port[10] = "";
    const char *socket = strstr(server, "socket=");

    if (!conn || sscanf(server, "mysql://seslite:secret@%99[^:/]:%9[0-9]", host, port) < 1)
        return false;
    return mysql_real_connect(conn, socket ? NULL : host, "seslite", "secret", database, (unsigned)atoi(port),
                              socket ? socket + strlen("socket=") : NULL, CLIENT_MULTI_STATEMENTS) != NULL;
}

#endif
