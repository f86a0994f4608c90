/* The rows of drafts. */
#include "base/error.h"
#include "base/utf8.h"
#include "model/event/timestamp.h"
#include "storage/sql/rows/session.h"

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

int ses__session_draft_remove(struct db *db, int64_t session_id, ses_error *error)
{
    return ses__query_do(db, STATEMENT_DRAFT_DELETE, error, VALUES(INT(session_id)));
}
