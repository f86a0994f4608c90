/* Backups while threads and processes write: a copy is the store as of one moment. */
#include "check.h"

#include <signal.h>
#include <stdatomic.h>

/* A store in memory would grow without end. With a sanitizer, a backup and its check take longer. */
enum {
    THREADS = 4,
    PROCESSES = 2,
    BACKUPS = 6,
    MOST_EVENTS = UNDER_TSAN || UNDER_ASAN ? 500 : 2000,
    PAUSE_US = UNDER_TSAN   ? 10000
               : UNDER_ASAN ? 5000
                            : 500
};

struct writers {
    ses_store *store;
    const char *path;
    atomic_bool ended;
    atomic_int failed;
    atomic_int next;
};

/* Each event counts in two sessions' shared key and in its own state: so what is not of one moment can be
 * told. */
static int write_some(ses_store *store, int number, int i)
{
    char session[32];
    char event[700];
    ses_error error;

    snprintf(session, sizeof session, "s%d", number);
    snprintf(event, sizeof event,
             "{\"author\":\"%0400d\",\"invocationId\":\"i%d\",\"actions\":{\"stateDelta\":{\"n\":%d,\"user:n%"
             "d\":%d}}}",
             i, i, i, number, i);
    const ses_key key = {"app", "user", session};
    int code = ses_get_or_create(store, &key, NULL, 0, NULL, NULL, &error);
    if (code >= 0)
        code = ses_append_by_key(store, &key, event, SES_NUL, NULL, NULL, &error);
    if (code < 0)
        fprintf(stderr, "writing: %s %s\n", ses_code_name(code), error.message);
    return code;
}

static void *write_on(void *context)
{
    struct writers *writers = context;
    const int number = atomic_fetch_add(&writers->next, 1);

    for (int i = 1; i <= MOST_EVENTS && !atomic_load(&writers->ended); i++) {
        if (write_some(writers->store, number, i) < 0)
            atomic_store(&writers->failed, 1);
        support_pause_us(PAUSE_US);
    }
    return NULL;
}

static int run_writer(void *context)
{
    const struct writers *writers = context;
    ses_store *store = NULL;
    ses_error error;
    int code = ses_open(writers->path, NULL, &store, &error);

    for (int i = 1; code >= 0; i++) {
        code = write_some(store, 100 + (int)getpid() % 1000, i);
        support_pause_us(PAUSE_US);
    }
    return 1;
}

/* The log of every session explains its state, and what it shares is from the same moment. */
static void assert_one_moment(ses_store *copy)
{
    ses_page *page = NULL;
    ses_error error;

    assert_no_problems(copy);
    assert_ok(ses_list(copy, "app", "user", NULL, &page, &error));
    assert_true(ses_page_count(page) >= THREADS);
    for (size_t i = 0; i < ses_page_count(page); i++) {
        const ses_session *session = ses_page_session(page, i);
        char shared[64];
        int64_t own = 0;
        int64_t counted = -1;
        snprintf(shared, sizeof shared, "user:n%s", ses_session_id(session) + 1);
        (void)ses_state_get_int64(session, "n", &own, &error);
        counted = own == 0 ? 0 : counted;
        (void)ses_state_get_int64(session, shared, &counted, &error);
        assert_int_equal(own, counted);
        assert_int_equal(own, ses_session_last_seq(session));
    }
    ses_page_close(page);
}

static void look_at_copy(const char *path)
{
    assert_sound(path);
    ses_store *copy = must_open(path, NULL);
    assert_one_moment(copy);
    ses_close(copy);
}

static void create_sessions(ses_store *store)
{
    for (int i = 0; i < THREADS; i++) {
        char session[32];
        snprintf(session, sizeof session, "s%d", i);
        must_create(store, &(ses_key){"app", "user", session}, NULL);
    }
}

static void back_up_while_others_write(const struct folder *folder, struct writers *writers)
{
    char *target = support_path(folder->folder, "copy.db");
    ses_error error;

    for (int i = 0; i < BACKUPS; i++) {
        const ses_backup_options options = {.size = sizeof options,
                                            .flags = (i > 0 ? SES_BACKUP_REPLACE : 0u) |
                                                     (i % 2 ? SES_BACKUP_COMPACT : 0u)};
        ses_store *copy = NULL;
        support_pause_us(30000);
        assert_ok(ses_store_backup(writers->store, target, &options, &error));
        look_at_copy(target);
        assert_ok(ses_open_copy(writers->store, NULL, &copy, &error));
        assert_one_moment(copy);
        ses_close(copy);
        assert_no_problems(writers->store);
    }
    free(target);
}

FOLDER_TEST(a_backup_under_writers_is_one_moment)
{
    struct writers writers = {.path = folder->path};
    pthread_t threads[THREADS];
    pid_t children[PROCESSES];

    for (int i = 0; i < PROCESSES; i++)
        children[i] = child_start(run_writer, &writers);
    assert_ok(ses_open(folder->path, NULL, &writers.store, &error));
    create_sessions(writers.store);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_on, &writers), 0);
    back_up_while_others_write(folder, &writers);
    atomic_store(&writers.ended, true);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(kill(children[i], SIGKILL), 0);
        assert_int_equal(child_end(children[i]), -1);
    }
    assert_int_equal(atomic_load(&writers.failed), 0);
    ses_close(writers.store);
}

FOLDER_TEST(a_copy_of_memory_under_writers_is_one_moment)
{
    struct writers writers = {.path = ":memory:"};
    pthread_t threads[THREADS];

    assert_ok(ses_open(":memory:", NULL, &writers.store, &error));
    create_sessions(writers.store);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_on, &writers), 0);
    back_up_while_others_write(folder, &writers);
    atomic_store(&writers.ended, true);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&writers.failed), 0);
    ses_close(writers.store);
}

/* Two backups to one path: the second waits for the first, and then replaces what that has put there. */

struct second_backup {
    ses_store *store;
    const char *target;
    pthread_t thread;
    bool begun;
    ses_error error;
};

static void *run_second_backup(void *context)
{
    struct second_backup *second = context;
    const ses_backup_options options = {.size = sizeof options, .flags = SES_BACKUP_REPLACE};

    (void)ses_store_backup(second->store, second->target, &options, &second->error);
    return NULL;
}

/* While the first has the target locked. */
static int begin_second_backup(void *context, int64_t done, int64_t total)
{
    struct second_backup *second = context;

    (void)done;
    (void)total;
    if (!second->begun && pthread_create(&second->thread, NULL, run_second_backup, second) == 0) {
        second->begun = true;
        support_pause_us(50000);
    }
    return second->begun ? 0 : 1;
}

FOLDER_TEST(a_backup_replaces_that_of_another)
{
    char *target = support_path(folder->folder, "copy.db");
    struct second_backup second = {.target = target};
    const ses_backup_options options = {.size = sizeof options,
                                        .flags = SES_BACKUP_REPLACE,
                                        .progress = begin_second_backup,
                                        .progress_context = &second};

    assert_ok(ses_open(folder->path, NULL, &second.store, &error));
    create_sessions(second.store);
    assert_ok(ses_store_backup(second.store, target, NULL, &error));
    assert_ok(ses_store_backup(second.store, target, &options, &error));
    assert_int_equal(pthread_join(second.thread, NULL), 0);
    assert_string_equal(second.error.message, "");
    look_at_copy(target);
    ses_close(second.store);
    free(target);
}

/* A writer is not kept from writing by a backup that has begun and does not go on. */

struct stall {
    ses_store *store;
    int appended;
};

static int append_meanwhile(void *context, int64_t done, int64_t total)
{
    struct stall *stall = context;
    int64_t began = support_steady_us();

    (void)done;
    (void)total;
    stall->appended += write_some(stall->store, 1, 1000 + stall->appended) == SES_OK;
    return support_steady_us() - began > 5000000;
}

FOLDER_TEST(writers_do_not_wait_for_a_backup)
{
    char *target = support_path(folder->folder, "copy.db");
    struct stall stall = {NULL, 0};
    const ses_backup_options options = {
        .size = sizeof options, .progress = append_meanwhile, .progress_context = &stall};

    assert_ok(ses_open(folder->path, NULL, &stall.store, &error));
    for (int i = 1; i <= 2000; i++)
        assert_int_equal(write_some(stall.store, 1, i), SES_OK);
    assert_ok(ses_store_backup(stall.store, target, &options, &error));
    assert_true(stall.appended > 1);
    assert_query(target, "SELECT count(*) FROM events", "2000\n");
    ses_close(stall.store);
    free(target);
}
