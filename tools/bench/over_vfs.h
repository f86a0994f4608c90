/*
 * SQLite's file system with some methods replaced, to observe or change its disk accesses. For tests and
 * benchmarks; a program can have only one.
 */
#ifndef SESLITE_OVER_VFS_H
#define SESLITE_OVER_VFS_H

#include <sqlite3.h>

/* Stored after SQLite's own file structure. */
struct over_file {
    sqlite3_io_methods methods;     /* the methods in use */
    const sqlite3_io_methods *real; /* the original methods */
    int flags;                      /* of xOpen */
};

static sqlite3_vfs *over_below; /* SQLite's default file system */
static sqlite3_vfs over_vfs;
static sqlite3_io_methods
    /* the replaced ones of xRead, xWrite, xTruncate, xSync, xShmUnmap and xDeviceCharacteristics */
    over_methods;

static inline int over_offset(void)
{
    const int alignment = (int)_Alignof(struct over_file);
    return (over_below->szOsFile + alignment - 1) / alignment * alignment;
}

static inline struct over_file *over_file_of(sqlite3_file *file)
{
    return (struct over_file *)(void *)((char *)file + over_offset());
}

static inline void over_put(sqlite3_io_methods *methods)
{
    methods->iVersion = 2; /* no memory mapping, which would bypass them */
    if (over_methods.xRead)
        methods->xRead = over_methods.xRead;
    if (over_methods.xWrite)
        methods->xWrite = over_methods.xWrite;
    if (over_methods.xTruncate)
        methods->xTruncate = over_methods.xTruncate;
    if (over_methods.xSync)
        methods->xSync = over_methods.xSync;
    if (over_methods.xShmUnmap)
        methods->xShmUnmap = over_methods.xShmUnmap;
    if (over_methods.xDeviceCharacteristics)
        methods->xDeviceCharacteristics = over_methods.xDeviceCharacteristics;
}

static inline int over_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    (void)vfs;
    int rc = over_below->xOpen(over_below, name, file, flags, out_flags);
    if (file->pMethods) {
        struct over_file *own = over_file_of(file);
        own->flags = flags;
        own->real = file->pMethods;
        own->methods = *own->real;
        over_put(&own->methods);
        file->pMethods = &own->methods;
    }
    return rc;
}

/* Fills `over_vfs`, which the caller registers. Its own methods (such as xDelete) may be set before or
 * after. */
static inline void over_init(const char *name, sqlite3_io_methods methods)
{
    over_below = sqlite3_vfs_find(NULL);
    over_methods = methods;
    over_vfs = *over_below;
    over_vfs.zName = name;
    over_vfs.szOsFile = over_offset() + (int)sizeof(struct over_file);
    over_vfs.pNext = NULL;
    over_vfs.xOpen = over_open;
}

#endif
