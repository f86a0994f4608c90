/* The marks that a log must have, as a check looks at them. */
#include <stdlib.h>

#include "base/error.h"
#include "storage/sql/rows/parts.h"
#include "storage/sql/upkeep/check.h"

void ses__check_marks_init(struct check_marks *marks, const ses_allocator *allocator)
{
    *marks = (struct check_marks){.marks = NULL};
    ses__arena_init(&marks->arena, allocator);
}

void ses__check_marks_free(struct check_marks *marks)
{
    ses__memory_free(marks->arena.allocator, marks->marks);
    ses__memory_free(marks->arena.allocator, marks->rewound);
    ses__arena_free(&marks->arena);
}

bool ses__check_marks_add(struct check_marks *marks, int64_t seq, struct span rewinds_before)
{
    struct due_mark mark = {.seq = seq};
    bool ok = ses__memory_grow(marks->arena.allocator, &marks->marks, &marks->capacity, marks->count + 1,
                               sizeof *marks->marks);

    if (ok && rewinds_before.len > 0) {
        mark.invocation = (struct span){
            ses__arena_text(&marks->arena, rewinds_before.ptr, rewinds_before.len), rewinds_before.len};
        ok = mark.invocation.ptr != NULL;
    }
    if (ok)
        marks->marks[marks->count++] = mark;
    return ok;
}

/* ---------------------------------------------------------------------------------- where they rewind to */

static int compare_rewound(const void *left, const void *right)
{
    return ses__span_order(((const struct rewound *)left)->invocation,
                           ((const struct rewound *)right)->invocation);
}

static struct rewound *find_rewound(const struct check_marks *marks, struct span invocation)
{
    const struct rewound key = {invocation, 0};
    return marks->rewound_count
               ? bsearch(&key, marks->rewound, marks->rewound_count, sizeof key, compare_rewound)
               : NULL;
}

static bool list_rewound(struct check_marks *marks)
{
    size_t kept = 0;

    if (marks->count == 0)
        return true;
    marks->rewound = ses__memory_zeroed(marks->arena.allocator, marks->count * sizeof *marks->rewound);
    if (!marks->rewound)
        return false;
    for (size_t i = 0; i < marks->count; i++) {
        if (marks->marks[i].invocation.ptr)
            marks->rewound[marks->rewound_count++].invocation = marks->marks[i].invocation;
    }
    qsort(marks->rewound, marks->rewound_count, sizeof *marks->rewound, compare_rewound);
    for (size_t i = 0; i < marks->rewound_count; i++) {
        if (kept == 0 || compare_rewound(&marks->rewound[kept - 1], &marks->rewound[i]) != 0)
            marks->rewound[kept++] = marks->rewound[i];
    }
    marks->rewound_count = kept;
    return true;
}

static int find_firsts(struct check *check, struct check_marks *marks, const struct session_row *row)
{
    struct event_rows rows;
    struct event_row event;

    if (!list_rewound(marks))
        return ses__error_nomem(&check->error);
    if (marks->rewound_count == 0)
        return SES_OK;
    ses__event_rows_open(&rows, check->db, row->id, row->base_seq + 1, row->last_seq, WALK_FORWARD,
                         &check->error);
    while (ses__event_rows_next(&rows, &event)) {
        struct rewound *found = find_rewound(marks, event.invocation_id);
        if (found && found->first == 0)
            found->first = event.seq;
    }
    return ses__event_rows_close(&rows);
}

/* ----------------------------------------------------------------------------------------- comparing them */

static bool is_due(const struct check_marks *marks, const struct due_mark *due, const struct mark_row *row)
{
    if (row->seq != due->seq || row->kind != (due->invocation.ptr ? MARK_REWIND : MARK_COMPACTION))
        return false;
    const struct rewound *rewound = due->invocation.ptr ? find_rewound(marks, due->invocation) : NULL;
    return row->target == (rewound && rewound->first < due->seq ? rewound->first : 0);
}

static int compare_marks(struct check *check, const struct check_marks *marks, const struct session_row *row)
{
    struct mark_rows rows;
    struct mark_row mark;
    size_t left = marks->count;
    int64_t wrong = -1;

    ses__mark_rows_open(&rows, check->db, row->id, MAX_SEQ, &check->error);
    while (wrong < 0 && ses__mark_rows_next(&rows, &mark)) {
        if (left == 0 || !is_due(marks, &marks->marks[left - 1], &mark))
            wrong = mark.seq;
        else
            left--;
    }
    int code = ses__query_end(&rows.query);
    if (code == SES_OK && wrong < 0 && left > 0)
        wrong = marks->marks[left - 1].seq;
    if (code == SES_OK && wrong >= 0)
        ses__check_found(
            check, SES_PROBLEM_MARK, wrong,
            "event_marks does not mark the session's rewinds and compactions as the events have them, at event %lld or before it",
            (long long)wrong);
    return code;
}

int ses__check_marks_compare(struct check *check, struct check_marks *marks, const struct session_row *row)
{
    int code = find_firsts(check, marks, row);

    if (code == SES_OK)
        code = compare_marks(check, marks, row);
    return ses__check_settle(check, code, SES_PROBLEM_MARK);
}
