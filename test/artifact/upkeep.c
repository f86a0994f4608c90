/* Deletions delete artifacts too, and overwrite them on request; copies of a store have them. */
#include "../open.h"

#define assert_sound assert_artifacts_sound /* the other one is about any file */
#include "artifact.h"

#define SECRET "xyzzy-4711"

static const ses_key other_key = {"app", "user", "other"};
static const ses_key user_key = {"app", "user", NULL};

/* As SQLite was built on some systems. */
static int overwrite_nothing(sqlite3 *handle, char **message, const struct sqlite3_api_routines *api)
{
    (void)message;
    (void)api;
    return sqlite3_exec(handle, "PRAGMA secure_delete = OFF", NULL, NULL, NULL);
}

static int group_setup(void **state)
{
    (void)state;
    return sqlite3_auto_extension((void (*)(void))overwrite_nothing) == SQLITE_OK ? 0 : -1;
}

/* --------------------------------------------------------------------------------------------- looking */

/* A server is not a file that can be overwritten. */
static unsigned secure_flag(void)
{
    return support_on_server() ? 0 : SES_SECURE;
}

static const ses_delete_options *secure_options(void)
{
    static const ses_delete_options secure = {.size = sizeof secure, .flags = SES_SECURE};
    return support_on_server() ? NULL : &secure;
}

static size_t count_secrets(const struct fixture *fixture)
{
    return support_count_in_files(fixture->path, SECRET);
}

static void assert_secrets(const struct fixture *fixture)
{
    if (!support_on_server())
        assert_true(count_secrets(fixture) > 100);
}

/* Rows of artifacts, contents and chunks. */
static void assert_rows(const struct fixture *fixture, int artifacts, int contents, int chunks)
{
    char expected[40];

    assert_artifacts_sound(fixture);
    if (support_on_server())
        return;
    snprintf(expected, sizeof expected, "%d|%d|%d\n", artifacts, contents, chunks);
    assert_query(
        fixture->path,
        "SELECT (SELECT count(*) FROM artifacts) || '|' || (SELECT count(*) FROM artifact_contents) || '|' "
        "|| (SELECT count(*) FROM artifact_chunks)",
        expected);
}

/* --------------------------------------------------------------------------------------------- writing */

/* The word is in all that is stored of it, if it is the secret. */
static void save_word(ses_store *store, const ses_key *of, const char *name, const char *word, size_t len)
{
    const bool is_secret = strcmp(word, SECRET) == 0;
    const ses_artifact_save_options options = {.size = sizeof options,
                                               .flags = SES_ARTIFACT_WITHOUT_SESSION,
                                               .mime_type = is_secret ? SECRET : NULL,
                                               .display_name = is_secret ? SECRET : NULL,
                                               .metadata = is_secret ? "{\"about\":\"" SECRET "\"}" : NULL,
                                               .metadata_len = is_secret ? SES_NUL : 0};
    char *bytes = malloc(len);
    ses_error error;

    assert_non_null(bytes);
    for (size_t at = 0; at < len; at++)
        bytes[at] = word[at % strlen(word)];
    assert_ok(ses_artifact_save_by_key(store, of, name, bytes, len, &options, NULL, &error));
    free(bytes);
}

/* Two sessions that have one content in common, and others; and an artifact of the user. */
static void fill(struct fixture *fixture)
{
    ses_store *store = fixture->store;

    must_create(store, &key, NULL);
    must_create(store, &other_key, NULL);
    save_word(store, &other_key, "harmless", "harmless-", 300);
    save_word(store, &key, SECRET, SECRET, 200);
    save_word(store, &key, SECRET, SECRET, 70000);
    save_word(store, &key, "many", SECRET, (size_t)5 << 20);
    save_word(store, &key, "shared", "shared-", 70000);
    save_word(store, &other_key, "shared", "shared-", 70000);
    save_word(store, &user_key, "u", "users-", 60);
    save_word(store, &key, "again", SECRET, 200);
    assert_rows(fixture, 8, 6, 1 + 1 + 2 + 80 + 2 + 1);
    assert_secrets(fixture);
}

static void assert_only_others(struct fixture *fixture)
{
    assert_int_equal(count_secrets(fixture), 0);
    assert_rows(fixture, 3, 3, 1 + 2 + 1);
    assert_no_artifact(fixture->store, &key, "shared");
    assert_int_equal(count_versions(fixture->store, &other_key, "shared"), 1);
    assert_int_equal(count_versions(fixture->store, &other_key, "user:u"), 1);
}

/* -------------------------------------------------------------------------------------------- deleting */

TEST(a_deleted_session_takes_what_only_it_has)
{
    fill(fixture);
    assert_ok(ses_delete(fixture->store, &key, secure_options(), NULL, &error));
    assert_only_others(fixture);
    must_delete(fixture->store, &other_key);
    assert_rows(fixture, 1, 1, 1);
}

TEST(an_expired_session_takes_what_only_it_has)
{
    const int64_t expires = fixture->now + 10;
    const ses_expire_options options = {.size = sizeof options, .now_us = &expires, .flags = secure_flag()};
    int64_t deleted = 0;

    fill(fixture);
    assert_ok(ses_expiry_set_by_key(fixture->store, &key, &expires, NULL, &error));
    assert_ok(ses_store_expire(fixture->store, "app", &options, &deleted, &error));
    assert_int_equal(deleted, 1);
    assert_only_others(fixture);
}

TEST(an_artifact_that_is_deleted_leaves_nothing)
{
    static const char *const names[] = {SECRET, "many", "again", "shared"};

    fill(fixture);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_ok(ses_artifact_delete_by_key(fixture->store, &key, names[i], secure_options(), NULL, &error));
    assert_only_others(fixture);
}

TEST(a_deleted_user_leaves_nothing)
{
    static const ses_key stranger = {"app", "stranger", "session"};
    static const ses_key without = {"app", "user", "no session"};

    fill(fixture);
    save_word(fixture->store, &without, SECRET, SECRET, 100);
    save_word(fixture->store, &user_key, SECRET, SECRET, 100000);
    save_word(fixture->store, &stranger, "shared", "shared-", 70000);
    assert_ok(ses_delete_user(fixture->store, "app", "user", secure_options(), NULL, NULL, &error));
    assert_int_equal(count_secrets(fixture), 0);
    assert_rows(fixture, 1, 1, 2);
    assert_int_equal(count_versions(fixture->store, &stranger, "shared"), 1);
}

TEST(a_deleted_app_leaves_nothing)
{
    static const ses_key elsewhere = {"else", "user", "session"};

    fill(fixture);
    save_word(fixture->store, &elsewhere, "shared", "shared-", 70000);
    assert_ok(ses_delete_app(fixture->store, "app", secure_options(), NULL, &error));
    assert_int_equal(count_secrets(fixture), 0);
    assert_rows(fixture, 1, 1, 2);
}

/* An event that saves an artifact about the word, with its number as the invocation. */
static void append_saving(ses_store *store, const char *word, int number)
{
    ses_append_options options = {.size = sizeof options};
    char bytes[900];
    char event[100];
    ses_error error;

    const int len = snprintf(bytes, sizeof bytes, "%s%0700d%s", word, number, word);
    assert_ok(ses_artifacts_open(store, &key, &options.artifacts, &error));
    assert_ok(ses_artifacts_add(options.artifacts, "file", bytes, (size_t)len, NULL, &error));
    snprintf(event, sizeof event, "{\"id\":\"e%d\",\"invocationId\":\"i%d\",\"timestamp\":%d}", number,
             number, number);
    assert_ok(ses_append_by_key(store, &key, event, SES_NUL, &options, NULL, &error));
    ses_artifacts_close(options.artifacts);
}

TEST(a_cut_leaves_nothing_of_what_its_events_saved)
{
    const ses_cut_options options = {.size = sizeof options, .flags = secure_flag()};
    const ses_point point = {.size = sizeof point, .kind = SES_POINT_SEQ, .seq = 10};
    int64_t deleted = 0;

    must_create(fixture->store, &key, NULL);
    for (int i = 0; i < 10; i++)
        append_saving(fixture->store, "harmless", i);
    for (int i = 10; i < 100; i++)
        append_saving(fixture->store, SECRET, i);
    assert_secrets(fixture);
    assert_ok(ses_cut_by_key(fixture->store, &key, &point, &options, &deleted, &error));
    assert_int_equal(deleted, 90);
    assert_int_equal(count_secrets(fixture), 0);
    assert_int_equal(count_versions(fixture->store, &key, "file"), 10);
    assert_rows(fixture, 10, 10, 10);
}

/* Events of the beginning go; what they saved is still the session's. */
TEST(a_prune_keeps_artifacts)
{
    const ses_prune_options options = {
        .size = sizeof options, .which = SES_PRUNE_KEEP, .flags = secure_flag(), .keep = 1};
    int code;

    must_create(fixture->store, &key, NULL);
    for (int i = 0; i < 20; i++)
        append_saving(fixture->store, "harmless", i);
    while ((code = ses_prune_by_key(fixture->store, &key, &options, NULL, &error)) == SES_MORE) {
    }
    assert_ok(code);
    assert_int_equal(count_versions(fixture->store, &key, "file"), 20);
    assert_rows(fixture, 20, 20, 20);
}

TEST(maintaining_gives_the_room_of_artifacts_back)
{
    ses_space before = {.size = sizeof before};
    ses_space after = {.size = sizeof after};
    int code;

    support_need_file();
    fill(fixture);
    assert_ok(ses_store_space(fixture->store, NULL, &before, &error));
    assert_ok(ses_delete(fixture->store, &key, secure_options(), NULL, &error));
    while ((code = ses_store_maintain(fixture->store, NULL, &error)) == SES_MORE) {
    }
    assert_ok(code);
    assert_ok(ses_store_space(fixture->store, NULL, &after, &error));
    assert_true(before.bytes > 5000000 && after.bytes < 500000);
    assert_only_others(fixture);
}

/* -------------------------------------------------------------------------------------------- copying */

/* As JSON lines, which hold all bytes. */
static int collect(void *context, const char *data, size_t len, ses_error *error)
{
    (void)error;
    text_add(context, data, len);
    return 0;
}

static void assert_copy(ses_store *store, ses_store *copy)
{
    const ses_check_options check = {.size = sizeof check, .level = SES_CHECK_LOG};
    struct text texts[2] = {{NULL, 0}, {NULL, 0}};
    int64_t problems = -1;
    ses_error error;

    assert_ok(ses_store_export(store, NULL, collect, &texts[0], &error));
    assert_ok(ses_store_export(copy, NULL, collect, &texts[1], &error));
    assert_int_equal(texts[0].len, texts[1].len);
    assert_memory_equal(texts[0].data, texts[1].data, texts[0].len);
    assert_ok(ses_store_check(copy, &check, &problems, &error));
    assert_int_equal(problems, 0);
    free(texts[0].data);
    free(texts[1].data);
}

TEST(a_backup_has_all_artifacts)
{
    char *path = support_path(fixture->folder, "backup.db");

    support_need_file();
    fill(fixture);
    for (unsigned flags = 0; flags <= SES_BACKUP_COMPACT; flags += SES_BACKUP_COMPACT) {
        const ses_backup_options options = {.size = sizeof options, .flags = flags | SES_BACKUP_REPLACE};
        ses_store *copy = NULL;
        assert_ok(ses_store_backup(fixture->store, path, &options, &error));
        assert_ok(ses_open(path, NULL, &copy, &error));
        assert_copy(fixture->store, copy);
        ses_close(copy);
    }
    free(path);
}

TEST(a_copy_in_memory_has_all_artifacts)
{
    ses_store *copy = NULL;

    support_need_file();
    fill(fixture);
    assert_ok(ses_open_copy(fixture->store, NULL, &copy, &error));
    assert_copy(fixture->store, copy);
    assert_ok(ses_delete_app(fixture->store, "app", NULL, NULL, &error));
    assert_int_equal(count_versions(copy, &key, SECRET), 2);
    ses_close(copy);
}

/* ----------------------------------------------------------------------------------------- the ADK's JSON */

/* It has none, so they are no difference. */
TEST(the_json_of_a_session_leaves_artifacts_alone)
{
    const ses_load_options replace = {.size = sizeof replace, .flags = SES_LOAD_REPLACE};
    static const char json[] =
        "{\"id\":\"session\",\"appName\":\"app\",\"userId\":\"user\",\"state\":{},\"events\":[{\"id\":\"e\",\"timestamp\":1}]}";
    ses_load_result result;

    assert_ok(ses_load_json(fixture->store, NULL, json, SES_NUL, NULL, &result, &error));
    must_save(fixture->store, &key, "a", "1");
    assert_code(SES_UNCHANGED, ses_load_json(fixture->store, NULL, json, SES_NUL, &replace, &result, &error));
    assert_artifact(fixture->store, &key, "a", NULL, "1");
    must_append_by_key(fixture->store, &key, "{\"id\":\"f\",\"timestamp\":2}");
    assert_ok(ses_load_json(fixture->store, NULL, json, SES_NUL, &replace, &result, &error));
    assert_int_equal(result.outcome, SES_LOADED_REPLACED);
    assert_no_artifact(fixture->store, &key, "a");
    assert_rows(fixture, 0, 0, 0);
}

TEST_GROUP(group_setup, NULL)
