/* The keys of an append: at most two statements for each scope, however many keys there are. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/postgres/append_keys.h"
#include "storage/postgres/connection/connection.h"
#include "storage/sql/rows/parts.h"

/* The change of one key by one event. */
struct key_change {
    const struct delta_op *op;
    int64_t place; /* of the event, counted from the session's last one */
    size_t order;
};

/* All changes, and room for those that one statement takes. */
struct key_changes {
    struct key_change *items;
    size_t count;
    struct span *keys;
    struct span *values;
    int64_t *places;
};

static size_t count_ops(const struct event_draft *drafts, size_t count)
{
    size_t ops = 0;

    for (size_t i = 0; i < count; i++)
        ops += drafts[i].partial ? 0 : drafts[i].delta.count;
    return ops;
}

static bool init(struct key_changes *changes, const ses_allocator *allocator, size_t limit)
{
    *changes = (struct key_changes){.items = ses__memory_new(allocator, limit * sizeof *changes->items),
                                    .keys = ses__memory_new(allocator, limit * sizeof *changes->keys),
                                    .values = ses__memory_new(allocator, limit * sizeof *changes->values),
                                    .places = ses__memory_new(allocator, limit * sizeof *changes->places)};
    return changes->items && changes->keys && changes->values && changes->places;
}

static void release(struct key_changes *changes, const ses_allocator *allocator)
{
    ses__memory_free(allocator, changes->items);
    ses__memory_free(allocator, changes->keys);
    ses__memory_free(allocator, changes->values);
    ses__memory_free(allocator, changes->places);
}

static int compare_changes(const void *left, const void *right)
{
    const struct key_change *a = left;
    const struct key_change *b = right;
    int order = (int)a->op->scope - (int)b->op->scope;

    if (order == 0)
        order = ses__compare_texts(a->op->key, b->op->key);
    return order != 0 ? order : a->order < b->order ? -1 : 1;
}

static bool is_same_key(const struct key_change *left, const struct key_change *right)
{
    return left->op->scope == right->op->scope && ses__compare_texts(left->op->key, right->op->key) == 0;
}

/* Sorts the changes by key and keeps the last of each. The order prevents deadlocks between appends to the same keys. */
static void collect(struct key_changes *changes, const struct event_draft *drafts, size_t count,
                    int64_t place)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const struct delta *delta = &drafts[i].delta;
        place += !drafts[i].partial;
        for (size_t at = 0; at < delta->count && !drafts[i].partial; at++) {
            if (delta->ops[at].scope != SCOPE_TEMP) {
                changes->items[changes->count] = (struct key_change){&delta->ops[at], place, changes->count};
                changes->count++;
            }
        }
    }
    if (changes->count > 0)
        qsort(changes->items, changes->count, sizeof *changes->items, compare_changes);
    for (size_t i = 0; i < changes->count; i++) {
        if (i + 1 == changes->count || !is_same_key(&changes->items[i], &changes->items[i + 1]))
            changes->items[kept++] = changes->items[i];
    }
    changes->count = kept;
}

/* Picks the changes of a scope that set, or that remove. */
static size_t choose(struct key_changes *changes, enum scope scope, bool removes)
{
    size_t count = 0;

    for (size_t i = 0; i < changes->count; i++) {
        const struct key_change *change = &changes->items[i];
        if (change->op->scope == scope && change->op->removes == removes) {
            changes->keys[count] = change->op->key;
            changes->values[count] = change->op->value;
            changes->places[count++] = change->place;
        }
    }
    return count;
}

static int set_keys(struct db *db, struct key_changes *changes, enum scope scope,
                    const struct session_row *row, ses_error *error)
{
    static const struct statement *const statements[] = {
        [SCOPE_APP] = STATEMENT_APPEND_APP_KEYS,
        [SCOPE_USER] = STATEMENT_APPEND_USER_KEYS,
        [SCOPE_SESSION] = STATEMENT_APPEND_SESSION_KEYS,
    };
    const size_t count = choose(changes, scope, false);
    struct query query;

    if (count == 0)
        return SES_OK;
    ses__query_open(&query, db, statements[scope], error, VALUES(OWNER(row->id)));
    ses__pg_bind_texts(&query, 2, changes->keys, count);
    ses__pg_bind_texts(&query, 3, changes->values, count);
    ses__pg_bind_ints(&query, 4, changes->places, count);
    return ses__query_end(&query);
}

static int remove_keys(struct db *db, struct key_changes *changes, enum scope scope,
                       const struct session_row *row, ses_error *error)
{
    static const struct statement *const statements[] = {
        [SCOPE_APP] = STATEMENT_REMOVE_APP_KEYS,
        [SCOPE_USER] = STATEMENT_REMOVE_USER_KEYS,
        [SCOPE_SESSION] = STATEMENT_REMOVE_SESSION_KEYS,
    };
    const size_t count = choose(changes, scope, true);
    struct query query;

    if (count == 0)
        return SES_OK;
    if (scope != SCOPE_SESSION)
        ses__db_lock(db, scope, ses__scope_owner(scope, row), false);
    ses__query_open(&query, db, statements[scope], error, VALUES(OWNER(row->id)));
    ses__pg_bind_texts(&query, 2, changes->keys, count);
    return ses__query_end(&query);
}

int ses__append_keys(struct db *db, const struct session_row *row, const struct append_op *op, int64_t before,
                     ses_error *error)
{
    const size_t limit = count_ops(op->drafts, op->count);
    struct key_changes changes;
    int code = SES_OK;

    if (limit == 0)
        return SES_OK;
    if (!init(&changes, db->allocator, limit))
        code = ses__error_nomem(error);
    else
        collect(&changes, op->drafts, op->count, before);
    for (enum scope scope = SCOPE_APP; scope < SCOPE_TEMP && code == SES_OK; scope++) {
        code = set_keys(db, &changes, scope, row, error);
        if (code == SES_OK)
            code = remove_keys(db, &changes, scope, row, error);
    }
    release(&changes, db->allocator);
    return code;
}
