/* Checks that a session that was read now is still the one that a handle was read from. */
#ifndef SESLITE_AGENT_EPOCH_H
#define SESLITE_AGENT_EPOCH_H

#include "base/common.h"

/* STALE: events were cut since, or the session is another one of that name. `handle` may be NULL. */
SESLITE_PRIVATE int ses__check_epoch(const ses_session *fresh, const ses_session *handle, ses_error *error);

#endif
