#include "model/usage/usage.h"

void ses__usage_tally_init(struct usage_tally *tally, const ses_allocator *allocator, struct hash_seed seed)
{
    *tally = (struct usage_tally){.allocator = allocator, .seed = seed, .total = NO_USAGE};
    ses__arena_init(&tally->arena, allocator);
    ses__buffer_init(&tally->key, allocator);
}

void ses__usage_tally_free(struct usage_tally *tally)
{
    ses__table_free(&tally->parts, tally->allocator);
    ses__arena_free(&tally->arena);
    ses__buffer_free(&tally->key);
}

/* The key of a part: its quarter and its model. */
static struct table_entry key_of(struct usage_tally *tally, int64_t quarter, struct span model)
{
    struct table_entry like = {.hash = 0};

    ses__buffer_cut(&tally->key, 0);
    ses__buffer_add(&tally->key, (const char *)&quarter, sizeof quarter);
    ses__buffer_add(&tally->key, model.ptr, model.len);
    like.key = (struct span){tally->key.data, tally->key.len};
    like.hash = tally->key.failed ? 0 : ses__hash_keyed(&tally->seed, like.key);
    return like;
}

struct usage_part *ses__usage_tally_find(struct usage_tally *tally, int64_t quarter, struct span model)
{
    const struct table_entry like = key_of(tally, quarter, model);
    return tally->key.failed ? NULL : (struct usage_part *)ses__table_find(&tally->parts, &like);
}

bool ses__usage_tally_add(struct usage_tally *tally, const struct usage_sums *call, struct span model)
{
    const int64_t quarter = ses__usage_quarter(call->first_us);
    const struct table_entry like = key_of(tally, quarter, model);

    if (tally->key.failed)
        return false;
    struct usage_part *part = (struct usage_part *)ses__table_find(&tally->parts, &like);
    if (!part) {
        const char *key = ses__arena_text(&tally->arena, like.key.ptr, like.key.len);
        part = ses__arena_new(&tally->arena, sizeof *part);
        if (!key || !part || !ses__table_reserve(&tally->parts, tally->allocator, 1))
            return false;
        *part = (struct usage_part){.entry = {like.hash, {key, like.key.len}},
                                    .quarter = quarter,
                                    .model = {key + sizeof quarter, model.len},
                                    .sums = NO_USAGE};
        (void)ses__table_put(&tally->parts, &part->entry);
    }
    ses__usage_add(&part->sums, call);
    ses__usage_add(&tally->total, call);
    return true;
}
