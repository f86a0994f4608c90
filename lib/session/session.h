/* The handle: a snapshot of one session, and the changes that move it forward. */
#ifndef SESLITE_SESSION_SESSION_H
#define SESLITE_SESSION_SESSION_H

#include "base/common.h"
#include "model/event.h"
#include "base/memory.h"
#include "session/range.h"
#include "model/state.h"
#include "storage/door.h"
#include "session/store.h"

struct event_list {
    ses_event **items;
    size_t count;
    size_t capacity;
};

struct ses_session {
    ses_store *store;
    unsigned references; /* the handle itself, and each ses_session_retain */
    bool closed;
    struct arena arena; /* the ids and the events */
    const char *app;
    const char *user;
    const char *id;
    struct session_row row;
    bool keeps_events; /* false: read with SES_RANGE_NONE */
    struct event_list events;
    struct state state;
    char *invocation; /* whose temp: values the state shows; NULL: none yet */
};

/* Begins a public call on a handle: clears the error; MISUSE for NULL and for one that was closed. */
SESLITE_PRIVATE int ses__session_check(const ses_session *session, ses_error *error);
/* The same for a call that needs its store. */
SESLITE_PRIVATE int ses__session_enter(const ses_session *session, ses_error *error);

/* An empty handle. `key` is copied. */
SESLITE_PRIVATE int ses__session_new(ses_store *store, const ses_key *key, ses_session **session,
                                     ses_error *error);
/* Reads everything inside a read or write job: the row is known. */
SESLITE_PRIVATE int ses__session_load(ses_session *session, struct db *db, const struct session_row *row,
                                      const struct range *range, ses_error *error);

/* The row of the handle's session as it stands now. NOTFOUND, without a message, when it was deleted. */
SESLITE_PRIVATE int ses__session_reload(const ses_session *session, struct db *db, struct session_row *row,
                                        ses_error *error);

/* An event's copy in the arena; NULL: out of memory. */
SESLITE_PRIVATE ses_event *ses__event_copy(struct arena *arena, const struct event_row *row);
SESLITE_PRIVATE bool ses__event_list_add(struct event_list *list, const ses_allocator *allocator,
                                         ses_event *event);

/*
 * What moves a handle forward. It is made ready inside a job, where things can fail, without touching the
 * handle; and applied when the transaction has been committed, where nothing can.
 */
struct session_update {
    ses_session *session;
    struct session_row row;
    struct arena arena;
    struct event_list events;
    bool reloads_shared; /* app and user state were read anew, into `shared` */
    struct state shared;
    struct state_changes changes; /* of stored state */
    struct state_changes temp;
    bool clears_temp;
    char *invocation; /* NULL: stays as it is */
};

SESLITE_PRIVATE int ses__update_init(struct session_update *update, ses_session *session, ses_error *error);
SESLITE_PRIVATE void ses__update_free(struct session_update *update);
/* The events the handle lacks, up to `last_seq`, and what they did to session state. */
SESLITE_PRIVATE int ses__update_read_events(struct session_update *update, struct db *db, int64_t last_seq,
                                            ses_error *error);
/* App and user state as they stand now. */
SESLITE_PRIVATE int ses__update_read_shared(struct session_update *update, struct db *db, ses_error *error);
/* An event appended through the handle; `from` is the first scope whose changes it brings along. */
SESLITE_PRIVATE int ses__update_add_event(struct session_update *update, const struct event_draft *draft,
                                          enum scope from, ses_error *error);
/* The temp: values of an event: those of another invocation go. */
SESLITE_PRIVATE int ses__update_add_temp(struct session_update *update, const struct event_draft *draft,
                                         ses_error *error);
/* The last step that can fail. */
SESLITE_PRIVATE int ses__update_prepare(struct session_update *update, const struct session_row *row,
                                        ses_error *error);
SESLITE_PRIVATE void ses__update_apply(struct session_update *update);

#endif
