/* Time zones by name, from the system's files (tzdata), without the process's own zone. */
#ifndef FOREIGN_ZONE_H
#define FOREIGN_ZONE_H

#include "base/common.h"

struct zone;

/* "UTC", "+05:30", "Europe/Berlin", or "local": the system's. INVALID: there is no such zone. */
int zone_open(const char *name, struct zone **zone, ses_error *error);
void zone_close(struct zone *zone);

/* The moment at which clocks of the zone show this time of day, given as microseconds as if it were UTC. Of a time that they show
 * twice, the first; one that they skip is taken as they would have gone on: as Python's datetime does it. */
int64_t zone_moment(const struct zone *zone, int64_t local_us);

#endif
