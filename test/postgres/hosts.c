/* Several hosts in one connection string, of which some do not answer, close, or are of another kind. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "database.h"
#include "proxy.h"
#include "seslite_postgres.h"

static const ses_key key = {.app = "app", .user = "user", .session = "s"};

/* ------------------------------------------------------------------------------- what is no server */

/* It listens; whoever connects is not answered, or turned out at once. */
struct impostor {
    int socket;
    int port;
    atomic_bool stop;
    atomic_int calls;
    bool closes;
    pthread_t thread;
};

static void *take_calls(void *context)
{
    struct impostor *impostor = context;
    int taken[100];
    int count = 0;

    while (!atomic_load(&impostor->stop) && count < 100) {
        struct pollfd wanted = {.fd = impostor->socket, .events = POLLIN};
        if (poll(&wanted, 1, 20) != 1)
            continue;
        taken[count] = accept(impostor->socket, NULL, NULL);
        assert_true(taken[count] >= 0);
        atomic_fetch_add(&impostor->calls, 1);
        if (impostor->closes)
            close(taken[count]);
        else
            count++;
    }
    while (count > 0)
        close(taken[--count]);
    return NULL;
}

static void start_impostor(struct impostor *impostor, bool closes)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;

    *impostor = (struct impostor){.closes = closes};
    impostor->socket = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(impostor->socket, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(impostor->socket, 100), 0);
    assert_int_equal(getsockname(impostor->socket, (struct sockaddr *)&address, &len), 0);
    impostor->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&impostor->thread, NULL, take_calls, impostor), 0);
}

static void stop_impostor(struct impostor *impostor)
{
    atomic_store(&impostor->stop, true);
    assert_int_equal(pthread_join(impostor->thread, NULL), 0);
    close(impostor->socket);
}

/* A name server that answers too late: it is called in place of the system's. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");

    memcpy(&next, &symbol, sizeof next);
    if (node && strcmp(node, "slow.example") == 0) {
        support_pause_us(1500000);
        return EAI_AGAIN;
    }
    return next(node, service, hints, found);
}

/* ------------------------------------------------------------------------------------------- the tests */

static int open_in(const char *place, int timeout_ms, ses_store **store, int64_t *took_us, ses_error *error)
{
    const ses_open_options options = {.size = sizeof options, .busy_timeout_ms = timeout_ms};
    const int64_t begun = support_steady_us();
    const int code = ses_open_postgres(place, &options, NULL, store, error);

    *took_us = support_steady_us() - begun;
    return code;
}

SERVER_TEST(one_that_does_not_answer_leaves_the_others_their_time)
{
    struct impostor silent;
    ses_store *store = NULL;
    int64_t took_us = 0;
    char place[600];

    start_impostor(&silent, false);
    snprintf(place, sizeof place, "host=127.0.0.1,127.0.0.1,%s port=%d,1,5432 user=seslite dbname=postgres",
             database->folder, silent.port);
    assert_code(SES_OK, open_in(place, 1500, &store, &took_us, &error));
    assert_in_range(took_us, 400000, 1400000);
    must_create(store, &key, NULL);

    /* That host is not asked again before the one that served last. */
    database_run(database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
                           "'seslite'");
    must_append_by_key(store, &key, "{}");
    assert_int_equal(atomic_load(&silent.calls), 1);
    must_delete(store, &key);
    ses_close(store);

    snprintf(place, sizeof place,
             "host=127.0.0.1,%s port=%d,5432 user=seslite dbname=postgres connect_timeout=1",
             database->folder, silent.port);
    assert_code(SES_OK, open_in(place, 20000, &store, &took_us, &error));
    assert_in_range(took_us, 900000, 5000000);
    ses_close(store);
    stop_impostor(&silent);
}

SERVER_TEST(a_name_that_is_not_resolved_leaves_the_others_their_time)
{
    ses_store *store = NULL;
    int64_t took_us = 0;
    char place[600];

    snprintf(place, sizeof place, "host=slow.example,%s user=seslite dbname=postgres", database->folder);
    assert_code(SES_OK, open_in(place, 600, &store, &took_us, &error));
    assert_in_range(took_us, 250000, 590000);
    ses_close(store);
    assert_code(SES_BUSY, open_in("host=slow.example dbname=x", 300, &store, &took_us, &error));
    assert_message("not resolved in time");
    assert_in_range(took_us, 290000, 1300000);
    assert_code(SES_CANTOPEN, open_in("host=none.invalid dbname=x", 5000, &store, &took_us, &error));
    assert_message("none.invalid");
}

/* The hosts of a service file are a list like that of a connection string. */
SERVER_TEST(a_service_file_names_hosts)
{
    ses_store *store = NULL;
    int64_t took_us = 0;
    struct impostor silent;
    ses_info info = {.size = sizeof info};
    char path[600];

    snprintf(path, sizeof path, "%s/services", database->folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    start_impostor(&silent, false);
    fprintf(file, "[two]\nhost=127.0.0.1,%s\nport=%d,5432\nuser=seslite\ndbname=postgres\n", database->folder,
            silent.port);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(setenv("PGSERVICEFILE", path, 1), 0);
    assert_code(SES_OK, open_in("service=two", 600, &store, &took_us, &error));
    assert_in_range(took_us, 250000, 590000);
    assert_ok(ses_store_info(store, &info, &error));
    assert_non_null(strstr(info.path, "//127.0.0.1,"));
    ses_close(store);
    assert_code(SES_CANTOPEN, open_in("service=two dbname=nowhere", 2500, &store, &took_us, &error));
    assert_message("nowhere");
    assert_code(SES_CANTOPEN, open_in("service=three", 600, &store, &took_us, &error));
    assert_message("three");
    stop_impostor(&silent);
    assert_int_equal(unsetenv("PGSERVICEFILE"), 0);
}

SERVER_TEST(one_that_closes_is_passed_over)
{
    struct impostor closing;
    ses_store *store = NULL;
    int64_t took_us = 0;
    char place[600];

    start_impostor(&closing, true);
    snprintf(place, sizeof place, "host=127.0.0.1,%s port=%d,5432 user=seslite dbname=postgres",
             database->folder, closing.port);
    assert_code(SES_OK, open_in(place, 2000, &store, &took_us, &error));
    assert_in_range(took_us, 0, 900000);
    assert_int_equal(atomic_load(&closing.calls), 1);
    ses_close(store);
    snprintf(place, sizeof place, "host=127.0.0.1 port=%d user=seslite dbname=postgres", closing.port);
    assert_code(SES_CANTOPEN, open_in(place, 2000, &store, &took_us, &error));
    assert_message("closed the connection");
    assert_in_range(took_us, 0, 1900000);
    stop_impostor(&closing);
}

SERVER_TEST(none_that_answers_is_waited_for_as_long_as_a_call_may_take)
{
    struct impostor silent;
    ses_store *store = NULL;
    int64_t took_us = 0;
    char place[600];

    start_impostor(&silent, false);
    snprintf(place, sizeof place, "host=127.0.0.1,127.0.0.1 port=%d user=seslite dbname=postgres",
             silent.port);
    assert_code(SES_BUSY, open_in(place, 300, &store, &took_us, &error));
    assert_null(store);
    assert_message("did not answer");
    assert_in_range(took_us, 290000, 1300000);
    assert_int_equal(atomic_load(&silent.calls), 2);
    stop_impostor(&silent);
}

SERVER_TEST(why_each_host_was_not_taken_is_told)
{
    ses_store *store = NULL;
    int64_t took_us = 0;

    assert_code(SES_CANTOPEN, open_in("host=/nowhere/a,/nowhere/b dbname=x", 2000, &store, &took_us, &error));
    assert_message("/nowhere/a/");
    assert_message("/nowhere/b/");
    assert_code(SES_CANTOPEN, open_in("host=a,b port=1,2,3 dbname=x", 2000, &store, &took_us, &error));
    assert_message("port numbers"); /* as libpq says it */
    assert_code(SES_INVALID, open_in("host=a nonsense=1", 2000, &store, &took_us, &error));
}

/* ---------------------------------------------------------------------- a server that refuses for a while */

enum { CALLERS = 8 };

struct caller {
    ses_store *store;
    int code;
    int64_t done_us;
    ses_error error;
    pthread_t thread;
};

static void *get_once(void *context)
{
    struct caller *caller = context;
    ses_session *session = NULL;

    caller->code = ses_get(caller->store, &key, NULL, &session, &caller->error);
    caller->done_us = support_steady_us();
    ses_session_close(session);
    return NULL;
}

SERVER_TEST(a_server_that_refuses_is_asked_seldom)
{
    struct proxy *proxy = proxy_start(database->place, 0);
    struct caller callers[CALLERS];
    ses_store *store = NULL;
    int64_t took_us = 0;

    assert_non_null(proxy);
    assert_code(SES_OK, open_in(proxy->place, 5000, &store, &took_us, &error));
    must_create(store, &key, NULL);
    atomic_store(&proxy->refuses, true);
    database_run(database, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE "
                           "application_name = 'seslite'");
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (struct caller){.store = store};
        assert_int_equal(pthread_create(&callers[i].thread, NULL, get_once, &callers[i]), 0);
    }
    support_pause_us(1000000);
    assert_in_range(atomic_load(&proxy->refused), 2, 20);
    atomic_store(&proxy->refuses, false);
    const int64_t back_us = support_steady_us();
    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
        support_assert_code(SES_OK, callers[i].code, &callers[i].error, "ses_get", __FILE__, __LINE__);
        assert_in_range(callers[i].done_us - back_us, 0, 1500000);
    }
    must_delete(store, &key);
    ses_close(store);
    proxy_stop(proxy);
}

SERVER_TEST(a_host_of_the_wanted_kind_is_looked_for)
{
    ses_store *store = NULL;
    int64_t took_us = 0;
    char place[600];

    snprintf(place, sizeof place,
             "host=/nowhere,%s user=seslite dbname=postgres target_session_attrs=", database->folder);
    char *kind = place + strlen(place);
    strcpy(kind, "read-write");
    assert_code(SES_OK, open_in(place, 2000, &store, &took_us, &error));
    ses_close(store);
    strcpy(kind, "standby");
    assert_code(SES_CANTOPEN, open_in(place, 2000, &store, &took_us, &error));
    assert_message("not in hot standby mode");
    strcpy(kind, "prefer-standby");
    assert_code(SES_OK, open_in(place, 2000, &store, &took_us, &error));
    ses_close(store);
    strcpy(kind, "nonsense");
    assert_code(SES_CANTOPEN, open_in(place, 2000, &store, &took_us, &error));
}
