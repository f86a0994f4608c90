/* seslite import */
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "files/place.h"
#include "formats/formats.h"
#include "formats/times.h"
#include "import/artifacts.h"
#include "import/foreign.h"
#include "import/lines.h"
#include "output/deleting.h"
#include "output/progress.h"
#include "store/choose.h"

static unsigned flags_given(const struct run *run)
{
    return (given(run, OPTION_UPDATE) ? SES_IMPORT_UPDATE : 0u) |
           (given(run, OPTION_REPLACE) ? SES_IMPORT_REPLACE : 0u) |
           (given(run, OPTION_RENAME) ? SES_IMPORT_RENAME : 0u) |
           (given(run, OPTION_SKIP) ? SES_IMPORT_SKIP : 0u) |
           (given(run, OPTION_DRY_RUN) ? SES_IMPORT_DRY_RUN | SES_IMPORT_SKIP : 0u) |
           (given(run, OPTION_REPLACE_KEYS) ? SES_IMPORT_REPLACE_KEYS : 0u);
}

static ses_import_options options_given(const struct run *run)
{
    return (ses_import_options){.size = sizeof(ses_import_options),
                                .flags = flags_given(run),
                                .app = run->values[OPTION_TO_APP],
                                .user = run->values[OPTION_TO_USER]};
}

static int import_opened(struct run *run, struct opened_file *opened, struct import_report *report,
                         ses_error *error)
{
    const ses_import_options options = options_given(run);

    switch (opened->kind) {
    case OPENED_LINES:
        return lines_import(run, opened, &options, report, error);
    case OPENED_STORE:
        return store_import(run, opened->file.path, &run->key, &options, report, error);
    default:
        return foreign_import(run, opened, &options, report, error);
    }
}

static void describe(const struct opened_file *opened, struct import_report *report)
{
    report->format = opened->kind == OPENED_LINES   ? "seslite-lines"
                     : opened->kind == OPENED_STORE ? "seslite"
                                                    : opened->format->name;
    report->words = opened->kind == OPENED_LINES   ? "JSON lines of seslite"
                    : opened->kind == OPENED_STORE ? "a store of seslite"
                                                   : opened->format->words;
    report->not_in_file = opened->kind == OPENED_FOREIGN ? opened->format->not_in_file : NULL;
}

static int say_refused(const struct run *run, const struct import_report *report)
{
    if (report->first_code == 0 || given(run, OPTION_SKIP))
        return EXIT_OK;
    note("%s", given(run, OPTION_DRY_RUN) ? "--skip would leave these out."
                                          : "--skip leaves these out; seslite help import describes "
                                            "--update, --replace and --rename.");
    return exit_code_of(report->first_code);
}

/* Reports an error if --app, --user and --session select nothing. */
static int say_none(const struct run *run, const struct import_report *report, const char *path)
{
    const ses_import_report *counts = &report->counts;
    const bool chosen = run->key.app || run->key.user || run->key.session;
    const int64_t sessions =
        counts->made + counts->equal + counts->updated + counts->replaced + counts->renamed + counts->refused;

    if (!chosen || sessions > 0 || report->first_code != 0)
        return EXIT_OK;
    say("%s has no session that matches --app, --user and --session", path);
    return EXIT_NOTFOUND;
}

/* Imports into the open store, after the file was recognized. */
static int import_and_tell(struct run *run, struct opened_file *opened, const char *path,
                           struct json_rows *rows)
{
    struct import_report report;
    struct text shown = {NULL, 0, 0};

    place_add_clean(&shown, path);
    report_begin(&report, run, shown.data);
    opened->file.notes = &report.notes;
    describe(opened, &report);
    progress_begin("importing");
    int code = import_opened(run, opened, &report, &run->error);
    progress_end();
    if (code < 0)
        say("%s: %s", report.file, run->error.message);
    int status = code < 0 ? exit_code_of(code) : say_refused(run, &report);
    if (status == EXIT_OK)
        status = say_none(run, &report, path);
    int told = report_end(&report, rows);
    text_free(&shown);
    return status == EXIT_OK ? told : status;
}

/* A store that does not exist is created only after the file was checked, so that one that is refused leaves
 * none. */
static int open_to_import(struct run *run)
{
    return run->store ? EXIT_OK : open_or_create(run, given(run, OPTION_DRY_RUN) || import_is_checked(run));
}

/* Like a file, a folder is looked at as a whole before anything is written, unless --skip is given. */
static int walk_folder(struct run *run, const char *path, struct import_report *report)
{
    const ses_import_options options = options_given(run);
    int code = SES_OK;

    if (import_is_checked(run))
        code = artifacts_import(run, path, false, &options, report, &run->error);
    if (code != SES_OK || report->first_code != 0)
        return code;
    code = import_begin_writing(run);
    if (code != SES_OK)
        return code;
    report->links = 0;
    report->artifacts_seen = 0;
    return artifacts_import(run, path, true, &options, report, &run->error);
}

static int import_folder(struct run *run, const char *path, struct json_rows *rows)
{
    struct import_report report;

    if (artifact_folder_check(path, &run->error) < 0)
        return fail(run);
    int status = open_to_import(run);
    if (status != EXIT_OK)
        return status;
    report_begin(&report, run, path);
    report.is_folder = true;
    report.format = "adk-artifacts";
    report.words = "a folder of google-adk's FileArtifactService";
    progress_begin("importing");
    const int code = walk_folder(run, path, &report);
    progress_end();
    if (code < 0)
        say("%s", run->error.message);
    status = code < 0 ? exit_code_of(code) : say_refused(run, &report);
    if (status == EXIT_OK && report.artifacts_seen == 0 &&
        (run->key.app || run->key.user || run->key.session)) {
        say("%s has no artifact that matches --app, --user and --session", path);
        status = EXIT_NOTFOUND;
    }
    const int told = report_end(&report, rows);
    return status == EXIT_OK ? told : status;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int import_file(struct run *run, const char *path, struct json_rows *rows)
{
    struct foreign_notes notes = {.muted = true};
    struct opened_file opened;
    int status = EXIT_OK;

    if (is_of_store(run, path))
        return say_usage(run, "%s is the store itself or one of its files", path);
    if (is_folder(path))
        return import_folder(run, path, rows);
    int code = SES_OK;
    if (place_is_server(path))
        opened = (struct opened_file){.kind = OPENED_STORE, .file = {.path = path, .fd = -1}, .bytes = -1};
    else
        code = file_open(path, given(run, OPTION_ZONE), &notes, &opened, &run->error);
    if (code < 0) {
        say("%s%s%s", strstr(run->error.message, path) ? "" : path,
            strstr(run->error.message, path) ? "" : ": ", run->error.message);
        return exit_code_of(code);
    }
    if (opened.kind == OPENED_LINES && (run->key.app || run->key.user || run->key.session))
        status = say_usage(
            run, "JSON lines are imported as a whole: --app, --user and --session cannot select from them");
    if (status == EXIT_OK)
        status = open_to_import(run);
    if (status == EXIT_OK)
        status = import_and_tell(run, &opened, path, rows);
    file_close(&opened);
    return status;
}

static int check_options(struct run *run)
{
    if (given(run, OPTION_REPLACE) && given(run, OPTION_RENAME))
        return say_usage(run, "--replace and --rename cannot be combined");
    if (run->key.user && !run->key.app)
        return say_usage(run, "--user needs --app");
    if (run->key.session && !run->key.user)
        return say_usage(run, "--session needs --app and --user");
    if (given(run, OPTION_ZONE) && zone_set(run->values[OPTION_ZONE], &run->error) < 0)
        return fail(run);
    if (given(run, OPTION_REPLACE) && !given(run, OPTION_DRY_RUN))
        return confirm(run, "Delete sessions of the store that differ from those in the file");
    return EXIT_OK;
}

int run_import(struct run *run)
{
    struct json_rows rows = {run, 0};
    int status = place_given(run) ? check_options(run) : EXIT_USAGE;

    if (status != EXIT_OK)
        return status;
    if (wants_json(run))
        json_rows_begin(&rows, run);
    for (size_t i = 0; i < run->argument_count && status == EXIT_OK; i++)
        status = import_file(run, run->arguments[i], &rows);
    if (wants_json(run))
        json_rows_end(&rows);
    return status;
}
