/* seslite tail */
#include "commands.h"

#include <string.h>

#include "commands/events.h"
#include "store/choose.h"
#include "store/walk.h"

struct tail {
    struct event_rows rows;
    int64_t last_seq; /* of the last event printed */
};

static int visit(void *context, const ses_event *event)
{
    struct tail *tail = context;

    tail->last_seq = event->seq;
    return event_rows_add(&tail->rows, &tail->rows.run->key, event);
}

static int report_reset(struct run *run, const ses_follower *follower)
{
    const char *session = ses_follower_session(follower);

    if (session)
        note("(events of %s are gone: it was cut, pruned or deleted)", session);
    else
        note("(sessions of %s were deleted)", run->key.user  ? run->key.user
                                              : run->key.app ? run->key.app
                                                             : "the store");
    return EXIT_OK;
}

/* Follows until the session is deleted or a signal ends the program. */
static int follow(struct tail *tail, ses_follower *follower)
{
    struct run *run = tail->rows.run;
    const ses_event *event = NULL;
    int status = event_rows_flush(&tail->rows);

    while (status == EXIT_OK) {
        int code = ses_follower_next(follower, -1, &event, &run->error);
        if (code == SES_ROW)
            status = event_rows_add(&tail->rows, ses_follower_key(follower), event);
        else if (code == SES_RESET)
            status = report_reset(run, follower);
        else if (code < 0 && code != SES_BUSY)
            status = fail(run);
        if (status == EXIT_OK)
            status = event_rows_flush(&tail->rows);
    }
    return status;
}

static int open_follower(struct tail *tail, bool of_many, ses_follower **follower)
{
    struct run *run = tail->rows.run;
    const ses_follow_options options = {.size = sizeof options,
                                        .flags = of_many ? SES_FOLLOW_NEW : 0,
                                        .after_seq = of_many ? 0 : tail->last_seq};

    return ses_follower_open(run->store, &run->key, &options, follower, &run->error) < 0 ? fail(run)
                                                                                         : EXIT_OK;
}

/* Prints the last events of the session. Following begins after its last event even if none is printed. */
static int print_last(struct tail *tail)
{
    struct run *run = tail->rows.run;
    const ses_range newest = {
        .size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = number_given(run, OPTION_NEWEST, 10)};
    const ses_range last = {.size = sizeof last, .which = SES_RANGE_NEWEST, .newest = 1};
    const ses_get_options options = {.size = sizeof options, .range = &last};
    ses_session *session = NULL;

    if (ses_get(run->store, &run->key, &options, &session, &run->error) < 0)
        return fail(run);
    tail->last_seq = ses_session_last_seq(session);
    ses_session_close(session);
    return each_event(run, &run->key, &newest, false, visit, tail);
}

/* Without a session: all of the user, or with --everything of the app, if one is given, or of the store. */
static int choose(struct run *run, bool of_many)
{
    int status = open_to_read(run);

    if (status != EXIT_OK)
        return status;
    if (!of_many)
        return choose_session(run);
    if (given(run, OPTION_ALL))
        return choose_user(run);
    return given(run, OPTION_APP) ? choose_app(run) : EXIT_OK;
}

int run_tail(struct run *run)
{
    bool of_many = given(run, OPTION_ALL) || given(run, OPTION_EVERYBODY);
    struct tail tail = {.last_seq = 0};
    ses_follower *follower = NULL;

    if (of_many && (!given(run, OPTION_FOLLOW) || given(run, OPTION_SESSION)))
        return say_usage(run, "--all and --everything need --follow and no session");
    if (given(run, OPTION_EVERYBODY) && (given(run, OPTION_ALL) || given(run, OPTION_USER)))
        return say_usage(run, "--everything is for an app or the store: for a user, give --all");
    if (given(run, OPTION_FOLLOW) && given(run, OPTION_JSON))
        return say_usage(run, "--follow cannot be combined with --json, since it has no end: use --jsonl");
    int status = choose(run, of_many);
    if (status != EXIT_OK)
        return status;
    event_rows_begin(&tail.rows, run, of_many);
    if (!of_many)
        status = print_last(&tail);
    if (status == EXIT_OK && given(run, OPTION_FOLLOW))
        status = open_follower(&tail, of_many, &follower);
    if (status == EXIT_OK && follower)
        status = follow(&tail, follower);
    ses_follower_close(follower);
    event_rows_end(&tail.rows);
    return status;
}
