/* The numbers of recently found sessions, by their names. With them statements about a session can be sent at once, and
 * the server need not find it by name for each. They may be outdated: a user of these numbers also has the session looked
 * up by name, and ignores rows of any other. */
#ifndef SESLITE_STORAGE_POSTGRES_HINTS_H
#define SESLITE_STORAGE_POSTGRES_HINTS_H

#include <pthread.h>

#include "model/rows.h"

enum { HINTS = 1024 };

struct hint {
    uint64_t names; /* a hash of them; 0: the slot is empty */
    int64_t id;
    int64_t app_id;
    int64_t user_id;
    int64_t details;
};

struct hints {
    pthread_mutex_t lock;
    struct hint items[HINTS];
};

/* Sets the row's numbers and details. Returns false if the session is not among them. */
SESLITE_PRIVATE bool ses__hints_find(struct hints *hints, const ses_key *key, struct session_row *row);
SESLITE_PRIVATE void ses__hints_keep(struct hints *hints, const struct span names[3],
                                     const struct session_row *row);

#endif
