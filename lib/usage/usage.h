/* One call of ses_store_usage: its arguments, and the groups that it adds up. */
#ifndef SESLITE_USAGE_USAGE_H
#define SESLITE_USAGE_USAGE_H

#include "base/table.h"
#include "seslite_usage.h"
#include "session/store.h"
#include "storage/sql/usage/usage.h"

struct ses_usage_rows {
    ses_store *store;
    struct arena arena;
    const ses_usage_row **items;
    size_t count;
    ses_usage_row sum;
    char *token; /* NULL: it is the last page */
};

/* A row, under its key: the texts that it has, each with a NUL after it. So keys have the order of rows. */
struct usage_group {
    struct table_entry entry;
    ses_usage_row row; /* its texts; the sums are set when it is taken */
    struct usage_sums sums;
};

/* How far the zone is ahead of UTC in a quarter of an hour, and the latest day. */
struct usage_clock {
    int64_t quarter;
    int64_t ahead_s;
    int64_t day;   /* local, since 1970 */
    char text[16]; /* the same as a text; "": nothing is known yet */
};

struct usage_groups {
    const ses_usage_options *options;
    struct hash_seed seed;
    struct span after; /* only groups after that key are kept; without text: all */
    struct hash_table table;
    struct arena *arena; /* the groups, and their keys */
    const ses_allocator *allocator;
    struct buffer key;
    struct usage_clock clock;
    struct usage_group unseen; /* all groups that are not kept */
};

/* ---- groups.c */
SESLITE_PRIVATE void ses__groups_init(struct usage_groups *groups, ses_store *store, struct arena *arena,
                                      const ses_usage_options *options);
SESLITE_PRIVATE void ses__groups_free(struct usage_groups *groups);
/* Forgets all that was added. */
SESLITE_PRIVATE void ses__groups_restart(struct usage_groups *groups);
/* How many of the calls between the times of the sums belong to one row; see usage_walk.share. */
SESLITE_PRIVATE enum usage_share ses__groups_share(struct usage_groups *groups,
                                                   const struct usage_sums *sums);
/* Adds calls of a session; see usage_walk.visit. */
SESLITE_PRIVATE int ses__groups_add(struct usage_groups *groups, const struct usage_session *session,
                                    const struct usage_sums *sums, struct span model, struct span invocation,
                                    ses_error *error);
/* Gives up to `limit` groups in order, and whether there are more. False: out of memory. */
SESLITE_PRIVATE bool ses__groups_take(struct usage_groups *groups, size_t limit, ses_usage_rows *rows,
                                      struct span *last_key, bool *more);

#endif
