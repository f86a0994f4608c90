/* The sessions that have copies of a session's events: those that were forked from each other, and those
 * that keep what a memory service has copied. */
#ifndef SESLITE_STORAGE_SQL_SESSION_FAMILY_H
#define SESLITE_STORAGE_SQL_SESSION_FAMILY_H

#include "storage/sql/rows/event.h"

struct relative {
    /* Only the numbers of its session, app and user, last_seq, created_us and base_seq. */
    struct session_row row;
    int64_t origin; /* 0: none */
    struct span user;
    struct span session;
    struct span parent_user; /* without text: it is no fork */
    struct span parent_session;
    int64_t parent_seq;
    struct span child_user; /* without text: it is no child */
    struct span child_session;
    bool is_deleted; /* with what it is a child of */
};

/* In the order of their numbers, in which two calls that redact each other's relatives do not wait for
 * each other. */
struct family {
    struct relative own; /* of one session: that one */
    struct relative *items;
    size_t count;
    size_t capacity;
    struct arena arena;              /* of the names */
    const struct relative **by_name; /* all, and own: see ses__family_sort */
};

/* The events of one session that another has, too. */
struct kinship {
    bool is_linked; /* by the number of origin */
    bool is_memory; /* its name says that it has what was copied of the other */
    bool is_by_id;  /* one is for memory, or a child: a copy has the same id, author and time, and a number of
                       its own */
    int64_t common; /* else: up to this number both have the same events; -1: nothing is known */
};

/* Reads the relatives of a session. The family is to be freed in any case. */
SESLITE_PRIVATE int ses__family_read(struct db *db, const struct session_row *row, const ses_key *key,
                                     struct family *family, ses_error *error);
SESLITE_PRIVATE void ses__family_free(struct family *family, const ses_allocator *allocator);
/* Sorts the relatives, and own, by their names, so that they are found by these. NOMEM. */
SESLITE_PRIVATE int ses__family_sort(struct family *family, ses_error *error);
/* NULL: there is none of these names. */
SESLITE_PRIVATE const struct relative *ses__relative_find(const struct family *family, struct span user,
                                                          struct span session);
SESLITE_PRIVATE int ses__kinship_find(struct db *db, const struct relative *own, const struct relative *other,
                                      struct kinship *kinship, ses_error *error);

/* Finds the event of the session of which the given one, of another session, is a copy: its number, or 0. */
SESLITE_PRIVATE int ses__original_find(struct db *db, int64_t session_id, const struct event_row *event,
                                       bool is_by_id, int64_t *seq, ses_error *error);

/* For a receipt, if one is asked for: counts the other sessions that have copies of the session's events
 * between these numbers, or of those of all sessions of the user. If one of them is damaged, their number
 * is not known. */
SESLITE_PRIVATE int ses__copies_count(struct db *db, const struct session_row *row, const ses_key *key,
                                      int64_t first, int64_t last, ses_error *error);
SESLITE_PRIVATE int ses__copies_count_of_user(struct db *db, const struct user_row *user, ses_error *error);

#endif
