/*
 * Which sessions of a filtered list are on a page. There are several ways to find them, and which is the shortest depends on
 * how many sessions there are and how many of them the filter leaves:
 *
 *  - A user's sessions are all looked at, as for a list without a filter, since they are sorted; unless far fewer sessions
 *    have the label.
 *  - A label that few sessions of the app have is found by its index. If they are more than can be looked at one by one, the
 *    list is walked by hours in an index, which jumps to where the next of them can be.
 *  - For a label that many have, the list is walked by hours, and each session's labels are looked up.
 *
 * A walk is bounded. When it has not found enough by then, as where only the oldest have a label, all sessions that have it
 * are looked at.
 */
#include <stdlib.h>

#include "storage/sql/list/list_filter.h"

enum {
    LABELLED_DIRECT = 250,    /* so many sessions are quicker looked at than the list is walked */
    LABELLED_LISTED = 2000,   /* so many numbers are kept for a walk that jumps */
    USER_FEW = 500,           /* so many sessions of a user are looked at in any case */
    PASSED_MAX = 2000,        /* so many sessions are passed over in order of creation */
    WALK_MAX = 5000,          /* rows of a walk that looks labels up */
    WALK_LEAST = 500,         /* rows of one that jumps */
    WALK_ROWS_FOR_A_LOOK = 8, /* cost as much as to look at one session */
    WALK_COST_OF_A_JUMP = 4,  /* in rows */
};

/* -------------------------------------------------------------------------------------- the walk by hours */

struct hour_walk {
    struct db *db;
    const struct list_query *list;
    const struct found *labelled; /* the sessions with the label, sorted; NULL: labels are looked up */
    struct found *found;
    struct hour_rows rows;
    bool created;
    int64_t first_hour; /* in these two, update times decide which sessions are in the list */
    int64_t last_hour;
    int64_t group; /* sessions of one hour are taken together, since they are not sorted yet */
    int64_t sure;  /* found so many that are in the list */
    int64_t cost;
    int64_t last_id; /* of the row before, in the same hour; 0: there was none */
    bool ended;      /* there are no more */
};

/* The nearest session with the label, from this number on in the walk's direction; 0: there is none. */
static int64_t nearest_labelled(const struct hour_walk *walk, int64_t id)
{
    const struct found *labelled = walk->labelled;
    const bool backward = walk->list->order == SES_ORDER_NEWEST;
    size_t low = 0;
    size_t high = labelled->count;

    while (low < high) { /* the first that is not below it */
        size_t middle = low + (high - low) / 2;
        if (labelled->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < labelled->count && (!backward || labelled->ids[low] == id))
        return labelled->ids[low];
    return backward && low > 0 ? labelled->ids[low - 1] : 0;
}

static void walk_from(struct hour_walk *walk, int64_t hour, ses_error *error)
{
    ses__hour_rows_open(&walk->rows, walk->db, walk->list, hour, walk->labelled == NULL, error);
    walk->last_id = 0;
}

/* To that session within the hour; 0: to the next hour. */
static int jump(struct hour_walk *walk, int64_t target, ses_error *error)
{
    const int64_t hour = walk->rows.hour;
    int code = ses__hour_rows_close(&walk->rows);

    if (code != SES_OK)
        return code;
    if (target)
        ses__hour_rows_open_within(&walk->rows, walk->db, walk->list, hour, target, error);
    else
        walk_from(walk, walk->list->order == SES_ORDER_NEWEST ? hour - 1 : hour + 1, error);
    walk->last_id = 0;
    walk->cost += WALK_COST_OF_A_JUMP;
    return SES_OK;
}

static bool is_labelled(const struct hour_walk *walk, int64_t *target)
{
    *target = walk->labelled ? nearest_labelled(walk, walk->rows.id) : walk->rows.id;
    return walk->labelled ? *target == walk->rows.id : walk->rows.labelled;
}

/* Are there probably many rows up to the target? The last two tell how far apart they are. */
static bool is_far(const struct hour_walk *walk, int64_t target)
{
    if (walk->last_id == 0)
        return false;
    return target == 0 ||
           llabs(walk->rows.id - target) > WALK_COST_OF_A_JUMP * llabs(walk->rows.id - walk->last_id);
}

/* Looks at the row the walk has come to. */
static int walk_row(struct hour_walk *walk, ses_error *error)
{
    const int64_t hour = walk->rows.hour;
    int64_t target = 0;

    walk->cost++;
    if (is_labelled(walk, &target)) {
        walk->sure += walk->created || (hour != walk->first_hour && hour != walk->last_hour);
        return ses__found_add(walk->found, walk->rows.id, error);
    }
    if (walk->labelled && is_far(walk, target))
        return jump(walk, target, error);
    walk->last_id = walk->rows.id;
    return SES_OK;
}

/* Are there enough, with all of the last group? */
static bool has_enough(struct hour_walk *walk)
{
    const int64_t group = walk->created ? walk->rows.id : walk->rows.hour;
    const bool is_next = group != walk->group;

    walk->group = group;
    if (is_next)
        walk->last_id = 0;
    return is_next && walk->sure >= walk->list->limit;
}

/* Is it quicker to look at all that have the label, by what the walk has found so far? */
static bool is_too_long(const struct hour_walk *walk)
{
    if (!walk->labelled)
        return walk->cost >= WALK_MAX;
    return walk->cost >= WALK_LEAST && walk->cost * walk->list->limit > WALK_ROWS_FOR_A_LOOK *
                                                                            (int64_t)walk->labelled->count *
                                                                            (walk->sure + 1);
}

static void walk_begin(struct hour_walk *walk, ses_error *error)
{
    const struct list_query *list = walk->list;

    walk->created = list->order == SES_ORDER_CREATED;
    walk->group = INT64_MIN;
    if (!walk->created)
        ses__list_hours(list, &walk->first_hour, &walk->last_hour);
    else if (!list->from_start)
        walk->first_hour = list->after.session_id + 1;
    walk_from(walk, walk->first_hour, error);
}

/* Adds sessions with the label: those of the first hours that are enough for the page. */
static int walk_hours(struct hour_walk *walk, ses_error *error)
{
    bool enough = false;
    int code = SES_OK;

    walk_begin(walk, error);
    while (code == SES_OK && !enough && !walk->ended && !is_too_long(walk)) {
        bool row = ses__hour_rows_next(&walk->rows);
        enough = row && has_enough(walk);
        if (row && !enough)
            code = walk_row(walk, error);
        else if (!row && walk->rows.within)
            code = jump(walk, 0, error);
        else
            walk->ended = !row;
    }
    int closed = ses__hour_rows_close(&walk->rows);
    return code != SES_OK ? code : closed;
}

/* ---------------------------------------------------------------------------------------------- labels */

static int choose_among(struct db *db, const struct list_query *list, const struct found *among,
                        struct found *chosen, ses_error *error)
{
    const struct owner_list owners = {among->ids, among->count};

    chosen->count = 0;
    return among->count > 0 ? ses__list_choose(db, list, CHOICE_AMONG, &owners, chosen, error) : SES_OK;
}

/* `*whole`: the page is full, or what the walk has found is all there is. */
static int choose_by_walk(struct db *db, const struct list_query *list, const struct found *labelled,
                          struct found *chosen, bool *whole, ses_error *error)
{
    struct found met = {.allocator = chosen->allocator};
    struct hour_walk walk = {.db = db, .list = list, .labelled = labelled, .found = &met};
    int code = walk_hours(&walk, error);

    if (code == SES_OK)
        code = choose_among(db, list, &met, chosen, error);
    *whole = walk.ended || (int64_t)chosen->count >= list->limit;
    ses__memory_free(met.allocator, met.ids);
    return code;
}

static int compare_ids(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* The next sessions in order of creation that have the label. They may lack the mark that they have labels. */
static int choose_created(struct db *db, const struct list_query *list, const struct found *labelled,
                          struct found *chosen, bool *whole, ses_error *error)
{
    const int64_t after = list->from_start ? 0 : list->after.session_id;
    struct found next = *labelled;

    while (next.count > 0 && next.ids[0] <= after) {
        next.ids++;
        next.count--;
    }
    const bool all = (int64_t)next.count <= list->limit;
    if (!all)
        next.count = (size_t)list->limit;
    int code = choose_among(db, list, &next, chosen, error);
    *whole = all || (int64_t)chosen->count >= list->limit;
    return code;
}

static int choose_of_few(struct db *db, const struct list_query *list, struct found *labelled,
                         struct found *chosen, ses_error *error)
{
    bool whole = false;
    int code = SES_OK;

    if (labelled->count > LABELLED_DIRECT) {
        if (!list->filter->label_value) /* of one value they are sorted */
            qsort(labelled->ids, labelled->count, sizeof *labelled->ids, compare_ids);
        code = list->order == SES_ORDER_CREATED ? choose_created(db, list, labelled, chosen, &whole, error)
                                                : choose_by_walk(db, list, labelled, chosen, &whole, error);
    }
    return code == SES_OK && !whole ? choose_among(db, list, labelled, chosen, error) : code;
}

static int choose_of_many(struct db *db, const struct list_query *list, struct found *chosen,
                          ses_error *error)
{
    bool whole = false;
    int code = choose_by_walk(db, list, NULL, chosen, &whole, error);

    if (code != SES_OK || whole)
        return code;
    chosen->count = 0;
    return ses__list_choose(db, list, CHOICE_LABELLED, NULL, chosen, error);
}

static int choose_by_label(struct db *db, const struct list_query *list, struct found *chosen,
                           ses_error *error)
{
    struct found labelled = {.allocator = chosen->allocator};
    int code = ses__labelled_ids(db, list, LABELLED_LISTED + 1, &labelled, error);

    if (code == SES_OK)
        code = labelled.count <= LABELLED_LISTED ? choose_of_few(db, list, &labelled, chosen, error)
                                                 : choose_of_many(db, list, chosen, error);
    ses__memory_free(labelled.allocator, labelled.ids);
    return code;
}

/* ------------------------------------------------------------------------------------- order of creation */

static int is_listed(struct db *db, const struct list_query *list, const struct session_row *row, bool *is,
                     ses_error *error)
{
    const struct list_filter *filter = list->filter;

    *is = row->updated_us >= filter->since_us && row->updated_us < filter->before_us;
    return *is && filter->label ? ses__session_is_labelled(db, row, filter, is, error) : SES_OK;
}

/* Walks the list as it is, as long as few sessions have to be passed over. `*whole` as above. */
static int choose_in_passing(struct db *db, const struct list_query *list, struct found *chosen, bool *whole,
                             ses_error *error)
{
    struct list_query query = *list;
    struct list_rows rows;
    struct session_row row;
    struct span name;
    struct span user;
    int64_t met = 0;
    int code = SES_OK;

    query.limit += PASSED_MAX;
    ses__list_rows_open(&rows, db, &query, error);
    while (code == SES_OK && (int64_t)chosen->count < list->limit &&
           ses__list_rows_next(&rows, &row, &name, &user)) {
        bool is = false;
        met++;
        code = is_listed(db, list, &row, &is, error);
        if (code == SES_OK && is)
            code = ses__found_add(chosen, row.id, error);
    }
    int closed = ses__list_rows_close(&rows);
    *whole = (int64_t)chosen->count >= list->limit || met < query.limit;
    return code != SES_OK ? code : closed;
}

/* In order of creation the list is walked first; or else all that the choice finds are looked at. */
static int choose_in_order(struct db *db, const struct list_query *list, enum choice choice,
                           struct found *chosen, ses_error *error)
{
    bool whole = false;
    int code = SES_OK;

    if (list->order == SES_ORDER_CREATED && !list->filter->id_prefix)
        code = choose_in_passing(db, list, chosen, &whole, error);
    if (code != SES_OK || whole)
        return code;
    chosen->count = 0;
    return ses__list_choose(db, list, choice, NULL, chosen, error);
}

/* Has the user so many more sessions than have the label that it is better to look at those? */
static int choose_by_label_of_user(struct db *db, const struct list_query *list, struct found *chosen,
                                   ses_error *error)
{
    struct found labelled = {.allocator = chosen->allocator};
    bool many = false;
    int code = ses__user_has_more(db, list->user_id, USER_FEW, &many, error);

    if (code == SES_OK && many)
        code = ses__labelled_ids(db, list, LABELLED_LISTED + 1, &labelled, error);
    if (code == SES_OK && many)
        code = ses__user_has_more(db, list->user_id, 2 * (int64_t)labelled.count, &many, error);
    if (code == SES_OK)
        code = many && labelled.count <= LABELLED_LISTED
                   ? choose_among(db, list, &labelled, chosen, error)
                   : choose_in_order(db, list, CHOICE_OF_USER, chosen, error);
    ses__memory_free(labelled.allocator, labelled.ids);
    return code;
}

int ses__list_filter(struct db *db, const struct list_query *list, struct found *chosen, ses_error *error)
{
    const struct list_filter *filter = list->filter;

    chosen->count = 0;
    if (filter->label && list->whole_app)
        return choose_by_label(db, list, chosen, error);
    if (filter->label && !filter->id_prefix)
        return choose_by_label_of_user(db, list, chosen, error);
    return choose_in_order(db, list, list->whole_app ? CHOICE_ACTIVE : CHOICE_OF_USER, chosen, error);
}
