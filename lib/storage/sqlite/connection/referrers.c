/* Tables that an application has added, whose foreign keys refer to the store's. */
#include <stdio.h>
#include <string.h>

#include "storage/sqlite/connection/schema.h"
#include "storage/sqlite/connection/scripts.h"

static bool is_made_by_script(const char *table)
{
    char start[128];
    bool made = false;

    (void)snprintf(start, sizeof start, "\nCREATE TABLE %s (", table);
    for (size_t i = 0; i < ses__schema_script_count() && !made; i++)
        made = strstr(ses__schema_script(i)->sql, start) != NULL;
    return made;
}

static void note_referrer(char *names, size_t capacity, const char *name)
{
    size_t len = strlen(names);
    (void)snprintf(names + len, capacity - len, "%s%s", len > 0 ? ", " : "", name);
}

bool ses__schema_name_referrers(sqlite3 *handle, char *names, size_t capacity)
{
    sqlite3_stmt *row = NULL;
    int rc = sqlite3_prepare_v2(handle,
                                "SELECT DISTINCT m.name, lower(k.\"table\") FROM main.sqlite_schema AS m, "
                                "pragma_foreign_key_list(m.name) AS k WHERE m.type = 'table'",
                                -1, &row, NULL);

    names[0] = '\0';
    while (rc == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(row, 0);
        const char *parent = (const char *)sqlite3_column_text(row, 1);
        if (name && parent && !is_made_by_script(name) && is_made_by_script(parent))
            note_referrer(names, capacity, name);
    }
    (void)sqlite3_finalize(row); /* a name that could not be read is left out */
    return names[0] != '\0';
}
