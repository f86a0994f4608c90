/* seslite artifact delete */
#include "commands.h"

#include "output/deleting.h"
#include "store/artifacts.h"
#include "store/choose.h"

static int count_version(void *context, const ses_artifact_info *info)
{
    int64_t *count = context;

    (void)info;
    (*count)++;
    return EXIT_OK;
}

static int delete_versions(struct run *run)
{
    const ses_delete_options options = {.size = sizeof options,
                                        .flags = given(run, OPTION_SECURE) ? SES_SECURE : 0};
    int64_t deleted = 0;
    const int code =
        ses_artifact_delete_by_key(run->store, &run->key, run->arguments[0], &options, &deleted, &run->error);

    if (code < 0)
        return fail(run);
    if (code == SES_MORE)
        report_log_kept();
    return report_deleted(run, "version", deleted);
}

int run_artifact_delete(struct run *run)
{
    const char *name = run->arguments[0];
    int64_t count = 0;
    int status = given(run, OPTION_DRY_RUN) ? open_to_read(run) : open_to_write(run);

    if (status == EXIT_OK)
        status = choose_artifacts(run);
    if (status == EXIT_OK)
        status = each_artifact(run, name, count_version, &count);
    if (status != EXIT_OK)
        return status;
    if (count == 0) {
        say("no artifact \"%s\" of %s %s", name, run->key.session ? "the session" : "the user",
            run->key.session ? run->key.session : run->key.user);
        return EXIT_NOTFOUND;
    }
    if (given(run, OPTION_DRY_RUN))
        return report_deleted(run, "version", count);
    status = confirm(run, "Delete %s of the artifact %s of %s", counted(count, "version"), name,
                     run->key.session ? run->key.session : run->key.user);
    return status == EXIT_OK ? delete_versions(run) : status;
}
