/* The rows of leases. */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "model/event/timestamp.h"
#include "storage/sql/rows/parts.h"

enum {
    LEASE_TOKEN,
    LEASE_SESSION,
    LEASE_OWNER,
    LEASE_TAKEN,
    LEASE_UNTIL,
    LEASE_NEXT_OWNER,
    LEASE_NEXT_UNTIL,
    LEASE_NOW
};

static bool has_type(const struct query *query, int column, enum sql_type type)
{
    return ses__query_type(query, column) == type;
}

/* An owner's name; false: it cannot be one. */
static bool read_owner(struct query *query, int column, char owner[LEASE_OWNER_MAX + 1])
{
    if (!has_type(query, column, SQL_TEXT))
        return false;
    struct span text = ses__query_text(query, column);
    if (text.len == 0 || text.len > LEASE_OWNER_MAX || memchr(text.ptr, '\0', text.len) ||
        !ses__utf8_valid(text.ptr, text.len))
        return false;
    memcpy(owner, text.ptr, text.len);
    owner[text.len] = '\0';
    return true;
}

static bool read_lease_time(struct query *query, int column, int64_t *time_us)
{
    *time_us = ses__query_int(query, column);
    return has_type(query, column, SQL_INT) && *time_us >= TIMESTAMP_MIN && *time_us <= TIMESTAMP_MAX;
}

/* False: it holds what the library cannot have written. */
static bool read_lease(struct query *query, struct lease_row *row)
{
    bool ok = has_type(query, LEASE_TOKEN, SQL_INT) && has_type(query, LEASE_SESSION, SQL_INT) &&
              ses__query_int(query, LEASE_SESSION) == row->session_id;

    row->token = ses__query_int(query, LEASE_TOKEN);
    ok = ok && row->token > 0 && read_owner(query, LEASE_OWNER, row->owner) &&
         read_lease_time(query, LEASE_TAKEN, &row->taken_us) &&
         read_lease_time(query, LEASE_UNTIL, &row->until_us);
    if (!ok || has_type(query, LEASE_NEXT_OWNER, SQL_NULL))
        return ok && has_type(query, LEASE_NEXT_UNTIL, SQL_NULL);
    return read_owner(query, LEASE_NEXT_OWNER, row->next_owner) &&
           read_lease_time(query, LEASE_NEXT_UNTIL, &row->next_until_us);
}

/* An engine that says what time it is has a row without a lease, too. */
int ses__lease_take(struct query *query, int64_t session_id, struct lease_row *row, int64_t *now_us)
{
    bool sound = true;

    *row = (struct lease_row){.session_id = session_id};
    if (ses__query_row(query)) {
        const bool has_now = query->source != STATEMENT_LEASE_FIND;
        sound = (has_now && has_type(query, LEASE_TOKEN, SQL_NULL)) || read_lease(query, row);
        if (has_now && now_us)
            *now_us = ses__query_int(query, LEASE_NOW);
    }
    const int code = ses__query_end(query);
    return code == SES_OK && !sound
               ? ses__error_set(
                     query->error, SES_CORRUPT,
                     "%s: the row of session_leases of session number %lld is another's, or holds what no lease can",
                     query->db->name, (long long)session_id)
               : code;
}

void ses__lease_ask(struct query *query, struct db *db, int64_t session_id, ses_error *error)
{
    const struct statement *now = db->has_clock ? NULL : db->traits->lease_now;

    ses__query_open(query, db, now ? now : STATEMENT_LEASE_FIND, error, VALUES(OWNER(session_id)));
}

int ses__lease_find(struct db *db, int64_t session_id, struct lease_row *row, ses_error *error)
{
    struct query query;

    ses__lease_ask(&query, db, session_id, error);
    return ses__lease_take(&query, session_id, row, NULL);
}

int ses__lease_give(struct db *db, struct lease_row *row, ses_error *error)
{
    const int64_t before = row->token;
    struct query query;
    int code = SES_OK;

    if (before > 0)
        code = ses__change_one(db, STATEMENT_LEASE_REPLACE, "session_leases", error,
                               VALUES(INT(before), INT(row->session_id)));
    if (code != SES_OK)
        return code;
    ses__query_open(&query, db, STATEMENT_LEASE_ADD, error,
                    VALUES(INT(row->session_id), STRING(row->owner), INT(row->taken_us), INT(row->until_us)));
    ses__db_ask_last(db); /* nothing else is written with it */
    (void)ses__query_row(&query);
    code = ses__query_end(&query);
    row->token = ses__db_given(db);
    if (code == SES_OK && row->token <= before)
        code = ses__error_set(error, SES_CORRUPT, "%s: the tokens of leases do not ascend", db->name);
    return code;
}

int ses__lease_set(struct db *db, const struct lease_row *row, ses_error *error)
{
    const bool has_next = row->next_owner[0] != '\0';

    return ses__change_one(db, STATEMENT_LEASE_SET, "session_leases", error,
                           VALUES(INT(row->token), INT(row->session_id), INT(row->taken_us),
                                  INT(row->until_us), STRING(has_next ? row->next_owner : NULL),
                                  INT_IF(has_next, row->next_until_us)));
}
