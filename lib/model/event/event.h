/* An event on its way in: from the JSON text a caller gives to the row that is stored. */
#ifndef SESLITE_MODEL_EVENT_EVENT_H
#define SESLITE_MODEL_EVENT_EVENT_H

#include "base/common.h"
#include "model/state/delta.h"
#include "base/memory.h"
#include "model/event/rows.h"

struct event_draft {
    struct arena arena;
    struct span text;     /* the caller's, which must outlive the draft */
    struct event_row row; /* id and time only once they are known; body once it is sealed */
    int64_t target; /* of a rewind: the event it leads to, as found before it is stored; 0: none found */
    bool has_id;
    bool has_time;
    bool partial;
    bool too_long;                /* to be stored as new: it can only be the retry of a stored event */
    const struct changes *extras; /* set before the draft is read, and outlives it; NULL: none */
    bool has_extras;              /* they are in `edits` */
    bool has_delta;
    struct delta delta;
    struct edits edits; /* the cuts, and room for the id and the time where they are missing */
    size_t id_edit;     /* the index in `edits` of an id that was null; otherwise NO_EDIT */
    size_t time_edit;
};

SESLITE_PRIVATE void ses__event_draft_init(struct event_draft *draft, const ses_allocator *allocator);
SESLITE_PRIVATE void ses__event_draft_free(struct event_draft *draft);
/* Reads the envelope, in one pass over the text, and joins `extras` with its delta. JSON, INVALID, LIMIT,
 * NOMEM. */
SESLITE_PRIVATE int ses__event_read(struct event_draft *draft, struct span text, ses_error *error);
/* Makes row.body, and adds row.id and row.time_us if the event had none. */
SESLITE_PRIVATE int ses__event_seal(struct event_draft *draft, ses_error *error);
/*
 * Compares this event with the stored one: 1 if they are the same, 0, or NOMEM. A time that was made when it
 * was stored is made the same way again, so that a retry of an event without a timestamp is recognised.
 */
SESLITE_PRIVATE int ses__event_is(struct event_draft *draft, const struct event_row *stored,
                                  ses_error *error);

#endif
