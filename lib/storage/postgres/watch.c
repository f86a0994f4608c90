/*
 * Looks for changes that followers wait for. A server has no cheap counter of commits, so one query looks at all watched
 * sessions and another at all watched users: each query costs a round trip.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/postgres/parts.h"

/* Collects the numbers of the watched sessions, to be freed. Returns NULL if out of memory. */
static int64_t *numbers_of(const struct db *db, const struct watch_op *op, size_t *count)
{
    int64_t *ids = ses__memory_new(db->allocator, (op->count + 1) * sizeof *ids);

    *count = 0;
    for (size_t i = 0; ids && i < op->count; i++) {
        if (!op->items[i].app)
            ids[(*count)++] = op->items[i].session_id;
    }
    return ids;
}

static int watch_sessions(struct db *db, const struct watch_op *op, ses_error *error)
{
    struct owner_list sessions = {NULL, 0};
    int64_t *ids = numbers_of(db, op, &sessions.count);
    struct query query;
    int code = SES_OK;

    if (!ids)
        return ses__error_nomem(error);
    if (sessions.count > 0) {
        sessions.ids = ids;
        ses__query_open(&query, db, STATEMENT_WATCH_SESSIONS, error, VALUES(OWNERS(&sessions)));
        for (size_t i = 0; i < op->count; i++) {
            struct watched *item = &op->items[i];
            if (!item->app)
                item->changed = !ses__query_row(&query) || ses__query_type(&query, 0) == SQL_NULL ||
                                ses__query_int(&query, 0) != item->versions;
        }
        code = ses__query_end(&query);
    }
    ses__memory_free(db->allocator, ids);
    return code;
}

/* Adds a text to an array (https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO). */
static void add_array_text(struct buffer *array, const char *text)
{
    ses__buffer_add_word(array, array->len == 0 ? "{\"" : ",\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            ses__buffer_add(array, "\\", 1);
        ses__buffer_add(array, text, 1);
    }
    ses__buffer_add(array, "\"", 1);
}

static void look_at_users(struct query *query, const struct watch_op *op)
{
    for (size_t i = 0; i < op->count; i++) {
        struct watched *item = &op->items[i];
        if (item->app) /* without sessions these are NULL, read as 0 */
            item->changed = !ses__query_row(query) || ses__query_int(query, 0) != item->session_id ||
                            ses__query_int(query, 1) != item->count ||
                            ses__query_int(query, 2) != item->versions;
    }
}

static int ask_for_users(struct db *db, const struct watch_op *op, struct buffer *apps, struct buffer *users,
                         ses_error *error)
{
    struct query query;

    for (size_t i = 0; i < op->count; i++) {
        if (op->items[i].app) {
            add_array_text(apps, op->items[i].app);
            add_array_text(users, op->items[i].user);
        }
    }
    if (apps->len == 0 && !apps->failed)
        return SES_OK;
    ses__buffer_add(apps, "}", 1);
    ses__buffer_add(users, "}", 1);
    if (apps->failed || users->failed)
        return ses__error_nomem(error);
    ses__query_open(
        &query, db, STATEMENT_WATCH_USERS, error,
        VALUES(TEXT(((struct span){apps->data, apps->len})), TEXT(((struct span){users->data, users->len}))));
    look_at_users(&query, op);
    return ses__query_end(&query);
}

static int watch_users(struct db *db, const struct watch_op *op, ses_error *error)
{
    struct buffer apps;
    struct buffer users;

    ses__buffer_init(&apps, db->allocator);
    ses__buffer_init(&users, db->allocator);
    const int code = ask_for_users(db, op, &apps, &users, error);
    ses__buffer_free(&apps);
    ses__buffer_free(&users);
    return code;
}

static int run_watch(struct db *db, void *context, ses_error *error)
{
    const struct watch_op *op = context;
    const int code = watch_sessions(db, op, error);

    return code == SES_OK ? watch_users(db, op, error) : code;
}

int ses__postgres_watch(struct storage *storage, struct watch_op *op, ses_error *error)
{
    return ses__run(storage, TO_READ_BEFORE_WRITING, run_watch, op, error);
}
