/* The numbers of recently found sessions. */
#include "storage/postgres/hints.h"

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

bool ses__hints_find(struct hints *hints, const ses_key *key, struct session_row *row)
{
    const struct span names[] = {
        {key->app, strlen(key->app)}, {key->user, strlen(key->user)}, {key->session, strlen(key->session)}};
    const uint64_t hash = hash_of(names);

    (void)pthread_mutex_lock(&hints->lock);
    const struct hint hint = hints->items[hash % HINTS];
    (void)pthread_mutex_unlock(&hints->lock);
    if (hint.names != hash)
        return false;
    *row = (struct session_row){
        .id = hint.id, .app_id = hint.app_id, .user_id = hint.user_id, .details = hint.details};
    return true;
}

void ses__hints_keep(struct hints *hints, const struct span names[3], const struct session_row *row)
{
    const uint64_t hash = hash_of(names);

    (void)pthread_mutex_lock(&hints->lock);
    hints->items[hash % HINTS] = (struct hint){hash, row->id, row->app_id, row->user_id, row->details};
    (void)pthread_mutex_unlock(&hints->lock);
}
