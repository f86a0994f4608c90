/* The steps of the walk over a store. Each is made of public calls, and looks into one thing. */
#include "erase/find/find.h"

#include "base/error.h"
#include "json/reader.h"
#include "seslite_draft.h"
#include "seslite_inbox.h"

static void put_find_name(char *place, const char *name)
{
    (void)memcpy(place, name, strlen(name) + 1);
}

static ses_finding finding_at(const struct find *find, int kind)
{
    const struct find_place *at = &find->at;
    return (ses_finding){.kind = kind,
                         .app = at->app,
                         .user = at->session[0] ? at->session_user
                                 : at->user[0]  ? at->user
                                                : NULL,
                         .session = at->session[0] ? at->session : NULL,
                         .version = -1};
}

static ses_key session_key_of(const struct find *find)
{
    return (ses_key){find->at.app, find->at.session_user, find->at.session};
}

/* ------------------------------------------------------------------------------------- apps and users */

/* Takes the next name of an app, or of a user of an app, after the one in `place`. */
static int take_next_name(struct find *find, const char *app, char *place, bool *any, ses_error *error)
{
    const ses_names_options options = {
        .size = sizeof options, .limit = 1, .after = place[0] ? place : NULL, LEFT_OF(&find->limits)};
    ses_names *names = NULL;
    int code = app ? ses_list_users(find->store, app, &options, &names, error)
                   : ses_list_apps(find->store, &options, &names, error);

    *any = code == SES_OK && ses_names_count(names) > 0;
    if (*any)
        put_find_name(place, ses_names_at(names, 0));
    ses_names_close(names);
    return code;
}

/* Looks into a state that a call has given, if it has, and frees it. */
static int find_in_given(struct find *find, int code, ses_finding what, struct state_kinds kinds, char *json,
                         size_t len, ses_error *error)
{
    if (code == SES_OK)
        code = ses__find_in_state(find, &what, kinds, (struct span){json, len}, error);
    ses_free(json);
    return code;
}

/* An app, or a user: the id and the shared state. */
static int find_in_owner(struct find *find, const char *user, ses_error *error)
{
    const ses_call_options options = {.size = sizeof options, LEFT_OF(&find->limits)};
    const struct state_kinds kinds = {user ? "user:" : "app:", SES_FOUND_KEY, SES_FOUND_VALUE};
    const ses_finding what = finding_at(find, SES_FOUND_ID);
    char *json = NULL;
    size_t len = 0;
    int code = ses__find_in_bytes(find, &what, ses__span_of(user ? user : find->at.app), error);

    if (code == SES_OK)
        code = ses_shared_state_json(find->store, find->at.app, user, &options, &json, &len, error);
    return find_in_given(find, code, what, kinds, json, len, error);
}

/* -------------------------------------------------------------------------------------------- sessions */

static int find_in_annotations(struct find *find, const ses_session *session, ses_error *error)
{
    const char *title = ses_session_title(session);
    ses_finding what = finding_at(find, SES_FOUND_TITLE);
    int code = title ? ses__find_in_bytes(find, &what, ses__span_of(title), error) : SES_OK;

    for (size_t i = 0; code == SES_OK && i < ses_session_label_count(session); i++) {
        const ses_label *label = ses_session_label(session, i);
        const size_t count = find->page->found.count;
        what.kind = SES_FOUND_LABEL;
        what.name = label->name;
        code = ses__find_in_bytes(find, &what, ses__span_of(label->name), error);
        if (code == SES_OK && find->page->found.count == count)
            code = ses__find_in_bytes(find, &what, ses__span_of(label->value), error);
    }
    return code;
}

/* The session becomes the one that the walk is at. */
static int find_in_session(struct find *find, const ses_session *session, ses_error *error)
{
    put_find_name(find->at.session_user, ses_session_user(session));
    put_find_name(find->at.session, ses_session_id(session));
    const ses_key *const links[] = {ses_session_parent(session, NULL), ses_session_child_of(session)};
    ses_finding what = finding_at(find, SES_FOUND_ID);
    int code = ses__find_in_bytes(find, &what, ses__span_of(find->at.session), error);

    if (code == SES_OK)
        code = find_in_annotations(find, session, error);
    const size_t count = find->page->found.count;
    what.kind = SES_FOUND_PARENT;
    for (size_t i = 0; i < sizeof links / sizeof links[0] && code == SES_OK; i++) {
        if (links[i] && find->page->found.count == count)
            code = ses__find_in_bytes(find, &what, ses__span_of(links[i]->user), error);
        if (code == SES_OK && links[i] && find->page->found.count == count)
            code = ses__find_in_bytes(find, &what, ses__span_of(links[i]->session), error);
    }
    return code;
}

int ses__find_keep_token(struct find *find, struct span token, ses_error *error)
{
    const ses_allocator *allocator = &find->store->allocator;
    char *copy = token.len > 0 ? ses__memory_new(allocator, token.len + 1) : NULL;

    if (token.len > 0 && !copy)
        return ses__error_nomem(error);
    if (copy) {
        memcpy(copy, token.ptr, token.len);
        copy[token.len] = '\0';
    }
    ses__memory_free(allocator, find->at.token);
    find->at.token = copy;
    return SES_OK;
}

static int find_in_next_session(struct find *find, bool *any, ses_error *error)
{
    const ses_list_options options = {.size = sizeof options,
                                      .order = SES_ORDER_CREATED,
                                      .limit = 1,
                                      .token = find->at.token,
                                      .flags = SES_LIST_NO_STATE,
                                      LEFT_OF(&find->limits)};
    const char *user = find->scope ? find->scope->user : NULL;
    ses_page *page = NULL;
    int code = find->at.last ? SES_OK : ses_list(find->store, find->at.app, user, &options, &page, error);

    *any = code == SES_OK && page && ses_page_count(page) > 0;
    if (*any)
        code = find_in_session(find, ses_page_session(page, 0), error);
    if (*any && code == SES_OK) {
        const char *token = ses_page_token(page);
        find->at.last = !token;
        code = ses__find_keep_token(find, ses__span_of(token ? token : ""), error);
    }
    ses_page_close(page);
    return code;
}

/* Opens a handle without events. */
static int open_found(struct find *find, const ses_key *key, ses_session **session, ses_error *error)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NEWEST, .newest = 0};
    const ses_get_options options = {.size = sizeof options, .range = &none, LEFT_OF(&find->limits)};
    return ses_get(find->store, key, &options, session, error);
}

static int find_in_one_session(struct find *find, ses_error *error)
{
    ses_session *session = NULL;
    int code = open_found(find, find->scope, &session, error);

    if (code == SES_OK)
        code = find_in_session(find, session, error);
    ses_session_close(session);
    return code;
}

/* Looks into the session's own keys. Shared ones belong to the app and the user. */
static int find_in_state(struct find *find, const ses_session *session, ses_error *error)
{
    ses_finding what = finding_at(find, SES_FOUND_KEY);
    const char *json = NULL;
    size_t len = 0;
    int code = SES_OK;

    for (size_t i = 0; code == SES_OK && i < ses_state_count(session); i++) {
        code = ses_state_at(session, i, &what.name, &json, &len, error);
        if (code != SES_OK || strncmp(what.name, "app:", 4) == 0 || strncmp(what.name, "user:", 5) == 0)
            continue;
        what.kind = SES_FOUND_KEY;
        code = ses__find_in_bytes(find, &what, ses__span_of(what.name), error);
        what.kind = SES_FOUND_VALUE;
        if (code == SES_OK)
            code = ses__find_in_json(find, &what, (struct span){json, len}, error);
    }
    return code;
}

/* The session's state, its initial state, and the values that events left at the base of a pruned log. */
static int find_in_states(struct find *find, ses_error *error)
{
    const ses_call_options options = {.size = sizeof options, LEFT_OF(&find->limits)};
    const ses_key key = session_key_of(find);
    ses_session *session = NULL;
    char *json = NULL;
    size_t len = 0;
    int code = open_found(find, &key, &session, error);

    if (code == SES_OK)
        code = find_in_state(find, session, error);
    if (code == SES_OK) {
        code = ses_state_json_initial(session, &options, &json, &len, error);
        code =
            find_in_given(find, code, finding_at(find, SES_FOUND_INITIAL),
                          (struct state_kinds){"", SES_FOUND_INITIAL, SES_FOUND_INITIAL}, json, len, error);
    }
    if (code == SES_OK && ses_session_base_seq(session) > 0) {
        const ses_point base = {
            .size = sizeof base, .kind = SES_POINT_SEQ, .seq = ses_session_base_seq(session)};
        const ses_as_of_options as_of = {
            .size = sizeof as_of, .flags = SES_AS_OF_SHARED, LEFT_OF(&find->limits)};
        code = ses_state_json_as_of_by_key(find->store, &key, &base, &as_of, &json, &len, error);
        code = find_in_given(find, code, finding_at(find, SES_FOUND_BASE),
                             (struct state_kinds){"", SES_FOUND_BASE, SES_FOUND_BASE}, json, len, error);
    }
    ses_session_close(session);
    return code;
}

static int find_in_draft(struct find *find, ses_error *error)
{
    const ses_call_options options = {.size = sizeof options, LEFT_OF(&find->limits)};
    const ses_key key = session_key_of(find);
    const ses_finding what = finding_at(find, SES_FOUND_DRAFT);
    const size_t count = find->page->found.count;
    struct span body = {NULL, 0};
    char *made = NULL;
    int code = ses_draft_get(find->store, &key, &options, &made, &body.len, NULL, error);

    if (code != SES_OK)
        return code == SES_ABSENT ? SES_OK : code;
    body.ptr = made;
    code = ses__find_in_bytes(find, &what, body, error);
    if (code == SES_OK && find->page->found.count == count &&
        ses__json_check(body.ptr, body.len, NULL) == SES_OK)
        code = ses__find_in_json(find, &what, body, error);
    ses_free(made);
    return code;
}

/* An input is found once, in its request or in its body. */
static int find_in_input(struct find *find, const ses_input *input, ses_error *error)
{
    const struct span body = {input->body, input->body_len};
    const size_t count = find->page->found.count;
    ses_finding what = finding_at(find, SES_FOUND_INPUT);

    what.name = input->request;
    int code = ses__find_in_bytes(find, &what, ses__span_of(input->request), error);
    if (code == SES_OK && find->page->found.count == count)
        code = ses__find_in_bytes(find, &what, body, error);
    if (code == SES_OK && find->page->found.count == count)
        code = ses__find_in_json(find, &what, body, error);
    return code;
}

static int find_in_inbox(struct find *find, ses_error *error)
{
    ses_inbox_list_options options = {.size = sizeof options, LEFT_OF(&find->limits)};
    const ses_key key = session_key_of(find);
    ses_inputs *page = NULL;
    size_t count = 0;
    int code = SES_OK;

    do {
        code = ses_inbox_list(find->store, &key, &options, &page, error);
        count = code == SES_OK ? ses_inputs_count(page) : 0;
        for (size_t i = 0; i < count && code == SES_OK; i++) {
            options.after = ses_inputs_at(page, i)->place;
            code = find_in_input(find, ses_inputs_at(page, i), error);
        }
        ses_inputs_close(page);
        page = NULL;
    } while (code == SES_OK && count > 0);
    return code;
}

static int find_in_events(struct find *find, bool *done, ses_error *error)
{
    const ses_range range = {
        .size = sizeof range, .which = SES_RANGE_SEQ, .first_seq = find->at.seq + 1, .last_seq = INT64_MAX};
    const ses_cursor_options options = {.size = sizeof options, .range = &range, LEFT_OF(&find->limits)};
    const ses_key key = session_key_of(find);
    ses_finding what = finding_at(find, SES_FOUND_EVENT);
    const ses_event *event = NULL;
    ses_cursor *cursor = NULL;
    int code = ses_cursor_open(find->store, &key, &options, &cursor, error);

    for (*done = false; code == SES_OK && !*done && !ses__find_is_full(find);) {
        code = ses_cursor_next(cursor, &event, error);
        *done = code == SES_OK;
        if (code != SES_ROW)
            break;
        what.seq = find->at.seq = event->seq;
        code = ses__find_in_json(find, &what, (struct span){event->json, event->json_len}, error);
    }
    (void)ses_cursor_close(cursor, NULL); /* its failure is known */
    return code;
}

/* ------------------------------------------------------------------------------------------- the steps */

static int step_in_session(struct find *find, ses_error *error)
{
    const ses_key key = session_key_of(find);
    struct find_place *at = &find->at;
    bool any = false;
    bool done = false;
    int code = SES_OK;

    switch ((enum find_step)at->step) {
    case FIND_STATES:
        code = find_in_states(find, error);
        if (code == SES_OK)
            code = find_in_draft(find, error);
        if (code == SES_OK)
            code = find_in_inbox(find, error);
        at->step = FIND_ARTIFACTS;
        break;
    case FIND_ARTIFACTS:
        code = ses__find_in_artifact(find, &key, &any, error);
        at->step = any ? FIND_ARTIFACTS : FIND_EVENTS;
        break;
    default:
        code = find_in_events(find, &done, error);
        break;
    }
    if (code == SES_NOTFOUND || code == SES_STALE) { /* deleted, or cut, meanwhile */
        ses__error_clear(error);
        code = SES_OK;
        done = true;
    }
    if (code == SES_OK && done) { /* leaves the session */
        at->session[0] = at->session_user[0] = at->name[0] = '\0';
        at->seq = at->version = at->offset = 0;
        at->reading = false;
        at->step = find->scope && find->scope->session ? FIND_END : FIND_NEXT_SESSION;
    }
    return code;
}

int ses__find_step(struct find *find, ses_error *error)
{
    struct find_place *at = &find->at;
    const ses_key of_user = {at->app, at->user, NULL};
    const ses_key loose = {at->app, at->user, at->session};
    bool any = false;
    int code = SES_OK;

    switch ((enum find_step)at->step) {
    case FIND_NEXT_APP:
        if (!find->scope)
            code = take_next_name(find, NULL, at->app, &any, error);
        at->step = any ? FIND_APP : FIND_END;
        at->last = false;
        break;
    case FIND_APP:
        code = find_in_owner(find, NULL, error);
        at->step = FIND_NEXT_USER;
        break;
    case FIND_NEXT_USER:
        code = take_next_name(find, at->app, at->user, &any, error);
        at->step = any ? FIND_USER : FIND_NEXT_SESSION;
        break;
    case FIND_USER:
        code = find_in_owner(find, at->user, error);
        at->step = FIND_USER_ARTIFACTS;
        break;
    case FIND_USER_ARTIFACTS:
        code = ses__find_in_artifact(find, &of_user, &any, error);
        at->step = any ? FIND_USER_ARTIFACTS : FIND_NEXT_LOOSE;
        break;
    case FIND_NEXT_LOOSE:
        code = ses__find_next_loose(find, &any, error);
        at->step = any                                ? FIND_LOOSE_ARTIFACTS
                   : find->scope && find->scope->user ? FIND_NEXT_SESSION
                                                      : FIND_NEXT_USER;
        if (!any)
            at->session[0] = '\0';
        break;
    case FIND_LOOSE_ARTIFACTS:
        code = ses__find_in_artifact(find, &loose, &any, error);
        at->step = any ? FIND_LOOSE_ARTIFACTS : FIND_NEXT_LOOSE;
        break;
    case FIND_NEXT_SESSION:
        at->user[0] = '\0';
        code = find_in_next_session(find, &any, error);
        at->step = any ? FIND_STATES : FIND_NEXT_APP;
        break;
    case FIND_ONE_SESSION:
        code = find_in_one_session(find, error);
        at->step = FIND_STATES;
        break;
    default:
        code = at->step == FIND_END ? SES_OK : step_in_session(find, error);
        break;
    }
    return code;
}
