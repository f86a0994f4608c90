/* seslite delete */
#include "commands.h"

#include "output/deleting.h"
#include "output/json.h"
#include "output/progress.h"
#include "store/choose.h"
#include "store/missing.h"
#include "store/sessions.h"
#include "store/walk.h"

static unsigned flags_given(const struct run *run)
{
    return given(run, OPTION_SECURE) ? SES_SECURE : 0;
}

/* Reports the result of a call that deletes. */
static int end(struct run *run, int code, int64_t sessions, const ses_erased *erased)
{
    if (code < 0)
        return fail(run);
    if (code == SES_MORE)
        report_log_kept();
    return report_erased(run, "session", sessions, erased);
}

/* -------------------------------------------------------------------------------------------- one session */

static int delete_session(struct run *run)
{
    ses_erased erased = {.size = sizeof erased};
    const unsigned children = given(run, OPTION_CHILDREN) ? SES_DELETE_CHILDREN : 0;
    const ses_delete_options options = {
        .size = sizeof options, .flags = flags_given(run) | children, .erased = &erased};
    int64_t deleted = 0;
    int status = EXIT_OK;
    ses_session *session = session_read(run, &status);

    if (!session)
        return status;
    if (!given(run, OPTION_DRY_RUN))
        status = confirm(run, "Delete the session %s of %s, with %s%s", run->key.session, run->key.user,
                         counted(ses_session_stored(session), "event"), children ? " and its children" : "");
    ses_session_close(session);
    if (status != EXIT_OK || given(run, OPTION_DRY_RUN))
        return status == EXIT_OK ? report_deleted(run, "session", 1) : status;
    int code = ses_delete(run->store, &run->key, &options, &deleted, &run->error);
    return end(run, code, deleted, &erased);
}

/* ----------------------------------------------------------------------------------- of a user, of an app */

static int delete_user(struct run *run)
{
    ses_erased erased = {.size = sizeof erased};
    const ses_delete_options options = {.size = sizeof options, .flags = flags_given(run), .erased = &erased};
    int64_t deleted = 0;
    int code =
        ses_delete_user(run->store, run->key.app, run->key.user, &options, &deleted, NULL, &run->error);

    return end(run, code, deleted, &erased);
}

/* Each call except the last returns SES_MORE. With --secure the last one does too if the WAL cannot be
 * emptied. */
static int delete_app(struct run *run, int64_t total)
{
    ses_erased erased = {.size = sizeof erased};
    const ses_delete_options options = {.size = sizeof options, .flags = flags_given(run), .erased = &erased};
    ses_erased total_erased = {.size = sizeof total_erased};
    int64_t sum = 0;
    int64_t deleted = 0;
    int code;

    progress_begin("deleting sessions");
    do {
        deleted = 0;
        code = ses_delete_app(run->store, run->key.app, &options, &deleted, &run->error);
        sum += deleted;
        if (code >= 0)
            erased_add(&total_erased, &erased);
        progress_set(sum, total);
    } while (code == SES_MORE && name_is_there(run, NULL, run->key.app));
    progress_end();
    return end(run, code, sum, &total_erased);
}

/* Deletes only what the caller named: the command chooses nothing here. */
static int delete_everything(struct run *run)
{
    const struct sessions sessions = {.order = SES_ORDER_CREATED};
    int64_t count = 0;

    if (!given(run, OPTION_APP) || given(run, OPTION_SESSION))
        return say_usage(run, "--everything needs --app, for all of one user also --user, and no session");
    int status = given(run, OPTION_USER) ? choose_user(run) : choose_app(run);
    if (status == EXIT_OK)
        status = count_sessions(run, &sessions, &count);
    if (status != EXIT_OK || given(run, OPTION_DRY_RUN))
        return status == EXIT_OK ? report_deleted(run, "session", count) : status;
    if (given(run, OPTION_USER))
        status = confirm(run, "Delete the user %s of %s, with %s and the user's state", run->key.user,
                         run->key.app, counted(count, "session"));
    else
        status = confirm(run, "Delete the app %s, with all users, %s and the shared state", run->key.app,
                         counted(count, "session"));
    if (status != EXIT_OK)
        return status;
    return given(run, OPTION_USER) ? delete_user(run) : delete_app(run, count);
}

/* The caller has to name what is deleted. */
int run_delete(struct run *run)
{
    bool everything = given(run, OPTION_EVERYTHING);

    if (given(run, OPTION_CHILDREN) && (everything || given(run, OPTION_DRY_RUN)))
        return say_usage(run, "--children deletes those of a session, and does not count them before");
    if (!everything && !given(run, OPTION_SESSION))
        return say_usage(run, "delete needs a session, or --everything");
    int status = given(run, OPTION_DRY_RUN) ? open_to_read(run) : open_to_write(run);
    if (status != EXIT_OK || everything)
        return status == EXIT_OK ? delete_everything(run) : status;
    status = choose_session(run);
    return status == EXIT_OK ? delete_session(run) : status;
}
