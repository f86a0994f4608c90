/* ses_store_index. */
#include "base/error.h"
#include "search/index.h"

enum { INDEX_FLAGS = SES_INDEX_REBUILD | SES_INDEX_DROP };
_Static_assert((int)SES_INDEX_REBUILD == (int)KEEP_REBUILD && (int)SES_INDEX_DROP == (int)KEEP_DROP,
               "the flags are passed on");

static int take_index_options(ses_index_options *own, const ses_index_options *given, ses_error *error)
{
    int code = ses__take_flagged(own, sizeof *own, given, INDEX_FLAGS, "index options", error);

    if (code == SES_OK && own->flags == INDEX_FLAGS)
        code = ses__error_set(error, SES_MISUSE, "index options: both SES_INDEX_REBUILD and SES_INDEX_DROP");
    return code;
}

static int index_begun(ses_store *store, const ses_index_options *given, int64_t *events, ses_error *error)
{
    ses_index_options options;
    int code = take_index_options(&options, given, error);

    if (code != SES_OK)
        return code;
    struct catch_up keeping = {.store = store,
                               .limits = LIMITS_OF(store, options),
                               .feature = &ses__index_feature,
                               .progress = options.progress,
                               .progress_context = options.progress_context};
    code = ses__feature_keep(&keeping, options.flags, error);
    if (events)
        *events = keeping.events;
    return code;
}

int ses_store_index(ses_store *store, const ses_index_options *options, int64_t *events, ses_error *error)
{
    int code = ses__store_begin(store, error);

    if (events)
        *events = 0;
    return code == SES_OK ? ses__store_end(store, index_begun(store, options, events, error)) : code;
}
