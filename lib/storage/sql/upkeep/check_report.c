/* The problems that a check reports. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "storage/sql/upkeep/check.h"
#include "storage/sql/rows/parts.h"

static void report(struct check *check, int kind, int64_t seq, const char *message)
{
    struct check_op *op = check->op;
    ses_problem problem = check->about;

    if (check->ended)
        return;
    problem.kind = kind;
    problem.seq = seq;
    problem.message = message;
    op->problems++;
    check->ended = (op->report && op->report(op->report_context, &problem) != 0) || op->problems >= op->limit;
}

void ses__check_found(struct check *check, int kind, int64_t seq, const char *format, ...)
{
    char message[sizeof check->error.message];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    for (char *at = strchr(message, '\n'); at; at = strchr(at, '\n')) /* SQLite writes several lines */
        *at = ' ';
    report(check, kind, seq, message);
}

int ses__check_settle(struct check *check, int code, int kind)
{
    const bool is_of_store = code == SES_CORRUPT || code == SES_JSON || code == SES_INVALID ||
                             code == SES_LIMIT || code == SES_NOTASTORE || code == SES_UNSUPPORTED;

    if (!is_of_store)
        return code < 0 ? code : SES_OK;
    const bool is_of_sqlite = check->error.engine_code != 0 && !check->error.sqlstate[0];
    report(check,
           code == SES_UNSUPPORTED ? SES_PROBLEM_NEWER
           : is_of_sqlite          ? SES_PROBLEM_PAGE
                                   : kind,
           0, check->error.message);
    ses__error_clear(&check->error);
    return SES_OK;
}

void ses__check_version(struct check *check, const char *what, int64_t version)
{
    if (version >= LATE_VERSION && version <= MAX_VERSION)
        ses__check_found(
            check, SES_PROBLEM_COUNTER, 0,
            "%s at version %lld, near the last one, 2^53 - 1: export the sessions and import them into a new store, where they begin at low versions again",
            what, (long long)version);
}

static bool keep_checked_name(struct check *check, struct span name, const char **kept)
{
    *kept = ses__is_id(name) ? ses__arena_text(&check->arena, name.ptr, name.len) : NULL;
    return *kept || !ses__is_id(name);
}

int ses__check_begin(struct check *check, struct span app, struct span user, struct span session)
{
    ses__arena_reset(&check->arena);
    bool ok = keep_checked_name(check, app, &check->about.app) &&
              keep_checked_name(check, user, &check->about.user) &&
              keep_checked_name(check, session, &check->about.session);
    return ok ? SES_OK : ses__error_nomem(&check->error);
}
