#include "session/range.h"

#include "base/error.h"
#include "session/store.h"

int ses__range_take(const ses_range *given, struct range *range, ses_error *error)
{
    ses_range own;
    int code = ses__take_options(&own, sizeof own, given, "range", error);

    *range = (struct range){false, INT64_MAX, INT64_MIN, 1, INT64_MAX};
    if (code == SES_OK)
        code = ses__check_flags(
            own.which, SES_RANGE_NONE | SES_RANGE_NEWEST | SES_RANGE_SINCE | SES_RANGE_SEQ, "range", error);
    if (code == SES_OK) {
        range->none = (own.which & SES_RANGE_NONE) != 0;
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

struct range_walking {
    const struct range *range;
    int64_t visited;
    event_visitor *visit;
    void *context;
};

static int walk_row(void *context, const struct event_row *row, ses_error *error)
{
    struct range_walking *walking = context;
    int result = SES_OK;

    if (row->high_us < walking->range->since_us) {
        result = 1; /* no event before this one is later */
    } else if (row->time_us >= walking->range->since_us) {
        result = walking->visit(walking->context, row, error);
        if (result == SES_OK && ++walking->visited >= walking->range->newest)
            result = 1;
    }
    return result;
}

int ses__range_walk(struct db *db, int64_t session_id, const struct range *range, enum walk walk,
                    event_visitor *visit, void *context, ses_error *error)
{
    struct range_walking walking = {range, 0, visit, context};
    int code = SES_OK;

    if (!range->none && range->newest > 0)
        code = ses__events_walk(db, session_id, range->first_seq, range->last_seq, walk, walk_row, &walking,
                                error);
    return code;
}
