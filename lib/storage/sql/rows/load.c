/* The rows that only a session which is loaded gets, and those that it is compared with. */
#include <string.h>

#include "base/error.h"
#include "storage/sql/rows/parts.h"

int ses__parent_add(struct db *db, struct session_row *row, const ses_key *parent, int64_t parent_seq,
                    ses_error *error)
{
    struct query query;

    row->details |= DETAIL_PARENT;
    ses__query_start(&query, db, STATEMENT_PARENT_SET, error);
    ses__query_bind_int(&query, 1, row->id);
    ses__query_bind_string(&query, 2, parent->user);
    ses__query_bind_string(&query, 3, parent->session);
    ses__query_bind_int(&query, 4, parent_seq);
    (void)ses__query_row(&query);
    return ses__query_end(&query);
}

static int add_base_value(struct db *db, int64_t session_id, const struct base_value *value, ses_error *error)
{
    struct query query;

    ses__query_start(&query, db, STATEMENT_BASE_STATE_ADD, error);
    ses__query_bind_int(&query, 1, session_id);
    ses__query_bind_text(&query, 2, value->name);
    ses__query_bind_text(&query, 3, value->value);
    ses__query_bind_int(&query, 4, value->seq);
    (void)ses__query_row(&query);
    return ses__query_end(&query);
}

int ses__base_add(struct db *db, int64_t session_id, const struct base_value *base, size_t count,
                  ses_error *error)
{
    int code = SES_OK;

    for (size_t i = 0; i < count && code == SES_OK; i++)
        code = add_base_value(db, session_id, &base[i], error);
    return code;
}

int ses__base_visit(struct db *db, const struct session_row *row,
                    int (*visit)(void *context, const struct base_value *value, ses_error *error),
                    void *context, ses_error *error)
{
    struct query query;
    int code = SES_OK;

    ses__query_start(&query, db, STATEMENT_BASE_STATE_ALL, error);
    ses__query_bind_int(&query, 1, row->id);
    while (code == SES_OK && ses__query_row(&query)) {
        const struct base_value value = {ses__query_text(&query, 1), ses__query_text(&query, 2),
                                         ses__query_int(&query, 3)};
        bool sound = value.name.ptr && value.value.ptr && ses__query_int(&query, 0) == row->id &&
                     value.seq >= 0 && value.seq <= row->base_seq;
        if (query.code == SES_OK)
            code = sound ? visit(context, &value, error)
                         : ses__error_set(error, SES_CORRUPT,
                                          "%s: a row of base_state of session number %lld is out of place",
                                          db->name, (long long)row->id);
    }
    int closed = ses__query_end(&query);
    return code != SES_OK ? code : closed;
}

int ses__base_is(struct db *db, int64_t session_id, const struct base_value *base, size_t count, bool *is,
                 ses_error *error)
{
    struct query query;
    size_t at = 0;

    *is = true;
    ses__query_start(&query, db, STATEMENT_BASE_STATE_ALL, error);
    ses__query_bind_int(&query, 1, session_id);
    while (*is && ses__query_row(&query)) {
        struct span name = ses__query_text(&query, 1);
        struct span value = ses__query_text(&query, 2);
        *is = query.code == SES_OK && at < count && ses__compare_texts(base[at].name, name) == 0 &&
              ses__compare_texts(base[at].value, value) == 0 && base[at].seq == ses__query_int(&query, 3);
        at++;
    }
    *is = *is && at == count;
    return ses__query_end(&query);
}

int ses__session_name(struct db *db, int64_t session_id, const char *name, ses_error *error)
{
    struct query query;

    ses__query_start(&query, db, STATEMENT_SESSION_NAME, error);
    ses__query_bind_int(&query, 1, session_id);
    ses__query_bind_string(&query, 2, name);
    (void)ses__query_row(&query);
    int code = ses__query_end(&query);
    return code == SES_OK ? ses__check_one_changed(db, "sessions", error) : code;
}

int ses__events_first_difference(struct db *db, const struct session_row *row, int64_t other, int64_t *seq,
                                 ses_error *error)
{
    struct query query;

    *seq = 0;
    ses__query_start(&query, db, STATEMENT_EVENT_UNLIKE, error);
    ses__query_bind_int(&query, 1, row->id);
    ses__query_bind_int(&query, 2, other);
    if (ses__query_row(&query))
        *seq = ses__query_int(&query, 0);
    return ses__query_end(&query);
}
