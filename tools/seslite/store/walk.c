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
        status = walk->sessions->visit(walk->sessions->context, page, i);
    return status;
}

static int read_page(struct run *run, const struct sessions *sessions, const char *app, const char *token,
                     ses_page **page)
{
    const ses_list_options options = {.size = sizeof options,
                                      .order = sessions->order,
                                      .limit = sessions->page_size ? sessions->page_size : 1000,
                                      .flags = SES_LIST_NO_STATE |
                                               (sessions->with_previews ? SES_LIST_PREVIEW : 0),
                                      .filter = sessions->filter,
                                      .token = token};

    return ses_list(run->store, app, run->values[OPTION_USER], &options, page, &run->error) < 0 ? fail(run)
                                                                                                : EXIT_OK;
}

static int walk_app(void *context, const char *app)
{
    const struct app_walk *walk = context;
    struct run *run = walk->run;
    char *token = NULL;
    int status = EXIT_OK;

    if (!is_meant(run, app))
        return EXIT_OK;
    do {
        ses_page *page = NULL;
        status = read_page(run, walk->sessions, app, token, &page);
        if (status == EXIT_OK)
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

/* The list of each app, as far as it was walked. */
struct app_list {
    char *app;
    ses_page *page; /* NULL at the end */
    size_t at;
};

struct merge {
    struct run *run;
    const struct sessions *sessions;
    struct app_list *lists;
    size_t count;
    size_t capacity;
};

static int add_list(void *context, const char *app)
{
    struct merge *merge = context;

    if (!is_meant(merge->run, app))
        return EXIT_OK;
    merge->lists = enlarge(merge->lists, merge->count, &merge->capacity, sizeof *merge->lists);
    struct app_list *list = &merge->lists[merge->count++];
    *list = (struct app_list){.app = copy_text(app)};
    return read_page(merge->run, merge->sessions, app, NULL, &list->page);
}

/* Moves the list to its next session. */
static int move_on(const struct merge *merge, struct app_list *list)
{
    ses_page *page = list->page;
    const char *token = ses_page_token(page);
    int status = EXIT_OK;

    if (++list->at < ses_page_count(page))
        return EXIT_OK;
    list->at = 0;
    list->page = NULL;
    if (token)
        status = read_page(merge->run, merge->sessions, list->app, token, &list->page);
    ses_page_close(page);
    return status;
}

/* The smaller it is, the earlier the session comes. */
static int64_t place_of(const struct merge *merge, const struct app_list *list)
{
    const ses_session *session = ses_page_session(list->page, list->at);

    switch (merge->sessions->order) {
    case SES_ORDER_CHANGED:
        return -ses_page_changed_us(list->page, list->at);
    case SES_ORDER_NEWEST:
        return -ses_session_updated_us(session);
    case SES_ORDER_OLDEST:
        return ses_session_updated_us(session);
    default:
        return ses_session_created_us(session);
    }
}

/* The list with the first of the sessions that are left; NULL if none is. Ties are by id. */
static struct app_list *find_first(const struct merge *merge)
{
    struct app_list *first = NULL;

    for (size_t i = 0; i < merge->count; i++) {
        struct app_list *list = &merge->lists[i];
        if (!list->page || ses_page_count(list->page) == 0)
            continue;
        const int64_t place = place_of(merge, list);
        const int64_t best = first ? place_of(merge, first) : 0;
        if (!first || place < best ||
            (place == best && strcmp(ses_session_id(ses_page_session(list->page, list->at)),
                                     ses_session_id(ses_page_session(first->page, first->at))) < 0))
            first = list;
    }
    return first;
}

int each_session_merged(struct run *run, const struct sessions *sessions)
{
    struct merge merge = {.run = run, .sessions = sessions};
    struct app_list *first = NULL;
    int status = each_name(run, NULL, add_list, &merge);

    while (status == EXIT_OK && (first = find_first(&merge)) != NULL) {
        status = sessions->visit(sessions->context, first->page, first->at);
        if (status == EXIT_OK)
            status = move_on(&merge, first);
    }
    for (size_t i = 0; i < merge.count; i++) {
        ses_page_close(merge.lists[i].page);
        free(merge.lists[i].app);
    }
    free(merge.lists);
    return status;
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
