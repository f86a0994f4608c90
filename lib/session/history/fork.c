/* Makes a new session from the log of another up to a point. */
#include <string.h>

#include "base/error.h"
#include "model/event/timestamp.h"
#include "session/session.h"
#include "session/followers.h"

/* Completes `to`: makes an id if none was given, in `made_id`. */
static int take_target(const struct session_call *call, const ses_key *to, unsigned flags, ses_key *target,
                       char *made_id, ses_error *error)
{
    int code = SES_OK;

    *target = to ? *to : (ses_key){call->key.app, call->key.user, NULL};
    if (!target->session) {
        code = ses__store_make_id(call->store, made_id, error);
        target->session = made_id;
    }
    if (code == SES_OK)
        code = ses__check_key(target, error);
    if (code != SES_OK)
        return code;
    if (strcmp(target->app, call->key.app) != 0)
        return ses__error_set(error, SES_INVALID, "a fork belongs to the app of its session, \"%.100s\"",
                              call->key.app);
    if (strcmp(target->user, call->key.user) != 0 && !(flags & SES_FORK_OTHER_USER))
        return ses__error_set(error, SES_INVALID,
                              "a fork for another user than \"%.100s\" needs SES_FORK_OTHER_USER",
                              call->key.user);
    return SES_OK;
}

static int take_fork_options(const struct session_call *call, const ses_fork_options *given,
                             struct fork_op *op, unsigned *flags, ses_error *error)
{
    ses_fork_options options;
    int code = ses__take_flagged(&options, sizeof options, given, SES_FORK_OTHER_USER, "fork options", error);
    if (code != SES_OK)
        return code;
    *flags = options.flags;
    op->limits = LIMITS_OF(call->store, options);
    op->now_us = ses__store_now(call->store);
    op->created_us = options.created_us ? *options.created_us : op->now_us;
    if (op->created_us < TIMESTAMP_MIN || op->created_us > TIMESTAMP_MAX)
        return ses__error_set(error, SES_INVALID, "the time of creation is outside the years 0 to 9999");
    code = ses__take_expiry(options.expires_us, op->now_us, &op->expires_us, error);
    return code == SES_OK ? ses__range_take(options.range, &op->range, error) : code;
}

static int fork_log(const struct session_call *call, const ses_point *point, const ses_key *to,
                    const ses_fork_options *options, ses_session **fork, ses_error *error)
{
    char made_id[SES_ID_MAX + 1];
    ses_key target;
    unsigned flags = 0;
    ses_session *fresh = NULL;
    struct fork_op op = {.session = call->ref,
                         .to = &target,
                         .expires_us = INT64_MIN,
                         .seed = call->store->seed,
                         .max_events = call->store->max_session_events};
    int code = ses__point_take(point, &op.point, error);

    if (code == SES_OK)
        code = take_fork_options(call, options, &op, &flags, error);
    if (code == SES_OK)
        code = take_target(call, to, flags, &target, made_id, error);
    if (code == SES_OK && fork)
        code = ses__session_new(call->store, &target, &fresh, error);
    if (code != SES_OK)
        return code;
    op.snapshot = fresh ? &fresh->snapshot : NULL;
    code = ses__door_fork(call->store->storage, &op, error);
    ses__followers_notify(call->store, code, &target);
    if (code == SES_OK && fork)
        *fork = fresh;
    else
        ses_session_close(fresh);
    return code;
}

static int fork_session(const struct target *target, const ses_point *point, const ses_key *to,
                        const ses_fork_options *options, ses_session **fork, ses_error *error)
{
    struct session_call call;

    if (fork)
        *fork = NULL;
    const int code = ses__call_begin(&call, target, error);
    return code == SES_OK ? ses__call_end(&call, fork_log(&call, point, to, options, fork, error)) : code;
}

int ses_fork(ses_session *session, const ses_point *point, const ses_key *to, const ses_fork_options *options,
             ses_session **fork, ses_error *error)
{
    return fork_session(ON(session), point, to, options, fork, error);
}

int ses_fork_by_key(ses_store *store, const ses_key *key, const ses_point *point, const ses_key *to,
                    const ses_fork_options *options, ses_session **fork, ses_error *error)
{
    return fork_session(AT(store, key), point, to, options, fork, error);
}
