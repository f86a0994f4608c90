/* A process writes without a pause on a disk whose flush takes long. Other processes still get their turn. */
#include "open.h"

#include <signal.h>

#include "../../tools/bench/slow_vfs.h"

enum { FLUSH_US = 10000, APPENDS = 10 };

static const ses_key hogs = {"app", "user", "hog's"};
static const ses_key own = {"app", "user", "own"};

static ses_store *open_store(const char *path)
{
    ses_store *store = must_open(path, NULL);
    return store;
}

/* In the child: until it is killed, or for a while if nobody does. Says so when it has begun. */
static int write_without_pause(const char *path, int begun)
{
    ses_store *store = NULL;
    int64_t until = support_steady_us() / 1000 + 20000;
    int code = ses_open(path, NULL, &store, NULL);

    slow_vfs_set_delay(FLUSH_US);
    for (int i = 0; code == SES_OK && support_steady_us() / 1000 < until; i++) {
        code = ses_append_by_key(store, &hogs, "{}", SES_NUL, NULL, NULL, NULL);
        if (i == 3 && write(begun, "b", 1) != 1)
            code = SES_IO;
    }
    return 1;
}

static pid_t start_hog(const char *path)
{
    int begun[2];
    char byte;

    assert_int_equal(pipe(begun), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_int_not_equal(child, -1);
    if (child == 0)
        _exit(write_without_pause(path, begun[1]));
    close(begun[1]);
    assert_int_equal(read(begun[0], &byte, 1), 1);
    close(begun[0]);
    return child;
}

static int64_t hogs_version(ses_store *store)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    ses_session *session = NULL;
    ses_error error;

    assert_ok(ses_get(store, &hogs, GET_RANGE(&none), &session, &error));
    int64_t version = ses_session_version(session);
    ses_session_close(session);
    return version;
}

/* Counted in what the other one does meanwhile, so that it does not matter how fast the machine is. If that
 * one left the lock only for moments, it would do some thirty appends for each of these. */
FOLDER_TEST(nobody_starves_beside_a_busy_process)
{
    ses_store *store = open_store(folder->path);
    int status = 0;

    must_create(store, &hogs, NULL);
    must_create(store, &own, NULL);
    ses_close(store); /* a file may not be open at a fork */
    pid_t hog = start_hog(folder->path);
    store = open_store(folder->path);
    slow_vfs_set_delay(FLUSH_US);
    int64_t before = hogs_version(store);
    for (int i = 0; i < APPENDS; i++) {
        const struct timespec pause = {0, 2 * FLUSH_US * 1000};
        must_append_by_key(store, &own, "{}");
        nanosleep(&pause, NULL); /* in which the other has the lock again */
    }
    slow_vfs_set_delay(0);
    int64_t after = hogs_version(store);
    assert_int_equal(kill(hog, SIGKILL), 0);
    assert_int_equal(waitpid(hog, &status, 0), hog);
    ses_close(store);
    if (after - before > 12 * APPENDS)
        print_error("%d appends, and the other process made %d\n", APPENDS, (int)(after - before));
    assert_true(after - before <= 12 * APPENDS);
    assert_true(after > before); /* which has its turns as well */
    assert_sound(folder->path);
}

BEFORE_TESTS()
{
    assert_int_equal(slow_vfs_install(), SQLITE_OK);
}
