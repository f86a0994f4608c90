/* Pages of sessions, with their state. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/sql/session/jobs.h"
#include "storage/sql/rows/list.h"
#include "storage/sql/rows/session.h"
#include "storage/sql/rows/state.h"
#include "storage/sql/engine.h"

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

/* ------------------------------------------------------------------------------------------- filters */

/*
 * A page is found in one of two ways. If an index finds few sessions for the filter, these are looked at and sorted.
 * Otherwise the list is walked in its own order, in which the sessions of the page are not far apart if the many that match
 * are spread over it. (Measured in a file of 100,000 sessions: to look at a session takes one to two microseconds, and as much
 * for the label; a step of the walk to the next session takes one.)
 */
static const int64_t few_found[] = {
    [INDEX_NAMES] = 3000,
    [INDEX_LABELS] = 3000,
    [INDEX_ACTIVITY] = 10000,
};

/* So few are walked without asking the index of labels, which is the app's. */
enum { FEW_OF_USER = 1000 };

static bool is_asked(const struct list_query *query, enum list_index index)
{
    const struct list_filter *filter = query->filter;

    if (index == INDEX_NAMES)
        return filter->id_prefix != NULL;
    if (index == INDEX_LABELS)
        return filter->label != NULL;
    /* A list by time goes only through these times anyway. */
    return query->order == SES_ORDER_CREATED &&
           (filter->since_us != INT64_MIN || filter->before_us != INT64_MAX);
}

static bool is_any_asked(const struct list_query *query)
{
    return is_asked(query, INDEX_NAMES) || is_asked(query, INDEX_LABELS) || is_asked(query, INDEX_ACTIVITY);
}

/* `*is_found`: by the first index that finds few, as `query->found_by` then says. */
static int find_few(struct db *db, struct list_query *query, struct found *few, bool *is_found,
                    ses_error *error)
{
    bool is_long = true;
    int code = SES_OK;

    if (!query->whole_app && is_any_asked(query))
        code = ses__user_has_more(db, query->user_id, FEW_OF_USER, &is_long, error);
    for (int i = INDEX_NAMES; i <= INDEX_ACTIVITY && code == SES_OK && is_long && !*is_found; i++) {
        query->found_by = (enum list_index)i;
        if (is_asked(query, query->found_by)) {
            code = ses__list_find(db, query, query->found_by, few_found[i] + 1, few, error);
            *is_found = (int64_t)few->count <= few_found[i];
        }
    }
    return code;
}

static int read_filtered(struct list_op *op, struct db *db, struct list_query *query, ses_error *error)
{
    struct found few = {.allocator = op->arena->allocator};
    bool is_found = false;
    int code = find_few(db, query, &few, &is_found, error);
    const struct owner_list owners = {few.ids, few.count};

    if (is_found)
        query->among = &owners;
    if (code == SES_OK && (!is_found || few.count > 0))
        code = read_list(op, db, query, error);
    query->among = NULL;
    ses__memory_free(few.allocator, few.ids);
    return code;
}

static bool has_filter_label(const struct list_filter *filter, const struct annotations *annotations)
{
    const ses_label *label = ses__annotations_find(annotations, filter->label);
    return label && (!filter->label_value || strcmp(label->value, filter->label_value) == 0);
}

/* An index that is damaged can lead to sessions that do not have the label. */
static int check_labels(const struct list_op *op, const struct db *db, ses_error *error)
{
    for (size_t i = 0; i < op->count && op->filter.label; i++) {
        const struct snapshot *snapshot = &op->items[i].snapshot;
        if (!has_filter_label(&op->filter, &snapshot->annotations))
            return ses__error_set(error, SES_CORRUPT,
                                  "%s: session number %lld is in the index of a label that it does not have",
                                  db->name, (long long)snapshot->row.id);
    }
    return SES_OK;
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
    int code = op->count > 0 && !op->no_state ? load_states(op, db, error) : SES_OK;

    if (code == SES_OK)
        code = load_page_details(op, db, error);
    return code == SES_OK ? check_labels(op, db, error) : code;
}

/* Whose list it is. SES_NOTFOUND (without a message): it is empty. */
static int find_listed(struct db *db, const char *app, const char *user, struct list_query *query,
                       ses_error *error)
{
    struct user_row row = {0, 0};

    query->whole_app = user == NULL;
    if (query->filter->since_us >= query->filter->before_us)
        return SES_NOTFOUND;
    if (!user)
        return ses__app_find(db, app, &query->app_id, error);
    int code = ses__user_find(db, app, user, &row, error);
    query->user_id = row.id;
    query->app_id = row.app_id;
    return code;
}

int ses__list_job(struct db *db, void *context, ses_error *error)
{
    struct list_op *op = context;
    struct list_query query = {.filter = &op->filter,
                               .order = op->order,
                               .limit = (int64_t)op->limit + 1,
                               .from_start = op->from_start,
                               .after = op->after};

    ses__list_op_free(op, op->arena->allocator); /* of an earlier run */
    op->more = false;
    int code = find_listed(db, op->app, op->user, &query, error);
    if (code == SES_NOTFOUND)
        return SES_OK;
    if (code == SES_OK)
        code = read_filtered(op, db, &query, error);
    return code == SES_OK ? load_page(op, db, error) : code;
}

int ses__door_list(struct storage *storage, struct list_op *op, ses_error *error)
{
    op->items = NULL;
    op->count = 0;
    op->capacity = 0;
    return ses__run_read_behind(storage, ses__list_job, op, error);
}

static int run_list_count(struct db *db, void *context, ses_error *error)
{
    struct count_op *op = context;
    struct list_query query = {.filter = &op->filter};

    op->count = 0;
    int code = find_listed(db, op->app, op->user, &query, error);
    if (code == SES_NOTFOUND)
        return SES_OK;
    return code == SES_OK ? ses__list_count_all(db, &query, &op->count, error) : code;
}

int ses__door_list_count(struct storage *storage, struct count_op *op, ses_error *error)
{
    return ses__run_read_behind(storage, run_list_count, op, error);
}
