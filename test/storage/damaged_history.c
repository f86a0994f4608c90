/* Forks and cuts refuse a log and a state that do not agree with the session's row as CORRUPT. */
#include "storage/damaged_rows.h"

static const ses_key carol = {"app", "carol",
                              "c"}; /* number 3, which is a byte before the keys of its rows */

static int fork_from(struct rows_test *test, const ses_key *key, int64_t seq, ses_error *error)
{
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = seq};
    return ses_fork_by_key(test->store, key, seq > 0 ? &point : NULL, NULL, NULL, NULL, error);
}

#define ROWS_TEST(name) TEST_WITH(struct rows_test *test, setup, teardown, name)

ROWS_TEST(forks_of_logs_with_other_events_than_the_row_says)
{
    static const struct {
        const char *sql;
        int64_t seq; /* 0: the end */
    } cases[] = {
        {"DELETE FROM events WHERE position = (1 << 32) + 1", 2},
        {"DELETE FROM events WHERE position = (1 << 32) + 2", 0},
        {"UPDATE sessions SET event_count = 1 WHERE id = 1", 2},
        {"UPDATE sessions SET event_count = 2 WHERE id = 1", 0},
    };
    struct store_files sound = {.name = NULL};

    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        store_files_write(&sound, test->path);
        change_rows(test, NULL, cases[i].sql);
        open_store(test);
        assert_code(SES_CORRUPT, fork_from(test, &alice, cases[i].seq, &error));
        assert_message("as many events as its row says");
        close_store(test);
    }
    store_files_free(&sound);
}

/* A deletion does not fail because a fork is damaged. */
ROWS_TEST(a_receipt_does_not_know_of_damaged_forks)
{
    static const char *const damages[] = {
        "UPDATE sessions SET base_seq = 99 WHERE name = 'fork'",
        "UPDATE sessions SET name = '' WHERE name = 'fork'",
        "UPDATE events SET body = x'00' WHERE session_id = 3",
        "UPDATE session_details SET origin = -origin",
    };
    static const int64_t left[] = {-1, -1, -1, 0};
    struct store_files sound = {.name = NULL};
    const ses_key fork = {"app", "alice", "fork"};
    ses_erased erased = {.size = sizeof erased};
    const ses_delete_options options = {.size = sizeof options, .erased = &erased};

    open_store(test);
    assert_ok(ses_fork_by_key(test->store, &alice, NULL, &fork, NULL, NULL, &error));
    close_store(test);
    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        store_files_write(&sound, test->path);
        change_rows(test, NULL, damages[i]);
        open_store(test);
        assert_ok(ses_delete(test->store, &alice, &options, NULL, &error));
        assert_int_equal(erased.sessions, 1);
        assert_int_equal(erased.forks_left, left[i]);
        close_store(test);
    }
    store_files_free(&sound);
}

/* Carol has the events 1 to 3, of which `pruned` are gone. The store is closed. */
static void add_carol(struct rows_test *test, int64_t pruned)
{
    const ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_SEQ, .last_seq = pruned};
    ses_error error;

    open_store(test);
    must_create(test->store, &carol, NULL);
    append_events(test->store, &carol, 3);
    if (pruned > 0)
        assert_ok(ses_prune_by_key(test->store, &carol, &options, NULL, &error));
    close_store(test);
}

struct state_damage {
    const char *table;
    const char *sql; /* or NULL: `row` becomes `instead` */
    const char *row;
    const char *instead;
};

static void assert_state_refused(struct rows_test *test, const struct state_damage *damage)
{
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};
    ses_error error;

    open_store(test);
    int code = strcmp(damage->table, "base_state") == 0
                   ? fork_from(test, &carol, 0, &error)
                   : ses_cut_by_key(test->store, &carol, &first, NULL, NULL, &error);
    if (code != SES_CORRUPT)
        print_error("after %s\n", damage->sql ? damage->sql : damage->instead);
    assert_code(SES_CORRUPT, code);
    assert_message(damage->table);
    assert_message("out of place");
    close_store(test);
}

ROWS_TEST(rows_of_state_out_of_place)
{
    static const struct state_damage cases[] = {
        {"base_state", "UPDATE base_state SET seq = -1 WHERE key = 'k2'", NULL, NULL},
        {"base_state", "UPDATE base_state SET seq = 3 WHERE key = 'k2'", NULL, NULL},
        {"base_state", "UPDATE base_state SET value = NULL WHERE key = 'k2'", NULL, NULL},
        {"base_state", NULL, "\003k2", "\002k2"},
        {"session_state", "UPDATE session_state SET value = NULL WHERE key = 'k2' AND session_id = 3", NULL,
         NULL},
        {"session_state", NULL, "\003k2", "\002k2"},
        {"session_state", NULL, "\003k1", "\003k9"},
    };
    struct store_files sound = {.name = NULL};

    store_files_read(&sound, test->path);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        store_files_write(&sound, test->path);
        add_carol(test, strcmp(cases[i].table, "base_state") == 0 ? 2 : 0);
        if (cases[i].sql)
            change_rows(test, without_types, cases[i].sql);
        else
            patch_row(test, cases[i].table, cases[i].row, cases[i].instead);
        assert_state_refused(test, &cases[i]);
    }
    store_files_free(&sound);
}
