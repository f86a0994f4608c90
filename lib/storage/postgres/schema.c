/* Creates, upgrades or refuses the schema of a database. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "storage/postgres/parts.h"
#include "storage/sql/query.h"

/* The lock for migrations: "seslite" in ASCII. */
#define LOCK_SQL "SELECT pg_catalog.pg_advisory_xact_lock(32492102341850213)"

/* For the scripts after it: the server parses a script as a whole before it runs any of it. */
#define STRINGS_SQL "SET LOCAL standard_conforming_strings = on; "

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

static bool is_released(const struct server_config *config, int version)
{
    return version >= config->first_version && version <= config->latest_version;
}

/* Reads the version. A released one has features: refuses one that this library does not know. */
static int read_released(const struct server_config *config, struct pg *pg)
{
    PGresult *last = ses__pg_script(
        pg, PG_SAFE_PATH
        "SELECT v.version, f.name, f.needs = 2 FROM (" VERSION_SQL ") AS v LEFT JOIN (SELECT name, needs "
        "FROM seslite.features WHERE needs <> 1 AND name <> 'families' AND name !~ '^search[0-9]*$' "
        "ORDER BY needs = 2 LIMIT 1) AS f ON true");
    const bool found = PQntuples(last) == 1;
    const int version = found ? (int)strtol(PQgetvalue(last, 0, 0), NULL, 10) : FOREIGN_SCHEMA;

    if (found && is_released(config, version) && !PQgetisnull(last, 0, 1)) {
        const int denied = config->read_only ? SES_OK : SES_READONLY;
        const bool may_be_read = PQgetvalue(last, 0, 2)[0] == 't';
        pg->base.code = ses__feature_refuse(config->name, ses__span_of(PQgetvalue(last, 0, 1)),
                                            may_be_read ? denied : SES_TOONEW, &pg->base.error);
    }
    PQclear(last);
    return version;
}

/* The version of the schema; 0 if there is none. */
static int find_version(struct pg *pg)
{
    const int version = ask_number(pg, FIND_SQL, NO_SCHEMA);
    return version == 1 ? ask_number(pg, PG_SAFE_PATH VERSION_SQL, FOREIGN_SCHEMA) : version;
}

/* Finds the version outside of a transaction, in one round trip if there is a schema. Without SELECT
 * privilege, reports CANTOPEN instead of READONLY. */
static int read_version(const struct server_config *config, struct pg *pg)
{
    int version = read_released(config, pg);

    if (strcmp(pg->base.error.sqlstate, "42P01") == 0) { /* there is no such table */
        ses__remote_forget_failure(&pg->base);
        version = find_version(pg);
    }
    if (pg->base.code == SES_READONLY && pg->base.error.sqlstate[0])
        pg->base.code = pg->base.error.code = SES_CANTOPEN;
    return version;
}

static int check_version(const struct server_config *config, int version, ses_error *error)
{
    if (version == FOREIGN_SCHEMA)
        return ses__error_set(
            error, SES_NOTASTORE,
            "%s: the schema \"seslite\" in this database does not belong to a store: use another database",
            config->name);
    return ses__server_check_version(config, version, error);
}

/* Runs under a lock, so that other programs that open the store wait. */
static void migrate(const struct server_config *config, struct pg *pg)
{
    run_script(pg, "BEGIN ISOLATION LEVEL READ COMMITTED; " PG_SAFE_PATH STRINGS_SQL LOCK_SQL);
    const int version = find_version(pg);
    if (pg->base.code == SES_OK)
        pg->base.code = check_version(config, version, &pg->base.error);
    if (pg->base.code == SES_OK && is_released(config, version))
        (void)read_released(config, pg);
    for (size_t i = 0; i < ses__postgres_script_count(); i++) {
        if (ses__postgres_script(i)->version > version)
            run_script(pg, ses__postgres_script(i)->sql);
    }
    run_script(pg, "COMMIT");
}

/* Scripts have several statements, which a pipeline does not allow. After a failure, which the connection
 * keeps, the rest is not run. */
void ses__postgres_bring_up_to_date(struct remote *remote, const struct server_config *config)
{
    struct pg *pg = ses__pg_of(&remote->db);

    if (PQexitPipelineMode(pg->conn) != 1)
        ses__pg_fail(pg, NULL, "opening");
    const int version = read_version(config, pg);
    if (pg->base.code == SES_OK)
        pg->base.code = check_version(config, version, &pg->base.error);
    if (pg->base.code == SES_OK && version < config->latest_version)
        migrate(config, pg);
    if (pg->base.code == SES_OK && PQenterPipelineMode(pg->conn) != 1)
        pg->base.lost = true;
}
