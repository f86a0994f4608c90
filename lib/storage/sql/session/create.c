/* Creates sessions. */
#include "base/error.h"
#include "storage/sql/session/jobs.h"

int ses__refuse_existing(const ses_key *key, ses_error *error)
{
    return ses__error_set(error, SES_EXISTS,
                          "the session %.100s/%.100s/%.100s (app/user/session) already exists", key->app,
                          key->user, key->session);
}

/* A new session has no events, and its title and labels are known: only state is read, which others may have
 * set. */
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

static int run_create(struct db *db, void *context, ses_error *error)
{
    const struct create_op *op = context;
    const struct session_times times = {op->now_us, op->created_us, op->expires_us};
    struct session_row row;
    int code = ses__session_find(db, op->key, &row, error);

    if (code == SES_OK)
        return ses__refuse_existing(op->key, error);
    if (code == SES_NOTFOUND)
        code = ses__session_add(db, op->key, &times, &row, error);
    if (code == SES_OK)
        code = ses__contents_add(db, op, &row, error);
    return code == SES_OK && op->snapshot ? load_new(db, op, &row, error) : code;
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
