/*
 * Data that is derived from the events of a store: features that are made on demand, each with a table of its
 * own and a name in `features`. `derived` says up to which event a feature has come in each session. Appends
 * write nothing of it: calls that need it bring it up to date first.
 *
 * It never refuses what the log allows. Without its row in `features`, without sound tables, or with rows
 * that another number of its rules has made, it is not there: then nothing reads it, and nothing keeps it up
 * to date. To be void, it loses its row in `features`. Its tables may stay, until it is made again or a
 * secure deletion drops them.
 */
#ifndef SESLITE_STORAGE_SQL_DERIVED_DERIVED_H
#define SESLITE_STORAGE_SQL_DERIVED_DERIVED_H

#include "base/memory.h"
#include "model/event/rows.h"
#include "storage/sql/query.h"

/* The use of tokens (storage/sql/usage). */
#define USAGE_FEATURE "usage2"
/* The filters of invocations. The number of the rules by which they are made is a part of the name. */
#define FILTERS_FEATURE "filters1"

/* How far calls have responses (storage/sql/session/settled.c): only its row in `derived`, no feature. */
#define SETTLED "settled1"

/* The parts that may be to blame for the failure of a job (db->blamed). */
enum blame {
    BLAME_WORDS = 1,  /* the index of words */
    BLAME_USAGE = 2,  /* the tally */
    BLAME_PAGES = 4,  /* pages of a table that was to be dropped */
    BLAME_FILTERS = 8 /* the filters of invocations */
};
/* Returns `code`, which came from work on derived data in a job that deletes or derives. If it reports
 * damage, notes the part that is to blame: the job may run again without it. */
static inline int ses__blame(struct db *db, unsigned what, int code)
{
    if (code == SES_CORRUPT || code == SES_UNSUPPORTED)
        db->blamed |= what;
    return code;
}

/* As `features.needs` has it. */
enum feature_needs { FEATURE_NEEDS_NOTHING = 1, FEATURE_NEEDS_READING = 2 };

SESLITE_PRIVATE int ses__feature_find(struct db *db, const char *name, bool *is_there, ses_error *error);
SESLITE_PRIVATE int ses__feature_enter(struct db *db, const char *name, enum feature_needs needs,
                                       ses_error *error);
/* With how far it has come in all sessions. */
SESLITE_PRIVATE int ses__feature_leave(struct db *db, const char *name, ses_error *error);

/* ---- the tables of features */

enum derived_table {
    TABLE_MISSING,
    TABLE_SOUND,
    TABLE_CHANGED, /* it was made as ours, and then changed */
    TABLE_FOREIGN  /* it is not ours, or not even a table */
};
/* Looks at the table of that name. `made` is the SQL that makes ours. */
SESLITE_PRIVATE int ses__table_look(struct db *db, const char *name, const char *made,
                                    enum derived_table *table, ses_error *error);
/* Returns EXISTS, with a message: the table is in the way. */
SESLITE_PRIVATE int ses__table_refuse(const struct db *db, const char *name, ses_error *error);
/* Removes from the schema a table that cannot be dropped because its pages are damaged. They stay in the
 * file, unused. */
SESLITE_PRIVATE int ses__table_unlink(struct db *db, const char *name, ses_error *error);

/* True if the feature is there and can be used. */
SESLITE_PRIVATE int ses__usage_find(struct db *db, bool *is_there, ses_error *error);
/* The same; `*is_wanted` is also true if its row is there but its table has yet to be made. */
SESLITE_PRIVATE int ses__usage_find_wish(struct db *db, bool *is_there, bool *is_wanted, ses_error *error);
SESLITE_PRIVATE int ses__usage_look(struct db *db, enum derived_table *table, ses_error *error);
/* Before events of a session are changed or removed: it is counted again from what is left. */
SESLITE_PRIVATE int ses__usage_leave(struct db *db, int64_t session_id, ses_error *error);
/* Drops the table that was made for "usage", the feature of version 0.2.0, if a file still has it. */
SESLITE_PRIVATE int ses__usage_drop_old(struct db *db, bool keeps_pages, ses_error *error);
/* Drops both tables. If `keeps_pages`, their pages are damaged: they are unlinked. */
SESLITE_PRIVATE int ses__usage_drop(struct db *db, bool keeps_pages, ses_error *error);

/* These do the same for the filters of invocations (storage/sql/session/filters.h). */
SESLITE_PRIVATE int ses__filters_look(struct db *db, enum derived_table *table, ses_error *error);
SESLITE_PRIVATE int ses__filters_table_find(struct db *db, bool *is_there, ses_error *error);
/* Before a session is removed. */
SESLITE_PRIVATE int ses__filters_leave(struct db *db, int64_t session_id, ses_error *error);
SESLITE_PRIVATE int ses__filters_drop(struct db *db, bool keeps_pages, ses_error *error);

/* Sessions with which a feature is behind: the first few after the number `after`. */
struct behind {
    const char *what;   /* the feature */
    int64_t app_id;     /* only of this app, or ... */
    int64_t user_id;    /* ... this user, or ... */
    int64_t session_id; /* ... only this one; all 0: any */
    int64_t after;
};
SESLITE_PRIVATE int ses__behind_find(struct db *db, const struct behind *behind, struct session_ids *ids,
                                     ses_error *error);
/* The number of events in all that the feature has yet to read. */
SESLITE_PRIVATE int ses__derived_lag(struct db *db, const char *what, int64_t *events, ses_error *error);

/* How far it has come in a session. */
struct derived_row {
    int64_t seq;  /* 0: it has not begun */
    bool current; /* nothing was cut since then */
};
SESLITE_PRIVATE int ses__derived_find(struct db *db, const char *what, const struct session_row *session,
                                      struct derived_row *row, ses_error *error);
SESLITE_PRIVATE int ses__derived_set(struct db *db, const char *what, const struct session_row *session,
                                     int64_t seq, ses_error *error);
/* Removes the row, and the rows that refer to it: the feature must begin again with the session. */
SESLITE_PRIVATE int ses__derived_leave(struct db *db, const char *what, int64_t session_id, ses_error *error);

/* The work of one transaction: so many bytes of events. */
struct deriving {
    struct buffer words; /* of the feature's own use, and the next one, too */
    struct buffer text;
    int64_t bytes_left; /* below 1: it is done */
    int64_t events;     /* that were added */
};
SESLITE_PRIVATE void ses__deriving_init(struct deriving *work, const struct db *db, int64_t bytes);
SESLITE_PRIVATE void ses__deriving_free(struct deriving *work);
/* Adds the session's next events to what is derived. `*done`: it has no more. */
typedef int derive_events(struct db *db, int64_t session_id, struct deriving *work, bool *done,
                          ses_error *error);

struct derived_feature {
    const char *name;
    int (*find)(struct db *db, bool *is_there, ses_error *error);
    /* Make it anew, and drop it. With `keeps_pages` its tables are unlinked, because their pages are
     * damaged. */
    int (*make)(struct db *db, bool keeps_pages, ses_error *error);
    int (*drop)(struct db *db, bool keeps_pages, ses_error *error);
    derive_events *advance;
    /* After some sessions, in their transaction; NULL: nothing. */
    int (*end)(struct db *db, ses_error *error);
};

#endif
