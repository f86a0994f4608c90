/* A check of all that is stored, as of one moment. Nothing is changed. */
#include "storage/sql/upkeep/check.h"

#include "base/error.h"

static int check_rows(struct check *check)
{
    if (check->op->level < SES_CHECK_LOG)
        return SES_OK;
    int code = ses__check_usage_find(check);
    if (code == SES_OK)
        code = ses__check_owners(check, SCOPE_APP);
    if (code == SES_OK)
        code = ses__check_owners(check, SCOPE_USER);
    if (code != SES_OK || check->ended)
        return code;
    code = ses__check_words_begin(check);
    if (code == SES_OK)
        code = ses__check_sessions(check);
    return ses__check_words_end(check, code);
}

int ses__check_by(struct storage *storage, struct check_op *op, engine_check *of_engine, ses_error *error)
{
    struct check check = {.op = op, .rows = check_rows};

    op->problems = 0;
    ses__error_clear(&check.error);
    ses__arena_init(&check.arena, storage->allocator);
    int code = of_engine(storage, &check);
    ses__arena_free(&check.arena);
    if (code != SES_OK && error)
        *error = check.error;
    return code;
}
