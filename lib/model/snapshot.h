/* One session as of one moment, which a handle shows; and the steps that move it forward. */
#ifndef SESLITE_MODEL_SNAPSHOT_H
#define SESLITE_MODEL_SNAPSHOT_H

#include "model/annotations.h"
#include "model/event/event.h"
#include "model/event/event_list.h"
#include "model/event/rows.h"
#include "model/state/state.h"

struct snapshot {
    const ses_allocator *allocator;
    struct arena arena; /* for its owner's use */
    struct arena log;   /* holds the events */
    struct session_row row;
    const ses_key *parent; /* the session that it was forked from, in the arena; NULL: it is not a fork */
    int64_t parent_seq;
    const ses_key *child_of; /* in the arena, too; NULL: it is no child */
    struct annotations annotations;
    bool keeps_events; /* false: read with SES_RANGE_NONE */
    struct event_list events;
    struct state state;
};

/* Must be freed in any case. The struct may be moved in memory. */
SESLITE_PRIVATE int ses__snapshot_init(struct snapshot *snapshot, const ses_allocator *allocator,
                                       struct hash_seed seed, ses_error *error);
SESLITE_PRIVATE void ses__snapshot_free(struct snapshot *snapshot);
/* To be called before the first of at most `count` events is added. NOMEM. */
SESLITE_PRIVATE int ses__snapshot_begin_events(struct snapshot *snapshot, int64_t count, ses_error *error);
/* NOMEM; CORRUPT: the event has a number after the session's last. */
SESLITE_PRIVATE int ses__snapshot_add_event(struct snapshot *snapshot, const struct event_row *row,
                                            ses_error *error);
/* To be called after the last event; they were added from the newest to the oldest. NOMEM. */
SESLITE_PRIVATE int ses__snapshot_end_events(struct snapshot *snapshot, ses_error *error);

/* Takes over the annotations, and shows them from now on. Cannot fail. */
SESLITE_PRIVATE void ses__snapshot_annotate(struct snapshot *snapshot, struct annotations *annotations);

/*
 * An advance is prepared, which can fail but does not touch the snapshot, and applied after the commit, which
 * cannot fail.
 */
struct advance {
    struct snapshot *snapshot; /* NULL: none, or freed */
    struct session_row row;
    struct arena arena;
    struct event_list events;
    /* The changes that led to the state cannot be read: it is read again. Events after `keep_seq` are
     * gone. */
    bool restarts;
    int64_t keep_seq;
    enum scope loaded; /* scopes below it were read again, into `fresh`; SCOPE_APP: none */
    struct state fresh;
    struct state_changes changes; /* changes of stored state */
    bool annotates;               /* `annotations` were read again */
    struct annotations annotations;
};

SESLITE_PRIVATE int ses__advance_init(struct advance *advance, struct snapshot *snapshot, ses_error *error);
/* Also frees a zeroed advance. */
SESLITE_PRIVATE void ses__advance_free(struct advance *advance);
/* To be called first, if the stored log does not continue the snapshot's: its events up to `keep_seq` stay,
 * and all stored scopes must be read again. */
SESLITE_PRIVATE void ses__advance_restart(struct advance *advance, int64_t keep_seq);
/* Adds an event that another writer stored, and its changes of session state; after a restart also one that
 * the snapshot has, as it is now. CORRUPT: it cannot be read. */
SESLITE_PRIVATE int ses__advance_read_event(struct advance *advance, const struct event_row *row,
                                            ses_error *error);
/* Adds an event that this handle appended. `from` is the first scope whose changes it applies. */
SESLITE_PRIVATE int ses__advance_add_draft(struct advance *advance, const struct event_draft *draft,
                                           enum scope from, ses_error *error);
/* The last step that can fail. */
SESLITE_PRIVATE int ses__advance_prepare(struct advance *advance, const struct session_row *row,
                                         ses_error *error);
SESLITE_PRIVATE void ses__advance_apply(struct advance *advance);

#endif
