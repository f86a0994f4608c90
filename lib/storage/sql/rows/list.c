/* Walks over lists of sessions. */
#include <string.h>

#include "base/error.h"
#include "storage/sql/rows/parts.h"

/* Does the filter say at which time the list ends? */
static bool has_end(const struct list_query *list)
{
    return (list->order == SES_ORDER_NEWEST && list->filter->since_us != INT64_MIN) ||
           (list->order == SES_ORDER_OLDEST && list->filter->before_us != INT64_MAX);
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
    if (list->chosen)
        return STATEMENT_LIST_CHOSEN;
    if (list->whole_app && has_end(list))
        return list->order == SES_ORDER_NEWEST ? STATEMENT_LIST_APP_NEWEST_SINCE
                                               : STATEMENT_LIST_APP_OLDEST_BEFORE;
    return list->whole_app ? of_app[list->order] : of_user[list->order];
}

/* No session comes before the place of a session without a name, of that time. */
struct list_place ses__list_begin(const struct list_query *list)
{
    const struct list_filter *filter = list->filter;
    const bool newest = list->order == SES_ORDER_NEWEST;
    const struct list_place first = {.updated_us = newest ? filter->before_us - 1 : filter->since_us,
                                     .name = {"", 0}};
    const int64_t after_us = list->after.updated_us;

    if (list->from_start || (newest ? first.updated_us < after_us : first.updated_us > after_us))
        return first;
    return list->after;
}

void ses__list_hours(const struct list_query *list, int64_t *first, int64_t *last)
{
    const bool newest = list->order == SES_ORDER_NEWEST;

    *first = ses__hour_of(ses__list_begin(list).updated_us);
    *last = ses__hour_of(newest ? list->filter->since_us : list->filter->before_us - 1);
}

static void bind_place(struct query *query, const struct list_query *list)
{
    if (list->order == SES_ORDER_CREATED) {
        ses__query_bind_int(query, 2, list->from_start ? 0 : list->after.session_id);
    } else {
        const struct list_place place = ses__list_begin(list);
        ses__query_bind_int(query, 2, place.updated_us);
        ses__query_bind_text(query, 3, place.name);
        ses__query_bind_int(query, 4, place.user_id);
        if (list->whole_app) {
            int64_t first;
            int64_t last;
            ses__list_hours(list, &first, &last);
            ses__query_bind_int(query, 6, first);
            if (has_end(list))
                ses__query_bind_int(query, 7, last);
        }
    }
}

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

void ses__list_rows_open(struct list_rows *rows, struct db *db, const struct list_query *list,
                         ses_error *error)
{
    struct query *query = &rows->query;

    rows->list = list;
    rows->begun = !list->from_start;
    rows->last = list->after;
    rows->code = SES_OK;
    ses__query_start(query, db, list_statement(list), error);
    if (list->chosen) {
        ses__query_bind_owners(query, 1, list->chosen);
        return;
    }
    ses__query_bind_int(query, 1, list->whole_app ? list->app_id : list->user_id);
    bind_place(query, list);
    ses__query_bind_int(query, 5, list->limit);
}

bool ses__list_rows_next(struct list_rows *rows, struct session_row *row, struct span *name,
                         struct span *user)
{
    struct query *query = &rows->query;

    if (rows->code != SES_OK || !ses__query_row(query))
        return false;
    ses__session_row_read(query, row);
    *name = ses__query_text(query, 11);
    *user = ses__query_text(query, 12);
    if (query->code == SES_OK)
        rows->code = check_listed(rows, row, *name, *user);
    return query->code == SES_OK && rows->code == SES_OK;
}

int ses__list_rows_close(struct list_rows *rows)
{
    int code = ses__query_end(&rows->query);
    return code != SES_OK ? code : rows->code;
}
