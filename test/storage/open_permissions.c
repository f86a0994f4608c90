/* Opening: who may read and write the files. */
#include "open.h"

struct open_as_nobody {
    const char *path;
    unsigned flags;
    int writes; /* then a session is created */
    const char *words;
};

/* Opens in a child process without root's rights. Returns minus the code, or 100 if the rights cannot be
 * given up. */
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

FOLDER_TEST(no_permission)
{
    char *closed_folder = support_path(folder->folder, "closed");
    char *within = support_path(closed_folder, "store.db");
    char *unwritable = support_path(folder->folder, "new.db");

    assert_int_equal(chmod(folder->folder, 0755), 0);
    assert_int_equal(mkdir(closed_folder, 0700), 0);
    ses_store *store = must_open(folder->path, NULL);
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
FOLDER_TEST(file_that_may_only_be_read)
{
    const ses_open_options rollback = {.size = sizeof rollback, .journal = SES_JOURNAL_ROLLBACK};

    ses_store *store = must_open(folder->path, &rollback);
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

FOLDER_TEST(new_files_are_private)
{
    static const mode_t masks[] = {0, 022, 027, 077, 0177};
    assert_private_under(folder, masks, sizeof masks / sizeof masks[0]);
}

FOLDER_TEST(new_files_are_private_under_a_mask_that_takes_all)
{
    static const mode_t masks[] = {0777, 0277};
    assert_private_under(folder, masks, sizeof masks / sizeof masks[0]);
}

FOLDER_TEST(permissions_of_a_file_are_kept)
{
    static const mode_t modes[] = {0640, 0644, 0660, 0600};
    const ses_key key = {"app", "user", "session"};
    char *wal = support_path(folder->folder, "store.db-wal");

    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        ses_store *store = NULL;
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

/* ---------------------------------------------------------------------------------- all that SQLite opens */

#ifndef ON_ENCRYPTED_STORES /* which take no VFS before that of the cipher */

static struct {
    sqlite3_vfs above;
    sqlite3_vfs *below;
    int named;
    int readable; /* by others than the owner */
    int unnamed;  /* temporary files, which SQLite would delete itself */
} opened;

static int look_at_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    const int rc = opened.below->xOpen(opened.below, name, file, flags, out_flags);
    (void)vfs;

    if (rc == SQLITE_OK && name) {
        opened.named++;
        opened.readable += mode_of(name) != 0600;
    } else if (rc == SQLITE_OK) {
        opened.unnamed++;
    }
    return rc;
}

static int look_at_copy(void *context, int64_t done, int64_t total)
{
    const struct folder *folder = context;
    DIR *entries = opendir(folder->folder);
    (void)done;
    (void)total;

    assert_non_null(entries);
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        char *path = support_path(folder->folder, entry->d_name);
        if (entry->d_name[0] != '.')
            opened.readable += mode_of(path) != 0600;
        opened.named += strstr(entry->d_name, ".seslite-backup-") != NULL;
        free(path);
    }
    closedir(entries);
    return 0;
}

static void use_store(const struct folder *folder, int journal)
{
    static const unsigned ways[] = {0, SES_BACKUP_COMPACT};
    static char event[2000];
    const ses_open_options options = {.size = sizeof options, .journal = journal};
    const ses_delete_options secure = {.size = sizeof secure, .flags = SES_SECURE};
    const ses_key key = {"app", "user", "session"};
    char *copy = support_path(folder->folder, "copy.db");
    int64_t problems = -1;
    ses_error error;

    ses_store *store = must_open(folder->path, &options);
    must_create(store, &key, "{}");
    for (int i = 0; i < 500; i++) {
        snprintf(event, sizeof event, "{\"text\":\"%01500d\"}", i);
        must_append_by_key(store, &key, event);
    }
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const ses_backup_options backup = {.size = sizeof backup,
                                           .flags = ways[i] | SES_BACKUP_REPLACE,
                                           .progress = look_at_copy,
                                           .progress_context = (void *)(uintptr_t)folder};
        assert_ok(ses_store_backup(store, copy, &backup, &error));
        assert_int_equal(mode_of(copy), 0600);
    }
    assert_ok(ses_delete(store, &key, &secure, NULL, &error));
    assert_true(ses_store_maintain(store, NULL, &error) >= 0);
    assert_ok(ses_store_check(store, NULL, &problems, &error));
    ses_close(store);
    assert_int_equal(unlink(folder->path), 0);
    free(copy);
}

/* No mask takes the rights of others away, so only the library does. */
FOLDER_TEST(every_file_is_private)
{
    static const int journals[] = {SES_JOURNAL_WAL, SES_JOURNAL_ROLLBACK};
    const mode_t before = umask(0);

    opened.below = sqlite3_vfs_find(NULL);
    opened.above = *opened.below;
    opened.above.zName = "above";
    opened.above.pNext = NULL;
    opened.above.xOpen = look_at_open;
    assert_int_equal(sqlite3_vfs_register(&opened.above, 1), SQLITE_OK);
    for (size_t i = 0; i < sizeof journals / sizeof journals[0]; i++)
        use_store(folder, journals[i]);
    assert_int_equal(sqlite3_vfs_unregister(&opened.above), SQLITE_OK);
    assert_int_equal(sqlite3_vfs_register(opened.below, 1), SQLITE_OK);
    umask(before);
    assert_true(opened.named > 30);
    assert_int_equal(opened.readable, 0);
    assert_int_equal(opened.unnamed, 0);
}
#endif
