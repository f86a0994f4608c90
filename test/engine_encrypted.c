/*
 * Runs a test on encrypted stores: it is linked in place of ses_open (-Wl,--wrap) and gives each store a key
 * that has none. The test's own looks at files (sqlite3_open, sqlite3_open_v2) come here, too, and are given
 * the same key.
 */
#include "engine_encrypted.h"

#include <string.h>

#include "seslite.h"

#undef sqlite3_open
#undef sqlite3_open_v2

int __wrap_ses_open(const char *path, const ses_open_options *options, ses_store **store, ses_error *error);
int __real_ses_open(const char *path, const ses_open_options *options, ses_store **store, ses_error *error);

static const unsigned char key[SES_KEY_BYTES] = "a key of 32 bytes, for each test";

/* Options of another length are refused, or are of another version. */
int __wrap_ses_open(const char *path, const ses_open_options *options, ses_store **store, ses_error *error)
{
    ses_open_options own = {.size = sizeof own};

    if (options && options->size != sizeof own)
        return __real_ses_open(path, options, store, error);
    if (options)
        own = *options;
    if (!own.key && own.key_len == 0) {
        own.key = key;
        own.key_len = sizeof key;
    }
    return __real_ses_open(path, &own, store, error);
}

static int give_key(sqlite3 *db, const char *path)
{
    char *errors = NULL;
    char text[4 + SES_KEY_BYTES];

    if (!path || !*path || strcmp(path, ":memory:") == 0)
        return SQLITE_OK;
    memcpy(text, "raw:", 4);
    memcpy(text + 4, key, sizeof key);
    int rc = sqlite3_exec(db, "PRAGMA cipher = 'aegis'", NULL, NULL, &errors);
    sqlite3_free(errors);
    return rc == SQLITE_OK ? sqlite3_key_v2(db, "main", text, sizeof text) : rc;
}

int encrypted_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs)
{
    int rc = sqlite3_open_v2(path, db, flags, vfs);
    return rc == SQLITE_OK ? give_key(*db, path) : rc;
}

int encrypted_open(const char *path, sqlite3 **db)
{
    return encrypted_open_v2(path, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
}
