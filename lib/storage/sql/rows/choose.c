/* Finds the numbers of sessions for the filters: by label, by hour, by name. */
#include <string.h>

#include "base/error.h"
#include "storage/sql/rows/parts.h"

int ses__found_add(struct found *found, int64_t id, ses_error *error)
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
    if (!filter->label)
        return;
    ses__query_bind_string(query, parameter, filter->label);
    ses__query_bind_string(query, parameter + 1, filter->label_value ? filter->label_value : "");
    ses__query_bind_string(query, parameter + 2, filter->label_value ? filter->label_value : ABOVE_ALL);
}

static void bind_times(struct query *query, const struct list_filter *filter)
{
    ses__query_bind_int(query, 2, filter->since_us);
    ses__query_bind_int(query, 3, filter->before_us);
}

/* Has room for the text above all that begin with the filter's prefix. */
struct prefix_end {
    char text[SES_ID_MAX + sizeof ABOVE_ALL];
};

static void bind_prefix(struct query *query, const struct list_filter *filter, struct prefix_end *end)
{
    const char *prefix = filter->id_prefix ? filter->id_prefix : "";
    const size_t len = strlen(prefix);

    memcpy(end->text, prefix, len);
    memcpy(end->text + len, ABOVE_ALL, sizeof ABOVE_ALL);
    ses__query_bind_text(query, 9, (struct span){prefix, len});
    ses__query_bind_string(query, 10, end->text);
}

static void bind_hours(struct query *query, const struct list_filter *filter)
{
    ses__query_bind_int(query, 9, ses__hour_of(filter->since_us));
    ses__query_bind_int(query, 10, ses__hour_of(filter->before_us - 1));
}

/* ------------------------------------------------------------------------------------------ choosing */

/* The order as a factor of the update time, and the place after which it goes on. */
static void bind_order(struct query *query, const struct list_query *list)
{
    if (list->order == SES_ORDER_CREATED) {
        ses__query_bind_int(query, 4, 0);
        ses__query_bind_int(query, 5, 0);
        ses__query_bind_int(query, 6, list->from_start ? 0 : list->after.session_id);
        ses__query_bind_int(query, 7, INT64_MAX);
    } else {
        const int factor = list->order == SES_ORDER_NEWEST ? -1 : 1;
        const struct list_place place = ses__list_begin(list);
        const bool fits = place.updated_us > INT64_MIN;
        ses__query_bind_int(query, 4, factor);
        ses__query_bind_int(query, 5, fits ? factor * place.updated_us : factor > 0 ? INT64_MIN : INT64_MAX);
        ses__query_bind_text(query, 6, place.name);
        ses__query_bind_int(query, 7, place.user_id);
    }
}

static int read_ids(struct query *query, struct found *found)
{
    int code = SES_OK;

    while (code == SES_OK && ses__query_row(query))
        code = ses__found_add(found, ses__query_int(query, 0), query->error);
    int closed = ses__query_end(query);
    return code != SES_OK ? code : closed;
}

int ses__list_choose(struct db *db, const struct list_query *list, enum choice choice,
                     const struct owner_list *among, struct found *found, ses_error *error)
{
    static const struct statement *const statements[] = {
        [CHOICE_OF_USER] = STATEMENT_CHOOSE_OF_USER,
        [CHOICE_LABELLED] = STATEMENT_CHOOSE_LABELLED,
        [CHOICE_ACTIVE] = STATEMENT_CHOOSE_ACTIVE,
        [CHOICE_AMONG] = STATEMENT_CHOOSE_AMONG,
    };
    struct prefix_end end;
    struct query query;

    ses__query_start(&query, db, statements[choice], error);
    if (choice == CHOICE_AMONG)
        ses__query_bind_owners(&query, 1, among);
    else
        ses__query_bind_int(&query, 1, list->whole_app ? list->app_id : list->user_id);
    bind_times(&query, list->filter);
    bind_order(&query, list);
    ses__query_bind_int(&query, 8, list->limit);
    if (choice == CHOICE_AMONG && !list->whole_app)
        ses__query_bind_int(&query, 9, list->user_id);
    if (choice == CHOICE_OF_USER)
        bind_prefix(&query, list->filter, &end);
    else if (choice == CHOICE_ACTIVE)
        bind_hours(&query, list->filter);
    if (choice == CHOICE_OF_USER || choice == CHOICE_LABELLED)
        bind_label(&query, 11, list->filter);
    return read_ids(&query, found);
}

int ses__labelled_ids(struct db *db, const struct list_query *list, int64_t limit, struct found *found,
                      ses_error *error)
{
    struct query query;

    ses__query_start(&query, db, STATEMENT_LABELLED_IDS, error);
    ses__query_bind_int(&query, 1, list->app_id);
    bind_label(&query, 2, list->filter);
    ses__query_bind_int(&query, 5, limit);
    return read_ids(&query, found);
}

int ses__session_is_labelled(struct db *db, const struct session_row *row, const struct list_filter *filter,
                             bool *is, ses_error *error)
{
    struct query query;

    *is = false;
    if (!(row->details & DETAIL_LABELS))
        return SES_OK;
    ses__query_start(&query, db, STATEMENT_LABEL_GET, error);
    ses__query_bind_int(&query, 1, row->id);
    bind_label(&query, 2, filter);
    *is = ses__query_row(&query);
    return ses__query_end(&query);
}

/* ------------------------------------------------------------------------------------------ counting */

int ses__list_count_all(struct db *db, const struct list_query *list, int64_t *count, ses_error *error)
{
    const struct list_filter *filter = list->filter;
    const bool has_times = filter->since_us != INT64_MIN || filter->before_us != INT64_MAX;
    const struct statement *statement = !list->whole_app ? STATEMENT_COUNT_OF_USER
                                        : filter->label  ? STATEMENT_COUNT_LABELLED
                                                         : STATEMENT_COUNT_ACTIVE;
    struct prefix_end end;
    struct query query;

    ses__query_start(&query, db, statement, error);
    ses__query_bind_int(&query, 1, list->whole_app ? list->app_id : list->user_id);
    bind_times(&query, filter);
    if (statement == STATEMENT_COUNT_OF_USER) {
        ses__query_bind_int(&query, 8, has_times);
        bind_prefix(&query, filter, &end);
    } else if (statement == STATEMENT_COUNT_ACTIVE) {
        bind_hours(&query, filter);
    }
    if (statement != STATEMENT_COUNT_ACTIVE)
        bind_label(&query, 11, filter);
    *count = ses__query_row(&query) ? ses__query_int(&query, 0) : 0;
    return ses__query_end(&query);
}

/* -------------------------------------------------------------------------------------- walking hours */

static const struct statement *hours_statement(int order, bool looks_up)
{
    static const struct statement *const labels[] = {
        [SES_ORDER_NEWEST] = STATEMENT_LABELS_NEWEST,
        [SES_ORDER_OLDEST] = STATEMENT_LABELS_OLDEST,
        [SES_ORDER_CREATED] = STATEMENT_LABELS_CREATED,
    };
    if (looks_up)
        return labels[order];
    return order == SES_ORDER_NEWEST ? STATEMENT_HOURS_BACKWARD : STATEMENT_HOURS_FORWARD;
}

/* From an hour on, or a number. */
static void start_hours(struct hour_rows *rows, struct db *db, int64_t from, ses_error *error)
{
    const struct list_query *list = rows->list;
    struct query *query = &rows->query;
    int64_t first = 0;
    int64_t last = 0;

    ses__query_start(query, db, hours_statement(list->order, rows->looks_up), error);
    ses__query_bind_int(query, 1, list->app_id);
    ses__query_bind_int(query, 2, from);
    if (rows->looks_up)
        bind_label(query, 4, list->filter);
    if (list->order != SES_ORDER_CREATED) {
        ses__list_hours(list, &first, &last);
        ses__query_bind_int(query, 3, last);
    }
    ses__paging_ask(&rows->paging, query, rows->looks_up ? 8 : 5);
}

/* From a number on. */
static void start_hour(struct hour_rows *rows, struct db *db, int64_t id, ses_error *error)
{
    const bool backward = rows->list->order == SES_ORDER_NEWEST;
    struct query *query = &rows->query;

    ses__query_start(query, db, backward ? STATEMENT_HOUR_BACKWARD : STATEMENT_HOUR_FORWARD, error);
    ses__query_bind_int(query, 1, rows->list->app_id);
    ses__query_bind_int(query, 2, rows->hour);
    ses__query_bind_int(query, 3, id);
    ses__paging_ask(&rows->paging, query, 4);
}

/* After the last row. */
static void go_on_in_hours(struct hour_rows *rows, struct db *db, ses_error *error)
{
    const int order = rows->list->order;
    const int64_t id = order == SES_ORDER_NEWEST ? rows->id - 1 : rows->id + 1;

    if (rows->within) {
        start_hour(rows, db, id, error);
    } else if (order == SES_ORDER_CREATED) {
        start_hours(rows, db, id, error);
    } else {
        start_hours(rows, db, rows->hour, error);
        ses__query_bind_int(&rows->query, rows->looks_up ? 7 : 4, id);
    }
}

void ses__hour_rows_open(struct hour_rows *rows, struct db *db, const struct list_query *list, int64_t hour,
                         bool looks_up, ses_error *error)
{
    *rows = (struct hour_rows){.paging = ses__paging_few(db), .list = list, .looks_up = looks_up};
    start_hours(rows, db, hour, error);
}

void ses__hour_rows_open_within(struct hour_rows *rows, struct db *db, const struct list_query *list,
                                int64_t hour, int64_t id, ses_error *error)
{
    *rows = (struct hour_rows){.paging = ses__paging_few(db), .list = list, .within = true, .hour = hour};
    start_hour(rows, db, id, error);
}

static bool hour_moves_on(const struct hour_rows *rows, int64_t hour, int64_t id)
{
    if (!rows->begun)
        return true;
    return rows->list->order == SES_ORDER_NEWEST ? hour < rows->hour || (hour == rows->hour && id < rows->id)
                                                 : hour > rows->hour || (hour == rows->hour && id > rows->id);
}

/* (No session has the first or last 64-bit number, and the walk could not go past it.) */
static bool next_hour(struct hour_rows *rows)
{
    if (ses__paging_row(&rows->paging, &rows->query))
        return true;
    if (rows->id == INT64_MAX || rows->id == INT64_MIN || !ses__paging_turn(&rows->paging, &rows->query))
        return false;
    go_on_in_hours(rows, rows->query.db, rows->query.error);
    return ses__paging_row(&rows->paging, &rows->query);
}

bool ses__hour_rows_next(struct hour_rows *rows)
{
    struct query *query = &rows->query;

    if (rows->code != SES_OK || !next_hour(rows))
        return false;
    const int64_t hour = ses__query_int(query, 0);
    const int64_t id = ses__query_int(query, 1);
    const bool moves = hour_moves_on(rows, hour, id);
    rows->labelled = ses__query_type(query, 2) != SQL_NULL;
    rows->hour = hour;
    rows->id = id;
    rows->begun = true;
    if (!moves || (rows->labelled && ses__query_int(query, 2) != rows->list->app_id))
        rows->code = ses__error_set(
            query->error, SES_CORRUPT,
            "%s: session number %lld is out of place in an index, or has a label that belongs to another app",
            query->db->name, (long long)id);
    return rows->code == SES_OK;
}

int ses__hour_rows_close(struct hour_rows *rows)
{
    int code = ses__query_end(&rows->query);
    return code != SES_OK ? code : rows->code;
}
