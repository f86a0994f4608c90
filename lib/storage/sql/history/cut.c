/* Cuts off the end of a log. A read transaction computes the state that the rest leads to; a write then
 * deletes the end. */
#include "base/error.h"
#include "storage/sql/session/jobs.h"
#include "storage/sql/history/artifacts.h"
#include "storage/sql/history/planned.h"
#include "storage/sql/session/family.h"
#include "storage/sql/rows/parts.h"

struct cutting {
    struct cut_op *op;
    int64_t seq;                      /* the last event that stays */
    bool changes_state;               /* an event after it did */
    struct replay replay;             /* the state after it, if that is so */
    struct named_artifacts artifacts; /* only by the events after it */
};

static int keep_events(struct db *db, const struct session_row *row, int64_t first, struct kept_events *kept,
                       ses_error *error)
{
    struct event_rows rows;
    struct event_row event;

    kept->events.count = 0; /* of an earlier run */
    ses__arena_reset(&kept->arena);
    ses__event_rows_open(&rows, db, row->id, first, row->last_seq, WALK_FORWARD, error);
    while (ses__event_rows_next(&rows, &event)) {
        if (!ses__event_list_add(&kept->events, kept->arena.allocator, ses__event_copy(&kept->arena, &event)))
            ses__query_keep(&rows.query, ses__error_nomem(error));
    }
    return ses__event_rows_close(&rows);
}

static int cut_after(struct db *db, struct cutting *own, struct session_row *row, ses_error *error)
{
    const struct session_row before = *row;
    const int64_t seq = own->seq;
    struct cut_op *op = own->op;
    int code = op->kept ? keep_events(db, row, seq + 1, op->kept, error) : SES_OK;

    if (code == SES_OK)
        code = ses__copies_count(db, row, op->session.key, seq + 1, MAX_SEQ, error);
    if (code == SES_OK)
        code = ses__events_remove(db, row, seq + 1, MAX_SEQ, &op->deleted, error);
    if (code == SES_OK)
        code = ses__query_do(db, STATEMENT_EVENT_MARKS_CUT, error, VALUES(INT(row->id), INT(seq)));
    if (code != SES_OK || op->deleted == 0)
        return code;
    if (row->version >= MAX_VERSION)
        return ses__error_set(error, SES_LIMIT,
                              "the session is at the last version below 2^53; fork it, or start another");
    row->version++;
    row->changed_us = op->now_us;
    row->event_count -= op->deleted;
    if (row->event_count < 0 || row->event_count > seq - row->base_seq)
        return ses__refuse_event_count(db, row->id, error);
    if (own->changes_state)
        code = ses__session_state_restore(db, row, &own->replay.state, error);
    if (code == SES_OK)
        code =
            ses__named_artifacts_remove(&own->artifacts, db, row->user_id, op->session.key->session, error);
    return code == SES_OK ? ses__session_touch(db, &before, row, error) : code;
}

/* An event that changed no key leaves nothing to restore, so that its cut need not replay the log before it. */
static int find_state_changes(struct db *db, const struct session_row *row, struct cutting *own,
                              ses_error *error)
{
    struct stored_event *stored = &own->replay.event;
    struct event_rows rows;
    struct event_row event;

    own->changes_state = false;
    ses__event_rows_open(&rows, db, row->id, own->seq + 1, row->last_seq, WALK_FORWARD_BODIES, error);
    while (!own->changes_state && ses__event_rows_next(&rows, &event)) {
        ses__arena_reset(&own->replay.arena);
        ses__query_keep(&rows.query, ses__stored_event_read(stored, &event, STORED_DELTA, error));
        own->changes_state = stored->delta.count > 0;
    }
    return ses__event_rows_close(&rows);
}

static int plan_cut(struct db *db, void *context, const struct session_row *row, ses_error *error)
{
    struct cutting *own = context;
    struct cut_op *op = own->op;

    if (op->checks_version && row->version != op->version)
        return ses__log_set_stale_error(row, op->version, "SES_ANYWAY", error);
    ses__replay_free(&own->replay);
    int code = ses__replay_init(&own->replay, db->allocator, op->seed, false, error);
    if (code == SES_OK)
        code = ses__log_find_point(db, &op->session, row, &op->point, &own->seq, error);
    if (code == SES_OK)
        code = find_state_changes(db, row, own, error);
    if (code == SES_OK && own->changes_state)
        code = ses__log_replay(db, row, own->seq, &own->replay, error);
    return code == SES_OK ? ses__named_artifacts_read_only(&own->artifacts, db, row, op->session.key->session,
                                                           own->seq, error)
                          : code;
}

static int write_cut(struct db *db, void *context, const struct session_row *found, ses_error *error)
{
    struct cutting *own = context;
    struct cut_op *op = own->op;
    struct session_row row = *found;

    op->deleted = 0;
    ses__advance_free(&op->advance); /* of an earlier run */
    int code = cut_after(db, own, &row, error);
    return code == SES_OK && op->snapshot ? ses__read_advance(db, &op->advance, op->snapshot, &row, error)
                                          : code;
}

int ses__door_cut(struct storage *storage, struct cut_op *op, ses_error *error)
{
    struct cutting own = {.op = op};
    const struct planned planned = {.limits = &op->erasure.limits,
                                    .session = &op->session,
                                    .plan = plan_cut,
                                    .write = write_cut,
                                    .context = &own,
                                    .erasure = &op->erasure};
    int code = ses__replay_init(&own.replay, storage->allocator, op->seed, false, error);

    op->advance.snapshot = NULL;
    ses__named_artifacts_init(&own.artifacts, storage->allocator);
    if (code == SES_OK)
        code = ses__run_planned(storage, &planned, error);
    ses__named_artifacts_free(&own.artifacts);
    ses__replay_free(&own.replay);
    return code;
}
