/* A virtual table (https://www.sqlite.org/vtab.html) without contents of its own: it shows a list in
 * memory. */
#include "storage/sqlite/connection/connection.h"

#include <string.h>

static const char POINTER_TYPE[] = "seslite_owners";

enum { COLUMN_ROWID = -1, COLUMN_ID, COLUMN_LIST /* hidden: the argument */ };

struct id_list_cursor {
    sqlite3_vtab_cursor base;
    const struct owner_list *list;
    size_t at;
};

static int id_list_connect(sqlite3 *handle, void *context, int argument_count, const char *const *arguments,
                           sqlite3_vtab **table, char **message)
{
    int rc = sqlite3_declare_vtab(handle, "CREATE TABLE owners (id INTEGER, list HIDDEN)");
    (void)context;
    (void)argument_count;
    (void)arguments;
    (void)message;
    if (rc != SQLITE_OK)
        return rc;
    *table = sqlite3_malloc(sizeof **table);
    if (!*table)
        return SQLITE_NOMEM;
    memset(*table, 0, sizeof **table);
    return SQLITE_OK;
}

static int id_list_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

/* There is one plan: all of the list, which must be given, by row id. */
static int id_list_plan(sqlite3_vtab *table, sqlite3_index_info *plan)
{
    (void)table;
    plan->orderByConsumed =
        plan->nOrderBy == 1 && plan->aOrderBy[0].iColumn == COLUMN_ROWID && !plan->aOrderBy[0].desc;
    for (int i = 0; i < plan->nConstraint; i++) {
        if (plan->aConstraint[i].iColumn == COLUMN_LIST && plan->aConstraint[i].usable) {
            plan->aConstraintUsage[i].argvIndex = 1;
            plan->aConstraintUsage[i].omit = 1;
            return SQLITE_OK;
        }
    }
    return SQLITE_CONSTRAINT;
}

static int id_list_open(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor)
{
    struct id_list_cursor *opened = sqlite3_malloc(sizeof *opened);
    (void)table;
    if (!opened)
        return SQLITE_NOMEM;
    memset(opened, 0, sizeof *opened);
    *cursor = &opened->base;
    return SQLITE_OK;
}

static int id_list_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int id_list_begin(sqlite3_vtab_cursor *base, int plan, const char *plan_text, int argument_count,
                         sqlite3_value **arguments)
{
    struct id_list_cursor *cursor = (struct id_list_cursor *)base;
    (void)plan;
    (void)plan_text;
    cursor->at = 0;
    cursor->list = argument_count == 1 ? sqlite3_value_pointer(arguments[0], POINTER_TYPE) : NULL;
    return cursor->list ? SQLITE_OK : SQLITE_MISUSE;
}

static int id_list_next(sqlite3_vtab_cursor *base)
{
    ((struct id_list_cursor *)base)->at++;
    return SQLITE_OK;
}

static int id_list_at_end(sqlite3_vtab_cursor *base)
{
    const struct id_list_cursor *cursor = (const struct id_list_cursor *)base;
    return cursor->at >= cursor->list->count;
}

static int id_list_column(sqlite3_vtab_cursor *base, sqlite3_context *result, int column)
{
    const struct id_list_cursor *cursor = (const struct id_list_cursor *)base;
    if (column == COLUMN_ID)
        sqlite3_result_int64(result, cursor->list->ids[cursor->at]);
    return SQLITE_OK;
}

static int id_list_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    *rowid = (sqlite3_int64)((const struct id_list_cursor *)base)->at;
    return SQLITE_OK;
}

/* Without xCreate: it is there in every connection, and CREATE VIRTUAL TABLE cannot name it. */
static const sqlite3_module id_list_module = {
    .xConnect = id_list_connect,
    .xBestIndex = id_list_plan,
    .xDisconnect = id_list_disconnect,
    .xOpen = id_list_open,
    .xClose = id_list_close,
    .xFilter = id_list_begin,
    .xNext = id_list_next,
    .xEof = id_list_at_end,
    .xColumn = id_list_column,
    .xRowid = id_list_rowid,
};

int ses__id_list_register(sqlite3 *handle)
{
    return sqlite3_create_module(handle, "seslite_owners", &id_list_module, NULL);
}

int ses__id_list_bind(sqlite3_stmt *statement, int parameter, const struct owner_list *owners)
{
    return sqlite3_bind_pointer(statement, parameter, (void *)(uintptr_t)owners, POINTER_TYPE, NULL);
}
