/* Times as texts, and time zones by name, by the C library. */
#ifndef FORMATS_TIMES_H
#define FORMATS_TIMES_H

#include "base/common.h"

/* Sets the zone of the process, through TZ: "UTC", "+05:30", "Europe/Berlin", or "local" for the system's.
 * Call it before threads start, since they may read the environment. Fails with INVALID if there is no such
 * zone. */
int zone_set(const char *name, ses_error *error);

/* Seconds by which the clocks of the zone are ahead of UTC at a moment. */
int64_t zone_ahead(int64_t time_us);

/* Converts local time, given in microseconds as if it were UTC, to the moment when clocks of the zone show
 * it. Like Python's datetime, takes the first of two moments with the same local time, and for a skipped time
 * continues the offset before the change. */
int64_t zone_moment(int64_t local_us);

/* Converts "2024-05-31 16:08:58.562418", "2025-03-02T21:45:43.1+05:30", "...Z". Without a zone it is UTC. The
 * year 1 means no time: FOREIGN_NO_TIME. Digits of the fraction beyond six are rounded as in the store. Sets
 * *zoned (may be NULL) to whether the text has a zone. */
int64_t time_of_text(struct span text, bool *zoned);

#endif
