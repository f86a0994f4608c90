/* One turn at a time: leases. */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "session/store.h"

static const int64_t DEFAULT_LEASE_US = 60000000;

static int check_owner(const char *owner, ses_error *error)
{
    int code = ses__check_argument(owner, "owner", error);
    const size_t len = code == SES_OK ? strnlen(owner, LEASE_OWNER_MAX + 1) : 0;

    if (code != SES_OK)
        return code;
    if (len == 0 || len > LEASE_OWNER_MAX)
        return ses__error_set(error, SES_INVALID, "the owner's name is %s; it must have 1 to %d bytes",
                              len == 0 ? "empty" : "too long", LEASE_OWNER_MAX);
    return ses__utf8_valid(owner, len)
               ? SES_OK
               : ses__error_set(error, SES_INVALID, "the owner's name is not valid UTF-8");
}

static int check_token(int64_t token, ses_error *error)
{
    return token > 0
               ? SES_OK
               : ses__error_set(error, SES_INVALID, "%lld is not the token of a lease", (long long)token);
}

static int take_lease_options(const ses_lease_options *given, ses_lease_options *own, ses_error *error)
{
    int code = ses__take_options(own, sizeof *own, given, "lease options", error);

    if (code == SES_OK && own->duration_us < 0)
        return ses__error_set(error, SES_INVALID, "lease options: duration_us is negative");
    if (code == SES_OK && own->duration_us == 0)
        own->duration_us = DEFAULT_LEASE_US;
    return code;
}

/* ---------------------------------------------------------------------------------------------- taking */

/*
 * The first waiter of a session looks at intervals, because other processes release leases too. After a while
 * it gets precedence over other processes. It does not get it at once, so that among processes whose waiters
 * come and go, those that have waited longer get it. It then looks less often the longer it waits.
 */
static const int64_t PRECEDENCE_AFTER_US = 40000;
static const int64_t LOOK_SOONEST_US = 1000;
static const int64_t LOOK_LEAST_US = 5000;
static const int64_t LOOK_MAX_US = 50000;
static const int64_t LOOK_SPREAD_US = 10000;

struct taking {
    ses_store *store;
    struct lease_take_op op;
    int64_t begun_us; /* by the steady clock */
    int64_t deadline_us;
    struct lease_waiter waiter;
    int64_t first_us;    /* the waiter is the first of its session since then */
    bool has_registered; /* the owner has, or had, precedence */
};

static int attempt(struct taking *taking, enum lease_attempt how, ses_error *error)
{
    struct lease_take_op *op = &taking->op;

    op->attempt = how;
    op->now_us = ses__store_now(taking->store);
    int code = ses__door_lease_take(taking->store->storage, op, error);
    op->looks = true;
    taking->has_registered = taking->has_registered || (code == SES_OK && op->registered);
    return code;
}

/* Makes an attempt, if the order of the waiters permits it. */
static int attempt_in_order(struct taking *taking, int64_t now_us, ses_error *error)
{
    const bool is_first =
        ses__lease_queue_is_first(&taking->store->leases, &taking->waiter, &taking->first_us);
    const bool registers = now_us - taking->first_us >= PRECEDENCE_AFTER_US && now_us < taking->deadline_us;

    return attempt(taking, !is_first ? LEASE_EXTEND : registers ? LEASE_REGISTER : LEASE_TAKE, error);
}

/* Returns when the first waiter looks again: about when the lease runs out, and earlier in case it is
 * released. The looks of waiters without precedence are spread, so that each has a chance. */
static int64_t next_look(const struct taking *taking, int64_t now_us)
{
    const struct lease_take_op *op = &taking->op;
    const int64_t patience = LOOK_LEAST_US + (now_us - taking->first_us) / 20;
    int64_t pause = op->registered ? (patience < LOOK_MAX_US ? patience : LOOK_MAX_US)
                                   : LOOK_LEAST_US + now_us % LOOK_SPREAD_US;
    const int64_t left = op->held_until_us - op->now_us;

    if (left > 0 && left < pause)
        pause = left > LOOK_SOONEST_US ? left : LOOK_SOONEST_US;
    return now_us + pause;
}

static int refuse_held(const struct taking *taking, int64_t now_us, ses_error *error)
{
    const struct lease_take_op *op = &taking->op;
    const ses_key *key = op->key;
    const long long waited_ms = (now_us - taking->begun_us) / 1000;

    if (op->held_until_us <= op->now_us) /* released just now, and others came first */
        return ses__error_set(
            error, SES_BUSY,
            "others wait for the lease of the session %.60s/%.60s/%.60s (app/user/session) ahead of this call, which waited %lld ms",
            key->app, key->user, key->session, waited_ms);
    return ses__error_set(
        error, SES_BUSY,
        "another owner has the lease of the session %.60s/%.60s/%.60s (app/user/session) until %lld us since 1970 by the store's clock; this call waited %lld ms for it",
        key->app, key->user, key->session, (long long)op->held_until_us, waited_ms);
}

/* Makes attempts from within the queue until one succeeds, or the time is over. */
static int take_in_queue(struct taking *taking, ses_error *error)
{
    struct lease_queue *queue = &taking->store->leases;

    for (bool waited = false;; waited = true) {
        const int64_t now_us = ses__clock_steady_us();
        int code = attempt_in_order(taking, now_us, error);
        if (code == SES_INTERRUPTED && waited && !ses__limits_cancelled(&taking->op.limits) &&
            ses__limits_passed(&taking->op.limits)) /* the call still waits for the lease */
            return refuse_held(taking, now_us, error);
        if (code != SES_OK || taking->op.taken)
            return code;
        if (now_us >= taking->deadline_us)
            return refuse_held(taking, now_us, error);
        if (!ses__lease_queue_wait(queue, &taking->waiter, next_look(taking, now_us), taking->deadline_us))
            return ses__error_set(error, SES_INTERRUPTED,
                                  "the call was interrupted while it waited for a lease");
    }
}

/* How long a call takes for that whose time is over. */
static const int64_t GIVE_UP_US = 5000;

/* Gives up the precedence, so that waiters of other processes need not wait until it runs out. If this fails, it runs out
 * by itself. */
static void give_up_precedence(struct taking *taking)
{
    ses_error unseen;

    if (ses__limits_passed(&taking->op.limits))
        taking->op.limits = (struct limits){.deadline_us = ses__clock_steady_us() + GIVE_UP_US};
    if (taking->has_registered)
        (void)attempt(taking, LEASE_GIVE_UP, &unseen);
}

static int wait_and_take(struct taking *taking, ses_error *error)
{
    struct lease_queue *queue = &taking->store->leases;

    if (!ses__lease_queue_join(queue, &taking->waiter, taking->op.key, &taking->op.limits))
        return ses__error_nomem(error);
    int code = take_in_queue(taking, error);
    if (code != SES_OK)
        give_up_precedence(taking);
    ses__lease_queue_leave(queue, &taking->waiter);
    return code;
}

static int lease_take(ses_store *store, const ses_key *key, const char *owner, const ses_lease_options *given,
                      ses_lease *lease, ses_error *error)
{
    struct taking taking = {.store = store, .op = {.key = key, .owner = owner}};
    ses_lease_options options;
    int code = ses__check_key(key, error);

    if (code == SES_OK)
        code = check_owner(owner, error);
    if (code == SES_OK)
        code = ses__check_argument(lease, "lease", error);
    if (code == SES_OK)
        code = take_lease_options(given, &options, error);
    if (code != SES_OK)
        return code;
    taking.op.duration_us = options.duration_us;
    taking.begun_us = ses__clock_steady_us();
    taking.op.limits = LIMITS_OF(store, options);
    taking.deadline_us =
        taking.begun_us + (options.wait_ms ? ses__wait_us(options.wait_ms) : store->busy_timeout_us);
    taking.deadline_us = ses__limits_until(&taking.op.limits, taking.deadline_us);
    code = wait_and_take(&taking, error);
    if (code == SES_OK)
        *lease = taking.op.lease;
    return code;
}

int ses_lease_take(ses_store *store, const ses_key *key, const char *owner, const ses_lease_options *options,
                   ses_lease *lease, ses_error *error)
{
    int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, lease_take(store, key, owner, options, lease, error))
                          : code;
}

/* -------------------------------------------------------------------------------- renewing, releasing */

static int lease_renew(ses_store *store, struct lease_op *op, const ses_lease_options *given,
                       ses_lease *lease, ses_error *error)
{
    ses_lease_options options;
    int code = ses__check_key(op->key, error);

    if (code == SES_OK)
        code = check_token(op->token, error);
    if (code == SES_OK)
        code = take_lease_options(given, &options, error);
    if (code != SES_OK)
        return code;
    op->now_us = ses__store_now(store);
    op->duration_us = options.duration_us;
    op->limits = LIMITS_OF(store, options);
    code = ses__door_lease_set(store->storage, op, error);
    if (code == SES_OK && lease)
        *lease = (ses_lease){.token = op->token, .until_us = op->until_us};
    return code;
}

int ses_lease_renew(ses_store *store, const ses_key *key, int64_t token, const ses_lease_options *options,
                    ses_lease *lease, ses_error *error)
{
    struct lease_op op = {.key = key, .token = token};
    int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, lease_renew(store, &op, options, lease, error)) : code;
}

static int lease_release(ses_store *store, struct lease_op *op, const ses_call_options *options,
                         ses_error *error)
{
    int code = ses__check_key(op->key, error);

    if (code == SES_OK)
        code = check_token(op->token, error);
    if (code == SES_OK)
        code = ses__take_call_options(store, options, &op->limits, error);
    if (code == SES_OK)
        code = ses__door_lease_set(store->storage, op, error);
    if (code == SES_OK)
        ses__lease_queue_wake(&store->leases, op->key);
    return code;
}

int ses_lease_release(ses_store *store, const ses_key *key, int64_t token, const ses_call_options *options,
                      ses_error *error)
{
    struct lease_op op = {.key = key, .token = token};
    int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, lease_release(store, &op, options, error)) : code;
}
