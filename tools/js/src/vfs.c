/*
 * SQLite's files, kept by the host. One instance of the module has a file alone: the host sees to that before
 * it is opened. So locks, and the shared memory of the write-ahead log, only concern the connections of this
 * instance.
 */
#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

enum { SHM_LOCKS = SQLITE_SHM_NLOCK, SECTOR_BYTES = 4096 };

struct js_file;

/* A file by its path, which connections share. */
struct node {
    struct node *next;
    char *path;
    int handle;
    int users;
    bool writable;
    bool is_new; /* its name may not be on the disk yet */
    int shared;  /* connections with a shared lock */
    const struct js_file *reserved;
    const struct js_file *pending;
    const struct js_file *exclusive;
    int shm_users;
    int region_count;
    void **regions; /* the index of the write-ahead log */
    int shm_shared[SHM_LOCKS];
    const struct js_file *shm_exclusive[SHM_LOCKS];
};

struct js_file {
    sqlite3_file base;
    struct node *node;
    int level; /* SQLITE_LOCK_* */
    bool has_shm;
    unsigned shm_shared; /* a bit for each lock */
};

static struct node *nodes;

/* ----------------------------------------------------------------------------------------------- nodes */

static struct node *node_find(const char *path)
{
    struct node *at = nodes;
    while (at && strcmp(at->path, path) != 0)
        at = at->next;
    return at;
}

static void node_free(struct node *node)
{
    free(node->path);
    free(node);
}

static struct node *node_new(const char *path)
{
    struct node *fresh = calloc(1, sizeof *fresh);

    if (!fresh)
        return NULL;
    fresh->path = strdup(path);
    if (!fresh->path) {
        node_free(fresh);
        return NULL;
    }
    return fresh;
}

static int code_of(int failure, int otherwise)
{
    return failure == HOST_FULL        ? SQLITE_FULL
           : failure == HOST_BUSY      ? SQLITE_BUSY
           : failure == HOST_READ_ONLY ? SQLITE_READONLY
                                       : otherwise;
}

/* A file that may not be written is opened for reading, as SQLite does it elsewhere. */
static int node_open(struct node *node, int flags)
{
    const int create =
        (flags & SQLITE_OPEN_CREATE ? HOST_CREATE : 0) | (flags & SQLITE_OPEN_EXCLUSIVE ? HOST_EXCLUSIVE : 0);
    int64_t facts[4];

    node->writable = (flags & SQLITE_OPEN_READWRITE) != 0;
    node->is_new = create && host_stat(node->path, facts) == HOST_ABSENT;
    node->handle = host_open(node->path, node->writable ? HOST_WRITE | create : 0);
    if (node->writable && (node->handle == HOST_DENIED || node->handle == HOST_READ_ONLY)) {
        node->writable = false;
        node->handle = host_open(node->path, 0);
    }
    return node->handle < 0 ? code_of(node->handle, SQLITE_CANTOPEN) : SQLITE_OK;
}

static int node_take(const char *path, int flags, struct node **taken)
{
    struct node *node = node_find(path);

    if (!node) {
        node = node_new(path);
        if (!node)
            return SQLITE_NOMEM;
        const int rc = node_open(node, flags);
        if (rc != SQLITE_OK) {
            node_free(node);
            return rc;
        }
        node->next = nodes;
        nodes = node;
    }
    node->users++;
    *taken = node;
    return SQLITE_OK;
}

static int node_release(struct node *node)
{
    struct node **at = &nodes;

    if (--node->users > 0)
        return SQLITE_OK;
    while (*at != node)
        at = &(*at)->next;
    *at = node->next;
    const int closed = host_close(node->handle);
    node_free(node);
    return closed < 0 ? SQLITE_IOERR_CLOSE : SQLITE_OK;
}

/* --------------------------------------------------------------------------------------------- contents */

static int file_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset)
{
    struct js_file *file = (struct js_file *)base;
    const int got = host_read(file->node->handle, bytes, count, (double)offset);

    if (got < 0)
        return SQLITE_IOERR_READ;
    if (got < count) {
        memset((char *)bytes + got, 0, (size_t)(count - got));
        return SQLITE_IOERR_SHORT_READ;
    }
    return SQLITE_OK;
}

static int file_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset)
{
    struct js_file *file = (struct js_file *)base;
    const int result = host_write(file->node->handle, bytes, count, (double)offset);
    return result < 0 ? code_of(result, SQLITE_IOERR_WRITE) : SQLITE_OK;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    struct js_file *file = (struct js_file *)base;
    return host_truncate(file->node->handle, (double)size) < 0 ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

static int file_sync(sqlite3_file *base, int flags)
{
    struct node *node = ((struct js_file *)base)->node;

    (void)flags;
    if (host_sync(node->handle, node->is_new) < 0)
        return SQLITE_IOERR_FSYNC;
    node->is_new = false;
    return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
    struct js_file *file = (struct js_file *)base;
    const double bytes = host_size(file->node->handle);

    *size = bytes < 0 ? 0 : (sqlite3_int64)bytes;
    return bytes < 0 ? SQLITE_IOERR_FSTAT : SQLITE_OK;
}

/* ------------------------------------------------------------------------------------------------ locks */

static bool is_other(const struct js_file *owner, const struct js_file *file)
{
    return owner && owner != file;
}

static int file_lock(sqlite3_file *base, int level)
{
    struct js_file *file = (struct js_file *)base;
    struct node *node = file->node;

    if (level <= file->level)
        return SQLITE_OK;
    if (file->level == SQLITE_LOCK_NONE) {
        if (node->exclusive || node->pending)
            return SQLITE_BUSY;
        node->shared++;
        file->level = SQLITE_LOCK_SHARED;
    }
    if (level >= SQLITE_LOCK_RESERVED) {
        if (is_other(node->reserved, file))
            return SQLITE_BUSY;
        node->reserved = file;
        if (file->level < SQLITE_LOCK_RESERVED)
            file->level = SQLITE_LOCK_RESERVED;
    }
    if (level == SQLITE_LOCK_EXCLUSIVE) {
        node->pending = file;
        file->level = SQLITE_LOCK_PENDING;
        if (node->shared > 1)
            return SQLITE_BUSY;
        node->exclusive = file;
        file->level = SQLITE_LOCK_EXCLUSIVE;
    }
    return SQLITE_OK;
}

static int file_unlock(sqlite3_file *base, int level)
{
    struct js_file *file = (struct js_file *)base;
    struct node *node = file->node;

    if (level >= file->level)
        return SQLITE_OK;
    if (node->reserved == file)
        node->reserved = NULL;
    if (node->pending == file)
        node->pending = NULL;
    if (node->exclusive == file)
        node->exclusive = NULL;
    if (level == SQLITE_LOCK_NONE)
        node->shared--;
    file->level = level;
    return SQLITE_OK;
}

static int file_check_reserved(sqlite3_file *base, int *reserved)
{
    *reserved = ((struct js_file *)base)->node->reserved != NULL;
    return SQLITE_OK;
}

/* ---------------------------------------------------------------------------------------- shared memory */

static bool grow_regions(struct node *node, int count, size_t bytes)
{
    void **grown = realloc(node->regions, (size_t)count * sizeof *grown);

    if (!grown)
        return false;
    node->regions = grown;
    while (node->region_count < count) {
        void *fresh = calloc(1, bytes);
        if (!fresh)
            return false;
        node->regions[node->region_count++] = fresh;
    }
    return true;
}

static int file_shm_map(sqlite3_file *base, int region, int bytes, int extend, void volatile **memory)
{
    struct js_file *file = (struct js_file *)base;
    struct node *node = file->node;

    if (!file->has_shm) {
        file->has_shm = true;
        node->shm_users++;
    }
    *memory = NULL;
    if (region >= node->region_count && !extend)
        return SQLITE_OK;
    if (region >= node->region_count && !grow_regions(node, region + 1, (size_t)bytes))
        return SQLITE_IOERR_NOMEM;
    *memory = node->regions[region];
    return SQLITE_OK;
}

static void shm_unlock(struct js_file *file, int lock)
{
    struct node *node = file->node;

    if (file->shm_shared & 1u << lock) {
        file->shm_shared &= ~(1u << lock);
        node->shm_shared[lock]--;
    }
    if (node->shm_exclusive[lock] == file)
        node->shm_exclusive[lock] = NULL;
}

static bool shm_can_lock(const struct js_file *file, int lock, bool exclusive)
{
    const struct node *node = file->node;
    const int others = node->shm_shared[lock] - (file->shm_shared >> lock & 1);
    return !is_other(node->shm_exclusive[lock], file) && (!exclusive || others == 0);
}

static void shm_take(struct js_file *file, int lock, bool exclusive)
{
    struct node *node = file->node;

    if (exclusive) {
        node->shm_exclusive[lock] = file;
    } else if ((file->shm_shared & 1u << lock) == 0) {
        file->shm_shared |= 1u << lock;
        node->shm_shared[lock]++;
    }
}

static int file_shm_lock(sqlite3_file *base, int first, int count, int flags)
{
    struct js_file *file = (struct js_file *)base;
    const bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;

    for (int i = first; i < first + count; i++) {
        if (flags & SQLITE_SHM_UNLOCK)
            shm_unlock(file, i);
        else if (!shm_can_lock(file, i, exclusive))
            return SQLITE_BUSY;
    }
    for (int i = first; i < first + count && (flags & SQLITE_SHM_LOCK); i++)
        shm_take(file, i, exclusive);
    return SQLITE_OK;
}

static void file_shm_barrier(sqlite3_file *base)
{
    (void)base; /* there is one thread */
}

static int file_shm_unmap(sqlite3_file *base, int remove)
{
    struct js_file *file = (struct js_file *)base;
    struct node *node = file->node;

    (void)remove; /* it is memory, and goes with its last user */
    if (!file->has_shm)
        return SQLITE_OK;
    for (int i = 0; i < SHM_LOCKS; i++)
        shm_unlock(file, i);
    file->has_shm = false;
    if (--node->shm_users == 0) {
        while (node->region_count > 0)
            free(node->regions[--node->region_count]);
        free(node->regions);
        node->regions = NULL;
    }
    return SQLITE_OK;
}

/* ------------------------------------------------------------------------------------------------ files */

static int file_close(sqlite3_file *base)
{
    struct js_file *file = (struct js_file *)base;

    (void)file_unlock(base, SQLITE_LOCK_NONE);
    (void)file_shm_unmap(base, 0);
    return node_release(file->node);
}

static int file_control(sqlite3_file *base, int operation, void *argument)
{
    (void)base;
    (void)operation;
    (void)argument;
    return SQLITE_NOTFOUND;
}

static int file_sector_size(sqlite3_file *base)
{
    (void)base;
    return SECTOR_BYTES;
}

static int file_characteristics(sqlite3_file *base)
{
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE; /* as SQLite takes for granted on other systems */
}

static const sqlite3_io_methods file_methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

/* -------------------------------------------------------------------------------------------------- vfs */

/* Temporary files are in memory (SQLITE_TEMP_STORE=3), so every file has a name. */
static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *used)
{
    struct js_file *file = (struct js_file *)base;

    (void)vfs;
    memset(file, 0, sizeof *file);
    if (!path)
        return SQLITE_CANTOPEN;
    const int rc = node_take(path, flags, &file->node);
    if (rc != SQLITE_OK)
        return rc;
    file->base.pMethods = &file_methods;
    if (used && !file->node->writable)
        *used = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
    else if (used)
        *used = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync_folder)
{
    const int result = host_delete(path, sync_folder);

    (void)vfs;
    return result == HOST_ABSENT ? SQLITE_IOERR_DELETE_NOENT : result < 0 ? SQLITE_IOERR_DELETE : SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *result)
{
    int64_t facts[4] = {0, 0, 0, 0};
    const int found = host_stat(path, facts);

    (void)vfs;
    /* SQLite asks whether a file exists to find a journal. An empty one means nothing, as elsewhere. */
    *result = found >= 0 && (flags != SQLITE_ACCESS_EXISTS || facts[0] > 0);
    return found < 0 && found != HOST_ABSENT ? SQLITE_IOERR_ACCESS : SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *path, int size, char *full)
{
    const size_t bytes = strlen(path) + 1;

    (void)vfs;
    if (bytes > (size_t)size)
        return SQLITE_CANTOPEN;
    memcpy(full, path, bytes);
    return SQLITE_OK;
}

static int vfs_random(sqlite3_vfs *vfs, int count, char *bytes)
{
    (void)vfs;
    host_random(bytes, count);
    return count;
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    host_sleep(us);
    return us;
}

static int vfs_time(sqlite3_vfs *vfs, sqlite3_int64 *julian_ms)
{
    (void)vfs;
    *julian_ms =
        INT64_C(210866760000000) + (sqlite3_int64)(host_wall() / 1000); /* 1970 by the Julian calendar */
    return SQLITE_OK;
}

static int vfs_time_of_day(sqlite3_vfs *vfs, double *julian_days)
{
    sqlite3_int64 ms = 0;
    const int rc = vfs_time(vfs, &ms);

    *julian_days = (double)ms / 86400000.0;
    return rc;
}

int sqlite3_os_init(void)
{
    static sqlite3_vfs vfs = {
        .iVersion = 2,
        .szOsFile = sizeof(struct js_file),
        .mxPathname = PATH_MAX - 1,
        .zName = "host",
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_path,
        .xRandomness = vfs_random,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_time_of_day,
        .xCurrentTimeInt64 = vfs_time,
    };
    return sqlite3_vfs_register(&vfs, 1);
}

int sqlite3_os_end(void)
{
    return SQLITE_OK;
}
