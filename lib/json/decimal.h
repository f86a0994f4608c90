/* JSON numbers as exact decimals, and as doubles. An integer is never converted through a double. */
#ifndef SESLITE_JSON_DECIMAL_H
#define SESLITE_JSON_DECIMAL_H

#include "base/common.h"

enum decimal_result { DECIMAL_EXACT, DECIMAL_INEXACT, DECIMAL_TOO_LARGE };

/* Gives the JSON number times 10^shift as an integer, cut towards zero. `*half` is true if the part cut off
 * is a half or more. */
SESLITE_PRIVATE enum decimal_result ses__decimal_truncate(struct span number, int shift, int64_t *value,
                                                          bool *half);
/* The same, to the nearest integer, halves away from zero. */
SESLITE_PRIVATE enum decimal_result ses__decimal_round(struct span number, int shift, int64_t *value);

/* Gives the nearest double, whatever the locale. False: it is infinite, or, with *nomem set, out of
 * memory. */
SESLITE_PRIVATE bool ses__decimal_to_double(struct span number, double *value, bool *nomem);

/* The longest number has 24 characters. */
enum { DOUBLE_ROOM = 40 };

/* Writes the fewest digits that read back as the same double, whatever the locale, and a NUL; returns their
 * length. The number must be finite. */
SESLITE_PRIVATE size_t ses__double_write(double number, char text[DOUBLE_ROOM]);

#endif
