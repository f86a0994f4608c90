/* Creating a session in one round trip. */
#include <mysqld_error.h>

#include "base/error.h"
#include "storage/mysql/parts.h"
#include "storage/sql/session/jobs.h"

/* A job has to look if the group of users has used all versions, and the new one is NULL, or if somebody has deleted the user
 * meanwhile. */
static int refuse(struct db *db, const struct create_op *op, int code, ses_error *error)
{
    struct my *my = ses__my_of(db);
    const bool is_taken = my->number == ER_DUP_ENTRY; /* nothing but the session's name can be */

    if (code == SES_UNKNOWN || (!is_taken && my->number != ER_BAD_NULL_ERROR))
        return code;
    my->base.again = false;
    return is_taken && !op->get_existing ? ses__refuse_existing(op->key, error) : JOB_UNSUITED;
}

int ses__mysql_create(struct storage *storage, struct create_op *op, ses_error *error)
{
    struct create_whole whole = {
        .op = op, .add = STATEMENT_CREATE_SESSION, .commit = ses__remote_commit, .refuse = refuse};

    return ses__create_whole(storage, &whole, error);
}
