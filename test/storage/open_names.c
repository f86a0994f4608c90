/* A file has one name: with two, each has a log of its own. */
#define _GNU_SOURCE
#include "open.h"

#if defined(__linux__)
#include <sched.h>
#include <sys/mount.h>
#endif

static const ses_key key = {"app", "user", "session"};

static int open_as(const char *path, unsigned flags, ses_store **store, ses_error *error)
{
    const ses_open_options options = {.size = sizeof options, .flags = flags};
    return ses_open(path, &options, store, error);
}

static void make_store(const char *path)
{
    ses_store *store = must_open(path, NULL);
    must_create(store, &key, Q("{'k':1}"));
    ses_close(store);
}

FOLDER_TEST(second_name)
{
    char *other = support_path(folder->folder, "other.db");
    ses_store *store = NULL;

    make_store(folder->path);
    assert_int_equal(link(folder->path, other), 0);
    assert_code(SES_CANTOPEN, open_as(folder->path, 0, &store, &error));
    assert_message("a second name");
    assert_code(SES_CANTOPEN, open_as(other, SES_OPEN_MUST_EXIST, &store, &error));

    /* By those who know better. */
    assert_ok(open_as(folder->path, SES_OPEN_LINKED, &store, &error));
    must_append_by_key(store, &key, "{}");
    /* The log of one name is missed by the other, but not by the one itself. */
    ses_store *reader = NULL;
    assert_code(SES_CANTOPEN, open_as(folder->path, SES_OPEN_READ_ONLY, &reader, &error));
    ses_close(store);

    assert_ok(open_as(other, SES_OPEN_READ_ONLY, &store, &error));
    ses_close(store);
    assert_int_equal(unlink(other), 0);
    assert_ok(open_as(folder->path, 0, &store, &error));
    must_append_by_key(store, &key, "{}");
    ses_close(store);
    free(other);
}

FOLDER_TEST(second_name_of_a_file_that_a_backup_replaces)
{
    const ses_backup_options replace = {.size = sizeof replace, .flags = SES_BACKUP_REPLACE};
    char *copy = support_path(folder->folder, "copy.db");
    char *other = support_path(folder->folder, "other.db");
    ses_store *store = NULL;

    make_store(folder->path);
    make_store(copy);
    assert_int_equal(link(copy, other), 0);
    assert_ok(open_as(folder->path, 0, &store, &error));
    assert_code(SES_CANTOPEN, ses_store_backup(store, copy, &replace, &error));
    assert_message("a second name");
    assert_int_equal(unlink(other), 0);
    assert_ok(ses_store_backup(store, copy, &replace, &error));
    ses_close(store);
    free(other);
    free(copy);
}

/* A program that is killed while it makes a file, or a backup, leaves the name under which it made it. */
FOLDER_TEST(names_that_the_library_left)
{
    static const char *const left[] = {"store.db-newAb12xY", "store.db.seslite-backup-Ab12xY"};
    ses_store *store = NULL;

    make_store(folder->path);
    for (int i = 0; i < 2; i++) {
        char *other = support_path(folder->folder, left[i]);
        assert_int_equal(link(folder->path, other), 0);
        assert_ok(open_as(folder->path, 0, &store, &error));
        ses_close(store);
        assert_int_equal(access(other, F_OK), -1);
        free(other);
    }
}

/* One of the same form that is another file stays. */
FOLDER_TEST(other_files_stay)
{
    char *other = support_path(folder->folder, "other.db");
    char *similar = support_path(folder->folder, "store.db-newAb12xY");
    ses_store *store = NULL;

    make_store(folder->path);
    make_store(similar);
    assert_int_equal(link(folder->path, other), 0);
    assert_code(SES_CANTOPEN, open_as(folder->path, 0, &store, &error));
    assert_int_equal(access(similar, F_OK), 0);
    free(similar);
    free(other);
}

#if defined(__linux__)
enum { CANNOT = 100 };

/* In a namespace of its own: the file of the host is mounted on a file of the container. */
static int run_in_mount(void *context)
{
    const struct folder *folder = context;
    char *mounted = support_path(folder->folder, "mounted.db");
    ses_store *store = NULL;
    ses_error error;

    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(folder->path, mounted, NULL, MS_BIND, NULL) != 0)
        return CANNOT;
    if (open_as(mounted, 0, &store, &error) != SES_CANTOPEN || !strstr(error.message, "mount the folder"))
        return error.code == SES_OK ? CANNOT : 1;
    if (open_as(mounted, SES_OPEN_READ_ONLY, &store, &error) != SES_OK)
        return 2;
    ses_close(store);
    if (open_as(mounted, SES_OPEN_LINKED, &store, &error) != SES_OK)
        return 3;
    ses_close(store);
    return umount(mounted);
}

FOLDER_TEST(file_that_is_mounted_by_itself)
{
    char *mounted = support_path(folder->folder, "mounted.db");

    make_store(folder->path);
    make_store(mounted);
    const int result = child_run(run_in_mount, folder);
    free(mounted);
    if (result == CANNOT)
        skip(); /* it takes root, and a kernel that says what is a mount point */
    assert_int_equal(result, 0);
}
#endif
