/* The temp: values that appended events bring to a handle: they go with their invocation. */
#ifndef SESLITE_SESSION_TEMP_H
#define SESLITE_SESSION_TEMP_H

#include "session/session.h"

/* What one event does. */
struct temp_step {
    const struct event_draft *draft;
    char *invocation; /* the handle's from then on; NULL: it stays */
    size_t first;     /* of the changes */
    size_t end;
};

/* Made ready before the events are stored, where things can fail, and applied after, where nothing can. */
struct temp_update {
    ses_session *session; /* NULL: by key */
    struct state_changes changes;
    struct temp_step *steps;
    size_t count;
    struct temp_step one; /* the steps of a single event */
};

/* To be freed in any case; the drafts must live as long. */
SESLITE_PRIVATE int ses__temp_stage(struct temp_update *update, ses_session *session,
                                    const struct event_draft *drafts, size_t count, ses_error *error);
/* The event at `index` has become a part of what the handle shows. In the order of the events. */
SESLITE_PRIVATE void ses__temp_apply(struct temp_update *update, size_t index);
SESLITE_PRIVATE void ses__temp_free(struct temp_update *update);

#endif
