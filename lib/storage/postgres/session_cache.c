/* The numbers of recently found sessions. */
#include "storage/postgres/session_cache.h"

#include <string.h>

#include "base/hash.h"

static uint64_t hash_of(const struct span names[3])
{
    uint64_t hash = HASH64_BASIS;

    for (int i = 0; i < 3; i++) {
        hash = ses__hash64(hash, names[i].ptr, names[i].len);
        hash = ses__hash64(hash, "", 1);
    }
    return hash ? hash : 1;
}

bool ses__session_cache_find(struct session_cache *cache, const ses_key *key, struct session_row *row)
{
    const struct span names[] = {
        {key->app, strlen(key->app)}, {key->user, strlen(key->user)}, {key->session, strlen(key->session)}};
    const uint64_t hash = hash_of(names);

    (void)pthread_mutex_lock(&cache->lock);
    const struct cached_session found = cache->items[hash % SESSION_CACHE_ENTRIES];
    (void)pthread_mutex_unlock(&cache->lock);
    if (found.names != hash)
        return false;
    *row = (struct session_row){
        .id = found.id, .app_id = found.app_id, .user_id = found.user_id, .details = found.details};
    return true;
}

void ses__session_cache_keep(struct session_cache *cache, const struct span names[3],
                             const struct session_row *row)
{
    const uint64_t hash = hash_of(names);

    (void)pthread_mutex_lock(&cache->lock);
    cache->items[hash % SESSION_CACHE_ENTRIES] =
        (struct cached_session){hash, row->id, row->app_id, row->user_id, row->details};
    (void)pthread_mutex_unlock(&cache->lock);
}
