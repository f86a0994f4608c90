/* Cuts off the end of a log, and hands over what was cut. */
#include "base/error.h"
#include "session/session.h"
#include "session/followers.h"

static int take_cut_options(struct session_call *call, const ses_cut_options *given, struct cut_op *op,
                            ses_erased **erased, ses_error *error)
{
    ses_cut_options options;
    const unsigned known = SES_ANYWAY | SES_AT_VERSION | SES_SECURE;
    int code = ses__take_flagged(&options, sizeof options, given, known, "cut options", error);

    if (code == SES_OK)
        code = ses__call_take_version(call, options.flags, options.version, "cut options", error);
    op->checks_version = call->checks_version && !call->anyway;
    op->version = call->version;
    op->erasure.secure = (options.flags & SES_SECURE) != 0;
    op->erasure.limits = LIMITS_OF(call->store, options);
    *erased = options.erased;
    return code == SES_OK ? ses__receipt_begin(options.erased, &op->erasure, error) : code;
}

static int cut_log(struct session_call *call, const ses_point *point, const ses_cut_options *options,
                   struct kept_events *kept, int64_t *deleted, ses_error *error)
{
    struct cut_op op = {
        .session = call->ref, .seed = call->store->seed, .snapshot = call->snapshot, .kept = kept};
    ses_erased *erased = NULL;
    int code = ses__point_take(point, &op.point, error);

    if (code == SES_OK)
        code = take_cut_options(call, options, &op, &erased, error);
    if (code != SES_OK)
        return code;
    op.now_us = ses__store_now(call->store);
    code = ses__door_cut(call->store->storage, &op, error);
    ses__followers_notify(call->store, code, &call->key);
    if (code == SES_OK && call->session)
        ses__advance_apply(&op.advance);
    ses__advance_free(&op.advance);
    if (code != SES_OK)
        return code;
    if (deleted)
        *deleted = op.deleted;
    ses__receipt_end(erased, &op.erasure);
    return op.erasure.unclean ? SES_MORE : op.deleted == 0 ? SES_UNCHANGED : SES_OK;
}

static int cut(const struct target *target, const ses_point *point, const ses_cut_options *options,
               int64_t *deleted, ses_error *error)
{
    struct session_call call;
    const int code = ses__call_begin(&call, target, error);

    return code == SES_OK ? ses__call_end(&call, cut_log(&call, point, options, NULL, deleted, error)) : code;
}

int ses_cut(ses_session *session, const ses_point *point, const ses_cut_options *options, int64_t *deleted,
            ses_error *error)
{
    return cut(ON(session), point, options, deleted, error);
}

int ses_cut_by_key(ses_store *store, const ses_key *key, const ses_point *point,
                   const ses_cut_options *options, int64_t *deleted, ses_error *error)
{
    return cut(AT(store, key), point, options, deleted, error);
}

/* ------------------------------------------------------------------------------------------- popping */

struct ses_popped {
    ses_allocator allocator; /* it may outlive the store */
    struct kept_events kept;
};

static int pop_events(struct session_call *call, const ses_point *point, const ses_cut_options *options,
                      ses_popped **popped, ses_error *error)
{
    ses_popped *fresh = ses__memory_zeroed(&call->store->allocator, sizeof *fresh);

    if (!fresh)
        return ses__error_nomem(error);
    fresh->allocator = call->store->allocator;
    ses__arena_init(&fresh->kept.arena, &fresh->allocator);
    const int code = cut_log(call, point, options, &fresh->kept, NULL, error);
    if (code >= 0)
        *popped = fresh;
    else
        ses_popped_close(fresh);
    return code;
}

static int pop(const struct target *target, const ses_point *point, const ses_cut_options *options,
               ses_popped **popped, ses_error *error)
{
    struct session_call call;
    int code = ses__check_output(popped, "popped", error);

    if (code == SES_OK)
        code = ses__call_begin(&call, target, error);
    return code == SES_OK ? ses__call_end(&call, pop_events(&call, point, options, popped, error)) : code;
}

int ses_pop(ses_session *session, const ses_point *point, const ses_cut_options *options, ses_popped **popped,
            ses_error *error)
{
    return pop(ON(session), point, options, popped, error);
}

int ses_pop_by_key(ses_store *store, const ses_key *key, const ses_point *point,
                   const ses_cut_options *options, ses_popped **popped, ses_error *error)
{
    return pop(AT(store, key), point, options, popped, error);
}

size_t ses_popped_count(const ses_popped *popped)
{
    return popped->kept.events.count;
}

const ses_event *ses_popped_event(const ses_popped *popped, size_t index)
{
    return index < popped->kept.events.count ? popped->kept.events.items[index] : NULL;
}

void ses_popped_close(ses_popped *popped)
{
    if (popped) {
        const ses_allocator allocator = popped->allocator;
        ses__memory_free(&allocator, popped->kept.events.items);
        ses__arena_free(&popped->kept.arena);
        ses__memory_free(&allocator, popped);
    }
}
