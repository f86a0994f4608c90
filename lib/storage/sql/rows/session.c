/* The rows of sessions. */
#include "base/error.h"
#include "model/event/timestamp.h"
#include "storage/sql/rows/parts.h"

/* Rounded down, before 1970 too. */
static int64_t whole_units(int64_t time_us, int64_t unit_us)
{
    return time_us / unit_us - (time_us % unit_us < 0 ? 1 : 0);
}

int64_t ses__active_30s(int64_t time_us)
{
    return whole_units(time_us, INT64_C(30000000));
}

int64_t ses__active_of(const struct session_row *row)
{
    return ses__active_30s(row->updated_us) - (row->details & DETAIL_HIDDEN ? HIDDEN_SHIFT : 0);
}

int64_t ses__hour_of(int64_t time_us)
{
    return whole_units(time_us, HOUR_US);
}

void ses__session_row_read(struct query *query, struct session_row *row)
{
    row->id = ses__query_int(query, 0);
    row->app_id = ses__query_int(query, 1);
    row->user_id = ses__query_int(query, 2);
    row->version = ses__query_int(query, 3);
    row->last_seq = ses__query_int(query, 4);
    row->event_count = ses__query_int(query, 5);
    row->created_us = ses__query_int(query, 6);
    row->updated_us = ses__query_int(query, 7);
    row->expires_us = ses__query_type(query, 8) == SQL_NULL ? INT64_MAX : ses__query_int(query, 8);
    row->base_seq = ses__query_int(query, 9);
    row->details = ses__query_int(query, 10);
}

static bool within(int64_t value, int64_t min, int64_t max)
{
    return value >= min && value <= max;
}

int ses__session_row_check(const struct session_row *row, const struct db *db, ses_error *error)
{
    bool sound = within(row->id, 1, db->traits->max_session_id) && row->app_id > 0 && row->user_id > 0 &&
                 within(row->version, 0, MAX_VERSION) && within(row->last_seq, 0, MAX_SEQ) &&
                 within(row->base_seq, 0, row->last_seq) &&
                 within(row->event_count, 0, row->last_seq - row->base_seq) &&
                 within(row->created_us, TIMESTAMP_MIN, TIMESTAMP_MAX) &&
                 within(row->updated_us, TIMESTAMP_MIN, TIMESTAMP_MAX);
    return sound ? SES_OK
                 : ses__error_set(error, SES_CORRUPT,
                                  "%s: the row of session number %lld holds impossible numbers", db->name,
                                  (long long)row->id);
}

static void ask_by_name(struct query *query, struct db *db, const ses_key *key, ses_error *error)
{
    ses__query_open(query, db, STATEMENT_SESSION_FIND, error,
                    VALUES(STRING(key->app), STRING(key->user), STRING(key->session)));
}

static void ask_by_id(struct query *query, struct db *db, int64_t id, ses_error *error)
{
    ses__query_open(query, db, STATEMENT_SESSION_BY_ID, error, VALUES(INT(id)));
}

/* Ends a query that looks for one session. */
static int end_with_row(struct query *query, struct session_row *row)
{
    bool is_it = false;
    bool found = ses__query_row(query);
    if (found) {
        ses__session_row_read(query, row);
        is_it = ses__query_type(query, 0) != SQL_NULL;
    }
    int code = ses__end_found(query, found, is_it, "session");
    return code == SES_OK ? ses__session_row_check(row, query->db, query->error) : code;
}

int ses__session_find(struct db *db, const ses_key *key, struct session_row *row, ses_error *error)
{
    struct query query;

    ask_by_name(&query, db, key, error);
    return end_with_row(&query, row);
}

int ses__session_check_key(struct db *db, int64_t id, const ses_key *key, ses_error *error)
{
    int64_t is_it = 0;
    int code = ses__query_number(db, STATEMENT_SESSION_IS, &is_it, error,
                                 VALUES(INT(id), STRING(key->app), STRING(key->user), STRING(key->session)));

    if (code == SES_NOTFOUND || (code == SES_OK && is_it != 1))
        code = ses__refuse_stranger(db, "session", error);
    return code;
}

int ses__session_by_id(struct db *db, int64_t id, struct session_row *row, ses_error *error)
{
    struct query query;

    ask_by_id(&query, db, id, error);
    return end_with_row(&query, row);
}

static int take_row_of_session(struct query *query, const struct session_ref *ref, struct session_row *row)
{
    const struct session_row *known = ref->known;
    int code = end_with_row(query, row);

    if (code == SES_NOTFOUND)
        code = ses__no_such_session(ref->key, query->error);
    /* A log that has become shorter, or is another user's, is not the one that was read. */
    else if (code == SES_OK && known &&
             (row->user_id != known->user_id || row->app_id != known->app_id ||
              row->last_seq < known->last_seq))
        code = ses__error_set(query->error, SES_CORRUPT,
                              "%s: the row of session number %lld now belongs to another session",
                              query->db->name, (long long)known->id);
    if (code == SES_OK) {
        query->db->found_id = row->id;
        query->db->found_version = row->version;
    }
    return code;
}

int ses__session_ask(struct query *query, struct db *db, const struct session_ref *ref,
                     struct session_row *row, ses_error *error)
{
    if (ref->known)
        ask_by_id(query, db, ref->known->id, error);
    else
        ask_by_name(query, db, ref->key, error);
    if (!ses__db_asks_ahead(db))
        return take_row_of_session(query, ref, row);
    *row = ref->known ? *ref->known : (struct session_row){.last_seq = MAX_SEQ};
    return SES_OK;
}

int ses__session_take(struct query *query, const struct session_ref *ref, struct session_row *row)
{
    return ses__db_asks_ahead(query->db) ? take_row_of_session(query, ref, row) : SES_OK;
}

int ses__session_of(struct db *db, const struct session_ref *ref, struct session_row *row, ses_error *error)
{
    struct query query;
    const int code = ses__session_ask(&query, db, ref, row, error);

    return code == SES_OK ? ses__session_take(&query, ref, row) : code;
}

int ses__session_add(struct db *db, const ses_key *key, const struct session_times *times,
                     struct session_row *row, ses_error *error)
{
    /* One that is made with an earlier time comes from elsewhere, and is idle since then. */
    const int64_t changed_us = times->created_us < times->now_us ? times->created_us : times->now_us;
    struct user_row user;
    int64_t version = 0;
    int code = ses__owner_ensure(db, key->app, key->user, &user, error);

    if (code == SES_OK)
        code = ses__version_first(db, user.id, &version, error);
    if (code == SES_OK) {
        code = ses__query_do(
            db, STATEMENT_SESSION_ADD, error,
            VALUES(INT(user.app_id), INT(user.id), STRING(key->session), INT(times->created_us),
                   INT(ses__active_30s(times->created_us)), INT(version),
                   INT_IF(times->expires_us != INT64_MAX, times->expires_us), INT(changed_us),
                   INT_IF(ses__is_ahead(times->created_us, times->now_us), ses__hour_of(times->now_us))));
    }
    if (code == SES_OK) {
        *row = (struct session_row){.id = ses__db_given(db),
                                    .app_id = user.app_id,
                                    .user_id = user.id,
                                    .version = version,
                                    .created_us = times->created_us,
                                    .updated_us = times->created_us,
                                    .expires_us = times->expires_us,
                                    .changed_us = changed_us};
        if (row->id < 1)
            code = ses__error_set(error, SES_CORRUPT, "%s: the next session would have a number below 1",
                                  db->name);
        else if (row->id > db->traits->max_session_id)
            code = ses__error_set(error, SES_LIMIT, "%s: this file has had 2^31 sessions; start another",
                                  db->name);
    }
    return code;
}

int ses__session_touch(struct db *db, const struct session_row *before, const struct session_row *after,
                       ses_error *error)
{
    const int64_t active = ses__active_of(after);
    const bool ahead = ses__is_ahead(after->updated_us, after->changed_us);
    const bool same = active == ses__active_of(before) && !ahead;

    return ses__change_one(db, same ? STATEMENT_SESSION_TOUCH : STATEMENT_SESSION_TOUCH_ACTIVE, "sessions",
                           error,
                           VALUES(INT(after->id), INT(after->version), INT(after->last_seq),
                                  INT(after->event_count), INT(after->updated_us), INT(after->changed_us),
                                  INT_IF(!same, active), INT_IF(ahead, ses__hour_of(after->changed_us))));
}
