/*
 * Runs a test on MySQL: it is linked in place of ses_open (-Wl,--wrap), and opens a database of its own for
 * each path, on the server that SESLITE_MYSQL names. Checks of the file itself are left out.
 */
#include <mysql.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mysql/address.h"
#include "seslite_mysql.h"

int __wrap_ses_open(const char *path, const ses_open_options *options, ses_store **store, ses_error *error);
void __wrap_ses_close(ses_store *store);
void __real_ses_close(ses_store *store);

static void die(MYSQL *server, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, mysql_error(server));
    exit(1);
}

/* ------------------------------------------------------------------------------- the databases of paths */

/*
 * Stores take long to make, so each is used again once nobody needs it: when its path's folder is gone; of a
 * store in memory, when that is closed or its process is gone. Which path has which stands in a table of the
 * database "paths".
 */

static void run(MYSQL *server, const char *sql)
{
    if (mysql_query(server, sql) != 0)
        die(server, sql);
    MYSQL_RES *rows = mysql_store_result(server);
    mysql_free_result(rows);
}

/* The first column of the first row; false: there is none. */
static bool ask(MYSQL *server, const char *sql, char *answer, size_t size)
{
    if (mysql_query(server, sql) != 0)
        die(server, sql);
    MYSQL_RES *rows = mysql_store_result(server);
    MYSQL_ROW row = mysql_fetch_row(rows);
    if (row)
        snprintf(answer, size, "%s", row[0] ? row[0] : "");
    mysql_free_result(rows);
    return row != NULL;
}

static MYSQL *connect_to(const char *server, const char *database)
{
    MYSQL *conn = mysql_init(NULL);

    if (!address_connect(conn, server, database))
        die(conn, "connecting");
    return conn;
}

/* A connection to the server: each process has its own, for as long as it lives. */
static MYSQL *admin_connection(const char *server)
{
    static MYSQL *admin;
    static pid_t owner;

    if (owner != getpid()) {
        owner = getpid();
        admin = connect_to(server, NULL); /* the parent's is the parent's */
        run(admin, "CREATE DATABASE IF NOT EXISTS paths");
        run(admin, "CREATE TABLE IF NOT EXISTS paths.paths (name varchar(64) PRIMARY KEY, path text)");
    }
    return admin;
}

static bool is_used(const char *path)
{
    char folder[1000];
    char *slash;

    if (!*path)
        return false;
    if (strncmp(path, "memory ", 7) == 0)
        return kill((pid_t)atol(path + 7), 0) == 0;
    snprintf(folder, sizeof folder, "%s", path);
    slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    return !slash || access(folder, F_OK) == 0;
}

static void drop_tables(MYSQL *database)
{
    char sql[300];

    snprintf(sql, sizeof sql, "%s", "SELECT database()");
    char name[64];
    ask(database, sql, name, sizeof name);
    snprintf(sql, sizeof sql, "DROP DATABASE %s", name);
    run(database, sql);
    snprintf(sql, sizeof sql, "CREATE DATABASE %s", name);
    run(database, sql);
}

static void empty_tables(MYSQL *database)
{
    static const char *const tables[] = {
        "features",        "apps",           "users",          "sessions",       "version_floor",
        "session_details", "session_labels", "session_leases", "session_drafts", "session_inbox",
        "derived",         "usage_sums",     "app_state",      "user_state",     "session_state",
        "base_state",      "events",         "event_marks",    "artifacts",      "artifact_contents",
        "artifact_chunks"};
    char sql[200];

    run(database, "SET foreign_key_checks = 0");
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        snprintf(sql, sizeof sql, "DELETE FROM seslite_%s", tables[i]);
        if (mysql_query(database, sql) != 0) { /* a test has changed it */
            drop_tables(database);
            return;
        }
    }
}

static void empty_database(const char *server, const char *name, bool entirely)
{
    MYSQL *database = connect_to(server, name);
    char count[20];
    char sql[200];

    snprintf(sql, sizeof sql, "SELECT count(*) FROM information_schema.tables WHERE table_schema = '%s'",
             name);
    ask(database, sql, count, sizeof count);
    if (entirely)
        drop_tables(database);
    else if (strcmp(count, "0") != 0)
        empty_tables(database);
    mysql_close(database);
}

/* The database of a path that has none yet: without a store if that is what the test is about. */
static void choose_database(const char *server, MYSQL *admin, const char *path, bool without_store,
                            char name[64])
{
    char sql[1500];
    char quoted[1200];
    int count = 0;
    bool found = false;

    mysql_real_escape_string(admin, quoted, path, (unsigned long)strlen(path));
    if (mysql_query(admin, "SELECT name, path FROM paths.paths ORDER BY name") != 0)
        die(admin, "paths");
    MYSQL_RES *all = mysql_store_result(admin);
    for (MYSQL_ROW row; !found && (row = mysql_fetch_row(all)) != NULL; count++) {
        found = !is_used(row[1]);
        if (found)
            snprintf(name, 64, "%s", row[0]);
    }
    mysql_free_result(all);
    if (found) {
        empty_database(server, name, without_store);
    } else {
        snprintf(name, 64, "test_%03d", count);
        snprintf(sql, sizeof sql, "CREATE DATABASE %s", name);
        run(admin, sql);
    }
    snprintf(sql, sizeof sql, "REPLACE INTO paths.paths VALUES ('%s', '%s')", name, quoted);
    run(admin, sql);
}

static void find_database(const char *server, const char *path, bool without_store, char name[64])
{
    MYSQL *admin = admin_connection(server);
    char sql[1500];
    char quoted[1200];

    mysql_real_escape_string(admin, quoted, path, (unsigned long)strlen(path));
    run(admin, "SELECT get_lock('paths', 100)");
    snprintf(sql, sizeof sql, "SELECT name FROM paths.paths WHERE path = '%s'", quoted);
    if (!ask(admin, sql, name, 64))
        choose_database(server, admin, path, without_store, name);
    run(admin, "SELECT release_lock('paths')");
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void name_database(const char *server, const char *path, unsigned flags, char name[64])
{
    static int in_memory;
    char memory[64];

    pthread_mutex_lock(&lock);
    if (strcmp(path, ":memory:") == 0) {
        snprintf(memory, sizeof memory, "memory %ld %d", (long)getpid(), in_memory++);
        path = memory;
    }
    find_database(server, path, (flags & (SES_OPEN_READ_ONLY | SES_OPEN_MUST_EXIST)) != 0, name);
    pthread_mutex_unlock(&lock);
}

/* A store in memory is gone when it is closed. */
void __wrap_ses_close(ses_store *store)
{
    const char *server = getenv("SESLITE_MYSQL");
    ses_info info = {.size = sizeof info};
    ses_error error;
    char sql[300];
    const bool known = server && store && ses_store_info(store, &info, &error) == SES_OK;

    if (known)
        snprintf(sql, sizeof sql,
                 "UPDATE paths.paths SET path = '' WHERE name = '%s' AND path LIKE 'memory %%'",
                 strrchr(info.path, '/') + 1);
    __real_ses_close(store);
    if (!known)
        return;
    pthread_mutex_lock(&lock);
    run(admin_connection(server), sql);
    pthread_mutex_unlock(&lock);
}

int __wrap_ses_open(const char *path, const ses_open_options *options, ses_store **store, ses_error *error)
{
    const char *server = getenv("SESLITE_MYSQL");
    ses_open_options own = {.size = sizeof own};
    char uri[1000];
    char name[64];

    if (!server) {
        fprintf(stderr, "SESLITE_MYSQL names no server\n");
        exit(1);
    }
    if (!path || !*path || strncmp(path, "file:", 5) == 0) /* refused before a server is asked */
        return ses_open_mysql(path, options, NULL, store, error);
    pthread_mutex_lock(&lock);
    (void)admin_connection(server); /* which makes that database */
    pthread_mutex_unlock(&lock);
    address_of(server, "paths", uri, sizeof uri);
    if (options && options->size != sizeof own) /* is refused, or is of another version */
        return ses_open_mysql(uri, options, NULL, store, error);
    if (options)
        own = *options;
    own.synchronous = own.journal = own.checkpoint = 0;
    own.max_readers = 0;
    if (own.busy_timeout_ms == 0) /* a commit that a busy machine does not answer in time is UNKNOWN */
        own.busy_timeout_ms = 60000;
    name_database(server, path, (unsigned)own.flags, name);
    address_of(server, name, uri, sizeof uri);
    return ses_open_mysql(uri, &own, NULL, store, error);
}
