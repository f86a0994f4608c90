/* Stores of released versions: whatever this version is, it opens them, reads them, and goes on writing to
 * them. */
#include "released.h"
#include "seslite_artifact.h"
#include "seslite_search.h"
#include "seslite_usage.h"

static const ses_key talk = {"shop", "alice", "talk"};

static ses_store *open_released(const struct fixture *fixture, const char *version, char **path)
{
    *path = support_path(fixture->folder, version);
    released_make(version, *path);
    ses_store *store = must_open(*path, NULL);
    return store;
}

static void assert_no_problems(ses_store *store)
{
    const ses_check_options thorough = {.size = sizeof thorough, .level = SES_CHECK_LOG};
    int64_t problems = -1;
    ses_error error;

    assert_ok(ses_store_check(store, &thorough, &problems, &error));
    assert_int_equal(problems, 0);
}

static void assert_state_at(ses_session *session, int64_t seq, const char *expected)
{
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = seq};
    char *json = NULL;
    ses_error error;

    assert_ok(ses_state_json_as_of(session, &point, NULL, &json, NULL, &error));
    assert_string_equal(json, expected);
    ses_free(json);
}

static void assert_artifact(ses_session *session, const char *name, const char *expected, size_t len)
{
    ses_artifact *artifact = NULL;
    char bytes[64];
    size_t got = 0;
    ses_error error;

    assert_ok(ses_artifact_open(session, name, NULL, &artifact, &error));
    assert_ok(ses_artifact_read(artifact, 0, bytes, sizeof bytes, &got, &error));
    assert_int_equal(got, len);
    assert_memory_equal(bytes, expected, len);
    ses_artifact_close(artifact);
}

static void read_all(ses_store *store)
{
    const ses_usage_options by_model = {.size = sizeof by_model, .flags = SES_USAGE_BY_MODEL};
    ses_session *session = must_get(store, &talk);
    ses_usage_rows *rows = NULL;
    ses_hits *hits = NULL;
    ses_error error;

    assert_string_equal(support_state(session, NULL),
                        Q("{'app:theme':{'dark': true},'app:visits':1,'user:language':'en','user:n':17,"
                          "'user:seen':9007199254740993,'price':1.10,'topic':'start'}"));
    assert_int_equal(ses_session_event_count(session), 7);
    assert_string_equal(ses_session_event(session, 3)->id, "e4");
    assert_string_equal(ses_session_title(session), "A talk");
    assert_string_equal(ses_session_label_value(session, "kind"), "demo");
    assert_state_at(session, 2, Q("{'topic':'start'}"));
    assert_state_at(session, 4, Q("{'price':1.10,'topic':'start'}"));
    assert_artifact(session, "report.txt", "a longer report\n", 16);
    assert_artifact(session, "user:picture", "\0\1\377", 3);
    assert_ok(ses_store_usage(store, NULL, &by_model, &rows, &error));
    assert_int_equal(ses_usage_rows_count(rows), 1);
    /* The session and its fork. */
    assert_int_equal(ses_usage_rows_at(rows, 0)->total, 38);
    ses_usage_rows_close(rows);
    assert_ok(ses_store_search(store, &(ses_key){"shop", NULL, NULL}, "\xe8\x8b\xb9\xe6\x9e\x9c", SES_NUL,
                               NULL, &hits, &error));
    assert_int_equal(ses_hits_count(hits), 2);
    ses_hits_close(hits);
    ses_session_close(session);
}

static void write_all(ses_store *store)
{
    const char *again =
        Q("{'id':'e6','invocationId':'i2','author':'shop','timestamp':'2026-01-02T03:05:00.25Z',"
          "'content':{'role':'model','parts':[{'text':'That is no longer known.'}]}}");
    ses_session *session = must_get(store, &talk);
    ses_appended appended;
    ses_lease lease;
    int64_t deleted = 0;
    ses_error error;

    assert_code(SES_DUPLICATE, ses_append(session, again, SES_NUL, NULL, &appended, &error));
    assert_int_equal(appended.seq, 6);
    assert_ok(ses_append(session, Q("{'author':'user','actions':{'stateDelta':{'user:n':18}}}"), SES_NUL,
                         NULL, &appended, &error));
    assert_int_equal(appended.seq, 8);
    assert_ok(ses_artifact_save(session, "report.txt", "new", 3, NULL, NULL, &error));
    assert_ok(ses_cut(session, &(ses_point){.size = sizeof(ses_point), .kind = SES_POINT_SEQ, .seq = 7}, NULL,
                      &deleted, &error));
    assert_int_equal(deleted, 1);
    assert_ok(ses_redo(session, NULL, &appended, &error));
    ses_session_close(session);
    /* No token is given twice in a file. */
    assert_ok(ses_lease_take(store, &(ses_key){"shop", "alice", "short"}, "me", NULL, &lease, &error));
    assert_int_equal(lease.token, 2);
    /* Nor is a version of a deleted session. */
    assert_ok(ses_create(store, &(ses_key){"other", "bob", "gone"}, NULL, 0, NULL, &session, &error));
    assert_true(ses_session_version(session) >= 1);
    ses_session_close(session);
    assert_ok(ses_delete_user(store, "shop", "o'brien", NULL, &deleted, NULL, &error));
    assert_int_equal(deleted, 1);
}

static int64_t name_report(ses_session *session, const char *event)
{
    ses_appended appended;
    ses_error error;

    assert_ok(ses_append(session, event, SES_NUL, NULL, &appended, &error));
    return appended.seq;
}

/* An event names a version that the old program had saved: a fork has it, a prune keeps it, and a rewind
 * restores it. */
static void use_artifacts(ses_store *store)
{
    ses_session *session = must_get(store, &talk);
    const ses_artifact_open_options options = {.size = sizeof options, .version = &(int64_t){1}};
    ses_session *fork = NULL;
    int64_t version = -1;
    char event[200];
    ses_error error;

    const int64_t seq =
        name_report(session, Q("{'invocationId':'x1','actions':{'artifactDelta':{'report.txt':1}}}"));
    assert_ok(ses_artifact_save(session, "report.txt", "newest", 6, NULL, &version, &error));
    snprintf(event, sizeof event,
             "{\"invocationId\":\"x2\",\"actions\":{\"artifactDelta\":{\"report.txt\":%d}}}", (int)version);
    (void)name_report(session, event);
    const ses_point named = {.size = sizeof named, .kind = SES_POINT_SEQ, .seq = seq};
    const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_SEQ, .last_seq = seq};
    assert_ok(ses_fork(session, &named, &(ses_key){"shop", "alice", "fork"}, NULL, &fork, &error));
    ses_artifact *artifact = NULL;
    assert_ok(ses_artifact_open(fork, "report.txt", &options, &artifact, &error));
    assert_int_equal(ses_artifact_info_of(artifact)->size, 16);
    ses_artifact_close(artifact);
    assert_ok(ses_prune(session, &prune, NULL, &error));
    assert_int_equal(ses_session_base_seq(session), seq);
    assert_artifact(session, "report.txt", "newest", 6);
    assert_ok(ses_rewind(session, &named, NULL, NULL, &error));
    assert_artifact(session, "report.txt", "a longer report\n", 16);
    ses_session_close(fork);
    ses_session_close(session);
}

TEST(they_are_read_and_written)
{
    for (int i = 0; i < RELEASED_VERSIONS; i++) {
        char *path = NULL;
        ses_store *store = open_released(fixture, released_versions[i], &path);
        ses_info info = {.size = sizeof info};

        assert_ok(ses_store_info(store, &info, &error));
        assert_int_equal(info.schema_version, SES_SCHEMA_VERSION);
        assert_no_problems(store);
        released_assert_same(released_versions[i], store);
        read_all(store);
        write_all(store);
        use_artifacts(store);
        assert_no_problems(store);
        ses_close(store);
        free(path);
    }
}

TEST(their_views_show_rows)
{
    static const char *const views[] = {"session_overview", "transcript", "merged_state",
                                        "tool_calls",       "usage",      "event_log",
                                        "artifact_overview"};

    for (int i = 0; i < RELEASED_VERSIONS; i++) {
        char *path = NULL;
        ses_close(open_released(fixture, released_versions[i], &path));
        for (size_t view = 0; view < sizeof views / sizeof views[0]; view++) {
            char sql[64];
            (void)snprintf(sql, sizeof sql, "SELECT count(*) > 0 FROM %s", views[view]);
            assert_query(path, sql, "1\n");
        }
        free(path);
    }
}
