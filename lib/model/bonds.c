#include "model/bonds.h"

#include <stdlib.h>

struct bond_invocation {
    struct table_entry entry;
    int64_t first;
    int64_t last;
};

struct bond_call {
    struct call call;
    int64_t seq;
    bool answered;
};

void ses__bonds_init(struct bonds *bonds, const ses_allocator *allocator, struct hash_seed seed, int64_t goal)
{
    *bonds = (struct bonds){.goal = goal,
                            .calls = {.allocator = allocator, .seed = seed},
                            .live_calls = {.allocator = allocator, .seed = seed}};
    ses__arena_init(&bonds->arena, allocator);
}

void ses__bonds_free(struct bonds *bonds)
{
    const ses_allocator *allocator = bonds->arena.allocator;
    ses__memory_free(allocator, bonds->items);
    ses__table_free(&bonds->invocations, allocator);
    ses__calls_free(&bonds->calls);
    ses__calls_free(&bonds->live_calls);
    ses__arena_free(&bonds->arena);
}

bool ses__bonds_add(struct bonds *bonds, int64_t first, int64_t last)
{
    if (first > bonds->goal || first >= last)
        return true;
    if (!LIST_GROW(bonds->arena.allocator, bonds))
        return false;
    bonds->items[bonds->count++] = (struct bond){first, last};
    return true;
}

/* ----------------------------------------------------------------------------------------- invocations */

/* NULL: out of memory. */
static struct bond_invocation *add_invocation(struct bonds *bonds, const struct table_entry *like,
                                              int64_t seq)
{
    struct bond_invocation *added = ses__arena_new(&bonds->arena, sizeof *added);
    char *id = ses__arena_text(&bonds->arena, like->key.ptr, like->key.len);

    if (!added || !id || !ses__table_reserve(&bonds->invocations, bonds->arena.allocator, 1))
        return NULL;
    *added = (struct bond_invocation){{like->hash, {id, like->key.len}}, seq, seq};
    (void)ses__table_put(&bonds->invocations, &added->entry);
    return added;
}

/* Notes the event's invocation. Invocations that begin after the goal are not kept. */
static bool note_invocation(struct bonds *bonds, const struct event_row *row)
{
    const struct span id = row->invocation_id;

    if (id.len == 0)
        return true;
    if (!bonds->latest || !ses__span_is(bonds->latest->entry.key, id)) {
        const struct table_entry like = {ses__hash_keyed(&bonds->calls.seed, id), id};
        struct bond_invocation *found = (struct bond_invocation *)ses__table_find(&bonds->invocations, &like);
        if (!found && row->seq > bonds->goal)
            return true;
        bonds->latest = found ? found : add_invocation(bonds, &like, row->seq);
    }
    if (bonds->latest)
        bonds->latest->last = row->seq;
    return bonds->latest != NULL;
}

/* ----------------------------------------------------------------------------------------------- calls */

/* A call whose id has an earlier call without a response belongs to that one. A call after the goal matters
 * only if it ends the bond of an earlier call. */
static bool note_bond_call(struct bonds *bonds, struct calls *calls, const struct stored_function *function,
                           int64_t seq)
{
    const bool has_id = function->id.len > 0;
    const struct bond_call *earlier =
        (struct bond_call *)ses__calls_find(calls, function->id, function->name);

    if (has_id && earlier ? !earlier->answered : seq > bonds->goal)
        return true;
    struct bond_call *call = ses__arena_new(&bonds->arena, sizeof *call);
    if (!call)
        return false;
    *call = (struct bond_call){.seq = seq};
    return ses__calls_add(calls, function->id, function->name, &call->call);
}

static bool note_bond_functions(struct bonds *bonds, struct calls *calls, const struct stored_event *event,
                                int64_t seq)
{
    bool ok = true;

    for (size_t i = 0; i < event->function_count && ok; i++) {
        const struct stored_function *function = &event->functions[i];
        if (!function->is_response)
            continue;
        struct bond_call *call = (struct bond_call *)ses__calls_answer(calls, function->id, function->name);
        if (call) {
            call->answered = true;
            ok = ses__bonds_add(bonds, call->seq, seq);
        }
    }
    for (size_t i = 0; i < event->function_count && ok; i++) {
        if (!event->functions[i].is_response)
            ok = note_bond_call(bonds, calls, &event->functions[i], seq);
    }
    return ok;
}

bool ses__bonds_want(const struct bonds *bonds, const struct event_row *row)
{
    return row->seq <= bonds->goal || bonds->calls.groups.count > 0 || bonds->live_calls.groups.count > 0;
}

bool ses__bonds_add_event(struct bonds *bonds, const struct event_row *row,
                          const struct stored_event *functions, bool is_live)
{
    return note_invocation(bonds, row) &&
           (!functions ||
            (note_bond_functions(bonds, &bonds->calls, functions, row->seq) &&
             (!is_live || note_bond_functions(bonds, &bonds->live_calls, functions, row->seq))));
}

/* ------------------------------------------------------------------------------------------ boundaries */

static int compare_bonds(const void *left, const void *right)
{
    const struct bond *a = left;
    const struct bond *b = right;
    return a->first < b->first ? -1 : a->first > b->first;
}

bool ses__bonds_settle(struct bonds *bonds)
{
    const struct table_entry *entry;
    size_t at = 0;
    bool ok = true;

    while (ok && (entry = ses__table_next(&bonds->invocations, &at)) != NULL) {
        const struct bond_invocation *invocation = (const struct bond_invocation *)entry;
        ok = ses__bonds_add(bonds, invocation->first, invocation->last);
    }
    if (ok && bonds->count > 1)
        qsort(bonds->items, bonds->count, sizeof *bonds->items, compare_bonds);
    return ok;
}

int64_t ses__bonds_before(const struct bonds *bonds, int64_t seq)
{
    for (size_t i = bonds->count; i > 0; i--) {
        const struct bond *bond = &bonds->items[i - 1];
        if (bond->first <= seq && seq < bond->last)
            seq = bond->first - 1;
    }
    return seq;
}

int64_t ses__bonds_after(const struct bonds *bonds, int64_t seq)
{
    for (size_t i = 0; i < bonds->count; i++) {
        const struct bond *bond = &bonds->items[i];
        if (bond->first <= seq && seq < bond->last)
            seq = bond->last;
    }
    return seq;
}
