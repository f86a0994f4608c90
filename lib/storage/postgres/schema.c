/* Creates, upgrades or refuses the schema of a database. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "storage/postgres/parts.h"
#include "storage/sql/features.h"

/* The lock for migrations: "seslite" in ASCII. */
#define LOCK_SQL "SELECT pg_catalog.pg_advisory_xact_lock(32492102341850213)"

/* For the scripts after it: the server parses a script as a whole before it runs any of it. */
#define STRINGS_SQL "SET LOCAL standard_conforming_strings = on; "

/* The version of the first release's stores. Unreleased states numbered theirs below it. */
static int first_version(void)
{
    return ses__postgres_script(0)->version;
}

int ses__postgres_latest(void)
{
    return ses__postgres_script(ses__postgres_script_count() - 1)->version;
}

enum { NO_SCHEMA = 0, FOREIGN_SCHEMA = -1 };

/* Uses the catalog's tables: to_regclass may see a state from before the lock was granted. */
#define FIND_SQL                                                                                         \
    PG_SAFE_PATH                                                                                         \
    "SELECT CASE WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n " \
    "ON n.oid = c.relnamespace WHERE n.nspname = 'seslite' AND c.relname = 'schema_version') THEN 1 "    \
    "WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = 'seslite') THEN -1 ELSE 0 END"

static void run_script(struct pg *pg, const char *sql)
{
    PQclear(ses__pg_script(pg, sql));
}

static int ask_number(struct pg *pg, const char *sql, int otherwise)
{
    PGresult *last = ses__pg_script(pg, sql);
    const int number = PQntuples(last) == 1 ? (int)strtol(PQgetvalue(last, 0, 0), NULL, 10) : otherwise;

    PQclear(last);
    return number;
}

#define VERSION_SQL "SELECT max(version) AS version FROM seslite.schema_version HAVING count(*) = 1"

static int read_existing(struct pg *pg)
{
    return ask_number(pg, PG_SAFE_PATH VERSION_SQL, FOREIGN_SCHEMA);
}

static bool is_released(int version)
{
    return version >= first_version() && version <= ses__postgres_latest();
}

/* The same as of a released version, which has features. Refuses one that this library does not know. */
static int read_released(const struct postgres *storage, struct pg *pg)
{
    PGresult *last = ses__pg_script(
        pg, PG_SAFE_PATH
        "SELECT v.version, f.name, f.needs = 2 FROM (" VERSION_SQL ") AS v LEFT JOIN (SELECT name, needs "
        "FROM seslite.features WHERE needs <> 1 AND name <> 'families' AND name !~ '^search[0-9]*$' "
        "ORDER BY needs = 2 LIMIT 1) AS f ON true");
    const bool found = PQntuples(last) == 1;
    const int version = found ? (int)strtol(PQgetvalue(last, 0, 0), NULL, 10) : FOREIGN_SCHEMA;

    if (found && is_released(version) && !PQgetisnull(last, 0, 1)) {
        const int denied = storage->server.config.read_only ? SES_OK : SES_READONLY;
        const bool may_be_read = PQgetvalue(last, 0, 2)[0] == 't';
        pg->base.code = ses__feature_refuse(storage->server.config.name, ses__span_of(PQgetvalue(last, 0, 1)),
                                            may_be_read ? denied : SES_TOONEW, &pg->base.error);
    }
    PQclear(last);
    return version;
}

/* The version of the schema; 0 if there is none. */
static int find_version(struct pg *pg)
{
    const int version = ask_number(pg, FIND_SQL, NO_SCHEMA);
    return version == 1 ? read_existing(pg) : version;
}

/* The same outside of a transaction, in one round trip if there is a schema. Without SELECT privilege, reports CANTOPEN
 * instead of READONLY. */
static int read_version(const struct postgres *storage, struct pg *pg)
{
    int version = read_released(storage, pg);

    if (strcmp(pg->base.error.sqlstate, "42P01") == 0) { /* there is no such table */
        ses__remote_forget_failure(&pg->base);
        version = find_version(pg);
    }
    if (pg->base.code == SES_READONLY && pg->base.error.sqlstate[0])
        pg->base.code = pg->base.error.code = SES_CANTOPEN;
    return version;
}

static int check_version(const struct postgres *storage, int version, ses_error *error)
{
    if (version == FOREIGN_SCHEMA)
        return ses__error_set(
            error, SES_NOTASTORE,
            "%s: the schema \"seslite\" in this database does not belong to a store: use another database",
            storage->server.config.name);
    return ses__server_check_version(&storage->server, version, first_version(), ses__postgres_latest(),
                                     error);
}

/* Runs under a lock, so that other programs that open the store wait. */
static void migrate(const struct postgres *storage, struct pg *pg)
{
    run_script(pg, "BEGIN ISOLATION LEVEL READ COMMITTED; " PG_SAFE_PATH STRINGS_SQL LOCK_SQL);
    const int version = find_version(pg);
    if (pg->base.code == SES_OK)
        pg->base.code = check_version(storage, version, &pg->base.error);
    if (pg->base.code == SES_OK && is_released(version))
        (void)read_released(storage, pg);
    for (size_t i = 0; i < ses__postgres_script_count(); i++) {
        if (ses__postgres_script(i)->version > version)
            run_script(pg, ses__postgres_script(i)->sql);
    }
    run_script(pg, "COMMIT");
}

/* Scripts have several statements, which a pipeline does not allow. After a failure, which the connection keeps, the rest is
 * not run, and the connection is not used again. */
static int bring_up_to_date(const struct postgres *storage, struct pg *pg, ses_error *error)
{
    (void)ses__pg_settle(pg); /* the end of a read before, which has not waited for it */
    ses__remote_forget_failure(&pg->base);
    if (PQexitPipelineMode(pg->conn) != 1)
        ses__pg_fail(pg, NULL, "opening");
    const int version = read_version(storage, pg);
    if (pg->base.code == SES_OK)
        pg->base.code = check_version(storage, version, &pg->base.error);
    if (pg->base.code == SES_OK && version < ses__postgres_latest())
        migrate(storage, pg);
    if (pg->base.code != SES_OK && error)
        *error = pg->base.error;
    pg->base.lost = pg->base.lost || pg->base.code != SES_OK || PQenterPipelineMode(pg->conn) != 1;
    return pg->base.code;
}

int ses__postgres_migrate(struct postgres *storage, ses_error *error)
{
    const int64_t deadline_us = ses__clock_steady_us() + storage->server.config.timeout_us;
    struct remote *remote = NULL;
    int code = ses__server_take(&storage->server, NULL, deadline_us, false, &remote, error);

    if (code != SES_OK)
        return code;
    code = bring_up_to_date(storage, ses__pg_of(&remote->db), error);
    ses__server_give_back(&storage->server, remote);
    return code;
}
