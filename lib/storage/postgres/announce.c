/* Announces the queries of a page of a list, by the functions that the job calls. */
#include "storage/postgres/ahead.h"
#include "storage/postgres/announce_parts.h"
#include "storage/sql/session/jobs.h"
#include "storage/sql/rows/event.h"
#include "storage/sql/rows/list.h"
#include "storage/sql/rows/session.h"
#include "storage/sql/rows/state.h"

const struct session_row ses__announced_row = {
    .id = INT64_MIN + PG_SESSION, .app_id = INT64_MIN + PG_APP, .user_id = INT64_MIN + PG_USER};

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

static void announce_scope(struct db *db, enum scope scope, const struct session_row *row)
{
    struct state_rows rows;

    ses__state_rows_open(&rows, db, scope, ses__scope_owner(scope, row), NULL);
    (void)ses__state_rows_close(&rows);
}

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
