/* Two threads open the first follower of a store at the same time: both share what the first of them made,
 * and nothing is left of what the other made. */
#include "open.h"

static const ses_key key = {"app", "user", "session"};

/* The thread whose allocations are counted; the one numbered `at` lets another thread open a follower
 * first. */
struct racing {
    struct counting_memory memory; /* must come first: it is the context of the allocator */
    ses_store *store;
    long at;
};

static void *open_another(void *context)
{
    struct racing *racing = context;
    ses_follower *follower = NULL;
    ses_error error;

    assert_ok(ses_follower_open(racing->store, &key, NULL, &follower, &error));
    ses_follower_close(follower);
    return NULL;
}

static void *allocate(void *context, size_t bytes)
{
    struct racing *racing = context;
    pthread_t other;

    if (racing->at > 0 && --racing->at == 0) {
        assert_int_equal(pthread_create(&other, NULL, open_another, racing), 0);
        assert_int_equal(pthread_join(other, NULL), 0);
    }
    return counting_allocate(context, bytes);
}

/* False when opening a follower makes fewer allocations. */
static bool race_at(const char *path, long at)
{
    struct racing racing = {.at = 0};
    ses_allocator allocator = counting_allocator(&racing.memory);
    const ses_open_options options = {.size = sizeof options, .allocator = &allocator};
    ses_follower *follower = NULL;
    ses_error error;

    allocator.allocate = allocate;
    assert_ok(ses_open(path, &options, &racing.store, &error));
    racing.at = at;
    assert_ok(ses_follower_open(racing.store, &key, NULL, &follower, &error));
    const bool raced = racing.at == 0;
    racing.at = 0;
    ses_follower_close(follower);
    ses_close(racing.store);
    assert_no_blocks(&racing.memory);
    return raced;
}

FOLDER_TEST(the_first_follower_is_opened_twice_at_once)
{
    long at = 1;

    ses_store *store = must_open(folder->path, NULL);
    must_create(store, &key, NULL);
    ses_close(store);
    while (race_at(folder->path, at))
        at++;
    assert_in_range(at, 3, 100);
}
