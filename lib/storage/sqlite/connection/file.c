#include "storage/sqlite/connection/file.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/vfs.h>
#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__OpenBSD__) || defined(__DragonFly__)
#include <sys/mount.h>
#include <sys/param.h>
#endif

#include "base/error.h"
#include "base/memory.h"

const char *const ses__companions[COMPANIONS] = {"-journal", "-wal", "-shm"};

int ses__file_refuse(const char *path, const char *doing, int number, ses_error *error)
{
    char text[128] = "the system refused";
    int code = number == ENOSPC || number == EDQUOT ? SES_FULL
               : number == EROFS                    ? SES_READONLY
                                                    : SES_CANTOPEN;

    /* Without the static buffer of strerror. */
#if defined(__APPLE__)
    (void)strerror_r(number, text, sizeof text); /* macOS has no strerror_l */
#else
    /* In English, whatever language the program has set. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain) {
        (void)snprintf(text, sizeof text, "%s", strerror_l(number, plain));
        freelocale(plain);
    }
#endif
    return ses__error_set(error, code, "%s: %s: %s", path, doing, text);
}

int ses__file_look(const char *path, enum file_kind *kind, ses_error *error)
{
    struct stat status;
    int code = SES_OK;

    if (stat(path, &status) != 0) {
        *kind = FILE_ABSENT;
        if (errno != ENOENT)
            code = ses__file_refuse(path, "cannot look at the file", errno, error);
    } else if (S_ISDIR(status.st_mode)) {
        code = ses__error_set(error, SES_CANTOPEN, "%s: this is a directory, not a file", path);
    } else if (!S_ISREG(status.st_mode)) {
        code = ses__error_set(error, SES_CANTOPEN, "%s: this is not a regular file", path);
    } else {
        const off_t smallest_page = 512;
        *kind = status.st_size == 0 ? FILE_EMPTY : status.st_size < smallest_page ? FILE_STUB : FILE_FILLED;
    }
    return code;
}

char *ses__file_join(const ses_allocator *allocator, const char *first, const char *second, const char *third)
{
    const size_t bytes = strlen(first) + strlen(second) + strlen(third) + 1;
    char *joined = ses__memory_new(allocator, bytes);

    if (joined)
        (void)snprintf(joined, bytes, "%s%s%s", first, second, third);
    return joined;
}

int ses__file_find_journals(const ses_allocator *allocator, const char *path, bool *log, bool *journal,
                            ses_error *error)
{
    bool *const found[] = {journal, log}; /* in the order of the companions */

    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        struct stat status;
        char *companion = ses__file_join(allocator, path, ses__companions[i], "");
        if (!companion)
            return ses__error_nomem(error);
        *found[i] = stat(companion, &status) == 0 && status.st_size > 0;
        ses__memory_free(allocator, companion);
    }
    return SES_OK;
}

/* "file:", the path with every byte escaped that means something in a URI, and "?immutable=1". An absolute
 * path follows an empty authority, since it may itself begin with two slashes. */
char *ses__file_immutable_uri(const ses_allocator *allocator, const char *path)
{
    static const char hex[] = "0123456789ABCDEF";
    struct buffer uri;

    ses__buffer_init(&uri, allocator);
    ses__buffer_add(&uri, "file://", path[0] == '/' ? 7 : 5);
    for (const char *p = path; *p; p++) {
        if (strchr("?#%", *p) || (unsigned char)*p <= 0x20) {
            const char escape[3] = {'%', hex[(unsigned char)*p >> 4], hex[*p & 15]};
            ses__buffer_add(&uri, escape, 3);
        } else {
            ses__buffer_add(&uri, p, 1);
        }
    }
    ses__buffer_add(&uri, "?immutable=1", 12);
    if (uri.failed)
        ses__buffer_free(&uri);
    return uri.data;
}

int ses__file_follow_links(const ses_allocator *allocator, const char *path, char **followed,
                           ses_error *error)
{
    enum { MAX_LINKS = 40 /* as Linux has it */ };
    char target[PATH_MAX];
    char *at = ses__file_join(allocator, path, "", "");
    ssize_t len = 0;

    for (int links = 0; at && links < MAX_LINKS && len >= 0; links++) {
        len = readlink(at, target, sizeof target - 1); /* fails if `path` is not a link or does not exist */
        if (len >= 0) {
            /* A target may be relative to the folder of its link. */
            char *slash = target[0] == '/' ? NULL : strrchr(at, '/');
            target[len] = '\0';
            at[slash ? slash - at + 1 : 0] = '\0';
            char *next = ses__file_join(allocator, at, target, "");
            ses__memory_free(allocator, at);
            at = next;
        }
    }
    *followed = at;
    return at ? SES_OK : ses__error_nomem(error);
}

int ses__file_resolve(const ses_allocator *allocator, const char *path, char **resolved, ses_error *error)
{
    char absolute[PATH_MAX];

    *resolved = NULL;
    if (!realpath(path, absolute))
        return ses__file_refuse(path, "cannot resolve the path", errno, error);
    *resolved = ses__file_join(allocator, absolute, "", "");
    return *resolved ? SES_OK : ses__error_nomem(error);
}

int ses__file_check_companions(const ses_allocator *allocator, const char *path, ses_error *error)
{
    int code = SES_OK;

    for (size_t i = 0; i < COMPANIONS && code == SES_OK; i++) {
        struct stat status;
        char *companion = ses__file_join(allocator, path, ses__companions[i], "");
        if (!companion)
            code = ses__error_nomem(error);
        else if (stat(companion, &status) == 0 && !S_ISREG(status.st_mode))
            code = ses__error_set(error, SES_CANTOPEN,
                                  "%s: this is not a regular file, and SQLite would use it; remove it",
                                  companion);
        ses__memory_free(allocator, companion);
    }
    return code;
}

bool ses__file_identify(const char *path, struct file_identity *identity)
{
    struct stat status;
    bool found = stat(path, &status) == 0;

    if (found)
        *identity = (struct file_identity){status.st_dev, status.st_ino};
    return found;
}

bool ses__file_is_same(struct file_identity left, struct file_identity right)
{
    return left.device == right.device && left.inode == right.inode;
}

int64_t ses__file_room(const char *path)
{
    struct statvfs status;
    return statvfs(path, &status) == 0 ? (int64_t)status.f_bavail * (int64_t)status.f_frsize : INT64_MAX;
}

bool ses__file_system_is_read_only(const char *path)
{
    struct statvfs status;
    return statvfs(path, &status) == 0 && (status.f_flag & ST_RDONLY) != 0;
}

int ses__file_create_private(const ses_allocator *allocator, const char *path, ses_error *error)
{
    /*
     * The file is made under another name and linked into place. Opening it under its own name would not do:
     * closing that descriptor would drop the locks another thread may have taken on it by then
     * (https://www.sqlite.org/howtocorrupt.html, section 2.2).
     */
    int code = SES_OK;
    char *fresh = ses__file_join(allocator, path, NEW_FILE_MARK, "XXXXXX");
    int descriptor = fresh ? mkstemp(fresh) : -1; /* mode 0600, as POSIX says */

    if (!fresh) {
        code = ses__error_nomem(error);
    } else if (descriptor < 0) {
        code = ses__file_refuse(path, "cannot create the file", errno, error);
    } else {
        (void)fchmod(descriptor, S_IRUSR | S_IWUSR); /* a umask may take even the owner's rights away */
        (void)close(descriptor);                     /* nothing was written that could be lost */
        if (link(fresh, path) != 0 && errno != EEXIST) {
            /* No hard links here: renaming does the same, except that it would replace what is there. */
            if (access(path, F_OK) == 0 || rename(fresh, path) != 0)
                code = ses__file_refuse(path, "cannot create the file", errno, error);
        }
        (void)unlink(fresh); /* fails after a rename, as it should */
    }
    ses__memory_free(allocator, fresh);
    return code;
}

#if defined(__linux__)
bool ses__file_is_remote(const char *path)
{
    /* From the kernel's include/uapi/linux/magic.h and statfs(2). */
    static const uint32_t remote[] = {
        0x00006969, /* NFS */
        0x0000517B, /* SMB */
        0xFE534D42, /* SMB2 */
        0xFF534D42, /* CIFS */
        0x01021997, /* 9P */
        0x65735546, /* FUSE: sshfs and others */
        0x00C36400, /* Ceph */
        0x5346414F, /* AFS */
        0x73757245, /* Coda */
        0x786F4256, /* VirtualBox shared folders */
        0x0BD00BD0, /* Lustre */
        0x47504653, /* GPFS */
        0x01161970, /* GFS2 */
        0x7461636F  /* OCFS2 */
    };
    struct statfs status;
    bool is_remote = false;

    if (statfs(path, &status) == 0) {
        for (size_t i = 0; i < sizeof remote / sizeof remote[0]; i++)
            is_remote = is_remote || (uint32_t)status.f_type == remote[i];
    }
    return is_remote;
}
#elif defined(MNT_LOCAL)
bool ses__file_is_remote(const char *path)
{
    struct statfs status;
    return statfs(path, &status) == 0 && (status.f_flags & MNT_LOCAL) == 0;
}
#else
bool ses__file_is_remote(const char *path)
{
    (void)path; /* no portable way to ask: SQLite itself refuses WAL where shared memory is missing */
    return false;
}
#endif
