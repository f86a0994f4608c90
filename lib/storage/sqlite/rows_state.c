/* The rows of the three state tables, which differ only in their owner. */
#include "storage/sqlite/connection.h"
#include "base/error.h"
#include "storage/door.h"

struct scope_statements {
    enum statement_id all, one, set, remove;
};

static const struct scope_statements scope_statements[STORED_SCOPES] = {
    [SCOPE_APP] = {STATEMENT_APP_STATE_ALL, STATEMENT_APP_STATE_GET, STATEMENT_APP_STATE_SET,
                   STATEMENT_APP_STATE_REMOVE},
    [SCOPE_USER] = {STATEMENT_USER_STATE_ALL, STATEMENT_USER_STATE_GET, STATEMENT_USER_STATE_SET,
                    STATEMENT_USER_STATE_REMOVE},
    [SCOPE_SESSION] = {STATEMENT_SESSION_STATE_ALL, STATEMENT_SESSION_STATE_GET, STATEMENT_SESSION_STATE_SET,
                       STATEMENT_SESSION_STATE_REMOVE},
};

static int64_t owner_of(enum scope scope, const struct session_row *session)
{
    return scope == SCOPE_APP ? session->app_id : scope == SCOPE_USER ? session->user_id : session->id;
}

/* A key or a value that is not there is a row that no library wrote. */
static int visit_row(struct query *query, state_visitor *visit, void *context, ses_error *error)
{
    struct span key = ses__query_text(query, 0);
    struct span value = ses__query_text(query, 1);
    int result = SES_OK;

    if (key.ptr && value.ptr)
        result = visit(context, key, value, error);
    else if (query->code == SES_OK)
        result = ses__error_set(error, SES_CORRUPT, "%s: a state key has no name or no value",
                                query->db->config->path);
    return result;
}

static int visit_state_rows(struct query *query, state_visitor *visit, void *context, ses_error *error)
{
    int result = SES_OK;
    while (result == SES_OK && ses__query_row(query))
        result = visit_row(query, visit, context, error);
    int code = ses__query_end(query);
    return code != SES_OK ? code : result < 0 ? result : SES_OK;
}

int ses__state_each(struct db *db, enum scope scope, int64_t owner, state_visitor *visit, void *context,
                    ses_error *error)
{
    struct query query;
    ses__query_start(&query, db, scope_statements[scope].all, error);
    ses__query_bind_int(&query, 1, owner);
    return visit_state_rows(&query, visit, context, error);
}

int ses__state_one(struct db *db, enum scope scope, int64_t owner, struct span key, state_visitor *visit,
                   void *context, ses_error *error)
{
    struct query query;
    ses__query_start(&query, db, scope_statements[scope].one, error);
    ses__query_bind_int(&query, 1, owner);
    ses__query_bind_text(&query, 2, key);
    return visit_state_rows(&query, visit, context, error);
}

int ses__state_set(struct db *db, enum scope scope, const struct session_row *session, int64_t seq,
                   struct span key, struct span value, ses_error *error)
{
    struct query query;
    ses__query_start(&query, db, scope_statements[scope].set, error);
    ses__query_bind_int(&query, 1, owner_of(scope, session));
    ses__query_bind_text(&query, 2, key);
    ses__query_bind_text(&query, 3, value);
    if (scope != SCOPE_SESSION)
        ses__query_bind_int(&query, 4, session->id);
    ses__query_bind_int(&query, 5, seq);
    (void)ses__query_row(&query);
    return ses__query_end(&query);
}

int ses__state_remove(struct db *db, enum scope scope, const struct session_row *session, struct span key,
                      ses_error *error)
{
    struct query query;
    ses__query_start(&query, db, scope_statements[scope].remove, error);
    ses__query_bind_int(&query, 1, owner_of(scope, session));
    ses__query_bind_text(&query, 2, key);
    (void)ses__query_row(&query);
    return ses__query_end(&query);
}
