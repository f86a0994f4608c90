#include "formats/times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "formats/formats.h"

enum { DAY = 86400 };

/* ----------------------------------------------------------------------------------------------- the zone */

/* Reads "+05:30". */
static bool read_offset(const char *name, int *hours, int *minutes)
{
    int end = 0;

    return (*name == '+' || *name == '-') && sscanf(name + 1, "%2d:%2d%n", hours, minutes, &end) == 2 &&
           end == 5 && name[1 + end] == '\0' && *hours >= 0 && *hours <= 23 && *minutes >= 0 &&
           *minutes <= 59;
}

/* The C library takes UTC for a file that does not exist, so this looks first. */
static bool is_zone_file(const char *path)
{
    char magic[4];
    FILE *file = fopen(path, "rbe");

    if (!file)
        return false;
    bool is = fread(magic, 1, sizeof magic, file) == sizeof magic && memcmp(magic, "TZif", 4) == 0;
    (void)fclose(file);
    return is;
}

/* Adds the value of TZ for the zone. Returns false if there is no such zone. */
static bool add_value(struct text *value, const char *name)
{
    const char *folder = getenv("TZDIR");
    int hours = 0;
    int minutes = 0;

    if (strcmp(name, "UTC") == 0 || strcmp(name, "Z") == 0) {
        text_puts(value, "UTC0");
        return true;
    }
    if (read_offset(name, &hours, &minutes)) { /* TZ counts to the west */
        text_print(value, "<zone>%c%d:%02d", *name == '-' ? '+' : '-', hours, minutes);
        return true;
    }
    if (strcmp(name, "local") == 0)
        text_puts(value, ":/etc/localtime");
    else if (*name && *name != '/' && *name != '.' && !strstr(name, "/."))
        text_print(value, ":%s/%s", folder && *folder ? folder : "/usr/share/zoneinfo", name);
    return value->len > 0 && is_zone_file(value->data + 1);
}

int zone_set(const char *name, ses_error *error)
{
    struct text value = {NULL, 0, 0};
    int code = SES_OK;

    if (!add_value(&value, name))
        code = ses__error_set(
            error, SES_INVALID,
            "no time zone \"%s\": give one like Europe/Berlin, +01:00, UTC or local, and check "
            "that tzdata is installed",
            name);
    else if (setenv("TZ", value.data, 1) != 0)
        code = ses__error_set(error, SES_NOMEM, "out of memory");
    else
        tzset();
    text_free(&value);
    return code;
}

/* ---------------------------------------------------------------------------------------------- the times */

/* Seconds east of UTC at a moment. */
static int64_t offset_at(int64_t moment)
{
    const time_t seconds = (time_t)moment;
    struct tm shown;

    return localtime_r(&seconds, &shown) ? shown.tm_gmtoff : 0;
}

int64_t zone_ahead(int64_t time_us)
{
    return offset_at(time_us / 1000000 - (time_us % 1000000 < 0));
}

/* As in PEP 495, datetime.timestamp() with fold=0. mktime may take either of two moments. */
int64_t zone_moment(int64_t local_us)
{
    const int64_t us = ((local_us % 1000000) + 1000000) % 1000000;
    const int64_t local = (local_us - us) / 1000000;
    const int64_t one = local - offset_at(local);
    const int64_t one_shows = one + offset_at(one);
    const int64_t other = local - offset_at(one_shows == local ? one - DAY : one);
    int64_t moment = one > other ? one : other; /* the clocks skip this time */

    if (other + offset_at(other) == local)
        moment = other;
    else if (one_shows == local)
        moment = one;
    return moment * 1000000 + us;
}

/* ----------------------------------------------------------------------------------------- times as texts */

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
static bool read_zone(const char **at, const char *end, int64_t *offset_s, bool *zoned)
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
    if (!read_zone(&at, end, &offset_s, &own_zoned) || at != end || month < 1 || month > 12 || day < 1 ||
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
