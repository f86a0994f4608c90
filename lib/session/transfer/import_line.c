/* Reads the lines of an import one after the other. */
#include "base/error.h"
#include "session/transfer/import.h"

/* The lines of a session have their own check sum, in its last line. */
static void sum_line(struct import_call *call)
{
    const struct line *line = &call->line;
    const struct crc32_tables *tables = &call->lines.tables;

    if (!call->in_session && ses__line_is(line, "session")) {
        call->in_session = true;
        call->session_crc = 0;
    } else if (call->in_session && ses__line_is(line, "end")) {
        call->in_session = false;
    }
    if (call->in_session)
        call->session_crc = ses__crc32(tables, call->session_crc, line->text.ptr, line->text.len);
    else if (!ses__line_is(line, "total"))
        call->crc = ses__crc32(tables, call->crc, line->text.ptr, line->text.len);
}

bool ses__import_knows(const struct line *line)
{
    static const char *const kinds[] = {"seslite", "app",  "user",          "key",   "artifact", "bytes",
                                        "session", "base", "base_artifact", "event", "end",      "total"};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (ses__line_is(line, kinds[i]))
            return true;
    }
    return !ses__line_has(line, LINE_KIND);
}

/* Counts a line of an unknown kind once, and in other lines each unknown member. Lines of artifacts have
 * their own members. */
static void count_unknown(struct import_call *call)
{
    const struct line *line = &call->line;

    if (!ses__import_knows(line))
        call->report.unknown++;
    else if (!ses__line_is(line, "artifact") && !ses__line_is(line, "bytes"))
        call->report.unknown += (int64_t)line->others;
}

int ses__import_next(struct import_call *call, ses_error *error)
{
    if (call->stopped)
        return ses__error_set(error, SES_INTERRUPTED,
                              "the function that is told of sessions and keys ended the import");
    if (call->pending) {
        call->pending = false;
        return 1;
    }
    int code = ses__limits_passed(&call->limits) ? ses__limits_refuse(call->store->path, error)
                                                 : ses__lines_next(&call->lines, &call->line, error);

    if (code == 1) {
        sum_line(call);
        count_unknown(call);
    }
    return code;
}

int ses__import_refuse(struct import_call *call, int code, const char *what, ses_error *error)
{
    return ses__lines_refuse(&call->lines, error, ses__error_set(error, code, "%s", what));
}

void ses__import_report(struct import_call *call, const ses_import_item *item)
{
    if (call->options.report && !call->stopped)
        call->stopped = call->options.report(call->options.report_context, item) != 0;
}
