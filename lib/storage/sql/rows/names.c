/* Walks by name: over apps, the users of an app, and the sessions of a user; and by number, over the sessions
 * of an app and of the store. */
#include <string.h>

#include "base/error.h"
#include "storage/sql/rows/parts.h"

/* ---------------------------------------------------------------------------------------- apps and users */

void ses__name_rows_open(struct name_rows *rows, struct db *db, int64_t app_id, struct span after,
                         struct span prefix, int64_t limit, ses_error *error)
{
    struct query *query = &rows->query;
    const struct span passed = after.len > 0 ? after : (struct span){NULL, 0};
    const struct span first = ses__span_order(after, prefix) > 0 ? after : prefix;

    rows->prefix = prefix;
    rows->last_len = after.len;
    memcpy(rows->last, after.ptr, after.len);
    ses__query_open(query, db, app_id ? STATEMENT_USERS_NAMED : STATEMENT_APPS_NAMED, error,
                    VALUES(INT_IF(app_id != 0, app_id), TEXT(first), TEXT(passed), INT(limit)));
}

bool ses__name_rows_next(struct name_rows *rows, int64_t *id)
{
    struct query *query = &rows->query;

    if (!ses__query_row(query))
        return false;
    *id = ses__query_int(query, 0);
    struct span name = ses__query_text(query, 1);
    if (query->code != SES_OK)
        return false;
    const struct span last = {rows->last, rows->last_len};
    if (*id < 1 || !name.ptr || !ses__is_id(name) || ses__span_order(last, name) >= 0) {
        query->code = ses__error_set(
            query->error, SES_CORRUPT, "%s: a row of %s is out of place, or its name is not an id",
            query->db->name, query->source == STATEMENT_APPS_NAMED ? "apps" : "users");
        return false;
    }
    memcpy(rows->last, name.ptr, name.len);
    rows->last[name.len] = '\0';
    rows->last_len = name.len;
    /* The names that have the prefix are side by side. */
    return name.len >= rows->prefix.len && memcmp(name.ptr, rows->prefix.ptr, rows->prefix.len) == 0;
}

/* -------------------------------------------------------------------------------------------- sessions */

/* After the last name. */
static void start_named(struct named_rows *rows, struct db *db, ses_error *error)
{
    const struct span last = {rows->from, rows->last_len};

    memcpy(rows->from, rows->last, rows->last_len);
    ses__query_open(&rows->query, db, STATEMENT_SESSIONS_BY_NAME, error,
                    VALUES(INT(rows->user->id), TEXT(last), ses__paging_begin(&rows->paging, db)));
}

void ses__named_rows_open(struct named_rows *rows, struct db *db, const struct user_row *user,
                          const char *after, ses_error *error)
{
    rows->paging = ses__paging_few(db);
    rows->user = user;
    rows->last_len = strlen(after);
    memcpy(rows->last, after, rows->last_len);
    start_named(rows, db, error);
}

/* The row must be the user's, and its name come after the one before, or the walk might never end. */
static int check_named(const struct named_rows *rows, const struct session_row *row, struct span name)
{
    const struct query *query = &rows->query;
    const struct span last = {rows->last, rows->last_len};
    int code = ses__session_row_check(row, query->db, query->error);

    if (code != SES_OK)
        return code;
    if (row->user_id != rows->user->id || row->app_id != rows->user->app_id)
        return ses__refuse_stranger(query->db, "user's session", query->error);
    if (!ses__is_id(name) || ses__span_order(last, name) >= 0)
        return ses__error_set(query->error, SES_CORRUPT,
                              "%s: session number %lld is out of place, or its name is not an id",
                              query->db->name, (long long)row->id);
    return SES_OK;
}

bool ses__named_rows_next(struct named_rows *rows, struct session_row *row)
{
    struct query *query = &rows->query;

    while (!ses__paging_row(&rows->paging, query)) {
        if (!ses__paging_turn(&rows->paging, query))
            return false;
        start_named(rows, query->db, query->error);
    }
    ses__session_row_read(query, row);
    struct span name = ses__query_text(query, 11);
    if (query->code == SES_OK)
        query->code = check_named(rows, row, name);
    if (query->code != SES_OK)
        return false;
    memcpy(rows->last, name.ptr, name.len);
    rows->last_len = name.len;
    return true;
}

/* ------------------------------------------------------------------------- sessions by their numbers */

/* After the last number. */
static void start_numbered(struct numbered_rows *rows, struct db *db, ses_error *error)
{
    const bool is_recent = rows->since_us != INT64_MIN;
    const struct statement *source = is_recent      ? STATEMENT_FOLLOWED_RECENT
                                     : rows->app_id ? STATEMENT_FOLLOWED_OF_APP
                                                    : STATEMENT_FOLLOWED_OF_STORE;

    (void)ses__paging_begin(&rows->paging, db);
    ses__query_open(&rows->query, db, source, error,
                    VALUES(INT_IF(rows->app_id != 0, rows->app_id), INT(rows->last),
                           INT(db->traits->page > 0 ? rows->paging.left : -1),
                           is_recent ? INT(ses__active_30s(rows->since_us)) : (struct value){.type = 0}));
}

void ses__numbered_rows_open(struct numbered_rows *rows, struct db *db, ses_error *error)
{
    rows->paging = ses__paging_few(db);
    start_numbered(rows, db, error);
}

bool ses__numbered_rows_next(struct numbered_rows *rows, struct session_row *row)
{
    struct query *query = &rows->query;

    while (!ses__paging_row(&rows->paging, query)) {
        if (!ses__paging_turn(&rows->paging, query))
            return false;
        start_numbered(rows, query->db, query->error);
    }
    ses__session_row_read(query, row);
    if (query->code == SES_OK)
        query->code = ses__session_row_check(row, query->db, query->error);
    if (query->code == SES_OK && (row->id <= rows->last || (rows->app_id && row->app_id != rows->app_id)))
        query->code = ses__refuse_stranger(query->db, "session", query->error);
    rows->last = row->id;
    return query->code == SES_OK;
}

int ses__session_names(struct db *db, int64_t id, struct arena *arena, ses_key *names, ses_error *error)
{
    const char **const to[] = {&names->app, &names->user, &names->session};
    struct query query;

    ses__query_open(&query, db, STATEMENT_CHECK_SESSION_AFTER, error, VALUES(INT(id - 1)));
    const bool found = ses__query_row(&query) && ses__query_int(&query, 0) == id;
    for (int i = 0; found && i < 3; i++) {
        const struct span name = ses__query_text(&query, 15 + i);
        if (query.code == SES_OK && (!name.ptr || !ses__is_id(name)))
            query.code = ses__refuse_stranger(db, "session", error);
        if (query.code == SES_OK && !(*to[i] = ses__arena_text(arena, name.ptr, name.len)))
            query.code = ses__error_nomem(error);
    }
    return ses__end_found(&query, true, found, "session");
}

int ses__watch_recent(struct db *db, struct watched *watched, ses_error *error)
{
    struct user_row app = {.app_id = 0};
    struct query query;
    int64_t now[3] = {0, 0, 0}; /* of an app that is not there */
    int code = watched->app ? ses__owner_find(db, watched->app, NULL, &app, error) : SES_OK;

    if (code == SES_OK) {
        ses__query_open(&query, db, STATEMENT_RECENT_VERSIONS, error,
                        VALUES(INT_IF(app.app_id != 0, app.app_id), INT(ses__active_30s(watched->since_us))));
        if (ses__query_row(&query)) {
            for (int i = 0; i < 3; i++)
                now[i] = ses__query_int(&query, i); /* NULLs are read as 0 */
        }
        code = ses__query_end(&query);
    }
    watched->changed =
        now[0] != watched->session_id || now[1] != watched->count || now[2] != watched->versions;
    watched->written = true;
    if (code != SES_OK && code != SES_NOTFOUND)
        return code;
    watched->session_id = now[0];
    watched->count = now[1];
    watched->versions = now[2];
    return SES_OK;
}

int ses__watch_wide(struct db *db, const struct watch_op *op, ses_error *error)
{
    int code = SES_OK;

    for (size_t i = 0; i < op->count && code == SES_OK; i++) {
        if (op->items[i].is_wide)
            code = ses__watch_recent(db, &op->items[i], error);
    }
    return code;
}
