/* Checks rows that a damaged file may return. */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "storage/sql/rows/parts.h"

int ses__refuse_stranger(const struct db *db, const char *what, ses_error *error)
{
    return ses__error_set(error, SES_CORRUPT, "%s: an index leads to the row of another %s", db->name, what);
}

int ses__end_found(struct query *query, bool found, bool is_it, const char *what)
{
    int code = ses__query_end(query);

    if (code == SES_OK && !found)
        code = SES_NOTFOUND;
    return code == SES_OK && !is_it ? ses__refuse_stranger(query->db, what, query->error) : code;
}

int ses__refuse_unchanged(const struct db *db, const char *table, ses_error *error)
{
    return ses__error_set(error, SES_CORRUPT, "%s: a row of %s is in an index but not in the table", db->name,
                          table);
}

int ses__refuse_event_count(const struct db *db, int64_t session_id, ses_error *error)
{
    return ses__error_set(error, SES_CORRUPT,
                          "%s: session number %lld does not have as many events as its row says", db->name,
                          (long long)session_id);
}

int ses__change_one(struct db *db, const struct statement *statement, const char *table, ses_error *error,
                    const struct value *values)
{
    const int code = ses__query_do(db, statement, error, values);

    if (code != SES_OK)
        return code;
    if (!db->engine->must_change)
        return ses__db_changed(db) == 1 ? SES_OK : ses__refuse_unchanged(db, table, error);
    db->engine->must_change(db, table);
    return SES_OK;
}

bool ses__is_id(struct span text)
{
    return text.len > 0 && text.len <= SES_ID_MAX && !memchr(text.ptr, '\0', text.len) &&
           ses__utf8_valid(text.ptr, text.len);
}
