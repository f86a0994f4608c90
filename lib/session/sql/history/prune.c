/*
 * Deletes the oldest events of a session. A read transaction looks at the whole log to plan how far to prune.
 * The write transaction then looks only at the events that came since. One plan serves several transactions,
 * so that pruning a log in steps takes time in proportion to its length.
 */
#include "base/error.h"
#include "session/followers.h"
#include "session/session.h"
#include "session/sql/history/planned.h"
#include "storage/sql/rows/parts.h"
#include "storage/sql/session/family.h"
#include "storage/sql/session/jobs.h"

struct pruning {
    struct prune_op *op;
    struct prune_plan plan;
    bool goes_on;             /* the plan is good for a further step */
    int64_t deleted;          /* by all steps so far */
    int64_t index_events;     /* whose words they have removed */
    int64_t derived_left;     /* whose words may be left */
    int64_t forks_left;       /* sessions with copies of all that the plan prunes */
    struct session_row after; /* the last of them */
    bool more;
};

/* ------------------------------------------------------------------------------------------- the base */

static int write_base(struct db *db, int64_t session_id, const struct state *state, ses_error *error)
{
    const size_t count = ses__state_count(state);
    struct state_entry *const *entries = ses__state_sorted(state);

    int code = ses__query_do(db, STATEMENT_BASE_STATE_DELETE, error, VALUES(INT(session_id)));
    if (code == SES_OK && !entries)
        code = ses__error_nomem(error);
    for (size_t i = 0; i < count && code == SES_OK; i++) {
        const struct base_value value = {ses__state_entry_span(entries[i]),
                                         ses__state_entry_value(entries[i]), entries[i]->seq};
        code = ses__base_add(db, session_id, &value, 1, error);
    }
    return code;
}

/* Gives `base` the versions at the base after the event. */
static int find_base_artifacts(struct db *db, const struct prune_plan *plan, const struct session_row *row,
                               int64_t seq, struct named_artifacts *base, bool *known, ses_error *error)
{
    struct event_rows rows;
    struct event_row event;
    int code = ses__named_artifacts_add_base(base, db, row, known, error);

    for (size_t i = 0; i < plan->artifacts.count && code == SES_OK; i++) {
        if (plan->artifacts.items[i].seq <= seq)
            code = ses__named_artifacts_add(base, plan->artifacts.items[i], error);
    }
    if (code != SES_OK || seq <= plan->target)
        return code;
    ses__event_rows_open(&rows, db, row->id, plan->target + 1, seq, WALK_FORWARD_BODIES, error);
    while (ses__event_rows_next(&rows, &event))
        ses__query_keep(&rows.query, ses__named_artifacts_add_event(base, &event, error));
    return ses__event_rows_close(&rows);
}

/* Moves the base to the state after the event. A step can go beyond its target. */
static int move_base(struct db *db, struct prune_plan *plan, const struct session_row *row, int64_t seq,
                     ses_error *error)
{
    struct replay *replay = &plan->replay;
    int code = ses__log_replay(db, row, row->base_seq, replay, error);

    if (code == SES_OK)
        code = ses__replay_apply_staged(replay, seq, error);
    if (code == SES_OK)
        code = ses__log_replay_events(db, row, plan->target + 1, seq, replay, error);
    return code == SES_OK ? write_base(db, row->id, &replay->state, error) : code;
}

/* Moves the base with its artifacts, whose versions are read before the base's rows are written anew. */
static int move_whole_base(struct db *db, struct pruning *own, const struct session_row *row, int64_t seq,
                           ses_error *error)
{
    const char *session = own->op->session.key->session;
    struct named_artifacts base;
    bool known = true;

    ses__named_artifacts_init(&base, db->allocator);
    int code = find_base_artifacts(db, &own->plan, row, seq, &base, &known, error);
    if (code == SES_OK)
        code = move_base(db, &own->plan, row, seq, error);
    if (code == SES_OK)
        code = ses__named_artifacts_write_base(&base, db, row, session, known, error);
    ses__named_artifacts_free(&base);
    return code;
}

/* ---------------------------------------------------------------------------------------- what goes */

static int write_row(struct db *db, const struct session_row *row, ses_error *error)
{
    /* There may have been more events than the session counts. */
    int code = ses__session_row_check(row, db, error);

    if (code != SES_OK)
        return code;
    return ses__change_one(db, STATEMENT_SESSION_PRUNE, "sessions", error,
                           VALUES(INT(row->id), INT(row->base_seq), INT(row->event_count)));
}

static int prune_to(struct db *db, struct pruning *own, int64_t seq, ses_error *error)
{
    struct prune_op *op = own->op;
    struct session_row *row = &op->row;
    int code = move_whole_base(db, own, row, seq, error);

    if (code == SES_OK)
        code = ses__events_remove(db, row, 0, seq, &op->deleted, error);
    if (code == SES_OK)
        code = ses__query_do(db, STATEMENT_EVENT_MARKS_PRUNE, error, VALUES(INT(row->id), INT(seq)));
    row->base_seq = seq;
    row->event_count -= op->deleted;
    return code == SES_OK ? write_row(db, row, error) : code;
}

/* -------------------------------------------------------------------------------------------- the step */

/* `*seq`: 0 if there is nothing to prune. Numbers that a cut has left out are no events. */
static int find_step(struct db *db, const struct prune_plan *plan, int64_t *seq, bool *more, ses_error *error)
{
    const struct session_row *row = &plan->row;
    int64_t whole = 0;
    int64_t left = 0;
    int64_t end = ses__prune_plan_end(plan, &whole);
    int code = ses__event_last(db, row->id, row->base_seq + 1, end, seq, error);

    if (code == SES_OK && *seq > 0)
        code = ses__event_last(db, row->id, end + 1, whole, &left, error);
    *more = left > 0;
    return code;
}

/* A further step continues with the plan only if the step before it was the only commit since. */
static int make_plan(struct pruning *own, struct db *db, const struct session_row *row, ses_error *error)
{
    const struct session_row *after = &own->after;
    const bool same = own->goes_on && row->base_seq == after->base_seq && row->version == after->version;

    own->goes_on = false;
    if (own->deleted == 0)
        return ses__prune_plan_make(&own->plan, db, row, error);
    return same ? ses__prune_plan_go_on(&own->plan, db, error) : SES_UNCHANGED;
}

/* SES_UNCHANGED if there is nothing to prune, or nothing more with this plan. */
static int plan_prune(struct db *db, void *context, const struct session_row *row, ses_error *error)
{
    struct pruning *own = context;
    struct prune_op *op = own->op;
    int64_t seq = 0;
    int code = make_plan(own, db, row, error);

    op->row = *row;
    if (code == SES_OK)
        code = find_step(db, &own->plan, &seq, &op->more, error);
    return code == SES_OK && seq == 0 ? SES_UNCHANGED : code;
}

static int update_prune(struct db *db, void *context, const struct session_row *row, bool *fits,
                        ses_error *error)
{
    struct pruning *own = context;
    return ses__prune_plan_update(&own->plan, db, row, fits, error);
}

static int write_prune(struct db *db, void *context, const struct session_row *row, ses_error *error)
{
    struct pruning *own = context;
    struct prune_op *op = own->op;
    int64_t whole = 0;
    int64_t seq = 0;

    op->deleted = 0;
    op->row = *row;
    int code = find_step(db, &own->plan, &seq, &op->more, error);
    if (code == SES_OK && seq > 0 && own->deleted == 0) {
        (void)ses__prune_plan_end(&own->plan, &whole);
        code =
            ses__copies_count(db, row, op->session.key, row->base_seq + 1, whole > seq ? whole : seq, error);
    }
    if (code != SES_OK)
        return code;
    return seq > 0 ? prune_to(db, own, seq, error) : SES_UNCHANGED;
}

static void note_step(struct pruning *own)
{
    const struct prune_op *op = own->op;

    if (own->deleted == 0)
        own->forks_left = op->erasure.erased.forks_left;
    own->deleted += op->deleted;
    own->index_events += op->erasure.erased.index_events;
    own->derived_left += op->erasure.erased.derived_left;
    own->after = op->row;
    own->more = op->more;
    own->plan.row = op->row;
    own->goes_on = true;
}

/* Steps until half of the events that were read are gone, so that all calls together read each about
 * twice. */
static int prune_in_steps(struct storage *storage, struct pruning *own, const struct planned *planned,
                          ses_error *error)
{
    const int64_t part = 2;
    struct prune_op *op = own->op;
    int code;

    do {
        code = ses__run_planned(storage, planned, error);
        if (code == SES_OK)
            note_step(own);
    } while (code == SES_OK && own->more && own->deleted * part < own->plan.looked);
    if (own->deleted == 0 || code == SES_UNKNOWN)
        return code;
    if (code < 0) { /* the next call says what failed, if it still does */
        ses__error_clear(error);
        own->more = true;
    }
    op->deleted = own->deleted;
    op->erasure.erased.events = own->deleted;
    op->erasure.erased.index_events = own->index_events;
    op->erasure.erased.derived_left = own->derived_left;
    op->erasure.erased.forks_left = own->forks_left;
    op->row = own->after;
    op->more = own->more;
    return SES_OK;
}

static int run_prune(struct storage *storage, struct prune_op *op, ses_error *error)
{
    struct pruning own = {.op = op};
    const struct planned planned = {.limits = &op->erasure.limits,
                                    .session = &op->session,
                                    .plan = plan_prune,
                                    .update = update_prune,
                                    .write = write_prune,
                                    .context = &own,
                                    .erasure = &op->erasure};
    int code = ses__prune_plan_init(&own.plan, op, storage->allocator, error);

    op->deleted = 0;
    op->erasure.more = &op->more;
    if (code == SES_OK)
        code = prune_in_steps(storage, &own, &planned, error);
    ses__prune_plan_free(&own.plan);
    return code;
}

/* -------------------------------------------------------------------------------------------- the calls */

static const int64_t DEFAULT_LIMIT = 10000;

static int take_prune_options(ses_store *store, const ses_prune_options *given, struct prune_op *op,
                              ses_erased **erased, ses_error *error)
{
    const unsigned known = SES_PRUNE_KEEP | SES_PRUNE_BEFORE | SES_PRUNE_SEQ | SES_PRUNE_COMPACTED;
    ses_prune_options own;
    int code = ses__take_options(&own, sizeof own, given, "prune options", error);

    if (code == SES_OK)
        code = ses__check_flags(own.which, known, "prune options, which", error);
    if (code == SES_OK)
        code = ses__check_flags(own.flags, SES_SECURE, "prune options", error);
    if (code != SES_OK)
        return code;
    if (own.which == 0)
        return ses__error_set(
            error, SES_INVALID,
            "prune options: `which` selects no events; set it to one or more of SES_PRUNE_*");
    if ((own.which & SES_PRUNE_KEEP) && own.keep < 0)
        return ses__error_set(error, SES_INVALID, "prune options: keep is negative");
    if ((own.which & SES_PRUNE_SEQ) && own.last_seq < 0)
        return ses__error_set(error, SES_INVALID, "prune options: last_seq is negative");
    if (own.limit < 0)
        return ses__error_set(error, SES_INVALID, "prune options: limit is negative");
    op->which = own.which;
    op->keep = own.which & SES_PRUNE_KEEP ? own.keep : 0;
    op->before_us = own.before_us;
    op->last_seq = own.last_seq;
    op->limit = own.limit > 0 ? own.limit : DEFAULT_LIMIT;
    op->erasure.secure = (own.flags & SES_SECURE) != 0;
    op->erasure.limits = LIMITS_OF(store, own);
    *erased = own.erased;
    return ses__receipt_begin(own.erased, &op->erasure, error);
}

/* Moves the handle's base. Its other contents stay, so it is as current as before. */
static void move_base_of_handle(struct snapshot *snapshot, const struct prune_op *op)
{
    struct session_row *row = &snapshot->row;

    row->base_seq = op->row.base_seq;
    row->event_count = op->row.version == row->version ? op->row.event_count : row->event_count - op->deleted;
}

static int prune(const struct target *target, const ses_prune_options *options, int64_t *deleted,
                 ses_error *error)
{
    struct prune_op op = {.deleted = 0};
    struct session_call call;
    ses_erased *erased = NULL;
    int code = ses__call_begin(&call, target, error);

    if (code != SES_OK)
        return code;
    op.session = call.ref;
    op.seed = call.store->seed;
    code = take_prune_options(call.store, options, &op, &erased, error);
    if (code == SES_OK)
        code = run_prune(call.store->storage, &op, error);
    ses__followers_notify(call.store, code, &call.key);
    if (code < 0)
        return ses__call_end(&call, code);
    if (call.snapshot && op.deleted > 0)
        move_base_of_handle(call.snapshot, &op);
    if (deleted)
        *deleted = op.deleted;
    ses__receipt_end(erased, &op.erasure);
    return ses__call_end(&call, op.more || op.erasure.unclean ? SES_MORE : code);
}

int ses_prune(ses_session *session, const ses_prune_options *options, int64_t *deleted, ses_error *error)
{
    return prune(ON(session), options, deleted, error);
}

int ses_prune_by_key(ses_store *store, const ses_key *key, const ses_prune_options *options, int64_t *deleted,
                     ses_error *error)
{
    return prune(AT(store, key), options, deleted, error);
}
