/* The index of words, from the side of the calls. */
#ifndef SESLITE_SEARCH_INDEX_H
#define SESLITE_SEARCH_INDEX_H

#include "search/search.h"
#include "session/sql/catch_up.h"
#include "storage/sql/rows/words.h"

/* ---- find.c: asks the index */

/* `*found`: the page is filled by the index. Else there is none, or it cannot be brought up to date, or it finds so many events
 * that a scan comes upon a page of them sooner. */
SESLITE_PRIVATE int ses__search_index(struct search *search, bool *found, ses_error *error);

#endif
