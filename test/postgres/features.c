/* Stores from the future on a server: a later library has used a feature that this one does not know. */
#include "check.h"
#include "database.h"
#include "seslite_postgres.h"
#include "seslite_search.h"

static const ses_key key = {.app = "app", .user = "user", .session = "s"};
static const ses_open_options read_only = {.size = sizeof read_only, .flags = SES_OPEN_READ_ONLY};

static void make_store(const struct database *database, const char *name, char place[600])
{
    ses_store *store = NULL;
    ses_error error;

    assert_ok(ses_open_postgres(database_fresh(database, name, "", place), NULL, NULL, &store, &error));
    must_create(store, &key, "{\"k\":1}");
    must_append_by_key(store, &key, "{\"id\":\"e\"}");
    ses_close(store);
    database_run_in(place,
                    "INSERT INTO seslite.derived SELECT shard, id, 'words', 1, 0 FROM seslite.sessions");
}

static int put_nothing(void *context, const char *data, size_t len, ses_error *error)
{
    (void)context;
    (void)data;
    (void)error;
    fail_msg("%zu bytes of an export that is refused", len);
    return 0;
}

/* Fails unless there are so many rows. */
static void assert_derived(const char *place, int count)
{
    char sql[100];

    snprintf(sql, sizeof sql, "SELECT 1 / (count(*) = %d)::int FROM seslite.derived", count);
    database_run_in(place, sql);
}

SERVER_TEST(rows_that_are_derived_go_with_their_session)
{
    const ses_check_options full = {.size = sizeof full, .level = SES_CHECK_FULL};
    ses_store *store = NULL;
    char place[600];
    int64_t problems = -1;

    make_store(database, "derived", place);
    database_run_in(place, "INSERT INTO seslite.features VALUES ('use', 1)");
    assert_ok(ses_open_postgres(place, NULL, NULL, &store, &error));
    must_append_by_key(store, &key, "{\"id\":\"e2\"}");
    assert_derived(place, 1);
    must_delete(store, &key);
    assert_derived(place, 0);
    must_create(store, &key, NULL);
    database_run_in(place,
                    "INSERT INTO seslite.derived SELECT shard, id, 'words', 1, 0 FROM seslite.sessions");
    assert_ok(ses_delete_user(store, "app", "user", NULL, NULL, NULL, &error));
    assert_derived(place, 0);
    assert_ok(ses_store_check(store, &full, &problems, &error));
    assert_int_equal(problems, 0);
    database_run_in(place, "INSERT INTO seslite.derived VALUES (0, 28672, 'words', 1, 0)");
    assert_ok(ses_store_check(store, &full, &problems, &error));
    assert_int_equal(problems, 1);
    ses_close(store);
}

SERVER_TEST(a_feature_that_needs_2_lets_read)
{
    ses_store *store = NULL;
    char place[600];

    make_store(database, "reading", place);
    database_run_in(place, "INSERT INTO seslite.features VALUES ('use', 1), ('things', 2)");
    assert_code(SES_READONLY, ses_open_postgres(place, NULL, NULL, &store, &error));
    assert_message("\"things\"");
    assert_message("open the store read-only");
    assert_null(store);
    assert_ok(ses_open_postgres(place, &read_only, NULL, &store, &error));
    ses_session *session = must_get(store, &key);
    assert_string_equal(ses_session_event(session, 0)->id, "e");
    ses_session_close(session);
    assert_code(SES_UNSUPPORTED, ses_store_export(store, NULL, put_nothing, NULL, &error));
    assert_message("\"things\"");
    ses_close(store);
}

static int indexed_hits(ses_store *store)
{
    ses_hits *hits = NULL;
    ses_error error;

    assert_ok(ses_store_search(store, &(ses_key){"app", NULL, NULL}, "coat", SES_NUL, NULL, &hits, &error));
    assert_int_equal(ses_hits_count(hits), 1);
    const int indexed = ses_hits_indexed(hits);
    ses_hits_close(hits);
    return indexed;
}

/* Nothing is read from it, but deletions take the words along. */
SERVER_TEST(an_index_of_words_of_another_number)
{
    static const char event[] = "{\"content\":{\"parts\":[{\"text\":\"coat\"}]}}";
    const ses_key other = {"app", "user", "t"};
    const ses_index_options rebuild = {.size = sizeof rebuild, .flags = SES_INDEX_REBUILD};
    ses_store *store = NULL;
    char place[600];

    make_store(database, "numbered", place);
    assert_ok(ses_open_postgres(place, NULL, NULL, &store, &error));
    must_create(store, &other, NULL);
    must_append_by_key(store, &key, event);
    must_append_by_key(store, &other, event);
    must_append_by_key(store, &other, event);
    assert_ok(ses_store_index(store, NULL, NULL, &error));
    ses_close(store);
    database_run_in(place, "UPDATE seslite.features SET name = 'search2' WHERE name = 'search';"
                           "UPDATE seslite.derived SET what = 'search2' WHERE what = 'search'");
    assert_ok(ses_open_postgres(place, NULL, NULL, &store, &error));
    must_delete(store, &other);
    database_run_in(place, "SELECT 1 / (count(*) = 1)::int FROM seslite.search_words");
    assert_int_equal(indexed_hits(store), 0);
    assert_no_problems(store);
    assert_ok(ses_store_index(store, &rebuild, NULL, &error));
    assert_int_equal(indexed_hits(store), 1);
    assert_no_problems(store);
    ses_close(store);
}

/* A trigger of somebody else's fails as the look for features does, but for another reason. */
SERVER_TEST(a_cast_that_fails_is_not_a_feature)
{
    ses_store *store = NULL;
    char place[600];

    make_store(database, "spoiled", place);
    database_run_in(place, "CREATE FUNCTION public.spoil() RETURNS trigger LANGUAGE plpgsql AS "
                           "$$ BEGIN NEW.seq := 'nine'::bigint; RETURN NEW; END $$;"
                           "CREATE TRIGGER spoil BEFORE INSERT ON seslite.events "
                           "FOR EACH ROW EXECUTE FUNCTION public.spoil()");
    assert_ok(ses_open_postgres(place, NULL, NULL, &store, &error));
    assert_code(SES_INTERNAL, ses_append_by_key(store, &key, "{}", SES_NUL, NULL, NULL, &error));
    assert_message("\"nine\"");
    assert_null(strstr(error.message, "uses this feature"));
    ses_close(store);
}

SERVER_TEST(other_features_let_nothing)
{
    static const char *const needs[] = {"3", "0", "-1", "4", "9223372036854775807"};
    ses_store *store = NULL;
    char place[600];

    make_store(database, "nothing", place);
    database_run_in(place, "INSERT INTO seslite.features VALUES ('aaa', 2), ('sealed', 3)");
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        char sql[100];
        snprintf(sql, sizeof sql, "UPDATE seslite.features SET needs = %s WHERE name = 'sealed'", needs[i]);
        database_run_in(place, sql);
        assert_code(SES_TOONEW, ses_open_postgres(place, NULL, NULL, &store, &error));
        assert_message("\"sealed\"");
        assert_code(SES_TOONEW, ses_open_postgres(place, &read_only, NULL, &store, &error));
        assert_message("\"sealed\"");
    }
}

SERVER_TEST(a_feature_is_added_to_an_open_store)
{
    ses_store *store = NULL;
    int64_t problems = -1;
    char place[600];

    make_store(database, "added", place);
    assert_ok(ses_open_postgres(place, NULL, NULL, &store, &error));
    ses_session *session = must_get(store, &key);
    must_append(session, "{\"id\":\"e2\"}");
    database_run_in(place, "INSERT INTO seslite.features VALUES ('things', 2)");
    assert_code(SES_READONLY, ses_append(session, "{}", SES_NUL, NULL, NULL, &error));
    assert_message("feature things");
    assert_message("does not know");
    assert_code(SES_READONLY, ses_append_by_key(store, &key, "{}", SES_NUL, NULL, NULL, &error));
    assert_code(SES_READONLY, ses_delete(store, &key, NULL, NULL, &error));
    assert_code(SES_READONLY,
                ses_create(store, &(ses_key){"app", "user", NULL}, NULL, 0, NULL, NULL, &error));
    ses_session_close(must_get(store, &key));
    /* As a later script adds it with its change. */
    database_run_in(place, "UPDATE seslite.features SET needs = 3");
    assert_code(SES_READONLY, ses_append(session, "{}", SES_NUL, NULL, NULL, &error));
    assert_code(SES_READONLY, ses_delete(store, &key, NULL, NULL, &error));
    assert_message("feature things");
    assert_code(SES_TOONEW, ses_store_check(store, NULL, &problems, &error));
    assert_message("\"things\"");
    database_run_in(place, "DELETE FROM seslite.features");
    must_append(session, "{\"id\":\"e3\"}");
    ses_session_close(session);
    ses_close(store);
}
