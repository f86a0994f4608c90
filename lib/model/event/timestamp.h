/* Converts the times of events, as the ADKs write them, to and from microseconds since 1970 UTC. */
#ifndef SESLITE_MODEL_EVENT_TIMESTAMP_H
#define SESLITE_MODEL_EVENT_TIMESTAMP_H

#include "base/common.h"
#include "json/object.h"

/* 0000-01-01T00:00:00Z and 9999-12-31T23:59:59.999999Z: the years that RFC 3339 can write. */
#define TIMESTAMP_MIN INT64_C(-62167219200000000)
#define TIMESTAMP_MAX INT64_C(253402300799999999)

/* Reads a number of seconds, or from 1e11 on of milliseconds. Returns NULL, or a description of the fault. */
SESLITE_PRIVATE const char *ses__timestamp_from_number(struct span number, int64_t *time_us);
/* Reads RFC 3339, as in 2024-01-15T10:20:30.123456+02:00. Returns NULL, or a description of the fault. */
SESLITE_PRIVATE const char *ses__timestamp_from_text(const char *text, size_t len, int64_t *time_us);
/* Reads a field, a number or a text, that is such a time. INVALID for any other. */
SESLITE_PRIVATE int ses__timestamp_read(void *time_us, const struct json_found *found, ses_error *error);

enum { TIMESTAMP_ROOM = 32 };
/* Writes JSON that ses__timestamp_from_number reads as the same time: seconds with six places,
 * "1741218414.968405", or from the year 5138 on milliseconds with three. Returns the length. */
SESLITE_PRIVATE size_t ses__timestamp_to_number(int64_t time_us, char out[TIMESTAMP_ROOM]);
/* Writes the second in which the time lies, in UTC, as "2024-01-15 10:20:30"; for a time beyond those years,
 * which a damaged row may have, their first or last second. */
SESLITE_PRIVATE void ses__timestamp_to_date(int64_t time_us, char out[TIMESTAMP_ROOM]);

/* True if the time lies between the two. */
static inline bool ses__timestamp_holds(int64_t time_us)
{
    return time_us >= TIMESTAMP_MIN && time_us <= TIMESTAMP_MAX;
}

/* The same for a time of expiry, which may also be INT64_MAX: never. */
static inline bool ses__timestamp_holds_expiry(int64_t time_us)
{
    return time_us == INT64_MAX || ses__timestamp_holds(time_us);
}

#endif
