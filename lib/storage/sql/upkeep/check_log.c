/* A session's log, as a check looks at it: each event against its text, and the own state against all of
 * them. */
#include <string.h>

#include "base/error.h"
#include "model/event/event.h"
#include "model/replay.h"
#include "model/event/log.h"
#include "storage/sql/session/jobs.h"
#include "storage/sql/upkeep/check.h"
#include "storage/sql/rows/parts.h"

/* The marks that the events of a log must have. */

struct due_mark {
    int64_t seq;
    struct span invocation; /* of a rewind; without text: a compaction */
};

struct due_marks {
    struct arena arena;
    struct due_mark *items; /* in the order of the log */
    size_t count;
    size_t capacity;
    struct runs runs; /* of all events, by which it is known where an invocation begins */
};

struct log_check {
    struct check *check;
    const struct session_row *row;
    struct update_times times;
    struct replay replay;
    struct due_marks marks;
    struct check_usage usage;
    struct check_filters filters;
    struct check_settled settled;
    int64_t count;
    int64_t indexed; /* the last event whose words are in the index */
    bool broken;     /* the state that the log leads to is not known */
};

static bool is_same_span(struct span left, struct span right)
{
    return !left.ptr == !right.ptr && left.len == right.len &&
           (left.len == 0 || memcmp(left.ptr, right.ptr, left.len) == 0);
}

/* ---------------------------------------------------------------------------------------------- marks */

static bool add_due_mark(struct due_marks *marks, int64_t seq, struct span rewinds_before)
{
    struct due_mark mark = {.seq = seq};
    bool ok = LIST_GROW(marks->arena.allocator, marks);

    if (ok && rewinds_before.len > 0) {
        mark.invocation = (struct span){
            ses__arena_text(&marks->arena, rewinds_before.ptr, rewinds_before.len), rewinds_before.len};
        ok = mark.invocation.ptr != NULL;
    }
    if (ok)
        marks->items[marks->count++] = mark;
    return ok;
}

static int compare_marks(struct check *check, struct due_marks *marks, const struct session_row *row)
{
    struct mark_rows rows;
    struct mark_row mark;
    size_t left = marks->count;
    int64_t wrong = -1; /* the event whose mark is missing, or differs */

    ses__runs_sort(&marks->runs);
    ses__mark_rows_open(&rows, check->db, row->id, MAX_SEQ, &check->error);
    while (wrong < 0 && ses__mark_rows_next(&rows, &mark)) {
        const struct due_mark *due = left > 0 ? &marks->items[left - 1] : NULL;
        const bool rewinds = due && due->invocation.ptr;
        const int64_t first = rewinds ? ses__runs_first(&marks->runs, due->invocation) : 0;
        if (due && mark.seq == due->seq && mark.kind == (rewinds ? MARK_REWIND : MARK_COMPACTION) &&
            mark.target == (first < due->seq ? first : 0))
            left--;
        else
            wrong = mark.seq;
    }
    int code = ses__query_end(&rows.query);
    if (code == SES_OK && wrong < 0 && left > 0)
        wrong = marks->items[left - 1].seq;
    if (code == SES_OK && wrong >= 0)
        ses__check_found(
            check, SES_PROBLEM_MARK, wrong,
            "event_marks does not mark the session's rewinds and compactions as the events have them, at event %lld or before it",
            (long long)wrong);
    return ses__check_settle(check, code, SES_PROBLEM_MARK);
}

/* ------------------------------------------------------------------------------------------ the beginning */

const struct delta_op *ses__delta_last(const struct delta *delta, struct span name)
{
    for (size_t i = delta->count; i-- > 0;) {
        const struct delta_op *op = &delta->ops[i];
        if (ses__span_is(op->name, name))
            return op;
    }
    return NULL;
}

static bool has_temp_keys(const struct delta *delta)
{
    bool has = false;
    for (size_t i = 0; i < delta->count; i++)
        has = has || delta->ops[i].scope == SCOPE_TEMP;
    return has;
}

int ses__check_read_initial(struct check *check, int64_t session_id, struct arena *arena,
                            struct span *initial, struct delta *delta, bool *ok)
{
    const int64_t before = check->op->problems;
    int code = ses__log_initial(check->db, session_id, arena, initial, &check->error);

    if (code == SES_OK && initial->ptr) {
        code = ses__delta_read_text(*initial, 0, arena, delta, &check->error);
        if (code == SES_OK && has_temp_keys(delta))
            code = ses__error_set(&check->error, SES_CORRUPT, "it has a temp: key, which is never stored");
        if (code != SES_OK && code != SES_NOMEM)
            ses__error_prefix(&check->error,
                              "the initial state of session number %lld: ", (long long)session_id);
    }
    code = ses__check_settle(check, code, SES_PROBLEM_BASE);
    *ok = code == SES_OK && check->op->problems == before;
    return code;
}

struct base_check {
    struct log_check *log;
    struct replay initial;
};

/* A key of the base that no event has set comes from the initial state. */
static int replay_checked_value(void *context, const struct base_value *value, ses_error *error)
{
    const struct base_check *base = context;

    if (ses__base_is_artifact(value) && base->log->row->base_seq > 0)
        return SES_OK; /* the walk has looked at it */
    const bool sound = base->log->row->base_seq > 0 && ses__scope_of(value->name, NULL) != SCOPE_TEMP &&
                       ses__scope_check_name(value->name, NULL) == SES_OK &&
                       ses__state_check_value("", value->value, NULL) == SES_OK &&
                       (value->seq > 0 || ses__replay_has(&base->initial, value->name, value->value));

    return sound
               ? ses__replay_put(&base->log->replay, value->name, value->value, value->seq, error)
               : ses__error_set(error, SES_CORRUPT, "a row of base_state is none that the session can have");
}

static int read_beginning(struct log_check *log)
{
    struct check *check = log->check;
    struct base_check base = {.log = log};
    struct arena arena;
    struct span initial = {NULL, 0};
    struct delta delta = {0};
    bool ok = false;

    ses__arena_init(&arena, check->db->allocator);
    int code = ses__check_read_initial(check, log->row->id, &arena, &initial, &delta, &ok);
    if (ok) {
        code = ses__replay_init(&base.initial, check->db->allocator, check->op->seed, true, &check->error);
        if (code == SES_OK)
            code = ses__replay_delta(&base.initial, &delta, 0, &check->error);
        if (code == SES_OK)
            code = ses__base_visit_all(check->db, log->row, replay_checked_value, &base, &check->error);
        ses__replay_free(&base.initial);
    }
    if (ok && code == SES_OK && log->row->base_seq == 0)
        code = ses__replay_initial(&log->replay, initial, &check->error);
    log->broken = !ok || code != SES_OK;
    ses__delta_free(&delta, arena.allocator);
    ses__arena_free(&arena);
    return ses__check_settle(check, code, SES_PROBLEM_BASE);
}

/* ------------------------------------------------------------------------------------------- one event */

static int compare_draft(struct log_check *log, const struct event_draft *draft,
                         const struct event_row *event)
{
    struct check *check = log->check;
    const char *const column = !draft->has_id || !is_same_span(draft->row.id, event->id) ? "id"
                               : !is_same_span(draft->row.invocation_id, event->invocation_id)
                                   ? "invocation_id"
                               : !is_same_span(draft->row.author, event->author)          ? "author"
                               : !is_same_span(draft->row.branch, event->branch)          ? "branch"
                               : !draft->has_time || draft->row.time_us != event->time_us ? "time_us"
                                                                                          : NULL;

    if (column)
        ses__check_found(check, SES_PROBLEM_EVENT, event->seq,
                         "the column %s of event %lld is not what its text says", column,
                         (long long)event->seq);
    if (draft->partial || has_temp_keys(&draft->delta))
        ses__check_found(check, SES_PROBLEM_BODY, event->seq,
                         "event %lld is partial, or has temp: keys, which are never stored",
                         (long long)event->seq);
    if ((draft->row.rewinds_before.len > 0 || draft->row.compacts) &&
        !add_due_mark(&log->marks, event->seq, draft->row.rewinds_before))
        return ses__error_nomem(&check->error);
    return SES_OK;
}

static int read_event_text(struct log_check *log, const struct event_row *event)
{
    struct check *check = log->check;
    struct event_draft draft;

    ses__event_draft_init(&draft, check->db->allocator);
    int code = ses__event_read(&draft, event->body, &check->error);
    if (code == SES_OK) {
        code = compare_draft(log, &draft, event);
    } else if (code != SES_NOMEM) {
        ses__check_found(check, SES_PROBLEM_BODY, event->seq, "the text of event %lld: %s",
                         (long long)event->seq, check->error.message);
        ses__error_clear(&check->error);
        log->broken = true;
        code = SES_OK;
    }
    ses__event_draft_free(&draft);
    return code;
}

static int check_logged_event(struct log_check *log, const struct event_row *event)
{
    struct check *check = log->check;
    int64_t found = 0;
    int code = read_event_text(log, event);

    if (!ses__update_times_allow(&log->times, event->seq, event->time_us, event->high_us))
        ses__check_found(check, SES_PROBLEM_TIME, event->seq,
                         "the update time after event %lld does not follow from the times before it",
                         (long long)event->seq);
    if (code == SES_OK && !ses__runs_add(&log->marks.runs, event, false))
        code = ses__error_nomem(&check->error);
    if (code == SES_OK && event->seq <= log->indexed)
        code = ses__check_words_add(check, log->row, event);
    if (code == SES_OK)
        code = ses__check_usage_add(check, &log->usage, event);
    if (code == SES_OK)
        code = ses__check_filters_event(check, &log->filters, log->row, event);
    if (code == SES_OK)
        code = ses__check_settled_event(check, &log->settled, event);
    log->count++;
    ses__update_times_pass(&log->times, event->seq, event->high_us);
    if (code == SES_OK && !check->trusts_indexes) {
        code = ses__event_find(check->db, log->row->id, event->id, &found, &check->error);
        if (code == SES_OK && found != event->seq)
            ses__check_found(check, SES_PROBLEM_INDEX, event->seq, "event %lld is not found by its id",
                             (long long)event->seq);
        code = ses__check_settle(check, code, SES_PROBLEM_INDEX);
    }
    if (code == SES_OK && !log->broken)
        code =
            ses__check_settle(check, ses__replay_event(&log->replay, event, &check->error), SES_PROBLEM_BODY);
    return code;
}

/* --------------------------------------------------------------------------------------------- the events */

static int walk_events(struct log_check *log)
{
    struct check *check = log->check;
    struct event_rows rows;
    struct event_row event;

    ses__event_rows_open(&rows, check->db, log->row->id, log->row->base_seq + 1, log->row->last_seq,
                         WALK_FORWARD, &check->error);
    while (!check->ended && ses__event_rows_next(&rows, &event))
        ses__query_keep(&rows.query, check_logged_event(log, &event));
    const int code = ses__event_rows_close(&rows);
    log->broken = log->broken || code != SES_OK;
    return ses__check_settle(check, code, SES_PROBLEM_EVENT);
}

static int look_outside(struct log_check *log, int64_t first, int64_t last)
{
    struct check *check = log->check;
    int64_t found = 0;
    const int code = ses__event_last(check->db, log->row->id, first, last, &found, &check->error);

    if (code == SES_OK && found > 0)
        ses__check_found(check, SES_PROBLEM_NUMBER, found,
                         "there is an event %lld, but the log is said to go from %lld to %lld",
                         (long long)found, (long long)log->row->base_seq + 1, (long long)log->row->last_seq);
    return ses__check_settle(check, code, SES_PROBLEM_EVENT);
}

/* Compares the log with the counts and times in the row of its session. */
static int compare_with_row(struct log_check *log)
{
    struct check *check = log->check;
    const struct session_row *row = log->row;
    int code = look_outside(log, 1, row->base_seq);

    if (code == SES_OK)
        code = look_outside(log, row->last_seq + 1, MAX_SEQ);
    if (code == SES_OK && log->count != row->event_count)
        ses__check_found(check, SES_PROBLEM_COUNT, 0,
                         "the session has %lld events, and says that it has %lld", (long long)log->count,
                         (long long)row->event_count);
    if (code == SES_OK && log->count > 0 && log->times.high_us > row->updated_us)
        ses__check_found(check, SES_PROBLEM_TIME, 0, "the session has an event later than its update time");
    return code;
}

/* --------------------------------------------------------------------------------------------- all of it */

static int check_whole_log(struct log_check *log)
{
    struct check *check = log->check;
    int code = read_beginning(log);

    if (code == SES_OK)
        code = ses__check_usage_begin(check, &log->usage, log->row);
    if (code == SES_OK && !check->ended)
        code = ses__check_filters_begin(check, &log->filters, log->row);
    if (code == SES_OK && !check->ended)
        code = ses__check_settled_begin(check, &log->settled, log->row);
    if (code == SES_OK && !check->ended)
        code = ses__check_words_of(check, log->row, &log->indexed);
    if (code == SES_OK && !check->ended)
        code = walk_events(log);
    if (code == SES_OK && !check->ended)
        code = compare_with_row(log);
    if (code == SES_OK && !check->ended && !log->broken)
        code = compare_marks(check, &log->marks, log->row);
    if (code == SES_OK && !check->ended && !log->broken)
        code = ses__check_settle(
            check, ses__session_state_check(check->db, log->row, &log->replay.state, &check->error),
            SES_PROBLEM_STATE);
    if (code == SES_OK && !check->ended && !log->broken)
        code = ses__check_usage_compare(check, &log->usage, log->row);
    return code;
}

int ses__check_log(struct check *check, const struct session_row *row, int64_t inherited)
{
    struct log_check log = {.check = check, .row = row};
    const ses_allocator *allocator = check->db->allocator;

    ses__arena_init(&log.usage.arena, allocator);
    ses__check_filters_init(&log.filters, allocator);
    ses__check_settled_init(&log.settled, allocator, check->op->seed);
    ses__usage_tally_init(&log.usage.tally, allocator, check->op->seed);
    ses__update_times_begin(&log.times, row->created_us, row->base_seq, inherited);
    ses__arena_init(&log.marks.arena, allocator);
    ses__runs_init(&log.marks.runs, allocator);
    int code = ses__replay_init(&log.replay, allocator, check->op->seed, false, &check->error);
    if (code == SES_OK)
        code = check_whole_log(&log);
    ses__replay_free(&log.replay);
    ses__memory_free(allocator, log.marks.items);
    ses__arena_free(&log.marks.arena);
    ses__runs_free(&log.marks.runs);
    ses__usage_tally_free(&log.usage.tally);
    ses__check_settled_free(&log.settled);
    ses__check_filters_free(&log.filters);
    ses__arena_free(&log.usage.arena);
    return code;
}
