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
               {"sqlite", export_sqlite},
               {"markdown", export_markdown}};

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

typedef int run_format(struct export *export);

/* The folder comes first, so that nothing is written if it cannot be. */
static int run_with_artifacts(struct export *export, run_format *format)
{
    struct run *run = export->run;
    struct artifact_tree tree;

    if (artifact_tree_begin(&tree, run->values[OPTION_ARTIFACTS], &run->error) < 0)
        return fail(run);
    int status = format(export);
    if (status == EXIT_OK)
        status = export_artifacts(export, &tree);
    artifact_tree_end(&tree, status != EXIT_OK);
    return status;
}

/* JSON lines have the artifacts in them, and Markdown names the files of events. */
static int run_without(struct export *export, run_format *format)
{
    const bool is_told = format == export_lines || format == export_markdown;
    const int status = format(export);
    return status == EXIT_OK && !is_told ? export_artifacts(export, NULL) : status;
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
        return say_usage(run, "--to takes jsonl, session, vertex, sqlite or markdown, not \"%s\"", wanted);
    export.format = formats[i].name;
    if (export.path && is_of_store(run, export.path))
        return say_usage(run, "%s is the store itself or one of its files", export.path);
    if (wants_json(run) && !export.path)
        return say_usage(run, "--json prints the report: give a file for the export with --output");
    int status = open_to_read(run);
    export.writing.store = run->store;
    if (status == EXIT_OK)
        status = choose_scope(run);
    if (status == EXIT_OK)
        status = given(run, OPTION_ARTIFACTS) ? run_with_artifacts(&export, formats[i].run)
                                              : run_without(&export, formats[i].run);
    if (status == EXIT_OK)
        status = export_report(&export);
    if (export.damaged == 0)
        return status;
    say("%s left out because of damage; seslite check says more", counted(export.damaged, "part"));
    return status == EXIT_OK ? EXIT_FAILED : status;
}
