/* The index of words in a file. */
#include "seslite_history.h"
#include "seslite_search.h"
#include "seslite_transfer.h"

#include "open.h"

#define SECRET "xyzzy4711qwertz"

static const ses_key key = {"app", "user", "session"};

static void say(ses_store *store, const ses_key *to, const char *text)
{
    char event[300];

    snprintf(event, sizeof event, "{\"content\":{\"parts\":[{\"text\":\"%s\"}]}}", text);
    must_append_by_key(store, to, event);
}

/* Returns the code; `*count` hits were found. */
static int search_for(ses_store *store, const char *words, size_t *count, int *indexed)
{
    ses_hits *hits = NULL;
    ses_error error;
    const int code = ses_store_search(store, &key, words, SES_NUL, NULL, &hits, &error);

    *count = code == SES_OK ? ses_hits_count(hits) : 0;
    *indexed = code == SES_OK ? ses_hits_indexed(hits) : -1;
    ses_hits_close(hits);
    return code;
}

static void must_find(ses_store *store, const char *words, size_t expected, int by_index)
{
    size_t count = 0;
    int indexed = 0;

    assert_int_equal(search_for(store, words, &count, &indexed), SES_OK);
    assert_int_equal(count, expected);
    assert_int_equal(indexed, by_index);
}

/* An index keeps of a word only what the one before does not begin with: so this looks for the end of it. */
static void assert_in_no_file(const char *path)
{
    assert_int_equal(support_count_in_files(path, &SECRET[4]), 0);
}

static void must_index(ses_store *store, unsigned flags)
{
    const ses_index_options options = {.size = sizeof options, .flags = flags};
    ses_error error;

    assert_ok(ses_store_index(store, &options, NULL, &error));
}

TEST(secure_deletions_leave_no_word)
{
    const ses_delete_options secure = {.size = sizeof secure, .flags = SES_SECURE};
    const ses_key others = {"app", "others", "session"};
    int64_t sessions = 0;

    must_create(fixture->store, &key, NULL);
    must_create(fixture->store, &others, NULL);
    for (int i = 0; i < 50; i++) {
        say(fixture->store, &key, "a secret: " SECRET);
        say(fixture->store, &others, "no secret");
        if (i % 10 == 0)
            must_index(fixture->store, 0);
    }
    must_find(fixture->store, SECRET, 20, 1);
    assert_ok(ses_delete_user(fixture->store, "app", "user", &secure, &sessions, NULL, &error));
    assert_int_equal(sessions, 1);
    assert_in_no_file(fixture->path);
    must_create(fixture->store, &key, NULL);
    must_find(fixture->store, SECRET, 0, 1);
    assert_sound(fixture->path);
}

static int overwrite_nothing(sqlite3 *db, char **message, const struct sqlite3_api_routines *routines)
{
    (void)message;
    (void)routines;
    return sqlite3_exec(db, "PRAGMA secure_delete = OFF", NULL, NULL, NULL);
}

/* Enough words that FTS5 merges parts of its index while others' are deleted. */
static void say_much(ses_store *store, const ses_key *to, int seed, const char *end)
{
    enum { WORDS = 3000 };
    static char event[WORDS * 8 + 200];
    size_t len = (size_t)sprintf(event, "{\"content\":{\"parts\":[{\"text\":\"");

    for (int i = 0; i < WORDS; i++)
        len += (size_t)sprintf(event + len, "%x ", (unsigned)(seed * WORDS + i) * 2654435761U >> 12);
    sprintf(event + len, "%s\"}]}}", end);
    must_append_by_key(store, to, event);
}

/* Others' words are merged and moved meanwhile, by deletions that overwrite nothing. */
TEST(a_secure_deletion_after_plain_ones)
{
    const ses_delete_options secure = {.size = sizeof secure, .flags = SES_SECURE};

    assert_int_equal(sqlite3_auto_extension((void (*)(void))overwrite_nothing), SQLITE_OK);
    fixture_reopen(fixture);
    must_create(fixture->store, &key, NULL);
    for (int round = 0; round < 4; round++) {
        const ses_key others = {"app", "others", "session"};
        must_create(fixture->store, &others, NULL);
        for (int i = 0; i < 40; i++) {
            say_much(fixture->store, &others, round * 40 + i, "no secret");
            say(fixture->store, &key, "xyzzx " SECRET " xyzzz");
            if (i % 8 == 0)
                must_index(fixture->store, 0);
        }
        must_index(fixture->store, 0);
        assert_ok(ses_delete_user(fixture->store, "app", "others", NULL, NULL, NULL, &error));
    }
    assert_ok(ses_delete_user(fixture->store, "app", "user", &secure, NULL, NULL, &error));
    assert_in_no_file(fixture->path);
    sqlite3_reset_auto_extension();
}

/* A store that is opened for reading searches by the index while it is up to date, and reads the events after
 * that. */
TEST(read_only)
{
    ses_open_options options = fixture->options;

    must_create(fixture->store, &key, NULL);
    say(fixture->store, &key, "word");
    must_index(fixture->store, 0);
    options.flags |= SES_OPEN_READ_ONLY;
    ses_store *reader = must_open(fixture->path, &options);
    must_find(reader, "word", 1, 1);
    assert_code(SES_READONLY, ses_store_index(reader, NULL, NULL, &error));
    say(fixture->store, &key, "word");
    must_find(reader, "word", 2, 0);
    must_find(fixture->store, "word", 2, 1);
    must_find(reader, "word", 2, 1);
    ses_close(reader);
}

static int drop_modules(sqlite3 *db, char **message, const struct sqlite3_api_routines *routines)
{
    (void)message;
    (void)routines;
    return sqlite3_drop_modules(db, NULL);
}

/* Everything else works. A call that would leave the index behind makes it void, and a secure one drops
 * it. */
TEST(without_fts5)
{
    const ses_delete_options secure = {.size = sizeof secure, .flags = SES_SECURE};
    const ses_point first = {.size = sizeof first, .kind = SES_POINT_SEQ, .seq = 1};

    must_create(fixture->store, &key, NULL);
    say(fixture->store, &key, "word");
    must_index(fixture->store, 0);
    assert_int_equal(sqlite3_auto_extension((void (*)(void))drop_modules), SQLITE_OK);
    fixture_reopen(fixture);
    say(fixture->store, &key, "word");
    must_find(fixture->store, "word", 2, 0);
    assert_code(SES_UNSUPPORTED, ses_store_index(fixture->store, NULL, NULL, &error));
    assert_message("FTS5");
    assert_ok(ses_cut_by_key(fixture->store, &key, &first, NULL, NULL, &error));
    must_find(fixture->store, "word", 1, 0);
    assert_query(fixture->path, "SELECT count(*) FROM features WHERE name <> 'families'", "0\n");
    assert_query(fixture->path, "SELECT count(*) FROM sqlite_schema WHERE tbl_name LIKE 'search%'", "6\n");
    assert_ok(ses_delete(fixture->store, &key, &secure, NULL, &error));
    assert_query(fixture->path, "SELECT count(*) FROM sqlite_schema WHERE tbl_name LIKE 'search%'", "0\n");
    sqlite3_reset_auto_extension();
    fixture_reopen(fixture);
    must_index(fixture->store, 0);
    must_create(fixture->store, &key, NULL);
    must_find(fixture->store, "word", 0, 1);
}

static void change_file(struct fixture *fixture, const char *sql)
{
    sqlite3 *db = raw_open(fixture->path);

    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL), SQLITE_OK);
    raw_run(db, sql);
    sqlite3_close(db);
}

/* A hit is one, whatever the index says; and it can be made again. */
TEST(damage)
{
    static const char *const changes[] = {
        "UPDATE search_words_data SET block = zeroblob(length(block)) WHERE id > 10",
        "UPDATE search_words_data SET block = substr(block, 1, length(block) / 2)",
        "UPDATE search_words_data SET block = randomblob(length(block)) WHERE id > 10",
        "DELETE FROM search_words_data WHERE id > 10",
        "DELETE FROM search_words_data",
        "DELETE FROM search_words_idx",
        "INSERT INTO search_words (rowid, words) SELECT 77 * 8, '=a1 =u1 =s' || id || ' word' FROM sessions;"
        "INSERT INTO search_places SELECT 77, id, 73 FROM sessions",
        "INSERT INTO search_words (rowid, words) VALUES (77 * 8, '=a1 =u1 =s1 word');"
        "INSERT INTO search_places VALUES (77, 99, 1)",
        "INSERT INTO search_words (rowid, words) VALUES (-1, '=a1 =u1 =s1 word')",
        "INSERT INTO search_places SELECT 77, id, -7 FROM sessions;"
        "INSERT INTO search_words (rowid, words) VALUES (77 * 8, '=a1 =u1 =s1 word')",
        "UPDATE search_places SET first_seq = first_seq + 2",
        "UPDATE search_places SET session_id = 99",
        "DELETE FROM search_places",
        "UPDATE derived SET seq = -5",
        "UPDATE derived SET seq = 1000",
        "UPDATE derived SET seq = 9223372036854775807",
    };

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        size_t count = 0;
        int indexed = 0;
        (void)ses_create(fixture->store, &key, NULL, 0, NULL, NULL, &error);
        say(fixture->store, &key, "a word");
        say(fixture->store, &key, "something else");
        must_index(fixture->store, SES_INDEX_REBUILD);
        ses_close(fixture->store);
        fixture->store = NULL;
        change_file(fixture, changes[i]);
        assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
        const int code = search_for(fixture->store, "word", &count, &indexed);
        if (code != SES_OK || count > i + 1 || (!indexed && count != i + 1))
            fail_msg("%s: %s, %zu hits", changes[i], ses_code_name(code), count);
        must_index(fixture->store, SES_INDEX_REBUILD);
        must_find(fixture->store, "word", i + 1, 1);
    }
}

static int note_problem(void *context, const ses_problem *problem)
{
    int *kinds = context;

    *kinds |= 1 << problem->kind;
    return 0;
}

static int64_t problems_of(ses_store *store, int *kinds)
{
    const ses_check_options options = {
        .size = sizeof options, .level = SES_CHECK_LOG, .report = note_problem, .report_context = kinds};
    int64_t problems = 0;
    ses_error error;

    *kinds = 0;
    const int code = ses_store_check(store, &options, &problems, &error);
    if (code != SES_OK && code != SES_CORRUPT)
        fail_msg("%s: %s", ses_code_name(code), error.message);
    return problems;
}

#define ADD_OF "INSERT INTO search_words (rowid, words) SELECT id * 8 + 1, "
#define OWNED "'=a1 =u1 =s' || session_id || ' ' || "
#define FROM_PLACES " FROM search_places"
#define ADD(words) ADD_OF OWNED words FROM_PLACES
#define REMOVE(words)                                                                                 \
    "INSERT INTO search_words (search_words, rowid, words) SELECT 'delete', id * 8 + 1, " OWNED words \
        FROM_PLACES

/* Each leaves the index as FTS5 wants it, but not as the log does. */
TEST(check_holds_the_index_against_the_log)
{
    static const char *const changes[] = {
        REMOVE("'something else'"),
        REMOVE("'else'"),
        ADD("'more'"),
        REMOVE("'something else'") ";" ADD_OF "'=a1 =u2 =s' || session_id || ' something else'" FROM_PLACES,
        "INSERT INTO search_words (rowid, words) SELECT id * 8 + 5, '=a1 =u1 =s' || session_id || ' left'" FROM_PLACES,
        "INSERT INTO search_words (rowid, words) VALUES (77 * 8, '=a1 =u1 =s77 deleted')",
        "INSERT INTO search_words (rowid, words) VALUES (77 * 8, '=a1 =u1 =s77 deleted');"
        "INSERT INTO search_places VALUES (77, 77, 1)",
        "UPDATE search_places SET first_seq = 9",
        "DELETE FROM search_places",
        "UPDATE derived SET seq = seq - 1",
        "DELETE FROM search_words_data WHERE id > 10",
    };
    int kinds = 0;

    must_create(fixture->store, &key, NULL);
    say(fixture->store, &key, "a word");
    say(fixture->store, &key, "something else");
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        must_index(fixture->store, SES_INDEX_REBUILD);
        assert_int_equal(problems_of(fixture->store, &kinds), 0);
        ses_close(fixture->store);
        fixture->store = NULL;
        change_file(fixture, changes[i]);
        assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
        /* Newer versions of SQLite look into the index when they look at the pages. */
        if (problems_of(fixture->store, &kinds) < 1 ||
            (kinds & ~(1 << SES_PROBLEM_INDEX | 1 << SES_PROBLEM_PAGE)) != 0)
            fail_msg("%s: problems of the kinds %x", changes[i], (unsigned)kinds);
    }
    must_index(fixture->store, SES_INDEX_REBUILD);
    say(fixture->store, &key, "not in the index yet");
    assert_int_equal(problems_of(fixture->store, &kinds), 0);
}

/* Not even SQLite can drop this one. */
TEST(damage_beyond_fts5)
{
    must_create(fixture->store, &key, NULL);
    must_index(fixture->store, 0);
    ses_close(fixture->store);
    fixture->store = NULL;
    change_file(fixture, "DELETE FROM search_words_config");
    assert_ok(ses_open(fixture->path, &fixture->options, &fixture->store, &error));
    say(fixture->store, &key, "word");
    must_find(fixture->store, "word", 1, 0);
    must_index(fixture->store, 0);
    must_find(fixture->store, "word", 1, 1);
}

/* Another's table with one of its names is not the index, and is left alone, even if a row of `features` says
 * so. */
TEST(a_foreign_table)
{
    static const char *const names[] = {"search_words",        "Search_Places",       "search_words_data",
                                        "search_words_idx",    "search_words_config", "search_words_content",
                                        "search_words_docsize"};

    must_create(fixture->store, &key, NULL);
    say(fixture->store, &key, "word");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const ses_delete_options secure = {.size = sizeof secure, .flags = SES_SECURE};
        const ses_key other = {"app", "user", "other"};
        char sql[200];
        snprintf(sql, sizeof sql, "CREATE TABLE %s (mine); INSERT INTO %s VALUES ('my own')", names[i],
                 names[i]);
        change_file(fixture, sql);
        for (int forged = 0; forged < 2; forged++) {
            fixture_reopen(fixture);
            must_find(fixture->store, "word", 1, 0);
            must_create(fixture->store, &other, NULL);
            say(fixture->store, &other, "word");
            assert_ok(ses_delete(fixture->store, &other, &secure, NULL, &error));
            assert_code(SES_EXISTS, ses_store_index(fixture->store, NULL, NULL, &error));
            assert_message(i == 1 ? "search_places" : names[i]);
            change_file(fixture, "INSERT OR IGNORE INTO features VALUES ('search', 2)");
        }
        snprintf(sql, sizeof sql, "SELECT mine FROM %s", names[i]);
        assert_query(fixture->path, sql, "my own\n");
        snprintf(sql, sizeof sql, "DROP TABLE %s", names[i]);
        change_file(fixture, sql);
        must_index(fixture->store, 0);
        must_find(fixture->store, "word", 1, 1);
        must_index(fixture->store, SES_INDEX_DROP);
    }
}

/* An index that other rules have made counts as absent, and becomes void as soon as it would have to
 * follow. */
TEST(another_number)
{
    const ses_point second = {.size = sizeof second, .kind = SES_POINT_SEQ, .seq = 2};

    must_create(fixture->store, &key, NULL);
    say(fixture->store, &key, "word");
    say(fixture->store, &key, "word");
    for (int i = 0; i < 2; i++) {
        must_index(fixture->store, SES_INDEX_REBUILD);
        must_find(fixture->store, "word", 2 + (size_t)i, 1);
        change_file(
            fixture,
            "UPDATE features SET name = 'search12' WHERE name = 'search'; UPDATE derived SET what = 'search12'");
        must_find(fixture->store, "word", 2 + (size_t)i, 0);
        say(fixture->store, &key, "another word");
        assert_query(fixture->path, "SELECT name FROM features WHERE name <> 'families'", "search12\n");
        if (i == 0)
            continue;
        assert_ok(ses_cut_by_key(fixture->store, &key, &second, NULL, NULL, &error));
        assert_query(
            fixture->path,
            "SELECT (SELECT count(*) FROM features WHERE name <> 'families') + (SELECT count(*) FROM derived)",
            "0\n");
    }
    must_index(fixture->store, 0);
    must_find(fixture->store, "word", 2, 1);
}
