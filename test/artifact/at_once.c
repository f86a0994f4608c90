/* Several threads with artifacts of one user: each save is a version of its own, and no byte in use is
 * removed. */
#include "../artifact.h"
#include "at_once.h"

TEST(threads_of_two_stores_share_the_bytes_of_a_user)
{
    ses_store *stores[2] = {fixture->store, NULL};

    assert_ok(ses_open(fixture->path, &fixture->options, &stores[1], &error));
    at_once_run_all(stores, support_steps(40));
    ses_close(stores[1]);
    assert_sound(fixture);
}
