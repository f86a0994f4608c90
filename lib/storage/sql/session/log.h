/* Shared by the operations on a log's history. All run inside a transaction. */
#ifndef SESLITE_STORAGE_SQL_SESSION_LOG_H
#define SESLITE_STORAGE_SQL_SESSION_LOG_H

#include "model/event/range.h"
#include "model/replay.h"
#include "storage/door.h"

struct db;

/* STALE for a handle (a ref with a known row) when events were cut since it was read. */
SESLITE_PRIVATE int ses__log_check_epoch(const struct session_ref *ref, const struct session_row *row,
                                         ses_error *error);
/* STALE: the session is not at the version that the caller expected; `flag` is what allows that. */
SESLITE_PRIVATE int ses__log_set_stale_error(const struct session_row *row, int64_t expected,
                                             const char *flag, ses_error *error);
/* The number of the last event that lies before the point, or of the last that could: from row.base_seq to row.last_seq.
 * NOTFOUND, with a message that says from where on history is known. */
SESLITE_PRIVATE int ses__log_find_point(struct db *db, const struct session_ref *ref,
                                        const struct session_row *row, const struct point *point,
                                        int64_t *seq, ses_error *error);
/* Fills a fresh replay with the state after the event `seq`, from row.base_seq on. */
SESLITE_PRIVATE int ses__log_replay(struct db *db, const struct session_row *row, int64_t seq,
                                    struct replay *replay, ses_error *error);
/* Applies the changes of the events from `first` to `last`. The replay has reached the event before
 * `first`. */
SESLITE_PRIVATE int ses__log_replay_events(struct db *db, const struct session_row *row, int64_t first,
                                           int64_t last, struct replay *replay, ses_error *error);
/* The state the session was created with, in the arena; no text: empty. */
SESLITE_PRIVATE int ses__log_initial(struct db *db, int64_t session_id, struct arena *arena,
                                     struct span *initial, ses_error *error);

#endif
