/* Reads the whole state by key, without a handle. */
#include "base/error.h"
#include "base/memory.h"
#include "session/store.h"

/* Reads the whole state, as a text for the caller. */
static int read_state(ses_store *store, const ses_key *key, char **json, size_t *len, ses_error *error)
{
    struct snapshot snapshot;
    struct get_op op = {.key = key, .range = {.none = true}, .snapshot = &snapshot};
    struct span text = {NULL, 0};
    int code = ses__check_key(key, error);
    if (code != SES_OK)
        return code;
    code = ses__snapshot_init(&snapshot, &store->allocator, store->seed, error);
    if (code == SES_OK)
        code = ses__door_get(store->storage, &op, error);
    if (code == SES_OK)
        code = ses__state_to_json(&snapshot.state, &text, error);
    char *copy = code == SES_OK ? ses__memory_text_of(&store->allocator, text) : NULL;
    if (code == SES_OK && !copy)
        code = ses__error_nomem(error);
    ses__snapshot_free(&snapshot);
    return ses__give_json(code, copy, text.len, json, len);
}

int ses_state_json_by_key(ses_store *store, const ses_key *key, const ses_call_options *options, char **json,
                          size_t *len, ses_error *error)
{
    int code = ses__check_output(json, "json", error);
    if (code == SES_OK)
        code = ses__check_call_options(options, error);
    if (code == SES_OK)
        code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, read_state(store, key, json, len, error)) : code;
}
