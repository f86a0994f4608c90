/* JSON lines, written by the library from one snapshot. They hold everything in a store. */
#include <stdio.h>

#include "export/export.h"
#include "files/whole_file.h"
#include "output/out.h"
#include "output/progress.h"

struct lines_export {
    struct export *export;
    struct whole_file file;
    int64_t left_out; /* versions of artifacts */
};

/* Further ones are only counted. */
enum { MAX_SHOWN = 10 };

static int write_lines(void *context, const char *data, size_t len, ses_error *error)
{
    struct lines_export *own = context;

    if (own->export->path)
        return whole_file_write(&own->file, data, len, error);
    out_text(data, len);
    return ferror(stdout) ? SES_IO : SES_OK;
}

static int report_progress(void *context, int64_t sessions, int64_t events)
{
    struct export *export = context;

    export->sessions = sessions;
    export->events = events;
    progress_set(events, -1);
    return 0;
}

static int note_left_out(void *context, const ses_error *why)
{
    struct lines_export *own = context;
    const bool damaged = why->code == SES_CORRUPT;

    own->export->damaged += damaged;
    own->left_out += !damaged;
    if (damaged || own->left_out <= MAX_SHOWN)
        say("left out: %s", why->message);
    return 0;
}

int export_lines(struct export *export)
{
    struct run *run = export->run;
    struct lines_export own = {.export = export};
    const bool replace = given(run, OPTION_REPLACE);
    const ses_export_options options = {.size = sizeof options,
                                        .flags = given(run, OPTION_SKIP) ? SES_EXPORT_SKIP : 0,
                                        .app = run->key.app,
                                        .user = run->key.user,
                                        .session = run->key.session,
                                        .progress = report_progress,
                                        .progress_context = export,
                                        .left_out = note_left_out,
                                        .left_out_context = &own};

    if (export->path && whole_file_begin(&own.file, export->path, WHOLE_TEXT, replace, &run->error) < 0)
        return fail(run);
    progress_begin("exporting");
    int code = ses_store_export(run->store, &options, write_lines, &own, &run->error);
    progress_end();
    if (export->path)
        code = whole_file_end(&own.file, code, &run->error);
    if (code < 0 && !export->path && ferror(stdout))
        return EXIT_FAILED; /* out_flush printed why */
    if (code < 0)
        return fail(run);
    if (own.left_out == 0)
        return EXIT_OK;
    say("%s of artifacts left out; a newer seslite, or a backup, has them", counted(own.left_out, "version"));
    return EXIT_FAILED;
}
