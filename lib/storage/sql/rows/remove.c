/* Removes sessions and users, with all that belongs to them. */
#include "base/error.h"
#include "storage/sql/rows/parts.h"

/* Deletes, or looks for, what belongs to a session or a user; `met` (may be NULL): a row came of it. */
static int run_by_id(struct db *db, const struct statement *statement, int64_t id, bool *met,
                     ses_error *error)
{
    struct query query;
    ses__query_start(&query, db, statement, error);
    ses__query_bind_int(&query, 1, id);
    bool row = ses__query_row(&query);
    if (met)
        *met = row;
    return ses__query_end(&query);
}

int ses__events_remove(struct db *db, int64_t session_id, int64_t first, int64_t last, int64_t *deleted,
                       ses_error *error)
{
    struct query query;

    ses__query_start(&query, db, STATEMENT_EVENTS_DELETE, error);
    ses__query_bind_int(&query, 1, session_id);
    ses__query_bind_int(&query, 2, first);
    ses__query_bind_int(&query, 3, last);
    (void)ses__query_row(&query);
    int code = ses__query_end(&query);
    *deleted = ses__db_changed(db);
    return code;
}

static int refuse_leftover(const struct db *db, const char *what, int64_t id, ses_error *error)
{
    return ses__error_set(error, SES_CORRUPT,
                          "%s: the rows of %s number %lld are mixed up with those of another %s", db->name,
                          what, (long long)id, what);
}

/* The foreign keys would do it, but row by row through an index, wherever that leads. */
static int remove_rows_of_session(struct db *db, int64_t id, ses_error *error)
{
    static const struct statement *const statements[] = {
        STATEMENT_EVENT_MARKS_DELETE,    STATEMENT_SESSION_STATE_DELETE, STATEMENT_BASE_STATE_DELETE,
        STATEMENT_SESSION_LABELS_DELETE, STATEMENT_SESSION_LEASE_DELETE,
    };
    int64_t deleted = 0;
    int code = ses__events_remove(db, id, 0, MAX_SEQ, &deleted, error);

    for (size_t i = 0; i < sizeof statements / sizeof statements[0] && code == SES_OK; i++)
        code = run_by_id(db, statements[i], id, NULL, error);
    return code;
}

/* A life ends: another session of that name begins above its versions. */
static int end_life(struct db *db, int64_t session_id, ses_error *error)
{
    struct session_row row;
    int code = ses__session_by_id(db, session_id, &row, error);

    if (code == SES_NOTFOUND)
        code =
            ses__error_set(error, SES_CORRUPT, "%s: session number %lld is in an index but not in its table",
                           db->name, (long long)session_id);
    return code == SES_OK ? ses__version_pass(db, row.user_id, row.version, error) : code;
}

int ses__session_remove(struct db *db, int64_t id, ses_error *error)
{
    bool left = false;
    int code = end_life(db, id, error);

    if (code == SES_OK)
        code = remove_rows_of_session(db, id, error);
    if (code == SES_OK)
        code = run_by_id(db, STATEMENT_SESSION_LEFT, id, &left, error);
    if (code == SES_OK && left)
        code = refuse_leftover(db, "session", id, error);
    if (code == SES_OK)
        code = run_by_id(db, STATEMENT_SESSION_DELETE, id, NULL, error);
    return code == SES_OK ? ses__check_one_changed(db, "sessions", error) : code;
}

/* Is an event left after `seq`? One that is filed as another's, since the others were deleted. */
static int check_cut(struct db *db, int64_t session_id, int64_t seq, ses_error *error)
{
    struct event_rows rows;
    struct event_row row;

    ses__event_rows_open(&rows, db, session_id, seq + 1, MAX_SEQ, WALK_BACKWARD_TIMES, error);
    bool left = ses__event_rows_next(&rows, &row);
    int code = ses__event_rows_close(&rows);
    return code == SES_OK && left ? refuse_leftover(db, "session", session_id, error) : code;
}

int ses__events_cut(struct db *db, int64_t session_id, int64_t seq, int64_t *deleted, ses_error *error)
{
    struct query query;
    int code = ses__events_remove(db, session_id, seq + 1, MAX_SEQ, deleted, error);

    if (code == SES_OK)
        code = check_cut(db, session_id, seq, error);
    if (code != SES_OK)
        return code;
    ses__query_start(&query, db, STATEMENT_EVENT_MARKS_CUT, error);
    ses__query_bind_int(&query, 1, session_id);
    ses__query_bind_int(&query, 2, seq);
    (void)ses__query_row(&query);
    return ses__query_end(&query);
}

/* One session of a user, or NOTFOUND when none is left. */
static int any_session(struct db *db, int64_t user_id, int64_t *id, ses_error *error)
{
    struct query query;
    ses__query_start(&query, db, STATEMENT_SESSIONS_OF_USER, error);
    ses__query_bind_int(&query, 1, user_id);
    bool found = ses__query_row(&query);
    if (found)
        *id = ses__query_int(&query, 0);
    int code = ses__query_end(&query);
    return code == SES_OK && !found ? SES_NOTFOUND : code;
}

/* An index led to the session. Its row must be there, and be the app's, and the user's if `user_id` is not 0. */
static int remove_session_of(struct db *db, int64_t app_id, int64_t user_id, int64_t id, ses_error *error)
{
    struct session_row row;
    int code = ses__session_by_id(db, id, &row, error);

    if (code == SES_NOTFOUND)
        code =
            ses__error_set(error, SES_CORRUPT, "%s: session number %lld is in an index but not in the table",
                           db->name, (long long)id);
    else if (code == SES_OK && (row.app_id != app_id || (user_id && row.user_id != user_id)))
        code = ses__refuse_stranger(db, user_id ? "user's session" : "app's session", error);
    return code == SES_OK ? ses__session_remove(db, id, error) : code;
}

/* The user's own rows, when no session is left. */
static int remove_user_rows(struct db *db, int64_t id, int64_t *state_keys, ses_error *error)
{
    bool left = false;
    int code = run_by_id(db, STATEMENT_USER_STATE_DELETE, id, NULL, error);

    *state_keys = ses__db_changed(db);
    if (code == SES_OK)
        code = run_by_id(db, STATEMENT_USER_LEFT, id, &left, error);
    if (code == SES_OK && left)
        code = refuse_leftover(db, "user", id, error);
    if (code == SES_OK)
        code = run_by_id(db, STATEMENT_USER_DELETE, id, NULL, error);
    return code == SES_OK ? ses__check_one_changed(db, "users", error) : code;
}

int ses__user_remove(struct db *db, const struct user_row *user, int64_t *sessions, int64_t *state_keys,
                     ses_error *error)
{
    int64_t session_id = 0;
    int code;

    *sessions = 0;
    ses__db_lock(db, SCOPE_USER, user->id, true); /* so that no session is added */
    while ((code = any_session(db, user->id, &session_id, error)) == SES_OK &&
           (code = remove_session_of(db, user->app_id, user->id, session_id, error)) == SES_OK)
        (*sessions)++;
    return code == SES_NOTFOUND ? remove_user_rows(db, user->id, state_keys, error) : code;
}

int ses__sessions_remove(struct db *db, int64_t app_id, const struct session_ids *ids, ses_error *error)
{
    int code = SES_OK;

    for (size_t i = 0; i < ids->count && code == SES_OK; i++)
        code = remove_session_of(db, app_id, 0, ids->items[i], error);
    return code;
}

int ses__app_remove(struct db *db, int64_t id, ses_error *error)
{
    bool left = false;

    ses__db_lock(db, SCOPE_APP, id, true); /* so that no user is added */
    int code = run_by_id(db, STATEMENT_APP_STATE_DELETE, id, NULL, error);

    if (code == SES_OK)
        code = run_by_id(db, STATEMENT_APP_LEFT, id, &left, error);
    if (code == SES_OK && left)
        code = refuse_leftover(db, "app", id, error);
    if (code == SES_OK)
        code = run_by_id(db, STATEMENT_APP_DELETE, id, NULL, error);
    return code == SES_OK ? ses__check_one_changed(db, "apps", error) : code;
}
