/*
 * Operations that read a whole log before they write. They plan in a read transaction, while others write,
 * and write only if the session has not changed since. Otherwise they plan again, and the last time inside
 * the write transaction, so that they always end.
 */
#ifndef SESLITE_SESSION_SQL_HISTORY_PLANNED_H
#define SESLITE_SESSION_SQL_HISTORY_PLANNED_H

#include "model/bonds.h"
#include "model/event/log.h"
#include "model/replay.h"
#include "storage/sql/engine.h"
#include "session/sql/history/artifacts.h"

struct db;

struct planned {
    const struct limits *limits;
    const struct session_ref *session;
    /* Plans for the session, which is `row`, from the start. A code other than SES_OK is the result of the
     * whole. */
    int (*plan)(struct db *db, void *context, const struct session_row *row, ses_error *error);
    /* Brings the plan up to date; `*fits` is false where that takes another look at the log. NULL: it only
     * fits a session that has not changed. */
    int (*update)(struct db *db, void *context, const struct session_row *row, bool *fits, ses_error *error);
    /* Does what was planned. */
    int (*write)(struct db *db, void *context, const struct session_row *row, ses_error *error);
    void *context;
    bool looks_far;          /* it asks where an invocation begins, for which there are filters */
    size_t bytes;            /* about how much it writes */
    struct erasure *erasure; /* NULL: it does not delete */
};

SESLITE_PRIVATE int ses__run_planned(struct storage *storage, const struct planned *planned,
                                     ses_error *error);

/* ---- prune_plan.c: how far a log may be pruned: found inside a transaction, and brought up to date in a
 * later one */

/* A step: deletes about `limit` of the oldest events. */
struct prune_op {
    struct session_ref session;
    unsigned which; /* SES_PRUNE_* */
    int64_t keep;
    int64_t before_us;
    int64_t last_seq;
    int64_t limit;
    struct hash_seed seed;
    struct erasure erasure;
    /* out */
    int64_t deleted;
    bool more;
    struct session_row row;
};

struct prune_plan {
    const struct prune_op *op;
    const ses_allocator *allocator;
    struct session_row row; /* as of the transaction in which the log was looked at */
    int64_t goal;           /* the last event that all that is asked allows to prune */
    int64_t target;         /* of them, the last that this step is to prune */
    int64_t known;          /* the bonds are those of events up to this one */
    int64_t looked;         /* at so many events for it */
    int64_t first;          /* event of the log; 0: there is none */
    int64_t events;         /* up to the target */
    bool full;              /* the target is as far as a step goes */
    struct live live;
    struct bonds bonds;
    struct replay replay;             /* stages the changes of the events up to the target */
    struct named_artifacts artifacts; /* that these name */
    size_t staged_bytes;
    struct arena arena; /* of one event */
    struct stored_event event;
};

/* To be freed in any case. */
SESLITE_PRIVATE int ses__prune_plan_init(struct prune_plan *plan, const struct prune_op *op,
                                         const ses_allocator *allocator, ses_error *error);
SESLITE_PRIVATE void ses__prune_plan_free(struct prune_plan *plan);
/* Looks at the whole log of the session, which is `row` now. */
SESLITE_PRIVATE int ses__prune_plan_make(struct prune_plan *plan, struct db *db,
                                         const struct session_row *row, ses_error *error);
/* For the next step, when plan->row is the session after the last one, and nothing else has changed: looks
 * only at what this step is to prune. */
SESLITE_PRIVATE int ses__prune_plan_go_on(struct prune_plan *plan, struct db *db, ses_error *error);
/* Looks at the events that have come since. `*fits` is false if that is not enough. The session and its base
 * are the same. */
SESLITE_PRIVATE int ses__prune_plan_update(struct prune_plan *plan, struct db *db,
                                           const struct session_row *row, bool *fits, ses_error *error);
/* The point up to which this step prunes: row.base_seq if there is nothing to prune. `*whole` is the point
 * for a step without a limit. */
SESLITE_PRIVATE int64_t ses__prune_plan_end(const struct prune_plan *plan, int64_t *whole);

#endif
