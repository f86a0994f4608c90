/*
 * Filters of invocations: derived data that only files have. A rewind takes back everything from the first
 * event of an invocation on, wherever that is in the log. A filter tells of a stretch of the log, some
 * thousand events, which of them may belong to an invocation, so that only these are read.
 *
 * It has a key for each event: a piece of the hash of its invocation, and its place in the stretch. The
 * filter of a full stretch is divided into parts by the hash, and a look reads one of them. An append writes
 * nothing. A rewind, redo, cut or pop that finds them far behind brings them up to date first. Where a filter
 * is missing, damaged or of another epoch, all events are read. A cut leaves them as they are, since numbers
 * are not used again, and each event that a key names is looked at. A filter that somebody forges, with its
 * sum, is found by a check only.
 */
#ifndef SESLITE_STORAGE_SQL_SESSION_FILTERS_H
#define SESLITE_STORAGE_SQL_SESSION_FILTERS_H

#include "storage/sql/rows/words.h"

/* The first event of the invocation from `first` to `last`; 0: there is none. As ses__event_of_invocation,
 * but with filters. `row` is the session's. */
SESLITE_PRIVATE int ses__invocation_find(struct db *db, const struct session_row *row, struct span invocation,
                                         int64_t first, int64_t last, int64_t *seq, ses_error *error);

/* True if so many events have come since that a look at them all takes noticeably long. */
SESLITE_PRIVATE int ses__filters_are_behind(struct db *db, const struct session_row *row, bool *are_behind,
                                            ses_error *error);
/* Adds the next events of a session, in a transaction that writes. `*more`: there are more of them. */
SESLITE_PRIVATE int ses__filters_advance(struct db *db, int64_t session_id, bool *more, ses_error *error);
/* After events at the end were cut: the filters hold for the new epoch, too. */
SESLITE_PRIVATE int ses__filters_keep(struct db *db, const struct session_row *before,
                                      const struct session_row *after, ses_error *error);

/* ---- for the check */

struct filter {
    int part;      /* of the stretch; 0: all of it */
    int64_t first; /* of the stretch */
    int64_t last;
    struct span keys; /* borrowed until the next row */
};
enum { FILTER_PARTS = 65 };
/* The part that has the invocation. */
SESLITE_PRIVATE int ses__filter_part(struct span invocation);
/* True if they are there for the session. */
SESLITE_PRIVATE int ses__filters_find(struct db *db, const struct session_row *row, bool *are_there,
                                      ses_error *error);
/* Opens the filters of a part that end at `seq` or after it, in order. */
SESLITE_PRIVATE void ses__filters_open(struct query *query, struct db *db, int64_t session_id, int part,
                                       int64_t seq, ses_error *error);
/* False if the row is damaged. */
SESLITE_PRIVATE bool ses__filter_read(struct query *query, int64_t session_id, int part,
                                      struct filter *filter);
/* The first event, from a number on, that may belong to the invocation; above MAX_SEQ: none does. */
SESLITE_PRIVATE int64_t ses__filter_next(const struct filter *filter, struct span invocation, int64_t from);

#endif
