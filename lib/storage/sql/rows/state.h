/* The rows of state. */
#ifndef SESLITE_STORAGE_SQL_ROWS_STATE_H
#define SESLITE_STORAGE_SQL_ROWS_STATE_H

#include "storage/sql/rows/session.h"

enum { STORED_SCOPES = SCOPE_TEMP };

/* A walk over one scope of an app, a user or a session; keys without their prefix, values as JSON text. */
SESLITE_PRIVATE void ses__state_rows_open(struct query *rows, struct db *db, enum scope scope, int64_t owner,
                                          ses_error *error);
/* One key: one row, or none. `key` lives until the close. */
SESLITE_PRIVATE void ses__state_row_open(struct query *rows, struct db *db, enum scope scope, int64_t owner,
                                         struct span key, ses_error *error);
/* Texts live until the next row. */
SESLITE_PRIVATE bool ses__state_rows_next(struct query *rows, struct span *key, struct span *value);
/* The last key of a walk over shared state. */
struct key_order {
    char last[SES_ID_MAX];
    size_t len;
    bool begun;
};
/* Reads the next row of shared state. CORRUPT unless the key may be one and comes after the last, so that
 * each comes once, and the value is JSON. */
SESLITE_PRIVATE bool ses__shared_rows_next(struct query *rows, struct key_order *order, struct span *key,
                                           struct span *value);
/* Loads all of the walk into the state, and closes it. */
SESLITE_PRIVATE int ses__state_rows_load(struct query *rows, struct state *state, enum scope scope,
                                         ses_error *error);

/* Loads a scope of the session's into the state. */
SESLITE_PRIVATE int ses__load_scope(struct db *db, struct state *state, enum scope scope,
                                    const struct session_row *session, ses_error *error);
/* Loads all stored scopes of a session, in two halves. A row without numbers: of the session that this
 * transaction finds. */
SESLITE_PRIVATE void ses__state_of_session_ask(struct query *rows, struct db *db,
                                               const struct session_row *session, ses_error *error);
SESLITE_PRIVATE int ses__state_of_session_take(struct query *rows, struct state *state, ses_error *error);
/* The user or session scope of many owners, with one statement. No owners: those of the list that this
 * transaction reads. */
SESLITE_PRIVATE void ses__owners_ask(struct query *rows, struct db *db, enum scope scope,
                                     const struct owner_list *owners, ses_error *error);
/* Loads and closes it. The owners must be different ones, in the order in which they were asked for, and
 * their states have nothing in that scope. */
SESLITE_PRIVATE int ses__owners_take(struct query *rows, enum scope scope, const struct owner_list *owners,
                                     struct state *const *states, ses_error *error);
SESLITE_PRIVATE int64_t ses__scope_owner(enum scope scope, const struct session_row *session);
/* The name of the first key of which something else is stored than what was seen (an operation that removes:
 * that the key does not exist); NULL: there is none. */
SESLITE_PRIVATE int ses__state_find_changed(struct db *db, const struct delta *seen,
                                            const struct session_row *session, const char **changed,
                                            ses_error *error);
/* The same in two halves, of the session that this transaction finds: one row is asked for each key that was
 * seen. */
SESLITE_PRIVATE void ses__state_seen_ask(struct query *rows, struct db *db, const struct delta *seen,
                                         ses_error *error);
SESLITE_PRIVATE int ses__state_seen_take(struct query *rows, const struct delta *seen, const char **changed);
/* Writes the changes of the stored scopes, as made by event `seq` of the session; 0: its creation. */
SESLITE_PRIVATE int ses__delta_store(struct db *db, const struct delta *delta,
                                     const struct session_row *session, int64_t seq, ses_error *error);

/* A walk over the session's own keys, in the order of their names, with the events that set them. The names
 * are copied to the arena, values live until the next row. CORRUPT: a row is out of place. */
struct own_rows {
    struct query query;
    int64_t session_id;
    struct arena *arena;
    struct span last;
};
SESLITE_PRIVATE void ses__own_rows_open(struct own_rows *rows, struct db *db, int64_t session_id,
                                        struct arena *arena, ses_error *error);
SESLITE_PRIVATE bool ses__own_rows_next(struct own_rows *rows, struct span *key, struct span *value,
                                        int64_t *seq);

/* Makes the session's own keys those of the state, which holds nothing else, with the events that had set
 * them. */
SESLITE_PRIVATE int ses__session_state_restore(struct db *db, const struct session_row *session,
                                               const struct state *state, ses_error *error);
/* CORRUPT, naming the first key that would change. */
SESLITE_PRIVATE int ses__session_state_check(struct db *db, const struct session_row *session,
                                             const struct state *state, ses_error *error);

#endif
