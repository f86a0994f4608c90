#include "foreign/zone_rule.h"

#include <string.h>

enum { HOUR = 3600, DAY = 86400 };

/* ------------------------------------------------------------------------------------------------ reading */

static bool read_number(const char **at, int most, int *number)
{
    const char *start = *at;

    for (*number = 0; **at >= '0' && **at <= '9' && *number <= most; (*at)++)
        *number = *number * 10 + (**at - '0');
    return *at > start && *number <= most;
}

static bool read_char(const char **at, char c)
{
    if (**at != c)
        return false;
    (*at)++;
    return true;
}

/* Skips a name: letters, or any text in angle brackets. */
static bool read_name(const char **at)
{
    const char *start = *at;
    const bool quoted = read_char(at, '<');

    while (quoted ? **at && **at != '\n' && **at != '>'
                  : (**at >= 'A' && **at <= 'Z') || (**at >= 'a' && **at <= 'z'))
        (*at)++;
    return quoted ? read_char(at, '>') : *at - start >= 3;
}

/* "-5", "3:30", "1:00:00" */
static bool read_seconds(const char **at, int64_t *seconds)
{
    const bool negative = read_char(at, '-');
    int parts[3] = {0, 0, 0};

    if (!negative)
        (void)read_char(at, '+');
    if (!read_number(at, 167, &parts[0]))
        return false;
    for (int i = 1; i < 3 && read_char(at, ':'); i++)
        if (!read_number(at, 59, &parts[i]))
            return false;
    *seconds = (parts[0] * HOUR + parts[1] * 60 + parts[2]) * (negative ? -1 : 1);
    return true;
}

static bool read_day(const char **at, struct zone_day *day)
{
    bool ok = read_char(at, ',');

    day->kind = 'D';
    day->seconds = 2 * HOUR;
    if (ok && read_char(at, 'M')) {
        day->kind = 'M';
        ok = read_number(at, 12, &day->month) && day->month > 0 && read_char(at, '.') &&
             read_number(at, 5, &day->week) && day->week > 0 && read_char(at, '.') &&
             read_number(at, 6, &day->day);
    } else if (ok) {
        day->kind = read_char(at, 'J') ? 'J' : 'D';
        ok = read_number(at, 365, &day->day) && (day->kind == 'D' || day->day > 0);
    }
    return ok && (!read_char(at, '/') || read_seconds(at, &day->seconds));
}

bool zone_rule_read(const char *text, struct zone_rule *rule)
{
    int64_t west = 0;

    *rule = (struct zone_rule){.known = false};
    if (*text == '\n' || *text == '\0')
        return true;
    if (!read_name(&text) || !read_seconds(&text, &west))
        return false;
    rule->known = true;
    rule->offset = -west;
    rule->summer_offset = rule->offset + HOUR;
    if (*text == '\n')
        return true;
    rule->has_summer = true;
    if (!read_name(&text))
        return false;
    if (*text != ',') {
        if (!read_seconds(&text, &west))
            return false;
        rule->summer_offset = -west;
    }
    return read_day(&text, &rule->begins) && read_day(&text, &rule->ends) && *text == '\n';
}

/* -------------------------------------------------------------------------------------------------- times */

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days from 1970 to the first day of the year. */
static int64_t days_before_year(int64_t year)
{
    const int64_t before = year - 1;
    return before * 365 + before / 4 - before / 100 + before / 400 - 719162;
}

static int64_t days_before_month(int64_t year, int month)
{
    static const int days[] = {0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    return days_before_year(year) + days[month] + (month > 2 && is_leap(year));
}

/* The time of day of the change, in seconds since 1970 as if it were UTC. */
static int64_t change_of(const struct zone_day *rule, int64_t year)
{
    int64_t day = days_before_year(year) + rule->day;

    if (rule->kind == 'J')
        day += is_leap(year) && rule->day > 59 ? 0 : -1;
    if (rule->kind == 'M') {
        const int64_t first = days_before_month(year, rule->month);
        const int64_t last =
            rule->month == 12 ? days_before_year(year + 1) : days_before_month(year, rule->month + 1);
        const int64_t weekday = ((first + 4) % 7 + 7) % 7; /* 1970 began on a Thursday */
        day = first + (rule->day - weekday + 7) % 7 + 7 * (rule->week - 1);
        while (day >= last)
            day -= 7;
    }
    return day * DAY + rule->seconds;
}

static int64_t year_of(int64_t moment)
{
    int64_t year = 1970 + moment / (365 * DAY + DAY / 4);

    while (days_before_year(year) * DAY > moment)
        year--;
    while (days_before_year(year + 1) * DAY <= moment)
        year++;
    return year;
}

int64_t zone_rule_offset(const struct zone_rule *rule, int64_t moment)
{
    if (!rule->has_summer)
        return rule->offset;
    const int64_t year = year_of(moment + rule->offset);
    const int64_t begins = change_of(&rule->begins, year) - rule->offset;
    const int64_t ends = change_of(&rule->ends, year) - rule->summer_offset;
    const bool summer = begins < ends ? moment >= begins && moment < ends : moment >= begins || moment < ends;

    return summer ? rule->summer_offset : rule->offset;
}
