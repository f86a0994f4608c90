#include "formats/database/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "formats/times.h"
#include "json/decimal.h"

/* ----------------------------------------------------------------------------------------------- failures */

static int code_of(int engine_code)
{
    switch (engine_code & 0xff) {
    case SQLITE_NOMEM:
        return SES_NOMEM;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return SES_BUSY;
    case SQLITE_CORRUPT:
    case SQLITE_CONSTRAINT:
    case SQLITE_SCHEMA:
        return SES_CORRUPT;
    case SQLITE_NOTADB:
        return SES_NOTASTORE;
    case SQLITE_TOOBIG:
        return SES_LIMIT;
    case SQLITE_FULL:
        return SES_FULL;
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return SES_CANTOPEN;
    case SQLITE_IOERR:
        return SES_IO;
    case SQLITE_INTERRUPT:
        return SES_INTERRUPTED;
    default:
        /* The tables are not as expected. */
        return SES_CORRUPT;
    }
}

int rows_failed(sqlite3 *db, const char *doing, ses_error *error)
{
    const int engine_code = sqlite3_extended_errcode(db);
    int code = code_of(engine_code);

    (void)ses__error_set(error, code, "%s failed: %s%s", doing, sqlite3_errmsg(db),
                         code == SES_BUSY      ? "; another program has it locked: try again"
                         : code == SES_CORRUPT ? "; the file is damaged, or was not written by that program"
                         : code == SES_LIMIT   ? "; a value is larger than this store accepts"
                                               : "");
    if (error)
        error->engine_code = engine_code;
    return code;
}

/* --------------------------------------------------------------------------------------------- statements */

static bool is_plain_table(sqlite3 *db, const char *table)
{
    static const char sql[] = "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND rootpage > 1 "
                              "AND name = ?1 COLLATE NOCASE";
    sqlite3_stmt *statement = NULL;
    bool is = false;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC) == SQLITE_OK)
        is = sqlite3_step(statement) == SQLITE_ROW;
    (void)sqlite3_finalize(statement);
    return is;
}

/* Only stored columns count: a generated one would run an expression from the file. */
static bool has_column(sqlite3 *db, const char *table, const char *column, size_t len, char type[16])
{
    static const char sql[] =
        "SELECT type FROM temp.pragma_table_xinfo(?1, 'main') WHERE hidden = 0 AND name = ?2";
    sqlite3_stmt *statement = NULL;
    bool has = false;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_text(statement, 2, column, (int)len, SQLITE_STATIC) == SQLITE_OK)
        has = sqlite3_step(statement) == SQLITE_ROW;
    if (has && type) {
        const unsigned char *text = sqlite3_column_text(statement, 0);
        (void)snprintf(type, 16, "%s", text ? (const char *)text : "");
    }
    (void)sqlite3_finalize(statement);
    return has;
}

bool rows_has(sqlite3 *db, const char *table, const char *columns)
{
    if (!is_plain_table(db, table))
        return false;
    while (*columns) {
        size_t len = strcspn(columns, " ");
        if (!has_column(db, table, columns, len, NULL))
            return false;
        columns += len + (columns[len] == ' ');
    }
    return true;
}

bool rows_type_is(sqlite3 *db, const char *table, const char *column, const char *type)
{
    char is[16];

    return is_plain_table(db, table) && has_column(db, table, column, strlen(column), is) &&
           sqlite3_strnicmp(is, type, (int)strlen(type)) == 0;
}

sqlite3_stmt *rows_prepare(sqlite3 *db, const char *sql, ses_error *error)
{
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
        (void)rows_failed(db, "reading the tables", error);
    return statement;
}

int rows_step_event(sqlite3_stmt *statement, ses_error *error)
{
    int code = sqlite3_step(statement);

    if (code == SQLITE_ROW)
        return 1;
    if (code == SQLITE_DONE)
        return 0;
    code = rows_failed(sqlite3_db_handle(statement), "reading the tables", error);
    (void)sqlite3_reset(statement);
    return code;
}

int rows_step(sqlite3_stmt *statement, ses_error *error)
{
    int code = rows_step_event(statement, error);

    /* The walk over these rows has ended, and the rows after it cannot be reached. */
    return code == SES_LIMIT ? (error->code = SES_IO) : code;
}

void rows_finalize(sqlite3_stmt **statement)
{
    (void)sqlite3_finalize(*statement);
    *statement = NULL;
}

static int64_t count_of(sqlite3 *db, const char *table)
{
    struct text sql = {NULL, 0, 0};
    sqlite3_stmt *statement = NULL;
    int64_t count = 0;

    text_print(&sql, "SELECT count(*) FROM %s", table);
    if (sqlite3_prepare_v2(db, sql.data, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        count = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    text_free(&sql);
    return count;
}

int rows_places(const struct foreign_file *file, const char *join, const char *events, ses_error *error)
{
    struct text sql = {NULL, 0, 0};

    text_print(&sql,
               "DROP TABLE IF EXISTS temp.place;"
               "CREATE TEMP TABLE place (session INTEGER, event INTEGER, PRIMARY KEY (session, event))"
               " WITHOUT ROWID;"
               "INSERT INTO temp.place SELECT s.rowid, e.rowid FROM %s",
               join);
    int engine_code = sqlite3_exec(file->db, sql.data, NULL, NULL, NULL);
    text_free(&sql);
    if (engine_code != SQLITE_OK)
        return rows_failed(file->db, "reading the events", error);
    foreign_note_many(file->notes, FOREIGN_NOTE_ORPHANS,
                      count_of(file->db, events) - count_of(file->db, "temp.place"));
    return SES_OK;
}

int rows_ascend(sqlite3_stmt *statement, int64_t *last, ses_error *error)
{
    const int64_t rowid = sqlite3_column_int64(statement, 0);

    if (*last != 0 && rowid <= *last)
        return ses__error_set(error, SES_CORRUPT, "the file is damaged: its rows are not in order");
    *last = rowid == 0 ? -1 : rowid;
    return 1;
}

/* ------------------------------------------------------------------------------------------------- values */

struct span rows_span(sqlite3_stmt *statement, int column)
{
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return (struct span){NULL, 0};
    const char *text = sqlite3_column_type(statement, column) == SQLITE_BLOB
                           ? sqlite3_column_blob(statement, column)
                           : (const char *)sqlite3_column_text(statement, column);
    size_t len = (size_t)sqlite3_column_bytes(statement, column);
    return (struct span){text ? text : "", text ? len : 0};
}

int rows_text(sqlite3_stmt *statement, int column, const char *what, const char **text, ses_error *error)
{
    struct span span = rows_span(statement, column);

    *text = "";
    if (!span.ptr)
        return ses__error_set(error, SES_INVALID, "the %s is missing (NULL)", what);
    if (span.len > 0 && memchr(span.ptr, '\0', span.len))
        return ses__error_set(error, SES_INVALID, "the %s contains a NUL", what);
    /* A blob has no terminating NUL. */
    if (span.len > 0 && sqlite3_column_type(statement, column) == SQLITE_BLOB)
        return ses__error_set(error, SES_INVALID, "the %s is a blob instead of a text", what);
    *text = span.ptr;
    return SES_OK;
}

/* -------------------------------------------------------------------------------------------------- times */

/* The library supports the years 0 to 9999. */
static bool is_time(double seconds)
{
    return seconds >= -62167219200.0 && seconds < 253402300800.0;
}

static int64_t time_in(sqlite3_stmt *statement, int column, double unit, int places)
{
    const int type = sqlite3_column_type(statement, column);
    const double number = sqlite3_column_double(statement, column);
    char digits[DOUBLE_ROOM];
    int64_t us = FOREIGN_NO_TIME;

    if ((type != SQLITE_FLOAT && type != SQLITE_INTEGER) || !is_time(number / unit))
        return FOREIGN_NO_TIME;
    (void)ses__decimal_round((struct span){digits, ses__double_write(number, digits)}, places, &us);
    return us;
}

int64_t rows_seconds(sqlite3_stmt *statement, int column)
{
    return time_in(statement, column, 1, 6);
}

int64_t rows_milliseconds(sqlite3_stmt *statement, int column)
{
    return time_in(statement, column, 1e3, 3);
}

int64_t rows_time(sqlite3_stmt *statement, int column, bool *zoned)
{
    return time_of_text(rows_span(statement, column), zoned);
}
