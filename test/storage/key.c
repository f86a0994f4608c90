/* Keys: what is accepted, what a file with one looks like, and what the wrong one returns. */
#include "key.h"

static const ses_key session = {"app", "user", "session"};

static void make_store(const char *path, const void *key)
{
    ses_store *store = NULL;
    ses_error error;

    assert_ok(key_open(path, key, &store, &error));
    must_create(store, &session, Q("{'k':'a value to be found again'}"));
    must_append_by_key(store, &session, Q("{'content':{'parts':[{'text':'an event to be found again'}]}}"));
    ses_close(store);
}

static void assert_is_whole(const char *path, const void *key)
{
    ses_store *store = NULL;
    ses_error error;

    assert_ok(key_open(path, key, &store, &error));
    ses_session *handle = must_get(store, &session);
    assert_int_equal(ses_session_event_count(handle), 1);
    assert_string_equal(support_state(handle, NULL), Q("{'k':'a value to be found again'}"));
    ses_session_close(handle);
    ses_close(store);
}

static void assert_refused(int expected, const char *path, const void *key, const char *words)
{
    size_t before_len = 0;
    size_t after_len = 0;
    ses_store *store = NULL;
    ses_error error;
    char *before = support_read_file(path, &before_len);

    assert_code(expected, key_open(path, key, &store, &error));
    assert_null(store);
    assert_message(words);
    assert_null(strstr(error.message, "the first key"));
    char *after = support_read_file(path, &after_len);
    assert_int_equal(before_len, after_len);
    assert_true(before_len == 0 || memcmp(before, after, before_len) == 0);
    free(after);
    free(before);
}

FOLDER_TEST(a_key_has_32_bytes)
{
    static const size_t lengths[] = {0, 1, 16, 31, 33, 64};
    ses_open_options options = {.size = sizeof options, .key = first_key};
    ses_store *store = NULL;

    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        options.key_len = lengths[i];
        assert_code(SES_INVALID, ses_open(folder->path, &options, &store, &error));
        assert_code(SES_INVALID, ses_open(":memory:", &options, &store, &error));
        assert_message("a key of 32 bytes");
    }
    options.key = NULL;
    options.key_len = SES_KEY_BYTES;
    assert_code(SES_INVALID, ses_open(folder->path, &options, &store, &error));
    assert_int_not_equal(access(folder->path, F_OK), 0);
}

/* Nothing is stored in plain text because the library that is linked cannot do better. */
FOLDER_TEST(without_a_cipher_nothing_is_written)
{
    char *copy = support_path(folder->folder, "copy.db");
    ses_backup_options backup = {.size = sizeof backup, .key = first_key, .key_len = SES_KEY_BYTES};
    ses_store *store = NULL;

    if (key_is_possible()) {
        free(copy);
        return;
    }
    assert_code(SES_UNSUPPORTED, key_open(folder->path, first_key, &store, &error));
    assert_message("SQLite3 Multiple Ciphers");
    assert_int_not_equal(access(folder->path, F_OK), 0);
    make_store(folder->path, NULL);
    assert_refused(SES_UNSUPPORTED, folder->path, first_key, folder->path);
    assert_ok(key_open(folder->path, NULL, &store, &error));
    assert_code(SES_UNSUPPORTED, ses_store_backup(store, copy, &backup, &error));
    assert_int_not_equal(access(copy, F_OK), 0);
    ses_close(store);
    free(copy);
}

/* SQLite3 Multiple Ciphers leaves bytes 16 to 23 as they are. */
FOLDER_TEST(a_file_that_seems_encrypted_needs_a_key)
{
    static const char header[] = "\x9c\x01\xd2\x77salt of a file\x10\0\2\2@@  ";
    char bytes[8192] = {0};

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7919 >> 3);
    memcpy(bytes, header, 16);
    memcpy(bytes + 16, header + sizeof header - 9, 8);
    write_file(folder->path, bytes, sizeof bytes);
    assert_refused(SES_KEY, folder->path, NULL, "wrong key, or not a store");
    bytes[22] = 'x';
    write_file(folder->path, bytes, sizeof bytes);
    assert_refused(SES_NOTASTORE, folder->path, NULL, "not an SQLite database");
}

FOLDER_TEST(only_its_key_opens_a_store)
{
    unsigned char near[SES_KEY_BYTES];
    char letter[2000];
    size_t len = 0;

    key_need();
    char *plain = support_path(folder->folder, "plain.db");
    char *text = support_path(folder->folder, "letter.txt");
    make_store(folder->path, first_key);
    make_store(plain, NULL);
    assert_is_whole(folder->path, first_key);
    char *bytes = support_read_file(folder->path, &len);
    assert_memory_not_equal(bytes, "SQLite format 3", 16);
    free(bytes);
    memcpy(near, first_key, sizeof near);
    near[SES_KEY_BYTES - 1] ^= 1;
    assert_refused(SES_KEY, folder->path, near, "wrong key, or not a store");
    assert_refused(SES_KEY, folder->path, second_key, "wrong key, or not a store");
    assert_refused(SES_KEY, folder->path, NULL, "no key is given");
    assert_refused(SES_KEY, plain, first_key, "wrong key, or not a store");
    memset(letter, 'a', sizeof letter);
    write_file(text, letter, sizeof letter);
    assert_refused(SES_KEY, text, first_key, "wrong key, or not a store");
    assert_refused(SES_NOTASTORE, text, NULL, "not an SQLite database");
    assert_is_whole(folder->path, first_key);
    assert_is_whole(plain, NULL);
    free(text);
    free(plain);
}

/* The same with the newest pages in a write-ahead log, and a store that is open. */
FOLDER_TEST(only_its_key_opens_a_store_that_is_open)
{
    ses_store *open = NULL;
    ses_store *store = NULL;

    key_need();
    assert_ok(key_open(folder->path, first_key, &open, &error));
    must_create(open, &session, "{}");
    assert_code(SES_KEY, key_open(folder->path, second_key, &store, &error));
    assert_code(SES_KEY, key_open(folder->path, NULL, &store, &error));
    assert_ok(key_open(folder->path, first_key, &store, &error));
    must_append_by_key(store, &session, "{}");
    ses_close(store);
    must_append_by_key(open, &session, "{}");
    ses_close(open);
}

FOLDER_TEST(reading_only_needs_the_key)
{
    ses_open_options options = key_options(first_key);

    key_need();
    make_store(folder->path, first_key);
    options.flags = SES_OPEN_READ_ONLY;
    ses_store *store = must_open(folder->path, &options);
    ses_session_close(must_get(store, &session));
    assert_code(SES_READONLY, ses_create(store, &(ses_key){"a", "u", "s"}, NULL, 0, NULL, NULL, &error));
    ses_close(store);
    options.key = second_key;
    assert_code(SES_KEY, ses_open(folder->path, &options, &store, &error));
}

/* The caller may wipe its key once the store is open. */
FOLDER_TEST(the_key_is_copied)
{
    unsigned char own[SES_KEY_BYTES];
    ses_store *store = NULL;

    key_need();
    memcpy(own, first_key, sizeof own);
    assert_ok(key_open(folder->path, own, &store, &error));
    memset(own, 0, sizeof own);
    must_create(store, &session, "{}");
    ses_session_close(must_get(store, &session)); /* a connection for reading */
    assert_ok(ses_store_maintain(store, NULL, &error));
    ses_close(store);
    assert_ok(key_open(folder->path, first_key, &store, &error));
    ses_close(store);
}

/* ------------------------------------------------------------------------------------------- memory */

/* An allocator that looks for the key in what is given back to it. */
struct watch {
    size_t released;
    size_t with_key;
};
enum { WATCH_HEAD = 16 };

static void *watch_allocate(void *context, size_t bytes)
{
    char *memory = calloc(1, bytes + WATCH_HEAD);
    (void)context;
    if (memory)
        memcpy(memory, &bytes, sizeof bytes);
    return memory ? memory + WATCH_HEAD : NULL;
}

static void watch_release(void *context, void *memory)
{
    struct watch *watch = context;
    size_t bytes = 0;

    if (!memory)
        return;
    char *head = (char *)memory - WATCH_HEAD;
    memcpy(&bytes, head, sizeof bytes);
    watch->released++;
    for (size_t i = 0; i + 16 <= bytes; i++)
        watch->with_key += memcmp((char *)memory + i, first_key, 16) == 0;
    free(head);
}

static void *watch_resize(void *context, void *memory, size_t bytes)
{
    size_t before = 0;
    void *fresh = watch_allocate(context, bytes);

    if (memory)
        memcpy(&before, (char *)memory - WATCH_HEAD, sizeof before);
    if (fresh && memory)
        memcpy(fresh, memory, before < bytes ? before : bytes);
    if (fresh)
        watch_release(context, memory);
    return fresh;
}

FOLDER_TEST(the_key_is_wiped)
{
    struct watch watch = {0, 0};
    const ses_allocator allocator = {.size = sizeof allocator,
                                     .allocate = watch_allocate,
                                     .resize = watch_resize,
                                     .release = watch_release,
                                     .context = &watch};
    ses_open_options options = key_options(first_key);

    key_need();
    options.allocator = &allocator;
    ses_store *store = must_open(folder->path, &options);
    must_create(store, &session, "{}");
    ses_close(store);
    assert_true(watch.released > 3);
    assert_int_equal(watch.with_key, 0);
    options.key = second_key;
    assert_code(SES_KEY, ses_open(folder->path, &options, &store, &error));
    assert_int_equal(watch.with_key, 0);
}

/* ------------------------------------------------------------------------------- another VFS on top */

static int pass_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    sqlite3_vfs *below = vfs->pAppData;
    return below->xOpen(below, name, file, flags, out_flags);
}

/* Pages would reach the write-ahead log in plain text. */
FOLDER_TEST(a_vfs_before_the_one_that_encrypts_is_refused)
{
    sqlite3_vfs *below = sqlite3_vfs_find(NULL);
    ses_store *store = NULL;

    key_need();
    sqlite3_vfs above = *below;
    above.zName = "above";
    above.pNext = NULL;
    above.pAppData = below;
    above.xOpen = pass_open;
    assert_int_equal(sqlite3_vfs_register(&above, 1), SQLITE_OK);
    const int code = key_open(folder->path, first_key, &store, &error);
    assert_int_equal(sqlite3_vfs_unregister(&above), SQLITE_OK);
    assert_int_equal(sqlite3_vfs_register(below, 1), SQLITE_OK);
    assert_int_equal(code, SES_UNSUPPORTED);
    assert_int_not_equal(access(folder->path, F_OK), 0);
}
