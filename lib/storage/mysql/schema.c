/* Creates, upgrades or refuses the schema of a database. */
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "storage/mysql/parts.h"
#include "storage/sql/features.h"

enum { NO_SCHEMA = 0, FOREIGN_SCHEMA = -1 };

/* The version of the first release's stores. Unreleased states numbered theirs below it. */
static int first_version(void)
{
    return ses__mysql_script(0)->version;
}

int ses__mysql_latest(void)
{
    return ses__mysql_script(ses__mysql_script_count() - 1)->version;
}

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

static int check_version(const struct mysql *storage, int version, ses_error *error)
{
    if (version < NO_SCHEMA)
        return ses__error_set(
            error, SES_NOTASTORE,
            "%s: the table seslite_schema_version in this database is not that of a store: use another database",
            storage->server.config.name);
    return ses__server_check_version(&storage->server, version, first_version(), ses__mysql_latest(), error);
}

static void run_script(struct my *my, const char *sql)
{
    mysql_free_result(ses__my_script(my, sql));
}

/* Before anything is altered: a script that was cut off may have left a store with features. */
static void refuse_features(const struct mysql *storage, struct my *my)
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
        my->base.code = ses__feature_refuse(storage->server.config.name, ses__span_of(row[0]),
                                            row[1][0] == '1' ? SES_READONLY : SES_TOONEW, &my->base.error);
    mysql_free_result(rows);
}

/* The lock is the database's, whose name may be longer than that of a lock. */
#define LOCK_NAME "concat('seslite migrates ', left(sha2(database(), 256), 40))"

/* Runs under a lock, so that other programs that open the store wait. The server commits after each change of the schema, so a
 * script that is cut off is run again by the next that opens the store. */
static void migrate(const struct mysql *storage, struct my *my)
{
    const int64_t left_us = my->base.db.deadline_us - ses__clock_steady_us();
    char sql[128];

    (void)snprintf(sql, sizeof sql, "SELECT get_lock(" LOCK_NAME ", %lld)", (long long)(left_us / 1000000));
    if (ask_number(my, sql, 0) != 1)
        ses__remote_fail(&my->base, SES_BUSY, "waiting for another program that makes the store");
    const int version = my->base.code == SES_OK ? find_version(my) : NO_SCHEMA;
    if (my->base.code == SES_OK)
        my->base.code = check_version(storage, version, &my->base.error);
    if (my->base.code == SES_OK)
        refuse_features(storage, my);
    for (size_t i = 0; i < ses__mysql_script_count(); i++) {
        if (ses__mysql_script(i)->version > version)
            run_script(my, ses__mysql_script(i)->sql);
    }
    run_script(my, "DO release_lock(" LOCK_NAME ")");
}

/* Refuses a store with a feature that this library does not know. */
static int check_features(struct db *db, void *context, ses_error *error)
{
    const struct mysql *storage = context;

    return ses__features_check(db, storage->server.config.read_only ? SES_OK : SES_READONLY, error);
}

/* After a failure, which the connection keeps, the rest is not run, and the connection is not used again. */
static int bring_up_to_date(const struct mysql *storage, struct my *my, ses_error *error)
{
    (void)ses__my_settle(my); /* the end of a read before, which has not waited for it */
    ses__remote_forget_failure(&my->base);
    const int version = find_version(my);
    if (my->base.code == SES_READONLY) /* without the right to read */
        my->base.code = my->base.error.code = SES_CANTOPEN;
    if (my->base.code == SES_OK)
        my->base.code = check_version(storage, version, &my->base.error);
    if (my->base.code == SES_OK && version < ses__mysql_latest())
        migrate(storage, my);
    if (my->base.code != SES_OK && error)
        *error = my->base.error;
    my->base.lost = my->base.lost || my->base.code != SES_OK;
    return my->base.code;
}

int ses__mysql_migrate(struct mysql *storage, ses_error *error)
{
    const int64_t deadline_us = ses__clock_steady_us() + storage->server.config.timeout_us;
    struct remote *remote = NULL;
    int code = ses__server_take(&storage->server, NULL, deadline_us, false, &remote, error);

    if (code != SES_OK)
        return code;
    code = bring_up_to_date(storage, ses__my_of(&remote->db), error);
    ses__server_give_back(&storage->server, remote);
    return code == SES_OK
               ? ses__run(&storage->server.base, TO_READ_BEFORE_WRITING, check_features, storage, error)
               : code;
}
