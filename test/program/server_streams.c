/* Streams of the example server that nobody reads any more, and those in which nothing happens. */
#include <dirent.h>

#include "server.h"

/* The others are connections of SQLite, and requests that are ending. */
enum { STREAMS = 200, QUIET_S = 15, OTHERS = 20 };

static const char path[] = "/apps/secretary/users/ann/sessions/one";

static int open_stream(const struct server *server)
{
    const int client = connect_to_server(server);
    char text[300];
    const int len = snprintf(text, sizeof text, "GET %s/events HTTP/1.1\r\nHost: %s\r\n\r\n", path,
                             server->url + strlen("http://"));

    assert_true(send_text(client, text, (size_t)len));
    char *reply = receive(client, "\r\n\r\n");
    assert_non_null(strstr(reply, " 200 "));
    free(reply);
    return client;
}

static int count_descriptors(const struct server *server)
{
    char name[64];
    int count = 0;

    snprintf(name, sizeof name, "/proc/%d/fd", (int)server->pid);
    DIR *folder = opendir(name);
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    (void)closedir(folder);
    return count;
}

FOLDER_TEST(streams_end_when_their_clients_leave)
{
    struct server server;
    int clients[STREAMS];

    if (access("/proc/self/fd", R_OK) != 0)
        skip();
    server_start(&server, folder->path);
    tell(&server, 200, "POST", path, NULL);
    const int stays = open_stream(&server);
    const int before = count_descriptors(&server);
    for (int i = 0; i < STREAMS; i++)
        clients[i] = open_stream(&server);
    assert_true(count_descriptors(&server) > before + STREAMS - OTHERS);
    for (int i = 0; i < STREAMS; i++)
        assert_int_equal(close(clients[i]), 0);
    for (int tries = 0; tries < 100 && count_descriptors(&server) > before + OTHERS; tries++)
        support_pause_us(100000);
    assert_true(count_descriptors(&server) <= before + OTHERS);

    /* The stream that is read goes on. */
    tell(&server, 200, "POST", "/apps/secretary/users/ann/sessions/one/messages", "hello");
    char *reply = receive(stays, "hello");
    assert_non_null(strstr(reply, "data: "));
    free(reply);
    (void)close(stays);
    server_stop(&server);
}

FOLDER_TEST(a_quiet_stream_gets_a_comment)
{
    const int64_t begun_us = support_steady_us();
    struct server server;

    server_start(&server, folder->path);
    tell(&server, 200, "POST", path, NULL);
    const int client = open_stream(&server);
    for (int i = 0; i < 2; i++) {
        char *reply = receive(client, "\n:\n\n");
        assert_non_null(strstr(reply, "\n:\n\n"));
        assert_null(strstr(reply, "data:"));
        free(reply);
    }
    assert_in_range(support_steady_us() - begun_us, 2 * (QUIET_S - 1) * 1000000, 3 * QUIET_S * 1000000);
    (void)close(client);
    server_stop(&server);
}

BEFORE_TESTS()
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}
