/*
 * Three nodes of a Galera cluster, all of which are written to at the same time: what is acknowledged is
 * stored once, a sound store is not called damaged, and a read sees what another node has acknowledged.
 * SESLITE_TURNS says how many calls each writer makes (60), SESLITE_KILLS how often a node is killed
 * meanwhile (1).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mysql/cluster.h"

enum { NODES = 3, SHARED = 2, TIMEOUT = 20000 };

struct galera {
    char *folder; /* NULL: the server has no such cluster */
    int port;
};

#define GALERA_TEST(name) GROUP_TEST(struct galera *galera, name)

static void need_galera(const struct galera *galera)
{
    if (!galera->folder) {
        printf("skipped: Galera, for want of its library\n");
        skip();
    }
}

/* Runs a command of galera.sh. Returns its status. */
static int command(const struct galera *galera, const char *name, int node)
{
    char line[600];
    char words[600];

    snprintf(words, sizeof words, "sh test/mysql/galera.sh %s '%s' %d", name, galera->folder, galera->port);
    char number[12];
    snprintf(number, sizeof number, "%d", node + 1);
    const int status = database_shell(line, sizeof line, words, number);
    if (status != 0)
        print_message("%s %s: %s\n", words, number, line);
    return status;
}

static ses_store *open_node(const struct galera *galera, int node)
{
    char uri[200];

    snprintf(uri, sizeof uri, "mysql://seslite:secret@127.0.0.1:%d/agents", galera->port + node);
    return database_open(uri, TIMEOUT);
}

static ses_key shared_key(int number)
{
    static const char *const names[SHARED] = {"first", "second"};
    return (ses_key){"app", "user", names[number % SHARED]};
}

/* ------------------------------------------------------------------------------------------- writers */

struct writer {
    pthread_t thread;
    ses_store *store;
    int node;
    int turns;
    int acknowledged[SHARED]; /* events in each shared session */
    int kept;                 /* own sessions, each with a fork, that were acknowledged */
    int failures;
    char wrong[700];
};

enum { BATCH = 3 };

static bool is_fine(struct writer *writer, int code, const ses_error *error)
{
    const bool fails = code == SES_BUSY || code == SES_IO || code == SES_CANTOPEN || code == SES_UNKNOWN;

    writer->failures += fails;
    if (code < 0 && !fails)
        snprintf(writer->wrong, sizeof writer->wrong, "%s: %s", ses_code_name(code), error->message);
    return code >= 0;
}

static void write_event(const struct writer *writer, int turn, int part, char *event, size_t size)
{
    snprintf(event, size,
             "{\"id\":\"%d-%d-%d\",\"actions\":{\"stateDelta\":{\"k%d\":%d,\"user:n%d\":%d,\"app:all\":%d}}}",
             writer->node, turn, part, part, turn, writer->node, turn, turn);
}

/* One event, one that insists on a state, or a batch, until it is acknowledged: an event with an id is stored
 * once. */
static void append_turn(struct writer *writer, int turn)
{
    static const char never[] = "{\"user:never\":" SES_TOMBSTONE "}";
    const ses_append_options insisting = {
        .size = sizeof insisting, .expected = never, .expected_len = SES_NUL};
    const ses_key key = shared_key(turn);
    const int count = turn % 3 == 2 ? BATCH : 1;
    char events[BATCH][200];
    ses_text texts[BATCH];
    ses_error error;
    int code;

    for (int i = 0; i < count; i++) {
        write_event(writer, turn, i, events[i], sizeof events[i]);
        texts[i] = (ses_text){events[i], SES_NUL};
    }
    do {
        code = count == 1 ? ses_append_by_key(writer->store, &key, events[0], SES_NUL,
                                              turn % 3 == 1 ? &insisting : NULL, NULL, &error)
                          : ses_append_batch_by_key(writer->store, &key, texts, BATCH, NULL, NULL, &error);
    } while (!is_fine(writer, code, &error) && !writer->wrong[0]);
    writer->acknowledged[turn % SHARED] += code >= 0 ? count : 0;
}

/* A session of the writer's own: made, written, titled, forked before a turn, taken back; every other one is
 * deleted again. */
static void live_turn(struct writer *writer, int turn)
{
    static const char *const events[] = {
        "{\"id\":\"a\",\"invocationId\":\"one\",\"actions\":{\"stateDelta\":{\"k\":1}}}",
        "{\"id\":\"b\",\"invocationId\":\"two\",\"actions\":{\"stateDelta\":{\"k\":2,\"app:all\":null}}}"};
    const ses_point before_two = {.size = sizeof before_two, .kind = SES_POINT_INVOCATION, .id = "two"};
    char names[2][40];
    const ses_key own = {"app", "user", names[0]};
    const ses_key fork = {"app", "user", names[1]};
    ses_session *session = NULL;
    ses_session *forked = NULL;
    ses_error error;

    snprintf(names[0], sizeof names[0], "own-%d-%d", writer->node, turn);
    snprintf(names[1], sizeof names[1], "fork-%d-%d", writer->node, turn);
    int code = ses_get_or_create(writer->store, &own, NULL, 0, NULL, &session, &error);
    for (int i = 0; i < 2 && code >= 0; i++)
        code = ses_append(session, events[i], SES_NUL, NULL, NULL, &error);
    if (code >= 0)
        code = ses_title_set(session, "A title", NULL, &error);
    if (code >= 0)
        code = ses_fork(session, &before_two, &fork, NULL, &forked, &error);
    if (code >= 0)
        code = ses_rewind(session, &before_two, NULL, NULL, &error);
    ses_session_close(session);
    ses_session_close(forked);
    if (code >= 0 && turn % 2 == 0)
        code = ses_delete(writer->store, &own, NULL, NULL, &error);
    if (is_fine(writer, code, &error) && turn % 2 == 1)
        writer->kept++;
}

static void *write_turns(void *context)
{
    struct writer *writer = context;

    for (int turn = 0; turn < writer->turns && !writer->wrong[0]; turn++) {
        append_turn(writer, turn);
        if (turn % 5 == 0 && !writer->wrong[0])
            live_turn(writer, turn);
    }
    return NULL;
}

/* ----------------------------------------------------------------------------------------- what is there */

/* A node sees all that was acknowledged, each event once and in its writer's order, and finds its store
 * sound. */
static void look(const struct galera *galera, int node, const struct writer *writers)
{
    const ses_check_options log = {.size = sizeof log, .level = SES_CHECK_LOG};
    ses_store *store = open_node(galera, node);
    int64_t problems = -1;
    ses_error error;

    for (int s = 0; s < SHARED; s++) {
        const ses_key key = shared_key(s);
        ses_session *session = must_get(store, &key);
        int counts[NODES] = {0};
        int last[NODES] = {-1, -1, -1};
        for (size_t i = 0; i < ses_session_event_count(session); i++) {
            int writer = 0;
            int turn = 0;
            int part = 0;
            assert_int_equal(sscanf(ses_session_event(session, i)->id, "%d-%d-%d", &writer, &turn, &part), 3);
            assert_true(turn * BATCH + part > last[writer]);
            last[writer] = turn * BATCH + part;
            counts[writer]++;
        }
        for (int w = 0; w < NODES; w++)
            assert_int_equal(counts[w], writers[w].acknowledged[s]);
        ses_session_close(session);
    }
    assert_ok(ses_store_check(store, &log, &problems, &error));
    assert_int_equal(problems, 0);
    ses_close(store);
}

static void start_writers(const struct galera *galera, struct writer *writers)
{
    ses_error error;

    for (int i = 0; i < NODES; i++) {
        writers[i] = (struct writer){.store = open_node(galera, i), .node = i};
        writers[i].turns = (int)support_setting("SESLITE_TURNS", 60);
    }
    while (ses_delete_app(writers[0].store, "app", NULL, NULL, &error) == SES_MORE)
        ;
    for (int s = 0; s < SHARED; s++) {
        const ses_key key = shared_key(s);
        must_create(writers[0].store, &key, NULL);
    }
    for (int i = 0; i < NODES; i++)
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_turns, &writers[i]), 0);
}

/* Then looks from each node. */
static void end_writers(const struct galera *galera, struct writer *writers, bool may_fail)
{
    int acknowledged = 0;
    int failures = 0;

    for (int i = 0; i < NODES; i++) {
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
        ses_close(writers[i].store);
        if (writers[i].wrong[0])
            fail_msg("node %d: %s", i + 1, writers[i].wrong);
        if (!may_fail)
            assert_int_equal(writers[i].kept, (writers[i].turns + 4) / 10);
        for (int s = 0; s < SHARED; s++)
            acknowledged += writers[i].acknowledged[s];
        failures += writers[i].failures;
    }
    print_message("%d events acknowledged, %d calls failed\n", acknowledged, failures);
    if (!may_fail)
        assert_int_equal(failures, 0);
    for (int node = 0; node < NODES; node++)
        look(galera, node, writers);
}

GALERA_TEST(writers_on_each_node_lose_nothing)
{
    struct writer writers[NODES];

    need_galera(galera);
    start_writers(galera, writers);
    end_writers(galera, writers, false);
}

GALERA_TEST(acknowledged_events_survive_the_loss_of_a_node)
{
    struct writer writers[NODES];

    need_galera(galera);
    start_writers(galera, writers);
    for (long i = support_setting("SESLITE_KILLS", 1); i > 0; i--) {
        const int node = (int)(i % NODES);
        support_pause_us(700000);
        assert_int_equal(command(galera, "kill", node), 0);
        assert_int_equal(command(galera, "again", node), 0);
    }
    end_writers(galera, writers, true);
}

GALERA_TEST(a_read_sees_events_acknowledged_by_another_node)
{
    static const ses_key key = {"app", "user", "seen"};

    need_galera(galera);
    ses_store *writes = open_node(galera, 0);
    ses_store *reads = open_node(galera, 1);
    must_create(writes, &key, NULL);
    for (size_t i = 1; i <= 100; i++) {
        must_append_by_key(writes, &key, "{}");
        ses_session *session = must_get(reads, &key);
        assert_int_equal(ses_session_event_count(session), i);
        ses_session_close(session);
    }
    ses_close(writes);
    ses_close(reads);
}

enum { PLENTY = 100000 };

/* Rewinds a session of its own through the proxy, which cuts the connection after `left` bytes of answers.
 * Returns how many bytes were left. */
static long rewind_through(struct proxy *proxy, long left, ses_store *through, ses_store *direct,
                           int *unknown)
{
    const ses_point before_two = {.size = sizeof before_two, .kind = SES_POINT_INVOCATION, .id = "two"};
    char name[20];
    const ses_key key = {"app", "user", name};
    ses_error error;

    snprintf(name, sizeof name, "lost-%ld", left);
    must_create(direct, &key, NULL);
    must_append_by_key(direct, &key, "{\"invocationId\":\"one\"}");
    must_append_by_key(direct, &key, "{\"invocationId\":\"two\"}");
    ses_session *session = must_get(through, &key);
    atomic_store(&proxy->down_left, left);
    const int code = ses_rewind(session, &before_two, NULL, NULL, &error);
    left = atomic_exchange(&proxy->down_left, -1);
    ses_session_close(session);
    session = must_get(direct, &key);
    const size_t count = ses_session_event_count(session);
    ses_session_close(session);
    if (code != SES_UNKNOWN)
        assert_ok(code);
    assert_true(count == 3 || (code == SES_UNKNOWN && count == 2));
    *unknown += code == SES_UNKNOWN;
    return left;
}

/* STALE would say that another writer had come between. */
GALERA_TEST(a_commit_whose_answer_is_lost_is_not_made_again)
{
    struct proxy *proxy;
    char port[12];
    int unknown = 0;

    need_galera(galera);
    snprintf(port, sizeof port, "%d", galera->port);
    assert_non_null(proxy = proxy_new(0));
    assert_true(proxy_find_host(proxy, "127.0.0.1", port) && proxy_go(proxy));
    snprintf(proxy->place, sizeof proxy->place, "mysql://seslite:secret@localhost/agents?socket=%s",
             proxy->path);
    ses_store *through = database_open(proxy->place, TIMEOUT);
    ses_store *direct = open_node(galera, 0);
    const long bytes = PLENTY - rewind_through(proxy, PLENTY, through, direct, &unknown);
    for (long lost = 1; lost < 60; lost += 4)
        (void)rewind_through(proxy, bytes - lost, through, direct, &unknown);
    assert_true(unknown > 0);
    ses_close(through);
    ses_close(direct);
    proxy_stop(proxy);
}

/* ----------------------------------------------------------------------------------------------- nodes */

static int setup(void **state)
{
    static struct galera galera;
    MYSQL *conn = mysql_init(NULL);
    char uri[200];

    galera.folder = support_folder_make();
    galera.port = 20000 + (int)(getpid() % 1000) * 12;
    *state = &galera;
    assert_int_equal(chmod(galera.folder, 0711), 0); /* the servers are another user's */
    if (command(&galera, "start", 0) != 0) {
        support_folder_remove(galera.folder);
        galera.folder = NULL;
        mysql_close(conn);
        return 0;
    }
    snprintf(uri, sizeof uri, "mysql://seslite:secret@127.0.0.1:%d/", galera.port);
    assert_true(address_connect(conn, uri, NULL));
    assert_int_equal(mysql_query(conn, "CREATE DATABASE agents"), 0);
    mysql_close(conn);
    ses_close(open_node(&galera, 0));
    return 0;
}

static int teardown(void **state)
{
    const struct galera *galera = *state;

    if (galera->folder) {
        (void)command(galera, "stop", 0);
        support_folder_remove(galera->folder);
    }
    return 0;
}

TEST_GROUP(setup, teardown)
