/* Apps, users and sessions: their rows. */
#include <string.h>

#include "base/error.h"
#include "model/timestamp.h"
#include "storage/sqlite/rows.h"
#include "base/utf8.h"

static struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

static int64_t hour_of(int64_t time_us)
{
    const int64_t hour = INT64_C(3600000000);
    return time_us / hour - (time_us % hour < 0 ? 1 : 0);
}

static void read_row(struct query *query, struct session_row *row)
{
    row->id = ses__query_int(query, 0);
    row->app_id = ses__query_int(query, 1);
    row->user_id = ses__query_int(query, 2);
    row->version = ses__query_int(query, 3);
    row->last_seq = ses__query_int(query, 4);
    row->event_count = ses__query_int(query, 5);
    row->created_us = ses__query_int(query, 6);
    row->updated_us = ses__query_int(query, 7);
}

static bool within(int64_t value, int64_t least, int64_t most)
{
    return value >= least && value <= most;
}

/* Another program, or a damaged page, can put any number into a row: what is counted on must be within bounds. */
static int check_row(const struct session_row *row, const struct db *db, ses_error *error)
{
    bool sound = within(row->id, 1, MAX_SESSION_ID) && row->app_id > 0 && row->user_id > 0 &&
                 within(row->version, 0, MAX_VERSION) && within(row->last_seq, 0, MAX_SEQ) &&
                 within(row->event_count, 0, row->last_seq) &&
                 within(row->created_us, TIMESTAMP_MIN, TIMESTAMP_MAX) &&
                 within(row->updated_us, TIMESTAMP_MIN, TIMESTAMP_MAX);
    return sound ? SES_OK
                 : ses__error_set(error, SES_CORRUPT,
                                  "%s: the row of session number %lld holds impossible numbers",
                                  db->config->path, (long long)row->id);
}

static int refuse_stranger(const struct db *db, const char *what, ses_error *error)
{
    return ses__error_set(error, SES_CORRUPT, "%s: an index leads to the row of another %s", db->config->path,
                          what);
}

/* Ends a query that looks for one session. */
static int end_with_row(struct query *query, struct session_row *row)
{
    bool is_it = false;
    bool found = ses__query_row(query);
    if (found) {
        read_row(query, row);
        is_it = sqlite3_column_type(query->statement, 0) != SQLITE_NULL;
    }
    int code = ses__query_end(query);
    if (code == SES_OK && !found)
        code = SES_NOTFOUND;
    else if (code == SES_OK && !is_it)
        code = refuse_stranger(query->db, "session", query->error);
    else if (code == SES_OK)
        code = check_row(row, query->db, query->error);
    return code;
}

int ses__session_find(struct db *db, const ses_key *key, struct session_row *row, ses_error *error)
{
    struct query query;
    ses__query_start(&query, db, STATEMENT_SESSION_FIND, error);
    ses__query_bind_text(&query, 1, span_of(key->app));
    ses__query_bind_text(&query, 2, span_of(key->user));
    ses__query_bind_text(&query, 3, span_of(key->session));
    return end_with_row(&query, row);
}

int ses__session_check_key(struct db *db, int64_t id, const ses_key *key, ses_error *error)
{
    struct query query;
    ses__query_start(&query, db, STATEMENT_SESSION_IS, error);
    ses__query_bind_int(&query, 1, id);
    ses__query_bind_text(&query, 2, span_of(key->app));
    ses__query_bind_text(&query, 3, span_of(key->user));
    ses__query_bind_text(&query, 4, span_of(key->session));
    bool is_it = ses__query_row(&query) && ses__query_int(&query, 0) == 1;
    int code = ses__query_end(&query);
    return code == SES_OK && !is_it ? refuse_stranger(db, "session", error) : code;
}

int ses__session_by_id(struct db *db, int64_t id, struct session_row *row, ses_error *error)
{
    struct query query;
    ses__query_start(&query, db, STATEMENT_SESSION_BY_ID, error);
    ses__query_bind_int(&query, 1, id);
    return end_with_row(&query, row);
}

/* A log that has become shorter, or is another user's, is not the one that was read. */
static int check_same_life(const struct db *db, const struct session_row *known,
                           const struct session_row *row, ses_error *error)
{
    return row->user_id == known->user_id && row->app_id == known->app_id && row->last_seq >= known->last_seq
               ? SES_OK
               : ses__error_set(error, SES_CORRUPT,
                                "%s: the row of session number %lld now belongs to another session",
                                db->config->path, (long long)known->id);
}

int ses__session_of(struct db *db, const struct session_ref *ref, struct session_row *row, ses_error *error)
{
    int code = ref->known ? ses__session_by_id(db, ref->known->id, row, error)
                          : ses__session_find(db, ref->key, row, error);

    if (code == SES_NOTFOUND)
        code = ses__no_such_session(ref->key, error);
    else if (code == SES_OK && ref->known)
        code = check_same_life(db, ref->known, row, error);
    return code;
}

int ses__app_find(struct db *db, const char *app, int64_t *id, ses_error *error)
{
    struct query query;
    ses__query_start(&query, db, STATEMENT_APP_FIND, error);
    ses__query_bind_text(&query, 1, span_of(app));
    bool is_it = false;
    bool found = ses__query_row(&query);
    if (found) {
        *id = ses__query_int(&query, 0);
        is_it = *id > 0 && ses__query_int(&query, 1) == 1;
    }
    int code = ses__query_end(&query);
    if (code == SES_OK && !found)
        code = SES_NOTFOUND;
    else if (code == SES_OK && !is_it)
        code = refuse_stranger(db, "app", error);
    return code;
}

int ses__user_find(struct db *db, const char *app, const char *user, struct user_row *row, ses_error *error)
{
    struct query query;
    ses__query_start(&query, db, STATEMENT_USER_FIND, error);
    ses__query_bind_text(&query, 1, span_of(app));
    ses__query_bind_text(&query, 2, span_of(user));
    bool is_it = false;
    bool found = ses__query_row(&query);
    if (found) {
        row->id = ses__query_int(&query, 0);
        row->app_id = ses__query_int(&query, 1);
        is_it = row->id > 0 && row->app_id > 0 && ses__query_int(&query, 2) == 1;
    }
    int code = ses__query_end(&query);
    if (code == SES_OK && !found)
        code = SES_NOTFOUND;
    else if (code == SES_OK && !is_it)
        code = refuse_stranger(db, "user", error);
    return code;
}

static int user_ensure(struct db *db, const char *app, const char *user, struct user_row *row,
                       ses_error *error)
{
    struct query query;
    int64_t app_id = 0;
    int code = ses__user_find(db, app, user, row, error);

    if (code == SES_NOTFOUND) {
        ses__query_start(&query, db, STATEMENT_APP_ADD, error);
        ses__query_bind_text(&query, 1, span_of(app));
        (void)ses__query_row(&query);
        code = ses__query_end(&query);
        if (code == SES_OK)
            code = ses__app_find(db, app, &app_id, error);
        if (code == SES_OK) {
            ses__query_start(&query, db, STATEMENT_USER_ADD, error);
            ses__query_bind_int(&query, 1, app_id);
            ses__query_bind_text(&query, 2, span_of(user));
            (void)ses__query_row(&query);
            code = ses__query_end(&query);
        }
        if (code == SES_OK)
            code = ses__user_find(db, app, user, row, error);
        if (code == SES_NOTFOUND)
            code = ses__error_set(error, SES_CORRUPT, "%s: an app or user that exists cannot be found",
                                  db->config->path);
    }
    return code;
}

/* --------------------------------------------------------------------------------- where versions begin */

static int read_floor(struct db *db, int64_t *floor, ses_error *error)
{
    struct query query;
    ses__query_start(&query, db, STATEMENT_VERSION_FLOOR, error);
    bool sound = ses__query_row(&query);
    if (sound)
        *floor = ses__query_int(&query, 0);
    sound = sound && within(*floor, 0, MAX_VERSION + 1) && !ses__query_row(&query);
    int code = ses__query_end(&query);
    if (code == SES_OK && !sound)
        code =
            ses__error_set(error, SES_CORRUPT,
                           "%s: the table version_floor does not hold one row with a number from 0 to 2^53",
                           db->config->path);
    return code;
}

static int write_floor(struct db *db, int64_t floor, ses_error *error)
{
    struct query query;
    ses__query_start(&query, db, STATEMENT_VERSION_FLOOR_RAISE, error);
    ses__query_bind_int(&query, 1, floor);
    (void)ses__query_row(&query);
    return ses__query_end(&query);
}

/* The version of a new session. */
static int first_version(struct db *db, int64_t *version, ses_error *error)
{
    int code = read_floor(db, version, error);
    if (code == SES_OK && *version > MAX_VERSION)
        code =
            ses__error_set(error, SES_LIMIT, "%s: this file has used all versions below 2^53; start another",
                           db->config->path);
    return code;
}

/* A life ends: another session of that name begins above its versions. */
static int raise_floor(struct db *db, int64_t session_id, ses_error *error)
{
    struct session_row row;
    int64_t floor = 0;
    int code = ses__session_by_id(db, session_id, &row, error);

    if (code == SES_NOTFOUND)
        code =
            ses__error_set(error, SES_CORRUPT, "%s: session number %lld is in an index but not in its table",
                           db->config->path, (long long)session_id);
    if (code == SES_OK)
        code = read_floor(db, &floor, error);
    if (code == SES_OK && row.version >= floor)
        code = write_floor(db, row.version + 1, error);
    return code;
}

/* ------------------------------------------------------------------------------------ adding, changing */

static int add_details(struct db *db, int64_t id, struct span initial_state, ses_error *error)
{
    struct query query;
    ses__query_start(&query, db, STATEMENT_DETAILS_ADD, error);
    ses__query_bind_int(&query, 1, id);
    ses__query_bind_text(&query, 2, initial_state);
    (void)ses__query_row(&query);
    return ses__query_end(&query);
}

int ses__session_add(struct db *db, const ses_key *key, int64_t created_us, struct span initial_state,
                     struct session_row *row, ses_error *error)
{
    struct query query;
    struct user_row user;
    int64_t version = 0;
    int code = first_version(db, &version, error);

    if (code == SES_OK)
        code = user_ensure(db, key->app, key->user, &user, error);
    if (code == SES_OK) {
        ses__query_start(&query, db, STATEMENT_SESSION_ADD, error);
        ses__query_bind_int(&query, 1, user.app_id);
        ses__query_bind_int(&query, 2, user.id);
        ses__query_bind_text(&query, 3, span_of(key->session));
        ses__query_bind_int(&query, 4, created_us);
        ses__query_bind_int(&query, 5, hour_of(created_us));
        ses__query_bind_int(&query, 6, version);
        (void)ses__query_row(&query);
        code = ses__query_end(&query);
    }
    if (code == SES_OK) {
        *row = (struct session_row){.id = sqlite3_last_insert_rowid(db->handle),
                                    .app_id = user.app_id,
                                    .user_id = user.id,
                                    .version = version,
                                    .created_us = created_us,
                                    .updated_us = created_us};
        if (row->id < 1)
            code = ses__error_set(error, SES_CORRUPT, "%s: the next session would have a number below 1",
                                  db->config->path);
        else if (row->id > MAX_SESSION_ID)
            code = ses__error_set(error, SES_LIMIT, "%s: this file has had 2^31 sessions; start another",
                                  db->config->path);
    }
    if (code == SES_OK && initial_state.ptr)
        code = add_details(db, row->id, initial_state, error);
    return code;
}

/* After a statement that must have met its row: a loop that goes on without would never end. */
static int check_one_changed(const struct db *db, const char *table, ses_error *error)
{
    return sqlite3_changes(db->handle) == 1
               ? SES_OK
               : ses__error_set(error, SES_CORRUPT, "%s: a row of %s is in an index but not in the table",
                                db->config->path, table);
}

int ses__session_touch(struct db *db, const struct session_row *before, const struct session_row *after,
                       ses_error *error)
{
    int64_t hour = hour_of(after->updated_us);
    bool same_hour = hour == hour_of(before->updated_us);
    struct query query;

    ses__query_start(&query, db, same_hour ? STATEMENT_SESSION_TOUCH : STATEMENT_SESSION_TOUCH_HOUR, error);
    ses__query_bind_int(&query, 1, after->id);
    ses__query_bind_int(&query, 2, after->version);
    ses__query_bind_int(&query, 3, after->last_seq);
    ses__query_bind_int(&query, 4, after->event_count);
    ses__query_bind_int(&query, 5, after->updated_us);
    if (!same_hour)
        ses__query_bind_int(&query, 6, hour);
    (void)ses__query_row(&query);
    int code = ses__query_end(&query);
    return code == SES_OK ? check_one_changed(db, "sessions", error) : code;
}

/* Deletes, or looks for, what belongs to a session or a user; `met` (may be NULL): a row came of it. */
static int run_by_id(struct db *db, enum statement_id statement, int64_t id, bool *met, ses_error *error)
{
    struct query query;
    ses__query_start(&query, db, statement, error);
    ses__query_bind_int(&query, 1, id);
    bool row = ses__query_row(&query);
    if (met)
        *met = row;
    return ses__query_end(&query);
}

/* The same by the positions that a session's events have. */
static int run_by_positions(struct db *db, enum statement_id statement, int64_t session_id, bool *met,
                            ses_error *error)
{
    struct query query;
    ses__query_start(&query, db, statement, error);
    ses__query_bind_int(&query, 1, session_id << 32);
    ses__query_bind_int(&query, 2, session_id << 32 | MAX_SEQ);
    ses__query_bind_int(&query, 3, session_id);
    bool row = ses__query_row(&query);
    if (met)
        *met = row;
    return ses__query_end(&query);
}

static int refuse_leftover(const struct db *db, const char *what, int64_t id, ses_error *error)
{
    return ses__error_set(error, SES_CORRUPT,
                          "%s: rows of %s number %lld are filed as another's, or the other way round",
                          db->config->path, what, (long long)id);
}

/* The foreign keys would do it, but row by row through an index, wherever that leads. */
static int remove_rows_of_session(struct db *db, int64_t id, ses_error *error)
{
    static const enum statement_id statements[] = {
        STATEMENT_EVENT_MARKS_DELETE,    STATEMENT_SESSION_STATE_DELETE, STATEMENT_BASE_STATE_DELETE,
        STATEMENT_SESSION_LABELS_DELETE, STATEMENT_SESSION_LEASE_DELETE,
    };
    int code = run_by_positions(db, STATEMENT_EVENTS_DELETE, id, NULL, error);

    for (size_t i = 0; i < sizeof statements / sizeof statements[0] && code == SES_OK; i++)
        code = run_by_id(db, statements[i], id, NULL, error);
    return code;
}

int ses__session_remove(struct db *db, int64_t id, ses_error *error)
{
    bool left = false;
    int code = raise_floor(db, id, error);

    if (code == SES_OK)
        code = remove_rows_of_session(db, id, error);
    if (code == SES_OK)
        code = run_by_positions(db, STATEMENT_SESSION_LEFT, id, &left, error);
    if (code == SES_OK && left)
        code = refuse_leftover(db, "session", id, error);
    if (code == SES_OK)
        code = run_by_id(db, STATEMENT_SESSION_DELETE, id, NULL, error);
    return code == SES_OK ? check_one_changed(db, "sessions", error) : code;
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

/* An index names the session. Its row must be there, and be the user's. */
static int remove_session_of(struct db *db, const struct user_row *user, int64_t id, ses_error *error)
{
    struct session_row row;
    int code = ses__session_by_id(db, id, &row, error);

    if (code == SES_NOTFOUND)
        code =
            ses__error_set(error, SES_CORRUPT, "%s: session number %lld is in an index but not in the table",
                           db->config->path, (long long)id);
    else if (code == SES_OK && (row.user_id != user->id || row.app_id != user->app_id))
        code = refuse_stranger(db, "user's session", error);
    return code == SES_OK ? ses__session_remove(db, row.id, error) : code;
}

/* The user's own rows, when no session is left. */
static int remove_user_rows(struct db *db, int64_t id, int64_t *state_keys, ses_error *error)
{
    bool left = false;
    int code = run_by_id(db, STATEMENT_USER_STATE_DELETE, id, NULL, error);

    *state_keys = sqlite3_changes(db->handle);
    if (code == SES_OK)
        code = run_by_id(db, STATEMENT_USER_LEFT, id, &left, error);
    if (code == SES_OK && left)
        code = refuse_leftover(db, "user", id, error);
    if (code == SES_OK)
        code = run_by_id(db, STATEMENT_USER_DELETE, id, NULL, error);
    return code == SES_OK ? check_one_changed(db, "users", error) : code;
}

int ses__user_remove(struct db *db, const struct user_row *user, int64_t *sessions, int64_t *state_keys,
                     ses_error *error)
{
    int64_t session_id = 0;
    int code;

    *sessions = 0;
    while ((code = any_session(db, user->id, &session_id, error)) == SES_OK &&
           (code = remove_session_of(db, user, session_id, error)) == SES_OK)
        (*sessions)++;
    return code == SES_NOTFOUND ? remove_user_rows(db, user->id, state_keys, error) : code;
}

/* ---------------------------------------------------------------------------------------------- lists */

static enum statement_id list_statement(const struct list_query *list)
{
    static const enum statement_id of_user[] = {
        [SES_ORDER_NEWEST] = STATEMENT_LIST_USER_NEWEST,
        [SES_ORDER_OLDEST] = STATEMENT_LIST_USER_OLDEST,
        [SES_ORDER_CREATED] = STATEMENT_LIST_USER_CREATED,
    };
    static const enum statement_id of_app[] = {
        [SES_ORDER_NEWEST] = STATEMENT_LIST_APP_NEWEST,
        [SES_ORDER_OLDEST] = STATEMENT_LIST_APP_OLDEST,
        [SES_ORDER_CREATED] = STATEMENT_LIST_APP_CREATED,
    };
    return list->whole_app ? of_app[list->order] : of_user[list->order];
}

static void bind_place(struct query *query, const struct list_query *list)
{
    struct list_place place = list->after;

    if (list->from_start) {
        place.updated_us = list->order == SES_ORDER_NEWEST ? INT64_MAX : INT64_MIN;
        place.name = (struct span){"", 0};
    }
    if (list->order == SES_ORDER_CREATED) {
        ses__query_bind_int(query, 2, list->from_start ? 0 : place.session_id);
    } else {
        ses__query_bind_int(query, 2, place.updated_us);
        ses__query_bind_text(query, 3, place.name);
        ses__query_bind_int(query, 4, place.user_id);
        if (list->whole_app)
            ses__query_bind_int(query, 6, hour_of(place.updated_us));
    }
}

static int compare_numbers(int64_t left, int64_t right)
{
    return left < right ? -1 : left > right;
}

static int compare_texts(struct span left, struct span right)
{
    size_t shorter = left.len < right.len ? left.len : right.len;
    int order = memcmp(left.ptr, right.ptr, shorter);
    return order != 0 ? order : left.len < right.len ? -1 : left.len > right.len;
}

static int compare_places(const struct list_query *list, const struct list_place *left,
                          const struct list_place *right)
{
    int order = compare_numbers(left->updated_us, right->updated_us);

    if (list->order == SES_ORDER_CREATED)
        return compare_numbers(left->session_id, right->session_id);
    if (order == 0)
        order = compare_texts(left->name, right->name);
    else if (list->order == SES_ORDER_NEWEST)
        order = -order;
    return order != 0 ? order : compare_numbers(left->user_id, right->user_id);
}

/* A list whose rows go back or do not move on would never end, and neither would its pages. */
static bool list_moves_on(struct list_rows *walk, const struct session_row *row, struct span name)
{
    const struct list_place place = {row->updated_us, name, row->user_id, row->id};
    bool moves = !walk->begun || compare_places(walk->list, &walk->last, &place) < 0;

    memcpy(walk->last_name, name.ptr, name.len);
    walk->last = place;
    walk->last.name.ptr = walk->last_name;
    walk->begun = true;
    return moves;
}

static bool is_id(struct span text)
{
    return text.len > 0 && text.len <= SES_ID_MAX && !memchr(text.ptr, '\0', text.len) &&
           ses__utf8_valid(text.ptr, text.len);
}

/* The row and the names beside it must belong to the list, and come after the row before. */
static int check_listed(struct list_rows *walk, const struct session_row *row, struct span name,
                        struct span user)
{
    struct query *query = &walk->query;
    const struct list_query *list = walk->list;
    bool belongs = row->app_id == list->app_id && ses__query_int(query, 10) == list->app_id &&
                   (list->whole_app || row->user_id == list->user_id);
    int code = check_row(row, query->db, query->error);

    if (code == SES_OK && !belongs)
        code = refuse_stranger(query->db, list->whole_app ? "app's session" : "user's session", query->error);
    else if (code == SES_OK && (!is_id(name) || !is_id(user) || !list_moves_on(walk, row, name)))
        code = ses__error_set(query->error, SES_CORRUPT,
                              "%s: session number %lld is out of place in a list, or its name is not an id",
                              query->db->config->path, (long long)row->id);
    return code;
}

void ses__list_rows_open(struct list_rows *rows, struct db *db, const struct list_query *list,
                         ses_error *error)
{
    struct query *query = &rows->query;

    rows->list = list;
    rows->begun = !list->from_start;
    rows->last = list->after;
    rows->code = SES_OK;
    ses__query_start(query, db, list_statement(list), error);
    ses__query_bind_int(query, 1, list->whole_app ? list->app_id : list->user_id);
    bind_place(query, list);
    ses__query_bind_int(query, 5, list->limit);
}

bool ses__list_rows_next(struct list_rows *rows, struct session_row *row, struct span *name,
                         struct span *user)
{
    struct query *query = &rows->query;

    if (rows->code != SES_OK || !ses__query_row(query))
        return false;
    read_row(query, row);
    *name = ses__query_text(query, 8);
    *user = ses__query_text(query, 9);
    if (query->code == SES_OK)
        rows->code = check_listed(rows, row, *name, *user);
    return query->code == SES_OK && rows->code == SES_OK;
}

int ses__list_rows_close(struct list_rows *rows)
{
    int code = ses__query_end(&rows->query);
    return code != SES_OK ? code : rows->code;
}
