#include "storage/sql/derived/derived.h"

int ses__feature_find(struct db *db, const char *name, bool *is_there, ses_error *error)
{
    int64_t one = 0;
    const int code = ses__query_number(db, STATEMENT_FEATURE_FIND, &one, error, VALUES(STRING(name)));

    *is_there = code == SES_OK;
    return code == SES_NOTFOUND ? SES_OK : code;
}

int ses__feature_enter(struct db *db, const char *name, enum feature_needs needs, ses_error *error)
{
    return ses__query_do(db, STATEMENT_FEATURE_ENTER, error, VALUES(STRING(name), INT(needs)));
}

int ses__feature_leave(struct db *db, const char *name, ses_error *error)
{
    const int code = ses__query_do(db, STATEMENT_FEATURE_LEAVE, error, VALUES(STRING(name)));

    return code == SES_OK ? ses__query_do(db, STATEMENT_DERIVED_FORGET, error, VALUES(STRING(name))) : code;
}

int ses__behind_find(struct db *db, const struct behind *behind, struct session_ids *ids, ses_error *error)
{
    const struct statement *statement = behind->session_id ? STATEMENT_BEHIND_SESSION
                                        : behind->user_id  ? STATEMENT_BEHIND_USER
                                        : behind->app_id   ? STATEMENT_BEHIND_APP
                                                           : STATEMENT_BEHIND_ANY;
    const int64_t of = behind->session_id ? behind->session_id
                       : behind->user_id  ? behind->user_id
                                          : behind->app_id;
    struct query query;

    ids->count = 0;
    ses__query_open(&query, db, statement, error,
                    VALUES(INT(behind->after), INT(MAX_SESSION_IDS), INT(of), STRING(behind->what)));
    while (ids->count < MAX_SESSION_IDS && ses__query_row(&query))
        ids->items[ids->count++] = ses__query_int(&query, 0);
    return ses__query_end(&query);
}

int ses__derived_lag(struct db *db, const char *what, int64_t *events, ses_error *error)
{
    return ses__query_number(db, STATEMENT_DERIVED_LAG, events, error, VALUES(STRING(what)));
}

int ses__derived_find(struct db *db, const char *what, const struct session_row *session,
                      struct derived_row *row, ses_error *error)
{
    struct query query;

    *row = (struct derived_row){0, false};
    ses__query_open(&query, db, STATEMENT_DERIVED_FIND, error, VALUES(INT(session->id), STRING(what)));
    if (ses__query_row(&query)) {
        row->seq = ses__query_int(&query, 0);
        row->current = ses__query_int(&query, 1) == ses__row_epoch(session);
    }
    return ses__query_end(&query);
}

int ses__derived_set(struct db *db, const char *what, const struct session_row *session, int64_t seq,
                     ses_error *error)
{
    return ses__query_do(db, STATEMENT_DERIVED_SET, error,
                         VALUES(INT(session->id), STRING(what), INT(seq), INT(ses__row_epoch(session))));
}

int ses__derived_leave(struct db *db, const char *what, int64_t session_id, ses_error *error)
{
    return ses__query_do(db, STATEMENT_DERIVED_LEAVE, error, VALUES(INT(session_id), STRING(what)));
}

void ses__deriving_init(struct deriving *work, const struct db *db, int64_t bytes)
{
    *work = (struct deriving){.bytes_left = bytes};
    ses__buffer_init(&work->words, db->allocator);
    ses__buffer_init(&work->text, db->allocator);
}

void ses__deriving_free(struct deriving *work)
{
    ses__buffer_free(&work->text);
    ses__buffer_free(&work->words);
}
