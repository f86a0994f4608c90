/* Replays a log: computes the state that it leads to, from a known state on, event by event. */
#ifndef SESLITE_MODEL_REPLAY_H
#define SESLITE_MODEL_REPLAY_H

#include "model/event/rows.h"
#include "model/state/state.h"
#include "model/event/stored_event.h"

struct replay {
    struct state state; /* its entries know the event that set them; 0: the creation of the session */
    enum scope from; /* the first scope that is replayed: SCOPE_SESSION, or SCOPE_APP with the shared ones */
    struct state_changes changes;
    struct state_changes staged; /* not applied yet */
    struct arena arena;          /* for one event */
    struct stored_event event;
};

/* To be freed in any case. `shared`: with the shared keys that the log itself has written. */
SESLITE_PRIVATE int ses__replay_init(struct replay *replay, const ses_allocator *allocator,
                                     struct hash_seed seed, bool shared, ses_error *error);
SESLITE_PRIVATE void ses__replay_free(struct replay *replay);
/* Sets the state that the session was created with, as it is stored; without text: empty. CORRUPT, NOMEM. */
SESLITE_PRIVATE int ses__replay_initial(struct replay *replay, struct span initial, ses_error *error);
/* Sets a key, with its prefix, that the event `seq` had set. NOMEM. */
SESLITE_PRIVATE int ses__replay_put(struct replay *replay, struct span name, struct span value, int64_t seq,
                                    ses_error *error);
/* Applies the delta of an event that is being appended. NOMEM. */
SESLITE_PRIVATE int ses__replay_delta(struct replay *replay, const struct delta *delta, int64_t seq,
                                      ses_error *error);
/* True if the key, with its prefix, exists with that value. */
SESLITE_PRIVATE bool ses__replay_has(const struct replay *replay, struct span name, struct span value);
/* Applies the changes of the next event. CORRUPT, NOMEM. */
SESLITE_PRIVATE int ses__replay_event(struct replay *replay, const struct event_row *row, ses_error *error);
/* Stage the changes of an event that was read; and apply, once, the staged changes of events up to `seq`.
 * NOMEM. */
SESLITE_PRIVATE int ses__replay_stage(struct replay *replay, const struct delta *delta, int64_t seq,
                                      ses_error *error);
SESLITE_PRIVATE int ses__replay_apply_staged(struct replay *replay, int64_t seq, ses_error *error);

#endif
