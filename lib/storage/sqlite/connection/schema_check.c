/*
 * Compares the schema of a file with the one that the scripts make. Additions are accepted as long as they
 * cannot change the result of a statement of the library: tables, views and triggers (the library runs
 * neither of the two), and indexes on plain columns. A changed table or index of the store is refused, and so
 * is an addition to one that computes or forbids values. Tables of features are looked at where they are used
 * (storage/sql/derived/derived.c).
 *
 * The schema cannot be read from the scripts: ALTER TABLE edits the SQL of a table that an earlier script
 * created, and of the indexes and triggers that name a renamed column. So sql/sqlite/schema.sql has what
 * SQLite keeps after it ran all of them, and is in the library too. A test compares the two.
 */
#include "storage/sqlite/connection/schema.h"
#include "storage/sqlite/connection/scripts.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* --------------------------------------------------------------------------------------------- its tokens */

/*
 * SQL with the same tokens means the same to SQLite. A script that was only tidied up, and another version's
 * ALTER TABLE, may leave other blanks, comments and letter cases. Everything in quotes counts, with the
 * quotes: NOT is a constraint, and "NOT" is a name. An operator of several characters is compared as several,
 * because SQLite accepts none that is torn.
 */

static bool starts_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (unsigned char)c >= 128;
}

static const char *skip_blanks(const char *sql)
{
    while (true) {
        if (*sql != '\0' && strchr(" \t\n\f\r", *sql)) {
            sql++;
        } else if (starts_with(sql, "--")) {
            sql += strcspn(sql, "\n");
        } else if (starts_with(sql, "/*")) {
            const char *end = strstr(sql + 2, "*/");
            sql = end ? end + 2 : sql + strlen(sql);
        } else {
            return sql;
        }
    }
}

/* A quote inside is doubled, except for brackets. */
static size_t quoted_length(const char *token)
{
    const char quote = *token == '[' ? ']' : *token;
    const char *end = strchr(token + 1, quote);

    while (end && quote != ']' && end[1] == quote)
        end = strchr(end + 2, quote);
    return end ? (size_t)(end + 1 - token) : strlen(token);
}

/* 0 at the end. */
static size_t token_length(const char *token)
{
    const bool is_blob = (*token == 'x' || *token == 'X') && token[1] == '\'';
    size_t len = 0;

    if (is_blob)
        return 1 + quoted_length(token + 1);
    while (is_word(token[len]))
        len++;
    if (len > 0 || *token == '\0')
        return len;
    return strchr("'\"`[", *token) ? quoted_length(token) : 1;
}

/* SQLite keeps a statement without the semicolon at its end. */
static bool has_same_tokens(const char *a, const char *b)
{
    while (true) {
        a = skip_blanks(a);
        b = skip_blanks(b);
        const size_t len = token_length(a);
        if (len == 0 && *b == ';' && *skip_blanks(b + 1) == '\0')
            return true;
        if (len != token_length(b) ||
            (is_word(*a) ? sqlite3_strnicmp(a, b, (int)len) : memcmp(a, b, len)) != 0)
            return false;
        if (len == 0)
            return true;
        a += len;
        b += len;
    }
}

/* ------------------------------------------------------------------------------- what the scripts make */

struct schema_object {
    const char *type;
    const char *name;
    const char *sql;
    bool found;
};

struct schema {
    struct connection *db; /* that is compared */
    char *texts;
    struct schema_object *objects;
    size_t next; /* the object after the one found last, since a file has them in the same order */
};

static const char *take_text(const char **texts)
{
    const char *text = *texts;
    *texts += strlen(text) + 1;
    return text;
}

static int schema_load(struct schema *schema, ses_error *error)
{
    const ses_allocator *allocator = schema->db->config->allocator;
    const size_t count = ses__schema_scripts.object_count;
    const char *next = NULL;

    schema->objects = ses__memory_zeroed(allocator, count * sizeof *schema->objects);
    schema->texts = ses__schema_unpack(allocator, ses__schema_scripts.schema_bytes);
    if (!schema->objects || !schema->texts)
        return ses__error_nomem(error);
    next = schema->texts;
    for (struct schema_object *object = schema->objects; object < schema->objects + count; object++) {
        object->type = take_text(&next);
        object->name = take_text(&next);
        object->sql = take_text(&next);
    }
    return SES_OK;
}

/* NULL if the scripts make no object of that name. */
static struct schema_object *find_object(struct schema *schema, const char *name)
{
    const size_t count = ses__schema_scripts.object_count;

    for (size_t i = 0; i < count; i++) {
        struct schema_object *object = &schema->objects[(schema->next + i) % count];
        if (sqlite3_stricmp(object->name, name) == 0) {
            schema->next += i + 1;
            return object;
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------ what the file has */

static int refuse_schema(const struct connection *db, const char *type, const char *name, const char *wrong,
                         ses_error *error)
{
    return ses__error_set(error, SES_CORRUPT, "%s: the schema is not that of a store: the %s \"%.100s\" %s",
                          db->config->path, type, name, wrong);
}

/*
 * An index that is not ours, on a table of ours. On plain columns it only costs time. With an expression or a
 * WHERE every write would compute what another program defined, and a unique one would refuse rows.
 */
static int check_foreign_index(struct connection *db, const char *table, const char *index, ses_error *error)
{
    int64_t harms = 0;
    /* An expression has the column -2 (https://www.sqlite.org/pragma.html#pragma_index_xinfo). With `temp`,
     * since a table of this name in the file would take the place of SQLite's. */
    char *sql = sqlite3_mprintf("SELECT EXISTS (SELECT 1 FROM temp.pragma_index_list(%Q, 'main') AS i"
                                " WHERE i.name = %Q COLLATE NOCASE AND (i.\"unique\" OR i.partial))"
                                " OR EXISTS (SELECT 1 FROM temp.pragma_index_xinfo(%Q, 'main') AS c"
                                " WHERE c.cid = -2)",
                                table, index, index);
    int code = sql ? ses__connection_read_int(db, sql, &harms, error) : ses__error_nomem(error);

    sqlite3_free(sql);
    if (code == SES_OK && harms)
        code = refuse_schema(
            db, "index", index,
            "is not the store's own, and only plain indexes may be added to its tables: drop it", error);
    return code;
}

/* One row of sqlite_schema. SQLite refuses one whose columns do not agree with its SQL, but for their
 * case. */
static int check_schema_row(void *context, sqlite3_stmt *row, ses_error *error)
{
    struct schema *schema = context;
    struct connection *db = schema->db;
    const char *type = (const char *)sqlite3_column_text(row, 0);
    const char *name = (const char *)sqlite3_column_text(row, 1);
    const char *table = (const char *)sqlite3_column_text(row, 2);
    const char *sql = (const char *)sqlite3_column_text(row, 3);

    if (!type || !name || !table || !sql)
        return ses__error_nomem(error); /* the query leaves NULL out */
    struct schema_object *object = find_object(schema, name);
    if (object) {
        object->found = true;
        return sqlite3_stricmp(type, object->type) != 0 ||
                       (strcmp(sql, object->sql) != 0 && !has_same_tokens(sql, object->sql))
                   ? refuse_schema(db, type, name, "was changed", error)
                   : SES_OK;
    }
    if (sqlite3_stricmp(type, "index") != 0)
        return SES_OK;
    object = find_object(schema, table);
    return object && strcmp(object->type, "table") == 0 ? check_foreign_index(db, table, name, error)
                                                        : SES_OK;
}

int ses__schema_check(struct connection *db, ses_error *error)
{
    struct schema schema = {.db = db};
    int code = schema_load(&schema, error);

    if (code == SES_OK)
        code = ses__connection_visit(
            db,
            "SELECT type, name, tbl_name, sql FROM main.sqlite_schema WHERE type IS NOT NULL "
            "AND name IS NOT NULL AND tbl_name IS NOT NULL AND sql IS NOT NULL",
            check_schema_row, &schema, error);
    for (size_t i = 0; i < ses__schema_scripts.object_count && code == SES_OK; i++) {
        const struct schema_object *object = &schema.objects[i];
        if (!object->found)
            code = refuse_schema(db, object->type, object->name, "is missing", error);
    }
    ses__memory_free(db->config->allocator, schema.objects);
    ses__memory_free(db->config->allocator, schema.texts);
    return code;
}
