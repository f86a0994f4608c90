/* Makes the event that takes back the events after a point, as the ADK's Runner.rewind_async does. */
#ifndef SESLITE_MODEL_REWIND_H
#define SESLITE_MODEL_REWIND_H

#include "model/event/event.h"
#include "model/state/state.h"

struct rewind_event {
    struct span id;
    struct span invocation_id; /* its own invocation */
    struct span before;        /* the invocation after the point */
    int64_t before_seq;        /* its first event */
    int64_t time_us;
    struct span artifact_delta; /* a JSON object; without text: {} */
};

/*
 * Makes a new draft ready to be stored. Its delta turns the session's own keys from `now` into those of
 * `then`; the states may hold no other keys. The inputs must live as long as the draft, except the event's
 * id. LIMIT: it is nested too deep. CORRUPT: another program wrote a value that it would contain. NOMEM.
 */
SESLITE_PRIVATE int ses__rewind_draft(struct event_draft *draft, const struct rewind_event *event,
                                      const struct state *then, const struct state *now, ses_error *error);

#endif
