/* Which sessions, and which events of one, contain the words of --containing. Without that option: all. */
#ifndef STORE_CONTAINING_H
#define STORE_CONTAINING_H

#include "command.h"
#include "text/text.h"

/* Sets *contains. Returns EXIT_OK, or prints the error. A session that was deleted meanwhile has none. */
int session_contains(struct run *run, const ses_session *session, bool *contains);

/* The events of the session of the run. */
struct containing {
    bool all;
    struct text seqs; /* int64_t, the newest first */
};
int containing_find(struct run *run, struct containing *own);
/* For each event, in the order of the log. */
bool containing_take(struct containing *own, int64_t seq);
void containing_free(struct containing *own);

#endif
