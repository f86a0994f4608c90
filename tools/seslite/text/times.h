/* Times and spans as people write and read them. Times are microseconds since 1970. */
#ifndef TEXT_TIMES_H
#define TEXT_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "text/text.h"

enum { TIME_SIZE = 32 };

/* "2024-01-15", "2024-01-15T12:30:00Z", "2024-01-15 12:30" (local time), "@1705321800.5", "2h" (two hours
 * ago). */
bool time_read(const char *text, int64_t *time_us);
/* "90s", "15m", "2h", "7d", "3w". */
bool span_read(const char *text, int64_t *span_us);
/* In local time, "2024-01-15 12:30:00". */
const char *time_text(int64_t time_us, char text[TIME_SIZE]);
/* Adds the local zone: " (UTC)", or both names if the year has summer time, " (CET/CEST)". */
void zone_add(struct text *text);

#endif
