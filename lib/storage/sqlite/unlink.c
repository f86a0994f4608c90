/* Removes a damaged table from the schema. */
#include "base/error.h"
#include "storage/sqlite/parts.h"

/* A row of the schema is what SQLite allows to delete only if it is asked for. It reads the schema again,
 * here and, by another number of it, everywhere else. */
int ses__sqlite_unlink(struct db *base, const char *name, ses_error *error)
{
    struct connection *db = ses__connection_of(base);
    static const char doing[] = "unlinking a damaged table";
    int64_t version = 0;
    int code = ses__connection_read_int(db, "PRAGMA main.schema_version", &version, error);
    char *sql = sqlite3_mprintf("PRAGMA writable_schema = ON;"
                                "DELETE FROM main.sqlite_schema WHERE tbl_name = %Q COLLATE NOCASE;"
                                "PRAGMA main.schema_version = %lld;"
                                "PRAGMA writable_schema = RESET;",
                                name, (version + 1) & 0x7fffffff);

    if (!sql && code == SES_OK)
        code = ses__error_nomem(error);
    const int rc =
        code == SES_OK ? sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL) : SQLITE_OK;
    if (rc != SQLITE_OK)
        code = ses__connection_error(db, rc, doing, error);
    if (code == SES_OK)
        code = ses__connection_execute(db, sql, doing, error);
    (void)sqlite3_exec(db->handle, "PRAGMA writable_schema = OFF", NULL, NULL, NULL); /* after a failure */
    (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1,
                            NULL); /* cannot fail: it could be off */
    sqlite3_free(sql);
    return code;
}
