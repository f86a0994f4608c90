/* Walks over apps, users and sessions that are to be deleted, a few at a time. */
#include <string.h>

#include "base/error.h"
#include "storage/sql/rows/parts.h"

/* ------------------------------------------------------------------------------------------- sessions */

/* The owner and the limit are bound to the first two parameters. */
static void ids_start(struct query *query, struct db *db, const struct statement *statement, int64_t owner,
                      int64_t limit, ses_error *error)
{
    ses__query_start(query, db, statement, error);
    ses__query_bind_int(query, 1, owner);
    ses__query_bind_int(query, 2, limit < MAX_SESSION_IDS ? limit : MAX_SESSION_IDS);
}

/* There are no more rows than the statement's limit. */
static int ids_end(struct query *query, struct session_ids *ids)
{
    ids->count = 0;
    while (ses__query_row(query))
        ids->items[ids->count++] = ses__query_int(query, 0);
    return ses__query_end(query);
}

int ses__sessions_of_app(struct db *db, int64_t app_id, int64_t limit, struct session_ids *ids,
                         ses_error *error)
{
    struct query query;

    ids_start(&query, db, STATEMENT_SESSIONS_OF_APP, app_id, limit, error);
    return ids_end(&query, ids);
}

int ses__sessions_expired(struct db *db, int64_t app_id, int64_t until_us, int64_t limit,
                          struct session_ids *ids, ses_error *error)
{
    struct query query;

    ids_start(&query, db, STATEMENT_SESSIONS_EXPIRED, app_id, limit, error);
    ses__query_bind_int(&query, 3, until_us);
    return ids_end(&query, ids);
}

static int find_idle(struct db *db, const struct statement *statement, int64_t app_id, int64_t before_us,
                     int64_t limit, struct session_ids *ids, ses_error *error)
{
    struct query query;

    ids_start(&query, db, statement, app_id, limit, error);
    ses__query_bind_int(&query, 3, before_us);
    ses__query_bind_int(&query, 4, ses__hour_of(before_us));
    return ids_end(&query, ids);
}

int ses__sessions_idle(struct db *db, int64_t app_id, int64_t before_us, int64_t limit,
                       struct session_ids *ids, ses_error *error)
{
    int code = find_idle(db, STATEMENT_SESSIONS_IDLE, app_id, before_us, limit, ids, error);

    return code == SES_OK && ids->count == 0
               ? find_idle(db, STATEMENT_SESSIONS_IDLE_AHEAD, app_id, before_us, limit, ids, error)
               : code;
}

int ses__sessions_beyond(struct db *db, int64_t user_id, int64_t keep, int64_t limit, struct session_ids *ids,
                         ses_error *error)
{
    struct query query;

    ids->count = 0;
    ses__query_start(&query, db, STATEMENT_USER_SESSION_COUNT, error);
    ses__query_bind_int(&query, 1, user_id);
    int64_t count = ses__query_row(&query) ? ses__query_int(&query, 0) : 0;
    int code = ses__query_end(&query);
    if (code != SES_OK || count <= keep)
        return code;
    ids_start(&query, db, STATEMENT_LIST_USER_OLDEST_IDS, user_id,
              count - keep < limit ? count - keep : limit, error);
    return ids_end(&query, ids);
}

int ses__user_has_more(struct db *db, int64_t user_id, int64_t sessions, bool *has, ses_error *error)
{
    struct query query;

    ses__query_start(&query, db, STATEMENT_USER_HAS_MORE, error);
    ses__query_bind_int(&query, 1, user_id);
    ses__query_bind_int(&query, 2, sessions);
    *has = ses__query_row(&query);
    return ses__query_end(&query);
}

/* -------------------------------------------------------------------------------------- apps, users */

int ses__app_after(struct db *db, int64_t after, int64_t *id, ses_error *error)
{
    struct query query;

    ses__query_start(&query, db, STATEMENT_APP_AFTER, error);
    ses__query_bind_int(&query, 1, after);
    bool found = ses__query_row(&query);
    *id = found ? ses__query_int(&query, 0) : 0;
    int code = ses__query_end(&query);
    return code == SES_OK && found && *id <= after ? ses__refuse_stranger(db, "app", error) : code;
}

void ses__user_rows_open(struct user_rows *rows, struct db *db, int64_t app_id, struct span after,
                         int64_t limit, ses_error *error)
{
    rows->code = SES_OK;
    rows->last_len = after.len;
    memcpy(rows->last, after.ptr, after.len);
    ses__query_start(&rows->query, db, STATEMENT_USERS_AFTER, error);
    ses__query_bind_int(&rows->query, 1, app_id);
    ses__query_bind_text(&rows->query, 2, after);
    ses__query_bind_int(&rows->query, 3, limit);
}

static bool comes_after(const struct user_rows *rows, struct span name)
{
    size_t shorter = name.len < rows->last_len ? name.len : rows->last_len;
    int order = memcmp(name.ptr, rows->last, shorter);
    return order > 0 || (order == 0 && name.len > rows->last_len);
}

bool ses__user_rows_next(struct user_rows *rows, int64_t *id)
{
    struct query *query = &rows->query;

    if (rows->code != SES_OK || !ses__query_row(query))
        return false;
    *id = ses__query_int(query, 0);
    struct span name = ses__query_text(query, 1);
    bool sound = *id > 0 && name.len - 1 < SES_ID_MAX && comes_after(rows, name);
    if (query->code == SES_OK && !sound)
        rows->code =
            ses__error_set(query->error, SES_CORRUPT, "%s: a row of users is out of place", query->db->name);
    if (query->code != SES_OK || !sound)
        return false;
    memcpy(rows->last, name.ptr, name.len);
    rows->last_len = name.len;
    return true;
}

int ses__user_rows_close(struct user_rows *rows)
{
    int code = ses__query_end(&rows->query);
    return code != SES_OK ? code : rows->code;
}
