/* Finds out which events of a walk are live, with a second cursor over the live events. A rewind took back
 * the events that this cursor does not return. */
#ifndef STORE_LIVE_H
#define STORE_LIVE_H

#include "command.h"

/* Before the walk, all members but the first two are zero. */
struct live {
    struct run *run;
    const ses_key *key; /* of the session */
    ses_cursor *cursor; /* NULL before the first event */
    int64_t seq;        /* of the next live event; INT64_MAX after the last one */
};

/* Sets *is_live for the current event of the walk. Returns EXIT_OK, or prints the error. */
int live_look(struct live *live, int64_t seq, bool *is_live);
void live_close(struct live *live);

#endif
