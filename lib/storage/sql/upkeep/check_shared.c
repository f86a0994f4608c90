/*
 * Apps and users, as a check looks at them: their names, their state, and the artifacts of users. A row of
 * shared state says which event, or which creation of a session, has set it last. Where that is still there,
 * it must say the same.
 */
#include <string.h>

#include "base/error.h"
#include "model/event/stored_event.h"
#include "storage/sql/upkeep/check.h"
#include "storage/sql/rows/parts.h"

struct shared_row {
    enum scope scope;
    int64_t owner; /* the user, or the app; 0: there is no other */
    int64_t app_id;
    struct span key;
    struct span value;
    int64_t session_id;
    int64_t seq;
    char name[8 + SES_ID_MAX + 1]; /* with its prefix */
    size_t name_len;
};

static struct span name_of(const struct shared_row *row)
{
    return (struct span){row->name, row->name_len};
}

static void contradict(struct check *check, const struct shared_row *row, const char *what)
{
    ses__check_found(check, SES_PROBLEM_SHARED, row->seq,
                     "the value of \"%.200s\" is not the one of %s (session number %lld, event %lld)",
                     row->name, what, (long long)row->session_id, (long long)row->seq);
}

/* ------------------------------------------------------------------------------------- what has set it */

/* `delta` is what has set it. */
static void compare_delta(struct check *check, const struct shared_row *row, const struct delta *delta,
                          const char *what)
{
    const struct delta_op *op = ses__delta_last(delta, name_of(row));

    if (!op || op->removes || !ses__span_is(op->value, row->value))
        contradict(check, row, what);
}

static int compare_creation(struct check *check, const struct shared_row *row)
{
    struct arena arena;
    struct span initial;
    struct delta delta = {0};
    bool ok = false;

    ses__arena_init(&arena, check->db->allocator);
    int code = ses__check_read_initial(check, row->session_id, &arena, &initial, &delta, &ok);
    if (ok)
        compare_delta(check, row, &delta, "the session's initial state");
    ses__delta_free(&delta, arena.allocator);
    ses__arena_free(&arena);
    return code;
}

/* The base sums up the pruned events. It may name another event that set the key, or none, if the event
 * named here was cut, or if the events after it were loaded. */
static int compare_shared_base(struct check *check, const struct shared_row *row)
{
    struct query query;

    ses__query_open(&query, check->db, STATEMENT_BASE_STATE_GET, &check->error,
                    VALUES(INT(row->session_id), TEXT(name_of(row))));
    bool found = ses__query_row(&query);
    struct span value = found ? ses__query_text(&query, 0) : (struct span){"", 0};
    bool differs =
        found && ses__query_int(&query, 1) == row->seq && !(value.ptr && ses__span_is(value, row->value));
    int code = ses__query_end(&query);
    if (code == SES_OK && differs)
        contradict(check, row, "the state kept for pruned events");
    return ses__check_settle(check, code, SES_PROBLEM_SHARED);
}

/* An event that was cut has left its shared keys. */
static int compare_event(struct check *check, const struct shared_row *row)
{
    struct event_rows rows;
    struct event_row event;
    struct arena arena;
    struct stored_event stored;

    ses__event_rows_open(&rows, check->db, row->session_id, row->seq, row->seq, WALK_FORWARD_BODIES,
                         &check->error);
    if (ses__event_rows_next(&rows, &event)) {
        ses__arena_init(&arena, check->db->allocator);
        ses__stored_event_init(&stored, &arena);
        int code = ses__stored_event_read(&stored, &event, STORED_DELTA, &check->error);
        if (code == SES_OK)
            compare_delta(check, row, &stored.delta, "the event that has set it");
        ses__stored_event_free(&stored);
        ses__arena_free(&arena);
        ses__query_keep(&rows.query, ses__check_settle(check, code, SES_PROBLEM_BODY));
    }
    return ses__check_settle(check, ses__event_rows_close(&rows), SES_PROBLEM_EVENT);
}

/* A session that was deleted can say nothing any more. Damage to a session is found with it. */
static int check_source(struct check *check, const struct shared_row *row)
{
    struct session_row session;
    const bool is_known = row->session_id > 0 && row->seq >= 0 && row->session_id <= check->last_session;

    if (!is_known) {
        if (row->session_id != 0 || row->seq != 0)
            contradict(check, row, "a session that can be");
        return SES_OK;
    }
    int code = ses__session_by_id(check->db, row->session_id, &session, &check->error);
    if (code != SES_OK)
        return code == SES_NOTFOUND || code == SES_CORRUPT ? SES_OK : code;
    const bool is_own =
        session.app_id == row->app_id && (row->scope == SCOPE_APP || session.user_id == row->owner);
    if (is_own && row->seq == 0)
        return compare_creation(check, row);
    if (is_own && row->seq <= session.last_seq)
        return row->seq <= session.base_seq ? compare_shared_base(check, row) : compare_event(check, row);
    contradict(check, row, "a session that could have set it");
    return SES_OK;
}

/* ---------------------------------------------------------------------------------------------- the rows */

static int check_shared_row(struct check *check, struct shared_row *row)
{
    const struct span prefix = ses__scope_prefix(row->scope);
    int code = SES_OK;

    if (row->key.ptr && row->key.len <= SES_ID_MAX) {
        memcpy(row->name, prefix.ptr, prefix.len);
        memcpy(row->name + prefix.len, row->key.ptr, row->key.len);
        row->name_len = prefix.len + row->key.len;
        row->name[row->name_len] = '\0';
    }
    if (!row->key.ptr || row->key.len > SES_ID_MAX || !row->value.ptr)
        code = ses__error_set(&check->error, SES_CORRUPT, "a shared key is too long, or has no value");
    if (code == SES_OK)
        code = ses__scope_check_name(name_of(row), &check->error);
    if (code == SES_OK)
        code = ses__state_check_value(row->name, row->value, &check->error);
    return code == SES_OK ? check_source(check, row) : ses__check_settle(check, code, SES_PROBLEM_SHARED);
}

/* Rows that are out of order may have no end; SQLite's own check has said so then. */
static int check_shared(struct check *check, struct shared_row *row)
{
    const size_t prefix = ses__scope_prefix(row->scope).len;
    struct query query;

    ses__query_open(&query, check->db,
                    row->scope == SCOPE_USER ? STATEMENT_CHECK_USER_STATE : STATEMENT_CHECK_APP_STATE,
                    &check->error, VALUES(INT(row->owner)));
    while (!check->ended && ses__query_row(&query)) {
        row->key = ses__query_text(&query, 0);
        row->value = ses__query_text(&query, 1);
        row->session_id = ses__query_int(&query, 2);
        row->seq = ses__query_int(&query, 3);
        const struct span last = {row->name + prefix, row->name_len > 0 ? row->name_len - prefix : 0};
        if (query.code == SES_OK && row->key.ptr && row->name_len > 0 && ses__span_order(last, row->key) >= 0)
            query.code = ses__error_set(&check->error, SES_CORRUPT, "rows of shared state are out of order");
        else if (query.code == SES_OK)
            query.code = check_shared_row(check, row);
    }
    return ses__check_settle(check, ses__query_end(&query), SES_PROBLEM_SHARED);
}

/* ------------------------------------------------------------------------------------- apps and users */

static int read_next_owner(struct check *check, struct shared_row *row)
{
    const struct span none = {"", 0};
    const bool is_user = row->scope == SCOPE_USER;
    const int64_t after = row->owner;
    struct query query;

    *row = (struct shared_row){.scope = row->scope};
    ses__query_open(&query, check->db, is_user ? STATEMENT_CHECK_USER_AFTER : STATEMENT_CHECK_APP_AFTER,
                    &check->error, VALUES(INT(after)));
    if (ses__query_row(&query)) {
        row->owner = ses__query_int(&query, 0);
        row->app_id = ses__query_int(&query, is_user ? 1 : 0);
        ses__query_keep(&query, is_user ? ses__check_begin(check, ses__query_text(&query, 3),
                                                           ses__query_text(&query, 2), none)
                                        : ses__check_begin(check, ses__query_text(&query, 1), none, none));
        if (query.code == SES_OK && row->owner <= after)
            query.code =
                ses__error_set(&check->error, SES_CORRUPT, "the numbers of apps or users do not ascend");
    }
    const int code = ses__query_end(&query);
    if (code != SES_OK)
        row->owner = 0; /* the walk cannot continue */
    return ses__check_settle(check, code, SES_PROBLEM_PAGE);
}

int ses__check_owners(struct check *check, enum scope scope)
{
    struct shared_row row = {.scope = scope, .owner = INT64_MIN};
    int code = read_next_owner(check, &row);

    while (code == SES_OK && row.owner != 0 && !check->ended) {
        if (!(scope == SCOPE_USER ? check->about.user : check->about.app))
            ses__check_found(check, SES_PROBLEM_NAME, 0, "the name of %s number %lld is not an id",
                             scope == SCOPE_USER ? "user" : "app", (long long)row.owner);
        code = check_shared(check, &row);
        if (code == SES_OK && scope == SCOPE_USER)
            code = ses__check_artifacts(check, row.owner);
        if (code == SES_OK)
            code = read_next_owner(check, &row);
    }
    return code;
}
