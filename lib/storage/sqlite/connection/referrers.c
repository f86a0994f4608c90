/* Tables that an application has added, whose foreign keys refer to the store's. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "storage/sqlite/connection/schema.h"
#include "storage/sqlite/connection/scripts.h"

/* `schema`: texts in threes, type, name and SQL. */
static bool is_table_of_store(const char *schema, const char *name)
{
    const char *end = schema + ses__schema_scripts.schema_bytes;
    const char *text = schema;

    while (text < end && (strcmp(text, "table") != 0 || strcmp(text + sizeof "table", name) != 0))
        text += strlen(text) + 1;
    return text < end;
}

/* The tally, or that of version 0.2.0. It is not in the schema scripts, since it is made on demand. */
static bool is_tally(const char *name, const char *parent)
{
    return (strcmp(name, "usage_sums") == 0 || strcmp(name, "usage_counts") == 0) &&
           strcmp(parent, "derived") == 0;
}

static void note_referrer(char *names, size_t capacity, const char *name)
{
    size_t len = strlen(names);
    (void)snprintf(names + len, capacity - len, "%s%s", len > 0 ? ", " : "", name);
}

bool ses__schema_name_referrers(struct connection *db, char *names, size_t capacity)
{
    sqlite3_stmt *row = NULL;
    char *schema = ses__schema_unpack(db->config->allocator, ses__schema_scripts.schema_bytes);
    int rc = sqlite3_prepare_v2(db->handle,
                                "SELECT DISTINCT m.name, lower(k.\"table\") FROM main.sqlite_schema AS m, "
                                "pragma_foreign_key_list(m.name) AS k WHERE m.type = 'table'",
                                -1, &row, NULL);

    names[0] = '\0';
    while (schema && rc == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(row, 0);
        const char *parent = (const char *)sqlite3_column_text(row, 1);
        if (name && parent && !is_table_of_store(schema, name) && is_table_of_store(schema, parent) &&
            !is_tally(name, parent))
            note_referrer(names, capacity, name);
    }
    (void)sqlite3_finalize(row); /* a name that could not be read is left out */
    ses__memory_free(db->config->allocator, schema);
    return names[0] != '\0';
}
