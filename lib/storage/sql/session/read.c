/* Reading one session: whole, or what a snapshot lacks. */
#include "storage/sql/session/jobs.h"

/* ---------------------------------------------------------------------------------------------- whole */

/* The newest come first, and the list is turned round. */
static int take_log(struct log_asked *asked, struct db *db, struct snapshot *snapshot,
                    const struct range *range, ses_error *error)
{
    const int64_t id = snapshot->row.id;
    const int64_t count = snapshot->row.event_count;
    struct event_row event;
    struct live live;
    int code = SES_OK;

    ses__live_init(&live, snapshot->allocator);
    ses__range_rows_take(&asked->events, id);
    if (range->live)
        code = ses__mark_rows_take_live(&asked->marks, id, &live);
    if (code == SES_OK && live.count > 0) { /* then the events are others than those that were asked for */
        code = ses__range_rows_close(&asked->events);
        ses__range_rows_open(&asked->events, db, id, range, &live, WALK_BACKWARD, error);
    }
    if (code == SES_OK)
        code = ses__snapshot_begin_events(snapshot, range->newest < count ? range->newest : count, error);
    ses__query_keep(&asked->events.rows.query, code);
    while (ses__range_rows_next(&asked->events, &event))
        ses__query_keep(&asked->events.rows.query, ses__snapshot_add_event(snapshot, &event, error));
    code = ses__range_rows_close(&asked->events);
    ses__live_free(&live);
    return code == SES_OK ? ses__snapshot_end_events(snapshot, error) : code;
}

static struct described described_of(struct snapshot *snapshot, const ses_key *key)
{
    return (struct described){&snapshot->row, key->app, snapshot, &snapshot->annotations};
}

void ses__snapshot_ask(struct snapshot_asked *asked, struct db *db, struct snapshot *snapshot,
                       const ses_key *key, const struct range *range, ses_error *error)
{
    const struct session_row *row = &snapshot->row;
    const struct described described = described_of(snapshot, key);

    ses__details_of_ask(&asked->details, db, row->id ? &described : NULL, error);
    ses__state_of_session_ask(&asked->state, db, row, error);
    if (range->none)
        return;
    if (range->live)
        ses__mark_rows_open(&asked->log.marks, db, row->id, row->last_seq, error);
    ses__range_rows_open(&asked->log.events, db, row->id, range, NULL, WALK_BACKWARD, error);
    ses__range_rows_ask(&asked->log.events);
}

int ses__snapshot_take(struct snapshot_asked *asked, struct db *db, struct snapshot *snapshot,
                       const ses_key *key, const struct range *range, ses_error *error)
{
    const struct described described = described_of(snapshot, key);
    int code = ses__details_of_take(&asked->details, &described);

    snapshot->keeps_events = !range->none;
    if (code == SES_OK)
        code = ses__state_of_session_take(&asked->state, &snapshot->state, error);
    return code == SES_OK && !range->none ? take_log(&asked->log, db, snapshot, range, error) : code;
}

int ses__load_snapshot(struct db *db, struct snapshot *snapshot, const ses_key *key,
                       const struct session_row *row, const struct range *range, ses_error *error)
{
    struct snapshot_asked asked;

    snapshot->row = *row;
    ses__snapshot_ask(&asked, db, snapshot, key, range, error);
    return ses__snapshot_take(&asked, db, snapshot, key, range, error);
}

int ses__find_snapshot(struct db *db, struct snapshot *snapshot, const ses_key *key,
                       const struct range *range, ses_error *error)
{
    const struct session_ref ref = {key, NULL};
    struct snapshot_asked asked;
    struct query session;
    int code = ses__session_ask(&session, db, &ref, &snapshot->row, error);

    if (code != SES_OK)
        return code;
    ses__snapshot_ask(&asked, db, snapshot, key, range, error);
    ses__db_ask_last(db);
    code = ses__session_take(&session, &ref, &snapshot->row);
    return code == SES_OK ? ses__snapshot_take(&asked, db, snapshot, key, range, error) : code;
}

static int run_get(struct db *db, void *context, ses_error *error)
{
    const struct get_op *op = context;
    return ses__find_snapshot(db, op->snapshot, op->key, &op->range, error);
}

int ses__door_get(struct storage *storage, struct get_op *op, ses_error *error)
{
    return ses__run_within(storage, &op->limits, TO_READ, run_get, op, error);
}

/* -------------------------------------------------------------------------------------------- refresh */

int ses__missed_take(struct event_rows *rows, struct db *db, struct advance *advance,
                     const struct session_row *row, ses_error *error)
{
    const struct session_row *known = &advance->snapshot->row;
    const struct event_list *events = &advance->snapshot->events;
    struct event_row event;

    if (ses__row_epoch(row) != ses__row_epoch(known)) {
        /* Events were cut or redacted, so those that the snapshot has are read again, except pruned ones,
         * which it keeps. If all of them were cut or pruned, the two cannot be distinguished, and it starts
         * again. */
        const int64_t keep = row->base_seq <= known->last_seq ? row->base_seq : 0;
        const int64_t first = events->count > 0 ? events->items[0]->seq : known->last_seq + 1;
        const int code = ses__event_rows_close(rows);
        ses__advance_restart(advance, keep);
        ses__event_rows_open(rows, db, known->id, first > keep ? first : keep + 1, row->last_seq,
                             WALK_FORWARD, error);
        ses__query_keep(&rows->query, code);
    } else if (row->base_seq > known->last_seq) { /* events that are lacking were pruned */
        ses__advance_restart(advance, known->last_seq);
    }
    while (ses__event_rows_next(rows, &event))
        ses__query_keep(&rows->query, ses__advance_read_event(advance, &event, error));
    return ses__event_rows_close(rows);
}

void ses__missed_ask(struct event_rows *rows, struct db *db, const struct session_row *known, int64_t last,
                     ses_error *error)
{
    ses__event_rows_open(rows, db, known->id, known->last_seq + 1, last, WALK_FORWARD, error);
}

int ses__read_missed(struct db *db, struct advance *advance, const struct session_row *row, ses_error *error)
{
    struct event_rows rows;

    ses__missed_ask(&rows, db, &advance->snapshot->row, row->last_seq, error);
    return ses__missed_take(&rows, db, advance, row, error);
}

void ses__scopes_ask(struct query *asked, struct db *db, const struct session_row *known, ses_error *error)
{
    for (enum scope scope = SCOPE_APP; scope < SCOPE_SESSION; scope++)
        ses__state_rows_open(&asked[scope], db, scope, ses__scope_owner(scope, known), error);
}

int ses__scopes_take(struct query *asked, struct db *db, struct advance *advance, ses_error *error)
{
    int code = SES_OK;

    for (enum scope scope = SCOPE_APP; scope < SCOPE_SESSION && code == SES_OK; scope++)
        code = ses__state_rows_load(&asked[scope], &advance->fresh, scope, error);
    advance->loaded = SCOPE_SESSION;
    if (code == SES_OK && advance->restarts) {
        code = ses__load_scope(db, &advance->fresh, SCOPE_SESSION, &advance->snapshot->row, error);
        advance->loaded = SCOPE_TEMP;
    }
    return code;
}

int ses__read_scopes(struct db *db, struct advance *advance, ses_error *error)
{
    struct query asked[SCOPE_SESSION];

    ses__scopes_ask(asked, db, &advance->snapshot->row, error);
    return ses__scopes_take(asked, db, advance, error);
}

int ses__read_advance(struct db *db, struct advance *advance, struct snapshot *snapshot,
                      const struct session_row *row, ses_error *error)
{
    int code = ses__advance_init(advance, snapshot, error);

    if (code == SES_OK && row->version != snapshot->row.version)
        code = ses__read_missed(db, advance, row, error);
    if (code == SES_OK)
        code = ses__read_scopes(db, advance, error);
    return code == SES_OK ? ses__advance_prepare(advance, row, error) : code;
}

/* The queries of a refresh besides that of the session's row. */
struct refresh_asked {
    struct event_rows missed;
    struct query scopes[SCOPE_SESSION]; /* those that other sessions share */
    struct details_of details;
};

static int take_refresh(struct refresh_asked *asked, struct db *db, struct advance *advance,
                        const struct session_row *row, ses_error *error)
{
    const struct described described = {.row = row, .annotations = &advance->annotations};
    int code = SES_OK;

    advance->annotates = true;
    if (row->version != advance->snapshot->row.version)
        code = ses__missed_take(&asked->missed, db, advance, row, error);
    if (code == SES_OK)
        code = ses__scopes_take(asked->scopes, db, advance, error);
    if (code != SES_OK)
        return code;
    /* A session that has got its first title or label since is asked for it now. */
    return asked->details.any || row->details == 0 ? ses__details_of_take(&asked->details, &described)
                                                   : ses__load_details_of(db, &described, error);
}

static int run_refresh(struct db *db, void *context, ses_error *error)
{
    struct refresh_op *op = context;
    const struct session_row *known = &op->snapshot->row;
    struct refresh_asked asked;
    struct session_row row;
    const struct described described = {.row = &row};
    struct query session;

    ses__advance_free(&op->advance); /* of an earlier run */
    int code = ses__advance_init(&op->advance, op->snapshot, error);
    if (code == SES_OK)
        code = ses__session_ask(&session, db, &op->session, &row, error);
    if (code != SES_OK)
        return code;
    /* `row` is as it was known where everything is asked ahead. */
    if (ses__db_asks_ahead(db) || row.version != known->version)
        ses__missed_ask(&asked.missed, db, known, INT64_MAX, error);
    ses__scopes_ask(asked.scopes, db, known, error);
    ses__details_of_ask(&asked.details, db, &described, error);
    ses__db_ask_last(db);
    code = ses__session_take(&session, &op->session, &row);
    if (code == SES_OK)
        code = take_refresh(&asked, db, &op->advance, &row, error);
    return code == SES_OK ? ses__advance_prepare(&op->advance, &row, error) : code;
}

int ses__door_refresh(struct storage *storage, struct refresh_op *op, ses_error *error)
{
    op->advance = (struct advance){.snapshot = NULL};
    return ses__run_within(storage, &op->limits, TO_READ, run_refresh, op, error);
}
