/* The event that takes back what came after a point of a log, as the ADK's Runner.rewind_async makes it. */
#ifndef SESLITE_MODEL_REWIND_H
#define SESLITE_MODEL_REWIND_H

#include "model/event.h"
#include "model/state.h"

struct rewind_event {
    struct span id;
    struct span invocation_id; /* its own */
    struct span before;        /* the invocation that comes after the point */
    int64_t before_seq;        /* its first event */
    int64_t time_us;
    struct span artifact_delta; /* a JSON object; without text: {} */
};

/*
 * Makes the draft, which is fresh, ready to be stored. Its delta makes the session's own keys what they are in `then`, of
 * `now`; states may hold nothing else. Everything in it lives as long as the draft, but for the event's id.
 * LIMIT: it is nested too deep. CORRUPT: another program wrote what it would hold. NOMEM.
 */
SESLITE_PRIVATE int ses__rewind_draft(struct event_draft *draft, const struct rewind_event *event,
                                      const struct state *then, const struct state *now, ses_error *error);

#endif
