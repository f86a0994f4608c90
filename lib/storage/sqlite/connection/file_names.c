/*
 * Whether a file has one name only. Its log and its journal stand beside the name, so programs that reach one
 * file by two names have two logs, and each loses what the other writes.
 */
#include "storage/sqlite/connection/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include "base/error.h"
#include "base/memory.h"

#if defined(__linux__) && defined(SYS_statx)
/* Uses the system call, since C libraries got the function at different times. The kernel's layout is the
 * same everywhere. Where a kernel before 5.8 or a sandbox does not answer, the file counts as no mount
 * point. */
static bool is_mount_point(const char *path)
{
    enum { WORDS = 32, ATTRIBUTES = 1 /* after a mask and a size */, KNOWN_ATTRIBUTES = 7 };
    static const uint64_t mount_root = 0x2000; /* STATX_ATTR_MOUNT_ROOT */
    uint64_t status[WORDS] = {0};

    return syscall(SYS_statx, AT_FDCWD, path, 0, 0U, status) == 0 &&
           (status[ATTRIBUTES] & status[KNOWN_ATTRIBUTES] & mount_root) != 0;
}
#else
static bool is_mount_point(const char *path)
{
    (void)path; /* no way to ask */
    return false;
}
#endif

static bool has_other_links(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_nlink > 1;
}

/* ---- the library's own links */

#if defined(__wasi__)
/* Those of other programs stay: the hosts of the package for JavaScript do not list folders. */
static void remove_own_links(const ses_allocator *allocator, const char *path)
{
    (void)allocator;
    (void)path;
}
#else

/* The name of a new file or a backup before it gets its final name: that name, a mark and letters of
 * mkstemp. */
static bool is_own_name(const char *name, const char *of)
{
    static const char *const marks[] = {NEW_FILE_MARK, BACKUP_FILE_MARK};
    const size_t len = strlen(of);
    bool is = false;

    for (size_t i = 0; i < sizeof marks / sizeof marks[0] && strncmp(name, of, len) == 0; i++) {
        const size_t mark_len = strlen(marks[i]);
        is = is || (strncmp(name + len, marks[i], mark_len) == 0 &&
                    strlen(name + len + mark_len) == FILE_MARK_LETTERS);
    }
    return is;
}

/* Removes the second names that a program which was killed while it made the file has left. (One that is
 * still at it does the same next.) Out of memory: they stay. */
static void remove_own_links(const ses_allocator *allocator, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    char *folder = ses__file_join(allocator, slash ? path : "./", "", "");
    struct file_identity own;
    struct stat other;
    const struct dirent *entry;

    if (folder)
        folder[slash ? slash - path + 1 : 2] = '\0';
    DIR *entries = folder && ses__file_identify(path, &own) ? opendir(folder) : NULL;
    while (entries && (entry = readdir(entries)) != NULL) {
        if (is_own_name(entry->d_name, name) && fstatat(dirfd(entries), entry->d_name, &other, 0) == 0 &&
            ses__file_is_same(own, (struct file_identity){other.st_dev, other.st_ino}))
            (void)unlinkat(dirfd(entries), entry->d_name, 0);
    }
    if (entries)
        (void)closedir(entries);
    ses__memory_free(allocator, folder);
}
#endif

/* ---- */

int ses__file_check_names(const ses_allocator *allocator, const char *path, ses_error *error)
{
    enum { LOOKS = 5 };
    const struct timespec pause = {0, 20 * 1000 * 1000};
    bool linked = has_other_links(path);

    for (int look = 0; linked && look < LOOKS; look++) {
        remove_own_links(allocator, path);
        if (look > 0)
            (void)nanosleep(&pause, NULL); /* a signal may cut it short: there are more looks */
        linked = has_other_links(path);
    }
    if (linked)
        return ses__error_set(
            error, SES_CANTOPEN,
            "%s: the file has a second name (a hard link), and programs that open it by different names lose each other's writes: remove the other name (or copy the file), or see SES_OPEN_LINKED",
            path);
    if (is_mount_point(path))
        return ses__error_set(
            error, SES_CANTOPEN,
            "%s: the file is mounted by itself, so that its write-ahead log is not shared with programs outside: mount the folder that it is in, or see SES_OPEN_LINKED",
            path);
    return SES_OK;
}
