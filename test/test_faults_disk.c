/*
 * The disk fails: each read, write, sync and truncation in turn, once or for good, and a disk that is full. After
 * each failure the file is opened without faults, and must hold what was acknowledged, whole.
 */
#include <sqlite3.h>

#include "scenario.h"

enum operation { OPERATION_READ, OPERATION_WRITE, OPERATION_SYNC, OPERATION_TRUNCATE, OPERATION_COUNT };

static struct {
    long calls[OPERATION_COUNT];
    enum operation operation;
    long fail_at; /* 0: never */
    bool sticks;
    int rc;
} disk;

static sqlite3_vfs *below;
static sqlite3_vfs disk_vfs;
static sqlite3_io_methods disk_methods;

struct disk_file {
    sqlite3_file base;
    sqlite3_file *real;
};

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct disk_file *)(void *)file)->real;
}

static bool fails_now(enum operation operation)
{
    long n = ++disk.calls[operation];
    return disk.fail_at > 0 && operation == disk.operation &&
           (disk.sticks ? n >= disk.fail_at : n == disk.fail_at);
}

static int disk_read(sqlite3_file *file, void *data, int bytes, sqlite3_int64 offset)
{
    return fails_now(OPERATION_READ) ? disk.rc
                                     : real_of(file)->pMethods->xRead(real_of(file), data, bytes, offset);
}

/* A failing write leaves the first half of what it was to write, as a disk may. */
static int disk_write(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 offset)
{
    bool fails = fails_now(OPERATION_WRITE);
    int rc = real_of(file)->pMethods->xWrite(real_of(file), data, fails ? bytes / 2 : bytes, offset);
    return fails ? disk.rc : rc;
}

static int disk_sync(sqlite3_file *file, int flags)
{
    return fails_now(OPERATION_SYNC) ? disk.rc : real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int disk_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return fails_now(OPERATION_TRUNCATE) ? disk.rc : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int disk_close(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int disk_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int disk_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int disk_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int disk_check_lock(sqlite3_file *file, int *result)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), result);
}

static int disk_control(sqlite3_file *file, int operation, void *argument)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int disk_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int disk_traits(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int disk_shm_map(sqlite3_file *file, int page, int bytes, int extend, void volatile **memory)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), page, bytes, extend, memory);
}

static int disk_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}

static void disk_shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int disk_shm_unmap(sqlite3_file *file, int remove_it)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), remove_it);
}

static int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    struct disk_file *own = (struct disk_file *)(void *)file;
    (void)vfs;
    own->real = (sqlite3_file *)(own + 1);
    int rc = below->xOpen(below, name, own->real, flags, out_flags);
    own->base.pMethods = own->real->pMethods ? &disk_methods : NULL;
    return rc;
}

static void install(void)
{
    below = sqlite3_vfs_find(NULL);
    disk_vfs = *below;
    disk_vfs.zName = "failing";
    disk_vfs.szOsFile = (int)sizeof(struct disk_file) + below->szOsFile;
    disk_vfs.pNext = NULL;
    disk_vfs.xOpen = disk_open;
    disk_methods = (sqlite3_io_methods){
        .iVersion = 2,
        .xClose = disk_close,
        .xRead = disk_read,
        .xWrite = disk_write,
        .xTruncate = disk_truncate,
        .xSync = disk_sync,
        .xFileSize = disk_size,
        .xLock = disk_lock,
        .xUnlock = disk_unlock,
        .xCheckReservedLock = disk_check_lock,
        .xFileControl = disk_control,
        .xSectorSize = disk_sector,
        .xDeviceCharacteristics = disk_traits,
        .xShmMap = disk_shm_map,
        .xShmLock = disk_shm_lock,
        .xShmBarrier = disk_shm_barrier,
        .xShmUnmap = disk_shm_unmap,
    };
    assert_int_equal(sqlite3_vfs_register(&disk_vfs, 1), SQLITE_OK);
}

static void lift(void)
{
    disk.fail_at = 0;
}

static bool is_expected(int code)
{
    /* A file whose first page cannot be read may look like no database. */
    return disk.rc == SQLITE_FULL ? code == SES_FULL
                                  : code == SES_IO || code == SES_CANTOPEN ||
                                        (disk.operation == OPERATION_READ && code == SES_NOTASTORE);
}

static void assert_sound(const char *path)
{
    sqlite3 *handle = NULL;
    sqlite3_stmt *statement = NULL;

    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(handle, "PRAGMA integrity_check", -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(statement, 0), "ok");
    sqlite3_finalize(statement);
    sqlite3_close(handle);
}

static void reopen_and_dump(struct faults *faults)
{
    const ses_open_options options = {.size = sizeof options, .clock = faults_clock};
    const ses_key key = {"app", "user", "one"};
    ses_store *store = NULL;
    ses_error error;

    faults->dump[0] = '\0';
    STEP(SES_OK, ses_open(faults->path, &options, &store, &error));
    if (store)
        faults_dump(faults, store, &key);
    ses_close(store);
}

static void fail_each(enum operation operation, int rc, bool sticks)
{
    char *folder = support_folder_make();
    char *path = support_path(folder, "store.db");
    struct faults faults = {.lift = lift, .expected = is_expected, .path = path};
    char undisturbed[sizeof faults.dump];
    int failures = 0;

    memset(&disk, 0, sizeof disk);
    faults_run(&faults);
    assert_string_equal(faults.wrong, "");
    strcpy(undisturbed, faults.dump);
    long calls = disk.calls[operation];
    assert_true(calls > 5);
    for (long n = 1; n <= calls; n++) {
        faults_remove_files(path);
        memset(&disk, 0, sizeof disk);
        disk.operation = operation;
        disk.rc = rc;
        disk.sticks = sticks;
        disk.fail_at = n;
        faults_run(&faults);
        failures += faults.failures;
        lift();
        if (!faults.wrong[0])
            reopen_and_dump(&faults);
        if (faults.wrong[0] || strcmp(faults.dump, undisturbed) != 0) {
            print_error("operation %ld of %ld: %s\nthe store held\n%s", n, calls, faults.wrong, faults.dump);
            fail();
        }
        assert_sound(path);
    }
    assert_true(failures > 0);
    free(path);
    support_folder_remove(folder);
}

static void test_each_write_fails_once(void **state)
{
    (void)state;
    fail_each(OPERATION_WRITE, SQLITE_IOERR_WRITE, false);
}

static void test_each_write_fails_for_good(void **state)
{
    (void)state;
    fail_each(OPERATION_WRITE, SQLITE_IOERR_WRITE, true);
}

static void test_the_disk_is_full(void **state)
{
    (void)state;
    fail_each(OPERATION_WRITE, SQLITE_FULL, true);
}

static void test_each_sync_fails_once(void **state)
{
    (void)state;
    fail_each(OPERATION_SYNC, SQLITE_IOERR_FSYNC, false);
}

static void test_each_sync_fails_for_good(void **state)
{
    (void)state;
    fail_each(OPERATION_SYNC, SQLITE_IOERR_FSYNC, true);
}

static void test_each_read_fails_once(void **state)
{
    (void)state;
    fail_each(OPERATION_READ, SQLITE_IOERR_READ, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_write_fails_once),    cmocka_unit_test(test_each_write_fails_for_good),
        cmocka_unit_test(test_the_disk_is_full),         cmocka_unit_test(test_each_sync_fails_once),
        cmocka_unit_test(test_each_sync_fails_for_good), cmocka_unit_test(test_each_read_fails_once),
    };
    install();
    return cmocka_run_group_tests_name("faults: disk", tests, NULL, NULL);
}
