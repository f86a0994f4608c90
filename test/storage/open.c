/* Opening: arguments, options, paths. */
#include "open.h"

/* A refused open: the code, no store, and what the message says. */
static void refuse(const char *path, const ses_open_options *options, int code, const char *words, int line)
{
    ses_error error;
    ses_store *store = (ses_store *)(void *)&error;

    support_assert_code(code, ses_open(path, options, &store, &error), &error, "ses_open", __FILE__, line);
    support_assert_message(&error, words, __FILE__, line);
    assert_null(store);
}

#define assert_refused(path, options, code, words) refuse(path, options, code, words, __LINE__)

FOLDER_TEST(bad_paths)
{
    char *beneath_file = support_path(folder->folder, "file/store.db");
    char *no_folder = support_path(folder->folder, "absent/store.db");
    char *file = support_path(folder->folder, "file");
    char *pipe_path = support_path(folder->folder, "pipe");
    char *long_name = malloc(400);

    write_file(file, "", 0);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_non_null(long_name);
    memset(long_name, 'n', 399);
    long_name[399] = '\0';
    char *long_path = support_path(folder->folder, long_name);
    char *before = folder_picture(folder->folder);

    assert_refused(NULL, NULL, SES_MISUSE, "path");
    assert_refused("", NULL, SES_INVALID, "empty");
    assert_refused("file:store.db", NULL, SES_INVALID, "./file:store.db");
    assert_refused(folder->folder, NULL, SES_CANTOPEN, "directory");
    assert_refused(no_folder, NULL, SES_CANTOPEN, no_folder);
    assert_refused(no_folder, NULL, SES_CANTOPEN, "No such file or directory");
    assert_refused(beneath_file, NULL, SES_CANTOPEN, "Not a directory");
    assert_refused(long_path, NULL, SES_CANTOPEN, "too long");
    assert_refused("/dev/null", NULL, SES_CANTOPEN, "not a regular file");
    assert_refused(pipe_path, NULL, SES_CANTOPEN, "not a regular file");
    assert_code(SES_MISUSE, ses_open(folder->path, NULL, NULL, &error));
    assert_message("store");
    assert_int_equal(ses_open("", NULL, NULL, NULL), SES_MISUSE);
    assert_picture(folder->folder, before);

    free(long_path);
    free(long_name);
    free(pipe_path);
    free(file);
    free(no_folder);
    free(beneath_file);
}

FOLDER_TEST(must_exist)
{
    ses_open_options options = {.size = sizeof options, .flags = SES_OPEN_MUST_EXIST};
    char *before = folder_picture(folder->folder);

    assert_refused(folder->path, &options, SES_NOTFOUND, folder->path);
    options.flags = SES_OPEN_READ_ONLY;
    assert_refused(folder->path, &options, SES_NOTFOUND, folder->path);
    assert_picture(folder->folder, before);

    ses_store *store = must_open(folder->path, NULL);
    ses_close(store);
    options.flags = SES_OPEN_MUST_EXIST;
    assert_ok(ses_open(folder->path, &options, &store, &error));
    ses_close(store);
}

/* ------------------------------------------------------------------------------------------- options */

static void *no_allocate(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return NULL;
}

static void *no_resize(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)memory;
    (void)bytes;
    return NULL;
}

static void no_release(void *context, void *memory)
{
    (void)context;
    (void)memory;
}

FOLDER_TEST(bad_options_are_misuse)
{
    const ses_allocator whole = {sizeof whole, NULL, no_allocate, no_resize, no_release};
    ses_allocator allocators[4] = {whole, whole, whole, whole};
    const struct {
        ses_open_options options;
        const char *words;
    } cases[] = {
        {{.size = 0}, "size"},
        {{.size = sizeof(size_t)}, "size"},
        {{.size = sizeof(ses_open_options), .flags = 0x8u}, "0x8"},
        {{.size = sizeof(ses_open_options), .flags = 0x80000000u | SES_OPEN_MUST_EXIST}, "0x80000000"},
        {{.size = sizeof(ses_open_options), .synchronous = 2}, "synchronous"},
        {{.size = sizeof(ses_open_options), .synchronous = -1}, "synchronous"},
        {{.size = sizeof(ses_open_options), .journal = 3}, "journal"},
        {{.size = sizeof(ses_open_options), .journal = -1}, "journal"},
        {{.size = sizeof(ses_open_options), .max_event_bytes = ((size_t)512 << 20) + 1}, "max_event_bytes"},
        {{.size = sizeof(ses_open_options), .max_readers = 65}, "max_readers"},
        {{.size = sizeof(ses_open_options), .allocator = &allocators[0]}, "size"},
        {{.size = sizeof(ses_open_options), .allocator = &allocators[1]}, "allocate"},
        {{.size = sizeof(ses_open_options), .allocator = &allocators[2]}, "resize"},
        {{.size = sizeof(ses_open_options), .allocator = &allocators[3]}, "release"},
    };

    allocators[0].size = 0;
    allocators[1].allocate = NULL;
    allocators[2].resize = NULL;
    allocators[3].release = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_refused(folder->path, &cases[i].options, SES_MISUSE, cases[i].words);
    assert_int_equal(access(folder->path, F_OK), -1);

    const ses_open_options read_only = {.size = sizeof read_only, .flags = SES_OPEN_READ_ONLY};
    const ses_open_options must_exist = {.size = sizeof must_exist, .flags = SES_OPEN_MUST_EXIST};
    assert_refused(":memory:", &read_only, SES_MISUSE, "memory");
    assert_refused(":memory:", &must_exist, SES_MISUSE, "memory");
}

/* The options struct of a newer header is accepted as long as it asks for nothing new, and so is an older
 * one. */
FOLDER_TEST(options_of_other_versions)
{
    struct {
        ses_open_options options;
        char newer[24];
    } larger = {.options = {.size = sizeof larger}};
    ses_open_options smaller = {.size = offsetof(ses_open_options, synchronous), .synchronous = 99};

    ses_store *store = must_open(":memory:", &larger.options);
    ses_close(store);
    assert_ok(ses_open(":memory:", &smaller, &store, &error));
    ses_close(store);
    larger.newer[23] = 1;
    assert_refused(":memory:", &larger.options, SES_MISUSE, "members");
}

FOLDER_TEST(largest_options)
{
    const ses_open_options options = {.size = sizeof options,
                                      .max_event_bytes = (size_t)512 << 20,
                                      .max_readers = 64,
                                      .busy_timeout_ms = INT64_MAX};
    const ses_key key = {"app", "user", "session"};

    ses_store *store = must_open(folder->path, &options);
    must_create(store, &key, NULL);
    assert_code(SES_EXISTS, ses_create(store, &key, NULL, 0, NULL, NULL, &error));
    ses_close(store);
}

/* --------------------------------------------------------------------------------------------- names */

static int count_files(const char *folder)
{
    int count = 0;
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    assert_non_null(directory);
    while ((entry = readdir(directory)) != NULL)
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(directory);
    return count;
}

static void write_and_read_again(const char *path)
{
    const ses_key key = {"app", "user", "session"};
    ses_info info = {.size = sizeof info};
    ses_error error;

    ses_store *store = must_open(path, NULL);
    must_create(store, &key, Q("{'k':1}"));
    ses_close(store);
    const ses_open_options options = {.size = sizeof options, .flags = SES_OPEN_MUST_EXIST};
    assert_ok(ses_open(path, &options, &store, &error));
    assert_ok(ses_store_info(store, &info, &error));
    assert_string_equal(info.path, path);
    ses_session *session = must_get(store, &key);
    assert_string_equal(support_state(session, NULL), Q("{'k':1}"));
    ses_session_close(session);
    ses_close(store);
}

FOLDER_TEST(names_with_special_characters)
{
    static const char *const names[] = {"with space.db",
                                        " lead",
                                        "100%.db",
                                        "a%20b.db",
                                        "what?.db",
                                        "a?mode=ro&cache=shared",
                                        "frag#ment.db",
                                        "a&b=c",
                                        "quote'\"",
                                        "back\\slash.db",
                                        "new\nline.db",
                                        "tab\t.db",
                                        "p\xC3\xA4th-\xE6\x97\xA5\xE6\x9C\xAC.db",
                                        "\xF0\x9F\x98\x80",
                                        "\x7F",
                                        "-dash",
                                        ":memory:",
                                        "%00",
                                        "x-wal"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *path = support_path(folder->folder, names[i]);
        write_and_read_again(path);
        assert_int_equal(access(path, F_OK), 0);
        assert_int_equal(count_files(folder->folder), 1);
        assert_int_equal(unlink(path), 0);
        free(path);
    }
}

FOLDER_TEST(paths_of_every_shape)
{
    char before[4096];
    char *link_path = support_path(folder->folder, "link.db");

    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder->folder), 0);
    write_and_read_again("store.db");
    assert_int_equal(unlink("store.db"), 0);
    write_and_read_again("./file:store.db");
    assert_int_equal(unlink("file:store.db"), 0);
    assert_int_equal(chdir(before), 0);

    write_file(folder->path, "", 0);
    assert_int_equal(symlink(folder->path, link_path), 0);
    write_and_read_again(link_path);
    assert_sound(folder->path);
    free(link_path);
}

/* More than one slash in front, which in a URI would be the name of a host. */
FOLDER_TEST(path_with_two_slashes_in_front)
{
    struct text path = {NULL, 0};

    text_printf(&path, "/%s//store.db", folder->folder);
    write_and_read_again(path.data);
    free(path.data);
}
