/* A primary and two standbys, one of which must have a commit before it is acknowledged. */
#ifndef SESLITE_TEST_POSTGRES_CLUSTER_H
#define SESLITE_TEST_POSTGRES_CLUSTER_H

#include <sys/stat.h>

#include "database.h"

enum { CLUSTER_NODES = 3 };

struct cluster {
    char *folder;
    char *nodes[CLUSTER_NODES]; /* their folders */
    int primary;
    char everywhere[1000]; /* how a store finds the primary */
};

/* Runs a command of server.sh. */
static inline void cluster_command(const char *command, const char *folder, const char *of)
{
    char line[600];
    char words[1200];

    assert_true(snprintf(words, sizeof words, "sh test/postgres/server.sh %s '%s'", command, folder) <
                (int)sizeof words);
    if (database_shell(line, sizeof line, words, of ? of : "") != 0)
        fail_msg("%s %s: %s", command, folder, line);
}

/* Asks a node for one value. */
static inline void cluster_ask(const struct cluster *cluster, int node, const char *sql, char *value,
                               size_t size)
{
    char place[600];

    snprintf(place, sizeof place, "host=%s user=seslite dbname=postgres", cluster->nodes[node]);
    PGconn *conn = PQconnectdb(place);
    PGresult *result = database_take(conn, PQexec(conn, sql), sql);
    snprintf(value, size, "%s", PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    PQfinish(conn);
}

static inline void cluster_run(const struct cluster *cluster, int node, const char *sql)
{
    char value[10];
    cluster_ask(cluster, node, sql, value, sizeof value);
}

static inline void cluster_wait_for(const struct cluster *cluster, int node, const char *sql,
                                    const char *wanted)
{
    char value[100] = "";

    for (int i = 0; i < 1000 && strcmp(value, wanted) != 0; i++) {
        cluster_ask(cluster, node, sql, value, sizeof value);
        if (strcmp(value, wanted) != 0)
            support_pause_us(20000);
    }
    assert_string_equal(value, wanted);
}

static inline void cluster_start(struct cluster *cluster)
{
    *cluster = (struct cluster){.folder = support_folder_make()};
    setenv("SERVER_OPTIONS",
           "-c wal_retrieve_retry_interval=100ms -c dynamic_shared_memory_type=mmap -c shared_buffers=16MB",
           1);
    assert_int_equal(chmod(cluster->folder, 0711), 0); /* the servers are another user's */
    for (int i = 0; i < CLUSTER_NODES; i++)
        cluster->nodes[i] = support_path(cluster->folder, (const char *[]){"a", "b", "c"}[i]);
    cluster_command("start", cluster->nodes[0], NULL);
    for (int i = 1; i < CLUSTER_NODES; i++)
        cluster_command("standby", cluster->nodes[i], cluster->nodes[0]);
    for (int i = 0; i < CLUSTER_NODES; i++) {
        cluster_run(cluster, i, "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (a, b, c)'");
        cluster_run(cluster, i, "ALTER SYSTEM SET synchronous_commit = 'remote_apply'");
        cluster_run(cluster, i, "SELECT pg_reload_conf()");
    }
    snprintf(cluster->everywhere, sizeof cluster->everywhere,
             "host=%s,%s,%s user=seslite dbname=postgres target_session_attrs=read-write", cluster->nodes[0],
             cluster->nodes[1], cluster->nodes[2]);
    cluster_wait_for(cluster, 0, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'", "2");
}

static inline void cluster_stop(struct cluster *cluster)
{
    for (int i = 0; i < CLUSTER_NODES; i++) {
        cluster_command("stop", cluster->nodes[i], NULL);
        free(cluster->nodes[i]);
    }
    support_folder_remove(cluster->folder);
    unsetenv("SERVER_OPTIONS");
}

/* How much a standby has got. */
static inline long long cluster_received(const struct cluster *cluster, int node)
{
    char value[40];

    cluster_ask(cluster, node, "SELECT pg_last_wal_receive_lsn() - '0/0'", value, sizeof value);
    return strtoll(value, NULL, 10);
}

/* Kills the primary. The standby that has got most, and so all that was acknowledged, takes its place; the
 * other follows it, and where the old one was there is a new standby. */
static inline void cluster_fail_over(struct cluster *cluster)
{
    const int old = cluster->primary;
    const int one = (old + 1) % CLUSTER_NODES;
    const int two = (old + 2) % CLUSTER_NODES;
    char sql[800];

    cluster_command("kill", cluster->nodes[old], NULL);
    const bool first = cluster_received(cluster, one) >= cluster_received(cluster, two);
    cluster->primary = first ? one : two;
    const int other = first ? two : one;
    cluster_command("promote", cluster->nodes[cluster->primary], NULL);
    snprintf(sql, sizeof sql,
             "ALTER SYSTEM SET primary_conninfo = 'host=%s user=seslite application_name=%s'",
             cluster->nodes[cluster->primary], strrchr(cluster->nodes[other], '/') + 1);
    cluster_run(cluster, other, sql);
    cluster_run(cluster, other, "SELECT pg_reload_conf()");
    cluster_command("standby", cluster->nodes[old], cluster->nodes[cluster->primary]);
}

#endif
