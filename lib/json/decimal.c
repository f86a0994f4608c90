#include "json/decimal.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__APPLE__)
#include <xlocale.h>
#endif

#include "json/reader.h"

/* The parts of a JSON number: its digits are in `whole`, then in `fraction`. */
struct number_parts {
    bool negative;
    struct span whole;
    struct span fraction;
    int64_t exponent; /* limited to +-EXPONENT_BOUND, far beyond any digit that could matter */
};

static const int64_t EXPONENT_BOUND = INT64_C(1) << 40;

static struct span take_digits(const char **p, const char *end)
{
    const char *start = *p;
    while (*p < end && **p >= '0' && **p <= '9')
        (*p)++;
    return (struct span){start, (size_t)(*p - start)};
}

static struct number_parts take_apart(struct span number)
{
    struct number_parts parts = {0};
    const char *p = number.ptr;
    const char *end = p + number.len;

    if (p < end && *p == '-') {
        parts.negative = true;
        p++;
    }
    parts.whole = take_digits(&p, end);
    parts.fraction = (struct span){p, 0};
    if (p < end && *p == '.') {
        p++;
        parts.fraction = take_digits(&p, end);
    }
    if (p == end)
        return parts;
    p++; /* the e */
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    for (; p < end && parts.exponent < EXPONENT_BOUND; p++)
        parts.exponent = parts.exponent * 10 + (*p - '0');
    if (parts.exponent > EXPONENT_BOUND)
        parts.exponent = EXPONENT_BOUND;
    if (negative)
        parts.exponent = -parts.exponent;
    return parts;
}

/* Returns the digit with the weight 10^(point - 1 - index); after the last digit, 0. */
static int digit_at(const struct number_parts *parts, int64_t index)
{
    size_t i = (size_t)index;
    if (i < parts->whole.len)
        return parts->whole.ptr[i] - '0';
    i -= parts->whole.len;
    return i < parts->fraction.len ? parts->fraction.ptr[i] - '0' : 0;
}

enum decimal_result ses__decimal_truncate(struct span number, int shift, int64_t *value, bool *half)
{
    struct number_parts parts = take_apart(number);
    int64_t count = (int64_t)(parts.whole.len + parts.fraction.len);
    int64_t integer_digits = (int64_t)parts.whole.len + parts.exponent + shift;
    uint64_t limit = parts.negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    uint64_t magnitude = 0;
    int64_t first = 0;
    enum decimal_result result = DECIMAL_EXACT;

    while (first < count && digit_at(&parts, first) == 0)
        first++;
    if (first == count)
        integer_digits = first; /* zero, however large its exponent */
    for (int64_t i = first; i < integer_digits && result == DECIMAL_EXACT; i++) {
        uint64_t digit = (uint64_t)digit_at(&parts, i);
        if (magnitude > (limit - digit) / 10)
            result = DECIMAL_TOO_LARGE;
        else
            magnitude = magnitude * 10 + digit;
    }
    *half = integer_digits >= 0 && digit_at(&parts, integer_digits) >= 5;
    for (int64_t i = integer_digits > 0 ? integer_digits : 0; i < count && result == DECIMAL_EXACT; i++)
        result = digit_at(&parts, i) == 0 ? DECIMAL_EXACT : DECIMAL_INEXACT;
    if (result != DECIMAL_TOO_LARGE)
        *value = parts.negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return result;
}

enum decimal_result ses__decimal_round(struct span number, int shift, int64_t *value)
{
    bool half = false;
    int64_t truncated = 0;
    enum decimal_result result = ses__decimal_truncate(number, shift, &truncated, &half);

    if (result == DECIMAL_INEXACT && half) {
        bool negative = number.ptr[0] == '-';
        if (truncated == (negative ? INT64_MIN : INT64_MAX))
            result = DECIMAL_TOO_LARGE;
        else
            truncated += negative ? -1 : 1;
    }
    if (result != DECIMAL_TOO_LARGE)
        *value = truncated;
    return result;
}

bool ses__decimal_to_double(struct span number, double *value, bool *nomem)
{
    /* strtod reads the decimal point of the thread's locale, so the locale is set to "C" around it (POSIX
     * 2008, uselocale). cJSON's own parser refuses numbers of more than 63 characters in some versions. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);

    *nomem = plain == (locale_t)0;
    if (*nomem)
        return false;
    locale_t before = uselocale(plain);
    double parsed = strtod(number.ptr, NULL);
    uselocale(before);
    freelocale(plain);
    if (isfinite(parsed))
        *value = parsed;
    return isfinite(parsed);
}

/* -------------------------------------------------------------------------------------------- doubles */

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
    /* JSON's decimal point in place of the locale's, which can have several bytes. */
    char *point = text + strspn(text, "+-0123456789eE");
    char *after = point + strcspn(point, "0123456789");
    if (*point) {
        *point = '.';
        memmove(point + 1, after, strlen(after) + 1);
    }
    return strlen(text);
}
