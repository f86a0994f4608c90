/* Shared by the tests of keys. */
#ifndef SESLITE_TEST_KEY_H
#define SESLITE_TEST_KEY_H

#include "open.h"

static const unsigned char first_key[SES_KEY_BYTES] = "the first key of 32 bytes in all";
static const unsigned char second_key[SES_KEY_BYTES] = "another key, with a NUL\0 in it..";

static inline ses_open_options key_options(const void *key)
{
    return (ses_open_options){
        .size = sizeof(ses_open_options), .key = key, .key_len = key ? SES_KEY_BYTES : 0};
}

/* True if the SQLite that is linked can encrypt. On ENGINE=encrypted it must. */
static inline bool key_is_possible(void)
{
    const ses_open_options options = key_options(first_key);
    ses_store *store = NULL;
    ses_error error;
    const int code = ses_open(":memory:", &options, &store, &error);

    ses_close(store);
#ifdef ON_ENCRYPTED_STORES
    assert_int_equal(code, SES_OK);
#endif
    assert_true(code == SES_OK || code == SES_UNSUPPORTED);
    return code == SES_OK;
}

/* Skips a test that encrypts where that is not possible, after saying so. */
static inline void key_need(void)
{
    if (!key_is_possible()) {
        print_message("skipped: stores with a key, for want of SQLite3 Multiple Ciphers\n");
        skip();
    }
}

/* Opens a store with this key, which may be NULL, or says why not. It does not come here without one
 * (engine_encrypted.c). */
static inline int key_open(const char *path, const void *key, ses_store **store, ses_error *error)
{
    ses_open_options options = key_options(key);

#ifdef ON_ENCRYPTED_STORES
    int __real_ses_open(const char *, const ses_open_options *, ses_store **, ses_error *);
    return __real_ses_open(path, &options, store, error);
#else
    return ses_open(path, &options, store, error);
#endif
}

#endif
