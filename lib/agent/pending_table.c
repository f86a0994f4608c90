#include "agent/pending.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------- events */

struct pending_event *ses__pending_event_new(const ses_allocator *allocator)
{
    struct pending_event *event = ses__memory_zeroed(allocator, sizeof *event);

    if (event)
        ses__arena_init(&event->arena, allocator);
    return event;
}

void ses__pending_event_free(struct pending_event *event)
{
    const ses_allocator *allocator = event->arena.allocator;

    ses__arena_free(&event->arena);
    ses__memory_free(allocator, event);
}

/* ---------------------------------------------------------------------------------------------- groups */

/* The key by which calls are matched: the id, or the name if there is none. */
static struct span key_of(struct span id, struct span name, bool *by_name)
{
    static const struct span nameless = {"", 0};

    *by_name = id.len == 0;
    return !*by_name ? id : name.len > 0 ? name : nameless;
}

static struct pending_group **pending_slot_of(const struct pending_table *table, uint64_t hash)
{
    return &table->slots[(size_t)hash & (table->slot_count - 1)];
}

/* Returns where the pointer to the group is, or where it would be at the end of its slot. There must be
 * slots. */
static struct pending_group **find_group(const struct pending_table *table, uint64_t hash, bool by_name,
                                         struct span key)
{
    struct pending_group **at = pending_slot_of(table, hash);

    while (*at && !((*at)->hash == hash && (*at)->by_name == by_name && (*at)->key_len == key.len &&
                    memcmp((*at)->key, key.ptr, key.len) == 0))
        at = &(*at)->next;
    return at;
}

/* Ensures at least as many slots as groups. */
static bool make_slots(struct pending_table *table)
{
    const size_t count = table->slot_count ? table->slot_count * 2 : 16;
    struct pending_table larger = *table;

    if (table->group_count < table->slot_count)
        return true;
    larger.slot_count = count;
    larger.slots = ses__memory_zeroed(table->allocator, count * sizeof(struct pending_group *));
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < table->slot_count; i++) {
        struct pending_group *group = table->slots[i];
        while (group) {
            struct pending_group *next = group->next;
            struct pending_group **to = pending_slot_of(&larger, group->hash);
            group->next = *to;
            *to = group;
            group = next;
        }
    }
    ses__memory_free(table->allocator, table->slots);
    *table = larger;
    return true;
}

/* Returns the group of the key, and makes it if it is new. NULL: out of memory. */
static struct pending_group *ensure_group(struct pending_table *table, struct span key, bool by_name)
{
    const uint64_t hash = ses__hash_keyed(&table->seed, key);

    if (!make_slots(table))
        return NULL;
    struct pending_group **at = find_group(table, hash, by_name, key);
    if (*at)
        return *at;
    struct pending_group *group = ses__memory_new(table->allocator, sizeof *group + key.len);
    if (group) {
        *group = (struct pending_group){.hash = hash, .by_name = by_name, .key_len = key.len};
        memcpy(group->key, key.ptr, key.len);
        *at = group;
        table->group_count++;
    }
    return group;
}

static void remove_group(struct pending_table *table, struct pending_group **at)
{
    struct pending_group *group = *at;

    *at = group->next;
    ses__memory_free(table->allocator, group);
    table->group_count--;
}

/* ----------------------------------------------------------------------------------------------- calls */

static void add_to_log(struct pending_table *table, struct pending_call *call)
{
    call->before = table->newest;
    call->after = NULL;
    if (table->newest)
        table->newest->after = call;
    else
        table->oldest = call;
    table->newest = call;
    table->call_count++;
    call->event->calls++;
}

static void remove_from_log(struct pending_table *table, struct pending_call *call)
{
    struct pending_event *event = call->event;

    if (call->before)
        call->before->after = call->after;
    else
        table->oldest = call->after;
    if (call->after)
        call->after->before = call->before;
    else
        table->newest = call->before;
    table->call_count--;
    if (--event->calls == 0)
        ses__pending_event_free(event);
}

/* Adds at the end; a call with an id at the beginning. */
static void add_to_group(struct pending_group *group, struct pending_call *call)
{
    call->next = group->by_name ? NULL : group->first;
    if (group->by_name && group->first)
        group->last->next = call;
    else
        group->first = call;
    if (group->by_name)
        group->last = call;
}

bool ses__pending_add(struct pending_table *table, struct pending_call *call)
{
    const ses_text id = call->function.id;
    const ses_text name = call->function.name;
    bool by_name;
    struct span key = key_of((struct span){id.text, id.len}, (struct span){name.text, name.len}, &by_name);
    struct pending_group *group = ensure_group(table, key, by_name);

    if (!group)
        return false;
    add_to_group(group, call);
    add_to_log(table, call);
    return true;
}

void ses__pending_answer(struct pending_table *table, struct span id, struct span name)
{
    bool by_name;
    struct span key = key_of(id, name, &by_name);
    struct pending_group **at =
        table->slot_count ? find_group(table, ses__hash_keyed(&table->seed, key), by_name, key) : NULL;

    if (!at || !*at)
        return;
    struct pending_call *call = (*at)->first;
    do {
        struct pending_call *next = call->next;
        remove_from_log(table, call);
        call = next;
    } while (call && !by_name);
    (*at)->first = call;
    if (!call)
        remove_group(table, at);
}

void ses__pending_mark(struct pending_table *table, const struct pending_event *event, struct span id)
{
    struct pending_group **at =
        table->slot_count ? find_group(table, ses__hash_keyed(&table->seed, id), false, id) : NULL;
    struct pending_call *call = at && *at ? (*at)->first : NULL;

    for (; call && call->event == event && !call->is_long_running; call = call->next)
        call->is_long_running = true;
}

void ses__pending_table_free(struct pending_table *table)
{
    while (table->oldest)
        remove_from_log(table, table->oldest);
    for (size_t i = 0; i < table->slot_count; i++) {
        while (table->slots[i])
            remove_group(table, &table->slots[i]);
    }
    ses__memory_free(table->allocator, table->slots);
}
