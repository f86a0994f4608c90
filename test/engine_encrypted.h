/* Is included before each test that runs on encrypted stores (-include): see engine_encrypted.c. */
#ifndef SESLITE_TEST_ENGINE_ENCRYPTED_H
#define SESLITE_TEST_ENGINE_ENCRYPTED_H

#include <sqlite3.h>

#define ON_ENCRYPTED_STORES 1

int encrypted_open(const char *path, sqlite3 **db);
int encrypted_open_v2(const char *path, sqlite3 **db, int flags, const char *vfs);
#define sqlite3_open encrypted_open
#define sqlite3_open_v2 encrypted_open_v2

int sqlite3_key_v2(sqlite3 *db, const char *schema, const void *key, int bytes);

#endif
