/* Appending: everything that one append checks, stores and brings a handle up to date with, in one
 * transaction. */
#include "base/error.h"
#include "storage/sql/session/jobs.h"

/* --------------------------------------------------------------------------------- what is stored already */

static int check_stored(const struct append_op *op, struct event_draft *draft, const struct event_row *stored,
                        ses_error *error)
{
    int same = ses__event_is(draft, stored, error);

    if (same < 0)
        return same;
    if (same == 0)
        return ses__error_set(
            error, SES_EXISTS,
            "the id \"%.*s\" already exists with different content, as event %lld; an id names one event",
            (int)(stored->id.len < 100 ? stored->id.len : 100), stored->id.ptr, (long long)stored->seq);
    if (stored->seq > op->row.last_seq)
        return ses__error_set(error, SES_CORRUPT,
                              "event %lld of session number %lld comes after its last event, %lld",
                              (long long)stored->seq, (long long)op->row.id, (long long)op->row.last_seq);
    return SES_OK;
}

/* Finds an event that is stored already: `*seq` is its number, or 0. EXISTS: another one has its id. */
static int find_stored(const struct append_op *op, struct db *db, struct event_draft *draft, int64_t *seq,
                       ses_error *error)
{
    struct stored_event_asked own = {.rows.empty = true};
    struct stored_event_asked *asked = op->asked ? &op->asked->stored[draft - op->drafts] : &own;
    struct event_rows *rows = &asked->rows;
    struct event_row stored;

    *seq = asked->taken ? asked->seq : 0;
    if (asked->taken)
        return SES_OK;
    if (rows->empty)
        ses__event_row_open(rows, db, op->row.id, draft->row.id, error);
    if (ses__event_rows_next(rows, &stored)) {
        ses__query_keep(&rows->query, check_stored(op, draft, &stored, error));
        *seq = stored.seq;
    }
    const int code = ses__event_rows_close(rows);
    rows->empty = true;
    asked->seq = *seq;
    asked->taken = code == SES_OK && db->looks_first;
    return code;
}

/* --------------------------------------------------------------------------------------------- staleness */

enum refusal { REFUSAL_LEASED, REFUSAL_STALE };

/* The lease is lost; or another writer has changed the shared key `changed`, or the session itself (NULL). A
 * retry of events that are stored already is fine; anything else is refused. */
static int refuse_new_events(struct append_op *op, struct db *db, enum refusal why, const char *changed,
                             ses_error *error)
{
    int code = SES_OK;

    for (op->at = 0; op->at < op->count && code == SES_OK; op->at++) {
        struct event_draft *draft = &op->drafts[op->at];
        int64_t seq = 0;
        if (draft->partial)
            continue;
        if (ses__append_can_be_stored(op, draft))
            code = find_stored(op, db, draft, &seq, error);
        if (code != SES_OK || seq > 0)
            continue;
        if (why == REFUSAL_LEASED)
            code = ses__not_leased(op->lease, error);
        else if (!changed)
            code = ses__log_set_stale_error(&op->row, op->version, "SES_ANYWAY", error);
        else
            code = ses__stale_at(
                &op->row, error,
                ses__error_set(
                    error, SES_STALE,
                    "the shared key \"%.200s\" has changed since the caller read it: read it again and compute the value again, or append with SES_ANYWAY",
                    changed));
    }
    return code;
}

/* STALE if the version of the session or an expected shared key has changed since the caller read it. */
static int check_seen(struct append_op *op, struct db *db, ses_error *error)
{
    bool outdated = op->checks_version && op->row.version != op->version;
    const char *changed = NULL;
    int code = SES_OK;

    if (op->asked && op->expected) {
        code = ses__state_seen_take(op->asked->expected, op->expected, &changed);
        changed = outdated ? NULL : changed;
    } else if (op->expected && !outdated) {
        code = ses__state_find_changed(db, op->expected, &op->row, &changed, error);
    }
    return code == SES_OK && (outdated || changed) ? refuse_new_events(op, db, REFUSAL_STALE, changed, error)
                                                   : code;
}

/* ----------------------------------------------------------------------------------------------- storing */

static int check_room(const struct append_op *op, const struct event_draft *draft, ses_error *error)
{
    const struct session_row *row = &op->row;

    if (draft->too_long)
        return ses__error_set(error, SES_LIMIT, TOO_LONG_EVENT, op->max_event_bytes);
    if (row->event_count >= op->max_events)
        return ses__error_set(
            error, SES_LIMIT,
            "the session holds %lld events, as many as max_session_events allows: prune or cut it, or start another",
            (long long)row->event_count);
    if (row->last_seq >= MAX_SEQ)
        return ses__error_set(error, SES_LIMIT, "the session has had 2^32 - 1 events; start another");
    if (row->version >= MAX_VERSION)
        return ses__error_set(error, SES_LIMIT,
                              "the session is at the last version below 2^53; start another");
    return SES_OK;
}

/* Gives the event its number, and its place in time. */
static void place_event(const struct append_op *op, struct event_draft *draft)
{
    const struct session_row *row = &op->row;

    draft->row.seq = row->last_seq + 1;
    draft->row.high_us = draft->row.time_us > row->updated_us ? draft->row.time_us : row->updated_us;
}

/* True if the handle lacks events that others have stored before this append: it catches up, and reads the
 * shared scopes again. */
static bool catches_up(const struct append_op *op)
{
    return op->snapshot && op->before.version != op->snapshot->row.version;
}

/* The event is stored: the session and the handle have it from now on. */
static int count_event(struct append_op *op, const struct event_draft *draft, ses_appended *result,
                       ses_error *error)
{
    struct session_row *row = &op->row;

    row->last_seq++;
    row->version++;
    row->event_count++;
    row->updated_us = draft->row.high_us;
    result->status = SES_OK;
    result->seq = draft->row.seq;
    result->time_us = draft->row.time_us;
    return op->snapshot ? ses__advance_add_draft(&op->advance, draft,
                                                 catches_up(op) ? SCOPE_SESSION : SCOPE_APP, error)
                        : SES_OK;
}

/* The retry of a stored event succeeds even if the session has no room for another. */
static int store_event(struct append_op *op, struct db *db, struct event_draft *draft, ses_appended *result,
                       ses_error *error)
{
    const struct session_row *looked = &op->looked;
    const int limit = check_room(op, draft, error);
    int code = SES_OK;

    result->status = SES_DUPLICATE;
    result->seq = 0;
    if ((limit != SES_OK || db->looks_first) && ses__append_can_be_stored(op, draft))
        code = find_stored(op, db, draft, &result->seq, error);
    if (code == SES_OK && limit != SES_OK && result->seq > 0)
        ses__error_clear(error);
    if (code != SES_OK || result->seq > 0)
        return code;
    if (limit != SES_OK)
        return limit;
    place_event(op, draft);
    /* A rewind that another program made names the invocation that it takes back, but not where that begins.
     * The position found ahead of the transaction still holds unless events were cut or pruned. */
    if (draft->row.rewinds_before.len > 0 && looked->id != 0) {
        const bool holds = looked->id == op->row.id && looked->base_seq == op->row.base_seq &&
                           ses__row_epoch(looked) == ses__row_epoch(&op->row);
        draft->row.rewinds_to = holds ? draft->target : 0;
        draft->row.rewinds_after = holds ? looked->last_seq : 0;
    }
    code = ses__event_add(db, &op->row, &draft->row, error);
    if (code == SES_EXISTS) {
        code = find_stored(op, db, draft, &result->seq, error);
        if (code == SES_OK && result->seq == 0) /* nothing is stored, and nothing was */
            code = ses__error_set(error, SES_CORRUPT,
                                  "the place of event %lld of session number %lld is taken by another event",
                                  (long long)draft->row.seq, (long long)op->row.id);
        return code;
    }
    if (code == SES_OK)
        code = ses__delta_store(db, &draft->delta, &op->row, draft->row.seq, error);
    if (code == SES_OK && op->artifacts)
        code = op->artifacts->store(op->artifacts, db, &op->row, op->now_us, error);
    return code == SES_OK ? count_event(op, draft, result, error) : code;
}

static int store_events(struct append_op *op, struct db *db, ses_error *error)
{
    struct annotated now;
    struct query own;
    struct query *annotated = op->asked ? &op->asked->annotated : &own;
    int code = SES_OK;

    for (op->at = 0; op->at < op->count && code == SES_OK; op->at++) {
        struct event_draft *draft = &op->drafts[op->at];
        if (draft->partial)
            continue;
        code = store_event(op, db, draft, &op->results[op->at], error);
        op->results[op->at].time_us = draft->row.time_us; /* a retry has that of the stored event */
    }
    const bool stored = op->row.version != op->before.version;
    op->row.changed_us = op->now_us;
    if (code == SES_OK && stored)
        code = ses__session_touch(db, &op->before, &op->row, error);
    if (code == SES_OK && stored && op->takes_draft)
        code = ses__session_draft_remove(db, op->row.id, error);
    if (code == SES_OK && stored && op->answers)
        code = ses__inbox_remove(db, op->row.id, op->answers, error);
    if (code != SES_OK || !stored || !op->annotating)
        return code;
    if (!op->asked)
        ses__annotated_ask(annotated, db, op->row.id, error);
    code = ses__annotated_take(annotated, op->annotating, &now);
    return code == SES_OK ? ses__details_annotate(db, &op->row, op->annotating, &now, error) : code;
}

/* An outdated handle, too, shows the state of one moment afterwards. */
int ses__append_store(struct db *db, struct append_op *op, ses_error *error)
{
    if (!op->snapshot)
        return store_events(op, db, error);
    int code = ses__advance_init(&op->advance, op->snapshot, error);
    if (code == SES_OK && catches_up(op))
        code = op->asked ? ses__missed_take(&op->asked->missed, db, &op->advance, &op->row, error)
                         : ses__read_missed(db, &op->advance, &op->row, error);
    if (code == SES_OK)
        code = store_events(op, db, error);
    if (code == SES_OK && catches_up(op))
        code = op->asked && op->looks ? ses__scopes_take(op->asked->scopes, db, &op->advance, error)
                                      : ses__read_scopes(db, &op->advance, error);
    /* The handle gets the title and labels of this call, also if an earlier run has stored them. */
    op->advance.annotates = op->annotating && (op->row.version != op->before.version || op->may_be_stored);
    if (code == SES_OK && op->advance.annotates)
        code = ses__annotations_change(&op->advance.annotations, &op->snapshot->annotations, op->annotating,
                                       error);
    return code == SES_OK ? ses__advance_prepare(&op->advance, &op->row, error) : code;
}

int ses__append_stored(struct append_op *op, ses_error *error)
{
    int code = op->snapshot ? ses__advance_init(&op->advance, op->snapshot, error) : SES_OK;

    op->row = op->before;
    for (op->at = 0; op->at < op->count && code == SES_OK; op->at++) {
        struct event_draft *draft = &op->drafts[op->at];
        if (draft->partial)
            continue;
        place_event(op, draft);
        code = count_event(op, draft, &op->results[op->at], error);
    }
    op->row.changed_us = op->now_us;
    return code == SES_OK && op->snapshot ? ses__advance_prepare(&op->advance, &op->row, error) : code;
}

/* ------------------------------------------------------------------------------------------------ the job */

int ses__append_check_and_store(struct append_op *op, struct db *db, ses_error *error)
{
    struct lease_row lease;
    int code = SES_OK;

    if (op->lease != 0) {
        code = op->asked ? ses__lease_take(&op->asked->lease, op->row.id, &lease, NULL)
                         : ses__lease_find(db, op->row.id, &lease, error);
        if (code == SES_OK && lease.token != op->lease)
            code = refuse_new_events(op, db, REFUSAL_LEASED, NULL, error);
    }
    if (code == SES_OK && !op->anyway)
        code = check_seen(op, db, error);
    return code == SES_OK ? ses__append_store(db, op, error) : code;
}

static int run_append(struct db *db, void *context, ses_error *error)
{
    struct append_op *op = context;

    ses__advance_free(&op->advance); /* of an earlier run */
    int code = ses__session_of(db, &op->session, &op->before, error);
    op->row = op->before;
    return code == SES_OK ? ses__append_check_and_store(op, db, error) : code;
}

/* ------------------------------------------------------------------------------------- where rewinds lead */

static int find_targets(struct db *db, void *context, ses_error *error)
{
    struct append_op *op = context;
    int code = ses__session_of(db, &op->session, &op->looked, error);

    for (size_t i = 0; i < op->count && code == SES_OK; i++) {
        struct event_draft *draft = &op->drafts[i];
        if (draft->row.rewinds_before.len > 0)
            code =
                ses__event_of_invocation(db, op->looked.id, draft->row.rewinds_before,
                                         op->looked.base_seq + 1, op->looked.last_seq, &draft->target, error);
    }
    return code;
}

/* Looking for them reads a whole log: that is done before the write, while others write. */
int ses__door_append(struct storage *storage, struct append_op *op, ses_error *error)
{
    bool rewinds = false;
    int code = SES_OK;

    op->advance.snapshot = NULL;
    op->asked = NULL;
    op->looks = false;
    op->looked.id = 0;
    for (size_t i = 0; i < op->count && !rewinds; i++)
        rewinds = op->drafts[i].row.rewinds_before.len > 0;
    if (UNLIKELY(rewinds) && !storage->read_only)
        code = ses__run_within(storage, &op->limits, TO_READ_BEFORE_WRITING, find_targets, op, error);
    if (code != SES_OK)
        return code;
    return storage->engine->append
               ? storage->engine->append(storage, op, error)
               : ses__run_within(storage, &op->limits, TO_WRITE(op->bytes), run_append, op, error);
}
