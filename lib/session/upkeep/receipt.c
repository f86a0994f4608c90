/* Receipts of calls that delete. */
#include "session/store.h"

int ses__receipt_begin(ses_erased *erased, struct erasure *erasure, ses_error *error)
{
    erasure->counts = erased != NULL;
    return erased ? ses__check_size(erased, "erased", error) : SES_OK;
}

void ses__receipt_end(ses_erased *erased, const struct erasure *erasure)
{
    if (erased)
        ses__give_output(erased, &erasure->erased, sizeof erasure->erased);
}
