/* Handles that end calls. */
#include "base/argument.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/memory.h"
#include "session/handle.h"

int ses_cancel_open(ses_store *store, ses_cancel **cancel, ses_error *error)
{
    int code = ses__check_output(cancel, "cancel", error);

    if (code == SES_OK)
        code = ses__check_argument(store, "store", error);
    if (code != SES_OK)
        return code;
    ses_cancel *fresh = ses__memory_zeroed(ses__store_allocator(store), sizeof *fresh);
    if (!fresh)
        return ses__error_nomem(error);
    fresh->allocator = *ses__store_allocator(store);
    atomic_init(&fresh->pulled, false);
    *cancel = fresh;
    return SES_OK;
}

/* An atomic flag without a lock is what a signal handler may set. */
_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a signal handler may pull the handle");

void ses_cancel_pull(ses_cancel *cancel)
{
    if (cancel)
        atomic_store(&cancel->pulled, true);
}

void ses_cancel_reset(ses_cancel *cancel)
{
    if (cancel)
        atomic_store(&cancel->pulled, false);
}

void ses_cancel_close(ses_cancel *cancel)
{
    if (cancel) {
        const ses_allocator allocator = cancel->allocator;
        ses__memory_free(&allocator, cancel);
    }
}
