/* Deletes sessions, users and apps. */
#include <string.h>

#include "base/error.h"
#include "session/followers.h"
#include "storage/sql/rows/parts.h"
#include "storage/sql/session/family.h"

struct deletion {
    ses_key key; /* without a session: all of the user's; without a user: all of the app's */
    struct erasure erasure;
    int64_t limit; /* sessions of an app in a call */
    bool with_children;
    /* out */
    int64_t sessions;
    int64_t state_keys;
    bool more; /* a part of the app is left */
};

/* Without the session's number of origin, its copies cannot be found. */
static int end_without_any(struct db *db)
{
    if (db->erased)
        db->erased->forks_left = -1;
    return SES_OK;
}

/* Returns the place of a relative's owner among the items, from 1. The count + 1: it is the session itself.
 * 0: there is none. */
static size_t place_of_owner(const struct family *family, const struct relative *child)
{
    const struct relative *owner =
        child->child_user.ptr ? ses__relative_find(family, child->child_user, child->child_session) : NULL;

    if (!owner)
        return 0;
    return owner == &family->own ? family->count + 1 : (size_t)(owner - family->items) + 1;
}

/* Marks what leads to the session from child to owner. Each relative is passed twice, whatever circles their
 * names form. */
static bool mark_children(struct family *family)
{
    enum { UNKNOWN, STAYS, GOES, PASSED };
    const size_t own = family->count + 1;
    size_t *owners = ses__arena_new(&family->arena, own * sizeof *owners);
    unsigned char *marks = ses__arena_new(&family->arena, own + 1);

    if (!owners || !marks)
        return false;
    memset(marks, UNKNOWN, own + 1);
    marks[0] = STAYS;
    marks[own] = GOES;
    for (size_t i = 0; i < family->count; i++)
        owners[i] = place_of_owner(family, &family->items[i]);
    for (size_t i = 1; i < own; i++) {
        size_t end = i;
        for (; marks[end] == UNKNOWN; end = owners[end - 1])
            marks[end] = PASSED;
        const unsigned char mark = marks[end] == GOES ? GOES : STAYS;
        for (size_t at = i; marks[at] == PASSED; at = owners[at - 1])
            marks[at] = mark;
        family->items[i - 1].is_deleted = marks[i] == GOES;
    }
    return true;
}

static int delete_child(struct db *db, struct deletion *own, const struct session_row *of, int64_t id,
                        ses_error *error)
{
    struct session_row child;
    int code = ses__session_by_id(db, id, &child, error);

    if (code == SES_NOTFOUND) /* it was deleted meanwhile */
        return SES_OK;
    if (code == SES_OK && child.app_id != of->app_id)
        code = ses__refuse_stranger(db, "app's session", error);
    if (code == SES_OK)
        code = ses__session_remove(db, &child, error);
    own->sessions += code == SES_OK;
    return code;
}

/* Children, and theirs, whatever circles their names form: each is marked once. */
static int delete_children(struct db *db, struct deletion *own, const struct session_row *row,
                           ses_error *error)
{
    struct family family;
    int code = ses__family_read(db, row, &own->key, &family, error);

    if (code == SES_OK)
        code = ses__family_sort(&family, error);
    if (code == SES_OK && !mark_children(&family))
        code = ses__error_nomem(error);
    for (size_t i = 0; i < family.count && code == SES_OK; i++) {
        if (family.items[i].is_deleted)
            code = delete_child(db, own, row, family.items[i].row.id, error);
    }
    ses__family_free(&family, db->allocator);
    return code;
}

static int run_delete(struct db *db, void *context, ses_error *error)
{
    struct deletion *own = context;
    struct session_row row;

    own->sessions = 0;
    int code = ses__session_find(db, &own->key, &row, error);
    if (code == SES_NOTFOUND)
        return end_without_any(db);
    if (code == SES_OK)
        code = ses__session_check_key(db, row.id, &own->key, error);
    if (code == SES_OK && own->with_children)
        code = delete_children(db, own, &row, error);
    if (code == SES_OK)
        code = ses__copies_count(db, &row, &own->key, 1, MAX_SEQ, error);
    if (code == SES_OK)
        code = ses__session_remove(db, &row, error);
    own->sessions++;
    return code;
}

static int run_delete_user(struct db *db, void *context, ses_error *error)
{
    struct deletion *own = context;
    struct user_row user;

    own->sessions = 0;
    own->state_keys = 0;
    int code = ses__owner_find(db, own->key.app, own->key.user, &user, error);
    if (code == SES_NOTFOUND)
        return end_without_any(db);
    if (code == SES_OK)
        code = ses__copies_count_of_user(db, &user, error);
    return code == SES_OK ? ses__user_remove(db, &user, &own->sessions, &own->state_keys, error) : code;
}

enum { USERS_IN_STEP = 1000 };

/* Deletes up to USERS_IN_STEP users, who have no sessions any more. */
static int delete_users_of_app(struct db *db, int64_t app_id, bool *more, ses_error *error)
{
    static const struct span any = {"", 0};
    struct user_row user = {.app_id = app_id};
    int64_t sessions = 0;
    int64_t keys = 0;
    int code = SES_OK;

    *more = false;
    for (int i = 0; i < USERS_IN_STEP && code == SES_OK; i++) {
        struct name_rows rows;
        ses__name_rows_open(&rows, db, app_id, any, any, 1, error);
        const bool found = ses__name_rows_next(&rows, &user.id);
        code = ses__query_end(&rows.query);
        if (code != SES_OK || !found)
            return code;
        code = ses__user_remove(db, &user, &sessions, &keys, error);
    }
    *more = true;
    return code;
}

/* No fork is in another app. */
static int run_delete_app(struct db *db, void *context, ses_error *error)
{
    struct deletion *own = context;
    struct user_row app;

    own->sessions = 0;
    own->more = false;
    int code = ses__owner_find(db, own->key.app, NULL, &app, error);
    if (code == SES_NOTFOUND)
        return SES_OK;
    if (code == SES_OK)
        code = ses__due_remove(db, app.app_id, &(struct due){DUE_OF_APP, app.app_id, 0}, own->limit,
                               &own->sessions, error);
    if (code != SES_OK)
        return code;
    own->more = own->sessions >= own->limit;
    if (!own->more)
        code = delete_users_of_app(db, app.app_id, &own->more, error);
    return code == SES_OK && !own->more ? ses__app_remove(db, app.app_id, error) : code;
}

static int delete_all(ses_store *store, struct deletion *own, storage_job *job,
                      const ses_delete_options *given, ses_error *error)
{
    const int64_t default_limit = 100;
    ses_delete_options options;
    const unsigned known = own->key.session ? SES_DELETE_CHILDREN : 0;
    int code = ses__delete_options_take(store, given, known, &options, &own->erasure, error);

    if (code == SES_OK && options.limit < 0)
        code = ses__error_set(error, SES_INVALID, "delete options: limit is negative");
    if (code != SES_OK)
        return code;
    own->with_children = (options.flags & SES_DELETE_CHILDREN) != 0;
    own->limit = options.limit > 0 ? options.limit : default_limit;
    own->erasure.more = &own->more;
    code = ses__run_delete(store->storage, &own->erasure, job, own, error);
    if (code == SES_OK) {
        ses__receipt_end(options.erased, &own->erasure);
        ses__lease_queue_wake(&store->leases, own->key.session && !own->with_children ? &own->key : NULL);
    }
    /* Children may be of any user. */
    ses__followers_notify(store, code, own->with_children ? &(ses_key){own->key.app, NULL, NULL} : &own->key);
    return code == SES_OK && (own->more || own->erasure.unclean) ? SES_MORE : code;
}

int ses_delete(ses_store *store, const ses_key *key, const ses_delete_options *options, int64_t *deleted,
               ses_error *error)
{
    struct deletion own = {.more = false};
    int code = ses__store_begin(store, error);

    if (code != SES_OK)
        return code;
    code = ses__check_key(key, error);
    if (code == SES_OK) {
        own.key = *key;
        code = delete_all(store, &own, run_delete, options, error);
    }
    if (code >= 0 && deleted)
        *deleted = own.sessions;
    return ses__store_end(store, code);
}

int ses_delete_user(ses_store *store, const char *app, const char *user, const ses_delete_options *options,
                    int64_t *sessions, int64_t *state_keys, ses_error *error)
{
    struct deletion own = {.key = {app, user, NULL}};
    int code = ses__store_begin(store, error);

    if (code != SES_OK)
        return code;
    code = ses__check_id(app, "app", error);
    if (code == SES_OK)
        code = ses__check_id(user, "user", error);
    if (code == SES_OK)
        code = delete_all(store, &own, run_delete_user, options, error);
    if (code >= 0 && sessions)
        *sessions = own.sessions;
    if (code >= 0 && state_keys)
        *state_keys = own.state_keys;
    return ses__store_end(store, code);
}

int ses_delete_app(ses_store *store, const char *app, const ses_delete_options *options, int64_t *sessions,
                   ses_error *error)
{
    struct deletion own = {.key = {app, NULL, NULL}};
    int code = ses__store_begin(store, error);

    if (code != SES_OK)
        return code;
    code = ses__check_id(app, "app", error);
    if (code == SES_OK)
        code = delete_all(store, &own, run_delete_app, options, error);
    if (code >= 0 && sessions)
        *sessions = own.sessions;
    return ses__store_end(store, code);
}
