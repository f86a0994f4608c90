/* ses_store_usage: its arguments, the groups that it adds up, and a page of rows; and ses_store_tally. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/table.h"
#include "model/event/timestamp.h"
#include "seslite_usage.h"
#include "session/read/filter.h"
#include "session/sql/catch_up.h"
#include "session/store.h"
#include "session/token.h"
#include "storage/sql/usage/usage.h"

struct ses_usage_rows {
    ses_store *store;
    struct arena arena;
    const ses_usage_row **items;
    size_t count;
    ses_usage_row sum;
    char *token; /* NULL: it is the last page */
};

/* A row, under its key: the texts that it has, each with a NUL after it. So keys have the order of rows. */
struct usage_group {
    struct table_entry entry;
    ses_usage_row row; /* its texts; the sums are set when it is taken */
    struct usage_sums sums;
};

/* How far the zone is ahead of UTC in a quarter of an hour, and the latest day. */
struct usage_clock {
    int64_t quarter;
    int64_t ahead_s;
    int64_t day;   /* local, since 1970 */
    char text[16]; /* the same as a text; "": nothing is known yet */
};

struct usage_groups {
    const ses_usage_options *options;
    struct hash_seed seed;
    struct span after; /* only groups after that key are kept; without text: all */
    struct hash_table table;
    struct arena *arena; /* the groups, and their keys */
    const ses_allocator *allocator;
    struct buffer key;
    struct usage_clock clock;
    struct usage_group unseen; /* all groups that are not kept */
};

/* --------------------------------------------------------------------------------------------------- days */

enum { QUARTER_S = 900, DAY_S = 86400 };

static int64_t floor_of(int64_t number, int64_t unit)
{
    return number / unit - (number % unit < 0);
}

/* Days since 1970 as a date of the Gregorian calendar, which repeats every 400 years, of 146,097 days. Years
 * are counted from March here, so that a leap day is the last of its year. */
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

/* Sets the clock to the day of that time. A day need not begin with a quarter: zones were once ahead by
 * minutes and seconds. */
static void find_day(struct usage_groups *groups, int64_t time_us)
{
    struct usage_clock *clock = &groups->clock;
    const ses_usage_options *options = groups->options;
    const int64_t seconds = floor_of(time_us, 1000000);
    const int64_t quarter = floor_of(seconds, QUARTER_S);

    if (!clock->text[0] || clock->quarter != quarter) {
        const int64_t ahead = options->zone ? options->zone(options->zone_context, time_us) : 0;
        clock->quarter = quarter;
        clock->ahead_s = ahead > DAY_S ? DAY_S : ahead < -DAY_S ? -DAY_S : ahead;
    }
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

/* True if the time counts. */
static bool counts_time(const struct usage_groups *groups, int64_t time_us)
{
    const ses_usage_options *options = groups->options;
    return (!options->since_us || time_us >= *options->since_us) &&
           (!options->before_us || time_us < *options->before_us);
}

/* The part of the calls between the times of the sums that belongs to one row; see usage_walk.share. In a
 * quarter of an hour a zone is ahead by the same, so no day ends between times of the same day. */
static enum usage_share share_of_groups(void *context, const struct usage_sums *sums)
{
    struct usage_groups *groups = context;
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

/* Adds calls of a session; see usage_walk.visit. */
static int add_to_group(void *context, const struct usage_session *session, const struct usage_sums *sums,
                        struct span model, struct span invocation, ses_error *error)
{
    struct usage_groups *groups = context;

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
    struct table_entry like = {.key = {groups->key.data ? groups->key.data : "", groups->key.len}};
    struct usage_group *group = &groups->unseen;
    if (groups->key.failed)
        return ses__error_nomem(error);
    if (!groups->after.ptr || ses__span_order(like.key, groups->after) > 0) {
        like.hash = ses__hash_keyed(&groups->seed, like.key);
        group = (struct usage_group *)ses__table_find(&groups->table, &like);
        if (!group)
            group = new_group(groups, &like);
    }
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

/* Gives up to `limit` groups in order, and whether there are more. False: out of memory. */
static bool take_groups(struct usage_groups *groups, size_t limit, ses_usage_rows *rows,
                        struct span *last_key, bool *more)
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

/* ---------------------------------------------------------------------------------------------- rows */

size_t ses_usage_rows_count(const ses_usage_rows *rows)
{
    return rows ? rows->count : 0;
}

const ses_usage_row *ses_usage_rows_at(const ses_usage_rows *rows, size_t index)
{
    return rows && index < rows->count ? rows->items[index] : NULL;
}

const ses_usage_row *ses_usage_rows_sum(const ses_usage_rows *rows)
{
    return rows ? &rows->sum : NULL;
}

const char *ses_usage_rows_token(const ses_usage_rows *rows)
{
    return rows ? rows->token : NULL;
}

void ses_usage_rows_close(ses_usage_rows *rows)
{
    if (!rows)
        return;
    ses_store *store = rows->store;
    ses__memory_free(&store->allocator, rows->token);
    ses__arena_free(&rows->arena);
    ses__memory_free(&store->allocator, rows);
    ses__store_release(store);
}

/* ------------------------------------------------------------------------------------------ adding up */

enum {
    USAGE_ROWS = 100,
    USAGE_ROWS_MAX = 10000,
    USAGE_NAMES = SES_USAGE_BY_APP | SES_USAGE_BY_USER | SES_USAGE_BY_SESSION,
    USAGE_FLAGS = USAGE_NAMES | SES_USAGE_BY_DAY | SES_USAGE_BY_MODEL | SES_USAGE_BY_INVOCATION
};

/* The state of one call. */
struct adding_up {
    ses_store *store;
    ses_key scope;
    const ses_usage_options *options;
    struct list_filter filter;
    struct limits limits;
    struct usage_groups groups;
    bool as_it_is;      /* even if the tally lacks events */
    bool without_tally; /* which is damaged */
    /* out */
    struct usage_walk walk;
};

/* ------------------------------------------------------------------------------------------- the token */

/* The hash of all that a token must agree with. */
static uint32_t hash_of_usage(const struct adding_up *own)
{
    const unsigned char flags = (unsigned char)own->options->flags;
    const int64_t *const times[] = {own->options->since_us, own->options->before_us};
    uint32_t hash = ses__hash32(HASH32_BASIS, &flags, 1);

    hash = ses__filter_add_text(hash, 'a', own->scope.app);
    hash = ses__filter_add_text(hash, 'u', own->scope.user);
    hash = ses__filter_add_text(hash, 's', own->scope.session);
    hash = ses__filter_hash(hash, &own->filter);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        const uint64_t time = times[i] ? (uint64_t)*times[i] : 0;
        unsigned char bytes[9] = {times[i] != NULL};
        for (size_t b = 0; b < 8; b++)
            bytes[b + 1] = (unsigned char)(time >> 8 * b & 0xFF);
        hash = ses__hash32(hash, bytes, sizeof bytes);
    }
    return hash;
}

/* ---------------------------------------------------------------------------------------------- the job */

/* NOTFOUND without a message: nobody has written anything there. */
static int find_usage_scope(struct adding_up *own, struct db *db, ses_error *error)
{
    const ses_key *scope = &own->scope;
    struct user_row owner = {0, 0};
    struct session_row row;
    int code = SES_OK;

    if (scope->session) {
        code = ses__session_find(db, scope, &row, error);
        own->walk.session_id = row.id;
        return code == SES_NOTFOUND ? ses__no_such_session(scope, error) : code;
    }
    if (scope->app)
        code = ses__owner_find(db, scope->app, scope->user, &owner, error);
    own->walk.user_id = owner.id;
    own->walk.app_id = owner.app_id;
    return code;
}

static int run_adding_up(struct db *db, void *context, ses_error *error)
{
    struct adding_up *own = context;
    const unsigned flags = own->options->flags;
    bool is_kept = false;
    bool is_wanted = false;
    int code = SES_OK;

    if (!own->without_tally && !(flags & SES_USAGE_BY_INVOCATION))
        code = ses__usage_find_wish(db, &is_kept, &is_wanted, error);
    ses__table_clear(&own->groups.table); /* of an earlier run */
    ses__arena_reset(own->groups.arena);
    own->groups.unseen = (struct usage_group){.sums = NO_USAGE};
    own->walk = (struct usage_walk){.filter = own->filter,
                                    .names = (flags & USAGE_NAMES) != 0,
                                    .is_kept = is_kept,
                                    .stops_if_late = is_wanted && !own->as_it_is,
                                    .by_part = (flags & (SES_USAGE_BY_DAY | SES_USAGE_BY_MODEL)) != 0,
                                    .context = &own->groups,
                                    .share = share_of_groups,
                                    .visit = add_to_group};
    if (code == SES_OK)
        code = find_usage_scope(own, db, error);
    if (code == SES_NOTFOUND && !own->scope.session)
        return SES_OK;
    return code == SES_OK ? ses__usage_walk(db, &own->walk, error) : code;
}

static int run_once(struct adding_up *own, ses_error *error)
{
    return ses__run_within(own->store->storage, &own->limits, TO_READ_BEFORE_WRITING, run_adding_up, own,
                           error);
}

/* Brings the tally up to date, and makes its table if that is missing. If the store cannot be written to, or
 * the tally is damaged, it stays as it is. */
static int bring_up_to_date(const struct adding_up *own, ses_error *error)
{
    struct catch_up catching_up = {.store = own->store,
                                   .limits = own->limits,
                                   .feature = &ses__usage_feature,
                                   .app_id = own->walk.app_id,
                                   .user_id = own->walk.user_id,
                                   .session_id = own->walk.session_id};
    const int code =
        own->walk.is_kept ? ses__catch_up(&catching_up, error) : ses__feature_keep(&catching_up, 0, error);

    if (code != SES_READONLY && code != SES_FULL && code != SES_CORRUPT)
        return code;
    ses__error_clear(error);
    return SES_OK;
}

/* A tally that is damaged counts as not there. If the events are damaged, that is found without it, too. */
static int add_all_up(struct adding_up *own, ses_error *error)
{
    int code = run_once(own, error);

    if (code == SES_OK && own->walk.is_late) {
        code = bring_up_to_date(own, error);
        own->as_it_is = true;
        if (code == SES_OK)
            code = run_once(own, error);
    }
    if (code != SES_CORRUPT || !own->walk.is_kept)
        return code;
    ses__error_clear(error);
    own->without_tally = true;
    return run_once(own, error);
}

/* --------------------------------------------------------------------------------------------- the call */

static int take_usage_scope(ses_key *own, const ses_key *given, ses_error *error)
{
    *own = given ? *given : (ses_key){NULL, NULL, NULL};
    if ((own->user && !own->app) || (own->session && !own->user))
        return ses__error_set(error, SES_MISUSE, "scope: it has a %s, but no %s",
                              own->session && !own->user ? "session" : "user",
                              own->session && !own->user ? "user" : "app");
    return own->app ? ses__check_owner(own->app, own->user, own->session, error) : SES_OK;
}

static int make_rows(struct adding_up *own, ses_usage_rows *rows, ses_error *error)
{
    const ses_allocator *allocator = &own->store->allocator;
    const char *token = own->options->token;
    struct usage_groups *groups = &own->groups;
    struct buffer after; /* of the token: the key after which the page begins */
    struct buffer next;
    struct span last_key = {NULL, 0};
    bool more = false;
    int code = SES_OK;

    *groups = (struct usage_groups){
        .options = own->options, .seed = own->store->seed, .arena = &rows->arena, .allocator = allocator};
    ses__buffer_init(&groups->key, allocator);
    ses__buffer_init(&after, allocator);
    if (token && !ses__token_read(token, hash_of_usage(own), &after, &groups->after))
        code = after.failed
                   ? ses__error_nomem(error)
                   : ses__error_set(error, SES_INVALID, "usage options: the token is not one of such a call");
    if (code == SES_OK)
        code = add_all_up(own, error);
    if (code == SES_OK && !take_groups(groups, own->options->limit, rows, &last_key, &more))
        code = ses__error_nomem(error);
    if (code == SES_OK && more) {
        ses__token_begin(&next, allocator);
        ses__buffer_add(&next, last_key.ptr, last_key.len);
        rows->token = ses__token_end(&next, hash_of_usage(own));
        code = rows->token ? SES_OK : ses__error_nomem(error);
    }
    ses__table_free(&groups->table, allocator);
    ses__buffer_free(&groups->key);
    ses__buffer_free(&after);
    return code;
}

static int usage_begun(ses_store *store, const ses_key *scope, const ses_usage_options *given,
                       ses_usage_rows **rows, ses_error *error)
{
    ses_usage_options options;
    struct adding_up own = {.store = store, .options = &options};
    int code = take_usage_scope(&own.scope, scope, error);

    if (code == SES_OK)
        code = ses__take_flagged(&options, sizeof options, given, USAGE_FLAGS, "usage options", error);
    if (code == SES_OK && options.limit > USAGE_ROWS_MAX)
        code = ses__error_set(error, SES_INVALID, "usage options: limit is more than %d", USAGE_ROWS_MAX);
    if (code == SES_OK && options.limit == 0)
        options.limit = USAGE_ROWS;
    if (code == SES_OK)
        code = ses__filter_take(options.filter, own.scope.app, own.scope.user, &own.filter, error);
    if (code != SES_OK)
        return code;
    if (options.since_us && *options.since_us > own.filter.since_us) /* no event is later than its session */
        own.filter.since_us = *options.since_us;
    own.limits = LIMITS_OF(store, options);
    ses_usage_rows *made = ses__memory_zeroed(&store->allocator, sizeof *made);
    if (!made)
        return ses__error_nomem(error);
    made->store = store;
    ses__store_retain(store);
    ses__arena_init(&made->arena, &store->allocator);
    code = make_rows(&own, made, error);
    if (code == SES_OK)
        *rows = made;
    else
        ses_usage_rows_close(made);
    return code;
}

int ses_store_usage(ses_store *store, const ses_key *scope, const ses_usage_options *options,
                    ses_usage_rows **rows, ses_error *error)
{
    int code = ses__store_begin_giving(store, rows, "rows", error);
    return code == SES_OK ? ses__store_end(store, usage_begun(store, scope, options, rows, error)) : code;
}

/* ---------------------------------------------------------------------------------------- ses_store_tally */

enum { TALLY_FLAGS = SES_TALLY_REBUILD | SES_TALLY_DROP };
_Static_assert((int)SES_TALLY_REBUILD == (int)KEEP_REBUILD && (int)SES_TALLY_DROP == (int)KEEP_DROP,
               "the flags are passed on");

static int tally_begun(ses_store *store, const ses_tally_options *given, int64_t *events, ses_error *error)
{
    ses_tally_options options;
    int code = ses__take_flagged(&options, sizeof options, given, TALLY_FLAGS, "tally options", error);

    if (code == SES_OK && options.flags == TALLY_FLAGS)
        code = ses__error_set(error, SES_MISUSE, "tally options: both SES_TALLY_REBUILD and SES_TALLY_DROP");
    if (code != SES_OK)
        return code;
    struct catch_up keeping = {.store = store,
                               .limits = LIMITS_OF(store, options),
                               .feature = &ses__usage_feature,
                               .progress = options.progress,
                               .progress_context = options.progress_context};
    code = ses__feature_keep(&keeping, options.flags, error);
    if (events)
        *events = keeping.events;
    return code;
}

int ses_store_tally(ses_store *store, const ses_tally_options *options, int64_t *events, ses_error *error)
{
    int code = ses__store_begin(store, error);

    if (events)
        *events = 0;
    return code == SES_OK ? ses__store_end(store, tally_begun(store, options, events, error)) : code;
}
