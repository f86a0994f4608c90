/* A MariaDB server of a test's own, with a database, and ways to ask it. */
#ifndef SESLITE_TEST_MYSQL_DATABASE_H
#define SESLITE_TEST_MYSQL_DATABASE_H

#include "mysql/address.h"
#include "network.h"
#include "seslite_mysql.h"
#include "support.h"

struct database {
    char *folder;
    char server[512]; /* the address without a database */
    char uri[600];    /* of the database "agents" */
    MYSQL *conn;
};

/* Runs a shell command with this word after it; the first line that it prints goes to `line`. Its exit
 * status. */
static inline int database_shell(char *line, size_t size, const char *command, const char *word)
{
    char text[1024];

    assert_true(snprintf(text, sizeof text, "%s '%s' 2>&1", command, word) < (int)sizeof text);
    FILE *pipe = popen(text, "r");
    assert_non_null(pipe);
    line[0] = '\0';
    if (fgets(line, (int)size, pipe))
        line[strcspn(line, "\n")] = '\0';
    while (fgetc(pipe) != EOF)
        ;
    return pclose(pipe);
}

static inline void database_start(struct database *database)
{
    if (database_shell(database->server, sizeof database->server, "sh test/mysql/server.sh start",
                       database->folder) != 0)
        fail_msg("%s", database->server);
}

static inline void database_connect(struct database *database)
{
    database->conn = mysql_init(NULL);
    if (!address_connect(database->conn, database->server, NULL))
        fail_msg("%s", mysql_error(database->conn));
}

/* Runs a statement, and gives the first column of its first row, or "". */
static inline const char *database_ask(const struct database *database, const char *sql)
{
    static char answer[4096];

    answer[0] = '\0';
    if (mysql_query(database->conn, sql) != 0)
        fail_msg("%s: %s", sql, mysql_error(database->conn));
    MYSQL_RES *rows = mysql_store_result(database->conn);
    MYSQL_ROW row = rows ? mysql_fetch_row(rows) : NULL;
    if (row && row[0])
        snprintf(answer, sizeof answer, "%s", row[0]);
    mysql_free_result(rows);
    return answer;
}

static inline int64_t database_number(const struct database *database, const char *sql)
{
    return strtoll(database_ask(database, sql), NULL, 10);
}

/* The count of SHOW STATUS under this name. */
static inline int64_t database_count(const struct database *database, const char *name)
{
    char sql[200];

    snprintf(sql, sizeof sql, "SHOW GLOBAL STATUS LIKE '%s'", name);
    assert_int_equal(mysql_query(database->conn, sql), 0);
    MYSQL_RES *rows = mysql_store_result(database->conn);
    const int64_t count = strtoll(mysql_fetch_row(rows)[1], NULL, 10);
    mysql_free_result(rows);
    return count;
}

/* cmocka setup and teardown of a group. */
static inline int database_setup(void **state)
{
    struct database *database = calloc(1, sizeof *database);

    assert_non_null(database);
    *state = database;
    database->folder = support_folder_make();
    database_start(database);
    database_connect(database);
    (void)database_ask(database, "CREATE DATABASE agents");
    address_of(database->server, "agents", database->uri, sizeof database->uri);
    return 0;
}

static inline int database_teardown(void **state)
{
    struct database *database = *state;
    char line[512];

    mysql_close(database->conn);
    assert_int_equal(database_shell(line, sizeof line, "sh test/mysql/server.sh stop", database->folder), 0);
    support_folder_remove(database->folder);
    free(database);
    return 0;
}

/* A test with a server, which all tests of the file share. */
#define SERVER_TEST(name)                                       \
    __attribute__((constructor)) static void serve_##name(void) \
    {                                                           \
        support_set_group(database_setup, database_teardown);   \
    }                                                           \
    GROUP_TEST(struct database *database, name)

/* Opens a store whose calls take at most so long. */
static inline ses_store *database_open(const char *uri, int timeout_ms)
{
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = timeout_ms};
    ses_store *store = NULL;
    ses_error error;

    assert_ok(ses_open_mysql(uri, &options, NULL, &store, &error));
    return store;
}

/* A proxy before the server, which hands on what comes `delay_us` later; its `place` is the address of
 * "agents". */
static inline struct proxy *database_proxy(const struct database *database, unsigned delay_us)
{
    struct proxy *proxy = proxy_new(delay_us);
    const char *socket = strstr(database->server, "socket=");

    assert_non_null(proxy);
    assert_non_null(socket);
    assert_true(proxy_find_unix(proxy, socket + strlen("socket=")));
    assert_true(proxy_go(proxy));
    snprintf(proxy->place, sizeof proxy->place, "mysql://seslite:secret@localhost/agents?socket=%s",
             proxy->path);
    return proxy;
}

#endif
