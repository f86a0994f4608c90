/* How SQLite runs the statements. */
#include "storage/sql/query.h"

#include "base/error.h"
#include "storage/sqlite/connection/connection.h"

static bool is_of_transaction(const struct statement *source)
{
    return source == STATEMENT_BEGIN_WRITE || source == STATEMENT_BEGIN_READ || source == STATEMENT_COMMIT ||
           source == STATEMENT_ROLLBACK;
}

static void query_fail(struct query *query, int rc)
{
    const size_t rest = 4096; /* more than enough for the numbers and the head of a row */
    struct connection *db = ses__connection_of(query->db);
    const char *name = query->source->name;

    if (query->code != SES_OK)
        return;
    query->code = is_of_transaction(query->source) ? ses__connection_error(db, rc, name, query->error)
                                                   : ses__statement_error(db, rc, name, query->error);
    /* The file was a store when it was opened, and the rows of a store fit. So unless the caller's texts are
     * too long, a row of the file is. */
    if (query->code == SES_NOTASTORE ||
        (query->code == SES_LIMIT &&
         query->bytes + rest <= (size_t)sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, -1))) {
        query->code = SES_CORRUPT;
        if (query->error)
            query->error->code = SES_CORRUPT;
    }
}

static void bind_values(struct query *query, const struct value *values)
{
    for (int parameter = 1; values && values->type != 0 && query->code == SES_OK; values++, parameter++) {
        const struct span text = values->text;
        int rc = SQLITE_OK;
        if (values->type == SQL_INT) {
            rc = sqlite3_bind_int64(query->run, parameter, values->number);
        } else {
            query->bytes += text.len;
            if (values->type == SQL_BLOB)
                rc = sqlite3_bind_blob64(query->run, parameter, text.ptr, text.len, SQLITE_STATIC);
            else if (text.ptr)
                rc = sqlite3_bind_text64(query->run, parameter, text.ptr, text.len, SQLITE_STATIC,
                                         SQLITE_UTF8);
            else if (values->owners)
                rc = ses__id_list_bind(query->run, parameter, values->owners);
        }
        if (UNLIKELY(rc != SQLITE_OK))
            query_fail(query, rc);
    }
}

void ses__sqlite_start(struct query *query, const struct value *values)
{
    struct connection *db = ses__connection_of(query->db);
    const struct statement *source = query->source;
    const size_t slot = ses__statement_slot(source);
    sqlite3_stmt **kept = &db->statements[slot];

    ses__connection_start_work(db);
    if (UNLIKELY(!*kept)) {
        const char *sql = source->name + strlen(source->name) + 1;
        sqlite3_stmt *statement = NULL;
        int rc = sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
        if (rc == SQLITE_OK)
            *kept = statement;
        else
            query_fail(query, rc);
        /* SQLite counts the rows that a statement changes, but not the effect of these. */
        db->reshapes[slot] = strncmp(sql, "CREATE", 6) == 0 || strncmp(sql, "DROP", 4) == 0;
    }
    query->run = *kept;
    db->open_queries += *kept != NULL;
    db->reshaped |= db->reshapes[slot];
    bind_values(query, values);
    struct meter *meter = ses__limits_meter(query->db->limits);
    if (UNLIKELY(meter))
        meter->bytes_in += (int64_t)query->bytes;
}

bool ses__sqlite_row(struct query *query)
{
    struct connection *db = ses__connection_of(query->db);
    bool row = false;

    if (UNLIKELY(ses__connection_must_end(db)))
        query_fail(query, SQLITE_INTERRUPT);
    if (query->code != SES_OK)
        return false;
    int rc = sqlite3_step(query->run);
    row = rc == SQLITE_ROW;
    if (UNLIKELY(!row && rc != SQLITE_DONE)) {
        query_fail(query, rc);
    } else if (UNLIKELY(sqlite3_get_autocommit(db->handle)) && !is_of_transaction(query->source)) {
        /* SQLite reads its statistics when another connection has changed the schema, and goes on without
         * them if that fails. But such a failure may have ended the transaction, and later statements would
         * not be in one. An earlier one of several statements that were sent together may have failed, and
         * has set the error. */
        db->failed = true;
        query->code =
            query->error && query->error->code != SES_OK
                ? query->error->code
                : ses__error_set(
                      query->error, SES_IO,
                      "%s: SQLite ended the transaction after a failure that it does not report; try again",
                      query->db->name);
    }
    return row && query->code == SES_OK;
}

_Static_assert(SQL_INT == SQLITE_INTEGER && SQL_TEXT == SQLITE_TEXT && SQL_BLOB == SQLITE_BLOB &&
                   SQL_NULL == SQLITE_NULL,
               "types of values are numbered as SQLite numbers them");

enum sql_type ses__sqlite_type(const struct query *query, int column)
{
    return (enum sql_type)sqlite3_column_type(query->run, column);
}

int64_t ses__sqlite_int_of(struct query *query, int column)
{
    return sqlite3_column_int64(query->run, column);
}

struct span ses__sqlite_text_of(struct query *query, int column)
{
    /* One way to the column, where sqlite3_column_text and sqlite3_column_bytes each take it. Such a value is
     * for one thread only, which a connection in use is, too. */
    sqlite3_value *value = sqlite3_column_value(query->run, column);
    struct span text = {NULL, 0};

    if (UNLIKELY(sqlite3_value_type(value) == SQLITE_BLOB))
        return text;
    text.ptr = (const char *)sqlite3_value_text(value);
    if (text.ptr)
        text.len = (size_t)sqlite3_value_bytes(value);
    else if (sqlite3_column_type(query->run, column) != SQLITE_NULL)
        query_fail(query, SQLITE_NOMEM);
    struct meter *meter = ses__limits_meter(query->db->limits);
    if (UNLIKELY(meter))
        meter->bytes_out += (int64_t)text.len;
    return text;
}

struct span ses__sqlite_bytes_of(struct query *query, int column)
{
    sqlite3_value *value = sqlite3_column_value(query->run, column);
    struct span bytes = {NULL, 0};

    if (sqlite3_value_type(value) != SQLITE_BLOB)
        return bytes;
    bytes = (struct span){sqlite3_value_blob(value), (size_t)sqlite3_value_bytes(value)};
    if (!bytes.ptr && bytes.len > 0)
        query_fail(query, SQLITE_NOMEM);
    struct meter *meter = ses__limits_meter(query->db->limits);
    if (UNLIKELY(meter))
        meter->bytes_out += (int64_t)bytes.len;
    return bytes;
}

/* Reset repeats what the step returned, which was reported already; bindings borrow the caller's texts. */
static void end_statement(sqlite3_stmt *statement)
{
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
}

int ses__sqlite_end(struct query *query)
{
    if (query->run) {
        end_statement(query->run);
        query->run = NULL;
        ses__connection_of(query->db)->open_queries--;
    }
    return query->code;
}

void ses__sqlite_end_queries(struct connection *db)
{
    for (size_t i = 0; i < STATEMENT_COUNT && db->open_queries > 0; i++) {
        if (db->statements[i])
            end_statement(db->statements[i]);
    }
    db->open_queries = 0;
}

int64_t ses__sqlite_changed(const struct db *db)
{
    return sqlite3_changes64(((const struct connection *)db)->handle);
}

int64_t ses__sqlite_given(const struct db *db)
{
    return sqlite3_last_insert_rowid(((const struct connection *)db)->handle);
}
