/* Copies of stores in memory. */
#include "base/error.h"
#include "storage/sqlite/connection/key.h"
#include "storage/sqlite/parts.h"

/* Pages from another store's connection, into one that was just opened. */
static int fill_copy(void *context, struct connection *db, ses_error *error)
{
    return ses__pages_copy(context, db, "main", NULL, error);
}

/*
 * SQLite3 Multiple Ciphers does not copy pages from a file with a key to memory, which has none. It gives
 * them as one piece of memory, and takes that as a database. Other libraries that are linked may lack these
 * two calls.
 */
#if KEYS_ARE_POSSIBLE
extern __typeof__(sqlite3_serialize) sqlite3_serialize IF_LINKED;
extern __typeof__(sqlite3_deserialize) sqlite3_deserialize IF_LINKED;

enum { WRITE_VERSION_AT = 18, READ_VERSION_AT = 19, ROLLBACK_VERSION = 1 };

static int read_pages(struct connection *from, struct connection *plain, ses_error *error)
{
    sqlite3_int64 bytes = 0;

    if (!sqlite3_serialize || !sqlite3_deserialize)
        return ses__error_set(error, SES_UNSUPPORTED, "%s: SQLite is linked without sqlite3_deserialize",
                              from->config->path);
    unsigned char *pages = sqlite3_serialize(from->handle, "main", &bytes, 0);
    if (!pages)
        return ses__error_nomem(error);
    if (bytes > READ_VERSION_AT) /* a database in memory has no write-ahead log */
        pages[WRITE_VERSION_AT] = pages[READ_VERSION_AT] = ROLLBACK_VERSION;
    const int rc = sqlite3_deserialize(plain->handle, "main", pages, bytes, bytes,
                                       SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
    return rc == SQLITE_OK ? SES_OK : ses__connection_error(plain, rc, "reading the pages", error);
}

static int fill_decoded(void *context, struct connection *db, ses_error *error)
{
    struct connection *plain = NULL;
    int code = ses__connection_open(db->config, CONNECTION_WRITER, NULL, &plain, error);

    if (code == SES_OK)
        code = read_pages(context, plain, error);
    if (code == SES_OK)
        code = ses__pages_copy(plain, db, "main", NULL, error);
    ses__connection_close(plain);
    return code;
}
#else
#define fill_decoded fill_copy /* no file has a key */
#endif

static int open_filled(struct db *base, void *context, ses_error *error)
{
    struct connection *db = ses__connection_of(base);
    struct copy_op *op = context;
    struct sqlite_config config = *op->config;
    int64_t pages = 0;
    int code = ses__pages_count(db, &pages, error); /* reads, with which the transaction begins */

    config.fill = db->config->key && !db->config->in_memory ? fill_decoded : fill_copy;
    config.fill_context = db;
    if (!config.key)
        config.key = db->config->key;
    return code == SES_OK ? ses__sqlite_open(&config, &op->copy, error) : code;
}

int ses__sqlite_copy(struct storage *storage, struct copy_op *op, ses_error *error)
{
    op->copy = NULL;
    const int code = ses__private_connection_run(storage, &op->limits, open_filled, op, error);
    if (code != SES_OK && op->copy) {
        ses__door_release(op->copy);
        op->copy = NULL;
    }
    return code;
}
