#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "model/event/timestamp.h"
#include "usage/usage.h"

void ses__groups_init(struct usage_groups *groups, ses_store *store, struct arena *arena,
                      const ses_usage_options *options)
{
    *groups = (struct usage_groups){
        .options = options, .seed = store->seed, .arena = arena, .allocator = &store->allocator};
    ses__buffer_init(&groups->key, groups->allocator);
}

void ses__groups_free(struct usage_groups *groups)
{
    ses__table_free(&groups->table, groups->allocator);
    ses__buffer_free(&groups->key);
}

void ses__groups_restart(struct usage_groups *groups)
{
    ses__table_clear(&groups->table);
    ses__arena_reset(groups->arena);
    groups->unseen = (struct usage_group){.sums = NO_USAGE};
}

/* --------------------------------------------------------------------------------------------------- days */

enum { QUARTER_S = 900, DAY_S = 86400 };

static int64_t floor_of(int64_t number, int64_t unit)
{
    return number / unit - (number % unit < 0);
}

/* Days since 1970 as a date of the Gregorian calendar, which repeats every 400 years, of 146,097 days. Years are counted from
 * March here, so that a leap day is the last of its year. */
static void write_day(int64_t days, char text[16])
{
    const int64_t since_march = days + 719468; /* of the year 0 */
    const int64_t era = floor_of(since_march, 146097);
    const int64_t of_era = since_march - era * 146097;
    const int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t month = (5 * of_year + 2) / 153; /* March is 0 */
    const int day = (int)(of_year - (153 * month + 2) / 5 + 1);
    const int year = (int)(era * 400 + year_of_era + (month >= 10));

    (void)snprintf(text, 16, "%04d-%02d-%02d", year % 10000, (int)(month < 10 ? month + 3 : month - 9) % 100,
                   day % 100);
}

static void find_zone(struct usage_groups *groups, int64_t quarter, int64_t time_us)
{
    const ses_usage_options *options = groups->options;
    struct usage_clock *clock = &groups->clock;

    if (clock->text[0] && clock->quarter == quarter)
        return;
    const int64_t ahead = options->zone ? options->zone(options->zone_context, time_us) : 0;
    clock->quarter = quarter;
    clock->ahead_s = ahead > DAY_S ? DAY_S : ahead < -DAY_S ? -DAY_S : ahead;
}

/* Sets the clock to the day of that time. A day need not begin with a quarter: zones were once ahead by minutes and seconds. */
static void find_day(struct usage_groups *groups, int64_t time_us)
{
    struct usage_clock *clock = &groups->clock;
    const int64_t seconds = floor_of(time_us, 1000000);

    find_zone(groups, floor_of(seconds, QUARTER_S), time_us);
    int64_t local = seconds + clock->ahead_s;
    if (local < TIMESTAMP_MIN / 1000000)
        local = TIMESTAMP_MIN / 1000000;
    else if (local > TIMESTAMP_MAX / 1000000)
        local = TIMESTAMP_MAX / 1000000;
    const int64_t day = floor_of(local, DAY_S);
    if (clock->text[0] && clock->day == day)
        return;
    clock->day = day;
    write_day(day, clock->text);
}

/* ------------------------------------------------------------------------------------------------- groups */

static void put_key_text(struct usage_groups *groups, unsigned flag, struct span text)
{
    if (!(groups->options->flags & flag))
        return;
    ses__buffer_add(&groups->key, text.ptr, text.len);
    ses__buffer_add(&groups->key, "", 1);
}

static const char *next_key_text(const struct usage_groups *groups, unsigned flag, const char **at)
{
    const char *text = *at;

    if (!(groups->options->flags & flag))
        return NULL;
    *at += strlen(text) + 1;
    return text;
}

/* NULL: out of memory. */
static struct usage_group *new_group(struct usage_groups *groups, const struct table_entry *like)
{
    struct usage_group *group = ses__arena_new(groups->arena, sizeof *group);
    const char *key = ses__arena_text(groups->arena, like->key.ptr, like->key.len);

    if (!group || !key || !ses__table_reserve(&groups->table, groups->allocator, 1))
        return NULL;
    *group = (struct usage_group){.entry = {like->hash, {key, like->key.len}}, .sums = NO_USAGE};
    group->row.app = next_key_text(groups, SES_USAGE_BY_APP, &key);
    group->row.user = next_key_text(groups, SES_USAGE_BY_USER, &key);
    group->row.session = next_key_text(groups, SES_USAGE_BY_SESSION, &key);
    group->row.day = next_key_text(groups, SES_USAGE_BY_DAY, &key);
    group->row.model = next_key_text(groups, SES_USAGE_BY_MODEL, &key);
    group->row.invocation = next_key_text(groups, SES_USAGE_BY_INVOCATION, &key);
    (void)ses__table_put(&groups->table, &group->entry);
    return group;
}

/* The group of the key in the buffer. NULL: out of memory. */
static struct usage_group *group_of_key(struct usage_groups *groups)
{
    struct table_entry like = {.key = {groups->key.data ? groups->key.data : "", groups->key.len}};

    if (groups->key.failed)
        return NULL;
    if (groups->after.ptr && ses__span_order(like.key, groups->after) <= 0)
        return &groups->unseen;
    like.hash = ses__hash_keyed(&groups->seed, like.key);
    struct usage_group *group = (struct usage_group *)ses__table_find(&groups->table, &like);
    return group ? group : new_group(groups, &like);
}

/* True if the time counts. */
static bool counts_time(const struct usage_groups *groups, int64_t time_us)
{
    const ses_usage_options *options = groups->options;
    return (!options->since_us || time_us >= *options->since_us) &&
           (!options->before_us || time_us < *options->before_us);
}

/* In a quarter of an hour a zone is ahead by the same, so no day ends between times of the same day. */
enum usage_share ses__groups_share(struct usage_groups *groups, const struct usage_sums *sums)
{
    const ses_usage_options *options = groups->options;

    if ((options->since_us && sums->last_us < *options->since_us) ||
        (options->before_us && sums->first_us >= *options->before_us))
        return USAGE_NONE;
    if (!counts_time(groups, sums->first_us) || !counts_time(groups, sums->last_us))
        return USAGE_PART;
    if (!(options->flags & SES_USAGE_BY_DAY))
        return USAGE_ALL;
    find_day(groups, sums->first_us);
    const int64_t day = groups->clock.day;
    find_day(groups, sums->last_us);
    return day == groups->clock.day ? USAGE_ALL : USAGE_PART;
}

int ses__groups_add(struct usage_groups *groups, const struct usage_session *session,
                    const struct usage_sums *sums, struct span model, struct span invocation,
                    ses_error *error)
{
    if (!counts_time(groups, sums->first_us))
        return SES_OK;
    if (groups->options->flags & SES_USAGE_BY_DAY)
        find_day(groups, sums->first_us);
    ses__buffer_cut(&groups->key, 0);
    put_key_text(groups, SES_USAGE_BY_APP, session->app);
    put_key_text(groups, SES_USAGE_BY_USER, session->user);
    put_key_text(groups, SES_USAGE_BY_SESSION, session->name);
    put_key_text(groups, SES_USAGE_BY_DAY, ses__span_of(groups->clock.text));
    put_key_text(groups, SES_USAGE_BY_MODEL, model);
    put_key_text(groups, SES_USAGE_BY_INVOCATION, invocation);
    struct usage_group *group = group_of_key(groups);
    if (!group)
        return ses__error_nomem(error);
    ses__usage_add(&group->sums, sums);
    return SES_OK;
}

/* ---------------------------------------------------------------------------------------------- in order */

static int compare_groups(const void *left, const void *right)
{
    const struct table_entry *const a = *(struct table_entry *const *)left;
    const struct table_entry *const b = *(struct table_entry *const *)right;
    return ses__span_order(a->key, b->key);
}

static void fill_row(ses_usage_row *row, const struct usage_sums *sums)
{
    row->calls = sums->calls;
    row->prompt = sums->counts[USAGE_PROMPT];
    row->cached = sums->counts[USAGE_CACHED];
    row->candidates = sums->counts[USAGE_CANDIDATES];
    row->thoughts = sums->counts[USAGE_THOUGHTS];
    row->tool_use = sums->counts[USAGE_TOOL_USE];
    row->total = sums->counts[USAGE_TOTAL];
    row->odd = sums->odd;
    row->first_us = sums->calls > 0 ? sums->first_us : 0;
    row->last_us = sums->calls > 0 ? sums->last_us : 0;
}

bool ses__groups_take(struct usage_groups *groups, size_t limit, ses_usage_rows *rows, struct span *last_key,
                      bool *more)
{
    const size_t count = groups->table.count;
    struct table_entry **sorted = ses__arena_new(groups->arena, (count + 1) * sizeof *sorted);
    size_t at = 0;

    rows->items = ses__arena_new(groups->arena, (limit + 1) * sizeof *rows->items);
    if (!sorted || !rows->items)
        return false;
    struct usage_sums sum = groups->unseen.sums;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = ses__table_next(&groups->table, &at);
        ses__usage_add(&sum, &((struct usage_group *)sorted[i])->sums);
    }
    fill_row(&rows->sum, &sum);
    qsort(sorted, count, sizeof *sorted, compare_groups);
    for (rows->count = 0; rows->count < count && rows->count < limit; rows->count++) {
        struct usage_group *group = (struct usage_group *)sorted[rows->count];
        fill_row(&group->row, &group->sums);
        rows->items[rows->count] = &group->row;
    }
    *more = count > limit;
    if (rows->count > 0)
        *last_key = sorted[rows->count - 1]->key;
    return true;
}
