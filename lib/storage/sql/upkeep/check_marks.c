/* The marks that a log must have, as a check looks at them. */
#include "base/error.h"
#include "storage/sql/upkeep/check.h"

void ses__check_marks_init(struct check_marks *marks, const ses_allocator *allocator)
{
    *marks = (struct check_marks){.items = NULL};
    ses__arena_init(&marks->arena, allocator);
    ses__runs_init(&marks->runs, allocator);
}

void ses__check_marks_free(struct check_marks *marks)
{
    ses__memory_free(marks->arena.allocator, marks->items);
    ses__arena_free(&marks->arena);
    ses__runs_free(&marks->runs);
}

bool ses__check_marks_add(struct check_marks *marks, int64_t seq, struct span rewinds_before)
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

static bool is_due(const struct check_marks *marks, const struct due_mark *due, const struct mark_row *row)
{
    const bool rewinds = due->invocation.ptr != NULL;
    const int64_t first = rewinds ? ses__runs_first(&marks->runs, due->invocation) : 0;

    return row->seq == due->seq && row->kind == (rewinds ? MARK_REWIND : MARK_COMPACTION) &&
           row->target == (first < due->seq ? first : 0);
}

int ses__check_marks_compare(struct check *check, struct check_marks *marks, const struct session_row *row)
{
    struct mark_rows rows;
    struct mark_row mark;
    size_t left = marks->count;
    int64_t wrong = -1;

    ses__runs_sort(&marks->runs);
    ses__mark_rows_open(&rows, check->db, row->id, MAX_SEQ, &check->error);
    while (wrong < 0 && ses__mark_rows_next(&rows, &mark)) {
        if (left == 0 || !is_due(marks, &marks->items[left - 1], &mark))
            wrong = mark.seq;
        else
            left--;
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
