/* Which numbers the sessions had that were found last, by their names: so that what is asked of one again can be sent with
 * them, and the server need not find it by its names for each statement. They may be wrong by now: whoever uses them also
 * finds the session by its names, and takes only what belongs to that. */
#ifndef SESLITE_STORAGE_POSTGRES_HINTS_H
#define SESLITE_STORAGE_POSTGRES_HINTS_H

#include <pthread.h>

#include "model/rows.h"

enum { HINTS = 1024 };

struct hint {
    uint64_t names; /* a hash of them; 0: there is no hint */
    int64_t id;
    int64_t app_id;
    int64_t user_id;
    int64_t details;
};

struct hints {
    pthread_mutex_t lock;
    struct hint items[HINTS];
};

/* Sets the row's numbers and its details. */
SESLITE_PRIVATE bool ses__hints_find(struct hints *hints, const ses_key *key, struct session_row *row);
SESLITE_PRIVATE void ses__hints_keep(struct hints *hints, const struct span names[3],
                                     const struct session_row *row);

#endif
