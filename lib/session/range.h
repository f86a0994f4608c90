/* Which events: a ses_range, checked, and the walk that gathers them. */
#ifndef SESLITE_SESSION_RANGE_H
#define SESLITE_SESSION_RANGE_H

#include "base/common.h"
#include "storage/door.h"

struct range {
    bool none;
    int64_t newest; /* INT64_MAX: no limit */
    int64_t since_us;
    int64_t first_seq;
    int64_t last_seq;
};

SESLITE_PRIVATE int ses__range_take(const ses_range *given, struct range *range, ses_error *error);

/*
 * Walks the events of the range from the newest to the oldest, touching only these and any that lie out of
 * order among them: the latest time so far, which every row tells, shows where older ones cannot be.
 */
SESLITE_PRIVATE int ses__range_walk(struct db *db, int64_t session_id, const struct range *range,
                                    enum walk walk, event_visitor *visit, void *context, ses_error *error);

#endif
