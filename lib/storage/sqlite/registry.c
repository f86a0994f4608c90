#include "storage/sqlite/registry.h"

#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* Without a lock, which a fork could carry over locked: an entry is free, or being written, or of a process. */
enum { ENTRIES = 256, OWNER_FREE = 0, OWNER_WRITING = -1 };

struct registry_entry {
    atomic_llong owner; /* a process id */
    atomic_ullong device;
    atomic_ullong inode;
};

static struct registry_entry registry[ENTRIES];

bool ses__registry_is_inherited(const char *path)
{
    const long long self = getpid();
    struct stat status;
    bool inherited = false;

    if (stat(path, &status) == 0) {
        for (size_t i = 0; i < ENTRIES && !inherited; i++) {
            long long owner = atomic_load(&registry[i].owner);
            inherited = owner > 0 && owner != self &&
                        atomic_load(&registry[i].device) == (unsigned long long)status.st_dev &&
                        atomic_load(&registry[i].inode) == (unsigned long long)status.st_ino;
        }
    }
    return inherited;
}

int ses__registry_add(const char *path)
{
    struct stat status;
    int added = REGISTRY_NO_ENTRY;

    if (stat(path, &status) == 0) {
        for (int i = 0; i < ENTRIES && added == REGISTRY_NO_ENTRY; i++) {
            long long expected = OWNER_FREE;
            if (atomic_compare_exchange_strong(&registry[i].owner, &expected, OWNER_WRITING)) {
                atomic_store(&registry[i].device, (unsigned long long)status.st_dev);
                atomic_store(&registry[i].inode, (unsigned long long)status.st_ino);
                atomic_store(&registry[i].owner, (long long)getpid());
                added = i;
            }
        }
    }
    return added;
}

void ses__registry_remove(int entry)
{
    if (entry != REGISTRY_NO_ENTRY)
        atomic_store(&registry[entry].owner, OWNER_FREE);
}
