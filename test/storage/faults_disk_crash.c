/*
 * The program stops at a disk operation: from the Nth write, sync, truncation or removal on, none succeeds
 * any more, until the file is opened again by an ordinary program. Then it must hold exactly what was
 * acknowledged; the one call that was under way may be there if its outcome was UNKNOWN. N goes over every
 * operation, so also over those of making the schema and of the checkpoints. SESLITE_TEST_SEED=1 gives events
 * of other lengths, and other torn writes.
 */
#include "stopping_disk.h"

enum { EVENTS = 10 };

/* --------------------------------------------------------------------------------------- the program */

static const ses_key key = {"app", "user", "session"};

/* The knowledge of the program when it stops. */
struct progress {
    int acknowledged; /* events */
    bool in_doubt;    /* one more was under way */
    int code;         /* of the call that failed; 0: none did */
    ses_error error;
};

static int append_event(ses_store *store, int number, ses_error *error)
{
    char event[6200];
    /* Large and small by turns: some spill over several pages, so that the file grows at nearly every
     * commit. */
    snprintf(
        event, sizeof event,
        "{\"id\":\"e%d\",\"timestamp\":%d,\"actions\":{\"stateDelta\":{\"n\":%d,\"app:n\":%d,\"user:n\":%d}},"
        "\"x\":\"%0*d\"}",
        number, number, number, number, number, disk_length(number, 6000, number % 3 == 0 ? 6000 : 40), 0);
    return ses_append_by_key(store, &key, event, SES_NUL, NULL, NULL, error);
}

/* Opens, appends until half or all are there, closes. */
static void run_part(const char *path, int journal, int until, struct progress *progress)
{
    const ses_open_options options = {.size = sizeof options, .journal = journal, .busy_timeout_ms = -1};
    ses_store *store = NULL;

    progress->code = ses_open(path, &options, &store, &progress->error);
    if (progress->code == SES_OK)
        progress->code = ses_get_or_create(store, &key, Q("{'k':1}"), SES_NUL, NULL, NULL, &progress->error);
    while (progress->code >= 0 && progress->acknowledged < until) {
        progress->code = append_event(store, progress->acknowledged + 1, &progress->error);
        if (progress->code == SES_OK)
            progress->acknowledged++;
        else
            progress->in_doubt = true;
    }
    ses_close(store);
}

static void run_program(const char *path, int journal, long stop_at, struct progress *progress)
{
    *progress = (struct progress){.acknowledged = 0};
    disk_begin(stop_at);
    run_part(path, journal, EVENTS / 2, progress);
    if (progress->code >= 0 && !disk.stopped)
        run_part(path, journal, EVENTS, progress);
    disk_end();
    assert_stopped(progress->code, &progress->error);
}

/* -------------------------------------------------------------------------------------- what is left */

/* State and log tell the same: the keys hold what the last event wrote. */
static void assert_whole(ses_session *session, int count)
{
    static const char *const names[] = {"n", "app:n", "user:n"};
    ses_error error;

    assert_int_equal(ses_session_event_count(session), count);
    assert_int_equal(ses_session_version(session), count);
    for (int i = 0; i < count; i++) {
        char id[16];
        snprintf(id, sizeof id, "e%d", i + 1);
        assert_string_equal(ses_session_event(session, (size_t)i)->id, id);
        assert_int_equal(ses_session_event(session, (size_t)i)->seq, i + 1);
    }
    for (int i = 0; i < 3 && count > 0; i++) {
        int64_t value = 0;
        assert_ok(ses_state_get_int64(session, names[i], &value, &error));
        assert_int_equal(value, count);
    }
}

static void look_again(const char *path, int journal, const struct progress *progress)
{
    const ses_open_options options = {.size = sizeof options, .journal = journal};
    ses_session *session = NULL;
    ses_error error;

    ses_store *store = must_open(path, &options);
    int code = ses_get(store, &key, NULL, &session, &error);
    if (code == SES_NOTFOUND) {
        assert_int_equal(progress->acknowledged, 0);
        assert_true(progress->code < 0 && !progress->in_doubt);
        session = must_open_new(store, &key, Q("{'k':1}"));
    }
    int count = (int)ses_session_event_count(session);
    if (progress->in_doubt && progress->code == SES_UNKNOWN)
        assert_in_range(count, progress->acknowledged, progress->acknowledged + 1);
    else
        assert_int_equal(count, progress->acknowledged);
    assert_whole(session, count);
    assert_ok(append_event(store, count + 1, &error));
    must_refresh(session);
    assert_whole(session, count + 1);
    ses_session_close(session);
    ses_close(store);
    assert_sound(path);
}

/* The step under way; a test that fails leaves it for the teardown to print. */
static char where[128];

static int tell_where(void **state)
{
    if (where[0])
        print_error("%s\n", where);
    where[0] = '\0';
    return folder_teardown(state);
}

static void stop_everywhere(const struct folder *folder, int journal)
{
    struct progress progress;
    int refused = 0;
    int silent = 0;

    run_program(folder->path, journal, 0, &progress);
    assert_int_equal(progress.code, SES_OK);
    assert_int_equal(progress.acknowledged, EVENTS);
    long operations = disk.operations;
    assert_in_range(operations, 100, 5000);
    for (long n = 1; n <= operations; n += disk_apart) {
        disk_remove_files(folder->path);
        run_program(folder->path, journal, n, &progress);
        assert_true(disk.stopped);
        refused += progress.code < 0;
        silent += progress.code >= 0;
        snprintf(where, sizeof where, "stopped at %ld of %ld: %d events, %s", n, operations,
                 progress.acknowledged, ses_code_name(progress.code));
        look_again(folder->path, journal, &progress);
    }
    where[0] = '\0';
    /* Most of them stop a call. With a write-ahead file some stop a checkpoint, which no call reports. */
    assert_in_range(refused, 50, operations);
    support_figure("cut-states", refused + silent);
    assert_int_equal(silent > 2, journal == SES_JOURNAL_WAL);
}

TEST_WITH(struct folder *folder, folder_setup, tell_where, stop_with_a_write_ahead_file)
{
    stop_everywhere(folder, SES_JOURNAL_WAL);
}

TEST_WITH(struct folder *folder, folder_setup, tell_where, stop_with_a_rollback_journal)
{
    stop_everywhere(folder, SES_JOURNAL_ROLLBACK);
}

BEFORE_TESTS()
{
    disk_make();
    support_folders_in_memory();
}
