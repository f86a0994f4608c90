/* Whether what a follower waits for has happened. */
#include "storage/sql/rows/session.h"
#include "storage/sql/query.h"

static int watch_session(struct db *db, struct watched *item, ses_error *error)
{
    struct query query;

    ses__query_open(&query, db, STATEMENT_SESSION_VERSION, error, VALUES(INT(item->session_id)));
    item->changed = !ses__query_row(&query) || ses__query_int(&query, 0) != item->versions;
    return ses__query_end(&query);
}

/* Without sessions there are NULLs, which are 0. */
static int watch_user(struct db *db, struct watched *item, ses_error *error)
{
    struct query query;

    ses__query_open(&query, db, STATEMENT_USER_VERSIONS, error,
                    VALUES(STRING(item->app), STRING(item->user)));
    item->changed = !ses__query_row(&query) || ses__query_int(&query, 0) != item->session_id ||
                    ses__query_int(&query, 1) != item->count || ses__query_int(&query, 2) != item->versions;
    return ses__query_end(&query);
}

int ses__watched_look(struct db *db, struct watched *item, ses_error *error)
{
    return item->app ? watch_user(db, item, error) : watch_session(db, item, error);
}
