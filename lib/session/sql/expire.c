/*
 * Sets when a session expires, and removes sessions that have expired, or that are idle or too many. Read
 * transactions look for sessions to delete, each over a bounded number of apps and users. One write
 * transaction then looks at these sessions again, and deletes them.
 */
#include <string.h>

#include "base/error.h"
#include "model/event/timestamp.h"
#include "session/followers.h"
#include "session/session.h"
#include "storage/sql/rows/parts.h"

/* A step: deletes up to `limit` sessions. */
struct expire_op {
    const char *app; /* NULL: all */
    int64_t now_us;
    int64_t idle_before_us;   /* deletes sessions that have been idle since then; INT64_MIN: none */
    int64_t memory_before_us; /* the same for memory */
    int64_t per_user;         /* sessions that each user keeps; 0: all */
    bool by_writes;           /* the sessions of a user that were written last are the newest */
    int64_t limit;
    bool count_only; /* counts all due sessions, without a limit, and deletes nothing */
    struct erasure erasure;
    struct expire_place place; /* in/out: only a hint, which saves another look at the users before it */
    /* out */
    int64_t deleted;
    bool more;
};

/* ------------------------------------------------------------------------------------------ searching */

enum { LOOKS_AT_ONCE = 1000, MAX_FOUND = 100 };

/* Expired and idle sessions of all apps come first: without them a user may already be within the limit.
 * Then users are visited from the place where the last call stopped, and again from the first. */
enum stage { LOOK_AT_APPS, LOOK_ON_AT_USERS, LOOK_AGAIN_AT_USERS, LOOKED_AT_ALL };

struct expiring {
    struct expire_op *op;
    enum stage stage;
    struct expire_place at; /* the stage has looked at the users of that app up to that one */
    bool in_app;            /* not all users of the app were looked at */
    int64_t only_app;       /* the app given by the caller, once it was found */
    /* The apps and users found so far. */
    int64_t apps[MAX_FOUND]; /* with sessions that have expired or are idle */
    size_t app_count;
    struct user_row users[MAX_FOUND]; /* with too many sessions */
    size_t user_count;
};

/* Finds the app with the next number. `at.app_id` becomes 0 if there is none. */
static int find_next_app(struct db *db, struct expiring *own, ses_error *error)
{
    const int64_t last = own->at.app_id;
    struct user_row row;
    int code;

    own->at.user_len = 0;
    if (!own->op->app) {
        code = ses__query_number(db, STATEMENT_APP_AFTER, &own->at.app_id, error, VALUES(INT(last)));
        if (code == SES_OK && own->at.app_id <= last)
            code = ses__refuse_stranger(db, "app", error);
    } else if (last > 0) { /* it was the only one */
        own->at.app_id = 0;
        code = SES_OK;
    } else {
        code = ses__owner_find(db, own->op->app, NULL, &row, error);
        own->at.app_id = own->only_app = row.app_id;
    }
    return code == SES_NOTFOUND ? SES_OK : code;
}

static bool is_full(const struct expiring *own)
{
    return own->app_count == MAX_FOUND || own->user_count == MAX_FOUND;
}

static struct due beyond_of(const struct expire_op *op, int64_t user_id)
{
    return (struct due){op->by_writes ? DUE_UNWRITTEN : DUE_BEYOND, user_id, op->per_user};
}

/* `has`: the user has too many sessions. Memory does not count, so its number tells only that it has not. */
static int find_beyond(struct db *db, const struct expire_op *op, int64_t user_id, bool *has,
                       ses_error *error)
{
    const struct due beyond = beyond_of(op, user_id);
    struct session_ids ids;
    int code = ses__user_has_more(db, user_id, op->per_user, has, error);

    if (code != SES_OK || !*has)
        return code;
    code = ses__due_find(db, &beyond, 1, &ids, error);
    *has = ids.count > 0;
    return code;
}

/* Looks at some of the app's users, and subtracts their number from `*looks`. */
static int look_at_users(struct db *db, struct expiring *own, int *looks, ses_error *error)
{
    struct name_rows rows;
    int64_t id = 0;

    ses__name_rows_open(&rows, db, own->at.app_id, (struct span){own->at.user, own->at.user_len},
                        (struct span){"", 0}, *looks, error);
    while (!is_full(own) && ses__name_rows_next(&rows, &id)) {
        bool has = false;
        ses__query_keep(&rows.query, find_beyond(db, own->op, id, &has, error));
        if (has)
            own->users[own->user_count++] = (struct user_row){id, own->at.app_id};
        (*looks)--;
    }
    memcpy(own->at.user, rows.last, rows.last_len);
    own->at.user_len = rows.last_len;
    return ses__query_end(&rows.query);
}

/* Looks at the next app, or at some of its users; after the last app begins the next stage. */
static int look_on(struct db *db, struct expiring *own, int *looks, ses_error *error)
{
    const struct expire_op *op = own->op;
    const struct expire_place *place = &op->place; /* perhaps one of another app, or of one that is gone */
    struct session_ids ids;
    int code = SES_OK;

    if (!own->in_app) {
        code = find_next_app(db, own, error);
        (*looks)--;
        if (code == SES_OK && own->at.app_id == 0) {
            const bool goes_on = place->app_id > 0 && (!op->app || place->app_id == own->only_app);
            if (own->stage == LOOK_AT_APPS && op->per_user > 0)
                own->stage = goes_on ? LOOK_ON_AT_USERS : LOOK_AGAIN_AT_USERS;
            else
                own->stage = own->stage == LOOK_ON_AT_USERS ? LOOK_AGAIN_AT_USERS : LOOKED_AT_ALL;
            own->in_app = own->stage == LOOK_ON_AT_USERS;
            own->at = own->in_app ? *place : (struct expire_place){.app_id = 0};
            return SES_OK;
        }
        own->in_app = own->stage != LOOK_AT_APPS;
    }
    if (code == SES_OK && own->stage == LOOK_AT_APPS) {
        code = ses__due_find(db, &(struct due){DUE_EXPIRED, own->at.app_id, op->now_us}, 1, &ids, error);
        if (code == SES_OK && ids.count == 0)
            code = ses__due_find(db, &(struct due){DUE_IDLE, own->at.app_id, op->idle_before_us}, 1, &ids,
                                 error);
        if (code == SES_OK && ids.count == 0)
            code = ses__due_find(db, &(struct due){DUE_MEMORY, own->at.app_id, op->memory_before_us}, 1, &ids,
                                 error);
        if (code == SES_OK && ids.count > 0)
            own->apps[own->app_count++] = own->at.app_id;
        return code;
    }
    if (code == SES_OK && *looks > 0)
        code = look_at_users(db, own, looks, error);
    own->in_app = *looks == 0;
    return code;
}

/* The job: a part of the search. Returns SES_MORE if another follows. It makes the second state from the
 * first, since a job may run again from the start. */
static int run_search(struct db *db, void *context, ses_error *error)
{
    struct expiring *states = context;
    struct expiring *own = &states[1];
    int looks = LOOKS_AT_ONCE;
    int code = SES_OK;

    *own = states[0];
    while (code == SES_OK && looks > 0 && !is_full(own) && own->stage != LOOKED_AT_ALL)
        code = look_on(db, own, &looks, error);
    return code == SES_OK && !is_full(own) && own->stage != LOOKED_AT_ALL ? SES_MORE : code;
}

/* --------------------------------------------------------------------------------------------- a step */

/* The job: counts the sessions that repeated steps would delete. */
static int run_count_due(struct db *db, void *context, ses_error *error)
{
    struct expire_op *op = context;
    struct expiring own = {.op = op};
    int64_t due = 0;
    int code = find_next_app(db, &own, error);

    op->deleted = 0;
    while (code == SES_OK && own.at.app_id > 0) {
        code = ses__query_number(db, STATEMENT_DUE_COUNT, &due, error,
                                 VALUES(INT(own.at.app_id), INT(op->now_us), INT(op->idle_before_us),
                                        INT(op->per_user > 0 ? op->per_user : INT64_MAX),
                                        INT(op->memory_before_us)));
        op->deleted += due;
        if (code == SES_OK)
            code = find_next_app(db, &own, error);
    }
    return code;
}

/* The next step continues after the last user that this one has finished. */
static int note_place(struct db *db, struct expire_op *op, const struct user_row *user, ses_error *error)
{
    struct expire_place *place = &op->place;
    struct query query;

    ses__query_open(&query, db, STATEMENT_USER_NAME, error, VALUES(INT(user->id)));
    *place = (struct expire_place){.app_id = 0};
    if (ses__query_row(&query)) {
        const struct span name = ses__query_text(&query, 0);
        if (ses__is_id(name)) {
            *place = (struct expire_place){.app_id = user->app_id, .user_len = name.len};
            memcpy(place->user, name.ptr, name.len);
        }
    }
    return ses__query_end(&query);
}

/* The job: looks at the apps and users found once more, and deletes their sessions that are due. */
static int run_expire(struct db *db, void *context, ses_error *error)
{
    const struct expiring *own = context;
    struct expire_op *op = own->op;
    size_t done = 0; /* users */
    int code = SES_OK;

    op->deleted = 0;
    for (size_t i = 0; i < own->app_count && code == SES_OK; i++) {
        const struct due expired = {DUE_EXPIRED, own->apps[i], op->now_us};
        const struct due idle = {DUE_IDLE, own->apps[i], op->idle_before_us};
        const struct due memory = {DUE_MEMORY, own->apps[i], op->memory_before_us};
        code = ses__due_remove(db, own->apps[i], &expired, op->limit, &op->deleted, error);
        if (code == SES_OK)
            code = ses__due_remove(db, own->apps[i], &idle, op->limit, &op->deleted, error);
        if (code == SES_OK)
            code = ses__due_remove(db, own->apps[i], &memory, op->limit, &op->deleted, error);
    }
    while (code == SES_OK && done < own->user_count && op->deleted < op->limit) {
        const struct user_row *user = &own->users[done];
        const struct due beyond = beyond_of(op, user->id);
        code = ses__due_remove(db, user->app_id, &beyond, op->limit, &op->deleted, error);
        done += op->deleted < op->limit; /* else it may have more */
    }
    if (code == SES_OK && done > 0)
        code = note_place(db, op, &own->users[done - 1], error);
    op->more = op->deleted >= op->limit || is_full(own);
    return code;
}

static int run_expiration(struct storage *storage, struct expire_op *op, ses_error *error)
{
    const bool read_only = storage->read_only; /* the write then reports it */
    struct expiring states[2] = {{.op = op}};
    const struct expiring *found = &states[0];
    int code = read_only ? SES_OK : SES_MORE;

    if (op->count_only)
        return ses__run_within(storage, &op->erasure.limits, TO_READ, run_count_due, op, error);
    while (code == SES_MORE) {
        code =
            ses__run_within(storage, &op->erasure.limits, TO_READ_BEFORE_WRITING, run_search, states, error);
        if (code >= 0)
            states[0] = states[1];
    }
    op->deleted = 0;
    op->more = false;
    op->erasure.unclean = false;
    op->erasure.more = &op->more;
    if (code == SES_OK && (found->app_count > 0 || found->user_count > 0 || op->erasure.secure || read_only))
        code = ses__run_delete(storage, &op->erasure, run_expire, states, error);
    return code;
}

/* --------------------------------------------------------------------------------------------- the call */

/* No session can be idle longer than the range of times. */
static int64_t before_by(const struct expire_op *op, int64_t idle_us)
{
    return idle_us > 0 && idle_us <= op->now_us - TIMESTAMP_MIN ? op->now_us - idle_us : INT64_MIN;
}

/* `*erased` becomes the receipt that the caller wants. */
static int take_expire_options(ses_store *store, const ses_expire_options *given, struct expire_op *op,
                               ses_erased **erased, ses_error *error)
{
    const unsigned known = (unsigned)SES_SECURE | (unsigned)SES_EXPIRE_DRY_RUN | (unsigned)SES_EXPIRE_CHANGED;
    const int64_t default_limit = 100;
    ses_expire_options own;
    int code = op->app ? ses__check_id(op->app, "app", error) : SES_OK;

    if (code == SES_OK)
        code = ses__take_flagged(&own, sizeof own, given, known, "expire options", error);
    if (code == SES_OK &&
        (own.idle_us < 0 || own.memory_us < 0 || own.sessions_per_user < 0 || own.limit < 0))
        code = ses__error_set(error, SES_INVALID,
                              "expire options: idle_us, memory_us, sessions_per_user or limit is negative");
    if (code != SES_OK)
        return code;
    op->now_us = !own.now_us                   ? ses__store_now(store)
                 : *own.now_us < TIMESTAMP_MIN ? TIMESTAMP_MIN
                 : *own.now_us > TIMESTAMP_MAX ? TIMESTAMP_MAX
                                               : *own.now_us;
    op->idle_before_us = before_by(op, own.idle_us);
    op->memory_before_us = before_by(op, own.memory_us);
    op->per_user = own.sessions_per_user;
    op->by_writes = (own.flags & SES_EXPIRE_CHANGED) != 0;
    op->limit = own.limit > 0 ? own.limit : default_limit;
    op->count_only = (own.flags & SES_EXPIRE_DRY_RUN) != 0;
    op->erasure.secure = (own.flags & SES_SECURE) != 0;
    op->erasure.limits = LIMITS_OF(store, own);
    *erased = own.erased;
    return ses__receipt_begin(own.erased, &op->erasure, error);
}

static int expire(ses_store *store, struct expire_op *op, const ses_expire_options *options, ses_error *error)
{
    ses_erased *erased = NULL;
    int code = take_expire_options(store, options, op, &erased, error);

    if (code != SES_OK)
        return code;
    (void)pthread_mutex_lock(&store->lock);
    op->place = store->expired_to;
    (void)pthread_mutex_unlock(&store->lock);
    code = run_expiration(store->storage, op, error);
    (void)pthread_mutex_lock(&store->lock);
    if (code >= 0)
        store->expired_to = op->place;
    (void)pthread_mutex_unlock(&store->lock);
    op->erasure.erased.forks_left = -1; /* they are not looked for */
    if (code >= 0)
        ses__receipt_end(erased, &op->erasure);
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

/* --------------------------------------------------------------------------------- the time of expiry */

struct expiry {
    const struct session_call *call;
    int64_t expires_us; /* or INT64_MAX */
};

static int run_expiry(struct db *db, void *context, ses_error *error)
{
    const struct expiry *own = context;
    struct session_row row;
    const int code = ses__session_of(db, &own->call->ref, &row, error);

    if (code != SES_OK || row.expires_us == own->expires_us)
        return code;
    return ses__change_one(db, STATEMENT_SESSION_EXPIRY, "sessions", error,
                           VALUES(INT(row.id), INT_IF(own->expires_us != INT64_MAX, own->expires_us)));
}

static int set_expiry(const struct target *target, const int64_t *expires_us, const ses_call_options *options,
                      ses_error *error)
{
    struct session_call call;
    struct expiry own = {.call = &call, .expires_us = INT64_MAX};
    struct limits limits;
    int code = ses__call_begin(&call, target, error);

    if (code != SES_OK)
        return code;
    code = ses__take_call_options(call.store, options, &limits, error);
    if (code == SES_OK)
        code = ses__take_expiry(expires_us, ses__store_now(call.store), &own.expires_us, error);
    if (code == SES_OK)
        code = ses__run_within(call.store->storage, &limits, TO_WRITE(0), run_expiry, &own, error);
    if (code == SES_OK && call.snapshot)
        call.snapshot->row.expires_us = own.expires_us;
    return ses__call_end(&call, code);
}

int ses_expiry_set(ses_session *session, const int64_t *expires_us, const ses_call_options *options,
                   ses_error *error)
{
    return set_expiry(ON(session), expires_us, options, error);
}

int ses_expiry_set_by_key(ses_store *store, const ses_key *key, const int64_t *expires_us,
                          const ses_call_options *options, ses_error *error)
{
    return set_expiry(AT(store, key), expires_us, options, error);
}
