/* Bytes of artifacts that are put into the contents of a context, in place of the references to them. */
#include <stdlib.h>

#include "agent.h"
#include "open.h"
#include "seslite_artifact.h"

#define URI_OF(owner) "artifact://apps/app/users/user" owner "/artifacts/"
#define URI URI_OF("/sessions/session")
#define REFERENCE(uri) "{'fileData':{'fileUri':'" uri "'}}"
#define CONTENT(parts) "{'role':'user','parts':[" parts "]}"
#define EVENT(parts) "{'author':'user','content':" CONTENT(parts) "}"

static ses_context *open_inlined(ses_store *store, int64_t bytes)
{
    const ses_context_options options = {.size = sizeof options, .inline_bytes = bytes};
    ses_context *context = NULL;
    ses_error error;

    assert_ok(ses_context_open_by_key(store, &agent_key, &options, &context, &error));
    return context;
}

static void assert_content(const ses_context *context, size_t index, const char *expected)
{
    const ses_text content = ses_context_content(context, index);
    char text[2000];

    assert_true(content.len < sizeof text);
    snprintf(text, sizeof text, "%.*s", (int)content.len, content.text);
    assert_string_equal(text, expected);
}

static void save(ses_store *store, const char *name, const void *bytes, size_t len,
                 const ses_artifact_save_options *options)
{
    ses_error error;
    assert_ok(ses_artifact_save_by_key(store, &agent_key, name, bytes, len, options, NULL, &error));
}

static void save_text(ses_store *store, const char *name, const char *text)
{
    save(store, name, text, strlen(text), NULL);
}

/* Appends the event, whose inline data of more than that many bytes becomes artifacts. */
static void append_offloading(ses_store *store, const char *event, int64_t bytes)
{
    ses_append_options options = {.size = sizeof options};
    ses_error error;

    assert_ok(ses_artifacts_open(store, &agent_key, &options.artifacts, &error));
    assert_ok(ses_artifacts_offload(options.artifacts, bytes, &error));
    assert_ok(ses_append_by_key(store, &agent_key, event, SES_NUL, &options, NULL, &error));
    ses_artifacts_close(options.artifacts);
}

/* ------------------------------------------------------------------------------------------- put back */

TEST(offloaded_data_is_put_back)
{
    static const char parts[] =
        "{'text':'look'},{'inlineData':{'mimeType':'image/png','data':'aGVsbG8gd29ybGQ='},'x':1},"
        "{'inlineData':{'data':'AQI='}},"
        "{'inlineData':{'mimeType':'a\\/b','displayName':'t\\u0077o.txt','data':'c2Vjb25kIG9uZQ=='}}";
    ses_store *store = fixture->store;
    char content[1000];
    char event[1100];

    snprintf(content, sizeof content, Q(CONTENT("%s")), Q(parts));
    snprintf(event, sizeof event, Q("{'author':'user','invocationId':'i','content':%s}"), content);
    must_create(store, &agent_key, NULL);
    append_offloading(store, event, 5);
    ses_context *context = open_inlined(store, 1000);
    assert_content(context, 0, content);
    assert_non_null(strstr(ses_context_event(context, 0)->json, "fileUri"));
    ses_context_close(context);
    context = open_inlined(store, 0);
    assert_non_null(strstr(ses_context_content(context, 0).text, "fileUri"));
    ses_context_close(context);
}

/* Artifacts of each length up to more than is read at once, with bytes of all values. */
TEST(any_bytes_are_put_back)
{
    static const size_t lens[] = {1, 2, 3, 4, 255, 256, 65535, 65536, 4194304, 4194305, 9000001};
    const size_t longest = 9000001;
    ses_store *store = fixture->store;
    unsigned char *bytes = malloc(longest);

    assert_non_null(bytes);
    for (size_t i = 0; i < longest; i++)
        bytes[i] = (unsigned char)(i * 7 + (i >> 8));
    must_create(store, &agent_key, NULL);
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        char event[300];
        snprintf(event, sizeof event, Q(EVENT(REFERENCE(URI "a/versions/%zu"))), i);
        save(store, "a", bytes, lens[i], NULL);
        must_append_by_key(store, &agent_key, event);
    }
    /* Offloading the contents again gives the same bytes, which are stored once. */
    ses_context *context = open_inlined(store, INT64_MAX);
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        const ses_text content = ses_context_content(context, i);
        char *event = malloc(content.len + 100);
        ses_artifact *first = NULL;
        ses_artifact *again = NULL;
        const int64_t version = (int64_t)i;
        const ses_artifact_open_options options = {.size = sizeof options, .version = &version};
        snprintf(event, content.len + 100, Q("{'invocationId':'i%zu','content':%.*s}"), i, (int)content.len,
                 content.text);
        append_offloading(store, event, 0);
        snprintf(event, 100, "artifact_i%zu_0", i);
        assert_ok(ses_artifact_open_by_key(store, &agent_key, "a", &options, &first, &error));
        assert_ok(ses_artifact_open_by_key(store, &agent_key, event, NULL, &again, &error));
        assert_string_equal(ses_artifact_info_of(first)->hash, ses_artifact_info_of(again)->hash);
        ses_artifact_close(first);
        ses_artifact_close(again);
        free(event);
    }
    ses_context_close(context);
    free(bytes);
}

TEST(the_artifact_tells_what_the_reference_does_not)
{
    const ses_artifact_save_options named = {
        .size = sizeof named, .mime_type = "image/png", .display_name = "a \"name\""};
    ses_store *store = fixture->store;

    must_create(store, &agent_key, NULL);
    save(store, "user:a", "abc", 3, &named);
    must_append_by_key(store, &agent_key, Q(EVENT(REFERENCE(URI_OF("") "user:a/versions/0"))));
    must_append_by_key(store, &agent_key,
                       Q(EVENT("{'file_data':{'file_uri':'" URI
                               "user:a/v\\u0065rsions/0','mime_type':'x','display_name':'y'}}")));
    ses_context *context = open_inlined(store, 6);
    assert_content(
        context, 0,
        "{\"role\":\"user\",\"parts\":[{\"inlineData\":{\"mimeType\":\"image/png\",\"displayName\":\"a \\\"name\\\"\","
        "\"data\":\"YWJj\"}}]}");
    assert_content(context, 1, Q(CONTENT("{'inlineData':{'mimeType':'x','displayName':'y','data':'YWJj'}}")));
    ses_context_close(context);
}

TEST(a_summary_has_them_too)
{
    ses_store *store = fixture->store;

    must_create(store, &agent_key, NULL);
    save_text(store, "a", "abc");
    must_append_by_key(store, &agent_key,
                       Q("{'timestamp':2,'actions':{'compaction':{'startTimestamp':0,'endTimestamp':1,"
                         "'compactedContent':" CONTENT(REFERENCE(URI "a/versions/0")) "}}}"));
    ses_context *context = open_inlined(store, 6);
    assert_content(context, 0, Q(CONTENT("{'inlineData':{'data':'YWJj'}}")));
    ses_context_close(context);
}

/* --------------------------------------------------------------------------------------------- left */

/* The newest events come first, and what does not fit leaves room for what does. */
TEST(the_bytes_are_bounded)
{
    ses_store *store = fixture->store;

    must_create(store, &agent_key, NULL);
    save_text(store, "three", "abc");
    save_text(store, "five", "abcde");
    must_append_by_key(store, &agent_key, Q(EVENT(REFERENCE(URI "three/versions/0"))));
    must_append_by_key(store, &agent_key,
                       Q(EVENT(REFERENCE(URI "five/versions/0") "," REFERENCE(URI "three/versions/0"))));
    ses_context *context = open_inlined(store, 4);
    assert_content(context, 0, Q(CONTENT(REFERENCE(URI "three/versions/0"))));
    assert_content(context, 1,
                   Q(CONTENT(REFERENCE(URI "five/versions/0") ",{'inlineData':{'data':'YWJj'}}")));
    ses_context_close(context);
    context = open_inlined(store, 8);
    assert_content(context, 0, Q(CONTENT(REFERENCE(URI "three/versions/0"))));
    assert_content(context, 1,
                   Q(CONTENT("{'inlineData':{'data':'YWJjZGU='}},{'inlineData':{'data':'YWJj'}}")));
    ses_context_close(context);
}

TEST(other_references_stay)
{
    static const char *const parts[] = {
        REFERENCE(URI "none/versions/0"),
        REFERENCE(URI "a/versions/1"),
        REFERENCE(URI "a"),
        REFERENCE(URI "deleted/versions/0"),
        REFERENCE(URI "text/versions/0"),
        REFERENCE(URI "address/versions/0"),
        REFERENCE(URI "to_other/versions/0"),
        REFERENCE(URI "tombstone/versions/0"),
        REFERENCE(URI_OF("/sessions/other") "a/versions/0"),
        REFERENCE("artifact://apps/app/users/other/artifacts/user:a/versions/0"),
        REFERENCE("artifact://apps/other/users/user/artifacts/user:a/versions/0"),
        REFERENCE("https://example.com/a"),
        REFERENCE("\\ud800"),
        REFERENCE(URI "a\\u0000/versions/0"),
        REFERENCE("%s"),
        "{'fileData':{'fileUri':1}}",
        "{'fileData':1}",
        "{'inlineData':{},'fileData':{'fileUri':'" URI "a/versions/0'}}",
        "1"};
    const ses_key others[] = {
        {"app", "user", "other"}, {"app", "other", "session"}, {"other", "user", "session"}};
    const ses_artifact_save_options text = {.size = sizeof text, .kind = SES_ARTIFACT_TEXT};
    const ses_artifact_save_options uri = {.size = sizeof uri, .kind = SES_ARTIFACT_URI};
    const ses_artifact_save_options bytes = {.size = sizeof bytes, .mime_type = "application/octet-stream"};
    ses_store *store = fixture->store;

    must_create(store, &agent_key, NULL);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        must_create(store, &others[i], NULL);
        assert_ok(ses_artifact_save_by_key(store, &others[i], "a", "x", 1, NULL, NULL, &error));
        assert_ok(ses_artifact_save_by_key(store, &others[i], "user:a", "x", 1, NULL, NULL, &error));
    }
    save_text(store, "a", "abc");
    save_text(store, "deleted", "abc");
    assert_ok(ses_artifact_delete_by_key(store, &agent_key, "deleted", NULL, NULL, &error));
    save(store, "text", "abc", 3, &text);
    save(store, "address", "https://example.com", SES_NUL, &uri);
    save(store, "tombstone", "", 0, &bytes);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char content[1000];
        snprintf(content, sizeof content, "{'author':'user','content':" CONTENT("%s") "}", parts[i]);
        must_append_by_key(store, &agent_key, Q(content));
    }
    ses_context *context = open_inlined(store, 1000);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char content[1000];
        snprintf(content, sizeof content, CONTENT("%s"), parts[i]);
        assert_content(context, i, Q(content));
    }
    ses_context_close(context);
}

/* ------------------------------------------------------------------------------------------- failures */

TEST(a_negative_number_is_refused)
{
    const ses_context_options options = {.size = sizeof options, .inline_bytes = -1};
    ses_store *store = fixture->store;
    ses_context *context = NULL;

    must_create(store, &agent_key, NULL);
    assert_code(SES_INVALID, ses_context_open_by_key(store, &agent_key, &options, &context, &error));
    assert_message("inline_bytes");
    assert_null(context);
}

TEST(a_flipped_byte_is_corrupt)
{
    const ses_context_options options = {.size = sizeof options, .inline_bytes = 1000};
    ses_context *context = NULL;

    if (support_on_server())
        skip();
    must_create(fixture->store, &agent_key, NULL);
    save_text(fixture->store, "a", "abc");
    must_append_by_key(fixture->store, &agent_key, Q(EVENT(REFERENCE(URI "a/versions/0"))));
    raw_exec(fixture->path, "UPDATE artifact_chunks SET bytes = CAST('abd' AS BLOB)");
    assert_code(SES_CORRUPT, ses_context_open_by_key(fixture->store, &agent_key, &options, &context, &error));
    assert_message("the artifact \"a\"");
    assert_null(context);
    ses_context_close(open_inlined(fixture->store, 2));
}

/* The addresses in its events are those of the session that it comes from. */
TEST(a_fork_puts_back_its_own)
{
    static const char content[] =
        CONTENT("{'inlineData':{'mimeType':'image/png','data':'aGVsbG8gd29ybGQ='}}");
    const ses_key fork = {"app", "user", "fork"};
    const ses_context_options options = {.size = sizeof options, .inline_bytes = 1000};
    ses_store *store = fixture->store;
    ses_context *context = NULL;
    char event[300];

    snprintf(event, sizeof event, Q("{'author':'user','content':%s}"), Q(content));
    must_create(store, &agent_key, NULL);
    append_offloading(store, event, 5);
    assert_ok(ses_fork_by_key(store, &agent_key, NULL, &fork, NULL, NULL, &error));
    must_delete(store, &agent_key);
    assert_ok(ses_context_open_by_key(store, &fork, &options, &context, &error));
    assert_content(context, 0, Q(content));
    ses_context_close(context);
}
