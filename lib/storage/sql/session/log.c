/* The points of a log, and the state there. */
#include <string.h>

#include "base/error.h"
#include "model/event/log.h"
#include "storage/sql/session/filters.h"
#include "storage/sql/session/jobs.h"

int ses__log_check_epoch(const struct session_ref *ref, const struct session_row *row, ses_error *error)
{
    if (!ref->known || ses__row_epoch(ref->known) == ses__row_epoch(row))
        return SES_OK;
    return ses__stale_at(
        row, error,
        ses__error_set(
            error, SES_STALE,
            "events were cut from the session since the handle was read: refresh it and try again"));
}

int ses__log_set_stale_error(const struct session_row *row, int64_t expected, const char *flag,
                             ses_error *error)
{
    return ses__stale_at(
        row, error,
        ses__error_set(
            error, SES_STALE,
            "the session is at version %lld and the caller at %lld: refresh and try again, or pass %s",
            (long long)row->version, (long long)expected, flag));
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
    int code =
        ses__invocation_find(db, row, ses__span_of(id), row->base_seq + 1, row->last_seq, &first, error);

    if (code == SES_OK && first == 0)
        code = refuse_unknown(row, "invocation", id, error);
    *seq = first - 1;
    return code;
}

/* ------------------------------------------------------------------------------------------ the last turn */

/* A look for the beginning of an invocation goes through the log. After this many, the walk does. */
enum { MOST_LOOKS = 4 };

/* A walk from the newest event to the last turn. Neighbouring live events of one invocation are a run, and
 * the first run of an invocation says whether it is a turn, and where it begins. */
struct turn_walk {
    struct db *db;
    const struct session_row *row;
    struct live live;
    struct arena arena; /* of one event */
    struct stored_event event;
    struct runs runs;             /* newest first, each as far back as it is known */
    struct run looks[MOST_LOOKS]; /* invocations, and where each begins */
    size_t look_count;
    bool is_whole; /* goes to the beginning, and decides then */
    int64_t *seq;  /* the first event of the last turn; 0: not found yet */
    bool *begins;  /* no event before it, live or not, belongs to its invocation */
};

static int look_whether_turn(struct turn_walk *walk, const struct event_row *row, bool *is_turn,
                             ses_error *error)
{
    const struct stored_event *event = &walk->event;
    const bool by_user = row->author.len == 4 && memcmp(row->author.ptr, "user", 4) == 0;

    ses__arena_reset(&walk->arena);
    const int code = by_user ? ses__stored_event_read(&walk->event, row, STORED_CONTENT, error) : SES_OK;
    *is_turn = by_user && event->part_count > event->response_count;
    return code;
}

/* Finds the first live event of the run's invocation. */
static int find_live_beginning(struct turn_walk *walk, const struct run *run, int64_t *first,
                               ses_error *error)
{
    const struct live *live = &walk->live;
    int64_t from = walk->row->base_seq + 1;
    int64_t found = 0;
    int code = SES_OK;

    *walk->begins = true;
    *first = run->first;
    while (code == SES_OK && *first == run->first) {
        code = ses__invocation_find(walk->db, walk->row, run->id, from, run->first - 1, &found, error);
        if (code != SES_OK || found == 0)
            break;
        *walk->begins = false;
        if (ses__live_has(live, found))
            *first = found;
        else
            from = live->gaps[ses__live_find(live, found)].last + 1;
    }
    return code;
}

/* The last run is complete: the event before it is another's. It is the last turn if its invocation begins
 * with it. */
static int end_turn_run(struct turn_walk *walk, ses_error *error)
{
    const struct run *run = walk->runs.count > 0 ? &walk->runs.items[walk->runs.count - 1] : NULL;
    int64_t first = 0;
    int code = SES_OK;

    if (walk->is_whole || !run || !run->is_turn)
        return SES_OK;
    for (size_t i = 0; i < walk->look_count && first == 0; i++)
        first = ses__run_is_of(&walk->looks[i], run->id) ? walk->looks[i].first : 0;
    walk->is_whole = first == 0 && walk->look_count == MOST_LOOKS;
    if (first == 0 && !walk->is_whole) {
        code = find_live_beginning(walk, run, &first, error);
        walk->looks[walk->look_count++] = (struct run){run->id, first, false};
    }
    if (code == SES_OK && first == run->first)
        *walk->seq = first;
    return code;
}

static int add_live_event(struct turn_walk *walk, const struct event_row *row, ses_error *error)
{
    struct runs *runs = &walk->runs;
    const bool goes_on = ses__runs_continue(runs, row);
    bool is_turn = false;

    if (row->invocation_id.len == 0)
        return SES_OK;
    int code = goes_on ? SES_OK : end_turn_run(walk, error);
    if (code == SES_OK && *walk->seq == 0)
        code = look_whether_turn(walk, row, &is_turn, error);
    if (code != SES_OK || *walk->seq != 0)
        return code;
    if (!goes_on)
        return ses__runs_add(runs, row, is_turn) ? SES_OK : ses__error_nomem(error);
    runs->items[runs->count - 1].first = row->seq;
    runs->items[runs->count - 1].is_turn = is_turn;
    return SES_OK;
}

/* The last turn of a log whose runs are all known. */
static int64_t last_turn_of(struct runs *runs)
{
    int64_t last = 0;

    ses__runs_sort(runs);
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->items[i];
        const bool is_first = i == 0 || !ses__run_is_of(&runs->items[i - 1], run->id);
        if (is_first && run->is_turn && run->first > last)
            last = run->first;
    }
    return last;
}

/* A turn is a few events as a rule. All is asked for before any of it is read. */
static int walk_turns(struct turn_walk *walk, ses_error *error)
{
    const struct few_events few = {50, INT64_C(1) << 20};
    const struct session_row *row = walk->row;
    struct mark_rows marks;
    struct event_rows rows;
    struct event_row event;

    ses__mark_rows_open(&marks, walk->db, row->id, row->last_seq, error);
    ses__event_rows_open_few(&rows, walk->db, row->id, row->base_seq + 1, row->last_seq, &few, WALK_BACKWARD,
                             error);
    int code = ses__mark_rows_take_live(&marks, row->id, &walk->live);
    while (code == SES_OK && *walk->seq == 0 && ses__event_rows_next(&rows, &event)) {
        if (ses__live_has(&walk->live, event.seq))
            ses__query_keep(&rows.query, add_live_event(walk, &event, error));
    }
    const int closed = ses__event_rows_close(&rows);
    if (code == SES_OK)
        code = closed;
    if (code == SES_OK && *walk->seq == 0)
        *walk->seq = last_turn_of(&walk->runs);
    return code;
}

static int find_last_turn(struct db *db, const struct session_row *row, int64_t *seq, bool *begins,
                          ses_error *error)
{
    struct turn_walk walk = {.db = db, .row = row, .seq = seq, .begins = begins};

    *seq = 0;
    ses__live_init(&walk.live, db->allocator);
    ses__runs_init(&walk.runs, db->allocator);
    ses__arena_init(&walk.arena, db->allocator);
    ses__stored_event_init(&walk.event, &walk.arena);
    int code = walk_turns(&walk, error);
    ses__stored_event_free(&walk.event);
    ses__arena_free(&walk.arena);
    ses__runs_free(&walk.runs);
    ses__live_free(&walk.live);
    if (code == SES_OK && *seq == 0)
        code = ses__error_set(error, SES_NOTFOUND, "the log has no live turn of the user%s",
                              row->base_seq > 0 ? " after the events that were pruned" : "");
    *seq -= 1;
    return code;
}

int ses__log_find_point(struct db *db, const struct session_ref *ref, const struct session_row *row,
                        const struct point *point, int64_t *seq, bool *begins, ses_error *error)
{
    bool ignored;

    if (!begins)
        begins = &ignored;
    *begins = point->kind == SES_POINT_INVOCATION;
    switch (point->kind) {
    case SES_POINT_SEQ:
        *seq = point->seq;
        return check_seq(row, point->seq, error);
    case SES_POINT_EVENT:
        return find_event(db, row, point->id, seq, error);
    case SES_POINT_INVOCATION:
        return find_before_invocation(db, row, point->id, seq, error);
    case SES_POINT_LAST_TURN:
        return find_last_turn(db, row, seq, begins, error);
    default:
        *seq = ref->known ? ref->known->last_seq : row->last_seq;
        return *seq < row->base_seq ? refuse_pruned(row, *seq, error) : SES_OK;
    }
}

/* --------------------------------------------------------------------------------------- the beginning */

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
