/* The points of a log, and the state there. */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "model/event/log.h"
#include "storage/sql/session/jobs.h"

int ses__log_check_epoch(const struct session_ref *ref, const struct session_row *row, ses_error *error)
{
    if (!ref->known || ses__row_epoch(ref->known) == ses__row_epoch(row))
        return SES_OK;
    (void)ses__error_set(
        error, SES_STALE,
        "events were cut from the session since the handle was read: refresh it and try again");
    if (error)
        error->version = row->version;
    return SES_STALE;
}

int ses__log_set_stale_error(const struct session_row *row, int64_t expected, const char *flag,
                             ses_error *error)
{
    (void)ses__error_set(
        error, SES_STALE,
        "the session is at version %lld and the caller at %lld: refresh and try again, or pass %s",
        (long long)row->version, (long long)expected, flag);
    if (error)
        error->version = row->version;
    return SES_STALE;
}

/* --------------------------------------------------------------------------------------------- points */

static int refuse_pruned(const struct session_row *row, int64_t seq, ses_error *error)
{
    return ses__error_set(
        error, SES_NOTFOUND,
        "the point after event %lld was pruned: history is known from the point after event %lld on",
        (long long)seq, (long long)row->base_seq);
}

static int check_seq(const struct session_row *row, int64_t seq, ses_error *error)
{
    if (seq > row->last_seq)
        return ses__error_set(error, SES_NOTFOUND, "there is no event %lld: the last event is %lld",
                              (long long)seq, (long long)row->last_seq);
    return seq < row->base_seq ? refuse_pruned(row, seq, error) : SES_OK;
}

static int refuse_unknown(const struct session_row *row, const char *what, const char *id, ses_error *error)
{
    if (row->base_seq > 0)
        return ses__error_set(error, SES_NOTFOUND,
                              "there is no %s \"%.200s\" in the log, of which events up to %lld were pruned",
                              what, id, (long long)row->base_seq);
    return ses__error_set(error, SES_NOTFOUND, "there is no %s \"%.200s\" in the log", what, id);
}

static int find_event(struct db *db, const struct session_row *row, const char *id, int64_t *seq,
                      ses_error *error)
{
    const int code = ses__event_find(db, row->id, ses__span_of(id), seq, error);

    return code == SES_OK && *seq == 0 ? refuse_unknown(row, "event", id, error) : code;
}

static int find_before_invocation(struct db *db, const struct session_row *row, const char *id, int64_t *seq,
                                  ses_error *error)
{
    int64_t first = 0;
    int code = ses__event_of_invocation(db, row->id, ses__span_of(id), row->base_seq + 1, row->last_seq,
                                        &first, error);

    if (code == SES_OK && first == 0)
        code = refuse_unknown(row, "invocation", id, error);
    *seq = first - 1;
    return code;
}

/* ------------------------------------------------------------------------------------------ the last turn */

struct turns {
    struct live live;
    struct runs runs;
    struct arena arena; /* of one event */
    struct stored_event event;
};

/* Only the first event of a run is looked into. */
static int add_live_event(struct turns *turns, const struct event_row *row, ses_error *error)
{
    bool may_begin = row->author.len == 4 && memcmp(row->author.ptr, "user", 4) == 0 &&
                     !ses__runs_continue(&turns->runs, row);
    int code = SES_OK;

    ses__arena_reset(&turns->arena);
    if (may_begin)
        code = ses__stored_event_read(&turns->event, row, STORED_CONTENT, error);
    bool is_turn = may_begin && turns->event.part_count > turns->event.response_count;
    if (code == SES_OK && !ses__runs_add(&turns->runs, row, is_turn))
        code = ses__error_nomem(error);
    return code;
}

static int read_turns(struct db *db, const struct session_row *row, struct turns *turns, ses_error *error)
{
    struct event_rows rows;
    struct event_row event;
    const int code = ses__load_live(db, row->id, row->last_seq, &turns->live, error);

    if (code != SES_OK)
        return code;
    ses__event_rows_open(&rows, db, row->id, row->base_seq + 1, row->last_seq, WALK_FORWARD, error);
    while (ses__event_rows_next(&rows, &event)) {
        if (ses__live_has(&turns->live, event.seq))
            ses__query_keep(&rows.query, add_live_event(turns, &event, error));
    }
    return ses__event_rows_close(&rows);
}

/* The invocation's first run says whether it is a turn, and where it begins. */
static int64_t last_turn_of(struct runs *runs)
{
    int64_t last = 0;

    ses__runs_sort(runs);
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->items[i];
        bool is_first = i == 0 || !ses__run_is_of(&runs->items[i - 1], run->id);
        if (is_first && run->is_turn && run->first > last)
            last = run->first;
    }
    return last;
}

static int find_last_turn(struct db *db, const struct session_row *row, int64_t *seq, ses_error *error)
{
    struct turns turns;

    ses__live_init(&turns.live, db->allocator);
    ses__runs_init(&turns.runs, db->allocator);
    ses__arena_init(&turns.arena, db->allocator);
    ses__stored_event_init(&turns.event, &turns.arena);
    int code = read_turns(db, row, &turns, error);
    int64_t first = code == SES_OK ? last_turn_of(&turns.runs) : 0;
    ses__stored_event_free(&turns.event);
    ses__arena_free(&turns.arena);
    ses__runs_free(&turns.runs);
    ses__live_free(&turns.live);
    if (code == SES_OK && first == 0)
        code = ses__error_set(error, SES_NOTFOUND, "the log has no live turn of the user%s",
                              row->base_seq > 0 ? " after the events that were pruned" : "");
    *seq = first - 1;
    return code;
}

int ses__log_find_point(struct db *db, const struct session_ref *ref, const struct session_row *row,
                        const struct point *point, int64_t *seq, ses_error *error)
{
    switch (point->kind) {
    case SES_POINT_SEQ:
        *seq = point->seq;
        return check_seq(row, point->seq, error);
    case SES_POINT_EVENT:
        return find_event(db, row, point->id, seq, error);
    case SES_POINT_INVOCATION:
        return find_before_invocation(db, row, point->id, seq, error);
    case SES_POINT_LAST_TURN:
        return find_last_turn(db, row, seq, error);
    default:
        *seq = ref->known ? ref->known->last_seq : row->last_seq;
        return *seq < row->base_seq ? refuse_pruned(row, *seq, error) : SES_OK;
    }
}

/* ------------------------------------------------------------------------------------------- the state */

int ses__log_beginning(struct db *db, int64_t session_id, struct arena *arena, struct span *initial,
                       int64_t *origin, ses_error *error)
{
    struct query query;

    ses__query_open(&query, db, STATEMENT_DETAILS_INITIAL, error, VALUES(INT(session_id)));
    const bool found = ses__query_row(&query);
    *initial = found ? ses__query_text(&query, 0) : (struct span){NULL, 0};
    *origin = found ? ses__query_int(&query, 1) : 0;
    if (initial->ptr) {
        initial->ptr = ses__arena_text(arena, initial->ptr, initial->len);
        if (!initial->ptr)
            ses__query_keep(&query, ses__error_nomem(error));
    }
    return ses__query_end(&query);
}

int ses__log_initial(struct db *db, int64_t session_id, struct arena *arena, struct span *initial,
                     ses_error *error)
{
    int64_t origin;
    return ses__log_beginning(db, session_id, arena, initial, &origin, error);
}

int ses__log_ensure_origin(struct db *db, int64_t session_id, ses_error *error)
{
    uint64_t random = 0;

    if (!ses__random_bytes(&random, sizeof random))
        return ses__error_set(error, SES_IO, "the system gives no random bytes");
    return ses__query_do(db, STATEMENT_ORIGIN_SET, error,
                         VALUES(INT(session_id), INT((int64_t)(random >> 1) | 1)));
}

static int replay_initial(struct db *db, const struct session_row *row, struct replay *replay,
                          ses_error *error)
{
    struct arena arena;
    struct span initial;

    ses__arena_init(&arena, db->allocator);
    int code = ses__log_initial(db, row->id, &arena, &initial, error);
    if (code == SES_OK)
        code = ses__replay_initial(replay, initial, error);
    ses__arena_free(&arena);
    return code;
}

static int put_base_value(void *context, const struct base_value *value, ses_error *error)
{
    return ses__replay_put(context, value->name, value->value, value->seq, error);
}

int ses__log_replay_events(struct db *db, const struct session_row *row, int64_t first, int64_t last,
                           struct replay *replay, ses_error *error)
{
    struct event_rows rows;
    struct event_row event;

    ses__event_rows_open(&rows, db, row->id, first, last, WALK_FORWARD_BODIES, error);
    while (ses__event_rows_next(&rows, &event))
        ses__query_keep(&rows.query, ses__replay_event(replay, &event, error));
    return ses__event_rows_close(&rows);
}

int ses__log_replay(struct db *db, const struct session_row *row, int64_t seq, struct replay *replay,
                    ses_error *error)
{
    int code = row->base_seq > 0 ? ses__base_visit(db, row, put_base_value, replay, error)
                                 : replay_initial(db, row, replay, error);
    return code == SES_OK ? ses__log_replay_events(db, row, row->base_seq + 1, seq, replay, error) : code;
}
