/* Doubles as JSON numbers. */
#ifndef SESLITE_JSON_DOUBLE_H
#define SESLITE_JSON_DOUBLE_H

#include "base/common.h"

/* The longest number has 24 characters. */
enum { DOUBLE_ROOM = 40 };

/* Writes the fewest digits that read back as the same double, whatever the locale, and a NUL; returns their
 * length. The number must be finite. */
SESLITE_PRIVATE size_t ses__double_write(double number, char text[DOUBLE_ROOM]);

#endif
