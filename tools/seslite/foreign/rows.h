/* Rows of a foreign database. Nothing in it is trusted: not the types of values, nor their lengths. */
#ifndef FOREIGN_ROWS_H
#define FOREIGN_ROWS_H

#include "foreign/foreign.h"

/* Turns a failure of SQLite into a code and a message. */
int rows_failed(sqlite3 *db, const char *doing, ses_error *error);

/* Is there a table (no view, nothing virtual) with all of these stored columns, given with a blank between
 * them? */
bool rows_has(sqlite3 *db, const char *table, const char *columns);
/* Does the type that the column was declared with begin so? In any case of letters. */
bool rows_type_is(sqlite3 *db, const char *table, const char *column, const char *type);

/* A statement; NULL with `error` filled if it cannot be made. */
sqlite3_stmt *rows_prepare(sqlite3 *db, const char *sql, ses_error *error);
/* 1: a row; 0: the end; or a code. */
int rows_step(sqlite3_stmt *statement, ses_error *error);
/* The same for events: LIMIT if a row is too large to be read, which ends only the walk over this session. */
int rows_step_event(sqlite3_stmt *statement, ses_error *error);
void rows_finalize(sqlite3_stmt **statement);

/* Makes the temporary table place (session, event), of rowids, in the order of both: which event belongs to
 * which session. `join` joins the events, as `e`, to the sessions, as `s`. Events of no session are noted. A
 * row that comes twice, as in a damaged file, is CORRUPT. */
int rows_places(const struct foreign_file *file, const char *join, const char *events, ses_error *error);
/* 1 if the rowid in column 0 is above the last, which is set; else CORRUPT: in a damaged file the walk need not
 * end. */
int rows_ascend(sqlite3_stmt *statement, int64_t *last, ses_error *error);

/* The bytes of a text or blob; ptr NULL: NULL. Of a number its text. */
struct span rows_span(sqlite3_stmt *statement, int column);
/* A text without NUL within, that lives until the next step. INVALID: it is none, or NULL. `what` names it. */
int rows_text(sqlite3_stmt *statement, int column, const char *what, const char **text, ses_error *error);
/* Whole microseconds from REAL seconds, rounded as the JSON of the same number; FOREIGN_NO_TIME: it is no time. */
int64_t rows_seconds(sqlite3_stmt *statement, int column);
/* The same from integer milliseconds. */
int64_t rows_milliseconds(sqlite3_stmt *statement, int column);
/* The same from "2024-05-31 16:08:58.562418", "2025-03-02T21:45:43.1+05:30", "...Z". Without a zone it is UTC.
 * The year 1 means none. Digits of the fraction beyond six are rounded, as the store rounds them. *zoned (may be
 * NULL) becomes whether it has a zone. */
int64_t rows_time(sqlite3_stmt *statement, int column, bool *zoned);
int64_t time_of_text(struct span text, bool *zoned);

#endif
