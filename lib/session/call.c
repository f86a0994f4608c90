#include "session/call.h"

#include "base/error.h"

int ses__call_on_handle(struct session_call *call, ses_session *session, ses_error *error)
{
    int code = ses__session_check(session, error);

    if (code == SES_OK)
        code = ses__store_begin(session->store, error);
    if (code != SES_OK)
        return code;
    *call = (struct session_call){.store = session->store,
                                  .session = session,
                                  .snapshot = &session->snapshot,
                                  .key = ses__session_key(session)};
    call->ref = (struct session_ref){&call->key, &session->snapshot.row};
    return SES_OK;
}

int ses__call_by_key(struct session_call *call, ses_store *store, const ses_key *key, ses_error *error)
{
    int code = ses__store_begin(store, error);

    if (code != SES_OK)
        return code;
    code = ses__check_key(key, error);
    if (code != SES_OK)
        return ses__store_end(store, code);
    *call = (struct session_call){.store = store, .key = *key};
    call->ref.key = &call->key;
    return SES_OK;
}

int ses__call_take_version(struct session_call *call, unsigned flags, int64_t version, const char *what,
                           ses_error *error)
{
    const bool given = (flags & SES_APPEND_VERSION) != 0;

    call->anyway = (flags & SES_APPEND_ANYWAY) != 0;
    call->checks_version = given || call->session;
    call->version = call->session ? call->snapshot->row.version : version;
    if (given && call->session)
        return ses__error_set(error, SES_MISUSE,
                              "%s: a version is only for calls by key; a handle has its own", what);
    if (given && call->anyway)
        return ses__error_set(error, SES_MISUSE,
                              "%s: the flags for a version and for any version contradict each other", what);
    return SES_OK;
}

int ses__call_end(struct session_call *call, int code)
{
    return ses__store_end(call->store, code);
}
