/* The tokens that models have used, added up, with and without a tally. */
#include "seslite_history.h"
#include "seslite_usage.h"

#include "open.h"

static const ses_key one = {"app", "ann", "one"};
static const ses_key two = {"app", "ann", "two"};
static const ses_key other = {"app", "bob", "one"};

static void call_model(ses_store *store, const ses_key *key, int64_t second, const char *invocation,
                       const char *rest)
{
    char event[1000];

    snprintf(event, sizeof event, "{\"invocationId\":\"%s\",\"timestamp\":%lld,%s}", invocation,
             (long long)second, rest);
    must_append_by_key(store, key, event);
}

static ses_usage_rows *must_add_up(ses_store *store, const ses_key *scope, const ses_usage_options *options)
{
    ses_usage_rows *rows = NULL;
    ses_error error;

    assert_ok(ses_store_usage(store, scope, options, &rows, &error));
    return rows;
}

static void put_name(struct text *out, const char *name)
{
    if (name)
        text_printf(out, "%s ", name[0] ? name : "-");
}

/* "ann one m1 2: 30 0 5 0 0 35;" for a row by user, session and model with two calls. */
static void put_row(struct text *out, const ses_usage_row *row)
{
    put_name(out, row->app);
    put_name(out, row->user);
    put_name(out, row->session);
    put_name(out, row->day);
    put_name(out, row->model);
    put_name(out, row->invocation);
    text_printf(out, "%lld: %lld %lld %lld %lld %lld %lld", (long long)row->calls, (long long)row->prompt,
                (long long)row->cached, (long long)row->candidates, (long long)row->thoughts,
                (long long)row->tool_use, (long long)row->total);
    if (row->odd > 0)
        text_printf(out, " (odd: %lld)", (long long)row->odd);
    text_printf(out, ";");
}

/* All rows, on pages of two. */
static void assert_usage(ses_store *store, const ses_key *scope, unsigned flags, const char *expected)
{
    ses_usage_options options = {.size = sizeof options, .flags = flags, .limit = 2};
    struct text out = {NULL, 0};
    char token[9000];

    text_printf(&out, "%s", "");
    do {
        ses_usage_rows *rows = must_add_up(store, scope, &options);
        for (size_t i = 0; i < ses_usage_rows_count(rows); i++)
            put_row(&out, ses_usage_rows_at(rows, i));
        assert_null(ses_usage_rows_at(rows, ses_usage_rows_count(rows)));
        snprintf(token, sizeof token, "%s", ses_usage_rows_token(rows) ? ses_usage_rows_token(rows) : "");
        options.token = token[0] ? token : NULL;
        ses_usage_rows_close(rows);
    } while (options.token);
    assert_string_equal(out.data, expected);
    free(out.data);
}

static void must_tally(ses_store *store, unsigned flags)
{
    const ses_tally_options options = {.size = sizeof options, .flags = flags};
    ses_error error;

    assert_ok(ses_store_tally(store, &options, NULL, &error));
}

/* Both without a tally, with one that is made, and with one that must be brought up to date. */
typedef void fill(ses_store *store);
static void in_each_way(struct fixture *fixture, fill *begin, fill *go_on, void (*look)(ses_store *store))
{
    begin(fixture->store);
    go_on(fixture->store);
    look(fixture->store);
    must_tally(fixture->store, 0);
    look(fixture->store);
    must_tally(fixture->store, SES_TALLY_DROP);
    look(fixture->store);
    ses_error error;
    assert_ok(ses_delete_user(fixture->store, "app", "ann", NULL, NULL, NULL, &error));
    assert_ok(ses_delete_user(fixture->store, "app", "bob", NULL, NULL, NULL, &error));
    must_tally(fixture->store, 0);
    begin(fixture->store);
    must_tally(fixture->store, 0);
    go_on(fixture->store);
    look(fixture->store);
    look(fixture->store);
}

#define USAGE_M1 \
    "\"modelVersion\":\"m1\",\"usageMetadata\":{\"promptTokenCount\":10,\"candidatesTokenCount\":5,\"totalTokenCount\":15}"
#define USAGE_M2                                                               \
    "\"model_version\":\"m2\",\"usage_metadata\":{\"prompt_token_count\":100," \
    "\"cached_content_token_count\":60,\"candidates_token_count\":7,"          \
    "\"thoughts_token_count\":3,\"tool_use_prompt_token_count\":1,\"total_token_count\":112}"

enum { DAY = 86400 };

static void begin_two_users(ses_store *store)
{
    must_create(store, &one, NULL);
    must_create(store, &two, NULL);
    must_create(store, &other, NULL);
    call_model(store, &one, 10, "i1", USAGE_M1);
    call_model(store, &one, 11, "i1", "\"author\":\"user\"");
    call_model(store, &one, 12, "i1", USAGE_M2);
    call_model(store, &two, 13, "i2", "\"usageMetadata\":{}");
}

static void go_on_with_two_users(ses_store *store)
{
    call_model(store, &other, 14, "i3", USAGE_M2);
    call_model(store, &one, DAY + 10, "i4", USAGE_M1);
}

static void look_at_two_users(ses_store *store)
{
    const ses_key ann = {"app", "ann", NULL};
    const ses_key app = {"app", NULL, NULL};
    const ses_key nobody = {"app", "nobody", NULL};
    const ses_key elsewhere = {"elsewhere", NULL, NULL};

    assert_usage(store, NULL, 0, "5: 220 120 24 6 2 254;");
    assert_usage(store, &app, SES_USAGE_BY_APP, "app 5: 220 120 24 6 2 254;");
    assert_usage(store, &app, SES_USAGE_BY_USER, "ann 4: 120 60 17 3 1 142;bob 1: 100 60 7 3 1 112;");
    assert_usage(store, &ann, SES_USAGE_BY_SESSION, "one 3: 120 60 17 3 1 142;two 1: 0 0 0 0 0 0;");
    assert_usage(store, NULL, SES_USAGE_BY_SESSION, "one 4: 220 120 24 6 2 254;two 1: 0 0 0 0 0 0;");
    assert_usage(store, &app, SES_USAGE_BY_MODEL,
                 "- 1: 0 0 0 0 0 0;m1 2: 20 0 10 0 0 30;m2 2: 200 120 14 6 2 224;");
    assert_usage(store, &one, SES_USAGE_BY_INVOCATION | SES_USAGE_BY_MODEL,
                 "m1 i1 1: 10 0 5 0 0 15;m1 i4 1: 10 0 5 0 0 15;m2 i1 1: 100 60 7 3 1 112;");
    assert_usage(store, &one, SES_USAGE_BY_DAY | SES_USAGE_BY_SESSION,
                 "one 1970-01-01 2: 110 60 12 3 1 127;one 1970-01-02 1: 10 0 5 0 0 15;");
    assert_usage(store, &nobody, SES_USAGE_BY_USER, "");
    assert_usage(store, &elsewhere, 0, "");
}

TEST(every_grouping_in_every_scope)
{
    in_each_way(fixture, begin_two_users, go_on_with_two_users, look_at_two_users);
}

/* ------------------------------------------------------------------------------------------------ counts */

static void begin_odd(ses_store *store)
{
    must_create(store, &one, NULL);
    call_model(store, &one, 1, "i",
               "\"usageMetadata\":{\"promptTokenCount\":-1,\"candidatesTokenCount\":1.5}");
    call_model(store, &one, 2, "i",
               "\"usageMetadata\":{\"promptTokenCount\":\"7\",\"totalTokenCount\":9007199254740992}");
    call_model(store, &one, 3, "i",
               "\"usageMetadata\":{\"promptTokenCount\":null,\"thoughtsTokenCount\":2e1}");
    call_model(store, &one, 4, "i", "\"usageMetadata\":{\"totalTokenCount\":9007199254740991}");
    call_model(store, &one, 5, "i", "\"usageMetadata\":[1],\"usage_metadata\":\"none\"");
}

static void go_on_with_odd(ses_store *store)
{
    call_model(store, &one, 6, "i", "\"modelVersion\":7,\"usageMetadata\":{\"promptTokenCount\":0}");
    call_model(store, &one, 7, "i",
               "\"modelVersion\":\"a\\u0000b\",\"usageMetadata\":{\"promptTokenCount\":1}");
    call_model(store, &one, 8, "i",
               "\"modelVersion\":\"\\u006d\\ud800\",\"usageMetadata\":{\"promptTokenCount\":2}");
    call_model(store, &one, 9, "i",
               "\"modelVersion\":\"\\u006d1\",\"usageMetadata\":{\"\\u0070romptTokenCount\":3}");
}

static void look_at_odd(ses_store *store)
{
    assert_usage(store, &one, 0, "8: 6 0 0 20 0 9007199254740991 (odd: 4);");
    assert_usage(
        store, &one, SES_USAGE_BY_MODEL,
        "- 6: 1 0 0 20 0 9007199254740991 (odd: 4);\\u006d\\ud800 1: 2 0 0 0 0 0;m1 1: 3 0 0 0 0 0;");
}

TEST(counts_that_are_none)
{
    in_each_way(fixture, begin_odd, go_on_with_odd, look_at_odd);
}

TEST(sums_that_are_too_large)
{
    enum { CALLS = 1100 };
    ses_usage_rows *rows = NULL;

    must_create(fixture->store, &one, NULL);
    for (int i = 0; i < CALLS; i++)
        call_model(fixture->store, &one, i, "i",
                   "\"usageMetadata\":{\"totalTokenCount\":9007199254740991,\"promptTokenCount\":2}");
    for (int i = 0; i < 2; i++) {
        rows = must_add_up(fixture->store, &one, NULL);
        assert_int_equal(ses_usage_rows_at(rows, 0)->total, INT64_MAX);
        assert_int_equal(ses_usage_rows_sum(rows)->total, INT64_MAX);
        assert_int_equal(ses_usage_rows_sum(rows)->prompt, 2 * CALLS);
        assert_int_equal(ses_usage_rows_sum(rows)->calls, CALLS);
        ses_usage_rows_close(rows);
        must_tally(fixture->store, 0);
    }
    call_model(fixture->store, &one, CALLS, "i", "\"usageMetadata\":{\"totalTokenCount\":1}");
    assert_usage(fixture->store, &one, SES_USAGE_BY_MODEL, "- 1101: 2200 0 0 0 0 9223372036854775807;");
}

/* ----------------------------------------------------------------------------------------- times and days */

TEST(times)
{
    const int64_t since = 20 * 1000000;
    const int64_t before = 30 * 1000000;
    const ses_usage_options options = {.size = sizeof options, .since_us = &since, .before_us = &before};

    must_create(fixture->store, &one, NULL);
    for (int second = 10; second < 40; second++)
        call_model(fixture->store, &one, second, "i", USAGE_M1);
    for (int i = 0; i < 2; i++) {
        ses_usage_rows *rows = must_add_up(fixture->store, NULL, &options);
        assert_int_equal(ses_usage_rows_count(rows), 1);
        assert_int_equal(ses_usage_rows_sum(rows)->calls, 10);
        assert_int_equal(ses_usage_rows_at(rows, 0)->first_us, since);
        assert_int_equal(ses_usage_rows_at(rows, 0)->last_us, before - 1000000);
        ses_usage_rows_close(rows);
        must_tally(fixture->store, 0);
    }
}

/* An hour ahead until second 1000 * 900, then two. */
static int zone(void *context, int64_t time_us)
{
    ++*(int *)context;
    return time_us < INT64_C(900000000000) ? 3600 : 7200;
}

static int wild_zone(void *context, int64_t time_us)
{
    (void)context;
    return time_us < 0 ? INT32_MIN : INT32_MAX;
}

static void assert_days(ses_store *store, int (*given)(void *, int64_t), const char *expected)
{
    int calls = 0;
    const ses_usage_options options = {
        .size = sizeof options, .flags = SES_USAGE_BY_DAY, .zone = given, .zone_context = &calls};
    ses_usage_rows *rows = must_add_up(store, &one, &options);
    struct text out = {NULL, 0};

    for (size_t i = 0; i < ses_usage_rows_count(rows); i++)
        text_printf(&out, "%s %lld;", ses_usage_rows_at(rows, i)->day,
                    (long long)ses_usage_rows_at(rows, i)->calls);
    assert_string_equal(out.data, expected);
    if (given == zone)
        assert_in_range(calls, 1, 7);
    free(out.data);
    ses_usage_rows_close(rows);
}

TEST(days)
{
    static const int64_t seconds[] = {-62167219200,         -1,          0, DAY - 3600, 10 * DAY + DAY - 7200,
                                      11016 * (int64_t)DAY, 253402300799};

    must_create(fixture->store, &one, NULL);
    for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; i++) {
        char event[200];
        snprintf(event, sizeof event, "{\"timestamp\":\"%s\",%s}",
                 (const char *const[]){"0000-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z",
                                       "1970-01-01T23:00:00Z", "1970-01-11T22:00:00Z", "2000-02-29T00:00:00Z",
                                       "9999-12-31T23:59:59Z"}[i],
                 "\"usageMetadata\":{}");
        must_append_by_key(fixture->store, &one, event);
    }
    assert_days(fixture->store, NULL,
                "0000-01-01 1;1969-12-31 1;1970-01-01 2;1970-01-11 1;2000-02-29 1;9999-12-31 1;");
    assert_days(fixture->store, zone,
                "0000-01-01 1;1970-01-01 2;1970-01-02 1;1970-01-12 1;2000-02-29 1;9999-12-31 1;");
    assert_days(fixture->store, wild_zone,
                "0000-01-01 1;1969-12-30 1;1970-01-02 2;1970-01-12 1;2000-03-01 1;9999-12-31 1;");
}

/* Amsterdam, until 1937. */
static int zone_of_odd_minutes(void *context, int64_t time_us)
{
    (void)context;
    (void)time_us;
    return 19 * 60 + 32;
}

TEST(a_day_begins_within_a_quarter_of_an_hour)
{
    static const char *const times[] = {"1936-03-01T23:40:27Z", "1936-03-01T23:40:28Z",
                                        "1936-03-01T23:31:00Z"};

    must_create(fixture->store, &one, NULL);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        char event[200];
        snprintf(event, sizeof event, "{\"timestamp\":\"%s\",\"usageMetadata\":{}}", times[i]);
        must_append_by_key(fixture->store, &one, event);
    }
    assert_days(fixture->store, zone_of_odd_minutes, "1936-03-01 2;1936-03-02 1;");
}

/* ------------------------------------------------------------------------------------------- what is left */

static void assert_total(ses_store *store, const ses_key *scope, int64_t calls)
{
    ses_usage_rows *rows = must_add_up(store, scope, NULL);

    assert_int_equal(ses_usage_rows_sum(rows)->calls, calls);
    ses_usage_rows_close(rows);
}

/* A rewind and a fork leave and copy calls; what is cut, pruned or deleted is gone. */
TEST(live_and_copied_calls_count)
{
    ses_store *store = fixture->store;
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = 5};
    const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_KEEP, .keep = 2};

    must_create(store, &one, NULL);
    for (int i = 0; i < 10; i++) {
        char invocation[8];
        snprintf(invocation, sizeof invocation, "i%d", i);
        call_model(store, &one, i, invocation, USAGE_M1);
    }
    must_tally(store, 0);
    assert_ok(ses_rewind_by_key(store, &one, &point, NULL, NULL, &error));
    assert_total(store, &one, 10);
    assert_ok(ses_fork_by_key(store, &one, &point, &two, NULL, NULL, &error));
    assert_total(store, &two, 5);
    assert_total(store, NULL, 15);
    assert_ok(ses_cut_by_key(store, &one, &point, NULL, NULL, &error));
    assert_total(store, &one, 5);
    assert_ok(ses_prune_by_key(store, &one, &prune, NULL, &error));
    assert_total(store, &one, 2);
    call_model(store, &one, 20, "later", USAGE_M1);
    assert_total(store, &one, 3);
    must_delete(store, &one);
    assert_total(store, NULL, 5);
    must_create(store, &one, NULL);
    assert_total(store, &one, 0);
}

/* ---------------------------------------------------------------------------------------------- the calls */

static void refuse(ses_store *store, const ses_key *scope, const ses_usage_options *options, int code,
                   const char *words)
{
    ses_usage_rows *rows = NULL;
    ses_error error;

    assert_code(code, ses_store_usage(store, scope, options, &rows, &error));
    assert_message(words);
    assert_null(rows);
}

TEST(wrong_arguments)
{
    ses_store *store = fixture->store;
    const ses_key no_user = {"app", NULL, "s"};
    const ses_key no_app = {NULL, "user", NULL};
    const ses_key empty = {"", NULL, NULL};
    const ses_usage_options flags = {.size = sizeof flags, .flags = 0x40};
    const ses_usage_options limit = {.size = sizeof limit, .limit = 10001};
    const ses_usage_options token = {.size = sizeof token, .token = "bm9uZQ"};
    const ses_tally_options both = {.size = sizeof both, .flags = SES_TALLY_DROP | SES_TALLY_REBUILD};

    refuse(store, &no_user, NULL, SES_MISUSE, "no user");
    refuse(store, &no_app, NULL, SES_MISUSE, "no app");
    refuse(store, &empty, NULL, SES_INVALID, "app");
    refuse(store, &one, NULL, SES_NOTFOUND, "no session");
    refuse(store, NULL, &flags, SES_MISUSE, "usage options");
    refuse(store, NULL, &limit, SES_INVALID, "10000");
    refuse(store, NULL, &token, SES_INVALID, "token");
    refuse(NULL, NULL, NULL, SES_MISUSE, "NULL");
    assert_code(SES_MISUSE, ses_store_usage(store, NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_store_tally(store, &both, NULL, &error));
    assert_code(SES_MISUSE, ses_store_tally(NULL, NULL, NULL, &error));
    assert_int_equal(ses_usage_rows_count(NULL), 0);
    assert_null(ses_usage_rows_at(NULL, 0));
    assert_null(ses_usage_rows_sum(NULL));
    assert_null(ses_usage_rows_token(NULL));
    ses_usage_rows_close(NULL);
}

TEST(a_token_is_for_the_same_call)
{
    ses_store *store = fixture->store;
    const int64_t since = 1;
    ses_usage_options options = {.size = sizeof options, .flags = SES_USAGE_BY_SESSION, .limit = 1};

    begin_two_users(store);
    ses_usage_rows *rows = must_add_up(store, NULL, &options);
    assert_non_null(ses_usage_rows_token(rows));
    assert_int_equal(ses_usage_rows_sum(rows)->calls, 3);
    options.token = ses_usage_rows_token(rows);
    ses_usage_rows *second = must_add_up(store, NULL, &options);
    assert_string_equal(ses_usage_rows_at(second, 0)->session, "two");
    assert_int_equal(ses_usage_rows_sum(second)->calls, 3);
    assert_null(ses_usage_rows_token(second));
    ses_usage_rows_close(second);
    refuse(store, &one, &options, SES_INVALID, "token");
    options.since_us = &since;
    refuse(store, NULL, &options, SES_INVALID, "token");
    options.since_us = NULL;
    options.flags = SES_USAGE_BY_USER;
    refuse(store, NULL, &options, SES_INVALID, "token");
    ses_usage_rows_close(rows);
}

/* A page outlives its store. */
TEST(a_page_after_the_close)
{
    const ses_usage_options options = {.size = sizeof options, .flags = SES_USAGE_BY_USER};

    begin_two_users(fixture->store);
    ses_usage_rows *rows = must_add_up(fixture->store, NULL, &options);
    ses_close(fixture->store);
    fixture->store = NULL;
    assert_string_equal(ses_usage_rows_at(rows, 0)->user, "ann");
    ses_usage_rows_close(rows);
}

struct seen_progress {
    int calls;
    int64_t done;
    int64_t total;
};

static int note_progress(void *context, int64_t done, int64_t total)
{
    struct seen_progress *seen = context;

    assert_true(done > seen->done);
    seen->calls++;
    seen->done = done;
    seen->total = total;
    return seen->calls == 1;
}

/* Events that were added before the end stay, and are not read again. */
TEST(a_tally_in_steps)
{
    const size_t long_text = 700 * 1000;
    struct seen_progress seen = {0, 0, 0};
    const ses_tally_options options = {
        .size = sizeof options, .progress = note_progress, .progress_context = &seen};
    const ses_tally_options rebuild = {.size = sizeof rebuild, .flags = SES_TALLY_REBUILD};
    char *event = malloc(long_text + 200);
    int64_t events = 0;

    must_create(fixture->store, &one, NULL);
    const int head =
        sprintf(event, "{\"usageMetadata\":{\"totalTokenCount\":7},\"content\":{\"parts\":[{\"text\":\"");
    memset(event + head, 'x', long_text);
    strcpy(event + (size_t)head + long_text, "\"}]}}");
    for (int i = 0; i < 4; i++)
        must_append_by_key(fixture->store, &one, event);
    assert_code(SES_INTERRUPTED, ses_store_tally(fixture->store, &options, &events, &error));
    assert_int_equal(seen.total, 4);
    assert_int_equal(events, seen.done);
    assert_in_range(events, 1, 3);
    const int64_t before = events;
    assert_total(fixture->store, NULL, 4);
    assert_ok(ses_store_tally(fixture->store, NULL, &events, &error));
    assert_int_equal(events, 0);
    assert_ok(ses_store_tally(fixture->store, &rebuild, &events, &error));
    assert_int_equal(events, 4);
    assert_true(before < 4);
    assert_total(fixture->store, NULL, 4);
    free(event);
}

/* ----------------------------------------------------------------------------------------------- a filter */

static void assert_filtered(ses_store *store, const ses_key *scope, const ses_filter *filter, int64_t calls)
{
    const ses_usage_options options = {.size = sizeof options, .filter = filter};
    ses_usage_rows *rows = must_add_up(store, scope, &options);

    assert_int_equal(ses_usage_rows_sum(rows)->calls, calls);
    ses_usage_rows_close(rows);
}

/* `one` has a call and a label, `two` has two, and `other` has three and the label with another value. */
TEST(a_filter)
{
    const ses_key app = {"app", NULL, NULL};
    const ses_key ann = {"app", "ann", NULL};
    const ses_key *const keys[] = {&one, &two, &other};
    const int64_t late = 200 * 1000000;
    const ses_filter labelled = {.size = sizeof labelled, .label = "team"};
    const ses_filter of_team = {.size = sizeof of_team, .label = "team", .label_value = "x"};
    const ses_filter prefix = {.size = sizeof prefix, .id_prefix = "t"};
    const ses_filter since = {.size = sizeof since, .updated_since_us = &late};
    const ses_filter before = {.size = sizeof before, .updated_before_us = &late};
    const ses_filter written = {.size = sizeof written, .changed_since_us = &late};
    const ses_filter unlabelled = {.size = sizeof unlabelled, .without_label = "team"};
    const ses_filter shown = {.size = sizeof shown, .archived = SES_ARCHIVED_NO};
    const ses_usage_options options = {.size = sizeof options, .filter = &prefix};
    ses_usage_rows *rows = NULL;

    for (int k = 0; k < 3; k++) {
        fixture->now = (k + 1) * 100 * 1000000;
        must_create(fixture->store, keys[k], NULL);
        for (int i = 0; i <= k; i++)
            call_model(fixture->store, keys[k], 100 * (k + 1), "i", USAGE_M1);
    }
    assert_ok(ses_labels_set_by_key(fixture->store, &one, &(ses_label){"team", "x"}, 1, NULL, &error));
    assert_ok(ses_labels_set_by_key(fixture->store, &other, &(ses_label){"team", "y"}, 1, NULL, &error));
    assert_ok(ses_archive_set_by_key(fixture->store, &two, 1, NULL, &error));
    for (int i = 0; i < 2; i++) {
        assert_filtered(fixture->store, NULL, &shown, 4);
        assert_filtered(fixture->store, NULL, &labelled, 4);
        assert_filtered(fixture->store, &ann, &labelled, 1);
        assert_filtered(fixture->store, &two, &labelled, 0);
        assert_filtered(fixture->store, &app, &of_team, 1);
        assert_filtered(fixture->store, &ann, &prefix, 2);
        assert_filtered(fixture->store, &app, &since, 5);
        assert_filtered(fixture->store, &app, &before, 1);
        assert_filtered(fixture->store, &ann, &written, 2);
        assert_filtered(fixture->store, NULL, &unlabelled, 2);
        assert_filtered(fixture->store, &one, &unlabelled, 0);
        must_tally(fixture->store, 0);
    }
    assert_code(SES_MISUSE, ses_store_usage(fixture->store, &app, &options, &rows, &error));
}
