/* seslite expire */
#include "commands.h"

#include "output/deleting.h"
#include "output/out.h"
#include "output/progress.h"
#include "store/choose.h"
#include "text/times.h"

static void options_given(const struct run *run, ses_expire_options *options)
{
    *options = (ses_expire_options){.size = sizeof *options,
                                    .flags = given(run, OPTION_SECURE) ? SES_SECURE : 0,
                                    .sessions_per_user = number_given(run, OPTION_PER_USER, 0)};
    if (given(run, OPTION_WRITTEN))
        options->flags |= SES_EXPIRE_CHANGED;
    if (given(run, OPTION_IDLE))
        (void)span_read(run->values[OPTION_IDLE], &options->idle_us); /* the parser has checked it */
}

static int expire(struct run *run)
{
    ses_erased sum = {.size = sizeof sum};
    ses_erased erased = {.size = sizeof erased};
    ses_expire_options options;
    int64_t total = 0;
    int64_t deleted = 0;
    int64_t idle = 0; /* calls in a row that deleted nothing */
    int code;
    int status = confirm(run, "Delete the expired sessions for good");

    if (status != EXIT_OK)
        return status;
    options_given(run, &options);
    options.erased = &erased;
    progress_begin("deleting sessions");
    do {
        deleted = 0;
        code = ses_store_expire(run->store, run->values[OPTION_APP], &options, &deleted, &run->error);
        total += deleted;
        if (code >= 0)
            erased_add(&sum, &erased);
        idle = deleted > 0 ? 0 : idle + 1;
        progress_set(total, 0);
    } while (code == SES_MORE && (!given(run, OPTION_SECURE) || idle < 3));
    progress_end();
    if (code < 0)
        return fail(run);
    if (code == SES_MORE)
        report_log_kept();
    return report_erased(run, "session", total, &sum);
}

static int report_due(struct run *run)
{
    ses_expire_options options;
    int64_t due = 0;

    options_given(run, &options);
    options.flags |= SES_EXPIRE_DRY_RUN;
    if (ses_store_expire(run->store, run->values[OPTION_APP], &options, &due, &run->error) < 0)
        return fail(run);
    return report_deleted(run, "session", due);
}

int run_expire(struct run *run)
{
    if (given(run, OPTION_USER) || given(run, OPTION_SESSION))
        return say_usage(run, "expire works on a whole app, or on all apps");
    if (given(run, OPTION_WRITTEN) && !given(run, OPTION_PER_USER))
        return say_usage(run, "--written needs --per-user");
    bool dry = given(run, OPTION_DRY_RUN);
    int status = dry ? open_to_read(run) : open_to_write(run);
    if (status == EXIT_OK && given(run, OPTION_APP))
        status = choose_app(run);
    if (status == EXIT_OK)
        status = dry ? report_due(run) : expire(run);
    return status;
}
