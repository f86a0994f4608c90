/* Imports shared keys. Missing keys are written; existing keys stay, unless they are to be replaced. */
#include <string.h>

#include "base/error.h"
#include "session/transfer/import.h"

/* Limits of one write. */
enum { KEYS_AT_ONCE = 1000, KEY_BYTES_AT_ONCE = 1024 * 1024 };
/* Another writer may change a key between reading and writing. Then both are repeated, up to this many
 * times. */
enum { KEY_TRIES = 100 };

int ses__import_owner(struct import_call *call, ses_error *error)
{
    const ses_import_options *options = &call->options;
    const bool is_user = ses__line_is(&call->line, "user");
    const char *app = ses__line_text(&call->line, LINE_APP);
    const char *user = is_user ? ses__line_text(&call->line, LINE_USER) : NULL;
    struct import_keys *keys = &call->keys;
    int code = ses__import_write_keys(call, error);

    if (code != SES_OK)
        return code;
    if (!app || (is_user && !user))
        return ses__import_refuse(call, SES_INVALID, "an app or a user has no name", error);
    app = options->app ? options->app : app;
    user = is_user && options->user ? options->user : user;
    code = ses__check_owner(app, user, NULL, error);
    if (code != SES_OK)
        return ses__lines_refuse(&call->lines, error, code);
    memcpy(keys->app, app, strlen(app) + 1);
    keys->user = user ? memcpy(keys->user_name, user, strlen(user) + 1) : NULL;
    keys->has_owner = true;
    keys->is_written = false;
    return SES_OK;
}

/* -------------------------------------------------------------------------------------------- reading */

/* Keys of shared state have no prefix, so one that looks like a prefix is a part of the key. */
static int add_key(struct import_keys *keys, struct span key, struct span json, ses_error *error)
{
    struct delta_op op = {.scope = ses__scope_shared_by(keys->user)};
    int code = ses__json_check_within(json.ptr, json.len, 1, &json, error);

    if (code == SES_OK && key.len > SES_ID_MAX)
        code = ses__error_set(error, SES_INVALID, "the shared key \"%.40s...\" has more than %d bytes",
                              key.ptr, SES_ID_MAX);
    if (code == SES_OK)
        code = ses__scope_check_name(key, error);
    if (code == SES_OK && ses__scope_is_tombstone(json))
        code = ses__error_set(error, SES_INVALID, "a shared key cannot have the tombstone as its value");
    if (code != SES_OK)
        return code;
    op.key = op.name = (struct span){ses__arena_text(&keys->arena, key.ptr, key.len), key.len};
    op.value = (struct span){ses__arena_text(&keys->arena, json.ptr, json.len), json.len};
    keys->bytes += key.len + json.len;
    return op.key.ptr && op.value.ptr && ses__delta_add(&keys->delta, keys->arena.allocator, op)
               ? SES_OK
               : ses__error_nomem(error);
}

int ses__import_key(struct import_call *call, ses_error *error)
{
    const struct line *line = &call->line;
    const struct span json = ses__line_json(line, LINE_VALUE, LINE_VALUE_TEXT);
    struct import_keys *keys = &call->keys;

    if (!keys->has_owner)
        return ses__import_refuse(call, SES_INVALID, "a key comes before the app or user that has it", error);
    if (!ses__line_has(line, LINE_KEY) || !json.ptr)
        return ses__import_refuse(call, SES_INVALID, "a key has no name or no value", error);
    if (keys->delta.count == 0)
        keys->line = call->lines.number;
    int code = add_key(keys, line->of[LINE_KEY].text, json, error);
    if (code != SES_OK)
        return ses__lines_refuse(&call->lines, error, code);
    if (keys->delta.count < KEYS_AT_ONCE && keys->bytes < KEY_BYTES_AT_ONCE)
        return SES_OK;
    return ses__import_write_keys(call, error);
}

/* -------------------------------------------------------------------------------------------- writing */

struct key_changes {
    struct arena arena;
    struct delta delta;
    struct delta seen;
    int64_t kept;
};

/* Compares the key with the stored one. Adds it to the changes if there is none, or if it is to be
 * replaced. */
static int compare_key(struct import_call *call, const struct delta_op *op, bool reports,
                       struct key_changes *changes, ses_error *error)
{
    const ses_allocator *allocator = &call->store->allocator;
    struct shared_get_op get = {.limits = call->limits,
                                .app = call->keys.app,
                                .user = call->keys.user,
                                .name = op->key.ptr,
                                .allocator = allocator};
    int code = ses__door_get_shared(call->store->storage, &get, error);
    struct delta_op seen = *op;

    const bool is_there = code == SES_OK && get.json;
    const bool same = is_there && get.len == op->value.len && memcmp(get.json, op->value.ptr, get.len) == 0;
    const bool writes = !is_there || (!same && (call->options.flags & SES_IMPORT_REPLACE_KEYS));
    if (is_there && !same) {
        const ses_import_item item = {.app = call->keys.app,
                                      .user = call->keys.user,
                                      .key = op->key.ptr,
                                      .outcome = writes ? SES_IMPORTED_KEY_REPLACED : SES_IMPORTED_KEY_KEPT,
                                      .line = call->keys.line};
        changes->kept += writes ? 0 : 1;
        if (reports)
            ses__import_report(call, &item);
    }
    seen.removes = !is_there;
    if (is_there && writes)
        seen.value = (struct span){ses__arena_text(&changes->arena, get.json, get.len), get.len};
    if (code == SES_OK && writes &&
        ((is_there && !seen.value.ptr) || !ses__delta_add(&changes->delta, allocator, *op) ||
         !ses__delta_add(&changes->seen, allocator, seen)))
        code = ses__error_nomem(error);
    ses_free(get.json);
    return code;
}

static int try_to_write_keys(struct import_call *call, bool reports, ses_error *error)
{
    const struct delta *read = &call->keys.delta;
    struct key_changes changes = {.kept = 0};
    struct shared_set_op set = {.limits = call->limits,
                                .app = call->keys.app,
                                .user = call->keys.user,
                                .makes_owner = true,
                                .delta = &changes.delta,
                                .expected = &changes.seen,
                                .bytes = call->keys.bytes};
    int code = SES_OK;

    ses__arena_init(&changes.arena, &call->store->allocator);
    for (size_t i = 0; i < read->count && code == SES_OK; i++)
        code = compare_key(call, &read->ops[i], reports, &changes, error);
    if (code == SES_OK && !(call->options.flags & SES_IMPORT_DRY_RUN))
        code = ses__door_set_shared(call->store->storage, &set, error);
    if (code == SES_OK) {
        call->report.keys += (int64_t)changes.delta.count;
        call->report.keys_kept += changes.kept;
    }
    ses__delta_free(&changes.delta, &call->store->allocator);
    ses__delta_free(&changes.seen, &call->store->allocator);
    ses__arena_free(&changes.arena);
    return code;
}

int ses__import_write_keys(struct import_call *call, ses_error *error)
{
    struct import_keys *keys = &call->keys;
    int code = SES_STALE;

    if (!keys->has_owner || (keys->is_written && keys->delta.count == 0))
        return SES_OK;
    for (int tries = 0; tries < KEY_TRIES && code == SES_STALE; tries++) {
        ses__error_clear(error);
        code = try_to_write_keys(call, tries == 0, error);
    }
    ses__arena_reset(&keys->arena);
    keys->delta.count = 0;
    keys->bytes = 0;
    keys->is_written = true;
    return code;
}
