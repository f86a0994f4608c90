/* Taking back what came after a point of a log, and taking that back: the event is made in a read, and then stored. */
#include "model/rewind.h"

#include "base/error.h"
#include "storage/sql/session/jobs.h"
#include "storage/sql/history/artifacts.h"
#include "storage/sql/history/planned.h"

/* A rewind takes back every event from the first one of an invocation on. */
struct rewind_run {
    struct rewind_op *op;
    struct db *db;
    const struct session_row *row;
    struct arena arena;
    int64_t first; /* 0: nothing comes after the point */
    struct span invocation;
    struct restored_artifacts artifacts;
    struct event_draft draft;
    bool already; /* there is nothing to take back */
};

/* ------------------------------------------------------------------------------------------------ redo */

/* `target` is what that event leads to, if it is a rewind, and otherwise below 0. */
static int find_rewind(const struct rewind_run *run, int64_t seq, int64_t *target, ses_error *error)
{
    struct mark_rows rows;
    struct mark_row mark;

    ses__mark_rows_open(&rows, run->db, run->row->id, seq, error);
    const bool found = ses__mark_rows_next(&rows, &mark) && mark.seq == seq && mark.kind == MARK_REWIND;
    *target = found ? mark.target : -1;
    return ses__query_end(&rows.query);
}

/* The walk over what is live, from the newest event on, past rewinds that are redos themselves. The point is the end of the
 * log if a live event comes first: there is nothing to redo. */
static int find_undone(const struct rewind_run *run, int64_t *point, ses_error *error)
{
    int64_t last = run->row->last_seq;

    for (;;) {
        int64_t seq = 0;
        int64_t target = -1;
        int64_t undone = -1; /* by a redo */
        int code = ses__event_last(run->db, run->row->id, run->row->base_seq + 1, last, &seq, error);
        if (code == SES_OK)
            code = find_rewind(run, seq, &target, error);
        if (code == SES_OK && target > 0)
            code = find_rewind(run, target, &undone, error);
        *point = target >= 0 ? seq - 1 : run->row->last_seq;
        if (code != SES_OK || undone < 0)
            return code;
        last = target - 1; /* a mark leads to an event before it */
    }
}

/* ------------------------------------------------------------------------------------------- the point */

/* The event after the point is what the new one names. */
static int find_next(struct rewind_run *run, int64_t point, ses_error *error)
{
    struct event_rows rows;
    struct event_row event;

    ses__event_rows_open(&rows, run->db, run->row->id, point + 1, run->row->last_seq, WALK_FORWARD, error);
    if (ses__event_rows_next(&rows, &event)) {
        const struct span id = event.invocation_id;
        run->first = event.seq;
        run->invocation = (struct span){ses__arena_text(&run->arena, id.ptr, id.len), id.len};
        if (!run->invocation.ptr)
            ses__query_keep(&rows.query, ses__error_nomem(error));
    }
    return ses__event_rows_close(&rows);
}

/* An event that names an invocation takes back all from the first event of it on. */
static int check_next(struct rewind_run *run, ses_error *error)
{
    int64_t earlier = 0;

    if (run->invocation.len == 0)
        return ses__error_set(
            error, SES_INVALID,
            "event %lld, the first after the point, has no invocation id by which a rewind could name it",
            (long long)run->first);
    int code = ses__event_of_invocation(run->db, run->row->id, run->invocation, run->row->base_seq + 1,
                                        run->first - 1, &earlier, error);
    return code != SES_OK || earlier == 0
               ? code
               : ses__error_set(
                     error, SES_INVALID,
                     "event %lld, the first after the point, is of the invocation \"%.200s\", which already has event %lld before it: a rewind would take that back too",
                     (long long)run->first, run->invocation.ptr, (long long)earlier);
}

/* Where no turn is left, the last turn is taken back already. */
static int find_point(const struct rewind_run *run, int64_t *point, ses_error *error)
{
    const struct rewind_op *op = run->op;
    int code = ses__log_find_point(run->db, &op->append.session, run->row, &op->point, point, error);

    if (code == SES_NOTFOUND && op->point.kind == SES_POINT_LAST_TURN) {
        ses__error_clear(error);
        *point = run->row->last_seq;
        code = SES_OK;
    }
    return code;
}

static int find_first(struct rewind_run *run, ses_error *error)
{
    int64_t point = 0;
    int code = run->op->redoes ? find_undone(run, &point, error) : find_point(run, &point, error);

    if (code == SES_OK)
        code = find_next(run, point, error);
    return code == SES_OK && run->first > 0 ? check_next(run, error) : code;
}

/* ------------------------------------------------------------------------------------------- the event */

/* Looks at each event: numbers that are not there count for nothing. */
static int compare_live(const struct rewind_run *run, const struct live *now, const struct live *then,
                        bool *same, ses_error *error)
{
    const struct session_row *row = run->row;
    struct event_rows rows;
    struct event_row event;

    *same = true;
    ses__event_rows_open(&rows, run->db, row->id, row->base_seq + 1, row->last_seq, WALK_BACKWARD_TIMES,
                         error);
    while (*same && ses__event_rows_next(&rows, &event))
        *same = ses__live_has(now, event.seq) == (event.seq < run->first && ses__live_has(then, event.seq));
    return ses__event_rows_close(&rows);
}

/* Is live now what was live before the first event that is to be taken back? */
static int is_live_already(const struct rewind_run *run, bool *already, ses_error *error)
{
    struct live now;
    struct live then;

    ses__live_init(&now, run->db->allocator);
    ses__live_init(&then, run->db->allocator);
    int code = ses__load_live(run->db, run->row->id, run->row->last_seq, &now, error);
    if (code == SES_OK)
        code = ses__load_live(run->db, run->row->id, run->first - 1, &then, error);
    if (code == SES_OK)
        code = compare_live(run, &now, &then, already, error);
    ses__live_free(&then);
    ses__live_free(&now);
    return code;
}

static int draft_from(const struct rewind_run *run, struct replay *then, struct state *now,
                      struct event_draft *draft, ses_error *error)
{
    const struct rewind_op *op = run->op;
    const struct rewind_event event = {
        .id = ses__span_of(op->event_id),
        .invocation_id = ses__span_of(op->invocation_id),
        .before = run->invocation,
        .before_seq = run->first,
        .time_us = op->time_us,
        .artifact_delta = op->artifact_delta.ptr ? op->artifact_delta : run->artifacts.delta,
    };
    int code = ses__log_replay(run->db, run->row, run->first - 1, then, error);

    if (code == SES_OK)
        code = ses__load_scope(run->db, now, SCOPE_SESSION, run->row, error);
    return code == SES_OK ? ses__rewind_draft(draft, &event, &then->state, now, error) : code;
}

static int make_draft(const struct rewind_run *run, struct event_draft *draft, ses_error *error)
{
    const ses_allocator *allocator = run->db->allocator;
    struct replay then;
    struct state now;
    int code = ses__replay_init(&then, allocator, run->op->seed, false, error);
    int inited = ses__state_init(&now, allocator, run->op->seed, error);

    if (code == SES_OK)
        code = inited;
    if (code == SES_OK)
        code = draft_from(run, &then, &now, draft, error);
    ses__state_free(&now);
    ses__replay_free(&then);
    return code;
}

/* ------------------------------------------------------------------------------------------ the operation */

static int plan_draft(struct rewind_run *run, ses_error *error)
{
    int code = find_first(run, error);

    run->already = run->first == 0;
    if (code == SES_OK && run->first > 0 && !run->op->artifact_delta.ptr)
        code = ses__restored_artifacts_plan(&run->artifacts, run->db, run->row, run->first, error);
    if (code == SES_OK && run->first > 0)
        code = make_draft(run, &run->draft, error);
    if (code == SES_OK && run->first > 0 && run->draft.delta.count == 0 && run->artifacts.count == 0)
        code = is_live_already(run, &run->already, error);
    return code;
}

static int plan_rewind(struct db *db, void *context, const struct session_row *row, ses_error *error)
{
    struct rewind_run *run = context;
    const struct append_op *append = &run->op->append;

    if (append->checks_version && !append->anyway && row->version != append->version)
        return ses__log_set_stale_error(row, append->version, "SES_ANYWAY", error);
    ses__arena_reset(&run->arena);
    ses__event_draft_free(&run->draft);
    ses__event_draft_init(&run->draft, db->allocator);
    run->db = db;
    run->row = row;
    run->first = 0;
    return plan_draft(run, error);
}

/* Stores no event when there is nothing to take back; an outdated handle catches up all the same. */
static int write_rewind(struct db *db, void *context, const struct session_row *row, ses_error *error)
{
    struct rewind_run *run = context;
    struct rewind_op *op = run->op;
    struct append_op *append = &op->append;

    ses__advance_free(&append->advance); /* of an earlier run */
    append->before = *row;
    append->row = *row;
    op->result = (ses_appended){.status = SES_UNCHANGED};
    append->drafts = &run->draft;
    append->results = &op->result;
    append->count = run->already ? 0 : 1;
    append->artifacts = run->artifacts.count > 0 ? &run->artifacts.rows : NULL;
    int code = ses__append_store(db, append, error);
    if (code == SES_EXISTS)
        code = ses__error_set(error, SES_INVALID,
                              "the store's make_id has made the id of an event that exists: \"%.200s\"",
                              op->event_id);
    return code;
}

/* Plans again if others have saved versions of the same artifacts in the meantime. */
int ses__door_rewind(struct storage *storage, struct rewind_op *op, ses_error *error)
{
    const ses_allocator *allocator = storage->allocator;
    struct rewind_run run = {.op = op};
    const struct planned planned = {.limits = &op->append.limits,
                                    .session = &op->append.session,
                                    .plan = plan_rewind,
                                    .write = write_rewind,
                                    .context = &run,
                                    .bytes = op->artifact_delta.len};

    op->append.advance.snapshot = NULL;
    ses__arena_init(&run.arena, allocator);
    ses__event_draft_init(&run.draft, allocator);
    ses__restored_artifacts_init(&run.artifacts, op->append.session.key->session, allocator);
    int code = SES_BUSY;
    for (int tries = 0; code == SES_BUSY && tries < MAX_OUTRUN && (tries == 0 || run.artifacts.rows.outrun);
         tries++)
        code = ses__run_planned(storage, &planned, error);
    op->append.drafts = NULL;
    ses__restored_artifacts_free(&run.artifacts);
    ses__event_draft_free(&run.draft);
    ses__arena_free(&run.arena);
    return code;
}
