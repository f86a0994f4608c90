/* A store with a tally against one without: whatever happens to both, their usage is the same. */
#include "seslite_history.h"
#include "seslite_usage.h"

#include "open.h"
#include "random.h"

enum { USERS = 2, SESSIONS = 4, OPERATIONS = 150, EVENTS = 2 };

struct twins {
    struct fixture *tallied;
    struct fixture *plain;
    uint64_t seed;
    int events;
    int64_t second;
};

static void append_call(const struct twins *twins, const ses_key *to, ses_store *store, uint64_t seed, int id)
{
    static const char *const models[] = {"\"m1\"", "\"m2\"", "\"\\u006d1\"", "7", "\"\""};
    static const char *const counts[] = {"0", "1", "128", "70000", "-1", "null", "1e2", "9007199254740993"};
    char event[600];
    ses_error error;
    int len =
        snprintf(event, sizeof event, "{\"id\":\"e%d\",\"invocationId\":\"i%d\",\"timestamp\":%lld", id,
                 id / 2, (long long)(twins->second + (int64_t)random_below(&seed, id % 3 ? 2000 : 200000)));

    if (random_below(&seed, 3) > 0)
        len += snprintf(event + len, sizeof event - (size_t)len,
                        ",\"modelVersion\":%s,\"usageMetadata\":{\"promptTokenCount\":%s,"
                        "\"thoughts_token_count\":%s,\"totalTokenCount\":%s}",
                        models[random_below(&seed, 5)], counts[random_below(&seed, 8)],
                        counts[random_below(&seed, 8)], counts[random_below(&seed, 8)]);
    snprintf(event + len, sizeof event - (size_t)len, "}");
    const int code = ses_append_by_key(store, to, event, SES_NUL, NULL, NULL, &error);
    if (code != SES_NOTFOUND)
        assert_ok(code);
}

/* The same on both; what one refuses, the other does, too. */
static void change(const struct twins *twins, ses_store *store, const ses_key *key, uint64_t seed, int what)
{
    const ses_point point = {
        .size = sizeof point, .kind = SES_POINT_SEQ, .seq = (int64_t)random_below(&seed, 80)};
    const ses_prune_options prune = {
        .size = sizeof prune, .which = SES_PRUNE_KEEP, .keep = (int64_t)random_below(&seed, 70)};
    const char name[2] = {(char)('a' + (int)random_below(&seed, SESSIONS)), '\0'};
    const ses_key to = {key->app, key->user, name};
    ses_error error;

    if (what == 0)
        (void)ses_delete(store, key, NULL, NULL, &error);
    else if (what == 1)
        (void)ses_cut_by_key(store, key, &point, NULL, NULL, &error);
    else if (what == 2)
        (void)ses_prune_by_key(store, key, &prune, NULL, &error);
    else if (what == 3)
        (void)ses_fork_by_key(store, key, &point, &to, NULL, NULL, &error);
    else if (what == 4 && random_below(&seed, 5) == 0)
        (void)ses_delete_user(store, key->app, key->user, NULL, NULL, NULL, &error);
    else if (what == 5)
        (void)ses_rewind_by_key(store, key, &point, NULL, NULL, &error);
    else
        (void)ses_create(store, key, NULL, 0, NULL, NULL, &error);
    for (int i = 0; what > 5 && i < EVENTS * what; i++)
        append_call(twins, key, store, random_next(&seed), twins->events + i);
}

static void change_both(struct twins *twins)
{
    const char user[2] = {(char)('u' + (int)random_below(&twins->seed, USERS)), '\0'};
    const char session[2] = {(char)('a' + (int)random_below(&twins->seed, SESSIONS)), '\0'};
    const ses_key key = {"app", user, session};
    const int what = (int)random_below(&twins->seed, 14);
    const uint64_t seed = random_next(&twins->seed);

    twins->second += (int64_t)random_below(&twins->seed, 3);
    twins->tallied->now = twins->plain->now = twins->second * 1000000;
    change(twins, twins->tallied->store, &key, seed, what);
    change(twins, twins->plain->store, &key, seed, what);
    twins->events += EVENTS * 14;
}

static char *all_usage(ses_store *store, const ses_key *scope, ses_usage_options options)
{
    char token[2000] = "";
    struct text all = {NULL, 0};
    ses_error error;

    text_printf(&all, "%s", "");
    do {
        ses_usage_rows *rows = NULL;
        options.limit = 3;
        options.token = token[0] ? token : NULL;
        assert_ok(ses_store_usage(store, scope, &options, &rows, &error));
        for (size_t i = 0; i < ses_usage_rows_count(rows); i++) {
            const ses_usage_row *row = ses_usage_rows_at(rows, i);
            text_printf(&all, "%s/%s/%s/%s/%s %lld %lld %lld %lld %lld %lld %lld\n",
                        row->user ? row->user : "*", row->session ? row->session : "*",
                        row->day ? row->day : "*", row->model ? row->model : "*",
                        row->invocation ? row->invocation : "*", (long long)row->calls,
                        (long long)row->prompt, (long long)row->thoughts, (long long)row->total,
                        (long long)row->odd, (long long)row->first_us, (long long)row->last_us);
        }
        snprintf(token, sizeof token, "%s", ses_usage_rows_token(rows) ? ses_usage_rows_token(rows) : "");
        ses_usage_rows_close(rows);
    } while (token[0]);
    return all.data;
}

/* Ahead by another hour in each. */
static int moving_zone(void *context, int64_t time_us)
{
    (void)context;
    return (int)(time_us / 1000000 / 3600 % 24) * 3600;
}

/* Ahead by minutes and seconds, as zones once were: days begin within a quarter of an hour. */
static int odd_zone(void *context, int64_t time_us)
{
    (void)context;
    (void)time_us;
    return 11 * 3600 + 19 * 60 + 32;
}

/* NULL, or a time around those of the events. */
static const int64_t *some_time(struct twins *twins, int64_t *time_us)
{
    const bool is_near = random_below(&twins->seed, 2) == 0;
    const int64_t ahead = (int64_t)random_below(&twins->seed, is_near ? 2000 : 300000);

    *time_us = (twins->second + ahead - (is_near ? 0 : 100000)) * 1000000;
    return random_below(&twins->seed, 3) == 0 ? time_us : NULL;
}

static void compare_usage(struct twins *twins, int round)
{
    const ses_key scopes[] = {
        {NULL, NULL, NULL}, {"app", NULL, NULL}, {"app", "u", NULL}, {"app", "v", NULL}};
    int (*const zones[])(void *, int64_t) = {NULL, moving_zone, odd_zone};
    const ses_key *scope = &scopes[random_below(&twins->seed, 4)];
    int64_t since;
    int64_t before;
    int64_t updated;
    const ses_filter filter = {.size = sizeof filter, .updated_since_us = some_time(twins, &updated)};
    const ses_usage_options options = {.size = sizeof options,
                                       .flags = (unsigned)random_below(&twins->seed, 64),
                                       .since_us = some_time(twins, &since),
                                       .before_us = some_time(twins, &before),
                                       .zone = zones[random_below(&twins->seed, 3)],
                                       .filter = &filter};
    char *tallied = all_usage(twins->tallied->store, scope, options);
    char *plain = all_usage(twins->plain->store, scope, options);

    if (strcmp(tallied, plain) != 0)
        fail_msg("round %d, flags %x: with a tally\n%swithout\n%s", round, options.flags, tallied, plain);
    free(plain);
    free(tallied);
}

TEST(random_changes)
{
    const ses_check_options whole = {.size = sizeof whole, .level = SES_CHECK_LOG};
    void *plain = NULL;
    struct twins twins = {.tallied = fixture, .seed = 7, .second = 1700000000};
    int64_t problems = -1;

    assert_int_equal(fixture_setup(&plain), 0);
    twins.plain = plain;
    for (int round = 0; round < OPERATIONS; round++) {
        if (round == 20)
            assert_ok(ses_store_tally(twins.tallied->store, NULL, NULL, &error));
        change_both(&twins);
        if (random_below(&twins.seed, 3) == 0)
            compare_usage(&twins, round);
    }
    assert_ok(ses_store_check(twins.tallied->store, &whole, &problems, &error));
    assert_int_equal(problems, 0);
    fixture_teardown(&plain);
}
