/* Opening: what a store that cannot be opened says. */
#define _GNU_SOURCE
#include "open.h"

#if defined(__linux__)
#include <sched.h>
#include <sys/mount.h>
#endif

enum { CANNOT = 100, WRONG_MESSAGE = 101 };

struct attempt {
    const char *path;
    unsigned flags;
    const char *words;                /* NULL: no message is wanted */
    int (*prepare)(const char *path); /* in the child; non-zero: it cannot */
};

/* Returns minus the code. */
static int run_attempt(void *context)
{
    const struct attempt *attempt = context;
    const ses_open_options options = {.size = sizeof options, .flags = attempt->flags};
    ses_store *store = NULL;
    ses_error error;

    if (attempt->prepare(attempt->path) != 0)
        return CANNOT;
    const int code = ses_open(attempt->path, &options, &store, attempt->words ? &error : NULL);
    ses_close(store);
    if (!attempt->words)
        return -code;
    if (strstr(error.message, attempt->words) && !strstr(error.message, "PRAGMA"))
        return -code;
    fprintf(stderr, "%s: \"%s\" does not say \"%s\"\n", ses_code_name(code), error.message, attempt->words);
    return WRONG_MESSAGE;
}

static void make_store(const char *path)
{
    const ses_key key = {"app", "user", "session"};

    ses_store *store = must_open(path, NULL);
    must_create(store, &key, NULL);
    ses_close(store);
}

static void assert_told(int code, struct attempt attempt)
{
    const int result = child_run(run_attempt, &attempt);

    if (result == CANNOT)
        skip(); /* it takes root */
    assert_int_equal(-result, code);
}

static int become_nobody(const char *path)
{
    (void)path;
    return geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0);
}

FOLDER_TEST(rights)
{
    if (geteuid() != 0)
        skip();
    make_store(folder->path);
    assert_int_equal(chmod(folder->folder, 0755), 0);
    assert_told(SES_CANTOPEN, (struct attempt){folder->path, 0, "no right to read the file", become_nobody});
    assert_told(SES_CANTOPEN, (struct attempt){folder->path, SES_OPEN_READ_ONLY, "no right to read the file",
                                               become_nobody});
    assert_int_equal(chmod(folder->path, 0644), 0);
    assert_told(SES_READONLY, (struct attempt){folder->path, 0, "no right to write the file", become_nobody});
    assert_int_equal(chmod(folder->path, 0666), 0);
    assert_told(SES_READONLY,
                (struct attempt){folder->path, 0, "no right to write to the folder", become_nobody});
}

static int do_nothing(const char *path)
{
    (void)path;
    return 0;
}

FOLDER_TEST(file_that_was_cut_short)
{
    static const off_t lengths[] = {600, 5000, 50000};

    for (int i = 0; i < 3; i++) {
        make_store(folder->path);
        assert_int_equal(truncate(folder->path, lengths[i]), 0);
        assert_told(SES_CORRUPT, (struct attempt){folder->path, 0, "cut short", do_nothing});
        assert_told(SES_CORRUPT, (struct attempt){folder->path, SES_OPEN_READ_ONLY, "cut short", do_nothing});
        assert_int_equal(unlink(folder->path), 0);
    }
}

#if defined(__linux__)
static int mount_apart(void)
{
    return unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0;
}

static int mount_read_only(const char *path)
{
    char folder[1024];

    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    return mount_apart() || mount(folder, folder, NULL, MS_BIND, NULL) != 0 ||
           mount("none", folder, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) != 0;
}

/* A disk that the store and zeros fill. */
static int fill_disk(const char *path)
{
    char command[10000];
    char folder[1024];

    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    snprintf(
        command, sizeof command,
        "cp '%s' '%s.kept' && mount -t tmpfs -o size=1m none '%s/disk' && cp '%s.kept' '%s/disk/store.db' &&"
        " ! dd if=/dev/zero of='%s/disk/zeros' bs=1k 2>/dev/null && mount --move '%s/disk' '%s'",
        path, path, folder, path, folder, folder, folder, folder);
    return mount_apart() || system(command) != 0;
}

FOLDER_TEST(read_only_file_system)
{
    make_store(folder->path);
    assert_told(SES_CANTOPEN, (struct attempt){folder->path, 0, "mounted read-only", mount_read_only});
}

FOLDER_TEST(full_disk)
{
    char *disk = support_path(folder->folder, "disk");

    make_store(folder->path);
    assert_int_equal(mkdir(disk, 0700), 0);
    assert_told(SES_FULL, (struct attempt){folder->path, 0, "no space is left", fill_disk});
    assert_told(SES_FULL, (struct attempt){folder->path, 0, NULL, fill_disk});
    free(disk);
}
#endif
