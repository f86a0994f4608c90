/* The beginning and the end of sessions. */
#include "base/error.h"
#include "storage/sql/session/family.h"
#include "storage/sql/session/jobs.h"

/* ------------------------------------------------------------------------------------------- creating */

int ses__refuse_existing(const ses_key *key, ses_error *error)
{
    return ses__error_set(error, SES_EXISTS,
                          "the session %.100s/%.100s/%.100s (app/user/session) already exists", key->app,
                          key->user, key->session);
}

/* A new session has no events, and its title and labels are known: only state is read, which others may have set. */
static int load_new(struct db *db, const struct create_op *op, const struct session_row *row,
                    ses_error *error)
{
    static const struct annotations none = {.title = NULL};
    struct snapshot *snapshot = op->snapshot;
    struct query state;
    int code = ses__annotations_change(&snapshot->annotations, &none, &op->annotating, error);

    snapshot->row = *row;
    snapshot->keeps_events = !op->range.none;
    if (code == SES_OK && !op->range.none)
        code = ses__snapshot_begin_events(snapshot, 0, error);
    if (code != SES_OK)
        return code;
    ses__state_of_session_ask(&state, db, row, error);
    return ses__state_of_session_take(&state, &snapshot->state, error);
}

int ses__contents_add(struct db *db, const struct create_op *op, struct session_row *row, ses_error *error)
{
    int code = ses__details_add(db, row, op->initial, &op->annotating, error);
    return code == SES_OK ? ses__delta_store(db, op->delta, row, 0, error) : code;
}

static int add_new_session(struct db *db, const struct create_op *op, ses_error *error)
{
    const struct session_times times = {op->now_us, op->created_us, op->expires_us};
    struct session_row row;
    int code = ses__session_add(db, op->key, &times, &row, error);

    if (code == SES_OK)
        code = ses__contents_add(db, op, &row, error);
    return code == SES_OK && op->snapshot ? load_new(db, op, &row, error) : code;
}

static int run_create(struct db *db, void *context, ses_error *error)
{
    const struct create_op *op = context;
    struct session_row row;
    int code = ses__session_find(db, op->key, &row, error);

    if (code == SES_NOTFOUND)
        return add_new_session(db, op, error);
    return code == SES_OK ? ses__refuse_existing(op->key, error) : code;
}

/* A program that only creates sessions does not link what reads them. */
int ses__door_create(struct storage *storage, struct create_op *op, ses_error *error)
{
    op->get_existing = false;
    return storage->engine->create
               ? storage->engine->create(storage, op, error)
               : ses__run_within(storage, &op->limits, TO_WRITE(op->initial.len), run_create, op, error);
}

static int find_existing(struct db *db, void *context, ses_error *error)
{
    const struct create_op *op = context;
    struct session_row row;
    int code = op->snapshot ? ses__find_snapshot(db, op->snapshot, op->key, &op->range, error)
                            : ses__session_find(db, op->key, &row, error);

    return code == SES_OK ? SES_EXISTING : code;
}

int ses__create_job(struct db *db, void *context, ses_error *error)
{
    const struct create_op *op = context;
    int code = op->get_existing ? find_existing(db, context, error) : SES_NOTFOUND;

    if (code == SES_NOTFOUND)
        code = run_create(db, context, error);
    if (code == SES_EXISTS && op->get_existing) /* somebody has created it meanwhile: the next run finds it */
        db->outrun = true;
    return code;
}

/* Most calls that may create find the session there: they need not wait for the writer. */
int ses__door_get_or_create(struct storage *storage, struct create_op *op, ses_error *error)
{
    op->get_existing = true;
    int result = ses__run_within(storage, &op->limits, TO_READ_BEFORE_WRITING, find_existing, op, error);

    if (result == SES_NOTFOUND)
        result = storage->engine->create ? storage->engine->create(storage, op, error)
                                         : ses__run_within(storage, &op->limits, TO_WRITE(op->initial.len),
                                                           ses__create_job, op, error);
    return result;
}

/* ------------------------------------------------------------------------------------------- deleting */

/* A session that was deleted before has no number of origin by which its copies are known. */
static int end_without_any(struct db *db)
{
    if (db->erased)
        db->erased->forks_left = -1;
    return SES_OK;
}

static int run_delete(struct db *db, void *context, ses_error *error)
{
    struct delete_op *op = context;
    struct session_row row;

    op->deleted = 0;
    int code = ses__session_find(db, op->key, &row, error);
    if (code == SES_NOTFOUND)
        return end_without_any(db);
    if (code == SES_OK)
        code = ses__session_check_key(db, row.id, op->key, error);
    if (code == SES_OK)
        code = ses__copies_count(db, &row, op->key, 1, MAX_SEQ, error);
    if (code == SES_OK)
        code = ses__session_remove(db, &row, error);
    op->deleted = 1;
    return code;
}

int ses__door_delete_session(struct storage *storage, struct delete_op *op, ses_error *error)
{
    return ses__run_delete(storage, &op->erasure, run_delete, op, error);
}

static int run_delete_user(struct db *db, void *context, ses_error *error)
{
    struct delete_user_op *op = context;
    struct user_row user;

    op->sessions = 0;
    op->state_keys = 0;
    int code = ses__owner_find(db, op->app, op->user, &user, error);
    if (code == SES_NOTFOUND)
        return end_without_any(db);
    if (code == SES_OK)
        code = ses__copies_count_of_user(db, &user, error);
    return code == SES_OK ? ses__user_remove(db, &user, &op->sessions, &op->state_keys, error) : code;
}

int ses__door_delete_user(struct storage *storage, struct delete_user_op *op, ses_error *error)
{
    return ses__run_delete(storage, &op->erasure, run_delete_user, op, error);
}

/* A step deletes so many users at most, who have no sessions any more. */
enum { USERS_IN_STEP = 1000 };

/* The first user of the app; 0: none is left. */
static int first_user(struct db *db, int64_t app_id, int64_t *id, ses_error *error)
{
    static const struct span any = {"", 0};
    struct name_rows rows;

    ses__name_rows_open(&rows, db, app_id, any, any, 1, error);
    if (!ses__name_rows_next(&rows, id))
        *id = 0;
    return ses__query_end(&rows.query);
}

static int delete_users_of_app(struct db *db, int64_t app_id, bool *more, ses_error *error)
{
    struct user_row user = {.id = 1, .app_id = app_id};
    int64_t sessions = 0;
    int64_t keys = 0;
    int code = SES_OK;

    *more = false;
    for (int i = 0; i < USERS_IN_STEP && code == SES_OK; i++) {
        code = first_user(db, app_id, &user.id, error);
        if (code != SES_OK || user.id == 0)
            return code;
        code = ses__user_remove(db, &user, &sessions, &keys, error);
    }
    *more = true;
    return code;
}

static int run_delete_app(struct db *db, void *context, ses_error *error)
{
    struct delete_app_op *op = context;
    struct user_row app;

    op->sessions = 0;
    op->more = false;
    int code = ses__owner_find(db, op->app, NULL, &app, error);
    if (code == SES_NOTFOUND)
        return SES_OK;
    if (code == SES_OK)
        code = ses__due_remove(db, app.app_id, &(struct due){DUE_OF_APP, app.app_id, 0}, op->limit,
                               &op->sessions, error);
    if (code != SES_OK)
        return code;
    op->more = op->sessions >= op->limit;
    if (!op->more)
        code = delete_users_of_app(db, app.app_id, &op->more, error);
    return code == SES_OK && !op->more ? ses__app_remove(db, app.app_id, error) : code;
}

int ses__door_delete_app(struct storage *storage, struct delete_app_op *op, ses_error *error)
{
    op->erasure.more = &op->more;
    return ses__run_delete(storage, &op->erasure, run_delete_app, op, error);
}
