/*
 * Runs jobs that delete. The data derived from the events follow in the same transaction, but never refuse
 * a deletion: if their damage may be to blame for a failure, they become void, and the job runs again without
 * them. (It does not simply go on, since SQLite should not commit a transaction in which a
 * statement has failed.)
 */
#include "base/error.h"
#include "storage/sql/rows/words.h"

/* A deletion, and what its next run does without. */
struct deleting {
    struct erasure *erasure;
    storage_job *job;
    void *context;
    unsigned voids;   /* BLAME_WORDS, BLAME_USAGE, BLAME_FILTERS: is void, or becomes so */
    bool keeps_pages; /* nothing is dropped, since pages are damaged */
    /* out */
    unsigned blamed;
};

/* The tally cannot stay: its rows would be deleted with those of `derived`. So it goes first. */
static int begin_deleting(const struct deleting *own, struct db *db, ses_error *error)
{
    const struct erasure *erasure = own->erasure;
    const bool drops =
        !db->traits->only_owner_drops && (erasure->secure || erasure->drops_void) && !own->keeps_pages;
    bool has_usage = true;
    int code = own->voids & BLAME_USAGE ? ses__usage_drop(db, own->keeps_pages, error)
                                        : ses__usage_drop_old(db, own->keeps_pages, error);

    if (code == SES_OK && own->voids & BLAME_FILTERS)
        code = ses__filters_drop(db, own->keeps_pages, error);
    if (code == SES_OK && own->voids & BLAME_WORDS)
        code = ses__index_void(db, error);
    if (code == SES_OK && drops)
        code = ses__index_drop_void(db, error);
    if (code == SES_OK && drops)
        code = ses__feature_find(db, USAGE_FEATURE, &has_usage, error);
    return code == SES_OK && !has_usage ? ses__usage_drop(db, false, error) : code;
}

/* Other jobs may use the connection after it. */
static int run_deleting(struct db *db, void *context, ses_error *error)
{
    struct deleting *own = context;
    struct erasure *erasure = own->erasure;

    erasure->erased = (ses_erased){.size = sizeof erasure->erased}; /* of an earlier run */
    db->erased = erasure->counts ? &erasure->erased : NULL;
    db->removed_words = false;
    db->blamed = 0;
    int result = begin_deleting(own, db, error);
    if (result == SES_OK)
        result = own->job(db, own->context, error);
    if (result >= 0 && db->removed_words) {
        const int code = ses__index_write(db, erasure->secure, error);
        result = code == SES_OK ? result : code;
    }
    own->blamed = db->blamed;
    db->erased = NULL;
    return result;
}

/* True if there is something new to do without. */
static bool takes_blame(struct deleting *own, int result)
{
    const unsigned voids = own->voids | (own->blamed & ~(unsigned)BLAME_PAGES);
    const bool keeps_pages = own->keeps_pages || (own->blamed & BLAME_PAGES);
    const bool is_new = voids != own->voids || keeps_pages != own->keeps_pages;

    own->voids = voids;
    own->keeps_pages = keeps_pages;
    return is_new && (result == SES_CORRUPT || result == SES_UNSUPPORTED);
}

int ses__run_delete(struct storage *storage, struct erasure *erasure, storage_job *job, void *context,
                    ses_error *error)
{
    struct deleting own = {.erasure = erasure, .job = job, .context = context};
    int result;

    do {
        ses__error_clear(error);
        result = ses__engine_run_delete(storage, erasure, run_deleting, &own, error);
    } while (takes_blame(&own, result));
    erasure->keeps_void = result >= 0 && own.keeps_pages && (erasure->secure || erasure->drops_void);
    if (erasure->keeps_void) {
        erasure->unclean = true;
        erasure->erased.derived_left = erasure->erased.events;
    }
    return result;
}
