/* Rows of a foreign database. Nothing in it is trusted, neither the types of values nor their lengths. */
#ifndef FORMATS_DATABASE_ROWS_H
#define FORMATS_DATABASE_ROWS_H

#include <sqlite3.h>

#include "formats/formats.h"

/* Turns a failure of SQLite into a code and a message. */
int rows_failed(sqlite3 *db, const char *doing, ses_error *error);

/* True if there is an ordinary table (not a view or a virtual table) with all of these stored columns, which
 * are separated by blanks. */
bool rows_has(sqlite3 *db, const char *table, const char *columns);
/* True if the declared type of the column begins with this text, in any case. */
bool rows_type_is(sqlite3 *db, const char *table, const char *column, const char *type);

/* Prepares a statement. On failure sets `error` and returns NULL. */
sqlite3_stmt *rows_prepare(sqlite3 *db, const char *sql, ses_error *error);
/* Returns 1 for a row, 0 at the end, or a code. */
int rows_step(sqlite3_stmt *statement, ses_error *error);
/* Like rows_next, for events. Returns LIMIT if a row is too large to be read, which ends only the walk over
 * this session. */
int rows_step_event(sqlite3_stmt *statement, ses_error *error);
void rows_finalize(sqlite3_stmt **statement);

/* Creates the temporary table place (session, event) of rowids, which maps each session to its events and is
 * ordered by both. `join` joins the events, as `e`, to the sessions, as `s`. Events without a session are
 * noted. Fails with CORRUPT if a row occurs twice, as in a damaged file. */
int rows_places(const struct foreign_file *file, const char *join, const char *events, ses_error *error);
/* Returns 1 and updates *last if the rowid in column 0 is greater, otherwise CORRUPT: in a damaged file the
 * walk might never end. */
int rows_ascend(sqlite3_stmt *statement, int64_t *last, ses_error *error);

/* The bytes of a text or blob, or a number as text. ptr is NULL for NULL. */
struct span rows_span(sqlite3_stmt *statement, int column);
/* A text without NUL bytes, valid until the next step. Fails with INVALID for any other value; `what` names
 * it in the message. */
int rows_text(sqlite3_stmt *statement, int column, const char *what, const char **text, ses_error *error);
/* Converts REAL seconds to microseconds, rounded like the same number in JSON. Returns FOREIGN_NO_TIME if it
 * is not a time. */
int64_t rows_seconds(sqlite3_stmt *statement, int column);
/* Converts integer milliseconds. */
int64_t rows_milliseconds(sqlite3_stmt *statement, int column);
/* Converts a text, like time_of_text. */
int64_t rows_time(sqlite3_stmt *statement, int column, bool *zoned);

#endif
