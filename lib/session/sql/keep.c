/* Makes, rebuilds and drops what is derived from events. */
#include <string.h>

#include "base/error.h"
#include "session/sql/catch_up.h"

struct setting_up {
    const struct derived_feature *feature;
    unsigned flags;
    /* BLAME_PAGES: tables are not dropped, but unlinked. BLAME_USAGE: the tally goes first. */
    unsigned avoids;
    /* out */
    unsigned blamed;
    int64_t lag;
};

/* Another role than the owner may drop it if there is nothing to drop. */
static int drop_feature(const struct setting_up *own, struct db *db, ses_error *error)
{
    bool is_there = true;
    const int code =
        db->traits->only_owner_drops ? ses__feature_find(db, own->feature->name, &is_there, error) : SES_OK;

    return code == SES_OK && is_there ? own->feature->drop(db, own->avoids & BLAME_PAGES, error) : code;
}

static int set_up(struct setting_up *own, struct db *db, ses_error *error)
{
    bool is_there = false;
    int code = SES_OK;

    own->lag = 0;
    if (own->flags & KEEP_DROP)
        return drop_feature(own, db, error);
    if (own->flags == 0)
        code = own->feature->find(db, &is_there, error);
    if (code == SES_OK && !is_there)
        code = own->feature->make(db, own->avoids & BLAME_PAGES, error);
    return code == SES_OK ? ses__derived_lag(db, own->feature->name, &own->lag, error) : code;
}

static int run_set_up(struct db *db, void *context, ses_error *error)
{
    struct setting_up *own = context;
    int code = own->avoids & BLAME_USAGE ? ses__usage_drop(db, true, error) : SES_OK;

    db->blamed = 0;
    if (code == SES_OK)
        code = set_up(own, db, error);
    own->blamed = db->blamed &
                  (strcmp(own->feature->name, USAGE_FEATURE) == 0 ? BLAME_PAGES : BLAME_PAGES | BLAME_USAGE);
    return code;
}

static int run_keeping(struct catch_up *own, unsigned flags, ses_error *error)
{
    struct storage *storage = own->store->storage;
    struct setting_up setting_up = {.feature = own->feature, .flags = flags};
    int code = ses__run_within(storage, &own->limits, TO_WRITE(0), run_set_up, &setting_up, error);

    own->is_damaged = false;
    while (code == SES_CORRUPT && (setting_up.blamed & ~setting_up.avoids)) {
        ses__error_clear(error);
        setting_up.avoids |= setting_up.blamed;
        code = ses__run_within(storage, &own->limits, TO_WRITE(0), run_set_up, &setting_up, error);
    }
    own->total = setting_up.lag;
    return code == SES_OK && !(flags & KEEP_DROP) ? ses__catch_up(own, error) : code;
}

int ses__feature_keep(struct catch_up *own, unsigned flags, ses_error *error)
{
    const int code = run_keeping(own, flags, error);

    if (code != SES_CORRUPT || !own->is_damaged || flags != 0)
        return code;
    ses__error_clear(error);
    return run_keeping(own, KEEP_REBUILD, error);
}
