/* seslite expire */
#include "commands.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "choose.h"
#include "deleting.h"
#include "json.h"
#include "progress.h"
#include "times.h"
#include "walk.h"

static void options_given(const struct run *run, ses_expire_options *options)
{
    *options = (ses_expire_options){.size = sizeof *options,
                                    .flags = given(run, OPTION_SECURE) ? SES_DELETE_SECURE : 0,
                                    .sessions_per_user = number_given(run, OPTION_PER_USER, 0)};
    if (given(run, OPTION_IDLE))
        (void)span_read(run->values[OPTION_IDLE], &options->idle_us); /* the parser has read it */
}

/* ------------------------------------------------------------------------------------------------ a dry run */

/* Counts the sessions that are due. Those of a user are visited together, newest first. */
struct due {
    struct run *run;
    ses_expire_options options;
    int64_t now_us;
    int64_t kept; /* of this user */
    int64_t count;
};

static int visit(void *context, const ses_session *session)
{
    struct due *due = context;
    const ses_expire_options *options = &due->options;
    bool is_due =
        ses_session_expires_us(session) <= due->now_us ||
        (options->idle_us > 0 && ses_session_updated_us(session) < due->now_us - options->idle_us) ||
        (options->sessions_per_user > 0 && due->kept >= options->sessions_per_user);

    due->count += is_due;
    due->kept += !is_due;
    return EXIT_OK;
}

static int visit_user(void *context, const char *user)
{
    struct due *due = context;
    const struct sessions sessions = {SES_ORDER_NEWEST, NULL, false, visit, due};

    due->kept = 0;
    due->run->values[OPTION_USER] = user;
    int status = each_session(due->run, &sessions);
    due->run->values[OPTION_USER] = NULL;
    return status;
}

static int visit_app(void *context, const char *app)
{
    struct due *due = context;
    const char *wanted = due->run->values[OPTION_APP];

    if (wanted && strcmp(wanted, app) != 0)
        return EXIT_OK;
    due->run->values[OPTION_APP] = app;
    int status = each_name(due->run, app, visit_user, due);
    due->run->values[OPTION_APP] = wanted;
    return status;
}

static int tell_due(struct run *run)
{
    struct due due = {.run = run, .now_us = (int64_t)time(NULL) * 1000000};

    options_given(run, &due.options);
    int status = each_name(run, NULL, visit_app, &due);
    return status == EXIT_OK ? tell_deleted(run, "session", due.count) : status;
}

/* --------------------------------------------------------------------------------------------------- at work */

static int expire(struct run *run)
{
    ses_expire_options options;
    int64_t total = 0;
    int64_t deleted = 0;
    int64_t idle = 0; /* calls in a row that deleted nothing */
    int code;
    int status = confirm(run, "Delete the sessions that are due for good");

    if (status != EXIT_OK)
        return status;
    options_given(run, &options);
    progress_begin("deleting sessions");
    do {
        deleted = 0;
        code = ses_expire(run->store, run->values[OPTION_APP], &options, &deleted, &run->error);
        total += deleted;
        idle = deleted > 0 ? 0 : idle + 1;
        progress_set(total, 0);
    } while (code == SES_MORE && (!given(run, OPTION_SECURE) || idle < 3));
    progress_end();
    if (code < 0)
        return fail(run);
    if (code == SES_MORE)
        tell_log_kept();
    return tell_deleted(run, "session", total);
}

int run_expire(struct run *run)
{
    if (given(run, OPTION_USER) || given(run, OPTION_SESSION))
        return say_usage(run, "expire looks at a whole app, or at all apps");
    bool dry = given(run, OPTION_DRY_RUN);
    int status = dry ? open_to_read(run) : open_to_write(run);
    if (status == EXIT_OK && given(run, OPTION_APP))
        status = choose_app(run);
    if (status == EXIT_OK)
        status = dry ? tell_due(run) : expire(run);
    return status;
}
