/*
 * VACUUM INTO writes with the key of the main database, whichever it reads. So the main database is an empty one with the
 * key that is wanted, and the store is attached to it. (A URI that names a key would do, too, but SQLite would show it in
 * messages and to whoever listens to its log.)
 */
#include "storage/sqlite/backup/recoding.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "storage/sqlite/connection/key.h"

/* A database in memory has no key. An empty file has one as soon as it is open, and then needs no name. */
static int open_empty(struct recoding *recoding, const struct backup_file *file, ses_error *error)
{
    char *path = NULL;
    int code = SES_OK;

    recoding->config.in_memory = !recoding->config.key;
    if (recoding->config.key)
        code = ses__backup_file_make_empty(file, &path, error);
    recoding->config.path = path ? path : ":memory:";
    if (code == SES_OK)
        code = ses__connection_open(&recoding->config, CONNECTION_WRITER, NULL, &recoding->db, error);
    if (path)
        (void)unlink(path); /* the next backup removes it */
    recoding->config.path = file->target;
    ses__memory_free(file->allocator, path);
    return code;
}

static int run_attach(struct recoding *recoding, sqlite3_stmt *attach, const char *path,
                      const unsigned char *key, ses_error *error)
{
    unsigned char text[KEY_TEXT_BYTES];
    int rc = sqlite3_bind_text64(attach, 1, path, strlen(path), SQLITE_STATIC, SQLITE_UTF8);

    if (key)
        ses__key_text(key, text);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_blob64(attach, 2, text, key ? sizeof text : 0, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(attach);
    const int code =
        rc == SQLITE_DONE ? SES_OK : ses__statement_error(recoding->db, rc, "attaching the store", error);
    (void)sqlite3_clear_bindings(attach); /* cannot fail */
    ses__key_wipe(text, sizeof text);
    return code;
}

static int attach_source(struct recoding *recoding, const struct sqlite_config *source, ses_error *error)
{
    sqlite3_stmt *attach = NULL;
    int rc = sqlite3_prepare_v2(recoding->db->handle, "ATTACH ?1 AS source KEY ?2", -1, &attach, NULL);
    const int code = rc == SQLITE_OK ? run_attach(recoding, attach, source->path,
                                                  source->in_memory ? NULL : source->key, error)
                                     : ses__statement_error(recoding->db, rc, "attaching the store", error);

    (void)sqlite3_finalize(attach); /* repeats the failure of the step */
    return code;
}

int ses__recoding_open(struct recoding *recoding, const struct backup_file *file,
                       const struct private_connection *source, const unsigned char *key, ses_error *error)
{
    const struct sqlite_config *of_store = source->db->config;
    int code;

    *recoding = (struct recoding){
        .config = ses__config_for_file(&source->storage->base, file->target, &recoding->file)};
    recoding->config.key = key;
    code = open_empty(recoding, file, error);
    if (code == SES_OK)
        code = ses__key_set_cipher(recoding->db, error); /* for the store, if the copy has no key */
    if (code == SES_OK)
        code = attach_source(recoding, of_store, error);
    if (code == SES_OK && of_store->in_memory)
        code = ses__pages_copy_into(source->db, recoding->db, "source", &(struct copy_progress){NULL, NULL},
                                    error);
    if (code == SES_OK)
        code = ses__connection_execute(recoding->db, "PRAGMA synchronous = OFF", "preparing the copy", error);
    return code;
}

void ses__recoding_close(struct recoding *recoding)
{
    ses__connection_close(recoding->db);
}
