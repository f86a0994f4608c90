#include "model/state/state_map.h"

void ses__state_entry_free(const ses_allocator *allocator, struct state_entry *entry)
{
    if (entry) {
        ses__memory_free(allocator, entry->text);
        ses__memory_free(allocator, entry);
    }
}

struct state_map *ses__state_map_new(const ses_allocator *allocator)
{
    struct state_map *map = ses__memory_zeroed(allocator, sizeof *map);
    if (map)
        map->references = 1;
    return map;
}

static void free_entries(const ses_allocator *allocator, struct state_map *map)
{
    struct state_entry *entry;
    size_t at = 0;

    while ((entry = ses__state_map_next(map, &at)) != NULL)
        ses__state_entry_free(allocator, entry);
}

void ses__state_map_clear(const ses_allocator *allocator, struct state_map *map)
{
    free_entries(allocator, map);
    ses__table_clear(&map->table);
}

void ses__state_map_release(const ses_allocator *allocator, struct state_map *map)
{
    if (map && --map->references == 0) {
        free_entries(allocator, map);
        ses__table_free(&map->table, allocator);
        ses__memory_free(allocator, map);
    }
}

void ses__state_map_put(const ses_allocator *allocator, struct state_map *map, struct state_entry *entry)
{
    ses__state_entry_free(allocator, (struct state_entry *)ses__table_put(&map->table, &entry->entry));
}

void ses__state_map_remove(const ses_allocator *allocator, struct state_map *map,
                           const struct state_entry *like)
{
    ses__state_entry_free(allocator, (struct state_entry *)ses__table_remove(&map->table, &like->entry));
}
