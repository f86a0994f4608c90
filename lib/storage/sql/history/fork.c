/* A new session that begins as the log of another was at a point. The state there is found out in a read; then the events
 * are copied. */
#include "base/error.h"
#include "storage/sql/session/jobs.h"
#include "storage/sql/rows/parts.h"
#include "storage/sql/history/artifacts.h"
#include "storage/sql/history/planned.h"

/* The data of one fork while it runs. */
struct fork_run {
    struct db *db;
    struct fork_op *op;
    struct session_row source;
    struct session_row fork;
    int64_t seq;                      /* the point */
    struct replay replay;             /* the state there, or only what the log begins with */
    struct named_artifacts artifacts; /* only by the events after it */
};

static bool is_whole(const struct fork_run *run)
{
    return run->seq == run->source.last_seq;
}

/* As many events as the row of the source lets expect; without gaps in the numbers that is known exactly. (There are no
 * more than there are numbers.) */
static int check_count(const struct fork_run *run, ses_error *error)
{
    const struct session_row *source = &run->source;
    const int64_t count = run->fork.event_count;
    const int64_t limit = run->seq - source->base_seq;
    bool has_no_gaps = source->event_count == source->last_seq - source->base_seq;
    bool sound = count <= source->event_count && (!has_no_gaps || count == limit) &&
                 (!is_whole(run) || count == source->event_count);

    if (!sound)
        return ses__refuse_event_count(run->db, source->id, error);
    if (count > run->op->max_events)
        return ses__error_set(error, SES_LIMIT,
                              "the log has %lld events up to the point, more than max_session_events allows",
                              (long long)count);
    return SES_OK;
}

/* Takes the end and the update time of the new log from its last event. */
static int read_end(struct fork_run *run, ses_error *error)
{
    struct session_row *fork = &run->fork;
    struct event_rows rows;
    struct event_row event;

    fork->base_seq = run->source.base_seq;
    fork->last_seq = fork->base_seq;
    ses__event_rows_open(&rows, run->db, fork->id, fork->base_seq + 1, run->seq, WALK_BACKWARD_TIMES, error);
    if (ses__event_rows_next(&rows, &event)) {
        fork->last_seq = event.seq;
        if (event.high_us > fork->updated_us)
            fork->updated_us = event.high_us;
    }
    return ses__event_rows_close(&rows);
}

/* Title and labels are copied within the file: they are looked at before. */
static int check_annotations(const struct fork_run *run, ses_error *error)
{
    struct annotations annotations;

    ses__annotations_init(&annotations, run->db->allocator);
    int code = ses__load_details_of(
        run->db, &(struct described){.row = &run->source, .annotations = &annotations}, error);
    ses__annotations_free(&annotations);
    return code;
}

/* Versions that were saved before the fork is there might be those that its events name. */
static int refuse_early_artifacts(const struct fork_run *run, const struct artifact_owner *to,
                                  ses_error *error)
{
    const ses_key *key = run->op->to;
    bool any = false;

    ses__db_lock(run->db, SCOPE_USER, to->user_id, true);
    const int code = ses__artifacts_any(run->db, to, &any, error);
    return code == SES_OK && any
               ? ses__error_set(error, SES_EXISTS,
                                "artifacts of %.100s/%.100s/%.100s (app/user/session) already exist",
                                key->app, key->user, key->session)
               : code;
}

/* The fork has the artifacts of the source but those that only events after the point have named. */
static int copy_artifacts(const struct fork_run *run, ses_error *error)
{
    const struct artifact_owner from = {run->source.user_id, ses__span_of(run->op->session.key->session)};
    const struct artifact_owner to = {run->fork.user_id, ses__span_of(run->op->to->session)};
    int code = refuse_early_artifacts(run, &to, error);

    if (code == SES_OK)
        code = ses__artifacts_copy(run->db, &from, &to, run->op->now_us, error);
    return code == SES_OK ? ses__named_artifacts_remove(&run->artifacts, run->db, to.user_id,
                                                        run->op->to->session, error)
                          : code;
}

static int copy_log(struct fork_run *run, ses_error *error)
{
    struct session_row *fork = &run->fork;
    const ses_key *parent = run->op->session.key;
    int code = check_annotations(run, error);

    if (code == SES_OK)
        code = ses__log_copy(run->db, run->source.id, fork->id, run->seq, &fork->event_count, error);
    if (code == SES_OK)
        code = check_count(run, error);
    if (code == SES_OK)
        code = read_end(run, error);
    if (code == SES_OK)
        code = is_whole(run) ? ses__query_do(run->db, STATEMENT_SESSION_STATE_COPY, error,
                                             VALUES(INT(run->source.id), INT(fork->id)))
                             : ses__session_state_restore(run->db, fork, &run->replay.state, error);
    if (code == SES_OK)
        code = ses__log_ensure_origin(run->db, run->source.id, error);
    if (code == SES_OK)
        code = ses__query_do(run->db, STATEMENT_DETAILS_COPY, error,
                             VALUES(INT(run->source.id), INT(fork->id), STRING(parent->user),
                                    STRING(parent->session), INT(fork->last_seq)));
    if (code == SES_OK)
        code = copy_artifacts(run, error);
    fork->changed_us = run->op->now_us;
    fork->details = (run->source.details & (DETAIL_TITLE | DETAIL_LABELS)) | DETAIL_PARENT;
    return code == SES_OK ? ses__session_fill(run->db, fork, error) : code;
}

/* At the end of the log the own state can be copied; at an earlier point it is replayed from the log. The
 * initial state is read in both cases, so that nothing damaged is copied. */
static int plan_fork(struct db *db, void *context, const struct session_row *row, ses_error *error)
{
    struct fork_run *run = context;
    const struct fork_op *op = run->op;

    run->source = *row;
    ses__replay_free(&run->replay);
    int code = ses__replay_init(&run->replay, db->allocator, op->seed, false, error);
    if (code == SES_OK)
        code = ses__log_find_point(db, &op->session, row, &op->point, &run->seq, error);
    if (code == SES_OK)
        code = ses__log_replay(db, row, is_whole(run) ? row->base_seq : run->seq, &run->replay, error);
    if (code == SES_OK)
        code = ses__named_artifacts_read_only(&run->artifacts, db, row, op->session.key->session, run->seq,
                                              error);
    return code;
}

static int write_fork(struct db *db, void *context, const struct session_row *row, ses_error *error)
{
    struct fork_run *run = context;
    const struct fork_op *op = run->op;
    const struct session_times times = {op->now_us, op->created_us,
                                        op->expires_us == INT64_MIN ? row->expires_us : op->expires_us};

    run->db = db;
    run->source = *row; /* title and labels may have changed */
    int code = ses__session_find(db, op->to, &run->fork, error);
    if (code == SES_OK)
        return ses__refuse_existing(op->to, error);
    if (code == SES_NOTFOUND)
        code = ses__session_add(db, op->to, &times, &run->fork, error);
    if (code == SES_OK)
        code = copy_log(run, error);
    return code == SES_OK && op->snapshot
               ? ses__load_snapshot(db, op->snapshot, op->to, &run->fork, &op->range, error)
               : code;
}

int ses__door_fork(struct storage *storage, struct fork_op *op, ses_error *error)
{
    struct fork_run run = {.op = op};
    const struct planned planned = {.limits = &op->limits,
                                    .session = &op->session,
                                    .plan = plan_fork,
                                    .write = write_fork,
                                    .context = &run};
    int code = ses__replay_init(&run.replay, storage->allocator, op->seed, false, error);

    ses__named_artifacts_init(&run.artifacts, storage->allocator);
    if (code == SES_OK)
        code = ses__run_planned(storage, &planned, error);
    ses__named_artifacts_free(&run.artifacts);
    ses__replay_free(&run.replay);
    return code;
}
