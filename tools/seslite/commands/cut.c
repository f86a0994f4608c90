/* seslite cut and prune: they delete the end of a log, or its beginning. */
#include "commands.h"

#include <string.h>

#include "output/deleting.h"
#include "output/json.h"
#include "output/progress.h"
#include "store/choose.h"
#include "store/points.h"
#include "store/sessions.h"
#include "store/walk.h"
#include "text/times.h"

/* ------------------------------------------------------------------------------------------------- points */

/* Finds the point among the events and counts the events after it. */
struct counting {
    const ses_point *point;
    bool found;
    int64_t count; /* events after the point */
};

static int count_event(void *context, const ses_event *event)
{
    struct counting *counting = context;
    const ses_point *point = counting->point;
    bool after = counting->found;

    if (point->kind == SES_POINT_INVOCATION && strcmp(event->invocation_id, point->id) == 0)
        counting->found = after = true;
    else if (point->kind == SES_POINT_EVENT && strcmp(event->id, point->id) == 0)
        counting->found = true;
    else if (point->kind == SES_POINT_SEQ && event->seq > point->seq)
        after = true;
    counting->count += after;
    return EXIT_OK;
}

/* Counts the events that a cut would delete. No call finds where the last turn begins without rewinding to
 * it. */
static int count_after(struct run *run, const ses_point *point, int64_t *count)
{
    const ses_range all = {.size = sizeof all};
    struct counting counting = {point, false, 0};

    if (point->kind == SES_POINT_LAST_TURN)
        return say_usage(run, "--dry-run needs a point by number, event or invocation: see seslite events");
    int status = point->kind == SES_POINT_NOW
                     ? EXIT_OK
                     : each_event(run, &run->key, &all, false, count_event, &counting);
    if (status == EXIT_OK && (point->kind == SES_POINT_EVENT || point->kind == SES_POINT_INVOCATION) &&
        !counting.found) {
        say("no such point: \"%s\"", run->values[OPTION_TO]);
        status = EXIT_NOTFOUND;
    }
    *count = counting.count;
    return status;
}

/* ---------------------------------------------------------------------------------------------------- cut */

static int cut(struct run *run, const ses_point *point)
{
    ses_erased erased = {.size = sizeof erased};
    const ses_cut_options options = {
        .size = sizeof options, .flags = given(run, OPTION_SECURE) ? SES_SECURE : 0, .erased = &erased};
    int64_t deleted = 0;
    int status =
        confirm(run, "Delete the events of %s after %s for good", run->key.session, run->values[OPTION_TO]);

    if (status != EXIT_OK)
        return status;
    int code = ses_cut_by_key(run->store, &run->key, point, &options, &deleted, &run->error);
    if (code < 0)
        return fail(run);
    if (code == SES_MORE)
        report_log_kept();
    return report_erased(run, "event", deleted, &erased);
}

int run_cut(struct run *run)
{
    ses_point point;
    int64_t count = 0;

    if (!given(run, OPTION_TO))
        return say_usage(run, "cut needs --to POINT");
    point_given(run, OPTION_TO, &point);
    bool dry = given(run, OPTION_DRY_RUN);
    int status = dry ? open_session_to_read(run) : open_session_to_write(run);
    if (status != EXIT_OK)
        return status;
    if (!dry)
        return cut(run, &point);
    status = count_after(run, &point, &count);
    return status == EXIT_OK ? report_deleted(run, "event", count) : status;
}

/* -------------------------------------------------------------------------------------------------- prune */

static bool prune_given(const struct run *run, ses_prune_options *options)
{
    *options =
        (ses_prune_options){.size = sizeof *options, .flags = given(run, OPTION_SECURE) ? SES_SECURE : 0};
    if (given(run, OPTION_KEEP)) {
        options->which |= SES_PRUNE_KEEP;
        options->keep = number_given(run, OPTION_KEEP, 0);
    }
    if (given(run, OPTION_BEFORE) && time_read(run->values[OPTION_BEFORE], &options->before_us))
        options->which |= SES_PRUNE_BEFORE;
    if (given(run, OPTION_UP_TO)) {
        options->which |= SES_PRUNE_SEQ;
        options->last_seq = number_given(run, OPTION_UP_TO, 0);
    }
    if (given(run, OPTION_COMPACTED))
        options->which |= SES_PRUNE_COMPACTED;
    return options->which != 0;
}

/* Counts the events before the first one that has to stay. Fewer may be deleted, since events that belong
 * together are not separated; only the deletion itself finds that out. */
struct pruning {
    const ses_prune_options *options;
    int64_t stored;
    int64_t count;
};

static int count_prunable(void *context, const ses_event *event)
{
    struct pruning *pruning = context;
    const ses_prune_options *options = pruning->options;

    if (((options->which & SES_PRUNE_KEEP) && pruning->stored - pruning->count <= options->keep) ||
        ((options->which & SES_PRUNE_BEFORE) && event->time_us >= options->before_us) ||
        ((options->which & SES_PRUNE_SEQ) && event->seq > options->last_seq))
        return STOP;
    pruning->count++;
    return EXIT_OK;
}

static int report_prunable(struct run *run, const ses_prune_options *options)
{
    const ses_range all = {.size = sizeof all};
    struct pruning pruning = {options, 0, 0};
    int status = EXIT_OK;
    ses_session *session = session_read(run, &status);

    if (!session)
        return status;
    pruning.stored = ses_session_stored(session);
    ses_session_close(session);
    status = each_event(run, &run->key, &all, false, count_prunable, &pruning);
    return status == EXIT_OK || status == STOP ? report_at_most(run, "event", pruning.count) : status;
}

/* Prunes in steps until nothing is left. A step that deletes nothing was only waiting for a reader of the
 * WAL. */
static int prune(struct run *run, ses_prune_options *options)
{
    ses_erased sum = {.size = sizeof sum};
    ses_erased erased = {.size = sizeof erased};
    int64_t forks = 0; /* the first call knows those that the later ones do not */
    int64_t total = 0;
    int64_t deleted = 0;
    int code = SES_MORE;
    int status = confirm(run, "Delete the oldest events of %s for good", run->key.session);

    if (status != EXIT_OK)
        return status;
    options->erased = &erased;
    progress_begin("pruning events");
    do {
        deleted = 0;
        code = ses_prune_by_key(run->store, &run->key, options, &deleted, &run->error);
        total += deleted;
        if (code >= 0)
            erased_add(&sum, &erased);
        forks = sum.forks_left > forks ? sum.forks_left : forks;
        progress_set(total, 0);
    } while (code == SES_MORE && deleted > 0);
    sum.forks_left = forks;
    progress_end();
    if (code == SES_MORE)
        report_log_kept();
    if (code < 0)
        return fail(run);
    return report_erased(run, "event", total, &sum);
}

int run_prune(struct run *run)
{
    ses_prune_options options;

    if (!prune_given(run, &options))
        return say_usage(run, "prune needs --keep, --before, --up-to or --compacted");
    bool dry = given(run, OPTION_DRY_RUN);
    int status = dry ? open_session_to_read(run) : open_session_to_write(run);
    if (status == EXIT_OK)
        status = dry ? report_prunable(run, &options) : prune(run, &options);
    return status;
}
