/* Walks: over the events of a session, and over the sessions of a store. */
#ifndef STORE_WALK_H
#define STORE_WALK_H

#include "command.h"

/* Fills in the range given by --newest, --since, --from, --up-to and --live. */
void range_given(const struct run *run, ses_range *range);

/* A visitor returns this to end the walk early, and the walk then returns it too. */
enum { STOP = -1 };

/* Calls `visit` for each event until it returns something other than EXIT_OK. */
typedef int visit_event(void *context, const ses_event *event);
int each_event(struct run *run, const ses_key *key, const ses_range *range, bool backward, visit_event *visit,
               void *context);

/* Calls `visit` for each user of --app, or of each app. */
typedef int visit_owner(void *context, const char *app, const char *user);
int each_user(struct run *run, visit_owner *visit, void *context);

/* Calls `visit` for each session that --app, --user and the filter select, app by app: with the page on which
 * it is, and its place there. The page is closed after its last session. */
typedef int visit_session(void *context, const ses_page *page, size_t at);
struct sessions {
    int order;
    const ses_filter *filter; /* or NULL */
    bool with_previews;
    size_t page_size; /* sessions that are read at once; 0: as many as is best for all */
    visit_session *visit;
    void *context;
};
int each_session(struct run *run, const struct sessions *sessions);
/* Visits them in one order across all apps. */
int each_session_merged(struct run *run, const struct sessions *sessions);
/* The number of these sessions. */
int count_sessions(struct run *run, const struct sessions *sessions, int64_t *count);

#endif
