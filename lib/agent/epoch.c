#include "agent/epoch.h"

#include "base/error.h"

/* An append raises both numbers, a cut only the version. A later session of the same name starts above all
 * versions of this one. */
static int64_t epoch_of(const ses_session *session)
{
    return ses_session_version(session) - ses_session_last_seq(session);
}

int ses__check_epoch(const ses_session *fresh, const ses_session *handle, ses_error *error)
{
    if (!handle || epoch_of(fresh) == epoch_of(handle))
        return SES_OK;
    (void)ses__error_set(
        error, SES_STALE,
        "events were cut from the session since the handle was read, or it was deleted and another has its name: refresh the handle and try again");
    if (error)
        error->version = ses_session_version(fresh);
    return SES_STALE;
}
