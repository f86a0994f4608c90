/* Upkeep of the whole store. */
#include "base/error.h"
#include "session/store.h"

/* The largest argument of PRAGMA incremental_vacuum. */
static const int64_t MAX_PAGES = INT32_MAX;

static int maintain(ses_store *store, const ses_maintain_options *options, ses_error *error)
{
    const int64_t default_limit = 10000;
    struct maintain_op op;
    ses_maintain_options own;
    int code = ses__take_options(&own, sizeof own, options, "maintain options", error);

    if (code == SES_OK && own.limit < 0)
        code = ses__error_set(error, SES_INVALID, "maintain options: limit is negative");
    if (code != SES_OK)
        return code;
    op = (struct maintain_op){.limits = LIMITS_OF(store, own),
                              .limit = own.limit > 0 ? own.limit : default_limit};
    if (op.limit > MAX_PAGES)
        op.limit = MAX_PAGES;
    code = ses__door_maintain(store->storage, &op, error);
    return code == SES_OK && op.more ? SES_MORE : code;
}

int ses_store_maintain(ses_store *store, const ses_maintain_options *options, ses_error *error)
{
    int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, maintain(store, options, error)) : code;
}
