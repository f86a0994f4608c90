/* Filters of lists, as callers give them. */
#ifndef SESLITE_SESSION_READ_LIST_FILTER_H
#define SESLITE_SESSION_READ_LIST_FILTER_H

#include "storage/door.h"

/* Takes a caller's filter. `given` NULL: all sessions. `user` NULL: the list is of all users. The texts stay
 * the caller's. MISUSE, INVALID. */
SESLITE_PRIVATE int ses__list_filter_take(const ses_filter *given, const char *user,
                                          struct list_filter *filter, ses_error *error);

#endif
