#include "export/pieces.h"

#include <string.h>

#include "output/out.h"
#include "output/progress.h"
#include "store/choose.h"
#include "store/walk.h"

struct export_walking {
    struct export *export;
    const struct export_pieces *pieces;
    const ses_session *session;
    int64_t last_us;
    int64_t last_seq;
    const char *app;
};

/* ----------------------------------------------------------------------------------------------- sessions */

static int give_event(void *context, const ses_event *event)
{
    struct export_walking *walking = context;
    struct export *export = walking->export;

    if (event->time_us < walking->last_us)
        write_note(&export->writing, WRITE_NOTE_ORDER, 1);
    else
        walking->last_us = event->time_us;
    write_note_event(&export->writing, event);
    export->events++;
    progress_set(export->events, -1);
    return walking->pieces->event(walking->pieces->context, walking->session, event);
}

static int give_events(struct export_walking *walking, const ses_key *key)
{
    const ses_range range = {.size = sizeof range,
                             .which = SES_RANGE_SEQ,
                             .first_seq = 1,
                             .last_seq = ses_session_last_seq(walking->session)};

    walking->last_us = INT64_MIN;
    return range.last_seq > 0 ? each_event(walking->export->run, key, &range, false, give_event, walking)
                              : EXIT_OK;
}

static int give_state_and_events(struct export_walking *walking, const ses_key *key)
{
    struct run *run = walking->export->run;
    const ses_point point = {
        .size = sizeof point, .kind = SES_POINT_SEQ, .seq = ses_session_last_seq(walking->session)};
    char *state = NULL;
    size_t len = 0;

    if (ses_state_json_as_of_by_key(run->store, key, &point, NULL, &state, &len, &run->error) < 0)
        return fail(run);
    int status =
        walking->pieces->session(walking->pieces->context, walking->session, (struct span){state, len});
    ses_free(state);
    return status == EXIT_OK ? give_events(walking, key) : status;
}

/* A session of which something is damaged is left out before anything of it is given. */
static int look_through(struct run *run, const ses_key *key)
{
    ses_cursor *cursor = NULL;
    const ses_event *event = NULL;
    int code = ses_cursor_open(run->store, key, NULL, &cursor, &run->error);

    while (code >= 0 && (code = ses_cursor_next(cursor, &event, &run->error)) == SES_ROW)
        continue;
    const int closed = ses_cursor_close(cursor, code < 0 ? NULL : &run->error);
    return code < 0 ? code : closed;
}

static int give_session(struct export_walking *walking, const ses_key *key)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_get_options options = {.size = sizeof options, .range = &none};
    struct run *run = walking->export->run;
    ses_session *session = NULL;
    int code = ses_get(run->store, key, &options, &session, &run->error);

    if (code == SES_NOTFOUND) /* deleted in the meantime */
        return EXIT_OK;
    if (code >= 0 && given(run, OPTION_SKIP))
        code = look_through(run, key);
    if (code < 0) {
        ses_session_close(session);
        return export_fail(walking->export, key);
    }
    walking->session = session;
    walking->export->sessions++;
    write_note_session(&walking->export->writing, session);
    write_note_annotations(&walking->export->writing, session);
    int status = give_state_and_events(walking, key);
    ses_session_close(session);
    return status;
}

static int give_listed(void *context, const ses_page *page, size_t at)
{
    const ses_session *session = ses_page_session(page, at);
    const ses_key key = {ses_session_app(session), ses_session_user(session), ses_session_id(session)};
    return give_session(context, &key);
}

/* ------------------------------------------------------------------------------------------- shared state */

static int give_shared(struct export_walking *walking, const char *app, const char *user)
{
    struct run *run = walking->export->run;
    char *state = NULL;
    size_t len = 0;

    if (ses_shared_state_json(run->store, app, user, NULL, &state, &len, &run->error) < 0)
        return fail(run);
    int status = strcmp(state, "{}") == 0 ? EXIT_OK
                                          : walking->pieces->shared(walking->pieces->context, app, user,
                                                                    (struct span){state, len});
    ses_free(state);
    return status;
}

static int give_user(void *context, const char *user)
{
    struct export_walking *walking = context;
    const char *wanted = walking->export->run->key.user;

    return !wanted || strcmp(wanted, user) == 0 ? give_shared(walking, walking->app, user) : EXIT_OK;
}

static int give_app(void *context, const char *app)
{
    struct export_walking *walking = context;
    const char *wanted = walking->export->run->key.app;

    if (wanted && strcmp(wanted, app) != 0)
        return EXIT_OK;
    walking->app = app;
    int status = give_shared(walking, app, NULL);
    return status == EXIT_OK ? each_name(walking->export->run, app, give_user, walking) : status;
}

int export_walk(struct export *export, const struct export_pieces *pieces)
{
    struct export_walking walking = {.export = export, .pieces = pieces};
    const struct sessions sessions = {.order = SES_ORDER_CREATED, .visit = give_listed, .context = &walking};
    struct run *run = export->run;

    progress_begin("exporting");
    int status = run->key.session ? give_session(&walking, &run->key) : each_session(run, &sessions);
    if (status == EXIT_OK && export->sessions == 0) {
        say("no session to export");
        status = EXIT_NOTFOUND;
    }
    if (status == EXIT_OK && pieces->shared)
        status = each_name(run, NULL, give_app, &walking);
    progress_end();
    return status;
}
