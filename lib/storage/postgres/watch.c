/*
 * Looks for changes that followers wait for. A server has no cheap counter of commits, so one query looks at
 * all watched sessions and users, and one at each watched app.
 */
#include "base/error.h"
#include "base/memory.h"
#include "storage/postgres/parts.h"
#include "storage/sql/rows/session.h"

static int look_at_all(struct db *db, const struct watch_op *op, int64_t *ids, struct span *apps,
                       struct span *users, ses_error *error)
{
    struct query query;

    for (size_t i = 0; i < op->count; i++) {
        const struct watched *item = &op->items[i];
        const bool is_user = item->app && !item->is_wide;
        ids[i] = item->app || item->is_wide ? 0 : item->session_id;
        apps[i] = STRING(is_user ? item->app : NULL).text;
        users[i] = STRING(is_user ? item->user : NULL).text;
    }
    ses__query_open(&query, db, STATEMENT_WATCH, error,
                    VALUES(OWNERS(&((struct owner_list){ids, op->count})),
                           TEXTS(&((struct text_list){apps, op->count})),
                           TEXTS(&((struct text_list){users, op->count}))));
    for (size_t i = 0; i < op->count; i++) {
        /* A session that is gone has NULLs, as has a user without sessions, whose NULLs are read as 0. */
        struct watched *item = &op->items[i];
        const bool found = ses__query_row(&query);
        if (found && item->app)
            item->changed = ses__query_int(&query, 1) != item->session_id ||
                            ses__query_int(&query, 2) != item->count ||
                            ses__query_int(&query, 3) != item->versions;
        else
            item->changed = !found || ses__query_type(&query, 0) == SQL_NULL ||
                            ses__query_int(&query, 0) != item->versions;
    }
    return ses__query_end(&query);
}

static int run_watch(struct db *db, void *context, ses_error *error)
{
    const struct watch_op *op = context;
    struct arena arena;

    ses__arena_init(&arena, db->allocator);
    int64_t *ids = ses__arena_new(&arena, (op->count + 1) * sizeof *ids);
    struct span *texts = ses__arena_new(&arena, (op->count + 1) * 2 * sizeof *texts);
    const int code =
        ids && texts ? look_at_all(db, op, ids, texts, texts + op->count, error) : ses__error_nomem(error);
    ses__arena_free(&arena);
    return code == SES_OK ? ses__watch_wide(db, op, error) : code;
}

int ses__postgres_watch(struct storage *storage, struct watch_op *op, ses_error *error)
{
    return ses__run(storage, TO_READ_BEFORE_WRITING, run_watch, op, error);
}
