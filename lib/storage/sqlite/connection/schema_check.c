/*
 * Compares the schema of a file with the one that the scripts make. Additions are accepted as long as they
 * cannot change the result of a statement of the library: tables, views and triggers (the library runs
 * neither of the two), and indexes on plain columns. A changed table or index of the store is refused, and so
 * is an addition to one that computes or forbids values.
 */
#include "storage/sqlite/connection/schema.h"
#include "storage/sqlite/connection/scripts.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* ------------------------------------------------------------------------------- what the scripts make */

/* One CREATE statement of a script, as SQLite keeps it: without the semicolon. */
struct script_object {
    char type[8];
    struct span name;
    struct span sql;
};

enum { MAX_OBJECTS = 64 };

struct script_objects {
    struct connection *db; /* that they are looked for in */
    struct script_object items[MAX_OBJECTS];
    bool found[MAX_OBJECTS];
    size_t count;
};

static bool starts_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static size_t word_length(const char *text)
{
    return strcspn(text, " (\n");
}

/* A statement ends with the first line that ends in a semicolon; a trigger, which holds statements, with its END. */
static const char *end_of_statement(const char *sql, bool is_trigger)
{
    const char *end = strstr(sql, is_trigger ? "\nEND;\n" : ";\n");
    return end && is_trigger ? end + strlen("\nEND") : end;
}

/* "CREATE [UNIQUE] TYPE NAME ...", at the beginning of a line of the script. */
static bool read_script_object(const char *line, struct script_object *object)
{
    const char *type = line + strlen("CREATE ");
    if (starts_with(type, "UNIQUE "))
        type += strlen("UNIQUE ");
    size_t type_len = word_length(type);
    const char *name = type + type_len + 1;
    const char *end = end_of_statement(line, starts_with(type, "TRIGGER"));
    bool lasts = end != NULL && type_len < sizeof object->type && !starts_with(type, "TEMP");

    if (lasts) {
        for (size_t i = 0; i < type_len; i++)
            object->type[i] = (char)(type[i] | 0x20); /* SQLite's names of types are in lower case */
        object->type[type_len] = '\0';
        object->name = (struct span){name, word_length(name)};
        object->sql = (struct span){line, (size_t)(end - line)};
    }
    return lasts;
}

static bool span_is(struct span span, const char *text)
{
    return span.len == strlen(text) && memcmp(span.ptr, text, span.len) == 0;
}

/* The object of that name; the count when there is none. */
static size_t find_object(const struct script_objects *objects, const char *name)
{
    size_t at = 0;
    while (at < objects->count && !span_is(objects->items[at].name, name))
        at++;
    return at;
}

/* Views are for people, who may change them. */
static bool counts(const struct script_object *object)
{
    return strcmp(object->type, "view") != 0;
}

static void collect_objects(const char *scripts, struct script_objects *objects)
{
    for (const char *script = scripts; *script; script += strlen(script) + 1) {
        const char *line = script;
        while (line && objects->count < MAX_OBJECTS) {
            struct script_object object;
            if (starts_with(line, "CREATE ") && read_script_object(line, &object) && counts(&object)) {
                objects->items[objects->count++] = object;
            }
            line = strchr(line, '\n');
            line = line ? line + 1 : NULL;
        }
    }
}

/* ------------------------------------------------------------------------------------ what the file has */

static int refuse_schema(const struct connection *db, const char *type, const char *name, const char *wrong,
                         ses_error *error)
{
    return ses__error_set(error, SES_CORRUPT, "%s: the schema is not that of a store: the %s \"%.100s\" %s",
                          db->config->path, type, name, wrong);
}

static bool is_table_of_ours(const struct script_objects *objects, const char *table)
{
    size_t at = find_object(objects, table);
    return at < objects->count && strcmp(objects->items[at].type, "table") == 0;
}

/* `format` has a place for a name. */
static int visit_about(struct connection *db, const char *format, const char *name, connection_visit *visit,
                       void *context, ses_error *error)
{
    char *sql = sqlite3_mprintf(format, name);
    const int code = sql ? ses__connection_visit(db, sql, visit, context, error) : ses__error_nomem(error);

    sqlite3_free(sql);
    return code;
}

struct index_traits {
    const char *name;
    bool unique;
    bool partial;
    bool computed; /* it has an expression */
};

static int note_index(void *context, sqlite3_stmt *row, ses_error *error)
{
    struct index_traits *traits = context;
    const char *name = (const char *)sqlite3_column_text(row, 1);
    (void)error;

    if (name && strcmp(name, traits->name) == 0) {
        traits->unique = sqlite3_column_int(row, 2) != 0;
        traits->partial = sqlite3_column_int(row, 4) != 0;
    }
    return SES_OK;
}

static int note_index_column(void *context, sqlite3_stmt *row, ses_error *error)
{
    enum { EXPRESSION = -2 }; /* https://www.sqlite.org/pragma.html#pragma_index_xinfo */
    struct index_traits *traits = context;
    (void)error;

    traits->computed = traits->computed || sqlite3_column_int(row, 1) == EXPRESSION;
    return SES_OK;
}

/*
 * An index that is not ours, on a table of ours. On plain columns it only costs time. With an expression or a WHERE
 * every write would compute what another program defined, and a unique one would refuse rows.
 */
static int check_foreign_index(struct connection *db, const char *table, const char *index, ses_error *error)
{
    struct index_traits traits = {.name = index};
    int code = visit_about(db, "PRAGMA main.index_list(%Q)", table, note_index, &traits, error);

    if (code == SES_OK)
        code = visit_about(db, "PRAGMA main.index_xinfo(%Q)", index, note_index_column, &traits, error);
    if (code == SES_OK && (traits.unique || traits.partial || traits.computed))
        code = refuse_schema(
            db, "index", index,
            "is not the store's own, and only plain indexes may be added to its tables: drop it", error);
    return code;
}

/* One row of sqlite_schema. */
static int check_schema_row(void *context, sqlite3_stmt *row, ses_error *error)
{
    struct script_objects *objects = context;
    struct connection *db = objects->db;
    const char *type = (const char *)sqlite3_column_text(row, 0);
    const char *name = (const char *)sqlite3_column_text(row, 1);
    const char *table = (const char *)sqlite3_column_text(row, 2);
    const char *sql = (const char *)sqlite3_column_text(row, 3);
    int code = SES_OK;

    if (!type || !name || !table || !sql)
        return ses__error_nomem(error); /* the query leaves NULL out */
    size_t at = find_object(objects, name);
    if (at < objects->count) {
        const struct script_object *expected = &objects->items[at];
        objects->found[at] = true;
        if (strcmp(type, expected->type) != 0 || !span_is(expected->sql, sql))
            code = refuse_schema(db, type, name, "was changed", error);
    } else if (strcmp(type, "index") == 0 && is_table_of_ours(objects, table)) {
        code = check_foreign_index(db, table, name, error);
    }
    return code;
}

int ses__schema_check(struct connection *db, ses_error *error)
{
    struct script_objects objects = {.db = db};
    char *scripts = ses__schema_unpack(db->config->allocator);

    if (!scripts)
        return ses__error_nomem(error);
    collect_objects(scripts, &objects);
    int code = ses__connection_visit(
        db,
        "SELECT type, name, tbl_name, sql FROM main.sqlite_schema WHERE type IS NOT NULL "
        "AND name IS NOT NULL AND tbl_name IS NOT NULL AND sql IS NOT NULL",
        check_schema_row, &objects, error);
    for (size_t i = 0; i < objects.count && code == SES_OK; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s", (int)objects.items[i].name.len, objects.items[i].name.ptr);
        if (!objects.found[i])
            code = refuse_schema(db, objects.items[i].type, name, "is missing", error);
    }
    ses__memory_free(db->config->allocator, scripts);
    return code;
}
