/* Appending an event with what a view has of its own, which need not be printed to be read again. */
#ifndef SESLITE_SESSION_APPEND_BESIDE_H
#define SESLITE_SESSION_APPEND_BESIDE_H

#include "base/common.h"
#include "model/delta.h"

/* The names and values obey the rules, and live as long as the call. Of operations on one name the last counts. */
struct append_beside {
    struct delta writes; /* changes of state: they win over the event's, and those of the options over them */
    struct delta
        seen; /* shared keys as they were shown; an operation that removes a key: there was none. Otherwise as
                          `expected` of the options */
};

/* ses_append. */
SESLITE_PRIVATE int ses__append_with(ses_session *session, const char *event, size_t event_len,
                                     const struct append_beside *beside, const ses_append_options *options,
                                     ses_appended *appended, ses_error *error);

#endif
