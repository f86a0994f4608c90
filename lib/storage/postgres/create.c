/* Creating a session in one round trip. */
#include <string.h>

#include "base/error.h"
#include "storage/postgres/parts.h"
#include "storage/sql/session/jobs.h"

/* The user has a session of this name. (A partition has an index of its own, which the server names after the table's
 * columns.) */
static bool is_taken(const struct pg *pg)
{
    return strstr(pg->constraint, "_shard_user_id_name_") != NULL;
}

/* JOB_UNSUITED, too, if the shard has used all versions, which a job reports. */
static int refuse(struct db *db, const struct create_op *op, int code, ses_error *error)
{
    struct pg *pg = ses__pg_of(db);

    if (code == SES_UNKNOWN || !is_taken(pg))
        return code;
    pg->base.again = false;
    return op->get_existing ? JOB_UNSUITED : ses__refuse_existing(op->key, error);
}

int ses__postgres_create(struct storage *storage, struct create_op *op, ses_error *error)
{
    struct create_whole whole = {
        .op = op, .add = STATEMENT_CREATE_SESSION, .commit = ses__remote_commit, .refuse = refuse};

    return ses__create_whole(storage, &whole, error);
}
