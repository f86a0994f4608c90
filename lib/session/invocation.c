/* The current invocation of a handle, whose `temp:` values it shows. */
#include <string.h>

#include "base/error.h"
#include "session/session.h"

/* The ids of the ADK: "e-" and a UUID. */
#define MADE_PREFIX "e-"
enum { MADE_PREFIX_LEN = sizeof MADE_PREFIX - 1 };

static int make_id(ses_store *store, char *id, ses_error *error)
{
    memcpy(id, MADE_PREFIX, MADE_PREFIX_LEN);
    int code = ses__store_make_id(store, id + MADE_PREFIX_LEN, error);
    return code == SES_OK ? ses__check_id(id, "made", error) : code;
}

static int set_invocation(ses_session *session, const char *id, ses_error *error)
{
    const ses_allocator *allocator = &session->store->allocator;
    char *copy = ses__memory_copy(allocator, id, strlen(id));

    if (!copy)
        return ses__error_nomem(error);
    ses__memory_free(allocator, session->invocation);
    session->invocation = copy;
    ses__state_clear(&session->snapshot.state, SCOPE_TEMP);
    return SES_OK;
}

static int begin_invocation(ses_session *session, const char *id, ses_error *error)
{
    char made[MADE_PREFIX_LEN + SES_ID_MAX + 1];
    int code = id ? ses__check_id(id, "invocation", error) : make_id(session->store, made, error);

    if (code != SES_OK || (id && session->invocation && strcmp(session->invocation, id) == 0))
        return code;
    return set_invocation(session, id ? id : made, error);
}

int ses_invocation_begin(ses_session *session, const char *id, ses_error *error)
{
    struct session_call call;
    int code =
        ses__call_begin(&call, ON(session), error); /* closing waits for the callbacks that make the id */
    return code == SES_OK ? ses__call_end(&call, begin_invocation(session, id, error)) : code;
}

const char *ses_invocation_id(const ses_session *session)
{
    const char *id = session->invocation;
    return id && id[0] ? id : NULL; /* the events without an id share the empty one */
}

int ses_invocation_end(ses_session *session, ses_error *error)
{
    struct session_call call;
    int code = ses__call_begin(&call, ON(session), error);

    if (code != SES_OK)
        return code;
    ses__state_clear(&session->snapshot.state, SCOPE_TEMP);
    ses__memory_free(&session->store->allocator, session->invocation);
    session->invocation = NULL;
    return ses__call_end(&call, SES_OK);
}
