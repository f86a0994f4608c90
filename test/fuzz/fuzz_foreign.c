/*
 * Files of other programs: whatever the bytes, a file is imported or refused with a message, the store stays
 * sound, and importing the file again stores nothing new.
 */
#include "fuzz.h"

#include "command.h"
#include "import/foreign.h"

static int64_t import(struct run *run, const char *path)
{
    const ses_import_options options = {.size = sizeof options, .flags = SES_IMPORT_SKIP | SES_IMPORT_RENAME};
    struct foreign_notes unread = {.muted = true};
    struct import_report report;
    struct opened_file opened;
    int64_t made = 0;
    int code = file_open(path, false, &unread, &opened, &run->error);

    must_tell(code, &run->error);
    if (code != SES_OK)
        return 0;
    if (opened.kind == OPENED_FOREIGN) {
        report_begin(&report, run, "file");
        opened.file.notes = &report.notes;
        report.format = opened.format->name;
        report.words = opened.format->words;
        code = foreign_import(run, &opened, &options, &report, &run->error);
        must_tell(code, &run->error);
        made = report.counts.made + report.counts.updated + report.counts.keys;
        (void)report_end(&report, NULL);
    }
    file_close(&opened);
    return code == SES_OK ? made : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_path("file");
    const ses_check_options options = {.size = sizeof options, .level = SES_CHECK_LOG};
    struct run run = {.values = {[OPTION_SKIP] = "", [OPTION_RENAME] = ""}};
    int64_t problems = -1;

    run.store = fuzz_store();
    fuzz_file_write(path, data, size);
    if (import(&run, path) > 0) {
        must(ses_store_check(run.store, &options, &problems, NULL) == SES_OK && problems == 0);
        must(import(&run, path) <= 0);
    }
    ses_close(run.store);
    fuzz_remove(path);
    return 0;
}
