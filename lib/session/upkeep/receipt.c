/* Receipts of calls that delete. */
#include "session/store.h"

int ses__receipt_begin(ses_erased *erased, struct erasure *erasure, ses_error *error)
{
    erasure->counts = erased != NULL;
    return erased ? ses__check_size(erased, "erased", error) : SES_OK;
}

void ses__receipt_end(ses_store *store, ses_erased *erased, const struct erasure *erasure, const ses_key *key,
                      int64_t after)
{
    struct forks_op forks = {.limits = erasure->limits, .key = key, .after = after};
    ses_erased filled = erasure->erased;

    if (!erased)
        return;
    if (!key)
        filled.forks_left = -1;
    else if (key->user)
        /* The deletion is committed, so the call does not fail any more. */
        filled.forks_left = ses__door_count_forks(store->storage, &forks, NULL) == SES_OK ? forks.count : -1;
    ses__give_output(erased, &filled, sizeof filled);
}
