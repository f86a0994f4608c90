/* One session as it was at one moment, which is what a handle shows; and what moves it forward. */
#ifndef SESLITE_MODEL_SNAPSHOT_H
#define SESLITE_MODEL_SNAPSHOT_H

#include "model/annotations.h"
#include "model/event.h"
#include "model/event_list.h"
#include "model/rows.h"
#include "model/state.h"

struct snapshot {
    const ses_allocator *allocator;
    struct arena arena; /* what its owner puts there */
    struct arena log;   /* the events */
    struct session_row row;
    const ses_key *parent; /* a fork's, in the arena; NULL: it is none */
    int64_t parent_seq;
    struct annotations annotations;
    bool keeps_events; /* false: read with SES_RANGE_NONE */
    struct event_list events;
    struct state state;
};

/* To be freed in any case. It may be moved to another place in memory. */
SESLITE_PRIVATE int ses__snapshot_init(struct snapshot *snapshot, const ses_allocator *allocator,
                                       struct state_seed seed, ses_error *error);
SESLITE_PRIVATE void ses__snapshot_free(struct snapshot *snapshot);
/* Before the first of at most `count` events. NOMEM. */
SESLITE_PRIVATE int ses__snapshot_begin_events(struct snapshot *snapshot, int64_t count, ses_error *error);
/* NOMEM; CORRUPT: the event has a number after the session's last. */
SESLITE_PRIVATE int ses__snapshot_add_event(struct snapshot *snapshot, const struct event_row *row,
                                            ses_error *error);
/* After the last of them, which were added from the newest back. NOMEM. */
SESLITE_PRIVATE int ses__snapshot_end_events(struct snapshot *snapshot, ses_error *error);

/* Shows these from now on, and takes them over. Cannot fail. */
SESLITE_PRIVATE void ses__snapshot_annotate(struct snapshot *snapshot, struct annotations *annotations);

/*
 * An advance is made ready where things can fail, without touching the snapshot; and applied when what it shows has been
 * committed, where nothing can.
 */
struct advance {
    struct snapshot *snapshot; /* NULL: there is none, or it was freed */
    struct session_row row;
    struct arena arena;
    struct event_list events;
    /* The changes that led to the state cannot be read: it is read again. Events after `keep_seq` are gone. */
    bool restarts;
    int64_t keep_seq;
    enum scope loaded; /* the scopes below it were read again, into `fresh`; SCOPE_APP: none was */
    struct state fresh;
    struct state_changes changes; /* of stored state */
    bool annotates;               /* `annotations` were read again */
    struct annotations annotations;
};

SESLITE_PRIVATE int ses__advance_init(struct advance *advance, struct snapshot *snapshot, ses_error *error);
/* A zeroed one is fine. */
SESLITE_PRIVATE void ses__advance_free(struct advance *advance);
/* The log no longer leads from what the snapshot knows to what is stored: of its events those up to `keep_seq` stay, and
 * all stored scopes are to be read again. To be called first. */
SESLITE_PRIVATE void ses__advance_restart(struct advance *advance, int64_t keep_seq);
/* An event that another writer stored, and what it did to session state. CORRUPT: it cannot be read. */
SESLITE_PRIVATE int ses__advance_read_event(struct advance *advance, const struct event_row *row,
                                            ses_error *error);
/* An event of one's own; `from` is the first scope whose changes it brings along. */
SESLITE_PRIVATE int ses__advance_add_draft(struct advance *advance, const struct event_draft *draft,
                                           enum scope from, ses_error *error);
/* The last step that can fail. */
SESLITE_PRIVATE int ses__advance_prepare(struct advance *advance, const struct session_row *row,
                                         ses_error *error);
SESLITE_PRIVATE void ses__advance_apply(struct advance *advance);

#endif
