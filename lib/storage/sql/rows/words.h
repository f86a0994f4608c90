/*
 * The index of words that searches use: a feature of a store ("search" in `features`), made on demand and
 * derived from the events (storage/sql/derived). `derived` says how far it has come in each session. Events
 * that are removed from a log are removed from the index in the same transaction. Each event that the index
 * leads to is looked at again, so a row that another program has left costs only time.
 */
#ifndef SESLITE_STORAGE_SQL_ROWS_WORDS_H
#define SESLITE_STORAGE_SQL_ROWS_WORDS_H

#include "base/hash.h"
#include "model/words/index_text.h"
#include "storage/sql/derived/derived.h"
#include "storage/sql/rows/event.h"
#include "storage/sql/rows/list.h"

/* From the second on, the name contains the number of the rules by which an event has words (model/words).
 * A change of them takes the next number, search2 (test/search/rules.c). An index of another number counts as
 * absent. */
#define WORDS_FEATURE "search"

/* The tables that have the names of those of the index. */
struct index_tables {
    bool are_sound;
    bool are_any;        /* one of them is there */
    const char *foreign; /* the name of one that is not ours; NULL: there is none */
};

/* How an engine keeps it. */
struct words_engine {
    struct words_syntax syntax;
    /* Removes events of a session by their numbers. NULL: their words must be given, one event at a time. */
    const struct statement *remove;
    /* NULL: they are sound if they are there. */
    int (*look)(struct db *db, struct index_tables *tables, ses_error *error);
    /* Drops those that are ours. If `keeps_pages`, these are damaged: the tables are unlinked. */
    int (*drop)(struct db *db, bool keeps_pages, ses_error *error);
    /* Adds the weights of all words in the index. */
    int (*weigh)(struct db *db, const struct hash_seed *seed, uint64_t *sum, ses_error *error);
    size_t bytes_max; /* of an event whose words are in the index; 0: any has */
};

/* ---- words_index.c */

/* UNSUPPORTED: there is one, but the engine cannot use it. */
SESLITE_PRIVATE int ses__index_find(struct db *db, bool *is_there, ses_error *error);
/* True if there is an index that a search by this role would use. */
SESLITE_PRIVATE int ses__index_serves(struct db *db, bool *serves, ses_error *error);
/* For calls that change events. CORRUPT: there is an index that cannot be kept up to date. */
SESLITE_PRIVATE int ses__index_must_suit(struct db *db, bool *is_there, ses_error *error);
/* Takes the rows of index_features. `is_other` may be NULL. */
SESLITE_PRIVATE int ses__index_take_features(struct query *query, bool *is_own, bool *is_other);
/* Drops it, and makes it. UNSUPPORTED: the engine cannot. EXISTS: another table has one of its names. */
SESLITE_PRIVATE int ses__index_make(struct db *db, bool keeps_pages, ses_error *error);
SESLITE_PRIVATE int ses__index_drop(struct db *db, bool keeps_pages, ses_error *error);
/* Makes it void: from then on it counts as absent. */
SESLITE_PRIVATE int ses__index_void(struct db *db, ses_error *error);
/* Drops the tables of one that is void. */
SESLITE_PRIVATE int ses__index_drop_void(struct db *db, ses_error *error);
/* After words were added or removed: writes them, so that damage is found before the commit; and merges all,
 * so that nothing is left of what was removed. */
SESLITE_PRIVATE int ses__index_write(struct db *db, bool merges, ses_error *error);

/* ---- words.c */

/* Makes the text that the index has of an event. Without any, the event is not in there. */
SESLITE_PRIVATE int ses__index_text_take(struct deriving *indexing, struct span body, ses_error *error);
/* The owners of the events, as words that no text has. */
enum { OWNERS_MAX = 80 };
SESLITE_PRIVATE struct span ses__index_owners(const struct session_row *row, char text[OWNERS_MAX]);
/* The last event of a session that is in the index, or where its log begins; `*current`: nothing was cut
 * since. */
SESLITE_PRIVATE int ses__index_seq(struct db *db, const struct session_row *row, int64_t *seq, bool *current,
                                   ses_error *error);
SESLITE_PRIVATE extern const struct derived_feature ses__index_feature;

/* Removes the words of events, in two halves: before the events are deleted, and after that. (A
 * server is asked in the first whether there is an index, and does the rest by itself.) `row`
 * lives until the second. */
struct words_removal {
    const struct session_row *row;
    int64_t first;
    int64_t last;
    struct query asked;
};
SESLITE_PRIVATE int ses__words_remove_begin(struct words_removal *removal, struct db *db,
                                            const struct session_row *row, int64_t first, int64_t last,
                                            ses_error *error);
SESLITE_PRIVATE int ses__words_remove_end(struct words_removal *removal, ses_error *error);
/* Adds the words of an event that was changed, after those before were removed, if the index has
 * come so far. */
SESLITE_PRIVATE int ses__words_put(struct db *db, const struct session_row *row,
                                   const struct event_row *event, ses_error *error);

/* An event that may be a hit. */
struct found_event {
    int64_t session_id;
    int64_t seq;
    int64_t user_id;
    int64_t updated_us; /* of the session; of the one in which the page before ended: as it was then */
    struct span name;   /* the session's; lives until the next row */
    struct span user;
};
struct words_asked {
    const struct terms *terms;
    struct buffer *text; /* for what the index is asked, until the close */
    const struct user_row *owner;
    bool whole_app;
    int64_t session_id; /* 0: all of the owner */
    const struct list_filter *filter;
    const struct list_place *after; /* NULL: from the first on */
    int64_t after_seq;              /* in the session there */
    int64_t most;                   /* if the index finds so many in all, no row is given ... */
    int64_t limit;                  /* ... and else at most so many */
};
struct found_rows {
    struct query query;
    const struct words_asked *asked;
    struct prefix_end end; /* bound to the query */
    int64_t count;         /* that the index has found: `most` at the most */
};
/* Opens a walk in the order of hits, and reads `count`. */
SESLITE_PRIVATE void ses__found_rows_open(struct found_rows *rows, struct db *db,
                                          const struct words_asked *asked, ses_error *error);
SESLITE_PRIVATE bool ses__found_rows_next(struct found_rows *rows, struct found_event *found);

#endif
