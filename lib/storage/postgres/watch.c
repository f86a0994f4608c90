/*
 * Looks for changes that followers wait for. A server has no cheap counter of commits, so one query looks at all watched
 * sessions and another at all watched users, in one round trip.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/postgres/parts.h"

/* What is watched, as the statements take it. */
struct wanted {
    int64_t *ids;
    size_t sessions;
    struct span *apps;
    struct span *names; /* of the users */
    size_t users;
};

static bool collect(struct wanted *wanted, const struct db *db, const struct watch_op *op)
{
    const size_t room = op->count + 1;

    *wanted = (struct wanted){.ids = ses__memory_new(db->allocator, room * sizeof *wanted->ids),
                              .apps = ses__memory_new(db->allocator, room * sizeof *wanted->apps),
                              .names = ses__memory_new(db->allocator, room * sizeof *wanted->names)};
    if (!wanted->ids || !wanted->apps || !wanted->names)
        return false;
    for (size_t i = 0; i < op->count; i++) {
        const struct watched *item = &op->items[i];
        if (item->app) {
            wanted->apps[wanted->users] = (struct span){item->app, strlen(item->app)};
            wanted->names[wanted->users++] = (struct span){item->user, strlen(item->user)};
        } else {
            wanted->ids[wanted->sessions++] = item->session_id;
        }
    }
    return true;
}

static void release(const struct wanted *wanted, const ses_allocator *allocator)
{
    ses__memory_free(allocator, wanted->ids);
    ses__memory_free(allocator, wanted->apps);
    ses__memory_free(allocator, wanted->names);
}

static bool has_session_changed(struct query *sessions, const struct watched *item)
{
    return !ses__query_row(sessions) || ses__query_type(sessions, 0) == SQL_NULL ||
           ses__query_int(sessions, 0) != item->versions;
}

/* Of a user without sessions there are NULLs, read as 0. */
static bool has_user_changed(struct query *users, const struct watched *item)
{
    return !ses__query_row(users) || ses__query_int(users, 0) != item->session_id ||
           ses__query_int(users, 1) != item->count || ses__query_int(users, 2) != item->versions;
}

static int look(struct db *db, const struct watch_op *op, const struct wanted *wanted, ses_error *error)
{
    const struct owner_list ids = {wanted->ids, wanted->sessions};
    struct query sessions;
    struct query users;

    ses__query_open(&sessions, db, STATEMENT_WATCH_SESSIONS, error, VALUES(OWNERS(&ids)));
    ses__query_ask(&sessions);
    ses__query_open(&users, db, STATEMENT_WATCH_USERS, error, NULL);
    ses__pg_bind_texts(&users, 1, wanted->apps, wanted->users);
    ses__pg_bind_texts(&users, 2, wanted->names, wanted->users);
    ses__query_ask(&users);
    for (size_t i = 0; i < op->count; i++) {
        struct watched *item = &op->items[i];
        item->changed = item->app ? has_user_changed(&users, item) : has_session_changed(&sessions, item);
    }
    const int code = ses__query_end(&sessions);
    const int ended = ses__query_end(&users);
    return code != SES_OK ? code : ended;
}

static int run_watch(struct db *db, void *context, ses_error *error)
{
    const struct watch_op *op = context;
    struct wanted wanted;
    const bool collected = collect(&wanted, db, op);
    const int code = collected ? look(db, op, &wanted, error) : ses__error_nomem(error);

    release(&wanted, db->allocator);
    return code;
}

int ses__postgres_watch(struct storage *storage, struct watch_op *op, ses_error *error)
{
    return ses__run(storage, TO_READ_BEFORE_WRITING, run_watch, op, error);
}
