/* Encryption, where SQLite3 Multiple Ciphers is linked in place of SQLite
 * (https://utelle.github.io/SQLite3MultipleCiphers). */
#ifndef SESLITE_STORAGE_SQLITE_CONNECTION_KEY_H
#define SESLITE_STORAGE_SQLITE_CONNECTION_KEY_H

#include "storage/sqlite/connection/connection.h"

/*
 * Calls that the SQLite which is linked may lack. Where the linker knows weak symbols, those are NULL then.
 * Elsewhere a build says by SESLITE_WITH_KEYS that they are there. Where SQLite is part of the same
 * translation unit, without a cipher, SESLITE_WITHOUT_KEYS says that they are not.
 */
#if defined(SESLITE_WITHOUT_KEYS)
#define KEYS_ARE_POSSIBLE 0
#elif defined(__ELF__)
#define KEYS_ARE_POSSIBLE 1
#define IF_LINKED __attribute__((weak))
#elif defined(SESLITE_WITH_KEYS)
#define KEYS_ARE_POSSIBLE 1
#define IF_LINKED
#else
#define KEYS_ARE_POSSIBLE 0
#endif

/* The key as the cipher takes it: a mark, and the raw bytes. */
enum { KEY_MARK_BYTES = 4, KEY_TEXT_BYTES = KEY_MARK_BYTES + SES_KEY_BYTES };
SESLITE_PRIVATE void ses__key_text(const unsigned char *key, unsigned char text[KEY_TEXT_BYTES]);

/* Overwrites a key, or a text with one, before its memory is left to others. */
SESLITE_PRIVATE void ses__key_wipe(void *memory, size_t bytes);

/* UNSUPPORTED: the SQLite that is linked cannot encrypt files. Opens no file. */
SESLITE_PRIVATE int ses__key_check_cipher(const struct sqlite_config *config, ses_error *error);
/* Sets the cipher of a connection, for the keys that it is given. UNSUPPORTED. */
SESLITE_PRIVATE int ses__key_set_cipher(struct connection *db, ses_error *error);
/* Gives a connection the key of its file, before it reads anything. UNSUPPORTED. */
SESLITE_PRIVATE int ses__key_apply(struct connection *db, ses_error *error);
/* The first page is in the file: it is not plain text if the file has a key. UNSUPPORTED. */
SESLITE_PRIVATE int ses__key_check_file(struct connection *db, ses_error *error);

#endif
