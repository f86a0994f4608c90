/* Pages of sessions, with their state. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/sqlite/operations.h"
#include "storage/sqlite/rows.h"
#include "storage/sqlite/run.h"

static int add_listed(struct list_op *op, const struct session_row *row, struct span name, struct span user,
                      ses_error *error)
{
    const ses_allocator *allocator = op->arena->allocator;
    void *items = op->items;
    bool grown = ses__memory_grow(allocator, &items, &op->capacity, op->count + 1, sizeof *op->items);

    op->items = items;
    if (!grown)
        return ses__error_nomem(error);
    struct listed *listed = &op->items[op->count];
    listed->name = ses__arena_text(op->arena, name.ptr, name.len);
    listed->user = ses__arena_text(op->arena, user.ptr, user.len);
    if (!listed->name || !listed->user)
        return ses__error_nomem(error);
    int code = ses__snapshot_init(&listed->snapshot, allocator, op->seed, error);
    listed->snapshot.row = *row;
    if (code == SES_OK)
        op->count++;
    else
        ses__snapshot_free(&listed->snapshot);
    return code;
}

static int read_list(struct list_op *op, struct db *db, const struct list_query *query, ses_error *error)
{
    struct list_rows rows;
    struct session_row row;
    struct span name;
    struct span user;
    int code = SES_OK;

    ses__list_rows_open(&rows, db, query, error);
    while (code == SES_OK && !op->more && ses__list_rows_next(&rows, &row, &name, &user)) {
        op->more = op->count == op->limit;
        if (!op->more)
            code = add_listed(op, &row, name, user, error);
    }
    int closed = ses__list_rows_close(&rows);
    return code != SES_OK ? code : closed;
}

/* --------------------------------------------------------------------------------------------- states */

/* Whose state is read: room for one each session of the page. */
struct page_owners {
    int64_t *ids;
    struct state **states;
};

/* App state is read once, and all sessions show it. */
static int load_app(const struct list_op *op, struct db *db, ses_error *error)
{
    struct snapshot *first = &op->items[0].snapshot;
    int code = ses__load_scope(db, &first->state, SCOPE_APP, &first->row, error);

    for (size_t i = 1; i < op->count && code == SES_OK; i++)
        ses__state_share(&op->items[i].snapshot.state, &first->state, SCOPE_APP);
    return code;
}

static int compare_users(const void *left, const void *right)
{
    int64_t a = (*(struct listed *const *)left)->snapshot.row.user_id;
    int64_t b = (*(struct listed *const *)right)->snapshot.row.user_id;
    return a < b ? -1 : a > b;
}

/* One session of each user; the others of that user follow in `sorted`. */
static size_t collect_users(struct listed *const *sorted, size_t count, const struct page_owners *owners)
{
    size_t users = 0;

    for (size_t i = 0; i < count; i++) {
        struct snapshot *snapshot = &sorted[i]->snapshot;
        if (users == 0 || owners->ids[users - 1] != snapshot->row.user_id) {
            owners->ids[users] = snapshot->row.user_id;
            owners->states[users++] = &snapshot->state;
        }
    }
    return users;
}

static void share_users(struct listed *const *sorted, size_t count)
{
    const struct snapshot *first = &sorted[0]->snapshot;

    for (size_t i = 1; i < count; i++) {
        struct snapshot *snapshot = &sorted[i]->snapshot;
        if (snapshot->row.user_id == first->row.user_id)
            ses__state_share(&snapshot->state, &first->state, SCOPE_USER);
        else
            first = snapshot;
    }
}

/* User state is read once a user. */
static int load_users(const struct list_op *op, struct db *db, const struct page_owners *owners,
                      ses_error *error)
{
    struct listed **sorted = ses__memory_new(op->arena->allocator, op->count * sizeof(struct listed *));
    if (!sorted)
        return ses__error_nomem(error);
    for (size_t i = 0; i < op->count; i++)
        sorted[i] = &op->items[i];
    if (!op->user)
        qsort(sorted, op->count, sizeof(struct listed *), compare_users);
    const struct owner_list list = {owners->ids, collect_users(sorted, op->count, owners)};
    int code = ses__load_owners(db, SCOPE_USER, &list, owners->states, error);
    if (code == SES_OK)
        share_users(sorted, op->count);
    ses__memory_free(op->arena->allocator, sorted);
    return code;
}

static int load_sessions(const struct list_op *op, struct db *db, const struct page_owners *owners,
                         ses_error *error)
{
    const struct owner_list list = {owners->ids, op->count};

    for (size_t i = 0; i < op->count; i++) {
        struct snapshot *snapshot = &op->items[i].snapshot;
        owners->ids[i] = snapshot->row.id;
        owners->states[i] = &snapshot->state;
    }
    return ses__load_owners(db, SCOPE_SESSION, &list, owners->states, error);
}

/* One statement a scope, however many sessions there are. */
static int load_states(const struct list_op *op, struct db *db, ses_error *error)
{
    const ses_allocator *allocator = op->arena->allocator;
    const struct page_owners owners = {
        .ids = ses__memory_new(allocator, op->count * sizeof *owners.ids),
        .states = ses__memory_new(allocator, op->count * sizeof *owners.states),
    };
    int code = owners.ids && owners.states ? load_app(op, db, error) : ses__error_nomem(error);

    if (code == SES_OK)
        code = load_users(op, db, &owners, error);
    if (code == SES_OK)
        code = load_sessions(op, db, &owners, error);
    ses__memory_free(allocator, owners.states);
    ses__memory_free(allocator, owners.ids);
    return code;
}

/* -------------------------------------------------------------------------------------------- details */

static bool has_details(const struct list_op *op)
{
    int64_t bits = 0;
    for (size_t i = 0; i < op->count; i++)
        bits |= op->items[i].snapshot.row.details;
    return bits != 0;
}

/* Parents, titles and labels. Few sessions may have any: then nothing is read. */
static int load_page_details(const struct list_op *op, struct db *db, ses_error *error)
{
    const ses_allocator *allocator = op->arena->allocator;

    if (!has_details(op))
        return SES_OK;
    struct described *sessions = ses__memory_new(allocator, op->count * sizeof *sessions);
    int64_t *ids = ses__memory_new(allocator, op->count * sizeof *ids);
    int code = sessions && ids ? SES_OK : ses__error_nomem(error);
    for (size_t i = 0; i < op->count && code == SES_OK; i++) {
        struct snapshot *snapshot = &op->items[i].snapshot;
        sessions[i] = (struct described){&snapshot->row, op->app, snapshot, &snapshot->annotations};
    }
    if (code == SES_OK)
        code = ses__load_details(db, &(struct described_list){sessions, op->count, ids}, error);
    ses__memory_free(allocator, ids);
    ses__memory_free(allocator, sessions);
    return code;
}

static int load_page(const struct list_op *op, struct db *db, ses_error *error)
{
    int code = op->count > 0 ? load_states(op, db, error) : SES_OK;
    return code == SES_OK ? load_page_details(op, db, error) : code;
}

static int run_list(struct db *db, void *context, ses_error *error)
{
    struct list_op *op = context;
    struct list_query query = {.whole_app = op->user == NULL,
                               .order = op->order,
                               .limit = (int64_t)op->limit + 1,
                               .from_start = op->from_start,
                               .after = op->after};
    struct user_row user = {0, 0};
    int code;

    ses__list_op_free(op, op->arena->allocator); /* of an earlier run */
    op->more = false;
    if (op->user) {
        code = ses__user_find(db, op->app, op->user, &user, error);
        query.user_id = user.id;
        query.app_id = user.app_id;
    } else {
        code = ses__app_find(db, op->app, &query.app_id, error);
    }
    if (code == SES_NOTFOUND)
        return SES_OK;
    if (code == SES_OK)
        code = read_list(op, db, &query, error);
    return code == SES_OK ? load_page(op, db, error) : code;
}

int ses__sqlite_list(struct storage *storage, struct list_op *op, ses_error *error)
{
    op->items = NULL;
    op->count = 0;
    op->capacity = 0;
    return ses__run_read(storage, run_list, op, error);
}
