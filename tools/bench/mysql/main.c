/*
 *     bench [--quick] [--adk PYTHON] [--json FILE] ADDRESS
 *
 * ADDRESS is that of a server used only for this, as test/mysql/server.sh prints it. Run it from the top of
 * the repository. With a Python that has google-adk and aiomysql, that is measured too. Each side is measured
 * directly and through a proxy that adds a round trip of a millisecond; all take turns. The exit code is 2 if
 * a claim is not reached.
 */
#include "bare.h"

#include <string.h>

#include "mysql/address.h"
#include "network.h"
#include "seslite_mysql.h"

enum { DIRECT, FAR, NETWORKS };
enum { ROUNDS = 61, COUNT = 5, CONTENDERS = 6 };

static struct network {
    char uri[700];
    struct proxy *proxy; /* NULL if direct */
    ses_store *store;
    struct adk *adk;
} networks[NETWORKS];

struct contender {
    const char *name;
    work *work;
    void *context[NETWORKS]; /* NULL if it does not take part */
    double us[NETWORKS][ROUNDS];
    double median_us[NETWORKS];
    double turns; /* round trips per operation */
};

static void network_open(struct network *network, const char *server, bool far)
{
    address_of(server, "agents", network->uri, sizeof network->uri);
    if (far) {
        network->proxy = proxy_new(500);
        CHECK(network->proxy);
        CHECK(proxy_find_unix(network->proxy, strstr(server, "socket=") + strlen("socket=")));
        CHECK(proxy_go(network->proxy));
        snprintf(network->uri, sizeof network->uri, "mysql://seslite:secret@localhost/agents?socket=%s",
                 network->proxy->path);
    }
    ses_error error = {0};
    if (ses_open_mysql(network->uri, NULL, NULL, &network->store, &error) != SES_OK)
        fprintf(stderr, "bench: %s\n", error.message);
    CHECK(network->store);
}

static void network_close(struct network *network)
{
    if (network->adk)
        adk_close(network->adk);
    ses_close(network->store);
    if (network->proxy)
        proxy_stop(network->proxy);
}

static void round_of(struct contender *contender, int far, int round)
{
    if (!contender->context[far])
        return;
    /* warms up, so that it does not pay for the previous contender */
    contender->work(contender->context[far], 1);
    if (far)
        proxy_reset(networks[far].proxy);
    const double begin = now_us();
    contender->work(contender->context[far], COUNT);
    const double took = now_us() - begin;
    if (round >= 0)
        contender->us[far][round] = took / COUNT;
    if (far)
        contender->turns = (double)proxy_turns(networks[far].proxy) / COUNT;
}

/*
 * All run in each round, starting with a different one each time. The first round does not count. They run
 * from the last to the first, so that google-adk, after which the next is slower, comes before "one text",
 * about which nothing is claimed.
 */
static void take_turns(struct contender contenders[CONTENDERS], const char *what)
{
    const int rounds = scaled_rounds(ROUNDS);

    for (int round = -1; round < rounds; round++) {
        for (int far = 0; far < NETWORKS; far++) {
            for (int i = 0; i < CONTENDERS; i++)
                round_of(&contenders[(round + 2 * CONTENDERS - i) % CONTENDERS], far, round);
        }
    }
    printf("%-36s %12s %12s %12s\n", what, "direct, us", "1 ms, us", "round trips");
    for (int i = 0; i < CONTENDERS; i++) {
        struct contender *contender = &contenders[i];
        if (!contender->context[FAR])
            continue;
        for (int far = 0; far < NETWORKS; far++)
            contender->median_us[far] = median(contender->us[far], (size_t)rounds);
        printf("    %-32s %12.1f %12.1f %12.2f\n", contender->name, contender->median_us[DIRECT],
               contender->median_us[FAR], contender->turns);
    }
    printf("\n");
}

/* One of the two bounds is 0. */
static void claim(const char *what, const struct contender *left, const struct contender *right, int far,
                  double at_most, double at_least)
{
    char name[64];
    const double a = left->median_us[far];
    const double b = right->median_us[far];

    if (!left->context[far] || !right->context[far])
        return;
    snprintf(name, sizeof name, "%s, %s", what, far ? "1 ms" : "direct");
    report(&(struct figure){.name = name,
                            .unit = "us",
                            .left_name = left->name,
                            .left = a,
                            .right_name = right->name,
                            .right = b,
                            .ratio = at_most > 0 ? a / b : b / a,
                            .at_most = at_most,
                            .at_least = at_least});
}

enum { HANDLE, KEY, PREPARED, PREPARED_BY_KEY, ONE_TEXT, ADK };

static void bench_appends(void)
{
    static struct contender contenders[CONTENDERS] = {
        {.name = "seslite, by handle", .work = pg_library_append},
        {.name = "seslite, by key", .work = pg_library_append},
        {.name = "prepared statements", .work = my_bare_append_prepared},
        {.name = "the same, by key", .work = my_bare_append_by_key},
        {.name = "one text", .work = my_bare_append_text},
        {.name = "google-adk", .work = adk_append}};
    static struct library_side libraries[NETWORKS][2];
    char name[64];

    for (int far = 0; far < NETWORKS; far++) {
        for (int i = HANDLE; i < ADK; i++) {
            const int side = 10 * far + i;
            snprintf(name, sizeof name, "append %d", side);
            pg_library_make(networks[far].store, name, side);
            if (i <= KEY)
                pg_library_open(&libraries[far][i], networks[far].store, strdup(name), side, i == HANDLE);
            contenders[i].context[far] =
                i <= KEY ? (void *)&libraries[far][i] : (void *)my_bare_open(networks[far].uri, name, side);
        }
        contenders[ADK].context[far] = networks[far].adk;
    }
    take_turns(contenders, "an append");
    for (int far = 0; far < NETWORKS; far++) {
        claim("append by handle", &contenders[HANDLE], &contenders[PREPARED], far, 1.5, 0);
        claim("append by key", &contenders[KEY], &contenders[PREPARED_BY_KEY], far, 1.5, 0);
        pg_library_close(&libraries[far][HANDLE]);
        for (int i = PREPARED; i < ADK; i++)
            my_bare_close(contenders[i].context[far]);
    }
    claim("append by handle", &contenders[HANDLE], &contenders[ADK], FAR, 0, 10);
}

static void bench_gets(void)
{
    static struct contender contenders[CONTENDERS] = {
        {.name = "seslite", .work = pg_library_get},
        {.name = "", .work = NULL},
        {.name = "prepared statements", .work = my_bare_get_prepared},
        {.name = "", .work = NULL},
        {.name = "one text", .work = my_bare_get_text},
        {.name = "google-adk", .work = adk_get}};
    static struct library_side libraries[NETWORKS];
    char name[64];

    for (int far = 0; far < NETWORKS; far++) {
        snprintf(name, sizeof name, "read %d", far);
        pg_library_make(networks[far].store, name, 100 + far);
        pg_library_open(&libraries[far], networks[far].store, strdup(name), 100 + far, false);
        contenders[HANDLE].context[far] = &libraries[far];
        contenders[PREPARED].context[far] = my_bare_open(networks[far].uri, name, 100 + far);
        contenders[ONE_TEXT].context[far] = my_bare_open(networks[far].uri, name, 100 + far);
        contenders[ADK].context[far] = networks[far].adk;
    }
    take_turns(contenders, "a get of 20 events and 10 keys");
    for (int far = 0; far < NETWORKS; far++) {
        claim("get", &contenders[HANDLE], &contenders[PREPARED], far, 1.5, 0);
        my_bare_close(contenders[PREPARED].context[far]);
        my_bare_close(contenders[ONE_TEXT].context[far]);
    }
    claim("get", &contenders[HANDLE], &contenders[ADK], FAR, 0, 10);
}

/* Applies the options. Returns the address. */
static const char *read_options(int argc, char **argv, const char **python, FILE **json, bool *quick)
{
    const char *server = NULL;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            CHECK((*json = fopen(argv[++i], "w")) != NULL);
        else if (strcmp(argv[i], "--adk") == 0 && i + 1 < argc)
            *python = argv[++i];
        else if (strcmp(argv[i], "--quick") == 0)
            *quick = true;
        else
            server = argv[i];
    }
    CHECK(server && strstr(server, "socket="));
    return server;
}

/* google-adk has a database of its own. */
static void make_databases(const char *server)
{
    MYSQL *conn = mysql_init(NULL);

    CHECK(address_connect(conn, server, NULL));
    CHECK(mysql_query(conn, "CREATE DATABASE agents") == 0);
    CHECK(mysql_query(conn, "CREATE DATABASE adk CHARACTER SET utf8mb4") == 0);
    mysql_close(conn);
}

int main(int argc, char **argv)
{
    const char *python = NULL;
    FILE *json = NULL;
    bool quick = false;
    const char *server = read_options(argc, argv, &python, &json, &quick);

    measure_begin(".", json, quick);
    make_databases(server);
    for (int far = 0; far < NETWORKS; far++) {
        char place[800];
        network_open(&networks[far], server, far == FAR);
        snprintf(place, sizeof place, "mysql+aiomysql://seslite:secret@localhost/adk?unix_socket=%s",
                 strstr(networks[far].uri, "socket=") + strlen("socket="));
        networks[far].adk = python ? adk_open(python, place) : NULL;
    }
    printf("seslite %s on MySQL%s\n\n", ses_version(),
           networks[FAR].adk ? "" : "; no google-adk to compare with");
    bench_appends();
    bench_gets();
    for (int far = 0; far < NETWORKS; far++)
        network_close(&networks[far]);
    if (json)
        fclose(json);
    return measure_all_reached() ? 0 : 2;
}
