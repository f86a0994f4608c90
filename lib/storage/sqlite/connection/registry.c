
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "storage/sqlite/connection/file.h"

/* Without a lock, which a fork could carry over locked: an entry is free, or being written, or of a
 * process. */
enum { BLOCK_ENTRIES = 64, OWNER_FREE = 0, OWNER_WRITING = -1 };

/* Only the owner is atomic, since 64 bits are not everywhere: an entry of another process, the only one that
 * is looked into, was copied by the fork and changes no more. */
struct registry_entry {
    atomic_long owner; /* a process id */
    struct file_identity file;
};

/* Blocks are added and never freed: they belong to the process, as the first one does. */
struct registry_block {
    struct registry_entry entries[BLOCK_ENTRIES];
    _Atomic(struct registry_block *) next;
};

static struct registry_block registry;

bool ses__registry_is_inherited(const char *path)
{
    const long self = getpid();
    struct file_identity file;
    bool inherited = false;

    if (!ses__file_identify(path, &file))
        return false;
    for (struct registry_block *block = &registry; block && !inherited; block = atomic_load(&block->next)) {
        for (size_t i = 0; i < BLOCK_ENTRIES && !inherited; i++) {
            const long owner = atomic_load(&block->entries[i].owner);
            inherited = owner > 0 && owner != self && ses__file_is_same(block->entries[i].file, file);
        }
    }
    return inherited;
}

static struct registry_entry *take_entry(struct registry_block *block, struct file_identity file)
{
    for (size_t i = 0; i < BLOCK_ENTRIES; i++) {
        struct registry_entry *entry = &block->entries[i];
        long expected = OWNER_FREE;
        if (atomic_compare_exchange_strong(&entry->owner, &expected, OWNER_WRITING)) {
            entry->file = file;
            atomic_store(&entry->owner, (long)getpid());
            return entry;
        }
    }
    return NULL;
}

/* Not from a store's allocator, which need not live as long as the process. NULL: out of memory. */
static struct registry_block *block_after(struct registry_block *block)
{
    struct registry_block *next = atomic_load(&block->next);

    if (next)
        return next;
    struct registry_block *fresh = calloc(1, sizeof *fresh);
    if (!fresh || atomic_compare_exchange_strong(&block->next, &next, fresh))
        return fresh;
    free(fresh);
    return next;
}

int ses__registry_add(const char *path, struct registry_entry **entry, ses_error *error)
{
    struct registry_block *block = &registry;
    struct file_identity file;

    *entry = NULL;
    if (!ses__file_identify(path, &file))
        return SES_OK;
    while (block && !(*entry = take_entry(block, file)))
        block = block_after(block);
    return *entry ? SES_OK : ses__error_nomem(error);
}

void ses__registry_remove(struct registry_entry *entry)
{
    if (entry)
        atomic_store(&entry->owner, OWNER_FREE);
}
