#include "model/event/point.h"

#include "base/argument.h"
#include "base/error.h"

/* Checks the id of an event or an invocation; the latter may have any length. */
static int check_point_id(const char *id, ses_error *error)
{
    int code = ses__check_argument(id, "point.id", error);
    return code == SES_OK && id[0] == '\0' ? ses__error_set(error, SES_INVALID, "point: the id is empty")
                                           : code;
}

int ses__point_take(const ses_point *given, struct point *point, ses_error *error)
{
    ses_point own;
    int code = ses__take_options(&own, sizeof own, given, "point", error);

    if (code != SES_OK)
        return code;
    *point = (struct point){own.kind, own.seq, own.id};
    switch (own.kind) {
    case SES_POINT_NOW:
    case SES_POINT_LAST_TURN:
        return SES_OK;
    case SES_POINT_SEQ:
        return own.seq >= 0 ? SES_OK : ses__error_set(error, SES_INVALID, "point: seq is negative");
    case SES_POINT_EVENT:
    case SES_POINT_INVOCATION:
        return check_point_id(own.id, error);
    default:
        return ses__error_set(error, SES_MISUSE, "point: kind is not one of SES_POINT_*");
    }
}
