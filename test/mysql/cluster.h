/*
 * A primary and a replica, which must have a commit before it is acknowledged, at one address: that of a link
 * to the socket of the one that programs should use. Only MariaDB.
 */
#ifndef SESLITE_TEST_MYSQL_CLUSTER_H
#define SESLITE_TEST_MYSQL_CLUSTER_H

#include <signal.h>
#include <sys/stat.h>

#include "mysql/database.h"

enum { CLUSTER_NODES = 2 };

struct cluster {
    bool is_mariadb;
    char *folder;
    char *nodes[CLUSTER_NODES]; /* their folders */
    int ports[CLUSTER_NODES];
    int primary;
    char uri[300]; /* of the database "agents" on the primary, for a user who may not write to a replica */
};

static inline int cluster_other(const struct cluster *cluster)
{
    return 1 - cluster->primary;
}

/* Runs a command of server.sh. */
static inline void cluster_command(const struct cluster *cluster, const char *command, int node,
                                   const char *more)
{
    char line[600];
    char words[900];

    assert_true(snprintf(words, sizeof words, "sh test/mysql/server.sh %s '%s' %s", command,
                         cluster->nodes[node], more) < (int)sizeof words);
    if (database_shell(line, sizeof line, words, "") != 0)
        fail_msg("%s: %s", words, line);
}

/* The address of a node's database "agents". */
static inline void cluster_address(const struct cluster *cluster, int node, char *uri, size_t size)
{
    snprintf(uri, size, "mysql://agent:secret@localhost/agents?socket=%s/socket", cluster->nodes[node]);
}

/* Asks a node for one column of one row. */
static inline void cluster_ask(const struct cluster *cluster, int node, const char *sql, int column,
                               char *value, size_t size)
{
    char place[300];
    MYSQL *conn = mysql_init(NULL);

    snprintf(place, sizeof place, "mysql://seslite:secret@localhost/?socket=%s/socket", cluster->nodes[node]);
    if (!address_connect(conn, place, NULL) || mysql_query(conn, sql) != 0)
        fail_msg("%s: %s", sql, mysql_error(conn));
    MYSQL_RES *rows = mysql_store_result(conn);
    const MYSQL_ROW row = rows ? mysql_fetch_row(rows) : NULL;
    snprintf(value, size, "%s", row && row[column] ? row[column] : "");
    mysql_free_result(rows);
    mysql_close(conn);
}

static inline void cluster_run(const struct cluster *cluster, int node, const char *sql)
{
    char value[10];
    cluster_ask(cluster, node, sql, 0, value, sizeof value);
}

/* Leads the address to a node. */
static inline void cluster_lead_to(const struct cluster *cluster, int node)
{
    char *socket = support_path(cluster->nodes[node], "socket");
    char *made = support_path(cluster->folder, "new");
    char *link = support_path(cluster->folder, "primary");

    assert_int_equal(symlink(socket, made), 0);
    assert_int_equal(rename(made, link), 0);
    free(socket);
    free(made);
    free(link);
}

/* Waits until a status variable of the primary has a value. */
static inline void cluster_wait_for_status(const struct cluster *cluster, const char *name,
                                           const char *expected)
{
    char sql[100];
    char value[20] = "";

    snprintf(sql, sizeof sql, "SHOW STATUS LIKE '%s'", name);
    for (int i = 0; i < 500 && strcmp(value, expected) != 0; i++) {
        cluster_ask(cluster, cluster->primary, sql, 1, value, sizeof value);
        support_pause_us(20000);
    }
    assert_string_equal(value, expected);
}

/* Makes the node that is not the primary a replica, without which no commit is acknowledged. The primary
 * counts it as soon as it has connected, but waits for it only once it has caught up. */
static inline void cluster_add_replica(const struct cluster *cluster)
{
    const int node = cluster_other(cluster);
    char ports[40];

    snprintf(ports, sizeof ports, "%d %d", cluster->ports[node], cluster->ports[cluster->primary]);
    cluster_command(cluster, "replica", node, ports);
    cluster_wait_for_status(cluster, "Rpl_semi_sync_master_clients", "1");
    cluster_wait_for_status(cluster, "Rpl_semi_sync_master_status", "ON");
}

static inline void cluster_promote(struct cluster *cluster)
{
    cluster->primary = cluster_other(cluster);
    cluster_command(cluster, "promote", cluster->primary, "");
}

/* Kills the primary. Programs come to the replica while that is read-only, and it takes its place; where the
 * old one was there is a new replica. */
static inline void cluster_fail_over(struct cluster *cluster)
{
    cluster_command(cluster, "kill", cluster->primary, "");
    cluster_lead_to(cluster, cluster_other(cluster));
    cluster_promote(cluster);
    cluster_add_replica(cluster);
}

/* Waits until the replica has applied what the primary has written. */
static inline void cluster_wait_for_replica(const struct cluster *cluster)
{
    char position[200];
    char sql[300];
    char outcome[20];

    cluster_ask(cluster, cluster->primary, "SELECT @@gtid_binlog_pos", 0, position, sizeof position);
    snprintf(sql, sizeof sql, "SELECT master_gtid_wait('%s', 60)", position);
    cluster_ask(cluster, cluster_other(cluster), sql, 0, outcome, sizeof outcome);
    assert_string_equal(outcome, "0");
}

static inline pid_t cluster_replica_process(const struct cluster *cluster)
{
    char *path = support_path(cluster->nodes[cluster_other(cluster)], "server.pid");
    FILE *file = fopen(path, "r");
    long process = 0;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld", &process), 1);
    fclose(file);
    free(path);
    return (pid_t)process;
}

/* As /proc/PID/stat gives it: 'T' is stopped. */
static inline char cluster_process_state(pid_t process)
{
    char path[60];
    char state = 0;

    snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d %*s %c", &state), 1);
    fclose(file);
    return state;
}

/* A replica that is stopped confirms nothing. kill() returns before: until the thread that takes the signal
 * has run, which on a busy machine takes a while, the others go on and confirm. */
static inline void cluster_stop_replica(const struct cluster *cluster)
{
    const pid_t process = cluster_replica_process(cluster);

    assert_int_equal(kill(process, SIGSTOP), 0);
    for (int i = 0; i < 5000 && cluster_process_state(process) != 'T'; i++)
        support_pause_us(1000);
    assert_int_equal(cluster_process_state(process), 'T');
}

static inline void cluster_continue_replica(const struct cluster *cluster)
{
    assert_int_equal(kill(cluster_replica_process(cluster), SIGCONT), 0);
}

/* A port that is free now. */
static inline int cluster_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    const int descriptor = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(descriptor, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(descriptor, (struct sockaddr *)&address, &len), 0);
    close(descriptor);
    return ntohs(address.sin_port);
}

static inline void cluster_start(struct cluster *cluster)
{
    char version[100];
    char port[20];

    *cluster = (struct cluster){.folder = support_folder_make()};
    setenv("SERVER_OPTIONS",
           "--log-bin=binlog --binlog-format=ROW --loose-log-slave-updates --loose-gtid-strict-mode=ON"
           " --loose-rpl-semi-sync-slave-enabled=ON --loose-rpl-semi-sync-master-wait-point=AFTER_SYNC"
           " --loose-rpl-semi-sync-master-timeout=4000000000",
           1);
    assert_int_equal(chmod(cluster->folder, 0711), 0); /* the servers are another user's */
    for (int i = 0; i < CLUSTER_NODES; i++) {
        cluster->nodes[i] = support_path(cluster->folder, i ? "b" : "a");
        cluster->ports[i] = cluster_port();
    }
    snprintf(port, sizeof port, "%d", cluster->ports[0]);
    cluster_command(cluster, "start", 0, port);
    cluster_lead_to(cluster, 0);
    snprintf(cluster->uri, sizeof cluster->uri, "mysql://agent:secret@localhost/agents?socket=%s/primary",
             cluster->folder);
    cluster_ask(cluster, 0, "SELECT version()", 0, version, sizeof version);
    cluster->is_mariadb = strstr(version, "MariaDB");
    if (cluster->is_mariadb) {
        cluster_run(cluster, 0, "CREATE DATABASE agents");
        cluster_run(cluster, 0, "SET GLOBAL rpl_semi_sync_master_enabled = ON");
        cluster_add_replica(cluster);
    }
}

static inline void cluster_stop(struct cluster *cluster)
{
    for (int i = 0; i < CLUSTER_NODES; i++) {
        cluster_command(cluster, "stop", i, "");
        free(cluster->nodes[i]);
    }
    support_folder_remove(cluster->folder);
    unsetenv("SERVER_OPTIONS");
}

#endif
