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
    groups->unseen = (ses_usage_row){.app = NULL};
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

static ALWAYS_INLINE void add_to(int64_t *sum, int64_t number)
{
    *sum = UNLIKELY(number > INT64_MAX - *sum) ? INT64_MAX : *sum + number;
}

/* One that is absent is -1. */
static ALWAYS_INLINE void add_count(int64_t *sum, int64_t count)
{
    add_to(sum, count > 0 ? count : 0);
}

static ALWAYS_INLINE void add_call(ses_usage_row *row, const struct usage_call *call)
{
    add_count(&row->prompt, call->counts[USAGE_PROMPT]);
    add_count(&row->cached, call->counts[USAGE_CACHED]);
    add_count(&row->candidates, call->counts[USAGE_CANDIDATES]);
    add_count(&row->thoughts, call->counts[USAGE_THOUGHTS]);
    add_count(&row->tool_use, call->counts[USAGE_TOOL_USE]);
    add_count(&row->total, call->counts[USAGE_TOTAL]);
    row->odd += call->odd;
    if (row->calls == 0 || call->time_us < row->first_us)
        row->first_us = call->time_us;
    if (row->calls == 0 || call->time_us > row->last_us)
        row->last_us = call->time_us;
    row->calls++;
}

static void add_sums(ses_usage_row *row, const struct usage_sums *sums)
{
    add_to(&row->prompt, sums->counts[USAGE_PROMPT]);
    add_to(&row->cached, sums->counts[USAGE_CACHED]);
    add_to(&row->candidates, sums->counts[USAGE_CANDIDATES]);
    add_to(&row->thoughts, sums->counts[USAGE_THOUGHTS]);
    add_to(&row->tool_use, sums->counts[USAGE_TOOL_USE]);
    add_to(&row->total, sums->counts[USAGE_TOTAL]);
    row->odd += sums->odd;
    if (row->calls == 0 || sums->first_us < row->first_us)
        row->first_us = sums->first_us;
    if (row->calls == 0 || sums->last_us > row->last_us)
        row->last_us = sums->last_us;
    row->calls += sums->calls;
}

static void add_row(ses_usage_row *sum, const ses_usage_row *row)
{
    if (row->calls == 0)
        return;
    add_to(&sum->prompt, row->prompt);
    add_to(&sum->cached, row->cached);
    add_to(&sum->candidates, row->candidates);
    add_to(&sum->thoughts, row->thoughts);
    add_to(&sum->tool_use, row->tool_use);
    add_to(&sum->total, row->total);
    add_to(&sum->odd, row->odd);
    if (sum->calls == 0 || row->first_us < sum->first_us)
        sum->first_us = row->first_us;
    if (sum->calls == 0 || row->last_us > sum->last_us)
        sum->last_us = row->last_us;
    sum->calls += row->calls;
}

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
    *group = (struct usage_group){.entry = {like->hash, {key, like->key.len}}};
    group->row.app = next_key_text(groups, SES_USAGE_BY_APP, &key);
    group->row.user = next_key_text(groups, SES_USAGE_BY_USER, &key);
    group->row.session = next_key_text(groups, SES_USAGE_BY_SESSION, &key);
    group->row.day = next_key_text(groups, SES_USAGE_BY_DAY, &key);
    group->row.model = next_key_text(groups, SES_USAGE_BY_MODEL, &key);
    group->row.invocation = next_key_text(groups, SES_USAGE_BY_INVOCATION, &key);
    (void)ses__table_put(&groups->table, &group->entry);
    return group;
}

/* The row for the key in the buffer. NULL: out of memory. */
static ses_usage_row *row_of_key(struct usage_groups *groups)
{
    struct table_entry like = {.key = {groups->key.data ? groups->key.data : "", groups->key.len}};

    if (groups->key.failed)
        return NULL;
    if (groups->after.ptr && ses__span_order(like.key, groups->after) <= 0)
        return &groups->unseen;
    like.hash = ses__hash_keyed(&groups->seed, like.key);
    struct usage_group *group = (struct usage_group *)ses__table_find(&groups->table, &like);
    if (!group)
        group = new_group(groups, &like);
    return group ? &group->row : NULL;
}

static ses_usage_row *find_row(struct usage_groups *groups, const struct usage_session *session,
                               struct span model, struct span invocation)
{
    ses__buffer_cut(&groups->key, 0);
    put_key_text(groups, SES_USAGE_BY_APP, session->app);
    put_key_text(groups, SES_USAGE_BY_USER, session->user);
    put_key_text(groups, SES_USAGE_BY_SESSION, session->name);
    put_key_text(groups, SES_USAGE_BY_DAY, ses__span_of(groups->clock.text));
    put_key_text(groups, SES_USAGE_BY_MODEL, model);
    put_key_text(groups, SES_USAGE_BY_INVOCATION, invocation);
    return row_of_key(groups);
}

/* Calls of a sheet that follow each other mostly belong to the same rows: one for each model, while the day is the same. */
struct latest_rows {
    int64_t day;                                /* as in struct usage_clock */
    ses_usage_row *of_model[USAGE_SHEET_CALLS]; /* NULL until it is found */
};

static int add_one(struct usage_groups *groups, struct latest_rows *latest,
                   const struct usage_session *session, const struct usage_sheet *sheet,
                   const struct usage_call *call, struct span invocation, ses_error *error)
{
    const unsigned flags = groups->options->flags;

    if (flags & SES_USAGE_BY_DAY)
        find_day(groups, call->time_us);
    if (flags & SES_USAGE_BY_INVOCATION || groups->clock.day != latest->day)
        memset(latest->of_model, 0, sizeof latest->of_model);
    latest->day = groups->clock.day;
    ses_usage_row **row = &latest->of_model[call->model];
    if (!*row)
        *row = find_row(groups, session, sheet->models[call->model], invocation);
    if (!*row)
        return ses__error_nomem(error);
    add_call(*row, call);
    return SES_OK;
}

/* The times that count. */
static bool counts_time(const struct usage_groups *groups, int64_t time_us)
{
    const ses_usage_options *options = groups->options;
    return (!options->since_us || time_us >= *options->since_us) &&
           (!options->before_us || time_us < *options->before_us);
}

/* Between two times on a day a zone may have had another one, for a moment. */
static bool are_on_one_day(struct usage_groups *groups, int64_t first_us, int64_t last_us)
{
    const int64_t unit = (groups->options->zone ? QUARTER_S : DAY_S) * INT64_C(1000000);

    if (floor_of(first_us, unit) != floor_of(last_us, unit))
        return false;
    find_day(groups, first_us);
    const int64_t day = groups->clock.day;
    find_day(groups, last_us);
    return day == groups->clock.day;
}

bool ses__groups_take_sums(struct usage_groups *groups, const struct usage_sheet *sheet)
{
    bool takes = true;

    for (size_t i = 0; i < sheet->model_count && takes; i++) {
        const struct usage_sums *sums = &sheet->sums[i];
        takes = counts_time(groups, sums->first_us) && counts_time(groups, sums->last_us) &&
                (!(groups->options->flags & SES_USAGE_BY_DAY) ||
                 are_on_one_day(groups, sums->first_us, sums->last_us));
    }
    return takes;
}

static int add_sums_of_sheet(struct usage_groups *groups, const struct usage_session *session,
                             const struct usage_sheet *sheet, ses_error *error)
{
    for (size_t i = 0; i < sheet->model_count; i++) {
        if (groups->options->flags & SES_USAGE_BY_DAY)
            find_day(groups, sheet->sums[i].first_us);
        ses_usage_row *row = find_row(groups, session, sheet->models[i], (struct span){"", 0});
        if (!row)
            return ses__error_nomem(error);
        add_sums(row, &sheet->sums[i]);
    }
    return SES_OK;
}

int ses__groups_add(struct usage_groups *groups, const struct usage_session *session,
                    const struct usage_sheet *sheet, const struct span *invocations, ses_error *error)
{
    struct latest_rows latest = {.day = groups->clock.day};
    int code = SES_OK;

    if (sheet->packed.ptr)
        return add_sums_of_sheet(groups, session, sheet, error);
    for (size_t i = 0; i < sheet->count && code == SES_OK; i++) {
        const struct usage_call *call = &sheet->calls[i];
        if (counts_time(groups, call->time_us))
            code = add_one(groups, &latest, session, sheet, call,
                           invocations ? invocations[i] : (struct span){"", 0}, error);
    }
    return code;
}

/* ---------------------------------------------------------------------------------------------- in order */

static int compare_groups(const void *left, const void *right)
{
    const struct table_entry *const a = *(struct table_entry *const *)left;
    const struct table_entry *const b = *(struct table_entry *const *)right;
    return ses__span_order(a->key, b->key);
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
    rows->sum = groups->unseen;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = ses__table_next(&groups->table, &at);
        add_row(&rows->sum, &((struct usage_group *)sorted[i])->row);
    }
    qsort(sorted, count, sizeof *sorted, compare_groups);
    for (rows->count = 0; rows->count < count && rows->count < limit; rows->count++)
        rows->items[rows->count] = &((struct usage_group *)sorted[rows->count])->row;
    *more = count > limit;
    if (rows->count > 0)
        *last_key = sorted[rows->count - 1]->key;
    return true;
}
