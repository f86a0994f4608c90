/* Shared by the calls on memory. */
#ifndef SESLITE_MEMORY_MEMORY_H
#define SESLITE_MEMORY_MEMORY_H

#include "base/limits.h"
#include "base/memory.h"
#include "model/memories.h"
#include "seslite_memory.h"

/* A session that keeps copies. */
struct memory_place {
    char id[SES_ID_MAX + 1];
    ses_label labels[2];
    size_t label_count;
};
/* The place for copies of that session, or (NULL) for notes. */
SESLITE_PRIVATE void ses__memories_place_of(struct memory_place *place, const char *project,
                                            const char *session);

/* True of an event with text that somebody said. */
SESLITE_PRIVATE int ses__memories_is_said(const ses_allocator *allocator, struct span body, bool *is_said,
                                          ses_error *error);

/* Reads the session without its events. NULL: there is none. */
SESLITE_PRIVATE int ses__memories_look(ses_store *store, const ses_key *key, const struct limits *limits,
                                       ses_session **session, ses_error *error);

/* INVALID: a label cannot have that value. NULL is allowed. */
SESLITE_PRIVATE int ses__memories_check_project(const char *project, ses_error *error);

/* Copies events of a session in the store, whatever is remembered of it. */
SESLITE_PRIVATE int ses__memories_copy(ses_store *store, const ses_key *key, const ses_text *events,
                                       size_t count, const struct limits *limits, ses_error *error);

#endif
