#include "store/missing.h"

#include <string.h>

#include "output/out.h"
#include "store/choose.h"
#include "store/walk.h"

enum { NAMES_SHOWN = 10 };

static int open_names(struct run *run, const char *app, const ses_names_options *options, ses_names **names)
{
    return app ? ses_list_users(run->store, app, options, names, NULL)
               : ses_list_apps(run->store, options, names, NULL);
}

bool name_is_there(struct run *run, const char *app, const char *name)
{
    const ses_names_options options = {.size = sizeof options, .limit = 1, .prefix = name};
    ses_names *names = NULL;
    bool there = open_names(run, app, &options, &names) >= 0 && ses_names_count(names) > 0 &&
                 strcmp(ses_names_at(names, 0), name) == 0;

    ses_names_close(names);
    return there;
}

void note_names(struct run *run, const char *app)
{
    const ses_names_options options = {.size = sizeof options, .limit = NAMES_SHOWN};
    struct text line = {NULL, 0, 0};
    ses_names *names = NULL;

    if (open_names(run, app, &options, &names) < 0)
        return;
    if (app)
        text_print(&line, "The users of the app \"%s\" are:", app);
    else
        text_puts(&line, ses_names_count(names) > 0 ? "The apps are:" : "The store has no sessions.");
    for (size_t i = 0; i < ses_names_count(names); i++)
        text_print(&line, "%s \"%s\"", i > 0 ? "," : "", ses_names_at(names, i));
    if (ses_names_after(names))
        text_puts(&line, ", ...");
    note("%s", line.data);
    text_free(&line);
    ses_names_close(names);
}

/* -------------------------------------------------------------------------------------------- the options */

static int visit_app(void *context, const char *app)
{
    struct run *run = context;
    return name_is_there(run, app, run->values[OPTION_USER]) ? STOP : EXIT_OK;
}

bool say_missing(struct run *run)
{
    const char *app = run->values[OPTION_APP];
    const char *user = run->values[OPTION_USER];

    if (app && !name_is_there(run, NULL, app)) {
        say("no app \"%s\"", app);
        note_names(run, NULL);
        return true;
    }
    if (!user || (app ? name_is_there(run, app, user) : each_name(run, NULL, visit_app, run) != EXIT_OK))
        return false;
    say("no user \"%s\"%s%s%s", user, app ? " in the app \"" : "", app ? app : "", app ? "\"" : "");
    note_names(run, app);
    return true;
}
