/* Parts that the announcements of reads and of writes share. */
#ifndef SESLITE_STORAGE_POSTGRES_ANNOUNCE_PARTS_H
#define SESLITE_STORAGE_POSTGRES_ANNOUNCE_PARTS_H

#include "storage/door.h"
#include "storage/sql/query.h"

/* A session whose numbers are placeholders for those that the source finds. */
extern SESLITE_PRIVATE const struct session_row ses__announced_row;

/* ---- announce.c */

SESLITE_PRIVATE void ses__announce_list_page(struct db *db, const void *context);

/* Announces the search for the session of that name, and makes it the source of what follows. Returns its numbers, or
 * placeholders. */
SESLITE_PRIVATE struct session_row ses__announce_named(struct db *db, const ses_key *key);
/* By number if the caller knows it, otherwise by name. */
SESLITE_PRIVATE struct session_row ses__announce_session(struct db *db, const struct session_ref *session);
/* Announces what a handle has to catch up on if the log has only grown. */
SESLITE_PRIVATE void ses__announce_missed(struct db *db, const struct session_row *known);

/* ---- announce_keys.c */

/* Announces the keys that the events set and remove: each once, as the last event leaves it. The first event has the
 * number after `before` further ones. */
SESLITE_PRIVATE void ses__announce_keys(struct db *db, const struct session_row *row,
                                        const struct event_draft *drafts, size_t count, int64_t before);

/* ---- announce_write.c */

/* True if the append can be sent as a whole. */
SESLITE_PRIVATE bool ses__append_fits(const void *context);
SESLITE_PRIVATE void ses__announce_append(struct db *db, const void *context);
/* Announces an append that stores nothing: it looks for its events. */
SESLITE_PRIVATE void ses__announce_stored(struct db *db, const void *context);
/* The events may have been stored: from now on the append looks for all of them. */
SESLITE_PRIVATE void ses__doubt_append(void *context);
/* Reports events that were found as stored by this append. */
SESLITE_PRIVATE void ses__claim_append(void *context);

#endif
