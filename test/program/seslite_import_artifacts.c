/* The command imports a folder in which google-adk's FileArtifactService keeps artifacts, also one that is
 * hostile. */
#include "command.h"

#include <sys/stat.h>

#include "seslite_artifact.h"

static const ses_key in_session = {"chat", "alice", "two"};
static const ses_key of_user = {"chat", "alice", NULL};

/* ------------------------------------------------------------------------------------------------ folders */

static char *folder_of(const struct fixture *fixture)
{
    return support_path(fixture->folder, "artifacts");
}

/* Writes a file in the folder, and the folders above it. */
static void put(const struct fixture *fixture, const char *name, const char *bytes)
{
    char *top = folder_of(fixture);
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", top, name);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
        *slash = '/';
    }
    write_file(path, bytes, strlen(bytes));
    free(top);
}

static void put_version(const struct fixture *fixture, const char *of, const char *name, int version,
                        const char *bytes, const char *metadata)
{
    const char *slash = strrchr(name, '/');
    char path[2048];

    snprintf(path, sizeof path, "apps/chat/users/alice/%s/%s/versions/%d/%s", of, name, version,
             slash ? slash + 1 : name);
    put(fixture, path, bytes);
    snprintf(path, sizeof path, "apps/chat/users/alice/%s/%s/versions/%d/metadata.json", of, name, version);
    if (metadata)
        put(fixture, path, metadata);
}

static void link_to(const struct fixture *fixture, const char *target, const char *name)
{
    char *top = folder_of(fixture);
    char path[2048];

    snprintf(path, sizeof path, "%s/%s", top, name);
    assert_int_equal(symlink(target, path), 0);
    free(top);
}

#define SESSION_FOLDER "sessions/two/artifacts"

/* As google-adk 2.13 writes it. */
static void fill_folder(const struct fixture *fixture)
{
    put_version(fixture, SESSION_FOLDER, "plan.txt", 0, "first",
                Q("{'version':0,'canonicalUri':'file:///etc/passwd','customMetadata':{},"
                  "'createTime':1700000001.25,'fileName':'plan.txt'}"));
    put_version(fixture, SESSION_FOLDER, "plan.txt", 2, "second",
                Q("{'version':2,'canonicalUri':'file:///x','customMetadata':{},"
                  "'createTime':1700000002,'fileName':'../../plan.txt'}"));
    put_version(fixture, SESSION_FOLDER, "plan.txt", 10, "first",
                Q("{'version':10,'customMetadata':{},'createTime':1700000003,'fileName':'plan.txt'}"));
    put_version(
        fixture, SESSION_FOLDER, "img/chart.png", 0, "PNG",
        Q("{'version':0,'canonicalUri':'file:///x','customMetadata':{'dpi': 300.0},'createTime':1700000004,"
          "'mimeType':'image/png','fileName':'img/chart.png','displayName':'A chart'}"));
    put_version(fixture, "artifacts", "logo", 0, "LOGO",
                Q("{'version':0,'customMetadata':{},'createTime':1700000005,'mimeType':'image/gif',"
                  "'fileName':'user:logo'}"));
}

/* ------------------------------------------------------------------------------------------------- stores */

static ses_artifact *must_open_artifact(const struct fixture *fixture, const ses_key *key, const char *name,
                                        int64_t version)
{
    const ses_artifact_open_options options = {.size = sizeof options, .version = &version};
    ses_artifact *artifact = NULL;
    ses_error error;

    assert_ok(ses_artifact_open_by_key(fixture->store, key, name, &options, &artifact, &error));
    return artifact;
}

static void assert_version(const struct fixture *fixture, const ses_key *key, const char *name,
                           int64_t version, const char *expected)
{
    ses_artifact *artifact = must_open_artifact(fixture, key, name, version);
    char bytes[100];
    ses_error error;
    size_t len = 0;

    assert_ok(ses_artifact_read(artifact, 0, bytes, sizeof bytes, &len, &error));
    assert_int_equal(len, strlen(expected));
    assert_memory_equal(bytes, expected, len);
    ses_artifact_close(artifact);
}

static size_t count_names(const struct fixture *fixture, const ses_key *key)
{
    ses_artifact_list *list = NULL;
    ses_error error;

    assert_ok(ses_artifact_names_by_key(fixture->store, key, NULL, &list, &error));
    const size_t count = ses_artifact_list_count(list);
    ses_artifact_list_close(list);
    return count;
}

static size_t count_versions(const struct fixture *fixture, const ses_key *key, const char *name)
{
    ses_artifact_list *list = NULL;
    ses_error error;

    assert_ok(ses_artifact_versions_by_key(fixture->store, key, name, NULL, &list, &error));
    const size_t count = ses_artifact_list_count(list);
    ses_artifact_list_close(list);
    return count;
}

/* -------------------------------------------------------------------------------------------------- tests */

TEST_OF(command_setup, a_folder_becomes_artifacts)
{
    char *folder = folder_of(fixture);

    fill_folder(fixture);
    run_ok("import", folder);
    assert_has(&reply.out, "a folder of google-adk's FileArtifactService\n");
    assert_has(&reply.out, "  5 versions of artifacts saved\n");
    assert_has(&reply.out, "  2 versions saved under another number than in the folder\n");
    assert_version(fixture, &in_session, "plan.txt", 0, "first");
    assert_version(fixture, &in_session, "plan.txt", 1, "second");
    assert_version(fixture, &in_session, "plan.txt", 2, "first");
    assert_version(fixture, &of_user, "user:logo", 0, "LOGO");
    ses_artifact *artifact = must_open_artifact(fixture, &in_session, "img/chart.png", 0);
    const ses_artifact_info *info = ses_artifact_info_of(artifact);
    assert_int_equal(info->created_us, INT64_C(1700000004000000));
    assert_int_equal(info->kind, SES_ARTIFACT_BYTES);
    assert_string_equal(info->mime_type, "image/png");
    assert_string_equal(info->display_name, "A chart");
    assert_string_equal(info->metadata, Q("{'dpi': 300.0}"));
    ses_artifact_close(artifact);
    artifact = must_open_artifact(fixture, &in_session, "plan.txt", 0);
    info = ses_artifact_info_of(artifact);
    assert_int_equal(info->created_us, INT64_C(1700000001250000));
    assert_int_equal(info->kind, SES_ARTIFACT_TEXT);
    assert_null(info->mime_type);
    assert_null(info->metadata);
    ses_artifact_close(artifact);
    assert_int_equal(count_names(fixture, &in_session), 3);
    free(folder);
}

TEST_OF(command_setup, importing_again_doubles_nothing)
{
    char *folder = folder_of(fixture);

    fill_folder(fixture);
    run_ok("import", folder, "--dry-run");
    assert_has(&reply.out, "  5 versions of artifacts saved\n");
    assert_int_equal(count_names(fixture, &in_session), 0);
    run_ok("import", folder);
    run_ok("import", folder, "--json");
    cJSON *json = reply_json(&reply);
    const cJSON *report = cJSON_GetArrayItem(json, 0);
    assert_string_equal(json_string(report, "format"), "adk-artifacts");
    assert_true(json_double(report, "artifacts") == 0);
    assert_true(json_double(report, "artifactsEqual") == 5);
    cJSON_Delete(json);
    put_version(fixture, SESSION_FOLDER, "plan.txt", 11, "third", NULL);
    put_version(fixture, SESSION_FOLDER, "plan.txt", 12, "first", NULL);
    run_ok("import", folder);
    assert_has(&reply.out, "  2 versions of artifacts saved\n");
    assert_int_equal(count_versions(fixture, &in_session, "plan.txt"), 5);
    run_ok("import", folder);
    assert_int_equal(count_versions(fixture, &in_session, "plan.txt"), 5);
    free(folder);
}

TEST_OF(command_setup, the_names_choose_and_change_what_comes_in)
{
    const ses_key bob = {"chat", "bob", NULL};
    char *folder = folder_of(fixture);

    fill_folder(fixture);
    run_ok("-a", "chat", "-u", "alice", "-s", "two", "import", folder, "--to-user", "bob");
    assert_has(&reply.out, "  4 versions of artifacts saved\n");
    assert_int_equal(count_names(fixture, &bob), 0);
    assert_int_equal(count_names(fixture, &in_session), 0);
    assert_int_equal(count_names(fixture, &(ses_key){"chat", "bob", "two"}), 2);
    run_code(3, "-a", "chat", "-u", "zoe", "import", folder);
    run_code(3, "-a", "other", "import", folder);
    assert_has(&reply.err, "no artifact that matches");
    free(folder);
}

TEST_OF(command_setup, no_link_is_followed)
{
    char *folder = folder_of(fixture);
    char *secret = support_path(fixture->folder, "secret");

    write_file(secret, "SECRET", 6);
    fill_folder(fixture);
    put(fixture, "apps/chat/users/alice/sessions/two/artifacts/a/versions/0/metadata.json", "{}");
    link_to(fixture, secret, "apps/chat/users/alice/sessions/two/artifacts/a/versions/0/a");
    put_version(fixture, SESSION_FOLDER, "b", 0, "bytes", NULL);
    link_to(fixture, secret, "apps/chat/users/alice/sessions/two/artifacts/b/versions/0/metadata.json");
    link_to(fixture, fixture->folder, "apps/chat/users/alice/sessions/two/artifacts/c");
    link_to(fixture, "../../../../..", "apps/chat/users/bob");
    link_to(fixture, "0", "apps/chat/users/alice/sessions/two/artifacts/b/versions/1");
    run_code(3, "import", folder);
    assert_has(&reply.err, "the artifact a of chat/alice/two: version 0 has no file with its bytes");
    assert_int_equal(count_names(fixture, &in_session), 0);
    run_ok("import", folder, "--skip");
    assert_has(&reply.out, "  5 links not followed\n");
    assert_has(&reply.out, "  1 version of artifacts rejected\n");
    assert_int_equal(count_names(fixture, &in_session), 4);
    assert_version(fixture, &in_session, "b", 0, "bytes");
    assert_int_equal(count_versions(fixture, &in_session, "b"), 1);
    free(secret);
    free(folder);
}

TEST_OF(command_setup, unstorable_input_is_refused)
{
    char *folder = folder_of(fixture);
    char deep[1024] = "x";

    put_version(fixture, SESSION_FOLDER, "bad.json", 0, "x", "{\"createTime\":NaN}");
    put_version(fixture, SESSION_FOLDER, "list.json", 0, "x", "[1]");
    put_version(fixture, SESSION_FOLDER, "user:x", 0, "x", "{}");
    put_version(fixture, SESSION_FOLDER, "\xff", 0, "x", "{}");
    put_version(fixture, SESSION_FOLDER, "text", 0, "\xff", "{}");
    put_version(fixture, SESSION_FOLDER, "odd", 0, "x", "{\"createTime\":\"now\",\"mimeType\":7}");
    put(fixture, "apps/chat/users/alice/sessions/two/artifacts/odd/versions/.1.pending/odd", "x");
    put(fixture, "apps/chat/users/alice/sessions/two/artifacts/odd/versions/01/odd", "x");
    put(fixture, "apps/chat/.DS_Store", "x");
    run_code(2, "import", folder);
    assert_int_equal(count_names(fixture, &in_session), 0);
    run_ok("import", folder, "--skip", "--json");
    cJSON *json = reply_json(&reply);
    const cJSON *report = cJSON_GetArrayItem(json, 0);
    assert_true(json_double(report, "artifacts") == 1);
    assert_true(json_double(report, "refused") == 5);
    assert_string_equal(json_string(cJSON_GetArrayItem(cJSON_GetObjectItem(report, "refusals"), 0), "id"),
                        "two");
    cJSON_Delete(json);
    assert_version(fixture, &in_session, "odd", 0, "x");
    for (int i = 0; i < 70; i++)
        strcat(deep, "/x");
    put_version(fixture, SESSION_FOLDER, deep, 0, "x", NULL);
    run_code(1, "import", folder, "--skip");
    assert_has(&reply.err, "more than 64 folders");
    free(folder);
}

TEST_OF(command_setup, a_file_of_holes_takes_no_time)
{
    char *folder = folder_of(fixture);
    char *path =
        support_path(fixture->folder, "artifacts/apps/chat/users/alice/artifacts/big/versions/0/big");

    put_version(fixture, "artifacts", "big", 0, "x", NULL);
    if (truncate(path, (off_t)1 << 40) == 0) {
        run_code(1, "import", folder);
        assert_has(&reply.err, "version 0 has more than 64 GiB");
        run_code(1, "import", folder, "--dry-run");
    }
    free(path);
    free(folder);
}

TEST_OF(command_setup, another_folder_is_not_imported)
{
    char *folder = folder_of(fixture);
    char *fresh = support_path(fixture->folder, "fresh.db");

    put(fixture, "users/alice/artifacts/a/versions/0/a", "x");
    run_code(8, "import", folder);
    assert_has(&reply.err, "a folder without apps");
    link_to(fixture, "users", "apps");
    run_at(&reply, 8, NULL, fresh, "import", folder);
    assert_string_equal(reply.out.data, "");
    assert_int_equal(access(fresh, F_OK), -1);
    free(fresh);
    free(folder);
}
