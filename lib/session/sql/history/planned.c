#include "session/sql/history/planned.h"

#include "storage/sql/session/filters.h"
#include "storage/sql/session/jobs.h"

/* A session that others append to all the time may change during each of them; the last is made inside the
 * write. */
enum { MAX_PLANS = 3 };

struct planned_run {
    const struct planned *planned;
    struct session_row row; /* that was planned for */
    bool inside;            /* the plan is made where it is carried out */
    bool behind;            /* the filters of invocations are, and nothing was planned */
    bool caught_up;
    bool begun; /* the write was, so that what the plan knows of others may have been rolled back */
    bool fits;
};

static int find_session(struct db *db, const struct session_ref *session, struct session_row *row,
                        ses_error *error)
{
    int code = ses__session_of(db, session, row, error);
    return code == SES_OK ? ses__log_check_epoch(session, row, error) : code;
}

static int run_plan(struct db *db, void *context, ses_error *error)
{
    struct planned_run *run = context;
    const struct planned *planned = run->planned;
    int code = find_session(db, planned->session, &run->row, error);

    run->begun = false;
    run->behind = false;
    if (code == SES_OK && planned->looks_far && !run->caught_up)
        code = ses__filters_are_behind(db, &run->row, &run->behind, error);
    return code == SES_OK && !run->behind ? planned->plan(db, planned->context, &run->row, error) : code;
}

static int run_catching_up(struct db *db, void *context, ses_error *error)
{
    struct planned_run *run = context;
    return ses__filters_advance(db, run->row.id, &run->behind, error);
}

/* The operation takes its time without them, but does not fail. */
static void catch_up(struct storage *storage, struct planned_run *run)
{
    int code = SES_OK;

    while (run->behind && code == SES_OK)
        code = ses__run_within(storage, run->planned->limits, TO_WRITE(0), run_catching_up, run, NULL);
    run->caught_up = true;
}

static int check_fit(struct planned_run *run, struct db *db, const struct session_row *row, ses_error *error)
{
    const struct planned *planned = run->planned;
    const struct session_row *before = &run->row;

    run->fits = !run->begun && before->id == row->id && before->base_seq == row->base_seq &&
                (planned->update || before->version == row->version);
    run->begun = true;
    return run->fits && planned->update ? planned->update(db, planned->context, row, &run->fits, error)
                                        : SES_OK;
}

static int run_write(struct db *db, void *context, ses_error *error)
{
    struct planned_run *run = context;
    const struct planned *planned = run->planned;
    struct session_row row;
    int code = find_session(db, planned->session, &row, error);

    if (code == SES_OK)
        code =
            run->inside ? planned->plan(db, planned->context, &row, error) : check_fit(run, db, &row, error);
    return code == SES_OK && run->fits ? planned->write(db, planned->context, &row, error) : code;
}

/* Looks at the log unless the store is read-only, which the write says. */
static int look_ahead(struct storage *storage, struct planned_run *run, ses_error *error)
{
    const struct erasure *erasure = run->planned->erasure;
    int code = run->inside ? SES_OK
                           : ses__run_within(storage, run->planned->limits, TO_READ_BEFORE_WRITING, run_plan,
                                             run, error);

    /* The write-ahead log may still hold what an earlier call deleted, so the write still empties it. */
    return code == SES_UNCHANGED && erasure && erasure->secure ? SES_OK : code;
}

int ses__run_planned(struct storage *storage, const struct planned *planned, ses_error *error)
{
    struct planned_run run = {.planned = planned};
    int code = SES_OK;

    if (planned->erasure)
        planned->erasure->unclean = false;
    for (int plans = 1; code == SES_OK && !run.fits; plans++) {
        run.inside = plans == MAX_PLANS || storage->read_only;
        run.fits = run.inside;
        code = look_ahead(storage, &run, error);
        if (code != SES_OK)
            return code;
        if (run.behind) {
            catch_up(storage, &run);
            run.fits = false;
            plans--;
            continue;
        }
        code = planned->erasure ? ses__run_delete(storage, planned->erasure, run_write, &run, error)
                                : ses__run_within(storage, planned->limits, TO_WRITE(planned->bytes),
                                                  run_write, &run, error);
    }
    return code;
}
