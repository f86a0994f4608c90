/* A selection of events: a checked ses_range. */
#ifndef SESLITE_MODEL_EVENT_RANGE_H
#define SESLITE_MODEL_EVENT_RANGE_H

#include "base/common.h"

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

#endif
