/* ses_store_tally. */
#include "base/error.h"
#include "seslite_usage.h"
#include "session/sql/catch_up.h"
#include "storage/sql/usage/usage.h"

enum { TALLY_FLAGS = SES_TALLY_REBUILD | SES_TALLY_DROP };
_Static_assert((int)SES_TALLY_REBUILD == (int)KEEP_REBUILD && (int)SES_TALLY_DROP == (int)KEEP_DROP,
               "the flags are passed on");

static int tally_begun(ses_store *store, const ses_tally_options *given, int64_t *events, ses_error *error)
{
    ses_tally_options options;
    int code = ses__take_flagged(&options, sizeof options, given, TALLY_FLAGS, "tally options", error);

    if (code == SES_OK && options.flags == TALLY_FLAGS)
        code = ses__error_set(error, SES_MISUSE, "tally options: both SES_TALLY_REBUILD and SES_TALLY_DROP");
    if (code != SES_OK)
        return code;
    struct catch_up keeping = {.store = store,
                               .limits = LIMITS_OF(store, options),
                               .feature = &ses__usage_feature,
                               .progress = options.progress,
                               .progress_context = options.progress_context};
    code = ses__feature_keep(&keeping, options.flags, error);
    if (events)
        *events = keeping.events;
    return code;
}

int ses_store_tally(ses_store *store, const ses_tally_options *options, int64_t *events, ses_error *error)
{
    int code = ses__store_begin(store, error);

    if (events)
        *events = 0;
    return code == SES_OK ? ses__store_end(store, tally_begun(store, options, events, error)) : code;
}
