/* Creating sessions. */
#include "base/error.h"
#include "session/initial_state.h"
#include "session/session.h"
#include "model/event/timestamp.h"

/* One of the two operations of storage, so that a program that only creates does not link how to get. */
typedef int create_way(struct storage *storage, struct create_op *op, ses_error *error);

/* Completes the key of the session that the new one is a child of. */
static int take_child_of(const ses_key *key, ses_key *child_of, ses_error *error)
{
    int code = SES_OK;

    if (!child_of->app)
        child_of->app = key->app;
    if (strcmp(child_of->app, key->app) != 0)
        code = ses__error_set(error, SES_INVALID, "a child belongs to the app of its session");
    if (code == SES_OK)
        code = ses__check_key(child_of, error);
    if (code != SES_OK)
        ses__error_prefix(error, "create options: child_of: ");
    return code;
}

static int create_with_state(ses_store *store, const ses_key *key, create_way *way,
                             struct initial_state *initial, const ses_create_options *options,
                             ses_session **session, ses_error *error)
{
    const int64_t now_us = ses__store_now(store);
    char made_id[SES_ID_MAX + 1];
    ses_key full = *key;
    ses_key child_of = options->child_of ? *options->child_of : (ses_key){NULL, NULL, NULL};
    ses_session *fresh = NULL;
    struct create_op op = {.limits = LIMITS_OF(store, *options),
                           .key = &full,
                           .now_us = now_us,
                           .created_us = options->created_us ? *options->created_us : now_us,
                           .expires_us = INT64_MAX,
                           .initial = initial->stored,
                           .child_of = options->child_of ? &child_of : NULL,
                           .delta = &initial->changes.delta};

    if (op.created_us < TIMESTAMP_MIN || op.created_us > TIMESTAMP_MAX)
        return ses__error_set(error, SES_INVALID, "the time of creation is outside the years 0 to 9999");
    int result = ses__take_expiry(options->expires_us, now_us, &op.expires_us, error);
    if (result == SES_OK)
        result = ses__range_take(options->range, &op.range, error);
    if (result != SES_OK)
        return result;
    result = ses__annotating_take(&op.annotating, options->title, options->labels, options->label_count, true,
                                  &initial->changes.arena, error);
    if (result != SES_OK)
        ses__error_prefix(error, "create options: ");
    if (result == SES_OK && !full.session) {
        result = ses__store_make_id(store, made_id, error);
        full.session = made_id;
    }
    if (result == SES_OK)
        result = ses__check_key(&full, error);
    if (result == SES_OK && options->child_of)
        result = take_child_of(&full, &child_of, error);
    if (result == SES_OK && session)
        result = ses__session_new(store, &full, &fresh, error);
    if (result != SES_OK)
        return result;
    op.snapshot = fresh ? &fresh->snapshot : NULL;
    result = way(store->storage, &op, error);
    if (result >= 0 && session)
        *session = fresh;
    else
        ses_session_close(fresh);
    return result;
}

static int create(ses_store *store, const ses_key *key, create_way *way, const char *state, size_t state_len,
                  const ses_create_options *given, ses_session **session, ses_error *error)
{
    ses_create_options options;
    struct initial_state initial;
    struct span text = {"{}", 2};
    int result = ses__check_argument(key, "key", error);

    if (result == SES_OK)
        result = ses__take_options(&options, sizeof options, given, "create options", error);
    if (result == SES_OK && state)
        result = ses__check_text(store, state, state_len, "state", &text, error);
    if (result != SES_OK)
        return result;
    ses__initial_state_init(&initial, store);
    result = ses__initial_state_read(&initial, text, error);
    if (result == SES_OK)
        result = create_with_state(store, key, way, &initial, &options, session, error);
    ses__initial_state_free(&initial);
    return result;
}

static int create_begun(ses_store *store, const char *call, const ses_key *key, create_way *way,
                        const char *state, size_t state_len, const ses_create_options *options,
                        ses_session **session, ses_error *error)
{
    if (session)
        *session = NULL;
    int result = ses__store_begin_as(store, call, error);
    return result == SES_OK
               ? ses__store_end(store, create(store, key, way, state, state_len, options, session, error))
               : result;
}

int ses_create(ses_store *store, const ses_key *key, const char *state, size_t state_len,
               const ses_create_options *options, ses_session **session, ses_error *error)
{
    return create_begun(store, __func__, key, ses__door_create, state, state_len, options, session, error);
}

int ses_get_or_create(ses_store *store, const ses_key *key, const char *state, size_t state_len,
                      const ses_create_options *options, ses_session **session, ses_error *error)
{
    return create_begun(store, __func__, key, ses__door_get_or_create, state, state_len, options, session,
                        error);
}
