/* seslite memory list, memory search, memory add and memory forget */
#include "commands.h"

#include <stdlib.h>

#include "output/deleting.h"
#include "search/found.h"
#include "seslite_memory.h"
#include "store/choose.h"
#include "store/numbers.h"
#include "text/times.h"

enum { SNIPPET = 300 };

/* ------------------------------------------------------------------------------------- list, and search */

static int print_hits(struct run *run, const ses_hits *hits)
{
    struct found found;
    int status = EXIT_OK;

    found_begin(&found, run);
    for (size_t i = 0; status == EXIT_OK && i < ses_hits_count(hits); i++) {
        const ses_hit *hit = ses_hits_at(hits, i);
        const ses_key key = {run->key.app, hit->user, hit->session};
        const ses_event event = {.seq = hit->seq,
                                 .time_us = hit->time_us,
                                 .id = hit->id,
                                 .author = hit->author,
                                 .json = hit->json,
                                 .json_len = hit->json_len};
        status = found_add(&found, &key, &event, hit->snippet, hit->snippet_len, hit->snippet_found);
    }
    found_end(&found);
    return status == EXIT_OK && found.count == 0 ? EXIT_NOTFOUND : status;
}

/* Without a query it lists. */
static int show_memory(struct run *run, const char *query)
{
    int64_t since_us = 0;
    int64_t before_us = 0;
    ses_memory_options options = {.size = sizeof options,
                                  .project = run->values[OPTION_PROJECT],
                                  .limit = (size_t)number_given(run, OPTION_LIMIT, query ? 10 : 100),
                                  .snippet_bytes = SNIPPET};
    ses_hits *hits = NULL;
    int code;

    if (given(run, OPTION_SINCE) && time_read(run->values[OPTION_SINCE], &since_us))
        options.since_us = &since_us;
    if (given(run, OPTION_BEFORE) && time_read(run->values[OPTION_BEFORE], &before_us))
        options.before_us = &before_us;
    if (options.limit == 0)
        return say_usage(run, "-n is at least 1 here");
    int status = open_to_search(run);
    if (status == EXIT_OK)
        status = choose_user(run);
    if (status != EXIT_OK)
        return status;
    if (query)
        code = ses_memory_search(run->store, run->key.app, run->key.user, query, SES_NUL, &options, &hits,
                                 &run->error);
    else
        code = ses_memory_list(run->store, run->key.app, run->key.user, &options, &hits, &run->error);
    status = code < 0 ? fail(run) : print_hits(run, hits);
    ses_hits_close(hits);
    return status;
}

int run_memory_list(struct run *run)
{
    return show_memory(run, NULL);
}

int run_memory_search(struct run *run)
{
    return show_memory(run, run->arguments[0]);
}

/* ---------------------------------------------------------------------------------------------------- add */

/* The user may be new: a note can be the first that is kept of somebody. */
static int choose_owner(struct run *run)
{
    if (given(run, OPTION_SESSION))
        return choose_session(run);
    run->key.session = NULL;
    return given(run, OPTION_APP) && given(run, OPTION_USER) ? EXIT_OK : choose_user(run);
}

int run_memory_add(struct run *run)
{
    const ses_memory_add_options options = {.size = sizeof options, .project = run->values[OPTION_PROJECT]};
    const char *text = run->argument_count > 0 ? run->arguments[0] : NULL;

    if (text ? given(run, OPTION_UP_TO) : !given(run, OPTION_SESSION) || given(run, OPTION_PROJECT))
        return say_usage(run, text ? "--up-to is for a session, without a text"
                                   : "memory add needs a text, or --session without --project");
    int status = open_to_write(run);
    if (status == EXIT_OK)
        status = choose_owner(run);
    if (status != EXIT_OK)
        return status;
    const int code = text ? ses_memory_add(run->store, &run->key, text, SES_NUL, &options, &run->error)
                          : ses_memory_add_session(run->store, &run->key, number_given(run, OPTION_UP_TO, 0),
                                                   NULL, &run->error);
    return code < 0 ? fail(run) : EXIT_OK;
}

/* ------------------------------------------------------------------------------------------------- forget */

static int forget_events(struct run *run)
{
    int64_t *numbers = NULL;
    size_t count = 0;
    int status = numbers_given(run, &numbers, &count);

    if (status == EXIT_OK)
        status =
            confirm(run, "Forget %s of the session %s", counted((int64_t)count, "event"), run->key.session);
    if (status == EXIT_OK &&
        ses_memory_forget_events(run->store, &run->key, numbers, count, NULL, &run->error) < 0)
        status = fail(run);
    free(numbers);
    return status;
}

static int forget_all(struct run *run)
{
    ses_erased erased = {.size = sizeof erased};
    const ses_delete_options options = {
        .size = sizeof options, .flags = given(run, OPTION_SECURE) ? SES_SECURE : 0, .erased = &erased};
    const char *project = run->values[OPTION_PROJECT];
    const bool one = run->key.session != NULL;
    int status = confirm(run, "Forget what is remembered of the %s %s%s%s", one ? "session" : "user",
                         one ? run->key.session : run->key.user, project ? " in the project " : "",
                         project ? project : "");

    if (status != EXIT_OK)
        return status;
    const int code = ses_memory_forget(run->store, &run->key, project, &options, &run->error);
    if (code < 0)
        return fail(run);
    if (code == SES_MORE)
        report_log_kept();
    return report_erased(run, "session", erased.sessions, &erased);
}

int run_memory_forget(struct run *run)
{
    const bool events = given(run, OPTION_EVENTS);

    if (events && (!given(run, OPTION_SESSION) || given(run, OPTION_PROJECT) || given(run, OPTION_SECURE)))
        return say_usage(run, "--events needs --session, and neither --project nor --secure");
    int status = open_to_write(run);
    if (status == EXIT_OK && given(run, OPTION_SESSION))
        status = choose_session(run);
    else if (status == EXIT_OK)
        status = choose_user(run);
    if (status != EXIT_OK)
        return status;
    if (!given(run, OPTION_SESSION))
        run->key.session = NULL;
    return events ? forget_events(run) : forget_all(run);
}
