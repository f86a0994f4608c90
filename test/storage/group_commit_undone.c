/* Group commit: what a member that failed has done is undone, whatever it was, and each other has the result
 * of its own. */
#include <unistd.h>

#include "group.h"
#include "seslite_draft.h"
#include "seslite_erase.h"
#include "seslite_inbox.h"
#include "seslite_search.h"
#include "seslite_usage.h"

/* ---------------------------------------------------------------------------------- changes of the schema */

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
COMMIT_TEST(a_table_that_was_dropped)
{
    const struct call what[] = {
        APPEND_TO("a"), {.kind = OTHER, .make = drop_tally, .session_id = "d"}, APPEND_TO("b")};
    const ses_check_options log = {.size = sizeof log, .level = SES_CHECK_LOG};
    int64_t problems = -1;

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

/* ------------------------------------------------------------------------------------------------ drafts */

static int take_draft(struct call *call)
{
    const ses_key key = {"app", "user", call->session_id};
    const ses_append_options options = {.size = sizeof options, .flags = SES_APPEND_TAKES_DRAFT};
    return ses_append_by_key(call->store, &key, "{}", 2, &options, NULL, &call->error);
}

static int set_draft(struct call *call)
{
    const ses_key key = {"app", "user", call->session_id};
    return ses_draft_set(call->store, &key, "Hel", 3, NULL, &call->error);
}

/* The one that fails is done over without the others, and they without it. */
COMMIT_TEST(drafts_beside_a_call_that_fails)
{
    const struct call what[] = {{.kind = OTHER, .make = take_draft, .session_id = "a"},
                                {.kind = OTHER, .make = drop_tally, .session_id = "d"},
                                {.kind = OTHER, .make = set_draft, .session_id = "b"}};
    const ses_key a = {"app", "user", "a"};
    const ses_key b = {"app", "user", "b"};
    char *body = NULL;

    assert_ok(ses_store_tally(fixture->store, NULL, NULL, &error));
    assert_ok(ses_draft_set(fixture->store, &a, "taken", SES_NUL, NULL, &error));
    atomic_store(&fails_now, "DELETE FROM features");
    run_group(fixture->store, what, 3, COMMIT_IS_REAL);
    assert_int_equal(calls[0].code, SES_OK);
    assert_int_equal(calls[1].code, SES_IO);
    assert_int_equal(calls[2].code, SES_OK);
    assert_int_equal(stored(fixture->store, "a"), 1);
    assert_code(SES_ABSENT, ses_draft_get(fixture->store, &a, NULL, &body, NULL, NULL, &error));
    assert_ok(ses_draft_get(fixture->store, &b, NULL, &body, NULL, NULL, &error));
    assert_string_equal(body, "Hel");
    ses_free(body);
}

/* ----------------------------------------------------------------------------------------------- inboxes */

static int answer_input(struct call *call)
{
    const ses_key key = {"app", "user", call->session_id};
    const ses_append_options options = {.size = sizeof options, .answers = "request"};
    return ses_append_by_key(call->store, &key, "{}", 2, &options, NULL, &call->error);
}

static int add_input(struct call *call)
{
    const ses_key key = {"app", "user", call->session_id};
    return ses_inbox_add(call->store, &key, "request", "1", 1, NULL, &call->error);
}

static int take_input(struct call *call)
{
    const ses_key key = {"app", "user", call->session_id};
    ses_inputs *input = NULL;
    ses_lease lease;
    const int code = ses_inbox_take(call->store, &key, "owner", NULL, &input, &lease, &call->error);

    ses_inputs_close(input);
    return code;
}

COMMIT_TEST(inputs_beside_a_call_that_fails)
{
    const struct call what[] = {{.kind = OTHER, .make = answer_input, .session_id = "a"},
                                {.kind = OTHER, .make = take_input, .session_id = "c"},
                                {.kind = OTHER, .make = drop_tally, .session_id = "d"},
                                {.kind = OTHER, .make = add_input, .session_id = "b"}};
    static const int codes[] = {SES_OK, SES_OK, SES_IO, SES_OK};
    const ses_key user = {"app", "user", NULL};
    const ses_key a = {"app", "user", "a"};
    const ses_key c = {"app", "user", "c"};
    ses_inputs *inputs = NULL;

    assert_ok(ses_store_tally(fixture->store, NULL, NULL, &error));
    assert_ok(ses_inbox_add(fixture->store, &a, "request", "1", 1, NULL, &error));
    assert_ok(ses_inbox_add(fixture->store, &c, "request", "1", 1, NULL, &error));
    atomic_store(&fails_now, "DELETE FROM features");
    run_group(fixture->store, what, 4, COMMIT_IS_REAL);
    for (int i = 0; i < 4; i++)
        assert_int_equal(calls[i].code, codes[i]);
    assert_int_equal(stored(fixture->store, "a"), 1);
    assert_ok(ses_inbox_list(fixture->store, &user, NULL, &inputs, &error));
    assert_int_equal(ses_inputs_count(inputs), 2);
    assert_string_equal(ses_inputs_at(inputs, 0)->session, "c");
    assert_string_equal(ses_inputs_at(inputs, 1)->session, "b");
    ses_inputs_close(inputs);
}

/* ------------------------------------------------------------------------------ damage in what is derived */

/* As another program would do it. */
static void damage_derived(const char *path, const char *sql)
{
    sqlite3 *handle = NULL;

    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(handle), SQLITE_OK);
}

static size_t hits(ses_store *store)
{
    const ses_search_options options = {.size = sizeof options, .limit = 1000};
    ses_hits *found = NULL;
    ses_error error;

    assert_ok(
        ses_store_search(store, &(ses_key){"app", NULL, NULL}, "word", SES_NUL, &options, &found, &error));
    const size_t count = ses_hits_count(found);
    ses_hits_close(found);
    return count;
}

/* Eight events with a word and a token each, in the index and the tally. */
static void derive(ses_store *store, const char *id)
{
    for (int i = 0; i < 8; i++)
        append(store, id, Q("{'content':{'parts':[{'text':'word'}]},'usageMetadata':{'totalTokenCount':1}}"));
}

/* A cut and a deletion meet the damage between appends that share their commit: each does what it says,
 * once. */
static void share_with_damage(struct fixture *fixture, const char *sql)
{
    const struct call what[] = {APPEND_TO("a"),
                                {.kind = CUT, .session_id = "c", .version = 3},
                                APPEND_TO("b"),
                                {.kind = DELETE, .session_id = "d"},
                                APPEND_TO("a")};
    const ses_check_options log = {.size = sizeof log, .level = SES_CHECK_LOG};
    ses_store *store = fixture->store;
    int64_t problems = -1;
    ses_error error;

    create(store, "c");
    create(store, "d");
    derive(store, "c");
    derive(store, "d");
    assert_ok(ses_store_index(store, NULL, NULL, &error));
    assert_ok(ses_store_tally(store, NULL, NULL, &error));
    damage_derived(fixture->path, sql);
    const int64_t before = stored(store, "a");
    run_group(store, what, 5, COMMIT_IS_REAL);
    for (int i = 0; i < 5; i++)
        if (calls[i].code != SES_OK)
            fail_msg("%s: call %d: %s", sql, i, calls[i].error.message);
    assert_int_equal(calls[1].deleted, 5);
    assert_int_equal(calls[3].deleted, 1);
    assert_int_equal(stored(store, "a"), before + 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(hits(store), 3);
        assert_int_equal(tokens(store), 3);
        assert_ok(ses_store_index(store, NULL, NULL, &error));
        assert_ok(ses_store_tally(store, NULL, NULL, &error));
    }
    assert_ok(ses_store_check(store, &log, &problems, &error));
    assert_int_equal(problems, 0);
    must_delete(store, &(ses_key){"app", "user", "c"});
}

COMMIT_TEST(damage_in_what_is_derived)
{
    static const char *const damages[] = {
        "SELECT 1",
        "DELETE FROM search_words_data",
        "DROP TABLE search_places",
        "UPDATE usage_sums SET last_seq = 0",
        "DROP TABLE usage_sums",
        "UPDATE derived SET seq = 9223372036854775807",
    };

    must_delete(fixture->store, &(ses_key){"app", "user", "c"});
    must_delete(fixture->store, &(ses_key){"app", "user", "d"});
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++)
        share_with_damage(fixture, damages[i]);
}

/* ------------------------------------------------------------------------------ redactions between others */

/* The names in a session hold its id and this. */
#define SECRET "-xyzzy-4711"

static int find_secret(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end,
                       ses_error *error)
{
    (void)context, (void)error;
    for (size_t at = from; at + strlen(SECRET) <= len; at++)
        if (memcmp(text + at, SECRET, strlen(SECRET)) == 0) {
            *begin = at;
            *end = at + strlen(SECRET);
            return 1;
        }
    return 0;
}

static int redact_names(struct call *call)
{
    const ses_redact_options options = {.size = sizeof options,
                                        .flags = SES_REDACT_STATE | SES_REDACT_NAMES | SES_SECURE,
                                        .find = find_secret};
    return ses_redact_by_key(call->store, &(ses_key){"app", "user", call->session_id}, NULL, 0, &options,
                             NULL, &call->error);
}

/* How often the files hold what the names of that session do. */
static int count_names_of(const struct fixture *fixture, const char *id)
{
    static const char *const suffixes[] = {"", "-wal"};
    char secret[40];
    int met = 0;

    snprintf(secret, sizeof secret, "%s" SECRET, id);
    for (size_t i = 0; i < 2; i++) {
        char name[1024];
        size_t len = 0;
        snprintf(name, sizeof name, "%s%s", fixture->path, suffixes[i]);
        char *bytes = support_read_file(name, &len);
        for (size_t at = 0; bytes && at + strlen(secret) <= len; at++)
            met += memcmp(bytes + at, secret, strlen(secret)) == 0;
        free(bytes);
    }
    return met;
}

static void give_names(ses_store *store, const char *id)
{
    const ses_key of = {"app", "user", id};
    char event[300];
    char name[100];
    ses_error error;

    for (int i = 0; i < 40; i++) {
        snprintf(event, sizeof event,
                 "{\"actions\":{\"stateDelta\":{\"%s" SECRET "-%d\":1,\"user:%s" SECRET "\":%d}}}", id, i, id,
                 i);
        must_append_by_key(store, &of, event);
        snprintf(name, sizeof name, "%s" SECRET "-%d", id, i);
        assert_ok(ses_title_set_by_key(store, &of, name, NULL, &error));
    }
    assert_ok(ses_labels_set_by_key(store, &of, &(ses_label){name, name}, 1, NULL, &error));
}

/* Three redactions wait together, between appends. One fails, and is as if it had not been there; of the
 * others nothing is left in the files. */
COMMIT_TEST(names_of_one_that_failed)
{
    const struct call what[] = {APPEND_TO("a"),
                                {.kind = OTHER, .make = redact_names, .session_id = "b"},
                                APPEND_TO("b"),
                                {.kind = OTHER, .make = redact_names, .session_id = "a"},
                                {.kind = OTHER, .make = redact_names, .session_id = "c"},
                                APPEND_TO("c")};
    const ses_check_options log = {.size = sizeof log, .level = SES_CHECK_LOG};
    struct call again = {.session_id = "b", .store = fixture->store};
    int64_t problems = -1;

    give_names(fixture->store, "a");
    give_names(fixture->store, "b");
    give_names(fixture->store, "c");
    atomic_store(&fails_now, "DELETE FROM session_state");
    run_group(fixture->store, what, 6, COMMIT_IS_REAL);
    for (int i = 0; i < 6; i++)
        assert_int_equal(calls[i].code, i == 1 ? SES_IO : SES_OK);
    assert_int_equal(count_names_of(fixture, "a"), 0);
    assert_true(count_names_of(fixture, "b") > 40);
    assert_int_equal(count_names_of(fixture, "c"), 0);
    assert_int_equal(redact_names(&again), SES_OK);
    assert_int_equal(count_names_of(fixture, "b"), 0);
    ses_session *session = must_get(fixture->store, &(ses_key){"app", "user", "b"});
    assert_int_equal(ses_session_event_count(session), 41);
    assert_null(ses_session_title(session));
    ses_session_close(session);
    assert_ok(ses_store_check(fixture->store, &log, &problems, &error));
    assert_int_equal(problems, 0);
}

/* ---------------------------------------------------------------------------------- refusals after writes */

/* A batch writes its first event, and meets the second, which a neighbour has stored. */
#define TAKEN Q("{'id':'e','timestamp':1}")
#define OTHER_TAKEN \
    ((struct call){.kind = BATCH_OF_TWO, .session_id = "a", .text = Q("{'id':'e','timestamp':2}")})

COMMIT_TEST(a_refusal_of_what_is_stored)
{
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
COMMIT_TEST(a_refusal_of_what_a_commit_does_not_store)
{
    const struct call what[] = {{.kind = APPEND, .session_id = "a", .text = TAKEN}, OTHER_TAKEN};

    run_group(fixture->store, what, 2, COMMIT_FAILS);
    assert_int_equal(calls[0].code, SES_IO);
    assert_int_equal(calls[1].code, SES_IO);
    assert_int_equal(stored(fixture->store, "a"), 0);
}

/* The neighbour fails when it runs again: then the batch has nothing against it. */
COMMIT_TEST(a_refusal_of_what_fails_when_it_runs_again)
{
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
COMMIT_TEST(a_refusal_that_has_only_read)
{
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

/* -------------------------------------------------------------------------------------- a fault of SQLite */

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
 * Before 3.50.2, SQLite loses what is committed after a large statement that failed, if the process is
 * killed: so nothing may be committed in such a transaction.
 */
COMMIT_TEST(a_large_statement_that_fails)
{
    const struct call what[] = {
        APPEND_TO("a"), {.kind = CUT, .session_id = "d", .version = 0}, APPEND_TO("b")};
    char *killed = support_path(fixture->folder, "killed.db");
    ses_store *store = NULL;

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

BEFORE_TESTS()
{
    assert_int_equal(slow_vfs_install(), SQLITE_OK);
}
