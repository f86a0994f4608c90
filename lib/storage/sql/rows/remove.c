/* Removes sessions and users, with all that belongs to them; and finds those that are due. */
#include "base/error.h"
#include "storage/sql/rows/parts.h"

int ses__events_remove(struct db *db, int64_t session_id, int64_t first, int64_t last, int64_t *deleted,
                       ses_error *error)
{
    int code =
        ses__query_do(db, STATEMENT_EVENTS_DELETE, error, VALUES(INT(session_id), INT(first), INT(last)));
    *deleted = ses__db_changed(db);
    return code;
}

static int refuse_leftover(const struct db *db, const char *what, int64_t id, ses_error *error)
{
    return ses__error_set(error, SES_CORRUPT,
                          "%s: the rows of %s number %lld are mixed up with those of another %s", db->name,
                          what, (long long)id, what);
}

/* No row that belongs to it may be left after a deletion. */
static int check_none_left(struct db *db, const struct statement *statement, const char *what, int64_t id,
                           ses_error *error)
{
    int64_t one = 0;
    int code = ses__query_number(db, statement, &one, error, VALUES(INT(id)));

    if (code == SES_NOTFOUND)
        return SES_OK;
    return code == SES_OK ? refuse_leftover(db, what, id, error) : code;
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
        code = ses__query_do(db, statements[i], error, VALUES(INT(id)));
    return code;
}

/* An index has led to the session. */
static int find_indexed(struct db *db, int64_t id, struct session_row *row, ses_error *error)
{
    const int code = ses__session_by_id(db, id, row, error);

    return code == SES_NOTFOUND
               ? ses__error_set(error, SES_CORRUPT,
                                "%s: session number %lld is in an index but not in the table", db->name,
                                (long long)id)
               : code;
}

/* A life ends: another session of that name begins above its versions. */
static int end_life(struct db *db, int64_t session_id, ses_error *error)
{
    struct session_row row;
    const int code = find_indexed(db, session_id, &row, error);

    return code == SES_OK ? ses__version_pass(db, row.user_id, row.version, error) : code;
}

int ses__session_remove(struct db *db, int64_t id, ses_error *error)
{
    int code = end_life(db, id, error);

    if (code == SES_OK)
        code = remove_rows_of_session(db, id, error);
    if (code == SES_OK)
        code = check_none_left(db, STATEMENT_SESSION_LEFT, "session", id, error);
    return code == SES_OK ? ses__change_one(db, STATEMENT_SESSION_DELETE, "sessions", error, VALUES(INT(id)))
                          : code;
}

/* Is an event left after `seq`? One that is filed as another's, since the others were deleted. */
static int check_cut(struct db *db, int64_t session_id, int64_t seq, ses_error *error)
{
    int64_t left = 0;
    const int code = ses__event_last(db, session_id, seq + 1, MAX_SEQ, &left, error);

    return code == SES_OK && left > 0 ? refuse_leftover(db, "session", session_id, error) : code;
}

int ses__events_cut(struct db *db, int64_t session_id, int64_t seq, int64_t *deleted, ses_error *error)
{
    int code = ses__events_remove(db, session_id, seq + 1, MAX_SEQ, deleted, error);

    if (code == SES_OK)
        code = check_cut(db, session_id, seq, error);
    if (code != SES_OK)
        return code;
    return ses__query_do(db, STATEMENT_EVENT_MARKS_CUT, error, VALUES(INT(session_id), INT(seq)));
}

/* An index led to the session. Its row must be there, and be the app's, and the user's if `user_id` is not 0. */
static int remove_session_of(struct db *db, int64_t app_id, int64_t user_id, int64_t id, ses_error *error)
{
    struct session_row row;
    int code = find_indexed(db, id, &row, error);

    if (code == SES_OK && (row.app_id != app_id || (user_id && row.user_id != user_id)))
        code = ses__refuse_stranger(db, user_id ? "user's session" : "app's session", error);
    return code == SES_OK ? ses__session_remove(db, id, error) : code;
}

/* The user's own rows, when no session is left. */
static int remove_user_rows(struct db *db, int64_t id, int64_t *state_keys, ses_error *error)
{
    int code = ses__query_do(db, STATEMENT_USER_STATE_DELETE, error, VALUES(INT(id)));

    *state_keys = ses__db_changed(db);
    if (code == SES_OK)
        code = check_none_left(db, STATEMENT_USER_LEFT, "user", id, error);
    return code == SES_OK ? ses__change_one(db, STATEMENT_USER_DELETE, "users", error, VALUES(INT(id)))
                          : code;
}

int ses__user_remove(struct db *db, const struct user_row *user, int64_t *sessions, int64_t *state_keys,
                     ses_error *error)
{
    int64_t session_id = 0;
    int code;

    *sessions = 0;
    ses__db_lock(db, SCOPE_USER, user->id, true); /* so that no session is added */
    while ((code = ses__query_number(db, STATEMENT_SESSIONS_OF_USER, &session_id, error,
                                     VALUES(INT(user->id)))) == SES_OK &&
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
    ses__db_lock(db, SCOPE_APP, id, true); /* so that no user is added */
    int code = ses__query_do(db, STATEMENT_APP_STATE_DELETE, error, VALUES(INT(id)));

    if (code == SES_OK)
        code = check_none_left(db, STATEMENT_APP_LEFT, "app", id, error);
    return code == SES_OK ? ses__change_one(db, STATEMENT_APP_DELETE, "apps", error, VALUES(INT(id))) : code;
}

/* ------------------------------------------------------------------------------------------- what is due */

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

int ses__sessions_idle(struct db *db, int64_t app_id, int64_t before_us, int64_t limit,
                       struct session_ids *ids, ses_error *error)
{
    /* The last parameter is the last value of the index in which sessions may be idle. */
    int code = find_ids(
        db, STATEMENT_SESSIONS_IDLE, ids, error,
        VALUES(INT(app_id), INT(few(limit)), INT(before_us), INT(ses__active_30s(before_us + HOUR_US))));

    if (code == SES_OK && ids->count == 0)
        code = find_ids(db, STATEMENT_SESSIONS_IDLE_AHEAD, ids, error,
                        VALUES(INT(app_id), INT(few(limit)), INT(before_us), INT(ses__hour_of(before_us))));
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

int ses__app_after(struct db *db, int64_t after, int64_t *id, ses_error *error)
{
    int code = ses__query_number(db, STATEMENT_APP_AFTER, id, error, VALUES(INT(after)));

    if (code == SES_NOTFOUND)
        return SES_OK;
    return code == SES_OK && *id <= after ? ses__refuse_stranger(db, "app", error) : code;
}
