#include "model/calls.h"

#include <string.h>

/* The calls of one id, or those of one name without an id. */
struct call_group {
    struct table_entry entry;
    struct call *first;
    struct call *last; /* of those without an id */
    char key[];
};

/* A name has the complement of its hash, so it is never the key of an equal id. */
static struct table_entry key_of_call(const struct calls *calls, struct span id, struct span name)
{
    static const struct span nameless = {"", 0};
    const struct span key = id.len > 0 ? id : name.len > 0 ? name : nameless;
    const uint64_t hash = ses__hash_keyed(&calls->seed, key);

    return (struct table_entry){id.len > 0 ? hash : ~hash, key};
}

static struct call_group *find_group(const struct calls *calls, struct span id, struct span name)
{
    const struct table_entry key = key_of_call(calls, id, name);
    return (struct call_group *)ses__table_find(&calls->groups, &key);
}

/* NULL: out of memory. */
static struct call_group *add_group(struct calls *calls, struct span id, struct span name)
{
    const struct table_entry key = key_of_call(calls, id, name);
    struct call_group *group = NULL;

    if (ses__table_reserve(&calls->groups, calls->allocator, 1))
        group = ses__memory_new(calls->allocator, sizeof *group + key.key.len);
    if (!group)
        return NULL;
    *group = (struct call_group){.entry = {key.hash, {group->key, key.key.len}}};
    memcpy(group->key, key.key.ptr, key.key.len);
    (void)ses__table_put(&calls->groups, &group->entry);
    return group;
}

struct call *ses__calls_find(const struct calls *calls, struct span id, struct span name)
{
    const struct call_group *group = find_group(calls, id, name);
    return group ? group->first : NULL;
}

bool ses__calls_add(struct calls *calls, struct span id, struct span name, struct call *call)
{
    struct call_group *group = find_group(calls, id, name);

    if (!group)
        group = add_group(calls, id, name);
    if (!group)
        return false;
    call->next = id.len > 0 ? group->first : NULL;
    if (group->first && id.len == 0)
        group->last->next = call;
    else
        group->first = call;
    group->last = call;
    return true;
}

struct call *ses__calls_answer(struct calls *calls, struct span id, struct span name)
{
    struct call_group *group = find_group(calls, id, name);

    if (!group)
        return NULL;
    struct call *call = group->first;
    if (id.len == 0) {
        group->first = call->next;
        call->next = NULL;
    } else if (calls->forgets) {
        group->first = NULL;
    }
    if (!group->first) {
        (void)ses__table_remove(&calls->groups, &group->entry);
        ses__memory_free(calls->allocator, group);
    }
    return call;
}

void ses__calls_free(struct calls *calls)
{
    struct table_entry *entry;
    size_t at = 0;

    while ((entry = ses__table_next(&calls->groups, &at)) != NULL)
        ses__memory_free(calls->allocator, entry);
    ses__table_free(&calls->groups, calls->allocator);
}
