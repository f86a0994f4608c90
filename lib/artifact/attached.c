/* The list of artifacts that are saved together with an event. */
#include <string.h>

#include "artifact/attached.h"
#include "base/error.h"
#include "base/memory.h"

int ses_artifacts_open(ses_store *store, const ses_key *key, ses_artifacts **artifacts, ses_error *error)
{
    int code = ses__store_begin_giving(store, artifacts, "artifacts", error);

    if (code != SES_OK)
        return code;
    code = ses__check_key(key, error);
    if (code != SES_OK)
        return ses__store_end(store, code);
    ses_artifacts *fresh = ses__memory_zeroed(&store->allocator, sizeof *fresh);
    if (!fresh)
        return ses__store_end(store, ses__error_nomem(error));
    fresh->base = ses__attached_for_append();
    fresh->store = store;
    ses__store_retain(store);
    ses__arena_init(&fresh->arena, &store->allocator);
    ses__arena_init(&fresh->texts, &store->allocator);
    fresh->inlined.allocator = &store->allocator;
    fresh->offload_bytes = -1;
    if (ses__key_copy(key, &fresh->arena, &fresh->key)) {
        *artifacts = fresh;
    } else {
        ses_artifacts_close(fresh);
        code = ses__error_nomem(error);
    }
    return ses__store_end(store, code);
}

static int keep_metadata(struct artifact_new *fresh, struct arena *arena, ses_error *error)
{
    const char **const words[] = {&fresh->options.mime_type, &fresh->options.display_name};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (*words[i] && !(*words[i] = ses__arena_text(arena, *words[i], strlen(*words[i]))))
            return ses__error_nomem(error);
    }
    if (fresh->metadata.ptr &&
        !(fresh->metadata.ptr = ses__arena_text(arena, fresh->metadata.ptr, fresh->metadata.len)))
        return ses__error_nomem(error);
    if (fresh->options.created_us) {
        int64_t *created_us = ses__arena_new(arena, sizeof *created_us);
        if (!created_us)
            return ses__error_nomem(error);
        *created_us = *fresh->options.created_us;
        fresh->options.created_us = created_us;
    }
    return SES_OK;
}

static int add_artifact(ses_artifacts *artifacts, const char *name, const void *bytes, size_t len,
                        const ses_artifact_save_options *options, ses_error *error)
{
    const ses_allocator *allocator = &artifacts->store->allocator;
    struct attached *item = NULL;

    if (!LIST_GROW(allocator, artifacts) || !(item = ses__memory_zeroed(allocator, sizeof *item)))
        return ses__error_nomem(error);
    ses__attached_drop_inline(artifacts);
    item->version = -1;
    item->call.at = (struct session_call){.store = artifacts->store, .key = artifacts->key};
    item->call.at.ref.key = &item->call.at.key;
    item->fresh.allocator = allocator;
    struct blob *blob = &item->fresh.blob;
    int code = ses__artifact_take_name(&item->call, name, error);
    if (code == SES_OK)
        code = ses__artifact_upload(&item->fresh, &item->call, bytes, len, options, error);
    /* The bytes are kept until the append, however long the caller keeps theirs. */
    if (code == SES_OK && blob->bytes && !item->fresh.buffer) {
        blob->bytes = item->fresh.buffer = ses__memory_copy(allocator, blob->bytes, (size_t)blob->size);
        code = blob->bytes ? SES_OK : ses__error_nomem(error);
    }
    if (code == SES_OK)
        code = keep_metadata(&item->fresh, &artifacts->arena, error);
    if (code == SES_OK) {
        artifacts->items[artifacts->count++] = item;
        artifacts->added++;
    } else {
        ses__artifact_new_free(&item->fresh, artifacts->store);
        ses__memory_free(allocator, item);
    }
    return code;
}

int ses_artifacts_add(ses_artifacts *artifacts, const char *name, const void *bytes, size_t len,
                      const ses_artifact_save_options *options, ses_error *error)
{
    int code = ses__store_begin(artifacts ? artifacts->store : NULL, error);
    return code == SES_OK ? ses__store_end(artifacts->store, add_artifact(artifacts, name ? name : "", bytes,
                                                                          len, options, error))
                          : code;
}

int ses_artifacts_offload(ses_artifacts *artifacts, int64_t bytes, ses_error *error)
{
    int code = ses__store_begin(artifacts ? artifacts->store : NULL, error);

    if (code != SES_OK)
        return code;
    if (bytes < 0)
        code = ses__error_set(error, SES_INVALID, "the number of bytes is negative");
    else
        artifacts->offload_bytes = bytes;
    return ses__store_end(artifacts->store, code);
}

int64_t ses_artifacts_version(const ses_artifacts *artifacts, size_t index)
{
    return index < artifacts->added ? artifacts->items[index]->version : -1;
}

/* Drops the bytes that were written to the store and that no artifact has, if the store is still open. */
void ses_artifacts_close(ses_artifacts *artifacts)
{
    if (!artifacts)
        return;
    ses_store *store = artifacts->store;
    const bool begun = ses__store_begin(store, NULL) == SES_OK;
    ses__attached_drop_inline(artifacts);
    for (size_t i = 0; i < artifacts->count; i++) {
        struct attached *item = artifacts->items[i];
        if (!begun)
            item->fresh.blob.written_id = 0;
        ses__artifact_new_free(&item->fresh, store);
        ses__memory_free(&store->allocator, item);
    }
    if (begun)
        (void)ses__store_end(store, SES_OK);
    ses__memory_free(&store->allocator, artifacts->inlined.items);
    ses__memory_free(&store->allocator, artifacts->items);
    ses__arena_free(&artifacts->texts);
    ses__arena_free(&artifacts->arena);
    ses__memory_free(&store->allocator, artifacts);
    ses__store_release(store);
}
