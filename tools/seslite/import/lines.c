#include "import/lines.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "files/place.h"
#include "formats/bytes.h"
#include "import/spool.h"
#include "import/taken.h"
#include "output/progress.h"
#include "store/choose.h"
#include "text/refuse.h"

/* ------------------------------------------------------------------------------------------------ reading */

/* One walk over the lines. */
struct lines_reader {
    struct run *run;
    int fd;
    bool only_check; /* only look for rejections; write nothing and count nothing else */
    int64_t done;
    int64_t bytes; /* in total; -1 if unknown */
    struct import_report *report;
    struct index taken; /* names taken by the sessions checked so far */
};

static int read_lines(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    struct lines_reader *reader = context;
    ssize_t got;

    do
        got = read(reader->fd, buffer, capacity);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return refuse(error, SES_IO, "cannot read the lines: %s", strerror(errno));
    *len = (size_t)got;
    reader->done += got;
    progress_set(reader->done, reader->bytes);
    return SES_OK;
}

/* A dry run does not see the earlier sessions of the file, so their names are checked here. */
static void check_name(struct lines_reader *reader, const struct import_item *item)
{
    const ses_key key = {item->app, item->user, item->session};
    ses_error error;

    if (item->session && !item->artifact &&
        taken_claim(&reader->taken, &key, given(reader->run, OPTION_RENAME), &error) != SES_OK)
        report_refused(reader->report, item, &error);
}

static int note_item(void *context, const ses_import_item *item)
{
    struct lines_reader *reader = context;
    struct import_report *report = reader->report;
    const struct import_item own = {item->app, item->user, item->session, item->key, item->artifact};

    if (item->outcome == SES_IMPORTED_REFUSED)
        report_refused(report, &own, item->error);
    else if (reader->only_check)
        check_name(reader, &own);
    else if (item->outcome == SES_LOADED_RENAMED)
        report_renamed(report, &own, &(ses_key){item->app, item->user, item->loaded_as});
    else if (item->outcome == SES_IMPORTED_KEY_KEPT || item->outcome == SES_IMPORTED_KEY_REPLACED)
        report_key(report, &own, item->outcome == SES_IMPORTED_KEY_REPLACED);
    return 0;
}

static int import_from(struct lines_reader *reader, const ses_import_options *options, ses_error *error)
{
    ses_import_options own = *options;
    ses_import_report unread = {.size = sizeof unread};
    ses_import_report *counts = reader->only_check ? &unread : &reader->report->counts;

    own.flags |= reader->only_check ? SES_IMPORT_DRY_RUN | SES_IMPORT_SKIP : 0u;
    own.report = note_item;
    own.report_context = reader;
    counts->size = sizeof *counts;
    int code = ses_store_import(reader->run->store, read_lines, reader, &own, counts, error);
    /* The rejection has been reported with its name. */
    return code < 0 && !(own.flags & SES_IMPORT_SKIP) && code == reader->report->first_code ? SES_OK : code;
}

static int import_twice(struct lines_reader *reader, const ses_import_options *options, ses_error *error)
{
    const off_t start = lseek(reader->fd, 0, SEEK_CUR);
    int code = SES_OK;

    if (import_is_checked(reader->run)) {
        reader->bytes *= reader->bytes > 0 ? 2 : 1;
        reader->only_check = true;
        code = import_from(reader, options, error);
        reader->only_check = false;
        if (code == SES_OK && lseek(reader->fd, start, SEEK_SET) != start)
            code = refuse(error, SES_IO, "cannot read the lines again: %s", strerror(errno));
    }
    if (code != SES_OK || reader->report->first_code != 0)
        return code;
    code = import_begin_writing(reader->run);
    return code == SES_OK ? import_from(reader, options, error) : code;
}

int lines_import(struct run *run, const struct opened_file *opened, const ses_import_options *options,
                 struct import_report *report, ses_error *error)
{
    struct lines_reader reader = {.run = run, .bytes = opened->bytes, .report = report};
    int code = spool_input(opened->file.fd, &reader.fd, error);

    if (code != SES_OK)
        return code;
    code = import_twice(&reader, options, error);
    index_free(&reader.taken);
    if (reader.fd != opened->file.fd)
        (void)close(reader.fd);
    return code;
}

/* ------------------------------------------------------------------------------------------------ a store */

/* One thread exports the store and the other imports it, through a pipe of bounded size. */
struct exporter {
    ses_store *store;
    const ses_key *from;
    int fd;
    int code;
    ses_error error;
};

static int send_lines(void *context, const char *data, size_t len, ses_error *error)
{
    const struct exporter *exporter = context;

    return write_whole(exporter->fd, data, len) ? SES_OK
                                                : refuse(error, SES_INTERRUPTED, "the import has ended");
}

static void *export_store(void *context)
{
    struct exporter *exporter = context;
    const ses_export_options options = {.size = sizeof options,
                                        .app = exporter->from->app,
                                        .user = exporter->from->user,
                                        .session = exporter->from->session};

    exporter->code = ses_store_export(exporter->store, &options, send_lines, exporter, &exporter->error);
    (void)close(exporter->fd);
    return NULL;
}

/* Runs both ends at once. An error of the exporting store takes precedence, since it explains why its lines
 * were cut short. */
static int run_both(struct exporter *exporter, struct lines_reader *reader, const ses_import_options *options,
                    ses_error *error)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, export_store, exporter) != 0) {
        (void)close(reader->fd);
        (void)close(exporter->fd);
        return refuse(error, SES_NOMEM, "cannot start a thread");
    }
    int code = import_from(reader, options, error);
    (void)close(reader->fd); /* stops the export if the import ended early */
    (void)pthread_join(thread, NULL);
    if (exporter->code < 0 && exporter->code != SES_INTERRUPTED) {
        *error = exporter->error;
        return exporter->code;
    }
    return code;
}

static int import_store(struct exporter *exporter, struct lines_reader *reader,
                        const ses_import_options *options, ses_error *error)
{
    int ends[2];

    if (pipe(ends) != 0)
        return refuse(error, SES_IO, "cannot create a pipe: %s", strerror(errno));
    reader->fd = ends[0];
    exporter->fd = ends[1];
    (void)signal(SIGPIPE, SIG_IGN); /* a write to the closed pipe returns EPIPE instead */
    int code = run_both(exporter, reader, options, error);
    (void)signal(SIGPIPE, SIG_DFL);
    return code;
}

int store_import(struct run *run, const char *path, const ses_key *from, const ses_import_options *options,
                 struct import_report *report, ses_error *error)
{
    ses_open_options open = {.size = sizeof open,
                             .flags =
                                 SES_OPEN_READ_ONLY | (given(run, OPTION_LINKED) ? SES_OPEN_LINKED : 0u)};
    struct exporter exporter = {.from = from};
    struct lines_reader reader = {.run = run, .bytes = -1, .report = report};
    int code = open_place(run, path, &open, &exporter.store, error);

    if (code == SES_KEY && given(run, OPTION_KEY_FD)) {
        give_access(run, &open);
        code = open_place(run, path, &open, &exporter.store, error);
    }
    if (code < 0)
        return code;
    if (import_is_checked(run)) {
        reader.only_check = true;
        code = import_store(&exporter, &reader, options, error);
        reader.only_check = false;
    }
    if (code == SES_OK && report->first_code == 0)
        code = import_begin_writing(run);
    if (code == SES_OK && report->first_code == 0)
        code = import_store(&exporter, &reader, options, error);
    index_free(&reader.taken);
    ses_close(exporter.store);
    return code;
}
