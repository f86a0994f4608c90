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
    objects->count = 0;
    for (const char *script = scripts; *script; script += strlen(script) + 1) {
        const char *line = script;
        while (line && objects->count < MAX_OBJECTS) {
            struct script_object object;
            if (starts_with(line, "CREATE ") && read_script_object(line, &object) && counts(&object)) {
                objects->found[objects->count] = false;
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

/* `format` has at most one place, for a name. */
static int prepare_about(struct connection *db, const char *format, const char *name,
                         sqlite3_stmt **statement, ses_error *error)
{
    char *sql = sqlite3_mprintf(format, name);

    ses__connection_start_work(db);
    int rc = sql ? sqlite3_prepare_v2(db->handle, sql, -1, statement, NULL) : SQLITE_NOMEM;

    sqlite3_free(sql);
    return rc == SQLITE_OK ? SES_OK : ses__statement_error(db, rc, "reading the schema", error);
}

/* Ends a walk over rows that the last step has ended. */
static int end_walk(struct connection *db, sqlite3_stmt *statement, int rc, ses_error *error)
{
    int code = rc == SQLITE_DONE ? SES_OK : ses__statement_error(db, rc, "reading the schema", error);
    (void)sqlite3_finalize(statement); /* repeats the failure of the step */
    return code;
}

struct index_traits {
    bool unique;
    bool partial;
    bool computed; /* it has an expression */
};

static int read_index_list(struct connection *db, const char *table, const char *index,
                           struct index_traits *traits, ses_error *error)
{
    sqlite3_stmt *statement = NULL;
    int rc = SQLITE_DONE;
    int code = prepare_about(db, "PRAGMA main.index_list(%Q)", table, &statement, error);

    while (code == SES_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 1);
        if (name && strcmp(name, index) == 0) {
            traits->unique = sqlite3_column_int(statement, 2) != 0;
            traits->partial = sqlite3_column_int(statement, 4) != 0;
        }
    }
    return code == SES_OK ? end_walk(db, statement, rc, error) : code;
}

static int read_index_columns(struct connection *db, const char *index, struct index_traits *traits,
                              ses_error *error)
{
    enum { EXPRESSION = -2 }; /* https://www.sqlite.org/pragma.html#pragma_index_xinfo */
    sqlite3_stmt *statement = NULL;
    int rc = SQLITE_DONE;
    int code = prepare_about(db, "PRAGMA main.index_xinfo(%Q)", index, &statement, error);

    while (code == SES_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW)
        traits->computed = traits->computed || sqlite3_column_int(statement, 1) == EXPRESSION;
    return code == SES_OK ? end_walk(db, statement, rc, error) : code;
}

/*
 * An index that is not ours, on a table of ours. On plain columns it only costs time. With an expression or a WHERE
 * every write would compute what another program defined, and a unique one would refuse rows.
 */
static int check_foreign_index(struct connection *db, const char *table, const char *index, ses_error *error)
{
    struct index_traits traits = {false, false, false};
    int code = read_index_list(db, table, index, &traits, error);

    if (code == SES_OK)
        code = read_index_columns(db, index, &traits, error);
    if (code == SES_OK && (traits.unique || traits.partial || traits.computed))
        code = refuse_schema(
            db, "index", index,
            "is not the store's own, and only plain indexes may be added to its tables: drop it", error);
    return code;
}

/* One row of sqlite_schema. */
static int check_schema_row(struct connection *db, struct script_objects *objects, sqlite3_stmt *row,
                            ses_error *error)
{
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

static int check_schema_rows(struct connection *db, struct script_objects *objects, ses_error *error)
{
    sqlite3_stmt *row = NULL;
    int rc = SQLITE_DONE;
    int code =
        prepare_about(db,
                      "SELECT type, name, tbl_name, sql FROM main.sqlite_schema WHERE type IS NOT NULL "
                      "AND name IS NOT NULL AND tbl_name IS NOT NULL AND sql IS NOT NULL",
                      "", &row, error);
    if (code != SES_OK)
        return code;
    while (code == SES_OK && (rc = sqlite3_step(row)) == SQLITE_ROW)
        code = check_schema_row(db, objects, row, error);
    if (code == SES_OK)
        return end_walk(db, row, rc, error);
    (void)sqlite3_finalize(row);
    return code;
}

int ses__schema_check(struct connection *db, ses_error *error)
{
    struct script_objects objects;
    char *scripts = ses__schema_unpack(db->config->allocator);

    if (!scripts)
        return ses__error_nomem(error);
    collect_objects(scripts, &objects);
    int code = check_schema_rows(db, &objects, error);
    for (size_t i = 0; i < objects.count && code == SES_OK; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s", (int)objects.items[i].name.len, objects.items[i].name.ptr);
        if (!objects.found[i])
            code = refuse_schema(db, objects.items[i].type, name, "is missing", error);
    }
    ses__memory_free(db->config->allocator, scripts);
    return code;
}
