/* The tally of used tokens in a file. */
#include "seslite_history.h"
#include "seslite_usage.h"

#include "check.h"
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
    assert_query(fixture->path, "SELECT count(*) FROM features WHERE name = 'usage'", "0\n");
    assert_query(fixture->path, "SELECT count(*) FROM sqlite_schema WHERE name = 'usage_counts'", "0\n");
    assert_query(fixture->path, "SELECT count(*) FROM derived", "0\n");
}

TEST(the_feature_comes_and_goes)
{
    fill(fixture->store, 130);
    must_tally(fixture->store, 0);
    assert_query(fixture->path, "SELECT name, needs FROM features WHERE name = 'usage'", "usage|1\n");
    assert_query(fixture->path, "SELECT what, seq FROM derived", "usage|130\n");
    assert_query(fixture->path, "SELECT first_seq, last_seq FROM usage_counts", "1|56\n57|112\n113|130\n");
    fixture_reopen(fixture);
    fill(fixture->store, 1);
    must_add_up(fixture->store, 131);
    assert_query(fixture->path, "SELECT first_seq, last_seq FROM usage_counts", "1|56\n57|112\n113|131\n");
    must_tally(fixture->store, SES_TALLY_DROP);
    assert_query(
        fixture->path,
        "SELECT (SELECT count(*) FROM features WHERE name = 'usage') + (SELECT count(*) FROM derived)",
        "0\n");
    assert_query(fixture->path, "SELECT count(*) FROM sqlite_schema WHERE name = 'usage_counts'", "0\n");
    must_add_up(fixture->store, 131);
}

/* It leaves the rows alone, but for those of sessions that it deletes: what it does is found out. */
TEST(a_library_that_does_not_know_it)
{
    static const char *const changes[] = {
        /* a cut to event 60, a prune of 60, both */
        "DELETE FROM events WHERE position & 4294967295 > 60; UPDATE sessions SET version = version + 1, event_count = 60",
        "DELETE FROM events WHERE position & 4294967295 <= 60; UPDATE sessions SET base_seq = 60, event_count = 70",
        "DELETE FROM events WHERE position & 4294967295 NOT BETWEEN 61 AND 70;"
        "UPDATE sessions SET version = version + 1, base_seq = 60, event_count = 10"};
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
    assert_query(fixture->path, "SELECT count(*) FROM usage_counts", "0\n");
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
    raw_exec(fixture->path, "CREATE TABLE Usage_Counts (mine)");
    must_add_up(fixture->store, 3);
    assert_code(SES_EXISTS, ses_store_tally(fixture->store, NULL, NULL, &error));
    assert_message("usage_counts");
    raw_exec(fixture->path, "DROP TABLE usage_counts");
    must_tally(fixture->store, 0);
    raw_exec(fixture->path, "ALTER TABLE usage_counts ADD COLUMN mine TEXT");
    must_add_up(fixture->store, 3);
    char *problems = problems_of(fixture->store, SES_CHECK_LOG);
    assert_non_null(strstr(problems, "usage -/-/- 0: "));
    free(problems);
    must_tally(fixture->store, 0);
    must_add_up(fixture->store, 3);
    assert_no_problems(fixture->store);
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

/* No number is ever wrong: what is damaged is not used. */
TEST(damage)
{
    static const char *const changes[] = {
        "DELETE FROM usage_counts",
        "DELETE FROM usage_counts WHERE first_seq = 1",
        "DELETE FROM usage_counts WHERE first_seq = 57",
        "DELETE FROM usage_counts WHERE first_seq = 113",
        "UPDATE usage_counts SET counts = x''",
        "UPDATE usage_counts SET counts = zeroblob(length(counts))",
        "UPDATE usage_counts SET counts = substr(counts, 1, length(counts) - 1)",
        "UPDATE usage_counts SET counts = CAST(counts || x'00' AS BLOB)",
        "UPDATE usage_counts SET counts = (SELECT counts FROM usage_counts WHERE first_seq = 1) WHERE first_seq = 57",
        "UPDATE usage_counts SET last_seq = last_seq - 1 WHERE first_seq = 113",
        "UPDATE usage_counts SET last_seq = 9223372036854775807 WHERE first_seq = 113",
        "UPDATE usage_counts SET first_seq = 0 WHERE first_seq = 1",
        "UPDATE usage_counts SET first_seq = -9223372036854775807 WHERE first_seq = 1",
        "INSERT INTO usage_counts SELECT session_id, 200, 210, what, counts FROM usage_counts WHERE first_seq = 1",
        "UPDATE derived SET seq = -5",
        "UPDATE derived SET seq = 0",
        "UPDATE derived SET seq = 100",
        "UPDATE derived SET seq = 9223372036854775807",
        "UPDATE derived SET epoch = -9223372036854775808",
        "UPDATE derived SET what = 'other'",
        "DELETE FROM derived"};

    fill(fixture->store, 130);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        int64_t calls = 0;
        must_tally(fixture->store, SES_TALLY_REBUILD);
        must_add_up(fixture->store, 130);
        change_file(fixture, changes[i]);
        const int code = add_up(fixture->store, &calls);
        if (code != SES_OK || calls != 130)
            fail_msg("%s: %s, %lld calls", changes[i], ses_code_name(code), (long long)calls);
    }
    must_tally(fixture->store, SES_TALLY_REBUILD);
    must_add_up(fixture->store, 130);
    assert_no_problems(fixture->store);
}

/* Each byte of a row, in turn. All of a row is added up by its sums, without its calls; a part, by the
 * calls. */
TEST(a_flipped_bit)
{
    const int64_t since_us = 10 * 1000000;
    char sql[300];

    fill(fixture->store, 20);
    must_tally(fixture->store, 0);
    char *len_text = raw_text(fixture->path, "SELECT length(counts) FROM usage_counts");
    const int len = atoi(len_text);
    free(len_text);
    assert_in_range(len, 50, 1000);
    sqlite3 *db = raw_open(fixture->path);
    for (int i = 1; i <= len; i++) {
        int64_t calls = 0;
        char *byte = NULL;
        struct text hex = {NULL, 0};
        snprintf(sql, sizeof sql, "SELECT hex(substr(counts, %d, 1)) FROM usage_counts", i);
        raw_query(db, sql, &hex);
        byte = hex.data;
        const unsigned flipped = (unsigned)strtoul(byte, NULL, 16) ^ 1U << i % 8;
        snprintf(
            sql, sizeof sql,
            "UPDATE usage_counts SET counts = CAST(substr(counts, 1, %d) || x'%02X' || substr(counts, %d) AS BLOB)",
            i - 1, flipped, i + 1);
        raw_run(db, sql);
        assert_int_equal(add_up_since(fixture->store, &since_us, &calls), SES_OK);
        assert_int_equal(calls, 10);
        must_add_up(fixture->store, 20);
        snprintf(
            sql, sizeof sql,
            "UPDATE usage_counts SET counts = CAST(substr(counts, 1, %d) || x'%.2s' || substr(counts, %d) AS BLOB)",
            i - 1, byte, i + 1);
        raw_run(db, sql);
        free(byte);
    }
    sqlite3_close(db);
    must_add_up(fixture->store, 20);
}

/* Pages that are damaged keep SQLite from dropping the table: it is unlinked, and they stay until a
 * VACUUM. */
TEST(damaged_pages)
{
    const ses_tally_options rebuild = {.size = sizeof rebuild, .flags = SES_TALLY_REBUILD};
    const unsigned char nonsense[100] = {0xFF, 0xFF, 0xFF};

    fill(fixture->store, 130);
    must_tally(fixture->store, 0);
    ses_close(fixture->store);
    char *root = raw_text(fixture->path,
                          "SELECT (rootpage - 1) * 4096 FROM sqlite_schema WHERE name = 'usage_counts'");
    FILE *file = fopen(fixture->path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, atol(root), SEEK_SET), 0);
    assert_int_equal(fwrite(nonsense, 1, sizeof nonsense, file), sizeof nonsense);
    assert_int_equal(fclose(file), 0);
    free(root);
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
    change_file(fixture, "DELETE FROM usage_counts");
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
