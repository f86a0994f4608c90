#include "session/sql/catch_up.h"

#include <string.h>

#include "base/error.h"

/* The bytes of events in one transaction: about 50 ms, for which others wait. */
enum { STEP_BYTES = 1024 * 1024, STEP_WRITES = STEP_BYTES / 4 };

/* Sessions that are not up to date, and the progress of the work on them. */
struct step {
    struct session_ids ids;
    size_t from;
    const struct derived_feature *feature;
    /* out */
    size_t next;
    int64_t events;
    bool is_gone;
    bool is_damaged;
};

static int run_step(struct db *db, void *context, ses_error *error)
{
    struct step *step = context;
    struct deriving work;
    bool is_there = false;
    bool done = true;

    db->blamed = 0;
    step->events = 0;
    int code = step->feature->find(db, &is_there, error);
    step->is_gone = !is_there;
    if (code == SES_OK && is_there) {
        ses__deriving_init(&work, db, STEP_BYTES);
        for (step->next = step->from; step->next < step->ids.count; step->next += done) {
            code = step->feature->advance(db, step->ids.items[step->next], &work, &done, error);
            if (code != SES_OK || work.bytes_left <= 0)
                break;
        }
        step->next += code == SES_OK && done && step->next < step->ids.count;
        step->events = work.events;
        ses__deriving_free(&work);
        if (code == SES_OK && step->feature->end)
            code = step->feature->end(db, error);
    }
    step->is_damaged = db->blamed != 0;
    return code;
}

static int run_steps(struct catch_up *own, struct step *step, ses_error *error)
{
    int code = SES_OK;

    step->is_gone = false;
    for (step->from = 0; step->from < step->ids.count && code == SES_OK && !step->is_gone;
         step->from = step->next) {
        code =
            ses__run_within(own->store->storage, &own->limits, TO_WRITE(STEP_WRITES), run_step, step, error);
        own->events += code == SES_OK ? step->events : 0;
        if (code == SES_OK && own->progress && own->progress(own->progress_context, own->events, own->total))
            code = ses__error_set(error, SES_INTERRUPTED, "%s: ended by the progress callback",
                                  own->feature->name);
    }
    return code;
}

struct finding_behind {
    struct behind behind;
    struct session_ids *ids;
};

static int run_find_behind(struct db *db, void *context, ses_error *error)
{
    struct finding_behind *finding = context;
    return ses__behind_find(db, &finding->behind, finding->ids, error);
}

int ses__catch_up(struct catch_up *own, ses_error *error)
{
    struct step step = {.feature = own->feature};
    struct finding_behind finding = {{own->feature->name, own->app_id, own->user_id, own->session_id, 0},
                                     &step.ids};
    int code = SES_OK;

    own->events = 0;
    do {
        code = ses__run_within(own->store->storage, &own->limits, TO_READ_BEFORE_WRITING, run_find_behind,
                               &finding, error);
        if (code == SES_OK && step.ids.count > 0) {
            finding.behind.after = step.ids.items[step.ids.count - 1];
            code = run_steps(own, &step, error);
        }
    } while (code == SES_OK && !step.is_gone && step.ids.count == MAX_SESSION_IDS);
    own->is_damaged = step.is_damaged;
    return code;
}

/* ------------------------------------------------------------------- making, rebuilding, dropping */

struct setting_up {
    const struct derived_feature *feature;
    unsigned flags;
    /* BLAME_PAGES: tables are not dropped, but unlinked. BLAME_USAGE: the tally goes first. */
    unsigned avoids;
    /* out */
    unsigned blamed;
    int64_t lag;
};

static int run_set_up(struct db *db, void *context, ses_error *error)
{
    struct setting_up *own = context;
    const struct derived_feature *feature = own->feature;
    const bool keeps_pages = (own->avoids & BLAME_PAGES) != 0;
    const bool drops = (own->flags & KEEP_DROP) != 0;
    bool is_there = drops;
    int code = own->avoids & BLAME_USAGE ? ses__usage_drop(db, true, error) : SES_OK;

    own->lag = 0;
    db->blamed = 0;
    /* Where only the owner may drop tables, another role may still drop a feature that is missing. */
    if (code == SES_OK && drops && db->traits->only_owner_drops)
        code = ses__feature_find(db, feature->name, &is_there, error);
    else if (code == SES_OK && own->flags == 0)
        code = feature->find(db, &is_there, error);
    if (code == SES_OK && drops && is_there)
        code = feature->drop(db, keeps_pages, error);
    else if (code == SES_OK && !drops && !is_there)
        code = feature->make(db, keeps_pages, error);
    if (code == SES_OK && !drops)
        code = ses__derived_lag(db, feature->name, &own->lag, error);
    own->blamed =
        db->blamed & (strcmp(feature->name, USAGE_FEATURE) == 0 ? BLAME_PAGES : BLAME_PAGES | BLAME_USAGE);
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
