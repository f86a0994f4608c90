/*
 * The length of the write-ahead file, the log. Normally the file keeps its length, because overwriting it is
 * cheaper than making it longer. Only the thread that has the turn calls these functions, without the lock.
 */
#include <stdio.h>

#include "storage/sqlite/parts.h"

/* When the log starts again, a longer file is cut to KEPT_BYTES, but by at most CUT_BYTES at a time, since
 * cutting takes time in proportion. */
static const int64_t KEPT_BYTES = INT64_C(16) << 20;
static const int64_t CUT_BYTES = INT64_C(64) << 20;

/* While readers keep the log from starting again, its file is made longer ahead of need, by PIECES at a
 * time. */
enum { PIECE_BYTES = 4 * 1024, PIECES = 64, RESERVE_BYTES = 64 * 1024 };
static const int64_t FRAME_BYTES = 4096 + 24;

int64_t ses__wal_file_bytes(const struct sqlite *storage)
{
    sqlite3_file *file = ses__connection_file(storage->writer.db, SQLITE_FCNTL_JOURNAL_POINTER);
    sqlite3_int64 bytes = 0;

    return file && file->pMethods->xFileSize(file, &bytes) == SQLITE_OK ? bytes : 0;
}

/* `bytes` is the length to which the commit that starts the log again cuts the file, or WAL_FILE_AS_IT_IS. */
static void set_limit(struct sqlite *storage, int64_t bytes)
{
    char sql[64];

    if (storage->wal_file.limit != bytes) {
        (void)snprintf(sql, sizeof sql, "PRAGMA journal_size_limit = %lld", (long long)bytes);
        if (ses__connection_execute(storage->writer.db, sql, "bounding the log", NULL) == SES_OK)
            storage->wal_file.limit = bytes; /* otherwise the next checkpoint tries again */
    }
}

void ses__wal_file_bound(struct sqlite *storage)
{
    set_limit(storage, KEPT_BYTES);
}

void ses__wal_file_keep(struct sqlite *storage)
{
    set_limit(storage, WAL_FILE_AS_IT_IS);
}

void ses__wal_file_cut(struct sqlite *storage)
{
    int64_t bytes = ses__wal_file_bytes(storage);
    int64_t limit = WAL_FILE_AS_IT_IS;

    if (bytes > KEPT_BYTES)
        limit = bytes - CUT_BYTES > KEPT_BYTES ? bytes - CUT_BYTES : KEPT_BYTES;
    set_limit(storage, limit);
    storage->wal_file.bytes = 0;
}

void ses__wal_file_extend(struct sqlite *storage)
{
    struct wal_file *own = &storage->wal_file;
    struct connection *db = storage->writer.db;
    const int64_t needed = db->wal_pages * FRAME_BYTES + RESERVE_BYTES;

    /* Flushing a file that has become longer costs the file system a commit of its own, so this is done
     * rarely. */
    if (storage->config.checkpoint != SES_CHECKPOINT_AUTO || storage->config.synchronous != SES_SYNC_FULL ||
        db->wal_pages < WAL_PRESSING_PAGES || needed <= own->bytes)
        return;
    own->bytes = ses__wal_file_bytes(storage);
    if (own->bytes == 0 || needed <= own->bytes)
        return;
    /* Inside a write transaction no other connection, in any process, writes to the log or cuts it. SQLite
     * ignores everything after the last commit. */
    sqlite3_file *file = ses__connection_file(db, SQLITE_FCNTL_JOURNAL_POINTER);
    const char zeros[PIECE_BYTES] = {0};
    int rc = SQLITE_OK;
    for (int i = 0; i < PIECES && rc == SQLITE_OK; i++) {
        rc = file->pMethods->xWrite(file, zeros, PIECE_BYTES, own->bytes);
        if (rc == SQLITE_OK) /* otherwise the commit will report the failure */
            own->bytes += PIECE_BYTES;
    }
}
