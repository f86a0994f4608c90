/* The state of a session as it was. */
#include "base/error.h"
#include "json/reader.h"
#include "storage/sql/session/jobs.h"

static int keep_json(struct as_of_op *op, struct span text, ses_error *error)
{
    op->json = ses__memory_text_of(op->allocator, text);
    op->len = text.len;
    return op->json ? SES_OK : ses__error_nomem(error);
}

/* Another program may have written it. */
static int check_initial(const struct session_row *row, struct span initial, ses_error *error)
{
    struct json_reader reader;
    int code = ses__json_start_object(&reader, initial, "it", NULL);

    if (code == SES_OK && (!ses__json_skip(&reader, NULL) || !ses__json_finish(&reader)))
        code = SES_JSON;
    return code == SES_OK ? SES_OK
                          : ses__error_set(error, SES_CORRUPT,
                                           "the initial state of session number %lld is no JSON object",
                                           (long long)row->id);
}

static int read_initial(struct db *db, struct as_of_op *op, const struct session_row *row, ses_error *error)
{
    static const struct span empty = {"{}", 2};
    struct arena arena;
    struct span initial;

    ses__arena_init(&arena, op->allocator);
    int code = ses__log_initial(db, row->id, &arena, &initial, error);
    if (code == SES_OK && initial.ptr)
        code = check_initial(row, initial, error);
    if (code == SES_OK)
        code = keep_json(op, initial.ptr ? initial : empty, error);
    ses__arena_free(&arena);
    return code;
}

static int read_replayed(struct db *db, struct as_of_op *op, const struct session_row *row, int64_t seq,
                         ses_error *error)
{
    struct replay replay;
    struct span json;
    int code = ses__replay_init(&replay, op->allocator, op->seed, op->shared, error);

    if (code == SES_OK)
        code = ses__log_replay(db, row, seq, &replay, error);
    if (code == SES_OK)
        code = ses__state_to_json(&replay.state, &json, error);
    if (code == SES_OK)
        code = keep_json(op, json, error);
    ses__replay_free(&replay);
    return code;
}

static int run_as_of(struct db *db, void *context, ses_error *error)
{
    struct as_of_op *op = context;
    struct session_row row;
    int64_t seq = 0;

    ses_free(op->json); /* of an earlier run */
    op->json = NULL;
    int code = ses__session_of(db, &op->session, &row, error);
    if (code == SES_OK && op->initial)
        return read_initial(db, op, &row, error);
    if (code == SES_OK)
        code = ses__log_check_epoch(&op->session, &row, error);
    if (code == SES_OK)
        code = ses__log_find_point(db, &op->session, &row, &op->point, &seq, error);
    return code == SES_OK ? read_replayed(db, op, &row, seq, error) : code;
}

int ses__door_as_of(struct storage *storage, struct as_of_op *op, ses_error *error)
{
    op->json = NULL;
    op->len = 0;
    return ses__run_within(storage, &op->limits, TO_READ, run_as_of, op, error);
}
