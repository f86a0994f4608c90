/* Removes sessions and users, with all that belongs to them; and finds those that are due. */
#include "base/error.h"
#include "model/event/timestamp.h"
#include "storage/sql/derived/derived.h"
#include "storage/sql/rows/artifact.h"
#include "storage/sql/rows/parts.h"
#include "storage/sql/rows/words.h"

static int refuse_leftover(const struct db *db, const char *what, int64_t id, ses_error *error)
{
    return ses__error_set(error, SES_CORRUPT,
                          "%s: the rows of %s number %lld are mixed up with those of another %s", db->name,
                          what, (long long)id, what);
}

int ses__events_remove(struct db *db, const struct session_row *row, int64_t first, int64_t last,
                       int64_t *deleted, ses_error *error)
{
    struct words_removal words;
    int64_t left = 0;
    int code = ses__words_remove_begin(&words, db, row, first, last, error);

    if (code == SES_OK)
        code = ses__query_do(db, STATEMENT_EVENTS_DELETE, error, VALUES(INT(row->id), INT(first), INT(last)));
    *deleted = ses__db_changed(db);
    ses__count_erased(db, events);
    if (code == SES_OK) /* one that is left is filed as another's */
        code = ses__event_last(db, row->id, first, last, &left, error);
    if (code == SES_OK)
        code = ses__usage_leave(db, row->id, error);
    if (code == SES_OK)
        code = ses__words_remove_end(&words, error);
    return code == SES_OK && left > 0 ? refuse_leftover(db, "session", row->id, error) : code;
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
        STATEMENT_SESSION_LABELS_DELETE, STATEMENT_SESSION_LEASE_DELETE, STATEMENT_DRAFT_DELETE,
        STATEMENT_INBOX_DELETE,          STATEMENT_DERIVED_DELETE,
    };
    int code = ses__query_do(db, STATEMENT_EVENTS_DELETE, error, VALUES(INT(id), INT(0), INT(MAX_SEQ)));

    ses__count_erased(db, events);
    for (size_t i = 0; i < sizeof statements / sizeof statements[0] && code == SES_OK; i++) {
        code = ses__query_do(db, statements[i], error, VALUES(INT(id)));
        if (statements[i] == STATEMENT_SESSION_STATE_DELETE)
            ses__count_erased(db, state_keys);
    }
    return code;
}

int ses__session_remove(struct db *db, const struct session_row *row, ses_error *error)
{
    struct words_removal words;
    /* A life ends: another session of that name begins above its versions. */
    int code = ses__version_pass(db, row->user_id, row->version, error);

    if (code == SES_OK)
        code = ses__artifacts_remove_of_session(db, row, error);
    if (code == SES_OK)
        code = ses__words_remove_begin(&words, db, row, 0, MAX_SEQ, error);
    if (code == SES_OK && !db->traits->enforces_keys)
        code = ses__usage_leave(db, row->id, error);
    if (code == SES_OK)
        code = ses__filters_leave(db, row->id, error);
    if (code == SES_OK)
        code = remove_rows_of_session(db, row->id, error);
    if (code == SES_OK)
        code = check_none_left(db, STATEMENT_SESSION_LEFT, "session", row->id, error);
    if (code == SES_OK)
        code = ses__words_remove_end(&words, error);
    if (code == SES_OK)
        code = ses__change_one(db, STATEMENT_SESSION_DELETE, "sessions", error, VALUES(INT(row->id)));
    if (code == SES_OK && db->erased)
        db->erased->sessions++;
    return code;
}

/* An index led to the session. Its row must be there, and be the app's, and the user's if all of that user's
 * are due. */
static int remove_session_of(struct db *db, int64_t app_id, const struct due *due, int64_t id,
                             ses_error *error)
{
    const bool of_user = due->kind == DUE_OF_USER;
    struct session_row row;
    const int code = ses__session_by_id(db, id, &row, error);

    if (code == SES_NOTFOUND) {
        db->outrun = true; /* where others write meanwhile, one of them may have deleted it */
        return ses__error_set(error, SES_CORRUPT,
                              "%s: session number %lld is in an index but not in the table", db->name,
                              (long long)id);
    }
    if (code == SES_OK && (row.app_id != app_id || (of_user && row.user_id != due->owner)))
        return ses__refuse_stranger(db, of_user ? "user's session" : "app's session", error);
    return code == SES_OK ? ses__session_remove(db, &row, error) : code;
}

int ses__user_remove(struct db *db, const struct user_row *user, int64_t *sessions, int64_t *state_keys,
                     ses_error *error)
{
    const struct due all = {DUE_OF_USER, user->id, 0};

    *sessions = 0;
    ses__db_lock(db, SCOPE_USER, user->id, true); /* so that no session is added */
    int code = ses__due_remove(db, user->app_id, &all, INT64_MAX, sessions, error);
    if (code != SES_OK)
        return code;
    code = ses__query_do(db, STATEMENT_USER_STATE_DELETE, error, VALUES(INT(user->id)));
    *state_keys = ses__db_changed(db);
    ses__count_erased(db, state_keys);
    if (code == SES_OK)
        code = ses__artifacts_remove_of_user(db, user->id, error);
    if (code == SES_OK)
        code = check_none_left(db, STATEMENT_USER_LEFT, "user", user->id, error);
    return code == SES_OK ? ses__change_one(db, STATEMENT_USER_DELETE, "users", error, VALUES(INT(user->id)))
                          : code;
}

int ses__app_remove(struct db *db, int64_t id, ses_error *error)
{
    ses__db_lock(db, SCOPE_APP, id, true); /* so that no user is added */
    int code = ses__query_do(db, STATEMENT_APP_STATE_DELETE, error, VALUES(INT(id)));

    ses__count_erased(db, state_keys);
    if (code == SES_OK)
        code = check_none_left(db, STATEMENT_APP_LEFT, "app", id, error);
    return code == SES_OK ? ses__change_one(db, STATEMENT_APP_DELETE, "apps", error, VALUES(INT(id))) : code;
}

/* ------------------------------------------------------------------------------------------- due sessions */

/* Reads ids, of which the statement gives at most MAX_SESSION_IDS. */
static int find_ids(struct db *db, const struct statement *statement, struct session_ids *ids,
                    ses_error *error, const struct value *values)
{
    struct query query;

    ids->count = 0;
    ses__query_open(&query, db, statement, error, values);
    while (ids->count < MAX_SESSION_IDS && ses__query_row(&query))
        ids->items[ids->count++] = ses__query_int(&query, 0);
    return ses__query_end(&query);
}

static int find_idle(struct db *db, const struct due *due, struct value few, struct session_ids *ids,
                     ses_error *error)
{
    const int64_t before_us = due->bound;
    const struct value kind = INT(due->kind == DUE_MEMORY ? DETAIL_MEMORY : 0);

    ids->count = 0;
    if (before_us == INT64_MIN)
        return SES_OK;
    /* Parameters 4 and 5 are the last and the first value of the index between which sessions may be idle.
     * Hidden ones go first. */
    const int64_t first = ses__active_30s(TIMESTAMP_MIN);
    const int64_t last = ses__active_30s(before_us + HOUR_US);
    int code = find_ids(db, STATEMENT_SESSIONS_IDLE, ids, error,
                        VALUES(INT(due->owner), few, INT(before_us), INT(last - HIDDEN_SHIFT),
                               INT(first - HIDDEN_SHIFT), kind));
    if (code == SES_OK && ids->count == 0 && due->kind != DUE_MEMORY) /* which is always hidden */
        code = find_ids(db, STATEMENT_SESSIONS_IDLE, ids, error,
                        VALUES(INT(due->owner), few, INT(before_us), INT(last), INT(first), kind));
    if (code == SES_OK && ids->count == 0)
        code = find_ids(db, STATEMENT_SESSIONS_IDLE_AHEAD, ids, error,
                        VALUES(INT(due->owner), few, INT(before_us), INT(ses__hour_of(before_us)), kind));
    return code;
}

int ses__due_find(struct db *db, const struct due *due, int64_t limit, struct session_ids *ids,
                  ses_error *error)
{
    const int64_t most = limit < MAX_SESSION_IDS ? limit : MAX_SESSION_IDS;
    const struct value owner = INT(due->owner);
    const struct value few = INT(most);

    switch (due->kind) {
    case DUE_OF_APP:
        return find_ids(db, STATEMENT_SESSIONS_OF_APP, ids, error, VALUES(owner, few));
    case DUE_OF_USER: /* one at a time */
        return find_ids(db, STATEMENT_SESSIONS_OF_USER, ids, error, VALUES(owner));
    case DUE_EXPIRED:
        return find_ids(db, STATEMENT_SESSIONS_EXPIRED, ids, error, VALUES(owner, few, INT(due->bound)));
    case DUE_IDLE:
    case DUE_MEMORY:
        return find_idle(db, due, few, ids, error);
    case DUE_UNWRITTEN:
        return find_ids(db, STATEMENT_LIST_USER_UNWRITTEN, ids, error, VALUES(owner, few, INT(due->bound)));
    default:
        return find_ids(db, STATEMENT_LIST_USER_BEYOND, ids, error, VALUES(owner, few, INT(due->bound)));
    }
}

int ses__due_remove(struct db *db, int64_t app_id, const struct due *due, int64_t limit, int64_t *deleted,
                    ses_error *error)
{
    struct session_ids ids = {.count = 1};
    int code = SES_OK;

    while (code == SES_OK && *deleted < limit && ids.count > 0) {
        code = ses__due_find(db, due, limit - *deleted, &ids, error);
        for (size_t i = 0; i < ids.count && code == SES_OK; i++)
            code = remove_session_of(db, app_id, due, ids.items[i], error);
        *deleted += (int64_t)ids.count;
    }
    return code;
}

int ses__user_has_more(struct db *db, int64_t user_id, int64_t sessions, bool *has, ses_error *error)
{
    int64_t one = 0;
    int code =
        ses__query_number(db, STATEMENT_USER_HAS_MORE, &one, error, VALUES(INT(user_id), INT(sessions)));

    *has = code == SES_OK;
    return code == SES_NOTFOUND ? SES_OK : code;
}
