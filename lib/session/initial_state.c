#include "session/initial_state.h"

#include "base/error.h"
#include "json/reader.h"

void ses__initial_state_init(struct initial_state *initial, const ses_store *store)
{
    *initial = (struct initial_state){.stored = {NULL, 0}};
    ses__changes_init(&initial->changes, &store->allocator);
}

void ses__initial_state_free(struct initial_state *initial)
{
    ses__edits_free(&initial->edits, initial->changes.arena.allocator);
    ses__changes_free(&initial->changes);
}

int ses__initial_state_read(struct initial_state *initial, struct span text, ses_error *error)
{
    struct arena *arena = &initial->changes.arena;
    struct delta *delta = &initial->changes.delta;
    struct json_reader reader;
    bool stores = false; /* a key that is not temporary */
    int code = ses__json_start_object(&reader, text, "the state", error);

    if (code == SES_OK)
        code = ses__delta_merge(&reader, arena, NULL, delta, &initial->edits, error);
    if (code == SES_OK && !ses__json_finish(&reader))
        code = ses__json_error(&reader, error);
    for (size_t i = 0; i < delta->count; i++)
        stores = stores || delta->ops[i].scope != SCOPE_TEMP;
    if (code == SES_OK && stores) {
        initial->stored.ptr = ses__edits_apply(&initial->edits, arena, text, &initial->stored.len);
        if (!initial->stored.ptr)
            code = ses__error_nomem(error);
    }
    if (code != SES_OK)
        ses__error_prefix(error, "the initial state: ");
    return code;
}
