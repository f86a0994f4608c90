/* Walks: over the events of a session, and over the sessions of a store. */
#ifndef WALK_H
#define WALK_H

#include "command.h"

/* The range that the options --newest, --since, --from, --up-to and --live ask for. */
void range_given(const struct run *run, ses_range *range);

/* What a visitor gives to end the walk early. It is what the walk gives then. */
enum { STOP = -1 };

/* Calls `visit` for each event until it gives something else than EXIT_OK. */
typedef int visit_event(void *context, const ses_event *event);
int each_event(struct run *run, const ses_key *key, const ses_range *range, bool backward, visit_event *visit,
               void *context);

/* The same for the sessions that --app, --user and the filter select, app by app, without their state. */
typedef int visit_session(void *context, const ses_session *session);
struct sessions {
    int order;
    const ses_filter *filter; /* or NULL */
    bool with_state;
    visit_session *visit;
    void *context;
};
int each_session(struct run *run, const struct sessions *sessions);
/* The number of these sessions. */
int count_sessions(struct run *run, const struct sessions *sessions, int64_t *count);

#endif
