/* Compares JSON values by meaning. */
#ifndef FORMATS_JSON_VALUES_H
#define FORMATS_JSON_VALUES_H

#include "base/common.h"

/* True if both values are equal. Both have been checked. Strings are compared decoded, and objects regardless
 * of the order of members. Numbers are equal if they are the same double; *rounded (may be NULL) is set if
 * they are not exactly the same number. */
bool values_same(struct span a, struct span b, bool *rounded);

#endif
