/* Chooses the session. The store has no call that finds an id under any user, so the lists are walked. */
#include "store/choose.h"

#include <stdlib.h>
#include <string.h>

#include "output/out.h"
#include "store/missing.h"
#include "store/walk.h"
#include "text/nearest.h"
#include "text/text.h"

enum { CHOICES = 10 /* printed at most */ };

/* The matches found so far; the first ones are kept. */
struct choices {
    struct run *run;
    size_t count;
    char *apps[CHOICES + 1];
    char *users[CHOICES + 1];
    char *sessions[CHOICES + 1];
    struct nearest nearest; /* nearest to the given id or name */
    bool near;
    bool exact; /* the kept ids equal the given one; otherwise they begin with it */
};

static void keep(struct choices *choices, const char *app, const char *user, const char *session)
{
    if (choices->count > CHOICES)
        return;
    choices->apps[choices->count] = copy_text(app);
    choices->users[choices->count] = user ? copy_text(user) : NULL;
    choices->sessions[choices->count] = session ? copy_text(session) : NULL;
    choices->count++;
}

static void forget(struct choices *choices)
{
    for (size_t i = 0; i < choices->count; i++) {
        free(choices->apps[i]);
        free(choices->users[i]);
        free(choices->sessions[i]);
    }
    choices->count = 0;
}

static void choices_free(struct choices *choices)
{
    forget(choices);
    nearest_free(&choices->nearest);
}

static void try_near(struct choices *choices, const char *text)
{
    if (choices->near)
        nearest_try(&choices->nearest, text);
}

/* --------------------------------------------------------------------------------------------- the choice */

static int report_none(struct choices *choices, const char *what)
{
    struct run *run = choices->run;
    const char *wanted = choices->near ? choices->nearest.wanted : NULL;

    if (wanted && choices->nearest.best)
        say("no %s \"%s\". Did you mean \"%s\"?", what, wanted, choices->nearest.best);
    else if (say_missing(run))
        return EXIT_NOTFOUND;
    else if (wanted)
        say("no %s \"%s\"", what, wanted);
    else
        say("no %s%s%s%s%s", what, run->values[OPTION_USER] ? " of the user " : "",
            run->values[OPTION_USER] ? run->values[OPTION_USER] : "",
            run->values[OPTION_APP] ? " in the app " : "",
            run->values[OPTION_APP] ? run->values[OPTION_APP] : "");
    return EXIT_NOTFOUND;
}

/* Adds a word quoted for a shell. */
static void add_word(struct text *line, const char *option, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,:/@%+=";

    text_puts(line, option);
    if (strspn(word, plain) == strlen(word)) {
        text_puts(line, word);
        return;
    }
    text_puts(line, "'");
    for (; *word; word++) {
        if (*word == '\'')
            text_puts(line, "'\\'");
        text_add(line, word, 1);
    }
    text_puts(line, "'");
}

static void report_choices(const struct choices *choices)
{
    for (size_t i = 0; i < choices->count && i < CHOICES; i++) {
        struct text line = {NULL, 0, 0};
        add_word(&line, "  --app ", choices->apps[i]);
        if (choices->users[i])
            add_word(&line, " --user ", choices->users[i]);
        if (choices->sessions[i])
            add_word(&line, " --session ", choices->sessions[i]);
        note("%s", line.data);
        text_free(&line);
    }
    if (choices->count > CHOICES)
        note("  ...");
}

/* Takes the names of the only choice, or prints the choices. */
static int decide(struct choices *choices, const char *what, const char *how)
{
    struct run *run = choices->run;

    if (choices->count == 0)
        return report_none(choices, what);
    if (choices->count > 1) {
        say("which %s? Name it with %s:", what, how);
        report_choices(choices);
        return EXIT_USAGE;
    }
    run->chosen[0] = choices->apps[0];
    run->chosen[1] = choices->users[0];
    run->chosen[2] = choices->sessions[0];
    run->key = (ses_key){run->chosen[0], run->chosen[1], run->chosen[2]};
    choices->count = 0;
    return EXIT_OK;
}

static void choices_begin(struct choices *choices, struct run *run, const char *wanted)
{
    *choices = (struct choices){.run = run};
    if (wanted) {
        nearest_begin(&choices->nearest, wanted);
        choices->near = true;
    }
}

/* ----------------------------------------------------------------------------------------- apps and users */

static int visit_app(void *context, const char *name)
{
    struct choices *choices = context;
    const char *wanted = choices->run->values[OPTION_APP];

    try_near(choices, name);
    if (!wanted || strcmp(wanted, name) == 0)
        keep(choices, name, NULL, NULL);
    return EXIT_OK;
}

int choose_app(struct run *run)
{
    struct choices choices;

    choices_begin(&choices, run, run->values[OPTION_APP]);
    int status = each_name(run, NULL, visit_app, &choices);
    if (status == EXIT_OK)
        status = decide(&choices, "app", "--app");
    choices_free(&choices);
    return status;
}

static int look_at_user(void *context, const char *app, const char *user)
{
    struct choices *choices = context;
    const char *wanted = choices->run->values[OPTION_USER];

    try_near(choices, user);
    if (!wanted || strcmp(wanted, user) == 0)
        keep(choices, app, user, NULL);
    return EXIT_OK;
}

int choose_user(struct run *run)
{
    struct choices choices;

    choices_begin(&choices, run, run->values[OPTION_USER]);
    int status = each_user(run, look_at_user, &choices);
    if (status == EXIT_OK)
        status = decide(&choices, "user", "--user (and --app)");
    choices_free(&choices);
    return status;
}

/* ----------------------------------------------------------------------------------------------- sessions */

static bool is_newest_meant(const struct run *run)
{
    return given(run, OPTION_SESSION) && strcmp(run->values[OPTION_SESSION], "@") == 0;
}

/* A session with exactly this id hides those whose ids only begin with it. */
static int look_at_session(void *context, const ses_page *page, size_t at)
{
    const ses_session *session = ses_page_session(page, at);
    struct choices *choices = context;
    const char *wanted = choices->run->values[OPTION_SESSION];
    const char *id = ses_session_id(session);
    bool exact = !wanted || strcmp(wanted, id) == 0;

    try_near(choices, id);
    if (!exact &&
        (choices->exact || is_newest_meant(choices->run) || strncmp(wanted, id, strlen(wanted)) != 0))
        return EXIT_OK;
    if (exact && !choices->exact)
        forget(choices);
    choices->exact = exact;
    keep(choices, ses_session_app(session), ses_session_user(session), id);
    return exact && choices->count > CHOICES ? STOP : EXIT_OK;
}

/* Sets *known if all three names are given and the session exists. */
static int look_up(struct run *run, bool *known)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_get_options options = {.size = sizeof options, .range = &none};
    const ses_key key = {run->values[OPTION_APP], run->values[OPTION_USER], run->values[OPTION_SESSION]};
    ses_session *session = NULL;

    *known = false;
    if (!key.app || !key.user || !key.session)
        return EXIT_OK;
    int code = ses_get(run->store, &key, &options, &session, &run->error);
    ses_session_close(session);
    if (code < 0 && code != SES_NOTFOUND)
        return fail(run);
    *known = code >= 0;
    if (*known)
        run->key = key;
    return EXIT_OK;
}

/* With --yes an id must be complete: nobody confirms the session that was found, and a script that runs twice
 * would delete another one. So must it be where another session would get what was meant for a missing
 * one. */
static int decide_session(struct choices *choices)
{
    struct run *run = choices->run;
    const bool begun = choices->count > 0 && !choices->exact;

    if (begun && (given(run, OPTION_YES) || run->command->whole_id)) {
        say("no session \"%s\", and %s the id must be complete. %s:", run->values[OPTION_SESSION],
            run->command->whole_id ? "here" : "with --yes",
            is_newest_meant(run) ? "The newest is" : "These begin with it");
        report_choices(choices);
        return EXIT_NOTFOUND;
    }
    int status = decide(choices, "session", "--session (and --user, --app)");
    if (status == EXIT_OK && begun)
        note("(session %s)", run->key.session);
    return status;
}

static int keep_first(void *context, const ses_page *page, size_t at)
{
    const ses_session *session = ses_page_session(page, at);
    keep(context, ses_session_app(session), ses_session_user(session), ses_session_id(session));
    return STOP;
}

/* "@" is the session that was written last, unless one has that id. */
static int keep_newest(struct choices *choices)
{
    const struct sessions sessions = {
        .order = SES_ORDER_CHANGED, .page_size = 1, .visit = keep_first, .context = choices};

    return each_session_merged(choices->run, &sessions);
}

int choose_session(struct run *run)
{
    struct choices choices;
    const struct sessions sessions = {
        .order = SES_ORDER_CREATED, .visit = look_at_session, .context = &choices};
    bool known = false;
    int status = look_up(run, &known);

    if (status != EXIT_OK || known)
        return status;
    choices_begin(&choices, run, run->values[OPTION_SESSION]);
    status = each_session(run, &sessions);
    if (status == EXIT_OK && choices.count == 0 && is_newest_meant(run))
        status = keep_newest(&choices);
    if (status == EXIT_OK || status == STOP)
        status = decide_session(&choices);
    choices_free(&choices);
    return status;
}

int open_session_to_read(struct run *run)
{
    int status = open_to_read(run);
    return status == EXIT_OK ? choose_session(run) : status;
}

int open_session_to_write(struct run *run)
{
    int status = open_to_write(run);
    return status == EXIT_OK ? choose_session(run) : status;
}
