/*
 * SQLite's own allocations fail in turn, once or from then on. SQLite is given an allocator for that, in this
 * program only; and no memory set aside for small pieces, so that each of them is an allocation.
 */
#include <sqlite3.h>
#include <unistd.h>

#include "scenario.h"

/* A scene has some thousand allocations: of so many one fails, and the tests begin at different ones. */
enum { EVERY = 150 * FAULTS_EVERY };

static struct {
    long calls;
    long live;
    long fail_at; /* 0: never */
    bool sticks;  /* all later ones fail too */
} heap;

static sqlite3_mem_methods system_memory;

static bool fails_now(void)
{
    heap.calls++;
    return heap.fail_at > 0 && (heap.sticks ? heap.calls >= heap.fail_at : heap.calls == heap.fail_at);
}

static void *heap_allocate(int bytes)
{
    void *memory = fails_now() ? NULL : system_memory.xMalloc(bytes);
    heap.live += memory != NULL;
    return memory;
}

static void *heap_resize(void *memory, int bytes)
{
    return fails_now() ? NULL : system_memory.xRealloc(memory, bytes);
}

static void heap_free(void *memory)
{
    heap.live -= memory != NULL;
    system_memory.xFree(memory);
}

static void heap_lift(void)
{
    heap.fail_at = 0;
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

static void fail_each_in(enum scene scene, const char *path, bool sticks, long shift)
{
    struct faults faults = {
        .lift = heap_lift, .expected = is_nomem, .path = path, .scene = scene, .calls = &heap.calls};
    char undisturbed[sizeof faults.dump];
    int failures = 0;
    int runs = 0;

    /* The first run also makes what SQLite keeps for good. */
    for (int i = 0; i < 2; i++) {
        faults_prepare(&faults);
        heap.calls = 0;
        faults_run(&faults);
        assert_string_equal(faults.wrong, "");
    }
    strcpy(undisturbed, faults.dump);
    long allocations = heap.calls;
    long live = heap.live;
    assert_true(allocations - faults.first > 1000);
    for (long n = faults.first + shift; n <= allocations; n += EVERY) {
        faults_prepare(&faults);
        heap.calls = 0;
        heap.sticks = sticks;
        heap.fail_at = n;
        faults_run(&faults);
        heap.fail_at = 0;
        failures += faults.failures;
        runs++;
        if (faults.wrong[0] || strcmp(faults.dump, undisturbed) != 0 || heap.live != live) {
            print_error("scene %d, allocation %ld of %ld: %s\n"
                        "%d steps failed, %ld blocks leaked, the store held\n%s",
                        scene, n, allocations, faults.wrong, faults.failures, heap.live - live, faults.dump);
            fail();
        }
    }
    /* SQLite can do without some: a larger page cache, a sorter that spills later. */
    assert_true(failures > runs / 2);
}

static void fail_each(const char *path, bool sticks, long shift)
{
    for (enum scene scene = 0; scene < SCENES; scene++)
        fail_each_in(scene, path, sticks, shift);
}

static void in_memory(bool sticks, long shift)
{
    fail_each(":memory:", sticks, shift);
}

static void in_a_file(bool sticks, long shift)
{
    char *folder = support_folder_make();
    char *path = support_path(folder, "store.db");
    fail_each(path, sticks, shift);
    free(path);
    support_folder_remove(folder);
}

static void test_allocations_fail_once(void **state)
{
    (void)state;
    in_memory(false, 0);
}

static void test_allocations_fail_from_then_on(void **state)
{
    (void)state;
    in_memory(true, EVERY / 4);
}

static void test_allocations_fail_once_with_a_file(void **state)
{
    (void)state;
    in_a_file(false, EVERY / 2);
}

static void test_allocations_fail_from_then_on_with_a_file(void **state)
{
    (void)state;
    in_a_file(true, EVERY * 3 / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocations_fail_once),
        cmocka_unit_test(test_allocations_fail_from_then_on),
        cmocka_unit_test(test_allocations_fail_once_with_a_file),
        cmocka_unit_test(test_allocations_fail_from_then_on_with_a_file),
    };
    install();
    if (access("/dev/shm", W_OK) == 0)
        (void)setenv("TMPDIR", "/dev/shm", 0); /* where syncing costs nothing */
    return cmocka_run_group_tests_name("faults: memory of SQLite", tests, NULL, NULL);
}
