/* Creates sessions. */
#include "base/error.h"
#include "storage/sql/session/jobs.h"

int ses__refuse_existing(const ses_key *key, ses_error *error)
{
    return ses__error_set(error, SES_EXISTS,
                          "the session %.100s/%.100s/%.100s (app/user/session) already exists", key->app,
                          key->user, key->session);
}

static int show_child_of(struct snapshot *snapshot, const ses_key *child_of, ses_error *error)
{
    struct arena *arena = &snapshot->arena;
    ses_key *key = ses__arena_new(arena, sizeof *key);

    if (!key)
        return ses__error_nomem(error);
    *key = (ses_key){ses__arena_text(arena, child_of->app, strlen(child_of->app)),
                     ses__arena_text(arena, child_of->user, strlen(child_of->user)),
                     ses__arena_text(arena, child_of->session, strlen(child_of->session))};
    snapshot->child_of = key;
    return key->app && key->user && key->session ? SES_OK : ses__error_nomem(error);
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

    if (code == SES_OK && op->child_of)
        code = show_child_of(snapshot, op->child_of, error);
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

/* Finds the number of origin that a child has, too. */
static int find_origin(struct db *db, const ses_key *child_of, int64_t *origin, ses_error *error)
{
    struct session_row row;
    const int code = ses__session_find(db, child_of, &row, error);

    if (code == SES_NOTFOUND) {
        (void)ses__no_such_session(child_of, error);
        ses__error_prefix(error, "create options: child_of: ");
    }
    return code == SES_OK ? ses__origin_find(db, row.id, origin, error) : code;
}

static int make_child(struct db *db, const struct create_op *op, struct session_row *row, int64_t origin,
                      ses_error *error)
{
    const int code = ses__details_make_child(db, row, op->child_of, error);

    return code == SES_OK ? ses__query_do(db, STATEMENT_ORIGIN_SET, error, VALUES(INT(row->id), INT(origin)))
                          : code;
}

static int run_create(struct db *db, void *context, ses_error *error)
{
    const struct create_op *op = context;
    const struct session_times times = {op->now_us, op->created_us, op->expires_us};
    struct session_row row;
    int64_t origin = 0;
    int code = ses__session_find(db, op->key, &row, error);

    if (code == SES_OK)
        return ses__refuse_existing(op->key, error);
    if (code != SES_NOTFOUND)
        return code;
    code = op->child_of ? find_origin(db, op->child_of, &origin, error) : SES_OK;
    if (code == SES_OK)
        code = ses__session_add(db, op->key, &times, &row, error);
    if (code == SES_OK)
        code = ses__contents_add(db, op, &row, error);
    if (code == SES_OK && op->child_of)
        code = make_child(db, op, &row, origin, error);
    return code == SES_OK && op->snapshot ? load_new(db, op, &row, error) : code;
}

/* A program that only creates sessions does not link what reads them. */
int ses__door_create(struct storage *storage, struct create_op *op, ses_error *error)
{
    op->get_existing = false;
    return storage->engine->create && !op->child_of
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
    struct session_row row;
    /* To read an existing one ends the transaction on a server, so this looks first. */
    int code = op->get_existing ? ses__session_find(db, op->key, &row, error) : SES_NOTFOUND;

    if (code == SES_OK)
        code = find_existing(db, context, error);
    else if (code == SES_NOTFOUND)
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
        result = storage->engine->create && !op->child_of
                     ? storage->engine->create(storage, op, error)
                     : ses__run_within(storage, &op->limits, TO_WRITE(op->initial.len), ses__create_job, op,
                                       error);
    return result;
}
