/*
 * Backups while threads and processes write, and backups of processes that are killed: a copy is the store as
 * of one moment, and the target is the old one, the new one or none.
 */
#include "check.h"

#include <signal.h>
#include <stdatomic.h>

/* A store in memory would grow without end. With the thread sanitizer, a backup takes longer. */
enum {
    THREADS = 4,
    PROCESSES = 2,
    BACKUPS = 6,
    MOST_EVENTS = UNDER_TSAN ? 500 : 2000,
    PAUSE_US = UNDER_TSAN ? 10000 : 500
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

    for (int i = 1; code >= 0; i++)
        code = write_some(store, 100 + (int)getpid() % 1000, i);
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

/* ---------------------------------------------------------------------------------------------- kills */

struct victim {
    const char *path;
    const char *target;
    unsigned flags;
    int ready;
};

static int run_victim(void *context)
{
    const struct victim *victim = context;
    const ses_backup_options options = {.size = sizeof options, .flags = victim->flags};
    ses_store *store = NULL;
    ses_error error;

    if (ses_open(victim->path, NULL, &store, &error) != SES_OK || write(victim->ready, "r", 1) != 1)
        return 1;
    return ses_store_backup(store, victim->target, &options, &error) == SES_OK ? 0 : 1;
}

/* The number of events in the target; -1: there is none. */
static int64_t events_in(const char *target)
{
    struct stat status;

    if (lstat(target, &status) != 0)
        return -1;
    ses_store *store = must_open(target, NULL);
    assert_no_problems(store);
    ses_session *session = must_get(store, &(ses_key){"app", "user", "s1"});
    int64_t events = ses_session_last_seq(session);
    ses_session_close(session);
    ses_close(store);
    return events;
}

static int count_leftovers(const char *folder)
{
    char *picture = folder_picture(folder);
    int count = 0;
    for (const char *at = strstr(picture, ".seslite-backup-"); at; at = strstr(at + 1, ".seslite-backup-"))
        count++;
    free(picture);
    return count;
}

/* How long it took. */
static int64_t run_and_kill(const struct victim *of, int64_t after_us)
{
    struct victim victim = *of;
    int ready[2];
    char byte = 0;

    assert_int_equal(pipe(ready), 0);
    victim.ready = ready[1];
    pid_t child = child_start(run_victim, &victim);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    int64_t began = support_steady_us();
    if (after_us >= 0) {
        support_pause_us((long)after_us);
        (void)kill(child, SIGKILL);
        (void)child_end(child);
    } else {
        assert_int_equal(child_end(child), 0);
    }
    return support_steady_us() - began;
}

/* The process that is killed has one thread, so the thread sanitizer finds nothing in it. */
static void kill_at_many_moments(const struct folder *folder, unsigned flags)
{
    enum { ROUNDS = UNDER_TSAN ? 2 : 15, EVENTS = UNDER_TSAN ? 300 : 3000, OLD = 5 };
    const bool replaces = (flags & SES_BACKUP_REPLACE) != 0;
    char *target = support_path(folder->folder, "copy.db");
    char *old = support_path(folder->folder, "old.db");
    ses_store *store = NULL;
    int64_t whole = 0;
    ses_error error;

    assert_ok(ses_open(folder->path,
                       &(ses_open_options){.size = sizeof(ses_open_options), .synchronous = SES_SYNC_NORMAL},
                       &store, &error));
    for (int i = 1; i <= EVENTS; i++) {
        assert_int_equal(write_some(store, 1, i), SES_OK);
        if (i == OLD)
            assert_ok(ses_store_backup(store, old, NULL, &error));
    }
    ses_close(store); /* or a child could not open it */
    for (int round = 0; round <= ROUNDS; round++) {
        (void)unlink(target);
        if (replaces)
            copy_file(old, target);
        int64_t took = run_and_kill(&(struct victim){folder->path, target, flags, -1},
                                    round == 0 ? -1 : whole * (round - 1) / ROUNDS);
        whole = round == 0 ? took : whole;
        int64_t events = events_in(target);
        assert_true(events == EVENTS || (round > 0 && events == (replaces ? OLD : -1)));
        assert_in_range(count_leftovers(folder->folder), 0, 2); /* a file, and SQLite's journal of it */
    }
    (void)unlink(target);
    assert_ok(ses_open(folder->path, NULL, &store, &error));
    assert_ok(ses_store_backup(store, target, NULL, &error));
    assert_int_equal(events_in(target), EVENTS);
    assert_int_equal(count_leftovers(folder->folder), 0);
    ses_close(store);
    free(old);
    free(target);
}

FOLDER_TEST(killed_backups_leave_the_old_file_or_none)
{
    kill_at_many_moments(folder, 0);
}

FOLDER_TEST(killed_backups_that_replace_leave_the_old_file_or_the_new)
{
    kill_at_many_moments(folder, SES_BACKUP_REPLACE);
}

FOLDER_TEST(killed_compact_backups_leave_the_old_file_or_the_new)
{
    kill_at_many_moments(folder, SES_BACKUP_REPLACE | SES_BACKUP_COMPACT);
}
