/* Reads a store from JSON lines, in the format that README.md in this folder describes. */
#include "session/transfer/import.h"

#include "base/error.h"

/* Limits how much of some other file is read before it is refused. */
enum { FIRST_LINE_MAX = 4096 };

/* --------------------------------------------------------------------------------------------- the whole */

static int take_first_line(struct import_call *call, ses_error *error)
{
    const struct line *line = &call->line;
    int code = ses__import_next(call, error);

    if (code == SES_JSON || code == SES_INVALID || code == SES_LIMIT || code == 0 ||
        (code == 1 && (!ses__line_is(line, "seslite") || line->of[LINE_FORMAT].number < 1)))
        return ses__error_set(error, SES_NOTASTORE, "the text does not begin as JSON lines of seslite do");
    if (code == 1 && line->of[LINE_FORMAT].number > LINES_FORMAT)
        return ses__error_set(error, SES_TOONEW,
                              "the text is of format %lld, and this version of seslite reads up to %d",
                              (long long)line->of[LINE_FORMAT].number, LINES_FORMAT);
    return code == 1 ? SES_OK : code;
}

/* True if the line has no such number, or this one. */
static bool agrees(const struct line *line, enum line_field field, int64_t number)
{
    return !ses__line_has(line, field) || line->of[field].number == number;
}

static int take_total(struct import_call *call, ses_error *error)
{
    const struct line *line = &call->line;
    int code = ses__import_write_keys(call, error);

    if (code != SES_OK)
        return code;
    if (!agrees(line, LINE_SESSIONS, call->sessions) || !agrees(line, LINE_EVENTS, call->events) ||
        !agrees(line, LINE_CRC, (int64_t)call->crc))
        return ses__import_refuse(
            call, SES_INVALID, "the counts or the check sum are not those of the lines: the text was changed",
            error);
    code = ses__import_next(call, error);
    return code == 1 ? ses__import_refuse(call, SES_INVALID, "it comes after the last line", error) : code;
}

static int take_line(struct import_call *call, ses_error *error)
{
    const struct line *line = &call->line;

    if (ses__line_is(line, "app") || ses__line_is(line, "user"))
        return ses__import_owner(call, error);
    if (ses__line_is(line, "key"))
        return ses__import_key(call, error);
    if (ses__line_is(line, "artifact"))
        return ses__import_artifact(call, error);
    if (ses__line_is(line, "session")) {
        int code = ses__import_write_keys(call, error);
        call->sessions++;
        return code == SES_OK ? ses__import_session(call, error) : code;
    }
    return ses__import_knows(line)
               ? ses__import_refuse(call, SES_INVALID, "it has no kind, or is out of place", error)
               : SES_OK;
}

static int take_lines(struct import_call *call, ses_error *error)
{
    const size_t rest = (size_t)16 << 20;
    const size_t event = call->store->max_event_bytes;

    call->lines.longest = FIRST_LINE_MAX;
    int code = take_first_line(call, error);
    /* If a body is written as a text, each byte can become an escape of six. A rewind is as long as the state
     * it brings back, which the limit of an event does not bound. */
    call->lines.longest = event < (SIZE_MAX / 2 - rest) / 6 ? event * 6 + rest : SIZE_MAX / 2;
    while (code == SES_OK) {
        code = ses__import_next(call, error);
        if (code == 0)
            return ses__error_set(error, SES_INVALID,
                                  "the text ends after line %lld without its last line: it was cut short",
                                  (long long)call->lines.number);
        if (code == 1 && ses__line_is(&call->line, "total"))
            return take_total(call, error);
        if (code == 1)
            code = take_line(call, error);
    }
    return code;
}

/* ---------------------------------------------------------------------------------------------- the call */

static int import_lines(ses_store *store, const ses_import_options *options,
                        int (*read)(void *context, char *buffer, size_t capacity, size_t *len,
                                    ses_error *error),
                        void *context, ses_import_report *report, ses_error *error)
{
    const unsigned known = SES_IMPORT_UPDATE | SES_IMPORT_REPLACE | SES_IMPORT_RENAME | SES_IMPORT_DRY_RUN |
                           SES_IMPORT_SKIP | SES_IMPORT_REPLACE_KEYS;
    const unsigned either = SES_IMPORT_REPLACE | SES_IMPORT_RENAME;
    struct import_call call = {.store = store};
    ses_import_options *own = &call.options;
    int code = read ? ses__take_flagged(own, sizeof *own, options, known, "import options", error)
                    : ses__error_set(error, SES_MISUSE, "the argument `read` is NULL");

    if (code == SES_OK && (own->flags & either) == either)
        code =
            ses__error_set(error, SES_MISUSE,
                           "import options: SES_IMPORT_REPLACE and SES_IMPORT_RENAME contradict each other");
    if (code == SES_OK && own->app)
        code = ses__check_id(own->app, "app", error);
    if (code == SES_OK && own->user)
        code = ses__check_id(own->user, "user", error);
    if (code == SES_OK && report)
        code = ses__check_size(report, "import report", error);
    if (code != SES_OK)
        return code;
    call.limits = LIMITS_OF(store, *own);
    ses__lines_init(&call.lines, &store->allocator);
    call.lines.read = read;
    call.lines.context = context;
    ses__arena_init(&call.keys.arena, &store->allocator);
    code = take_lines(&call, error);
    call.report.lines = call.lines.number;
    if (report)
        ses__give_output(report, &call.report, sizeof call.report);
    ses__delta_free(&call.keys.delta, &store->allocator);
    ses__arena_free(&call.keys.arena);
    ses__lines_free(&call.lines);
    return code;
}

int ses_store_import(ses_store *store,
                     int (*read)(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error),
                     void *context, const ses_import_options *options, ses_import_report *report,
                     ses_error *error)
{
    int code = ses__store_begin(store, error);
    return code == SES_OK ? ses__store_end(store, import_lines(store, options, read, context, report, error))
                          : code;
}
