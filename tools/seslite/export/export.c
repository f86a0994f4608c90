/* seslite export */
#include "export/export.h"

#include <string.h>

#include "commands.h"
#include "output/out.h"
#include "store/choose.h"

static const struct {
    const char *name;
    int (*run)(struct export *export);
} formats[] = {{"jsonl", export_lines},
               {"session", export_sessions},
               {"vertex", export_vertex},
               {"sqlite", export_sqlite}};

/* ------------------------------------------------------------------------------------------------ command */

/* Sets run->key to the selection: everything, an app, a user, or a session. */
static int choose_scope(struct run *run)
{
    run->key = (ses_key){run->values[OPTION_APP], run->values[OPTION_USER], run->values[OPTION_SESSION]};
    if (run->key.session)
        return choose_session(run);
    if (!run->key.user)
        return EXIT_OK;
    int status = choose_user(run);
    run->key.session = NULL;
    return status;
}

int run_export(struct run *run)
{
    const char *wanted = given(run, OPTION_FORMAT) ? run->values[OPTION_FORMAT] : formats[0].name;
    const char *path = run->values[OPTION_OUTPUT];
    struct export export = {.run = run, .path = path && strcmp(path, "-") != 0 ? path : NULL};
    size_t i = 0;

    while (i < sizeof formats / sizeof formats[0] && strcmp(formats[i].name, wanted) != 0)
        i++;
    if (i == sizeof formats / sizeof formats[0])
        return say_usage(run, "--to takes jsonl, session, vertex or sqlite, not \"%s\"", wanted);
    export.format = formats[i].name;
    if (export.path && is_of_store(run, export.path))
        return say_usage(run, "%s is the store itself or one of its files", export.path);
    if (wants_json(run) && !export.path)
        return say_usage(run, "--json prints the report: give a file for the export with --output");
    int status = open_to_read(run);
    if (status == EXIT_OK)
        status = choose_scope(run);
    if (status == EXIT_OK)
        status = formats[i].run(&export);
    return status == EXIT_OK ? export_report(&export) : status;
}
