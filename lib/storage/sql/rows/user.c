/* The rows of apps and users, and the versions at which their new sessions begin. */
#include "base/error.h"
#include "storage/sql/rows/parts.h"

void ses__owner_ask(struct query *query, struct db *db, const char *app, const char *user, ses_error *error)
{
    if (user)
        ses__query_open(query, db, STATEMENT_USER_FIND, error, VALUES(STRING(app), STRING(user)));
    else
        ses__query_open(query, db, STATEMENT_APP_FIND, error, VALUES(STRING(app)));
}

int ses__owner_take(struct query *query, struct user_row *row)
{
    const bool is_user = query->source == STATEMENT_USER_FIND;
    const bool found = ses__query_row(query);
    bool is_it = false;

    *row = (struct user_row){.id = 0};
    if (found) {
        row->id = is_user ? ses__query_int(query, 0) : 0;
        row->app_id = ses__query_int(query, is_user ? 1 : 0);
        is_it = (row->id > 0 || !is_user) && row->app_id > 0 && ses__query_int(query, is_user ? 2 : 1) == 1;
    }
    return ses__end_found(query, found, is_it, is_user ? "user" : "app");
}

int ses__owner_find(struct db *db, const char *app, const char *user, struct user_row *row, ses_error *error)
{
    struct query query;

    ses__owner_ask(&query, db, app, user, error);
    return ses__owner_take(&query, row);
}

int ses__owner_ensure(struct db *db, const char *app, const char *user, struct user_row *row,
                      ses_error *error)
{
    int code = ses__owner_find(db, app, user, row, error);

    if (code != SES_NOTFOUND)
        return code;
    code = user ? ses__owner_ensure(db, app, NULL, row, error) : SES_OK;
    if (code == SES_OK)
        code = user ? ses__query_do(db, STATEMENT_USER_ADD, error, VALUES(INT(row->app_id), STRING(user)))
                    : ses__query_do(db, STATEMENT_APP_ADD, error, VALUES(STRING(app)));
    if (code == SES_OK)
        code = ses__owner_find(db, app, user, row, error);
    if (code != SES_NOTFOUND)
        return code;
    db->outrun = true; /* where others write meanwhile, one of them may have deleted it */
    return ses__error_set(error, SES_CORRUPT, "%s: an app or user that exists cannot be found", db->name);
}

/* ---------------------------------------------------------------------------------------- versions */

static int read_floor(struct db *db, int64_t user_id, int64_t *floor, ses_error *error)
{
    struct query query;
    ses__query_open(&query, db, STATEMENT_VERSION_FLOOR, error, VALUES(INT(user_id)));
    bool sound = ses__query_row(&query);
    if (sound)
        *floor = ses__query_int(&query, 0);
    sound = sound && *floor >= 0 && *floor <= MAX_VERSION + 1 && !ses__query_row(&query);
    int code = ses__query_end(&query);
    if (code == SES_OK && !sound)
        code = ses__error_set(
            error, SES_CORRUPT,
            "%s: the table version_floor does not hold one row with a number from 0 to 2^53", db->name);
    return code;
}

int ses__version_first(struct db *db, int64_t user_id, int64_t *version, ses_error *error)
{
    int code = read_floor(db, user_id, version, error);
    if (code == SES_OK && *version > MAX_VERSION)
        code = ses__error_set(
            error, SES_LIMIT,
            "%s: all versions below 2^53 are used up: export the sessions and import them into a new store",
            db->name);
    return code;
}

int ses__version_pass(struct db *db, int64_t user_id, int64_t version, ses_error *error)
{
    int64_t floor = 0;
    int code = read_floor(db, user_id, &floor, error);
    if (code != SES_OK || version < floor)
        return code;
    return ses__query_do(db, STATEMENT_VERSION_FLOOR_RAISE, error, VALUES(INT(version + 1), INT(user_id)));
}
