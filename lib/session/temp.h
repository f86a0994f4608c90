/* The temp: values that appended events bring to a handle. They end with their invocation. */
#ifndef SESLITE_SESSION_TEMP_H
#define SESLITE_SESSION_TEMP_H

#include "session/session.h"

/* The changes by one event. */
struct temp_step {
    const struct event_draft *draft;
    char *invocation; /* the handle's new invocation; NULL: it keeps its own */
    size_t first;     /* index of its first change */
    size_t end;
};

/* Prepared before the events are stored, which can fail, and applied after that, which cannot. */
struct temp_update {
    ses_session *session; /* NULL: by key */
    struct state_changes changes;
    struct temp_step *steps;
    size_t count;
    struct temp_step one; /* the steps of a single event */
};

/* Must be freed in any case. The drafts must live as long. */
SESLITE_PRIVATE int ses__temp_stage(struct temp_update *update, ses_session *session,
                                    const struct event_draft *drafts, size_t count, ses_error *error);
/* Applies the event at `index`, which the handle now shows. Must be called in the order of the events. */
SESLITE_PRIVATE void ses__temp_apply(struct temp_update *update, size_t index);
SESLITE_PRIVATE void ses__temp_free(struct temp_update *update);

#endif
