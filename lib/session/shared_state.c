/* Reads and changes the shared state of an app or a user without a session. */
#include "base/error.h"
#include "model/state/delta.h"
#include "session/store.h"

/* Rejects a prefix, because a session's state shows another key under that name. */
static int refuse_prefix(struct span name, ses_error *error)
{
    return ses__error_set(
        error, SES_INVALID,
        "the key \"%.200s\" begins with the prefix of a scope; keys of shared state have none", name.ptr);
}

/* -------------------------------------------------------------------------------------------- reading */

static int read_shared_state(ses_store *store, struct shared_get_op *op, const ses_call_options *options,
                             char **json, size_t *len, ses_error *error)
{
    int code = ses__check_owner(op->app, op->user, NULL, error);

    if (code == SES_OK)
        code = ses__take_call_options(store, options, &op->limits, error);
    if (code != SES_OK)
        return code;
    op->allocator = &store->allocator;
    code = ses__door_get_shared(store->storage, op, error);
    return ses__give_json(code, op->json, op->len, json, len);
}

int ses_shared_state_json(ses_store *store, const char *app, const char *user,
                          const ses_call_options *options, char **json, size_t *len, ses_error *error)
{
    struct shared_get_op op = {.app = app, .user = user};
    int code = ses__store_begin_giving(store, json, "json", error);
    return code == SES_OK ? ses__store_end(store, read_shared_state(store, &op, options, json, len, error))
                          : code;
}

int ses_shared_state_get(ses_store *store, const char *app, const char *user, const char *name,
                         const ses_call_options *options, char **json, size_t *len, ses_error *error)
{
    struct shared_get_op op = {.app = app, .user = user, .name = name};
    int code = ses__store_begin_giving(store, json, "json", error);

    if (code != SES_OK)
        return code;
    code = ses__check_argument(name, "name", error);
    if (code == SES_OK && ses__scope_of(ses__span_of(name), NULL) != SCOPE_SESSION)
        code = refuse_prefix(ses__span_of(name), error);
    else if (code == SES_OK)
        code = ses__scope_check_name(ses__span_of(name), error);
    if (code == SES_OK)
        code = read_shared_state(store, &op, options, json, len, error);
    if (code == SES_ABSENT && len)
        *len = 0;
    return ses__store_end(store, code);
}

/* ------------------------------------------------------------------------------------------- changing */

/* Reads the members as keys of the scope, which are given without its prefix. */
static int read_shared_keys(struct changes *keys, struct span text, enum scope scope, ses_error *error)
{
    int code = ses__delta_read_text(text, 0, &keys->arena, &keys->delta, error);

    for (size_t i = 0; i < keys->delta.count && code == SES_OK; i++) {
        struct delta_op *op = &keys->delta.ops[i];
        if (op->scope != SCOPE_SESSION)
            code = refuse_prefix(op->name, error);
        op->scope = scope;
    }
    return code;
}

static int change_shared_state(ses_store *store, struct shared_set_op *op, const char *delta,
                               size_t delta_len, const ses_shared_state_options *given, ses_error *error)
{
    const enum scope scope = ses__scope_shared_by(op->user);
    ses_shared_state_options options;
    struct changes changes;
    struct changes seen;
    struct span text;
    int code = ses__check_owner(op->app, op->user, NULL, error);

    if (code == SES_OK)
        code = ses__take_options(&options, sizeof options, given, "shared state options", error);
    if (code == SES_OK)
        code = ses__check_text(store, delta, delta_len, "delta", &text, error);
    if (code != SES_OK)
        return code;
    ses__changes_init(&changes, &store->allocator);
    ses__changes_init(&seen, &store->allocator);
    code = read_shared_keys(&changes, text, scope, error);
    if (code != SES_OK)
        ses__error_prefix(error, "the delta: ");
    op->bytes = text.len;
    op->delta = &changes.delta;
    op->expected = &seen.delta;
    op->limits = LIMITS_OF(store, options);
    if (code == SES_OK && options.expected) {
        code = ses__check_span(options.expected, options.expected_len, "expected", &text, error);
        if (code == SES_OK)
            code = read_shared_keys(&seen, text, scope, error);
        if (code != SES_OK && error) {
            ses__error_prefix(error, "shared state options: `expected`: ");
            error->offset = -1; /* it would be taken for an offset in the delta */
        }
    }
    if (code == SES_OK)
        code = ses__door_set_shared(store->storage, op, error);
    ses__changes_free(&seen);
    ses__changes_free(&changes);
    return code;
}

int ses_shared_state_change(ses_store *store, const char *app, const char *user, const char *delta,
                            size_t delta_len, const ses_shared_state_options *options, ses_error *error)
{
    struct shared_set_op op = {.app = app, .user = user};
    int code = ses__store_begin(store, error);
    return code == SES_OK
               ? ses__store_end(store, change_shared_state(store, &op, delta, delta_len, options, error))
               : code;
}
