/* Time zones by name, from the system's files (tzdata), without the process's own zone. */
#ifndef FOREIGN_ZONE_H
#define FOREIGN_ZONE_H

#include "base/common.h"

struct zone;

/* Opens "UTC", "+05:30", "Europe/Berlin", or "local" for the system's zone. Fails with INVALID if there is no
 * such zone. */
int zone_open(const char *name, struct zone **zone, ses_error *error);
void zone_close(struct zone *zone);

/* Converts local time, given in microseconds as if it were UTC, to the moment when clocks of the zone show
 * it. Like Python's datetime, takes the first of two moments with the same local time, and for a skipped time
 * continues the offset before the change. */
int64_t zone_moment(const struct zone *zone, int64_t local_us);

#endif
