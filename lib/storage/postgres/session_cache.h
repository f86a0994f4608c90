/* The numbers of recently found sessions, by their names. With them statements about a session can be sent at once, and
 * the server need not find it by name for each. They may be outdated: a user of these numbers also has the session looked
 * up by name, and ignores rows of any other. */
#ifndef SESLITE_STORAGE_POSTGRES_SESSION_CACHE_H
#define SESLITE_STORAGE_POSTGRES_SESSION_CACHE_H

#include <pthread.h>

#include "model/event/rows.h"

enum { SESSION_CACHE_ENTRIES = 1024 };

struct cached_session {
    uint64_t names; /* a hash of them; 0: the slot is empty */
    int64_t id;
    int64_t app_id;
    int64_t user_id;
    int64_t details;
};

struct session_cache {
    pthread_mutex_t lock;
    struct cached_session items[SESSION_CACHE_ENTRIES];
};

/* Sets the row's numbers and details. Returns false if the session is not among them. */
SESLITE_PRIVATE bool ses__session_cache_find(struct session_cache *cache, const ses_key *key,
                                             struct session_row *row);
SESLITE_PRIVATE void ses__session_cache_keep(struct session_cache *cache, const struct span names[3],
                                             const struct session_row *row);

#endif
