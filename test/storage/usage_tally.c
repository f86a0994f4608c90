/* The tally of used tokens in a file. */
#include "seslite_history.h"
#include "seslite_usage.h"

#include "check.h"
#include "released.h"
#include "random.h"
#include "usage.h"

#include <signal.h>

static const ses_key key = {"app", "user", "session"};

static void call_model(ses_store *store, const ses_key *to, int64_t second, const char *model, int tokens)
{
    char event[400];

    snprintf(event, sizeof event,
             "{\"invocationId\":\"i\",\"timestamp\":%lld,\"modelVersion\":\"%s\","
             "\"usageMetadata\":{\"promptTokenCount\":%d,\"candidatesTokenCount\":3,\"totalTokenCount\":%d}}",
             (long long)second, model, tokens, tokens + 3);
    must_append_by_key(store, to, event);
}

static void fill(ses_store *store, int calls)
{
    ses_error error;

    (void)ses_create(store, &key, NULL, 0, NULL, NULL, &error);
    for (int i = 0; i < calls; i++)
        call_model(store, &key, i, "m", 100);
}

static void must_tally(ses_store *store, unsigned flags)
{
    const ses_tally_options options = {.size = sizeof options, .flags = flags};
    ses_error error;

    assert_ok(ses_store_tally(store, &options, NULL, &error));
}

/* Returns the code; `*calls` is what was added up, from that time on (NULL: all). */
static int add_up_since(ses_store *store, const int64_t *since_us, int64_t *calls)
{
    const ses_usage_options options = {.size = sizeof options, .since_us = since_us};
    ses_usage_rows *rows = NULL;
    ses_error error;
    const int code = ses_store_usage(store, NULL, &options, &rows, &error);

    *calls = code == SES_OK ? ses_usage_rows_sum(rows)->calls : -1;
    ses_usage_rows_close(rows);
    return code;
}

static int add_up(ses_store *store, int64_t *calls)
{
    return add_up_since(store, NULL, calls);
}

static void must_add_up(ses_store *store, int64_t expected)
{
    int64_t calls = 0;

    assert_int_equal(add_up(store, &calls), SES_OK);
    assert_int_equal(calls, expected);
}

/* ----------------------------------------------------------------------------------- the same as the view */

static void change_at_random(ses_store *store, uint64_t *seed, int round)
{
    const char *const models[] = {"gemini", "other", "", "third \\u00e9"};
    const char user[2] = {(char)('a' + (int)random_below(seed, 3)), '\0'};
    const char name[2] = {(char)('a' + (int)random_below(seed, 3)), '\0'};
    const ses_key to = {"app", user, name};
    const ses_point point = {
        .size = sizeof point, .kind = SES_POINT_SEQ, .seq = (int64_t)random_below(seed, 150)};
    const ses_prune_options prune = {
        .size = sizeof prune, .which = SES_PRUNE_KEEP, .keep = (int64_t)random_below(seed, 100)};
    const size_t what = random_below(seed, 10);
    ses_error error;

    (void)ses_create(store, &to, NULL, 0, NULL, NULL, &error);
    if (what == 0)
        (void)ses_cut_by_key(store, &to, &point, NULL, NULL, &error);
    else if (what == 1)
        (void)ses_prune_by_key(store, &to, &prune, NULL, &error);
    else if (what == 2)
        (void)ses_delete(store, &to, NULL, NULL, &error);
    for (size_t i = what > 2 ? random_below(seed, 40) : 0; i > 0; i--)
        call_model(store, &to, round * 20000 - 100000, models[random_below(seed, 4)],
                   (int)random_below(seed, 100000));
}

TEST(the_same_as_the_view)
{
    uint64_t seed = 11;

    for (int round = 0; round < 120; round++) {
        if (round == 10)
            must_tally(fixture->store, 0);
        change_at_random(fixture->store, &seed, round);
        if (random_below(&seed, 4) == 0)
            compare_with_view(fixture->store, fixture->path);
    }
    compare_with_view(fixture->store, fixture->path);
    assert_no_problems(fixture->store);
    assert_sound(fixture->path);
}

/* -------------------------------------------------------------------------------------------- the feature */

TEST(a_file_without_it)
{
    fill(fixture->store, 3);
    must_add_up(fixture->store, 3);
    assert_query(fixture->path, "SELECT count(*) FROM features WHERE name = 'usage2'", "0\n");
    assert_query(fixture->path, "SELECT count(*) FROM sqlite_schema WHERE name = 'usage_sums'", "0\n");
    assert_query(fixture->path, "SELECT count(*) FROM derived", "0\n");
}

#define USAGE_ROWS                                                                                   \
    "SELECT CASE WHEN quarter < 0 THEN 'whole' ELSE quarter END, model, calls, first_seq, last_seq," \
    " first_us / 1000000, last_us / 1000000 FROM usage_sums ORDER BY session_id, usage_sums.quarter, model"

TEST(the_feature_comes_and_goes)
{
    fill(fixture->store, 130);
    must_tally(fixture->store, 0);
    assert_query(fixture->path, "SELECT name, needs FROM features WHERE name = 'usage2'", "usage2|1\n");
    assert_query(fixture->path, "SELECT what, seq FROM derived", "usage2|130\n");
    assert_query(fixture->path, USAGE_ROWS, "whole||130|1|130|0|129\n0|m|130|1|130|0|129\n");
    fixture_reopen(fixture);
    fill(fixture->store, 1);
    must_add_up(fixture->store, 131);
    assert_query(fixture->path, USAGE_ROWS, "whole||131|1|131|0|129\n0|m|131|1|131|0|129\n");
    must_tally(fixture->store, SES_TALLY_DROP);
    assert_query(
        fixture->path,
        "SELECT (SELECT count(*) FROM features WHERE name = 'usage2') + (SELECT count(*) FROM derived)",
        "0\n");
    assert_query(fixture->path, "SELECT count(*) FROM sqlite_schema WHERE name = 'usage_sums'", "0\n");
    must_add_up(fixture->store, 131);
}

/* It leaves the rows alone, but for those of sessions that it deletes: what it does is found out. */
TEST(a_library_that_does_not_know_it)
{
    static const char *const changes[] = {
        /* a cut to event 60, a prune of 60, both */
        "DELETE FROM events WHERE position & 4294967295 > 60; UPDATE sessions SET version = version + 1, event_count = 60",
        "DELETE FROM events WHERE position & 4294967295 <= 60; UPDATE sessions SET base_seq = 60, event_count = 70",
        ("DELETE FROM events WHERE position & 4294967295 NOT BETWEEN 61 AND 70;"
         "UPDATE sessions SET version = version + 1, base_seq = 60, event_count = 10")};
    static const int64_t left[] = {60, 70, 10};

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        fill(fixture->store, 130);
        must_tally(fixture->store, 0);
        ses_close(fixture->store);
        fixture->store = NULL;
        raw_exec(fixture->path, changes[i]);
        assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
        must_add_up(fixture->store, left[i]);
        fill(fixture->store, 1);
        must_add_up(fixture->store, left[i] + 1);
        must_delete(fixture->store, &key);
    }
    fill(fixture->store, 130);
    must_add_up(fixture->store, 130);
    raw_exec(fixture->path, "PRAGMA foreign_keys = ON; DELETE FROM sessions");
    assert_query(fixture->path, "SELECT count(*) FROM usage_sums", "0\n");
}

/* A store that is opened for reading adds up what the tally lacks. */
TEST(read_only)
{
    ses_open_options options = fixture->options;

    fill(fixture->store, 3);
    options.flags |= SES_OPEN_READ_ONLY;
    ses_store *reader = must_open(fixture->path, &options);
    must_add_up(reader, 3);
    assert_code(SES_READONLY, ses_store_tally(reader, NULL, NULL, &error));
    must_tally(fixture->store, 0);
    must_add_up(reader, 3);
    fill(fixture->store, 100);
    must_add_up(reader, 103);
    assert_query(fixture->path, "SELECT seq FROM derived", "3\n");
    ses_close(reader);
}

TEST(a_foreign_table)
{
    fill(fixture->store, 3);
    raw_exec(fixture->path, "CREATE TABLE Usage_Sums (mine)");
    must_add_up(fixture->store, 3);
    assert_code(SES_EXISTS, ses_store_tally(fixture->store, NULL, NULL, &error));
    assert_message("usage_sums");
    raw_exec(fixture->path, "DROP TABLE usage_sums");
    must_tally(fixture->store, 0);
    raw_exec(fixture->path, "ALTER TABLE usage_sums ADD COLUMN mine TEXT");
    must_add_up(fixture->store, 3);
    char *problems = problems_of(fixture->store, SES_CHECK_LOG);
    assert_non_null(strstr(problems, "usage -/-/- 0: "));
    free(problems);
    must_tally(fixture->store, 0);
    must_add_up(fixture->store, 3);
    assert_no_problems(fixture->store);
}

/* -------------------------------------------------------------------------------------- of version 0.2.0 */

#define TALLIES                                                                                        \
    "SELECT (SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema WHERE type = 'table' AND " \
    "name LIKE 'usage%' ORDER BY name)), (SELECT group_concat(name) FROM features WHERE name LIKE 'usage%')"

/* A store with a tally, in place of the fixture's own. */
static void make_released(struct fixture *fixture)
{
    ses_close(fixture->store);
    fixture->store = NULL;
    assert_int_equal(remove(fixture->path), 0);
    released_make("0.2.0", fixture->path);
}

TEST(the_tally_of_version_0_2_0)
{
    const ses_open_options reading = {.size = sizeof reading, .flags = SES_OPEN_READ_ONLY};

    make_released(fixture);
    assert_query(fixture->path, TALLIES, "usage_counts|usage\n");
    fixture->store = must_open(fixture->path, NULL);
    assert_query(fixture->path, TALLIES, "usage_counts|usage2\n");
    assert_no_problems(fixture->store);
    ses_store *reader = must_open(fixture->path, &reading);
    compare_with_view(reader, fixture->path);
    ses_close(reader);
    compare_with_view(fixture->store, fixture->path);
    assert_query(fixture->path, TALLIES, "usage_sums|usage2\n");
    assert_query(fixture->path, "SELECT DISTINCT what FROM derived WHERE what LIKE 'usage%'", "usage2\n");
    assert_no_problems(fixture->store);
}

/* It names models, so a deletion does not leave it, even if it is damaged. */
TEST(a_deletion_drops_the_tally_of_version_0_2_0)
{
    for (int is_damaged = 0; is_damaged < 2; is_damaged++) {
        make_released(fixture);
        fixture->store = must_open(fixture->path, NULL);
        if (is_damaged) {
            ses_close(fixture->store);
            raw_exec(fixture->path, "PRAGMA wal_checkpoint(TRUNCATE)");
            raw_break_table(fixture->path, "usage_counts");
            fixture->store = must_open(fixture->path, NULL);
        }
        assert_ok(ses_delete(fixture->store, &(ses_key){"shop", "alice", "talk"}, NULL, NULL, &error));
        assert_query(fixture->path, TALLIES, "NULL|usage2\n");
        compare_with_view(fixture->store, fixture->path);
        assert_query(fixture->path, TALLIES, "usage_sums|usage2\n");
    }
}

/* A table that only has the name of the old one is the application's. */
TEST(a_foreign_table_with_the_old_name)
{
    fill(fixture->store, 3);
    raw_exec(fixture->path, "CREATE TABLE usage_counts (mine); INSERT INTO usage_counts VALUES (1)");
    must_tally(fixture->store, 0);
    must_add_up(fixture->store, 3);
    must_delete(fixture->store, &key);
    must_tally(fixture->store, SES_TALLY_DROP);
    assert_query(fixture->path, "SELECT mine FROM usage_counts", "1\n");
}

/* A secure deletion leaves no name of a model. */
TEST(secure_deletions)
{
    const ses_delete_options secure = {.size = sizeof secure, .flags = SES_SECURE};
    const ses_point start = {.size = sizeof start, .kind = SES_POINT_SEQ, .seq = 1};
    const ses_cut_options cut = {.size = sizeof cut, .flags = SES_SECURE};
    const char *const suffixes[] = {"", "-wal"};

    fill(fixture->store, 1);
    for (int i = 0; i < 2; i++) {
        for (int call = 0; call < 60; call++)
            call_model(fixture->store, &key, call, "xyzzy4711", call);
        must_tally(fixture->store, 0);
        assert_ok(i == 0 ? ses_cut_by_key(fixture->store, &key, &start, &cut, NULL, &error)
                         : ses_delete(fixture->store, &key, &secure, NULL, &error));
        for (int file = 0; file < 2; file++) {
            char name[1024];
            size_t len = 0;
            snprintf(name, sizeof name, "%s%s", fixture->path, suffixes[file]);
            char *bytes = support_read_file(name, &len);
            for (size_t at = 0; bytes && at + 9 <= len; at++)
                assert_memory_not_equal(bytes + at, "xyzzy4711", 9);
            free(bytes);
        }
    }
}

/* ------------------------------------------------------------------------------------------------- damage */

static void change_file(struct fixture *fixture, const char *sql)
{
    ses_error error;

    ses_close(fixture->store);
    fixture->store = NULL;
    raw_exec(fixture->path, sql);
    assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
}

/* Adds up by model, so that the sums of parts are read. */
static void must_add_up_by_model(ses_store *store, int64_t calls, int64_t tokens)
{
    const ses_usage_options options = {.size = sizeof options, .flags = SES_USAGE_BY_MODEL};
    ses_usage_rows *rows = NULL;
    ses_error error;

    assert_ok(ses_store_usage(store, NULL, &options, &rows, &error));
    assert_int_equal(ses_usage_rows_count(rows), 1);
    assert_int_equal(ses_usage_rows_at(rows, 0)->calls, calls);
    assert_int_equal(ses_usage_rows_at(rows, 0)->total, tokens);
    ses_usage_rows_close(rows);
}

/* Rows that are missing or cannot be are not used. */
TEST(damage)
{
    static const char *const changes[] = {
        "DELETE FROM usage_sums",
        "DELETE FROM usage_sums WHERE quarter < 0",
        "DELETE FROM usage_sums WHERE quarter = 0",
        "DELETE FROM usage_sums WHERE quarter = 1",
        "DELETE FROM usage_sums WHERE quarter > 0",
        "UPDATE usage_sums SET quarter = 7 WHERE quarter = 1",
        "UPDATE usage_sums SET model = '' WHERE quarter = 1",
        "UPDATE usage_sums SET calls = 0 WHERE quarter = 1",
        "UPDATE usage_sums SET calls = 9223372036854775807",
        "UPDATE usage_sums SET odd = -1",
        "UPDATE usage_sums SET total = -1",
        "UPDATE usage_sums SET first_us = -9223372036854775808",
        "UPDATE usage_sums SET last_us = 9223372036854775807",
        "UPDATE usage_sums SET last_seq = last_seq - 1",
        "UPDATE usage_sums SET last_seq = 9223372036854775807",
        "UPDATE usage_sums SET first_seq = 0",
        "UPDATE usage_sums SET first_seq = first_seq + 1",
        "UPDATE usage_sums SET first_seq = -9223372036854775807",
        ("INSERT INTO usage_sums SELECT session_id, 9, model, what, 200, 210, calls, odd, first_us, last_us,"
         " prompt, cached, candidates, thoughts, tool_use, total FROM usage_sums WHERE quarter = 1"),
        "UPDATE derived SET seq = -5",
        "UPDATE derived SET seq = 0",
        "UPDATE derived SET seq = 100",
        "UPDATE derived SET seq = 9223372036854775807",
        "UPDATE derived SET epoch = -9223372036854775808",
        "UPDATE derived SET what = 'other'",
        "DELETE FROM derived"};

    must_create(fixture->store, &key, NULL);
    for (int i = 0; i < 130; i++)
        call_model(fixture->store, &key, 10 * i, "m", 100);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        int64_t calls = 0;
        must_tally(fixture->store, SES_TALLY_REBUILD);
        must_add_up(fixture->store, 130);
        change_file(fixture, changes[i]);
        const int code = add_up(fixture->store, &calls);
        if (code != SES_OK || calls != 130)
            fail_msg("%s: %s, %lld calls", changes[i], ses_code_name(code), (long long)calls);
        if (!strstr(changes[i], "SET model")) /* which only a check finds */
            must_add_up_by_model(fixture->store, 130, 130 * 103);
        call_model(fixture->store, &key, 20, "m", 100); /* whose row may be damaged */
        must_add_up(fixture->store, 131);
        const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = 130};
        assert_ok(ses_cut_by_key(fixture->store, &key, &point, NULL, NULL, &error));
    }
    must_tally(fixture->store, SES_TALLY_REBUILD);
    must_add_up(fixture->store, 130);
    assert_no_problems(fixture->store);
}

/* The sums of parts must be that of the session. */
TEST(a_changed_number)
{
    static const char *const columns[] = {"calls",  "odd",        "first_us", "last_us",  "prompt",
                                          "cached", "candidates", "thoughts", "tool_use", "total"};

    must_create(fixture->store, &key, NULL);
    for (int i = 0; i < 20; i++)
        call_model(fixture->store, &key, 100 * i, "m", 100);
    must_tally(fixture->store, 0);
    sqlite3 *db = raw_open(fixture->path);
    for (size_t i = 0; i < 2 * sizeof columns / sizeof columns[0]; i++) {
        char sql[100];
        const char *const where = i % 2 ? "quarter = 1" : "quarter < 0";
        snprintf(sql, sizeof sql, "UPDATE usage_sums SET %s = %s + 1 WHERE %s", columns[i / 2],
                 columns[i / 2], where);
        raw_run(db, sql);
        must_add_up_by_model(fixture->store, 20, 20 * 103);
        char *problems = problems_of(fixture->store, SES_CHECK_LOG);
        assert_non_null(strstr(problems, "the tally of tokens does not agree"));
        free(problems);
        snprintf(sql, sizeof sql, "UPDATE usage_sums SET %s = %s - 1 WHERE %s", columns[i / 2],
                 columns[i / 2], where);
        raw_run(db, sql);
    }
    sqlite3_close(db);
    assert_no_problems(fixture->store);
}

/* Pages that are damaged keep SQLite from dropping the table: it is unlinked, and they stay until a
 * VACUUM. */
TEST(damaged_pages)
{
    const ses_tally_options rebuild = {.size = sizeof rebuild, .flags = SES_TALLY_REBUILD};

    fill(fixture->store, 130);
    must_tally(fixture->store, 0);
    ses_close(fixture->store);
    raw_break_table(fixture->path, "usage_sums");
    assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
    must_add_up(fixture->store, 130);
    assert_ok(ses_store_tally(fixture->store, &rebuild, NULL, &error));
    must_add_up(fixture->store, 130);
    ses_close(fixture->store);
    raw_exec(fixture->path, "VACUUM");
    assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
    assert_no_problems(fixture->store);
}

/* A row that was made for other events is as it should be. Only a check reads these. */
TEST(a_check_compares_the_tally_with_the_events)
{
    fill(fixture->store, 60);
    must_tally(fixture->store, 0);
    assert_no_problems(fixture->store);
    change_file(
        fixture,
        "UPDATE events SET body = replace(body, '\"promptTokenCount\":100', '\"promptTokenCount\":101')"
        ", id_at = json_extract(body, '$.id'), invocation_at = 'i' WHERE position & 4294967295 = 30");
    char *problems = problems_of(fixture->store, SES_CHECK_LOG);
    assert_non_null(strstr(problems, "usage app/user/session 0: the tally of tokens does not agree"));
    free(problems);
    change_file(fixture, "UPDATE usage_sums SET model = 'other' WHERE quarter = 0");
    problems = problems_of(fixture->store, SES_CHECK_LOG);
    assert_non_null(strstr(problems, "usage app/user/session 0: "));
    free(problems);
    change_file(fixture, "DELETE FROM usage_sums");
    problems = problems_of(fixture->store, SES_CHECK_LOG);
    assert_non_null(strstr(problems, "usage app/user/session 0: "));
    free(problems);
    must_tally(fixture->store, SES_TALLY_REBUILD);
    assert_no_problems(fixture->store);
}

/* -------------------------------------------------------------------------------------------------- kills */

static int tally_until_killed(void *context)
{
    ses_store *store = NULL;
    ses_error error;

    if (ses_open(context, NULL, &store, &error) != SES_OK)
        return 1;
    for (;;) {
        const ses_tally_options rebuild = {.size = sizeof rebuild, .flags = SES_TALLY_REBUILD};
        if (ses_store_tally(store, &rebuild, NULL, &error) != SES_OK)
            return 1;
    }
}

TEST(kills)
{
    char model[60000];
    uint64_t seed = (uint64_t)support_setting("SESLITE_TEST_SEED", 5);
    const int kills = (int)support_setting("SESLITE_KILLS", 10);

    memset(model, 'x', sizeof model - 1);
    model[sizeof model - 1] = '\0';
    must_create(fixture->store, &key, NULL);
    for (int i = 0; i < 60; i++) {
        char event[61000];
        snprintf(event, sizeof event,
                 "{\"author\":\"%.500s\",\"more\":\"%s\",\"usageMetadata\":{\"totalTokenCount\":7}}", model,
                 model);
        must_append_by_key(fixture->store, &key, event);
    }
    for (int i = 0; i < kills; i++) {
        ses_close(fixture->store);
        fixture->store = NULL;
        const pid_t child = child_start(tally_until_killed, fixture->path);
        support_pause_us((long)random_below(&seed, 60000));
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(child_end(child), -1);
        assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
        must_add_up(fixture->store, 60);
    }
    support_figure("kills", kills);
    assert_no_problems(fixture->store);
    assert_sound(fixture->path);
}

BEFORE_TESTS()
{
    support_folders_in_memory();
}
