/* The rewinds of a log: what each takes back, and which were taken back themselves. */
#ifndef HTML_REWINDS_H
#define HTML_REWINDS_H

#include "command.h"

struct rewind {
    int64_t seq;
    int64_t first_seq; /* of what it takes back, up to itself; 0: it takes nothing back */
    bool redo;         /* the first of these is a rewind */
    bool gone;         /* a later one takes it back */
};

/* In the order of the log. All zero: there are none. */
struct rewinds {
    struct rewind *at;
    size_t count;
    size_t capacity;
};

/* Walks over the whole log. EXIT_OK, or it was said why not. */
int rewinds_find(struct rewinds *rewinds, struct run *run);
/* The rewind in this event, or NULL. */
const struct rewind *rewinds_in(const struct rewinds *rewinds, int64_t seq);
void rewinds_free(struct rewinds *rewinds);

#endif
