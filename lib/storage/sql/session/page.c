/* Reading the events of a session a page at a time. */
#include "base/error.h"
#include "storage/sql/session/jobs.h"
#include "storage/sql/rows/event.h"
#include "storage/sql/rows/session.h"
#include "storage/sql/engine.h"

static const struct live *live_of(const struct page_op *op)
{
    return op->range.live ? op->live : NULL;
}

/* ------------------------------------------------------------------------------------------- the walk */

/* Walking forward, a range of times or of the newest begins at its oldest event. */
static int find_begin(struct db *db, struct page_op *op, ses_error *error)
{
    struct range *range = &op->range;
    struct range_rows walk;
    struct event_row event;
    int64_t first = INT64_MAX;

    ses__range_rows_open(&walk, db, op->row.id, range, live_of(op), WALK_BACKWARD_TIMES, error);
    while (ses__range_rows_next(&walk, &event))
        first = event.seq;
    int code = ses__range_rows_close(&walk);
    range->first_seq = first;
    range->newest = INT64_MAX;
    return code;
}

/* Ends the walk at the events that are there now. */
static int begin_walk(struct db *db, struct page_op *op, ses_error *error)
{
    struct range *range = &op->range;
    bool seeks = !op->backward && (range->newest != INT64_MAX || range->since_us != INT64_MIN);
    int code = SES_OK;

    if (range->last_seq > op->row.last_seq)
        range->last_seq = op->row.last_seq;
    if (range->live)
        code = ses__load_live(db, op->row.id, op->row.last_seq, op->live, error);
    return code == SES_OK && seeks ? find_begin(db, op, error) : code;
}

/* -------------------------------------------------------------------------------------------- staleness */

static int refuse_walk(const struct page_op *op, const char *what, ses_error *error)
{
    (void)ses__error_set(error, SES_STALE, "events were %s while a cursor walked them: begin another cursor",
                         what);
    if (error)
        error->version = op->row.version;
    return SES_STALE;
}

/* Was anything pruned, since the walk began, that is left of its range? */
static bool has_lost_events(const struct page_op *op)
{
    const struct range *range = &op->range;
    const int64_t known = op->session.known->base_seq + 1;
    const int64_t pruned = op->row.base_seq;
    int64_t first = range->first_seq > known ? range->first_seq : known;
    int64_t last = range->last_seq < pruned ? range->last_seq : pruned;

    return first <= last && (!range->live || ses__live_within(op->live, first, last));
}

static int check_log(const struct page_op *op, ses_error *error)
{
    if (ses__row_epoch(&op->row) != ses__row_epoch(op->session.known))
        return refuse_walk(op, "cut from the session", error);
    if (!op->backward && has_lost_events(op))
        return refuse_walk(op, "pruned", error);
    return SES_OK;
}

/* ----------------------------------------------------------------------------------------------- pages */

/* True when the page is full. */
static int add_to_page(struct page_op *op, const struct event_row *row, size_t *bytes, bool *full,
                       ses_error *error)
{
    if (!ses__event_list_add(op->events, op->allocator, ses__event_copy(op->arena, row)))
        return ses__error_nomem(error);
    *bytes += row->body.len;
    *full = op->events->count >= op->max_events || *bytes >= op->max_bytes;
    return SES_OK;
}

/* A walk backward may end before it comes to what was pruned. */
static int read_events(struct db *db, struct page_op *op, bool *full, ses_error *error)
{
    struct range_rows walk;
    struct event_row event;
    size_t bytes = 0;
    int code = SES_OK;

    ses__range_rows_open(&walk, db, op->row.id, &op->range, live_of(op),
                         op->backward ? WALK_BACKWARD : WALK_FORWARD, error);
    walk.few = (struct few_events){(int64_t)op->max_events, (int64_t)op->max_bytes};
    while (code == SES_OK && !*full && ses__range_rows_next(&walk, &event))
        code = add_to_page(op, &event, &bytes, full, error);
    int closed = ses__range_rows_close(&walk);
    if (code == SES_OK && closed == SES_OK && !*full && walk.left > 0 && !op->first && has_lost_events(op))
        code = refuse_walk(op, "pruned", error);
    return code != SES_OK ? code : closed;
}

/* Takes what the page holds out of the range. */
static void shrink_range(struct page_op *op, bool full)
{
    struct range *range = &op->range;
    const struct event_list *events = op->events;

    if (!full) {
        range->none = true;
    } else if (op->backward) {
        range->last_seq = events->items[events->count - 1]->seq - 1;
        if (range->newest != INT64_MAX)
            range->newest -= (int64_t)events->count;
    } else {
        range->first_seq = events->items[events->count - 1]->seq + 1;
    }
}

/* True if a replica answers that is behind the one of the last page: it has fewer events or none, or its log looks
 * damaged. */
static bool is_behind(const struct page_op *op, int code)
{
    return (code == SES_OK || code == SES_CORRUPT) && !op->first &&
           op->row.version < op->session.known->version;
}

static int refuse_behind(const struct db *db, const struct page_op *op, ses_error *error)
{
    (void)ses__error_set(error, SES_STALE,
                         "%s: the server that answered is behind the one before it: open another cursor",
                         db->name);
    if (error)
        error->version = op->row.version;
    return SES_STALE;
}

int ses__page_job(struct db *db, void *context, ses_error *error)
{
    const struct page_run *run = context;
    struct page_op *op = run->op;
    bool full = false;

    op->range = run->asked;
    ses__arena_reset(op->arena);
    op->events->count = 0;
    int code = ses__session_of(db, &op->session, &op->row, error);
    if (code == SES_OK)
        code = op->first ? begin_walk(db, op, error) : check_log(op, error);
    if (code == SES_OK)
        code = read_events(db, op, &full, error);
    if (is_behind(op, code))
        return refuse_behind(db, op, error);
    if (code == SES_OK)
        shrink_range(op, full);
    return code;
}

int ses__door_page(struct storage *storage, struct page_op *op, ses_error *error)
{
    struct page_run run = {op, op->range};
    return ses__run_read_behind(storage, ses__page_job, &run, error);
}
