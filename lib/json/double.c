#include "json/double.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Replaces the locale's decimal point, which can have several bytes, by JSON's. */
static size_t set_point(char *text)
{
    char *point = text + strspn(text, "+-0123456789eE");
    char *after = point + strcspn(point, "0123456789");

    if (*point) {
        *point = '.';
        memmove(point + 1, after, strlen(after) + 1);
    }
    return strlen(text);
}

size_t ses__double_write(double number, char text[DOUBLE_ROOM])
{
    const double exact_integers = 9007199254740992.0; /* 2^53 */

    if (number == 0 && signbit(number)) {
        memcpy(text, "-0.0", 5);
    } else if (number > -exact_integers && number < exact_integers && number == (double)(int64_t)number) {
        snprintf(text, DOUBLE_ROOM, "%.0f", number);
    } else {
        /* All doubles but the smallest keep 15 digits, and %g drops trailing zeros. */
        int digits = fabs(number) < DBL_MIN ? 1 : 15;
        do {
            snprintf(text, DOUBLE_ROOM, "%.*g", digits, number);
        } while (strtod(text, NULL) != number && ++digits <= 17);
    }
    return set_point(text);
}
