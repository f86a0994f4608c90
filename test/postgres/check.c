/* The findings of a check in a database: foreign keys that are missing, a schema or rows that somebody
 * changed. */
#include "database.h"
#include "seslite_artifact.h"
#include "seslite_postgres.h"
#include "seslite_search.h"

static const ses_key key = {.app = "app", .user = "user", .session = "s"};

/* A database with a store of one session that has a row in each table, and a connection to look at it by
 * SQL. */
struct place {
    ses_store *store;
    PGconn *conn;
};

struct found {
    int kinds[100];
    size_t count;
    char message[640]; /* the last */
};

static void fill(ses_store *store)
{
    static const ses_label label = {"name", "value"};
    const ses_create_options options = {
        .size = sizeof options, .title = "A title", .labels = &label, .label_count = 1};
    const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_SEQ, .last_seq = 1};
    ses_lease lease;
    ses_error error;

    assert_ok(ses_create(store, &key, "{\"app:a\":1,\"user:b\":2,\"c\":3}", SES_NUL, &options, NULL, &error));
    must_append_by_key(store, &key, "{\"invocationId\":\"i1\",\"actions\":{\"stateDelta\":{\"c\":4}}}");
    must_append_by_key(store, &key, "{\"invocationId\":\"i2\",\"actions\":{\"stateDelta\":{\"d\":4}}}");
    must_append_by_key(store, &key,
                       "{\"invocationId\":\"i3\",\"actions\":{\"rewindBeforeInvocationId\":\"i2\"}}");
    assert_ok(ses_prune_by_key(store, &key, &prune, NULL, &error));
    assert_ok(ses_lease_take(store, &key, "owner", NULL, &lease, &error));
}

static struct place open_place(struct database *database, const char *name)
{
    struct place place = {.store = NULL};
    char address[300];
    ses_error error;

    database_address(database, name, address);
    assert_ok(ses_open_postgres(address, NULL, NULL, &place.store, &error));
    fill(place.store);
    place.conn = PQconnectdb(address);
    assert_int_equal(PQstatus(place.conn), CONNECTION_OK);
    return place;
}

static void close_place(struct place *place)
{
    PQfinish(place->conn);
    ses_close(place->store);
}

static void run(const struct place *place, const char *sql)
{
    PQclear(database_take(place->conn, PQexec(place->conn, sql), sql));
}

static int note(void *context, const ses_problem *problem)
{
    struct found *found = context;

    assert_in_range(found->count, 0, 99);
    found->kinds[found->count++] = problem->kind;
    snprintf(found->message, sizeof found->message, "%s", problem->message);
    return 0;
}

static struct found check_at(const struct place *place, int level)
{
    struct found found = {.count = 0};
    const ses_check_options options = {
        .size = sizeof options, .level = level, .report = note, .report_context = &found};
    int64_t problems = -1;
    ses_error error;

    assert_ok(ses_store_check(place->store, &options, &problems, &error));
    assert_int_equal(problems, found.count);
    return found;
}

static void assert_one(const struct found *found, int kind, const char *words)
{
    if (found->count != 1 || found->kinds[0] != kind || !strstr(found->message, words))
        fail_msg("%zu problems, the last: %s", found->count, found->message);
}

/* --------------------------------------------------------------------------------------------- references */

/* The number 28672 is that of no row; its shard is 0. */
SERVER_TEST(rows_that_belong_to_nothing_are_found)
{
    static const struct {
        const char *sql;
        const char *words;
    } orphans[] = {
        {"INSERT INTO seslite.users VALUES (1, 28673, 28672, 'lost')",
         "1 rows of users belong to row 28672 of apps"},
        {"INSERT INTO seslite.app_state VALUES (0, 28672, 'k', '1', 0, 0), (0, 28672, 'l', '1', 0, 0)",
         "2 rows of app_state belong to row 28672 of apps"},
        {"INSERT INTO seslite.user_state VALUES (0, 28672, 'k', '1', 0, 0)",
         "1 rows of user_state belong to row 28672 of users"},
        {"INSERT INTO seslite.session_details VALUES (0, 28672, 'title')",
         "1 rows of session_details belong to row 28672 of sessions"},
        {"INSERT INTO seslite.session_labels VALUES (0, 28672, 'name', 'value', 1)",
         "1 rows of session_labels belong to row 28672 of sessions"},
        {"INSERT INTO seslite.session_leases VALUES (0, 28672, 1, 'owner', 0, 0)",
         "1 rows of session_leases belong to row 28672 of sessions"},
        {"INSERT INTO seslite.session_drafts VALUES (0, 28672, 0, 'draft')",
         "1 rows of session_drafts belong to row 28672 of sessions"},
        {"INSERT INTO seslite.session_inbox VALUES (0, 4096, 28672, 1, 'r', 0, '1')",
         "1 rows of session_inbox belong to row 28672 of sessions"},
        {"INSERT INTO seslite.session_state VALUES (0, 28672, 'k', '1', 0)",
         "1 rows of session_state belong to row 28672 of sessions"},
        {"INSERT INTO seslite.base_state VALUES (0, 28672, 'k', '1', 0)",
         "1 rows of base_state belong to row 28672 of sessions"},
        {"INSERT INTO seslite.events VALUES (0, 28672, 1, 'e', '', 'a', NULL, 1, NULL, '{}')",
         "1 rows of events belong to row 28672 of sessions"},
        {"INSERT INTO seslite.event_marks VALUES (0, 28672, 1, 2, NULL)",
         "1 rows of event_marks belong to row 28672 of sessions"},
        {"INSERT INTO seslite.artifact_contents VALUES (0, 4096, 28672, 'hash', 0, 1, 0)",
         "1 rows of artifact_contents belong to row 28672 of users"},
        {"INSERT INTO seslite.artifacts SELECT shard, id, 's', 'a', 0, 0, 0, NULL, NULL, NULL, 28672 FROM seslite.users",
         "1 rows of artifacts belong to row 28672 of artifact_contents"},
        {"INSERT INTO seslite.artifact_chunks VALUES (0, 28672, 0, 'bytes')",
         "1 rows of artifact_chunks belong to row 28672 of artifact_contents"},
    };
    struct place place = open_place(database, "orphans");

    for (size_t i = 0; i < sizeof orphans / sizeof orphans[0]; i++) {
        run(&place, orphans[i].sql);
        struct found found = check_at(&place, SES_CHECK_FULL);
        assert_one(&found, SES_PROBLEM_REFERENCE, orphans[i].words);
        assert_int_equal(check_at(&place, SES_CHECK_QUICK).count, 0);
        run(&place, "DELETE FROM seslite.users WHERE name = 'lost'; "
                    "DELETE FROM seslite.app_state WHERE app_id = 28672; "
                    "DELETE FROM seslite.user_state WHERE user_id = 28672; "
                    "DELETE FROM seslite.session_details WHERE session_id = 28672; "
                    "DELETE FROM seslite.session_labels WHERE session_id = 28672; "
                    "DELETE FROM seslite.session_leases WHERE session_id = 28672; "
                    "DELETE FROM seslite.session_drafts WHERE session_id = 28672; "
                    "DELETE FROM seslite.session_inbox WHERE session_id = 28672; "
                    "DELETE FROM seslite.session_state WHERE session_id = 28672; "
                    "DELETE FROM seslite.base_state WHERE session_id = 28672; "
                    "DELETE FROM seslite.events WHERE session_id = 28672; "
                    "DELETE FROM seslite.event_marks WHERE session_id = 28672; "
                    "DELETE FROM seslite.artifacts; DELETE FROM seslite.artifact_contents; "
                    "DELETE FROM seslite.artifact_chunks");
        assert_int_equal(check_at(&place, SES_CHECK_LOG).count, 0);
    }
    close_place(&place);
}

SERVER_TEST(a_session_that_is_gone_leaves_rows_behind)
{
    struct place place = open_place(database, "gone");

    run(&place, "DELETE FROM seslite.sessions");
    struct found found = check_at(&place, SES_CHECK_FULL);
    assert_int_equal(found.count, 7); /* tables that have rows of sessions */
    for (size_t i = 0; i < found.count; i++)
        assert_int_equal(found.kinds[i], SES_PROBLEM_REFERENCE);
    close_place(&place);

    place = open_place(database, "gone_user");
    run(&place, "DELETE FROM seslite.users");
    assert_int_equal(check_at(&place, SES_CHECK_FULL).count, 2); /* user_state, sessions */
    close_place(&place);

    place = open_place(database, "gone_app");
    run(&place, "DELETE FROM seslite.apps");
    assert_int_equal(check_at(&place, SES_CHECK_FULL).count, 3); /* app_state, users, sessions */
    close_place(&place);
}

SERVER_TEST(a_number_of_origin_is_positive)
{
    struct place place = open_place(database, "origin");

    run(&place, "UPDATE seslite.session_details SET origin = -5");
    struct found found = check_at(&place, SES_CHECK_LOG);
    assert_one(&found, SES_PROBLEM_PARENT, "origin");
    run(&place, "UPDATE seslite.session_details SET origin = 5");
    assert_int_equal(check_at(&place, SES_CHECK_LOG).count, 0);
    close_place(&place);
}

SERVER_TEST(rows_in_another_shard_are_found)
{
    struct place place = open_place(database, "shards");

    run(&place, "UPDATE seslite.events SET shard = (shard + 1) & 4095 WHERE seq = 2");
    struct found found = check_at(&place, SES_CHECK_FULL);
    assert_one(&found, SES_PROBLEM_REFERENCE, "1 rows of events");
    run(&place, "UPDATE seslite.events SET shard = (shard - 1) & 4095 WHERE seq = 2");
    run(&place, "UPDATE seslite.apps SET name = 'other'");
    found = check_at(&place, SES_CHECK_FULL);
    assert_int_equal(found.count, 2); /* the app, and the user below it */
    assert_int_equal(found.kinds[0], SES_PROBLEM_INDEX);
    assert_non_null(strstr(found.message, "not in the shard of its name"));
    close_place(&place);
}

/* --------------------------------------------------------------------------------------------- the schema */

/* Each column of each table, by a statement that changes it and another that changes it back. */
SERVER_TEST(every_column_is_missed)
{
    struct place place = open_place(database, "columns");
    PGresult *columns = PQexec(
        place.conn, "SELECT format('ALTER TABLE seslite.%I RENAME %I TO away', c.relname, a.attname), "
                    "format('ALTER TABLE seslite.%I RENAME away TO %I', c.relname, a.attname), "
                    "format('the table %s has no column %s ', c.relname, a.attname) "
                    "FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid "
                    "WHERE c.relnamespace = 'seslite'::regnamespace AND c.relkind = 'r' AND a.attnum > 0");

    database_take(place.conn, columns, "the columns");
    assert_in_range(PQntuples(columns), 60, 150);
    for (int i = 0; i < PQntuples(columns); i++) {
        run(&place, PQgetvalue(columns, i, 0));
        struct found found = check_at(&place, SES_CHECK_LOG);
        run(&place, PQgetvalue(columns, i, 1));
        assert_one(&found, SES_PROBLEM_PAGE, PQgetvalue(columns, i, 2));
    }
    PQclear(columns);
    run(&place, "ALTER TABLE seslite.session_leases ALTER next_owner TYPE text COLLATE \"POSIX\"");
    struct found found = check_at(&place, SES_CHECK_QUICK);
    assert_one(&found, SES_PROBLEM_PAGE, "next_owner");
    close_place(&place);
}

SERVER_TEST(every_index_is_missed)
{
    struct place place = open_place(database, "indexes");
    PGresult *indexes =
        PQexec(place.conn, "SELECT format('ALTER INDEX seslite.%I RENAME TO away', relname), "
                           "format('ALTER INDEX seslite.away RENAME TO %I', relname), "
                           "format('the index %s is missing', relname) "
                           "FROM pg_class WHERE relnamespace = 'seslite'::regnamespace AND relkind = 'i'");

    database_take(place.conn, indexes, "the indexes");
    assert_in_range(PQntuples(indexes), 20, 50);
    for (int i = 0; i < PQntuples(indexes); i++) {
        run(&place, PQgetvalue(indexes, i, 0));
        struct found found = check_at(&place, SES_CHECK_QUICK);
        run(&place, PQgetvalue(indexes, i, 1));
        assert_one(&found, SES_PROBLEM_INDEX, PQgetvalue(indexes, i, 2));
    }
    PQclear(indexes);
    assert_int_equal(check_at(&place, SES_CHECK_LOG).count, 0);
    close_place(&place);
}

/* ------------------------------------------------------------------------------------------------ the log */

struct told {
    int64_t done;
    int64_t total;
};

static int take_progress(void *context, int64_t done, int64_t total)
{
    *(struct told *)context = (struct told){done, total};
    return 0;
}

SERVER_TEST(rows_are_looked_at_and_counted)
{
    struct place place = open_place(database, "log");
    struct told told = {0};
    const ses_check_options options = {
        .size = sizeof options, .level = SES_CHECK_LOG, .progress = take_progress, .progress_context = &told};
    const ses_key other = {.app = "app", .user = "user", .session = "t"};
    int64_t problems = -1;

    must_create(place.store, &other, NULL);
    assert_ok(ses_store_check(place.store, &options, &problems, &error));
    assert_int_equal(told.done, 2);
    assert_int_equal(told.total, 2);
    run(&place, "UPDATE seslite.event_marks SET target_seq = 1");
    struct found found = check_at(&place, SES_CHECK_LOG);
    assert_one(&found, SES_PROBLEM_MARK, "");
    close_place(&place);
}

SERVER_TEST(damage_to_artifacts_is_found)
{
    static const struct {
        const char *damage;
        const char *repair;
        const char *words;
    } damages[] = {
        {"UPDATE seslite.artifact_chunks SET bytes = set_byte(bytes, 7, 33) WHERE number = 1",
         "UPDATE seslite.artifact_chunks SET bytes = set_byte(bytes, 7, 120) WHERE number = 1",
         "bytes that do not have its hash"},
        {"UPDATE seslite.artifact_chunks SET number = -1 WHERE number = 0 AND length(bytes) > 1",
         "UPDATE seslite.artifact_chunks SET number = 0 WHERE number = -1", "chunk 0 is missing"},
        {"UPDATE seslite.artifact_chunks SET number = 9 WHERE number = 1",
         "UPDATE seslite.artifact_chunks SET number = 1 WHERE number = 9", "chunk 1 is missing"},
        {"UPDATE seslite.artifact_contents SET uses = 2 WHERE uses = 1",
         "UPDATE seslite.artifact_contents SET uses = 1 WHERE uses = 2",
         "is used by 1 artifacts, and says that it is by 2"},
        {"UPDATE seslite.artifacts SET kind = -1 WHERE version = 17",
         "UPDATE seslite.artifacts SET kind = 0 WHERE version = 17",
         "artifact \"a\", version 17: its kind cannot be"},
    };
    struct place place = open_place(database, "artifacts");
    static char bytes[100000];

    for (int i = 0; i < 20; i++)
        assert_ok(ses_artifact_save_by_key(place.store, &key, "a", "x", (size_t)1, NULL, NULL, &error));
    memset(bytes, 'x', sizeof bytes);
    assert_ok(ses_artifact_save_by_key(place.store, &key, "user:b", bytes, sizeof bytes, NULL, NULL, &error));
    assert_int_equal(check_at(&place, SES_CHECK_LOG).count, 0);
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        run(&place, damages[i].damage);
        struct found found = check_at(&place, SES_CHECK_LOG);
        assert_one(&found, SES_PROBLEM_ARTIFACT, damages[i].words);
        run(&place, damages[i].repair);
        assert_int_equal(check_at(&place, SES_CHECK_LOG).count, 0);
    }
    close_place(&place);
}

SERVER_TEST(an_index_of_words_that_differs_is_found)
{
    static const char *const damages[] = {
        "DELETE FROM seslite.search_words WHERE seq = 2",
        "UPDATE seslite.search_words SET words = words || 'more'::tsvector WHERE seq = 2",
        "UPDATE seslite.search_words SET words = ts_delete(words, 'again') WHERE seq = 2",
        "UPDATE seslite.search_words SET words = array_to_tsvector(array_append("
        "tsvector_to_array(ts_delete(words, 'U4096')), 'U8192')) WHERE seq = 2",
        "INSERT INTO seslite.search_words SELECT shard, session_id, 99, words FROM seslite.search_words WHERE seq = 2",
        "INSERT INTO seslite.search_words VALUES (0, 40960, 1, 'deleted'::tsvector)",
        "UPDATE seslite.derived SET seq = seq - 1",
    };
    struct place place = open_place(database, "index");
    const ses_key other = {.app = "app", .user = "user", .session = "t"};
    const ses_index_options rebuild = {.size = sizeof rebuild, .flags = SES_INDEX_REBUILD};
    const size_t many = 150000; /* words of an event, which are too many for the server */
    char *event = malloc(many * 8 + 100);

    must_create(place.store, &other, NULL);
    size_t len = (size_t)sprintf(event, "{\"content\":{\"parts\":[{\"text\":\"");
    for (size_t i = 0; i < many; i++)
        len += (size_t)sprintf(event + len, "w%zu ", i);
    strcpy(event + len, "\"}]}}");
    must_append_by_key(place.store, &other, event);
    must_append_by_key(place.store, &other,
                       "{\"content\":{\"parts\":[{\"text\":\"A word, again a word: a1 U4096\"}]}}");
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        assert_ok(ses_store_index(place.store, &rebuild, NULL, &error));
        assert_int_equal(check_at(&place, SES_CHECK_LOG).count, 0);
        run(&place, damages[i]);
        struct found found = check_at(&place, SES_CHECK_LOG);
        assert_one(&found, SES_PROBLEM_INDEX, "make it again");
    }
    free(event);
    close_place(&place);
}
