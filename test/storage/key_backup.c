/* Keys of backups and of copies in memory: how a key is added, changed and removed. */
#include "key.h"

static const ses_key session = {"app", "user", "session"};
enum { EVENTS = 300 };

static void fill(ses_store *store)
{
    char event[200];

    must_create(store, &session, "{}");
    for (int i = 0; i < EVENTS; i++) {
        snprintf(event, sizeof event, "{\"actions\":{\"stateDelta\":{\"k%d\":\"%0100d\"}}}", i % 7, i);
        must_append_by_key(store, &session, event);
    }
}

static void assert_is_whole(const char *path, const void *key)
{
    int64_t problems = -1;
    ses_store *store = NULL;
    ses_error error;

    assert_ok(key_open(path, key, &store, &error));
    ses_session *handle = must_get(store, &session);
    assert_int_equal(ses_session_event_count(handle), EVENTS);
    ses_session_close(handle);
    assert_ok(ses_store_check(store, NULL, &problems, &error));
    assert_int_equal(problems, 0);
    ses_close(store);
}

static const void *const keys[] = {NULL, first_key, second_key};
enum { KEYS = 3, PLAIN = 0 };

static void back_up(ses_store *store, const char *path, int to, unsigned flags)
{
    const ses_backup_options options = {.size = sizeof options,
                                        .flags = flags | (to == PLAIN ? SES_BACKUP_PLAIN : 0u),
                                        .key = keys[to],
                                        .key_len = to == PLAIN ? 0 : SES_KEY_BYTES};
    ses_error error;

    assert_ok(ses_store_backup(store, path, &options, &error));
}

static int files_in(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;

    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static void try_all(const struct folder *folder, const char *from_path, int from)
{
    char *copy = support_path(folder->folder, "copy.db");
    ses_store *store = NULL;
    ses_error error;

    assert_ok(key_open(from_path, keys[from], &store, &error));
    if (strcmp(from_path, ":memory:") == 0)
        fill(store);
    const int before = files_in(folder->folder);
    for (int to = 0; to < KEYS; to++) {
        for (unsigned compact = 0; compact < 2; compact++) {
            back_up(store, copy, to, compact ? SES_BACKUP_COMPACT : 0);
            assert_int_equal(mode_of(copy), 0600);
            assert_int_equal(files_in(folder->folder), before + 1); /* no temporary file is left */
            assert_is_whole(copy, keys[to]);
            ses_store *wrong = NULL;
            assert_code(SES_KEY, key_open(copy, keys[(to + 1) % KEYS], &wrong, &error));
            assert_int_equal(unlink(copy), 0);
        }
    }
    ses_close(store);
    free(copy);
}

FOLDER_TEST(a_backup_has_any_key)
{
    key_need();
    for (int from = 0; from < KEYS; from++) {
        ses_store *store = NULL;
        assert_ok(key_open(folder->path, keys[from], &store, &error));
        fill(store);
        ses_close(store);
        try_all(folder, folder->path, from);
        assert_int_equal(unlink(folder->path), 0);
    }
}

FOLDER_TEST(a_backup_of_memory_has_any_key)
{
    key_need();
    try_all(folder, ":memory:", 1);
}

/* Never plain text because nobody thought of it. */
FOLDER_TEST(a_backup_has_the_stores_key)
{
    ses_store *store = NULL;
    ses_store *memory = NULL;

    key_need();
    char *copy = support_path(folder->folder, "copy.db");
    assert_ok(key_open(folder->path, first_key, &store, &error));
    fill(store);
    assert_ok(ses_store_backup(store, copy, NULL, &error));
    assert_is_whole(copy, first_key);
    assert_int_equal(unlink(copy), 0);
    assert_ok(ses_open_copy(store, NULL, &memory, &error));
    ses_close(store);
    ses_session_close(must_get(memory, &session));
    assert_ok(ses_store_backup(memory, copy, NULL, &error));
    ses_close(memory);
    assert_is_whole(copy, first_key);
    free(copy);
}

/* The old key, the new one, or none; but no other. */
FOLDER_TEST(a_backup_replaces_a_store_with_another_key)
{
    static const unsigned char third_key[SES_KEY_BYTES] = "a third key which nobody knows..";
    const ses_backup_options replace = {.size = sizeof replace, .flags = SES_BACKUP_REPLACE};
    ses_store *store = NULL;
    ses_store *other = NULL;

    key_need();
    char *copy = support_path(folder->folder, "copy.db");
    assert_ok(key_open(folder->path, first_key, &store, &error));
    fill(store);
    for (int to = 0; to < KEYS; to++) {
        for (int old = 0; old < KEYS; old++) {
            if (to != 2 && old == 2)
                continue; /* whose key the call does not know */
            back_up(store, copy, old, 0);
            back_up(store, copy, to, SES_BACKUP_REPLACE);
            assert_is_whole(copy, keys[to]);
            assert_int_equal(unlink(copy), 0);
        }
    }
    assert_ok(key_open(copy, third_key, &other, &error));
    ses_close(other);
    assert_code(SES_KEY, ses_store_backup(store, copy, &replace, &error));
    assert_ok(key_open(copy, third_key, &other, &error));
    ses_close(other);
    ses_close(store);
    free(copy);
}

FOLDER_TEST(wrong_options)
{
    char *copy = support_path(folder->folder, "copy.db");
    ses_backup_options options = {.size = sizeof options, .key = first_key, .key_len = 31};
    ses_store *store = NULL;

    assert_ok(key_open(folder->path, NULL, &store, &error));
    assert_code(SES_INVALID, ses_store_backup(store, copy, &options, &error));
    options.key_len = SES_KEY_BYTES;
    options.flags = SES_BACKUP_PLAIN;
    assert_code(SES_MISUSE, ses_store_backup(store, copy, &options, &error));
    options = (ses_backup_options){.size = sizeof options, .key_len = SES_KEY_BYTES};
    assert_code(SES_INVALID, ses_store_backup(store, copy, &options, &error));
    assert_int_not_equal(access(copy, F_OK), 0);
    ses_close(store);
    free(copy);
}

/* A backup that is ended leaves nothing, whichever way it is written. */
static int end_it(void *context, int64_t done, int64_t total)
{
    (void)context;
    (void)done;
    (void)total;
    return 1;
}

FOLDER_TEST(a_backup_with_another_key_can_be_ended)
{
    ses_store *store = NULL;

    key_need();
    char *copy = support_path(folder->folder, "copy.db");
    assert_ok(key_open(folder->path, first_key, &store, &error));
    fill(store);
    const int before = files_in(folder->folder);
    for (int to = 0; to < KEYS; to++) {
        const ses_backup_options options = {.size = sizeof options,
                                            .flags = to == PLAIN ? SES_BACKUP_PLAIN : SES_BACKUP_COMPACT,
                                            .key = keys[to],
                                            .key_len = to == PLAIN ? 0 : SES_KEY_BYTES,
                                            .progress = end_it};
        assert_code(SES_INTERRUPTED, ses_store_backup(store, copy, &options, &error));
        assert_int_equal(files_in(folder->folder), before);
    }
    ses_close(store);
    free(copy);
}
