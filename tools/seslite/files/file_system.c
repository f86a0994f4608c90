#include "files/file_system.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/vfs.h>

static const struct {
    unsigned long magic;
    const char *name;
    bool network;
} known[] = {
    {0xef53, "ext", false},       {0x9123683e, "btrfs", false},   {0x58465342, "xfs", false},
    {0x01021994, "tmpfs", false}, {0x794c7630, "overlay", false}, {0x2fc12fc1, "zfs", false},
    {0xf2f52010, "f2fs", false},  {0x4d44, "vfat", false},        {0x2011bab0, "exfat", false},
    {0x65735546, "fuse", true},   {0x6969, "nfs", true},          {0xff534d42, "cifs", true},
    {0xfe534d42, "smb", true},    {0x01021997, "9p", true},       {0x00c36400, "ceph", true},
};

bool file_system_name(const char *path, char *name, size_t capacity)
{
    struct statfs status;

    name[0] = '\0';
    if (statfs(path, &status) != 0)
        return false;
    unsigned long magic = (unsigned long)status.f_type & 0xffffffff;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].magic == magic) {
            (void)snprintf(name, capacity, "%s", known[i].name);
            return known[i].network;
        }
    }
    (void)snprintf(name, capacity, "0x%lx", magic);
    return false;
}
#elif defined(__APPLE__) || defined(__FreeBSD__)
#include <sys/param.h>
#include <sys/mount.h>

bool file_system_name(const char *path, char *name, size_t capacity)
{
    static const char *const networks[] = {"nfs", "smbfs", "afpfs", "webdav", "fusefs"};
    struct statfs status;

    name[0] = '\0';
    if (statfs(path, &status) != 0)
        return false;
    (void)snprintf(name, capacity, "%s", status.f_fstypename);
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++)
        if (strcmp(networks[i], name) == 0)
            return true;
    return false;
}
#else
bool file_system_name(const char *path, char *name, size_t capacity)
{
    (void)path;
    (void)capacity;
    name[0] = '\0';
    return false;
}
#endif

/* A line of /proc/locks: "1: POSIX  ADVISORY  READ 1234 08:01:5678 128 128". */
static bool is_lock_of_other(const char *line, unsigned long inode)
{
    long process = 0;
    unsigned long locked = 0;
    const int found = sscanf(line, "%*d: POSIX %*s %*s %ld %*x:%*x:%lu", &process, &locked);

    return found == 2 && locked == inode && process != (long)getpid();
}

bool file_is_locked_by_others(const char *path)
{
    struct stat status;
    char line[256];
    bool found = false;
    FILE *locks = stat(path, &status) == 0 ? fopen("/proc/locks", "r") : NULL;

    while (locks && !found && fgets(line, sizeof line, locks))
        found = is_lock_of_other(line, (unsigned long)status.st_ino);
    if (locks)
        (void)fclose(locks);
    return found;
}
