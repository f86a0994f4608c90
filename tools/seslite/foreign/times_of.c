/* Times stored as text in databases. */
#include <string.h>
#include <time.h>

#include "foreign/rows.h"

/* Reads exactly `count` digits. */
static bool digits(const char **at, const char *end, int count, int64_t *number)
{
    *number = 0;
    for (int i = 0; i < count; i++, (*at)++) {
        if (*at == end || **at < '0' || **at > '9')
            return false;
        *number = *number * 10 + (**at - '0');
    }
    return true;
}

static bool sign(const char **at, const char *end, const char *signs)
{
    if (*at == end || !strchr(signs, **at) || !**at)
        return false;
    (*at)++;
    return true;
}

/* Reads any number of digits after the point, rounded to microseconds as in the store. */
static int64_t fraction(const char **at, const char *end)
{
    int64_t us = 0;
    int count = 0;
    bool up = false;

    for (; *at < end && **at >= '0' && **at <= '9'; (*at)++, count++) {
        if (count < 6)
            us = us * 10 + (**at - '0');
        else if (count == 6)
            up = **at >= '5';
    }
    for (; count < 6; count++)
        us *= 10;
    return us + up;
}

/* Reads "Z" or "+05:30". An absent zone is UTC. */
static bool zone(const char **at, const char *end, int64_t *offset_s, bool *zoned)
{
    int64_t hours = 0;
    int64_t minutes = 0;

    *offset_s = 0;
    *zoned = *at < end;
    if (*at == end || sign(at, end, "Zz"))
        return true;
    const bool west = **at == '-';
    if (!sign(at, end, "+-") || !digits(at, end, 2, &hours) || !sign(at, end, ":") ||
        !digits(at, end, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *offset_s = (hours * 60 + minutes) * (west ? -60 : 60);
    return true;
}

int64_t time_of_text(struct span text, bool *zoned)
{
    const char *at = text.ptr;
    const char *end = text.ptr ? text.ptr + text.len : NULL;
    int64_t year, month, day, hour, minute, second, offset_s;
    int64_t us = 0;
    bool own_zoned = false;

    if (!text.ptr || !digits(&at, end, 4, &year) || !sign(&at, end, "-") || !digits(&at, end, 2, &month) ||
        !sign(&at, end, "-") || !digits(&at, end, 2, &day) || !sign(&at, end, "Tt ") ||
        !digits(&at, end, 2, &hour) || !sign(&at, end, ":") || !digits(&at, end, 2, &minute) ||
        !sign(&at, end, ":") || !digits(&at, end, 2, &second))
        return FOREIGN_NO_TIME;
    if (sign(&at, end, "."))
        us = fraction(&at, end);
    if (!zone(&at, end, &offset_s, &own_zoned) || at != end || month < 1 || month > 12 || day < 1 ||
        day > 31 || hour > 23 || minute > 59 || second > 60 || year <= 1)
        return FOREIGN_NO_TIME;
    if (zoned)
        *zoned = own_zoned;
    struct tm date = {.tm_year = (int)year - 1900,
                      .tm_mon = (int)month - 1,
                      .tm_mday = (int)day,
                      .tm_hour = (int)hour,
                      .tm_min = (int)minute,
                      .tm_sec = (int)second};
    return ((int64_t)timegm(&date) - offset_s) * 1000000 + us;
}
