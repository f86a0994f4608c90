/* One turn at a time: leases. A lease is a row of its session; an attempt looks at it first, and writes only
 * to change it. */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "model/event/timestamp.h"
#include "session/sql/lease.h"
#include "session/store.h"

static const int64_t DEFAULT_LEASE_US = 60000000;

static int check_token(int64_t token, ses_error *error)
{
    return token > 0
               ? SES_OK
               : ses__error_set(error, SES_INVALID, "%lld is not the token of a lease", (long long)token);
}

int ses__lease_duration(int64_t *duration_us, ses_error *error)
{
    if (*duration_us < 0)
        return ses__error_set(error, SES_INVALID, "lease options: duration_us is negative");
    if (*duration_us == 0)
        *duration_us = DEFAULT_LEASE_US;
    return SES_OK;
}

static int take_lease_options(const ses_lease_options *given, ses_lease_options *own, ses_error *error)
{
    const int code = ses__take_options(own, sizeof *own, given, "lease options", error);

    return code == SES_OK ? ses__lease_duration(&own->duration_us, error) : code;
}

int ses__lease_check_owner(const char *owner, ses_error *error)
{
    int code = ses__check_argument(owner, "owner", error);
    const size_t len = code == SES_OK ? strnlen(owner, LEASE_OWNER_MAX + 1) : 0;

    if (code == SES_OK && (len == 0 || len > LEASE_OWNER_MAX))
        code = ses__error_set(error, SES_INVALID, "the owner's name is %s; it must have 1 to %d bytes",
                              len == 0 ? "empty" : "too long", LEASE_OWNER_MAX);
    if (code == SES_OK && !ses__utf8_valid(owner, len))
        code = ses__error_set(error, SES_INVALID, "the owner's name is not valid UTF-8");
    return code;
}

/* ------------------------------------------------------------------------------------------- an attempt */

static const int64_t PRECEDENCE_US = 1000000; /* of a waiter, once it has registered */

enum lease_attempt {
    LEASE_TAKE,     /* takes the lease if nobody else has it, or has precedence */
    LEASE_REGISTER, /* otherwise also gives the owner precedence, unless another has it */
    LEASE_EXTEND,   /* takes the lease only if the owner has it already */
    LEASE_GIVE_UP   /* takes nothing: ends the owner's precedence */
};

struct taking {
    ses_store *store;
    struct limits limits;
    const ses_key *key;
    const char *owner;
    int64_t duration_us;
    int64_t begun_us; /* by the steady clock */
    int64_t deadline_us;
    struct lease_waiter waiter;
    int64_t first_us;    /* the waiter is the first of its session since then */
    bool has_registered; /* the owner has, or had, precedence */
    /* The attempt */
    enum lease_attempt attempt;
    bool looks;     /* another owner had it a moment ago, so that the attempt looks before it writes */
    int64_t now_us; /* by the clock of an engine that has one, after the attempt */
    bool taken;
    ses_lease lease;
    int64_t held_until_us; /* not taken: until when another has it, or has precedence */
    bool registered;       /* the owner has precedence */
};

static int64_t lease_end(int64_t now_us, int64_t duration_us)
{
    return duration_us < TIMESTAMP_MAX - now_us ? now_us + duration_us : TIMESTAMP_MAX;
}

/* The outcome of an attempt. */
enum lease_step {
    STEP_NONE,   /* it is refused, and nothing changes */
    STEP_GIVE,   /* the owner gets it, with a new token */
    STEP_EXTEND, /* the owner had it last, and keeps its token */
    STEP_SET     /* nobody gets it; precedence changes */
};

/* The owner of the attempt has precedence, until then; or nobody has. */
static void set_precedence(struct lease_row *row, const char *owner, int64_t until_us)
{
    memcpy(row->next_owner, owner, strlen(owner) + 1);
    row->next_until_us = until_us;
}

/* A call reads the clock before it waits for the lock, so that the clock may seem to go back by this much. */
static const int64_t CLOCK_SLACK_US = 1000000;

/* Decides about the attempt by a clock that was not set back. */
static enum lease_step decide_by_clock(struct taking *taking, struct lease_row *row)
{
    const int64_t now_us = taking->now_us;
    const bool is_own = row->token > 0 && strcmp(row->owner, taking->owner) == 0;
    const bool is_next = strcmp(row->next_owner, taking->owner) == 0;
    const int64_t next_us = row->next_owner[0] ? row->next_until_us - now_us : 0;
    const int64_t left_us = next_us <= PRECEDENCE_US ? next_us : 0; /* more: the clock was set back */
    const bool others_are_next = left_us > 0 && !is_next;
    const bool held = row->until_us != 0 && row->until_us > now_us; /* a released lease has 0 */

    taking->taken = false;
    taking->registered = false;
    if (taking->attempt == LEASE_GIVE_UP) {
        if (!is_next)
            return STEP_NONE;
        set_precedence(row, "", 0);
        return STEP_SET;
    }
    if (held ? !is_own : taking->attempt == LEASE_EXTEND || others_are_next) {
        taking->held_until_us = held ? row->until_us : row->next_until_us;
        if (taking->attempt != LEASE_REGISTER || others_are_next)
            return STEP_NONE;
        taking->registered = true;
        if (is_next && left_us > PRECEDENCE_US / 2)
            return STEP_NONE;
        set_precedence(row, taking->owner, now_us + PRECEDENCE_US);
        return STEP_SET;
    }
    taking->taken = true;
    row->taken_us = now_us;
    row->until_us = lease_end(now_us, taking->duration_us);
    if (!held)
        set_precedence(row, "", 0);
    if (is_own)
        return STEP_EXTEND;
    memcpy(row->owner, taking->owner, strlen(taking->owner) + 1);
    return STEP_GIVE;
}

/* Decides about the attempt, and changes `row` accordingly. A lease that was taken in the future shows that
 * the clock was set back: it then lasts for its duration from now on, and not until the clock is there
 * again. */
static enum lease_step decide_attempt(struct taking *taking, struct lease_row *row)
{
    const bool moved = row->until_us != 0 && row->taken_us - taking->now_us > CLOCK_SLACK_US;

    if (moved) {
        row->until_us = lease_end(taking->now_us, row->until_us - row->taken_us);
        row->taken_us = taking->now_us;
    }
    const enum lease_step step = decide_by_clock(taking, row);
    return moved && step == STEP_NONE ? STEP_SET : step;
}

static int find_lease(struct db *db, const ses_key *key, struct lease_row *row, int64_t *now_us,
                      ses_error *error)
{
    const struct session_ref ref = {key, NULL};
    struct session_row session;
    struct query asked;
    struct query lease;
    int code = ses__session_ask(&asked, db, &ref, &session, error);

    if (code != SES_OK)
        return code;
    ses__lease_ask(&lease, db, session.id, error);
    code = ses__session_take(&asked, &ref, &session);
    return code == SES_OK ? ses__lease_take(&lease, session.id, row, now_us) : code;
}

enum { MUST_WRITE = 1 };

static int run_look(struct db *db, void *context, ses_error *error)
{
    struct taking *taking = context;
    struct lease_row row;
    int code = find_lease(db, taking->key, &row, &taking->now_us, error);

    return code == SES_OK && decide_attempt(taking, &row) != STEP_NONE ? MUST_WRITE : code;
}

static int make_attempt(struct taking *taking, struct db *db, struct lease_row *row, ses_error *error)
{
    const enum lease_step step = decide_attempt(taking, row);
    int code = SES_OK;

    if (step == STEP_GIVE)
        code = ses__lease_give(db, row, error);
    else if (step != STEP_NONE)
        code = ses__lease_set(db, row, error);
    if (taking->taken)
        taking->lease = (ses_lease){.token = row->token, .until_us = row->until_us};
    return code;
}

static int run_take(struct db *db, void *context, ses_error *error)
{
    struct taking *taking = context;
    struct lease_row row;
    int code = find_lease(db, taking->key, &row, &taking->now_us, error);

    return code == SES_OK ? make_attempt(taking, db, &row, error) : code;
}

int ses__lease_try(struct db *db, struct lease_row *row, const char *owner, int64_t duration_us,
                   int64_t now_us, bool *taken, ses_lease *lease, ses_error *error)
{
    struct taking taking = {
        .owner = owner, .duration_us = duration_us, .now_us = now_us, .attempt = LEASE_TAKE};
    const int code = make_attempt(&taking, db, row, error);

    *taken = taking.taken;
    *lease = taking.lease;
    return code;
}

static int attempt(struct taking *taking, enum lease_attempt how, ses_error *error)
{
    struct storage *storage = taking->store->storage;
    /* The write reports a store that is read-only. On a server, an unnecessary look is one more round
     * trip. */
    const bool looks = !storage->read_only && (taking->looks || !storage->engine->ask_last);

    taking->attempt = how;
    taking->now_us = ses__store_now(taking->store);
    int code =
        looks ? ses__run_within(storage, &taking->limits, TO_READ, run_look, taking, error) : MUST_WRITE;
    if (code == MUST_WRITE)
        code = ses__run_within(storage, &taking->limits, TO_WRITE(0), run_take, taking, error);
    taking->looks = true;
    taking->has_registered = taking->has_registered || (code == SES_OK && taking->registered);
    return code;
}

/* --------------------------------------------------------------------------------------------- waiting */

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

/* Returns when the first waiter looks again: about when the lease runs out, and earlier in case it is
 * released. The looks of waiters without precedence are spread, so that each has a chance. */
static int64_t next_look(const struct taking *taking, int64_t now_us)
{
    const int64_t patience = LOOK_LEAST_US + (now_us - taking->first_us) / 20;
    int64_t pause = taking->registered ? (patience < LOOK_MAX_US ? patience : LOOK_MAX_US)
                                       : LOOK_LEAST_US + now_us % LOOK_SPREAD_US;
    const int64_t left = taking->held_until_us - taking->now_us;

    if (left > 0 && left < pause)
        pause = left > LOOK_SOONEST_US ? left : LOOK_SOONEST_US;
    return now_us + pause;
}

static int refuse_held(const struct taking *taking, int64_t now_us, ses_error *error)
{
    const ses_key *key = taking->key;
    const long long waited_ms = (now_us - taking->begun_us) / 1000;

    if (taking->held_until_us <= taking->now_us) /* released just now, and others came first */
        return ses__error_set(
            error, SES_BUSY,
            "others wait for the lease of the session %.60s/%.60s/%.60s (app/user/session) ahead of this call, which waited %lld ms",
            key->app, key->user, key->session, waited_ms);
    return ses__error_set(
        error, SES_BUSY,
        "another owner has the lease of the session %.60s/%.60s/%.60s (app/user/session) until %lld us since 1970 by the store's clock; this call waited %lld ms for it",
        key->app, key->user, key->session, (long long)taking->held_until_us, waited_ms);
}

/* Makes attempts from within the queue until one succeeds, or the time is over. Only the first waiter may
 * take the lease; the others can extend one that their owner has. */
static int take_in_queue(struct taking *taking, ses_error *error)
{
    struct lease_queue *queue = &taking->store->leases;

    for (bool waited = false;; waited = true) {
        const int64_t now_us = ses__clock_steady_us();
        const bool is_first = ses__lease_queue_is_first(queue, &taking->waiter, &taking->first_us);
        const bool registers =
            now_us - taking->first_us >= PRECEDENCE_AFTER_US && now_us < taking->deadline_us;
        int code = attempt(taking, !is_first ? LEASE_EXTEND : registers ? LEASE_REGISTER : LEASE_TAKE, error);
        if (code == SES_INTERRUPTED && waited && !ses__limits_cancelled(&taking->limits) &&
            ses__limits_passed(&taking->limits)) /* the call still waits for the lease */
            return refuse_held(taking, now_us, error);
        if (code != SES_OK || taking->taken)
            return code;
        if (now_us >= taking->deadline_us)
            return refuse_held(taking, now_us, error);
        if (!ses__lease_queue_wait(queue, &taking->waiter, next_look(taking, now_us), taking->deadline_us))
            return ses__error_set(error, SES_INTERRUPTED,
                                  "the call was interrupted while it waited for a lease");
    }
}

/* A call whose time is over takes this much longer, to give up its precedence. */
static const int64_t GIVE_UP_US = 5000;

static int wait_and_take(struct taking *taking, ses_error *error)
{
    struct lease_queue *queue = &taking->store->leases;
    ses_error unseen;

    taking->waiter = (struct lease_waiter){.key = taking->key, .limits = &taking->limits};
    if (!ses__lease_queue_join(queue, &taking->waiter))
        return ses__error_nomem(error);
    int code = take_in_queue(taking, error);
    if (code != SES_OK && taking->has_registered) {
        /* Gives up the precedence, so that waiters of other processes need not wait until it runs out. */
        if (ses__limits_passed(&taking->limits))
            taking->limits = (struct limits){.deadline_us = ses__clock_steady_us() + GIVE_UP_US};
        (void)attempt(taking, LEASE_GIVE_UP, &unseen);
    }
    ses__lease_queue_leave(queue, &taking->waiter);
    return code;
}

static int lease_take(ses_store *store, const ses_key *key, const char *owner, const ses_lease_options *given,
                      ses_lease *lease, ses_error *error)
{
    struct taking taking = {.store = store, .key = key, .owner = owner};
    ses_lease_options options;
    int code = ses__check_key(key, error);

    if (code == SES_OK)
        code = ses__lease_check_owner(owner, error);
    if (code == SES_OK)
        code = ses__check_argument(lease, "lease", error);
    if (code == SES_OK)
        code = take_lease_options(given, &options, error);
    if (code != SES_OK)
        return code;
    taking.duration_us = options.duration_us;
    taking.begun_us = ses__clock_steady_us();
    taking.limits = LIMITS_OF(store, options);
    taking.deadline_us =
        taking.begun_us + (options.wait_ms ? ses__wait_us(options.wait_ms) : store->busy_timeout_us);
    taking.deadline_us = ses__limits_until(&taking.limits, taking.deadline_us);
    code = wait_and_take(&taking, error);
    if (code == SES_OK)
        *lease = taking.lease;
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

struct lease_change {
    struct limits limits;
    const ses_key *key;
    int64_t token;
    int64_t now_us;      /* as in an attempt */
    int64_t duration_us; /* 0: it is released */
    int64_t until_us;    /* out */
};

static int run_set_lease(struct db *db, void *context, ses_error *error)
{
    struct lease_change *own = context;
    struct lease_row row;
    int code = find_lease(db, own->key, &row, &own->now_us, error);

    if (code == SES_OK && row.token != own->token)
        code = ses__not_leased(own->token, error);
    own->until_us = own->duration_us > 0 ? lease_end(own->now_us, own->duration_us) : 0;
    if (code != SES_OK || row.until_us == own->until_us)
        return code;
    row.taken_us = own->now_us;
    row.until_us = own->until_us;
    return ses__lease_set(db, &row, error);
}

static int set_lease(ses_store *store, struct lease_change *own, ses_error *error)
{
    return ses__run_within(store->storage, &own->limits, TO_WRITE(0), run_set_lease, own, error);
}

static int lease_renew(ses_store *store, struct lease_change *own, const ses_lease_options *given,
                       ses_lease *lease, ses_error *error)
{
    ses_lease_options options;
    int code = ses__check_key(own->key, error);

    if (code == SES_OK)
        code = check_token(own->token, error);
    if (code == SES_OK)
        code = take_lease_options(given, &options, error);
    if (code != SES_OK)
        return code;
    own->now_us = ses__store_now(store);
    own->duration_us = options.duration_us;
    own->limits = LIMITS_OF(store, options);
    code = set_lease(store, own, error);
    if (code == SES_OK && lease)
        *lease = (ses_lease){.token = own->token, .until_us = own->until_us};
    return code;
}

int ses_lease_renew(ses_store *store, const ses_key *key, int64_t token, const ses_lease_options *options,
                    ses_lease *lease, ses_error *error)
{
    struct lease_change own = {.key = key, .token = token};
    int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, lease_renew(store, &own, options, lease, error)) : code;
}

static int lease_release(ses_store *store, struct lease_change *own, const ses_call_options *options,
                         ses_error *error)
{
    int code = ses__check_key(own->key, error);

    if (code == SES_OK)
        code = check_token(own->token, error);
    if (code == SES_OK)
        code = ses__take_call_options(store, options, &own->limits, error);
    if (code == SES_OK)
        code = set_lease(store, own, error);
    if (code == SES_OK)
        ses__lease_queue_wake(&store->leases, own->key);
    return code;
}

int ses_lease_release(ses_store *store, const ses_key *key, int64_t token, const ses_call_options *options,
                      ses_error *error)
{
    struct lease_change own = {.key = key, .token = token};
    int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, lease_release(store, &own, options, error)) : code;
}
