/* seslite backup */
#include "commands.h"

#include <sys/stat.h>

#include "files/key.h"
#include "files/signals.h"
#include "output/json.h"
#include "output/out.h"
#include "output/progress.h"
#include "store/choose.h"

static int report_backup(struct run *run, const char *path)
{
    struct stat file;
    struct json json;
    long long bytes = stat(path, &file) == 0 ? (long long)file.st_size : 0;

    if (!wants_json(run)) {
        note("Wrote %s, %lld bytes.", path, bytes);
        return EXIT_OK;
    }
    json_begin(&json, run, '{');
    json_text(&json, "file", path);
    json_number(&json, "bytes", bytes);
    return json_print_object(&json);
}

static int report_progress(void *context, int64_t done, int64_t total)
{
    (void)progress_report(context, done, total);
    return stop_is_asked();
}

static int back_up(struct run *run, const unsigned char *key)
{
    const char *path = run->arguments[0];
    const ses_backup_options options = {.size = sizeof options,
                                        .flags = (given(run, OPTION_REPLACE) ? SES_BACKUP_REPLACE : 0u) |
                                                 (given(run, OPTION_COMPACT) ? SES_BACKUP_COMPACT : 0u) |
                                                 (given(run, OPTION_PLAIN) ? SES_BACKUP_PLAIN : 0u),
                                        .progress = report_progress,
                                        .key = key,
                                        .key_len = key ? SES_KEY_BYTES : 0};
    int status = open_to_read(run);

    if (status != EXIT_OK)
        return status;
    stop_watch();
    progress_begin("copying pages");
    int code = ses_store_backup(run->store, path, &options, &run->error);
    progress_end();
    if (code == SES_INTERRUPTED)
        stop_now();
    if (code == SES_EXISTS)
        say("%s already exists: name another file, or pass --replace", path);
    if (code < 0)
        return code == SES_EXISTS ? EXIT_EXISTS : fail(run);
    return report_backup(run, path);
}

int run_backup(struct run *run)
{
    const bool has_key = given(run, OPTION_TO_KEY_FD);
    unsigned char key[SES_KEY_BYTES];

    if (has_key && given(run, OPTION_PLAIN))
        return say_usage(run, "--to-key-fd and --plain cannot be combined");
    int status = has_key ? read_key(run, OPTION_TO_KEY_FD, key) : EXIT_OK;
    if (status == EXIT_OK)
        status = back_up(run, has_key ? key : NULL);
    key_wipe(key, sizeof key);
    return status;
}
