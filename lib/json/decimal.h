/* Numbers of JSON as exact decimals: an integer is never read by way of a double. */
#ifndef SESLITE_JSON_DECIMAL_H
#define SESLITE_JSON_DECIMAL_H

#include "base/common.h"

enum decimal_result { DECIMAL_EXACT, DECIMAL_INEXACT, DECIMAL_TOO_LARGE };

/* The JSON number times 10^shift as an integer, cut towards zero; `*half`: what was cut off is half or more. */
SESLITE_PRIVATE enum decimal_result ses__decimal_truncate(struct span number, int shift, int64_t *value,
                                                          bool *half);
/* The same, to the nearest integer, halves away from zero. */
SESLITE_PRIVATE enum decimal_result ses__decimal_round(struct span number, int shift, int64_t *value);

/* The nearest double; false when that is infinite. Whatever the locale. Sets *nomem if out of memory. */
SESLITE_PRIVATE bool ses__decimal_to_double(struct span number, double *value, bool *nomem);

#endif
