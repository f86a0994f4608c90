/*
 * The update times along a log. The update time after an event is never earlier than before it. If no number
 * is missing in between, it is exactly the later of that time and the event's own; only cut or pruned events
 * can have raised it otherwise. Events that a fork has copied keep their own times, which may be earlier than
 * the fork's creation.
 */
#ifndef SESLITE_MODEL_EVENT_UPDATE_TIMES_H
#define SESLITE_MODEL_EVENT_UPDATE_TIMES_H

#include "base/common.h"

struct update_times {
    int64_t created_us;
    int64_t base_seq;
    int64_t inherited; /* events up to this number come from the parent */
    int64_t seq;       /* the last event; base_seq: none yet */
    int64_t high_us;   /* the update time after it */
};

SESLITE_PRIVATE void ses__update_times_begin(struct update_times *times, int64_t created_us, int64_t base_seq,
                                             int64_t inherited);
/* Returns the time after the next event, if nothing else has raised it. */
SESLITE_PRIVATE int64_t ses__update_times_after(const struct update_times *times, int64_t seq,
                                                int64_t time_us);
/* True if the time after the next event can be `high_us`. */
SESLITE_PRIVATE bool ses__update_times_allow(const struct update_times *times, int64_t seq, int64_t time_us,
                                             int64_t high_us);
SESLITE_PRIVATE void ses__update_times_pass(struct update_times *times, int64_t seq, int64_t high_us);
/* Returns the earliest possible update time of the session after the last event. */
SESLITE_PRIVATE int64_t ses__update_times_end(const struct update_times *times);

#endif
