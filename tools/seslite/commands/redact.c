/* seslite redact */
#include "commands.h"

#include <stdlib.h>

#include "output/deleting.h"
#include "output/progress.h"
#include "seslite_erase.h"
#include "store/choose.h"
#include "store/numbers.h"
#include "store/walk.h"
#include "text/find.h"

/* Redacts events by their numbers, or the pieces that the finder finds. */
struct redacting {
    struct run *run;
    int64_t *numbers; /* NULL: all events */
    size_t count;
    struct finder finder;
    ses_redact_options options;
    ses_erased sum;
    int64_t forks_left;
    bool log_kept;
};

/* -------------------------------------------------------------------------------------------- the options */

static int take_finder(struct redacting *own)
{
    struct run *run = own->run;
    const char *text = run->values[OPTION_FIND_TEXT];
    struct text why = {NULL, 0, 0};
    int status = EXIT_OK;

    if (text && !text[0])
        return say_usage(run, "--text is empty");
    if (!finder_begin(&own->finder, text, run->values[OPTION_PATTERN], given(run, OPTION_IGNORE_CASE), &why))
        status = say_usage(run, "--pattern: %s", why.data);
    text_free(&why);
    if (status == EXIT_OK) {
        own->options.find = finder_find;
        own->options.find_context = &own->finder;
    }
    return status;
}

/* Where all sessions of an app are visited, the copies are, too: a dry run would count them once for each
 * relative. */
static bool takes_forks(const struct run *run)
{
    const bool visits_all = given(run, OPTION_EVERYTHING) && !given(run, OPTION_USER);
    return given(run, OPTION_FORKS) && !(visits_all && given(run, OPTION_DRY_RUN));
}

/* Exactly one of the three says what is redacted. */
static int take_options(struct redacting *own)
{
    struct run *run = own->run;
    const int ways = given(run, OPTION_EVENTS) + given(run, OPTION_FIND_TEXT) + given(run, OPTION_PATTERN);

    own->options = (ses_redact_options){.size = sizeof own->options,
                                        .flags = (given(run, OPTION_REDACT_STATE) ? SES_REDACT_STATE : 0U) |
                                                 (takes_forks(run) ? SES_REDACT_FORKS : 0U) |
                                                 (given(run, OPTION_REDACT_NAMES) ? SES_REDACT_NAMES : 0U) |
                                                 (given(run, OPTION_SECURE) ? SES_SECURE : 0U) |
                                                 (given(run, OPTION_DRY_RUN) ? SES_REDACT_DRY_RUN : 0U),
                                        .text = run->values[OPTION_WITH]};
    if (ways != 1)
        return say_usage(run, "redact needs one of --events, --text and --pattern");
    if (given(run, OPTION_EVERYTHING) &&
        (given(run, OPTION_EVENTS) || given(run, OPTION_SESSION) || !given(run, OPTION_APP)))
        return say_usage(run,
                         "--everything needs --app, for all of one user also --user, --text or --pattern, "
                         "and no session");
    if (given(run, OPTION_REDACT_NAMES) && (given(run, OPTION_EVENTS) || !given(run, OPTION_REDACT_STATE)))
        return say_usage(run, "--names needs --state, and --text or --pattern");
    return given(run, OPTION_EVENTS) ? numbers_given(run, &own->numbers, &own->count) : take_finder(own);
}

/* ---------------------------------------------------------------------------------------------- redacting */

static int redact_session(struct redacting *own, const ses_key *key)
{
    struct run *run = own->run;
    ses_erased erased = {.size = sizeof erased};
    const int code =
        ses_redact_by_key(run->store, key, own->numbers, own->count, &own->options, &erased, &run->error);

    if (code < 0)
        return fail(run);
    own->log_kept |= code == SES_MORE;
    erased_add(&own->sum, &erased);
    if (!given(run, OPTION_FORKS))
        own->forks_left += erased.forks_left > 0 ? erased.forks_left : 0;
    progress_set(own->sum.events, 0);
    return EXIT_OK;
}

static int visit(void *context, const ses_page *page, size_t at)
{
    const ses_session *session = ses_page_session(page, at);
    const ses_key key = {ses_session_app(session), ses_session_user(session), ses_session_id(session)};
    return redact_session(context, &key);
}

static int redact_everything(struct redacting *own)
{
    const struct sessions sessions = {.order = SES_ORDER_CREATED, .visit = visit, .context = own};
    return each_session(own->run, &sessions);
}

static int report(struct redacting *own)
{
    struct run *run = own->run;
    const bool dry = given(run, OPTION_DRY_RUN);
    struct json json;

    own->sum.forks_left = own->forks_left;
    if (own->log_kept)
        report_log_kept();
    if (wants_json(run)) {
        json_begin(&json, run, '{');
        json_number(&json, "redacted", own->sum.events);
        json_bool(&json, "dryRun", dry);
        erased_json(&json, &own->sum);
        return json_print_object(&json);
    }
    note("%s %s redacted.", counted(own->sum.events, "event"),
         dry                    ? "would be"
         : own->sum.events == 1 ? "was"
                                : "were");
    if (own->sum.state_keys > 0)
        note("%s in stored state %s replaced.", counted(own->sum.state_keys, "value"),
             dry                        ? "would be"
             : own->sum.state_keys == 1 ? "was"
                                        : "were");
    note_left(&own->sum);
    return EXIT_OK;
}

static int redact_chosen(struct redacting *own)
{
    struct run *run = own->run;
    const bool all = given(run, OPTION_EVERYTHING);
    int status = all ? (given(run, OPTION_USER) ? choose_user(run) : choose_app(run)) : choose_session(run);

    if (status == EXIT_OK && !given(run, OPTION_DRY_RUN))
        status = all ? confirm(run, "Redact the sessions of %s for good",
                               run->key.user ? run->key.user : run->key.app)
                     : confirm(run, "Redact events of %s for good", run->key.session);
    if (status != EXIT_OK)
        return status;
    progress_begin("redacting events");
    status = all ? redact_everything(own) : redact_session(own, &run->key);
    progress_end();
    return status == EXIT_OK ? report(own) : status;
}

int run_redact(struct run *run)
{
    struct redacting own = {.run = run, .sum = {.size = sizeof own.sum}};
    int status = take_options(&own);

    if (status == EXIT_OK)
        status = open_to_write(run);
    if (status == EXIT_OK)
        status = redact_chosen(&own);
    if (own.options.find)
        finder_end(&own.finder);
    free(own.numbers);
    return status;
}
