/* The rows of drafts and of inputs that wait. */
#include "base/error.h"
#include "base/utf8.h"
#include "json/reader.h"
#include "model/event/timestamp.h"
#include "storage/sql/rows/parts.h"

void ses__session_draft_ask(struct query *rows, struct db *db, int64_t session_id, ses_error *error)
{
    ses__query_open(rows, db, STATEMENT_DRAFT_FIND, error, VALUES(OWNER(session_id)));
}

bool ses__session_draft_next(struct query *rows, struct session_draft *draft)
{
    if (!ses__query_row(rows))
        return false;
    draft->updated_us = ses__query_int(rows, 0);
    draft->body = ses__query_text(rows, 1);
    const bool sound = draft->body.ptr && ses__utf8_valid(draft->body.ptr, draft->body.len) &&
                       draft->updated_us >= TIMESTAMP_MIN && draft->updated_us <= TIMESTAMP_MAX;
    if (rows->code == SES_OK && !sound)
        rows->code = ses__error_set(rows->error, SES_CORRUPT,
                                    "%s: a row of session_drafts holds what no draft can", rows->db->name);
    return rows->code == SES_OK;
}

int ses__session_draft_set(struct db *db, int64_t session_id, const struct session_draft *draft,
                           ses_error *error)
{
    return ses__query_do(db, STATEMENT_DRAFT_SET, error,
                         VALUES(INT(session_id), INT(draft->updated_us), TEXT(draft->body)));
}

/* -------------------------------------------------------------------------------------------- inboxes */

enum {
    INBOX_ID,
    INBOX_SESSION,
    INBOX_APP,
    INBOX_APP_OF_SESSION,
    INBOX_ADDED,
    INBOX_REQUEST,
    INBOX_BODY,
    INBOX_APP_NAME,
    INBOX_USER_NAME,
    INBOX_SESSION_NAME
};

void ses__inbox_ask(struct query *rows, struct db *db, const struct inbox_range *range, ses_error *error)
{
    static const struct statement *const statements[] = {[INBOX_OF_STORE] = STATEMENT_INBOX_OF_STORE,
                                                         [INBOX_OF_APP] = STATEMENT_INBOX_OF_APP,
                                                         [INBOX_OF_SESSION] = STATEMENT_INBOX_OF_SESSION};
    const bool has_now = db->has_clock || !db->traits->lease_now; /* else the server's time counts */

    ses__query_open(rows, db, statements[range->of], error,
                    VALUES(OWNER(range->owner), INT(range->after), INT(range->limit),
                           INT_IF(range->user_id != 0, range->user_id), STRING(range->lease_owner),
                           INT_IF(has_now, range->now_us)));
}

bool ses__inbox_next(struct query *rows, struct inbox_row *row)
{
    if (!ses__query_row(rows))
        return false;
    row->id = ses__query_int(rows, INBOX_ID);
    row->session_id = ses__query_int(rows, INBOX_SESSION);
    row->added_us = ses__query_int(rows, INBOX_ADDED);
    row->request = ses__query_text(rows, INBOX_REQUEST);
    row->body = ses__query_text(rows, INBOX_BODY);
    row->app = ses__query_text(rows, INBOX_APP_NAME);
    row->user = ses__query_text(rows, INBOX_USER_NAME);
    row->session = ses__query_text(rows, INBOX_SESSION_NAME);
    const bool sound = row->id > 0 && ses__is_id(row->request) && ses__is_id(row->app) &&
                       ses__is_id(row->user) && ses__is_id(row->session) && row->body.ptr &&
                       row->added_us >= TIMESTAMP_MIN && row->added_us <= TIMESTAMP_MAX &&
                       ses__query_int(rows, INBOX_APP) == ses__query_int(rows, INBOX_APP_OF_SESSION) &&
                       ses__json_check(row->body.ptr, row->body.len, NULL) == SES_OK;
    if (rows->code == SES_OK && !sound)
        rows->code = ses__error_set(rows->error, SES_CORRUPT,
                                    "%s: a row of session_inbox holds what no input can, or is another's",
                                    rows->db->name);
    return rows->code == SES_OK;
}
