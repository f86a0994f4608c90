/* The rows of the three state tables, which differ only in their owner. */
#include <string.h>

#include "base/error.h"
#include "storage/sql/rows/parts.h"

struct scope_statements {
    const struct statement *all;
    const struct statement *one;
    const struct statement *set;
    const struct statement *remove;
};

static const struct scope_statements scope_statements[STORED_SCOPES] = {
    [SCOPE_APP] = {STATEMENT_APP_STATE_ALL, STATEMENT_APP_STATE_GET, STATEMENT_APP_STATE_SET,
                   STATEMENT_APP_STATE_REMOVE},
    [SCOPE_USER] = {STATEMENT_USER_STATE_ALL, STATEMENT_USER_STATE_GET, STATEMENT_USER_STATE_SET,
                    STATEMENT_USER_STATE_REMOVE},
    [SCOPE_SESSION] = {STATEMENT_SESSION_STATE_ALL, STATEMENT_SESSION_STATE_GET, STATEMENT_SESSION_STATE_SET,
                       STATEMENT_SESSION_STATE_REMOVE},
};

int64_t ses__scope_owner(enum scope scope, const struct session_row *session)
{
    return scope == SCOPE_APP ? session->app_id : scope == SCOPE_USER ? session->user_id : session->id;
}

/* ---------------------------------------------------------------------------------------------- reading */

void ses__state_rows_open(struct query *rows, struct db *db, enum scope scope, int64_t owner,
                          ses_error *error)
{
    ses__query_open(rows, db, scope_statements[scope].all, error, VALUES(OWNER(owner)));
}

void ses__state_row_open(struct query *rows, struct db *db, enum scope scope, int64_t owner, struct span key,
                         ses_error *error)
{
    ses__query_open(rows, db, scope_statements[scope].one, error, VALUES(OWNER(owner), TEXT(key)));
}

bool ses__state_rows_next(struct query *rows, struct span *key, struct span *value)
{
    if (!ses__query_row(rows))
        return false;
    *key = ses__query_text(rows, 0);
    *value = ses__query_text(rows, 1);
    if (rows->code == SES_OK && (!key->ptr || !value->ptr)) /* a row that no library wrote */
        rows->code = ses__error_set(rows->error, SES_CORRUPT, "%s: a state key has no name or no value",
                                    rows->db->name);
    return rows->code == SES_OK;
}

int ses__state_rows_load(struct query *rows, struct state *state, enum scope scope, ses_error *error)
{
    struct state_loading loading;
    struct span key;
    struct span value;

    ses__query_keep(rows, ses__state_load_begin(&loading, state, scope, error));
    while (ses__state_rows_next(rows, &key, &value))
        ses__query_keep(rows, ses__state_load_put(&loading, key, value, error));
    const int code = ses__query_end(rows);
    ses__state_load_end(&loading, code == SES_OK);
    return code;
}

int ses__load_scope(struct db *db, struct state *state, enum scope scope, const struct session_row *session,
                    ses_error *error)
{
    struct query rows;

    ses__state_rows_open(&rows, db, scope, ses__scope_owner(scope, session), error);
    return ses__state_rows_load(&rows, state, scope, error);
}

bool ses__shared_rows_next(struct query *rows, struct key_order *order, struct span *key, struct span *value)
{
    const struct span last = {order->last, order->len};

    if (!ses__state_rows_next(rows, key, value))
        return false;
    if ((key->len > 0 && !ses__is_id(*key)) || (order->begun && ses__span_order(last, *key) >= 0)) {
        rows->code = ses__error_set(
            rows->error, SES_CORRUPT,
            "the shared state key \"%.200s\" is out of order, not valid UTF-8, contains a NUL, or has more than %d bytes",
            key->ptr, SES_ID_MAX);
        return false;
    }
    memcpy(order->last, key->ptr, key->len);
    order->len = key->len;
    order->begun = true;
    rows->code = ses__state_check_value(key->ptr, *value, rows->error);
    return rows->code == SES_OK;
}

void ses__own_rows_open(struct own_rows *rows, struct db *db, int64_t session_id, struct arena *arena,
                        ses_error *error)
{
    *rows = (struct own_rows){.session_id = session_id, .arena = arena};
    ses__query_open(&rows->query, db, STATEMENT_SESSION_STATE_ROWS, error, VALUES(INT(session_id)));
}

/* Rows that are out of order may have no end. */
bool ses__own_rows_next(struct own_rows *rows, struct span *key, struct span *value, int64_t *seq)
{
    struct query *query = &rows->query;

    if (!ses__query_row(query))
        return false;
    *key = ses__query_text(query, 1);
    *value = ses__query_text(query, 2);
    *seq = ses__query_int(query, 3);
    const bool sound = key->ptr && value->ptr && ses__query_int(query, 0) == rows->session_id &&
                       (!rows->last.ptr || ses__span_order(rows->last, *key) < 0);
    if (query->code == SES_OK && !sound)
        query->code = ses__error_set(query->error, SES_CORRUPT,
                                     "%s: a row of session_state of session number %lld is out of place",
                                     query->db->name, (long long)rows->session_id);
    if (query->code != SES_OK)
        return false;
    *key = rows->last = (struct span){ses__arena_text(rows->arena, key->ptr, key->len), key->len};
    if (!key->ptr)
        query->code = ses__error_nomem(query->error);
    return query->code == SES_OK;
}

/* Rows of many owners: those of one are side by side, and come in the owners' order. */
struct owners_walk {
    struct query *rows;
    enum scope scope;
    const struct owner_list *owners;
    struct state *const *states;  /* one each owner */
    size_t next;                  /* the first owner after it */
    const int64_t *now;           /* whose rows are read; NULL: none yet */
    struct state_loading loading; /* of its state */
};

static void end_owner(struct owners_walk *walk, bool whole)
{
    if (walk->now)
        ses__state_load_end(&walk->loading, whole);
    walk->now = NULL;
}

/* Owners without a row are passed over. */
static int begin_owner(struct owners_walk *walk, int64_t id, ses_error *error)
{
    const struct owner_list *owners = walk->owners;

    end_owner(walk, true);
    while (walk->next < owners->count && owners->ids[walk->next] != id)
        walk->next++;
    if (walk->next == owners->count)
        return ses__error_set(error, SES_CORRUPT,
                              "%s: state of owner number %lld is filed as another's, or out of order",
                              walk->rows->db->name, (long long)id);
    const size_t at = walk->next++;
    int code = ses__state_load_begin(&walk->loading, walk->states[at], walk->scope, error);
    if (code == SES_OK)
        walk->now = &owners->ids[at];
    return code;
}

void ses__owners_ask(struct query *rows, struct db *db, enum scope scope, const struct owner_list *owners,
                     ses_error *error)
{
    ses__query_open(rows, db,
                    scope == SCOPE_USER ? STATEMENT_USER_STATE_OF_OWNERS : STATEMENT_SESSION_STATE_OF_OWNERS,
                    error, VALUES(OWNERS(owners)));
}

int ses__owners_take(struct query *rows, enum scope scope, const struct owner_list *owners,
                     struct state *const *states, ses_error *error)
{
    struct owners_walk walk = {.rows = rows, .scope = scope, .owners = owners, .states = states};
    struct span key;
    struct span value;

    while (ses__state_rows_next(rows, &key, &value)) {
        int64_t id = ses__query_int(rows, 2);
        if (!walk.now || *walk.now != id)
            ses__query_keep(rows, begin_owner(&walk, id, error));
        if (rows->code == SES_OK)
            rows->code = ses__state_load_put(&walk.loading, key, value, error);
    }
    const int code = ses__query_end(rows);
    end_owner(&walk, code == SES_OK);
    return code;
}

void ses__state_of_session_ask(struct query *rows, struct db *db, const struct session_row *session,
                               ses_error *error)
{
    ses__query_open(rows, db, STATEMENT_STATE_OF_SESSION, error,
                    VALUES(OWNER(session->app_id), OWNER(session->user_id), OWNER(session->id)));
}

/* The rows of the scopes come in any order. */
int ses__state_of_session_take(struct query *rows, struct state *state, ses_error *error)
{
    struct state_loading loading[STORED_SCOPES];
    struct span key;
    struct span value;
    int begun = 0;

    for (; begun < STORED_SCOPES && rows->code == SES_OK; begun++)
        ses__query_keep(rows, ses__state_load_begin(&loading[begun], state, (enum scope)begun, error));
    while (ses__state_rows_next(rows, &key, &value)) {
        const int64_t scope = ses__query_int(rows, 2);
        if (scope >= 0 && scope < STORED_SCOPES)
            ses__query_keep(rows, ses__state_load_put(&loading[scope], key, value, error));
    }
    const int code = ses__query_end(rows);
    while (begun-- > 0)
        ses__state_load_end(&loading[begun], code == SES_OK);
    return code;
}

/* Locks the owners of the shared keys among the operations. */
static void lock_owners(struct db *db, const struct delta *delta, const struct session_row *session,
                        bool exclusive)
{
    bool has[SCOPE_COUNT] = {false};

    for (size_t i = 0; i < delta->count; i++)
        has[delta->ops[i].scope] = true;
    for (enum scope scope = SCOPE_APP; scope <= SCOPE_USER; scope++) {
        if (has[scope])
            ses__db_lock(db, scope, ses__scope_owner(scope, session), exclusive);
    }
}

/* The name of the key, unless the stored bytes are those that are expected; an operation that removes means
 * that the key does not exist. */
static int take_seen(struct query *rows, const struct delta_op *seen, const char **changed)
{
    struct span key;
    struct span value;
    bool same = seen->removes;

    if (ses__state_rows_next(rows, &key, &value))
        same = !seen->removes && ses__span_is(value, seen->value);
    const int code = ses__query_end(rows);
    *changed = code == SES_OK && !same ? seen->name.ptr : NULL;
    return code;
}

static void open_seen(struct query *rows, struct db *db, const struct delta_op *seen,
                      const struct session_row *session, ses_error *error)
{
    ses__state_row_open(rows, db, seen->scope, ses__scope_owner(seen->scope, session), seen->key, error);
}

int ses__state_find_changed(struct db *db, const struct delta *seen, const struct session_row *session,
                            const char **changed, ses_error *error)
{
    struct query rows;
    int code = SES_OK;

    *changed = NULL;
    lock_owners(db, seen, session, true);
    for (size_t i = 0; i < seen->count && code == SES_OK && !*changed; i++) {
        open_seen(&rows, db, &seen->ops[i], session, error);
        code = take_seen(&rows, &seen->ops[i], changed);
    }
    return code;
}

void ses__state_seen_ask(struct query *rows, struct db *db, const struct delta *seen, ses_error *error)
{
    const struct session_row unknown = {.id = 0};

    lock_owners(db, seen, &unknown, true);
    for (size_t i = 0; i < seen->count; i++)
        open_seen(&rows[i], db, &seen->ops[i], &unknown, error);
}

int ses__state_seen_take(struct query *rows, const struct delta *seen, const char **changed)
{
    int code = SES_OK;

    *changed = NULL;
    for (size_t i = 0; i < seen->count && code == SES_OK && !*changed; i++)
        code = take_seen(&rows[i], &seen->ops[i], changed);
    return code;
}

/* ---------------------------------------------------------------------------------------------- writing */

int ses__delta_store(struct db *db, const struct delta *delta, const struct session_row *session, int64_t seq,
                     ses_error *error)
{
    /* Without a number it is the session that this transaction makes, or none: see
     * sql/postgres/statements.sql. */
    const bool is_known = session->id != 0 || !ses__db_asks_ahead(db);
    int code = SES_OK;

    lock_owners(db, delta, session, false);
    for (size_t i = 0; i < delta->count && code == SES_OK; i++) {
        const struct delta_op *op = &delta->ops[i];
        if (op->scope == SCOPE_TEMP)
            continue;
        const struct value owner = OWNER(ses__scope_owner(op->scope, session));
        if (op->removes)
            code = ses__query_do(db, scope_statements[op->scope].remove, error, VALUES(owner, TEXT(op->key)));
        else
            code =
                ses__query_do(db, scope_statements[op->scope].set, error,
                              VALUES(owner, TEXT(op->key), TEXT(op->value),
                                     INT_IF(op->scope != SCOPE_SESSION && is_known, session->id), INT(seq)));
    }
    return code;
}
