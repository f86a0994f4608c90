#include "model/event/log.h"

#include <stdlib.h>
#include <string.h>

#include "model/event/timestamp.h"

/* -------------------------------------------------------------------------------------------- live events */

void ses__live_init(struct live *live, const ses_allocator *allocator)
{
    *live = (struct live){.allocator = allocator};
}

void ses__live_free(struct live *live)
{
    ses__memory_free(live->allocator, live->gaps);
    *live = (struct live){.allocator = live->allocator};
}

bool ses__live_add_rewind(struct live *live, int64_t seq, int64_t target)
{
    if (live->count > 0 && seq >= live->gaps[live->count - 1].first)
        return true; /* was itself taken back */
    if (!ses__memory_grow(live->allocator, &live->gaps, &live->capacity, live->count + 1, sizeof *live->gaps))
        return false;
    live->gaps[live->count++] = (struct live_gap){target > 0 ? target : seq, seq};
    return true;
}

bool ses__live_stretch(const struct live *live, size_t index, int64_t *first, int64_t *last)
{
    if (index > live->count)
        return false;
    *first = index < live->count ? live->gaps[index].last + 1 : 1;
    *last = index > 0 ? live->gaps[index - 1].first - 1 : INT64_MAX;
    return true;
}

/* Finds the newest gap that begins at the event or before it. The stretch comes right after that gap. */
size_t ses__live_find(const struct live *live, int64_t seq)
{
    size_t low = 0;
    size_t high = live->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (live->gaps[middle].first > seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool ses__live_has(const struct live *live, int64_t seq)
{
    size_t gap = ses__live_find(live, seq);
    return gap == live->count || live->gaps[gap].last < seq;
}

bool ses__live_within(const struct live *live, int64_t first, int64_t last)
{
    int64_t from = 0;
    int64_t to = -1;

    for (size_t i = ses__live_find(live, first); from > to && from <= last; i--) {
        if (!ses__live_stretch(live, i, &from, &to))
            return false;
    }
    return from <= last;
}

/* -------------------------------------------------------------------------------------------- invocations */

void ses__runs_init(struct runs *runs, const ses_allocator *allocator)
{
    *runs = (struct runs){.items = NULL};
    ses__arena_init(&runs->arena, allocator);
}

void ses__runs_free(struct runs *runs)
{
    ses__memory_free(runs->arena.allocator, runs->items);
    ses__arena_free(&runs->arena);
}

bool ses__run_is_of(const struct run *run, struct span id)
{
    return ses__span_is(run->id, id);
}

bool ses__runs_continue(const struct runs *runs, const struct event_row *row)
{
    return runs->count > 0 && ses__run_is_of(&runs->items[runs->count - 1], row->invocation_id);
}

bool ses__runs_add(struct runs *runs, const struct event_row *row, bool is_turn)
{
    const struct span id = row->invocation_id;

    if (id.len == 0 || ses__runs_continue(runs, row))
        return true;
    const char *copy = ses__arena_text(&runs->arena, id.ptr, id.len);
    if (!copy || !LIST_GROW(runs->arena.allocator, runs))
        return false;
    runs->items[runs->count++] = (struct run){{copy, id.len}, row->seq, is_turn};
    return true;
}

static int compare_runs(const void *left, const void *right)
{
    const struct run *a = left;
    const struct run *b = right;
    const int order = ses__span_order(a->id, b->id);

    return order != 0 ? order : a->first < b->first ? -1 : a->first > b->first;
}

void ses__runs_sort(struct runs *runs)
{
    if (runs->count > 1)
        qsort(runs->items, runs->count, sizeof *runs->items, compare_runs);
}

int64_t ses__runs_first(const struct runs *runs, struct span id)
{
    size_t low = 0;
    size_t high = runs->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ses__span_order(runs->items[middle].id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < runs->count && ses__run_is_of(&runs->items[low], id) ? runs->items[low].first : 0;
}

/* -------------------------------------------------------------------------------------------- compactions */

/* Returns how many ranges begin at the time or before it. */
static size_t count_from(const struct coverage *coverage, int64_t from_us)
{
    size_t low = 0;
    size_t high = coverage->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (coverage->items[middle].from_us <= from_us)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool ses__coverage_has(const struct coverage *coverage, int64_t from_us, int64_t to_us)
{
    size_t count = count_from(coverage, from_us);
    return count > 0 && coverage->items[count - 1].to_us >= to_us; /* the last of them ends last */
}

bool ses__coverage_has_after(const struct coverage *coverage, int64_t time_us, size_t event)
{
    size_t i = count_from(coverage, time_us);

    while (i > 0 && coverage->items[i - 1].to_us >= time_us && coverage->items[i - 1].event <= event)
        i--;
    return i > 0 && coverage->items[i - 1].to_us >= time_us;
}

bool ses__coverage_add(struct coverage *coverage, struct coverage_range range)
{
    if (ses__coverage_has(coverage, range.from_us, range.to_us))
        return true;
    if (!LIST_GROW(coverage->allocator, coverage))
        return false;
    struct coverage_range *items = coverage->items;
    size_t end = count_from(coverage, range.from_us);
    size_t first = end;
    /* Remove the ranges that lie within it, also one with the same beginning. */
    while (first > 0 && items[first - 1].from_us == range.from_us)
        first--;
    while (end < coverage->count && items[end].to_us <= range.to_us)
        end++;
    memmove(&items[first + 1], &items[end], (coverage->count - end) * sizeof *items);
    items[first] = range;
    coverage->count = coverage->count - (end - first) + 1;
    return true;
}

/* ------------------------------------------------------------------------------------------- update times */

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void ses__update_times_begin(struct update_times *times, int64_t created_us, int64_t base_seq,
                             int64_t inherited)
{
    *times = (struct update_times){.created_us = created_us,
                                   .base_seq = base_seq,
                                   .inherited = inherited,
                                   .seq = base_seq,
                                   .high_us = inherited > base_seq ? TIMESTAMP_MIN : created_us};
}

int64_t ses__update_times_after(const struct update_times *times, int64_t seq, int64_t time_us)
{
    const int64_t high_us = later(times->high_us, time_us);
    const bool is_first_own = seq > times->inherited && times->seq <= times->inherited;
    return is_first_own ? later(high_us, times->created_us) : high_us;
}

bool ses__update_times_allow(const struct update_times *times, int64_t seq, int64_t time_us, int64_t high_us)
{
    const bool follows = seq == times->seq + 1 && (times->seq > times->base_seq || seq == 1);

    if (seq <= times->inherited)
        return high_us >= times->high_us;
    if (follows)
        return high_us == ses__update_times_after(times, seq, time_us);
    return high_us >= ses__update_times_after(times, seq, time_us);
}

void ses__update_times_pass(struct update_times *times, int64_t seq, int64_t high_us)
{
    times->seq = seq;
    times->high_us = high_us;
}

int64_t ses__update_times_end(const struct update_times *times)
{
    return later(times->high_us, times->created_us);
}
