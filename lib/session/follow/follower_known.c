#include "session/follow/follower.h"

#include <string.h>

#include "base/memory.h"

/* Returns the first place whose name is not before `name`. */
static size_t find_name(const struct known_list *list, const char *name)
{
    size_t low = 0;
    size_t high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(list->items[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct known_list *list, size_t at, const char *name)
{
    return at < list->count && strcmp(list->items[at].name, name) == 0;
}

static struct follow_known *insert_known(struct known_list *list, const ses_allocator *allocator, size_t at,
                                         const char *name)
{
    char *copy = ses__memory_copy(allocator, name, strlen(name));

    if (!copy || !LIST_GROW(allocator, list)) {
        ses__memory_free(allocator, copy);
        return NULL;
    }
    memmove(list->items + at + 1, list->items + at, (list->count - at) * sizeof *list->items);
    list->items[at] = (struct follow_known){.name = copy};
    list->count++;
    return &list->items[at];
}

struct follow_place *ses__known_place(struct known_list *list, const ses_allocator *allocator,
                                      const char *name)
{
    const size_t at = find_name(list, name);
    struct follow_known *known =
        is_at(list, at, name) ? &list->items[at] : insert_known(list, allocator, at, name);

    return known ? &known->place : NULL;
}

void ses__known_remove(struct known_list *list, const ses_allocator *allocator, const char *name)
{
    const size_t at = find_name(list, name);

    if (is_at(list, at, name)) {
        ses__memory_free(allocator, list->items[at].name);
        list->count--;
        memmove(list->items + at, list->items + at + 1, (list->count - at) * sizeof *list->items);
    }
}

void ses__known_free(struct known_list *list, const ses_allocator *allocator)
{
    for (size_t i = 0; i < list->count; i++)
        ses__memory_free(allocator, list->items[i].name);
    ses__memory_free(allocator, list->items);
    *list = (struct known_list){.items = NULL};
}

/* At the end of a log the version is the sum of the epoch and the number. */
static uint64_t version_of(const struct follow_place *place)
{
    return (uint64_t)place->epoch + (uint64_t)place->seq;
}

struct watched ses__known_state(const struct known_list *list, const ses_key *key)
{
    struct watched state = {.app = key->app, .user = key->user, .count = (int64_t)list->count};
    uint64_t sum = 0;

    if (key->session)
        return (struct watched){.session_id = list->items[0].place.session_id,
                                .versions = (int64_t)version_of(&list->items[0].place)};
    for (size_t i = 0; i < list->count; i++) {
        const struct follow_place *place = &list->items[i].place;
        sum += version_of(place) & UINT32_MAX;
        if (place->session_id > state.session_id)
            state.session_id = place->session_id;
    }
    state.versions = (int64_t)sum;
    return state;
}
