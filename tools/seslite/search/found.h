/* The events that a search has found: rows of a table, or JSON. */
#ifndef SEARCH_FOUND_H
#define SEARCH_FOUND_H

#include "output/json.h"
#include "output/table.h"

struct found {
    struct run *run;
    struct table table;
    struct json_rows rows;
    int64_t left;  /* events that may still be printed */
    int64_t count; /* that were */
    bool scans;    /* a search for words read events, for want of an index that is up to date */
};

void found_begin(struct found *found, struct run *run);
/* `text` is what was found in it, and `at` where. */
int found_add(struct found *found, const ses_key *key, const ses_event *event, const char *text, size_t len,
              size_t at);
void found_end(struct found *found);

#endif
