#include "session/sql/history/planned.h"

#include "base/error.h"
#include "model/event/log.h"
#include "storage/sql/rows/event.h"

/* The changes of state that are kept until it is known how far this step goes. */
static const size_t MAX_STAGED_BYTES = (size_t)64 << 20;

int ses__prune_plan_init(struct prune_plan *plan, const struct prune_op *op, const ses_allocator *allocator,
                         ses_error *error)
{
    *plan = (struct prune_plan){.op = op, .allocator = allocator};
    ses__live_init(&plan->live, allocator);
    ses__bonds_init(&plan->bonds, allocator, op->seed, 0);
    ses__named_artifacts_init(&plan->artifacts, allocator);
    ses__arena_init(&plan->arena, allocator);
    ses__stored_event_init(&plan->event, &plan->arena);
    return ses__replay_init(&plan->replay, allocator, op->seed, true, error);
}

void ses__prune_plan_free(struct prune_plan *plan)
{
    ses__live_free(&plan->live);
    ses__bonds_free(&plan->bonds);
    ses__named_artifacts_free(&plan->artifacts);
    ses__stored_event_free(&plan->event);
    ses__arena_free(&plan->arena);
    ses__replay_free(&plan->replay);
}

/* --------------------------------------------------------------------------------------- what is covered */

/* Walks from the newest event backward. Everything that covers an event comes after it, so the walk has
 * already met it. */
struct cover_walk {
    struct prune_plan *plan;
    struct db *db;
    struct mark_rows marks;
    struct mark_row mark; /* the next to be met */
    bool has_mark;
    struct coverage coverage;
};

static void cover_begin(struct cover_walk *walk, struct prune_plan *plan, struct db *db, ses_error *error)
{
    *walk = (struct cover_walk){.plan = plan, .db = db, .coverage.allocator = plan->allocator};
    ses__mark_rows_open(&walk->marks, db, plan->row.id, plan->row.last_seq, error);
    walk->has_mark = ses__mark_rows_next(&walk->marks, &walk->mark);
}

static int cover_end(struct cover_walk *walk)
{
    ses__memory_free(walk->coverage.allocator, walk->coverage.items);
    return ses__query_end(&walk->marks.query);
}

static bool is_marked_compaction(struct cover_walk *walk, int64_t seq)
{
    while (walk->has_mark && walk->mark.seq > seq)
        walk->has_mark = ses__mark_rows_next(&walk->marks, &walk->mark);
    return walk->has_mark && walk->mark.seq == seq && walk->mark.kind == MARK_COMPACTION;
}

/* An event without a mark compacts nothing. */
static int read_compaction_event(struct cover_walk *walk, int64_t seq, ses_error *error)
{
    struct prune_plan *plan = walk->plan;
    struct event_rows rows;
    struct event_row event;

    plan->event.compaction = (struct compaction){.content = {NULL, 0}};
    if (!is_marked_compaction(walk, seq))
        return SES_OK;
    ses__arena_reset(&plan->arena);
    ses__event_rows_open(&rows, walk->db, plan->row.id, seq, seq, WALK_FORWARD, error);
    if (ses__event_rows_next(&rows, &event))
        ses__query_keep(&rows.query, ses__stored_event_read(&plan->event, &event,
                                                            STORED_CONTENT | STORED_COMPACTION, error));
    return ses__event_rows_close(&rows);
}

/* The summary of a compaction is sent as long as no other covers all of it: its own time does not count. */
static int look_whether_covered(struct cover_walk *walk, const struct event_row *row, bool *covered,
                                ses_error *error)
{
    struct coverage *coverage = &walk->coverage;
    const struct compaction *compaction = &walk->plan->event.compaction;

    *covered = !ses__live_has(&walk->plan->live, row->seq);
    if (*covered)
        return SES_OK;
    const int code = read_compaction_event(walk, row->seq, error);
    if (code != SES_OK)
        return code;
    if (!ses__compacts(compaction)) { /* an ordinary event, as in a context */
        *covered = ses__coverage_has(coverage, row->time_us, row->time_us);
        return SES_OK;
    }
    *covered = ses__coverage_has(coverage, compaction->from_us, compaction->to_us);
    bool ok = ses__coverage_add(coverage, (struct coverage_range){compaction->from_us, compaction->to_us, 0});
    return ok ? SES_OK : ses__error_nomem(error);
}

/* ---------------------------------------------------------------------------------------------- the goal */

static int64_t lower(int64_t goal, int64_t seq)
{
    return seq < goal ? seq : goal;
}

/* Up to where time and number of the events let prune, and, with `cover`, what covers them. */
static int lower_goal_by_events(struct prune_plan *plan, struct db *db, struct cover_walk *cover,
                                ses_error *error)
{
    const struct prune_op *op = plan->op;
    const struct session_row *row = &plan->row;
    const bool keeps = (op->which & SES_PRUNE_KEEP) != 0;
    const bool by_time = (op->which & SES_PRUNE_BEFORE) != 0;
    struct event_rows rows;
    struct event_row event;
    int64_t met = 0;

    ses__event_rows_open(&rows, db, row->id, row->base_seq + 1, row->last_seq, WALK_BACKWARD_TIMES, error);
    while ((cover || by_time || met < op->keep) && ses__event_rows_next(&rows, &event)) {
        bool covered = true;
        met++;
        if (cover)
            ses__query_keep(&rows.query, look_whether_covered(cover, &event, &covered, error));
        if (!covered || (keeps && met <= op->keep) || (by_time && event.time_us >= op->before_us))
            plan->goal = lower(plan->goal, event.seq - 1);
    }
    return ses__event_rows_close(&rows);
}

static int find_goal(struct prune_plan *plan, struct db *db, ses_error *error)
{
    const struct prune_op *op = plan->op;
    const struct session_row *row = &plan->row;
    struct cover_walk cover;

    plan->goal = row->last_seq;
    if (op->session.known)
        plan->goal = lower(plan->goal, op->session.known->last_seq);
    if (op->which & SES_PRUNE_SEQ)
        plan->goal = lower(plan->goal, op->last_seq);
    if (!(op->which & SES_PRUNE_COMPACTED))
        return op->which & (SES_PRUNE_KEEP | SES_PRUNE_BEFORE) ? lower_goal_by_events(plan, db, NULL, error)
                                                               : SES_OK;
    cover_begin(&cover, plan, db, error);
    int code = lower_goal_by_events(plan, db, &cover, error);
    int ended = cover_end(&cover);
    return code != SES_OK ? code : ended;
}

/* --------------------------------------------------------------------------- events that belong together */

/* True if this step is to prune the event, as far as is known. */
static bool note_target(struct prune_plan *plan, const struct event_row *row)
{
    if (plan->first == 0)
        plan->first = row->seq;
    if (row->seq > plan->goal || plan->full)
        return false;
    plan->target = row->seq;
    plan->events++;
    return true;
}

/* Each body is read at most once, for what is wanted of it: the bonds of an event, and what it changes if
 * this step is to prune it. */
static int plan_event(struct prune_plan *plan, const struct event_row *row, ses_error *error)
{
    const bool is_new = row->seq > plan->known;
    const bool calls = is_new && ses__bonds_want(&plan->bonds, row) && ses__stored_event_may_call(row);
    const bool is_target = note_target(plan, row);
    const bool changes = is_target && ses__stored_event_may_change(row);
    const size_t named = plan->artifacts.count;
    const struct stored_event *functions = calls ? &plan->event : NULL;
    int code = SES_OK;

    ses__arena_reset(&plan->arena);
    if (calls || changes)
        code = ses__stored_event_read(&plan->event, row,
                                      (calls ? STORED_CONTENT : 0U) | (changes ? STORED_DELTA : 0U), error);
    if (code == SES_OK && changes)
        code = ses__replay_stage(&plan->replay, &plan->event.delta, row->seq, error);
    if (code == SES_OK && is_target)
        code = ses__named_artifacts_add_event(&plan->artifacts, row, error);
    if (changes || plan->artifacts.count > named)
        plan->staged_bytes += row->body.len;
    plan->full = plan->events >= plan->op->limit || plan->staged_bytes >= MAX_STAGED_BYTES;
    if (code != SES_OK || !is_new)
        return code;
    plan->known = row->seq;
    plan->looked++;
    return ses__bonds_add_event(&plan->bonds, row, functions, ses__live_has(&plan->live, row->seq))
               ? SES_OK
               : ses__error_nomem(error);
}

static int plan_events(struct prune_plan *plan, struct db *db, int64_t first, int64_t last, ses_error *error)
{
    struct event_rows rows;
    struct event_row event;

    ses__event_rows_open(&rows, db, plan->row.id, first, last, WALK_FORWARD, error);
    while (!(plan->full && plan->known >= last) && ses__event_rows_next(&rows, &event))
        ses__query_keep(&rows.query, plan_event(plan, &event, error));
    return ses__event_rows_close(&rows);
}

/* When all events were added. */
static int plan_rewinds(struct prune_plan *plan, struct db *db, ses_error *error)
{
    struct mark_rows rows;
    struct mark_row mark;

    ses__mark_rows_open(&rows, db, plan->row.id, plan->row.last_seq, error);
    while (ses__mark_rows_next(&rows, &mark)) {
        if (mark.kind == MARK_REWIND && mark.target > 0 &&
            !ses__bonds_add(&plan->bonds, mark.target, mark.seq))
            ses__query_keep(&rows.query, ses__error_nomem(error));
    }
    const int code = ses__query_end(&rows.query);
    return code == SES_OK && !ses__bonds_settle(&plan->bonds) ? ses__error_nomem(error) : code;
}

int ses__prune_plan_make(struct prune_plan *plan, struct db *db, const struct session_row *row,
                         ses_error *error)
{
    const struct prune_op *op = plan->op;
    const ses_allocator *allocator = plan->allocator;

    ses__prune_plan_free(plan);
    int code = ses__prune_plan_init(plan, op, allocator, error);
    plan->row = *row;
    plan->target = row->base_seq;
    plan->known = row->base_seq;
    if (code == SES_OK)
        code = ses__load_live(db, row->id, row->last_seq, &plan->live, error);
    if (code == SES_OK)
        code = find_goal(plan, db, error);
    plan->bonds.goal = plan->goal;
    if (code == SES_OK && plan->goal > row->base_seq)
        code = plan_events(plan, db, row->base_seq + 1, row->last_seq, error);
    if (code == SES_OK)
        code = plan_rewinds(plan, db, error);
    return code;
}

int ses__prune_plan_go_on(struct prune_plan *plan, struct db *db, ses_error *error)
{
    const int64_t base_seq = plan->row.base_seq;

    ses__replay_free(&plan->replay);
    int code = ses__replay_init(&plan->replay, plan->allocator, plan->op->seed, true, error);
    ses__named_artifacts_reset(&plan->artifacts);
    plan->first = 0;
    plan->target = base_seq;
    plan->events = 0;
    plan->staged_bytes = 0;
    plan->full = false;
    return code == SES_OK ? plan_events(plan, db, base_seq + 1, plan->goal, error) : code;
}

/* The newest mark may be a rewind, by which other events are live. */
static int has_new_marks(const struct prune_plan *plan, struct db *db, const struct session_row *row,
                         bool *has, ses_error *error)
{
    struct mark_rows rows;
    struct mark_row mark;

    ses__mark_rows_open(&rows, db, row->id, row->last_seq, error);
    *has = ses__mark_rows_next(&rows, &mark) && mark.seq > plan->row.last_seq;
    return ses__query_end(&rows.query);
}

int ses__prune_plan_update(struct prune_plan *plan, struct db *db, const struct session_row *row, bool *fits,
                           ses_error *error)
{
    const int64_t known = plan->row.last_seq;
    bool marked = false;
    int code = has_new_marks(plan, db, row, &marked, error);

    *fits = ses__row_epoch(&plan->row) == ses__row_epoch(row) && row->last_seq >= known && !marked;
    if (code != SES_OK || !*fits)
        return code;
    if (row->last_seq > known)
        code = plan_events(plan, db, known + 1, row->last_seq, error);
    if (code == SES_OK && row->last_seq > known)
        code = plan_rewinds(plan, db, error);
    plan->row = *row;
    return code;
}

int64_t ses__prune_plan_end(const struct prune_plan *plan, int64_t *whole)
{
    const struct bonds *bonds = &plan->bonds;
    int64_t end;

    *whole = plan->row.base_seq;
    if (plan->first == 0 || plan->first > plan->goal)
        return plan->row.base_seq;
    *whole = ses__bonds_before(bonds, plan->goal);
    end = ses__bonds_before(bonds, plan->target);
    if (end < plan->first) /* a step always makes progress, if it can */
        end = ses__bonds_after(bonds, plan->first);
    return end <= plan->goal ? end : plan->row.base_seq;
}
