/*
 * Which key a file has, and whether it is really encrypted with it.
 *
 * A plain SQLite ignores every PRAGMA that it does not know, so that a key which is set blindly would encrypt
 * nothing. So each connection proves three things before it reads or writes: its SQLite has the cipher, no
 * other VFS stands before the one that encrypts (pages would reach the write-ahead log in plain text), and
 * the key is in use.
 */
#include "storage/sqlite/connection/key.h"

#include <string.h>

#include "base/error.h"

/* SQLite itself has none of these; its own list of options may have been left out. */
#if KEYS_ARE_POSSIBLE
extern int sqlite3_key_v2(sqlite3 *db, const char *schema, const void *key, int bytes) IF_LINKED;
extern int sqlite3mc_cipher_index(const char *cipher) IF_LINKED;
extern int sqlite3mc_config(sqlite3 *db, const char *name, int value) IF_LINKED;
extern int sqlite3mc_config_cipher(sqlite3 *db, const char *cipher, const char *name, int value) IF_LINKED;
extern unsigned char *sqlite3mc_codec_data(sqlite3 *db, const char *schema, const char *name) IF_LINKED;
extern int sqlite3_compileoption_used(const char *name) IF_LINKED;
#endif

void ses__key_wipe(void *memory, size_t bytes)
{
    volatile unsigned char *at = memory; /* which the compiler may not leave out */

    while (bytes > 0)
        at[--bytes] = 0;
}

void ses__key_text(const unsigned char *key, unsigned char text[KEY_TEXT_BYTES])
{
    memcpy(text, "raw:", KEY_MARK_BYTES);
    memcpy(text + KEY_MARK_BYTES, key, SES_KEY_BYTES);
}

static int refuse_cipher(const struct sqlite_config *config, ses_error *error)
{
    return ses__error_set(
        error, SES_UNSUPPORTED,
        "%s: SQLite %s as it is linked cannot encrypt files: link SQLite3 Multiple Ciphers 2 or newer",
        config->path, sqlite3_libversion());
}

#if KEYS_ARE_POSSIBLE
/* AEGIS-256, which has a tag for each page. */
static const char CIPHER[] = "aegis";
enum { AEGIS_256 = 4 };

/* Pages are encrypted by a VFS, and by the write-ahead log if that VFS is the first. */
static bool encrypts(const sqlite3_vfs *vfs)
{
    static const char name[] = "multipleciphers";
    return vfs && strncmp(vfs->zName, name, sizeof name - 1) == 0;
}

/* Temporary files are not encrypted, so they must be in memory, which one way to compile SQLite rules out. */
static bool has_cipher(void)
{
    return sqlite3mc_cipher_index && sqlite3mc_cipher_index(CIPHER) > 0 && sqlite3_compileoption_used &&
           !sqlite3_compileoption_used("TEMP_STORE=0") && encrypts(sqlite3_vfs_find(NULL));
}

/* All is set, so that no other default of the library that is linked makes another file. */
static bool set_cipher(sqlite3 *handle)
{
    const int index = sqlite3mc_cipher_index(CIPHER);

    return sqlite3mc_config(handle, "default:cipher", index) == index &&
           sqlite3mc_config(handle, "default:hmac_check", 1) == 1 &&
           sqlite3mc_config(handle, "default:mc_legacy_wal", 0) == 0 &&
           sqlite3mc_config_cipher(handle, CIPHER, "default:algorithm", AEGIS_256) == AEGIS_256 &&
           sqlite3mc_config_cipher(handle, CIPHER, "default:plaintext_header_size", 0) == 0;
}

/* Returns SQLite's code. */
static int set_key(sqlite3 *handle, const unsigned char *key)
{
    unsigned char text[KEY_TEXT_BYTES];

    ses__key_text(key, text);
    const int rc = sqlite3_key_v2(handle, "main", text, KEY_TEXT_BYTES);
    ses__key_wipe(text, sizeof text);
    return rc;
}

/* Only a database that is encrypted has a salt. */
static bool has_key(sqlite3 *handle)
{
    unsigned char *salt = sqlite3mc_codec_data(handle, "main", "cipher_salt");

    sqlite3_free(salt);
    return salt != NULL;
}
#else
#define has_cipher() false
#define encrypts(vfs) false
#define set_cipher(handle) false
#define set_key(handle, key) SQLITE_ERROR
#define has_key(handle) false
#endif

int ses__key_check_cipher(const struct sqlite_config *config, ses_error *error)
{
    return has_cipher() ? SES_OK : refuse_cipher(config, error);
}

int ses__key_set_cipher(struct connection *db, ses_error *error)
{
    sqlite3_vfs *vfs = NULL;
    const int rc = sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_VFS_POINTER, &vfs);

    return rc == SQLITE_OK && encrypts(vfs) && set_cipher(db->handle) ? SES_OK
                                                                      : refuse_cipher(db->config, error);
}

int ses__key_apply(struct connection *db, ses_error *error)
{
    if (!db->config->key || db->config->in_memory)
        return SES_OK;
    int code = ses__key_set_cipher(db, error);
    const int rc = code == SES_OK ? set_key(db->handle, db->config->key) : SQLITE_OK;
    if (rc != SQLITE_OK)
        code = ses__connection_error(db, rc, "setting the key", error);
    return code == SES_OK && !has_key(db->handle) ? refuse_cipher(db->config, error) : code;
}

int ses__key_check_file(struct connection *db, ses_error *error)
{
    const bool has_one = db->config->key && !db->config->in_memory;
    return has_one && ses__connection_is_plain(db) ? refuse_cipher(db->config, error) : SES_OK;
}
