/* The example server, and clients that mean harm or know no better. After each it still answers. */
#include "server.h"

#define SESSIONS "/apps/secretary/users/ann/sessions"

static struct server server;

static int setup(void **state)
{
    const struct folder *folder;
    int result = folder_setup(state);

    folder = *state;
    server = (struct server){.options = {"--web", folder->folder}};
    server_start_at(&server, folder->path, "0");
    return result;
}

static int teardown(void **state)
{
    tell(&server, 200, "GET", "/health", NULL);
    server_stop(&server);
    return folder_teardown(state);
}

/* ------------------------------------------------------------------------------------------------ sockets */

/* Sends the text, and expects a reply that begins so and holds that. */
static void expect_raw(const char *sent, const char *status, const char *part)
{
    const int client = connect_to_server(&server);

    assert_true(send_text(client, sent, strlen(sent)));
    char *reply = receive(client, part);
    if (strncmp(reply, status, strlen(status)) != 0 || !strstr(reply, part))
        print_error("%s\n", reply);
    assert_int_equal(strncmp(reply, status, strlen(status)), 0);
    assert_non_null(strstr(reply, part));
    free(reply);
    assert_int_equal(close(client), 0);
}

/* The beginning of a TLS handshake. A newer libmicrohttpd hangs up at once, an older one answers first. */
static void expect_no_tls(void)
{
    static const char hello[] = "\x16\x03\x01 hello\r\n\r\n";
    const int client = connect_to_server(&server);

    assert_true(send_text(client, hello, sizeof hello - 1));
    char *reply = receive(client, NULL);
    assert_true(reply[0] == '\0' || strstr(reply, " 400 "));
    free(reply);
    assert_int_equal(close(client), 0);
}

#define HOST "Host: localhost\r\n"

#define SERVER_HOSTILE_TEST(name) TEST_WITH(struct folder *folder, setup, teardown, name)

SERVER_HOSTILE_TEST(requests_that_are_none_are_refused)
{
    expect_no_tls();
    expect_raw("GET / FTP/9\r\n\r\n", "HTTP/1.", "\r\n");
    expect_raw("BREW /health HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 405", "Method Not Allowed");
    expect_raw("GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 403", "host not allowed");
    expect_raw("GET /health HTTP/1.1\r\n" HOST "Origin: http://evil.example\r\n\r\n", "HTTP/1.1 403",
               "origin not allowed");
}

SERVER_HOSTILE_TEST(a_half_request_is_forgotten)
{
    static const char *const halves[] = {
        "G", "POST /run HTTP/1.1\r\nHost: loc",
        "POST /run HTTP/1.1\r\n" HOST
        "Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{\"userId\":"};

    for (size_t i = 0; i < sizeof halves / sizeof halves[0]; i++) {
        const int client = connect_to_server(&server);
        assert_true(send_text(client, halves[i], strlen(halves[i])));
        assert_int_equal(close(client), 0);
    }
}

SERVER_HOSTILE_TEST(requests_in_one_piece_are_answered_in_order)
{
    static const char both[] =
        "GET /health HTTP/1.1\r\n" HOST "\r\n"
        "POST " SESSIONS " HTTP/1.1\r\n" HOST
        "Content-Type: application/json\r\nContent-Length: 19\r\n\r\n{\"sessionId\":\"two\"}"
        "GET " SESSIONS "/two HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n";
    const int client = connect_to_server(&server);

    assert_true(send_text(client, both, sizeof both - 1));
    char *reply = receive(client, NULL);
    const char *health = strstr(reply, "{\"status\":\"ok\"}");
    const char *created = health ? strstr(health, "\"id\":\"two\"") : NULL;
    assert_non_null(created);
    assert_non_null(strstr(created + 1, "\"id\":\"two\""));
    free(reply);
    assert_int_equal(close(client), 0);
}

/* ------------------------------------------------------------------------------------------------- bodies */

SERVER_HOSTILE_TEST(a_body_that_is_announced_too_long_is_not_read)
{
    expect_raw("POST /run HTTP/1.1\r\n" HOST
               "Content-Type: application/json\r\nContent-Length: 10000000000\r\n\r\n{",
               "HTTP/1.1 413", "too long");
}

SERVER_HOSTILE_TEST(a_body_without_an_end_is_cut_off)
{
    static const char head[] =
        "POST /run HTTP/1.1\r\n" HOST "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    char *chunk = malloc(65536 + 8);
    const int client = connect_to_server(&server);
    bool goes_on = true;

    assert_non_null(chunk);
    memset(chunk, '[', 65536 + 8);
    memcpy(chunk, "10000\r\n", 7);
    memcpy(chunk + 7 + 65536 - 1, "\r\n", 2); /* one byte less than it says: the end is part of it */
    assert_true(send_text(client, head, sizeof head - 1));
    for (int i = 0; goes_on && i < 2000; i++)
        goes_on = send_text(client, chunk, 65536 + 8);
    assert_false(goes_on);
    assert_int_equal(close(client), 0);
    free(chunk);
}

/* Each is allowed, but not all at once. */
SERVER_HOSTILE_TEST(many_long_bodies_at_once_are_refused)
{
    enum { CLIENTS = 12, LEN = 15 * 1024 * 1024 };
    char *body = malloc(LEN);
    int clients[CLIENTS];
    int refused = 0;
    char head[256];

    assert_non_null(body);
    memset(body, ' ', LEN);
    snprintf(head, sizeof head,
             "POST /run HTTP/1.1\r\n" HOST
             "Content-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n",
             LEN);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = connect_to_server(&server);
        assert_true(send_text(clients[i], head, strlen(head)) && send_text(clients[i], body, LEN - 1));
    }
    for (int i = 0; i < CLIENTS; i++) {
        assert_true(send_text(clients[i], " ", 1));
        char *reply = receive(clients[i], NULL);
        refused += strncmp(reply, "HTTP/1.1 503", 12) == 0;
        assert_true(strncmp(reply, "HTTP/1.1 503", 12) == 0 || strncmp(reply, "HTTP/1.1 422", 12) == 0);
        free(reply);
        assert_int_equal(close(clients[i]), 0);
    }
    free(body);
    assert_in_range(refused, 1, CLIENTS - 1);
    tell(&server, 422, "POST", "/run", "{}");
}

SERVER_HOSTILE_TEST(json_that_is_hostile_is_refused)
{
    enum { DEPTH = 100000 };
    static const struct {
        long status;
        const char *body;
    } bodies[] = {{422, "{\"sessionId\":\"a\"} {}"},
                  {422, "{\"sessionId\":\"a\",}"},
                  {422, "{\"sessionId\":\"\xff\"}"},
                  {422, "{\"sessionId\":\"a\nb\"}"},
                  {422, "{\"state\":{\"n\":01}}"},
                  {422, "{\"state\":{\"n\":NaN}}"},
                  {422, "'{}'"},
                  {400, "{\"sessionId\":\"\\ud800\"}"},
                  {400, "{\"sessionId\":\"a\\u0000b\"}"},
                  {400, "{\"state\":{\"a\\u0000\":1}}"},
                  {200, "{\"sessionId\":\"first\",\"sessionId\":\"last\"}"}};
    char *deep = malloc(DEPTH + 1);

    assert_non_null(deep);
    memset(deep, '[', DEPTH);
    deep[DEPTH] = '\0';
    tell(&server, 422, "POST", SESSIONS, deep);
    free(deep);
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        tell(&server, bodies[i].status, "POST", SESSIONS, bodies[i].body);
    tell(&server, 404, "GET", SESSIONS "/first", NULL);
    tell(&server, 200, "GET", SESSIONS "/last", NULL);
}

/* ------------------------------------------------------------------------------------------------- paths */

SERVER_HOSTILE_TEST(ids_are_taken_as_they_are_or_not_at_all)
{
    struct text path = {NULL, 0};

    tell(&server, 404, "GET", "/apps/secretary/users/ann%00x/sessions", NULL);
    tell(&server, 404, "POST", SESSIONS "/s%00", "{}");
    tell(&server, 400, "POST", SESSIONS "/%ff", "{}");
    tell(&server, 200, "POST", SESSIONS "/..%2f..%2fetc", "{}");
    cJSON *session = ask(&server, 200, "GET", SESSIONS "/..%2f..%2fetc", NULL);
    assert_string_equal(member(session, "id"), "../../etc");
    cJSON_Delete(session);
    text_printf(&path, "%s/%0600d", SESSIONS, 1);
    tell(&server, 400, "POST", path.data, "{}");
    free(path.data);
}

/* The folder of the page lies in a folder that has the store, which must not be served. */
SERVER_HOSTILE_TEST(only_files_of_the_page_are_served)
{
    static const char *const paths[] = {
        "/dev-ui/../store.db", "/dev-ui/..%2fstore.db", "/dev-ui/%2e%2e/store.db", "/dev-ui/.hidden",
        "/dev-ui/inner",       "/dev-ui/none.js",       "/dev-ui/%2fetc/passwd",   "/dev-ui/"};
    char *inner = support_path(folder->folder, "inner");
    char *file = support_path(inner, "main.js");
    char *hidden = support_path(inner, ".hidden");
    struct server web = {.options = {"--web", inner}};

    assert_int_equal(mkdir(inner, 0700), 0);
    write_file(file, "js", 2);
    write_file(hidden, "no", 2);
    const struct server without = server;
    server_start_at(&web, folder->path, "0");
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct answer answer;
        request(&answer, &web, "GET", paths[i], NULL, NULL, 0);
        assert_int_equal(answer.status, 404);
        answer_free(&answer);
    }
    struct answer answer;
    request(&answer, &web, "GET", "/dev-ui/main.js", NULL, NULL, 0);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.body.data, "js");
    assert_non_null(strstr(answer.headers.data, "text/javascript"));
    answer_free(&answer);
    server_stop(&web);
    server = without;
    free(inner);
    free(file);
    free(hidden);
}

SERVER_HOSTILE_TEST(head_is_a_get_without_its_body)
{
    struct answer answer;

    tell(&server, 200, "POST", SESSIONS "/one", "{}");
    request(&answer, &server, "HEAD", SESSIONS "/one", NULL, NULL, 0);
    assert_int_equal(answer.status, 200);
    assert_int_equal(answer.body.len, 0);
    assert_non_null(strstr(answer.headers.data, "Content-Length: "));
    assert_null(strstr(answer.headers.data, "Content-Length: 0"));
    answer_free(&answer);
    request(&answer, &server, "HEAD", SESSIONS "/none", NULL, NULL, 0);
    assert_int_equal(answer.status, 404);
    answer_free(&answer);
}

BEFORE_TESTS()
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}
