/* JSON values, compared: whether two texts mean the same. */
#ifndef FOREIGN_VALUES_H
#define FOREIGN_VALUES_H

#include "base/common.h"

/* Both were accepted before. Strings are compared decoded, objects whatever the order of their members. Numbers
 * are the same if they are the same double; *rounded (may be NULL) is set if they are not the same number. */
bool values_same(struct span a, struct span b, bool *rounded);

#endif
