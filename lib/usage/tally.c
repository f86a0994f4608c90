/* ses_store_tally. */
#include "base/error.h"
#include "seslite_usage.h"
#include "session/sql/catch_up.h"
#include "storage/sql/usage/usage.h"

enum { TALLY_FLAGS = SES_TALLY_REBUILD | SES_TALLY_DROP };

struct keeping_tally {
    unsigned flags;
    /* out */
    int64_t lag;
};

static int run_keep_tally(struct db *db, void *context, ses_error *error)
{
    struct keeping_tally *own = context;
    bool is_there = false;
    int code = own->flags == 0 ? ses__usage_find(db, &is_there, error)
                               : ses__feature_find(db, USAGE_FEATURE, &is_there, error);

    own->lag = 0;
    if (code == SES_OK && is_there && own->flags != 0) {
        code = ses__usage_drop(db, error);
        is_there = false;
    }
    if (code != SES_OK || own->flags & SES_TALLY_DROP)
        return code;
    if (!is_there)
        code = ses__usage_make(db, error);
    return code == SES_OK ? ses__derived_lag(db, USAGE_FEATURE, &own->lag, error) : code;
}

static int take_tally_options(ses_tally_options *own, const ses_tally_options *given, ses_error *error)
{
    const int code = ses__take_flagged(own, sizeof *own, given, TALLY_FLAGS, "tally options", error);

    if (code == SES_OK && own->flags == TALLY_FLAGS)
        return ses__error_set(error, SES_MISUSE, "tally options: both SES_TALLY_REBUILD and SES_TALLY_DROP");
    return code;
}

static int tally_begun(ses_store *store, const ses_tally_options *given, int64_t *events, ses_error *error)
{
    ses_tally_options options;
    int code = take_tally_options(&options, given, error);

    if (code != SES_OK)
        return code;
    struct keeping_tally keeping = {.flags = options.flags};
    struct catch_up catching_up = {.store = store,
                                   .limits = LIMITS_OF(store, options),
                                   .what = USAGE_FEATURE,
                                   .advance = ses__usage_advance,
                                   .progress = options.progress,
                                   .progress_context = options.progress_context};
    code = ses__run_within(store->storage, &catching_up.limits, TO_WRITE(0), run_keep_tally, &keeping, error);
    catching_up.total = keeping.lag;
    if (code == SES_OK && !(options.flags & SES_TALLY_DROP))
        code = ses__catch_up(&catching_up, error);
    if (events)
        *events = catching_up.events;
    return code;
}

int ses_store_tally(ses_store *store, const ses_tally_options *options, int64_t *events, ses_error *error)
{
    int code = ses__store_begin(store, error);

    if (events)
        *events = 0;
    return code == SES_OK ? ses__store_end(store, tally_begun(store, options, events, error)) : code;
}
