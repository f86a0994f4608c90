/* Pages of sessions, with their state. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/sql/session/jobs.h"
#include "storage/sql/rows/list.h"

static int add_listed(struct list_op *op, const struct session_row *row, struct span name, struct span user,
                      ses_error *error)
{
    if (!LIST_GROW(op->arena->allocator, op))
        return ses__error_nomem(error);
    struct listed *listed = &op->items[op->count];
    listed->name = ses__arena_text(op->arena, name.ptr, name.len);
    listed->user = ses__arena_text(op->arena, user.ptr, user.len);
    if (!listed->name || !listed->user)
        return ses__error_nomem(error);
    int code = ses__snapshot_init(&listed->snapshot, op->arena->allocator, op->seed, error);
    listed->snapshot.row = *row;
    if (code == SES_OK)
        op->count++;
    else
        ses__snapshot_free(&listed->snapshot);
    return code;
}

/* Takes one row more than the page has, if there is one. */
static int take_list(struct list_rows *rows, struct list_op *op, ses_error *error)
{
    const size_t enough = op->count + op->limit + 1;
    struct session_row row;
    struct span name;
    struct span user;

    while (op->count < enough && ses__list_rows_next(rows, &row, &name, &user))
        ses__query_keep(&rows->query, add_listed(op, &row, name, user, error));
    return ses__query_end(&rows->query);
}

static void end_page(struct list_op *op)
{
    op->more = op->count > op->limit;
    while (op->count > op->limit)
        ses__snapshot_free(&op->items[--op->count].snapshot);
}

static struct list_place place_of(const struct listed *listed)
{
    const struct session_row *row = &listed->snapshot.row;

    return (struct list_place){row->updated_us, ses__span_of(listed->name), row->user_id, row->id};
}

/* Brings the sessions of two walks, of which the first gave `first`, into the order of the list. */
static int merge_walks(struct list_op *op, size_t first, ses_error *error)
{
    const ses_allocator *allocator = op->arena->allocator;
    struct listed *items = ses__memory_new(allocator, op->count * sizeof *items);
    size_t left = 0;
    size_t right = first;

    if (!items)
        return ses__error_nomem(error);
    for (size_t i = 0; i < op->count; i++) {
        bool is_left = right == op->count;
        if (!is_left && left < first) {
            const struct list_place left_place = place_of(&op->items[left]);
            const struct list_place right_place = place_of(&op->items[right]);
            is_left = ses__list_compare(op->order, &left_place, &right_place) < 0;
        }
        items[i] = op->items[is_left ? left++ : right++];
    }
    ses__memory_free(allocator, op->items);
    op->items = items;
    op->capacity = op->count;
    return SES_OK;
}

static int walk_list(struct list_op *op, struct db *db, const struct list_query *query, ses_error *error)
{
    struct list_rows rows;

    ses__list_rows_open(&rows, db, query, error);
    return take_list(&rows, op, error);
}

/* A list by update time walks both ranges of its index, but those that the filter leaves out. A server merges
 * them itself. */
static int walk_ranges(struct list_op *op, struct db *db, struct list_query *query, ses_error *error)
{
    static const enum list_range ranges[] = {RANGE_SHOWN, RANGE_HIDDEN};
    size_t first = 0;
    int code = SES_OK;

    if (ses__db_asks_ahead(db) || !ses__list_is_ranged(query))
        return walk_list(op, db, query, error);
    for (int i = 0; i < 2 && code == SES_OK; i++) {
        first = op->count;
        query->range = ranges[i];
        if (ses__list_wants(query->filter, ranges[i]))
            code = walk_list(op, db, query, error);
    }
    return code == SES_OK && first > 0 && first < op->count ? merge_walks(op, first, error) : code;
}

/* ------------------------------------------------------------------------------------------- filters */

/*
 * A page is found in one of two ways. If an index finds few sessions for the filter, these are looked at and
 * sorted. Otherwise the list is walked in its own order, in which the sessions of the page are not far apart
 * if the many that match are spread over it. (Measured in a file of 100,000 sessions: to look at a session
 * takes one to two microseconds, and as much for the label; a step of the walk to the next session takes
 * one.)
 */
static const int64_t few_found[] = {
    [INDEX_NAMES] = 3000,
    [INDEX_CHILDREN] = 3000,
    [INDEX_LABELS] = 3000,
    [INDEX_ACTIVITY] = 10000,
};

/* A user with fewer sessions is walked without asking the index of labels, which is the app's. */
enum { FEW_OF_USER = 1000 };

static bool is_asked(const struct list_query *query, enum list_index index)
{
    const struct list_filter *filter = query->filter;

    if (index == INDEX_NAMES)
        return filter->id_prefix != NULL;
    if (index == INDEX_CHILDREN)
        return filter->child_of.session != NULL;
    if (index == INDEX_LABELS)
        return filter->label != NULL;
    /* A list by update time goes only through these times anyway. */
    return (query->order == SES_ORDER_CREATED || query->order == SES_ORDER_CHANGED) &&
           (filter->since_us != INT64_MIN || filter->before_us != INT64_MAX);
}

static bool is_any_asked(const struct list_query *query)
{
    bool any = false;

    for (int i = INDEX_NAMES; i <= INDEX_ACTIVITY; i++)
        any = any || is_asked(query, (enum list_index)i);
    return any;
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
    const struct owner_list owners = {few.items, few.count};

    if (is_found)
        query->among = &owners;
    if (code == SES_OK && (!is_found || few.count > 0))
        code = walk_ranges(op, db, query, error);
    query->among = NULL;
    ses__memory_free(few.allocator, few.items);
    return code;
}

/* An index that is damaged can lead to sessions that do not have the label. */
static int check_labels(const struct list_op *op, const struct db *db, ses_error *error)
{
    const struct list_filter *filter = &op->filter;

    for (size_t i = 0; i < op->count && filter->label; i++) {
        const struct snapshot *snapshot = &op->items[i].snapshot;
        const ses_label *label = ses__annotations_find(&snapshot->annotations, filter->label);
        if (!label || (filter->label_value && strcmp(label->value, filter->label_value) != 0))
            return ses__error_set(error, SES_CORRUPT,
                                  "%s: session number %lld is in the index of a label that it does not have",
                                  db->name, (long long)snapshot->row.id);
    }
    return SES_OK;
}

/* ------------------------------------------------------------------------------------------ contents */

/* The contents of a page's sessions, besides their rows: one statement for each, however many sessions there
 * are. */
struct contents_asked {
    struct query app; /* read once, and all sessions show it */
    struct query users;
    struct query sessions;
    struct details_asked details;
};

/* The owners of the contents: room for one each session of the page, and for two ids of details. */
struct page_owners {
    struct listed **sorted; /* by user */
    int64_t *ids;           /* of users, of sessions, of those with details */
    struct state **users;
    struct state **sessions;
    struct described *described;
    struct owner_list user_list;
    struct owner_list session_list;
    struct described_list detail_list;
};

static int compare_users(const void *left, const void *right)
{
    int64_t a = (*(struct listed *const *)left)->snapshot.row.user_id;
    int64_t b = (*(struct listed *const *)right)->snapshot.row.user_id;
    return a < b ? -1 : a > b;
}

/* Returns false if memory runs out. */
static bool owners_init(struct page_owners *owners, const struct list_op *op, struct arena *arena)
{
    const size_t count = op->count;
    size_t users = 0;

    *owners = (struct page_owners){
        .sorted = ses__arena_new(arena, count * sizeof(struct listed *)),
        .ids = ses__arena_new(arena, 4 * count * sizeof *owners->ids),
        .users = ses__arena_new(arena, count * sizeof *owners->users),
        .sessions = ses__arena_new(arena, count * sizeof *owners->sessions),
        .described = ses__arena_new(arena, count * sizeof *owners->described),
    };
    if (!owners->sorted || !owners->ids || !owners->users || !owners->sessions || !owners->described)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct snapshot *snapshot = &op->items[i].snapshot;
        owners->sorted[i] = &op->items[i];
        owners->ids[count + i] = snapshot->row.id;
        owners->sessions[i] = &snapshot->state;
        owners->described[i] = (struct described){&snapshot->row, op->app, snapshot, &snapshot->annotations};
    }
    if (!op->user)
        qsort(owners->sorted, count, sizeof(struct listed *), compare_users);
    for (size_t i = 0; i < count; i++) { /* one session of each user; the others of that user follow it */
        struct snapshot *snapshot = &owners->sorted[i]->snapshot;
        if (users == 0 || owners->ids[users - 1] != snapshot->row.user_id) {
            owners->ids[users] = snapshot->row.user_id;
            owners->users[users++] = &snapshot->state;
        }
    }
    owners->user_list = (struct owner_list){owners->ids, users};
    owners->session_list = (struct owner_list){owners->ids + count, count};
    owners->detail_list = (struct described_list){owners->described, count, owners->ids + 2 * count};
    return true;
}

/* No owners: of the page that this transaction reads. */
static void ask_contents(struct contents_asked *asked, struct db *db, const struct list_op *op,
                         const struct page_owners *owners, ses_error *error)
{
    const int64_t app_id = owners ? op->items[0].snapshot.row.app_id : 0;

    if (!op->no_state) {
        ses__state_rows_open(&asked->app, db, SCOPE_APP, app_id, error);
        ses__owners_ask(&asked->users, db, SCOPE_USER, owners ? &owners->user_list : NULL, error);
        ses__owners_ask(&asked->sessions, db, SCOPE_SESSION, owners ? &owners->session_list : NULL, error);
    }
    ses__details_ask(&asked->details, db, owners ? &owners->detail_list : NULL, error);
}

/* The app's state is read once, and that of a user once for all of the user's sessions. */
static int take_page_state(struct contents_asked *asked, const struct list_op *op,
                           const struct page_owners *owners, ses_error *error)
{
    struct state *app = &op->items[0].snapshot.state;
    const struct snapshot *first = &owners->sorted[0]->snapshot;
    int code = ses__state_rows_load(&asked->app, app, SCOPE_APP, error);

    for (size_t i = 1; i < op->count && code == SES_OK; i++)
        ses__state_share(&op->items[i].snapshot.state, app, SCOPE_APP);
    if (code == SES_OK)
        code = ses__owners_take(&asked->users, SCOPE_USER, &owners->user_list, owners->users, error);
    if (code != SES_OK)
        return code;
    for (size_t i = 1; i < op->count; i++) {
        struct snapshot *snapshot = &owners->sorted[i]->snapshot;
        if (snapshot->row.user_id == first->row.user_id)
            ses__state_share(&snapshot->state, &first->state, SCOPE_USER);
        else
            first = snapshot;
    }
    return ses__owners_take(&asked->sessions, SCOPE_SESSION, &owners->session_list, owners->sessions, error);
}

/* `asked`: what was asked for before the page was known; NULL: it is asked for now. */
static int load_page(struct contents_asked *asked, struct db *db, struct list_op *op, ses_error *error)
{
    struct contents_asked own;
    struct page_owners owners;
    struct arena arena;
    int code = SES_OK;

    if (op->count == 0)
        return SES_OK;
    ses__arena_init(&arena, op->arena->allocator);
    if (!owners_init(&owners, op, &arena))
        code = ses__error_nomem(error);
    if (code == SES_OK && !asked) {
        asked = &own;
        ask_contents(asked, db, op, &owners, error);
    }
    if (code == SES_OK && !op->no_state)
        code = take_page_state(asked, op, &owners, error);
    if (code == SES_OK)
        code = ses__details_take(&asked->details, &owners.detail_list);
    ses__arena_free(&arena);
    if (code == SES_OK)
        code = check_labels(op, db, error);
    return code == SES_OK && op->preview_bytes > 0 ? ses__list_preview(op, db, error) : code;
}

/* ------------------------------------------------------------------------------------------- the page */

/* A list that is walked in its own order can be asked for all at once. SES_NOTFOUND (without a message): it
 * is empty. */
static int read_list_page(struct list_op *op, struct db *db, struct list_query *query, bool asks_all,
                          ses_error *error)
{
    struct contents_asked contents;
    struct list_rows rows;
    struct user_row row;
    struct query owner;

    ses__owner_ask(&owner, db, op->app, op->user, error);
    if (asks_all) {
        ses__list_rows_open(&rows, db, query, error);
        ask_contents(&contents, db, op, NULL, error);
        ses__db_ask_last(db);
    }
    int code = ses__owner_take(&owner, &row);
    query->app_id = row.app_id;
    query->user_id = row.id;
    if (code == SES_OK)
        code = asks_all ? take_list(&rows, op, error) : read_filtered(op, db, query, error);
    if (code == SES_OK)
        end_page(op);
    return code == SES_OK ? load_page(asks_all ? &contents : NULL, db, op, error) : code;
}

static int run_list(struct db *db, void *context, ses_error *error)
{
    struct list_op *op = context;
    struct list_query query = {.filter = &op->filter,
                               .whole_app = op->user == NULL,
                               .order = op->order,
                               .limit = (int64_t)op->limit + 1,
                               .range = RANGE_BOTH,
                               .from_start = op->from_start,
                               .after = op->after};

    ses__list_op_free(op, op->arena->allocator); /* of an earlier run */
    op->more = false;
    if (op->filter.since_us >= op->filter.before_us)
        return SES_OK;
    const bool asks_all = ses__db_asks_ahead(db) && !is_any_asked(&query);
    const int code = read_list_page(op, db, &query, asks_all, error);
    return code == SES_NOTFOUND ? SES_OK : code;
}

int ses__door_list(struct storage *storage, struct list_op *op, ses_error *error)
{
    op->items = NULL;
    op->count = 0;
    op->capacity = 0;
    return ses__run_within(storage, &op->limits, TO_READ_BEHIND, run_list, op, error);
}
