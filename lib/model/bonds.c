#include "model/bonds.h"

#include <stdlib.h>
#include <string.h>

/* A call without an id that has no response yet. */
struct open_call {
    int64_t seq;
    struct open_call *next;
};

struct bond_entry {
    uint64_t hash;
    bool by_name; /* calls without an id; otherwise one invocation, or calls of one id */
    bool ended;   /* for calls: they have a response */
    int64_t first;
    int64_t last;
    struct open_call *oldest; /* by name */
    struct open_call *newest;
    size_t id_len;
    char id[];
};

void ses__bonds_init(struct bonds *bonds, const ses_allocator *allocator, struct hash_seed seed, int64_t goal)
{
    *bonds = (struct bonds){.seed = seed, .goal = goal};
    ses__arena_init(&bonds->arena, allocator);
}

void ses__bonds_free(struct bonds *bonds)
{
    const ses_allocator *allocator = bonds->arena.allocator;
    ses__memory_free(allocator, bonds->items);
    ses__memory_free(allocator, bonds->invocations.slots);
    ses__memory_free(allocator, bonds->calls.slots);
    ses__memory_free(allocator, bonds->live_calls.slots);
    ses__arena_free(&bonds->arena);
}

bool ses__bonds_add(struct bonds *bonds, int64_t first, int64_t last)
{
    void *items = bonds->items;

    if (first > bonds->goal || first >= last)
        return true;
    bool ok = ses__memory_grow(bonds->arena.allocator, &items, &bonds->capacity, bonds->count + 1,
                               sizeof *bonds->items);
    bonds->items = items;
    if (ok)
        bonds->items[bonds->count++] = (struct bond){first, last};
    return ok;
}

/* ---------------------------------------------------------------------------------------------- tables */

static bool bond_entry_is(const struct bond_entry *entry, uint64_t hash, bool by_name, struct span id)
{
    return entry->hash == hash && entry->by_name == by_name && entry->id_len == id.len &&
           memcmp(entry->id, id.ptr, id.len) == 0;
}

/* Returns the entry's slot, or the free slot where it would be. There must be a free slot. */
static struct bond_entry **bond_slot_of(const struct bond_table *table, uint64_t hash, bool by_name,
                                        struct span id)
{
    size_t at = (size_t)hash & (table->capacity - 1);
    while (table->slots[at] && !bond_entry_is(table->slots[at], hash, by_name, id))
        at = (at + 1) & (table->capacity - 1);
    return &table->slots[at];
}

static struct bond_entry *find_bond(const struct bonds *bonds, const struct bond_table *table, bool by_name,
                                    struct span id)
{
    if (table->count == 0)
        return NULL;
    return *bond_slot_of(table, ses__hash_keyed(&bonds->seed, id), by_name, id);
}

/* Keeps the table at most half full. */
static bool bond_table_make_room(struct bonds *bonds, struct bond_table *table)
{
    const ses_allocator *allocator = bonds->arena.allocator;
    struct bond_table larger = {.count = table->count,
                                .capacity = table->capacity ? table->capacity * 2 : 64};

    if ((table->count + 1) * 2 <= table->capacity)
        return true;
    larger.slots = ses__memory_zeroed(allocator, larger.capacity * sizeof(struct bond_entry *));
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < table->capacity; i++) {
        struct bond_entry *entry = table->slots[i];
        if (entry)
            *bond_slot_of(&larger, entry->hash, entry->by_name, (struct span){entry->id, entry->id_len}) =
                entry;
    }
    ses__memory_free(allocator, table->slots);
    *table = larger;
    return true;
}

/* Adds an entry that does not exist yet. NULL: out of memory. */
static struct bond_entry *add_bond_entry(struct bonds *bonds, struct bond_table *table, bool by_name,
                                         struct span id, int64_t seq)
{
    const uint64_t hash = ses__hash_keyed(&bonds->seed, id);
    struct bond_entry *entry = ses__arena_new(&bonds->arena, sizeof *entry + id.len);

    if (!entry || !bond_table_make_room(bonds, table))
        return NULL;
    *entry =
        (struct bond_entry){.hash = hash, .by_name = by_name, .first = seq, .last = seq, .id_len = id.len};
    memcpy(entry->id, id.ptr, id.len);
    *bond_slot_of(table, hash, by_name, id) = entry;
    table->count++;
    return entry;
}

static bool add_bonds_of(struct bonds *bonds, const struct bond_table *table)
{
    bool ok = true;

    for (size_t i = 0; i < table->capacity && ok; i++) {
        if (table->slots[i])
            ok = ses__bonds_add(bonds, table->slots[i]->first, table->slots[i]->last);
    }
    return ok;
}

/* ----------------------------------------------------------------------------------------- invocations */

/* Notes the event's invocation. Invocations that begin after the goal are not kept. */
static bool note_invocation(struct bonds *bonds, const struct event_row *row)
{
    const struct span id = row->invocation_id;
    struct bond_entry *entry = bonds->latest;

    if (id.len == 0)
        return true;
    if (!entry || entry->id_len != id.len || memcmp(entry->id, id.ptr, id.len) != 0)
        entry = find_bond(bonds, &bonds->invocations, false, id);
    if (!entry && row->seq > bonds->goal)
        return true;
    if (!entry)
        entry = add_bond_entry(bonds, &bonds->invocations, false, id, row->seq);
    if (!entry)
        return false;
    entry->last = row->seq;
    bonds->latest = entry;
    return true;
}

/* ----------------------------------------------------------------------------------------------- calls */

static bool push_call(struct bonds *bonds, struct bond_entry *entry, int64_t seq)
{
    struct open_call *call = ses__arena_new(&bonds->arena, sizeof *call);

    if (!call)
        return false;
    *call = (struct open_call){.seq = seq};
    if (entry->oldest)
        entry->newest->next = call;
    else
        entry->oldest = call;
    entry->newest = call;
    return true;
}

/* A repeated call of an id ends the bond of the earlier calls of that id. */
static bool repeat_call(struct bonds *bonds, struct bond_entry *entry, int64_t seq)
{
    if (!entry->ended)
        return true;
    bool ok = ses__bonds_add(bonds, entry->first, entry->last);
    entry->first = seq;
    entry->last = seq;
    entry->ended = false;
    return ok;
}

/* An empty id counts as no id. */
static bool is_by_name(const struct stored_function *function, struct span *id)
{
    static const struct span nameless = {"", 0};
    const bool by_name = function->id.len == 0;

    *id = !by_name ? function->id : function->name.len > 0 ? function->name : nameless;
    return by_name;
}

static bool note_bond_call(struct bonds *bonds, struct bond_table *table,
                           const struct stored_function *function, int64_t seq)
{
    struct span id;
    const bool by_name = is_by_name(function, &id);
    struct bond_entry *entry = find_bond(bonds, table, by_name, id);

    if (entry && !by_name)
        return repeat_call(bonds, entry, seq);
    if (seq > bonds->goal)
        return true;
    if (!entry)
        entry = add_bond_entry(bonds, table, by_name, id, seq);
    return entry && (!by_name || push_call(bonds, entry, seq));
}

static bool note_bond_response(struct bonds *bonds, struct bond_table *table,
                               const struct stored_function *function, int64_t seq)
{
    struct span id;
    const bool by_name = is_by_name(function, &id);
    struct bond_entry *entry = find_bond(bonds, table, by_name, id);

    if (!entry)
        return true;
    if (by_name) {
        const struct open_call *call = entry->oldest;
        if (call)
            entry->oldest = call->next;
        return !call || ses__bonds_add(bonds, call->seq, seq);
    }
    entry->last = seq;
    entry->ended = true;
    return true;
}

static bool note_bond_functions(struct bonds *bonds, struct bond_table *table,
                                const struct stored_event *event, int64_t seq)
{
    bool ok = true;

    for (size_t i = 0; i < event->function_count && ok; i++) {
        if (event->functions[i].is_response)
            ok = note_bond_response(bonds, table, &event->functions[i], seq);
    }
    for (size_t i = 0; i < event->function_count && ok; i++) {
        if (!event->functions[i].is_response)
            ok = note_bond_call(bonds, table, &event->functions[i], seq);
    }
    return ok;
}

bool ses__bonds_want(const struct bonds *bonds, const struct event_row *row)
{
    return row->seq <= bonds->goal || bonds->calls.count > 0;
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
    bool ok = add_bonds_of(bonds, &bonds->invocations) && add_bonds_of(bonds, &bonds->calls) &&
              add_bonds_of(bonds, &bonds->live_calls);

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
