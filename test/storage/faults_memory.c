/* Every allocation of the library fails in turn: the 1st, the 2nd, the 3rd ... until none does. */
#include <unistd.h>

#include "scenario.h"

static long live; /* blocks */

static void *heap_allocate(void *context, size_t bytes)
{
    (void)context;
    void *memory = fault_now() ? NULL : malloc(bytes);
    live += memory != NULL;
    return memory;
}

static void *heap_resize(void *context, void *memory, size_t bytes)
{
    (void)context;
    return fault_now() ? NULL : realloc(memory, bytes);
}

static void heap_release(void *context, void *memory)
{
    (void)context;
    live--;
    free(memory);
}

static bool is_nomem(int code)
{
    return code == SES_NOMEM;
}

static const ses_allocator heap_allocator = {sizeof heap_allocator, NULL, heap_allocate, heap_resize,
                                             heap_release};

static void fail_each_in(enum scene scene, bool sticks, const char *path)
{
    struct faults faults = {.expected = is_nomem, .allocator = &heap_allocator, .path = path, .scene = scene};
    char undisturbed[sizeof faults.dump];
    long fired = 0;

    faults_prepare(&faults);
    fault_begin_recording();
    faults_run(&faults);
    fault_choose();
    assert_string_equal(faults.wrong, "");
    assert_int_equal(faults.failures, 0);
    assert_int_equal(live, 0);
    assert_true(fault_calls.count >= (scene == SCENE_OPENING ? 3 : 20));
    strcpy(undisturbed, faults.dump);
    assert_true(scene != SCENE_HANDLES || strstr(undisturbed, "7 more") != NULL);

    for (size_t run = 0; run < fault_calls.runs; run += fault_apart(1)) {
        faults_prepare(&faults);
        fault_begin_run(run, sticks);
        faults_run(&faults);
        fired += fault_calls.fired;
        if (faults.wrong[0] || strcmp(faults.dump, undisturbed) != 0 || live != 0 ||
            faults.failures != fault_calls.fired) {
            print_error("scene %d, run %zu of %zu: %s\n"
                        "%d of %ld steps failed, %ld blocks leaked, the store held\n%s",
                        scene, run, fault_calls.runs, faults.wrong, faults.failures, fault_calls.fired, live,
                        faults.dump);
            fail();
        }
    }
    support_figure("faults", fired);
}

static void fail_each_allocation(bool sticks, const char *path)
{
    for (enum scene scene = 0; scene < SCENES; scene++)
        fail_each_in(scene, sticks, path);
}

PLAIN_TEST(each_allocation_fails_once)
{
    fail_each_allocation(false, ":memory:");
}

PLAIN_TEST(from_each_allocation_on_all_fail)
{
    fail_each_allocation(true, ":memory:");
}

PLAIN_TEST(each_allocation_fails_once_with_a_file)
{
    char *folder = support_folder_make();
    char *path = support_path(folder, "store.db");
    fail_each_allocation(false, path);
    free(path);
    support_folder_remove(folder);
}

BEFORE_TESTS()
{
    support_folders_in_memory();
}
