/* An event on its way in: from the JSON text a caller gives to the row that is stored. */
#ifndef SESLITE_MODEL_EVENT_H
#define SESLITE_MODEL_EVENT_H

#include "base/common.h"
#include "model/delta.h"
#include "base/memory.h"
#include "model/rows.h"

struct event_draft {
    struct arena arena;
    struct span text;     /* the caller's, which must outlive the draft */
    struct event_row row; /* id and time only once they are known; body once it is sealed */
    int64_t target; /* where a rewind leads, as found before it is stored; 0: to none of the events of then */
    bool has_id;
    bool has_time;
    bool partial;
    bool too_long;                /* to be stored anew: it can only be the retry of one that is stored */
    const struct changes *extras; /* to be set before it is read, and to outlive the draft; NULL: none */
    bool has_extras;              /* they are in `edits` */
    bool has_delta;
    struct delta delta;
    struct edits edits; /* the cuts, and room for the id and the time where they are missing */
    size_t id_edit;     /* where in `edits` the id goes, when it was there as null; else NO_EDIT */
    size_t time_edit;
};

SESLITE_PRIVATE void ses__event_draft_init(struct event_draft *draft, const ses_allocator *allocator);
SESLITE_PRIVATE void ses__event_draft_free(struct event_draft *draft);
/* Reads the envelope, in one pass over the text, and joins `extras` with its delta. JSON, INVALID, LIMIT, NOMEM. */
SESLITE_PRIVATE int ses__event_read(struct event_draft *draft, struct span text, ses_error *error);
/* Makes row.body, with row.id and row.time_us put in where the event had none. */
SESLITE_PRIVATE int ses__event_seal(struct event_draft *draft, ses_error *error);
/*
 * Is this the event that is stored as `stored`? A time that was made when it was stored is made the same way
 * again, so that the retry of an event without a timestamp is recognised. 1, 0, or NOMEM.
 */
SESLITE_PRIVATE int ses__event_is(struct event_draft *draft, const struct event_row *stored,
                                  ses_error *error);

#endif
