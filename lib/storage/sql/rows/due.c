/* Walks over apps, users and sessions that are to be deleted, a few at a time. */
#include <string.h>

#include "base/error.h"
#include "storage/sql/rows/parts.h"

/* ------------------------------------------------------------------------------------------- sessions */

static int64_t few(int64_t limit)
{
    return limit < MAX_SESSION_IDS ? limit : MAX_SESSION_IDS;
}

/* Reads ids, of which the statement gives at most `few`. */
static int find_ids(struct db *db, const struct statement *statement, struct session_ids *ids,
                    ses_error *error, const struct value *values)
{
    struct query query;

    ids->count = 0;
    ses__query_open(&query, db, statement, error, values);
    while (ses__query_row(&query))
        ids->items[ids->count++] = ses__query_int(&query, 0);
    return ses__query_end(&query);
}

int ses__sessions_of_app(struct db *db, int64_t app_id, int64_t limit, struct session_ids *ids,
                         ses_error *error)
{
    return find_ids(db, STATEMENT_SESSIONS_OF_APP, ids, error, VALUES(INT(app_id), INT(few(limit))));
}

int ses__sessions_expired(struct db *db, int64_t app_id, int64_t until_us, int64_t limit,
                          struct session_ids *ids, ses_error *error)
{
    return find_ids(db, STATEMENT_SESSIONS_EXPIRED, ids, error,
                    VALUES(INT(app_id), INT(few(limit)), INT(until_us)));
}

/* `last`: the last value of the index in which sessions may be idle. */
static int find_idle(struct db *db, const struct statement *statement, int64_t app_id, int64_t before_us,
                     int64_t last, int64_t limit, struct session_ids *ids, ses_error *error)
{
    return find_ids(db, statement, ids, error,
                    VALUES(INT(app_id), INT(few(limit)), INT(before_us), INT(last)));
}

int ses__sessions_idle(struct db *db, int64_t app_id, int64_t before_us, int64_t limit,
                       struct session_ids *ids, ses_error *error)
{
    int code = find_idle(db, STATEMENT_SESSIONS_IDLE, app_id, before_us, ses__active_30s(before_us + HOUR_US),
                         limit, ids, error);

    if (code == SES_OK && ids->count == 0)
        code = find_idle(db, STATEMENT_SESSIONS_IDLE_AHEAD, app_id, before_us, ses__hour_of(before_us), limit,
                         ids, error);
    return code;
}

int ses__sessions_beyond(struct db *db, int64_t user_id, int64_t keep, int64_t limit, struct session_ids *ids,
                         ses_error *error)
{
    int64_t count = 0;
    int code = ses__query_number(db, STATEMENT_USER_SESSION_COUNT, &count, error, VALUES(INT(user_id)));

    ids->count = 0;
    if (code != SES_OK || count <= keep)
        return code;
    return find_ids(db, STATEMENT_LIST_USER_OLDEST_IDS, ids, error,
                    VALUES(INT(user_id), INT(few(count - keep < limit ? count - keep : limit))));
}

int ses__user_has_more(struct db *db, int64_t user_id, int64_t sessions, bool *has, ses_error *error)
{
    int64_t one = 0;
    int code =
        ses__query_number(db, STATEMENT_USER_HAS_MORE, &one, error, VALUES(INT(user_id), INT(sessions)));

    *has = code == SES_OK;
    return code == SES_NOTFOUND ? SES_OK : code;
}

/* -------------------------------------------------------------------------------------- apps, users */

int ses__app_after(struct db *db, int64_t after, int64_t *id, ses_error *error)
{
    int code = ses__query_number(db, STATEMENT_APP_AFTER, id, error, VALUES(INT(after)));

    if (code == SES_NOTFOUND)
        return SES_OK;
    return code == SES_OK && *id <= after ? ses__refuse_stranger(db, "app", error) : code;
}
