/* What the announcements of reads and of writes share. */
#ifndef SESLITE_STORAGE_POSTGRES_ANNOUNCE_PARTS_H
#define SESLITE_STORAGE_POSTGRES_ANNOUNCE_PARTS_H

#include "storage/door.h"
#include "storage/sql/query.h"

/* Its numbers stand for those of the session that the source finds. */
extern SESLITE_PRIVATE const struct session_row ses__announced_row;

/* ---- announce.c */

SESLITE_PRIVATE void ses__announce_get(struct db *db, const void *context);
SESLITE_PRIVATE void ses__announce_find_existing(struct db *db, const void *context);
SESLITE_PRIVATE void ses__announce_refresh(struct db *db, const void *context);
SESLITE_PRIVATE void ses__announce_value(struct db *db, const void *context);
SESLITE_PRIVATE void ses__announce_page(struct db *db, const void *context);
SESLITE_PRIVATE void ses__announce_list_page(struct db *db, const void *context);

/* The session of that name, which is the source of what is announced next. Its numbers, or what stands for them. */
SESLITE_PRIVATE struct session_row ses__announce_named(struct db *db, const ses_key *key);
SESLITE_PRIVATE void ses__announce_known(struct db *db, const struct session_row *known);
/* The one or the other. */
SESLITE_PRIVATE struct session_row ses__announce_session(struct db *db, const struct session_ref *session);
/* All of it. */
SESLITE_PRIVATE void ses__announce_snapshot(struct db *db, const struct session_row *row,
                                            const struct range *range);
/* What a handle lacks of a session whose log was only added to. */
SESLITE_PRIVATE void ses__announce_missed(struct db *db, const struct session_row *known);

/* ---- announce_keys.c */

/* All that the events set and remove: each key once, as the last of them leaves it. The first of them has the number after
 * the session's last one and `before`. */
SESLITE_PRIVATE void ses__announce_keys(struct db *db, const struct session_row *row,
                                        const struct event_draft *drafts, size_t count, int64_t before);

/* ---- announce_write.c */

SESLITE_PRIVATE void ses__announce_create(struct db *db, const void *context);
/* Can the append be sent whole? */
SESLITE_PRIVATE bool ses__append_fits(const void *context);
SESLITE_PRIVATE void ses__announce_append(struct db *db, const void *context);
/* What an append asks that stores nothing: whether its events are there. */
SESLITE_PRIVATE void ses__announce_stored(struct db *db, const void *context);
/* It may have stored its events: all of them are looked for from now on. */
SESLITE_PRIVATE void ses__doubt_append(void *context);
/* What is there is what this append has stored. */
SESLITE_PRIVATE void ses__claim_append(void *context);

#endif
