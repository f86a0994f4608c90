/* How SQLite runs the statements. */
#include "storage/sql/query.h"

#include "base/error.h"
#include "storage/sqlite/connection/connection.h"

static sqlite3 *handle_of(const struct query *query)
{
    return ((const struct connection *)query->db)->handle;
}

static bool is_of_transaction(const struct statement *source)
{
    return source == STATEMENT_BEGIN_WRITE || source == STATEMENT_BEGIN_READ || source == STATEMENT_COMMIT ||
           source == STATEMENT_ROLLBACK;
}

/* Is it the caller's texts that SQLite finds too long, and not a row of the file? */
static bool is_too_big_itself(const struct query *query)
{
    const size_t rest = 4096; /* more than enough for the numbers and the head of a row */
    return query->bytes + rest > (size_t)sqlite3_limit(handle_of(query), SQLITE_LIMIT_LENGTH, -1);
}

static void query_fail(struct query *query, int rc)
{
    struct connection *db = ses__connection_of(query->db);
    const char *name = query->source->name;

    if (query->code != SES_OK)
        return;
    query->code = is_of_transaction(query->source) ? ses__connection_error(db, rc, name, query->error)
                                                   : ses__statement_error(db, rc, name, query->error);
    /* The file was a store when it was opened, and the rows of a store fit. */
    if (query->code == SES_NOTASTORE || (query->code == SES_LIMIT && !is_too_big_itself(query))) {
        query->code = SES_CORRUPT;
        if (query->error)
            query->error->code = SES_CORRUPT;
    }
}

static int bind_value(struct query *query, int parameter, const struct value *value)
{
    if (value->type == SQL_INT)
        return sqlite3_bind_int64(query->run, parameter, value->number);
    query->bytes += value->text.len;
    if (value->type == SQL_BLOB)
        return sqlite3_bind_blob64(query->run, parameter, value->text.ptr, value->text.len, SQLITE_STATIC);
    if (value->text.ptr)
        return sqlite3_bind_text64(query->run, parameter, value->text.ptr, value->text.len, SQLITE_STATIC,
                                   SQLITE_UTF8);
    return value->owners ? ses__id_list_bind(query->run, parameter, value->owners) : SQLITE_OK;
}

static void bind_values(struct query *query, const struct value *values)
{
    for (int parameter = 1; values && values->type != 0 && query->code == SES_OK; values++, parameter++) {
        const int rc = bind_value(query, parameter, values);
        if (UNLIKELY(rc != SQLITE_OK))
            query_fail(query, rc);
    }
}

/* SQLite counts the rows that a statement changes, but not what these do. */
static bool changes_schema(const char *sql)
{
    return strncmp(sql, "CREATE", 6) == 0 || strncmp(sql, "DROP", 4) == 0;
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
        db->reshapes[slot] = changes_schema(sql);
    }
    query->run = *kept;
    db->open_queries += *kept != NULL;
    db->reshaped |= db->reshapes[slot];
    bind_values(query, values);
    struct meter *meter = ses__limits_meter(query->db->limits);
    if (UNLIKELY(meter))
        meter->bytes_in += (int64_t)query->bytes;
}

/*
 * SQLite reads its statistics when another connection has changed the schema, and goes on without them if that fails. But
 * such a failure may have ended the transaction, and what follows would not be in one.
 */
static bool has_lost_transaction(const struct query *query)
{
    return UNLIKELY(sqlite3_get_autocommit(handle_of(query))) && !is_of_transaction(query->source);
}

/* An earlier one of several statements that were asked together may have failed, and has set the error. */
static void refuse_lost_transaction(struct query *query)
{
    const bool is_told = query->error && query->error->code != SES_OK;

    ses__connection_of(query->db)->failed = true;
    query->code =
        is_told ? query->error->code
                : ses__error_set(
                      query->error, SES_IO,
                      "%s: SQLite ended the transaction after a failure that it does not report; try again",
                      query->db->name);
}

bool ses__sqlite_row(struct query *query)
{
    bool row = false;
    if (UNLIKELY(ses__connection_must_end(ses__connection_of(query->db))))
        query_fail(query, SQLITE_INTERRUPT);
    if (query->code == SES_OK) {
        int rc = sqlite3_step(query->run);
        row = rc == SQLITE_ROW;
        if (UNLIKELY(!row && rc != SQLITE_DONE))
            query_fail(query, rc);
        else if (has_lost_transaction(query))
            refuse_lost_transaction(query);
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
    /* One way to the column, where sqlite3_column_text and sqlite3_column_bytes each take it. Such a value is for one
     * thread only, which a connection in use is, too. */
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
