/* Takes back the events after a point of a log, and takes such a rewind back: the event is made in a read,
 * and then stored. */
#include "model/rewind.h"

#include <string.h>

#include "base/error.h"
#include "model/event/event.h"
#include "session/followers.h"
#include "session/session.h"
#include "session/sql/history/planned.h"
#include "session/temp.h"
#include "storage/sql/session/filters.h"
#include "storage/sql/session/jobs.h"

/* The prefix is the ADK's, as is the form of the event. */
static const char INVOCATION_PREFIX[] = "e-";

struct rewind_call {
    struct session_call *at;
    bool redoes; /* the newest rewind is taken back; the point does not count */
    struct point point;
    char event_id[SES_ID_MAX + 1];                             /* of the new event ... */
    char invocation_id[sizeof INVOCATION_PREFIX + SES_ID_MAX]; /* ... and its invocation */
    int64_t time_us;
    struct span artifact_delta; /* JSON */
    struct append_op append;    /* of the one event, which the plan drafts */
    /* The plan. A rewind takes back every event from the first one of an invocation on. */
    struct db *db;
    const struct session_row *row;
    struct arena arena;
    int64_t first; /* 0: nothing comes after the point */
    struct span invocation;
    bool begins; /* its first event is known to be that one */
    struct restored_artifacts artifacts;
    struct event_draft draft;
    bool already; /* there is nothing to take back */
    /* out */
    ses_appended result; /* status SES_UNCHANGED: nothing was stored */
};

/* ------------------------------------------------------------------------------------------------ redo */

/* `target` is what that event leads to, if it is a rewind, and otherwise below 0. */
static int find_rewind(const struct rewind_call *call, int64_t seq, int64_t *target, ses_error *error)
{
    struct mark_rows rows;
    struct mark_row mark;

    ses__mark_rows_open(&rows, call->db, call->row->id, seq, error);
    const bool found = ses__mark_rows_next(&rows, &mark) && mark.seq == seq && mark.kind == MARK_REWIND;
    *target = found ? mark.target : -1;
    return ses__query_end(&rows.query);
}

/* The walk over what is live, from the newest event on, past rewinds that are redos themselves. The point is
 * the end of the log if a live event comes first: there is nothing to redo. */
static int find_undone(const struct rewind_call *call, int64_t *point, ses_error *error)
{
    int64_t last = call->row->last_seq;

    for (;;) {
        int64_t seq = 0;
        int64_t target = -1;
        int64_t undone = -1; /* by a redo */
        int code = ses__event_last(call->db, call->row->id, call->row->base_seq + 1, last, &seq, error);
        if (code == SES_OK)
            code = find_rewind(call, seq, &target, error);
        if (code == SES_OK && target > 0)
            code = find_rewind(call, target, &undone, error);
        *point = target >= 0 ? seq - 1 : call->row->last_seq;
        if (code != SES_OK || undone < 0)
            return code;
        last = target - 1; /* a mark leads to an event before it */
    }
}

/* ------------------------------------------------------------------------------------------- the point */

/* The event after the point is what the new one names. */
static int find_next(struct rewind_call *call, int64_t point, ses_error *error)
{
    struct event_rows rows;
    struct event_row event;

    ses__event_rows_open(&rows, call->db, call->row->id, point + 1, call->row->last_seq, WALK_FORWARD, error);
    if (ses__event_rows_next(&rows, &event)) {
        const struct span id = event.invocation_id;
        call->first = event.seq;
        call->invocation = (struct span){ses__arena_text(&call->arena, id.ptr, id.len), id.len};
        if (!call->invocation.ptr)
            ses__query_keep(&rows.query, ses__error_nomem(error));
    }
    return ses__event_rows_close(&rows);
}

/* An event that names an invocation takes back all from the first event of it on. */
static int check_next(struct rewind_call *call, ses_error *error)
{
    int64_t earlier = 0;

    if (call->invocation.len == 0)
        return ses__error_set(
            error, SES_INVALID,
            "event %lld, the first after the point, has no invocation id by which a rewind could name it",
            (long long)call->first);
    if (call->begins)
        return SES_OK;
    int code = ses__invocation_find(call->db, call->row, call->invocation, call->row->base_seq + 1,
                                    call->first - 1, &earlier, error);
    return code != SES_OK || earlier == 0
               ? code
               : ses__error_set(
                     error, SES_INVALID,
                     "event %lld, the first after the point, is of the invocation \"%.200s\", which already has event %lld before it: a rewind would take that back too",
                     (long long)call->first, call->invocation.ptr, (long long)earlier);
}

/* Where no turn is left, the last turn is taken back already. */
static int find_point(struct rewind_call *call, int64_t *point, ses_error *error)
{
    int code = ses__log_find_point(call->db, &call->append.session, call->row, &call->point, point,
                                   &call->begins, error);

    if (code == SES_NOTFOUND && call->point.kind == SES_POINT_LAST_TURN) {
        ses__error_clear(error);
        *point = call->row->last_seq;
        code = SES_OK;
    }
    return code;
}

static int find_first(struct rewind_call *call, ses_error *error)
{
    int64_t point = 0;
    int code = call->redoes ? find_undone(call, &point, error) : find_point(call, &point, error);

    if (code == SES_OK)
        code = find_next(call, point, error);
    return code == SES_OK && call->first > 0 ? check_next(call, error) : code;
}

/* ------------------------------------------------------------------------------------------- the event */

/* Both sets are the same up to the number before the one that is returned: there they have the same gaps. */
static int64_t differ_from(const struct live *now, const struct live *then)
{
    size_t a = now->count;
    size_t b = then->count;

    while (a > 0 && b > 0 && now->gaps[a - 1].first == then->gaps[b - 1].first &&
           now->gaps[a - 1].last == then->gaps[b - 1].last) {
        a--;
        b--;
    }
    const int64_t first_now = a > 0 ? now->gaps[a - 1].first : MAX_SEQ;
    const int64_t first_then = b > 0 ? then->gaps[b - 1].first : MAX_SEQ;
    return first_now < first_then ? first_now : first_then;
}

/* Looks at each event that may be live in one of them only: numbers that are not there count for nothing. */
static int compare_live(const struct rewind_call *call, const struct live *now, const struct live *then,
                        bool *same, ses_error *error)
{
    const struct session_row *row = call->row;
    struct event_rows rows;
    struct event_row event;

    int64_t from = differ_from(now, then);

    if (from > call->first)
        from = call->first;
    *same = true;
    ses__event_rows_open(&rows, call->db, row->id, from > row->base_seq ? from : row->base_seq + 1,
                         row->last_seq, WALK_BACKWARD_TIMES, error);
    while (*same && ses__event_rows_next(&rows, &event))
        *same = ses__live_has(now, event.seq) == (event.seq < call->first && ses__live_has(then, event.seq));
    return ses__event_rows_close(&rows);
}

/* True if the events live now are those that were live before the first event to undo. */
static int is_live_already(const struct rewind_call *call, bool *already, ses_error *error)
{
    struct live now;
    struct live then;

    ses__live_init(&now, call->db->allocator);
    ses__live_init(&then, call->db->allocator);
    int code = ses__load_live(call->db, call->row->id, call->row->last_seq, &now, error);
    if (code == SES_OK)
        code = ses__load_live(call->db, call->row->id, call->first - 1, &then, error);
    if (code == SES_OK)
        code = compare_live(call, &now, &then, already, error);
    ses__live_free(&then);
    ses__live_free(&now);
    return code;
}

static int draft_from(const struct rewind_call *call, struct replay *then, struct state *now,
                      struct event_draft *draft, ses_error *error)
{
    const struct rewind_event event = {
        .id = ses__span_of(call->event_id),
        .invocation_id = ses__span_of(call->invocation_id),
        .before = call->invocation,
        .before_seq = call->first,
        .time_us = call->time_us,
        .artifact_delta = call->artifact_delta.ptr ? call->artifact_delta : call->artifacts.delta,
    };
    int code = ses__log_replay(call->db, call->row, call->first - 1, then, error);

    if (code == SES_OK)
        code = ses__load_scope(call->db, now, SCOPE_SESSION, call->row, error);
    return code == SES_OK ? ses__rewind_draft(draft, &event, &then->state, now, error) : code;
}

static int make_draft(const struct rewind_call *call, struct event_draft *draft, ses_error *error)
{
    const ses_allocator *allocator = call->db->allocator;
    struct replay then;
    struct state now;
    int code = ses__replay_init(&then, allocator, call->at->store->seed, false, error);
    int inited = ses__state_init(&now, allocator, call->at->store->seed, error);

    if (code == SES_OK)
        code = inited;
    if (code == SES_OK)
        code = draft_from(call, &then, &now, draft, error);
    ses__state_free(&now);
    ses__replay_free(&then);
    return code;
}

/* ------------------------------------------------------------------------------------------- the plan */

static int plan_draft(struct rewind_call *call, ses_error *error)
{
    int code = find_first(call, error);

    call->already = call->first == 0;
    if (code == SES_OK && call->first > 0 && !call->artifact_delta.ptr)
        code = ses__restored_artifacts_plan(&call->artifacts, call->db, call->row, call->first, error);
    if (code == SES_OK && call->first > 0)
        code = make_draft(call, &call->draft, error);
    if (code == SES_OK && call->first > 0 && call->draft.delta.count == 0 && call->artifacts.count == 0)
        code = is_live_already(call, &call->already, error);
    return code;
}

static int plan_rewind(struct db *db, void *context, const struct session_row *row, ses_error *error)
{
    struct rewind_call *call = context;
    const struct append_op *append = &call->append;

    if (append->checks_version && !append->anyway && row->version != append->version)
        return ses__log_set_stale_error(row, append->version, "SES_ANYWAY", error);
    ses__arena_reset(&call->arena);
    ses__event_draft_free(&call->draft);
    ses__event_draft_init(&call->draft, db->allocator);
    call->db = db;
    call->row = row;
    call->first = 0;
    call->begins = false;
    return plan_draft(call, error);
}

/* Stores no event when there is nothing to take back; an outdated handle catches up nevertheless. */
static int write_rewind(struct db *db, void *context, const struct session_row *row, ses_error *error)
{
    struct rewind_call *call = context;
    struct append_op *append = &call->append;

    ses__advance_free(&append->advance); /* of an earlier run */
    append->before = *row;
    append->row = *row;
    call->result = (ses_appended){.status = SES_UNCHANGED};
    append->drafts = &call->draft;
    append->results = &call->result;
    append->count = call->already ? 0 : 1;
    append->artifacts = call->artifacts.count > 0 ? &call->artifacts.rows : NULL;
    int code = ses__append_store(db, append, error);
    if (code == SES_EXISTS)
        code = ses__error_set(error, SES_INVALID,
                              "the store's make_id has made the id of an event that exists: \"%.200s\"",
                              call->event_id);
    return code;
}

/* -------------------------------------------------------------------------------------- the arguments */

/* How deep `actions.artifactDelta` is nested in an event. */
enum { ARTIFACTS_DEPTH = 2 };

static int take_artifacts(struct rewind_call *call, const ses_rewind_options *options, ses_error *error)
{
    struct span *artifacts = &call->artifact_delta;
    struct json_reader reader;
    int code = ses__check_text(call->at->store, options->artifact_delta, options->artifact_delta_len,
                               "artifact_delta", artifacts, error);

    if (code == SES_OK)
        code = ses__json_start_object(&reader, *artifacts, "it", error);
    if (code == SES_OK)
        code = ses__json_check_within(artifacts->ptr, artifacts->len, ARTIFACTS_DEPTH, NULL, error);
    if (code != SES_OK && error) {
        ses__error_prefix(error, "rewind options: `artifact_delta`: ");
        error->offset = -1; /* it would be taken for an offset in the event */
    }
    return code;
}

static int take_rewind_options(struct rewind_call *call, const ses_rewind_options *given, ses_error *error)
{
    struct append_op *append = &call->append;
    ses_rewind_options options;
    int code = ses__take_flagged(&options, sizeof options, given, SES_ANYWAY | SES_AT_VERSION,
                                 "rewind options", error);
    if (code == SES_OK)
        code = ses__call_take_version(call->at, options.flags, options.version, "rewind options", error);
    if (code != SES_OK)
        return code;
    append->limits = LIMITS_OF(call->at->store, options);
    append->anyway = call->at->anyway;
    append->checks_version = call->at->checks_version;
    append->version = call->at->version;
    return options.artifact_delta ? take_artifacts(call, &options, error) : SES_OK;
}

/* Makes the ids of the new event. */
static int prepare_event(struct rewind_call *call, ses_error *error)
{
    const size_t prefix_len = sizeof INVOCATION_PREFIX - 1;
    ses_store *store = call->at->store;
    int code = ses__store_make_id(store, call->event_id, error);

    memcpy(call->invocation_id, INVOCATION_PREFIX, sizeof INVOCATION_PREFIX);
    if (code == SES_OK)
        code = ses__store_make_id(store, call->invocation_id + prefix_len, error);
    return code;
}

/* The caller gets the id even if it is not known whether the event is stored. */
static void fill_result(struct rewind_call *call, int code)
{
    const size_t len = strlen(call->event_id);
    ses_appended *result = &call->result;

    if (code == SES_UNKNOWN)
        *result = (ses_appended){.status = SES_UNKNOWN};
    if (result->status != SES_UNCHANGED && len < sizeof result->made_id)
        memcpy(result->made_id, call->event_id, len + 1);
    if (code == SES_OK) {
        result->version = call->append.row.version;
        result->updated_us = call->append.row.updated_us;
    }
}

/* Plans again if others have saved versions of the same artifacts in the meantime. */
static int run_rewind(struct rewind_call *call, ses_error *error)
{
    ses_store *store = call->at->store;
    const struct planned planned = {.limits = &call->append.limits,
                                    .session = &call->append.session,
                                    .plan = plan_rewind,
                                    .write = write_rewind,
                                    .looks_far = true,
                                    .context = call,
                                    .bytes = call->artifact_delta.len};
    int code = SES_BUSY;

    ses__arena_init(&call->arena, &store->allocator);
    ses__event_draft_init(&call->draft, &store->allocator);
    ses__restored_artifacts_init(&call->artifacts, call->at->key.session, &store->allocator);
    for (int tries = 0; code == SES_BUSY && tries < MAX_OUTRUN && (tries == 0 || call->artifacts.rows.outrun);
         tries++)
        code = ses__run_planned(store->storage, &planned, error);
    call->append.drafts = NULL;
    ses__restored_artifacts_free(&call->artifacts);
    ses__event_draft_free(&call->draft);
    ses__arena_free(&call->arena);
    return code;
}

/* The event begins another invocation, so the temp: values of the last one end. */
static int store_rewind(struct rewind_call *call, ses_error *error)
{
    struct event_draft draft;
    struct temp_update temp;

    ses__event_draft_init(&draft, &call->at->store->allocator);
    draft.row.invocation_id = (struct span){call->invocation_id, strlen(call->invocation_id)};
    int code = ses__temp_stage(&temp, call->at->session, &draft, 1, error);
    if (code == SES_OK) {
        code = run_rewind(call, error);
        ses__followers_notify(call->at->store, code, &call->at->key);
        if (code == SES_OK && call->at->session) {
            ses__advance_apply(&call->append.advance);
            if (call->result.status == SES_OK)
                ses__temp_apply(&temp, 0);
        }
        ses__advance_free(&call->append.advance);
    }
    ses__temp_free(&temp);
    ses__event_draft_free(&draft);
    return code;
}

static int rewind_or_redo(struct session_call *at, const ses_point *point, bool redoes,
                          const ses_rewind_options *options, ses_appended *appended, ses_error *error)
{
    const int64_t now_us = ses__store_now(at->store);
    struct rewind_call call = {.at = at,
                               .redoes = redoes,
                               .time_us = now_us,
                               .append = {.max_events = at->store->max_session_events,
                                          .now_us = now_us,
                                          .session = at->ref,
                                          .snapshot = at->snapshot}};
    int code = redoes ? SES_OK : ses__point_take(point, &call.point, error);

    if (code == SES_OK)
        code = take_rewind_options(&call, options, error);
    if (code == SES_OK)
        code = prepare_event(&call, error);
    if (code == SES_OK)
        code = store_rewind(&call, error);
    if (code != SES_OK && code != SES_UNKNOWN)
        return code;
    fill_result(&call, code);
    if (appended)
        *appended = call.result;
    return code == SES_OK ? call.result.status : code;
}

/* -------------------------------------------------------------------------------------------- the calls */

static int rewind_log(const struct target *target, const ses_point *point, bool redoes,
                      const ses_rewind_options *options, ses_appended *appended, ses_error *error)
{
    struct session_call call;
    const int code = ses__call_begin(&call, target, error);

    return code == SES_OK
               ? ses__call_end(&call, rewind_or_redo(&call, point, redoes, options, appended, error))
               : code;
}

int ses_rewind(ses_session *session, const ses_point *point, const ses_rewind_options *options,
               ses_appended *appended, ses_error *error)
{
    return rewind_log(ON(session), point, false, options, appended, error);
}

int ses_rewind_by_key(ses_store *store, const ses_key *key, const ses_point *point,
                      const ses_rewind_options *options, ses_appended *appended, ses_error *error)
{
    return rewind_log(AT(store, key), point, false, options, appended, error);
}

int ses_redo(ses_session *session, const ses_rewind_options *options, ses_appended *appended,
             ses_error *error)
{
    return rewind_log(ON(session), NULL, true, options, appended, error);
}

int ses_redo_by_key(ses_store *store, const ses_key *key, const ses_rewind_options *options,
                    ses_appended *appended, ses_error *error)
{
    return rewind_log(AT(store, key), NULL, true, options, appended, error);
}
