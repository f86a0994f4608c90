#include "storage/sqlite/query.h"

#include <string.h>

#include "base/error.h"

static bool is_of_transaction(const struct statement *source)
{
    return source == STATEMENT_BEGIN_WRITE || source == STATEMENT_BEGIN_READ || source == STATEMENT_COMMIT ||
           source == STATEMENT_ROLLBACK;
}

/* Is it the caller's texts that SQLite finds too long, and not a row of the file? */
static bool is_too_big_itself(const struct query *query)
{
    const size_t rest = 4096; /* more than enough for the numbers and the head of a row */
    return query->bytes + rest > (size_t)sqlite3_limit(query->db->handle, SQLITE_LIMIT_LENGTH, -1);
}

static void query_fail(struct query *query, int rc)
{
    struct db *db = query->db;
    const char *name = query->source->name;

    if (query->code == SES_OK && is_of_transaction(query->source))
        query->code = ses__connection_error(db, rc, name, query->error);
    else if (query->code == SES_OK)
        query->code = ses__statement_error(db, rc, name, query->error);
    /* The file was a store when it was opened, and the rows of a store fit. */
    if (query->code == SES_NOTASTORE || (query->code == SES_LIMIT && !is_too_big_itself(query))) {
        query->code = SES_CORRUPT;
        if (query->error)
            query->error->code = SES_CORRUPT;
    }
}

void ses__query_start(struct query *query, struct db *db, const struct statement *source, ses_error *error)
{
    *query = (struct query){.db = db,
                            .statement = db->statements[source->slot],
                            .source = source,
                            .code = SES_OK,
                            .error = error};
    ses__connection_start_work(db);
    if (UNLIKELY(!query->statement)) {
        int rc = sqlite3_prepare_v3(db->handle, source->sql, -1, SQLITE_PREPARE_PERSISTENT, &query->statement,
                                    NULL);
        if (rc == SQLITE_OK)
            db->statements[source->slot] = query->statement;
        else
            query_fail(query, rc);
    }
}

void ses__query_bind_int(struct query *query, int parameter, int64_t value)
{
    if (query->code == SES_OK) {
        int rc = sqlite3_bind_int64(query->statement, parameter, value);
        if (UNLIKELY(rc != SQLITE_OK))
            query_fail(query, rc);
    }
}

void ses__query_bind_text(struct query *query, int parameter, struct span text)
{
    if (query->code == SES_OK) {
        int rc =
            sqlite3_bind_text64(query->statement, parameter, text.ptr, text.len, SQLITE_STATIC, SQLITE_UTF8);
        query->bytes += text.len;
        if (UNLIKELY(rc != SQLITE_OK))
            query_fail(query, rc);
    }
}

void ses__query_bind_string(struct query *query, int parameter, const char *string)
{
    ses__query_bind_text(query, parameter, (struct span){string, strlen(string)});
}

void ses__query_bind_owners(struct query *query, int parameter, const struct owner_list *owners)
{
    if (query->code == SES_OK) {
        int rc = ses__owners_bind(query->statement, parameter, owners);
        if (UNLIKELY(rc != SQLITE_OK))
            query_fail(query, rc);
    }
}

/*
 * SQLite reads its statistics when another connection has changed the schema, and goes on without them if that fails. But
 * such a failure may have ended the transaction, and what follows would not be in one.
 */
static bool has_lost_transaction(const struct query *query)
{
    return UNLIKELY(sqlite3_get_autocommit(query->db->handle)) && !is_of_transaction(query->source);
}

static void refuse_lost_transaction(struct query *query)
{
    query->code = ses__error_set(query->error, SES_IO,
                                 "%s: SQLite ended the transaction after a failure that it does not report; "
                                 "try again",
                                 query->db->config->path);
}

bool ses__query_row(struct query *query)
{
    bool row = false;
    if (UNLIKELY(atomic_load_explicit(&query->db->interrupted, memory_order_relaxed)))
        query_fail(query, SQLITE_INTERRUPT);
    if (query->code == SES_OK) {
        int rc = sqlite3_step(query->statement);
        row = rc == SQLITE_ROW;
        if (UNLIKELY(!row && rc != SQLITE_DONE))
            query_fail(query, rc);
        else if (has_lost_transaction(query))
            refuse_lost_transaction(query);
    }
    return row && query->code == SES_OK;
}

int64_t ses__query_int(struct query *query, int column)
{
    return sqlite3_column_int64(query->statement, column);
}

struct span ses__query_text(struct query *query, int column)
{
    /* One way to the column, where sqlite3_column_text and sqlite3_column_bytes each take it. Such a value is for one
     * thread only, which a connection in use is, too. */
    sqlite3_value *value = sqlite3_column_value(query->statement, column);
    struct span text = {(const char *)sqlite3_value_text(value), 0};
    if (text.ptr)
        text.len = (size_t)sqlite3_value_bytes(value);
    else if (sqlite3_column_type(query->statement, column) != SQLITE_NULL)
        query_fail(query, SQLITE_NOMEM);
    return text;
}

int ses__query_end(struct query *query)
{
    if (query->statement) {
        /* Reset repeats what the step returned, which was reported already; bindings borrow the caller's texts. */
        (void)sqlite3_reset(query->statement);
        (void)sqlite3_clear_bindings(query->statement);
    }
    return query->code;
}

int ses__query_run(struct db *db, const struct statement *source, ses_error *error)
{
    struct query query;
    ses__query_start(&query, db, source, error);
    (void)ses__query_row(&query);
    return ses__query_end(&query);
}
