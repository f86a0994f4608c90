#include "storage/door.h"

#include "base/error.h"

void ses__list_op_free(struct list_op *op, const ses_allocator *allocator)
{
    for (size_t i = 0; i < op->count; i++) {
        if (op->items[i].snapshot.allocator) /* it was not taken over */
            ses__snapshot_free(&op->items[i].snapshot);
    }
    ses__memory_free(allocator, op->items);
    op->items = NULL;
    op->count = 0;
    op->capacity = 0;
}

int ses__no_such_session(const ses_key *key, ses_error *error)
{
    return ses__error_set(error, SES_NOTFOUND, "there is no session %.100s/%.100s/%.100s (app/user/session)",
                          key->app, key->user, key->session);
}

int ses__not_leased(int64_t token, ses_error *error)
{
    return ses__error_set(
        error, SES_LEASED,
        "the token %lld is not that of the session's lease: another owner has taken it, or it was never this session's; take the lease again",
        (long long)token);
}

int ses__refuse_interrupted(const char *what, ses_error *error)
{
    return ses__error_set(error, SES_INTERRUPTED, "%s was interrupted", what);
}
