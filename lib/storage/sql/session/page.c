/* Reading the events of a session a page at a time. */
#include "base/error.h"
#include "storage/sql/session/jobs.h"

/* ------------------------------------------------------------------------------------------- the walk */

/* The queries of a page besides that of the session's row, sent as if nothing had been rewound. */
struct page_asked {
    bool seeks;             /* the events are those among which a walk forward begins */
    struct mark_rows marks; /* of a range of live events, for the first page */
    struct range_rows events;
};

static void open_events(struct page_asked *asked, struct db *db, int64_t id, const struct page_op *op,
                        const struct live *live, ses_error *error)
{
    const enum walk how = asked->seeks ? WALK_BACKWARD_TIMES : op->backward ? WALK_BACKWARD : WALK_FORWARD;

    ses__range_rows_open(&asked->events, db, id, &op->range, live, how, error);
    if (!asked->seeks)
        asked->events.few = (struct few_events){(int64_t)op->max_events, (int64_t)op->max_bytes};
}

/* Opens the events again, if they are others than those that were asked for. */
static int turn_to(struct page_asked *asked, struct db *db, const struct page_op *op, ses_error *error)
{
    int code = ses__range_rows_close(&asked->events);

    open_events(asked, db, op->row.id, op, op->range.live ? op->live : NULL, error);
    return code;
}

/* Ends the walk at the events that are there now. A walk that seeks reads them to find its first event. */
static int begin_walk(struct page_asked *asked, struct db *db, struct page_op *op, ses_error *error)
{
    struct range *range = &op->range;
    struct event_row event;
    int64_t first = INT64_MAX;
    int code = SES_OK;

    if (range->last_seq > op->row.last_seq)
        range->last_seq = op->row.last_seq;
    if (range->live)
        code = ses__mark_rows_take_live(&asked->marks, op->row.id, op->live);
    op->settled = 0;
    if (code == SES_OK && op->after_settled)
        code = ses__settled_find(db, &op->row, op->live, &op->settled, error);
    if (op->settled >= range->first_seq)
        range->first_seq = op->settled + 1;
    if (code == SES_OK && range->live && (op->live->count > 0 || op->settled > 0))
        code = turn_to(asked, db, op, error);
    if (code != SES_OK || !asked->seeks)
        return code;
    while (ses__range_rows_next(&asked->events, &event))
        first = event.seq;
    range->first_seq = first;
    range->newest = INT64_MAX;
    asked->seeks = false;
    return turn_to(asked, db, op, error);
}

/* -------------------------------------------------------------------------------------------- staleness */

static int refuse_walk(const struct page_op *op, const char *what, ses_error *error)
{
    return ses__stale_at(&op->row, error,
                         ses__error_set(error, SES_STALE,
                                        "events were %s while a cursor walked them: begin another cursor",
                                        what));
}

/* True if events that are left of the range were pruned since the walk began. */
static bool has_lost_events(const struct page_op *op)
{
    const struct range *range = &op->range;
    const int64_t known = op->session.known->base_seq + 1;
    const int64_t pruned = op->row.base_seq;
    int64_t first = range->first_seq > known ? range->first_seq : known;
    int64_t last = range->last_seq < pruned ? range->last_seq : pruned;

    return first <= last && (!range->live || ses__live_within(op->live, first, last));
}

/* ----------------------------------------------------------------------------------------------- pages */

/* A walk backward may end before it comes to the events that were pruned. */
static int take_events_of_page(struct range_rows *walk, struct page_op *op, bool *full, ses_error *error)
{
    struct event_row event;
    size_t bytes = 0;

    while (!*full && ses__range_rows_next(walk, &event)) {
        if (!ses__event_list_add(op->events, op->allocator, ses__event_copy(op->arena, &event)))
            ses__query_keep(&walk->rows.query, ses__error_nomem(error));
        bytes += event.body.len;
        *full = op->events->count >= op->max_events || bytes >= op->max_bytes;
    }
    const int code = ses__range_rows_close(walk);
    if (code == SES_OK && !*full && walk->left > 0 && !op->first && has_lost_events(op))
        return refuse_walk(op, "pruned", error);
    return code;
}

/* Removes the events of the page from the range. */
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

static int find_page(struct db *db, struct page_op *op, bool *full, ses_error *error)
{
    const struct range *range = &op->range;
    struct page_asked asked;
    struct query session;
    int code = ses__session_ask(&session, db, &op->session, &op->row, error);

    if (code != SES_OK)
        return code;
    /* Walking forward, a range of times or of the newest begins at its oldest event. */
    asked.seeks = op->first && !op->backward && (range->newest != INT64_MAX || range->since_us != INT64_MIN);
    if (op->first && range->live)
        ses__mark_rows_open(&asked.marks, db, op->row.id, MAX_SEQ, error);
    open_events(&asked, db, op->row.id, op, !op->first && range->live ? op->live : NULL, error);
    ses__range_rows_ask(&asked.events);
    ses__db_ask_last(db);
    code = ses__session_take(&session, &op->session, &op->row);
    if (code != SES_OK)
        return code;
    ses__range_rows_take(&asked.events, op->row.id);
    if (op->first)
        code = begin_walk(&asked, db, op, error);
    else if (ses__row_epoch(&op->row) != ses__row_epoch(op->session.known))
        code = refuse_walk(op, "cut from the session", error);
    else if (!op->backward && has_lost_events(op))
        code = refuse_walk(op, "pruned", error);
    return code == SES_OK ? take_events_of_page(&asked.events, op, full, error) : code;
}

/* A run of the job may be followed by another, which begins with the range as it was given. */
struct page_run {
    struct page_op *op;
    const struct range given;
};

static int run_page(struct db *db, void *context, ses_error *error)
{
    const struct page_run *run = context;
    struct page_op *op = run->op;
    bool full = false;

    op->range = run->given;
    ses__arena_reset(op->arena);
    op->events->count = 0;
    int code = find_page(db, op, &full, error);
    /* A replica that is behind the one of the last page has fewer events or none, or its log
     * looks damaged. */
    if ((code == SES_OK || code == SES_CORRUPT) && !op->first && op->row.version < op->session.known->version)
        return ses__stale_at(
            &op->row, error,
            ses__error_set(error, SES_STALE,
                           "%s: the server that answered is behind the one before it: open another cursor",
                           db->name));
    if (code == SES_OK)
        shrink_range(op, full);
    return code;
}

int ses__door_page(struct storage *storage, struct page_op *op, ses_error *error)
{
    struct page_run run = {op, op->range};
    return ses__run_within(storage, &op->limits, TO_READ_BEHIND, run_page, &run, error);
}
