/* The command exports artifacts as a folder of google-adk's FileArtifactService, which is read again. */
#include "command.h"

#include <dirent.h>
#include <sys/stat.h>

#include "seslite_artifact.h"

#define IMAGE "aGVsbG8gd29ybGQ="

enum { LARGE = 3000000 }; /* bytes, more than are written at once */

static void save_as(const struct fixture *fixture, const char *name, const void *bytes, size_t len,
                    ses_artifact_save_options options)
{
    const int64_t time_us = INT64_C(1700000001250000);
    ses_error error;

    options.size = sizeof options;
    options.created_us = &time_us;
    assert_ok(ses_artifact_save_by_key(fixture->store, &one, name, bytes, len, &options, NULL, &error));
}

static void save_png(const struct fixture *fixture, const char *name)
{
    save_as(fixture, name, "PNG\0\xff", 5, (ses_artifact_save_options){.mime_type = "image/png"});
}

/* All that the folder can hold. */
static int setup(void **state)
{
    (void)command_setup(state);
    const struct fixture *fixture = *state;
    char *large = calloc(1, LARGE);

    assert_non_null(large);
    large[LARGE - 1] = 'x';
    save_as(fixture, "a.txt", "first", 5, (ses_artifact_save_options){.kind = SES_ARTIFACT_TEXT});
    save_as(fixture, "a.txt", "second", 6,
            (ses_artifact_save_options){.mime_type = "text/plain",
                                        .display_name = "A \"text\"",
                                        .metadata = "{\"dpi\": 300.0}",
                                        .metadata_len = SES_NUL});
    save_png(fixture, "a.txt/inner");
    save_png(fixture, "gone");
    save_as(fixture, "gone", "", 0, (ses_artifact_save_options){.mime_type = "application/octet-stream"});
    save_as(fixture, "large", large, LARGE, (ses_artifact_save_options){.mime_type = "application/pdf"});
    save_png(fixture, "user:logo");
    save_png(fixture, "user:user:x");
    free(large);
    return 0;
}

/* --------------------------------------------------------------------------------------------- round trip */

static void assert_same_text(const char *ours, const char *theirs)
{
    assert_true((ours != NULL) == (theirs != NULL));
    if (ours)
        assert_string_equal(ours, theirs);
}

static void assert_same_version(const ses_artifact_info *ours, const ses_artifact_info *theirs)
{
    assert_string_equal(ours->name, theirs->name);
    assert_int_equal(ours->version, theirs->version);
    assert_int_equal(ours->created_us, theirs->created_us);
    assert_int_equal(ours->size, theirs->size);
    assert_int_equal(ours->kind, theirs->kind);
    assert_same_text(ours->mime_type, theirs->mime_type);
    assert_same_text(ours->display_name, theirs->display_name);
    assert_int_equal(ours->metadata_len, theirs->metadata_len);
    assert_memory_equal(ours->metadata ? ours->metadata : "", theirs->metadata ? theirs->metadata : "",
                        ours->metadata_len);
    assert_string_equal(ours->hash, theirs->hash);
}

static void assert_same_list(const ses_artifact_list *ours, const ses_artifact_list *theirs)
{
    assert_int_equal(ses_artifact_list_count(ours), ses_artifact_list_count(theirs));
    for (size_t i = 0; i < ses_artifact_list_count(ours); i++)
        assert_same_version(ses_artifact_list_at(ours, i), ses_artifact_list_at(theirs, i));
}

static void assert_same_artifacts(ses_store *store, ses_store *copy)
{
    ses_artifact_list *names[2];
    ses_error error;

    assert_ok(ses_artifact_names_by_key(store, &one, NULL, &names[0], &error));
    assert_ok(ses_artifact_names_by_key(copy, &one, NULL, &names[1], &error));
    assert_same_list(names[0], names[1]);
    for (size_t i = 0; i < ses_artifact_list_count(names[0]); i++) {
        const char *name = ses_artifact_list_at(names[0], i)->name;
        ses_artifact_list *versions[2];
        assert_ok(ses_artifact_versions_by_key(store, &one, name, NULL, &versions[0], &error));
        assert_ok(ses_artifact_versions_by_key(copy, &one, name, NULL, &versions[1], &error));
        assert_same_list(versions[0], versions[1]);
        ses_artifact_list_close(versions[0]);
        ses_artifact_list_close(versions[1]);
    }
    ses_artifact_list_close(names[0]);
    ses_artifact_list_close(names[1]);
}

TEST_OF(setup, an_export_can_be_imported_again)
{
    char *folder = support_path(fixture->folder, "artifacts");
    char *copied = support_path(fixture->folder, "copy.db");
    char *file = support_path(fixture->folder, "out.jsonl");

    run_ok("export", "-o", file, "--artifacts", folder);
    assert_has(&reply.err, "8 versions of artifacts written to");
    assert_lacks(&reply.err, "left out");
    run_at(&reply, 0, NULL, copied, "import", folder, "--yes");
    ses_store *copy = must_open(copied, NULL);
    assert_same_artifacts(fixture->store, copy);
    ses_close(copy);
    free(folder);
    free(copied);
    free(file);
}

/* ------------------------------------------------------------------------------------------------ folders */

/* Counts the files below a folder, which only their owner may read, as the folders. */
static int count_files(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry = NULL;
    int count = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        char *path = support_path(folder, entry->d_name);
        struct stat info;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            assert_int_equal(lstat(path, &info), 0);
            assert_true(S_ISREG(info.st_mode) || S_ISDIR(info.st_mode));
            assert_int_equal(info.st_mode & 0777, S_ISDIR(info.st_mode) ? 0700 : 0600);
            count += S_ISDIR(info.st_mode) ? count_files(path) : 1;
        }
        free(path);
    }
    (void)closedir(dir);
    return count;
}

TEST_OF(setup, the_selection_is_written_and_nobody_else_reads_it)
{
    const ses_key other = {"chat", "bob", "two"};
    char *folders[] = {support_path(fixture->folder, "1"), support_path(fixture->folder, "2"),
                       support_path(fixture->folder, "3")};

    must_create(fixture->store, &other, NULL);
    assert_ok(ses_artifact_save_by_key(fixture->store, &other, "b", "b", 1, NULL, NULL, &error));
    assert_ok(ses_artifact_save_by_key(fixture->store, &other, "user:c", "c", 1, NULL, NULL, &error));
    run_ok("--user", "bob", "export", "--artifacts", folders[0]);
    assert_int_equal(count_files(folders[0]), 4);
    assert_has(&reply.err, "2  versions without a type, written as application/octet-stream");
    run_ok("export", "one", "--artifacts", folders[1]);
    assert_int_equal(count_files(folders[1]), 16);
    assert_int_equal(mkdir(folders[2], 0700), 0);
    run_ok("export", "--to", "session", "two", "--artifacts", folders[2]);
    assert_int_equal(count_files(folders[2]), 4);
    for (size_t i = 0; i < 3; i++)
        free(folders[i]);
}

TEST_OF(setup, names_are_no_paths)
{
    static const char *const names[] = {"../x",
                                        "a/../../x",
                                        "..",
                                        "/x",
                                        "a//b",
                                        "a/",
                                        "./a",
                                        "a/.",
                                        "a\\b",
                                        "C:x",
                                        " a",
                                        "a\n",
                                        "a\u00a0",
                                        "user:",
                                        "user:../x",
                                        "user:/x",
                                        "versions",
                                        "a/VERSIONS. /b",
                                        "a/Metadata.json",
                                        "a/metadata.json.",
                                        "user: a"};
    char *folder = support_path(fixture->folder, "artifacts");
    char long_name[301];
    char deep[101] = "x";

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        save_png(fixture, names[i]);
    memset(long_name, 'x', 300);
    long_name[300] = '\0';
    save_png(fixture, long_name);
    for (int i = 0; i < 49; i++)
        strcat(deep, "/x");
    save_png(fixture, deep);
    run_ok("export", "--artifacts", folder, "-o", "/dev/null", "--json");
    assert_has(&reply.err, "\"../x\" of chat/alice/one is left out: its name leads out of its folder");
    assert_has(&reply.err, "\"user:../x\" of chat/alice is left out");
    assert_int_equal(count_files(folder), 16);
    cJSON *json = reply_json(&reply);
    const cJSON *note = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "notes"), 0);
    assert_true(json_double(json, "artifacts") == 8);
    assert_string_equal(json_string(json, "folder"), folder);
    assert_string_equal(json_string(note, "kind"), "artifact_names");
    assert_true(json_double(note, "count") == sizeof names / sizeof names[0] + 2);
    cJSON_Delete(json);
    free(folder);
}

TEST_OF(setup, ids_are_no_paths)
{
    static const char *const ids[] = {"..", ".", "a/b", "a\\b", "C:", " \u3000"};
    char *folder = support_path(fixture->folder, "artifacts");

    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        const ses_key keys[] = {{ids[i], "u", "s"}, {"app", ids[i], "s"}, {"app", "u", ids[i]}};
        for (size_t j = 0; j < 3; j++) {
            must_create(fixture->store, &keys[j], NULL);
            assert_ok(ses_artifact_save_by_key(fixture->store, &keys[j], "x", "x", 1, NULL, NULL, &error));
        }
    }
    run_ok("export", "--artifacts", folder);
    assert_has(&reply.err, "the app cannot be the name of a folder");
    assert_has(&reply.err, "the user cannot be the name of a folder");
    assert_has(&reply.err, "the session cannot be the name of a folder");
    assert_has(&reply.err, "18  artifacts left out");
    assert_int_equal(count_files(folder), 16);
    free(folder);
}

TEST_OF(setup, existing_folders_stay)
{
    char *folder = support_path(fixture->folder, "artifacts");
    char *nowhere = support_path(fixture->folder, "nowhere/out");
    char *file = support_path(fixture->folder, "file");

    run_code(1, "export", "-o", nowhere, "--artifacts", folder);
    run_ok("export", "--artifacts", folder);
    run_code(4, "export", "--artifacts", folder, "--replace");
    assert_has(&reply.err, "has artifacts already");
    assert_int_equal(reply.out.len, 0);
    assert_int_equal(count_files(folder), 16);
    write_file(file, "x", 1);
    run_code(1, "export", "--artifacts", file);
    run_code(1, "export", "--artifacts", nowhere);
    free(folder);
    free(nowhere);
    free(file);
}

/* ------------------------------------------------------------------------------------ what it cannot hold */

TEST_OF(setup, references_are_written_as_bytes)
{
    static const char uri[] = "artifact://apps/chat/users/alice/artifacts/user:logo/versions/0";
    static const char absent[] = "artifact://apps/chat/users/alice/artifacts/user:logo/versions/9";
    const ses_artifact_save_options address = {.kind = SES_ARTIFACT_URI};
    char *folder = support_path(fixture->folder, "artifacts");
    char *file = support_path(folder, "apps/chat/users/alice/sessions/one/artifacts/ref/versions/0/ref");
    size_t len = 0;

    save_as(fixture, "ref", uri, sizeof uri - 1, address);
    save_as(fixture, "ref", absent, sizeof absent - 1, address);
    save_as(fixture, "ref", "https://example.com", 19, address);
    save_as(fixture, "text", "x", 1,
            (ses_artifact_save_options){.kind = SES_ARTIFACT_TEXT, .mime_type = "text/html"});
    run_ok("export", "--artifacts", folder);
    assert_has(&reply.err, "10 versions of artifacts");
    assert_has(&reply.err, "2  versions of artifacts left out, since they are addresses of files");
    assert_has(&reply.err, "1  types of texts left out");
    char *bytes = support_read_file(file, &len);
    assert_int_equal(len, 5);
    assert_memory_equal(bytes, "PNG\0\xff", 5);
    free(bytes);
    free(file);
    free(folder);
}

TEST_OF(setup, metadata_that_google_adk_cannot_read)
{
    enum { LONG = 1100000 };
    char *folder = support_path(fixture->folder, "artifacts");
    char *file =
        support_path(folder, "apps/chat/users/alice/sessions/one/artifacts/odd/versions/0/metadata.json");
    char *metadata = malloc(LONG + 1);
    ses_artifact_save_options odd = {.metadata = "{\"a\":\"\\ud800\"}", .metadata_len = SES_NUL};

    assert_non_null(metadata);
    save_as(fixture, "odd", "x", 1, odd);
    memset(metadata, ' ', LONG);
    metadata[0] = '{';
    metadata[LONG - 1] = '}';
    odd = (ses_artifact_save_options){.metadata = metadata, .metadata_len = LONG};
    save_as(fixture, "odd", "x", 1, odd);
    for (int i = 0; i < 200; i++)
        memcpy(metadata + 5 * i, "{\"a\":", 5);
    memset(metadata + 1000, '}', 200);
    memcpy(metadata + 995, "{\"a\":1", 6);
    memset(metadata + 1001, '}', 200);
    odd = (ses_artifact_save_options){.metadata = metadata, .metadata_len = 1201};
    save_as(fixture, "odd", "x", 1, odd);
    run_ok("export", "--artifacts", folder);
    assert_has(&reply.err, "1  lone surrogates");
    assert_has(&reply.err, "2  metadata of artifacts left out");
    char *text = support_read_file(file, NULL);
    assert_non_null(strstr(text, "{\"a\":\"\\ufffd\"}"));
    free(text);
    free(metadata);
    free(file);
    free(folder);
}

TEST_OF(setup, other_formats_tell_of_artifacts)
{
    char *file = support_path(fixture->folder, "out");

    run_ok("export", "--to", "session", "-o", file);
    assert_has(&reply.err, "6  artifacts left out: --artifacts writes them");
    run_ok("export", "--to", "jsonl", "-o", file, "--replace");
    assert_lacks(&reply.err, "left out");
    free(file);
}

/* ----------------------------------------------------------------------------------------------- failures */

TEST_OF(setup, a_damaged_artifact_ends_the_export)
{
    char *folder = support_path(fixture->folder, "artifacts");

    raw_exec(fixture->path,
             "UPDATE artifact_chunks SET bytes = zeroblob(length(bytes)) WHERE length(bytes) > 1000");
    run_code(7, "export", "--to", "session", "one", "--artifacts", folder);
    assert_has(&reply.err, "the artifact \"large\"");
    assert_int_equal(count_files(folder), 10); /* of the versions before it */
    free(folder);
}

TEST_OF(setup, a_disk_that_is_full_leaves_complete_versions)
{
    char *folder = support_path(fixture->folder, "artifacts");
    const char *const arguments[] = {
        "/bin/sh",
        "-c",
        "ulimit -f 1000; \"$0\" -f \"$1\" export one --to session --artifacts \"$2\"",
        COMMAND,
        fixture->path,
        folder,
        NULL};

    command_run(&reply, NULL, arguments);
    assert_int_equal(reply.status, 1);
    assert_has(&reply.err, "cannot write a file");
    assert_int_equal(count_files(folder), 10); /* of the versions before the large one */
    free(folder);
}

/* --------------------------------------------------------------------------------------------- google-adk */

static char *run_python(const char *script, const char *folder, int *status)
{
    const char *python = getenv("SESLITE_PYTHON");
    char command[5000];

    snprintf(command, sizeof command, "%s %s %s chat alice one", python ? python : "python3", script, folder);
    return support_run(command, status);
}

TEST_OF(setup, google_adk_lists_and_loads_them)
{
    static const char expected[] = "[['a.txt',0,1700000001.25,{},null,null,'first'],"
                                   "['a.txt',1,1700000001.25,{'dpi':300.0},'text/plain','A \\'text\\'',6],"
                                   "['a.txt/inner',0,1700000001.25,{},'image/png',null,5],"
                                   "['gone',0,1700000001.25,{},'image/png',null,5],"
                                   "['gone',1,1700000001.25,{},'application/octet-stream',null,null],"
                                   "['large',0,1700000001.25,{},'application/pdf',null,3000000],"
                                   "['user:logo',0,1700000001.25,{},'image/png',null,5],"
                                   "['user:user:x',0,1700000001.25,{},'image/png',null,5]]";
    char *folder = support_path(fixture->folder, "artifacts");
    int status = 0;

    free(run_python("-c 'import google.adk.artifacts.file_artifact_service'", "", &status));
    if (status != 0) {
        print_message("skipped: there is no google-adk (set SESLITE_PYTHON to a python that has it)\n");
        free(folder);
        skip();
    }
    run_ok("export", "--artifacts", folder);
    char *found = run_python("test/program/adk_artifacts.py", folder, &status);
    assert_string_equal(found, Q(expected));
    assert_int_equal(status, 0);
    free(found);
    free(folder);
}

/* An image that was kept as an artifact is part of the event again for services that know no artifacts of the
 * store, in whatever session; an address of something that is not there is counted. */
TEST_OF(setup, images_go_with_their_events)
{
    static const char *const formats[] = {"session", "vertex", "sqlite"};
    const ses_key of = {"photos", "bob", "first"};
    const ses_key to = {"photos", "bob", "second"};
    ses_append_options options = {.size = sizeof options};

    must_create(fixture->store, &of, NULL);
    assert_ok(ses_artifacts_open(fixture->store, &of, &options.artifacts, &error));
    assert_ok(ses_artifacts_offload(options.artifacts, 5, &error));
    assert_ok(
        ses_append_by_key(fixture->store, &of,
                          Q("{'id':'e1','invocationId':'i','author':'user','timestamp':1,'content':{'parts':["
                            "{'inlineData':{'mimeType':'image/png','data':'" IMAGE "'}}]}}"),
                          SES_NUL, &options, NULL, &error));
    ses_artifacts_close(options.artifacts);
    must_append_by_key(
        fixture->store, &of,
        Q("{'id':'e2','invocationId':'i','author':'user','timestamp':1,'content':{'parts':["
          "{'fileData':{'fileUri':'artifact://apps/x/users/y/sessions/z/artifacts/gone/versions/0'}}]}}"));
    assert_ok(ses_fork_by_key(fixture->store, &of, NULL, &to, NULL, NULL, &error));
    must_delete(fixture->store, &of);
    for (size_t i = 0; i < 3; i++) {
        char *path = support_path(fixture->folder, formats[i]);
        size_t len;
        run_at(&reply, 0, NULL, fixture->path, "-a", "photos", "-u", "bob", "export", "second", "--to",
               formats[i], "-o", path, "--json");
        assert_has(&reply.out, Q("{'kind':'references','count':1"));
        char *bytes = support_read_file(path, &len);
        assert_true(has_bytes(bytes, len, IMAGE));
        assert_false(has_bytes(bytes, len, "sessions/first"));
        free(bytes);
        free(path);
    }
}
