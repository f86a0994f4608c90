/* Rows that lead in circles, out of bounds, or to other sessions are CORRUPT, before anything is deleted or moved. */
#include "storage/damage.h"
#include "storage/damage_bytes.h"
#include "storage/damage_rows.h"

static const ses_key alice = {"app", "alice", "a"};
static const ses_key bob = {"app", "bob", "b"};

struct rows_test {
    struct folder *folder;
    const char *path;
    ses_store *store;
};

static void open_store(struct rows_test *test)
{
    const ses_open_options options = {.size = sizeof options, .journal = SES_JOURNAL_ROLLBACK};
    ses_error error;
    assert_ok(ses_open(test->path, &options, &test->store, &error));
}

static void close_store(struct rows_test *test)
{
    ses_close(test->store);
    test->store = NULL;
}

static void append_events(ses_store *store, const ses_key *key, int count)
{
    char event[400];

    for (int i = 1; i <= count; i++) {
        snprintf(
            event, sizeof event,
            "{\"id\":\"e%d\",\"timestamp\":%d,\"actions\":{\"stateDelta\":{\"k%d\":%d}},\"text\":\"%0200d\"}",
            i, 1700000000 + i, i % 7, i, i);
        must_append_by_key(store, key, event);
    }
}

/* Alice's session is number 1, Bob's number 2, each with three events. The store is closed. */
static int setup(void **state)
{
    struct rows_test *test = calloc(1, sizeof *test);

    assert_non_null(test);
    assert_int_equal(folder_setup((void **)&test->folder), 0);
    test->path = test->folder->path;
    open_store(test);
    must_create(test->store, &alice, Q("{'k':1,'user:u':1}"));
    must_create(test->store, &bob, Q("{'k':2,'user:u':2}"));
    append_events(test->store, &alice, 3);
    append_events(test->store, &bob, 3);
    close_store(test);
    *state = test;
    return 0;
}

static int teardown(void **state)
{
    struct rows_test *test = *state;
    close_store(test);
    (void)folder_teardown((void **)&test->folder);
    free(test);
    return 0;
}

/* Bypasses all guards. `aside` (or NULL) is the part of the schema that is put aside meanwhile. */
static void change_rows(const struct rows_test *test, const char *aside, const char *sql)
{
    sqlite3 *db = open_unguarded(test->path);
    if (aside)
        put_schema_aside(db, aside);
    raw_run(db, sql);
    if (aside)
        put_schema_back(db);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Without the library: alice's rows may be gone or not, bob's are all there. */
static void assert_bob_is_whole(const struct rows_test *test)
{
    assert_query(test->path,
                 "SELECT (SELECT count(*) FROM events WHERE position >> 32 = 2), "
                 "(SELECT count(*) FROM session_state WHERE session_id = 2), "
                 "(SELECT count(*) FROM user_state WHERE user_id = 2)",
                 "3|4|1\n");
}

static void assert_deletes_refuse(struct rows_test *test)
{
    int64_t count = -1;
    ses_error error;

    open_store(test);
    assert_code(SES_CORRUPT, ses_delete_user(test->store, "app", "alice", NULL, &count, NULL, &error));
    assert_int_equal(count, -1);
    assert_code(SES_CORRUPT, ses_delete(test->store, &alice, NULL, &count, &error));
    assert_int_equal(count, -1);
    close_store(test);
    assert_bob_is_whole(test);
}

/* The page of a tree's root, counted from 0. */
static size_t root_of(const struct rows_test *test, const char *name)
{
    struct text text = {NULL, 0};
    char sql[200];
    sqlite3 *db = raw_open(test->path);

    snprintf(sql, sizeof sql, "SELECT rootpage - 1 FROM sqlite_schema WHERE name = '%s'", name);
    raw_query(db, sql, &text);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    size_t root = (size_t)strtol(text.data, NULL, 10);
    free(text.data);
    return root;
}

/* -------------------------------------------------------------------------------------------- deleting */

static void test_a_session_in_an_index_only(void **state)
{
    struct rows_test *test = *state;
    struct store_files files = {.name = NULL};
    size_t root = root_of(test, "sessions");
    ses_error error;

    store_files_read(&files, test->path);
    bytes_put(page_at(&files.parts[STORE_FILE], root) + 3, 2, 0); /* no cells */
    store_files_write(&files, test->path);
    store_files_free(&files);
    assert_deletes_refuse(test);
    open_store(test);
    ses_session *session = NULL;
    assert_code(SES_CORRUPT, ses_get(test->store, &alice, NULL, &session, &error));
}

static void test_session_numbers_out_of_bounds(void **state)
{
    static const char *const numbers[] = {"4294967298", "2147483648",          "-1",
                                          "0",          "9223372036854775807", "-9223372036854775807 - 1"};
    struct rows_test *test = *state;

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char sql[200];
        snprintf(sql, sizeof sql, "UPDATE sessions SET id = %s WHERE name = 'a'", numbers[i]);
        change_rows(test, NULL, sql);
        assert_deletes_refuse(test);
    }
}

static void test_users_and_apps_out_of_bounds(void **state)
{
    static const char *const changes[] = {
        "UPDATE users SET id = -1 WHERE id = 1; UPDATE sessions SET user_id = -1 "
        "WHERE id = 1",
        "UPDATE users SET app_id = 0 WHERE id = -1; UPDATE sessions SET app_id = 0 "
        "WHERE id = 1; UPDATE apps SET id = 0"};
    struct rows_test *test = *state;

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        change_rows(test, NULL, changes[i]);
        assert_deletes_refuse(test);
    }
}

/* The rows have changed, and the indexes still say what they said. */
static void test_indexes_that_lead_to_others(void **state)
{
    static const char *const changes[] = {
        /* names that have changed places: of users, of sessions, of apps */
        "UPDATE users SET name = iif(name = 'alice', 'bob', 'alice')",
        "UPDATE sessions SET name = iif(name = 'a', 'b', 'a')",
        "UPDATE apps SET name = 'other'",
        "UPDATE sessions SET user_id = 3 - user_id",
        "UPDATE sessions SET app_id = 7",
        "UPDATE users SET app_id = 7",
        /* rows that have changed places */
        "UPDATE sessions SET id = id + 2; UPDATE sessions SET id = 5 - id",
    };
    struct rows_test *test = *state;
    struct store_files sound = {.name = NULL};

    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        store_files_write(&sound, test->path);
        change_rows(test, without_indexes, changes[i]);
        assert_deletes_refuse(test);
    }
    store_files_free(&sound);
}

static void test_events_filed_under_another_session(void **state)
{
    static const char *const changes[] = {
        "UPDATE events SET session_id = 2 WHERE position = (1 << 32) + 2",
        "UPDATE events SET position = (2 << 32) + 9 WHERE session_id = 1 AND position & 4294967295 = 3",
        "UPDATE events SET position = -position WHERE session_id = 1 AND position & 4294967295 = 3",
    };
    struct rows_test *test = *state;
    struct store_files sound = {.name = NULL};

    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        int64_t count = -1;
        ses_error error;
        store_files_write(&sound, test->path);
        change_rows(test, without_indexes, "UPDATE events SET id_key = position WHERE session_id = 1");
        change_rows(test, NULL, "REINDEX");
        change_rows(test, NULL, changes[i]);
        open_store(test);
        assert_code(SES_CORRUPT, ses_delete(test->store, &alice, NULL, &count, &error));
        assert_code(SES_CORRUPT, ses_delete_user(test->store, "app", "alice", NULL, &count, NULL, &error));
        close_store(test);
        assert_query(test->path, "SELECT count(*) FROM events WHERE position >> 32 = 2 AND session_id = 2",
                     "3\n");
        assert_query(test->path, "SELECT count(*) FROM events", "6\n");
    }
    store_files_free(&sound);
}

/* --------------------------------------------------------------------------------------------- pruning */

static void test_damage_is_not_pruned(void **state)
{
    static const char *const changes[] = {
        "UPDATE events SET session_id = 2, id_key = 'x' WHERE position = (1 << 32) + 1",
        "UPDATE sessions SET event_count = 1 WHERE id = 1",
        "UPDATE sessions SET base_seq = 4 WHERE id = 1",
        "UPDATE sessions SET base_seq = -1 WHERE id = 1",
        "INSERT INTO event_marks VALUES (1, 3, 1, 3)",
        "INSERT INTO event_marks VALUES (1, 3, 1, -1)",
        "INSERT INTO event_marks VALUES (1, 3, 7, 0)",
        "UPDATE sessions SET base_seq = 1, event_count = 2 WHERE id = 1;"
        "DELETE FROM events WHERE position = (1 << 32) + 1;"
        "INSERT INTO base_state VALUES (1, 'k', '1', 2)",
        "UPDATE events SET body = '{\"actions\":{\"stateDelta\":{\"k\":' WHERE position = (1 << 32) + 2",
        "UPDATE session_details SET initial_state = '{' WHERE session_id = 1",
    };
    const ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_KEEP, .keep = 1};
    struct rows_test *test = *state;
    struct store_files sound = {.name = NULL};

    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        int64_t count = -1;
        ses_error error;
        store_files_write(&sound, test->path);
        change_rows(test, without_indexes, "UPDATE events SET id = id || 'x' WHERE session_id = 1");
        change_rows(test, NULL, "REINDEX");
        change_rows(test, NULL, changes[i]);
        char *before = raw_text(test->path, "SELECT position, session_id FROM events");
        open_store(test);
        int code = ses_prune_by_key(test->store, &alice, &options, &count, &error);
        if (code != SES_CORRUPT)
            print_error("after %s\n", changes[i]);
        assert_code(SES_CORRUPT, code);
        assert_int_equal(count, -1);
        close_store(test);
        assert_query(test->path, "SELECT position, session_id FROM events", before);
        free(before);
    }
    store_files_free(&sound);
}

static void test_sessions_of_others_do_not_expire(void **state)
{
    static const char *const changes[] = {
        "UPDATE sessions SET app_id = 7 WHERE id = 1",
        "UPDATE sessions SET id = 7 WHERE id = 1",
    };
    const int64_t late = INT64_C(4102444800000000);
    const int64_t later = late + 1;
    const ses_expire_options options = {.size = sizeof options, .now_us = &later};
    struct rows_test *test = *state;
    struct store_files sound = {.name = NULL};
    ses_error error;

    open_store(test);
    assert_ok(ses_expiry_set_by_key(test->store, &alice, &late, NULL, &error));
    close_store(test);
    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        store_files_write(&sound, test->path);
        change_rows(test, without_indexes, changes[i]);
        open_store(test);
        assert_code(SES_CORRUPT, ses_expire(test->store, "app", &options, NULL, &error));
        assert_code(SES_CORRUPT, ses_delete_app(test->store, "app", NULL, NULL, &error));
        close_store(test);
        assert_bob_is_whole(test);
    }
    store_files_free(&sound);
}

/* --------------------------------------------------------------------------------------------- making */

static void test_numbers_that_are_used_up(void **state)
{
    static const char *const changes[] = {
        "UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'sessions'",
        "UPDATE sessions SET id = 9223372036854775807 WHERE name = 'b'",
        "INSERT INTO session_leases (token, session_id, owner, taken_us, until_us) "
        "VALUES (9223372036854775807, 2, 'o', 0, 0)",
        "INSERT INTO sqlite_sequence VALUES ('session_leases', 9223372036854775807)",
    };
    const ses_key fresh = {"app", "alice", "fresh"};
    struct rows_test *test = *state;
    struct store_files sound = {.name = NULL};
    ses_lease lease;
    ses_error error;

    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        store_files_write(&sound, test->path);
        change_rows(test, NULL, changes[i]);
        open_store(test);
        int code = i < 2 ? ses_create(test->store, &fresh, NULL, SES_NUL, NULL, NULL, &error)
                         : ses_lease_take(test->store, &alice, "owner", NULL, &lease, &error);
        assert_code(SES_CORRUPT, code);
        assert_message("no number is left");
        close_store(test);
    }
    store_files_free(&sound);
}

/* ------------------------------------------------------------------------------------------- reading */

static void assert_get_refuses(struct rows_test *test, const char *sql, const char *words)
{
    ses_session *session = NULL;
    struct store_files sound = {.name = NULL};
    ses_error error;

    store_files_read(&sound, test->path);
    change_rows(test, without_types, sql);
    open_store(test);
    int code = ses_get(test->store, &alice, NULL, &session, &error);
    if (code != SES_CORRUPT)
        print_error("after %s\n", sql);
    assert_code(SES_CORRUPT, code);
    assert_message(words);
    close_store(test);
    store_files_write(&sound, test->path);
    store_files_free(&sound);
}

static void test_numbers_and_texts_out_of_bounds(void **state)
{
    static const char *const of_sessions[] = {
        "version = -1",
        "version = 1 << 53",
        "last_seq = -1",
        "last_seq = 1 << 32",
        "event_count = 4",
        "event_count = -1",
        "app_id = 0",
        "created_us = 253402300800000000",
        "updated_us = -62167219200000001",
        "updated_us = 9223372036854775807",
    };
    static const char *const of_events[] = {
        "time_us = 253402300800000000",
        "time_us = -62167219200000001",
        "high_us = time_us - 1",
        "high_us = 9223372036854775807",
        "id = NULL",
        "id = ''",
        "id = printf('%.*c', 513, 'x')",
        "invocation_id = NULL",
        "author = NULL",
        "body = NULL",
        "body = ''",
    };
    static const char *const of_state[] = {"value = NULL"}; /* keys are checked when they are shown */
    struct rows_test *test = *state;
    char sql[200];

    for (size_t i = 0; i < sizeof of_sessions / sizeof of_sessions[0]; i++) {
        snprintf(sql, sizeof sql, "UPDATE sessions SET %s WHERE id = 1", of_sessions[i]);
        assert_get_refuses(test, sql, "session");
    }
    for (size_t i = 0; i < sizeof of_events / sizeof of_events[0]; i++) {
        snprintf(sql, sizeof sql, "UPDATE events SET %s WHERE position = 1 << 32 | 2", of_events[i]);
        assert_get_refuses(test, sql, "event 2");
    }
    for (size_t i = 0; i < sizeof of_state / sizeof of_state[0]; i++) {
        snprintf(sql, sizeof sql, "UPDATE session_state SET %s WHERE session_id = 1 AND key = 'k'",
                 of_state[i]);
        assert_get_refuses(test, sql, "state");
    }
    assert_get_refuses(test, "UPDATE sessions SET last_seq = 2, event_count = 2 WHERE id = 1", "event 3");
}

/* Which the table's key would not let in. */
static void test_two_marks_of_one_event(void **state)
{
    static const char *const key_of_kinds =
        "UPDATE main.sqlite_schema SET sql = replace(sql, '(session_id, seq)', '(session_id, seq, kind)') "
        "WHERE name = 'event_marks'";
    const ses_range live = {.size = sizeof live, .which = SES_RANGE_LIVE};
    const ses_get_options options = {.size = sizeof options, .range = &live};
    struct rows_test *test = *state;
    ses_session *session = NULL;
    ses_error error;

    change_rows(test, key_of_kinds, "INSERT INTO event_marks VALUES (1, 3, 1, 2), (1, 3, 2, NULL)");
    open_store(test);
    assert_code(SES_CORRUPT, ses_get(test->store, &alice, &options, &session, &error));
    assert_message("(event 3) is out of place");
}

/* Many sessions and events, so that the trees have leaves that can be swapped. The store is closed. */
static void grow(struct rows_test *test)
{
    change_rows(test, NULL,
                "INSERT INTO users (app_id, name) VALUES (1, 'carol'), (1, 'dave');"
                "WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < 1499) "
                "INSERT INTO sessions (app_id, user_id, name, created_us, updated_us, active_hour, version, "
                "last_seq, "
                "event_count, changed_us) SELECT 1, 3 + n % 2, 's' || n, 1600000000000000 + n * 60000000, "
                "1600000000000000 + n * "
                "60000000, (1600000000 + n * 60) / 3600, 0, 0, 0, 1600000000000000 FROM r;"
                "WITH RECURSIVE r(n) AS (SELECT 4 UNION ALL SELECT n + 1 FROM r WHERE n < 200) "
                "INSERT INTO events (position, session_id, id_key, id, invocation_id, author, time_us, body) "
                "SELECT (1 << 32) + n, 1, 'e' || n, 'e' || n, '', '', 1700000000000000, "
                "printf('{\"text\":\"%0200d\"}', n) "
                "FROM r;"
                "UPDATE sessions SET last_seq = 200, event_count = 200, version = 200 WHERE id = 1");
}

/* The first two leaves of a tree change places. */
static void swap_leaves(const struct rows_test *test, const char *tree)
{
    struct store_files files = {.name = NULL};
    struct bytes *file = &files.parts[STORE_FILE];
    unsigned char kept[PAGE];

    size_t root = root_of(test, tree);
    store_files_read(&files, test->path);
    struct tree_page at = tree_page_at(file, root);
    assert_true(at.is_inner && at.cells >= 2);
    unsigned char *one = page_at(file, bytes_get(at.page + bytes_get(at.pointers, 2), 4) - 1);
    unsigned char *other = page_at(file, bytes_get(at.page + bytes_get(at.pointers + 2, 2), 4) - 1);
    memcpy(kept, one, PAGE);
    memcpy(one, other, PAGE);
    memcpy(other, kept, PAGE);
    store_files_write(&files, test->path);
    store_files_free(&files);
}

/* Pages to the end, or to the first that cannot be read. */
static int list_to_end(struct rows_test *test, const char *user, int order, size_t limit, ses_error *error)
{
    char token[2 * SES_ID_MAX + 200] = "";
    int code = SES_OK;
    int pages = 0;

    do {
        const ses_list_options options = {
            .size = sizeof options, .order = order, .limit = limit, .token = token[0] ? token : NULL};
        ses_page *page = NULL;
        code = ses_list(test->store, "app", user, &options, &page, error);
        const char *next = page ? ses_page_token(page) : NULL;
        snprintf(token, sizeof token, "%s", next ? next : "");
        ses_page_close(page);
        assert_in_range(++pages, 1, 1000);
    } while (code == SES_OK && token[0]);
    return code;
}

static void test_lists_that_go_back(void **state)
{
    struct rows_test *test = *state;
    ses_error error;

    grow(test);
    swap_leaves(test, "sessions_by_app");
    open_store(test);
    assert_code(SES_CORRUPT, list_to_end(test, NULL, SES_ORDER_CREATED, 10000, &error));
    assert_message("out of place");
    for (size_t limit = 2; limit < 1000; limit *= 3) { /* a page may begin where what is wrong is not met */
        int code = list_to_end(test, NULL, SES_ORDER_CREATED, limit, &error);
        assert_true(code == SES_OK || code == SES_CORRUPT);
    }
}

static void test_lists_out_of_order(void **state)
{
    struct rows_test *test = *state;
    ses_error error;

    /* The hour is what the index is made of: it and the time do not agree. */
    grow(test);
    change_rows(test, NULL,
                "UPDATE sessions SET updated_us = updated_us - 3600000000 * 24 WHERE name = 's500'");
    open_store(test);
    assert_code(SES_CORRUPT, list_to_end(test, NULL, SES_ORDER_NEWEST, 10000, &error));
    assert_code(SES_CORRUPT, list_to_end(test, NULL, SES_ORDER_OLDEST, 10000, &error));
    assert_message("out of place");
    assert_ok(list_to_end(test, "carol", SES_ORDER_NEWEST, 10, &error)); /* sorted by the time itself */
}

/* It comes to an end, whatever it finds. */
static void list_by_label(struct rows_test *test, const char *user, int order, const ses_filter *filter)
{
    const ses_list_options options = {.size = sizeof options, .order = order, .filter = filter};
    ses_page *page = NULL;
    int64_t count = 0;
    ses_error error;
    int code = ses_list(test->store, "app", user, &options, &page, &error);

    if (code != SES_OK)
        assert_code(SES_CORRUPT, code);
    ses_page_close(page);
    code = ses_list_count(test->store, "app", user, filter, &count, &error);
    if (code != SES_OK)
        assert_code(SES_CORRUPT, code);
}

/* The hours of sessions do not agree with their times, and an index of labels leads to others: found, or without effect. */
static void test_filtered_lists_on_swapped_pages(void **state)
{
    static const char *const trees[] = {"sessions_by_activity", "session_labels_by_value", "session_labels"};
    struct rows_test *test = *state;
    const ses_filter filter = {.size = sizeof filter, .label = "l", .label_value = "v"};

    grow(test);
    change_rows(
        test, NULL,
        "INSERT INTO session_labels SELECT id, 'l', iif(id % 3, 'v', 'w'), 1 FROM sessions WHERE id > 2;"
        "INSERT INTO session_labels SELECT id, 'm', 'a longer value', 1 FROM sessions WHERE id > 2;"
        "UPDATE sessions SET details = 4 WHERE id > 2");
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        swap_leaves(test, trees[i]);
        open_store(test);
        for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CREATED; order++) {
            list_by_label(test, NULL, order, &filter);
            list_by_label(test, "carol", order, &filter);
        }
        close_store(test);
        swap_leaves(test, trees[i]);
    }
}

static void test_lists_with_names_that_are_none(void **state)
{
    static const char *const names[] = {"''", "printf('%.*c', 513, 'x')", "'a' || char(0)",
                                        "CAST(x'FF' AS TEXT)"};
    struct rows_test *test = *state;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char sql[200];
        ses_error error;
        snprintf(sql, sizeof sql, "UPDATE sessions SET name = %s WHERE id = 1", names[i]);
        change_rows(test, NULL, sql);
        open_store(test);
        for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CREATED; order++) {
            assert_code(SES_CORRUPT, list_to_end(test, NULL, order, 1, &error));
            assert_code(SES_CORRUPT, list_to_end(test, "alice", order, 1, &error));
            assert_ok(list_to_end(test, "bob", order, 1, &error));
        }
        close_store(test);
    }
}

/* In the row that begins so, the owner's number 3 becomes 2: the number stands before the key. */
static void misfile_row(const struct rows_test *test, const char *tree, const char *key)
{
    struct store_files files = {.name = NULL};
    unsigned char *page;
    size_t at = 0;

    store_files_read(&files, test->path);
    page = page_at(&files.parts[STORE_FILE], root_of(test, tree));
    while (at + 4 < PAGE && !(page[at] == 3 && memcmp(page + at + 1, key, strlen(key)) == 0))
        at++;
    assert_true(at + 4 < PAGE);
    page[at] = 2;
    store_files_write(&files, test->path);
    store_files_free(&files);
}

static void test_names_of_apps_and_users_that_are_none(void **state)
{
    static const struct {
        const char *sql;
        bool of_apps;
    } changes[] = {
        {"UPDATE apps SET name = ''", true},
        {"UPDATE apps SET name = printf('%.*c', 513, 'x')", true},
        {"UPDATE apps SET name = CAST(x'FF' AS TEXT)", true},
        {"UPDATE users SET name = 'a' || char(0) WHERE id = 1", false},
        {"UPDATE users SET name = '' WHERE id = 1", false},
        {"UPDATE users SET id = -1 WHERE id = 1", false},
    };
    struct rows_test *test = *state;
    struct store_files sound = {.name = NULL};

    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        ses_names *names = NULL;
        ses_error error;
        store_files_write(&sound, test->path);
        change_rows(test, NULL, changes[i].sql);
        open_store(test);
        int code = changes[i].of_apps ? ses_list_apps(test->store, NULL, &names, &error)
                                      : ses_list_users(test->store, "app", NULL, &names, &error);
        assert_code(SES_CORRUPT, code);
        close_store(test);
    }
    store_files_free(&sound);
}

static void test_lists_with_state_of_others(void **state)
{
    static const char *const rows[][2] = {{"session_state", "x2"}, {"user_state", "y2"}};
    const ses_key carol = {"app", "carol", "c"};
    struct rows_test *test = *state;
    struct store_files sound = {.name = NULL};

    open_store(test);
    must_create(test->store, &carol, Q("{'x1':1,'x2':2,'x3':3,'user:y1':1,'user:y2':2,'user:y3':3}"));
    close_store(test);
    store_files_read(&sound, test->path);
    for (size_t i = 0; i < 2; i++) {
        ses_error error;
        store_files_write(&sound, test->path);
        misfile_row(test, rows[i][0], rows[i][1]);
        open_store(test);
        for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CREATED; order++) {
            assert_code(SES_CORRUPT, list_to_end(test, NULL, order, 10, &error));
            assert_message("filed as another's");
            assert_code(SES_CORRUPT, list_to_end(test, "carol", order, 10, &error));
            assert_ok(list_to_end(test, "bob", order, 10, &error));
        }
        close_store(test);
    }
    store_files_free(&sound);
}

static void test_events_that_go_back(void **state)
{
    struct rows_test *test = *state;
    ses_session *session = NULL;
    ses_error error;

    grow(test);
    swap_leaves(test, "events");
    open_store(test);
    assert_code(SES_CORRUPT, ses_get(test->store, &alice, NULL, &session, &error));
    for (int backward = 0; backward < 2; backward++) {
        const ses_cursor_options options = {.size = sizeof options, .backward = backward};
        ses_cursor *cursor = NULL;
        const ses_event *event = NULL;
        int steps = 0;
        int code = ses_cursor_open(test->store, &alice, &options, &cursor, &error);
        while (code >= 0 && (code = ses_cursor_next(cursor, &event, &error)) == SES_ROW)
            assert_in_range(++steps, 1, 300);
        assert_code(SES_CORRUPT, code);
        (void)ses_cursor_close(cursor, NULL);
    }
}

/* ----------------------------------------------------------------------------------------- following */

/* To the end, or to a failure. */
static int follow_to_end(struct rows_test *test, const ses_key *key, ses_error *error)
{
    ses_follower *follower = NULL;
    const ses_event *event = NULL;
    int steps = 0;
    int code = ses_follower_open(test->store, key, NULL, &follower, error);

    while (code == SES_OK) {
        assert_in_range(++steps, 1, 10000);
        code = ses_follower_next(follower, 0, &event, error);
        if (code == SES_OK)
            break;
        code = code > 0 ? SES_OK : code;
    }
    ses_follower_close(follower);
    return code;
}

static void test_followers_of_damaged_rows(void **state)
{
    static const struct {
        const char *sql;
        bool of_session; /* it refuses, too */
    } changes[] = {
        {"UPDATE sessions SET name = printf('%.*c', 513, 'x') WHERE id = 1", false},
        {"UPDATE sessions SET name = 'a' || char(0) WHERE id = 1", false},
        {"UPDATE sessions SET name = CAST(x'FF' AS TEXT) WHERE id = 1", false},
        {"UPDATE sessions SET app_id = 7 WHERE id = 1", true},
        {"UPDATE sessions SET version = -1 WHERE id = 1", true},
        {"UPDATE sessions SET last_seq = 1 << 33 WHERE id = 1", true},
        {"UPDATE sessions SET base_seq = 4 WHERE id = 1", true},
        {"UPDATE events SET time_us = -1 << 60 WHERE position = (1 << 32) + 2", true},
    };
    const ses_key of_alice = {"app", "alice", NULL};
    const ses_key of_bob = {"app", "bob", NULL};
    struct rows_test *test = *state;
    struct store_files sound = {.name = NULL};

    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        ses_error error;
        store_files_write(&sound, test->path);
        change_rows(test, NULL, changes[i].sql);
        open_store(test);
        assert_code(SES_CORRUPT, follow_to_end(test, &of_alice, &error));
        if (changes[i].of_session)
            assert_code(SES_CORRUPT, follow_to_end(test, &alice, &error));
        assert_ok(follow_to_end(test, &of_bob, &error));
        close_store(test);
    }
    store_files_free(&sound);
}

static void test_followers_that_go_back(void **state)
{
    const ses_key of_carol = {"app", "carol", NULL};
    struct rows_test *test = *state;
    ses_error error;

    grow(test);
    swap_leaves(test, "events");
    open_store(test);
    assert_code(SES_CORRUPT, follow_to_end(test, &alice, &error));
    close_store(test);
    swap_leaves(test, "sqlite_autoindex_sessions_1");
    open_store(test);
    assert_code(SES_CORRUPT, follow_to_end(test, &of_carol, &error));
    assert_message("out of place");
}

/* ----------------------------------------------------------------------------------------- appending */

static void test_a_place_that_is_taken(void **state)
{
    struct rows_test *test = *state;
    ses_appended appended;
    ses_error error;

    change_rows(test, NULL, "UPDATE sessions SET last_seq = 1, event_count = 1 WHERE id = 1");
    open_store(test);
    assert_code(SES_CORRUPT,
                ses_append_by_key(test->store, &alice, Q("{'id':'new'}"), SES_NUL, NULL, &appended, &error));
    assert_message("event 2");
    assert_query(test->path, "SELECT count(*) FROM events", "6\n");
    /* This very event is stored, and lies behind the last. */
    change_rows(test, NULL,
                "UPDATE events SET body = '{\"id\":\"e3\",\"timestamp\":1700000003.000000}' "
                "WHERE position = 1 << 32 | 3");
    assert_code(SES_CORRUPT,
                ses_append_by_key(test->store, &alice, Q("{'id':'e3','timestamp':1700000003.000000}"),
                                  SES_NUL, NULL, &appended, &error));
}

static void test_a_handle_whose_row_became_anothers(void **state)
{
    static const char *const changes[] = {"user_id = 2", "app_id = 2", "last_seq = 2, event_count = 2"};
    struct rows_test *test = *state;

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct store_files sound = {.name = NULL};
        ses_session *session = NULL;
        char sql[200];
        ses_error error;
        store_files_read(&sound, test->path);
        open_store(test);
        session = must_get(test->store, &alice);
        snprintf(sql, sizeof sql, "UPDATE sessions SET %s WHERE id = 1", changes[i]);
        change_rows(test, NULL, sql);
        assert_code(SES_CORRUPT, ses_append(session, Q("{'actions':{'stateDelta':{'user:u':7}}}"), SES_NUL,
                                            NULL, NULL, &error));
        assert_code(SES_CORRUPT, ses_refresh(session, NULL, &error));
        ses_session_close(session);
        close_store(test);
        assert_query(test->path, "SELECT group_concat(value) FROM user_state", "1,2\n");
        store_files_write(&sound, test->path);
        store_files_free(&sound);
    }
}

static void test_sessions_numbered_from_below_one(void **state)
{
    const ses_key fresh = {"app", "bob", "fresh"};
    struct rows_test *test = *state;
    ses_error error;

    change_rows(test, NULL, "UPDATE sessions SET id = id - 10; UPDATE sqlite_sequence SET seq = -9");
    open_store(test);
    assert_code(SES_CORRUPT, ses_create(test->store, &fresh, NULL, 0, NULL, NULL, &error));
    assert_query(test->path, "SELECT count(*) FROM sessions", "2\n");
}

/* --------------------------------------------------------------------------------------------- leases */

static void assert_leases_refuse(struct rows_test *test, const char *change)
{
    const ses_lease_options at_once = {.size = sizeof at_once, .wait_ms = -1};
    const ses_append_options options = {.size = sizeof options, .lease = 1};
    ses_lease lease;
    ses_error error;

    open_store(test);
    int code = ses_lease_take(test->store, &alice, "other", &at_once, &lease, &error);
    if (code != SES_CORRUPT)
        print_error("after %s\n", change);
    assert_code(SES_CORRUPT, code);
    assert_message("session_leases");
    assert_code(SES_CORRUPT, ses_lease_renew(test->store, &alice, 1, NULL, NULL, &error));
    assert_code(SES_CORRUPT, ses_lease_release(test->store, &alice, 1, NULL, &error));
    assert_code(SES_CORRUPT, ses_append_by_key(test->store, &alice, "{}", SES_NUL, &options, NULL, &error));
    close_store(test);
}

/* Alice's lease has the token 1, Bob's the token 2. */
static void test_leases_of_others_and_out_of_bounds(void **state)
{
    static const char *const changes[] = {
        "session_id = 3 - session_id",
        "owner = NULL",
        "owner = ''",
        "owner = x'61'",
        "owner = printf('%.*c', 129, 'x')",
        "owner = CAST(x'FF' AS TEXT)",
        "owner = CAST(x'610062' AS TEXT)",
        "until_us = NULL",
        "until_us = 'x'",
        "until_us = 253402300800000000",
        "until_us = -62167219200000001",
        "next_owner = 'x'",
        "next_until_us = 7",
        "next_owner = '', next_until_us = 7",
        "next_owner = 'x', next_until_us = 'x'",
        "next_owner = 'x', next_until_us = 9223372036854775807",
    };
    const char *const without_lease_index =
        "UPDATE main.sqlite_schema SET sql = replace(replace(replace(sql, ' UNIQUE', ''), 'STRICT', ''), ' "
        "NOT "
        "NULL', '') WHERE name = 'session_leases';"
        "DELETE FROM main.sqlite_schema WHERE type = 'index' AND tbl_name = 'session_leases'";
    struct rows_test *test = *state;
    struct store_files sound = {.name = NULL};
    ses_lease lease;
    ses_error error;

    open_store(test);
    assert_ok(ses_lease_take(test->store, &alice, "a", NULL, &lease, &error));
    assert_ok(ses_lease_take(test->store, &bob, "b", NULL, &lease, &error));
    close_store(test);
    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char sql[200];
        snprintf(sql, sizeof sql, "UPDATE session_leases SET %s", changes[i]);
        change_rows(test, without_lease_index, sql);
        assert_leases_refuse(test, changes[i]);
        store_files_write(&sound, test->path);
    }
    store_files_free(&sound);
}

static void test_tokens_that_do_not_ascend(void **state)
{
    struct rows_test *test = *state;
    ses_lease lease;
    ses_error error;

    open_store(test);
    assert_ok(ses_lease_take(test->store, &alice, "a", NULL, &lease, &error));
    assert_ok(ses_lease_release(test->store, &alice, lease.token, NULL, &error));
    close_store(test);
    change_rows(test, NULL,
                "UPDATE session_leases SET token = 50; UPDATE sqlite_sequence SET seq = 7 "
                "WHERE name = 'session_leases'");
    open_store(test);
    assert_code(SES_CORRUPT, ses_lease_take(test->store, &alice, "b", NULL, &lease, &error));
    assert_message("do not ascend");
    assert_query(test->path, "SELECT token, owner FROM session_leases", "50|a\n");
}

/* -------------------------------------------------------------------------------------------- circles */

/* Did a statement give up? Whatever is told of such a tree is CORRUPT. */
static int is_endless(int code, const ses_error *failure)
{
    const ses_error error = *failure;
    if (code != SES_OK)
        assert_code(SES_CORRUPT, code);
    return code != SES_OK && strstr(error.message, "more rows than the file has room for") != NULL;
}

/* A tree whose every path leads to the same leaf, and which has more paths than can be walked. */
static void test_trees_without_end(void **state)
{
    static const char *const trees[] = {
        "sessions",  "sessions_by_app", "sessions_by_activity",   "sqlite_autoindex_sessions_1",
        "events",    "events_by_id",    "session_state",          "user_state",
        "app_state", "session_labels",  "session_labels_by_value"};
    const ses_filter filter = {.size = sizeof filter, .label = "l"};
    struct rows_test *test = *state;
    int endless = 0;

    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        struct store_files sound = {.name = NULL};
        struct store_files files = {.name = NULL};
        int64_t begin = support_steady_us();
        ses_session *session = NULL;
        ses_error error;
        size_t root = root_of(test, trees[i]);

        store_files_read(&sound, test->path);
        store_files_copy(&files, &sound);
        put_floors(&files.parts[STORE_FILE], root);
        store_files_write(&files, test->path);
        open_store(test);
        endless += is_endless(ses_get(test->store, &bob, NULL, &session, &error), &error);
        ses_session_close(session);
        for (int order = SES_ORDER_NEWEST; order <= SES_ORDER_CREATED; order++) {
            endless += is_endless(list_to_end(test, NULL, order, 100, &error), &error);
            endless += is_endless(list_to_end(test, "bob", order, 100, &error), &error);
            list_by_label(test, NULL, order, &filter);
            list_by_label(test, "bob", order, &filter);
        }
        endless += is_endless(ses_delete(test->store, &bob, NULL, NULL, &error), &error);
        endless += is_endless(ses_delete_user(test->store, "app", "bob", NULL, NULL, NULL, &error), &error);
        close_store(test);
        assert_in_range(support_steady_us() - begin, 0, 60 * 1000 * 1000);
        store_files_write(&sound, test->path);
        store_files_free(&sound);
        store_files_free(&files);
    }
    assert_in_range(endless, 2, 100);
}

/* --------------------------------------------------------------------------------------------- schema */

/* Another program changes the schema while the store is open. What the next call meets is not the library's fault. */
static void test_schema_changed_under_an_open_store(void **state)
{
    static const char *const changes[] = {
        "ALTER TABLE events RENAME COLUMN high_us TO highest",
        "ALTER TABLE session_state RENAME TO theirs",
        "DROP INDEX sessions_by_app",
        "DROP TABLE session_details",
        "DROP VIEW merged_state; DROP VIEW session_overview; ALTER TABLE app_state RENAME TO theirs; CREATE "
        "VIEW "
        "app_state AS SELECT * FROM theirs",
    };
    struct rows_test *test = *state;
    struct store_files sound = {.name = NULL};

    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const ses_key fresh = {"app", "alice", "fresh"};
        ses_session *session = NULL;
        int corrupt = 0;
        ses_error error;
        open_store(test);
        session = must_get(test->store, &alice);
        must_append(session, Q("{'actions':{'stateDelta':{'app:x':1,'k':2}}}"));
        assert_ok(list_to_end(test, NULL, SES_ORDER_CREATED, 10, &error));
        change_rows(test, NULL, changes[i]);
        const int codes[] = {
            ses_append(session, Q("{'actions':{'stateDelta':{'app:x':1,'k':2}}}"), SES_NUL, NULL, NULL,
                       &error),
            ses_refresh(session, NULL, &error),
            ses_create(test->store, &fresh, Q("{'k':1}"), SES_NUL, NULL, NULL, &error),
            list_to_end(test, NULL, SES_ORDER_CREATED, 10, &error),
            ses_delete(test->store, &alice, NULL, NULL, &error),
        };
        for (size_t j = 0; j < sizeof codes / sizeof codes[0]; j++) {
            assert_true(codes[j] == SES_OK || codes[j] == SES_CORRUPT);
            corrupt += codes[j] == SES_CORRUPT;
        }
        assert_in_range(corrupt, 1, 5);
        ses_session_close(session);
        close_store(test);
        store_files_write(&sound, test->path);
    }
    store_files_free(&sound);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_a_session_in_an_index_only),
        TEST(test_session_numbers_out_of_bounds),
        TEST(test_users_and_apps_out_of_bounds),
        TEST(test_indexes_that_lead_to_others),
        TEST(test_events_filed_under_another_session),
        TEST(test_damage_is_not_pruned),
        TEST(test_sessions_of_others_do_not_expire),
        TEST(test_numbers_that_are_used_up),
        TEST(test_numbers_and_texts_out_of_bounds),
        TEST(test_two_marks_of_one_event),
        TEST(test_lists_that_go_back),
        TEST(test_lists_out_of_order),
        TEST(test_filtered_lists_on_swapped_pages),
        TEST(test_lists_with_names_that_are_none),
        TEST(test_names_of_apps_and_users_that_are_none),
        TEST(test_lists_with_state_of_others),
        TEST(test_events_that_go_back),
        TEST(test_followers_of_damaged_rows),
        TEST(test_followers_that_go_back),
        TEST(test_a_place_that_is_taken),
        TEST(test_a_handle_whose_row_became_anothers),
        TEST(test_sessions_numbered_from_below_one),
        TEST(test_leases_of_others_and_out_of_bounds),
        TEST(test_tokens_that_do_not_ascend),
        TEST(test_trees_without_end),
        TEST(test_schema_changed_under_an_open_store),
    };
    return cmocka_run_group_tests_name("damaged rows", tests, NULL, NULL);
}
