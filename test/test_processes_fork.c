/* Forking with a store open, and the locks that a process has on a file which it opens more than once. */
#include "open.h"

static const ses_key key = {"app", "user", "session"};

static ses_store *open_store(const char *path)
{
    ses_store *store = NULL;
    ses_error error;
    assert_ok(ses_open(path, NULL, &store, &error));
    return store;
}

/* Steps that parent and child take in turns. */
struct turns {
    int to_child[2];
    int to_parent[2];
    const char *path;
};

static void turns_make(struct turns *turns, const char *path)
{
    turns->path = path;
    assert_int_equal(pipe(turns->to_child), 0);
    assert_int_equal(pipe(turns->to_parent), 0);
}

static void turns_free(struct turns *turns)
{
    close(turns->to_child[0]);
    close(turns->to_child[1]);
    close(turns->to_parent[0]);
    close(turns->to_parent[1]);
}

static bool give(int descriptor)
{
    return write(descriptor, "x", 1) == 1;
}

static bool take(int descriptor)
{
    char byte;
    return read(descriptor, &byte, 1) == 1;
}

/* Opens the store again in the child, as the header says, and appends; the parent closes its store in between. */
static int run_open_again(void *context)
{
    const struct turns *turns = context;
    ses_store *store = NULL;
    ses_error error;

    int code = ses_open(turns->path, NULL, &store, &error);
    if (code == SES_OK)
        code = ses_append_by_key(store, &key, "{\"id\":\"child-1\"}", SES_NUL, NULL, NULL, &error);
    if (!give(turns->to_parent[1]) || !take(turns->to_child[0]))
        return 2;
    if (code == SES_OK)
        code = ses_append_by_key(store, &key, "{\"id\":\"child-2\"}", SES_NUL, NULL, NULL, &error);
    if (code != SES_OK)
        fprintf(stderr, "in the child: %s %s\n", ses_code_name(code), error.message);
    ses_close(store);
    return code != SES_OK;
}

/* What the parent does with its store before the fork, and when the child has begun. */
enum before { HAS_WRITTEN, HAS_READ, HAS_ONLY_OPENED };
enum after { CLOSES, CLOSES_AND_OPENS };

static ses_store *make_parents_store(const char *path, enum before before)
{
    ses_store *store = open_store(path);
    ses_session *session = NULL;
    ses_error error;

    assert_ok(ses_create(store, &key, NULL, 0, NULL, &error));
    if (before == HAS_ONLY_OPENED) {
        ses_close(store);
        store = open_store(path);
    } else if (before == HAS_READ) {
        assert_ok(ses_get(store, &key, NULL, &session, &error));
        ses_session_close(session);
    }
    return store;
}

static void open_again_in_child(const struct folder *folder, enum before before, enum after after)
{
    struct turns turns;
    ses_store *other = NULL;
    ses_error error;
    ses_store *store = make_parents_store(folder->path, before);

    turns_make(&turns, folder->path);
    pid_t child = child_start(run_open_again, &turns);
    assert_true(take(turns.to_parent[0]));
    ses_close(store);
    if (after == CLOSES_AND_OPENS) {
        other = open_store(folder->path);
        assert_ok(ses_append_by_key(other, &key, "{\"id\":\"parent\"}", SES_NUL, NULL, NULL, &error));
    }
    assert_true(give(turns.to_child[1]));
    int ended = child_end(child);
    ses_close(other);
    turns_free(&turns);

    /* What either was told is stored is stored. */
    assert_int_equal(ended, 0);
    assert_sound(folder->path);
    assert_query(folder->path, "SELECT seq, id FROM events",
                 after == CLOSES ? "1|child-1\n2|child-2\n" : "1|child-1\n2|parent\n3|child-2\n");
}

static void test_store_opened_again_in_a_child(void **state)
{
    open_again_in_child(*state, HAS_WRITTEN, CLOSES);
}

static void test_store_opened_again_in_a_child_of_a_reader(void **state)
{
    open_again_in_child(*state, HAS_READ, CLOSES);
}

static void test_store_opened_again_in_a_child_of_an_opener(void **state)
{
    open_again_in_child(*state, HAS_ONLY_OPENED, CLOSES);
}

static void test_store_opened_again_in_a_child_and_in_its_parent(void **state)
{
    open_again_in_child(*state, HAS_WRITTEN, CLOSES_AND_OPENS);
}

/* The same the other way round: the child goes first, and the parent's events must stay. */
static int run_close_at_once(void *context)
{
    const struct turns *turns = context;
    ses_store *store = NULL;
    ses_error error;

    int code = ses_open(turns->path, NULL, &store, &error);
    if (code == SES_OK)
        code = ses_append_by_key(store, &key, "{\"id\":\"child\"}", SES_NUL, NULL, NULL, &error);
    if (code != SES_OK)
        fprintf(stderr, "in the child: %s %s\n", ses_code_name(code), error.message);
    ses_close(store);
    return code != SES_OK;
}

static void test_child_that_closes_before_its_parent(void **state)
{
    const struct folder *folder = *state;
    struct turns turns = {.path = folder->path};
    ses_error error;
    ses_store *store = open_store(folder->path);

    assert_ok(ses_create(store, &key, NULL, 0, NULL, &error));
    assert_int_equal(child_run(run_close_at_once, &turns), 0);
    assert_ok(ses_append_by_key(store, &key, "{\"id\":\"parent\"}", SES_NUL, NULL, NULL, &error));
    ses_close(store);
    assert_sound(folder->path);
    assert_query(folder->path, "SELECT seq, id FROM events", "1|child\n2|parent\n");
}

/* ------------------------------------------------------------------------------------------------ locks */

struct lock_question {
    const char *path;
    off_t start;
    off_t len;
};

/* In another process: 1 when somebody holds a lock on these bytes, else 0. */
static int run_lock_question(void *context)
{
    const struct lock_question *question = context;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = question->start, .l_len = question->len};
    int descriptor = open(question->path, O_RDWR);
    if (descriptor < 0 || fcntl(descriptor, F_GETLK, &lock) != 0)
        return 9;
    return lock.l_type != F_UNLCK;
}

/* The bytes by which SQLite's connections show that they use a database (https://www.sqlite.org/fileformat2.html). */
static int is_marked_in_use(const char *path)
{
    struct lock_question question = {path, 0x40000000 + 2, 510};
    return child_run(run_lock_question, &question);
}

/*
 * A process that closes any descriptor of a file loses all its locks on it. Without them another process could
 * take the file for unused, and remove the write-ahead file under the store.
 */
static void test_opening_twice_keeps_the_locks(void **state)
{
    const struct folder *folder = *state;
    const ses_open_options read_only = {.size = sizeof read_only, .flags = SES_OPEN_READ_ONLY};
    const ses_open_options too_short = {.size = sizeof too_short, .journal = SES_JOURNAL_ROLLBACK, .busy_timeout_ms = -1};
    ses_error error;
    ses_store *store = open_store(folder->path);
    ses_store *other = NULL;

    assert_ok(ses_create(store, &key, NULL, 0, NULL, &error));
    assert_int_equal(is_marked_in_use(folder->path), 1);
    for (int i = 0; i < 3; i++) {
        assert_ok(ses_open(folder->path, i == 1 ? &read_only : NULL, &other, &error));
        ses_close(other);
        assert_int_equal(is_marked_in_use(folder->path), 1);
        assert_code(SES_BUSY, ses_open(folder->path, &too_short, &other, &error));
        assert_int_equal(is_marked_in_use(folder->path), 1);
    }
    /* Another process comes and goes. */
    struct turns turns = {.path = folder->path};
    assert_int_equal(child_run(run_close_at_once, &turns), 0);
    assert_ok(ses_append_by_key(store, &key, "{\"id\":\"parent\"}", SES_NUL, NULL, NULL, &error));
    ses_close(store);
    assert_int_equal(is_marked_in_use(folder->path), 0);
    assert_query(folder->path, "SELECT seq, id FROM events", "1|child\n2|parent\n");
    assert_sound(folder->path);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_setup, folder_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_store_opened_again_in_a_child),
        TEST(test_store_opened_again_in_a_child_of_a_reader),
        TEST(test_store_opened_again_in_a_child_of_an_opener),
        TEST(test_store_opened_again_in_a_child_and_in_its_parent),
        TEST(test_child_that_closes_before_its_parent),
        TEST(test_opening_twice_keeps_the_locks),
    };
    return cmocka_run_group_tests_name("processes: fork", tests, NULL, NULL);
}
