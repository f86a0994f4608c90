#include "model/event/range.h"

#include "base/argument.h"
#include "base/error.h"

int ses__range_take(const ses_range *given, struct range *range, ses_error *error)
{
    ses_range own;
    int code = ses__take_options(&own, sizeof own, given, "range", error);

    *range = (struct range){false, false, INT64_MAX, INT64_MIN, 1, INT64_MAX};
    if (code == SES_OK)
        code = ses__check_flags(
            own.which, SES_RANGE_NONE | SES_RANGE_NEWEST | SES_RANGE_SINCE | SES_RANGE_SEQ | SES_RANGE_LIVE,
            "range", error);
    if (code != SES_OK)
        return code;
    range->none = (own.which & SES_RANGE_NONE) != 0;
    range->live = (own.which & SES_RANGE_LIVE) != 0;
    if (own.which & SES_RANGE_NEWEST)
        range->newest = own.newest;
    if (own.which & SES_RANGE_SINCE)
        range->since_us = own.since_us;
    if (own.which & SES_RANGE_SEQ) {
        range->first_seq = own.first_seq;
        range->last_seq = own.last_seq;
    }
    if (range->newest < 0)
        return ses__error_set(error, SES_INVALID, "range: newest is negative");
    if (range->first_seq < 1 || range->last_seq < range->first_seq)
        return ses__error_set(error, SES_INVALID,
                              "range: first_seq must be 1 or more, and last_seq not less");
    return SES_OK;
}

int ses__point_take(const ses_point *given, struct point *point, ses_error *error)
{
    ses_point own;
    int code = ses__take_options(&own, sizeof own, given, "point", error);

    if (code != SES_OK)
        return code;
    *point = (struct point){own.kind, own.seq, own.id};
    switch (own.kind) {
    case SES_POINT_NOW:
    case SES_POINT_LAST_TURN:
        return SES_OK;
    case SES_POINT_SEQ:
        return own.seq >= 0 ? SES_OK : ses__error_set(error, SES_INVALID, "point: seq is negative");
    case SES_POINT_EVENT:
    case SES_POINT_INVOCATION:
        code = ses__check_argument(own.id, "point.id", error);
        if (code == SES_OK && own.id[0] == '\0') /* that of an invocation may have any length */
            code = ses__error_set(error, SES_INVALID, "point: the id is empty");
        return code;
    default:
        return ses__error_set(error, SES_MISUSE, "point: kind is not one of SES_POINT_*");
    }
}
