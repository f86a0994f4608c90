/* The example server's traces, and the end of requests whose time is over or whose client has gone. */
#include "server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define SESSIONS "/apps/secretary/users/ann/sessions"

static const ses_key key = {"secretary", "ann", "one"};
static struct server server;
static char *trace_path;

static int setup_with(void **state, const char *timeout_ms)
{
    const struct folder *folder;
    int result = folder_setup(state);

    folder = *state;
    trace_path = support_path(folder->folder, "trace.jsonl");
    server = (struct server){.options = {"--trace", trace_path, "--timeout", timeout_ms}};
    server_start_at(&server, folder->path, "0");
    tell(&server, 200, "POST", SESSIONS "/one", "{}");
    return result;
}

static int setup(void **state)
{
    return setup_with(state, "60000");
}

static int setup_impatient(void **state)
{
    return setup_with(state, "200");
}

static int teardown(void **state)
{
    server_stop(&server);
    free(trace_path);
    return folder_teardown(state);
}

/* ------------------------------------------------------------------------------------------------ reading */

/* The spans of the trace, in their order, each of one line after the other; cJSON_Delete. */
static cJSON *read_spans(void)
{
    cJSON *spans = cJSON_CreateArray();
    size_t len = 0;
    char *text = support_read_file(trace_path, &len);
    char *rest = NULL;

    assert_non_null(text);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        cJSON *json = cJSON_Parse(line);
        const cJSON *resource =
            cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(json, "resourceSpans"), 0);
        const cJSON *scope = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(resource, "scopeSpans"), 0);
        cJSON *found = cJSON_GetObjectItemCaseSensitive(scope, "spans");
        assert_true(cJSON_GetArraySize(found) > 0);
        while (found->child)
            assert_true(cJSON_AddItemToArray(spans, cJSON_DetachItemFromArray(found, 0)));
        cJSON_Delete(json);
    }
    free(text);
    return spans;
}

/* The last span of that name, or NULL. */
static const cJSON *find_span(const cJSON *spans, const char *name)
{
    const cJSON *found = NULL;
    const cJSON *span = NULL;

    cJSON_ArrayForEach(span, spans) if (strcmp(member(span, "name"), name) == 0) found = span;
    return found;
}

/* The last span of that name directly below another. */
static const cJSON *find_below(const cJSON *spans, const cJSON *parent, const char *name)
{
    const char *id = member(parent, "spanId");
    const cJSON *found = NULL;
    const cJSON *span = NULL;

    cJSON_ArrayForEach(span, spans)
    {
        const char *above = member(span, "parentSpanId");
        if (strcmp(member(span, "name"), name) == 0 && above && strcmp(above, id) == 0)
            found = span;
    }
    return found;
}

/* The spans, as soon as those of these names are there: a request is traced after its reply. */
static cJSON *await_spans(const char *first, const char *second)
{
    cJSON *spans = read_spans();

    for (int i = 0; i < 500 && !(find_span(spans, first) && find_span(spans, second)); i++) {
        support_pause_us(20000);
        cJSON_Delete(spans);
        spans = read_spans();
    }
    return spans;
}

/* The value of an attribute as text, or NULL. */
static const char *attribute(const cJSON *span, const char *name)
{
    const cJSON *item = NULL;

    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(span, "attributes"))
    {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, "value");
        if (strcmp(member(item, "key"), name) == 0)
            return member(value, "intValue") ? member(value, "intValue") : member(value, "stringValue");
    }
    return NULL;
}

static int64_t nanoseconds(const cJSON *span, const char *name)
{
    const char *text = member(span, name);

    assert_non_null(text);
    return strtoll(text, NULL, 10);
}

static bool is_hex(const char *text, size_t len)
{
    return text && strlen(text) == len && strspn(text, "0123456789abcdef") == len;
}

/* ------------------------------------------------------------------------------------------------- traces */

#define SERVER_TRACE_TEST(name) TEST_WITH(struct folder *folder, setup, teardown, name)

SERVER_TRACE_TEST(each_call_is_a_span_below_its_request)
{
    cJSON *body =
        cJSON_Parse("{\"userId\":\"ann\",\"sessionId\":\"one\",\"newMessage\":{\"parts\":[{\"text\":"
                    "\"note tea\"}]}}");
    char *text = cJSON_PrintUnformatted(body);

    tell(&server, 200, "POST", "/run", text);
    tell(&server, 404, "GET", SESSIONS "/none", NULL);
    cJSON *spans = await_spans("POST /run", "GET /apps/*/users/*/sessions/*");
    const cJSON *run = find_span(spans, "POST /run");
    const cJSON *get = find_span(spans, "GET /apps/*/users/*/sessions/*");
    assert_non_null(run);
    assert_non_null(get);
    const cJSON *append = find_below(spans, run, "ses_append");
    const cJSON *failed = find_below(spans, get, "ses_get");
    assert_non_null(append);
    assert_non_null(failed);
    assert_true(is_hex(member(run, "traceId"), 32) && is_hex(member(run, "spanId"), 16));
    assert_null(member(run, "parentSpanId"));
    assert_string_equal(member(append, "traceId"), member(run, "traceId"));
    assert_true(nanoseconds(run, "startTimeUnixNano") <= nanoseconds(append, "endTimeUnixNano"));
    assert_true(nanoseconds(append, "startTimeUnixNano") <= nanoseconds(append, "endTimeUnixNano"));
    assert_true(nanoseconds(append, "endTimeUnixNano") <= nanoseconds(run, "endTimeUnixNano"));
    assert_string_equal(attribute(run, "http.response.status_code"), "200");
    assert_string_equal(attribute(append, "seslite.code"), "0");
    assert_string_equal(attribute(get, "http.response.status_code"), "404");
    assert_string_equal(attribute(get, "url.path"), SESSIONS "/none");
    assert_string_equal(member(cJSON_GetObjectItemCaseSensitive(failed, "status"), "message"),
                        "SES_NOTFOUND");
    cJSON_Delete(spans);
    cJSON_free(text);
    cJSON_Delete(body);
}

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"

SERVER_TRACE_TEST(a_trace_of_the_client_is_continued)
{
    static const char *const bad[] = {"traceparent: 00-" TRACE "-" PARENT,
                                      "traceparent: ff-" TRACE "-" PARENT "-01",
                                      "traceparent: 00-00000000000000000000000000000000-" PARENT "-01",
                                      "traceparent: 00-" TRACE "-0000000000000000-01",
                                      "traceparent: 00-0AF7651916cd43dd8448eb211c80319c-" PARENT "-01",
                                      "traceparent: 00-" TRACE "-" PARENT "-01-more"};
    struct answer answer;

    request(&answer, &server, "GET", "/version", "traceparent: 00-" TRACE "-" PARENT "-01", NULL, 0);
    answer_free(&answer);
    request(&answer, &server, "GET", "/list-apps", "traceparent: 00-" TRACE "-" PARENT "-00", NULL, 0);
    answer_free(&answer);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        request(&answer, &server, "GET", "/health", bad[i], NULL, 0);
        assert_int_equal(answer.status, 200);
        answer_free(&answer);
    }
    cJSON *spans = await_spans("GET /version", "GET /health");
    const cJSON *continued = find_span(spans, "GET /version");
    assert_string_equal(member(continued, "traceId"), TRACE);
    assert_string_equal(member(continued, "parentSpanId"), PARENT);
    assert_null(find_span(spans, "GET /list-apps")); /* its client does not keep it */
    assert_string_not_equal(member(find_span(spans, "GET /health"), "traceId"), TRACE);
    assert_null(member(find_span(spans, "GET /health"), "parentSpanId"));
    cJSON_Delete(spans);
}

/* ------------------------------------------------------------------------------------------------- limits */

/* Another worker has the session. */
static ses_store *block_session(const struct folder *folder)
{
    const ses_lease_options long_lease = {.size = sizeof long_lease, .duration_us = INT64_C(600000000)};
    ses_lease lease;
    ses_error error;

    ses_store *store = must_open(folder->path, NULL);
    assert_ok(ses_lease_take(store, &key, "another worker", &long_lease, &lease, &error));
    return store;
}

static const char turn[] =
    "{\"userId\":\"ann\",\"sessionId\":\"one\",\"newMessage\":{\"parts\":[{\"text\":\"x\"}]}}";

TEST_WITH(struct folder *folder, setup_impatient, teardown, a_request_ends_when_its_time_is_over)
{
    ses_store *store = block_session(folder);
    struct answer answer;

    tell(&server, 503, "POST", "/run", turn);
    tell(&server, 503, "POST", SESSIONS "/one/messages", "x");
    request(&answer, &server, "POST", "/run_sse", NULL, turn, strlen(turn));
    assert_int_equal(answer.status, 200); /* it had begun */
    assert_non_null(strstr(answer.body.data, "data: {\"error\":"));
    assert_non_null(strstr(answer.body.data, "\"error_type\":\"SES_"));
    answer_free(&answer);
    cJSON *session = ask(&server, 200, "GET", SESSIONS "/one", NULL);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(session, "events")), 0);
    cJSON_Delete(session);
    ses_close(store);
}

static void hang_up_on(const char *path)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    struct text text = {NULL, 0};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)atoi(strrchr(server.url, ':') + 1));
    text_printf(
        &text,
        "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
        path, strlen(turn), turn);
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(send(client, text.data, text.len, MSG_NOSIGNAL), (ssize_t)text.len);
    support_pause_us(200000); /* for the turn to wait for the session */
    assert_int_equal(close(client), 0);
    free(text.data);
}

/* How many turns were interrupted while they waited for the lease. */
static int count_interrupted(void)
{
    char code[16];
    cJSON *spans = read_spans();
    const cJSON *span = NULL;
    int count = 0;

    snprintf(code, sizeof code, "%d", SES_INTERRUPTED);
    cJSON_ArrayForEach(span, spans) count += strcmp(member(span, "name"), "ses_lease_take") == 0 &&
                                             strcmp(attribute(span, "seslite.code"), code) == 0;
    cJSON_Delete(spans);
    return count;
}

SERVER_TRACE_TEST(a_client_that_goes_away_ends_its_turn)
{
    ses_store *store = block_session(folder);

    hang_up_on("/run");
    hang_up_on("/run_sse");
    for (int i = 0; i < 1000 && count_interrupted() < 2; i++) /* they would wait for a minute */
        support_pause_us(20000);
    assert_int_equal(count_interrupted(), 2);
    ses_close(store);
}

BEFORE_TESTS()
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}
