/* A disk that stops: from the Nth write, sync, truncation or removal on, none succeeds any more. */
#ifndef SESLITE_TEST_STOPPING_DISK_H
#define SESLITE_TEST_STOPPING_DISK_H

#include "open.h"
#include "random.h"

#include "../../tools/bench/over_vfs.h"

static struct {
    long operations; /* that change something */
    long stop_at;    /* from this one on nothing is changed; 0: never */
    bool stopped;
} disk;

static uint64_t disk_seed; /* SESLITE_TEST_SEED: another gives other lengths; 0: none */
static long disk_apart;    /* SESLITE_STOPS_APART: from one operation at which it stops to the next */

/* Below `most`, the same for a number in each run of the seed; without one it is the usual length. */
static int disk_length(long number, int most, int usual)
{
    uint64_t own = disk_seed * 1000000 + (uint64_t)number;
    return disk_seed ? (int)random_below(&own, (size_t)most) : usual;
}

/* True when the operation is not done. `*is_first`: it is the one at which everything stops. */
static bool disk_stops(bool *is_first)
{
    *is_first = false;
    if (!disk.stopped && ++disk.operations == disk.stop_at) {
        disk.stopped = true;
        *is_first = true;
    }
    return disk.stopped;
}

static int disk_write(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 offset)
{
    bool is_first;
    const bool stopped = disk_stops(&is_first);
    int rc = SQLITE_OK;

    /* The write at which it stops is torn: half of it is done, or some of it. */
    if (!stopped || is_first)
        rc = over_file_of(file)->real->xWrite(
            file, data, is_first ? disk_length(disk.operations, bytes, bytes / 2) : bytes, offset);
    return stopped ? SQLITE_IOERR_WRITE : rc;
}

static int disk_sync(sqlite3_file *file, int flags)
{
    bool is_first;
    return disk_stops(&is_first) ? SQLITE_IOERR_FSYNC : over_file_of(file)->real->xSync(file, flags);
}

static int disk_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    bool is_first;
    return disk_stops(&is_first) ? SQLITE_IOERR_TRUNCATE : over_file_of(file)->real->xTruncate(file, size);
}

static int disk_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    bool is_first;
    (void)vfs;
    return disk_stops(&is_first) ? SQLITE_IOERR_DELETE : over_below->xDelete(over_below, name, sync);
}

static int disk_shm_unmap(sqlite3_file *file, int remove_it)
{
    return over_file_of(file)->real->xShmUnmap(file, remove_it && !disk.stopped);
}

static void disk_make(void)
{
    over_init("stopping", (sqlite3_io_methods){.xWrite = disk_write,
                                               .xTruncate = disk_truncate,
                                               .xSync = disk_sync,
                                               .xShmUnmap = disk_shm_unmap});
    over_vfs.xDelete = disk_delete;
    disk_seed = (uint64_t)support_setting("SESLITE_TEST_SEED", 0);
    disk_apart = support_setting("SESLITE_STOPS_APART", 1);
}

/* From now on files are opened on it; 0: it never stops. */
static void disk_begin(long stop_at)
{
    memset(&disk, 0, sizeof disk);
    disk.stop_at = stop_at;
    assert_int_equal(sqlite3_vfs_register(&over_vfs, 1), SQLITE_OK);
}

static void disk_end(void)
{
    assert_int_equal(sqlite3_vfs_unregister(&over_vfs), SQLITE_OK);
}

/* All files of a store. */
static void disk_remove_files(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        struct text name = {NULL, 0};
        text_printf(&name, "%s%s", path, suffixes[i]);
        (void)unlink(name.data);
        free(name.data);
    }
}

/* A call that met the disk as it stopped has failed so. */
static void assert_stopped(int code, const ses_error *error)
{
    if (code < 0 && code != SES_IO && code != SES_CANTOPEN && code != SES_UNKNOWN)
        fail_msg("%s: %s", ses_code_name(code), error->message);
}

#endif
