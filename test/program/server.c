/* The example server, request by request. */
#include "server.h"

#define SESSIONS "/apps/office/users/ann/sessions"

static struct server server;

static int setup(void **state)
{
    const struct folder *folder;
    int result = folder_setup(state);

    folder = *state;
    server_start(&server, folder->path);
    return result;
}

static int teardown(void **state)
{
    server_stop(&server);
    return folder_teardown(state);
}

/* The path of a new session; free it. */
static char *create(const char *state)
{
    struct text body = {NULL, 0};
    text_printf(&body, "{\"state\":%s}", state ? state : "null");
    cJSON *session = ask(&server, 200, "POST", SESSIONS, body.data);
    struct text path = {NULL, 0};

    text_printf(&path, SESSIONS "/%s", member(session, "id"));
    cJSON_Delete(session);
    free(body.data);
    return path.data;
}

/* The path of something of a session; free it. */
static char *below(const char *path, const char *what)
{
    struct text text = {NULL, 0};
    text_printf(&text, "%s/%s", path, what);
    return text.data;
}

static void say(const char *session, const char *message, const char *answer)
{
    char *messages = below(session, "messages");
    cJSON *event = ask(&server, 200, "POST", messages, message);

    assert_string_equal(member(event, "author"), "secretary");
    assert_string_equal(event_text(event), answer);
    cJSON_Delete(event);
    free(messages);
}

/* ------------------------------------------------------------------------------------------- sessions */

#define SERVER_TEST(name) TEST_WITH(struct folder *folder, setup, teardown, name)

SERVER_TEST(a_session_is_created_shown_and_deleted)
{
    char *path = create("{\"user:plan\":\"gold\",\"topic\":\"tea\"}");
    cJSON *session = ask(&server, 200, "GET", path, NULL);
    const cJSON *values = cJSON_GetObjectItemCaseSensitive(session, "state");

    assert_string_equal(member(session, "appName"), "office");
    assert_string_equal(member(session, "userId"), "ann");
    assert_string_equal(member(values, "user:plan"), "gold");
    assert_string_equal(member(values, "topic"), "tea");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(session, "events")), 0);
    assert_true(cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(session, "lastUpdateTime")));
    cJSON_Delete(session);
    tell(&server, 200, "DELETE", path, NULL);
    tell(&server, 404, "GET", path, NULL);
    tell(&server, 200, "DELETE", path, NULL); /* as google-adk has it */
    free(path);
}

SERVER_TEST(the_model_answers_and_its_tool_changes_the_users_state)
{
    char *first = create(NULL);
    char *second = create(NULL);

    say(first, "Hello", "Hello Notes: .");
    say(first, "note buy \"tea\"", "Noted. Notes: [\"buy \\\"tea\\\"\"].");
    say(second, "And here?", "And here? Notes: [\"buy \\\"tea\\\"\"].");
    cJSON *session = ask(&server, 200, "GET", first, NULL);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(session, "events")), 6);
    cJSON_Delete(session);
    free(first);
    free(second);
}

SERVER_TEST(a_list_shows_titles_and_ends)
{
    const char *token = NULL;
    char *path = create(NULL);

    say(path, "What a long first message this is: nobody reads all of it, but for its beginning",
        "What a long first message this is: nobody reads all of it, but for its beginning Notes: .");
    free(path);
    free(create(NULL));
    cJSON *page = ask(&server, 200, "GET", SESSIONS "?limit=1", NULL);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(page, "sessions")), 1);
    token = member(page, "next");
    assert_non_null(token);
    struct text next = {NULL, 0};
    text_printf(&next, SESSIONS "?limit=1&token=%s", token);
    cJSON *other = ask(&server, 200, "GET", next.data, NULL);
    assert_null(member(other, "next"));
    const cJSON *item = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(other, "sessions"), 0);
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(page, "sessions"), 0);
    const char *title = member(item, "title") ? member(item, "title") : member(first, "title");
    assert_string_equal(title, "What a long first message this is: nobody reads all of it, but ");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(
                         cJSON_GetObjectItemCaseSensitive(item, "session"), "state")),
                     0);
    free(next.data);
    cJSON_Delete(other);
    cJSON_Delete(page);
}

static int listed(const char *query)
{
    struct text path = {NULL, 0};
    text_printf(&path, SESSIONS "%s", query);
    cJSON *page = ask(&server, 200, "GET", path.data, NULL);
    int count = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(page, "sessions"));
    cJSON_Delete(page);
    free(path.data);
    return count;
}

SERVER_TEST(a_list_is_filtered_by_label)
{
    char *path = create(NULL);
    char *label = below(path, "labels/folder");

    free(create(NULL));
    tell(&server, 204, "PUT", label, "work & play");
    assert_int_equal(listed("?limit=10"), 2);
    assert_int_equal(listed("?label=folder"), 1);
    assert_int_equal(listed("?label=folder&value=work%20%26%20play"), 1);
    assert_int_equal(listed("?label=folder&value=home"), 0);
    tell(&server, 400, "GET", SESSIONS "?value=home", NULL);
    tell(&server, 204, "DELETE", label, NULL);
    assert_int_equal(listed("?label=folder"), 0);
    free(label);
    free(path);
}

SERVER_TEST(shared_state_is_set_without_a_session)
{
    cJSON *app = ask(&server, 200, "PATCH", "/apps/office/state", "{\"motd\":\"hi\",\"old\":1}");

    cJSON_Delete(app);
    app = ask(&server, 200, "PATCH", "/apps/office/state", "{\"old\":\"__ADK_SENTINEL_REMOVED__\"}");
    assert_string_equal(member(app, "motd"), "hi");
    assert_int_equal(cJSON_GetArraySize(app), 1);
    cJSON_Delete(app);
    tell(&server, 200, "PATCH", "/apps/office/users/ann/state", "{\"plan\":\"gold\"}");
    tell(&server, 400, "PATCH", "/apps/office/users/ann/state", "{\"user:plan\":\"gold\"}");
    tell(&server, 400, "PATCH", "/apps/office/users/ann/state", NULL);
    char *path = create(NULL);
    cJSON *session = ask(&server, 200, "GET", path, NULL);
    const cJSON *values = cJSON_GetObjectItemCaseSensitive(session, "state");
    assert_string_equal(member(values, "app:motd"), "hi");
    assert_string_equal(member(values, "user:plan"), "gold");
    cJSON_Delete(session);
    free(path);
}

SERVER_TEST(deleting_a_user_leaves_nothing_of_it)
{
    char *path = create("{\"user:plan\":\"gold\",\"app:motd\":\"hi\"}");

    tell(&server, 204, "DELETE", "/apps/office/users/ann", NULL);
    tell(&server, 404, "GET", path, NULL);
    free(path);
    path = create(NULL);
    cJSON *session = ask(&server, 200, "GET", path, NULL);
    const cJSON *values = cJSON_GetObjectItemCaseSensitive(session, "state");
    assert_int_equal(cJSON_GetArraySize(values), 1);
    assert_string_equal(member(values, "app:motd"), "hi");
    cJSON_Delete(session);
    free(path);
}

/* ------------------------------------------------------------------------------------------ sent again */

SERVER_TEST(a_message_that_is_sent_again_is_answered_with_the_same_event)
{
    static const char header[] = "Idempotency-Key: request-1";
    char *path = create(NULL);
    char *messages = below(path, "messages");
    struct answer once;
    struct answer twice;

    request(&once, &server, "POST", messages, header, "note tea", 8);
    request(&twice, &server, "POST", messages, header, "note tea", 8);
    assert_int_equal(once.status, 200);
    assert_int_equal(twice.status, 200);
    assert_string_equal(once.body.data, twice.body.data);
    answer_free(&twice);
    request(&twice, &server, "POST", messages, header, "note coffee", 11);
    assert_int_equal(twice.status, 409); /* one id, two messages */
    cJSON *session = ask(&server, 200, "GET", path, NULL);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(session, "events")), 4);
    cJSON_Delete(session);
    answer_free(&twice);
    answer_free(&once);
    free(messages);
    free(path);
}

/* The members that all events of the server have. */
static void add_common_members(ses_builder *builder)
{
    static const char *const actions[] = {"artifactDelta", "requestedAuthConfigs",
                                          "requestedToolConfirmations"};
    ses_error error;

    assert_ok(ses_builder_field(builder, "nodeInfo", "{\"path\":\"\"}", SES_NUL, &error));
    assert_ok(ses_builder_delta(builder, "{}", SES_NUL, &error));
    for (size_t i = 0; i < 3; i++)
        assert_ok(ses_builder_action(builder, actions[i], "{}", SES_NUL, &error));
}

/* The remains of a server that was killed while its tool worked. */
static void leave_call(const char *path)
{
    static const char call[] =
        "{\"author\":\"secretary\",\"invocationId\":\"r\",\"content\":{\"role\":\"model\",\"parts\":["
        "{\"functionCall\":{\"id\":\"f\",\"name\":\"note\",\"args\":{\"note\":\"tea\"}}}]}}";
    const ses_key key = {"office", "ann", "cut"};
    ses_builder *builder = NULL;
    ses_error error;

    ses_store *store = must_open(path, NULL);
    must_create(store, &key, NULL);
    assert_ok(ses_builder_open(store, "user", "r", &builder, &error));
    assert_ok(ses_builder_field_string(builder, "id", "r", SES_NUL, &error));
    add_common_members(builder);
    assert_ok(ses_builder_text(builder, "note tea", SES_NUL, &error));
    must_append_by_key(store, &key, ses_builder_json(builder, NULL));
    must_append_by_key(store, &key, call);
    ses_builder_close(builder);
    ses_close(store);
}

SERVER_TEST(a_turn_that_was_cut_off_is_mended_and_finished)
{
    struct answer reply;

    leave_call(folder->path);
    request(&reply, &server, "POST", SESSIONS "/cut/messages", "Idempotency-Key: r", "note tea", 8);
    assert_int_equal(reply.status, 200);
    answer_free(&reply);
    cJSON *session = ask(&server, 200, "GET", SESSIONS "/cut", NULL);
    const cJSON *events = cJSON_GetObjectItemCaseSensitive(session, "events");
    const cJSON *content = cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(events, 2), "content");
    const cJSON *part = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(content, "parts"), 0);
    const cJSON *response = cJSON_GetObjectItemCaseSensitive(part, "functionResponse");
    assert_string_equal(member(response, "id"), "f");
    assert_string_equal(member(cJSON_GetObjectItemCaseSensitive(response, "response"), "error"),
                        "interrupted");
    assert_string_equal(event_text(cJSON_GetArrayItem(events, 3)), "Noted. Notes: .");
    assert_int_equal(cJSON_GetArraySize(events), 4);
    cJSON_Delete(session);
}

/* ------------------------------------------------------------------------------------------- bad input */

SERVER_TEST(a_request_that_makes_no_sense_is_refused)
{
    char *path = create(NULL);
    char *messages = below(path, "messages");
    const size_t too_long = 17 * 1024 * 1024;
    char *long_body = calloc(1, too_long + 1);

    assert_non_null(long_body);
    memset(long_body, 'x', too_long);
    tell(&server, 404, "GET", "/", NULL);
    tell(&server, 404, "GET", "/apps//users/ann/sessions", NULL);
    tell(&server, 404, "GET", "/apps/office/users/ann%00/sessions", NULL);
    tell(&server, 404, "GET", "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s", NULL);
    tell(&server, 405, "PUT", SESSIONS, NULL);
    tell(&server, 422, "POST", SESSIONS, "{\"a\":}");
    tell(&server, 422, "POST", SESSIONS, "[]");
    tell(&server, 400, "GET", SESSIONS "?limit=many", NULL);
    tell(&server, 400, "GET", SESSIONS "?token=none", NULL);
    tell(&server, 400, "GET", "/apps/%ff/users/ann/sessions", NULL);
    tell(&server, 413, "POST", messages, long_body);
    tell(&server, 400, "POST", messages, "\xff");
    tell(&server, 404, "POST", SESSIONS "/none/messages", "Hello");
    free(long_body);
    free(messages);
    free(path);
}

SERVER_TEST(an_id_may_hold_any_character)
{
    cJSON *session = ask(&server, 200, "POST", "/apps/a%2Fb/users/%C3%BC%20%22/sessions", NULL);
    struct text path = {NULL, 0};

    assert_string_equal(member(session, "appName"), "a/b");
    assert_string_equal(member(session, "userId"), "\xc3\xbc \"");
    text_printf(&path, "/apps/a%%2Fb/users/%%C3%%BC%%20%%22/sessions/%s", member(session, "id"));
    tell(&server, 200, "GET", path.data, NULL);
    free(path.data);
    cJSON_Delete(session);
}

BEFORE_TESTS()
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}
