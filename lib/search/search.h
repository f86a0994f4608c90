/* One search: its arguments, and the page of hits that it fills. */
#ifndef SESLITE_SEARCH_SEARCH_H
#define SESLITE_SEARCH_SEARCH_H

#include "model/words/words.h"
#include "seslite_search.h"
#include "session/store.h"

enum { HITS_MAX = 1000, SNIPPET_MAX = 64 * 1024 };

/* Hits are in the order of their sessions in a list, the last update first, and in each from the newest event
 * to the oldest. This is the place of one, after which the next page begins. */
struct search_place {
    int64_t updated_us; /* of the session, when the walk came to it: it may have moved since then */
    int64_t user_id;
    const char *user;
    const char *session; /* NULL: before all */
    int64_t seq;
};

struct ses_hits {
    ses_store *store;
    struct arena arena;
    ses_hit *items; /* room for `limit` */
    size_t count;
    size_t limit;
    bool indexed;
    struct search_place last; /* of the last hit; its texts are the hit's */
    char *token;              /* NULL: it is the last page */
};

struct search;
struct candidate;

/* Takes what is found, in place of the page. `terms` is the number of those that the event has. */
struct search_taker {
    int (*take)(struct search *search, const struct candidate *candidate, size_t place, size_t terms,
                ses_error *error);
    void (*restart)(struct search *search); /* forgets what was taken so far */
    bool full;                              /* the search ends */
};

/* The state of one call. */
struct search {
    ses_store *store;
    const ses_key *scope;
    const ses_search_options *options;
    struct list_filter filter;
    struct limits limits;
    struct terms terms;
    struct search_place from; /* where the page before ended; its texts are in `kept` */
    struct arena kept;
    struct buffer words; /* of the event under way */
    struct buffer plain; /* of the text that a snippet is cut from */
    ses_hits *hits;
    struct search_taker *taker; /* NULL: hits fill the page */
    bool in_memory;             /* only what is remembered: the filter has only such sessions */
};

/* ---- search.c */

/* Does all but the checks of the other arguments. */
SESLITE_PRIVATE int ses__search_run(struct search *search, struct span words, ses_error *error);

/* ---- hits.c */

/* An event that may be a hit. */
struct candidate {
    struct search_place at;
    struct span id;
    struct span author;
    int64_t time_us;
    struct span body;
};
/* Adds it if it is one. */
SESLITE_PRIVATE int ses__search_look(struct search *search, const struct candidate *candidate,
                                     ses_error *error);
/* Adds a hit to the page, which has room. `place` is where the words begin that were found. */
SESLITE_PRIVATE int ses__search_add(struct search *search, const struct candidate *candidate, size_t place,
                                    ses_error *error);
static inline bool ses__search_is_full(const struct search *search)
{
    return search->taker ? search->taker->full : search->hits->count == search->hits->limit;
}
/* Removes all hits. */
SESLITE_PRIVATE void ses__search_restart(struct search *search);
SESLITE_PRIVATE int ses__hits_new(ses_store *store, size_t limit, ses_hits **hits, ses_error *error);

/* ---- index.c: asks the index */

/* `*found`: the page is filled by the index. Otherwise there is none, or it cannot be brought up to date, or
 * it finds so many events that a scan comes upon a page of them sooner. */
SESLITE_PRIVATE int ses__search_index(struct search *search, bool *found, ses_error *error);

/* ---- scan.c: reads the events */

SESLITE_PRIVATE int ses__search_scan(struct search *search, ses_error *error);

#endif
