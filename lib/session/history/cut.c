/* Cuts off the end of a log. */
#include "session/session.h"
#include "session/followers.h"

static int take_cut_options(struct session_call *call, const ses_cut_options *given, struct cut_op *op,
                            ses_error *error)
{
    ses_cut_options options;
    const unsigned known = SES_ANYWAY | SES_AT_VERSION | SES_SECURE;
    int code = ses__take_flagged(&options, sizeof options, given, known, "cut options", error);

    if (code == SES_OK)
        code = ses__call_take_version(call, options.flags, options.version, "cut options", error);
    op->checks_version = call->checks_version && !call->anyway;
    op->version = call->version;
    op->erasure.secure = (options.flags & SES_SECURE) != 0;
    return code;
}

static int cut(struct session_call *call, const ses_point *point, const ses_cut_options *options,
               int64_t *deleted, ses_error *error)
{
    struct cut_op op = {.session = call->ref, .seed = call->store->seed, .snapshot = call->snapshot};
    int code = ses__point_take(point, &op.point, error);

    if (code == SES_OK)
        code = take_cut_options(call, options, &op, error);
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
    return op.erasure.unclean ? SES_MORE : op.deleted == 0 ? SES_UNCHANGED : SES_OK;
}

int ses_cut(ses_session *session, const ses_point *point, const ses_cut_options *options, int64_t *deleted,
            ses_error *error)
{
    struct session_call call;
    int code = ses__call_on_handle(&call, session, error);
    return code == SES_OK ? ses__call_end(&call, cut(&call, point, options, deleted, error)) : code;
}

int ses_cut_by_key(ses_store *store, const ses_key *key, const ses_point *point,
                   const ses_cut_options *options, int64_t *deleted, ses_error *error)
{
    struct session_call call;
    int code = ses__call_by_key(&call, store, key, error);
    return code == SES_OK ? ses__call_end(&call, cut(&call, point, options, deleted, error)) : code;
}
