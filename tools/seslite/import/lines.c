#include "import/lines.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "place.h"
#include "progress.h"

/* ------------------------------------------------------------------------------------------------ reading */

struct lines_reader {
    int fd;
    int64_t done;
    int64_t bytes; /* in all; -1: not known */
    struct import_report *report;
};

static int read_lines(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    struct lines_reader *reader = context;
    ssize_t got;

    do
        got = read(reader->fd, buffer, capacity);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return ses__error_set(error, SES_IO, "the lines cannot be read: %s", strerror(errno));
    *len = (size_t)got;
    reader->done += got;
    progress_set(reader->done, reader->bytes);
    return SES_OK;
}

static void tell_item(void *context, const ses_import_item *item)
{
    struct import_report *report = ((struct lines_reader *)context)->report;
    const struct import_item own = {item->app, item->user, item->session, item->key};

    if (item->outcome == SES_IMPORT_REFUSED)
        report_refused(report, &own, item->error);
    else if (item->outcome == SES_LOADED_RENAMED)
        report_renamed(report, &own, &(ses_key){item->app, item->user, item->loaded_as});
    else if (item->outcome == SES_IMPORT_KEY_KEPT || item->outcome == SES_IMPORT_KEY_REPLACED)
        report_key(report, &own, item->outcome == SES_IMPORT_KEY_REPLACED);
}

static int import_from(struct run *run, struct lines_reader *reader, const ses_import_options *options,
                       ses_error *error)
{
    ses_import_options own = *options;
    ses_import_report *counts = &reader->report->counts;

    own.report = tell_item;
    own.report_context = reader;
    counts->size = sizeof *counts;
    int code = ses_import(run->store, &own, read_lines, reader, counts, error);
    /* It was told by its name. */
    return code < 0 && code == reader->report->first_code ? SES_OK : code;
}

int lines_import(struct run *run, const struct opened_file *opened, const ses_import_options *options,
                 struct import_report *report, ses_error *error)
{
    struct lines_reader reader = {.fd = opened->file.fd, .bytes = opened->bytes, .report = report};
    return import_from(run, &reader, options, error);
}

/* ----------------------------------------------------------------------------------------------- a store */

/* One thread exports the store, the other imports it, and what is between them is bounded. */
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

    while (len > 0) {
        ssize_t sent = write(exporter->fd, data, len);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return ses__error_set(error, SES_INTERRUPTED, "the import has ended");
        data += sent;
        len -= (size_t)sent;
    }
    return SES_OK;
}

static void *export_store(void *context)
{
    struct exporter *exporter = context;
    const ses_export_options options = {.size = sizeof options,
                                        .app = exporter->from->app,
                                        .user = exporter->from->user,
                                        .session = exporter->from->session};

    exporter->code = ses_export(exporter->store, &options, send_lines, exporter, &exporter->error);
    (void)close(exporter->fd);
    return NULL;
}

/* Both ends at once. What is wrong with the store explains why its lines were cut short. */
static int run_both(struct run *run, struct exporter *exporter, int in, const ses_import_options *options,
                    struct import_report *report, ses_error *error)
{
    struct lines_reader reader = {.fd = in, .bytes = -1, .report = report};
    pthread_t thread;

    if (pthread_create(&thread, NULL, export_store, exporter) != 0) {
        (void)close(in);
        (void)close(exporter->fd);
        return ses__error_set(error, SES_NOMEM, "no thread can be started");
    }
    int code = import_from(run, &reader, options, error);
    (void)close(in); /* if the import has ended early, the export cannot go on */
    (void)pthread_join(thread, NULL);
    if (exporter->code < 0 && exporter->code != SES_INTERRUPTED) {
        *error = exporter->error;
        return exporter->code;
    }
    return code;
}

int store_import(struct run *run, const char *path, const ses_key *from, const ses_import_options *options,
                 struct import_report *report, ses_error *error)
{
    const ses_open_options open = {.size = sizeof open, .flags = SES_OPEN_READ_ONLY};
    struct exporter exporter = {.from = from};
    int ends[2];
    int code = place_open(path, &open, &exporter.store, error);

    if (code < 0)
        return code;
    if (pipe(ends) != 0) {
        code = ses__error_set(error, SES_IO, "no pipe can be made: %s", strerror(errno));
    } else {
        exporter.fd = ends[1];
        (void)signal(SIGPIPE, SIG_IGN); /* this pipe ends by itself */
        code = run_both(run, &exporter, ends[0], options, report, error);
        (void)signal(SIGPIPE, SIG_DFL);
    }
    ses_close(exporter.store);
    return code;
}
