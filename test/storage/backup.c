/* Backups: what the copy is, where it may go, and what is there when it fails. */
#include "open.h"

static const ses_key key = {"app", "user", "one"};

static const ses_backup_options replace = {.size = sizeof replace, .flags = SES_BACKUP_REPLACE};
static const ses_backup_options compact = {.size = sizeof compact, .flags = SES_BACKUP_COMPACT};

struct backup_test {
    struct fixture *fixture;
    ses_store *store;
    char *target;
};

static void fill(ses_store *store, int events)
{
    char event[600];

    must_create(store, &key, Q("{'app:a':1,'user:u':2,'k':[1.10]}"));
    for (int i = 0; i < events; i++) {
        snprintf(event, sizeof event,
                 "{\"id\":\"e%d\",\"author\":\"%0400d\",\"actions\":{\"stateDelta\":{\"n\":%d}}}", i, i, i);
        must_append_by_key(store, &key, event);
    }
}

static int setup_with(void **state, int fixture(void **))
{
    struct backup_test *test = calloc(1, sizeof *test);

    assert_non_null(test);
    assert_int_equal(fixture((void **)&test->fixture), 0);
    test->store = test->fixture->store;
    test->target = support_path(test->fixture->folder, "copy.db");
    fill(test->store, 100);
    *state = test;
    return 0;
}

static int setup(void **state)
{
    return setup_with(state, fixture_setup);
}

static int setup_memory(void **state)
{
    return setup_with(state, fixture_setup_memory);
}

static int teardown(void **state)
{
    struct backup_test *test = *state;
    void *fixture = test->fixture;

    (void)fixture_teardown(&fixture);
    free(test->target);
    free(test);
    return 0;
}

static ses_store *must_open_file(const char *path, const ses_open_options *options)
{
    ses_store *store = must_open(path, options);
    return store;
}

static bool exists(const char *path, const char *suffix)
{
    char name[1024];
    struct stat status;
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return lstat(name, &status) == 0;
}

/* The session of both, in JSON. */
static void assert_same_session(ses_store *left, ses_store *right)
{
    ses_session *a = must_get(left, &key);
    ses_session *b = must_get(right, &key);
    char *a_json = NULL;
    char *b_json = NULL;
    ses_error error;

    assert_ok(ses_session_json(a, &a_json, NULL, &error));
    assert_ok(ses_session_json(b, &b_json, NULL, &error));
    assert_string_equal(a_json, b_json);
    assert_int_equal(ses_session_version(a), ses_session_version(b));
    ses_free(a_json);
    ses_free(b_json);
    ses_session_close(a);
    ses_session_close(b);
}

static void assert_is_copy(struct backup_test *test, const char *path)
{
    assert_int_equal(mode_of(path), 0600);
    assert_false(exists(path, "-wal") || exists(path, "-shm") || exists(path, "-journal"));
    assert_sound(path);
    assert_query(path, "PRAGMA application_id", "1397052236\n");
    assert_query(path, "PRAGMA user_version", "3\n");
    assert_query(path, "PRAGMA auto_vacuum", "2\n");
    ses_store *copy = must_open_file(path, NULL);
    assert_same_session(test->store, copy);
    ses_close(copy);
}

/* Files of the folder whose names say that they are parts of backups. */
static int count_leftovers(const struct backup_test *test)
{
    char *picture = folder_picture(test->fixture->folder);
    int count = 0;
    for (const char *at = strstr(picture, "seslite-backup"); at; at = strstr(at + 1, "seslite-backup"))
        count++;
    free(picture);
    return count;
}

/* ------------------------------------------------------------------------------------------- the copy */

#define BACKUP_TEST(name) TEST_WITH(struct backup_test *test, setup, teardown, name)
#define BACKUP_TEST_TWICE(name) TEST_ALSO(setup_memory, teardown, name) BACKUP_TEST(name)

BACKUP_TEST_TWICE(a_backup_is_a_whole_store)
{
    mode_t before = umask(0777);

    assert_ok(ses_store_backup(test->store, test->target, NULL, &error));
    umask(before);
    assert_is_copy(test, test->target);
    assert_int_equal(count_leftovers(test), 0);
}

BACKUP_TEST_TWICE(a_compact_backup_is_a_whole_store)
{
    assert_ok(ses_store_backup(test->store, test->target, &compact, &error));
    assert_is_copy(test, test->target);
    assert_int_equal(count_leftovers(test), 0);
}

static int64_t size_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_size;
}

BACKUP_TEST_TWICE(a_compact_backup_is_smaller_after_a_deletion)
{
    char *small = support_path(test->fixture->folder, "small.db");

    must_delete(test->store, &key);
    fill(test->store, 1);
    assert_ok(ses_store_backup(test->store, test->target, NULL, &error));
    assert_ok(ses_store_backup(test->store, small, &compact, &error));
    assert_true(size_of(small) < size_of(test->target));
    assert_is_copy(test, small);
    free(small);
}

BACKUP_TEST_TWICE(a_store_is_copied_into_memory)
{
    const ses_open_options read_only = {.size = sizeof read_only, .flags = SES_OPEN_READ_ONLY};
    ses_store *copy = NULL;
    ses_store *second = NULL;

    assert_ok(ses_open_copy(test->store, NULL, &copy, &error));
    assert_same_session(test->store, copy);
    must_append_by_key(copy, &key, Q("{'id':'only in the copy'}"));
    assert_ok(ses_open_copy(copy, NULL, &second, &error));
    assert_same_session(copy, second);
    ses_session *original = must_get(test->store, &key);
    assert_int_equal(ses_session_last_seq(original), 100);
    ses_session_close(original);
    ses_close(second);
    ses_close(copy);
    assert_code(SES_MISUSE, ses_open_copy(test->store, &read_only, &copy, &error));
    assert_null(copy);
    assert_code(SES_MISUSE, ses_open_copy(test->store, NULL, NULL, &error));
}

PLAIN_TEST(a_copy_in_memory_outlives_its_original)
{
    char *folder = support_folder_make();
    char *path = support_path(folder, "store.db");
    ses_store *store = must_open_file(path, NULL);
    ses_store *copy = NULL;

    fill(store, 3);
    assert_ok(ses_open_copy(store, NULL, &copy, &error));
    ses_close(store);
    support_folder_remove(folder);
    must_append_by_key(copy, &key, "{}");
    ses_close(copy);
    free(path);
}

BACKUP_TEST(pages_of_any_size_are_copied)
{
    ses_store *copy = NULL;

    ses_close(test->store);
    raw_exec(test->fixture->path, "PRAGMA journal_mode = DELETE; PRAGMA page_size = 1024; VACUUM");
    test->store = test->fixture->store = must_open_file(test->fixture->path, NULL);
    assert_ok(ses_open_copy(test->store, NULL, &copy, &error));
    assert_same_session(test->store, copy);
    assert_ok(ses_store_backup(copy, test->target, NULL, &error));
    ses_close(copy);
    assert_query(test->target, "PRAGMA page_size", "1024\n");
    assert_is_copy(test, test->target);
}

BACKUP_TEST(stores_that_are_read_only_or_have_a_rollback_journal_are_backed_up)
{
    static const ses_open_options each[] = {
        {.size = sizeof each[0], .flags = SES_OPEN_READ_ONLY},
        {.size = sizeof each[0], .journal = SES_JOURNAL_ROLLBACK},
        {.size = sizeof each[0], .checkpoint = SES_CHECKPOINT_EXTERNAL, .max_readers = 1}};

    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        ses_close(test->store);
        test->store = test->fixture->store = must_open_file(test->fixture->path, &each[i]);
        assert_ok(ses_store_backup(test->store, test->target, i ? &replace : NULL, &error));
        assert_is_copy(test, test->target);
        const ses_backup_options both = {.size = sizeof both,
                                         .flags = SES_BACKUP_REPLACE | SES_BACKUP_COMPACT};
        assert_ok(ses_store_backup(test->store, test->target, &both, &error));
        assert_is_copy(test, test->target);
    }
}

/* ------------------------------------------------------------------------------------- where it may go */

BACKUP_TEST(existing_files_are_replaced_only_on_request)
{
    assert_ok(ses_store_backup(test->store, test->target, NULL, &error));
    must_append_by_key(test->store, &key, Q("{'id':'new'}"));
    char *before = folder_picture(test->fixture->folder);
    assert_code(SES_EXISTS, ses_store_backup(test->store, test->target, NULL, &error));
    assert_message("copy.db");
    assert_picture(test->fixture->folder, before);
    assert_ok(ses_store_backup(test->store, test->target, &replace, &error));
    assert_is_copy(test, test->target);
}

BACKUP_TEST(a_file_that_is_not_a_store_is_never_replaced)
{
    char text[2000];

    memset(text, 'x', sizeof text);
    write_file(test->target, text, sizeof text);
    assert_code(SES_NOTASTORE, ses_store_backup(test->store, test->target, &replace, &error));
    write_file(test->target, text, 10);
    assert_code(SES_NOTASTORE, ses_store_backup(test->store, test->target, &replace, &error));
    assert_int_equal(unlink(test->target), 0);
    raw_exec(test->target, "CREATE TABLE t (x)");
    assert_code(SES_NOTASTORE, ses_store_backup(test->store, test->target, &replace, &error));
    assert_query(test->target, "SELECT count(*) FROM t", "0\n");
    assert_int_equal(count_leftovers(test), 0);
}

BACKUP_TEST(an_open_store_is_not_replaced)
{
    const ses_open_options hasty = {.size = sizeof hasty, .busy_timeout_ms = 50};
    ses_store *impatient = must_open_file(test->fixture->path, &hasty);

    assert_ok(ses_store_backup(test->store, test->target, NULL, &error));
    ses_store *open = must_open_file(test->target, NULL);
    int64_t began = support_steady_us();
    assert_code(SES_BUSY, ses_store_backup(impatient, test->target, &replace, &error));
    assert_true(support_steady_us() - began >= 45000);
    must_append_by_key(open, &key, "{}");
    ses_close(open);
    assert_ok(ses_store_backup(impatient, test->target, &replace, &error));
    ses_close(impatient);
    assert_is_copy(test, test->target);
}

/* A log with something in it, and a journal, as killed processes leave them. */
BACKUP_TEST(the_log_of_the_old_store_is_not_read_with_the_new_one)
{
    char *log = support_path(test->fixture->folder, "copy.db-wal");
    char *journal = support_path(test->fixture->folder, "copy.db-journal");
    char *kept = support_path(test->fixture->folder, "kept");
    char *kept_log = support_path(test->fixture->folder, "kept-log");
    ses_store *other = must_open_file(test->target, NULL);

    must_create(other, &(ses_key){"other", "user", "log"}, NULL);
    copy_file(test->target, kept);
    copy_file(log, kept_log);
    ses_close(other);
    copy_file(kept, test->target);
    copy_file(kept_log, log);
    assert_ok(ses_store_backup(test->store, test->target, &replace, &error));
    assert_is_copy(test, test->target);

    assert_int_equal(unlink(test->target), 0);
    copy_file(kept_log, log);
    assert_code(SES_EXISTS, ses_store_backup(test->store, test->target, NULL, &error));
    assert_message("-wal");
    assert_int_equal(rename(log, journal), 0);
    assert_code(SES_EXISTS, ses_store_backup(test->store, test->target, NULL, &error));
    assert_message("-journal");
    assert_ok(ses_store_backup(test->store, test->target, &replace, &error));
    assert_is_copy(test, test->target);
    free(journal);
    free(kept_log);
    free(kept);
    free(log);
}

BACKUP_TEST(a_store_is_no_backup_of_itself)
{
    char *link_path = support_path(test->fixture->folder, "link.db");
    char *hard = support_path(test->fixture->folder, "hard.db");
    char *journal = support_path(test->fixture->folder, "store.db-journal");
    const char *const names[] = {test->fixture->path, link_path, hard, journal};

    assert_int_equal(symlink(test->fixture->path, link_path), 0);
    assert_int_equal(link(test->fixture->path, hard), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_code(SES_INVALID, ses_store_backup(test->store, names[i], NULL, &error));
        assert_code(SES_INVALID, ses_store_backup(test->store, names[i], &replace, &error));
    }
    assert_int_equal(unlink(hard), 0); /* a store that is open stops to write while it has two names */
    must_append_by_key(test->store, &key, "{}");
    free(journal);
    free(hard);
    free(link_path);
}

BACKUP_TEST(a_link_leads_to_the_file_that_is_made_or_replaced)
{
    char *link_path = support_path(test->fixture->folder, "link.db");

    assert_int_equal(symlink("copy.db", link_path), 0);
    assert_ok(ses_store_backup(test->store, link_path, NULL, &error));
    assert_is_copy(test, test->target);
    assert_code(SES_EXISTS, ses_store_backup(test->store, link_path, NULL, &error));
    assert_ok(ses_store_backup(test->store, link_path, &replace, &error));
    assert_is_copy(test, test->target);
    char target[64] = "";
    assert_int_equal(readlink(link_path, target, sizeof target - 1), 7);
    free(link_path);
}

BACKUP_TEST(paths_that_are_none)
{
    const ses_backup_options unknown = {.size = sizeof unknown, .flags = 0x100};
    char *nowhere = support_path(test->fixture->folder, "no/such/folder.db");

    assert_code(SES_INVALID, ses_store_backup(test->store, "", NULL, &error));
    assert_code(SES_INVALID, ses_store_backup(test->store, "file:x.db", NULL, &error));
    assert_code(SES_INVALID, ses_store_backup(test->store, ":memory:", NULL, &error));
    assert_code(SES_INVALID, ses_store_backup(test->store, "x.seslite-backup-abCD12", NULL, &error));
    assert_code(SES_MISUSE, ses_store_backup(test->store, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_store_backup(test->store, test->target, &unknown, &error));
    assert_code(SES_MISUSE, ses_store_backup(NULL, test->target, NULL, &error));
    assert_code(SES_CANTOPEN, ses_store_backup(test->store, nowhere, NULL, &error));
    assert_code(SES_CANTOPEN, ses_store_backup(test->store, test->fixture->folder, NULL, &error));
    assert_code(SES_CANTOPEN, ses_store_backup(test->store, test->fixture->folder, &replace, &error));
    assert_code(SES_CANTOPEN, ses_store_backup(test->store, "/", NULL, &error));
    if (geteuid() != 0) {
        assert_int_equal(chmod(test->fixture->folder, 0500), 0);
        assert_code(SES_CANTOPEN, ses_store_backup(test->store, test->target, NULL, &error));
        assert_int_equal(chmod(test->fixture->folder, 0700), 0);
    }
    free(nowhere);
}

BACKUP_TEST(a_path_is_of_the_working_directory)
{
    char before[1024];

    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(test->fixture->folder), 0);
    int code = ses_store_backup(test->store, "copy.db", NULL, &error);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(code, SES_OK);
    assert_is_copy(test, test->target);
}

/* ------------------------------------------------------------------------------------------ leftovers */

static void write_leftover(const char *target, const char *suffix)
{
    char name[1024];
    snprintf(name, sizeof name, "%s%s", target, suffix);
    write_file(name, "half", 4);
}

BACKUP_TEST(remains_of_killed_backups_are_removed)
{
    write_leftover(test->target, ".seslite-backup-abCD12");
    write_leftover(test->target, ".seslite-backup-abCD12-journal");
    write_leftover(test->target, ".seslite-backup-of mine");
    write_leftover(test->target, "2.seslite-backup-abCD12");
    assert_ok(ses_store_backup(test->store, test->target, NULL, &error));
    assert_int_equal(count_leftovers(test), 1);
}

/* ------------------------------------------------------------------------------- progress, interrupts */

struct watcher {
    ses_store *store;
    const char *target;
    int64_t last;
    int64_t total;
    int calls;
    int ends_at;       /* the call; 0: it lets it end */
    bool interrupts;   /* another way to end it */
    bool backs_up_too; /* by another store, to the same target */
};

static int watch(void *context, int64_t done, int64_t total)
{
    struct watcher *watcher = context;
    ses_error error;

    watcher->calls++;
    assert_true(done >= watcher->last && done <= total && total > 0);
    watcher->last = done;
    watcher->total = total;
    if (watcher->backs_up_too) { /* without removing what is being written here */
        watcher->backs_up_too = false;
        assert_ok(ses_store_backup(watcher->store, watcher->target, NULL, &error));
    }
    if (watcher->interrupts)
        assert_ok(ses_store_interrupt(watcher->store, &error));
    return watcher->calls == watcher->ends_at;
}

BACKUP_TEST_TWICE(progress_is_told_and_can_end_it)
{
    for (unsigned flags = 0; flags <= SES_BACKUP_COMPACT; flags += SES_BACKUP_COMPACT) {
        struct watcher watcher = {.store = test->store};
        const ses_backup_options options = {
            .size = sizeof options, .flags = flags, .progress = watch, .progress_context = &watcher};
        assert_ok(ses_store_backup(test->store, test->target, &options, &error));
        assert_true(watcher.calls > 0 && watcher.last == watcher.total);
        assert_int_equal(unlink(test->target), 0);
        watcher = (struct watcher){.store = test->store, .ends_at = 1};
        assert_code(SES_INTERRUPTED, ses_store_backup(test->store, test->target, &options, &error));
        assert_false(exists(test->target, ""));
        assert_int_equal(count_leftovers(test), 0);
    }
}

BACKUP_TEST(an_interrupt_ends_it)
{
    struct watcher watcher = {.store = test->store, .interrupts = true};
    const ses_backup_options options = {
        .size = sizeof options, .progress = watch, .progress_context = &watcher};

    assert_code(SES_INTERRUPTED, ses_store_backup(test->store, test->target, &options, &error));
    assert_false(exists(test->target, ""));
    assert_int_equal(count_leftovers(test), 0);
}

BACKUP_TEST(two_backups_to_one_target_leave_each_other_alone)
{
    struct watcher watcher = {.store = test->store, .target = test->target, .backs_up_too = true};
    const ses_backup_options options = {
        .size = sizeof options, .progress = watch, .progress_context = &watcher};

    assert_code(SES_EXISTS, ses_store_backup(test->store, test->target, &options, &error));
    assert_is_copy(test, test->target);
    assert_int_equal(count_leftovers(test), 0);
}

BACKUP_TEST(a_damaged_store_is_no_backup)
{
    ses_close(test->store);
    raw_exec(test->fixture->path, "PRAGMA journal_mode = DELETE");
    test->store = test->fixture->store = must_open_file(test->fixture->path, NULL);
    ses_session *session = must_get(test->store, &key); /* has what it needs in its cache */
    ses_session_close(session);
    raw_exec(test->fixture->path, "DROP TABLE event_marks");
    assert_code(SES_CORRUPT, ses_store_backup(test->store, test->target, NULL, &error));
    assert_false(exists(test->target, ""));
    assert_int_equal(count_leftovers(test), 0);
}
