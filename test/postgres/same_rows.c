/* Each statement that reads gives the same rows on PostgreSQL as on SQLite, for random parameters. */
#include "same_values.h"

struct reading {
    const char *name;
    const char *parameters; /* after '?': only whether there is a row counts; after '#': only how many */
};

static const struct reading readings[] = {{"app_find", "A"},
                                          {"user_find", "AU"},
                                          {"apps_named", "xTWn"},
                                          {"users_named", "aTWn"},
                                          {"details_initial", "s"},
                                          {"details_of_owners", "o"},
                                          {"labels_of_owners", "o"},
                                          {"base_state_all", "s"},
                                          {"session_find", "AUS"},
                                          {"session_is", "sAUS"},
                                          {"session_by_id", "s"},
                                          {"sessions_of_user", "?u"},
                                          {"sessions_by_name", "uTx"},
                                          {"app_after", "a"},
                                          {"sessions_of_app", "an"},
                                          {"family_of", "#asuS"},
                                          {"families_of_user", "#au"},
                                          {"sessions_expired", "anq"},
                                          {"sessions_idle", "anthhm"},
                                          {"sessions_idle_ahead", "anthm"},
                                          {"list_user_beyond", "unn"},
                                          {"list_user_unwritten", "unn"},
                                          {"user_has_more", "un"},
                                          {"user_name", "u"},
                                          {"due_count", "attnt"},
                                          {"list_app_newest", "anttMvVtTuhhxxltWRcdbh"},
                                          {"list_app_oldest", "anttMvVtTuhbxxltWRcdbh"},
                                          {"list_app_created", "anttMvVsxxhhxxltWRcdhh"},
                                          {"list_app_changed", "anttMvVtTuxxxxltWRcd"},
                                          {"list_user_newest", "unttMvVtTuhhpeltWRcdbh"},
                                          {"list_user_oldest", "unttMvVtTuhbpeltWRcdbh"},
                                          {"list_user_created", "unttMvVsxxhhpeltWRcdhh"},
                                          {"list_user_changed", "unttMvVtTuxxpeltWRcd"},
                                          {"list_among", "onttMvVPNIBBpeltWRcdFw"},
                                          {"ids_labelled", "#anLvV"},
                                          {"ids_named", "#unpe"},
                                          {"ids_of_children", "#ancd"},
                                          {"ids_active_of_app", "#anhhhh"},
                                          {"ids_active_of_user", "#unhhhh"},
                                          {"count_of_user", "uxttMvVBxxxxpeltWRcd"},
                                          {"count_labelled", "axttLvVxxxxxxxltWRcd"},
                                          {"count_active", "axttxxxxxxhhxxltWRcdhh"},
                                          {"details_of_session", "s"},
                                          {"state_of_session", "aus"},
                                          {"app_state_all", "a"},
                                          {"user_state_all", "u"},
                                          {"session_state_all", "s"},
                                          {"user_state_of_owners", "O"},
                                          {"session_state_of_owners", "o"},
                                          {"session_state_rows", "s"},
                                          {"app_state_get", "aT"},
                                          {"user_state_get", "uT"},
                                          {"session_state_get", "sT"},
                                          {"lease_find", "s"},
                                          {"draft_find", "s"},
                                          {"inbox_find", "sT"},
                                          {"inbox_count", "s"},
                                          {"inbox_of_store", "xqnxMt"},
                                          {"inbox_of_app", "aqnwMt"},
                                          {"inbox_of_session", "sqnxMt"},
                                          {"event_marks_backward", "sqx"},
                                          {"event_unlike", "ss"},
                                          {"event_by_id", "sEq"},
                                          {"events_forward", "sqqxb"},
                                          {"feature_find", "f"},
                                          {"index_features", ""},
                                          {"index_serves", "f"},
                                          {"index_module", ""},
                                          {"derived_find", "sf"},
                                          {"behind_any", "snBf"},
                                          {"behind_app", "snaf"},
                                          {"behind_user", "snuf"},
                                          {"behind_session", "snsf"},
                                          {"derived_lag", "f"},
                                          {"usage_of_sessions", "oq"},
                                          {"usage_any", "BnttMvVsBpeltWRcd"},
                                          {"usage_of_app", "anttMvVsBpeltWRcd"},
                                          {"usage_of_user", "unttMvVsBpeltWRcd"},
                                          {"usage_of_session", "sbttxvVsBxxltWRcd"},
                                          {"words_found", "QbttMvVtTuqnpeltWRcd"},
                                          {"events_backward", "sqqxb"},
                                          {"event_bodies_forward", "sqqxb"},
                                          {"event_bodies_backward", "sqqxb"},
                                          {"event_of_invocation", "?sqqi"},
                                          {"event_times_backward", "sqqx"},
                                          {"session_left", "?s"},
                                          {"user_left", "?u"},
                                          {"app_left", "?a"},
                                          {"check_app_after", "a"},
                                          {"check_user_after", "u"},
                                          {"check_session_after", "s"},
                                          {"check_details", "s"},
                                          {"check_labels", "s"},
                                          {"check_app_state", "a"},
                                          {"check_user_state", "u"},
                                          {"base_state_get", "sK"},
                                          {"artifact_find", "uTTq"},
                                          {"artifact_versions", "uTTqn"},
                                          {"artifacts_after", "uTTqn"},
                                          {"artifact_after", "uTTq"},
                                          {"artifact_unlike", "?uTTW"},
                                          {"artifacts_without_session", "uT"},
                                          {"check_content_after", "uT"},
                                          {"check_unfinished_after", "#uu"},
                                          {"check_chunks", "#uqn"},
                                          {"check_uses", "uu"},
                                          {"artifact_names", "uTTn"},
                                          {"content_find", "uT"},
                                          {"chunks_read", "#uCTqq"},
                                          {"remembered_seq", "s"},
                                          {"followed_of_app", "asn"},
                                          {"followed_of_store", "xsn"},
                                          {"followed_recent", "asnh"},
                                          {"recent_versions", "ah"}};

enum { RUNS = 200 };

static bool is_number_of_row(const char *column)
{
    return strcmp(column, "id") == 0 || strcmp(column, "app_id") == 0 || strcmp(column, "user_id") == 0 ||
           strcmp(column, "session_id") == 0 || strcmp(column, "max") == 0 ||
           strcmp(column, "content_id") == 0;
}

/* SQLite's value as the server should have it; a place in the body is the text there. */
static void expected_value(struct text *value, sqlite3_stmt *row, int column, const char *of_server,
                           bool is_text)
{
    const char *body = (const char *)sqlite3_column_text(row, sqlite3_column_count(row) - 1);
    const bool is_int = sqlite3_column_type(row, column) == SQLITE_INTEGER;
    const long long number = sqlite3_column_int64(row, column);

    if (is_int && is_text)
        text_printf(value, "%.*s", (int)strcspn(body + number, "\""), body + number);
    else if (is_int && strcmp(sqlite3_column_name(row, column), "position") == 0)
        text_printf(value, "%lld", number & 4294967295);
    else if (is_int && is_number_of_row(of_server))
        text_printf(value, "number %lld", number);
    else
        text_printf(value, "%s", (const char *)sqlite3_column_text(row, column));
}

static void server_value(struct text *value, const PGresult *result, int row, int column)
{
    enum { TYPE_INT = 20 };

    if (PQftype(result, column) == TYPE_INT && is_number_of_row(PQfname(result, column)))
        text_printf(value, "number %lld", strtoll(PQgetvalue(result, row, column), NULL, 10) / 4096);
    else
        text_printf(value, "%s", PQgetvalue(result, row, column));
}

static void compare_row(const char *name, sqlite3_stmt *row, const PGresult *result, int at)
{
    enum { TYPE_TEXT = 25 };

    for (int column = 0; column < PQnfields(result); column++) {
        struct text expected = {NULL, 0};
        struct text given = {NULL, 0};
        if (sqlite3_column_type(row, column) != SQLITE_NULL)
            expected_value(&expected, row, column, PQfname(result, column),
                           PQftype(result, column) == TYPE_TEXT);
        if (!PQgetisnull(result, at, column))
            server_value(&given, result, at, column);
        if (!expected.data != !given.data || (given.data && strcmp(expected.data, given.data) != 0))
            fail_msg("%s, row %d, column %d: %s, not %s", name, at, column, given.data, expected.data);
        free(expected.data);
        free(given.data);
    }
}

static int compare_run(const struct same *same, const struct reading *reading, sqlite3_stmt *in_file,
                       const struct values *values, const struct postgres_statement *statement)
{
    PGresult *result =
        database_take(same->database->conn, run_on_server(same, statement, values), reading->name);
    const int count = PQntuples(result);
    int rows = 0;

    assert_int_equal(PQnfields(result), sqlite3_column_count(in_file));
    sqlite3_reset(in_file);
    bind_in_file(in_file, values);
    while (sqlite3_step(in_file) == SQLITE_ROW) {
        if (reading->parameters[0] != '?' && reading->parameters[0] != '#' && rows < count)
            compare_row(reading->name, in_file, result, rows);
        rows++;
    }
    if (reading->parameters[0] == '?' ? (rows > 0) != (count > 0) : rows != count)
        fail_msg("%s: %d rows, not %d", reading->name, count, rows);
    PQclear(result);
    return rows;
}

static void compare_statement(struct same *same, const struct reading *reading)
{
    const struct postgres_statement *statement = statement_of(reading->name);
    sqlite3_stmt *in_file = prepare_in_file(same, reading->name);
    const char *kinds =
        reading->parameters + (reading->parameters[0] == '?' || reading->parameters[0] == '#');
    int rows = 0;

    assert_true((int)strlen(kinds) >= statement->parameters);
    for (int run = 0; run < RUNS; run++) {
        static struct values values;
        put_parameters(same, &values, kinds);
        rows += compare_run(same, reading, in_file, &values, statement);
    }
    if (rows == 0)
        fail_msg("%s: no parameters found a row", reading->name);
    sqlite3_finalize(in_file);
}

GROUP_TEST(struct same *same, statements_that_read_give_the_rows_that_sqlite_gives)
{
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++)
        compare_statement(same, &readings[i]);
}

/* The numbers that it takes are those of sessions, and the rest are texts. */
static void compare_by_types(struct same *same, const struct postgres_statement *statement)
{
    enum { TYPE_INT = 20 };
    PGconn *conn = same->database->conn;
    char kinds[MOST_PARAMETERS + 1] = "";

    PQclear(database_take(conn, PQprepare(conn, "typed", statement->text, 0, NULL), statement->name));
    PGresult *types = database_take(conn, PQdescribePrepared(conn, "typed"), statement->name);
    for (int i = 0; i < PQnparams(types); i++)
        kinds[i] = PQparamtype(types, i) == TYPE_INT ? 's' : 'T';
    PQclear(types);
    PQclear(database_take(conn, PQexec(conn, "DEALLOCATE typed"), statement->name));
    compare_statement(same, &(struct reading){statement->name, kinds});
}

static bool is_listed(const char *name)
{
    bool found = false;
    for (size_t i = 0; i < sizeof readings / sizeof readings[0] && !found; i++)
        found = strcmp(readings[i].name, name) == 0;
    return found;
}

/* But for those that make a row, those that only PostgreSQL has, and the floors of versions and the SQL of a
 * table, which differ. */
GROUP_TEST(struct same *same, statements_that_are_not_listed_read_of_sessions)
{
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        const struct postgres_statement *statement = &ses__postgres_statements[i];
        if (statement->returns && !statement->gives && !is_listed(statement->name) &&
            strcmp(statement->name, "table_sql") != 0 && strcmp(statement->name, "version_floor") != 0 &&
            strcmp(statement->name, "features_unknown") != 0)
            compare_by_types(same, statement);
    }
}

/* An index with a word for each event, in both, and sums of used tokens. */
static int indexed_same_setup(void **state)
{
    const int failed = same_setup(state);
    const struct same *same = *state;

    if (failed)
        return failed;
    static const char *const makes[] = {"index_make", "places_make"};
    for (size_t i = 0; i < 2; i++) {
        sqlite3_stmt *make = prepare_in_file(same, makes[i]);
        assert_int_equal(sqlite3_step(make), SQLITE_DONE);
        sqlite3_finalize(make);
    }
    assert_int_equal(
        sqlite3_exec(
            same->file,
            "UPDATE derived SET what = 'search'; INSERT INTO features VALUES ('search', 2);"
            "INSERT INTO search_places (session_id, first_seq)"
            " SELECT DISTINCT position >> 32, (((position & 4294967295) - 1) & ~7) + 1 FROM events;"
            "INSERT INTO search_words (rowid, words) SELECT p.id * 8 + (position & 4294967295) - first_seq,"
            " 'w' || (position % 3) FROM events, search_places AS p WHERE p.session_id = position >> 32"
            " AND (position & 4294967295) BETWEEN first_seq AND first_seq + 7",
            NULL, NULL, NULL),
        SQLITE_OK);
    database_run(same->database, statement_of("index_make")->text);
    database_run(same->database, "INSERT INTO seslite.features VALUES ('search', 2);"
                                 "UPDATE seslite.derived SET what = 'search'");
    sqlite3_stmt *make_usage = prepare_in_file(same, "usage_make");
    assert_int_equal(sqlite3_step(make_usage), SQLITE_DONE);
    sqlite3_finalize(make_usage);
    assert_int_equal(
        sqlite3_exec(
            same->file,
            "INSERT INTO derived SELECT session_id, 'usage2', seq, epoch FROM derived;"
            "INSERT INTO usage_sums SELECT session_id, 1, 'm', 'usage2', 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 FROM derived"
            " WHERE what = 'usage2'",
            NULL, NULL, NULL),
        SQLITE_OK);
    database_run(same->database, statement_of("usage_make")->text);
    database_run(
        same->database,
        "INSERT INTO seslite.derived SELECT shard, session_id, 'usage2', seq, epoch FROM seslite.derived");
    database_run(
        same->database,
        "INSERT INTO seslite.usage_sums SELECT shard, session_id, 1, 'm', 'usage2', 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12"
        " FROM seslite.derived WHERE what = 'usage2'");
    database_run(same->database,
                 "INSERT INTO seslite.search_words SELECT shard, session_id, seq,"
                 " array_to_tsvector(ARRAY['w' || (seq + session_id / 4096 * 4294967296) % 3])"
                 " FROM seslite.events");
    return 0;
}

TEST_GROUP(indexed_same_setup, same_teardown)
