/* Each statement that writes leaves the same rows on PostgreSQL as on SQLite, or is refused by both. */
#include "same_values.h"

struct writing {
    const char *name;
    const char *parameters;
};

static const struct writing writings[] = {{"title_set", "sT"},
                                          {"child_of_set", "sTT"},
                                          {"label_set", "sTTa"},
                                          {"label_remove", "sT"},
                                          {"details_add", "sT"},
                                          {"session_describe", "sq"},
                                          {"session_shelve", "sqh"},
                                          {"session_expiry", "st"},
                                          {"session_touch", "sqqqtt"},
                                          {"session_touch_active", "sqqqtthh"},
                                          {"app_state_set", "aTTsq"},
                                          {"user_state_set", "uTTsq"},
                                          {"session_state_set", "sTTxq"},
                                          {"app_state_remove", "aT"},
                                          {"user_state_remove", "uT"},
                                          {"session_state_remove", "sT"},
                                          {"base_state_add", "sKTq"},
                                          {"lease_set", "qGqqTq"},
                                          {"event_marks_cut", "sq"},
                                          {"event_marks_prune", "sq"},
                                          {"session_prune", "sqq"},
                                          {"event_add", "sqETTWttTDx"},
                                          {"details_replace_initial", "sT"},
                                          {"events_copy", "ssq"},
                                          {"event_marks_copy", "ssq"},
                                          {"base_state_copy", "ss"},
                                          {"session_state_copy", "ss"},
                                          {"session_labels_copy", "ss"},
                                          {"details_copy", "ssTTq"},
                                          {"session_fill", "sqqthqqqth"},
                                          {"session_name", "sT"},
                                          {"parent_set", "sTTq"},
                                          {"event_mark_add", "sqqq"},
                                          {"events_delete", "sqq"},
                                          {"app_state_delete", "a"},
                                          {"user_state_delete", "u"},
                                          {"session_state_delete", "s"},
                                          {"base_state_delete", "s"},
                                          {"session_labels_delete", "s"},
                                          {"session_lease_delete", "s"},
                                          {"draft_set", "sqT"},
                                          {"draft_delete", "s"},
                                          {"derived_delete", "s"},
                                          {"derived_set", "sfqq"},
                                          {"derived_leave", "sf"},
                                          {"event_marks_delete", "s"},
                                          {"artifact_add", "uTTqqqTTTu"},
                                          {"artifact_remove", "uTTq"},
                                          {"artifacts_copy", "uTT"},
                                          {"artifacts_move", "uTT"},
                                          {"origin_set", "sq"},
                                          {"chunks_copy", "uu"}};

/* Statements that would soon leave nothing to write about, or seldom find something: each is undone, and made
 * until it has written. */
static const struct writing undone[] = {{"content_grow", "uCqt"},
                                        {"content_finish", "uCT"},
                                        {"content_delete", "uC"},
                                        {"content_use", "uCq"},
                                        {"contents_use", "uTWq"},
                                        {"artifacts_remove", "uTW"},
                                        {"base_artifact_forget", "uTTK"},
                                        {"chunks_delete", "u"},
                                        {"chunks_sweep", "ut"},
                                        {"contents_sweep", "ut"},
                                        {"user_artifacts_delete", "u"},
                                        {"user_chunks_delete", "u"},
                                        {"user_contents_delete", "u"},
                                        {"session_state_replace", "sTTYqy"},
                                        {"base_state_replace", "sKTqy"},
                                        {"inbox_remove", "sT"},
                                        {"inbox_delete", "s"}};

enum {
    WRITINGS = sizeof writings / sizeof writings[0],
    UNDONE = sizeof undone / sizeof undone[0],
    ROUNDS = 100
};

/* The columns by which the rows of a table are ordered: none has a longer key than artifacts. */
static const char *order_of(int table)
{
    return strcmp(same_tables[table].table, "artifacts") == 0 ? "1, 2, 3, 4, 5" : "1, 2, 3";
}

/* The rows of a table in the order of its key, as text. */
static char *rows_in_file(const struct same *same, int table)
{
    struct text rows = {NULL, 0};
    char sql[600];

    snprintf(sql, sizeof sql, "%s ORDER BY %s", same_tables[table].select, order_of(table));
    sqlite3_stmt *statement = ask_file(same, sql);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(statement); i++)
            text_printf(&rows, "%s|",
                        sqlite3_column_type(statement, i) == SQLITE_NULL
                            ? "NULL"
                            : (const char *)sqlite3_column_text(statement, i));
        text_printf(&rows, "\n");
    }
    sqlite3_finalize(statement);
    text_printf(&rows, "end\n");
    return rows.data;
}

static char *rows_on_server(const struct same *same, int table)
{
    const char *name = same_tables[table].table;
    const char *columns = strstr(name, " (");
    struct text rows = {NULL, 0};
    char sql[400];

    snprintf(sql, sizeof sql, "SELECT %.*s FROM seslite.%.*s ORDER BY %s",
             columns ? (int)strlen(columns + 3) : 1, columns ? columns + 2 : "*", (int)strcspn(name, " "),
             name, order_of(table));
    PGresult *result = database_ask(same->database, sql);
    for (int row = 0; row < PQntuples(result); row++) {
        for (int i = 0; i < PQnfields(result); i++)
            text_printf(&rows, "%s|", PQgetisnull(result, row, i) ? "NULL" : PQgetvalue(result, row, i));
        text_printf(&rows, "\n");
    }
    PQclear(result);
    text_printf(&rows, "end\n");
    return rows.data;
}

static void compare_tables(const struct same *same, int round)
{
    for (int table = 0; table < SAME_TABLES; table++) {
        char *expected = rows_in_file(same, table);
        char *given = rows_on_server(same, table);
        size_t at = 0;
        while (expected[at] && expected[at] == given[at])
            at++;
        if (expected[at] || given[at])
            fail_msg("round %d, table %s: %.100s, not %.100s", round, same_tables[table].table, given + at,
                     expected + at);
        free(expected);
        free(given);
    }
}

/* Whether both wrote. */
static bool write_to_both(struct same *same, const struct writing *writing)
{
    static struct values values;
    sqlite3_stmt *in_file = prepare_in_file(same, writing->name);

    put_parameters(same, &values, writing->parameters);
    bind_in_file(in_file, &values);
    const bool done = sqlite3_step(in_file) == SQLITE_DONE;
    const int changes = sqlite3_changes(same->file);
    sqlite3_finalize(in_file);
    PGresult *result = run_on_server(same, statement_of(writing->name), &values);
    if (done != (PQresultStatus(result) == PGRES_COMMAND_OK))
        fail_msg("%s: %s; %s", writing->name, PQresultErrorMessage(result), sqlite3_errmsg(same->file));
    if (done && atoi(PQcmdTuples(result)) != changes)
        fail_msg("%s: %s rows, not %d", writing->name, PQcmdTuples(result), changes);
    PQclear(result);
    return done && changes > 0;
}

static void both(const struct same *same, const char *sql)
{
    assert_int_equal(sqlite3_exec(same->file, sql, NULL, NULL, NULL), SQLITE_OK);
    database_run(same->database, sql);
}

/* This comes first, while all rows are there. */
GROUP_TEST(struct same *same, statements_that_are_undone_leave_what_sqlite_leaves)
{
    assert_int_equal(sqlite3_exec(same->file, "PRAGMA foreign_keys = OFF", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_db_config(same->file, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL), SQLITE_OK);
    for (int i = 0; i < UNDONE; i++) {
        int wrote = 0;
        for (int round = 0; round < 1000 && wrote < 5; round++) {
            both(same, "BEGIN");
            if (write_to_both(same, &undone[i])) {
                compare_tables(same, round);
                wrote++;
            }
            both(same, "ROLLBACK");
        }
        if (wrote == 0)
            fail_msg("%s: nothing was written", undone[i].name);
    }
}

GROUP_TEST(struct same *same, so_do_those_that_stay)
{
    int wrote[WRITINGS] = {0};

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WRITINGS; i++)
            wrote[i] += write_to_both(same, &writings[i]);
        compare_tables(same, round);
    }
    for (int i = 0; i < WRITINGS; i++) {
        if (wrote[i] == 0)
            fail_msg("%s: nothing was written", writings[i].name);
    }
}

TEST_GROUP(same_setup, same_teardown)
