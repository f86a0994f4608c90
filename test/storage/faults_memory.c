/* Every allocation of the library fails in turn: the 1st, the 2nd, the 3rd ... until none does. */
#include <unistd.h>

#include "scenario.h"

/* Counts what is allocated, and fails at the one it is told to. */
static struct {
    long calls;
    long live;
    long fail_at; /* 0: never */
    bool sticks;  /* all later ones fail too */
} heap;

static bool fails_now(void)
{
    heap.calls++;
    return heap.fail_at > 0 && (heap.sticks ? heap.calls >= heap.fail_at : heap.calls == heap.fail_at);
}

static void *heap_allocate(void *context, size_t bytes)
{
    (void)context;
    void *memory = fails_now() ? NULL : malloc(bytes);
    heap.live += memory != NULL;
    return memory;
}

static void *heap_resize(void *context, void *memory, size_t bytes)
{
    (void)context;
    return fails_now() ? NULL : realloc(memory, bytes);
}

static void heap_release(void *context, void *memory)
{
    (void)context;
    heap.live--;
    free(memory);
}

static void heap_lift(void)
{
    heap.fail_at = 0;
}

static bool is_nomem(int code)
{
    return code == SES_NOMEM;
}

static const ses_allocator heap_allocator = {sizeof heap_allocator, NULL, heap_allocate, heap_resize,
                                             heap_release};

static void fail_each_in(enum scene scene, bool sticks, const char *path)
{
    struct faults faults = {.lift = heap_lift,
                            .expected = is_nomem,
                            .allocator = &heap_allocator,
                            .path = path,
                            .scene = scene,
                            .calls = &heap.calls};
    char undisturbed[sizeof faults.dump];

    faults_prepare(&faults);
    memset(&heap, 0, sizeof heap);
    faults_run(&faults);
    assert_string_equal(faults.wrong, "");
    assert_int_equal(faults.failures, 0);
    assert_int_equal(heap.live, 0);
    long allocations = heap.calls;
    assert_true(allocations - faults.first >= (scene == SCENE_OPENING ? 3 : 25));
    strcpy(undisturbed, faults.dump);
    assert_true(scene != SCENE_HANDLES || strstr(undisturbed, "7 more") != NULL);

    for (long n = faults.first; n <= allocations; n++) {
        faults_prepare(&faults);
        memset(&heap, 0, sizeof heap);
        heap.fail_at = n;
        heap.sticks = sticks;
        faults_run(&faults);
        if (faults.wrong[0] || strcmp(faults.dump, undisturbed) != 0 || heap.live != 0 ||
            faults.failures != 1) {
            print_error("scene %d, allocation %ld of %ld: %s\n"
                        "%d steps failed, %ld blocks leaked, the store held\n%s",
                        scene, n, allocations, faults.wrong, faults.failures, heap.live, faults.dump);
            fail();
        }
    }
}

static void fail_each_allocation(bool sticks, const char *path)
{
    for (enum scene scene = 0; scene < SCENES; scene++)
        fail_each_in(scene, sticks, path);
}

static void test_each_allocation_fails_once(void **state)
{
    (void)state;
    fail_each_allocation(false, ":memory:");
}

static void test_from_each_allocation_on_all_fail(void **state)
{
    (void)state;
    fail_each_allocation(true, ":memory:");
}

static void test_each_allocation_fails_once_with_a_file(void **state)
{
    (void)state;
    char *folder = support_folder_make();
    char *path = support_path(folder, "store.db");
    fail_each_allocation(false, path);
    free(path);
    support_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_fails_once),
        cmocka_unit_test(test_from_each_allocation_on_all_fail),
        cmocka_unit_test(test_each_allocation_fails_once_with_a_file),
    };
    if (access("/dev/shm", W_OK) == 0)
        (void)setenv("TMPDIR", "/dev/shm", 0); /* where syncing costs nothing */
    return cmocka_run_group_tests_name("faults: memory", tests, NULL, NULL);
}
