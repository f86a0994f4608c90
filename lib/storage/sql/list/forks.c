/* Counts the forks of what was deleted. */
#include "storage/sql/query.h"

static int run_count_forks(struct db *db, void *context, ses_error *error)
{
    struct forks_op *op = context;
    const ses_key *key = op->key;
    return ses__query_number(
        db, STATEMENT_FORKS_OF, &op->count, error,
        VALUES(STRING(key->app), STRING(key->user), STRING(key->session), INT(op->after)));
}

int ses__door_count_forks(struct storage *storage, struct forks_op *op, ses_error *error)
{
    return ses__run_within(storage, &op->limits, TO_READ, run_count_forks, op, error);
}
