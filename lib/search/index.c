/* ses_store_index. */
#include "base/error.h"
#include "search/index.h"

enum { INDEX_FLAGS = SES_INDEX_REBUILD | SES_INDEX_DROP };

struct setting_up {
    unsigned flags;
    /* out */
    int64_t lag;
};

static int run_set_up(struct db *db, void *context, ses_error *error)
{
    struct setting_up *own = context;
    bool is_there = false;
    int code = ses__index_find(db, &is_there, error);

    own->lag = 0;
    if (code == SES_OK && is_there && own->flags != 0) {
        code = ses__index_drop(db, error);
        is_there = false;
    }
    if (code != SES_OK || own->flags & SES_INDEX_DROP)
        return code;
    if (!is_there)
        code = ses__index_make(db, error);
    return code == SES_OK ? ses__derived_lag(db, WORDS_FEATURE, &own->lag, error) : code;
}

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
    struct setting_up setting_up = {.flags = options.flags};
    struct catch_up catching_up = {.store = store,
                                   .limits = LIMITS_OF(store, options),
                                   .what = WORDS_FEATURE,
                                   .advance = ses__index_advance,
                                   .progress = options.progress,
                                   .progress_context = options.progress_context};
    code = ses__run_within(store->storage, &catching_up.limits, TO_WRITE(0), run_set_up, &setting_up, error);
    catching_up.total = setting_up.lag;
    if (code == SES_OK && !(options.flags & SES_INDEX_DROP))
        code = ses__catch_up(&catching_up, error);
    if (events)
        *events = catching_up.events;
    return code;
}

int ses_store_index(ses_store *store, const ses_index_options *options, int64_t *events, ses_error *error)
{
    int code = ses__store_begin(store, error);

    if (events)
        *events = 0;
    return code == SES_OK ? ses__store_end(store, index_begun(store, options, events, error)) : code;
}
