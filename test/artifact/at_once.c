/* Several threads with artifacts of one user: each save is a version of its own, and no byte in use is removed. */
#include "../artifact.h"
#include "at_once.h"

static void test_threads_of_two_stores_share_the_bytes_of_a_user(void **state)
{
    struct fixture *fixture = *state;
    ses_store *stores[2] = {fixture->store, NULL};
    ses_error error;

    assert_ok(ses_open(fixture->path, &fixture->options, &stores[1], &error));
    at_once_run_all(stores, support_steps(40));
    ses_close(stores[1]);
    assert_sound(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_threads_of_two_stores_share_the_bytes_of_a_user, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests_name("artifacts: at once", tests, NULL, NULL);
}
