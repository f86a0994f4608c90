/* Cuts off the end of a log, and hands over what was cut. A read transaction computes the state that the rest
 * leads to; a write then deletes the end. */
#include "base/error.h"
#include "session/followers.h"
#include "session/session.h"
#include "session/sql/history/planned.h"
#include "storage/sql/session/filters.h"
#include "storage/sql/rows/parts.h"
#include "storage/sql/session/family.h"
#include "storage/sql/session/jobs.h"

/* Copies of events that are cut off. */
struct kept_events {
    struct arena arena;
    struct event_list events;
};

struct cutting {
    struct session_call *call;
    struct point point;
    struct erasure erasure;
    int64_t now_us;
    struct kept_events *kept; /* gets copies of the events, in order; NULL: none are kept */
    /* the plan */
    int64_t seq;                      /* the last event that stays */
    bool changes_state;               /* an event after it did */
    struct replay replay;             /* the state after it, if that is so */
    struct named_artifacts artifacts; /* only by the events after it */
    /* out */
    int64_t deleted; /* 0: there was nothing to cut, and nothing has changed */
    struct advance advance;
};

/* -------------------------------------------------------------------------------------- in transactions */

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
    int code = own->kept ? keep_events(db, row, seq + 1, own->kept, error) : SES_OK;

    if (code == SES_OK)
        code = ses__copies_count(db, row, &own->call->key, seq + 1, MAX_SEQ, error);
    if (code == SES_OK)
        code = ses__events_remove(db, row, seq + 1, MAX_SEQ, &own->deleted, error);
    if (code == SES_OK)
        code = ses__query_do(db, STATEMENT_EVENT_MARKS_CUT, error, VALUES(INT(row->id), INT(seq)));
    if (code != SES_OK || own->deleted == 0)
        return code;
    if (row->version >= MAX_VERSION)
        return ses__error_set(error, SES_LIMIT,
                              "the session is at the last version below 2^53; fork it, or start another");
    row->version++;
    row->changed_us = own->now_us;
    row->event_count -= own->deleted;
    if (row->event_count < 0 || row->event_count > seq - row->base_seq)
        return ses__refuse_event_count(db, row->id, error);
    code = ses__filters_keep(db, &before, row, error);
    if (code == SES_OK)
        code = ses__settled_keep(db, &before, row, seq, error);
    if (code == SES_OK && own->changes_state)
        code = ses__session_state_restore(db, row, &own->replay.state, error);
    if (code == SES_OK)
        code = ses__named_artifacts_remove(&own->artifacts, db, row->user_id, own->call->key.session, error);
    return code == SES_OK ? ses__session_touch(db, &before, row, error) : code;
}

/* An event that changed no key leaves nothing to restore, so that its cut need not replay the log before
 * it. */
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
    const struct session_call *call = own->call;

    if (call->checks_version && !call->anyway && row->version != call->version)
        return ses__log_set_stale_error(row, call->version, "SES_ANYWAY", error);
    ses__replay_free(&own->replay);
    int code = ses__replay_init(&own->replay, db->allocator, call->store->seed, false, error);
    if (code == SES_OK)
        code = ses__log_find_point(db, &call->ref, row, &own->point, &own->seq, NULL, error);
    if (code == SES_OK)
        code = find_state_changes(db, row, own, error);
    if (code == SES_OK && own->changes_state)
        code = ses__log_replay(db, row, own->seq, &own->replay, error);
    return code == SES_OK
               ? ses__named_artifacts_read_only(&own->artifacts, db, row, call->key.session, own->seq, error)
               : code;
}

static int write_cut(struct db *db, void *context, const struct session_row *found, ses_error *error)
{
    struct cutting *own = context;
    struct session_row row = *found;

    own->deleted = 0;
    ses__advance_free(&own->advance); /* of an earlier run */
    int code = cut_after(db, own, &row, error);
    return code == SES_OK && own->call->snapshot
               ? ses__read_advance(db, &own->advance, own->call->snapshot, &row, error)
               : code;
}

/* -------------------------------------------------------------------------------------------- the calls */

static int take_cut_options(struct cutting *own, const ses_cut_options *given, ses_erased **erased,
                            ses_error *error)
{
    ses_cut_options options;
    const unsigned known = SES_ANYWAY | SES_AT_VERSION | SES_SECURE;
    int code = ses__take_flagged(&options, sizeof options, given, known, "cut options", error);

    if (code == SES_OK)
        code = ses__call_take_version(own->call, options.flags, options.version, "cut options", error);
    own->erasure.secure = (options.flags & SES_SECURE) != 0;
    own->erasure.limits = LIMITS_OF(own->call->store, options);
    *erased = options.erased;
    return code == SES_OK ? ses__receipt_begin(options.erased, &own->erasure, error) : code;
}

static int run_cut(struct cutting *own, ses_error *error)
{
    ses_store *store = own->call->store;
    const struct planned planned = {.limits = &own->erasure.limits,
                                    .session = &own->call->ref,
                                    .plan = plan_cut,
                                    .write = write_cut,
                                    .looks_far = own->point.kind == SES_POINT_INVOCATION ||
                                                 own->point.kind == SES_POINT_LAST_TURN,
                                    .context = own,
                                    .erasure = &own->erasure};
    int code = ses__replay_init(&own->replay, &store->allocator, store->seed, false, error);

    ses__named_artifacts_init(&own->artifacts, &store->allocator);
    if (code == SES_OK)
        code = ses__run_planned(store->storage, &planned, error);
    ses__named_artifacts_free(&own->artifacts);
    ses__replay_free(&own->replay);
    return code;
}

static int cut_log(struct session_call *call, const ses_point *point, const ses_cut_options *options,
                   struct kept_events *kept, int64_t *deleted, ses_error *error)
{
    struct cutting own = {.call = call, .kept = kept};
    ses_erased *erased = NULL;
    int code = ses__point_take(point, &own.point, error);

    if (code == SES_OK)
        code = take_cut_options(&own, options, &erased, error);
    if (code != SES_OK)
        return code;
    own.now_us = ses__store_now(call->store);
    code = run_cut(&own, error);
    ses__followers_notify(call->store, code, &call->key);
    if (code == SES_OK && call->session)
        ses__advance_apply(&own.advance);
    ses__advance_free(&own.advance);
    if (code != SES_OK)
        return code;
    if (deleted)
        *deleted = own.deleted;
    ses__receipt_end(erased, &own.erasure);
    return own.erasure.unclean ? SES_MORE : own.deleted == 0 ? SES_UNCHANGED : SES_OK;
}

static int cut(const struct target *target, const ses_point *point, const ses_cut_options *options,
               int64_t *deleted, ses_error *error)
{
    struct session_call call;
    const int code = ses__call_begin(&call, target, error);

    return code == SES_OK ? ses__call_end(&call, cut_log(&call, point, options, NULL, deleted, error)) : code;
}

int ses_cut(ses_session *session, const ses_point *point, const ses_cut_options *options, int64_t *deleted,
            ses_error *error)
{
    return cut(ON(session), point, options, deleted, error);
}

int ses_cut_by_key(ses_store *store, const ses_key *key, const ses_point *point,
                   const ses_cut_options *options, int64_t *deleted, ses_error *error)
{
    return cut(AT(store, key), point, options, deleted, error);
}

/* ------------------------------------------------------------------------------------------- popping */

struct ses_popped {
    ses_allocator allocator; /* it may outlive the store */
    struct kept_events kept;
};

static int pop_events(struct session_call *call, const ses_point *point, const ses_cut_options *options,
                      ses_popped **popped, ses_error *error)
{
    ses_popped *fresh = ses__memory_zeroed(&call->store->allocator, sizeof *fresh);

    if (!fresh)
        return ses__error_nomem(error);
    fresh->allocator = call->store->allocator;
    ses__arena_init(&fresh->kept.arena, &fresh->allocator);
    const int code = cut_log(call, point, options, &fresh->kept, NULL, error);
    if (code >= 0)
        *popped = fresh;
    else
        ses_popped_close(fresh);
    return code;
}

static int pop(const struct target *target, const ses_point *point, const ses_cut_options *options,
               ses_popped **popped, ses_error *error)
{
    struct session_call call;
    int code = ses__check_output(popped, "popped", error);

    if (code == SES_OK)
        code = ses__call_begin(&call, target, error);
    return code == SES_OK ? ses__call_end(&call, pop_events(&call, point, options, popped, error)) : code;
}

int ses_pop(ses_session *session, const ses_point *point, const ses_cut_options *options, ses_popped **popped,
            ses_error *error)
{
    return pop(ON(session), point, options, popped, error);
}

int ses_pop_by_key(ses_store *store, const ses_key *key, const ses_point *point,
                   const ses_cut_options *options, ses_popped **popped, ses_error *error)
{
    return pop(AT(store, key), point, options, popped, error);
}

size_t ses_popped_count(const ses_popped *popped)
{
    return popped->kept.events.count;
}

const ses_event *ses_popped_event(const ses_popped *popped, size_t index)
{
    return index < popped->kept.events.count ? popped->kept.events.items[index] : NULL;
}

void ses_popped_close(ses_popped *popped)
{
    if (popped) {
        const ses_allocator allocator = popped->allocator;
        ses__memory_free(&allocator, popped->kept.events.items);
        ses__arena_free(&popped->kept.arena);
        ses__memory_free(&allocator, popped);
    }
}
