/*
 * Undo, redo and cuts in long logs whose invocations go on later, in a store with filters of invocations and
 * in one without, since a table of another program has their name. The filters are damaged at random.
 * SESLITE_TEST_SEED gives another seed than 1, and SESLITE_TEST_HISTORIES another number of histories.
 */
#include "check.h"
#include "random.h"
#include "history.h"

#include "seslite_erase.h"
#include "seslite_transfer.h"

enum { BATCH = 100, LONG = 1500, STRETCH = 8192 };

static void append_events(ses_store *store, const char (*invocations)[16], size_t count, uint64_t *number)
{
    static char events[BATCH][200];
    ses_text texts[BATCH];
    ses_error error;

    for (size_t i = 0; i < count; i++) {
        const int len =
            snprintf(events[i], sizeof events[i],
                     "{\"id\":\"%s-%llu\",\"invocationId\":\"%s\",\"author\":\"%s\",\"timestamp\":1,"
                     "\"content\":{\"parts\":[{\"text\":\"t\"}]},"
                     "\"actions\":{\"stateDelta\":{\"n\":%llu}}}",
                     "e", (unsigned long long)*number, invocations[i],
                     i == 0 || strcmp(invocations[i], invocations[i - 1]) != 0 ? "user" : "agent",
                     (unsigned long long)*number);
        texts[i] = (ses_text){events[i], (size_t)len};
        ++*number;
    }
    assert_ok(ses_append_batch_by_key(store, &key, texts, count, NULL, NULL, &error));
}

/* Turns of about two events. */
static void fill(ses_store *store, int events)
{
    char invocations[BATCH][16];
    uint64_t number = 0;

    must_create(store, &key, NULL);
    while (number < (uint64_t)events) {
        for (int i = 0; i < BATCH; i++)
            snprintf(invocations[i], sizeof invocations[i], "v%d", ((int)number + i) / 2);
        append_events(store, (const char(*)[16])invocations, BATCH, &number);
    }
}

#define PROGRESS                                                                                        \
    "SELECT d.seq, s.version - s.last_seq = d.epoch, (SELECT count(*) > 0 FROM invocation_filters AS f" \
    " WHERE f.session_id = s.id) FROM sessions AS s JOIN derived AS d ON d.session_id = s.id AND d.what = 'filters1'"
#define HAS_TABLE "SELECT count(*) FROM sqlite_schema WHERE name = 'invocation_filters'"
#define FILTERS "SELECT count(*) FROM invocation_filters"

TEST(an_undo_in_a_long_log_makes_them)
{
    fill(fixture->store, 400);
    must_rewind(fixture->store, &key, LAST_TURN);
    assert_query(fixture->path, HAS_TABLE, "0\n");
    must_delete(fixture->store, &key);
    fill(fixture->store, LONG);
    assert_as_of(fixture->store, &key, LAST_TURN, "{\"n\":1497}"); /* a reader writes nothing */
    assert_query(fixture->path, HAS_TABLE, "0\n");
    must_rewind(fixture->store, &key, LAST_TURN);
    assert_query(fixture->path, PROGRESS, "1500|1|1\n");
    assert_query(fixture->path, "SELECT name, needs FROM features WHERE name = 'filters1'", "filters1|1\n");
    assert_ok(ses_redo_by_key(fixture->store, &key, NULL, NULL, &error));
    assert_as_of(fixture->store, &key, BEFORE_INVOCATION("v700"), "{\"n\":1399}");
    assert_no_problems(fixture->store);
    assert_sound(fixture->path);
}

/* Full stretches, in parts, and an open one, behind which numbers are missing. */
TEST(a_log_of_many_stretches)
{
    char expected[32];
    char id[16];

    fill(fixture->store, 2 * STRETCH + 3000);
    must_rewind(fixture->store, &key, LAST_TURN);
    assert_query(fixture->path,
                 "SELECT count(*), count(DISTINCT first_seq), sum(part = 0) FROM invocation_filters",
                 "129|3|1\n");
    for (int turn = 1; turn < STRETCH + 1400; turn += 97) {
        snprintf(id, sizeof id, "v%d", turn);
        snprintf(expected, sizeof expected, "{\"n\":%d}", 2 * turn - 1);
        assert_as_of(fixture->store, &key, BEFORE_INVOCATION(id), expected);
    }
    assert_no_problems(fixture->store);
    assert_ok(ses_cut_by_key(fixture->store, &key, AFTER_SEQ(STRETCH / 2), NULL, NULL, &error));
    uint64_t number = 2 * STRETCH + 3000;
    for (int i = 0; i < 6; i++)
        append_events(fixture->store, (const char[BATCH][16]){"v9", "new"}, 2, &number);
    assert_as_of(fixture->store, &key, BEFORE_INVOCATION("new"), "{\"n\":19384}");
    assert_as_of(fixture->store, &key, BEFORE_INVOCATION("v9"), "{\"n\":17}");
    must_rewind(fixture->store, &key, BEFORE_INVOCATION("new"));
    assert_as_of(fixture->store, &key, BEFORE_INVOCATION("v700"), "{\"n\":1399}");
    assert_no_problems(fixture->store);
}

TEST(a_pop_keeps_them_and_a_redaction_does_not)
{
    const int64_t seqs[] = {3};

    fill(fixture->store, LONG);
    assert_ok(ses_cut_by_key(fixture->store, &key, LAST_TURN, NULL, NULL, &error));
    assert_query(fixture->path, PROGRESS, "1500|1|1\n");
    assert_ok(ses_redact_by_key(fixture->store, &key, seqs, 1, NULL, NULL, &error));
    assert_query(fixture->path, PROGRESS, "1500|0|1\n");
    assert_as_of(fixture->store, &key, LAST_TURN, "{\"n\":1495}");
    must_rewind(fixture->store, &key, LAST_TURN);
    assert_query(fixture->path, PROGRESS, "1500|1|1\n");
    assert_no_problems(fixture->store);
}

/* As a program does that does not know them: the table is only a part of a log that goes on, or of another
 * epoch. */
TEST(another_program_goes_on)
{
    fill(fixture->store, LONG);
    must_rewind(fixture->store, &key, LAST_TURN);
    raw_exec(fixture->path, "UPDATE sessions SET version = version + 1");
    raw_exec(fixture->path, "UPDATE events SET body = replace(body, '\"v1\"', '\"v749\"'), id_at = 'e-2',"
                            " invocation_at = 'v749' WHERE position & 0xFFFFFFFF = 3");
    fixture_reopen(fixture);
    assert_query(fixture->path, PROGRESS, "1500|0|1\n");
    assert_as_of(fixture->store, &key, BEFORE_INVOCATION("v749"), "{\"n\":1}");
    must_rewind(fixture->store, &key, BEFORE_INVOCATION("v749"));
    assert_query(fixture->path, PROGRESS, "1501|1|1\n");
    assert_as_of(fixture->store, &key, BEFORE_INVOCATION("v749"), "{\"n\":1}");
    raw_exec(fixture->path, "PRAGMA foreign_keys = 1; DELETE FROM sessions");
    assert_query(fixture->path, FILTERS, "0\n");
}

TEST(a_log_at_the_last_number)
{
    char *state = NULL;

    fill(fixture->store, LONG);
    raw_exec(fixture->path,
             "UPDATE sessions SET version = version + 4294967295 - last_seq, last_seq = 4294967295");
    fixture_reopen(fixture);
    assert_ok(ses_cut_by_key(fixture->store, &key, LAST_TURN, NULL, NULL, &error));
    assert_query(fixture->path, PROGRESS, "4294967295|1|1\n");
    assert_code(SES_NOTFOUND, ses_state_json_as_of_by_key(fixture->store, &key, BEFORE_INVOCATION("none"),
                                                          NULL, &state, NULL, &error));
}

TEST(a_pruned_log_and_a_deleted_one)
{
    const ses_prune_options early = {.size = sizeof early, .which = SES_PRUNE_SEQ, .last_seq = 1200};

    fill(fixture->store, STRETCH + 1000);
    must_rewind(fixture->store, &key, LAST_TURN);
    assert_ok(ses_prune_by_key(fixture->store, &key, &early, NULL, &error));
    assert_as_of(fixture->store, &key, BEFORE_INVOCATION("v700"), "{\"n\":1399}");
    assert_query(fixture->path, "SELECT min(first_seq) FROM invocation_filters",
                 "1\n"); /* a prune keeps them */
    raw_exec(fixture->path, "UPDATE sessions SET version = version + 1");
    fixture_reopen(fixture);
    must_rewind(fixture->store, &key, LAST_TURN);
    assert_query(fixture->path, "SELECT min(first_seq) FROM invocation_filters", "1201\n");
    assert_no_problems(fixture->store);
    must_delete(fixture->store, &key);
    assert_query(fixture->path, FILTERS, "0\n");
}

TEST(a_fork_begins_without)
{
    const ses_key to = {"app", "user", "fork"};

    fill(fixture->store, LONG);
    must_rewind(fixture->store, &key, LAST_TURN);
    assert_ok(ses_fork_by_key(fixture->store, &key, AFTER_SEQ(1400), &to, NULL, NULL, &error));
    assert_query(fixture->path, "SELECT count(*) FROM derived", "1\n");
    must_rewind(fixture->store, &to, LAST_TURN);
    assert_query(fixture->path, "SELECT seq FROM derived ORDER BY session_id", "1500\n1400\n");
}

TEST(a_filter_that_excludes_an_event_is_found)
{
    fill(fixture->store, LONG);
    must_rewind(fixture->store, &key, LAST_TURN);
    raw_exec(fixture->path, "UPDATE invocation_filters SET keys = zeroblob(length(keys))");
    char *problems = problems_of(fixture->store, SES_CHECK_LOG);
    assert_non_null(strstr(problems, "a filter of invocations up to event 1500 is damaged"));
    free(problems);
}

/* ------------------------------------------------------------------------------------------- broken pages */

static int redact(ses_store *store, ses_error *error)
{
    const int64_t seqs[] = {3};
    return ses_redact_by_key(store, &key, seqs, 1, NULL, NULL, error);
}

static int rewind_turn(ses_store *store, ses_error *error)
{
    return ses_rewind_by_key(store, &key, LAST_TURN, NULL, NULL, error);
}

static int cut_turn(ses_store *store, ses_error *error)
{
    return ses_cut_by_key(store, &key, LAST_TURN, NULL, NULL, error);
}

static int delete_securely(ses_store *store, ses_error *error)
{
    const ses_delete_options options = {.size = sizeof options, .flags = SES_SECURE};
    const int code = ses_delete(store, &key, &options, NULL, error);
    return code == SES_MORE ? SES_OK : code; /* damaged pages cannot be emptied */
}

static int delete_user(ses_store *store, ses_error *error)
{
    return ses_delete_user(store, key.app, key.user, NULL, NULL, NULL, error);
}

static int expire(ses_store *store, ses_error *error)
{
    const int64_t now_us = INT64_C(4000000000000000);
    const ses_expire_options options = {.size = sizeof options, .now_us = &now_us, .idle_us = 1};
    return ses_store_expire(store, NULL, &options, NULL, error);
}

static void break_filters(const char *path)
{
    raw_exec(path, "PRAGMA wal_checkpoint(TRUNCATE)");
    raw_break_table(path, "invocation_filters");
}

TEST(damage_refuses_nothing)
{
    int (*const calls[])(ses_store * store, ses_error * error) = {rewind_turn,     redact,      cut_turn,
                                                                  delete_securely, delete_user, expire};

    for (size_t i = 0; i < 2 * sizeof calls / sizeof calls[0]; i++) {
        fill(fixture->store, LONG);
        must_rewind(fixture->store, &key, LAST_TURN);
        assert_query(fixture->path, PROGRESS, "1500|1|1\n");
        ses_close(fixture->store);
        break_filters(fixture->path);
        if (i % 2 == 1)
            raw_exec(fixture->path, "DELETE FROM features WHERE name = 'filters1'");
        fixture->store = must_open(fixture->path, NULL);
        assert_ok(calls[i / 2](fixture->store, &error));
        if (i / 2 < 3) {
            assert_as_of(fixture->store, &key, BEFORE_INVOCATION("v700"), "{\"n\":1399}");
            must_delete(fixture->store, &key);
        }
        fill(fixture->store, LONG); /* they are made again */
        must_rewind(fixture->store, &key, LAST_TURN);
        assert_query(fixture->path, PROGRESS, "1500|1|1\n");
        must_delete(fixture->store, &key);
    }
}

TEST(a_store_that_is_only_read)
{
    const ses_open_options reading = {.size = sizeof reading, .flags = SES_OPEN_READ_ONLY};

    for (int made = 0; made < 2; made++) {
        fill(fixture->store, LONG);
        if (made)
            must_rewind(fixture->store, &key, LAST_TURN);
        ses_store *reader = must_open(fixture->path, &reading);
        assert_as_of(reader, &key, BEFORE_INVOCATION("v700"), "{\"n\":1399}");
        assert_code(SES_READONLY, rewind_turn(reader, &error));
        ses_close(reader);
        must_delete(fixture->store, &key);
    }
}

/* ------------------------------------------------------------------------------------- random histories */

struct pair {
    ses_store *with;
    ses_store *without;
    char *path;
    uint64_t random;
    uint64_t number; /* of the next event */
};

/* The next events are of new invocations, and at times of an old one. */
static void append_at_random(struct pair *pair, size_t count)
{
    char invocations[BATCH][16];
    uint64_t number = pair->number;

    for (size_t i = 0; i < count; i++) {
        const size_t kind = random_below(&pair->random, 40);
        const uint64_t of = kind == 0 ? random_below(&pair->random, (size_t)(pair->number + i) / 3 + 1)
                                      : (pair->number + i) / 3;
        snprintf(invocations[i], sizeof invocations[i], kind == 1 ? "" : "v%d", (int)of);
    }
    append_events(pair->with, (const char(*)[16])invocations, count, &pair->number);
    append_events(pair->without, (const char(*)[16])invocations, count, &number);
}

static void damage_at_random(struct pair *pair)
{
    static const char *const damages[] = {
        "DELETE FROM invocation_filters WHERE random() % 2 = 0",
        "UPDATE invocation_filters SET keys = randomblob(length(keys))",
        "UPDATE invocation_filters SET keys = zeroblob(length(keys))",
        "UPDATE invocation_filters SET keys = x''",
        "UPDATE invocation_filters SET sum = sum + 1",
        "UPDATE invocation_filters SET first_seq = first_seq - 100",
        "UPDATE OR IGNORE invocation_filters SET last_seq = last_seq + 100",
        "UPDATE OR IGNORE invocation_filters SET last_seq = 9223372036854775807",
        "UPDATE derived SET seq = seq / 2",
        "UPDATE derived SET seq = 9223372036854775807",
        "UPDATE derived SET epoch = epoch - 1",
        "DELETE FROM derived",
        "DELETE FROM features WHERE name = 'filters1'",
        "DROP TABLE IF EXISTS invocation_filters",
        "ALTER TABLE invocation_filters ADD COLUMN mine TEXT",
    };
    sqlite3 *db = raw_open(pair->path);

    /* There may be none, or they may be damaged already. */
    (void)sqlite3_exec(db, damages[random_below(&pair->random, sizeof damages / sizeof damages[0])], NULL,
                       NULL, NULL);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void compare_states(const struct pair *pair, const ses_point *point)
{
    char *with = NULL;
    char *without = NULL;
    ses_error error;
    const int code = ses_state_json_as_of_by_key(pair->with, &key, point, NULL, &with, NULL, &error);

    assert_int_equal(ses_state_json_as_of_by_key(pair->without, &key, point, NULL, &without, NULL, &error),
                     code);
    if (code == SES_OK)
        assert_string_equal(with, without);
    ses_free(with);
    ses_free(without);
}

static void do_both(const struct pair *pair, size_t what, const ses_point *point)
{
    ses_error error;
    ses_store *const stores[] = {pair->with, pair->without};
    int codes[2];

    for (int i = 0; i < 2; i++) {
        codes[i] = what == 0   ? ses_rewind_by_key(stores[i], &key, point, NULL, NULL, &error)
                   : what == 1 ? ses_redo_by_key(stores[i], &key, NULL, NULL, &error)
                               : ses_cut_by_key(stores[i], &key, point, NULL, NULL, &error);
    }
    assert_int_equal(codes[0], codes[1]);
}

static void change_at_random(struct pair *pair)
{
    char id[16];
    const size_t what = random_below(&pair->random, 12);

    snprintf(id, sizeof id, "v%d", (int)random_below(&pair->random, (size_t)pair->number / 3 + 2));
    const ses_point *point = random_below(&pair->random, 3) == 0 ? BEFORE_INVOCATION(id) : LAST_TURN;
    if (what < 6)
        do_both(pair, what / 2, point);
    else if (what == 6)
        append_at_random(pair, 1 + random_below(&pair->random, BATCH));
    else if (what == 7)
        damage_at_random(pair);
    else
        compare_states(pair, point);
}

static void run_history(struct pair *pair, uint64_t events)
{
    ses_store *const stores[] = {pair->with, pair->without};

    pair->number = 0;
    for (int i = 0; i < 2; i++)
        must_create(stores[i], &key, NULL);
    while (pair->number < events)
        append_at_random(pair, BATCH);
    for (int i = 0; i < 25; i++)
        change_at_random(pair);
    compare_states(pair, NULL);
    for (int i = 0; i < 2; i++)
        must_delete(stores[i], &key);
}

TEST(random_histories)
{
    const char *seed = getenv("SESLITE_TEST_SEED");
    const char *histories = getenv("SESLITE_TEST_HISTORIES");
    char path[4096];
    struct pair pair = {.with = fixture->store, .path = fixture->path, .random = 1};

    if (seed)
        pair.random = strtoull(seed, NULL, 10);
    snprintf(path, sizeof path, "%s-without", fixture->path);
    assert_ok(ses_open(path, NULL, &pair.without, &error));
    raw_exec(path, "CREATE TABLE invocation_filters (mine TEXT)");
    for (long left = histories ? atol(histories) : 20; left > 0; left--)
        run_history(&pair, left % 50 == 1 ? 2 * STRETCH + 600 : 1300);
    ses_close(pair.without);
}
