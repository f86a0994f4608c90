/* Calls that write refuse rows that are out of bounds or lead to other sessions as CORRUPT, before they
 * change anything. */
#include "storage/damaged_rows.h"
#include "seslite_usage.h"

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

/* -------------------------------------------------------------------------------------------- deleting */

#define ROWS_TEST(name) TEST_WITH(struct rows_test *test, setup, teardown, name)

ROWS_TEST(a_session_in_an_index_only)
{
    struct store_files files = {.name = NULL};
    size_t root = root_of(test, "sessions");

    store_files_read(&files, test->path);
    bytes_put(page_at(&files.parts[STORE_FILE], root) + 3, 2, 0); /* no cells */
    store_files_write(&files, test->path);
    store_files_free(&files);
    assert_deletes_refuse(test);
    open_store(test);
    ses_session *session = NULL;
    assert_code(SES_CORRUPT, ses_get(test->store, &alice, NULL, &session, &error));
}

ROWS_TEST(session_numbers_out_of_bounds)
{
    static const char *const numbers[] = {"4294967298", "2147483648",          "-1",
                                          "0",          "9223372036854775807", "-9223372036854775807 - 1"};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char sql[200];
        snprintf(sql, sizeof sql, "UPDATE sessions SET id = %s WHERE name = 'a'", numbers[i]);
        change_rows(test, NULL, sql);
        assert_deletes_refuse(test);
    }
}

ROWS_TEST(users_and_apps_out_of_bounds)
{
    static const char *const changes[] = {
        "UPDATE users SET id = -1 WHERE id = 1; UPDATE sessions SET user_id = -1 "
        "WHERE id = 1",
        "UPDATE users SET app_id = 0 WHERE id = -1; UPDATE sessions SET app_id = 0 "
        "WHERE id = 1; UPDATE apps SET id = 0"};

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        change_rows(test, NULL, changes[i]);
        assert_deletes_refuse(test);
    }
}

/* The rows have changed, and the indexes still say what they said. */
ROWS_TEST(indexes_that_lead_to_others)
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
    struct store_files sound = {.name = NULL};

    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        store_files_write(&sound, test->path);
        change_rows(test, without_indexes, changes[i]);
        assert_deletes_refuse(test);
    }
    store_files_free(&sound);
}

ROWS_TEST(events_filed_under_another_session)
{
    static const char *const changes[] = {
        "UPDATE events SET session_id = 2 WHERE position = (1 << 32) + 2",
        "UPDATE events SET position = (2 << 32) + 9 WHERE session_id = 1 AND position & 4294967295 = 3",
        "UPDATE events SET position = -position WHERE session_id = 1 AND position & 4294967295 = 3",
    };
    struct store_files sound = {.name = NULL};

    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        int64_t count = -1;
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

/* Rows of a user lie behind those of others, where the search that deletes them does not come. */
ROWS_TEST(state_of_a_user_in_two_places)
{
    const ses_key carol = {"app", "carol", "c"};

    open_store(test);
    must_create(test->store, &carol,
                Q("{'user:k0':0,'user:k1':1,'user:k2':2,'user:k3':3,'user:k4':4,'user:k5':5}"));
    close_store(test);
    patch_row(test, "user_state", "\003k1", "\011k1");
    patch_row(test, "user_state", "\003k2", "\002k2");
    open_store(test);
    assert_code(SES_CORRUPT, ses_delete_user(test->store, "app", "carol", NULL, NULL, NULL, &error));
    assert_message("mixed up with those of another user");
}

/* --------------------------------------------------------------------------------------------- pruning */

ROWS_TEST(damage_is_not_pruned)
{
    static const char newer[] = "INSERT INTO event_marks VALUES (1, 3, 7, 0)"; /* of a later version */
    static const char *const changes[] = {
        newer,
        "UPDATE events SET session_id = 2, id_key = 'x' WHERE position = (1 << 32) + 1",
        "UPDATE sessions SET event_count = 1 WHERE id = 1",
        "UPDATE sessions SET base_seq = 4 WHERE id = 1",
        "UPDATE sessions SET base_seq = -1 WHERE id = 1",
        "INSERT INTO event_marks VALUES (1, 3, 1, 3)",
        "INSERT INTO event_marks VALUES (1, 3, 1, -1)",
        "UPDATE sessions SET base_seq = 1, event_count = 2 WHERE id = 1;"
        "DELETE FROM events WHERE position = (1 << 32) + 1;"
        "INSERT INTO base_state VALUES (1, 'k', '1', 2)",
        "UPDATE events SET body = '{\"actions\":{\"stateDelta\":{\"k\":' WHERE position = (1 << 32) + 2",
        "UPDATE session_details SET initial_state = '{' WHERE session_id = 1",
    };
    const ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_KEEP, .keep = 1};
    struct store_files sound = {.name = NULL};

    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const int expected = changes[i] == newer ? SES_UNSUPPORTED : SES_CORRUPT;
        int64_t count = -1;
        store_files_write(&sound, test->path);
        change_rows(test, without_indexes, "UPDATE events SET id_at = id_at || 'x' WHERE session_id = 1");
        change_rows(test, NULL, "REINDEX");
        change_rows(test, NULL, changes[i]);
        char *before = raw_text(test->path, "SELECT position, session_id FROM events");
        open_store(test);
        int code = ses_prune_by_key(test->store, &alice, &options, &count, &error);
        if (code != expected)
            print_error("after %s\n", changes[i]);
        assert_code(expected, code);
        assert_int_equal(count, -1);
        close_store(test);
        assert_query(test->path, "SELECT position, session_id FROM events", before);
        free(before);
    }
    store_files_free(&sound);
}

ROWS_TEST(sessions_of_others_do_not_expire)
{
    static const char *const changes[] = {
        "UPDATE sessions SET app_id = 7 WHERE id = 1",
        "UPDATE sessions SET id = 7 WHERE id = 1",
    };
    const int64_t late = INT64_C(4102444800000000);
    const int64_t later = late + 1;
    const ses_expire_options options = {.size = sizeof options, .now_us = &later};
    struct store_files sound = {.name = NULL};

    open_store(test);
    assert_ok(ses_expiry_set_by_key(test->store, &alice, &late, NULL, &error));
    close_store(test);
    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        store_files_write(&sound, test->path);
        change_rows(test, without_indexes, changes[i]);
        open_store(test);
        assert_code(SES_CORRUPT, ses_store_expire(test->store, "app", &options, NULL, &error));
        assert_message(i == 0 ? "another app's session" : "in an index but not in the table");
        assert_code(SES_CORRUPT, ses_delete_app(test->store, "app", NULL, NULL, &error));
        close_store(test);
        assert_bob_is_whole(test);
    }
    store_files_free(&sound);
}

/* The names of the index go back, or repeat. */
ROWS_TEST(users_out_of_order)
{
    static const struct {
        const char *names[3];
        const char *name;
        const char *instead;
    } cases[] = {{{"na", "nab", "nb"}, "nb", "na"},
                 {{"nb", "nca", NULL}, "nca", "naa"},
                 {{"nab", "nac", NULL}, "nac", "nab"}};
    const ses_expire_options options = {.size = sizeof options, .sessions_per_user = 9};
    struct store_files sound = {.name = NULL};

    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        store_files_write(&sound, test->path);
        open_store(test);
        for (size_t j = 0; j < 3 && cases[i].names[j]; j++)
            must_create(test->store, &(ses_key){"app", cases[i].names[j], "s"}, NULL);
        assert_ok(ses_store_expire(test->store, "app", &options, NULL, &error));
        close_store(test);
        patch_row(test, "sqlite_autoindex_users_1", cases[i].name, cases[i].instead);
        open_store(test);
        assert_code(SES_CORRUPT, ses_store_expire(test->store, "app", &options, NULL, &error));
        assert_message("a row of users is out of place");
        close_store(test);
    }
    store_files_free(&sound);
}

/* --------------------------------------------------------------------------------------------- making */

ROWS_TEST(numbers_that_are_used_up)
{
    static const char *const changes[] = {
        "UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'sessions'",
        "UPDATE sessions SET id = 9223372036854775807 WHERE name = 'b'",
        "INSERT INTO session_leases (token, session_id, owner, taken_us, until_us) "
        "VALUES (9223372036854775807, 2, 'o', 0, 0)",
        "INSERT INTO sqlite_sequence VALUES ('session_leases', 9223372036854775807)",
    };
    const ses_key fresh = {"app", "alice", "fresh"};
    struct store_files sound = {.name = NULL};
    ses_lease lease;

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

ROWS_TEST(sessions_numbered_from_below_one)
{
    const ses_key fresh = {"app", "bob", "fresh"};

    change_rows(test, NULL, "UPDATE sessions SET id = id - 10; UPDATE sqlite_sequence SET seq = -9");
    open_store(test);
    assert_code(SES_CORRUPT, ses_create(test->store, &fresh, NULL, 0, NULL, NULL, &error));
    assert_query(test->path, "SELECT count(*) FROM sessions", "2\n");
}

/* ----------------------------------------------------------------------------------------- appending */

ROWS_TEST(a_place_that_is_taken)
{
    ses_appended appended;

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

ROWS_TEST(a_handle_whose_row_became_anothers)
{
    static const char *const changes[] = {"user_id = 2", "app_id = 2", "last_seq = 2, event_count = 2"};

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct store_files sound = {.name = NULL};
        ses_session *session = NULL;
        char sql[200];
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
ROWS_TEST(leases_of_others_and_out_of_bounds)
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
    struct store_files sound = {.name = NULL};
    ses_lease lease;

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

ROWS_TEST(tokens_that_do_not_ascend)
{
    ses_lease lease;

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

/* The app is gone, so a foreign key of the store forbids the write. The tally also refers to a table of the
 * store. */
ROWS_TEST(a_tally_is_no_table_of_an_application)
{
    const char *event = "{\"actions\":{\"stateDelta\":{\"app:new\":1}}}";

    open_store(test);
    assert_ok(ses_store_tally(test->store, NULL, NULL, &error));
    ses_session *session = must_get(test->store, &alice);
    change_rows(test, NULL, "DELETE FROM apps");
    assert_code(SES_CORRUPT, ses_append(session, event, SES_NUL, NULL, NULL, &error));
    assert_message("FOREIGN KEY");
}
