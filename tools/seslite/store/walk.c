#include "store/walk.h"

#include <stdlib.h>
#include <string.h>

#include "output/out.h"
#include "store/choose.h"
#include "text/text.h"
#include "text/times.h"

void range_given(const struct run *run, ses_range *range)
{
    *range = (ses_range){.size = sizeof *range, .first_seq = 1, .last_seq = INT64_MAX};
    if (given(run, OPTION_NEWEST)) {
        range->which |= SES_RANGE_NEWEST;
        range->newest = number_given(run, OPTION_NEWEST, 0);
    }
    if (given(run, OPTION_SINCE) && time_read(run->values[OPTION_SINCE], &range->since_us))
        range->which |= SES_RANGE_SINCE;
    if (given(run, OPTION_FROM) || given(run, OPTION_UP_TO)) {
        range->which |= SES_RANGE_SEQ;
        range->first_seq = number_given(run, OPTION_FROM, 1);
        range->last_seq = number_given(run, OPTION_UP_TO, INT64_MAX);
    }
    if (given(run, OPTION_LIVE))
        range->which |= SES_RANGE_LIVE;
}

int each_event(struct run *run, const ses_key *key, const ses_range *range, bool backward, visit_event *visit,
               void *context)
{
    const ses_cursor_options options = {
        .size = sizeof options, .flags = backward ? SES_CURSOR_BACKWARD : 0, .range = range};
    ses_cursor *cursor = NULL;
    const ses_event *event = NULL;
    int status = EXIT_OK;

    if (ses_cursor_open(run->store, key, &options, &cursor, &run->error) < 0)
        return fail(run);
    while (status == EXIT_OK && ses_cursor_next(cursor, &event, NULL) == SES_ROW)
        status = visit(context, event);
    if (ses_cursor_close(cursor, &run->error) < 0 && status == EXIT_OK)
        status = fail(run);
    return status;
}

/* -------------------------------------------------------------------------------------------------- users */

static bool is_meant(const struct run *run, const char *app)
{
    return !given(run, OPTION_APP) || strcmp(run->values[OPTION_APP], app) == 0;
}

struct user_walk {
    struct run *run;
    const char *app;
    visit_owner *visit;
    void *context;
};

static int visit_user_of(void *context, const char *user)
{
    const struct user_walk *walk = context;
    return walk->visit(walk->context, walk->app, user);
}

static int visit_users_of(void *context, const char *app)
{
    struct user_walk *walk = context;

    walk->app = app;
    return is_meant(walk->run, app) ? each_name(walk->run, app, visit_user_of, walk) : EXIT_OK;
}

int each_user(struct run *run, visit_owner *visit, void *context)
{
    struct user_walk walk = {run, NULL, visit, context};
    return each_name(run, NULL, visit_users_of, &walk);
}

/* ----------------------------------------------------------------------------------------------- sessions */

struct app_walk {
    struct run *run;
    const struct sessions *sessions;
    int64_t count;
};

static int visit_page(const struct app_walk *walk, const ses_page *page)
{
    int status = EXIT_OK;

    for (size_t i = 0; status == EXIT_OK && i < ses_page_count(page); i++)
        status = walk->sessions->visit(walk->sessions->context, ses_page_session(page, i));
    return status;
}

static int walk_app(void *context, const char *app)
{
    const struct app_walk *walk = context;
    struct run *run = walk->run;
    ses_list_options options = {.size = sizeof options,
                                .order = walk->sessions->order,
                                .limit = walk->sessions->with_state ? 100 : 1000,
                                .flags = walk->sessions->with_state ? 0 : SES_LIST_NO_STATE,
                                .filter = walk->sessions->filter};
    char *token = NULL;
    int status = EXIT_OK;

    if (!is_meant(run, app))
        return EXIT_OK;
    do {
        ses_page *page = NULL;
        options.token = token;
        if (ses_list(run->store, app, run->values[OPTION_USER], &options, &page, &run->error) < 0)
            status = fail(run);
        else
            status = visit_page(walk, page);
        const char *next = status == EXIT_OK ? ses_page_token(page) : NULL;
        free(token);
        token = next ? copy_text(next) : NULL;
        ses_page_close(page);
    } while (token);
    return status;
}

int each_session(struct run *run, const struct sessions *sessions)
{
    struct app_walk walk = {run, sessions, 0};
    return each_name(run, NULL, walk_app, &walk);
}

static int count_app(void *context, const char *app)
{
    struct app_walk *walk = context;
    struct run *run = walk->run;
    int64_t count = 0;

    if (!is_meant(run, app))
        return EXIT_OK;
    if (ses_list_count(run->store, app, run->values[OPTION_USER], walk->sessions->filter, NULL, &count,
                       &run->error) < 0)
        return fail(run);
    walk->count += count;
    return EXIT_OK;
}

int count_sessions(struct run *run, const struct sessions *sessions, int64_t *count)
{
    struct app_walk walk = {run, sessions, 0};
    int status = each_name(run, NULL, count_app, &walk);

    *count = walk.count;
    return status;
}
