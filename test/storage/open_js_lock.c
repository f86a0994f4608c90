/* The file that says that a process of Node has a store open. */
#include "open.h"

static const ses_key key = {"app", "user", "session"};

static void write_lock(const char *path, const char *text)
{
    char name[1100];

    snprintf(name, sizeof name, "%s.js-lock", path);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* When a process began, as Node's package writes it. */
static unsigned long long beginning_of(pid_t pid)
{
    char path[64];
    unsigned long long ticks = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    char *text = support_read_file(path, NULL);
    char *at = text ? strrchr(text, ')') : NULL;
    for (int i = 0; at && i < 20; i++)
        at = strchr(at + 1, ' ');
    if (!at || sscanf(at, "%llu", &ticks) != 1)
        skip(); /* no /proc */
    free(text);
    return ticks;
}

static const char *pids_of_this_process(void)
{
    static char pids[64];

    memset(pids, 0, sizeof pids);
    if (readlink("/proc/self/ns/pid", pids, sizeof pids - 1) <= 0)
        skip();
    return pids;
}

static void assert_held(const char *path, const char *text, bool held)
{
    const ses_open_options read_only = {.size = sizeof read_only, .flags = SES_OPEN_READ_ONLY};
    const ses_open_options *const options[] = {NULL, &read_only};
    ses_error error;

    write_lock(path, text);
    for (int i = 0; i < 2; i++) {
        ses_store *store = NULL;
        assert_code(held ? SES_BUSY : SES_OK, ses_open(path, options[i], &store, &error));
        if (held)
            assert_message(".js-lock");
        ses_close(store);
    }
}

FOLDER_TEST(lock_of_a_process_that_lives)
{
    char text[200];

    ses_store *store = must_open(folder->path, NULL);
    must_create(store, &key, NULL);
    ses_close(store);
    snprintf(text, sizeof text, "%d ticks:%llu 0 uuid\n", (int)getpid(), beginning_of(getpid()));
    assert_held(folder->path, text, true);
    snprintf(text, sizeof text, "%d ms:17 0 uuid\n", (int)getpid());
    assert_held(folder->path, text, true);
    snprintf(text, sizeof text, "%d", (int)getpid());
    assert_held(folder->path, text, false); /* cut short */
    assert_held(folder->path, "", false);
}

static int do_nothing(void *context)
{
    (void)context;
    return 0;
}

FOLDER_TEST(lock_of_a_process_that_has_ended)
{
    char text[200];
    const pid_t child = child_start(do_nothing, NULL);
    const unsigned long long ticks = beginning_of(child);

    assert_int_equal(child_end(child), 0);
    ses_store *store = must_open(folder->path, NULL);
    ses_close(store);
    snprintf(text, sizeof text, "%d ms:%llu 0 uuid\n", (int)child, ticks);
    assert_held(folder->path, text, false);
    snprintf(text, sizeof text, "%d ticks:%llu 0 uuid %s\n", (int)child, ticks, pids_of_this_process());
    assert_held(folder->path, text, false);
    /* Its number was given to another process. */
    snprintf(text, sizeof text, "%d ticks:1 0 uuid %s\n", (int)getpid(), pids_of_this_process());
    assert_held(folder->path, text, false);
}

/* A container's process has another number outside, and is not to be seen at all in another container. */
FOLDER_TEST(lock_of_a_process_in_a_container)
{
    const bool sees_all = strcmp(pids_of_this_process(), "pid:[4026531836]") == 0;
    char text[200];

    ses_store *store = must_open(folder->path, NULL);
    ses_close(store);
    snprintf(text, sizeof text, "9999999 ticks:%llu 0 uuid pid:[1]\n", beginning_of(getpid()));
    assert_held(folder->path, text, true);
    assert_held(folder->path, "9999999 ticks:18446744073709551615 0 uuid pid:[1]\n", !sees_all);
}

FOLDER_TEST(backup_does_not_replace_a_store_that_node_has_open)
{
    const ses_backup_options replace = {.size = sizeof replace, .flags = SES_BACKUP_REPLACE};
    char *copy = support_path(folder->folder, "copy.db");
    char text[200];

    ses_store *store = must_open(folder->path, NULL);
    assert_ok(ses_store_backup(store, copy, NULL, &error));
    snprintf(text, sizeof text, "%d ticks:%llu 0 uuid\n", (int)getpid(), beginning_of(getpid()));
    write_lock(copy, text);
    assert_code(SES_BUSY, ses_store_backup(store, copy, &replace, &error));
    assert_message("Node");
    ses_close(store);
    free(copy);
}

/* Such a store has no lock between its transactions, so Node cannot see that it is open. */
FOLDER_TEST(rollback_journal_beside_node)
{
    const ses_open_options rollback = {
        .size = sizeof rollback, .journal = SES_JOURNAL_ROLLBACK, .busy_timeout_ms = -1};
    char text[200];

    ses_store *store = must_open(folder->path, &rollback);
    must_create(store, &key, NULL);
    snprintf(text, sizeof text, "%d ticks:%llu 0 uuid\n", (int)getpid(), beginning_of(getpid()));
    write_lock(folder->path, text);
    assert_code(SES_BUSY, ses_append_by_key(store, &key, "{}", SES_NUL, NULL, NULL, &error));
    assert_message("Node");
    write_lock(folder->path, "");
    must_append_by_key(store, &key, "{}");
    ses_session *session = must_get(store, &key);
    assert_int_equal(ses_session_stored(session), 1);
    ses_session_close(session);
    ses_close(store);
}
