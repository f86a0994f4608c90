/* The effect of forks, cuts and rewinds on the artifacts of a session. */
#include "artifact.h"

/* Appends a turn of its own invocation that saves these artifacts (name, text, name, text, ...). */
static void turn(ses_store *store, const char *invocation, const char *const *saved)
{
    ses_append_options options = {.size = sizeof options};
    ses_error error;
    char event[200];

    assert_ok(ses_artifacts_open(store, &key, &options.artifacts, &error));
    for (; *saved; saved += 2)
        assert_ok(ses_artifacts_add(options.artifacts, saved[0], saved[1], strlen(saved[1]), NULL, &error));
    snprintf(event, sizeof event, "{\"id\":\"%s\",\"invocationId\":\"%s\",\"timestamp\":1}", invocation,
             invocation);
    assert_ok(ses_append_by_key(store, &key, event, SES_NUL, &options, NULL, &error));
    ses_artifacts_close(options.artifacts);
}
#define TURN(store, invocation, ...) turn((store), (invocation), (const char *const[]){__VA_ARGS__, NULL})

/* Three turns: 1 saves a and b, 2 saves a and c and the user's u, 3 saves a. */
static void three_turns(struct fixture *fixture)
{
    must_create(fixture->store, &key, NULL);
    TURN(fixture->store, "i1", "a", "a0", "b", "b0");
    TURN(fixture->store, "i2", "a", "a1", "c", "c0", "user:u", "u0");
    TURN(fixture->store, "i3", "a", "a2");
}

static char *newest_event(ses_store *store)
{
    ses_session *session = must_get(store, &key);
    const size_t count = ses_session_event_count(session);
    char *text = strdup(ses_session_event(session, count - 1)->json);

    assert_non_null(text);
    ses_session_close(session);
    return text;
}

/* ------------------------------------------------------------------------------------------------ rewind */

static void rewind_to(ses_store *store, int64_t seq)
{
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = seq};
    ses_error error;
    assert_ok(ses_rewind_by_key(store, &key, &point, NULL, NULL, &error));
}

TEST(a_rewind_brings_the_versions_of_the_point_back)
{
    ses_store *store = fixture->store;

    three_turns(fixture);
    rewind_to(store, 1);
    assert_artifact(store, &key, "a", NULL, "a0");
    assert_artifact(store, &key, "a", &(int64_t){2}, "a2");
    assert_artifact(store, &key, "b", NULL, "b0");
    assert_no_artifact(store, &key, "c");
    assert_artifact(store, &key, "user:u", NULL, "u0");
    assert_int_equal(count_versions(store, &key, "a"), 4);
    assert_int_equal(count_versions(store, &key, "b"), 1);
    assert_int_equal(count_versions(store, &key, "c"), 2);
    char *event = newest_event(store);
    assert_non_null(strstr(event, Q("'artifactDelta':{'a':3,'c':1}")));
    free(event);
    assert_sound(fixture);
    assert_ok(ses_redo_by_key(store, &key, NULL, NULL, &error));
    assert_artifact(store, &key, "a", NULL, "a2");
    assert_artifact(store, &key, "c", NULL, "c0");
    assert_sound(fixture);
}

TEST(a_rewind_of_nothing_but_an_artifact_is_stored)
{
    must_create(fixture->store, &key, NULL);
    TURN(fixture->store, "i1", "a", "a0");
    rewind_to(fixture->store, 0);
    assert_no_artifact(fixture->store, &key, "a");
    assert_sound(fixture);
}

TEST(a_version_that_was_deleted_is_not_brought_back)
{
    three_turns(fixture);
    assert_ok(ses_artifact_delete_by_key(fixture->store, &key, "a", NULL, NULL, &error));
    rewind_to(fixture->store, 1);
    assert_no_artifact(fixture->store, &key, "a");
    assert_sound(fixture);
}

TEST(the_callers_own_delta_counts)
{
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = 1};
    const ses_rewind_options options = {
        .size = sizeof options, .artifact_delta = Q("{'z':7}"), .artifact_delta_len = SES_NUL};

    three_turns(fixture);
    assert_ok(ses_rewind_by_key(fixture->store, &key, &point, &options, NULL, &error));
    assert_artifact(fixture->store, &key, "a", NULL, "a2");
    assert_sound(fixture);
}

TEST(after_a_prune_the_version_before_counts)
{
    const ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_KEEP, .keep = 2};
    int64_t pruned = 0;

    three_turns(fixture);
    assert_ok(ses_prune_by_key(fixture->store, &key, &options, &pruned, &error));
    assert_int_equal(pruned, 1);
    assert_artifact(fixture->store, &key, "b", NULL, "b0");
    rewind_to(fixture->store, 1);
    assert_artifact(fixture->store, &key, "a", NULL, "a0");
    assert_artifact(fixture->store, &key, "b", NULL, "b0");
    assert_no_artifact(fixture->store, &key, "c");
    assert_sound(fixture);
}

/* ------------------------------------------------------------------------------------------------ cut */

TEST(a_cut_takes_what_its_events_named)
{
    ses_store *store = fixture->store;
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = 1};

    three_turns(fixture);
    must_save(store, &key, "by itself", "stays");
    assert_ok(ses_cut_by_key(store, &key, &point, NULL, NULL, &error));
    assert_artifact(store, &key, "a", NULL, "a0");
    assert_int_equal(count_versions(store, &key, "a"), 1);
    assert_int_equal(count_versions(store, &key, "c"), 0);
    assert_artifact(store, &key, "b", NULL, "b0");
    assert_artifact(store, &key, "by itself", NULL, "stays");
    assert_artifact(store, &key, "user:u", NULL, "u0");
    assert_sound(fixture);
    TURN(store, "i2", "a", "again");
    assert_artifact(store, &key, "a", &(int64_t){1}, "again");
}

/* Appends an event of its own invocation, which is `id` too. */
static void append_naming(ses_store *store, const char *id, const char *rest)
{
    char event[1000];

    snprintf(event, sizeof event, "{\"id\":\"%s\",\"invocationId\":\"%s\",\"timestamp\":1%s}", id, id, rest);
    must_append_by_key(store, &key, event);
}

#define PARENT "artifact://apps/app/users/another/sessions/parent/artifacts/"

/* Events 1 and 2 name versions in each way in which an event can, and later events name them again. */
static void named_twice(struct fixture *fixture)
{
    ses_store *store = fixture->store;

    must_create(store, &key, NULL);
    must_save(store, &key, "delta", "d0");
    must_save(store, &key, "snake", "s0");
    must_save(store, &key, "caf\xc3\xa9", "c0");
    must_save(store, &key, "part", "p0");
    must_save(store, &key, "part", "p1");
    must_save(store, &key, "a/artifacts/b", "b0");
    append_naming(store, "i1",
                  Q(",'actions':{'artifactDelta':{'delta':0,'part':1}},'content':{'parts':["
                    "{'fileData':{'fileUri':'" PARENT "part/versions/0'}},"
                    "{'functionResponse':{'response':{'files':["
                    "'artifact:\\/\\/apps/app/users/user/sessions/x/artifacts/caf\\u00e9/versions/0']}}},"
                    "{'text':'a quote \\'" PARENT "quoted/versions/0'},"
                    "{'fileData':{'fileUri':'" PARENT "a/artifacts/b/versions/0'}}]}"));
    append_naming(store, "i2", Q(",'actions':{'artifact_delta':{'snake':0}}"));
    must_save(store, &key, "quoted", "q0");
    append_naming(store, "i3",
                  Q(",'actions':{'artifactDelta':{'delta':0,'snake':0,'caf\\u00e9':0,'part':0,'quoted':0,"
                    "'a/artifacts/b':0}}"));
    append_naming(store, "i4", Q(",'actions':{'artifactDelta':{'part':1,'delta':0}}"));
}

static void assert_named_by_the_rest(struct fixture *fixture, const ses_key *of)
{
    ses_store *store = fixture->store;

    assert_artifact(store, of, "delta", NULL, "d0");
    assert_artifact(store, of, "snake", NULL, "s0");
    assert_artifact(store, of, "caf\xc3\xa9", NULL, "c0");
    assert_artifact(store, of, "part", NULL, "p1");
    assert_artifact(store, of, "part", &(int64_t){0}, "p0");
    assert_artifact(store, of, "a/artifacts/b", NULL, "b0");
    assert_no_artifact(store, of, "quoted");
    assert_sound(fixture);
}

TEST(a_cut_leaves_what_other_events_name)
{
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = 2};

    named_twice(fixture);
    assert_ok(ses_cut_by_key(fixture->store, &key, &point, NULL, NULL, &error));
    assert_named_by_the_rest(fixture, &key);
}

/* ------------------------------------------------------------------------------------------------ fork */

static void fork_to(ses_store *store, const ses_key *to, int64_t seq)
{
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = seq};
    const ses_fork_options options = {.size = sizeof options, .flags = SES_FORK_OTHER_USER};
    ses_error error;
    assert_ok(ses_fork_by_key(store, &key, &point, to, &options, NULL, &error));
}

static void check_forks(struct fixture *fixture, const char *user)
{
    const ses_key early = {"app", user, "early"};
    const ses_key late = {"app", user, "late"};
    ses_store *store = fixture->store;

    fork_to(store, &early, 1);
    assert_artifact(store, &early, "a", NULL, "a0");
    assert_artifact(store, &early, "b", NULL, "b0");
    assert_int_equal(count_versions(store, &early, "a"), 1);
    assert_no_artifact(store, &early, "c");
    fork_to(store, &late, 3);
    assert_artifact(store, &late, "a", NULL, "a2");
    assert_artifact(store, &late, "a", &(int64_t){1}, "a1");
    assert_artifact(store, &late, "c", NULL, "c0");
    assert_sound(fixture);
    must_delete(store, &late);
    assert_artifact(store, &key, "a", NULL, "a2");
    assert_artifact(store, &early, "a", NULL, "a0");
    assert_sound(fixture);
}

TEST(a_fork_has_the_artifacts_of_its_point)
{
    three_turns(fixture);
    check_forks(fixture, "user");
}

TEST(a_fork_of_another_user_has_bytes_of_its_own)
{
    const ses_key early = {"app", "other", "early"};

    three_turns(fixture);
    check_forks(fixture, "other");
    assert_no_artifact(fixture->store, &early, "user:u");
    assert_ok(ses_delete_user(fixture->store, "app", "user", NULL, NULL, NULL, &error));
    assert_artifact(fixture->store, &early, "a", NULL, "a0");
    assert_sound(fixture);
}

TEST(a_fork_has_what_its_events_name)
{
    const ses_key own = {"app", "user", "own"};
    const ses_key others = {"app", "other", "others"};

    named_twice(fixture);
    fork_to(fixture->store, &own, 2);
    assert_named_by_the_rest(fixture, &own);
    fork_to(fixture->store, &others, 2);
    assert_named_by_the_rest(fixture, &others);
}

/* References to an artifact of the session that a fork, or a fork of that, comes from. */
static void check_reference(ses_store *store, const ses_key *of, const char *user)
{
    const ses_artifact_open_options stored = {.size = sizeof stored, .flags = SES_ARTIFACT_OPEN_STORED};
    ses_artifact *artifact = NULL;
    ses_error error;

    assert_int_equal(must_save(store, of, "a", "later"), 3);
    assert_artifact(store, of, "reference", NULL, "a1");
    assert_ok(ses_artifact_open_by_key(store, of, "reference", &stored, &artifact, &error));
    assert_string_equal(ses_artifact_info_of(artifact)->uri + strlen("artifact://apps/app/users/"), user);
    ses_artifact_close(artifact);
}

TEST(references_lead_to_the_artifacts_of_a_fork)
{
    static const char address[] = "artifact://apps/app/users/user/sessions/session/artifacts/a/versions/1";
    const ses_artifact_save_options reference = {.size = sizeof reference, .kind = SES_ARTIFACT_URI};
    const ses_fork_options other_user = {.size = sizeof other_user, .flags = SES_FORK_OTHER_USER};
    const ses_key child = {"app", "user", "child"};
    const ses_key grandchild = {"app", "other", "grandchild"};
    const ses_key stranger = {"app", "user", "stranger"};
    ses_store *store = fixture->store;

    three_turns(fixture);
    assert_ok(ses_artifact_save_by_key(store, &key, "reference", address, SES_NUL, &reference, NULL, &error));
    assert_ok(ses_fork_by_key(store, &key, NULL, &child, NULL, NULL, &error));
    assert_ok(ses_fork_by_key(store, &child, NULL, &grandchild, &other_user, NULL, &error));
    must_create(store, &stranger, NULL);
    assert_code(SES_INVALID, ses_artifact_save_by_key(store, &stranger, "reference", address, SES_NUL,
                                                      &reference, NULL, &error));
    check_reference(store, &grandchild, "other/sessions/grandchild/artifacts/reference/versions/0");
    must_delete(store, &key);
    check_reference(store, &child, "user/sessions/child/artifacts/reference/versions/0");
}
