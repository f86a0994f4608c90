#include "model/event/timestamp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "json/decimal.h"

static const char *const OUT_OF_RANGE = "is outside the years 0 to 9999";

/* A number from this on counts milliseconds. */
static const int64_t MILLISECONDS_FROM = INT64_C(100000000000);

const char *ses__timestamp_from_number(struct span number, int64_t *time_us)
{
    int64_t whole = 0;
    int64_t time = 0;
    bool half = false;

    if (ses__decimal_truncate(number, 0, &whole, &half) == DECIMAL_TOO_LARGE ||
        ses__decimal_round(number, whole >= MILLISECONDS_FROM ? 3 : 6, &time) == DECIMAL_TOO_LARGE ||
        !ses__timestamp_holds(time))
        return OUT_OF_RANGE;
    *time_us = time;
    return NULL;
}

/* Reads numbers of as many digits as the form says, with its other characters between them, as in "4-2-2".
 * Moves on. */
static bool take_form(const char **p, const char *end, const char *form, int *numbers)
{
    for (; *form; form++) {
        const bool is_number = *form >= '0' && *form <= '9';
        if (!is_number && (*p == end || *(*p)++ != *form))
            return false;
        if (!is_number)
            continue;
        *numbers = 0;
        for (int digits = *form - '0'; digits > 0; digits--, (*p)++) {
            if (*p == end || **p < '0' || **p > '9')
                return false;
            *numbers = *numbers * 10 + (**p - '0');
        }
        numbers++;
    }
    return true;
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

/* The parts of a time, as they are written. */
enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, TIME_PARTS };

static bool are_in_calendar(const int parts[TIME_PARTS])
{
    return parts[MONTH] >= 1 && parts[MONTH] <= 12 && parts[DAY] >= 1 &&
           parts[DAY] <= days_in_month(parts[YEAR], parts[MONTH]) && parts[HOUR] <= 23 &&
           parts[MINUTE] <= 59 && parts[SECOND] <= 60; /* a leap second */
}

/* Reads the fraction of a second, rounded to microseconds, whatever its number of digits. */
static bool take_fraction(const char **p, const char *end, int64_t *micro)
{
    int64_t unit = 100000;
    const char *digits;

    *micro = 0;
    if (!take_byte(p, end, "."))
        return true;
    for (digits = *p; *p < end && **p >= '0' && **p <= '9'; (*p)++, unit /= 10) {
        *micro += (**p - '0') * unit;
        if (*p - digits == 6 && **p >= '5')
            *micro += 1;
    }
    return *p > digits;
}

static bool take_offset(const char **p, const char *end, int64_t *minutes)
{
    const bool negative = *p < end && **p == '-';
    int parts[2];

    *minutes = 0;
    if (take_byte(p, end, "Zz"))
        return true;
    if (!take_byte(p, end, "+-") || !take_form(p, end, "2:2", parts) || parts[0] > 23 || parts[1] > 59)
        return false;
    *minutes = (negative ? -1 : 1) * (parts[0] * 60 + parts[1]);
    return true;
}

const char *ses__timestamp_from_text(const char *text, size_t len, int64_t *time_us)
{
    const char *p = text;
    const char *end = text + len;
    int parts[TIME_PARTS];
    int64_t micro;
    int64_t offset;

    if (!take_form(&p, end, "4-2-2", parts) || !take_byte(&p, end, "Tt ") ||
        !take_form(&p, end, "2:2:2", parts + HOUR) || !are_in_calendar(parts) ||
        !take_fraction(&p, end, &micro) || !take_offset(&p, end, &offset) || p != end)
        return "is not RFC 3339 (2024-01-15T10:20:30Z)";
    const int64_t days = days_since_epoch(parts[YEAR], parts[MONTH], parts[DAY]);
    const int64_t minutes = parts[HOUR] * 60 + parts[MINUTE] - offset;
    const int64_t time = days * INT64_C(86400000000) + (minutes * 60 + parts[SECOND]) * 1000000 + micro;
    if (!ses__timestamp_holds(time))
        return OUT_OF_RANGE;
    *time_us = time;
    return NULL;
}

int ses__timestamp_read(void *time_us, const struct json_found *found, ses_error *error)
{
    const bool is_text = found->type == JSON_STRING;
    struct span text = {NULL, 0};
    int code = is_text ? ses__json_read_text(&text, found, error) : ses__json_read_value(&text, found, error);

    if (code != SES_OK)
        return code;
    const char *wrong = is_text ? ses__timestamp_from_text(text.ptr, text.len, time_us)
                                : ses__timestamp_from_number(text, time_us);
    return wrong ? ses__error_at(error, SES_INVALID, found->offset, "at byte %zu: %s's %s%s %s",
                                 found->offset, found->whole, found->path, found->name, wrong)
                 : SES_OK;
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

void ses__timestamp_to_date(int64_t time_us, char out[TIMESTAMP_ROOM])
{
    const int64_t held = time_us < TIMESTAMP_MIN   ? TIMESTAMP_MIN
                         : time_us > TIMESTAMP_MAX ? TIMESTAMP_MAX
                                                   : time_us;
    const uint64_t seconds = (uint64_t)(held - TIMESTAMP_MIN) / 1000000;
    const int64_t day = days_since_epoch(0, 1, 1) + (int64_t)(seconds / 86400);
    int year = (int)(seconds / 31556952); /* in a mean year: this one, or one beside it */
    int month = 12;

    while (days_since_epoch(year + 1, 1, 1) <= day)
        year++;
    while (days_since_epoch(year, 1, 1) > day)
        year--;
    while (days_since_epoch(year, month, 1) > day)
        month--;
    (void)snprintf(out, TIMESTAMP_ROOM, "%04u-%02u-%02u %02u:%02u:%02u", (unsigned)year % 10000,
                   (unsigned)month % 100, (unsigned)(day - days_since_epoch(year, month, 1) + 1) % 100,
                   (unsigned)(seconds / 3600 % 24), (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
}
