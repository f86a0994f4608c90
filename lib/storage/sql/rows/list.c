/* Walks over lists of sessions, the indexes that find sessions for a filter, and counts. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/sql/rows/parts.h"

/* ------------------------------------------------------------------------------------------- binding */

/* U+10FFFF so often that no name, and no value of a label, goes beyond it: what begins with a prefix is below the prefix and
 * this. */
#define HIGHEST "\xf4\x8f\xbf\xbf"
#define HIGHEST_8 HIGHEST HIGHEST HIGHEST HIGHEST HIGHEST HIGHEST HIGHEST HIGHEST
#define HIGHEST_64 HIGHEST_8 HIGHEST_8 HIGHEST_8 HIGHEST_8 HIGHEST_8 HIGHEST_8 HIGHEST_8 HIGHEST_8
#define ABOVE_ALL HIGHEST_64 HIGHEST_64 HIGHEST

/* A label, and the values it may have. */
static void bind_label(struct query *query, int parameter, const struct list_filter *filter)
{
    ses__query_bind_string(query, parameter, filter->label);
    ses__query_bind_string(query, parameter + 1, filter->label_value ? filter->label_value : "");
    ses__query_bind_string(query, parameter + 2, filter->label_value ? filter->label_value : ABOVE_ALL);
}

_Static_assert(SES_ID_MAX + sizeof ABOVE_ALL <= sizeof(struct prefix_end), "a prefix and what is above all");

static void bind_prefix(struct query *query, int parameter, const struct list_filter *filter,
                        struct prefix_end *end)
{
    const char *prefix = filter->id_prefix ? filter->id_prefix : ""; /* a count of all has none */
    const size_t len = strlen(prefix);

    memcpy(end->text, prefix, len);
    memcpy(end->text + len, ABOVE_ALL, sizeof ABOVE_ALL);
    ses__query_bind_text(query, parameter, (struct span){prefix, len});
    ses__query_bind_string(query, parameter + 1, end->text);
}

/* Whose sessions, of which times, and with which label. */
static void bind_filter(struct query *query, const struct list_query *list)
{
    const bool is_labelled = list->among && list->found_by == INDEX_LABELS;

    if (list->among)
        ses__query_bind_owners(query, 1, list->among);
    else if (list->app_id != 0)
        ses__query_bind_int(query, 1, list->whole_app ? list->app_id : list->user_id);
    ses__query_bind_int(query, 3, list->filter->since_us);
    ses__query_bind_int(query, 4, list->filter->before_us);
    if (list->filter->label && !is_labelled)
        bind_label(query, 5, list->filter);
}

/* No session comes before the place of a session without a name, of that time. */
static struct list_place list_begin(const struct list_query *list)
{
    const bool newest = list->order == SES_ORDER_NEWEST;

    if (!list->from_start)
        return list->after;
    return (struct list_place){.updated_us = newest ? INT64_MAX : INT64_MIN, .name = {"", 0}};
}

static bool has_times(const struct list_filter *filter)
{
    return filter->since_us != INT64_MIN || filter->before_us != INT64_MAX;
}

static void bind_active(struct query *query, int parameter, int64_t since_us, int64_t before_us)
{
    ses__query_bind_int(query, parameter, ses__active_30s(since_us));
    ses__query_bind_int(query, parameter + 1, ses__active_30s(before_us - 1));
}

/* Of a list by time: where it begins, and within what the index is searched. */
static void bind_place(struct query *query, const struct list_query *list)
{
    const struct list_filter *filter = list->filter;
    const struct list_place place = list_begin(list);
    const int64_t us = place.updated_us;
    int64_t since_us = filter->since_us;
    int64_t before_us = filter->before_us;

    if (list->order == SES_ORDER_OLDEST && us > since_us)
        since_us = us;
    else if (list->order == SES_ORDER_NEWEST && us < before_us)
        before_us = us < INT64_MAX ? us + 1 : us;
    ses__query_bind_int(query, 8, us);
    ses__query_bind_text(query, 9, place.name);
    ses__query_bind_int(query, 10, place.user_id);
    bind_active(query, 11, since_us, before_us);
}

/* The same for sessions that an index found, which are sorted by a factor of the update time. */
static void bind_place_among(struct query *query, const struct list_query *list)
{
    const struct list_place place = list_begin(list);
    const int factor = list->order == SES_ORDER_NEWEST ? -1 : 1;
    const bool fits = place.updated_us > INT64_MIN;

    ses__query_bind_int(query, 8, fits ? factor * place.updated_us : factor > 0 ? INT64_MIN : INT64_MAX);
    ses__query_bind_text(query, 9, place.name);
    ses__query_bind_int(query, 10, place.user_id);
    ses__query_bind_int(query, 15, factor);
}

/* The position from which the list goes on. */
static void bind_after(struct query *query, const struct list_query *list)
{
    if (list->order == SES_ORDER_CREATED) {
        ses__query_bind_int(query, 8, list->from_start ? 0 : list->after.session_id);
        if (list->among)
            ses__query_bind_int(query, 15, 0);
        else if (has_times(list->filter))
            bind_active(query, 11, list->filter->since_us, list->filter->before_us);
    } else if (list->among) {
        bind_place_among(query, list);
    } else {
        bind_place(query, list);
    }
}

/* -------------------------------------------------------------------------------------------- walking */

static int compare_numbers(int64_t left, int64_t right)
{
    return left < right ? -1 : left > right;
}

static int compare_places(const struct list_query *list, const struct list_place *left,
                          const struct list_place *right)
{
    int order = compare_numbers(left->updated_us, right->updated_us);

    if (list->order == SES_ORDER_CREATED)
        return compare_numbers(left->session_id, right->session_id);
    if (order == 0)
        order = ses__compare_texts(left->name, right->name);
    else if (list->order == SES_ORDER_NEWEST)
        order = -order;
    return order != 0 ? order : compare_numbers(left->user_id, right->user_id);
}

/* A list whose rows go back or do not move on would never end, and neither would its pages. */
static bool list_moves_on(struct list_rows *walk, const struct session_row *row, struct span name)
{
    const struct list_place place = {row->updated_us, name, row->user_id, row->id};
    bool moves = !walk->begun || compare_places(walk->list, &walk->last, &place) < 0;

    memcpy(walk->last_name, name.ptr, name.len);
    walk->last = place;
    walk->last.name.ptr = walk->last_name;
    walk->begun = true;
    return moves;
}

/* The row and its names must belong to the list and come after the previous row. */
static int check_listed(struct list_rows *walk, const struct session_row *row, struct span name,
                        struct span user)
{
    struct query *query = &walk->query;
    const struct list_query *list = walk->list;
    bool belongs = row->app_id == list->app_id && ses__query_int(query, 13) == list->app_id &&
                   (list->whole_app || row->user_id == list->user_id);
    int code = ses__session_row_check(row, query->db, query->error);

    if (code == SES_OK && !belongs)
        code = ses__refuse_stranger(query->db, list->whole_app ? "app's session" : "user's session",
                                    query->error);
    else if (code == SES_OK && (!ses__is_id(name) || !ses__is_id(user) || !list_moves_on(walk, row, name)))
        code = ses__error_set(query->error, SES_CORRUPT,
                              "%s: session number %lld is out of place in a list, or its name is not an id",
                              query->db->name, (long long)row->id);
    return code;
}

static const struct statement *list_statement(const struct list_query *list)
{
    static const struct statement *const of_user[] = {
        [SES_ORDER_NEWEST] = STATEMENT_LIST_USER_NEWEST,
        [SES_ORDER_OLDEST] = STATEMENT_LIST_USER_OLDEST,
        [SES_ORDER_CREATED] = STATEMENT_LIST_USER_CREATED,
    };
    static const struct statement *const of_app[] = {
        [SES_ORDER_NEWEST] = STATEMENT_LIST_APP_NEWEST,
        [SES_ORDER_OLDEST] = STATEMENT_LIST_APP_OLDEST,
        [SES_ORDER_CREATED] = STATEMENT_LIST_APP_CREATED,
    };
    if (list->among)
        return STATEMENT_LIST_AMONG;
    return list->whole_app ? of_app[list->order] : of_user[list->order];
}

void ses__list_rows_open(struct list_rows *rows, struct db *db, const struct list_query *list,
                         ses_error *error)
{
    struct query *query = &rows->query;

    rows->list = list;
    rows->begun = !list->from_start;
    rows->last = list->after;
    ses__query_start(query, db, list_statement(list), error);
    ses__query_bind_int(query, 2, list->limit);
    bind_filter(query, list);
    bind_after(query, list);
    if (list->filter->id_prefix)
        bind_prefix(query, 13, list->filter, &rows->end);
    if (list->among) {
        ses__query_bind_int(query, 11, list->found_by == INDEX_LABELS);
        if (!list->whole_app)
            ses__query_bind_int(query, 16, list->user_id);
    }
    ses__query_ask(query);
}

bool ses__list_rows_next(struct list_rows *rows, struct session_row *row, struct span *name,
                         struct span *user)
{
    struct query *query = &rows->query;

    if (!ses__query_row(query))
        return false;
    ses__session_row_read(query, row);
    *name = ses__query_text(query, 11);
    *user = ses__query_text(query, 12);
    if (query->code == SES_OK)
        query->code = check_listed(rows, row, *name, *user);
    return query->code == SES_OK;
}

/* -------------------------------------------------------------------------------------------- finding */

static int add_found(struct found *found, int64_t id, ses_error *error)
{
    void *ids = found->ids;
    bool grown =
        ses__memory_grow(found->allocator, &ids, &found->capacity, found->count + 1, sizeof *found->ids);

    found->ids = ids;
    if (!grown)
        return ses__error_nomem(error);
    found->ids[found->count++] = id;
    return SES_OK;
}

static const struct statement *find_statement(const struct list_query *list, enum list_index index)
{
    if (index == INDEX_NAMES)
        return STATEMENT_IDS_NAMED;
    if (index == INDEX_LABELS)
        return STATEMENT_IDS_LABELLED;
    return list->whole_app ? STATEMENT_IDS_ACTIVE_OF_APP : STATEMENT_IDS_ACTIVE_OF_USER;
}

int ses__list_find(struct db *db, const struct list_query *list, enum list_index index, int64_t limit,
                   struct found *found, ses_error *error)
{
    const struct list_filter *filter = list->filter;
    const bool of_app = list->whole_app || index == INDEX_LABELS;
    struct prefix_end end;
    struct query query;

    ses__query_start(&query, db, find_statement(list, index), error);
    ses__query_bind_int(&query, 1, of_app ? list->app_id : list->user_id);
    ses__query_bind_int(&query, 2, limit);
    if (index == INDEX_NAMES)
        bind_prefix(&query, 3, filter, &end);
    else if (index == INDEX_LABELS)
        bind_label(&query, 3, filter);
    else
        bind_active(&query, 3, filter->since_us, filter->before_us);
    found->count = 0;
    while (ses__query_row(&query))
        ses__query_keep(&query, add_found(found, ses__query_int(&query, 0), error));
    return ses__query_end(&query);
}

/* ------------------------------------------------------------------------------------------- counting */

int ses__list_count_all(struct db *db, const struct list_query *list, int64_t *count, ses_error *error)
{
    const struct list_filter *filter = list->filter;
    const struct statement *statement = !list->whole_app ? STATEMENT_COUNT_OF_USER
                                        : filter->label  ? STATEMENT_COUNT_LABELLED
                                                         : STATEMENT_COUNT_ACTIVE;
    struct prefix_end end;
    struct query query;

    ses__query_start(&query, db, statement, error);
    bind_filter(&query, list);
    if (statement == STATEMENT_COUNT_OF_USER) {
        ses__query_bind_int(&query, 8, has_times(filter));
        bind_prefix(&query, 13, filter, &end);
    } else if (statement == STATEMENT_COUNT_ACTIVE) {
        bind_active(&query, 11, filter->since_us, filter->before_us);
    }
    *count = ses__query_row(&query) ? ses__query_int(&query, 0) : 0;
    return ses__query_end(&query);
}
