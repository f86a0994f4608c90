/* The rule at the end of a zone file, for times after the last listed transition:
 * "CET-1CEST,M3.5.0,M10.5.0/3". */
#ifndef FOREIGN_ZONE_RULE_H
#define FOREIGN_ZONE_RULE_H

#include "base/common.h"

struct zone_day {
    char
        /* M: month, week, day of the week; J: a day from 1 on, without February 29; D: a day from 0 on */
        kind;
    int month;
    int week;
    int day;
    int64_t seconds; /* of the day */
};

/* All zero is UTC. */
struct zone_rule {
    bool known;
    bool has_summer;
    int64_t offset; /* seconds east of UTC */
    int64_t summer_offset;
    struct zone_day begins; /* summer time, by the clock before it */
    struct zone_day ends;
};

/* Parses the rule, which ends with the line. Returns false if it is invalid. An empty rule changes
 * nothing. */
bool zone_rule_read(const char *text, struct zone_rule *rule);
/* Seconds east of UTC at a moment. */
int64_t zone_rule_offset(const struct zone_rule *rule, int64_t moment);

#endif
