/* Announces the queries of reads, by the functions that the jobs call, with the same arguments. */
#include "storage/postgres/ahead.h"
#include "storage/postgres/announce_parts.h"
#include "storage/postgres/session_cache.h"
#include "storage/sql/session/jobs.h"
#include "storage/sql/rows/event.h"
#include "storage/sql/rows/list.h"
#include "storage/sql/rows/session.h"
#include "storage/sql/rows/state.h"

const struct session_row ses__announced_row = {
    .id = INT64_MIN + PG_SESSION, .app_id = INT64_MIN + PG_APP, .user_id = INT64_MIN + PG_USER};

/* ------------------------------------------------------------------------------------- of one session */

/* If the session was found before, assumes the numbers that it had: then less has to be looked up. */
struct session_row ses__announce_named(struct db *db, const ses_key *key)
{
    struct session_row row;

    (void)ses__session_find(db, key, &row, NULL);
    ses__ahead_from(ses__pg_of(db), 1);
    return ses__session_cache_find(ses__pg_of(db)->config->session_cache, key, &row) ? row
                                                                                     : ses__announced_row;
}

static void announce_list(struct db *db, const struct statement *statement, int64_t owner)
{
    struct query query;

    ses__query_start(&query, db, statement, NULL);
    ses__query_bind_owners(&query, 1, &(struct owner_list){&owner, 1});
    (void)ses__query_end(&query);
}

/* For sessions not known yet: the server picks those that have any. */
static void announce_details(struct db *db)
{
    announce_list(db, STATEMENT_DETAILS_OF_OWNERS, ses__ahead_number(PG_DESCRIBED));
    announce_list(db, STATEMENT_LABELS_OF_OWNERS, ses__ahead_number(PG_LABELLED));
}

/* For a known session: the kinds of details that it had. */
static void announce_details_of(struct db *db, const struct session_row *row, int64_t bits)
{
    if (row->details & bits & (DETAIL_PARENT | DETAIL_TITLE))
        announce_list(db, STATEMENT_DETAILS_OF_OWNERS, row->id);
    if (row->details & bits & DETAIL_LABELS)
        announce_list(db, STATEMENT_LABELS_OF_OWNERS, row->id);
}

static void announce_scope(struct db *db, enum scope scope, const struct session_row *row)
{
    struct state_rows rows;

    ses__state_rows_open(&rows, db, scope, ses__scope_owner(scope, row), NULL);
    (void)ses__state_rows_close(&rows);
}

/* Up to the last event, whose number is not known yet. */
static void announce_marks(struct db *db, const struct session_row *row)
{
    struct mark_rows rows;

    ses__ahead_as(ses__pg_of(db), 2, PG_LAST);
    ses__mark_rows_open(&rows, db, row->id, MAX_SEQ, NULL);
    (void)ses__mark_rows_close(&rows);
}

static const struct few_events all_events = {INT64_MAX, INT64_MAX};

/* A range that ends after the last event is the same as one that ends there. */
static void announce_events(struct db *db, const struct session_row *row, const struct range *range,
                            const struct few_events *limit, enum walk walk)
{
    struct event_rows rows;

    if (range->live)
        announce_marks(db, row);
    if (range->first_seq > range->last_seq)
        return; /* an empty range */
    ses__ahead_as(ses__pg_of(db), 3, PG_LAST);
    const struct few_events few = {limit->count < range->newest ? limit->count : range->newest, limit->bytes};
    ses__event_rows_open_few(&rows, db, row->id, range->first_seq, range->last_seq, &few, walk, NULL);
    (void)ses__event_rows_close(&rows);
}

void ses__announce_snapshot(struct db *db, const struct session_row *row, const struct range *range)
{
    if (row->id == ses__announced_row.id)
        announce_details(db);
    else
        announce_details_of(db, row, DETAIL_PARENT | DETAIL_TITLE | DETAIL_LABELS);
    for (enum scope scope = SCOPE_APP; scope < SCOPE_TEMP; scope++)
        announce_scope(db, scope, row);
    if (!range->none && range->newest > 0)
        announce_events(db, row, range, &all_events, WALK_BACKWARD);
}

void ses__announce_known(struct db *db, const struct session_row *known)
{
    struct session_row row;

    (void)ses__session_by_id(db, known->id, &row, NULL);
    ses__ahead_from(ses__pg_of(db), 1);
}

struct session_row ses__announce_session(struct db *db, const struct session_ref *session)
{
    if (!session->known)
        return ses__announce_named(db, session->key);
    ses__announce_known(db, session->known);
    return *session->known;
}

void ses__announce_missed(struct db *db, const struct session_row *known)
{
    const struct range range = {.newest = INT64_MAX, .first_seq = known->last_seq + 1, .last_seq = INT64_MAX};

    announce_events(db, known, &range, &all_events, WALK_FORWARD);
    for (enum scope scope = SCOPE_APP; scope < SCOPE_SESSION; scope++)
        announce_scope(db, scope, known);
}

/* ---------------------------------------------------------------------------------------------- lists */

/* Announces the owner of the list, which the placeholders then refer to. */
static void announce_listed(struct db *db, const struct list_op *op)
{
    struct user_row user;
    int64_t app;

    if (op->user)
        (void)ses__user_find(db, op->app, op->user, &user, NULL);
    else
        (void)ses__app_find(db, op->app, &app, NULL);
    ses__ahead_from(ses__pg_of(db), 1);
}

/* True without filters that need another index. */
static bool is_walked(const struct list_op *op)
{
    const struct list_filter *filter = &op->filter;

    return !filter->label && !filter->id_prefix && filter->since_us == INT64_MIN &&
           filter->before_us == INT64_MAX;
}

void ses__announce_list_page(struct db *db, const void *context)
{
    const struct list_op *op = context;
    const struct list_query query = {.whole_app = !op->user,
                                     .app_id = ses__announced_row.app_id,
                                     .user_id = ses__announced_row.user_id,
                                     .filter = &op->filter,
                                     .order = op->order,
                                     .limit = (int64_t)op->limit + 1,
                                     .from_start = op->from_start,
                                     .after = op->after};
    struct list_rows rows;

    announce_listed(db, op);
    if (!is_walked(op))
        return;
    if (!op->no_state)
        announce_scope(db, SCOPE_APP, &ses__announced_row);
    ses__list_rows_open(&rows, db, &query, NULL);
    (void)ses__list_rows_close(&rows);
    ses__ahead_from(ses__pg_of(db), (int64_t)op->limit);
    announce_details(db);
    if (op->no_state)
        return;
    announce_list(db, STATEMENT_USER_STATE_OF_OWNERS, ses__ahead_number(PG_USERS));
    announce_list(db, STATEMENT_SESSION_STATE_OF_OWNERS, ses__ahead_number(PG_SESSIONS));
}
