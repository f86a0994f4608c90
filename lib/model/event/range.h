/* Selections in a log: of events, and of a point. */
#ifndef SESLITE_MODEL_EVENT_RANGE_H
#define SESLITE_MODEL_EVENT_RANGE_H

#include "base/common.h"

/* A checked ses_range. */
struct range {
    bool none;
    bool live;      /* only live events */
    int64_t newest; /* INT64_MAX: no limit */
    int64_t since_us;
    int64_t first_seq;
    int64_t last_seq;
};

/* MISUSE, INVALID. */
SESLITE_PRIVATE int ses__range_take(const ses_range *given, struct range *range, ses_error *error);

/* A checked ses_point. */
struct point {
    int kind; /* SES_POINT_* */
    int64_t seq;
    const char *id; /* the caller's */
};

/* NULL is SES_POINT_NOW. MISUSE, INVALID. */
SESLITE_PRIVATE int ses__point_take(const ses_point *given, struct point *point, ses_error *error);

#endif
