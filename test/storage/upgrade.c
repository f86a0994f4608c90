/* Stores that version 0.2.0 made (schema version 2) become those of this version. */
#include "check.h"
#include "released.h"
#include "seslite_draft.h"
#include "seslite_inbox.h"
#include "siblings.h"

/* In the tables: users u (1) and v (2); a session's number, user, name, time of creation, and the names of
 * its parent. */
struct made {
    int id;
    int user;
    const char *name;
    int created;
    const char *parent_user;
    const char *parent;
};

/* A store as 0.2.0 left it, with these sessions. */
static void make_old(const char *path, const struct made *sessions, size_t count)
{
    char *script = support_read_file("sql/sqlite/0002_initial.sql", NULL);
    sqlite3 *db = raw_open(path);

    assert_non_null(script);
    raw_run(db, strchr(script, '\n'));
    raw_run(db, "INSERT INTO apps VALUES (1, 'app'); INSERT INTO users VALUES (1, 1, 'u'), (2, 1, 'v');");
    for (const struct made *made = sessions; made < sessions + count; made++) {
        char *row = sqlite3_mprintf(
            "INSERT INTO sessions (id, app_id, user_id, name, created_us, updated_us, active_30s, version, last_seq, "
            "event_count, details) VALUES (%d, 1, %d, %Q, %d, %d, 0, 0, 0, 0, %d)",
            made->id, made->user, made->name, made->created, made->created, made->parent != NULL);
        char *details =
            sqlite3_mprintf("INSERT INTO session_details (session_id, parent_user, parent_session, "
                            "parent_seq) VALUES (%d, %Q, %Q, 0)",
                            made->id, made->parent_user, made->parent);
        raw_run(db, row);
        if (made->parent)
            raw_run(db, details);
        sqlite3_free(details);
        sqlite3_free(row);
    }
    free(script);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void open_and_close(const char *path)
{
    ses_store *store = must_open(path, NULL);
    ses_close(store);
    assert_query(path, "PRAGMA user_version", "3\n");
}

#define FAMILIES                                                                                          \
    "SELECT group_concat(name, ' ') FROM (SELECT s.name, d.origin, s.id FROM sessions AS s"               \
    " JOIN session_details AS d ON d.session_id = s.id WHERE d.origin > 0 ORDER BY s.id) GROUP BY origin" \
    " ORDER BY min(id)"

TEST(forks_get_the_number_of_their_family)
{
    static const struct made sessions[] = {
        {1, 1, "first", 1, NULL, NULL},
        {2, 1, "fork", 2, "u", "first"},
        {3, 2, "of another user", 3, "u", "first"},
        {4, 1, "fork of a fork", 4, "v", "of another user"},
        {5, 1, "alone", 5, NULL, NULL},
        {6, 1, "orphan", 6, "u", "deleted"},
        {7, 2, "its sibling", 7, "u", "deleted"},
        {8, 1, "other orphan", 8, "v", "deleted"},
        {9, 1, "child of an orphan", 9, "u", "orphan"},
        {10, 1, "twice", 11, NULL, NULL},
        {11, 1, "of the first of the name", 10, "u", "again"},
        {12, 1, "again", 12, NULL, NULL}, /* which was deleted, and made again later */
        {13, 1, "of the second", 13, "u", "again"},
        {14, 1, "imported before its parent", 30, "u", "imported"},
        {15, 1, "imported", 14, NULL, NULL},
        {16, 1, "of a clock ahead", 900, NULL, NULL},
        {17, 1, "of a clock that is right", 17, "u", "of a clock ahead"},
    };
    char *path = support_path(fixture->folder, "old.db");

    make_old(path, sessions, sizeof sessions / sizeof sessions[0]);
    open_and_close(path);
    assert_query(
        path, FAMILIES,
        "first fork of another user fork of a fork\norphan its sibling child of an orphan\nother orphan\n"
        "of the first of the name\nagain of the second\nimported before its parent imported\n"
        "of a clock ahead of a clock that is right\n");
    assert_query(path, "SELECT count(*) FROM session_details WHERE origin IS NULL OR origin <= 0", "0\n");
    free(path);
}

/* Tables that people have given names of SQLite's own tables, which the script reads. */
TEST(names_of_sqlite_in_the_file_do_not_stop_an_upgrade)
{
    static const struct made sessions[] = {{1, 1, "alone", 1, NULL, NULL}};
    char *path = support_path(fixture->folder, "old.db");

    make_old(path, sessions, 1);
    raw_exec(path, "CREATE TABLE pragma_application_id (id); CREATE TABLE pragma_user_version (version)");
    open_and_close(path);
    assert_query(path, "PRAGMA user_version", "3\n");
    free(path);
}

TEST(receipts_count_forks_of_a_session_that_was_deleted_before)
{
    static const struct made sessions[] = {
        {1, 1, "orphan", 6, "u", "deleted"},
        {2, 2, "its sibling", 7, "u", "deleted"},
    };
    char *path = support_path(fixture->folder, "old.db");

    make_old(path, sessions, sizeof sessions / sizeof sessions[0]);
    ses_store *store = must_open(path, NULL);
    assert_siblings(store, &(ses_key){"app", "u", "orphan"}, &(ses_key){"app", "v", "its sibling"});
    ses_close(store);
    free(path);
}

/* Names that were used again may form a circle, and so may a forged file. */
TEST(circles_of_forks_end)
{
    static const struct made sessions[] = {
        {1, 1, "a", 1, "u", "b"},    {2, 1, "b", 2, "u", "a"}, {3, 1, "itself", 3, "u", "itself"},
        {4, 1, "x", 9, "u", "y"},    {5, 1, "y", 9, "u", "z"}, {6, 1, "z", 9, "u", "x"},
        {7, 1, "tail", 9, "u", "z"},
    };
    char *path = support_path(fixture->folder, "old.db");

    make_old(path, sessions, sizeof sessions / sizeof sessions[0]);
    open_and_close(path);
    assert_query(path, "SELECT count(*) FROM session_details WHERE origin > 0", "7\n");
    assert_query(path, FAMILIES, "a b\nitself\nx z tail\ny\n");
    free(path);
}

/* Labels by which programs on 0.2.0 kept memory. */
TEST(labels_become_memory)
{
    static const struct made sessions[] = {
        {1, 1, "talk", 1, NULL, NULL},           {2, 1, "all of it", 2, NULL, NULL},
        {3, 1, "of another use", 3, NULL, NULL}, {4, 1, "memory:notes", 4, NULL, NULL},
        {5, 1, "memory:talk", 5, "u", "talk"},   {6, 1, "memory-project:ab:notes", 6, NULL, NULL},
        {7, 1, "fork", 7, "u", "talk"},
    };
    char *path = support_path(fixture->folder, "old.db");

    make_old(path, sessions, sizeof sessions / sizeof sessions[0]);
    raw_exec(path,
             "INSERT INTO session_labels (session_id, name, value, app_id) VALUES (1, 'memory', '12', 1),"
             " (1, 'tag', 'x', 1), (2, 'memory', 'all', 1), (3, 'memory', '0', 1), (4, 'memory', 'all', 1),"
             " (5, 'memory', 'all', 1), (6, 'memory-project', 'p', 1), (7, 'memory', '999999999999', 1);"
             "UPDATE sessions SET details = details | 4");
    open_and_close(path);
    assert_query(path, "SELECT id, details, active_30s FROM sessions ORDER BY id",
                 "1|68|0\n2|64|0\n3|4|0\n4|32|-17179869184\n5|33|-17179869184\n6|36|-17179869184\n7|65|0\n");
    assert_query(path,
                 "SELECT session_id, remembered_seq FROM session_details WHERE remembered_seq ORDER BY 1",
                 "1|12\n2|4294967295\n7|4294967295\n");
    assert_query(path, "SELECT session_id, name, value FROM session_labels ORDER BY 1",
                 "1|tag|x\n3|memory|0\n6|memory-project|p\n");
    ses_store *store = must_open(path, NULL);
    assert_no_problems(store);
    ses_close(store);
    free(path);
}

TEST(sessions_can_have_drafts_and_inputs)
{
    static const struct made sessions[] = {{1, 1, "a", 1, NULL, NULL}};
    const ses_key a = {"app", "u", "a"};
    char *path = support_path(fixture->folder, "old.db");
    char *body = NULL;

    make_old(path, sessions, 1);
    ses_store *store = must_open(path, NULL);
    assert_code(SES_ABSENT, ses_draft_get(store, &a, NULL, &body, NULL, NULL, &error));
    assert_ok(ses_draft_set(store, &a, "Hel", SES_NUL, NULL, &error));
    assert_ok(ses_inbox_add(store, &a, "request", "1", 1, NULL, &error));
    assert_code(SES_DUPLICATE, ses_inbox_add(store, &a, "request", "1", 1, NULL, &error));
    must_delete(store, &a);
    ses_close(store);
    assert_query(path, "SELECT count(*) FROM session_drafts UNION SELECT count(*) FROM session_inbox", "0\n");
    free(path);
}
