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
    if (code == SES_OK) {
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
            code = ses__error_set(error, SES_INVALID, "range: newest is negative");
        else if (range->first_seq < 1 || range->last_seq < range->first_seq)
            code = ses__error_set(error, SES_INVALID,
                                  "range: first_seq must be 1 or more, and last_seq not less");
    }
    return code;
}
