/* Tables that an application has added, whose foreign keys refer to the store's. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "storage/sqlite/connection/schema.h"
#include "storage/sqlite/connection/scripts.h"

static bool is_made_by_script(const char *scripts, const char *table)
{
    char start[128];
    bool made = false;

    (void)snprintf(start, sizeof start, "\nCREATE TABLE %s (", table);
    for (const char *script = scripts; *script && !made; script += strlen(script) + 1)
        made = strstr(script, start) != NULL;
    return made;
}

static void note_referrer(char *names, size_t capacity, const char *name)
{
    size_t len = strlen(names);
    (void)snprintf(names + len, capacity - len, "%s%s", len > 0 ? ", " : "", name);
}

bool ses__schema_name_referrers(struct connection *db, char *names, size_t capacity)
{
    sqlite3_stmt *row = NULL;
    char *scripts = ses__schema_unpack(db->config->allocator);
    int rc = sqlite3_prepare_v2(db->handle,
                                "SELECT DISTINCT m.name, lower(k.\"table\") FROM main.sqlite_schema AS m, "
                                "pragma_foreign_key_list(m.name) AS k WHERE m.type = 'table'",
                                -1, &row, NULL);

    names[0] = '\0';
    while (scripts && rc == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(row, 0);
        const char *parent = (const char *)sqlite3_column_text(row, 1);
        if (name && parent && !is_made_by_script(scripts, name) && is_made_by_script(scripts, parent))
            note_referrer(names, capacity, name);
    }
    (void)sqlite3_finalize(row); /* a name that could not be read is left out */
    ses__memory_free(db->config->allocator, scripts);
    return names[0] != '\0';
}
