/* Removes sessions that have expired, or that are idle or too many. */
#include "base/error.h"
#include "model/event/timestamp.h"
#include "session/followers.h"

static int take_expire_options(const ses_expire_options *given, ses_expire_options *options, ses_error *error)
{
    const unsigned known = (unsigned)SES_SECURE | (unsigned)SES_EXPIRE_DRY_RUN | (unsigned)SES_EXPIRE_CHANGED;
    int code = ses__take_flagged(options, sizeof *options, given, known, "expire options", error);

    if (code == SES_OK && (options->idle_us < 0 || options->sessions_per_user < 0 || options->limit < 0))
        code = ses__error_set(error, SES_INVALID,
                              "expire options: idle_us, sessions_per_user or limit is negative");
    return code;
}

static int64_t within_years(int64_t time_us)
{
    return time_us < TIMESTAMP_MIN ? TIMESTAMP_MIN : time_us > TIMESTAMP_MAX ? TIMESTAMP_MAX : time_us;
}

/* No session can be idle longer than the range of times. */
static int64_t idle_before(int64_t now_us, int64_t idle_us)
{
    return idle_us > 0 && idle_us <= now_us - TIMESTAMP_MIN ? now_us - idle_us : INT64_MIN;
}

static int expire(ses_store *store, struct expire_op *op, const ses_expire_options *options, ses_error *error)
{
    const int64_t default_limit = 100;
    ses_expire_options own;
    int code = op->app ? ses__check_id(op->app, "app", error) : SES_OK;

    if (code == SES_OK)
        code = take_expire_options(options, &own, error);
    if (code != SES_OK)
        return code;
    op->now_us = own.now_us ? within_years(*own.now_us) : ses__store_now(store);
    op->idle_before_us = idle_before(op->now_us, own.idle_us);
    op->per_user = own.sessions_per_user;
    op->by_writes = (own.flags & SES_EXPIRE_CHANGED) != 0;
    op->limit = own.limit > 0 ? own.limit : default_limit;
    op->count_only = (own.flags & SES_EXPIRE_DRY_RUN) != 0;
    op->erasure.secure = (own.flags & SES_SECURE) != 0;
    op->erasure.limits = LIMITS_OF(store, own);
    code = ses__receipt_begin(own.erased, &op->erasure, error);
    if (code != SES_OK)
        return code;
    (void)pthread_mutex_lock(&store->lock);
    op->place = store->expired_to;
    (void)pthread_mutex_unlock(&store->lock);
    code = ses__door_expire(store->storage, op, error);
    (void)pthread_mutex_lock(&store->lock);
    if (code >= 0)
        store->expired_to = op->place;
    (void)pthread_mutex_unlock(&store->lock);
    op->erasure.erased.forks_left = -1; /* they are not looked for */
    if (code >= 0)
        ses__receipt_end(own.erased, &op->erasure);
    if (op->count_only)
        return code;
    if (code == SES_OK && op->deleted > 0)
        ses__lease_queue_wake(&store->leases, NULL);
    if (code < 0 || op->deleted > 0)
        ses__followers_notify(store, code, &(ses_key){op->app, NULL, NULL});
    return code == SES_OK && (op->more || op->erasure.unclean) ? SES_MORE : code;
}

int ses_store_expire(ses_store *store, const char *app, const ses_expire_options *options, int64_t *deleted,
                     ses_error *error)
{
    struct expire_op op = {.app = app};
    int code = ses__store_begin(store, error);
    if (code == SES_OK)
        code = ses__store_end(store, expire(store, &op, options, error));
    if (code >= 0 && deleted)
        *deleted = op.deleted;
    return code;
}
