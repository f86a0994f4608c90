/* When is a write on disk? Seen through SQLite's interface to the file system, which counts the syncs. */
#include "open.h"

#include "../../tools/bench/over_vfs.h"

struct sights {
    int log_syncs;     /* of the write-ahead file */
    int journal_syncs; /* of a rollback journal */
    int database_syncs;
    int folder_syncs; /* that the removal of a journal asks for */
    int writes;
};

static struct sights seen;

static int seeing_sync(sqlite3_file *file, int flags)
{
    const struct over_file *own = over_file_of(file);
    seen.log_syncs += (own->flags & SQLITE_OPEN_WAL) != 0;
    seen.journal_syncs += (own->flags & SQLITE_OPEN_MAIN_JOURNAL) != 0;
    seen.database_syncs += (own->flags & SQLITE_OPEN_MAIN_DB) != 0;
    return own->real->xSync(file, flags);
}

static int seeing_write(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 offset)
{
    seen.writes++;
    return over_file_of(file)->real->xWrite(file, data, bytes, offset);
}

static int seeing_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    seen.folder_syncs += sync;
    return over_below->xDelete(over_below, name, sync);
}

static void install(void)
{
    over_init("seeing", (sqlite3_io_methods){.xSync = seeing_sync, .xWrite = seeing_write});
    over_vfs.xDelete = seeing_delete;
    assert_int_equal(sqlite3_vfs_register(&over_vfs, 1), SQLITE_OK);
}

static const ses_key key = {"app", "user", "session"};
enum { APPENDS = 10 };

/* The cost of ten appends, one after the other. */
static struct sights append_ten(const struct folder *folder, int synchronous, int journal)
{
    const ses_open_options options = {.size = sizeof options, .synchronous = synchronous, .journal = journal};

    ses_store *store = must_open(folder->path, &options);
    ses_session *session = must_open_new(store, &key, NULL);
    must_append(session, Q("{'actions':{'stateDelta':{'k':0}}}"));
    memset(&seen, 0, sizeof seen);
    for (int i = 0; i < APPENDS; i++)
        must_append(session, Q("{'actions':{'stateDelta':{'k':1}}}"));
    assert_in_range(seen.writes, APPENDS, 1000);
    const struct sights cost = seen;
    for (int i = 0; i < APPENDS; i++)
        must_refresh(session);
    /* Reading costs nothing of this kind. */
    assert_memory_equal(&seen, &cost, sizeof seen);
    ses_session_close(session);
    ses_close(store);
    return cost;
}

FOLDER_TEST(full_syncs_every_commit_once)
{
    const struct sights cost = append_ten(folder, SES_SYNC_FULL, SES_JOURNAL_AUTO);
    assert_int_equal(cost.log_syncs, APPENDS);
    assert_int_equal(cost.database_syncs, 0);
}

FOLDER_TEST(normal_syncs_no_commit)
{
    const struct sights cost = append_ten(folder, SES_SYNC_NORMAL, SES_JOURNAL_AUTO);
    assert_int_equal(cost.log_syncs, 0);
    assert_int_equal(cost.database_syncs, 0);
    /* The checkpoint at closing syncs both: the log first, then the database. */
    assert_int_equal(seen.log_syncs, 1);
    assert_in_range(seen.database_syncs, 1, 2);
}

/* With a rollback journal the commit is the removal of the journal: that, too, must be on disk (EXTRA). */
FOLDER_TEST(full_with_a_rollback_journal)
{
    const struct sights cost = append_ten(folder, SES_SYNC_FULL, SES_JOURNAL_ROLLBACK);
    assert_in_range(cost.journal_syncs, APPENDS, 3 * APPENDS);
    assert_int_equal(cost.database_syncs, APPENDS);
    assert_int_equal(cost.folder_syncs, APPENDS);
}

/* There NORMAL could lose more than the last commits: the whole file. So it means FULL. */
FOLDER_TEST(normal_with_a_rollback_journal_is_full)
{
    const struct sights cost = append_ten(folder, SES_SYNC_NORMAL, SES_JOURNAL_ROLLBACK);
    assert_in_range(cost.journal_syncs, APPENDS, 3 * APPENDS);
    assert_int_equal(cost.database_syncs, APPENDS);
    assert_int_equal(cost.folder_syncs, APPENDS);
}

FOLDER_TEST(a_batch_is_one_commit)
{
    const ses_text events[] = {{"{}", 2}, {"{}", 2}, {"{}", 2}, {"{}", 2}};

    ses_store *store = must_open(folder->path, NULL);
    must_create(store, &key, NULL);
    memset(&seen, 0, sizeof seen);
    assert_ok(ses_append_batch_by_key(store, &key, events, 4, NULL, NULL, &error));
    assert_int_equal(seen.log_syncs, 1);
    assert_int_equal(seen.database_syncs, 0);
    ses_close(store);
    assert_in_range(seen.database_syncs, 1, 3);
}

BEFORE_TESTS()
{
    install();
}
