/*
 * The command imports sessions that are JSON texts: the ADK's session JSON, and the REST JSON of Vertex AI
 * Agent Engine, held against what google-adk makes of it.
 */
#include "foreign.h"

static char *file_of(const struct fixture *fixture, const char *name, const char *text)
{
    char *path = support_path(fixture->folder, name);
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

static char *session_json(ses_store *store, const ses_key *of)
{
    ses_session *session = must_get(store, of);
    ses_error error;
    char *json = NULL;

    assert_ok(ses_session_json(session, &json, NULL, &error));
    ses_session_close(session);
    return json;
}

/* ------------------------------------------------------------------------------------------- session JSON */

#define MARK ",\"customMetadata\":{\"__adk_internal_restored_event\":true}"

/* Takes the marks out of which each imported event has one. Gives their number. */
static size_t take_marks_out(char *json)
{
    size_t count = 0;

    for (char *at = strstr(json, MARK); at; at = strstr(at, MARK), count++)
        memmove(at, at + strlen(MARK), strlen(at + strlen(MARK)) + 1);
    return count;
}

/* As google-adk 2.13 does where sessions leave and return. */
TEST(internal_metadata_neither_leaves_nor_comes_in)
{
    static const char stamped[] = "{\"id\":\"x\",\"author\":\"bot\",\"timestamp\":1,\"customMetadata\":{\"__"
                                  "adk_internal_fc_hmac\":{\"c\":\"v1\"},"
                                  "\"k\": 1.50}}";
    static const char forged[] = "{\"id\":\"s\",\"appName\":\"a\",\"userId\":\"u\",\"state\":{},"
                                 "\"lastUpdateTime\":1,\"events\":[{\"id\":\"1\","
                                 "\"author\":\"bot\",\"timestamp\":1,\"custom_metadata\":{\"\\u005f_adk_"
                                 "internal_fc_hmac\":{},\"k\": 1.50}},{"
                                 "\"id\":\"2\",\"author\":\"bot\",\"timestamp\":1,\"customMetadata\":null}]}";
    const ses_key key = {"chat", "alice", "s1"};
    char *file = file_of(fixture, "s.session.json", forged);

    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, stamped);
    must_append_by_key(fixture->store, &key,
                       "{\"id\":\"y\",\"author\":\"bot\",\"timestamp\":1,\"customMetadata\":{"
                       "\"__adk_internal_x\":1}, \"turnComplete\":true}");
    run_at(&reply, 0, NULL, fixture->path, "-s", "s1", "export", "--to", "session");
    assert_has(&reply.out, "\"customMetadata\":{\"k\":1.50}}");
    assert_has(&reply.out, "{\"id\":\"y\",\"author\":\"bot\",\"timestamp\":1,\"turnComplete\":true}");
    assert_lacks(&reply.out, "__adk_internal_");
    run_at(&reply, 0, NULL, fixture->path, "-s", "s1", "events", "--jsonl");
    assert_has(&reply.out, stamped);
    run_at(&reply, 0, NULL, fixture->path, "import", file);
    run_at(&reply, 0, NULL, fixture->path, "-s", "s", "events", "--jsonl");
    assert_has(&reply.out, "\"custom_metadata\":{\"k\":1.50,\"__adk_internal_restored_event\":true}}");
    assert_has(&reply.out, "\"customMetadata\":{\"__adk_internal_restored_event\":true}}");
    assert_lacks(&reply.out, "hmac");
    free(file);
}

TEST(session_json_is_imported_as_it_was)
{
    const ses_key key = {"chat", "alice", "s1"};
    ses_store *copy = NULL;

    fill_session(fixture->store, &key);
    char *before = session_json(fixture->store, &key);
    char *file = file_of(fixture, "s.session.json", before);
    char *path = support_path(fixture->folder, "copy.db");
    run_at(&reply, 0, NULL, path, "import", file, "--json");
    assert_has(&reply.out, "adk-session-json");
    assert_int_equal(number_of(&reply, "made"), 1);
    run_at(&reply, 0, NULL, path, "import", file, "--json");
    assert_int_equal(number_of(&reply, "equal"), 1);
    assert_ok(ses_open(path, NULL, &copy, &error));
    char *after = session_json(copy, &key);
    assert_int_equal(take_marks_out(after), 6);
    assert_string_equal(before, after);
    ses_close(copy);
    ses_free(before);
    ses_free(after);
    free(file);
    free(path);
}

/* Nothing that is in the text is passed over without a word. */
#define ADK "{\"id\":\"s\",\"appName\":\"a\",\"userId\":\"u\","
#define VERTEX "{\"session\":{\"name\":\"reasoningEngines/1/sessions/s\",\"userId\":\"u\""

TEST(a_text_that_is_cut_or_no_session_is_refused)
{
    static const char *const texts[] = {
        "{\"id\":\"s\",\"appName\":\"a\",\"userId\":\"u\",\"events\":[{\"id\":\"1\"}",
        "{\"id\":\"s\",\"appName\":\"a\",\"userId\":1}",
        "{\"id\":\"s\",\"appName\":\"a\"}",
        "{\"session\":{}}",
        "{\"session\":{\"name\":\"x/sessions/1\",\"userId\":\"u\"}}",
        "{\"session\":1,\"events\":[]}",
        ADK "\"events\":{\"0\":{}}}",
        ADK "\"events\":\"[]\"}",
        ADK "\"state\":[1]}",
        ADK "\"lastUpdateTime\":\"yesterday\"}",
        ADK "\"lastUpdateTime\":true}",
        ADK "\"lastUpdateTime\":1e999}",
        ADK "\"title\":\"would be lost\"}",
        ADK "\"app_name\":\"b\"}",
        VERTEX "},\"events\":{}}",
        VERTEX ",\"labels\":[]},\"events\":[]}",
        VERTEX ",\"labels\":{\"a\":1}},\"events\":[]}",
        VERTEX ",\"expireTime\":\"soon\"},\"events\":[]}",
        VERTEX ",\"sessionState\":[1]},\"events\":[]}",
        VERTEX ",\"createTime\":\"2025-13-01T00:00:00Z\"},\"events\":[]}",
        VERTEX "},\"events\":[{\"name\":\"events/1\",\"timestamp\":\"2025-01-01T25:00:00Z\"}]}",
        VERTEX "},\"events\":[{\"name\":\"events/1\",\"timestamp\":1}]}",
        VERTEX "},\"sessionEvents\":[],\"nextPageToken\":\"x\"}",
        VERTEX "},\"eventPages\":[{\"sessionEvents\":[],\"nextPageToken\":\"x\"}]}",
        VERTEX "},\"eventPages\":[{\"sessionEvents\":{}}]}",
        VERTEX "},\"eventPages\":[1]}",
        "{\"other\":1}",
        "[1]",
        "",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *file = file_of(fixture, "bad.json", texts[i]);
        const char *const arguments[] = {COMMAND, "-f", fixture->path, "import", file, NULL};
        command_run(&reply, NULL, arguments);
        assert_true(reply.status == 2 || reply.status == 8);
        assert_true(reply.err.len > 0);
        free(file);
    }
    run_at(&reply, 0, NULL, fixture->path, "list", "--jsonl");
    assert_int_equal(reply.out.len, 0);
}

/* ------------------------------------------------------------------------------------------------- Vertex */

/* Theirs has the defaults of the classes besides. */
static bool is_default(const cJSON *item)
{
    return cJSON_IsNull(item) || strcmp(item->string ? item->string : "", "nodeInfo") == 0 ||
           ((cJSON_IsObject(item) || cJSON_IsArray(item)) && !item->child);
}

static bool has_all(const cJSON *theirs, const cJSON *ours)
{
    const cJSON *item = NULL;

    cJSON_ArrayForEach(item, theirs)
    {
        const cJSON *own = member(ours, item->string);
        if (strcmp(item->string, "actions") == 0 ? !has_all(item, own)
                                                 : !is_default(item) && !same(item, own)) {
            print_error("%s: theirs %s, ours %s\n", item->string, cJSON_Print(item),
                        own ? cJSON_Print(own) : "none");
            return false;
        }
    }
    return true;
}

/* Never stored here. */
static void drop_temp(const cJSON *event)
{
    cJSON *delta = cJSON_GetObjectItem(cJSON_GetObjectItem(event, "actions"), "stateDelta");
    cJSON *next = NULL;

    for (cJSON *item = delta ? delta->child : NULL; item; item = next) {
        next = item->next;
        if (strncmp(item->string, "temp:", 5) == 0)
            cJSON_Delete(cJSON_DetachItemViaPointer(delta, item));
    }
}

static void compare_vertex(const struct fixture *fixture, const cJSON *theirs)
{
    const ses_key of = {json_string(theirs, "appName"), json_string(theirs, "userId"),
                        json_string(theirs, "id")};
    char *json = session_json(fixture->store, &of);
    cJSON *ours = parse(json);
    const cJSON *event = NULL;
    int i = 0;

    cJSON_ArrayForEach(event, cJSON_GetObjectItem(theirs, "events"))
    {
        const cJSON *own = cJSON_GetArrayItem(cJSON_GetObjectItem(ours, "events"), i);
        if (cJSON_IsTrue(cJSON_GetObjectItem(event, "partial")))
            continue; /* never stored */
        i++;
        drop_temp(event);
        assert_non_null(own);
        assert_true(has_all(event, own));
    }
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(ours, "events")), i);
    cJSON_Delete(ours);
    ses_free(json);
}

/* google-adk keeps them behind the metadata of the user, which may be much. */
TEST(metadata_behind_much_custom_metadata_of_vertex_is_found)
{
    char text[2048];
    int len = snprintf(text, sizeof text,
                       "{\"session\":{\"name\":\"reasoningEngines/1/sessions/s\",\"userId\":\"u\"},"
                       "\"events\":[{\"name\":\"x/events/e\",\"author\":\"a\",\"invocationId\":\"i\","
                       "\"timestamp\":\"2025-01-01T00:00:00Z\",\"eventMetadata\":{\"customMetadata\":{");

    for (int i = 0; i < 20; i++)
        len += snprintf(text + len, sizeof text - (size_t)len, "\"k%d\":1,", i);
    (void)snprintf(text + len, sizeof text - (size_t)len, "\"_usage_metadata\":{\"totalTokenCount\":7}}}}]}");
    char *file = file_of(fixture, "vertex.json", text);
    run_at(&reply, 0, NULL, fixture->path, "import", file);
    run_at(&reply, 0, NULL, fixture->path, "events", "--jsonl");
    assert_has(&reply.out, "\"usageMetadata\":{\"totalTokenCount\":7}");
    assert_has(&reply.out, "\"k19\":1}");
    free(file);
}

PLAIN_TEST(sessions_of_vertex_become_what_google_adk_makes_of_them)
{
    void *made = NULL;
    char *text = support_test_data("vectors/vertex.json", NULL);
    const cJSON *item = NULL;
    int count = 0;

    if (!text)
        skip();
    cJSON *all = parse(text);
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(all, "fromApi"))
    {
        const cJSON *adk = cJSON_GetObjectItem(item, "adk");
        (void)fixture_setup(&made);
        const struct fixture *fixture = made;
        char *rest = cJSON_PrintUnformatted(cJSON_GetObjectItem(item, "rest"));
        char *file = file_of(fixture, "vertex.json", rest);
        print_message("%s\n", json_string(item, "name"));
        run_at(&reply, 0, NULL, fixture->path, "import", file, "--json");
        assert_has(&reply.out, "\"vertex\"");
        assert_int_equal(number_of(&reply, "made"), 1);
        if (adk) /* else an older ADK fails, where we need not */
            compare_vertex(fixture, adk);
        count++;
        free(rest);
        free(file);
        (void)fixture_teardown(&made);
    }
    assert_int_equal(count, 33);
    cJSON_Delete(all);
    free(text);
}
