/* Creates, upgrades or refuses the schema of a database. */
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "storage/mysql/parts.h"
#include "storage/sql/query.h"

enum { NO_SCHEMA = 0, FOREIGN_SCHEMA = -1 };

static int ask_number(struct my *my, const char *sql, int otherwise)
{
    MYSQL_RES *rows = ses__my_script(my, sql);
    const MYSQL_ROW row = rows ? mysql_fetch_row(rows) : NULL;
    const int number = row && row[0] ? (int)ses__my_number(row[0]) : otherwise;

    mysql_free_result(rows);
    return number;
}

/* A script that was not run to its end has left tables, and no version: it is run again. */
static int find_version(struct my *my)
{
    const int tables =
        ask_number(my,
                   "SELECT count(*) FROM information_schema.tables"
                   " WHERE table_schema = database() AND table_name = 'seslite_schema_version'",
                   0);

    if (my->base.code != SES_OK || tables == 0)
        return NO_SCHEMA;
    return ask_number(
        my,
        "SELECT CASE WHEN count(*) = 0 THEN 0 WHEN count(*) = 1 AND max(version) > 0 THEN max(version)"
        " ELSE -1 END"
        " FROM seslite_schema_version",
        FOREIGN_SCHEMA);
}

static int check_version(const struct server_config *config, int version, ses_error *error)
{
    if (version < NO_SCHEMA)
        return ses__error_set(
            error, SES_NOTASTORE,
            "%s: the table seslite_schema_version in this database is not that of a store: use another database",
            config->name);
    return ses__server_check_version(config, version, error);
}

static void run_script(struct my *my, const char *sql)
{
    mysql_free_result(ses__my_script(my, sql));
}

/* Before anything is altered: a script that was cut off may have left a store with features. */
static void refuse_features(const struct server_config *config, struct my *my)
{
    const int tables = ask_number(my,
                                  "SELECT count(*) FROM information_schema.tables"
                                  " WHERE table_schema = database() AND table_name = 'seslite_features'",
                                  0);

    if (my->base.code != SES_OK || tables == 0)
        return;
    MYSQL_RES *rows =
        ses__my_script(my, "SELECT name, needs = 2 FROM seslite_features WHERE needs <> 1"
                           " AND name NOT IN ('search', 'families') ORDER BY needs = 2 LIMIT 1");
    const MYSQL_ROW row = rows ? mysql_fetch_row(rows) : NULL;
    if (row)
        my->base.code = ses__feature_refuse(config->name, ses__span_of(row[0]),
                                            row[1][0] == '1' ? SES_READONLY : SES_TOONEW, &my->base.error);
    mysql_free_result(rows);
}

/* The lock is the database's, whose name may be longer than that of a lock. */
#define LOCK_NAME "concat('seslite migrates ', left(sha2(database(), 256), 40))"

/* Runs under a lock, so that other programs that open the store wait. The server commits after each change of
 * the schema, so a script that is cut off is run again by the next that opens the store. */
static void migrate(const struct server_config *config, struct my *my)
{
    const int64_t left_us = my->base.db.deadline_us - ses__clock_steady_us();
    char sql[128];

    (void)snprintf(sql, sizeof sql, "SELECT get_lock(" LOCK_NAME ", %lld)", (long long)(left_us / 1000000));
    if (ask_number(my, sql, 0) != 1)
        ses__remote_fail(&my->base, SES_BUSY, "waiting for another program that makes the store");
    const int version = my->base.code == SES_OK ? find_version(my) : NO_SCHEMA;
    if (my->base.code == SES_OK)
        my->base.code = check_version(config, version, &my->base.error);
    if (my->base.code == SES_OK)
        refuse_features(config, my);
    for (size_t i = 0; i < ses__mysql_script_count(); i++) {
        if (ses__mysql_script(i)->version > version)
            run_script(my, ses__mysql_script(i)->sql);
    }
    run_script(my, "DO release_lock(" LOCK_NAME ")");
}

/* After a failure, which the connection keeps, the rest is not run. */
void ses__mysql_bring_up_to_date(struct remote *remote, const struct server_config *config)
{
    struct my *my = ses__my_of(&remote->db);
    const int version = find_version(my);

    if (my->base.code == SES_READONLY) /* without the right to read */
        my->base.code = my->base.error.code = SES_CANTOPEN;
    if (my->base.code == SES_OK)
        my->base.code = check_version(config, version, &my->base.error);
    if (my->base.code == SES_OK && version < config->latest_version)
        migrate(config, my);
}
