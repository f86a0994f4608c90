/* The state that a session was created with, as a check reads it. */
#include "base/error.h"
#include "storage/sql/upkeep/check.h"
#include "storage/sql/session/log.h"

const struct delta_op *ses__delta_last(const struct delta *delta, struct span name)
{
    for (size_t i = delta->count; i-- > 0;) {
        const struct delta_op *op = &delta->ops[i];
        if (ses__span_is(op->name, name))
            return op;
    }
    return NULL;
}

static int read_changes(struct span initial, struct arena *arena, struct delta *delta, ses_error *error)
{
    int code = ses__delta_read_text(initial, 0, arena, delta, error);

    for (size_t i = 0; i < delta->count && code == SES_OK; i++) {
        if (delta->ops[i].scope == SCOPE_TEMP)
            code = ses__error_set(error, SES_CORRUPT, "it has a temp: key, which is never stored");
    }
    return code;
}

int ses__check_read_initial(struct check *check, int64_t session_id, struct arena *arena,
                            struct span *initial, struct delta *delta, bool *ok)
{
    const int64_t before = check->op->problems;
    int code = ses__log_initial(check->db, session_id, arena, initial, &check->error);

    if (code == SES_OK && initial->ptr) {
        code = read_changes(*initial, arena, delta, &check->error);
        if (code != SES_OK && code != SES_NOMEM)
            ses__error_prefix(&check->error,
                              "the initial state of session number %lld: ", (long long)session_id);
    }
    code = ses__check_settle(check, code, SES_PROBLEM_BASE);
    *ok = code == SES_OK && check->op->problems == before;
    return code;
}
