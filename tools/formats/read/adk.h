/*
 * Databases of the ADKs. They differ in their columns but share the tables sessions, events, app_states and
 * user_states; a row is a session, an event, or the shared state of an app or a user.
 *
 * Events are ordered by rowid. Few of these databases have an index for the events of one session, so one is
 * built in a temporary file of SQLite's.
 */
#ifndef FORMATS_READ_ADK_H
#define FORMATS_READ_ADK_H

#include "formats/database/rows.h"

struct adk_source;

struct adk_tables {
    const char *session_id;                               /* the column of sessions: "id" */
    const char *created;                                  /* the columns of sessions with times */
    const char *updated;                                  /* NULL if it is unreliable */
    int64_t (*time)(sqlite3_stmt *statement, int column); /* of these columns */
    const char *event_columns; /* of events, as `e`: "e.event_data, e.id", numbered from 0 */
    const char *optional;      /* more columns, separated by blanks; read as NULL if absent */
    /* Builds the event of the row. Returns 1 or a code. */
    int (*event)(struct adk_source *source, sqlite3_stmt *row, struct foreign_event *event, ses_error *error);
};

struct adk_source {
    const struct foreign_file *file;
    const struct adk_tables *tables;
    struct foreign_session session; /* the last one */
    int64_t session_row;
    int64_t shared_row; /* the last one of the current table */
    bool users;         /* the current table is user_states */
    struct text json;   /* of the last event, if it is assembled */
    struct text scratch;
    sqlite3_stmt *apps_and_users;
    sqlite3_stmt *sessions;
    sqlite3_stmt *events;
};

int adk_open(struct foreign_file *file, const struct adk_tables *tables, void **source, ses_error *error);
int adk_next_shared(void *source, struct foreign_shared *shared, ses_error *error);
int adk_next_session(void *source, struct foreign_session *session, ses_error *error);
int adk_begin_events(void *source, ses_error *error);
int adk_next_event(void *source, struct foreign_event *event, ses_error *error);
void adk_close(void *source);

/* The walk over such a database, in its struct foreign_format. */
#define ADK_ROWS                                                                                        \
    .next_shared = adk_next_shared, .next_session = adk_next_session, .begin_events = adk_begin_events, \
    .next_event = adk_next_event, .close = adk_close

/* True if the database has these columns of sessions and events, and the tables of shared state. */
bool adk_has(const struct foreign_file *file, const char *session_columns, const char *event_columns);

/* Builds an event, member by member: the object is opened by the first and closed by adk_end. */
void adk_begin(struct adk_source *source);
/* Adds a column that is already JSON. An empty text or NULL is left out. */
void adk_raw(struct adk_source *source, const char *name, sqlite3_stmt *row, int column);
/* Adds a text. NULL and, unless `empty`, "" are left out. Invalid UTF-8 is kept, to be rejected later. */
void adk_text(struct adk_source *source, const char *name, sqlite3_stmt *row, int column, bool empty);
/* Adds a flag if it is set. */
void adk_flag(struct adk_source *source, const char *name, sqlite3_stmt *row, int column);
/* Adds any JSON. */
void adk_json(struct adk_source *source, const char *name, struct span json);
void adk_end(struct adk_source *source, struct foreign_event *event);

/* Adds a time as the ADK writes it: seconds to the microsecond. */
void adk_seconds(struct adk_source *source, const char *name, int64_t time_us);

#endif
