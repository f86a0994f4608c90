/* The index of words, from the side of the calls. */
#ifndef SESLITE_SEARCH_INDEX_H
#define SESLITE_SEARCH_INDEX_H

#include "search/search.h"
#include "storage/sql/rows/words.h"

/* ---- catch_up.c: adds what the index lacks, in transactions of about a MiB of events */

struct catch_up {
    ses_store *store;
    struct limits limits;
    const struct user_row *owner; /* as in struct behind */
    int64_t session_id;
    int (*progress)(void *context, int64_t done, int64_t total); /* NULL: none */
    void *progress_context;
    int64_t total;
    /* out */
    int64_t events; /* that were added */
};
/* Each session is brought up to its last event at the time, and none twice, so it ends whatever others append meanwhile. */
SESLITE_PRIVATE int ses__catch_up(struct catch_up *own, ses_error *error);

/* ---- find.c: asks the index */

/* `*found`: the page is filled by the index. Else there is none, or it cannot be brought up to date, or it finds so many events
 * that a scan comes upon a page of them sooner. */
SESLITE_PRIVATE int ses__search_index(struct search *search, bool *found, ses_error *error);

#endif
