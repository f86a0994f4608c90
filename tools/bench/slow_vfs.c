#include "slow_vfs.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* In front of the real file's memory. */
struct slow_file {
    sqlite3_file base;
    sqlite3_file *real;
};

static atomic_long delay_us;
static atomic_long syncs;
static sqlite3_vfs *below;
static sqlite3_vfs slow_vfs;

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct slow_file *)(void *)file)->real;
}

static int slow_close(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int slow_read(sqlite3_file *file, void *data, int bytes, sqlite3_int64 offset)
{
    return real_of(file)->pMethods->xRead(real_of(file), data, bytes, offset);
}

static int slow_write(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 offset)
{
    return real_of(file)->pMethods->xWrite(real_of(file), data, bytes, offset);
}

static int slow_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int slow_sync(sqlite3_file *file, int flags)
{
    long delay = atomic_load(&delay_us);
    const struct timespec time = {delay / 1000000, delay % 1000000 * 1000};

    atomic_fetch_add(&syncs, 1);
    if (delay > 0)
        nanosleep(&time, NULL);
    return real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int slow_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int slow_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int slow_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int slow_check_lock(sqlite3_file *file, int *result)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), result);
}

static int slow_control(sqlite3_file *file, int operation, void *argument)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int slow_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int slow_traits(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int slow_shm_map(sqlite3_file *file, int page, int bytes, int extend, void volatile **memory)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), page, bytes, extend, memory);
}

static int slow_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}

static void slow_shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int slow_shm_unmap(sqlite3_file *file, int remove)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

static const sqlite3_io_methods slow_methods = {
    .iVersion = 2,
    .xClose = slow_close,
    .xRead = slow_read,
    .xWrite = slow_write,
    .xTruncate = slow_truncate,
    .xSync = slow_sync,
    .xFileSize = slow_size,
    .xLock = slow_lock,
    .xUnlock = slow_unlock,
    .xCheckReservedLock = slow_check_lock,
    .xFileControl = slow_control,
    .xSectorSize = slow_sector,
    .xDeviceCharacteristics = slow_traits,
    .xShmMap = slow_shm_map,
    .xShmLock = slow_shm_lock,
    .xShmBarrier = slow_shm_barrier,
    .xShmUnmap = slow_shm_unmap,
};

static int slow_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    struct slow_file *slow = (struct slow_file *)(void *)file;
    (void)vfs;
    slow->real = (sqlite3_file *)(slow + 1);
    slow->base.pMethods = NULL;
    int rc = below->xOpen(below, name, slow->real, flags, out_flags);
    if (slow->real->pMethods)
        slow->base.pMethods = &slow_methods;
    return rc;
}

int slow_vfs_install(void)
{
    below = sqlite3_vfs_find(NULL);
    slow_vfs = *below;
    slow_vfs.zName = "slow";
    slow_vfs.szOsFile = (int)sizeof(struct slow_file) + below->szOsFile;
    slow_vfs.pNext = NULL;
    slow_vfs.xOpen = slow_open;
    return sqlite3_vfs_register(&slow_vfs, 1);
}

void slow_vfs_set_delay(long delay)
{
    atomic_store(&delay_us, delay);
}

long slow_vfs_syncs(void)
{
    return atomic_load(&syncs);
}
