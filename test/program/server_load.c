/* The example server under load: turns that come one after the other, streams that miss nothing, kills, two
 * servers. */
#include <pthread.h>
#include <stdatomic.h>

#include "server.h"

enum { CLIENTS = 12, MESSAGES = 5, KILLS = 8 };

static const char session_path[] = "/apps/office/users/ann/sessions/one";
static const ses_key key = {"office", "ann", "one"};

static void create_one(const struct folder *folder)
{
    ses_store *store = must_open(folder->path, NULL);
    must_create(store, &key, NULL);
    ses_close(store);
}

/* -------------------------------------------------------------------------------------------- clients */

struct client {
    const struct server *server;
    int number;
    const char *command; /* in front of each message */
    char path[100];
    atomic_bool *stops;  /* retries until then; NULL: every message is sent once */
    atomic_int refused;  /* replies other than 200 */
    atomic_int answered; /* messages */
    pthread_t thread;
};

static long post(const struct client *client, int message, struct answer *reply)
{
    char header[64];
    char path[120];
    char text[64];

    snprintf(header, sizeof header, "Idempotency-Key: c%d-m%d", client->number, message);
    snprintf(path, sizeof path, "%s/messages", client->path);
    snprintf(text, sizeof text, "%sc%d-m%d", client->command, client->number, message);
    request(reply, client->server, "POST", path, header, text, strlen(text));
    return reply->status;
}

/* Its messages come one after the other: the next when this one was answered. */
static void *run_client(void *context)
{
    struct client *client = context;

    for (int message = 0; message < MESSAGES;) {
        struct answer reply;
        long status = post(client, message, &reply);
        answer_free(&reply);
        if (status == 200) {
            atomic_fetch_add(&client->answered, 1);
            message++;
        } else {
            atomic_fetch_add(&client->refused, 1);
            if (!client->stops || atomic_load(client->stops))
                break;
            support_pause_us(20000);
        }
    }
    return NULL;
}

static void start_clients(struct client *clients, const struct server *server, const char *command,
                          atomic_bool *stops)
{
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.server = server, .number = i, .command = command, .stops = stops};
        snprintf(clients[i].path, sizeof clients[i].path, "%s", session_path);
        assert_int_equal(pthread_create(&clients[i].thread, NULL, run_client, &clients[i]), 0);
    }
}

static void end_clients(struct client *clients)
{
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(pthread_join(clients[i].thread, NULL), 0);
}

/* Every message is in the log once, in its client's order, and its answer comes right after it: no turn is
 * inside another. */
static void check_log(const struct folder *folder, int events_a_turn)
{
    int next[CLIENTS] = {0};

    ses_store *store = must_open(folder->path, NULL);
    ses_session *session = must_get(store, &key);
    assert_int_equal(ses_session_event_count(session), CLIENTS * MESSAGES * events_a_turn);
    for (size_t i = 0; i < ses_session_event_count(session); i++) {
        const ses_event *event = ses_session_event(session, i);
        int client = -1;
        int message = -1;
        assert_int_equal(sscanf(event->invocation_id, "c%d-m%d", &client, &message), 2);
        assert_in_range(client, 0, CLIENTS - 1);
        assert_int_equal(message, next[client]);
        assert_string_equal(event->author, i % (size_t)events_a_turn == 0 ? "user" : "secretary");
        if (i % (size_t)events_a_turn == (size_t)events_a_turn - 1)
            next[client]++;
    }
    ses_session_close(session);
    ses_close(store);
}

FOLDER_TEST(twelve_clients_on_one_session_are_all_answered_in_order)
{
    struct client clients[CLIENTS];
    struct server server;

    create_one(folder);
    server_start(&server, folder->path);
    start_clients(clients, &server, "", NULL);
    end_clients(clients);
    for (int i = 0; i < CLIENTS; i++) {
        assert_int_equal(atomic_load(&clients[i].refused), 0);
        assert_int_equal(atomic_load(&clients[i].answered), MESSAGES);
    }
    server_stop(&server);
    check_log(folder, 2);
}

FOLDER_TEST(two_servers_on_one_file_take_turns)
{
    struct client clients[CLIENTS];
    struct server servers[2];

    create_one(folder);
    server_start(&servers[0], folder->path);
    server_start(&servers[1], folder->path);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.server = &servers[i % 2], .number = i, .command = ""};
        snprintf(clients[i].path, sizeof clients[i].path, "%s", session_path);
        assert_int_equal(pthread_create(&clients[i].thread, NULL, run_client, &clients[i]), 0);
    }
    end_clients(clients);
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(atomic_load(&clients[i].refused), 0);
    server_stop(&servers[0]);
    server_stop(&servers[1]);
    check_log(folder, 2);
}

/* The notes are shared by all sessions of the user: none is lost, although the sessions' turns run at
 * once. */
FOLDER_TEST(sessions_of_one_user_do_not_lose_each_others_notes)
{
    struct client clients[CLIENTS];
    struct server server;

    server_start(&server, folder->path);
    for (int i = 0; i < CLIENTS; i++) {
        cJSON *session = ask(&server, 200, "POST", "/apps/office/users/ann/sessions", NULL);
        clients[i] = (struct client){.server = &server, .number = i, .command = "note "};
        snprintf(clients[i].path, sizeof clients[i].path, "/apps/office/users/ann/sessions/%s",
                 member(session, "id"));
        cJSON_Delete(session);
    }
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(pthread_create(&clients[i].thread, NULL, run_client, &clients[i]), 0);
    end_clients(clients);
    cJSON *session = ask(&server, 200, "GET", clients[0].path, NULL);
    const cJSON *notes =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(session, "state"), "user:notes");
    assert_int_equal(cJSON_GetArraySize(notes), CLIENTS * MESSAGES);
    cJSON_Delete(session);
    server_stop(&server);
}

/* Clients send again until they are answered; the server dies under them, and another takes its place. Its
 * leases run out soon. */
FOLDER_TEST(killed_servers_neither_lose_a_message_nor_store_it_twice)
{
    struct server server = {.lease_ms = "300"};
    struct client clients[CLIENTS];
    atomic_bool stops = false;
    char *count = NULL;

    create_one(folder);
    server_start_at(&server, folder->path, "0");
    const struct server shown = server;
    start_clients(clients, &shown, "note ", &stops);
    for (int i = 0; i < KILLS; i++) {
        support_pause_us(40000 + i * 23000 % 90000);
        server_kill(&server);
        server_restart(&server, folder->path);
    }
    end_clients(clients);
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(atomic_load(&clients[i].answered), MESSAGES);
    server_stop(&server);
    count =
        raw_text(folder->path, "SELECT count(*), count(DISTINCT id) FROM event_log WHERE author = 'user'");
    assert_string_equal(count, "60|60\n");
    free(count);
}

/* -------------------------------------------------------------------------------------------- streams */

/* A reader of a stream: the ids of the events that it was sent. */
struct reader {
    const struct server *server;
    const char *path;
    int breaks_every; /* so many events it hangs up, and comes back with the last place; 0: it stays */
    int wanted;       /* events */
    atomic_bool gives_up;
    struct text unread;
    struct text ids;   /* one a line */
    struct text kinds; /* of messages that are no events */
    char place[2000];
    int events;
    int since_connected;
    pthread_t thread;
};

static void read_line(struct reader *reader, char *line)
{
    if (strncmp(line, "id: ", 4) == 0)
        snprintf(reader->place, sizeof reader->place, "%s", line + 4);
    else if (strncmp(line, "event: ", 7) == 0)
        text_printf(&reader->kinds, "%s\n", line + 7);
    else if (strncmp(line, "data: {", 7) == 0) {
        cJSON *event = cJSON_Parse(line + 6);
        text_printf(&reader->ids, "%s\n", member(event, "id"));
        cJSON_Delete(event);
        reader->events++;
        reader->since_connected++;
    }
}

/* Lines as they come. A broken connection may end in the middle of one. */
static size_t read_stream(char *data, size_t one, size_t len, void *context)
{
    struct reader *reader = context;
    char *newline;

    (void)one;
    text_add(&reader->unread, data, len);
    while ((newline = strchr(reader->unread.data, '\n'))) {
        *newline = '\0';
        read_line(reader, reader->unread.data);
        reader->unread.len -= (size_t)(newline + 1 - reader->unread.data);
        memmove(reader->unread.data, newline + 1, reader->unread.len + 1);
        bool hangs_up = reader->events == reader->wanted ||
                        (reader->breaks_every && reader->since_connected == reader->breaks_every);
        if (hangs_up)
            return 0;
    }
    return len;
}

static int watch(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return atomic_load(&((struct reader *)context)->gives_up);
}

static CURL *open_stream(struct reader *reader, struct curl_slist **headers)
{
    struct text text = {NULL, 0};
    CURL *curl = curl_easy_init();

    text_printf(&text, "%s%s", reader->server->url, reader->path);
    (void)curl_easy_setopt(curl, CURLOPT_URL, text.data);
    (void)curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, read_stream);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, reader);
    (void)curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    (void)curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, watch);
    (void)curl_easy_setopt(curl, CURLOPT_XFERINFODATA, reader);
    text.len = 0;
    if (reader->place[0]) {
        text_printf(&text, "Last-Event-ID: %s", reader->place);
        *headers = curl_slist_append(NULL, text.data);
        (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, *headers);
    }
    free(text.data);
    return curl;
}

/* Until it has all it wants, or the stream ends for another reason than that it hung up. */
static void *run_reader(void *context)
{
    struct reader *reader = context;
    CURLcode code = CURLE_OK;

    do {
        struct curl_slist *headers = NULL;
        CURL *curl = open_stream(reader, &headers);
        reader->since_connected = 0;
        reader->unread.len = 0;
        code = curl_easy_perform(curl);
        curl_easy_cleanup(curl);
        curl_slist_free_all(headers);
    } while (code == CURLE_WRITE_ERROR && reader->events < reader->wanted);
    return NULL;
}

static void reader_start(struct reader *reader, const struct server *server, const char *path, int wanted,
                         int breaks_every)
{
    *reader = (struct reader){.server = server, .path = path, .wanted = wanted, .breaks_every = breaks_every};
    text_add(&reader->ids, "", 0);
    text_add(&reader->kinds, "", 0);
    text_add(&reader->unread, "", 0);
    assert_int_equal(pthread_create(&reader->thread, NULL, run_reader, reader), 0);
}

static void reader_end(struct reader *reader)
{
    assert_int_equal(pthread_join(reader->thread, NULL), 0);
}

static void reader_free(struct reader *reader)
{
    free(reader->unread.data);
    free(reader->ids.data);
    free(reader->kinds.data);
}

/* Readers from the beginning, one that hangs up again and again, and one at another server, while clients
 * post. */
FOLDER_TEST(streams_give_every_event_once_and_in_order)
{
    static const char path[] = "/apps/office/users/ann/sessions/one/events?after=0";
    const int events = CLIENTS * MESSAGES * 2;
    struct client clients[CLIENTS];
    struct reader readers[4];
    struct server servers[2];

    create_one(folder);
    server_start(&servers[0], folder->path);
    server_start(&servers[1], folder->path);
    reader_start(&readers[0], &servers[0], path, events, 0);
    reader_start(&readers[1], &servers[0], path, events, 7);
    reader_start(&readers[2], &servers[1], path, events, 0);
    reader_start(&readers[3], &servers[1], path, events, 5);
    start_clients(clients, &servers[0], "", NULL);
    end_clients(clients);
    char *ids = raw_text(folder->path, "SELECT id FROM event_log ORDER BY seq");
    for (int i = 0; i < 4; i++) {
        reader_end(&readers[i]);
        assert_string_equal(readers[i].ids.data, ids);
        assert_string_equal(readers[i].kinds.data, "");
        reader_free(&readers[i]);
    }
    free(ids);
    server_stop(&servers[0]);
    server_stop(&servers[1]);
}

FOLDER_TEST(a_stream_tells_of_a_cut_and_of_the_end)
{
    const ses_point start = {.size = sizeof start, .kind = SES_POINT_SEQ, .seq = 0};
    struct reader reader;
    struct server server;

    create_one(folder);
    server_start(&server, folder->path);
    ses_store *store = must_open(folder->path, NULL);
    must_append_by_key(store, &key, "{\"id\":\"one\",\"author\":\"user\"}");
    reader_start(&reader, &server, "/apps/office/users/ann/sessions/one/events?after=1", 2, 0);
    support_pause_us(300000); /* for it to have come to the end of the log */
    assert_ok(ses_cut_by_key(store, &key, &start, NULL, NULL, &error));
    must_append_by_key(store, &key, "{\n\"id\":\"two\",\n\"author\":\"user\"}");
    support_pause_us(300000);
    must_delete(store, &key);
    reader_end(&reader);
    assert_string_equal(reader.kinds.data, "reset\ndeleted\n");
    reader_free(&reader);
    ses_close(store);
    server_stop(&server);
}

/* ------------------------------------------------------------------------------------------- at rest */

enum { STREAMS = 200 };

static long cpu_ticks(pid_t pid)
{
    char path[64];
    long user = 0;
    long system = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    char *text = support_read_file(path, NULL);
    assert_non_null(text);
    const char *after = strrchr(text, ')');
    assert_non_null(after);
    assert_int_equal(sscanf(after, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &system),
                     2);
    free(text);
    return user + system;
}

static int thread_count(pid_t pid)
{
    char path[64];
    int threads = 0;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    char *text = support_read_file(path, NULL);
    assert_non_null(text);
    const char *line = strstr(text, "\nThreads:");
    assert_non_null(line);
    assert_int_equal(sscanf(line, "\nThreads: %d", &threads), 1);
    free(text);
    return threads;
}

/* Lets all streams move for a while. */
static void drive(CURLM *multi, int64_t us)
{
    const int64_t end = support_steady_us() + us;
    int running = 0;

    while (support_steady_us() < end) {
        (void)curl_multi_perform(multi, &running);
        (void)curl_multi_poll(multi, NULL, 0, 20, NULL);
    }
}

FOLDER_TEST(many_streams_take_no_threads_and_no_time)
{
    static struct reader readers[STREAMS];
    CURL *handles[STREAMS];
    struct server server;
    CURLM *multi = curl_multi_init();

    create_one(folder);
    server_start(&server, folder->path);
    for (int i = 0; i < STREAMS; i++) {
        struct curl_slist *headers = NULL;
        readers[i] = (struct reader){.server = &server,
                                     .wanted = -1,
                                     .path = i % 2 ? "/apps/office/users/ann/sessions/one/events?after=0"
                                                   : "/apps/office/users/bob/events"};
        text_add(&readers[i].ids, "", 0);
        handles[i] = open_stream(&readers[i], &headers);
        assert_int_equal(curl_multi_add_handle(multi, handles[i]), CURLM_OK);
    }
    drive(multi, 1500000);
    long ticks = cpu_ticks(server.pid);
    drive(multi, 1000000);
    ticks = cpu_ticks(server.pid) - ticks;
    assert_true(thread_count(server.pid) < 20);
    print_message("%d streams at rest: %ld of %ld ticks in a second\n", STREAMS, ticks, sysconf(_SC_CLK_TCK));
    assert_true(ticks <= sysconf(_SC_CLK_TCK) / 20);
    tell(&server, 200, "POST", "/apps/office/users/ann/sessions/one/messages", "Hello");
    drive(multi, 500000);
    for (int i = 0; i < STREAMS; i++) {
        assert_int_equal(readers[i].events, i % 2 ? 2 : 0);
        (void)curl_multi_remove_handle(multi, handles[i]);
        curl_easy_cleanup(handles[i]);
        reader_free(&readers[i]);
    }
    (void)curl_multi_cleanup(multi);
    server_stop(&server);
}

BEFORE_TESTS()
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}
