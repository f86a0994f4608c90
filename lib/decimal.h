/* Numbers of JSON as exact decimals: never by way of a double where an integer is wanted. */
#ifndef SESLITE_DECIMAL_H
#define SESLITE_DECIMAL_H

#include "common.h"

enum decimal_result {
    DECIMAL_EXACT,
    DECIMAL_ROUNDED, /* to the nearest integer, halves away from zero */
    DECIMAL_TOO_LARGE
};

/* The JSON number `number` times 10^shift, as an integer. */
SESLITE_PRIVATE enum decimal_result decimal_to_int64(struct span number, int shift, int64_t *value);

/* The nearest double; false when that is infinite. Whatever the locale. Sets *nomem when memory is out. */
SESLITE_PRIVATE bool decimal_to_double(struct span number, double *value, bool *nomem);

#endif
