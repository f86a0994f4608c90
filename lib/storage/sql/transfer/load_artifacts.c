/* Loading artifacts. They wait under a name that no session can have until it is known whose they become. */
#include <string.h>

#include "base/error.h"
#include "storage/sql/session/jobs.h"
#include "storage/sql/rows/parts.h"
#include "storage/sql/transfer/load.h"

static const struct span any_name = {NULL, 0};

/* No id has so many bytes. */
struct staging_name {
    char text[SES_ID_MAX + 1];
};

static struct artifact_owner staged_of(struct staging_name *name, int64_t user_id)
{
    memset(name->text, '~', sizeof name->text);
    return (struct artifact_owner){user_id, {name->text, sizeof name->text}};
}

/* ---------------------------------------------------------------------------------------------- staging */

struct artifact_stage {
    struct db *db;
    const struct artifact_source *source;
    int64_t user_id;
    int64_t now_us;
    bool dry_run; /* the bytes are looked at, and not written */
};

static int stage_bytes(const struct artifact_stage *stage, const struct artifact_row *row, bool found,
                       ses_error *error)
{
    const struct artifact_source *source = stage->source;
    struct span chunk;
    int64_t number = 0;
    int code;

    while ((code = ses__db_wait_anew(stage->db, source->bytes(source->context, &chunk, error))) == 1) {
        if (!found && !stage->dry_run)
            code = ses__blob_add_chunks(stage->db, row->content_id, number, chunk, error);
        if (code < 0)
            return code;
        number++;
    }
    return code == SES_OK && !found && number == 0 && row->size > 0
               ? ses__error_set(error, SES_INVALID,
                                "the bytes of the artifact \"%.100s\", version %lld, are missing",
                                row->name.ptr, (long long)row->version)
               : code;
}

static int stage_all(const struct artifact_stage *stage, int64_t *count, ses_error *error)
{
    const struct artifact_source *source = stage->source;
    struct staging_name name;
    const struct artifact_owner staged = staged_of(&name, stage->user_id);

    for (*count = 0;; (*count)++) {
        struct artifact_row row;
        bool found = false;
        int code = ses__db_wait_anew(stage->db, source->next(source->context, &row, error));
        if (code != 1)
            return code;
        if (*count == 0)
            ses__db_lock(stage->db, SCOPE_USER, stage->user_id, true);
        code =
            ses__blob_begin(stage->db, stage->user_id, &row, stage->now_us, &row.content_id, &found, error);
        if (code == SES_OK)
            code = stage_bytes(stage, &row, found, error);
        if (code == SES_OK)
            code = ses__artifact_add(stage->db, &staged, &row, error);
        if (code != SES_OK)
            return code;
    }
}

int ses__load_stage_artifacts(struct load_run *run, int64_t user_id, ses_error *error)
{
    const struct load_op *op = run->op;
    const struct artifact_stage stage = {run->db, op->artifacts, user_id, op->now_us,
                                         (op->flags & SES_LOAD_DRY_RUN) != 0};

    run->repeatable = false;
    return stage_all(&stage, &run->staged, error);
}

/* -------------------------------------------------------------------------------------------- comparing */

/* `has`: `left` has one that `right` lacks, or has in another way. */
static int has_unlike(struct db *db, const struct artifact_owner *left, const struct artifact_owner *right,
                      struct span name, bool *has, ses_error *error)
{
    int64_t version = 0;
    const int code =
        ses__query_number(db, STATEMENT_ARTIFACT_UNLIKE, &version, error,
                          VALUES(INT(left->user_id), TEXT(left->session), TEXT(right->session), TEXT(name)));
    *has = code == SES_OK;
    return code == SES_NOTFOUND ? SES_OK : code;
}

int ses__load_compare_artifacts(struct load_run *run, int64_t user_id, const char *session, bool *has_others,
                                bool *lacks, ses_error *error)
{
    const struct artifact_owner own = {user_id, ses__span_of(session)};
    struct staging_name name;
    const struct artifact_owner staged = staged_of(&name, user_id);
    int code = has_unlike(run->db, &own, &staged, any_name, has_others, error);

    *lacks = false;
    return code == SES_OK && run->staged > 0 ? has_unlike(run->db, &staged, &own, any_name, lacks, error)
                                             : code;
}

/* --------------------------------------------------------------------------------------------- settling */

/* Gives the staged artifacts to their owner, in place of those with that name (without a pointer: all). In an
 * update these are among them. */
static int settle(struct db *db, const struct artifact_owner *owner, struct span name, int outcome,
                  int64_t *stored, ses_error *error)
{
    struct staging_name staging;
    const struct artifact_owner staged = staged_of(&staging, owner->user_id);
    int64_t removed = 0;
    int code = ses__artifacts_remove(db, owner, name, &removed, error);

    if (outcome == SES_LOADED_UPDATED)
        *stored -= removed;
    return code == SES_OK
               ? ses__query_do(db, STATEMENT_ARTIFACTS_MOVE, error,
                               VALUES(INT(owner->user_id), TEXT(staged.session), TEXT(owner->session)))
               : code;
}

int ses__load_settle_artifacts(struct load_run *run, ses_error *error)
{
    struct load_op *op = run->op;
    const struct artifact_owner owner = {run->row.user_id, ses__span_of(op->name)};
    bool has_others = false;
    bool lacks = false;
    int code = SES_OK;

    /* The name may have artifacts even if no session has it. */
    if (!(op->flags & SES_LOAD_REPLACE))
        code = ses__load_compare_artifacts(run, run->row.user_id, op->name, &has_others, &lacks, error);
    if (code == SES_OK && has_others)
        code =
            ses__error_set(error, SES_EXISTS,
                           "artifacts of the session %.100s/%.100s/%.100s already exist, and are different",
                           op->key->app, op->key->user, op->name);
    op->artifacts->stored = run->staged;
    return code == SES_OK && (run->staged > 0 || op->flags & SES_LOAD_REPLACE)
               ? settle(run->db, &owner, any_name, op->outcome, &op->artifacts->stored, error)
               : code;
}

/* ------------------------------------------------------------------------------- those of no session */

static int choose_outcome(struct db *db, struct load_artifact_op *op, const struct artifact_owner *owner,
                          ses_error *error)
{
    struct staging_name staging;
    const struct artifact_owner staged = staged_of(&staging, owner->user_id);
    const struct span name = ses__span_of(op->name);
    struct artifact_rows rows;
    struct artifact_row row;
    bool has_others = false;
    bool lacks = false;

    ses__artifact_open(&rows, db, owner, name, INT64_MAX, error);
    const bool exists = ses__artifact_rows_next(&rows, &row);
    int code = ses__query_end(&rows.query);
    if (code == SES_OK && exists)
        code = has_unlike(db, owner, &staged, name, &has_others, error);
    if (code == SES_OK && exists)
        code = has_unlike(db, &staged, owner, name, &lacks, error);
    op->outcome = !exists                      ? SES_LOADED_NEW
                  : !has_others && !lacks      ? SES_LOADED_EQUAL
                  : !has_others && op->updates ? SES_LOADED_UPDATED
                  : op->replaces               ? SES_IMPORTED_KEY_REPLACED
                                               : SES_IMPORTED_KEY_KEPT;
    return code;
}

static int run_load_artifact(struct db *db, void *context, ses_error *error)
{
    struct load_artifact_op *op = context;
    struct artifact_stage stage = {db, &op->source, 0, op->now_us, op->dry_run};
    struct user_row user;
    int code = ses__owner_ensure(db, op->app, op->user, &user, error);

    stage.user_id = user.id;
    const struct artifact_owner owner = {user.id, ses__span_of(op->session)};
    if (code == SES_OK)
        code = stage_all(&stage, &op->source.stored, error);
    if (code == SES_OK)
        code = choose_outcome(db, op, &owner, error);
    if (code != SES_OK)
        return code;
    if (op->outcome == SES_LOADED_EQUAL || op->outcome == SES_IMPORTED_KEY_KEPT) {
        op->source.stored = 0;
        return LOAD_UNDONE;
    }
    code = settle(db, &owner, ses__span_of(op->name), op->outcome, &op->source.stored, error);
    return code == SES_OK && op->dry_run ? LOAD_UNDONE : code;
}

int ses__door_load_artifact(struct storage *storage, struct load_artifact_op *op, ses_error *error)
{
    const int code = ses__run_within(storage, &op->limits, (struct manner){.writes = true, .alone = true},
                                     run_load_artifact, op, error);
    return code == LOAD_UNDONE ? SES_OK : code;
}
