/* Reads the store in every way and compares it with the model. */
#ifndef SESLITE_TEST_PROPERTY_CHECK_H
#define SESLITE_TEST_PROPERTY_CHECK_H

#include "session/property_model.h"

static void check_event(const ses_event *found, const struct event *expected, int seq)
{
    assert_int_equal(found->seq, seq);
    assert_string_equal(found->id, expected->id);
    assert_string_equal(found->invocation_id, invocations[expected->invocation]);
    assert_int_equal(found->time_us, expected->time_us);
    if (expected->brings_id && expected->brings_time) {
        assert_string_equal(found->json, expected->stored);
    } else { /* what was missing stands at the front */
        size_t behind = strlen(expected->stored) - 1;
        assert_true(found->json_len > behind);
        assert_string_equal(found->json + found->json_len - behind, expected->stored + 1);
    }
}

/* A session as it is stored now: read whole, by key, and by a cursor. */
static void check_slot(ses_store *store, struct model *model, int slot)
{
    const struct session *session = &model->sessions[slot];
    const ses_key key = key_of(slot);
    const ses_cursor_options options = {.size = sizeof options,
                                        .flags = once_in(model, 2) ? SES_CURSOR_BACKWARD : 0};
    scope_values view[SCOPES];
    char json[2000];
    char *text = NULL;
    ses_cursor *cursor = NULL;
    const ses_event *event = NULL;
    ses_error error;
    int code = ses_state_json_by_key(store, &key, NULL, &text, NULL, &error);

    assert_code(session->exists ? SES_OK : SES_NOTFOUND, code);
    if (session->exists) {
        clear_values(view[TEMP]);
        model_view(model, slot, view);
        assert_string_equal(text, view_json(view, json));
        assert_ok(ses_cursor_open(store, &key, &options, &cursor, &error));
        for (int i = 0; i < session->count; i++) {
            int at = options.flags ? session->count - 1 - i : i;
            assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
            check_event(event, &session->events[at], at + 1);
        }
        assert_ok(ses_cursor_next(cursor, &event, &error));
        assert_ok(ses_cursor_close(cursor, &error));
    }
    ses_free(text);
}

/* Does the session `a` come before `b`? -1, 1, or 0 where that is open: same time and id of two users. */
static int compare_in_order(const struct model *model, int order, int a, int b)
{
    const struct session *left = &model->sessions[a];
    const struct session *right = &model->sessions[b];
    int by_time = left->updated_us < right->updated_us ? -1 : left->updated_us > right->updated_us;
    int by_id = strcmp(session_ids[a % NAMES], session_ids[b % NAMES]);

    if (order == SES_ORDER_CREATED)
        return left->number < right->number ? -1 : 1;
    by_time = order == SES_ORDER_NEWEST ? -by_time : by_time;
    return by_time != 0 ? by_time : by_id;
}

static int slot_of(const ses_session *session)
{
    int found = -1;
    for (int slot = 0; slot < SLOTS; slot++) {
        const ses_key key = key_of(slot);
        if (strcmp(key.app, ses_session_app(session)) == 0 &&
            strcmp(key.user, ses_session_user(session)) == 0 &&
            strcmp(key.session, ses_session_id(session)) == 0)
            found = slot;
    }
    return found;
}

/* `user` USERS: all of them. */
static void check_list(ses_store *store, const struct model *model, int app, int user, int order,
                       size_t limit)
{
    ses_list_options options = {.size = sizeof options, .order = order, .limit = limit};
    const char *user_id = user < USERS ? user_ids[user] : NULL;
    bool seen[SLOTS] = {false};
    int before = -1;
    ses_page *last = NULL;
    ses_error error;

    do {
        ses_page *page = NULL;
        assert_ok(ses_list(store, app_ids[app], user_id, &options, &page, &error));
        for (size_t i = 0; i < ses_page_count(page); i++) {
            const ses_session *session = ses_page_session(page, i);
            int slot = slot_of(session);
            scope_values view[SCOPES];
            char json[2000];
            assert_true(slot >= 0 && model->sessions[slot].exists && app_of(slot) == app);
            assert_true(user == USERS || user_of(slot) == user);
            assert_false(seen[slot]);
            seen[slot] = true;
            clear_values(view[TEMP]);
            model_view(model, slot, view);
            assert_string_equal(support_state(session, NULL), view_json(view, json));
            assert_int_equal(ses_session_version(session), version_of(&model->sessions[slot]));
            assert_int_equal(ses_session_updated_us(session), model->sessions[slot].updated_us);
            if (before >= 0)
                assert_true(compare_in_order(model, order, before, slot) <= 0);
            before = slot;
        }
        options.token = ses_page_token(page);
        ses_page_close(last);
        last = page;
    } while (options.token);
    ses_page_close(last);
    for (int slot = 0; slot < SLOTS; slot++)
        assert_int_equal(seen[slot], model->sessions[slot].exists && app_of(slot) == app &&
                                         (user == USERS || user_of(slot) == user));
}

#endif
