/* seslite fork, rewind and redo: commands that only add to a log, if they change it at all. */
#include "commands.h"

#include <string.h>

#include "output/json.h"
#include "store/choose.h"
#include "store/points.h"
#include "store/sessions.h"

/* --------------------------------------------------------------------------------------------------- fork */

static int report_fork(struct run *run, const ses_session *fork)
{
    struct json json;
    struct text id = {NULL, 0, 0};

    if (wants_json(run)) {
        json_begin(&json, run, '{');
        session_json(&json, fork);
        return json_print_object(&json);
    }
    text_add_clean(&id, ses_session_id(fork), strlen(ses_session_id(fork)), LINES_ONE);
    out_print("%s\n", id.data);
    text_free(&id);
    note("%s of %s copied to the new session.", counted(ses_session_stored(fork), "event"), run->key.session);
    return EXIT_OK;
}

int run_fork(struct run *run)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    ses_fork_options options = {.size = sizeof options, .range = &none};
    ses_session *fork = NULL;
    ses_point point;
    int status = open_session_to_write(run);

    if (status != EXIT_OK)
        return status;
    const ses_key to = {run->key.app,
                        given(run, OPTION_AS_USER) ? run->values[OPTION_AS_USER] : run->key.user,
                        run->values[OPTION_AS]};
    if (given(run, OPTION_AS_USER))
        options.flags = SES_FORK_OTHER_USER;
    point_given(run, OPTION_AT, &point);
    if (ses_fork_by_key(run->store, &run->key, &point, &to, &options, &fork, &run->error) < 0)
        status = fail(run);
    else
        status = report_fork(run, fork);
    ses_session_close(fork);
    return status;
}

/* ---------------------------------------------------------------------------------------- rewind and redo */

static int report_rewind(struct run *run, int code, const ses_appended *appended, const char *unchanged,
                         const char *words, const char *hint)
{
    struct json json;

    if (wants_json(run)) {
        json_begin(&json, run, '{');
        json_text(&json, "session", run->key.session);
        json_bool(&json, "changed", code != SES_UNCHANGED);
        json_number(&json, "seq", appended->seq);
        json_number(&json, "version", appended->version);
        if (appended->made_id[0])
            json_text(&json, "eventId", appended->made_id);
        return json_print_object(&json);
    }
    if (code == SES_UNCHANGED)
        note("%s %s.", run->key.session, unchanged);
    else
        note("%s %s, by event %lld. Nothing was deleted.%s", run->key.session, words,
             (long long)appended->seq, hint);
    return EXIT_OK;
}

int run_rewind(struct run *run)
{
    ses_point point = {.size = sizeof point, .kind = SES_POINT_LAST_TURN};
    ses_appended appended = {.seq = 0};
    int status = open_session_to_write(run);

    if (status != EXIT_OK)
        return status;
    if (given(run, OPTION_TO))
        point_given(run, OPTION_TO, &point);
    int code = ses_rewind_by_key(run->store, &run->key, &point, NULL, &appended, &run->error);
    const bool to = given(run, OPTION_TO);
    const char *unchanged = to ? "is already at that point" : "has no turn to take back";
    const char *words = to ? "was rewound to that point" : "was rewound by one turn";
    return code < 0 ? fail(run)
                    : report_rewind(run, code, &appended, unchanged, words, " seslite redo undoes this.");
}

int run_redo(struct run *run)
{
    ses_appended appended = {.seq = 0};
    int status = open_session_to_write(run);

    if (status != EXIT_OK)
        return status;
    int code = ses_redo_by_key(run->store, &run->key, NULL, &appended, &run->error);
    return code < 0 ? fail(run)
                    : report_rewind(run, code, &appended, "has no rewind to undo",
                                    "has the events again that the rewind took back", "");
}
