/* The files of a connection, as SQLite has them open: to open and close them would drop the locks of this
 * process on them. */
#include <string.h>

#include "storage/sqlite/connection/connection.h"

sqlite3_file *ses__connection_file(struct connection *db, int which)
{
    sqlite3_file *file = NULL;
    const int rc = sqlite3_file_control(db->handle, "main", which, &file);

    return rc == SQLITE_OK && file && file->pMethods ? file : NULL;
}

int64_t ses__connection_file_bytes(struct connection *db)
{
    static const int files[] = {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER};
    int64_t bytes = 0;

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        sqlite3_file *file = ses__connection_file(db, files[i]);
        sqlite3_int64 size = 0;
        if (file && file->pMethods->xFileSize(file, &size) == SQLITE_OK)
            bytes += size;
    }
    return bytes;
}

/* ------------------------------------------------------------------------------- the file's beginning */

enum { MARK_BYTES = 16, HEAD_BYTES = 24 };

static bool read_head(struct connection *db, unsigned char *head, int bytes)
{
    sqlite3_file *file = ses__connection_file(db, SQLITE_FCNTL_FILE_POINTER);
    return file && file->pMethods->xRead(file, head, bytes, 0) == SQLITE_OK;
}

static bool has_mark(const unsigned char *head)
{
    return memcmp(head, "SQLite format 3", MARK_BYTES) == 0;
}

/* With a cipher, just these bytes are read as they are in the file. */
bool ses__connection_is_plain(struct connection *db)
{
    unsigned char head[HEAD_BYTES];
    return read_head(db, head, MARK_BYTES) && has_mark(head);
}

bool ses__connection_is_cut_short(struct connection *db)
{
    enum { BEGINNING_BYTES = 32, PAGE_SIZE_AT = 16, PAGES_AT = 28 };
    unsigned char head[BEGINNING_BYTES];
    int64_t pages = 0;

    if (!read_head(db, head, BEGINNING_BYTES) || !has_mark(head))
        return false;
    const int64_t size = head[PAGE_SIZE_AT] << 8 | head[PAGE_SIZE_AT + 1];
    for (int i = PAGES_AT; i < BEGINNING_BYTES; i++)
        pages = pages << 8 | head[i];
    /* 1 stands for 65,536 */
    return pages > ses__connection_file_bytes(db) / (size > 1 ? size : 65536);
}

/* The cipher leaves the eight bytes after the mark as they are. Three of them are the same in all files
 * (https://www.sqlite.org/fileformat.html#the_database_header). */
static bool seems_encrypted(struct connection *db)
{
    static const unsigned char fractions[] = {64, 32, 32};
    unsigned char head[HEAD_BYTES];

    return read_head(db, head, HEAD_BYTES) && !has_mark(head) &&
           memcmp(head + HEAD_BYTES - sizeof fractions, fractions, sizeof fractions) == 0;
}

bool ses__connection_lacks_key(struct connection *db)
{
    return db->config->key ? !db->config->in_memory : seems_encrypted(db);
}

bool ses__connection_is_other_kind(struct connection *db)
{
    return db->config->key ? ses__connection_is_plain(db) : seems_encrypted(db);
}
