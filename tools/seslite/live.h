/* Which events of a walk are live: a second cursor walks the live events beside it. What that does not meet was taken back by
 * a rewind. */
#ifndef LIVE_H
#define LIVE_H

#include "command.h"

/* All zero but for `run`, before the walk. */
struct live {
    struct run *run;
    ses_cursor *cursor; /* NULL before the first event */
    int64_t seq;        /* of the next live event; INT64_MAX: there is none */
};

/* Sets *is_live, of the event that the walk has come to. EXIT_OK, or it was said why not. */
int live_look(struct live *live, int64_t seq, bool *is_live);
void live_close(struct live *live);

#endif
