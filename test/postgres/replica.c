/* Calls that read from a replica, and calls that do not. For most of it the replica is a database with other
 * contents, so that it shows which of both was read. */
#include <pthread.h>

#include "cluster.h"
#include "open.h"
#include "proxy.h"
#include "seslite_artifact.h"
#include "seslite_postgres.h"

static const ses_key key = {.app = "app", .user = "user", .session = "s"};

enum { EVENTS = 200, TIMEOUT_MS = 2000 };

/* ------------------------------------------------------------------------------------------ the stores */

struct two {
    ses_store *primary; /* alone */
    ses_store *replica; /* alone */
    ses_store *both;
    char replica_place[600];
};

static ses_store *open_with(const char *place, const char *replica)
{
    const ses_open_options common = {.size = sizeof common, .busy_timeout_ms = TIMEOUT_MS};
    const ses_postgres_options options = {.size = sizeof options, .replica = replica};
    ses_store *store = NULL;
    ses_error error;

    assert_ok(ses_open_postgres(place, &common, &options, &store, &error));
    return store;
}

/* Both have the session; that of the replica has an event less, and its app another user. */
static void open_two(struct two *two, const struct database *database, const char *name)
{
    char place[600];
    char copy[40];

    snprintf(copy, sizeof copy, "%s_copy", name);
    two->primary = open_with(database_fresh(database, name, "", place), NULL);
    two->replica = open_with(database_fresh(database, copy, "", two->replica_place), NULL);
    two->both = open_with(place, two->replica_place);
    must_create(two->primary, &key, "{\"side\":\"primary\"}");
    must_create(two->replica, &key, "{\"side\":\"replica\"}");
    must_create(two->replica, &(ses_key){"app", "other", "s"}, NULL);
    must_append_by_key(two->primary, &key, "{\"author\":\"first\"}");
    must_append_by_key(two->primary, &key, "{\"author\":\"second\"}");
    must_append_by_key(two->replica, &key, "{\"author\":\"replica\"}");
}

static void close_two(struct two *two)
{
    ses_close(two->both);
    ses_close(two->primary);
    ses_close(two->replica);
}

/* -------------------------------------------------------------------------------- what goes to which side */

static int take_lines(void *context, const char *data, size_t len, ses_error *error)
{
    (void)error;
    text_add(context, data, len);
    return 0;
}

static int list_all(ses_store *store, ses_error *error)
{
    ses_page *page = NULL;
    const int code = ses_list(store, "app", NULL, NULL, &page, error);
    ses_page_close(page);
    return code;
}

static int count_all(ses_store *store, ses_error *error)
{
    int64_t count;
    return ses_list_count(store, "app", NULL, NULL, NULL, &count, error);
}

static int name_apps(ses_store *store, ses_error *error)
{
    ses_names *names = NULL;
    const int code = ses_list_apps(store, NULL, &names, error);
    ses_names_close(names);
    return code;
}

static int name_users(ses_store *store, ses_error *error)
{
    ses_names *names = NULL;
    const int code = ses_list_users(store, "app", NULL, &names, error);
    ses_names_close(names);
    return code;
}

static int open_cursor(ses_store *store, ses_error *error)
{
    ses_cursor *cursor = NULL;
    int code = ses_cursor_open(store, &key, NULL, &cursor, error);
    const int closed = ses_cursor_close(cursor, NULL);
    return code < 0 ? code : closed;
}

static int export_all(ses_store *store, ses_error *error)
{
    struct text text = {.data = NULL};
    const int code = ses_store_export(store, NULL, take_lines, &text, error);
    free(text.data);
    return code;
}

typedef int reading(ses_store *store, ses_error *error);
static reading *const readings[] = {list_all, count_all, name_apps, name_users, open_cursor, export_all};
enum { READINGS = sizeof readings / sizeof readings[0] };

static void assert_lists_of_the_replica(ses_store *store)
{
    ses_page *page;
    ses_names *users;
    int64_t count;
    ses_error error;

    assert_ok(ses_list(store, "app", "user", NULL, &page, &error));
    assert_int_equal(ses_page_count(page), 1);
    assert_string_equal(support_state(ses_page_session(page, 0), NULL), "{\"side\":\"replica\"}");
    ses_page_close(page);
    assert_ok(ses_list_count(store, "app", NULL, NULL, NULL, &count, &error));
    assert_int_equal(count, 2);
    assert_ok(ses_list_users(store, "app", NULL, &users, &error));
    assert_int_equal(ses_names_count(users), 2);
    ses_names_close(users);
}

static void assert_cursors_of_the_replica(ses_store *store)
{
    struct text text = {.data = NULL};
    const ses_event *event;
    ses_cursor *cursor;
    ses_error error;

    assert_ok(ses_cursor_open(store, &key, NULL, &cursor, &error));
    assert_int_equal(ses_cursor_next(cursor, &event, &error), SES_ROW);
    assert_string_equal(event->author, "replica");
    assert_int_equal(ses_cursor_next(cursor, &event, &error), 0);
    assert_ok(ses_cursor_close(cursor, &error));
    assert_ok(ses_store_export(store, NULL, take_lines, &text, &error));
    assert_non_null(strstr(text.data, "replica"));
    assert_null(strstr(text.data, "primary"));
    free(text.data);
}

/* A reader must find what was just saved. */
static void assert_artifacts_are_of_the_primary(ses_store *store)
{
    ses_artifact_list *list;
    ses_artifact *artifact;
    ses_error error;
    char bytes[20];
    size_t len;

    assert_ok(ses_artifact_save_by_key(store, &key, "a", "primary", 7, NULL, NULL, &error));
    assert_ok(ses_artifact_open_by_key(store, &key, "a", NULL, &artifact, &error));
    assert_ok(ses_artifact_read(artifact, 0, bytes, sizeof bytes, &len, &error));
    assert_int_equal(len, 7);
    ses_artifact_close(artifact);
    assert_ok(ses_artifact_names_by_key(store, &key, NULL, &list, &error));
    assert_int_equal(ses_artifact_list_count(list), 1);
    ses_artifact_list_close(list);
    assert_ok(ses_artifact_versions_by_key(store, &key, "a", NULL, &list, &error));
    assert_int_equal(ses_artifact_list_count(list), 1);
    ses_artifact_list_close(list);
    assert_ok(ses_artifact_delete_by_key(store, &key, "a", NULL, NULL, &error));
}

static void assert_all_else_is_of_the_primary(ses_store *store)
{
    ses_follower *follower;
    const ses_event *event;
    char *json;
    ses_error error;

    ses_session *session = must_get(store, &key);
    assert_string_equal(support_state(session, NULL), "{\"side\":\"primary\"}");
    must_append(session, "{}");
    must_refresh(session);
    assert_int_equal(ses_session_stored(session), 3);
    ses_session_close(session);
    assert_ok(ses_state_get_by_key(store, &key, "side", NULL, &json, NULL, &error));
    assert_string_equal(json, "\"primary\"");
    ses_free(json);
    assert_ok(ses_follower_open(store, &key, NULL, &follower, &error));
    must_append_by_key(store, &key, "{\"author\":\"new\"}");
    assert_int_equal(ses_follower_next(follower, 0, &event, &error), SES_ROW);
    assert_string_equal(event->author, "first");
    ses_follower_close(follower);
}

/* ------------------------------------------------------------------------------------- one that is behind */

/* ------------------------------------------------------------------------------- one that cannot be read */

static void assert_all_refused(ses_store *store, const char *words)
{
    ses_error error;

    for (int i = 0; i < READINGS; i++) {
        assert_code(SES_CANTOPEN, readings[i](store, &error));
        assert_message(words);
    }
    ses_session_close(must_get(store, &key));
    must_append_by_key(store, &key, "{}");
}

struct lister {
    ses_store *store;
    int code;
    ses_error error;
    pthread_t thread;
};

static void *list_and_wait(void *context)
{
    struct lister *lister = context;

    lister->code = list_all(lister->store, &lister->error);
    return NULL;
}

static int open_counting(const char *place, ses_allocator *allocator, const char *replica, ses_store **store,
                         ses_error *error)
{
    const ses_open_options common = {.size = sizeof common, .allocator = allocator};
    const ses_postgres_options options = {.size = sizeof options, .replica = replica};

    return ses_open_postgres(place, &common, &options, store, error);
}

/* --------------------------------------------------------------------------------------- a real standby */

static void replay(const char *standby, const char *how)
{
    char sql[100];

    snprintf(sql, sizeof sql, "SELECT pg_wal_replay_%s()", how);
    database_run_in(standby, sql);
}

static int64_t count_sessions(ses_store *store)
{
    int64_t count = -1;
    ses_error error;

    assert_ok(ses_list_count(store, "app", NULL, NULL, NULL, &count, &error));
    return count;
}

/* ------------------------------------------------------------------------------------------- first reads */

enum { FIRST_READERS = 4 };

struct first_reader {
    ses_store *store;
    int code;
    ses_error error;
    pthread_t thread;
};

static void *read_first(void *context)
{
    struct first_reader *reader = context;

    for (int i = 0; i < 3 && reader->code >= 0; i++)
        reader->code = name_apps(reader->store, &reader->error);
    return NULL;
}

/* The look at the replica may get a connection whose last transaction has not been answered yet. */
SERVER_TEST(the_first_reads_may_come_at_once)
{
    const ses_open_options common = {.size = sizeof common, .busy_timeout_ms = 10000};
    struct first_reader readers[FIRST_READERS];
    struct two two;

    open_two(&two, database, "at_once");
    struct proxy *proxy = proxy_start(two.replica_place, 5000);
    assert_non_null(proxy);
    const ses_postgres_options narrow = {
        .size = sizeof narrow, .max_connections = 1, .replica = proxy->place};
    for (int i = 0; i < 5; i++) {
        ses_store *store = NULL;
        assert_ok(ses_open_postgres(two.replica_place, &common, &narrow, &store, &error));
        for (int k = 0; k < FIRST_READERS; k++) {
            readers[k] = (struct first_reader){.store = store};
            assert_int_equal(pthread_create(&readers[k].thread, NULL, read_first, &readers[k]), 0);
        }
        for (int k = 0; k < FIRST_READERS; k++) {
            assert_int_equal(pthread_join(readers[k].thread, NULL), 0);
            support_assert_code(SES_OK, readers[k].code, &readers[k].error, "names", __FILE__, __LINE__);
        }
        ses_close(store);
    }
    proxy_stop(proxy);
    close_two(&two);
}

SERVER_TEST(lists_cursors_and_exports_read_there)
{
    ses_stats stats = {.size = sizeof stats};
    struct two two;

    open_two(&two, database, "sides");
    assert_lists_of_the_replica(two.both);
    assert_cursors_of_the_replica(two.both);
    assert_ok(ses_store_stats(two.both, &stats, &error));
    assert_int_equal(stats.read_calls, 5);
    assert_int_equal(stats.readers_open, 2);
    assert_all_else_is_of_the_primary(two.both);
    assert_artifacts_are_of_the_primary(two.both);
    close_two(&two);
}

SERVER_TEST(a_cursor_does_not_end_early_where_a_replica_is_behind)
{
    const ses_event *event;
    ses_cursor *cursor;
    struct two two;
    int code;

    open_two(&two, database, "behind");
    for (int i = 1; i < EVENTS; i++)
        must_append_by_key(two.replica, &key, "{}");
    assert_ok(ses_cursor_open(two.both, &key, NULL, &cursor, &error));
    database_run_in(two.replica_place,
                    "DELETE FROM seslite.events WHERE seq > 100;"
                    "UPDATE seslite.sessions SET version = version - 100, last_seq = 100, event_count = 100 "
                    "WHERE last_seq > 100");
    do
        code = ses_cursor_next(cursor, &event, &error);
    while (code == SES_ROW);
    assert_code(SES_STALE, code);
    assert_message("behind");
    assert_code(SES_STALE, ses_cursor_close(cursor, &error));
    assert_int_equal(open_cursor(two.both, &error), 0);
    close_two(&two);
}

SERVER_TEST(one_that_cannot_be_reached_is_not_replaced_by_the_primary)
{
    const ses_postgres_options nonsense = {.size = sizeof nonsense, .replica = "nonsense nonsense"};
    ses_store *store = NULL;
    char place[600];
    char missing[700];

    database_fresh(database, "alone", "", place);
    assert_code(SES_INVALID, ses_open_postgres(place, NULL, &nonsense, &store, &error));
    assert_message("replica: ");
    assert_null(store);

    snprintf(missing, sizeof missing, "%s dbname=alone_copy password=secret", database->place);
    store = open_with(place, missing);
    must_create(store, &key, NULL);
    assert_all_refused(store, "alone_copy");
    database_fresh(database, "alone_copy", "", place);
    assert_all_refused(store, "there is no store");
    ses_close(open_with(place, NULL));
    for (int i = 0; i < READINGS; i++)
        assert_int_equal(readings[i](store, &error), readings[i] == open_cursor ? SES_NOTFOUND : SES_OK);
    ses_close(store);
}

SERVER_TEST(an_interrupt_ends_what_reads_there)
{
    struct two two;

    open_two(&two, database, "interrupted");
    assert_ok(list_all(two.both, &error));
    PGconn *conn = PQconnectdb(two.replica_place);
    PQclear(database_take(conn, PQexec(conn, "BEGIN; LOCK TABLE seslite.sessions"), "LOCK"));
    struct lister lister = {.store = two.both};
    assert_int_equal(pthread_create(&lister.thread, NULL, list_and_wait, &lister), 0);
    support_pause_us(200000);
    assert_ok(ses_store_interrupt(two.both, &error));
    assert_int_equal(pthread_join(lister.thread, NULL), 0);
    support_assert_code(SES_INTERRUPTED, lister.code, &lister.error, "ses_list", __FILE__, __LINE__);
    PQfinish(conn);
    assert_ok(list_all(two.both, &error));
    close_two(&two);
}

SERVER_TEST(each_failure_of_memory_is_met)
{
    struct counting_memory memory;
    ses_allocator allocator = counting_allocator(&memory);
    ses_store *store = NULL;
    char place[600];
    int code = SES_NOMEM;

    ses_close(open_with(database_fresh(database, "memory", "", place), NULL));
    for (long at = 1; code != SES_OK; at++) {
        counting_arm(&memory, at, 0);
        code = open_counting(place, &allocator, place, &store, &error);
        if (code == SES_OK)
            code = list_all(store, &error);
        if (code != SES_OK)
            assert_code(SES_NOMEM, code);
        memory.armed = 0;
        ses_close(store);
        assert_no_blocks(&memory);
    }
    assert_int_equal(memory.failed, 0);
}

SERVER_TEST(a_standby_is_a_replica)
{
    char *folder = support_folder_make();
    char standby[300];

    cluster_command("standby", folder, database->folder);
    snprintf(standby, sizeof standby, "host=%s user=seslite dbname=postgres", folder);
    ses_store *store = open_with(database->place, standby);
    replay(standby, "pause");
    must_create(store, &key, NULL);
    assert_int_equal(count_sessions(store), 0);
    assert_code(SES_NOTFOUND, open_cursor(store, &error));
    ses_session_close(must_get(store, &key));
    replay(standby, "resume");
    for (int i = 0; i < 500 && count_sessions(store) == 0; i++)
        support_pause_us(20000);
    assert_int_equal(count_sessions(store), 1);
    for (int i = 0; i < READINGS; i++)
        assert_ok(readings[i](store, &error));
    cluster_command("stop", folder, NULL);
    assert_true(count_all(store, &error) < 0);
    must_append_by_key(store, &key, "{}");
    ses_close(store);
    support_folder_remove(folder);
}
