/*
 * Requests to the example server, which runs in a thread of this process: the first line of the input is the
 * method and the path, then come headers, an empty line, and the body. The server answers any input or closes
 * the connection, goes on, and ends without a leak.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "fuzz.h"

/* After so many requests the server is started anew, to bound its store. */
enum { REQUESTS = 2000, ANSWER_S = 20 };

int server_main(int argc, char **argv);

static struct {
    pthread_t thread;
    bool runs;
    int status;
    int requests;
    char port[8];
} server;

static void *run_server(void *unused)
{
    char name[] = "server", port[] = "--port", lease[] = "--lease", lease_ms[] = "50",
         timeout[] = "--timeout", timeout_ms[] = "500", file[] = ":memory:";
    char *arguments[] = {name, port, server.port, lease, lease_ms, timeout, timeout_ms, file, NULL};

    (void)unused;
    optind = 1;
    server.status = server_main((int)(sizeof arguments / sizeof arguments[0]) - 1, arguments);
    return NULL;
}

static struct sockaddr_in address_of(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/* A port that is free now. */
static void choose_port(void)
{
    struct sockaddr_in address = address_of(0);
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    must(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    must(getsockname(fd, (struct sockaddr *)&address, &len) == 0);
    snprintf(server.port, sizeof server.port, "%d", ntohs(address.sin_port));
    (void)close(fd);
}

static void set_patience(int fd, time_t seconds, suseconds_t us)
{
    const struct timeval patience = {seconds, us};
    must(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
}

static int connect_to_server(void)
{
    const struct sockaddr_in address = address_of(atoi(server.port));
    int fd = -1;

    for (int i = 0; i < 1000; i++) {
        fd = socket(AF_INET, SOCK_STREAM, 0);
        must(fd >= 0);
        if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
            break;
        (void)close(fd);
        fd = -1;
        (void)usleep(10000);
    }
    must(fd >= 0);
    set_patience(fd, ANSWER_S, 0);
    return fd;
}

/* The signals that the server waits for are blocked, as its own program does first. */
static void start(void)
{
    sigset_t signals;

    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    must(pthread_sigmask(SIG_BLOCK, &signals, NULL) == 0);
    choose_port();
    must(pthread_create(&server.thread, NULL, run_server, NULL) == 0);
    server.runs = true;
    server.requests = 0;
}

static void stop(void)
{
    must(pthread_kill(server.thread, SIGTERM) == 0 && pthread_join(server.thread, NULL) == 0);
    must(server.status == 0);
    server.runs = false;
}

/* Otherwise the check for leaks at the end may meet the server while it starts. */
static void stop_at_exit(void)
{
    if (server.runs)
        stop();
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return atexit(stop_at_exit);
}

/* The server may have answered and closed before all is sent. */
static void send_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        const ssize_t sent = send(fd, data, len, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return;
        data += sent > 0 ? sent : 0;
        len -= sent > 0 ? (size_t)sent : 0;
    }
}

/* libFuzzer's alarm for slow inputs may come while this waits. */
static ssize_t receive(int fd, char *to, size_t size)
{
    ssize_t got = 0;

    do {
        got = recv(fd, to, size, 0);
    } while (got < 0 && errno == EINTR);
    return got;
}

/* Streams, and connections that a header has kept open, have no end: a moment without bytes ends the
 * answer. */
static void await_answer(int fd)
{
    char answer[4096];
    ssize_t got = receive(fd, answer, sizeof answer);

    must(got >= 0 || errno == ECONNRESET);
    set_patience(fd, 0, 50000);
    while (got > 0)
        got = receive(fd, answer, sizeof answer);
}

static void send_request(struct fuzz_input *input)
{
    static const char rest_of_first_line[] = " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n";
    const int fd = connect_to_server();
    char *line = fuzz_take_line(input);
    char length[128];

    send_all(fd, line, strlen(line));
    send_all(fd, rest_of_first_line, sizeof rest_of_first_line - 1);
    free(line);
    while (input->at < input->size && input->data[input->at] != '\n') {
        line = fuzz_take_line(input);
        send_all(fd, line, strlen(line));
        send_all(fd, "\r\n", 2);
        free(line);
    }
    input->at += input->at < input->size;
    const size_t rest = input->at < input->size ? input->size - input->at : 0;
    snprintf(length, sizeof length, "Content-Length: %zu\r\n\r\n", rest);
    send_all(fd, length, strlen(length));
    send_all(fd, (const char *)input->data + input->size - rest, rest);
    (void)shutdown(fd, SHUT_WR);
    await_answer(fd);
    (void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size, 0};

    if (server.runs && server.requests++ == REQUESTS)
        stop();
    if (!server.runs)
        start();
    if (size > 0)
        send_request(&input);
    return 0;
}
