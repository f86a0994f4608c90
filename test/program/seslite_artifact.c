/* The command, artifacts: what is saved, listed, written to files and deleted, and what is refused. */
#include "command.h"

#include <dirent.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "seslite_artifact.h"

static const ses_key only_user = {"chat", "alice", NULL};

static int64_t must_save(const struct fixture *fixture, const ses_key *key, const char *name,
                         const char *bytes, const ses_artifact_save_options *options)
{
    int64_t version = -1;
    ses_error error;

    assert_ok(
        ses_artifact_save_by_key(fixture->store, key, name, bytes, strlen(bytes), options, &version, &error));
    return version;
}

/* Opens the newest version; end with ses_artifact_close. */
static ses_artifact *must_open_artifact(const struct fixture *fixture, const ses_key *key, const char *name)
{
    ses_artifact *artifact = NULL;
    ses_error error;

    assert_ok(ses_artifact_open_by_key(fixture->store, key, name, NULL, &artifact, &error));
    return artifact;
}

static void assert_artifact(const struct fixture *fixture, const ses_key *key, const char *name,
                            const char *type, const char *expected)
{
    ses_artifact *artifact = must_open_artifact(fixture, key, name);
    const ses_artifact_info *info = ses_artifact_info_of(artifact);
    char bytes[1000];
    ses_error error;
    size_t len = 0;

    assert_ok(ses_artifact_read(artifact, 0, bytes, sizeof bytes, &len, &error));
    assert_int_equal(len, strlen(expected));
    assert_memory_equal(bytes, expected, len);
    if (type)
        assert_string_equal(info->mime_type, type);
    else
        assert_null(info->mime_type);
    ses_artifact_close(artifact);
}

static size_t count_artifacts(const struct fixture *fixture, const ses_key *key)
{
    ses_artifact_list *list = NULL;
    ses_error error;

    assert_ok(ses_artifact_names_by_key(fixture->store, key, NULL, &list, &error));
    const size_t count = ses_artifact_list_count(list);
    ses_artifact_list_close(list);
    return count;
}

/* Files in the fixture's folder whose names hold the words. */
static int count_files(const struct fixture *fixture, const char *words)
{
    DIR *dir = opendir(fixture->folder);
    const struct dirent *entry = NULL;
    int count = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL)
        count += strstr(entry->d_name, words) != NULL;
    (void)closedir(dir);
    return count;
}

static void assert_file(const char *path, const char *expected)
{
    struct stat info;
    char bytes[1000] = "";
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    const size_t len = fread(bytes, 1, sizeof bytes - 1, file);
    (void)fclose(file);
    assert_int_equal(len, strlen(expected));
    assert_string_equal(bytes, expected);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

/* -------------------------------------------------------------------------------------------------- words */

TEST_OF(command_setup, a_command_may_have_two_words)
{
    run_code(2, "artifact");
    assert_has(&reply.err, "artifact needs one of these words: list, get, put, delete");
    run_code(2, "artifact", "lst");
    assert_has(&reply.err, "unknown command \"artifact lst\". Did you mean \"artifact list\"?");
    run_code(2, "artefact", "list");
    assert_has(&reply.err, "Did you mean \"artifact\"?");
    run_code(2, "artifact", "get");
    assert_has(&reply.err, "artifact get needs NAME");
    assert_has(&reply.err, "See: seslite help artifact get");
    run_code(2, "artifact", "put", "a.txt");
    assert_has(&reply.err, "artifact put needs NAME FILE");
    run_code(2, "artifact", "put", "a", "b", "c");
    assert_has(&reply.err, "artifact put takes only NAME FILE: unexpected \"c\"");
    run_code(2, "show", "a", "b");
    assert_has(&reply.err, "show takes only one SESSION: unexpected \"b\"");
    run_ok("artifact", "-s", "one", "list");
    run_code(2, "artifact", "list", "--version", "1");
    run_code(2, "artifact", "get", "a", "--version");
    assert_has(&reply.err, "--version needs a value");
}

TEST_OF(command_setup, the_help_explains_both_words)
{
    run_ok("help", "artifact", "get");
    assert_has(&reply.out, "seslite [-f FILE] artifact get [OPTIONS] NAME\n");
    assert_has(&reply.out, "--version N");
    run_ok("help", "artifact", "put");
    assert_has(&reply.out, "artifact put [OPTIONS] NAME FILE\n");
    run_ok("help", "artifact");
    assert_has(&reply.out, "artifact list");
    assert_has(&reply.out, "artifact delete");
    assert_lacks(&reply.out, "append");
    run_ok("help");
    assert_has(&reply.out, "  artifact delete  delete all versions of an artifact\n");
    run_code(2, "help", "artifact", "x");
}

static void assert_proposes(const struct fixture *fixture, const char *const *words, const char *expected)
{
    const char *arguments[12] = {COMMAND, "complete", "--", "-f", fixture->path};
    struct reply answer = {0};

    for (size_t i = 0; words[i]; i++)
        arguments[5 + i] = words[i];
    command_run(&answer, NULL, arguments);
    assert_string_equal(answer.out.data, expected);
    reply_free(&answer);
}

#define assert_proposed(expected, ...) \
    assert_proposes(fixture, (const char *const[]){__VA_ARGS__, NULL}, (expected))

TEST_OF(command_setup, words_and_names_are_completed)
{
    (void)must_save(fixture, &one, "plan.md", "x",
                    &(ses_artifact_save_options){.size = sizeof(ses_artifact_save_options),
                                                 .mime_type = "text/markdown"});
    (void)must_save(fixture, &only_user, "logo", "x", NULL);
    assert_proposed("artifact\n", "art");
    assert_proposed("get\twrite the bytes of an artifact to a file or standard output\n", "artifact", "g");
    assert_proposed("artifact\n", "help", "art");
    assert_proposed("delete\tdelete all versions of an artifact\n", "help", "artifact", "d");
    assert_proposed("plan.md\ttext/markdown\nuser:logo\n", "-s", "one", "artifact", "get", "");
    assert_proposed("user:logo\n", "artifact", "list", "--versions", "");
    assert_proposed("--version\tthis version; default: the newest\n", "artifact", "get", "--ver");
}

/* ---------------------------------------------------------------------------------------------- put, list */

TEST_OF(command_setup, put_saves_the_next_version)
{
    const struct how input = {.input = "from a pipe"};
    char *path = support_path(fixture->folder, "Plan.MD");

    write_file(path, "first", 5);
    run_ok("-s", "one", "artifact", "put", "plan", path);
    assert_string_equal(reply.out.data, "0\n");
    assert_artifact(fixture, &one, "plan", "text/markdown", "first");
    run_at(&reply, 0, &input, fixture->path, "-s", "one", "artifact", "put", "plan", "-");
    assert_string_equal(reply.out.data, "1\n");
    assert_artifact(fixture, &one, "plan", NULL, "from a pipe");
    run_at(&reply, 0, &input, fixture->path, "-s", "one", "artifact", "put", "a.csv", "-");
    assert_artifact(fixture, &one, "a.csv", "text/csv", "from a pipe");
    run_ok("-s", "one", "artifact", "put", "plan", path, "--type", "", "--metadata", "{\"n\": 1.0}",
           "--json");
    cJSON *json = reply_json(&reply);
    assert_string_equal(json_string(json, "name"), "plan");
    assert_true(json_double(json, "version") == 2);
    assert_true(json_double(json, "size") == 5);
    assert_string_equal(json_string(json, "kind"), "bytes");
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(json, "mimeType")));
    assert_non_null(strstr(reply.out.data, "{\"n\": 1.0}"));
    cJSON_Delete(json);
    run_ok("artifact", "put", "logo", path, "--type", "image/png");
    assert_artifact(fixture, &only_user, "user:logo", "image/png", "first");
    free(path);
}

TEST_OF(command_setup, put_needs_a_session_unless_told_otherwise)
{
    const struct how input = {.input = "x"};
    const ses_key two = {"chat", "alice", "two"};
    const ses_key bob = {"chat", "bob", NULL};

    run_at(&reply, 3, &input, fixture->path, "-s", "two", "artifact", "put", "a", "-");
    run_at(&reply, 3, &input, fixture->path, "-s", "on", "artifact", "put", "a", "-");
    assert_has(&reply.err, "here the id must be complete");
    run_at(&reply, 3, &input, fixture->path, "-a", "chat", "-u", "bob", "artifact", "put", "a", "-");
    assert_has(&reply.err, "With --anyway");
    run_at(&reply, 2, &input, fixture->path, "-s", "two", "artifact", "put", "a", "-", "--anyway");
    assert_has(&reply.err, "--anyway needs --app and --user");
    run_at(&reply, 0, &input, fixture->path, "-a", "chat", "-u", "alice", "-s", "two", "artifact", "put", "a",
           "-", "--anyway");
    assert_artifact(fixture, &two, "a", NULL, "x");
    run_ok("-a", "chat", "-u", "alice", "-s", "two", "artifact", "list");
    assert_has(&reply.out, "a");
    run_at(&reply, 0, &input, fixture->path, "-a", "chat", "-u", "bob", "artifact", "put", "a", "-",
           "--anyway");
    assert_artifact(fixture, &bob, "user:a", NULL, "x");
    assert_int_equal(count_artifacts(fixture, &one), 0);
}

TEST_OF(command_setup, put_refuses_what_is_wrong)
{
    const struct how input = {.input = "x"};
    char *path = support_path(fixture->folder, "absent");

    run_code(3, "-s", "one", "artifact", "put", "a", path);
    assert_has(&reply.err, path);
    run_code(1, "-s", "one", "artifact", "put", "a", fixture->folder);
    assert_has(&reply.err, "cannot read");
    run_code(2, "-s", "one", "artifact", "put", "a", fixture->path);
    assert_has(&reply.err, "the store itself");
    run_at(&reply, 2, &input, fixture->path, "-s", "one", "artifact", "put", "a", "-", "--metadata", "[1");
    run_at(&reply, 2, &input, fixture->path, "-s", "one", "artifact", "put", "", "-");
    run_at(&reply, 2, &input, fixture->path, "-s", "one", "artifact", "put", "\xff", "-");
    assert_int_equal(count_artifacts(fixture, &one), 0);
    free(path);
}

TEST_OF(command_setup, list_names_the_newest_versions)
{
    const ses_artifact_save_options chart = {.size = sizeof chart,
                                             .mime_type = "image/png",
                                             .display_name = "A chart",
                                             .metadata = "{\"dpi\":  300}",
                                             .metadata_len = SES_NUL};

    run_ok("-s", "one", "artifact", "list");
    assert_string_equal(reply.out.data, "");
    (void)must_save(fixture, &one, "chart.png", "12345", &chart);
    (void)must_save(fixture, &one, "chart.png", "123456", &chart);
    (void)must_save(fixture, &only_user, "logo", "x", NULL);
    run_ok("-s", "one", "artifact", "list");
    assert_has(&reply.out, "NAME       VERSION  BYTES  CREATED (UTC)        TYPE       TITLE");
    assert_has(&reply.out, "chart.png        1      6  ");
    assert_has(&reply.out, "image/png  A chart");
    assert_has(&reply.out, "user:logo        0      1  ");
    run_ok("artifact", "list", "--jsonl");
    assert_int_equal(reply_lines(&reply), 1);
    assert_has(&reply.out, "user:logo");
    run_ok("-s", "one", "artifact", "list", "--versions", "chart.png", "--json");
    cJSON *json = reply_json(&reply);
    assert_int_equal(cJSON_GetArraySize(json), 2);
    const cJSON *first = cJSON_GetArrayItem(json, 0);
    assert_true(json_double(first, "version") == 0);
    assert_string_equal(json_string(first, "displayName"), "A chart");
    assert_int_equal(strlen(json_string(first, "hash")), 64);
    assert_string_equal(json_string(first, "uri"),
                        "artifact://apps/chat/users/alice/sessions/one/artifacts/chart.png/versions/0");
    assert_non_null(strstr(reply.out.data, "\"metadata\":{\"dpi\":  300}"));
    cJSON_Delete(json);
    run_code(3, "-s", "one", "artifact", "list", "--versions", "chart");
    assert_has(&reply.err, "no artifact \"chart\"");
    run_code(3, "-s", "two", "artifact", "list");
    run_code(3, "-a", "chat", "-u", "bob", "-s", "two", "artifact", "list");
    assert_has(&reply.err, "no user \"bob\"");
}

/* Nothing is listed then, and the failure is the call's. */
TEST_OF(command_setup, a_name_that_is_none)
{
    char longer[601] = "";

    memset(longer, 'n', sizeof longer - 1);
    run_code(2, "-s", "one", "artifact", "list", "--versions", longer);
    assert_has(&reply.err, "512");
    run_code(2, "-s", "one", "artifact", "delete", longer, "--yes");
    run_code(2, "-s", "one", "artifact", "list", "--versions", "\xff");
}

TEST_OF(command_setup, a_long_list_is_whole)
{
    for (int i = 0; i <= 1000; i++) {
        char name[20];
        snprintf(name, sizeof name, "name %d", i);
        (void)must_save(fixture, &one, "many", "x", NULL);
        if (i > 0)
            (void)must_save(fixture, &one, name, "x", NULL);
    }
    run_ok("-s", "one", "artifact", "list", "--versions", "many", "--jsonl");
    assert_int_equal(reply_lines(&reply), 1001);
    run_ok("-s", "one", "artifact", "list", "--jsonl");
    assert_int_equal(reply_lines(&reply), 1001);
    run_ok("-s", "one", "artifact", "delete", "many", "--dry-run");
    assert_has(&reply.err, "1001 versions would be deleted.");
}

/* ---------------------------------------------------------------------------------------------------- get */

TEST_OF(command_setup, get_writes_the_bytes)
{
    char *path = support_path(fixture->folder, "got");

    (void)must_save(fixture, &one, "plan", "first", NULL);
    (void)must_save(fixture, &one, "plan", "second", NULL);
    (void)must_save(fixture, &only_user, "empty", "", NULL);
    run_ok("-s", "one", "artifact", "get", "plan");
    assert_string_equal(reply.out.data, "second");
    run_ok("-s", "one", "artifact", "get", "plan", "--version", "0");
    assert_string_equal(reply.out.data, "first");
    run_ok("-s", "one", "artifact", "get", "plan", "-o", path);
    assert_string_equal(reply.out.data, "");
    assert_has(&reply.err, "plan, version 1, 6 bytes");
    assert_file(path, "second");
    run_code(4, "-s", "one", "artifact", "get", "plan", "-o", path, "--version", "0");
    assert_file(path, "second");
    run_ok("-s", "one", "artifact", "get", "plan", "-o", path, "--version", "0", "--replace", "--json");
    cJSON *json = reply_json(&reply);
    assert_string_equal(json_string(json, "file"), path);
    assert_true(json_double(json, "version") == 0);
    cJSON_Delete(json);
    assert_file(path, "first");
    run_ok("artifact", "get", "empty", "-o", path, "--replace");
    assert_file(path, "");
    run_ok("artifact", "get", "user:empty");
    assert_string_equal(reply.out.data, "");
    free(path);
}

TEST_OF(command_setup, get_refuses_what_is_wrong)
{
    char *path = support_path(fixture->folder, "got");

    (void)must_save(fixture, &one, "plan", "first", NULL);
    run_code(3, "-s", "one", "artifact", "get", "pla", "-o", path);
    run_code(3, "-s", "one", "artifact", "get", "plan", "--version", "1", "-o", path);
    run_code(3, "artifact", "get", "plan", "-o", path);
    run_code(2, "-s", "one", "artifact", "get", "plan", "--version", "x", "-o", path);
    run_code(2, "-s", "one", "artifact", "get", "plan", "--json");
    run_code(2, "-s", "one", "artifact", "get", "plan", "-o", fixture->path, "--replace");
    assert_int_equal(access(path, F_OK), -1);
    free(path);
}

TEST_OF(command_setup, get_writes_to_a_terminal_only_if_asked)
{
    const struct how terminal = {.terminal = TERMINAL_ALL};

    (void)must_save(fixture, &one, "plan", "the bytes", NULL);
    run_at(&reply, 2, &terminal, fixture->path, "-s", "one", "artifact", "get", "plan");
    assert_lacks(&reply.screen, "the bytes\n");
    assert_has(&reply.screen, "name a file with -o");
    run_at(&reply, 0, &terminal, fixture->path, "-s", "one", "artifact", "get", "plan", "-o", "-");
    assert_has(&reply.screen, "the bytes");
}

/* Bytes that were changed in the file are found by their hash. */
TEST_OF(command_setup, get_leaves_no_file_of_damaged_bytes)
{
    char *path = support_path(fixture->folder, "got");

    (void)must_save(fixture, &one, "plan", "first", NULL);
    raw_exec(fixture->path, "UPDATE artifact_chunks SET bytes = CAST('fir5t' AS BLOB)");
    run_code(7, "-s", "one", "artifact", "get", "plan", "-o", path);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(count_files(fixture, "got"), 0);
    write_file(path, "other", 5);
    run_code(7, "-s", "one", "artifact", "get", "plan", "-o", path, "--replace");
    assert_int_equal(count_files(fixture, "got"), 1);
    run_code(7, "-s", "one", "artifact", "get", "plan");
    free(path);
}

/* More than the memory that the program may have. */
TEST_OF(command_setup, large_artifacts_need_little_memory)
{
    char command[2048];
    int status = 0;

    snprintf(command, sizeof command,
             "%s head -c 70000000 /dev/zero | tr '\\0' x |"
             " %s -f '%s' -s one artifact put large - && %s -f '%s' -s one artifact get large | cksum",
             UNDER_ASAN || UNDER_TSAN ? "" : "ulimit -v 80000;", COMMAND, fixture->path, COMMAND,
             fixture->path);
    char *text = support_run(command, &status);
    assert_int_equal(status, 0);
    char *expected = support_run("echo 0; head -c 70000000 /dev/zero | tr '\\0' x | cksum", &status);
    assert_string_equal(text, expected);
    free(text);
    free(expected);
}

/* ------------------------------------------------------------------------------------------------- delete */

TEST_OF(command_setup, delete_asks_first)
{
    const struct how no = {.terminal = TERMINAL_ALL, .input = "n\n"};

    (void)must_save(fixture, &one, "plan", "first", NULL);
    (void)must_save(fixture, &one, "plan", "second", NULL);
    (void)must_save(fixture, &only_user, "plan", "of the user", NULL);
    run_code(2, "-s", "one", "artifact", "delete", "plan");
    assert_has(&reply.err, "add --yes");
    run_at(&reply, 1, &no, fixture->path, "-s", "one", "artifact", "delete", "plan");
    assert_has(&reply.screen, "Delete 2 versions of the artifact plan of one? [y/N]");
    run_ok("-s", "one", "artifact", "delete", "plan", "--dry-run");
    assert_has(&reply.err, "2 versions would be deleted.");
    assert_artifact(fixture, &one, "plan", NULL, "second");
    run_ok("-s", "one", "artifact", "delete", "plan", "--yes");
    assert_has(&reply.err, "2 versions were deleted.");
    run_code(3, "-s", "one", "artifact", "delete", "plan", "--yes");
    assert_has(&reply.err, "no artifact \"plan\" of the session one");
    assert_artifact(fixture, &only_user, "user:plan", NULL, "of the user");
    run_ok("artifact", "delete", "plan", "--yes", "--secure", "--json");
    cJSON *json = reply_json(&reply);
    assert_true(json_double(json, "deleted") == 1);
    cJSON_Delete(json);
    assert_int_equal(count_artifacts(fixture, &one), 0);
    run_code(3, "artifact", "delete", "plan", "--dry-run");
}
