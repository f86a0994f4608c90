/*
 *     bench [--quick] [--adk PYTHON] [--json FILE] PLACE
 *
 * PLACE is the connection string of a server used only for this. Run it from the top of the repository. With
 * a Python that has google-adk, that is measured too. Each side is measured directly and through a proxy that
 * adds a round trip of a millisecond; all take turns. The exit code is 2 if a claim is not reached.
 */
#include "sides.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <string.h>

#include "postgres/proxy.h"
#include "seslite_postgres.h"

enum { DIRECT, FAR, NETWORKS };
/* Many short rounds, so that other load on the machine affects all sides. Writers need longer ones to
 * overlap. */
enum { ROUNDS = 61, COUNT = 5, WRITER_ROUNDS = 15, READER_ROUNDS = 31, CPU_COUNT = 100 };

/* A way to the server. */
struct network {
    const char *name;
    const char *place;
    struct proxy *proxy; /* NULL if direct */
    ses_store *store;
};

/* A contender, in both networks. */
struct contender {
    const char *name;
    work *work;
    void *context[NETWORKS]; /* NULL if it does not take part */
    int writers;             /* each does the given count */
    double us[NETWORKS][ROUNDS];
    double median_us[NETWORKS];
    double turns;  /* round trips per operation */
    double cpu_us; /* of the server, per operation */
};

static void network_open(struct network *network, const char *place, bool far)
{
    network->name = far ? "1 ms" : "direct";
    network->place = place;
    if (far) {
        network->proxy = proxy_start(place, 500);
        CHECK(network->proxy);
        network->place = network->proxy->place;
    }
    ses_error error = {0};
    if (ses_open_postgres(network->place, NULL, NULL, &network->store, &error) != SES_OK)
        fprintf(stderr, "bench: %s\n", error.message);
    CHECK(network->store);
}

static void network_close(struct network *network)
{
    ses_close(network->store);
    if (network->proxy)
        proxy_stop(network->proxy);
}

static void round_of(struct contender *contender, const struct network *network, int far, int round)
{
    if (!contender->context[far])
        return;
    /* warms up, so that it does not pay for the previous contender */
    contender->work(contender->context[far], 1);
    if (far)
        proxy_reset(network->proxy);
    const double begin = now_us();
    contender->work(contender->context[far], COUNT);
    const double took = now_us() - begin;
    if (round >= 0)
        contender->us[far][round] = took / (COUNT * contender->writers);
    if (far)
        contender->turns = (double)proxy_turns(network->proxy) / (COUNT * contender->writers);
}

/* All contenders run in each round, starting with a different one each time. The first round, which connects
 * and prepares statements, does not count. */
static void take_turns(struct contender *contenders, int many, const struct network *networks, int rounds)
{
    rounds = scaled_rounds(rounds);
    for (int round = -1; round < rounds; round++) {
        for (int far = 0; far < NETWORKS; far++) {
            for (int i = 0; i < many; i++)
                round_of(&contenders[(round + 1 + i) % many], &networks[far], far, round);
        }
    }
    for (int i = 0; i < many; i++) {
        for (int far = 0; far < NETWORKS; far++) {
            if (contenders[i].context[far])
                contenders[i].median_us[far] = median(contenders[i].us[far], (size_t)rounds);
        }
    }
}

/* By now all connections are open. */
static void measure_cpu(struct contender *contenders, int many, const struct network *networks)
{
    struct cpu *cpu = cpu_open(networks[DIRECT].place);

    for (int i = 0; i < many; i++) {
        const double before = cpu_us(cpu);
        if (contenders[i].context[DIRECT])
            contenders[i].work(contenders[i].context[DIRECT], scaled(CPU_COUNT));
        contenders[i].cpu_us = (cpu_us(cpu) - before) / (scaled(CPU_COUNT) * contenders[i].writers);
    }
    cpu_close(cpu);
}

static void print_contenders(const char *what, const struct contender *contenders, int many)
{
    printf("%-36s %12s %12s %16s %12s\n", what, "direct, us", "1 ms, us", "server's CPU, us", "round trips");
    for (int i = 0; i < many; i++) {
        const struct contender *contender = &contenders[i];
        if (contender->context[FAR])
            printf("    %-32s %12.1f %12.1f %16.1f %12.2f\n", contender->name, contender->median_us[DIRECT],
                   contender->median_us[FAR], contender->cpu_us, contender->turns);
        else if (contender->context[DIRECT])
            printf("    %-32s %12.1f %12s %16.1f\n", contender->name, contender->median_us[DIRECT], "",
                   contender->cpu_us);
    }
    printf("\n");
}

/* --------------------------------------------------------------------------------------------- the claims */

enum { CLAIMS = 16 };
static struct {
    struct figure figure;
    char name[64];
} claims[CLAIMS];
static int claim_count;

/* One of the two bounds is 0. */
static void claim(const char *name, const struct contender *left, const struct contender *right, int far,
                  double at_most, double at_least)
{
    const double a = left->median_us[far];
    const double b = right->median_us[far];

    if (!left->context[far] || !right->context[far])
        return;
    CHECK(claim_count < CLAIMS);
    snprintf(claims[claim_count].name, sizeof claims[claim_count].name, "%s, %s", name,
             far ? "1 ms" : "direct");
    claims[claim_count].figure = (struct figure){.name = claims[claim_count].name,
                                                 .unit = "us",
                                                 .left_name = left->name,
                                                 .left = a,
                                                 .right_name = right->name,
                                                 .right = b,
                                                 .ratio = at_most > 0 ? a / b : b / a,
                                                 .at_most = at_most,
                                                 .at_least = at_least};
    claim_count++;
}

static void report_claims(void)
{
    printf("%-44s %11s %-7s %-22s %11s   %6s\n", "what", "seslite", "", "compared with", "", "ratio");
    for (int i = 0; i < claim_count; i++)
        report(&claims[i].figure);
}

/* ------------------------------------------------------------------------------------- appending, reading */

/* The sessions of both networks have numbers of their own, with which the ids of their events begin. */
static const char *session_make(const struct network *network, const char *what, int side, char name[64])
{
    snprintf(name, 64, "%s, %s", what, network->name);
    pg_library_make(network->store, name, side);
    return name;
}

static void bench_appends(const struct network *networks, struct adk *const *adks)
{
    enum { HANDLE, KEY, PIPELINE, SINGLE, ADK, MANY };
    static struct contender contenders[MANY] = {
        {.name = "seslite, by handle", .work = pg_library_append, .writers = 1},
        {.name = "seslite, by key", .work = pg_library_append, .writers = 1},
        {.name = "libpq, one pipeline", .work = pg_bare_append_pipeline, .writers = 1},
        {.name = "libpq, by statements", .work = pg_bare_append_single, .writers = 1},
        {.name = "google-adk", .work = adk_append, .writers = 1}};
    struct library_side libraries[NETWORKS][2];
    char names[NETWORKS][4][64];

    for (int far = 0; far < NETWORKS; far++) {
        const struct network *network = &networks[far];
        for (int i = HANDLE; i <= SINGLE; i++)
            session_make(network, contenders[i].name, 10 * far + i, names[far][i]);
        for (int i = HANDLE; i <= KEY; i++) {
            pg_library_open(&libraries[far][i], network->store, names[far][i], 10 * far + i, i == HANDLE);
            contenders[i].context[far] = &libraries[far][i];
        }
        for (int i = PIPELINE; i <= SINGLE; i++)
            contenders[i].context[far] = pg_bare_open(network->place, names[far][i], 10 * far + i);
        contenders[ADK].context[far] = adks[far];
    }
    take_turns(contenders, MANY, networks, ROUNDS);
    measure_cpu(contenders, MANY, networks);
    print_contenders("an append", contenders, MANY);
    for (int far = 0; far < NETWORKS; far++) {
        claim("append by handle", &contenders[HANDLE], &contenders[PIPELINE], far, 1.5, 0);
        claim("append by key", &contenders[KEY], &contenders[PIPELINE], far, 1.5, 0);
        pg_library_close(&libraries[far][HANDLE]);
        pg_library_close(&libraries[far][KEY]);
        pg_bare_close(contenders[PIPELINE].context[far]);
        pg_bare_close(contenders[SINGLE].context[far]);
    }
    claim("append by handle", &contenders[HANDLE], &contenders[ADK], FAR, 0, 5);
    claim("append by key", &contenders[KEY], &contenders[ADK], FAR, 0, 5);
}

static void bench_gets(const struct network *networks, struct adk *const *adks)
{
    enum { LIBRARY, PIPELINE, ADK, MANY };
    static struct contender contenders[MANY] = {
        {.name = "seslite", .work = pg_library_get, .writers = 1},
        {.name = "libpq, one pipeline", .work = pg_bare_get_pipeline, .writers = 1},
        {.name = "google-adk", .work = adk_get, .writers = 1}};
    struct library_side libraries[NETWORKS];
    char names[NETWORKS][64];

    for (int far = 0; far < NETWORKS; far++) {
        session_make(&networks[far], "read", 100 + far, names[far]);
        pg_library_open(&libraries[far], networks[far].store, names[far], 100 + far, false);
        contenders[LIBRARY].context[far] = &libraries[far];
        contenders[PIPELINE].context[far] = pg_bare_open(networks[far].place, names[far], 100 + far);
        contenders[ADK].context[far] = adks[far];
    }
    take_turns(contenders, MANY, networks, ROUNDS);
    measure_cpu(contenders, MANY, networks);
    print_contenders("a get of 20 events and 10 keys", contenders, MANY);
    for (int far = 0; far < NETWORKS; far++) {
        claim("get", &contenders[LIBRARY], &contenders[PIPELINE], far, 1.5, 0);
        pg_bare_close(contenders[PIPELINE].context[far]);
    }
    claim("get", &contenders[LIBRARY], &contenders[ADK], FAR, 0, 5);
}

/* ---------------------------------------------------------------------------------------- several threads */

/* Threads that do the same work, each with its own context. */
struct thread {
    pthread_t id;
    work *work;
    void *context;
    int count;
};
struct threads {
    struct thread items[MOST_READERS];
    int count;
};

static void *thread_run(void *context)
{
    const struct thread *thread = context;

    thread->work(thread->context, thread->count);
    return NULL;
}

static void threads_work(void *context, int count)
{
    struct threads *threads = context;

    for (int i = 0; i < threads->count; i++) {
        threads->items[i].count = count;
        CHECK(pthread_create(&threads->items[i].id, NULL, thread_run, &threads->items[i]) == 0);
    }
    for (int i = 0; i < threads->count; i++)
        CHECK(pthread_join(threads->items[i].id, NULL) == 0);
}

static void threads_add(struct threads *threads, work *each, void *context)
{
    threads->items[threads->count++] = (struct thread){.work = each, .context = context};
}

static void bench_writers(const struct network *networks)
{
    enum { KEY, SINGLE, MANY };
    static struct contender contenders[MANY] = {
        {.name = "seslite, by key", .work = threads_work, .writers = WRITERS},
        {.name = "libpq, by statements", .work = threads_work, .writers = WRITERS}};
    static struct library_side libraries[NETWORKS][WRITERS];
    static struct threads writers[NETWORKS][MANY];
    char names[NETWORKS][MANY][64];

    for (int far = 0; far < NETWORKS; far++) {
        const struct network *network = &networks[far];
        session_make(network, "writers of seslite", 200 + far, names[far][KEY]);
        session_make(network, "writers of libpq", 210 + far, names[far][SINGLE]);
        for (int i = 0; i < WRITERS; i++) {
            const int side = 300 + 100 * far + i;
            pg_library_open(&libraries[far][i], network->store, names[far][KEY], side, false);
            threads_add(&writers[far][KEY], pg_library_append, &libraries[far][i]);
            threads_add(&writers[far][SINGLE], pg_bare_append_single,
                        pg_bare_open(network->place, names[far][SINGLE], side));
        }
        contenders[KEY].context[far] = &writers[far][KEY];
        contenders[SINGLE].context[far] = &writers[far][SINGLE];
    }
    take_turns(contenders, MANY, networks, WRITER_ROUNDS);
    measure_cpu(contenders, MANY, networks);
    print_contenders("an append, 8 writers, one session", contenders, MANY);
    claim("8 writers, one session", &contenders[KEY], &contenders[SINGLE], FAR, 0, 7);
    for (int far = 0; far < NETWORKS; far++) {
        for (int i = 0; i < WRITERS; i++)
            pg_bare_close(writers[far][SINGLE].items[i].context);
    }
}

/* Each reads a session of its own. A store keeps at most as many connections as there are readers. */
static void bench_readers(const struct network *network, int readers)
{
    enum { LIBRARY, PIPELINE, MANY };
    struct contender contenders[MANY] = {
        {.name = "seslite", .work = threads_work, .writers = readers},
        {.name = "libpq, one pipeline", .work = threads_work, .writers = readers}};
    static struct library_side libraries[MOST_READERS];
    struct threads sides[MANY] = {0};
    const ses_postgres_options options = {.size = sizeof options, .max_connections = (unsigned)readers};
    ses_store *store = NULL;
    char name[64];

    CHECK(ses_open_postgres(network->place, NULL, &options, &store, NULL) == SES_OK);
    for (int i = 0; i < readers; i++) {
        const int side = 1000 * readers + i;
        snprintf(name, sizeof name, "read by %d of %d", i, readers);
        pg_library_make(store, name, side);
        pg_library_open(&libraries[i], store, name, side, false);
        threads_add(&sides[LIBRARY], pg_library_get, &libraries[i]);
        threads_add(&sides[PIPELINE], pg_bare_get_pipeline, pg_bare_open(network->place, name, side));
    }
    contenders[LIBRARY].context[DIRECT] = &sides[LIBRARY];
    contenders[PIPELINE].context[DIRECT] = &sides[PIPELINE];
    take_turns(contenders, MANY, network, READER_ROUNDS);
    measure_cpu(contenders, MANY, network);
    snprintf(name, sizeof name, "a get, %d readers", readers);
    print_contenders(name, contenders, MANY);
    snprintf(name, sizeof name, "get, %d readers", readers);
    claim(name, &contenders[LIBRARY], &contenders[PIPELINE], DIRECT, 1.5, 0);
    for (int i = 0; i < readers; i++)
        pg_bare_close(sides[PIPELINE].items[i].context);
    ses_close(store);
}

/* google-adk uses a separate database, since both have a table called "events". */
static void make_adk_database(const char *place)
{
    PGconn *conn = PQconnectdb(place);
    PGresult *result = PQexec(conn, "CREATE DATABASE adk");

    CHECK(PQresultStatus(result) == PGRES_COMMAND_OK);
    PQclear(result);
    PQfinish(conn);
}

static struct adk *adk_of(const char *python, const struct network *network)
{
    char place[700];

    snprintf(place, sizeof place, "%s dbname=adk", network->place);
    return adk_open(python, place);
}

/* Applies the options. Returns the connection string. */
static const char *read_options(int argc, char **argv, const char **python, FILE **json, bool *quick)
{
    const char *place = NULL;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            CHECK((*json = fopen(argv[++i], "w")) != NULL);
        else if (strcmp(argv[i], "--adk") == 0 && i + 1 < argc)
            *python = argv[++i];
        else if (strcmp(argv[i], "--quick") == 0)
            *quick = true;
        else
            place = argv[i];
    }
    CHECK(place && place[0] != '-');
    return place;
}

int main(int argc, char **argv)
{
    const char *python = NULL;
    FILE *json = NULL;
    bool quick = false;
    const char *place = read_options(argc, argv, &python, &json, &quick);
    static struct network networks[NETWORKS];
    struct adk *adks[NETWORKS] = {NULL, NULL};

    measure_begin(".", json, quick);
    if (python)
        make_adk_database(place);
    for (int far = 0; far < NETWORKS; far++) {
        network_open(&networks[far], place, far == FAR);
        if (python)
            adks[far] = adk_of(python, &networks[far]);
    }
    printf("seslite %s on PostgreSQL%s\n\n", ses_version(),
           adks[FAR] ? "" : "; no google-adk to compare with");
    bench_appends(networks, adks);
    bench_gets(networks, adks);
    bench_writers(networks);
    bench_readers(&networks[DIRECT], 8);
    bench_readers(&networks[DIRECT], MOST_READERS);
    report_claims();
    for (int far = 0; far < NETWORKS; far++) {
        if (adks[far])
            adk_close(adks[far]);
        network_close(&networks[far]);
    }
    if (json)
        fclose(json);
    return measure_all_reached() ? 0 : 2;
}
