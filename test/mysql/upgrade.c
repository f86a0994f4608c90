/* A store of version 0.2.0: see server/upgrade.h. Its upgrade may be cut off. */
#include "mysql/place.h"

static void make_old(struct place *place, const struct database *database, const char *name)
{
    char *script = support_read_file("sql/mysql/0002_initial.sql", NULL);

    place_make(place, database, name);
    place_run(place, script);
    free(script);
    place_run(
        place,
        "INSERT INTO seslite_apps VALUES (1, 'app'); INSERT INTO seslite_users VALUES (1, 1, 'user');"
        "INSERT INTO seslite_sessions (id, app_id, user_id, name, created_us, updated_us, active_30s, version, "
        "last_seq, event_count, details, changed_us) VALUES (1, 1, 1, 'first', 1, 1, 0, 0, 0, 0, 0, 1), (2, 1, 1, "
        "'fork', 2, 2, 0, 0, 0, 0, 1, 2), (3, 1, 1, 'alone', 3, 3, 0, 0, 0, 0, 4, 3), (4, 1, 1, 'orphan', 4, 4, 0, "
        "0, 0, 0, 1, 4), (5, 1, 1, 'sibling', 5, 5, 0, 0, 0, 0, 1, 5), (7, 1, 1, "
        "'memory:notes', 7, 7, 0, 0, 0, 0, 4, 7);"
        "INSERT INTO seslite_session_labels (session_id, name, value, app_id) VALUES (3, 'memory', '2', 1), (3, "
        "'tag', 'x', 1), (7, 'memory', 'all', 1);"
        "INSERT INTO seslite_session_details (session_id, parent_user, parent_session, parent_seq) VALUES (2, "
        "'user', 'first', 0), (4, 'user', 'deleted', 0), (5, 'user', 'deleted', 0)");
}

#define FAMILIES                                                                                            \
    "SELECT group_concat(f.names ORDER BY f.names SEPARATOR ' | ') FROM (SELECT group_concat(s.name ORDER " \
    "BY s.id SEPARATOR ' ') AS names FROM seslite_sessions AS s JOIN seslite_session_details AS d ON "      \
    "d.session_id = s.id WHERE d.origin > 0 GROUP BY d.origin) AS f"
#define OLD_BEGIN                                                                                      \
    "START TRANSACTION; SELECT length(f.name) + 9223372036854775807 FROM seslite_features AS f WHERE " \
    "f.needs <> 1 AND concat(f.name) <> 'search'"
#define REFUSED "out of range"
#define LATE_FORK                                                                                            \
    "INSERT INTO seslite_sessions (id, app_id, user_id, name, created_us, updated_us, active_30s, version, " \
    "last_seq, event_count, details, changed_us) VALUES (6, 1, 1, 'late', 6, 6, 0, 0, 0, 0, 1, 6);"          \
    "INSERT INTO seslite_session_details (session_id, parent_user, parent_session, parent_seq) VALUES (6, "  \
    "'user', 'fork', 0)"
#define WAITING \
    "SELECT count(*) FROM information_schema.processlist WHERE db = 'beside' AND state LIKE '%metadata lock%'"

#include "server/upgrade.h"

/* The end of the statement that begins here, or of the script. */
static const char *end_of_statement(const char *sql)
{
    const char *end = strstr(sql, ";\n");
    return end ? end + 1 : sql + strlen(sql);
}

SERVER_TEST(one_that_is_cut_off_at_any_statement_is_done_by_the_next)
{
    char *script = support_read_file("sql/mysql/0003_families.sql", NULL);
    int count = 0;

    assert_non_null(script);
    for (const char *end = script; *end && *(end + 1); count++) {
        struct place place;

        make_old(&place, database, "cut_off");
        char *part = strndup(script, (size_t)(end - script));
        if (count > 0)
            place_run(&place, part);
        place_run(&place, "UNLOCK TABLES"); /* its connection has ended */
        free(part);
        ses_store *store = place_store(&place);
        must_append_by_key(store, &first, "{}");
        assert_families(&place, "first fork | orphan sibling");
        assert_siblings(store, &(ses_key){"app", "user", "orphan"}, &(ses_key){"app", "user", "sibling"});
        assert_memory(store);
        ses_close(store);
        assert_int_equal(
            database_number(&place.at, "SELECT count(*) FROM information_schema.tables WHERE table_schema = "
                                       "database() AND table_name LIKE '%upgrade%'"),
            0);
        end = end_of_statement(end);
        place_end(&place);
    }
    assert_in_range(count, 15, 50);
    free(script);
}
