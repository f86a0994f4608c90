/*
 * Overwriting the bytes of the file that belong to no row. When SQLite redistributes rows over pages, copies
 * of them stay in the gap between the list of a page's rows and the rows, and `PRAGMA secure_delete` does not
 * overwrite those when the rows are deleted. Only VACUUM would, but it writes the whole file again. So they
 * are overwritten here, with SQLite's lock and through its file: only bytes that no row and no list uses
 * (https://www.sqlite.org/fileformat.html#b_tree_pages). A write that is cut short does no harm.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "storage/sqlite/parts.h"

enum {
    FILE_HEAD_BYTES = 24,
    RESERVED_AT = 20, /* the number of bytes at the end of each page that are not SQLite's */
    INTERIOR_INDEX = 2,
    INTERIOR_TABLE = 5,
    LEAF_INDEX = 10,
    LEAF_TABLE = 13,
    FREEBLOCK_HEAD_BYTES = 4
};

/* The pages that were found and not yet looked at. */
struct page_list {
    uint32_t *items;
    size_t count;
    size_t capacity;
};

struct sweep {
    struct sqlite *storage;
    const struct limits *limits;
    bool *wrote;
    struct connection *db;
    sqlite3_file *file;
    uint32_t page_bytes;
    uint32_t usable_bytes; /* of a page */
    int64_t pages;
    unsigned char *page; /* the one that is looked at */
    unsigned char *seen; /* a bit for each page */
    struct page_list found;
};

static uint32_t two_bytes(const unsigned char *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t four_bytes(const unsigned char *at)
{
    return two_bytes(at) << 16 | two_bytes(at + 2);
}

static int refuse_page(const struct sweep *sweep, int64_t number, ses_error *error)
{
    return ses__error_set(error, SES_CORRUPT, "%s: page %lld is damaged", sweep->db->config->path,
                          (long long)number);
}

/* -------------------------------------------------------------------------------------------- one page */

static int overwrite(struct sweep *sweep, uint32_t number, uint32_t from, uint32_t to, ses_error *error)
{
    const int64_t offset = (int64_t)(number - 1) * sweep->page_bytes;

    while (from < to && sweep->page[from] == 0)
        from++;
    while (from < to && sweep->page[to - 1] == 0)
        to--;
    if (from == to)
        return SES_OK;
    memset(sweep->page + from, 0, to - from);
    *sweep->wrote = true;
    const int rc =
        sweep->file->pMethods->xWrite(sweep->file, sweep->page + from, (int)(to - from), offset + from);
    return rc == SQLITE_OK ? SES_OK : ses__connection_error(sweep->db, rc, "overwriting unused bytes", error);
}

/* The rows that were deleted are a list of blocks, each with the place of the next and its own length at its
 * head. */
static int overwrite_freeblocks(struct sweep *sweep, uint32_t number, uint32_t content, ses_error *error)
{
    uint32_t at = two_bytes(sweep->page + 1);
    int code = SES_OK;

    while (at != 0 && code == SES_OK) {
        if (at < content || at + FREEBLOCK_HEAD_BYTES > sweep->usable_bytes)
            return refuse_page(sweep, number, error);
        const uint32_t next = two_bytes(sweep->page + at);
        const uint32_t end = at + two_bytes(sweep->page + at + 2);
        if (end < at + FREEBLOCK_HEAD_BYTES || end > sweep->usable_bytes || (next != 0 && next < end))
            return refuse_page(sweep, number, error);
        code = overwrite(sweep, number, at + FREEBLOCK_HEAD_BYTES, end, error);
        at = next;
    }
    return code;
}

static int add_page(struct sweep *sweep, int64_t number, ses_error *error)
{
    if (number < 2 || number > sweep->pages || sweep->seen[number / 8] & (1U << (number % 8)))
        return refuse_page(sweep, number, error);
    if (!LIST_GROW(sweep->storage->config.allocator, &sweep->found))
        return ses__error_nomem(error);
    sweep->seen[number / 8] |= (unsigned char)(1U << (number % 8));
    sweep->found.items[sweep->found.count++] = (uint32_t)number;
    return SES_OK;
}

static int sweep_page(struct sweep *sweep, uint32_t number, ses_error *error)
{
    const unsigned char *page = sweep->page;
    const int rc = sweep->file->pMethods->xRead(sweep->file, sweep->page, (int)sweep->page_bytes,
                                                (int64_t)(number - 1) * sweep->page_bytes);
    if (rc != SQLITE_OK)
        return ses__connection_error(sweep->db, rc, "looking for unused bytes", error);
    const bool interior = page[0] == INTERIOR_INDEX || page[0] == INTERIOR_TABLE;
    const uint32_t list = interior ? 12 : 8;
    const uint32_t rows = two_bytes(page + 3);
    const uint32_t content = two_bytes(page + 5) == 0 ? 65536 : two_bytes(page + 5);
    const uint32_t gap = list + 2 * rows;
    if ((!interior && page[0] != LEAF_INDEX && page[0] != LEAF_TABLE) || gap > content ||
        content > sweep->usable_bytes)
        return refuse_page(sweep, number, error);
    /* The list of an interior page has the offset of each row, and a row begins with the number of a page. */
    int code = interior ? add_page(sweep, four_bytes(page + list - 4), error) : SES_OK;
    for (uint32_t i = 0; interior && i < rows && code == SES_OK; i++) {
        const uint32_t at = two_bytes(page + list + (size_t)2 * i);
        code = at + 4 <= sweep->usable_bytes ? add_page(sweep, four_bytes(page + at), error)
                                             : refuse_page(sweep, number, error);
    }
    if (code == SES_OK)
        code = overwrite(sweep, number, gap, content, error);
    return code == SES_OK ? overwrite_freeblocks(sweep, number, content, error) : code;
}

/* ---------------------------------------------------------------------------------------------- the file */

/* The first page has the schema and no rows of a store. SQLite has it in use. */
static int add_root(void *context, sqlite3_stmt *row, ses_error *error)
{
    return add_page(context, sqlite3_column_int64(row, 0), error);
}

static int begin_sweep(struct sweep *sweep, ses_error *error)
{
    const ses_allocator *allocator = sweep->storage->config.allocator;
    unsigned char head[FILE_HEAD_BYTES];
    int64_t page_bytes = 0;
    int code = ses__pages_count(sweep->db, &sweep->pages, error);

    if (code == SES_OK)
        code = ses__connection_read_int(sweep->db, "PRAGMA page_size", &page_bytes, error);
    if (code != SES_OK)
        return code;
    sweep->file = ses__connection_file(sweep->db, SQLITE_FCNTL_FILE_POINTER);
    const int rc =
        sweep->file ? sweep->file->pMethods->xRead(sweep->file, head, FILE_HEAD_BYTES, 0) : SQLITE_IOERR;
    if (rc != SQLITE_OK)
        return ses__connection_error(sweep->db, rc, "looking for unused bytes", error);
    sweep->page_bytes = (uint32_t)page_bytes;
    sweep->usable_bytes = sweep->page_bytes - head[RESERVED_AT];
    sweep->page = ses__memory_new(allocator, sweep->page_bytes);
    sweep->seen = ses__memory_zeroed(allocator, (size_t)sweep->pages / 8 + 1);
    return sweep->page && sweep->seen ? SES_OK : ses__error_nomem(error);
}

/*
 * Other connections may have pages in memory, as they were, and write them when they change one. A commit
 * after the overwriting makes them read their pages again.
 */
static int end_sweep(struct sweep *sweep, ses_error *error)
{
    char sql[64];
    int64_t version = 0;

    ses__connection_end_call(sweep->db); /* it ends in any case */
    const int rc = sweep->file->pMethods->xSync(sweep->file, SQLITE_SYNC_NORMAL);
    int code =
        rc == SQLITE_OK ? SES_OK : ses__connection_error(sweep->db, rc, "flushing overwritten bytes", error);

    if (code == SES_OK)
        code = ses__connection_read_int(sweep->db, "PRAGMA user_version", &version, error);
    (void)snprintf(sql, sizeof sql, "PRAGMA user_version = %lld", (long long)version);
    if (code == SES_OK)
        code = ses__connection_execute(sweep->db, sql, "making others read again", error);
    return code == SES_OK ? ses__commit(sweep->db, error) : code;
}

static int sweep_with(struct sweep *sweep, ses_error *error)
{
    int code = ses__transaction_begin(sweep->db, STATEMENT_BEGIN_WRITE, error);

    if (code != SES_OK)
        return code;
    /* While the log has pages, those in the file may be outdated. */
    if (strcmp(sweep->storage->journal_mode, "wal") == 0 && ses__wal_file_bytes(sweep->storage) > 0)
        code = SES_MORE;
    if (code == SES_OK)
        code = begin_sweep(sweep, error);
    /* The end of a page may have a checksum of it (https://www.sqlite.org/cksumvfs.html), which would be
     * wrong. */
    if (code == SES_OK && sweep->usable_bytes == sweep->page_bytes) {
        code = ses__connection_visit(sweep->db, "SELECT rootpage FROM main.sqlite_schema WHERE rootpage > 1",
                                     add_root, sweep, error);
        while (sweep->found.count > 0 && code == SES_OK) {
            code = sweep_page(sweep, sweep->found.items[--sweep->found.count], error);
            if (code == SES_OK && ses__limits_passed(sweep->limits))
                code = SES_MORE;
        }
    }
    if (*sweep->wrote) {
        const int ended = end_sweep(sweep, error);
        code = code == SES_OK ? ended : code;
    }
    ses__transaction_roll_back(sweep->db);
    return code;
}

/* In the writer's turn, on a connection of its own, so that the one that writes reads its pages again,
 * too. */
static int run_sweep(struct db *writer, void *context, ses_error *error)
{
    struct sweep *sweep = context;
    const ses_allocator *allocator = sweep->storage->config.allocator;
    int code =
        ses__connection_open(&sweep->storage->config, CONNECTION_WRITER, sweep->limits, &sweep->db, error);

    (void)writer;
    if (code != SES_OK)
        return code;
    code = sweep_with(sweep, error);
    ses__connection_close(sweep->db);
    ses__memory_free(allocator, sweep->page);
    ses__memory_free(allocator, sweep->seen);
    ses__memory_free(allocator, sweep->found.items);
    return code;
}

int ses__sweep(struct sqlite *storage, const struct limits *limits, bool *wrote, ses_error *error)
{
    struct sweep sweep = {.storage = storage, .limits = limits, .wrote = wrote};
    *wrote = false;
    return ses__writer_run(storage, run_sweep, &sweep, 0, JOB_ALONE, limits, error);
}
