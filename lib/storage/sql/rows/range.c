/* The events of a range: a walk over the stretches of its numbers that are live, or over all of them. */
#include "storage/sql/rows/event.h"

static int64_t smallest(int64_t left, int64_t right)
{
    return left < right ? left : right;
}

/* Opens the stretch that is next. False: there is none, or the range ends before it. */
static bool open_stretch(struct range_rows *walk)
{
    const struct range *range = walk->range;
    const bool forward = walk->how == WALK_FORWARD;
    int64_t first = 1;
    int64_t last = INT64_MAX;

    if (walk->live ? !ses__live_stretch(walk->live, walk->stretch, &first, &last) : walk->stretch > 0)
        return false;
    walk->stretch =
        forward ? walk->stretch - 1 : walk->stretch + 1; /* before 0 there is SIZE_MAX, which is none */
    if (forward ? first > range->last_seq : last < range->first_seq)
        return false;
    if (first < range->first_seq)
        first = range->first_seq;
    ses__event_rows_open_few(&walk->rows, walk->db, walk->session_id, first, smallest(last, range->last_seq),
                             &(struct few_events){smallest(walk->left, walk->few.count), walk->few.bytes},
                             walk->how, walk->error);
    return true;
}

void ses__range_rows_open(struct range_rows *walk, struct db *db, int64_t session_id,
                          const struct range *range, const struct live *live, enum walk how, ses_error *error)
{
    *walk = (struct range_rows){.rows = {.empty = true},
                                .db = db,
                                .session_id = session_id,
                                .range = range,
                                .live = live,
                                .how = how,
                                .left = range->none ? 0 : range->newest,
                                .few = {INT64_MAX, INT64_MAX},
                                .error = error};
    if (live)
        walk->stretch = ses__live_find(live, how == WALK_FORWARD ? range->first_seq : range->last_seq);
}

void ses__range_rows_ask(struct range_rows *walk)
{
    if (walk->left > 0)
        (void)open_stretch(walk);
}

void ses__range_rows_take(struct range_rows *walk, int64_t session_id)
{
    walk->session_id = session_id;
    walk->rows.session_id = session_id;
}

bool ses__range_rows_next(struct range_rows *walk, struct event_row *row)
{
    const bool forward = walk->how == WALK_FORWARD;

    while (walk->left > 0) {
        bool found = ses__event_rows_next(&walk->rows, row);
        while (!found && ses__range_rows_close(walk) == SES_OK && open_stretch(walk))
            found = ses__event_rows_next(&walk->rows, row);
        if (!found)
            return false;
        if (row->time_us >= walk->range->since_us) {
            walk->left--;
            return true;
        }
        if (!forward && row->high_us < walk->range->since_us)
            walk->left = 0; /* no event before this one is later */
    }
    return false;
}

int ses__range_rows_close(struct range_rows *walk)
{
    int code = ses__event_rows_close(&walk->rows);

    walk->rows.empty = true;
    walk->rows.query.code = code;
    return code;
}
