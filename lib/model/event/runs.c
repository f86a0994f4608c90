#include "model/event/runs.h"

#include <stdlib.h>

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

static bool begin_run(struct runs *runs, const struct event_row *row, bool is_turn)
{
    const struct span id = row->invocation_id;
    const char *copy = ses__arena_text(&runs->arena, id.ptr, id.len);

    if (!copy || !LIST_GROW(runs->arena.allocator, runs))
        return false;
    runs->items[runs->count++] = (struct run){{copy, id.len}, row->seq, is_turn};
    return true;
}

bool ses__runs_add(struct runs *runs, const struct event_row *row, bool is_turn)
{
    if (row->invocation_id.len == 0)
        return true;
    return ses__runs_continue(runs, row) || begin_run(runs, row, is_turn);
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
