/*
 * The disk fails: each read, write, sync and truncation in turn, once or for good, and a disk that is full.
 * After each failure the file is opened without faults, and must hold what was acknowledged, whole.
 */
#include <unistd.h>

#include "scenario.h"

#include "../../tools/bench/over_vfs.h"

enum operation { OPERATION_READ, OPERATION_WRITE, OPERATION_SYNC, OPERATION_TRUNCATE };

static struct {
    enum operation operation;
    int rc;
} disk;

static bool fails_now(enum operation operation)
{
    return operation == disk.operation && fault_now();
}

static int disk_read(sqlite3_file *file, void *data, int bytes, sqlite3_int64 offset)
{
    return fails_now(OPERATION_READ) ? disk.rc : over_file_of(file)->real->xRead(file, data, bytes, offset);
}

/* A failing write leaves the first half of what it was to write, as a disk may. */
static int disk_write(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 offset)
{
    bool fails = fails_now(OPERATION_WRITE);
    int rc = over_file_of(file)->real->xWrite(file, data, fails ? bytes / 2 : bytes, offset);
    return fails ? disk.rc : rc;
}

static int disk_sync(sqlite3_file *file, int flags)
{
    return fails_now(OPERATION_SYNC) ? disk.rc : over_file_of(file)->real->xSync(file, flags);
}

static int disk_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return fails_now(OPERATION_TRUNCATE) ? disk.rc : over_file_of(file)->real->xTruncate(file, size);
}

static void install(void)
{
    over_init("failing",
              (sqlite3_io_methods){
                  .xRead = disk_read, .xWrite = disk_write, .xTruncate = disk_truncate, .xSync = disk_sync});
    assert_int_equal(sqlite3_vfs_register(&over_vfs, 1), SQLITE_OK);
}

static bool is_expected(int code)
{
    /* A file whose first page cannot be read may look like no database. */
    return disk.rc == SQLITE_FULL ? code == SES_FULL
                                  : code == SES_IO || code == SES_CANTOPEN || code == SES_UNKNOWN ||
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
    ses_store *store = NULL;
    ses_error error;

    STEP(SES_OK, ses_open(faults->path, &options, &store, &error));
    if (store)
        faults_dump(faults, store);
    ses_close(store);
}

/* A disk that is full differs from one that fails in the code only: not every write has to find it so. */
enum { FULL_EVERY = 3 };

static void fail_each_in(enum scene scene, const char *path, enum operation operation, int rc, bool sticks)
{
    struct faults faults = {.expected = is_expected, .path = path, .scene = scene};
    char undisturbed[sizeof faults.dump];
    int failures = 0;
    long fired = 0;

    disk.operation = operation;
    disk.rc = rc;
    faults_prepare(&faults);
    fault_begin_recording();
    faults_run(&faults);
    fault_choose();
    assert_string_equal(faults.wrong, "");
    strcpy(undisturbed, faults.dump);
    assert_true(fault_calls.count >= 3);
    for (size_t run = 0; run < fault_calls.runs; run += fault_apart(rc == SQLITE_FULL ? FULL_EVERY : 1)) {
        faults_prepare(&faults);
        fault_begin_run(run, sticks);
        faults_run(&faults);
        failures += faults.failures;
        fired += fault_calls.fired;
        fault_begin_run(SIZE_MAX, false);
        if (!faults.wrong[0])
            reopen_and_dump(&faults);
        if (faults.wrong[0] || strcmp(faults.dump, undisturbed) != 0) {
            print_error("scene %d, run %zu of %zu: %s\nthe store held\n%s", scene, run, fault_calls.runs,
                        faults.wrong, faults.dump);
            fail();
        }
        assert_sound(path);
    }
    assert_true(failures > 0);
    support_figure("faults", fired);
}

static void fail_each(enum operation operation, int rc, bool sticks)
{
    char *folder = support_folder_make();
    char *path = support_path(folder, "store.db");
    for (enum scene scene = 0; scene < SCENES; scene++)
        fail_each_in(scene, path, operation, rc, sticks);
    free(path);
    support_folder_remove(folder);
}

PLAIN_TEST(each_write_fails_once)
{
    fail_each(OPERATION_WRITE, SQLITE_IOERR_WRITE, false);
}

PLAIN_TEST(each_write_fails_for_good)
{
    fail_each(OPERATION_WRITE, SQLITE_IOERR_WRITE, true);
}

PLAIN_TEST(the_disk_is_full)
{
    fail_each(OPERATION_WRITE, SQLITE_FULL, true);
}

PLAIN_TEST(each_sync_fails_once)
{
    fail_each(OPERATION_SYNC, SQLITE_IOERR_FSYNC, false);
}

PLAIN_TEST(each_sync_fails_for_good)
{
    fail_each(OPERATION_SYNC, SQLITE_IOERR_FSYNC, true);
}

PLAIN_TEST(each_read_fails_once)
{
    fail_each(OPERATION_READ, SQLITE_IOERR_READ, false);
}

BEFORE_TESTS()
{
    install();
    support_folders_in_memory();
}
