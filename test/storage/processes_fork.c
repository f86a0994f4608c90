/* Forking with a store open, and the locks that a process has on a file which it opens more than once. */
#include <sys/resource.h>

#include "open.h"

static const ses_key key = {"app", "user", "session"};

static ses_store *open_store(const char *path)
{
    ses_store *store = must_open(path, NULL);
    return store;
}

/* In the child: the code of opening the file. */
static int run_open(void *context)
{
    ses_store *store = NULL;
    ses_error error;
    int code = ses_open(context, NULL, &store, &error);

    if (code == SES_OK)
        code = ses_append_by_key(store, &key, Q("{'id':'child'}"), SES_NUL, NULL, NULL, &error);
    if (code == SES_MISUSE && !strstr(error.message, "forked while the file was open"))
        code = SES_INTERNAL;
    ses_close(store);
    return -code;
}

/* A child inherits SQLite's bookkeeping but not its locks, so the parent could delete what the child uses. */
FOLDER_TEST(file_that_was_open_at_the_fork_is_refused)
{
    ses_store *store = open_store(folder->path);

    assert_int_equal(child_run(run_open, folder->path), -SES_MISUSE); /* the parent has only opened it */
    must_create(store, &key, NULL);
    assert_int_equal(child_run(run_open, folder->path), -SES_MISUSE);
    ses_store *twice = open_store(folder->path); /* in the parent itself that is fine */
    ses_close(twice);
    assert_int_equal(child_run(run_open, folder->path), -SES_MISUSE); /* the other one is still open */
    must_append_by_key(store, &key, Q("{'id':'parent'}"));
    ses_close(store);
    assert_sound(folder->path);
    assert_query(folder->path, "SELECT seq, id FROM event_log", "1|parent\n");
}

FOLDER_TEST(file_that_was_closed_before_the_fork_is_opened)
{
    ses_store *store = open_store(folder->path);

    must_create(store, &key, NULL);
    ses_close(store);
    assert_int_equal(child_run(run_open, folder->path), 0);
    assert_query(folder->path, "SELECT seq, id FROM event_log", "1|child\n");
}

FOLDER_TEST(another_file_is_opened_in_the_child)
{
    char *other_path = support_path(folder->folder, "other.db");
    ses_store *other = open_store(other_path);
    ses_store *store = open_store(folder->path);

    must_create(other, &key, NULL);
    ses_close(other);
    assert_int_equal(child_run(run_open, other_path), 0);
    ses_close(store);
    free(other_path);
}

FOLDER_TEST(any_number_of_open_files_is_remembered)
{
    enum { STORES = 300 };
    char *last_path = support_path(folder->folder, "last.db");
    ses_store *stores[STORES];
    struct rlimit files;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    for (int i = 0; i < STORES; i++)
        stores[i] = open_store(folder->path);
    ses_store *last = open_store(last_path);
    assert_int_equal(child_run(run_open, last_path), -SES_MISUSE);
    ses_close(last);
    for (int i = 0; i < STORES; i++)
        ses_close(stores[i]);
    free(last_path);
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
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = question->start, .l_len = question->len};
    int descriptor = open(question->path, O_RDWR);
    if (descriptor < 0 || fcntl(descriptor, F_GETLK, &lock) != 0)
        return 9;
    return lock.l_type != F_UNLCK;
}

/* The bytes by which SQLite's connections show that they use a database
 * (https://www.sqlite.org/fileformat2.html). */
static int is_marked_in_use(const char *path)
{
    struct lock_question question = {path, 0x40000000 + 2, 510};
    return child_run(run_lock_question, &question);
}

/*
 * A process that closes any descriptor of a file loses all its locks on it. Without them another process
 * could take the file for unused, and remove the write-ahead file under the store.
 */
FOLDER_TEST(opening_twice_keeps_the_locks)
{
    const ses_open_options read_only = {.size = sizeof read_only, .flags = SES_OPEN_READ_ONLY};
    const ses_open_options too_short = {
        .size = sizeof too_short, .journal = SES_JOURNAL_ROLLBACK, .busy_timeout_ms = -1};
    ses_store *store = open_store(folder->path);
    ses_store *other = NULL;

    must_create(store, &key, NULL);
    assert_int_equal(is_marked_in_use(folder->path), 1);
    for (int i = 0; i < 3; i++) {
        assert_ok(ses_open(folder->path, i == 1 ? &read_only : NULL, &other, &error));
        ses_close(other);
        assert_int_equal(is_marked_in_use(folder->path), 1);
        assert_code(SES_BUSY, ses_open(folder->path, &too_short, &other, &error));
        assert_int_equal(is_marked_in_use(folder->path), 1);
    }
    ses_close(store);
    assert_int_equal(is_marked_in_use(folder->path), 0);
    assert_sound(folder->path);
}
