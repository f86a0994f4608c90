/* Artifacts that are saved in the transaction of an event. */
#include <pthread.h>

#include "artifact.h"

static ses_artifacts *must_open_artifacts(ses_store *store)
{
    ses_artifacts *artifacts;
    ses_error error;
    assert_ok(ses_artifacts_open(store, &key, &artifacts, &error));
    return artifacts;
}

static void must_add(ses_artifacts *artifacts, const char *name, const char *text)
{
    ses_error error;
    assert_ok(ses_artifacts_add(artifacts, name, text, strlen(text), NULL, &error));
}

static int append(ses_store *store, const char *event, ses_artifacts *artifacts, ses_appended *appended,
                  ses_error *error)
{
    const ses_append_options options = {.size = sizeof options, .artifacts = artifacts};
    return ses_append_by_key(store, &key, event, SES_NUL, &options, appended, error);
}

static void assert_newest(ses_store *store, const char *expected)
{
    ses_session *session = must_get(store, &key);
    const size_t count = ses_session_event_count(session);

    assert_true(count > 0);
    assert_string_equal(ses_session_event(session, count - 1)->json, expected);
    ses_session_close(session);
}

/* ------------------------------------------------------------------------------------------ with an event */

TEST(an_event_and_its_artifacts_are_one)
{
    ses_store *store = fixture->store;
    ses_artifacts *artifacts;

    must_create(store, &key, NULL);
    must_save(store, &key, "b", "before");
    artifacts = must_open_artifacts(store);
    must_add(artifacts, "a \"1\"", "one");
    must_add(artifacts, "b", "two");
    must_add(artifacts, "user:c", "three");
    assert_ok(append(store, Q("{'id':'e1','timestamp':1}"), artifacts, NULL, &error));
    assert_newest(
        store, Q("{'id':'e1','timestamp':1,'actions':{'artifactDelta':{'a \\'1\\'':0,'b':1,'user:c':0}}}"));
    assert_artifact(store, &key, "a \"1\"", NULL, "one");
    assert_artifact(store, &key, "b", NULL, "two");
    assert_artifact(store, &key, "user:c", NULL, "three");
    assert_int_equal(ses_artifacts_version(artifacts, 0), 0);
    assert_int_equal(ses_artifacts_version(artifacts, 1), 1);
    assert_int_equal(ses_artifacts_version(artifacts, 3), -1);
    ses_artifacts_close(artifacts);
    assert_sound(fixture);
}

static void check_merge(struct fixture *fixture, const char *event, const char *expected)
{
    ses_artifacts *artifacts = must_open_artifacts(fixture->store);
    ses_error error;

    must_add(artifacts, "a", "bytes");
    assert_ok(ses_artifact_delete_by_key(fixture->store, &key, "a", NULL, NULL, &error));
    assert_ok(append(fixture->store, event, artifacts, NULL, &error));
    assert_newest(fixture->store, expected);
    ses_artifacts_close(artifacts);
}

TEST(the_versions_are_merged_into_the_event)
{
    must_create(fixture->store, &key, NULL);
    check_merge(fixture, Q("{'id':'1','timestamp':1,'actions':{ }, 'x':1}"),
                Q("{'id':'1','timestamp':1,'actions':{ 'artifactDelta':{'a':0}}, 'x':1}"));
    check_merge(fixture, Q("{'id':'2','timestamp':1,'actions':{'stateDelta':{'k':1}}}"),
                Q("{'id':'2','timestamp':1,'actions':{'stateDelta':{'k':1},'artifactDelta':{'a':0}}}"));
    check_merge(fixture, Q("{'id':'3','timestamp':1,'actions':null}"),
                Q("{'id':'3','timestamp':1,'actions':{'artifactDelta':{'a':0}}}"));
    check_merge(fixture, Q("{'id':'4','timestamp':1,'actions':{'artifactDelta':{'o':7,'a':9,'p': 8},'y':2}}"),
                Q("{'id':'4','timestamp':1,'actions':{'artifactDelta':{'o':7,'p':8,'a':0},'y':2}}"));
    check_merge(fixture, Q("{'id':'5','timestamp':1,'actions':{'artifact_delta':null}}"),
                Q("{'id':'5','timestamp':1,'actions':{'artifact_delta':{'a':0}}}"));
    assert_sound(fixture);
}

TEST(several_of_one_name_are_versions)
{
    ses_artifacts *artifacts;

    must_create(fixture->store, &key, NULL);
    artifacts = must_open_artifacts(fixture->store);
    must_add(artifacts, "a", "first");
    must_add(artifacts, "a", "second");
    assert_ok(append(fixture->store, Q("{'id':'1','timestamp':1}"), artifacts, NULL, &error));
    assert_newest(fixture->store, Q("{'id':'1','timestamp':1,'actions':{'artifactDelta':{'a':1}}}"));
    assert_artifact(fixture->store, &key, "a", &(int64_t){0}, "first");
    assert_artifact(fixture->store, &key, "a", NULL, "second");
    ses_artifacts_close(artifacts);
}

/* ------------------------------------------------------------------------------------------ trying again */

TEST(equal_bytes_are_stored_once)
{
    ses_artifacts *artifacts;

    must_create(fixture->store, &key, NULL);
    artifacts = must_open_artifacts(fixture->store);
    must_add(artifacts, "a", "same");
    must_add(artifacts, "b", "same");
    must_add(artifacts, "user:c", "same");
    must_add(artifacts, "a", "other");
    must_add(artifacts, "b", "same");
    for (int i = 0; i < 2; i++)
        assert_ok(append(fixture->store, Q("{'timestamp':1}"), artifacts, NULL, &error));
    ses_artifacts_close(artifacts);
    assert_artifact(fixture->store, &key, "a", NULL, "other");
    assert_artifact(fixture->store, &key, "b", NULL, "same");
    assert_artifact(fixture->store, &key, "user:c", NULL, "same");
    assert_int_equal(count_versions(fixture->store, &key, "a"), 4);
    assert_int_equal(count_versions(fixture->store, &key, "b"), 4);
    assert_int_equal(count_versions(fixture->store, &key, "user:c"), 2);
    assert_sound(fixture);
}

TEST(a_retry_saves_nothing)
{
    ses_store *store = fixture->store;
    ses_appended appended = {0};
    ses_artifacts *artifacts;

    must_create(store, &key, NULL);
    artifacts = must_open_artifacts(store);
    must_add(artifacts, "a", "one");
    assert_ok(append(store, Q("{'id':'e1'}"), artifacts, NULL, &error));
    must_save(store, &key, "a", "later");
    assert_code(SES_DUPLICATE, append(store, Q("{'id':'e1'}"), artifacts, &appended, &error));
    assert_int_equal(appended.seq, 1);
    assert_int_equal(ses_artifacts_version(artifacts, 0), 0);
    assert_int_equal(count_versions(store, &key, "a"), 2);
    ses_artifacts_close(artifacts);
    artifacts = must_open_artifacts(store);
    must_add(artifacts, "a", "other bytes");
    assert_code(SES_EXISTS, append(store, Q("{'id':'e1'}"), artifacts, NULL, &error));
    assert_code(SES_EXISTS, append(store, Q("{'id':'e1'}"), NULL, NULL, &error));
    assert_int_equal(count_versions(store, &key, "a"), 2);
    ses_artifacts_close(artifacts);
    assert_sound(fixture);
}

TEST(a_list_survives_a_refused_append)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_artifacts *artifacts = must_open_artifacts(fixture->store);
    const ses_append_options options = {.size = sizeof options, .artifacts = artifacts};

    must_add(artifacts, "a", "one");
    must_append_by_key(fixture->store, &key, "{}");
    assert_code(SES_STALE, ses_append(session, "{}", SES_NUL, &options, NULL, &error));
    assert_no_artifact(fixture->store, &key, "a");
    must_refresh(session);
    assert_ok(ses_append(session, Q("{'id':'x','timestamp':1}"), SES_NUL, &options, NULL, &error));
    assert_artifact(fixture->store, &key, "a", NULL, "one");
    assert_string_equal(ses_session_event(session, 1)->json,
                        Q("{'id':'x','timestamp':1,'actions':{'artifactDelta':{'a':0}}}"));
    ses_artifacts_close(artifacts);
    ses_session_close(session);
    assert_sound(fixture);
}

TEST(an_event_that_is_not_stored_saves_nothing)
{
    ses_artifacts *artifacts;

    must_create(fixture->store, &key, NULL);
    artifacts = must_open_artifacts(fixture->store);
    must_add(artifacts, "a", "one");
    assert_code(SES_PARTIAL, append(fixture->store, Q("{'partial':true}"), artifacts, NULL, &error));
    assert_code(SES_JSON, append(fixture->store, "{\"id\":", artifacts, NULL, &error));
    assert_code(SES_INVALID, append(fixture->store, "[]", artifacts, NULL, &error));
    assert_code(SES_INVALID, append(fixture->store, Q("{'actions':7}"), artifacts, NULL, &error));
    assert_code(SES_INVALID,
                append(fixture->store, Q("{'actions':{'artifactDelta':[]}}"), artifacts, NULL, &error));
    must_delete(fixture->store, &key);
    assert_code(SES_NOTFOUND, append(fixture->store, "{}", artifacts, NULL, &error));
    assert_no_artifact(fixture->store, &key, "a");
    ses_artifacts_close(artifacts);
    assert_sound(fixture);
}

TEST(a_list_is_for_one_session_and_single_events)
{
    const ses_key other = {"app", "user", "other"};
    const ses_text texts[1] = {{"{}", 2}};
    ses_append_options options = {.size = sizeof options};

    must_create(fixture->store, &key, NULL);
    must_create(fixture->store, &other, NULL);
    options.artifacts = must_open_artifacts(fixture->store);
    must_add(options.artifacts, "a", "one");
    assert_code(SES_MISUSE, ses_append_by_key(fixture->store, &other, "{}", 2, &options, NULL, &error));
    assert_code(SES_MISUSE, ses_append_batch_by_key(fixture->store, &key, texts, 1, &options, NULL, &error));
    ses_artifacts_close(options.artifacts);
    assert_sound(fixture);
}

/* ------------------------------------------------------------------------------------------ many bytes */

TEST(many_bytes_appear_with_the_event)
{
    const size_t len = 9000000;
    char *bytes = calloc(1, len);
    ses_artifacts *artifacts;
    ses_artifact *artifact;

    assert_non_null(bytes);
    must_create(fixture->store, &key, NULL);
    artifacts = must_open_artifacts(fixture->store);
    assert_ok(ses_artifacts_add(artifacts, "a", bytes, len, NULL, &error));
    assert_no_artifact(fixture->store, &key, "a");
    ses_artifacts_close(artifacts);
    assert_sound(fixture);
    artifacts = must_open_artifacts(fixture->store);
    assert_ok(ses_artifacts_add(artifacts, "a", bytes, len, NULL, &error));
    assert_ok(ses_artifacts_add(artifacts, "b", bytes, len, NULL, &error));
    assert_ok(append(fixture->store, "{}", artifacts, NULL, &error));
    ses_artifacts_close(artifacts);
    assert_ok(ses_artifact_open_by_key(fixture->store, &key, "b", NULL, &artifact, &error));
    assert_int_equal(ses_artifact_info_of(artifact)->size, len);
    ses_artifact_close(artifact);
    assert_sound(fixture);
    free(bytes);
}

/* ------------------------------------------------------------------------------------------ inline data */

TEST(large_inline_data_becomes_an_artifact)
{
    static const char event[] =
        "{\"id\":\"e1\",\"timestamp\":1,\"invocationId\":\"i1\",\"content\":{\"parts\":["
        "{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"aGVsbG8gd29ybGQ=\"},\"x\":1},"
        "{\"inline_data\":{\"data\":\"_-8\"}},{\"text\":\"t\"},"
        "{\"inlineData\":{\"data\":\"c2Vjb25kIG9uZQ\",\"displayName\":\"two.txt\"}},"
        "{\"inlineData\":{\"data\":\"not base64, but quite long\"}}]}}";
    static const char expected[] =
        "{\"id\":\"e1\",\"timestamp\":1,\"invocationId\":\"i1\",\"content\":{\"parts\":["
        "{\"fileData\":{\"fileUri\":\"artifact://apps/app/users/user/sessions/session/artifacts/artifact_i1_0/versions/0\","
        "\"mimeType\":\"image/png\"},\"x\":1},"
        "{\"inline_data\":{\"data\":\"_-8\"}},{\"text\":\"t\"},"
        "{\"fileData\":{\"fileUri\":\"artifact://apps/app/users/user/sessions/session/artifacts/two.txt/versions/0\","
        "\"displayName\":\"two.txt\"}},"
        "{\"inlineData\":{\"data\":\"not base64, but quite long\"}}]},"
        "\"actions\":{\"artifactDelta\":{\"own\":0,\"artifact_i1_0\":0,\"two.txt\":0}}}";
    ses_artifacts *artifacts;
    ses_artifact *artifact;

    must_create(fixture->store, &key, NULL);
    artifacts = must_open_artifacts(fixture->store);
    must_add(artifacts, "own", "one");
    assert_code(SES_INVALID, ses_artifacts_offload(artifacts, -1, &error));
    assert_ok(ses_artifacts_offload(artifacts, 8, &error));
    assert_ok(append(fixture->store, event, artifacts, NULL, &error));
    assert_newest(fixture->store, expected);
    assert_artifact(fixture->store, &key, "artifact_i1_0", NULL, "hello world");
    assert_artifact(fixture->store, &key, "two.txt", NULL, "second one");
    assert_ok(ses_artifact_open_by_key(fixture->store, &key, "artifact_i1_0", NULL, &artifact, &error));
    assert_string_equal(ses_artifact_info_of(artifact)->mime_type, "image/png");
    ses_artifact_close(artifact);
    assert_code(SES_DUPLICATE, append(fixture->store, event, artifacts, NULL, &error));
    assert_int_equal(count_versions(fixture->store, &key, "two.txt"), 1);
    must_add(artifacts, "another", "one");
    assert_ok(append(fixture->store, Q("{'id':'e2','timestamp':1}"), artifacts, NULL, &error));
    assert_newest(fixture->store,
                  Q("{'id':'e2','timestamp':1,'actions':{'artifactDelta':{'own':1,'another':0}}}"));
    ses_artifacts_close(artifacts);
    assert_sound(fixture);
}

#define IMAGES(invocation)                                                                          \
    "{'id':'e1','timestamp':1,'invocationId':'" invocation "','content':{'parts':[{'text':'look'}," \
    "{'inlineData':{'mimeType':'image/png','data':'aGVsbG8gd29ybGQ='}},"                            \
    "{'inlineData':{'mimeType':'image/png','data':'c2Vjb25kIG9uZQ=='}},"                            \
    "{'inlineData':{'displayName':'a.png','data':'dGhpcmQgb25lLi4='}},"                             \
    "{'inlineData':{'displayName':'a.png','data':'Zm91cnRoIG9uZS4='}}]}}"

/* As google-adk's SaveFilesAsArtifactsPlugin does. */
TEST(inline_data_is_named_by_the_number_of_its_part)
{
    ses_artifacts *artifacts;

    must_create(fixture->store, &key, NULL);
    artifacts = must_open_artifacts(fixture->store);
    assert_ok(ses_artifacts_offload(artifacts, 8, &error));
    assert_ok(append(fixture->store, Q(IMAGES("i/\\u00e91")), artifacts, NULL, &error));
    assert_artifact(fixture->store, &key,
                    "artifact_i/\xc3\xa9"
                    "1_1",
                    NULL, "hello world");
    assert_artifact(fixture->store, &key,
                    "artifact_i/\xc3\xa9"
                    "1_2",
                    NULL, "second one");
    assert_artifact(fixture->store, &key, "a.png", &(int64_t){0}, "third one..");
    assert_artifact(fixture->store, &key, "a.png", &(int64_t){1}, "fourth one.");
    assert_code(SES_DUPLICATE, append(fixture->store, Q(IMAGES("i/\\u00e91")), artifacts, NULL, &error));
    assert_int_equal(count_versions(fixture->store, &key, "a.png"), 2);
    ses_artifacts_close(artifacts);
}

/* 0.2.0 counted only the parts that became artifacts. */
TEST(the_retry_of_an_event_with_older_names_is_recognized)
{
#define OLDER(name) \
    "{'fileData':{'fileUri':'artifact://apps/app/users/user/sessions/session/artifacts/" name "','"
    /* clang-format off */
    static const char stored[] =
        "{'id':'e1','timestamp':1,'invocationId':'i1','content':{'parts':[{'text':'look'},"
        OLDER("artifact_i1_0/versions/0") "mimeType':'image/png'}},"
        OLDER("artifact_i1_1/versions/0") "mimeType':'image/png'}},"
        OLDER("a.png/versions/0") "displayName':'a.png'}},"
        OLDER("a.png/versions/1") "displayName':'a.png'}}]},"
        "'actions':{'artifactDelta':{'artifact_i1_0':0,'artifact_i1_1':0,'a.png':1}}}";
    /* clang-format on */
    ses_artifacts *artifacts;

    must_create(fixture->store, &key, NULL);
    must_save(fixture->store, &key, "artifact_i1_0", "hello world");
    must_save(fixture->store, &key, "artifact_i1_1", "second one");
    must_save(fixture->store, &key, "a.png", "third one..");
    must_save(fixture->store, &key, "a.png", "fourth one.");
    must_append_by_key(fixture->store, &key, Q(stored));
    artifacts = must_open_artifacts(fixture->store);
    assert_ok(ses_artifacts_offload(artifacts, 8, &error));
    assert_code(SES_DUPLICATE, append(fixture->store, Q(IMAGES("i1")), artifacts, NULL, &error));
    assert_int_equal(count_versions(fixture->store, &key, "a.png"), 2);
    assert_int_equal(count_versions(fixture->store, &key, "artifact_i1_2"), 0);
    ses_artifacts_close(artifacts);
}

/* ------------------------------------------------------------------------------------------ at once */

enum { WRITERS = 4, EACH = 10 };

struct appender {
    ses_store *store;
    int number;
};

static void *append_often(void *context)
{
    const struct appender *own = context;
    ses_error error;

    for (int i = 0; i < EACH; i++) {
        ses_artifacts *artifacts = must_open_artifacts(own->store);
        char text[32];
        snprintf(text, sizeof text, "%d of %d", i, own->number);
        must_add(artifacts, "user:shared", text);
        must_add(artifacts, "own", text);
        assert_ok(append(own->store, "{}", artifacts, NULL, &error));
        ses_artifacts_close(artifacts);
        if (i % 3 == 0)
            must_save(own->store, &key, "user:shared", text);
    }
    return NULL;
}

TEST(appends_at_once_get_distinct_versions)
{
    struct appender appenders[WRITERS];
    pthread_t threads[WRITERS];

    must_create(fixture->store, &key, NULL);
    for (int i = 0; i < WRITERS; i++) {
        appenders[i] = (struct appender){fixture->store, i};
        assert_int_equal(pthread_create(&threads[i], NULL, append_often, &appenders[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(count_versions(fixture->store, &key, "own"), WRITERS * EACH);
    assert_int_equal(count_versions(fixture->store, &key, "user:shared"), WRITERS * (EACH + 4));
    assert_sound(fixture);
}
