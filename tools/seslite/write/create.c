/* seslite create */
#include "commands.h"

#include <string.h>
#include <time.h>

#include "output/json.h"
#include "store/choose.h"
#include "store/labels.h"
#include "store/sessions.h"
#include "text/times.h"
#include "write/input.h"
#include "write/pairs.h"

static int check_options(const struct run *run)
{
    if (given(run, OPTION_STATE) && given(run, OPTION_STATE_FILE))
        return say_usage(run, "--state and --state-file cannot be combined");
    if (given(run, OPTION_IF_NOT_EXISTS) && !run->key.session)
        return say_usage(run, "--if-not-exists needs the id of the session");
    return EXIT_OK;
}

/* Only a named app and user may be new. Otherwise the only app and the only user are meant. */
static int open_and_choose(struct run *run)
{
    const ses_key key = run->key;

    if (key.app && key.user)
        return open_or_create(run, false);
    int status = open_to_write(run);
    if (status == EXIT_OK)
        status = key.user ? choose_app(run) : choose_user(run);
    if (status == EXIT_NOTFOUND)
        note("Name a new app or user with --app and --user.");
    if (key.user)
        run->key.user = key.user;
    run->key.session = key.session;
    return status;
}

/* ------------------------------------------------------------------------------------------------- create */

static int create_with(struct run *run, const struct text *state, const ses_create_options *options,
                       ses_session **session)
{
    return given(run, OPTION_IF_NOT_EXISTS)
               ? ses_get_or_create(run->store, &run->key, state->data, state->len, options, session,
                                   &run->error)
               : ses_create(run->store, &run->key, state->data, state->len, options, session, &run->error);
}

static int create(struct run *run, const struct text *state, ses_session **session)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    ses_label labels[ARGUMENTS_MAX];
    ses_create_options options = {.size = sizeof options,
                                  .range = &none,
                                  .title = run->values[OPTION_TITLE],
                                  .labels = labels,
                                  .label_count = labels_given(run, labels)};
    const ses_key child_of = {NULL, run->key.user, run->values[OPTION_CHILD_OF]};
    int64_t expires_us = 0;

    options.child_of = given(run, OPTION_CHILD_OF) ? &child_of : NULL;
    if (given(run, OPTION_TTL) && span_read(run->values[OPTION_TTL], &expires_us)) {
        expires_us += (int64_t)time(NULL) * 1000000;
        options.expires_us = &expires_us;
    }
    const int code = create_with(run, state, &options, session);
    labels_free(labels, options.label_count);
    return code;
}

static int refuse(struct run *run)
{
    if (run->error.offset < 0 || !given(run, OPTION_STATE_FILE))
        return fail(run);
    say("%s: %s", input_name(run->values[OPTION_STATE_FILE]), run->error.message);
    return exit_code_of(run->error.code);
}

static int report(struct run *run, const ses_session *session, bool existed)
{
    struct json json;
    struct text id = {NULL, 0, 0};

    if (wants_json(run)) {
        json_begin(&json, run, '{');
        session_json(&json, session);
        json_bool(&json, "created", !existed);
        return json_print_object(&json);
    }
    text_add_clean(&id, ses_session_id(session), strlen(ses_session_id(session)), LINES_ONE);
    out_print("%s\n", id.data);
    if (existed)
        note("%s already exists, and stays as it is.", id.data);
    text_free(&id);
    return EXIT_OK;
}

int run_create(struct run *run)
{
    struct text state = {NULL, 0, 0};
    ses_session *session = NULL;
    int status = check_options(run);

    if (status == EXIT_OK && given(run, OPTION_STATE_FILE)) /* before the store is created */
        status = input_read(run, run->values[OPTION_STATE_FILE], &state);
    if (status == EXIT_OK)
        status = open_and_choose(run);
    if (status == EXIT_OK)
        status = pairs_given(run, OPTION_STATE, &state);
    if (status == EXIT_OK) {
        const int code = create(run, &state, &session);
        status = code < 0 ? refuse(run) : report(run, session, code == SES_EXISTING);
    }
    ses_session_close(session);
    text_free(&state);
    return status;
}
