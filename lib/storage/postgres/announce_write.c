/* Appends that are sent as a whole. The server finds and computes the numbers that they need. */
#include "model/event/timestamp.h"
#include "storage/postgres/ahead.h"
#include "storage/postgres/announce_parts.h"
#include "storage/postgres/session_cache.h"
#include "storage/sql/rows/parts.h"

/* ------------------------------------------------------------------------------------------ appending */

static int64_t count_new(const struct append_op *op)
{
    int64_t count = 0;

    for (size_t i = 0; i < op->count; i++)
        count += !op->drafts[i].partial;
    return count;
}

/* An append that must first read the log (for the target of a rewind, or for an event that can only be a retry) or shared
 * keys cannot be sent as a whole. */
bool ses__append_fits(const void *context)
{
    const struct append_op *op = context;

    for (size_t i = 0; i < op->count; i++) {
        const struct event_draft *draft = &op->drafts[i];
        const bool aims = draft->row.rewinds_before.len > 0 && draft->row.rewinds_to == 0;
        if (!draft->partial && (aims || draft->too_long))
            return false;
    }
    return (op->anyway || !op->expected) && count_new(op) > 0;
}

static void bind_key(struct query *query, const ses_key *key)
{
    ses__query_bind_string(query, 1, key->app);
    ses__query_bind_string(query, 2, key->user);
    ses__query_bind_string(query, 3, key->session);
}

/* The version that the session must have. A handle that is behind has to catch up first, even if the caller does not
 * insist. */
static void bind_version(struct query *query, int parameter, const struct append_op *op)
{
    if (op->snapshot)
        ses__query_bind_int(query, parameter, op->snapshot->row.version);
    else if (op->checks_version && !op->anyway)
        ses__query_bind_int(query, parameter, op->version);
}

/* Guards the append by the session's number. */
static void announce_by_id(struct db *db, const struct append_op *op)
{
    struct query query;

    ses__ahead_answers(ses__pg_of(db), STATEMENT_SESSION_BY_ID);
    ses__query_start(&query, db, STATEMENT_APPEND_BY_ID, NULL);
    ses__query_bind_int(&query, 1, op->session.known->id);
    bind_version(&query, 2, op);
    ses__query_bind_int(&query, 3, count_new(op));
    ses__query_bind_int(&query, 4, op->max_events);
    (void)ses__query_end(&query);
}

/* Guards the append by the session's names. If its number is known from before, it must be unchanged. */
static void announce_by_key(struct db *db, const struct append_op *op, const struct session_row *row)
{
    struct query query;

    ses__ahead_answers(ses__pg_of(db), STATEMENT_SESSION_FIND);
    ses__query_start(&query, db, STATEMENT_APPEND_BY_KEY, NULL);
    bind_key(&query, op->session.key);
    bind_version(&query, 4, op);
    ses__query_bind_int(&query, 5, count_new(op));
    ses__query_bind_int(&query, 6, op->max_events);
    if (row->id != ses__announced_row.id)
        ses__query_bind_int(&query, 7, row->id);
    (void)ses__query_end(&query);
}

/* A single event is counted in the session's row by the same statement. */
static void announce_one(struct db *db, const struct append_op *op, int64_t time_us)
{
    struct query query;

    ses__ahead_answers(ses__pg_of(db), STATEMENT_SESSION_BY_ID);
    ses__query_start(&query, db, STATEMENT_APPEND_ONE, NULL);
    ses__query_bind_int(&query, 1, op->session.known->id);
    bind_version(&query, 2, op);
    ses__query_bind_int(&query, 3, op->max_events);
    ses__query_bind_int(&query, 4, time_us);
    ses__query_bind_int(&query, 5, ses__active_30s(time_us));
    ses__query_bind_int(&query, 6, op->now_us);
    ses__query_bind_int(&query, 7, ses__hour_of(op->now_us));
    (void)ses__query_end(&query);
}

static void announce_one_named(struct db *db, const struct append_op *op, int64_t id, int64_t time_us)
{
    struct query query;

    ses__ahead_answers(ses__pg_of(db), STATEMENT_SESSION_FIND);
    ses__query_start(&query, db, STATEMENT_APPEND_ONE_NAMED, NULL);
    bind_key(&query, op->session.key);
    bind_version(&query, 4, op);
    ses__query_bind_int(&query, 5, id);
    ses__query_bind_int(&query, 6, op->max_events);
    ses__query_bind_int(&query, 7, time_us);
    ses__query_bind_int(&query, 8, ses__active_30s(time_us));
    ses__query_bind_int(&query, 9, op->now_us);
    ses__query_bind_int(&query, 10, ses__hour_of(op->now_us));
    (void)ses__query_end(&query);
}

/* The only event of the append; NULL if there are more. */
static const struct event_draft *only_draft(const struct append_op *op)
{
    const struct event_draft *found = NULL;

    for (size_t i = 0; i < op->count; i++) {
        if (op->drafts[i].partial)
            continue;
        if (found)
            return NULL;
        found = &op->drafts[i];
    }
    return found;
}

/* Announces the guard. If the session's number is not known, it becomes the source of what follows. Sets `*written` if
 * the statement also counts the event. */
static struct session_row announce_guarded(struct db *db, const struct append_op *op, bool *written)
{
    const struct event_draft *only = only_draft(op);
    struct session_row row = ses__announced_row;

    *written = only != NULL;
    if (op->session.known) {
        if (only)
            announce_one(db, op, only->row.time_us);
        else
            announce_by_id(db, op);
        return *op->session.known;
    }
    const bool is_cached =
        ses__session_cache_find(ses__pg_of(db)->config->session_cache, op->session.key, &row);
    if (is_cached && only) {
        announce_one_named(db, op, row.id, only->row.time_us);
        return row;
    }
    *written = false;
    if (!is_cached)
        row = ses__announce_named(db, op->session.key);
    announce_by_key(db, op, &row);
    return row;
}

static void announce_lease(struct db *db, int64_t id, int64_t token)
{
    struct query query;

    ses__ahead_answers(ses__pg_of(db), STATEMENT_LEASE_FIND);
    ses__query_start(&query, db, STATEMENT_APPEND_LEASE, NULL);
    ses__query_bind_int(&query, 1, id);
    ses__query_bind_int(&query, 2, token);
    (void)ses__query_end(&query);
}

/* `latest` is the latest time up to this event. */
static void announce_event(struct db *db, const struct session_row *row, const struct event_row *event,
                           int64_t place, int64_t latest)
{
    struct query query;

    ses__query_start(&query, db, STATEMENT_APPEND_EVENT, NULL);
    ses__query_bind_int(&query, 1, row->id);
    ses__query_bind_int(&query, 2, place);
    ses__query_bind_text(&query, 3, event->id);
    ses__query_bind_text(&query, 4, event->invocation_id);
    ses__query_bind_text(&query, 5, event->author);
    if (event->branch.ptr)
        ses__query_bind_text(&query, 6, event->branch);
    ses__query_bind_int(&query, 7, event->time_us);
    ses__query_bind_int(&query, 8, latest);
    ses__query_bind_text(&query, 9, event->body);
    (void)ses__query_end(&query);
}

/* A rewind is never live, so a compaction in it has no effect. */
static void announce_mark(struct db *db, const struct session_row *row, const struct event_row *event,
                          int64_t place)
{
    const bool rewinds = event->rewinds_before.len > 0;
    struct query query;

    ses__query_start(&query, db, STATEMENT_APPEND_MARK, NULL);
    ses__query_bind_int(&query, 1, row->id);
    ses__query_bind_int(&query, 2, place);
    ses__query_bind_int(&query, 3, rewinds ? MARK_REWIND : MARK_COMPACTION);
    if (rewinds)
        ses__query_bind_int(&query, 4, event->rewinds_to);
    (void)ses__query_end(&query);
}

static void announce_touch(struct db *db, const struct session_row *row, int64_t count, int64_t latest,
                           int64_t now_us)
{
    struct query query;

    ses__query_start(&query, db, STATEMENT_APPEND_TOUCH, NULL);
    ses__query_bind_int(&query, 1, row->id);
    ses__query_bind_int(&query, 2, count);
    ses__query_bind_int(&query, 3, latest);
    ses__query_bind_int(&query, 4, ses__active_30s(latest));
    ses__query_bind_int(&query, 5, now_us);
    ses__query_bind_int(&query, 6, ses__hour_of(now_us));
    (void)ses__query_end(&query);
}

void ses__announce_append(struct db *db, const void *context)
{
    const struct append_op *op = context;
    bool written;
    const struct session_row row = announce_guarded(db, op, &written);
    const int64_t before = written ? -1 : 0; /* the event is already counted */
    int64_t latest = TIMESTAMP_MIN;
    int64_t place = before;

    if (op->lease != 0)
        announce_lease(db, row.id, op->lease);
    for (size_t i = 0; i < op->count; i++) {
        const struct event_draft *draft = &op->drafts[i];
        if (draft->partial)
            continue;
        latest = draft->row.time_us > latest ? draft->row.time_us : latest;
        announce_event(db, &row, &draft->row, ++place, latest);
        if (draft->row.rewinds_before.len > 0 || draft->row.compacts)
            announce_mark(db, &row, &draft->row, place);
    }
    ses__announce_keys(db, &row, op->drafts, op->count, before);
    if (!written)
        announce_touch(db, &row, place, latest, op->now_us);
}

/* --------------------------------------------------------------------------------- what is there already */

void ses__announce_stored(struct db *db, const void *context)
{
    const struct append_op *op = context;
    struct lease_row lease;

    db->looks_first = true;
    const struct session_row row = ses__announce_session(db, &op->session);
    if (op->lease != 0)
        (void)ses__lease_find(db, row.id, &lease, NULL);
    for (size_t i = 0; i < op->count; i++) {
        struct event_rows rows;
        if (op->drafts[i].partial || !(op->drafts[i].has_id || op->may_be_stored))
            continue;
        ses__event_row_open(&rows, db, row.id, op->drafts[i].row.id, NULL);
        (void)ses__event_rows_close(&rows);
    }
    if (op->snapshot)
        ses__announce_missed(db, &row);
}

void ses__doubt_append(void *context)
{
    struct append_op *op = context;

    op->may_be_stored = true;
}

/* A handle has seen what others appended since. A caller without one has not: it gets the version of its last event. */
void ses__claim_append(void *context)
{
    struct append_op *op = context;
    int64_t last = 0;

    for (size_t i = 0; i < op->count; i++) {
        if (op->results[i].status == SES_DUPLICATE) {
            op->results[i].status = SES_OK;
            last = op->results[i].seq;
        }
    }
    if (last > 0 && !op->snapshot)
        op->row.version -= op->row.last_seq - last;
}
