/* Rows that come between others make SQLite distribute all of them over pages anew, which leaves copies in
 * unused bytes. */
#ifndef SESLITE_TEST_UNUSED_BYTES_H
#define SESLITE_TEST_UNUSED_BYTES_H

#include "open.h"

enum { KEYS = 1000, KEYS_AT_ONCE = 25 };

/* Every third key of the user is about the secret. */
static void set_keys(ses_store *store, const ses_key *of, int step, const char *secret)
{
    static char event[60000];
    int len = snprintf(event, sizeof event, "{\"actions\":{\"stateDelta\":{");

    for (int i = 0; i < KEYS_AT_ONCE; i++) {
        const int number = (step * KEYS_AT_ONCE + i) * 457 % KEYS;
        if (number % 3)
            len += snprintf(event + len, sizeof event - (size_t)len, "\"user:k%d\":\"harmless%0*d\",", number,
                            number * 53 % 400, 0);
        else if (secret)
            len += snprintf(event + len, sizeof event - (size_t)len, "\"user:k%d\":\"%s%0*d\",", number,
                            secret, number * 53 % 400, 0);
        else
            len += snprintf(event + len, sizeof event - (size_t)len, "\"user:k%d\":null,", number);
    }
    snprintf(event + len - 1, sizeof event - (size_t)len + 1, "}}}");
    must_append_by_key(store, of, event);
}

/* Deletes all rows with the secret, which copies of some survive. */
static void leave_copies(ses_store *store, const char *secret)
{
    static const ses_key of = {"app", "user", "copies"};

    must_create(store, &of, NULL);
    for (int step = 0; step < KEYS / KEYS_AT_ONCE; step++)
        set_keys(store, &of, step, secret);
    for (int step = 0; step < KEYS / KEYS_AT_ONCE; step++)
        set_keys(store, &of, step, NULL);
    must_delete(store, &of);
}

#endif
