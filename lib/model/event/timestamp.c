#include "model/event/timestamp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json/decimal.h"

static const char *const OUT_OF_RANGE = "is outside the years 0 to 9999";

static bool in_range(int64_t time_us)
{
    return time_us >= TIMESTAMP_MIN && time_us <= TIMESTAMP_MAX;
}

/* A number from this on counts milliseconds. */
static const int64_t MILLISECONDS_FROM = INT64_C(100000000000);

const char *ses__timestamp_from_number(struct span number, int64_t *time_us)
{
    int64_t whole = 0;
    int64_t time = 0;
    bool half = false;
    bool fits = ses__decimal_truncate(number, 0, &whole, &half) != DECIMAL_TOO_LARGE;

    if (fits)
        fits = ses__decimal_round(number, whole >= MILLISECONDS_FROM ? 3 : 6, &time) != DECIMAL_TOO_LARGE;
    fits = fits && in_range(time);
    if (fits)
        *time_us = time;
    return fits ? NULL : OUT_OF_RANGE;
}

/* Reads `count` digits; -1 when they are not all digits. Moves on. */
static int take_number(const char **p, const char *end, int count)
{
    int value = end - *p >= count ? 0 : -1;
    for (int i = 0; i < count && value >= 0; i++) {
        char byte = (*p)[i];
        value = byte >= '0' && byte <= '9' ? value * 10 + (byte - '0') : -1;
    }
    if (value >= 0)
        *p += count;
    return value;
}

static bool take_byte(const char **p, const char *end, const char *allowed)
{
    bool ok = *p < end && **p != '\0' && strchr(allowed, **p);
    if (ok)
        (*p)++;
    return ok;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap ? 1 : 0);
}

/* Days since 1970-01-01 in the Gregorian calendar, with years that begin in March. */
static int64_t days_since_epoch(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static bool take_date(const char **p, const char *end, int64_t *days)
{
    int year = take_number(p, end, 4);
    bool ok = year >= 0 && take_byte(p, end, "-");
    int month = ok ? take_number(p, end, 2) : -1;
    ok = month >= 1 && month <= 12 && take_byte(p, end, "-");
    int day = ok ? take_number(p, end, 2) : -1;
    ok = day >= 1 && day <= days_in_month(year, month);
    if (ok)
        *days = days_since_epoch(year, month, day);
    return ok;
}

/* Reads the fraction of a second, rounded to microseconds, whatever its number of digits. */
static bool take_fraction(const char **p, const char *end, int64_t *micro)
{
    bool ok = true;
    *micro = 0;
    if (take_byte(p, end, ".")) {
        int places = 0;
        bool round_up = false;
        for (; *p < end && **p >= '0' && **p <= '9'; (*p)++, places++) {
            if (places < 6)
                *micro = *micro * 10 + (**p - '0');
            else if (places == 6)
                round_up = **p >= '5';
        }
        ok = places > 0;
        for (int i = places; i < 6; i++)
            *micro *= 10;
        if (round_up)
            *micro += 1;
    }
    return ok;
}

static bool take_time(const char **p, const char *end, int64_t *micro)
{
    int64_t fraction = 0;
    int hour = take_number(p, end, 2);
    bool ok = hour >= 0 && hour <= 23 && take_byte(p, end, ":");
    int minute = ok ? take_number(p, end, 2) : -1;
    ok = minute >= 0 && minute <= 59 && take_byte(p, end, ":");
    int second = ok ? take_number(p, end, 2) : -1;
    ok = second >= 0 && second <= 60 && take_fraction(p, end, &fraction); /* 60: a leap second */
    if (ok)
        *micro = ((int64_t)(hour * 60 + minute) * 60 + second) * 1000000 + fraction;
    return ok;
}

static bool take_offset(const char **p, const char *end, int64_t *minutes)
{
    bool ok = take_byte(p, end, "Zz");
    *minutes = 0;
    if (!ok) {
        bool negative = *p < end && **p == '-';
        ok = take_byte(p, end, "+-");
        int hour = ok ? take_number(p, end, 2) : -1;
        ok = hour >= 0 && hour <= 23 && take_byte(p, end, ":");
        int minute = ok ? take_number(p, end, 2) : -1;
        ok = minute >= 0 && minute <= 59;
        *minutes = negative ? -(hour * 60 + minute) : hour * 60 + minute;
    }
    return ok;
}

const char *ses__timestamp_from_text(const char *text, size_t len, int64_t *time_us)
{
    const char *p = text;
    const char *end = text + len;
    const char *wrong = "is not RFC 3339 (2024-01-15T10:20:30Z)";
    int64_t days = 0;
    int64_t micro = 0;
    int64_t offset = 0;

    if (take_date(&p, end, &days) && take_byte(&p, end, "Tt ") && take_time(&p, end, &micro) &&
        take_offset(&p, end, &offset) && p == end) {
        int64_t time = days * INT64_C(86400000000) + micro - offset * 60000000;
        wrong = in_range(time) ? NULL : OUT_OF_RANGE;
        if (!wrong)
            *time_us = time;
    }
    return wrong;
}

size_t ses__timestamp_to_number(int64_t time_us, char out[TIMESTAMP_ROOM])
{
    uint64_t magnitude = time_us < 0 ? 0 - (uint64_t)time_us : (uint64_t)time_us;
    int len;

    if (time_us / 1000000 >= MILLISECONDS_FROM) /* as seconds it would be read as milliseconds */
        len = snprintf(out, TIMESTAMP_ROOM, "%" PRId64 ".%03" PRId64, time_us / 1000, time_us % 1000);
    else
        len = snprintf(out, TIMESTAMP_ROOM, "%s%" PRIu64 ".%06" PRIu64, time_us < 0 ? "-" : "",
                       magnitude / 1000000, magnitude % 1000000);
    return len > 0 ? (size_t)len : 0;
}
