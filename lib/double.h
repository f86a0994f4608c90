/* Doubles as JSON numbers. */
#ifndef SESLITE_DOUBLE_H
#define SESLITE_DOUBLE_H

#include "common.h"

/* The longest has 24 characters. */
enum { DOUBLE_ROOM = 40 };

/* Writes the fewest digits that read back as the same double, whatever the locale, and a NUL; returns their length.
 * The number must be finite. */
SESLITE_PRIVATE size_t double_write(double number, char text[DOUBLE_ROOM]);

#endif
