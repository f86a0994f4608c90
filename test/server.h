/* The example server as its users meet it: the program, started on a file, and requests over HTTP. */
#ifndef SESLITE_TEST_SERVER_H
#define SESLITE_TEST_SERVER_H

#include "open.h"

#include <cjson/cJSON.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

/* -------------------------------------------------------------------------------------------- the program */

struct server {
    pid_t pid;
    char url[64];
    const char *lease_ms;   /* NULL: the program's default */
    const char *options[5]; /* more arguments; the first NULL ends them */
};

/* In the child. */
static inline void server_exec(const struct server *server, const char *file, const char *port)
{
    const char *arguments[16] = {SERVER, "--port", port, "--lease",
                                 server->lease_ms ? server->lease_ms : "10000"};
    size_t count = 5;

    for (size_t i = 0; i < 5 && server->options[i]; i++)
        arguments[count++] = server->options[i];
    arguments[count] = file;
    execv(SERVER, (char **)(uintptr_t)arguments);
    _exit(127);
}

/* Starts the program on that port, "0": any that is free, and waits until it listens. */
static inline void server_start_at(struct server *server, const char *file, const char *port)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    server->pid = fork();
    assert_true(server->pid >= 0);
    if (server->pid == 0) {
        (void)dup2(ends[1], 1);
        (void)close(ends[0]);
        (void)close(ends[1]);
        server_exec(server, file, port);
    }
    (void)close(ends[1]);
    FILE *out = fdopen(ends[0], "r");
    assert_non_null(out);
    assert_non_null(fgets(server->url, sizeof server->url, out));
    (void)fclose(out);
    server->url[strcspn(server->url, "\n")] = '\0';
}

static inline void server_start(struct server *server, const char *file)
{
    *server = (struct server){.pid = 0};
    server_start_at(server, file, "0");
}

static inline void server_kill(struct server *server)
{
    assert_int_equal(kill(server->pid, SIGKILL), 0);
    assert_int_equal(waitpid(server->pid, NULL, 0), server->pid);
}

/* Starts it again where it was. */
static inline void server_restart(struct server *server, const char *file)
{
    char port[8];
    snprintf(port, sizeof port, "%s", strrchr(server->url, ':') + 1);
    server_start_at(server, file, port);
}

/* It must end of itself, with success. */
static inline void server_stop(struct server *server)
{
    int status = 0;

    assert_int_equal(kill(server->pid, SIGTERM), 0);
    assert_int_equal(waitpid(server->pid, &status, 0), server->pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ----------------------------------------------------------------------------------------------- requests */

struct answer {
    long status; /* 0: there was none */
    struct text headers;
    struct text body;
};

static inline size_t answer_add_header(char *data, size_t bytes, size_t len, void *context)
{
    struct answer *answer = context;
    (void)bytes; /* always 1 */
    text_add(&answer->headers, data, len);
    return len;
}

static inline size_t answer_add(char *data, size_t bytes, size_t len, void *context)
{
    struct answer *answer = context;
    (void)bytes; /* always 1 */
    text_add(&answer->body, data, len);
    return len;
}

/* `header` and `body` may be NULL. */
static inline void request(struct answer *answer, const struct server *server, const char *method,
                           const char *path, const char *header, const char *body, size_t body_len)
{
    struct text url = {NULL, 0};
    struct curl_slist *headers = header ? curl_slist_append(NULL, header) : NULL;
    CURL *curl = curl_easy_init();

    *answer = (struct answer){.status = 0};
    text_add(&answer->headers, "", 0);
    text_add(&answer->body, "", 0);
    text_printf(&url, "%s%s", server->url, path);
    assert_non_null(curl);
    (void)curl_easy_setopt(curl, CURLOPT_URL, url.data);
    (void)curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT, 120L);
    (void)curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    (void)curl_easy_setopt(curl, CURLOPT_NOBODY, (long)(strcmp(method, "HEAD") == 0));
    headers = curl_slist_append(headers, "Content-Type: application/json");
    (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, answer_add_header);
    (void)curl_easy_setopt(curl, CURLOPT_HEADERDATA, answer);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, answer_add);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    if (body) {
        (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
        (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)body_len);
    }
    if (curl_easy_perform(curl) == CURLE_OK)
        (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer->status);
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    free(url.data);
}

static inline void answer_free(struct answer *answer)
{
    free(answer->headers.data);
    free(answer->body.data);
}

/* A request that must end so. Gives the JSON of its reply, or NULL if it has none; cJSON_Delete. */
static inline cJSON *ask(const struct server *server, long status, const char *method, const char *path,
                         const char *body)
{
    struct answer answer;

    request(&answer, server, method, path, NULL, body ? body : "", body ? strlen(body) : 0);
    if (answer.status != status)
        print_error("%s %s: %ld %s\n", method, path, answer.status, answer.body.data);
    assert_int_equal(answer.status, status);
    cJSON *json = cJSON_Parse(answer.body.data);
    assert_true(json || answer.body.len == 0);
    answer_free(&answer);
    return json;
}

/* The same for a reply that is not looked at. */
static inline void tell(const struct server *server, long status, const char *method, const char *path,
                        const char *body)
{
    cJSON_Delete(ask(server, status, method, path, body));
}

/* ------------------------------------------------------------------------------------------------ sockets */

static inline int connect_to_server(const struct server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    const struct timeval patience = {.tv_sec = 20};
    const int client = socket(AF_INET, SOCK_STREAM, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)atoi(strrchr(server->url, ':') + 1));
    assert_true(client >= 0);
    assert_int_equal(setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    return client;
}

/* Returns false if the server hangs up. */
static inline bool send_text(int client, const char *text, size_t len)
{
    while (len > 0) {
        const ssize_t sent = send(client, text, len, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        text += sent;
        len -= (size_t)sent;
    }
    return true;
}

/* The server's output until it hangs up, or until that text; free it. */
static inline char *receive(int client, const char *until)
{
    struct text answer = {NULL, 0};
    char part[4096];
    ssize_t len;

    text_add(&answer, "", 0);
    while (!(until && strstr(answer.data, until)) && (len = recv(client, part, sizeof part, 0)) > 0)
        text_add(&answer, part, (size_t)len);
    return answer.data;
}

/* ------------------------------------------------------------------------------------------------ replies */

/* The text of an event's first part. */
static inline const char *event_text(const cJSON *event)
{
    const cJSON *content = cJSON_GetObjectItemCaseSensitive(event, "content");
    const cJSON *part = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(content, "parts"), 0);
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(part, "text"));
}

static inline const char *member(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

#endif
