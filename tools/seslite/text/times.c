#include "text/times.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int64_t second_us = INT64_C(1000000);

bool span_read(const char *text, int64_t *span_us)
{
    static const struct {
        char letter;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
    const int64_t max_seconds = INT64_C(250000000000); /* 7,900 years, which can be added to any time */
    char *end = NULL;

    if (!isdigit((unsigned char)text[0]))
        return false;
    long long number = strtoll(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (end[0] == units[i].letter && end[1] == '\0' && number <= max_seconds / units[i].seconds) {
            *span_us = number * units[i].seconds * second_us;
            return true;
        }
    }
    return false;
}

static bool read_seconds(const char *text, int64_t *time_us)
{
    char *end = NULL;
    double seconds = strtod(text, &end);

    if (end == text || *end != '\0' || !(seconds > -1e11 && seconds < 1e11))
        return false;
    *time_us = (int64_t)(seconds * 1e6 + (seconds < 0 ? -0.5 : 0.5));
    return true;
}

/* Reads "Z" or "+02:00". */
static bool read_zone(const char *text, int *offset_seconds)
{
    int hours = 0;
    int minutes = 0;
    int taken = 0;

    *offset_seconds = 0;
    if (strcmp(text, "Z") == 0 || strcmp(text, "z") == 0)
        return true;
    if ((text[0] != '+' && text[0] != '-') || !isdigit((unsigned char)text[1]) ||
        sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &taken) != 2 || text[1 + taken] != '\0')
        return false;
    *offset_seconds = (hours * 60 + minutes) * 60 * (text[0] == '-' ? -1 : 1);
    return true;
}

/* Reads the rest after a date: an optional time of day, then an optional zone. */
static bool read_rest(const char *text, struct tm *date, int64_t *time_us)
{
    int taken = 0;
    int offset = 0;

    if (*text != '\0') {
        if (strchr("Tt ", *text) == NULL ||
            sscanf(text + 1, "%2d:%2d%n", &date->tm_hour, &date->tm_min, &taken) != 2)
            return false;
        text += 1 + taken;
        if (*text == ':' && sscanf(text, ":%2d%n", &date->tm_sec, &taken) == 1)
            text += taken;
    }
    if (date->tm_hour > 23 || date->tm_min > 59 || date->tm_sec > 60)
        return false;
    if (*text == '\0') {
        time_t seconds = mktime(date);
        *time_us = (int64_t)seconds * second_us;
        return seconds != (time_t)-1;
    }
    if (!read_zone(text, &offset))
        return false;
    *time_us = ((int64_t)timegm(date) - offset) * second_us;
    return true;
}

static bool read_date(const char *text, int64_t *time_us)
{
    struct tm date = {.tm_isdst = -1};
    int year = 0;
    int taken = 0;

    if (sscanf(text, "%4d-%2d-%2d%n", &year, &date.tm_mon, &date.tm_mday, &taken) != 3)
        return false;
    if (year < 1 || date.tm_mon < 1 || date.tm_mon > 12 || date.tm_mday < 1 || date.tm_mday > 31)
        return false;
    date.tm_year = year - 1900;
    date.tm_mon--;
    return read_rest(text + taken, &date, time_us);
}

bool time_read(const char *text, int64_t *time_us)
{
    int64_t span = 0;

    if (text[0] == '@')
        return read_seconds(text + 1, time_us);
    if (span_read(text, &span)) {
        *time_us = (int64_t)time(NULL) * second_us - span;
        return true;
    }
    return read_date(text, time_us);
}

const char *time_text(int64_t time_us, char text[TIME_SIZE])
{
    time_t seconds = (time_t)(time_us / second_us - (time_us % second_us < 0));
    struct tm date;

    if (!localtime_r(&seconds, &date) || strftime(text, TIME_SIZE, "%Y-%m-%d %H:%M:%S", &date) == 0)
        (void)snprintf(text, TIME_SIZE, "@%lld", (long long)seconds);
    return text;
}

/* The name of the local zone in a month of this year. */
static void name_zone(int month, char name[TIME_SIZE])
{
    time_t now = time(NULL);
    struct tm date;

    name[0] = '\0';
    if (!localtime_r(&now, &date))
        return;
    date = (struct tm){.tm_year = date.tm_year, .tm_mon = month, .tm_mday = 1, .tm_hour = 12, .tm_isdst = -1};
    (void)mktime(&date); /* determines whether it is summer time */
    if (strftime(name, TIME_SIZE, "%Z", &date) == 0)
        name[0] = '\0';
}

void zone_add(struct text *text)
{
    char january[TIME_SIZE];
    char july[TIME_SIZE];

    name_zone(0, january);
    name_zone(6, july);
    if (strcmp(january, july) == 0)
        text_print(text, " (%s)", january[0] ? january : "local time");
    else
        text_print(text, " (%s/%s)", january, july);
}
