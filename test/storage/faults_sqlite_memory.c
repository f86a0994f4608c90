/*
 * SQLite's own allocations fail, once or from then on. SQLite is given an allocator for that, in this
 * program only; and no memory set aside for small pieces, so that each of them is an allocation.
 */
#include <sqlite3.h>
#include <unistd.h>

#include "scenario.h"

/* A step has some hundred allocations: of so many one fails, and one from which on all do. */
enum { EVERY = 100 };

static long live; /* blocks */

static sqlite3_mem_methods system_memory;

static void *heap_allocate(int bytes)
{
    void *memory = fault_now() ? NULL : system_memory.xMalloc(bytes);
    live += memory != NULL;
    return memory;
}

static void *heap_resize(void *memory, int bytes)
{
    return fault_now() ? NULL : system_memory.xRealloc(memory, bytes);
}

static void heap_free(void *memory)
{
    live -= memory != NULL;
    system_memory.xFree(memory);
}

static bool is_nomem(int code)
{
    return code == SES_NOMEM;
}

static void install(void)
{
    sqlite3_mem_methods methods;

    assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_memory), SQLITE_OK);
    methods = system_memory;
    methods.xMalloc = heap_allocate;
    methods.xRealloc = heap_resize;
    methods.xFree = heap_free;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods), SQLITE_OK);
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK);
    assert_int_equal(sqlite3_initialize(), SQLITE_OK);
}

/* Runs a scene without faults, and gives the blocks that SQLite then keeps for good. */
static long learn(struct faults *faults)
{
    faults_prepare(faults);
    faults_run(faults); /* makes what is kept */
    faults_prepare(faults);
    fault_begin_recording();
    faults_run(faults);
    fault_choose();
    assert_string_equal(faults->wrong, "");
    assert_true(fault_calls.count > 1000);
    return live;
}

static void fail_each_in(enum scene scene, const char *path, size_t shift)
{
    struct faults faults = {.expected = is_nomem, .path = path, .scene = scene};
    char undisturbed[sizeof faults.dump];
    long failures = 0;
    long fired = 0;
    const long kept = learn(&faults);

    strcpy(undisturbed, faults.dump);
    for (size_t run = shift; run < fault_calls.runs; run += fault_apart(EVERY / 2)) {
        faults_prepare(&faults);
        fault_begin_run(run, run % EVERY != shift);
        faults_run(&faults);
        failures += faults.failures;
        fired += fault_calls.fired;
        if (faults.wrong[0] || strcmp(faults.dump, undisturbed) != 0 || live != kept) {
            print_error("scene %d, run %zu of %zu: %s\n"
                        "%d steps failed, %ld blocks leaked, the store held\n%s",
                        scene, run, fault_calls.runs, faults.wrong, faults.failures, live - kept,
                        faults.dump);
            fail();
        }
    }
    /* SQLite can do without some: a larger page cache, a sorter that spills later. */
    assert_true(failures > fired / 2);
    support_figure("faults", fired);
}

static void fail_each(const char *path, size_t shift)
{
    for (enum scene scene = 0; scene < SCENES; scene++)
        fail_each_in(scene, path, shift);
}

PLAIN_TEST(allocations_fail)
{
    fail_each(":memory:", 0);
}

PLAIN_TEST(allocations_fail_with_a_file)
{
    char *folder = support_folder_make();
    char *path = support_path(folder, "store.db");
    fail_each(path, EVERY / 4);
    free(path);
    support_folder_remove(folder);
}

BEFORE_TESTS()
{
    install();
    support_folders_in_memory();
}
