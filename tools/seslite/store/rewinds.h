/* The rewinds of a log: the events that each takes back, and which rewinds were themselves taken back. */
#ifndef STORE_REWINDS_H
#define STORE_REWINDS_H

#include "command.h"
#include "text/text.h"

struct rewind {
    int64_t seq;
    int64_t first_seq;   /* of the events that it takes back, which end before itself; 0 if none */
    int64_t brought_seq; /* of the events that it brings back, which end before first_seq; 0 if none */
    size_t below;        /* so many rewinds, and of these the last, are in effect before first_seq */
    bool redo;           /* the first event taken back is a rewind */
    bool only_redo;      /* nothing but a rewind, which is no redo, is taken back */
    bool gone;           /* a later one takes it back */
};

/* In the order of the log. All zero means none. */
struct rewinds {
    struct rewind *at;
    size_t count;
    size_t capacity;
    int64_t last_seq; /* the log is known up to this event */
};

/* Walks the whole log of the session. Returns EXIT_OK, or prints the error. */
int rewinds_find(struct rewinds *rewinds, struct run *run, const ses_key *key);
/* Returns the rewind in this event, or NULL. */
const struct rewind *rewinds_in(const struct rewinds *rewinds, int64_t seq);
/* Sets `*rewind` to the rewind in an event of the session, or to NULL. Walks the log at the first rewind, and
 * again at one that was appended since. Returns EXIT_OK, or prints the error. */
int rewinds_look(struct rewinds *rewinds, struct run *run, const ses_key *key, const ses_event *event,
                 const struct rewind **rewind);
void rewinds_free(struct rewinds *rewinds);

/* Adds the numbers of the events that it took back or brought back. */
void rewind_words(struct text *words, const struct rewind *rewind);

#endif
