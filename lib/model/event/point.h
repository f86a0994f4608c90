/* A point of a log: a checked ses_point. */
#ifndef SESLITE_MODEL_EVENT_POINT_H
#define SESLITE_MODEL_EVENT_POINT_H

#include "base/common.h"

struct point {
    int kind; /* SES_POINT_* */
    int64_t seq;
    const char *id; /* the caller's */
};

/* NULL is SES_POINT_NOW. MISUSE, INVALID. */
SESLITE_PRIVATE int ses__point_take(const ses_point *given, struct point *point, ses_error *error);

#endif
