/* Opening: who may read and write the files. */
#include "open.h"

struct open_as_nobody {
    const char *path;
    unsigned flags;
    int writes; /* then a session is created */
    const char *words;
};

/* Opens in a child process without root's rights. Returns minus the code, or 100 if the rights cannot be given up. */
static int run_as_nobody(void *context)
{
    const struct open_as_nobody *attempt = context;
    const ses_open_options options = {.size = sizeof options, .flags = attempt->flags};
    const ses_key key = {"app", "user", "fresh"};
    ses_store *store = NULL;
    ses_error error;

    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return 100;
    int code = ses_open(attempt->path, &options, &store, &error);
    if (code == SES_OK && attempt->writes)
        code = ses_create(store, &key, NULL, 0, NULL, NULL, &error);
    if (code < 0 && attempt->words && !strstr(error.message, attempt->words)) {
        fprintf(stderr, "the message \"%s\" does not say \"%s\"\n", error.message, attempt->words);
        return 101;
    }
    ses_close(store);
    return -code;
}

static int as_nobody(struct open_as_nobody attempt)
{
    return child_run(run_as_nobody, &attempt);
}

static void test_no_permission(void **state)
{
    const struct folder *folder = *state;
    char *closed_folder = support_path(folder->folder, "closed");
    char *within = support_path(closed_folder, "store.db");
    char *unwritable = support_path(folder->folder, "new.db");
    ses_store *store = NULL;
    ses_error error;

    assert_int_equal(chmod(folder->folder, 0755), 0);
    assert_int_equal(mkdir(closed_folder, 0700), 0);
    assert_ok(ses_open(folder->path, NULL, &store, &error));
    ses_close(store);
    if (geteuid() != 0) {
        assert_int_equal(chmod(closed_folder, 0), 0);
        assert_int_equal(chmod(folder->folder, 0555), 0);
        assert_int_equal(chmod(folder->path, 0), 0);
    }
    int looked = as_nobody((struct open_as_nobody){within, 0, 0, "Permission denied"});
    if (looked == 100) {
        print_message("skipped: the rights of root cannot be given up\n");
    } else {
        assert_int_equal(-looked, SES_CANTOPEN);
        /* The folder may be read but not written. */
        assert_int_equal(-as_nobody((struct open_as_nobody){unwritable, 0, 0, "cannot create the file"}),
                         SES_CANTOPEN);
        /* The file is somebody else's, mode 0600. */
        assert_int_equal(-as_nobody((struct open_as_nobody){folder->path, 0, 0, folder->path}), SES_CANTOPEN);
    }
    (void)chmod(folder->folder, 0700);
    (void)chmod(closed_folder, 0700);
    free(unwritable);
    free(within);
    free(closed_folder);
}

/* A file that may only be read: calls that would write say so, at the latest when they try. */
static void test_file_that_may_only_be_read(void **state)
{
    const struct folder *folder = *state;
    const ses_open_options rollback = {.size = sizeof rollback, .journal = SES_JOURNAL_ROLLBACK};
    ses_store *store = NULL;
    ses_error error;

    assert_ok(ses_open(folder->path, &rollback, &store, &error));
    ses_close(store);
    assert_int_equal(chmod(folder->folder, 0755), 0);
    assert_int_equal(chmod(folder->path, 0444), 0);
    int read_only = as_nobody((struct open_as_nobody){folder->path, SES_OPEN_READ_ONLY, 0, NULL});
    if (read_only == 100) {
        print_message("skipped: the rights of root cannot be given up\n");
    } else {
        assert_int_equal(read_only, SES_OK);
        assert_int_equal(
            -as_nobody((struct open_as_nobody){folder->path, SES_OPEN_READ_ONLY, 1, "read-only"}),
            SES_READONLY);
        assert_int_equal(-as_nobody((struct open_as_nobody){folder->path, 0, 1, folder->path}), SES_READONLY);
    }
    assert_int_equal(chmod(folder->folder, 0700), 0);
}

static void assert_private_under(const struct folder *folder, const mode_t *masks, size_t count)
{
    const ses_key key = {"app", "user", "session"};
    char *wal = support_path(folder->folder, "store.db-wal");
    char *shm = support_path(folder->folder, "store.db-shm");

    for (size_t i = 0; i < count; i++) {
        ses_store *store = NULL;
        ses_error error;
        mode_t before = umask(masks[i]);
        int opened = ses_open(folder->path, NULL, &store, &error);
        int created = opened == SES_OK ? ses_create(store, &key, NULL, 0, NULL, NULL, &error) : opened;
        umask(before);
        assert_ok(created);
        assert_int_equal(mode_of(folder->path), 0600);
        assert_int_equal(mode_of(wal), 0600);
        assert_int_equal(mode_of(shm), 0600);
        ses_close(store);
        assert_int_equal(unlink(folder->path), 0);
    }
    free(shm);
    free(wal);
}

static void test_new_files_are_private(void **state)
{
    static const mode_t masks[] = {0, 022, 027, 077, 0177};
    assert_private_under(*state, masks, sizeof masks / sizeof masks[0]);
}

static void test_new_files_are_private_under_a_mask_that_takes_all(void **state)
{
    static const mode_t masks[] = {0777, 0277};
    assert_private_under(*state, masks, sizeof masks / sizeof masks[0]);
}

static void test_permissions_of_a_file_are_kept(void **state)
{
    static const mode_t modes[] = {0640, 0644, 0660, 0600};
    const struct folder *folder = *state;
    const ses_key key = {"app", "user", "session"};
    char *wal = support_path(folder->folder, "store.db-wal");

    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        ses_store *store = NULL;
        ses_error error;
        write_file(folder->path, "", 0);
        assert_int_equal(chmod(folder->path, modes[i]), 0);
        assert_ok(ses_open(folder->path, NULL, &store, &error));
        must_create(store, &key, NULL);
        assert_int_equal(mode_of(folder->path), modes[i]);
        assert_int_equal(mode_of(wal), modes[i]);
        ses_close(store);
        assert_int_equal(mode_of(folder->path), modes[i]);
        assert_int_equal(unlink(folder->path), 0);
    }
    free(wal);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_setup, folder_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_no_permission),
        TEST(test_file_that_may_only_be_read),
        TEST(test_new_files_are_private),
        TEST(test_new_files_are_private_under_a_mask_that_takes_all),
        TEST(test_permissions_of_a_file_are_kept),
    };
    return cmocka_run_group_tests_name("open: permissions", tests, NULL, NULL);
}
