/* The rows of apps and users. */
#include "base/error.h"
#include "storage/sql/rows/parts.h"

void ses__owner_ask(struct query *query, struct db *db, const char *app, const char *user, ses_error *error)
{
    if (user)
        ses__query_open(query, db, STATEMENT_USER_FIND, error, VALUES(STRING(app), STRING(user)));
    else
        ses__query_open(query, db, STATEMENT_APP_FIND, error, VALUES(STRING(app)));
    ses__query_ask(query);
}

static int take_app(struct query *query, int64_t *id)
{
    bool is_it = false;
    bool found = ses__query_row(query);
    if (found) {
        *id = ses__query_int(query, 0);
        is_it = *id > 0 && ses__query_int(query, 1) == 1;
    }
    return ses__end_found(query, found, is_it, "app");
}

static int take_user(struct query *query, struct user_row *row)
{
    bool is_it = false;
    bool found = ses__query_row(query);
    if (found) {
        row->id = ses__query_int(query, 0);
        row->app_id = ses__query_int(query, 1);
        is_it = row->id > 0 && row->app_id > 0 && ses__query_int(query, 2) == 1;
    }
    return ses__end_found(query, found, is_it, "user");
}

int ses__owner_take(struct query *query, struct user_row *row)
{
    *row = (struct user_row){.id = 0};
    return query->source == STATEMENT_USER_FIND ? take_user(query, row) : take_app(query, &row->app_id);
}

int ses__app_find(struct db *db, const char *app, int64_t *id, ses_error *error)
{
    struct query query;

    ses__owner_ask(&query, db, app, NULL, error);
    return take_app(&query, id);
}

int ses__user_find(struct db *db, const char *app, const char *user, struct user_row *row, ses_error *error)
{
    struct query query;

    ses__owner_ask(&query, db, app, user, error);
    return take_user(&query, row);
}

/* Where others write meanwhile, one of them may have deleted it. */
static int refuse_lost_name(struct db *db, ses_error *error)
{
    db->outrun = true;
    return ses__error_set(error, SES_CORRUPT, "%s: an app or user that exists cannot be found", db->name);
}

int ses__app_ensure(struct db *db, const char *app, int64_t *id, ses_error *error)
{
    int code = ses__app_find(db, app, id, error);

    if (code != SES_NOTFOUND)
        return code;
    code = ses__query_do(db, STATEMENT_APP_ADD, error, VALUES(STRING(app)));
    if (code == SES_OK)
        code = ses__app_find(db, app, id, error);
    return code == SES_NOTFOUND ? refuse_lost_name(db, error) : code;
}

int ses__user_ensure(struct db *db, const char *app, const char *user, struct user_row *row, ses_error *error)
{
    int64_t app_id = 0;
    int code = ses__user_find(db, app, user, row, error);

    if (code != SES_NOTFOUND)
        return code;
    code = ses__app_ensure(db, app, &app_id, error);
    if (code != SES_OK)
        return code;
    code = ses__query_do(db, STATEMENT_USER_ADD, error, VALUES(INT(app_id), STRING(user)));
    if (code == SES_OK)
        code = ses__user_find(db, app, user, row, error);
    return code == SES_NOTFOUND ? refuse_lost_name(db, error) : code;
}
