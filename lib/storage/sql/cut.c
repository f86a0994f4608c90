/* Cutting off the end of a log, in one transaction. */
#include "base/error.h"
#include "storage/sql/history.h"
#include "storage/sql/operations.h"
#include "storage/sql/rows.h"
#include "storage/sql/run.h"

/* The own state becomes what the rest of the log leads to. */
static int restore_state(struct db *db, const struct cut_op *op, const struct session_row *row, int64_t seq,
                         ses_error *error)
{
    struct replay replay;
    int code = ses__replay_init(&replay, db->allocator, op->seed, false, error);

    if (code == SES_OK)
        code = ses__history_replay(db, row, seq, &replay, error);
    if (code == SES_OK)
        code = ses__session_state_restore(db, row, &replay.state, error);
    ses__replay_free(&replay);
    return code;
}

static int check_counts(const struct db *db, const struct session_row *row, int64_t seq, ses_error *error)
{
    return row->event_count >= 0 && row->event_count <= seq - row->base_seq
               ? SES_OK
               : ses__error_set(error, SES_CORRUPT,
                                "%s: session number %lld does not have as many events as its row says",
                                db->name, (long long)row->id);
}

static int cut_after(struct db *db, struct cut_op *op, struct session_row *row, int64_t seq, ses_error *error)
{
    const struct session_row before = *row;
    int code = ses__events_cut(db, row->id, seq, &op->deleted, error);

    if (code != SES_OK || op->deleted == 0)
        return code;
    if (row->version >= MAX_VERSION)
        return ses__error_set(error, SES_LIMIT,
                              "the session is at the last version below 2^53; fork it, or start another");
    row->version++;
    row->event_count -= op->deleted;
    code = check_counts(db, row, seq, error);
    if (code == SES_OK)
        code = restore_state(db, op, row, seq, error);
    return code == SES_OK ? ses__session_touch(db, &before, row, error) : code;
}

/* The handle loses the events that were cut, and catches up with what others have appended before the point. */
static int advance_over_cut(struct db *db, struct cut_op *op, const struct session_row *row, ses_error *error)
{
    int code = ses__advance_init(&op->advance, op->snapshot, error);

    if (code == SES_OK && row->version != op->snapshot->row.version)
        code = ses__read_missed(db, &op->advance, row, error);
    if (code == SES_OK)
        code = ses__read_scopes(db, &op->advance, error);
    return code == SES_OK ? ses__advance_prepare(&op->advance, row, error) : code;
}

static int run_cut(struct db *db, void *context, ses_error *error)
{
    struct cut_op *op = context;
    struct session_row row;
    int64_t seq = 0;

    op->deleted = 0;
    ses__advance_free(&op->advance); /* of an earlier run */
    int code = ses__session_of(db, &op->session, &row, error);
    if (code == SES_OK)
        code = ses__history_check_epoch(&op->session, &row, error);
    if (code == SES_OK && op->checks_version && row.version != op->version)
        code = ses__history_say_stale(&row, op->version, "SES_CUT_ANYWAY", error);
    if (code == SES_OK)
        code = ses__history_find_point(db, &op->session, &row, &op->point, &seq, error);
    if (code == SES_OK)
        code = cut_after(db, op, &row, seq, error);
    return code == SES_OK && op->snapshot ? advance_over_cut(db, op, &row, error) : code;
}

int ses__sql_cut(struct storage *storage, struct cut_op *op, ses_error *error)
{
    op->advance.snapshot = NULL;
    return ses__run_delete(storage, run_cut, op, 0, &op->erasure, error);
}
