/* The command imports a database of the OpenAI Agents SDK. */
#include "foreign.h"

/* As SQLiteSession makes it. */
static const char schema[] =
    "CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP DEFAULT "
    "CURRENT_TIMESTAMP,"
    " updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);"
    "CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,"
    " message_data TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,"
    " FOREIGN KEY (session_id) REFERENCES agent_sessions (session_id) ON DELETE CASCADE);"
    "CREATE INDEX idx_agent_messages_session_id ON agent_messages (session_id, created_at);"
    "INSERT INTO agent_sessions VALUES ('conversation_1', '2025-08-01 10:00:00', '2025-08-01 10:05:00'),"
    " ('empty', '2025-08-01 11:00:00', '2025-08-01 11:00:00')";

static const char *const items[] = {
    "{\"role\":\"user\",\"content\":\"What is the weather in \\ud83c\\udf0a Oslo?\"}",
    "{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[]}",
    "{\"arguments\":\"{\\\"city\\\":\\\"Oslo\\\",\\\"n\\\":1.10}\",\"call_id\":\"call_1\",\"name\":\"get_"
    "weather\","
    "\"type\":\"function_call\",\"id\":\"fc_1\",\"status\":\"completed\"}",
    "{\"call_id\":\"call_1\",\"output\":\"sunny\",\"type\":\"function_call_output\"}",
    "{\"id\":\"msg_1\",\"content\":[{\"annotations\":[],\"text\":\"It is sunny.\",\"type\":\"output_text\"}],"
    "\"role\":\"assistant\",\"status\":\"completed\",\"type\":\"message\"}",
    "{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"And this?\"},"
    "{\"type\":\"input_image\",\"image_url\":\"https://x\"}]}",
    "{\"arguments\":\"not json\",\"call_id\":\"call_2\",\"name\":\"f\",\"type\":\"function_call\"}",
};

static char *make(const struct fixture *fixture)
{
    char *path = support_path(fixture->folder, "conversations.db");
    sqlite3 *db = raw_open(path);
    sqlite3_stmt *statement = NULL;

    raw_run(db, schema);
    assert_int_equal(
        sqlite3_prepare_v2(db,
                           "INSERT INTO agent_messages (session_id, message_data, created_at) VALUES"
                           " ('conversation_1', ?1, '2025-08-01 10:00:0' || ?2)",
                           -1, &statement, NULL),
        SQLITE_OK);
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        (void)sqlite3_bind_text(statement, 1, items[i], -1, SQLITE_STATIC);
        (void)sqlite3_bind_int(statement, 2, (int)i);
        assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
        (void)sqlite3_reset(statement);
    }
    (void)sqlite3_finalize(statement);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return path;
}

static void assert_content(const ses_session *session, size_t index, const char *author, const char *turn,
                           const char *content)
{
    const ses_event *event = ses_session_event(session, index);
    cJSON *json = cJSON_Parse(event->json);
    cJSON *due = content ? cJSON_Parse(content) : NULL;
    cJSON *item = cJSON_Parse(items[index]);

    assert_non_null(json);
    assert_string_equal(event->author, author);
    assert_string_equal(event->invocation_id, turn);
    if (content)
        assert_true(cJSON_Compare(cJSON_GetObjectItem(json, "content"), due, true));
    else
        assert_null(cJSON_GetObjectItem(json, "content"));
    /* The item is whole, with its bytes. */
    assert_non_null(strstr(event->json, items[index]));
    assert_true(cJSON_Compare(
        item, cJSON_GetObjectItem(cJSON_GetObjectItem(json, "customMetadata"), "openaiItem"), true));
    cJSON_Delete(item);
    cJSON_Delete(due);
    cJSON_Delete(json);
}

TEST(items_become_events)
{
    char *path = make(fixture);

    run_at(&reply, 0, NULL, fixture->path, "import", path, "--json");
    assert_int_equal(number_of(&reply, "made"), 2);
    assert_int_equal(number_of(&reply, "events"), 7);
    assert_has(&reply.out, "\"kind\":\"converted\",\"count\":2");
    assert_has(&reply.out, "It contains no app");
    ses_session *session = must_get(fixture->store, &(ses_key){"openai-agents", "user", "conversation_1"});
    assert_content(
        session, 0, "user", "turn-1",
        "{\"role\":\"user\",\"parts\":[{\"text\":\"What is the weather in \\ud83c\\udf0a Oslo?\"}]}");
    assert_content(session, 1, "assistant", "turn-1", NULL);
    assert_content(
        session, 2, "assistant", "turn-1",
        "{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"id\":\"call_1\",\"name\":\"get_weather\","
        "\"args\":{\"city\":\"Oslo\",\"n\":1.10}}}]}");
    assert_non_null(strstr(ses_session_event(session, 2)->json, "\"n\":1.10}"));
    assert_content(
        session, 3, "assistant", "turn-1",
        "{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"id\":\"call_1\",\"name\":\"get_weather\","
        "\"response\":{\"result\":\"sunny\"}}}]}");
    assert_content(session, 4, "assistant", "turn-1",
                   "{\"role\":\"model\",\"parts\":[{\"text\":\"It is sunny.\"}]}");
    assert_content(session, 5, "user", "turn-6", "{\"role\":\"user\",\"parts\":[{\"text\":\"And this?\"}]}");
    assert_content(
        session, 6, "assistant", "turn-6",
        "{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"id\":\"call_2\",\"name\":\"f\",\"args\":"
        "{\"arguments\":\"not json\"}}}]}");
    assert_int_equal(ses_session_event(session, 3)->time_us, INT64_C(1754042403000000));
    assert_int_equal(ses_session_updated_us(session), INT64_C(1754042700000000));
    ses_session_close(session);
    run_at(&reply, 0, NULL, fixture->path, "import", path, "--json");
    assert_int_equal(number_of(&reply, "equal"), 2);
    run_at(&reply, 0, NULL, fixture->path, "import", path, "--to-app", "support", "--to-user", "alice");
    ses_session_close(must_get(fixture->store, &(ses_key){"support", "alice", "conversation_1"}));
    free(path);
}

TEST(an_item_that_is_no_object_is_named)
{
    char *path = make(fixture);

    raw_exec(path, "UPDATE agent_messages SET message_data = '[1' WHERE id = 5");
    run_at(&reply, 2, NULL, fixture->path, "import", path);
    assert_has(&reply.err, "openai-agents/user/conversation_1: event 5: at byte 2: ");
    free(path);
}

/* As the SDK itself does. */
TEST(a_bad_item_does_not_cost_its_conversation)
{
    char *path = make(fixture);

    raw_exec(path, "UPDATE agent_messages SET message_data = '{broken' WHERE id = 2");
    run_at(&reply, 0, NULL, fixture->path, "import", path, "--skip", "--json");
    assert_has(&reply.err, "openai-agents/user/conversation_1: event 2: ");
    assert_int_equal(number_of(&reply, "made"), 2);
    assert_int_equal(number_of(&reply, "events"), 6);
    ses_session *session = must_get(fixture->store, &(ses_key){"openai-agents", "user", "conversation_1"});
    assert_int_equal(ses_session_event_count(session), 6);
    assert_string_equal(ses_session_event(session, 1)->id, "item-3");
    ses_session_close(session);
    run_at(&reply, 0, NULL, fixture->path, "import", path, "--skip", "--json");
    assert_int_equal(number_of(&reply, "equal"), 2);
    run_at(&reply, 2, NULL, fixture->path, "import", path);
    free(path);
}

/* As AdvancedSQLiteSession makes them: from turn 2 of main on, `rome` has other items; items 1 and 2 are in
 * both. */
static const char branches[] =
    "CREATE TABLE message_structure (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, message_id"
    " INTEGER NOT NULL, branch_id TEXT NOT NULL DEFAULT 'main', message_type TEXT NOT NULL, sequence_number INTEGER"
    " NOT NULL, user_turn_number INTEGER, branch_turn_number INTEGER, tool_name TEXT, created_at TIMESTAMP DEFAULT"
    " CURRENT_TIMESTAMP);"
    "CREATE TABLE turn_usage (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, branch_id TEXT NOT NULL"
    " DEFAULT 'main', user_turn_number INTEGER NOT NULL, requests INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0,"
    " output_tokens INTEGER DEFAULT 0, total_tokens INTEGER DEFAULT 0, input_tokens_details JSON,"
    " output_tokens_details JSON, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);"
    "INSERT INTO agent_messages (session_id, message_data, created_at) VALUES"
    " ('c', '{\"role\":\"user\",\"content\":\"a flight\"}', '2025-08-01 10:00:00'),"
    " ('c', '{\"role\":\"assistant\",\"content\":\"to where?\"}', '2025-08-01 10:00:01'),"
    " ('c', '{\"role\":\"user\",\"content\":\"Oslo\"}', '2025-08-01 10:00:02'),"
    " ('c', '{\"role\":\"user\",\"content\":\"Rome\"}', '2025-08-01 10:00:03'),"
    " ('c', '{\"role\":\"assistant\",\"content\":\"booked\"}', '2025-08-01 10:00:04');"
    "INSERT INTO agent_messages (session_id, message_data) VALUES ('empty', '{\"role\":\"user\",\"content\":\"hi\"}');"
    "INSERT INTO agent_sessions VALUES ('c', '2025-08-01 10:00:00', '2025-08-01 10:00:04');"
    "INSERT INTO message_structure (session_id, message_id, branch_id, message_type, sequence_number,"
    " user_turn_number) VALUES ('c', 1, 'main', 'user', 1, 1), ('c', 2, 'main', 'assistant', 2, 1),"
    " ('c', 3, 'main', 'user', 3, 2), ('c', 1, 'rome', 'user', 1, 1), ('c', 2, 'rome', 'assistant', 2, 1),"
    " ('c', 4, 'rome', 'user', 3, 2), ('c', 5, 'rome', 'assistant', 4, 2);"
    "INSERT INTO turn_usage (session_id, branch_id, user_turn_number, input_tokens, output_tokens, total_tokens,"
    " input_tokens_details, output_tokens_details) VALUES ('c', 'main', 1, 10, 5, 15, '{\"cached_tokens\":4}',"
    " '{\"reasoning_tokens\":2}'), ('c', 'rome', 2, 20, 6, 26, 'x', NULL)";

static void assert_usage(const ses_session *session, size_t index, const char *expected)
{
    const char *json = ses_session_event(session, index)->json;

    if (expected ? !strstr(json, expected) : strstr(json, "usageMetadata") != NULL)
        fail_msg("%s", json);
}

TEST(a_branch_becomes_a_fork)
{
    char *path = support_path(fixture->folder, "branches.db");
    int64_t seq = 0;

    raw_exec(path, schema);
    raw_exec(path, branches);
    run_at(&reply, 0, NULL, fixture->path, "import", path, "--json");
    assert_has(&reply.out, "\"format\":\"openai-agents-branches\"");
    assert_int_equal(number_of(&reply, "made"), 4); /* and two that are in no branch */
    assert_int_equal(number_of(&reply, "events"), 8);
    ses_session *main_branch = must_get(fixture->store, &(ses_key){"openai-agents", "user", "c"});
    ses_session *rome = must_get(fixture->store, &(ses_key){"openai-agents", "user", "c~rome"});
    assert_null(ses_session_parent(main_branch, NULL));
    const ses_key *parent = ses_session_parent(rome, &seq);
    assert_non_null(parent);
    assert_string_equal(parent->session, "c");
    assert_int_equal(seq, 2);
    assert_int_equal(ses_session_event_count(main_branch), 3);
    assert_int_equal(ses_session_event_count(rome), 4);
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(ses_session_event(rome, i)->json, ses_session_event(main_branch, i)->json);
    assert_string_equal(ses_session_event(rome, 2)->id, "item-4");
    assert_usage(rome, 0, NULL);
    assert_usage(
        rome, 1,
        "\"usageMetadata\":{\"promptTokenCount\":10,\"candidatesTokenCount\":3,\"totalTokenCount\":15,"
        "\"cachedContentTokenCount\":4,\"thoughtsTokenCount\":2}");
    assert_usage(rome, 3,
                 "\"usageMetadata\":{\"promptTokenCount\":20,\"candidatesTokenCount\":6,"
                 "\"totalTokenCount\":26}");
    assert_usage(main_branch, 2, NULL);
    ses_session_close(main_branch);
    ses_session_close(rome);
    run_at(&reply, 0, NULL, fixture->path, "import", path, "--json");
    assert_int_equal(number_of(&reply, "equal"), 4);
    raw_exec(path, "UPDATE agent_messages SET message_data = 'x' WHERE id = 2");
    run_at(&reply, 0, NULL, fixture->path, "import", path, "--skip", "--to-app", "skipped");
    rome = must_get(fixture->store, &(ses_key){"skipped", "user", "c~rome"});
    (void)ses_session_parent(rome, &seq);
    assert_int_equal(seq, 1);
    ses_session_close(rome);
    run_ok("check");
    free(path);
}
