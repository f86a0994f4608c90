/* Backups of processes that are killed: the target is the old one, the new one or none. */
#include "check.h"

#include <signal.h>

static const ses_key key = {"app", "user", "session"};

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
    ses_session *session = must_get(store, &key);
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

static void append_some(ses_store *store)
{
    char event[500];

    snprintf(event, sizeof event, "{\"author\":\"%0400d\"}", 1);
    must_append_by_key(store, &key, event);
}

static void kill_at_many_moments(const struct folder *folder, unsigned flags)
{
    enum { ROUNDS = 15, EVENTS = 3000, OLD = 5 };
    const bool replaces = (flags & SES_BACKUP_REPLACE) != 0;
    char *target = support_path(folder->folder, "copy.db");
    char *old = support_path(folder->folder, "old.db");
    ses_store *store = NULL;
    int64_t whole = 0;
    ses_error error;

    assert_ok(ses_open(folder->path,
                       &(ses_open_options){.size = sizeof(ses_open_options), .synchronous = SES_SYNC_NORMAL},
                       &store, &error));
    must_create(store, &key, NULL);
    for (int i = 1; i <= EVENTS; i++) {
        append_some(store);
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
