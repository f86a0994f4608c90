#include "storage/sqlite/registry.h"

#include <stdatomic.h>
#include <unistd.h>

#include "storage/sqlite/file.h"

/* Without a lock, which a fork could carry over locked: an entry is free, or being written, or of a process. */
enum { ENTRIES = 256, OWNER_FREE = 0, OWNER_WRITING = -1 };

/* Only the owner is atomic, since 64 bits are not everywhere: an entry of another process, the only one that is looked
 * into, was copied by the fork and changes no more. */
struct registry_entry {
    atomic_long owner; /* a process id */
    struct file_identity file;
};

static struct registry_entry registry[ENTRIES];

bool ses__registry_is_inherited(const char *path)
{
    const long self = getpid();
    struct file_identity file;
    bool inherited = false;

    if (ses__file_identify(path, &file)) {
        for (size_t i = 0; i < ENTRIES && !inherited; i++) {
            long owner = atomic_load(&registry[i].owner);
            inherited = owner > 0 && owner != self && ses__file_is_same(registry[i].file, file);
        }
    }
    return inherited;
}

int ses__registry_add(const char *path)
{
    struct file_identity file;
    int added = REGISTRY_NO_ENTRY;

    if (ses__file_identify(path, &file)) {
        for (int i = 0; i < ENTRIES && added == REGISTRY_NO_ENTRY; i++) {
            long expected = OWNER_FREE;
            if (atomic_compare_exchange_strong(&registry[i].owner, &expected, OWNER_WRITING)) {
                registry[i].file = file;
                atomic_store(&registry[i].owner, (long)getpid());
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
