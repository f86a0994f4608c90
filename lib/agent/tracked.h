/* A view of the state of a handle, with writes of its own. */
#ifndef SESLITE_AGENT_TRACKED_H
#define SESLITE_AGENT_TRACKED_H

#include "seslite_agent.h"

#include "base/common.h"
#include "base/memory.h"
#include "model/state/state.h"

/* The shared keys that a view read, as the handle showed them. Those that it writes must still have these
 * values when it is appended. */
struct view_reads {
    struct state shown; /* one that was not there has the tombstone */
    bool lacks_one;     /* ses_tracked_has, which cannot fail, had no memory to note one */
};

struct ses_tracked {
    ses_session *session;
    const ses_allocator *allocator;
    bool read_only;
    bool accumulates;
    /* The text of the turn under the agent's output key, if the view accumulates it (output.c). */
    struct buffer turn;
    int64_t turn_seq;         /* the last event of which the text is in it */
    struct state writes;      /* a removal is kept as an entry that says so */
    struct view_reads *reads; /* separate, because reading adds to it */
};

/* Compares in the order of ses_state_json: below 0, 0 or above 0. */
SESLITE_PRIVATE int ses__state_key_order(struct span left, struct span right);

/* STALE: events were cut from the session `fresh`, which was read now, since the handle was read, or it is
 * another one of that name. `handle` may be NULL. */
SESLITE_PRIVATE int ses__check_epoch(const ses_session *fresh, const ses_session *handle, ses_error *error);
/* Begins a public call on a view: clears the error; MISUSE for NULL and when the handle was closed. */
SESLITE_PRIVATE int ses__tracked_check(const ses_tracked *tracked, ses_error *error);
/* The same for a call that writes: READONLY for a read-only view. */
SESLITE_PRIVATE int ses__tracked_check_write(const ses_tracked *tracked, ses_error *error);
/* The value that the view shows, or SES_ABSENT. */
SESLITE_PRIVATE int ses__tracked_value(const ses_tracked *tracked, const char *name, struct span *value,
                                       ses_error *error);
SESLITE_PRIVATE void ses__tracked_forget(ses_tracked *tracked);

/* A member of a JSON object, its name as plain text. */
struct member {
    struct span name;
    struct span value;
};

/* ses_tracked_append, with one more change of state: `last` may be NULL. The view is checked. */
SESLITE_PRIVATE int ses__tracked_append(const char *call, ses_tracked *tracked, const char *event,
                                        size_t event_len, const struct member *last,
                                        const ses_append_options *options, ses_appended *appended,
                                        ses_error *error);

#endif
