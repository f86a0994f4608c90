/* Appending an event together with the writes and reads of a view, without printing them as JSON first. */
#ifndef SESLITE_SESSION_APPEND_EXTRAS_H
#define SESLITE_SESSION_APPEND_EXTRAS_H

#include "base/common.h"
#include "model/state/delta.h"

/* The call adds those of its options. The names and values are valid, and live as long as the call. The last
 * operation on a name counts. */
struct append_extras {
    /* Changes of state. They override the event's, and the options' override them. */
    struct changes writes;
    /* Shared keys as the view showed them, in the meaning of `expected` of the options. An operation that
     * removes a key says that the key did not exist. */
    struct changes seen;
};

/* To be freed. */
SESLITE_PRIVATE void ses__append_extras_init(struct append_extras *extras, const ses_allocator *allocator);
SESLITE_PRIVATE void ses__append_extras_free(struct append_extras *extras);
/* ses_append with extras, which may be NULL. */
SESLITE_PRIVATE int ses__append_with(const char *name, ses_session *session, const char *event,
                                     size_t event_len, struct append_extras *extras,
                                     const ses_append_options *options, ses_appended *appended,
                                     ses_error *error);

#endif
