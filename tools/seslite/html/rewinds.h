/* The rewinds of a log: the events that each takes back, and which rewinds were themselves taken back. */
#ifndef HTML_REWINDS_H
#define HTML_REWINDS_H

#include "command.h"

struct rewind {
    int64_t seq;
    int64_t first_seq; /* of the events that it takes back, which end before itself; 0 if none */
    bool redo;         /* the first event taken back is a rewind */
    bool gone;         /* a later one takes it back */
};

/* In the order of the log. All zero means none. */
struct rewinds {
    struct rewind *at;
    size_t count;
    size_t capacity;
};

/* Walks the whole log. Returns EXIT_OK, or prints the error. */
int rewinds_find(struct rewinds *rewinds, struct run *run);
/* The rewind in this event, or NULL. */
const struct rewind *rewinds_in(const struct rewinds *rewinds, int64_t seq);
void rewinds_free(struct rewinds *rewinds);

#endif
