/*
 * Removes sessions that have expired, or that are idle or too many. Read transactions look for sessions to
 * delete, each over a bounded number of apps and users. One write transaction then looks at these sessions
 * again, and deletes them.
 */
#include <string.h>

#include "base/error.h"
#include "model/event/timestamp.h"
#include "session/followers.h"
#include "storage/sql/rows/parts.h"

/* A step: deletes up to `limit` sessions. */
struct expire_op {
    const char *app; /* NULL: all */
    int64_t now_us;
    int64_t idle_before_us; /* INT64_MIN: not */
    int64_t per_user;       /* 0: not */
    bool by_writes;         /* the newest of a user are those that were written last */
    int64_t limit;
    bool count_only; /* all that are due, whatever the limit; deletes nothing */
    struct erasure erasure;
    struct expire_place place; /* in and out: only a hint, which saves another look at those before it */
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
    struct expire_place
        at;           /* where the stage has come to: of that app, users up to that one were looked at */
    bool in_app;      /* not all users of the app were looked at */
    int64_t only_app; /* the app that is asked for, once it was found */
    /* The apps and users found so far. */
    int64_t apps[MAX_FOUND]; /* with sessions that have expired or are idle */
    size_t app_count;
    struct user_row users[MAX_FOUND]; /* with too many sessions */
    size_t user_count;
};

/* The app with the next number; 0: there is none. */
static int find_app_after(struct db *db, int64_t after, int64_t *id, ses_error *error)
{
    int code = ses__query_number(db, STATEMENT_APP_AFTER, id, error, VALUES(INT(after)));

    if (code == SES_NOTFOUND)
        return SES_OK;
    return code == SES_OK && *id <= after ? ses__refuse_stranger(db, "app", error) : code;
}

/* `at.app_id` is 0 where there is none. */
static int find_next_app(struct db *db, struct expiring *own, ses_error *error)
{
    const char *app = own->op->app;
    struct user_row row;

    own->at.user_len = 0;
    if (!app)
        return find_app_after(db, own->at.app_id, &own->at.app_id, error);
    if (own->at.app_id > 0) { /* it was the only one */
        own->at.app_id = 0;
        return SES_OK;
    }
    const int code = ses__owner_find(db, app, NULL, &row, error);
    own->at.app_id = row.app_id;
    own->only_app = row.app_id;
    return code == SES_NOTFOUND ? SES_OK : code;
}

static int look_at_app(struct db *db, struct expiring *own, ses_error *error)
{
    const struct due expired = {DUE_EXPIRED, own->at.app_id, own->op->now_us};
    const struct due idle = {DUE_IDLE, own->at.app_id, own->op->idle_before_us};
    struct session_ids ids;
    int code = ses__due_find(db, &expired, 1, &ids, error);

    if (code == SES_OK && ids.count == 0)
        code = ses__due_find(db, &idle, 1, &ids, error);
    if (code == SES_OK && ids.count > 0)
        own->apps[own->app_count++] = own->at.app_id;
    return code;
}

static bool is_full(const struct expiring *own)
{
    return own->app_count == MAX_FOUND || own->user_count == MAX_FOUND;
}

/* Takes the looks from `*looks`. */
static int look_at_users(struct db *db, struct expiring *own, int *looks, ses_error *error)
{
    struct name_rows rows;
    int64_t id = 0;

    ses__name_rows_open(&rows, db, own->at.app_id, (struct span){own->at.user, own->at.user_len},
                        (struct span){"", 0}, *looks, error);
    while (!is_full(own) && ses__name_rows_next(&rows, &id)) {
        bool has = false;
        ses__query_keep(&rows.query, ses__user_has_more(db, id, own->op->per_user, &has, error));
        if (has)
            own->users[own->user_count++] = (struct user_row){id, own->at.app_id};
        (*looks)--;
    }
    memcpy(own->at.user, rows.last, rows.last_len);
    own->at.user_len = rows.last_len;
    return ses__query_end(&rows.query);
}

/* When a stage has come to the last app. */
static void begin_next_stage(struct expiring *own)
{
    const struct expire_op *op = own->op;
    const struct expire_place *place = &op->place; /* perhaps one of another app, or of one that is gone */
    const bool goes_on = place->app_id > 0 && (!op->app || place->app_id == own->only_app);

    if (own->stage == LOOK_AT_APPS && op->per_user > 0)
        own->stage = goes_on ? LOOK_ON_AT_USERS : LOOK_AGAIN_AT_USERS;
    else
        own->stage = own->stage == LOOK_ON_AT_USERS ? LOOK_AGAIN_AT_USERS : LOOKED_AT_ALL;
    own->at = own->stage == LOOK_ON_AT_USERS ? *place : (struct expire_place){.app_id = 0};
    own->in_app = own->stage == LOOK_ON_AT_USERS;
}

/* The app, or some of its users. */
static int look_on(struct db *db, struct expiring *own, int *looks, ses_error *error)
{
    int code = SES_OK;

    if (!own->in_app) {
        code = find_next_app(db, own, error);
        (*looks)--;
        if (code == SES_OK && own->at.app_id == 0) {
            begin_next_stage(own);
            return SES_OK;
        }
        own->in_app = own->stage != LOOK_AT_APPS;
    }
    if (code == SES_OK && own->stage == LOOK_AT_APPS)
        return look_at_app(db, own, error);
    if (code == SES_OK && *looks > 0)
        code = look_at_users(db, own, looks, error);
    own->in_app = *looks == 0;
    return code;
}

/* A stretch of the search. SES_MORE: another follows. */
static int search_on(struct db *db, struct expiring *own, ses_error *error)
{
    int looks = LOOKS_AT_ONCE;
    int code = SES_OK;

    while (code == SES_OK && looks > 0 && !is_full(own) && own->stage != LOOKED_AT_ALL)
        code = look_on(db, own, &looks, error);
    return code == SES_OK && !is_full(own) && own->stage != LOOKED_AT_ALL ? SES_MORE : code;
}

/* From the first state to the second: in a store in memory a job may run again from the start. */
static int run_search(struct db *db, void *context, ses_error *error)
{
    struct expiring *states = context;

    states[1] = states[0];
    return search_on(db, &states[1], error);
}

static int search(struct storage *storage, struct expiring *own, ses_error *error)
{
    struct expiring states[2] = {*own};
    int result;

    do {
        result = ses__run_within(storage, &own->op->erasure.limits, TO_READ_BEFORE_WRITING, run_search,
                                 states, error);
        if (result >= 0)
            states[0] = states[1];
    } while (result == SES_MORE);
    *own = states[0];
    return result;
}

/* ------------------------------------------------------------------------------------------- counting */

/* Adds the sessions of an app that repeated steps would delete. */
static int count_in_app(struct db *db, struct expire_op *op, int64_t app_id, ses_error *error)
{
    int64_t due = 0;
    int code = ses__query_number(db, STATEMENT_DUE_COUNT, &due, error,
                                 VALUES(INT(app_id), INT(op->now_us), INT(op->idle_before_us),
                                        INT(op->per_user > 0 ? op->per_user : INT64_MAX)));

    op->deleted += due;
    return code;
}

static int run_count_due(struct db *db, void *context, ses_error *error)
{
    struct expire_op *op = context;
    struct expiring own = {.op = op};
    int code = find_next_app(db, &own, error);

    op->deleted = 0;
    while (code == SES_OK && own.at.app_id > 0) {
        code = count_in_app(db, op, own.at.app_id, error);
        if (code == SES_OK)
            code = find_next_app(db, &own, error);
    }
    return code;
}

/* ------------------------------------------------------------------------------------------- deleting */

static int expire_in_app(struct db *db, struct expire_op *op, int64_t app_id, ses_error *error)
{
    const struct due expired = {DUE_EXPIRED, app_id, op->now_us};
    const struct due idle = {DUE_IDLE, app_id, op->idle_before_us};
    const int code = ses__due_remove(db, app_id, &expired, op->limit, &op->deleted, error);

    return code == SES_OK ? ses__due_remove(db, app_id, &idle, op->limit, &op->deleted, error) : code;
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

static int expire_of_users(struct db *db, const struct expiring *own, ses_error *error)
{
    struct expire_op *op = own->op;
    size_t done = 0;
    int code = SES_OK;

    while (code == SES_OK && done < own->user_count && op->deleted < op->limit) {
        const struct user_row *user = &own->users[done];
        const struct due beyond = {op->by_writes ? DUE_UNWRITTEN : DUE_BEYOND, user->id, op->per_user};
        code = ses__due_remove(db, user->app_id, &beyond, op->limit, &op->deleted, error);
        done += op->deleted < op->limit; /* else it may have more */
    }
    return code == SES_OK && done > 0 ? note_place(db, op, &own->users[done - 1], error) : code;
}

static int run_expire(struct db *db, void *context, ses_error *error)
{
    const struct expiring *own = context;
    struct expire_op *op = own->op;
    int code = SES_OK;

    op->deleted = 0;
    for (size_t i = 0; i < own->app_count && code == SES_OK; i++)
        code = expire_in_app(db, op, own->apps[i], error);
    if (code == SES_OK)
        code = expire_of_users(db, own, error);
    op->more = op->deleted >= op->limit || is_full(own);
    return code;
}

static int run_expiration(struct storage *storage, struct expire_op *op, ses_error *error)
{
    const bool read_only = storage->read_only; /* the write then reports it */
    struct expiring own = {.op = op};
    int code;

    if (op->count_only)
        return ses__run_within(storage, &op->erasure.limits, TO_READ, run_count_due, op, error);
    code = read_only ? SES_OK : search(storage, &own, error);
    op->deleted = 0;
    op->more = false;
    op->erasure.unclean = false;
    op->erasure.more = &op->more;
    if (code == SES_OK && (own.app_count > 0 || own.user_count > 0 || op->erasure.secure || read_only))
        code = ses__run_delete(storage, &op->erasure, run_expire, &own, error);
    return code;
}

/* --------------------------------------------------------------------------------------------- the call */

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
    code = run_expiration(store->storage, op, error);
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
