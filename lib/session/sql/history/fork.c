/* Makes a new session from the log of another up to a point. The state there is found out in a read; then the
 * events are copied. */
#include <string.h>

#include "base/error.h"
#include "model/event/timestamp.h"
#include "session/followers.h"
#include "session/session.h"
#include "session/sql/history/planned.h"
#include "storage/sql/rows/parts.h"
#include "storage/sql/session/jobs.h"

struct fork_run {
    const struct session_call *call;
    struct limits limits;
    struct point point;
    const ses_key *to;
    int64_t now_us;
    int64_t created_us;
    int64_t expires_us; /* INT64_MAX: never; INT64_MIN: when the original does */
    struct range range;
    struct snapshot *snapshot; /* a new one, filled with the new session; NULL: nothing is read */
    /* while it runs */
    struct db *db;
    struct session_row source;
    struct session_row fork;
    int64_t seq;                      /* the point */
    struct replay replay;             /* the state there, or only what the log begins with */
    struct named_artifacts artifacts; /* only by the events after it */
};

/* -------------------------------------------------------------------------------------- in transactions */

static bool is_whole(const struct fork_run *run)
{
    return run->seq == run->source.last_seq;
}

/* As many events as the row of the source lets expect; without gaps in the numbers that is known exactly.
 * (There are no more than there are numbers.) */
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
    if (count > run->call->store->max_session_events)
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
    const ses_key *key = run->to;
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
    const struct artifact_owner from = {run->source.user_id, ses__span_of(run->call->key.session)};
    const struct artifact_owner to = {run->fork.user_id, ses__span_of(run->to->session)};
    int code = refuse_early_artifacts(run, &to, error);

    if (code == SES_OK)
        code = ses__artifacts_copy(run->db, &from, &to, run->now_us, error);
    return code == SES_OK
               ? ses__named_artifacts_remove(&run->artifacts, run->db, to.user_id, run->to->session, error)
               : code;
}

static int copy_log(struct fork_run *run, ses_error *error)
{
    struct session_row *fork = &run->fork;
    const ses_key *parent = &run->call->key;
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
        code = ses__origin_ensure(run->db, run->source.id, error);
    if (code == SES_OK)
        code = ses__query_do(run->db, STATEMENT_DETAILS_COPY, error,
                             VALUES(INT(run->source.id), INT(fork->id), STRING(parent->user),
                                    STRING(parent->session), INT(fork->last_seq)));
    if (code == SES_OK)
        code = copy_artifacts(run, error);
    fork->changed_us = run->now_us;
    fork->details = (run->source.details & (DETAIL_TITLE | DETAIL_LABELS | DETAIL_CHILD)) | DETAIL_PARENT;
    return code == SES_OK ? ses__session_fill(run->db, fork, error) : code;
}

/* At the end of the log the own state can be copied; at an earlier point it is replayed from the log. The
 * initial state is read in both cases, so that nothing damaged is copied. */
static int plan_fork(struct db *db, void *context, const struct session_row *row, ses_error *error)
{
    struct fork_run *run = context;

    run->source = *row;
    if (row->details & DETAIL_MEMORY)
        return ses__error_set(error, SES_INVALID, "memory cannot be forked");
    ses__replay_free(&run->replay);
    int code = ses__replay_init(&run->replay, db->allocator, run->call->store->seed, false, error);
    if (code == SES_OK)
        code = ses__log_find_point(db, &run->call->ref, row, &run->point, &run->seq, NULL, error);
    if (code == SES_OK)
        code = ses__log_replay(db, row, is_whole(run) ? row->base_seq : run->seq, &run->replay, error);
    if (code == SES_OK)
        code =
            ses__named_artifacts_read_only(&run->artifacts, db, row, run->call->key.session, run->seq, error);
    return code;
}

static int write_fork(struct db *db, void *context, const struct session_row *row, ses_error *error)
{
    struct fork_run *run = context;
    const struct session_times times = {run->now_us, run->created_us,
                                        run->expires_us == INT64_MIN ? row->expires_us : run->expires_us};

    run->db = db;
    run->source = *row; /* title and labels may have changed */
    int code = ses__session_find(db, run->to, &run->fork, error);
    if (code == SES_OK)
        return ses__refuse_existing(run->to, error);
    if (code == SES_NOTFOUND)
        code = ses__session_add(db, run->to, &times, &run->fork, error);
    if (code == SES_OK)
        code = copy_log(run, error);
    return code == SES_OK && run->snapshot
               ? ses__load_snapshot(db, run->snapshot, run->to, &run->fork, &run->range, error)
               : code;
}

/* -------------------------------------------------------------------------------------------- the calls */

/* Completes `to`: makes an id if none was given, in `made_id`. */
static int take_target(const struct session_call *call, const ses_key *to, unsigned flags, ses_key *target,
                       char *made_id, ses_error *error)
{
    int code = SES_OK;

    *target = to ? *to : (ses_key){call->key.app, call->key.user, NULL};
    if (!target->session) {
        code = ses__store_make_id(call->store, made_id, error);
        target->session = made_id;
    }
    if (code == SES_OK)
        code = ses__check_key(target, error);
    if (code != SES_OK)
        return code;
    if (strcmp(target->app, call->key.app) != 0)
        return ses__error_set(error, SES_INVALID, "a fork belongs to the app of its session, \"%.100s\"",
                              call->key.app);
    if (strcmp(target->user, call->key.user) != 0 && !(flags & SES_FORK_OTHER_USER))
        return ses__error_set(error, SES_INVALID,
                              "a fork for another user than \"%.100s\" needs SES_FORK_OTHER_USER",
                              call->key.user);
    return SES_OK;
}

static int take_fork_options(struct fork_run *run, const ses_fork_options *given, unsigned *flags,
                             ses_error *error)
{
    ses_store *store = run->call->store;
    ses_fork_options options;
    int code = ses__take_flagged(&options, sizeof options, given, SES_FORK_OTHER_USER, "fork options", error);
    if (code != SES_OK)
        return code;
    *flags = options.flags;
    run->limits = LIMITS_OF(store, options);
    run->now_us = ses__store_now(store);
    run->created_us = options.created_us ? *options.created_us : run->now_us;
    if (run->created_us < TIMESTAMP_MIN || run->created_us > TIMESTAMP_MAX)
        return ses__error_set(error, SES_INVALID, "the time of creation is outside the years 0 to 9999");
    code = ses__take_expiry(options.expires_us, run->now_us, &run->expires_us, error);
    return code == SES_OK ? ses__range_take(options.range, &run->range, error) : code;
}

static int run_fork(struct fork_run *run, ses_error *error)
{
    ses_store *store = run->call->store;
    const struct planned planned = {.limits = &run->limits,
                                    .session = &run->call->ref,
                                    .plan = plan_fork,
                                    .write = write_fork,
                                    .context = run};
    int code = ses__replay_init(&run->replay, &store->allocator, store->seed, false, error);

    ses__named_artifacts_init(&run->artifacts, &store->allocator);
    if (code == SES_OK)
        code = ses__run_planned(store->storage, &planned, error);
    ses__named_artifacts_free(&run->artifacts);
    ses__replay_free(&run->replay);
    return code;
}

static int fork_log(const struct session_call *call, const ses_point *point, const ses_key *to,
                    const ses_fork_options *options, ses_session **fork, ses_error *error)
{
    char made_id[SES_ID_MAX + 1];
    ses_key target;
    unsigned flags = 0;
    ses_session *fresh = NULL;
    struct fork_run run = {.call = call, .to = &target, .expires_us = INT64_MIN};
    int code = ses__point_take(point, &run.point, error);

    if (code == SES_OK)
        code = take_fork_options(&run, options, &flags, error);
    if (code == SES_OK)
        code = take_target(call, to, flags, &target, made_id, error);
    if (code == SES_OK && fork)
        code = ses__session_new(call->store, &target, &fresh, error);
    if (code != SES_OK)
        return code;
    run.snapshot = fresh ? &fresh->snapshot : NULL;
    code = run_fork(&run, error);
    ses__followers_notify(call->store, code, &target);
    if (code == SES_OK && fork)
        *fork = fresh;
    else
        ses_session_close(fresh);
    return code;
}

static int fork_session(const struct target *target, const ses_point *point, const ses_key *to,
                        const ses_fork_options *options, ses_session **fork, ses_error *error)
{
    struct session_call call;

    if (fork)
        *fork = NULL;
    const int code = ses__call_begin(&call, target, error);
    return code == SES_OK ? ses__call_end(&call, fork_log(&call, point, to, options, fork, error)) : code;
}

int ses_fork(ses_session *session, const ses_point *point, const ses_key *to, const ses_fork_options *options,
             ses_session **fork, ses_error *error)
{
    return fork_session(ON(session), point, to, options, fork, error);
}

int ses_fork_by_key(ses_store *store, const ses_key *key, const ses_point *point, const ses_key *to,
                    const ses_fork_options *options, ses_session **fork, ses_error *error)
{
    return fork_session(AT(store, key), point, to, options, fork, error);
}
