/* Walks over lists of sessions, the indexes that find sessions for a filter, and counts. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/event/timestamp.h"
#include "storage/sql/rows/parts.h"

/* ---------------------------------------------------------------------------------------- parameters */

/* The parameters of a list by their numbers, from 1 on. Those that nothing is written to are NULL. */
enum { LIST_PARAMETERS = 22 };
struct list_values {
    struct value at[LIST_PARAMETERS + 2];
};

static struct list_values no_values(void)
{
    struct list_values values;

    for (int i = 0; i <= LIST_PARAMETERS; i++)
        values.at[i] = INT_IF(false, 0);
    values.at[LIST_PARAMETERS + 1].type = 0;
    return values;
}

/* Enough U+10FFFF that no name, and no value of a label, goes beyond it: a text that begins with a prefix
 * sorts below the prefix with this after it. */
#define HIGHEST "\xf4\x8f\xbf\xbf"
#define HIGHEST_8 HIGHEST HIGHEST HIGHEST HIGHEST HIGHEST HIGHEST HIGHEST HIGHEST
#define HIGHEST_64 HIGHEST_8 HIGHEST_8 HIGHEST_8 HIGHEST_8 HIGHEST_8 HIGHEST_8 HIGHEST_8 HIGHEST_8
#define ABOVE_ALL HIGHEST_64 HIGHEST_64 HIGHEST

void ses__label_values(struct value *values, const struct list_filter *filter)
{
    values[0] = STRING(filter->label);
    values[1] = STRING(filter->label_value ? filter->label_value : "");
    values[2] = STRING(filter->label_value ? filter->label_value : ABOVE_ALL);
}

_Static_assert(SES_ID_MAX + sizeof ABOVE_ALL <= sizeof(struct prefix_end), "a prefix and what is above all");

void ses__prefix_values(struct value *values, const struct list_filter *filter, struct prefix_end *end)
{
    const char *prefix = filter->id_prefix ? filter->id_prefix : ""; /* a count of all has none */
    const size_t len = strlen(prefix);

    memcpy(end->text, prefix, len);
    memcpy(end->text + len, ABOVE_ALL, sizeof ABOVE_ALL);
    values[0] = TEXT(((struct span){prefix, len}));
    values[1] = STRING(end->text);
}

/* The first says whether any of them is asked. */
void ses__pass_values(struct value *values, const struct list_filter *filter, int64_t without_shelves)
{
    const bool is_asked = filter->changed_since_us != INT64_MIN || filter->changed_before_us != INT64_MAX ||
                          filter->without_label || without_shelves != 0 || filter->child_of.session;

    values[0] = INT_IF(is_asked, filter->changed_since_us);
    values[1] = INT_IF(is_asked, filter->changed_before_us);
    values[2] = STRING(filter->without_label);
    values[3] = INT(without_shelves);
    values[4] = STRING(filter->child_of.user);
    values[5] = STRING(filter->child_of.session);
}

static bool splits(int64_t shelves, enum list_range range)
{
    return (shelves & range) != 0 && (shelves & range) != range;
}

/* The shelves that are left out row by row where the range is walked: none, if all or none of it is left. */
static int64_t shelves_within(const struct list_query *list, enum list_range range)
{
    const int64_t shelves = list->filter->without_shelves & range;
    return splits(shelves, range & RANGE_SHOWN) || splits(shelves, range & RANGE_HIDDEN) ? shelves : 0;
}

/* Sets the parameters for the owner of the sessions, their times and labels, and for shelves. */
static void set_filter(struct value *values, const struct list_query *list, int64_t without_shelves)
{
    const bool is_labelled = list->among && list->found_by == INDEX_LABELS;

    if (list->among)
        values[1] = OWNERS(list->among);
    else if (list->app_id != 0)
        values[1] = INT(list->whole_app ? list->app_id : list->user_id);
    values[3] = INT(list->filter->since_us);
    values[4] = INT(list->filter->before_us);
    if (list->filter->label && !is_labelled)
        ses__label_values(values + 5, list->filter);
    ses__pass_values(values + 15, list->filter, without_shelves);
}

static bool is_newest_first(int order)
{
    return order == SES_ORDER_NEWEST || order == SES_ORDER_CHANGED;
}

bool ses__list_is_ranged(const struct list_query *list)
{
    return !list->among && (list->order == SES_ORDER_NEWEST || list->order == SES_ORDER_OLDEST);
}

static bool has_times(const struct list_filter *filter)
{
    return filter->since_us != INT64_MIN || filter->before_us != INT64_MAX;
}

/* The first and the last value of a range of the index; none if the filter leaves it out. Times that no
 * session has are left out, since they would be in the other range. */
static void set_active(struct value *values, const struct list_filter *filter, enum list_range range,
                       int64_t since_us, int64_t before_us)
{
    const int64_t shift = range == RANGE_HIDDEN ? HIDDEN_SHIFT : 0;
    const int64_t first_us = since_us > TIMESTAMP_MIN ? since_us : TIMESTAMP_MIN;
    const int64_t last_us = before_us <= TIMESTAMP_MAX ? before_us - 1 : TIMESTAMP_MAX;
    const bool is_wanted = ses__list_wants(filter, range);

    values[0] = INT(is_wanted ? ses__active_30s(first_us) - shift : 1);
    values[1] = INT(is_wanted ? ses__active_30s(last_us) - shift : 0);
}

/* The position from which the list continues. Sessions that an index found are sorted by a factor of the
 * update time; others come from the index by time, which is searched from there on. */
static void set_after(struct value *values, const struct list_query *list)
{
    const int factor = list->order == SES_ORDER_CREATED ? 0 : is_newest_first(list->order) ? -1 : 1;
    /* No session comes before one without a name, of that time. */
    const struct list_place start = {.time_us = factor < 0 ? INT64_MAX : INT64_MIN, .name = {"", 0}};
    const struct list_place *place = list->from_start ? &start : &list->after;
    const int64_t us = place->time_us;
    int64_t since_us = list->filter->since_us;
    int64_t before_us = list->filter->before_us;

    values[8] = INT(factor == 0 ? place->session_id : us);
    if (factor != 0) {
        values[9] = TEXT(place->name);
        values[10] = INT(place->user_id);
    }
    if (list->among) {
        if (factor < 0)
            values[8] = INT(us > INT64_MIN ? -us : INT64_MAX);
        values[12] = INT(list->order == SES_ORDER_CHANGED);
        values[21] = INT(factor);
        return;
    }
    if (list->order == SES_ORDER_CHANGED)
        return; /* no index has that order */
    if (factor > 0 && us > since_us)
        since_us = us;
    else if (factor < 0 && us < before_us)
        before_us = us < INT64_MAX ? us + 1 : us;
    if (factor != 0 || has_times(list->filter)) {
        set_active(values + 11, list->filter, list->range == RANGE_BOTH ? RANGE_SHOWN : list->range, since_us,
                   before_us);
        if (list->range == RANGE_BOTH)
            set_active(values + 21, list->filter, RANGE_HIDDEN, since_us, before_us);
    }
}

/* -------------------------------------------------------------------------------------------- walking */

static int compare_numbers(int64_t left, int64_t right)
{
    return left < right ? -1 : left > right;
}

int ses__list_compare(int order, const struct list_place *left, const struct list_place *right)
{
    int result = compare_numbers(left->time_us, right->time_us);

    if (order == SES_ORDER_CREATED)
        return compare_numbers(left->session_id, right->session_id);
    if (result == 0)
        result = ses__span_order(left->name, right->name);
    else if (is_newest_first(order))
        result = -result;
    return result != 0 ? result : compare_numbers(left->user_id, right->user_id);
}

/* A list whose rows go back or do not move on would never end, and neither would its pages. */
static bool list_moves_on(struct list_rows *walk, const struct session_row *row, struct span name)
{
    const bool by_change = walk->list->order == SES_ORDER_CHANGED;
    const struct list_place place = {by_change ? row->changed_us : row->updated_us, name, row->user_id,
                                     row->id};
    bool moves = !walk->begun || ses__list_compare(walk->list->order, &walk->last, &place) < 0;

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
        [SES_ORDER_CHANGED] = STATEMENT_LIST_USER_CHANGED,
    };
    static const struct statement *const of_app[] = {
        [SES_ORDER_NEWEST] = STATEMENT_LIST_APP_NEWEST,
        [SES_ORDER_OLDEST] = STATEMENT_LIST_APP_OLDEST,
        [SES_ORDER_CREATED] = STATEMENT_LIST_APP_CREATED,
        [SES_ORDER_CHANGED] = STATEMENT_LIST_APP_CHANGED,
    };
    if (list->among)
        return STATEMENT_LIST_AMONG;
    return list->whole_app ? of_app[list->order] : of_user[list->order];
}

void ses__list_rows_open(struct list_rows *rows, struct db *db, const struct list_query *list,
                         ses_error *error)
{
    struct list_values values = no_values();

    rows->list = list;
    rows->begun = !list->from_start;
    rows->last = list->after;
    values.at[2] = INT(list->limit);
    set_filter(values.at, list,
               ses__list_is_ranged(list) ? shelves_within(list, list->range) : list->filter->without_shelves);
    set_after(values.at, list);
    if (list->filter->id_prefix)
        ses__prefix_values(values.at + 13, list->filter, &rows->end);
    if (list->among) {
        values.at[11] = INT(list->found_by == INDEX_LABELS);
        values.at[22] = INT_IF(!list->whole_app, list->user_id);
    }
    ses__query_open(&rows->query, db, list_statement(list), error, values.at + 1);
}

bool ses__list_rows_next(struct list_rows *rows, struct session_row *row, struct span *name,
                         struct span *user)
{
    struct query *query = &rows->query;

    if (!ses__query_row(query))
        return false;
    ses__session_row_read(query, row);
    row->changed_us = ses__query_int(query, 14);
    *name = ses__query_text(query, 11);
    *user = ses__query_text(query, 12);
    if (query->code == SES_OK)
        query->code = check_listed(rows, row, *name, *user);
    return query->code == SES_OK;
}

/* -------------------------------------------------------------------------------------------- finding */

int ses__list_find(struct db *db, const struct list_query *list, enum list_index index, int64_t limit,
                   struct found *found, ses_error *error)
{
    const struct list_filter *filter = list->filter;
    const struct statement *statement = index == INDEX_NAMES      ? STATEMENT_IDS_NAMED
                                        : index == INDEX_CHILDREN ? STATEMENT_IDS_OF_CHILDREN
                                        : index == INDEX_LABELS   ? STATEMENT_IDS_LABELLED
                                        : list->whole_app         ? STATEMENT_IDS_ACTIVE_OF_APP
                                                                  : STATEMENT_IDS_ACTIVE_OF_USER;
    const bool of_app = list->whole_app || index == INDEX_LABELS || index == INDEX_CHILDREN;
    struct list_values values = no_values();
    struct prefix_end end;
    struct query query;

    values.at[1] = INT(of_app ? list->app_id : list->user_id);
    values.at[2] = INT(limit);
    if (index == INDEX_NAMES) {
        ses__prefix_values(values.at + 3, filter, &end);
    } else if (index == INDEX_CHILDREN) {
        values.at[3] = STRING(filter->child_of.user);
        values.at[4] = STRING(filter->child_of.session);
    } else if (index == INDEX_LABELS) {
        ses__label_values(values.at + 3, filter);
    } else {
        set_active(values.at + 3, filter, RANGE_SHOWN, filter->since_us, filter->before_us);
        set_active(values.at + 5, filter, RANGE_HIDDEN, filter->since_us, filter->before_us);
    }
    ses__query_open(&query, db, statement, error, values.at + 1);
    found->count = 0;
    while (ses__query_row(&query)) {
        if (LIST_GROW(found->allocator, found))
            found->items[found->count++] = ses__query_int(&query, 0);
        else
            ses__query_keep(&query, ses__error_nomem(error));
    }
    return ses__query_end(&query);
}

/* ------------------------------------------------------------------------------------------- counting */

int ses__list_count_all(struct db *db, const struct list_query *list, int64_t *count, ses_error *error)
{
    const struct list_filter *filter = list->filter;
    const struct statement *statement = !list->whole_app ? STATEMENT_COUNT_OF_USER
                                        : filter->label  ? STATEMENT_COUNT_LABELLED
                                                         : STATEMENT_COUNT_ACTIVE;
    struct list_values values = no_values();
    struct prefix_end end;

    set_filter(values.at, list,
               statement == STATEMENT_COUNT_ACTIVE ? shelves_within(list, RANGE_BOTH)
                                                   : filter->without_shelves);
    if (statement == STATEMENT_COUNT_OF_USER) {
        values.at[8] = INT(has_times(filter));
        ses__prefix_values(values.at + 13, filter, &end);
    } else if (statement == STATEMENT_COUNT_ACTIVE) {
        set_active(values.at + 11, filter, RANGE_SHOWN, filter->since_us, filter->before_us);
        set_active(values.at + 21, filter, RANGE_HIDDEN, filter->since_us, filter->before_us);
    }
    const int code = ses__query_number(db, statement, count, error, values.at + 1);
    return code == SES_NOTFOUND ? SES_OK : code;
}
