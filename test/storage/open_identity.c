/* A store stays on one file, whatever happens to the working directory, to links, and to the file's name. */
#include "open.h"

static const ses_key key = {"app", "user", "session"};

/* ---- SQLite is given another file than the one that is at the path before and afterwards: see flags.mk */

static int opens_before; /* counts down: the one that makes it zero */
static const char *path_of_both;
static const char *other_file;

int __real_sqlite3_open_v2(const char *path, sqlite3 **handle, int flags, const char *vfs);
int __wrap_sqlite3_open_v2(const char *path, sqlite3 **handle, int flags, const char *vfs);
int __wrap_sqlite3_open_v2(const char *path, sqlite3 **handle, int flags, const char *vfs)
{
    const bool is_other = opens_before > 0 && --opens_before == 0;
    char aside[1024] = "";

    if (is_other) {
        snprintf(aside, sizeof aside, "%s-aside", other_file);
        assert_int_equal(rename(path_of_both, aside) + rename(other_file, path_of_both), 0);
    }
    const int rc = __real_sqlite3_open_v2(path, handle, flags, vfs);
    if (is_other)
        assert_int_equal(rename(path_of_both, other_file) + rename(aside, path_of_both), 0);
    return rc;
}

/* ---- */

static ses_store *open_store(const char *path, const ses_open_options *options)
{
    ses_store *store = must_open(path, options);
    return store;
}

/* A store in `folder`, with a session that says whose it is. */
static void make_store(const char *folder, const char *owner)
{
    char *path = support_path(folder, "agents.db");
    char state[64];

    assert_int_equal(mkdir(folder, 0700), 0);
    ses_store *store = open_store(path, NULL);
    snprintf(state, sizeof state, "{\"owner\":\"%s\"}", owner);
    must_create(store, &key, state);
    ses_close(store);
    free(path);
}

static void assert_owner(ses_store *store, const char *expected)
{
    char *json = NULL;
    ses_error error;
    assert_ok(ses_state_get_by_key(store, &key, "owner", NULL, &json, NULL, &error));
    assert_string_equal(json, expected);
    ses_free(json);
}

/* As a daemon does after it has opened its files. It runs in a child, because the working directory is the
 * process's. */
static int run_change_of_directory(void *context)
{
    const struct folder *folder = context;
    ses_store *store = NULL;
    ses_error error;
    char *json = NULL;

    if (chdir(folder->folder) != 0 || chdir("alice") != 0 || ses_open("agents.db", NULL, &store, &error) < 0)
        return 1;
    if (chdir("../bob") != 0 || ses_append_by_key(store, &key, "{}", 2, NULL, NULL, &error) < 0)
        return 2;
    /* This one opens the first reading connection. */
    if (ses_state_get_by_key(store, &key, "owner", NULL, &json, NULL, &error) < 0 ||
        strcmp(json, "\"alice\"") != 0)
        return 3;
    ses_free(json);
    ses_close(store);
    return 0;
}

FOLDER_TEST(working_directory_changes)
{
    char *alice = support_path(folder->folder, "alice");
    char *bob = support_path(folder->folder, "bob");

    make_store(alice, "alice");
    make_store(bob, "bob");
    assert_int_equal(child_run(run_change_of_directory, folder), 0);
    free(alice);
    free(bob);
}

/* A link in the path that is pointed elsewhere later: to the file itself, and to a folder on the way to
 * it. */
FOLDER_TEST(links_change)
{
    char *alice = support_path(folder->folder, "alice");
    char *bob = support_path(folder->folder, "bob");
    char *link_path = support_path(folder->folder, "link");
    char *through_link = support_path(link_path, "agents.db");

    make_store(alice, "alice");
    make_store(bob, "bob");
    assert_int_equal(symlink(alice, link_path), 0);
    ses_store *store = open_store(through_link, NULL);
    assert_int_equal(unlink(link_path), 0);
    assert_int_equal(symlink(bob, link_path), 0);
    assert_owner(store, "\"alice\"");
    ses_close(store);

    char *file = support_path(alice, "agents.db");
    char *other = support_path(bob, "agents.db");
    assert_int_equal(unlink(link_path), 0);
    assert_int_equal(symlink(file, link_path), 0);
    store = open_store(link_path, NULL);
    assert_int_equal(unlink(link_path), 0);
    assert_int_equal(symlink(other, link_path), 0);
    assert_owner(store, "\"alice\"");
    ses_close(store);
    free(file);
    free(other);
    free(through_link);
    free(link_path);
    free(bob);
    free(alice);
}

enum { LOOK_PAUSE_US = 1100000 /* reads look at the file once a second */ };

/* The codes of a store whose file is gone from its path: every write at once, and reads within a second. */
static void assert_gone(ses_store *store, const char *words)
{
    ses_appended appended;
    ses_session *session = NULL;
    ses_error error;

    assert_code(SES_IO, ses_append_by_key(store, &key, "{}", 2, NULL, &appended, &error));
    assert_message(words);
    support_pause_us(LOOK_PAUSE_US);
    for (int reads = 0; reads < 3; reads++) {
        assert_code(SES_IO, ses_get(store, &key, NULL, &session, &error));
        assert_message(words);
    }
}

static void assert_deletion_is_told(const struct folder *folder, int journal)
{
    const ses_open_options options = {.size = sizeof options, .journal = journal};
    ses_store *store = open_store(folder->path, &options);

    must_create(store, &key, NULL);
    assert_int_equal(unlink(folder->path), 0);
    assert_gone(store, journal == SES_JOURNAL_WAL ? "deleted or moved" : "store.db");
    ses_close(store);
    assert_int_equal(access(folder->path, F_OK), -1);
}

FOLDER_TEST(deleted_file)
{
    assert_deletion_is_told(folder, SES_JOURNAL_WAL);
}

FOLDER_TEST(deleted_file_with_a_rollback_journal)
{
    assert_deletion_is_told(folder, SES_JOURNAL_ROLLBACK);
}

FOLDER_TEST(file_is_replaced_while_it_is_opened)
{
    char *other = support_path(folder->folder, "other.db");
    int told = 0;

    ses_close(open_store(folder->path, NULL));
    ses_close(open_store(other, NULL));
    path_of_both = folder->path;
    other_file = other;
    for (int opens = 1; opens <= 4; opens++) {
        ses_store *store = NULL;
        opens_before = opens;
        if (ses_open(folder->path, NULL, &store, &error) != SES_OK) {
            assert_int_equal(error.code, SES_IO);
            assert_message("replaced while it was being opened");
            told++;
        }
        opens_before = 0;
        ses_close(store);
    }
    assert_true(told > 0);
    free(other);
}

FOLDER_TEST(replaced_file)
{
    char *bob = support_path(folder->folder, "bob");
    char *other = support_path(bob, "agents.db");
    ses_store *store = open_store(folder->path, NULL);

    make_store(bob, "bob");
    must_create(store, &key, Q("{'owner':'alice'}"));
    ses_close(store); /* its log is copied, and gone */
    store = open_store(folder->path, NULL);
    assert_owner(store, "\"alice\"");
    assert_int_equal(rename(other, folder->path), 0);
    assert_gone(store, "the file was replaced");
    ses_close(store);

    /* The other one was neither read nor written. */
    store = open_store(folder->path, NULL);
    assert_owner(store, "\"bob\"");
    ses_close(store);
    assert_query(folder->path, "SELECT count(*) FROM events", "0\n");
    free(other);
    free(bob);
}

/* A reading connection is opened when it is needed: by then the file may be another one. */
FOLDER_TEST(file_is_replaced_before_a_connection_is_opened)
{
    char *bob = support_path(folder->folder, "bob");
    char *other = support_path(bob, "agents.db");
    ses_store *store = open_store(folder->path, NULL);
    char *json = NULL;

    make_store(bob, "bob");
    assert_int_equal(rename(other, folder->path), 0);
    assert_code(SES_IO, ses_state_get_by_key(store, &key, "owner", NULL, &json, NULL, &error));
    assert_message("the file was replaced");
    ses_close(store);
    free(other);
    free(bob);
}

FOLDER_TEST(file_comes_back)
{
    char *aside = support_path(folder->folder, "aside.db");
    ses_store *store = open_store(folder->path, NULL);

    must_create(store, &key, Q("{'owner':1}"));
    assert_int_equal(rename(folder->path, aside), 0);
    assert_code(SES_IO, ses_append_by_key(store, &key, "{}", 2, NULL, NULL, &error));
    assert_int_equal(rename(aside, folder->path), 0);
    assert_ok(ses_append_by_key(store, &key, "{}", 2, NULL, NULL, &error));
    assert_owner(store, "1");
    ses_close(store);
    free(aside);
}

FOLDER_TEST(path_is_told_as_it_was_given)
{
    char *roundabout = support_path(folder->folder, "./store.db");
    ses_info info = {.size = sizeof info};
    ses_store *store = open_store(roundabout, NULL);

    assert_ok(ses_store_info(store, &info, &error));
    assert_string_equal(info.path, roundabout);
    ses_close(store);
    free(roundabout);
}
