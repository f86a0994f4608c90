/* Group commit: what a member that failed has done is undone, whatever it was, and each other has the result of its own. */
#include <unistd.h>

#include "group.h"
#include "seslite_usage.h"

/* --------------------------------------------------------------------------------------- changes of the schema */

static int drop_tally(struct call *call)
{
    const ses_tally_options drop = {.size = sizeof drop, .flags = SES_TALLY_DROP};
    return ses_store_tally(call->store, &drop, NULL, &call->error);
}

static int64_t tokens(ses_store *store)
{
    ses_usage_rows *rows = NULL;
    ses_error error;

    assert_ok(ses_store_usage(store, NULL, NULL, &rows, &error));
    const int64_t total = ses_usage_rows_sum(rows)->total;
    ses_usage_rows_close(rows);
    return total;
}

/* SQLite does not count a table that was dropped among its changes. */
static void test_a_table_that_was_dropped(void **state)
{
    struct fixture *fixture = *state;
    const struct call what[] = {
        APPEND_TO("a"), {.kind = OTHER, .make = drop_tally, .session_id = "d"}, APPEND_TO("b")};
    const ses_check_options log = {.size = sizeof log, .level = SES_CHECK_LOG};
    int64_t problems = -1;
    ses_error error;

    append(fixture->store, "a", Q("{'usageMetadata':{'totalTokenCount':7}}"));
    assert_ok(ses_store_tally(fixture->store, NULL, NULL, &error));
    atomic_store(&fails_now, "DELETE FROM features");
    ses_stats before = statistics(fixture->store);
    run_group(fixture->store, what, 3, COMMIT_IS_REAL);
    assert_int_equal(statistics(fixture->store).commits - before.commits, 2);
    assert_int_equal(calls[0].code, SES_OK);
    assert_int_equal(calls[1].code, SES_IO);
    assert_int_equal(calls[2].code, SES_OK);
    assert_int_equal(tokens(fixture->store), 7);
    assert_ok(ses_store_check(fixture->store, &log, &problems, &error));
    assert_int_equal(problems, 0);
}

/* ----------------------------------------------------------------------------------------- refusals after writes */

/* A batch writes its first event, and meets the second, which a neighbour has stored. */
#define TAKEN Q("{'id':'e','timestamp':1}")
#define OTHER_TAKEN \
    ((struct call){.kind = BATCH_OF_TWO, .session_id = "a", .text = Q("{'id':'e','timestamp':2}")})

static void test_a_refusal_of_what_is_stored(void **state)
{
    struct fixture *fixture = *state;
    const struct call what[] = {
        {.kind = APPEND, .session_id = "a", .text = TAKEN}, OTHER_TAKEN, APPEND_TO("b"), OTHER_TAKEN};

    ses_stats before = statistics(fixture->store);
    run_group(fixture->store, what, 4, COMMIT_IS_REAL);
    assert_int_equal(statistics(fixture->store).commits - before.commits, 2);
    for (int i = 0; i < 4; i++)
        assert_int_equal(calls[i].code, i % 2 == 0 ? SES_OK : SES_EXISTS);
    assert_int_equal(stored(fixture->store, "a"), 1);
    assert_int_equal(stored(fixture->store, "b"), 1);
}

/* It would be EXISTS because of an event that is not stored in the end. */
static void test_a_refusal_of_what_a_commit_does_not_store(void **state)
{
    struct fixture *fixture = *state;
    const struct call what[] = {{.kind = APPEND, .session_id = "a", .text = TAKEN}, OTHER_TAKEN};

    run_group(fixture->store, what, 2, COMMIT_FAILS);
    assert_int_equal(calls[0].code, SES_IO);
    assert_int_equal(calls[1].code, SES_IO);
    assert_int_equal(stored(fixture->store, "a"), 0);
}

/* The neighbour fails when it runs again: then the batch has nothing against it. */
static void test_a_refusal_of_what_fails_when_it_runs_again(void **state)
{
    struct fixture *fixture = *state;
    const struct call what[] = {
        {.kind = APPEND, .session_id = "a", .text = TAKEN},
        OTHER_TAKEN,
        {.kind = APPEND, .session_id = "d", .text = "{\"id\":\"marked\"}"},
        APPEND_TO("b"),
    };

    atomic_store(&fail_marked, true);
    atomic_store(&fails_after_marked, "INSERT INTO events");
    run_group(fixture->store, what, 4, COMMIT_IS_REAL);
    assert_int_equal(calls[0].code, SES_IO);
    assert_int_equal(calls[1].code, SES_OK);
    assert_int_equal(calls[2].code, SES_FULL);
    assert_int_equal(calls[3].code, SES_OK);
    assert_int_equal(stored(fixture->store, "a"), 2);
    assert_int_equal(stored(fixture->store, "b"), 1);
}

/* One that has only read is refused at the price of what it read: nothing runs again. */
static void test_a_refusal_that_has_only_read(void **state)
{
    struct fixture *fixture = *state;
    const struct call what[] = {
        APPEND_TO("a"),
        {.kind = APPEND_AT_VERSION, .session_id = "a", .text = "{}", .version = 0}, /* STALE */
        {.kind = CREATE, .session_id = "a", .text = "{}"},                          /* EXISTS */
        {.kind = APPEND, .session_id = "b", .text = Q("{'id':'e','timestamp':2}")}, /* EXISTS */
        APPEND_TO("none"),                                                          /* NOTFOUND */
        APPEND_TO("b"),
    };
    static const int codes[] = {SES_OK, SES_STALE, SES_EXISTS, SES_EXISTS, SES_NOTFOUND, SES_OK};

    append(fixture->store, "b", TAKEN);
    atomic_store(&begun, 0);
    run_group(fixture->store, what, 6, COMMIT_IS_REAL);
    for (int i = 0; i < 6; i++)
        assert_int_equal(calls[i].code, codes[i]);
    assert_int_equal(atomic_load(&begun), 2); /* the leader's transaction, and theirs */
}

/* ------------------------------------------------------------------------------------------- a fault of SQLite */

enum { LARGE = 16000, BATCH = 400 };

/* More than SQLite keeps in memory. */
static void fill_large(ses_store *store)
{
    static char texts[BATCH][600];
    const ses_key key = {"app", "user", "d"};
    ses_text events[BATCH];
    ses_error error;

    for (int i = 0; i < LARGE; i += BATCH) {
        for (int k = 0; k < BATCH; k++) {
            snprintf(texts[k], sizeof texts[k], "{\"id\":\"%d\",\"text\":\"%0500d\"}", i + k, i);
            events[k] = (ses_text){texts[k], SES_NUL};
        }
        assert_ok(ses_append_batch_by_key(store, &key, events, BATCH, NULL, NULL, &error));
    }
}

/* A table of an application that refers to the last event. */
static void refer_to_last(const char *path)
{
    sqlite3 *handle = NULL;

    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle,
                                  "CREATE TABLE notes (event REFERENCES events);"
                                  "INSERT INTO notes SELECT max(position) FROM events",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(handle), SQLITE_OK);
}

static void copy_file(const char *from, const char *to, const char *suffix)
{
    char name[2][1024];
    size_t len = 0;

    snprintf(name[0], sizeof name[0], "%s%s", from, suffix);
    snprintf(name[1], sizeof name[1], "%s%s", to, suffix);
    char *bytes = support_read_file(name[0], &len);
    FILE *file = fopen(name[1], "wb");
    assert_non_null(bytes);
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
    free(bytes);
}

/*
 * Before 3.50.2, SQLite loses what is committed after a large statement that failed, if the process is killed: so nothing may
 * be committed in such a transaction.
 */
static void test_a_large_statement_that_fails(void **state)
{
    struct fixture *fixture = *state;
    const struct call what[] = {
        APPEND_TO("a"), {.kind = CUT, .session_id = "d", .version = 0}, APPEND_TO("b")};
    char *killed = support_path(fixture->folder, "killed.db");
    ses_store *store = NULL;
    ses_error error;

    fill_large(fixture->store);
    refer_to_last(fixture->path);
    fixture->options.checkpoint = SES_CHECKPOINT_EXTERNAL; /* what is lost must be in the log */
    fixture_reopen(fixture);
    ses_stats before = statistics(fixture->store);
    run_group(fixture->store, what, 3, COMMIT_IS_REAL);
    assert_int_equal(statistics(fixture->store).commits - before.commits, 2);
    assert_int_equal(calls[1].code, SES_CONSTRAINT);
    append(fixture->store, "c", "{}");
    copy_file(fixture->path, killed, "");
    copy_file(fixture->path, killed, "-wal");
    assert_ok(ses_open(killed, NULL, &store, &error));
    assert_int_equal(stored(store, "a"), 1);
    assert_int_equal(stored(store, "b"), 1);
    assert_int_equal(stored(store, "c"), 1);
    assert_int_equal(stored(store, "d"), LARGE);
    ses_close(store);
    free(killed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_table_that_was_dropped),
        TEST(test_a_refusal_of_what_is_stored),
        TEST(test_a_refusal_of_what_a_commit_does_not_store),
        TEST(test_a_refusal_of_what_fails_when_it_runs_again),
        TEST(test_a_refusal_that_has_only_read),
        TEST(test_a_large_statement_that_fails),
    };
    assert_int_equal(slow_vfs_install(), SQLITE_OK);
    return cmocka_run_group_tests_name("group commit: undone", tests, NULL, NULL);
}
