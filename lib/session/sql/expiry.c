/* Sets when a session expires. */
#include "base/error.h"
#include "session/session.h"
#include "storage/sql/rows/parts.h"

struct expiry {
    const struct session_call *call;
    int64_t expires_us; /* INT64_MAX: never */
};

static int run_expiry(struct db *db, void *context, ses_error *error)
{
    const struct expiry *own = context;
    struct session_row row;
    const int code = ses__session_of(db, &own->call->ref, &row, error);

    if (code != SES_OK || row.expires_us == own->expires_us)
        return code;
    return ses__change_one(db, STATEMENT_SESSION_EXPIRY, "sessions", error,
                           VALUES(INT(row.id), INT_IF(own->expires_us != INT64_MAX, own->expires_us)));
}

static int set_expiry(const struct target *target, const int64_t *expires_us, const ses_call_options *options,
                      ses_error *error)
{
    struct session_call call;
    struct expiry own = {.call = &call, .expires_us = INT64_MAX};
    struct limits limits;
    int code = ses__call_begin(&call, target, error);

    if (code != SES_OK)
        return code;
    code = ses__take_call_options(call.store, options, &limits, error);
    if (code == SES_OK)
        code = ses__take_expiry(expires_us, ses__store_now(call.store), &own.expires_us, error);
    if (code == SES_OK)
        code = ses__run_within(call.store->storage, &limits, TO_WRITE(0), run_expiry, &own, error);
    if (code == SES_OK && call.snapshot)
        call.snapshot->row.expires_us = own.expires_us;
    return ses__call_end(&call, code);
}

int ses_expiry_set(ses_session *session, const int64_t *expires_us, const ses_call_options *options,
                   ses_error *error)
{
    return set_expiry(ON(session), expires_us, options, error);
}

int ses_expiry_set_by_key(ses_store *store, const ses_key *key, const int64_t *expires_us,
                          const ses_call_options *options, ses_error *error)
{
    return set_expiry(AT(store, key), expires_us, options, error);
}
