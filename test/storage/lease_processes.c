/* Processes that take turns on one session: never two at once, and nobody starves. */
#include "open.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { MOST_PROCESSES = 4, THREADS = 3, PLAY_US = 1500000, MOST_US = 60000000, LEAST_TURNS = 2 };

static const ses_key turns = {"app", "user", "turns"};

/* How many players have not had their LEAST_TURNS yet, in all processes. The others play on until there is
 * none, so that one that starves waits for its turn until its patience ends, however slow the machine is. */
static atomic_int *behind;

struct player {
    pthread_t thread;
    ses_store *store;
    int process;
    int number;
    int turns;
    int code;
    ses_error error;
};

/* One state key is what the turns must not do at the same time: it is 0 at the beginning of each, and at the
 * end. */
static int play_turn(struct player *player, int64_t token)
{
    char own[80];
    char *seen = NULL;
    const ses_append_options options = {.size = sizeof options, .lease = token};
    int code = ses_state_get_by_key(player->store, &turns, "busy", NULL, &seen, NULL, &player->error);
    bool is_free = code == SES_OK && strcmp(seen, "0") == 0;

    ses_free(seen);
    if (code == SES_OK && !is_free)
        return SES_INTERNAL;
    snprintf(own, sizeof own, "{\"author\":\"%d\",\"actions\":{\"stateDelta\":{\"busy\":%d}}}",
             player->process, player->process + 1);
    if (code == SES_OK)
        code = ses_append_by_key(player->store, &turns, own, SES_NUL, &options, NULL, &player->error);
    support_pause_us(500);
    if (code == SES_OK)
        code = ses_append_by_key(player->store, &turns, Q("{'actions':{'stateDelta':{'busy':0}}}"), SES_NUL,
                                 &options, NULL, &player->error);
    return code;
}

static void *play_turns(void *context)
{
    const ses_lease_options patient = {.size = sizeof patient, .wait_ms = 30000};
    struct player *player = context;
    const int64_t begun = support_steady_us();
    int64_t passed = 0;

    while (player->code == SES_OK && (passed < PLAY_US || (atomic_load(behind) > 0 && passed < MOST_US))) {
        char owner[80];
        ses_lease lease = {0};
        snprintf(owner, sizeof owner, "%d-%d-%d", player->process, player->number, player->turns);
        player->code = ses_lease_take(player->store, &turns, owner, &patient, &lease, &player->error);
        if (player->code == SES_OK)
            player->code = play_turn(player, lease.token);
        if (player->code == SES_OK)
            player->code = ses_lease_release(player->store, &turns, lease.token, NULL, &player->error);
        player->turns++;
        if (player->turns == LEAST_TURNS)
            atomic_fetch_sub(behind, 1);
        passed = support_steady_us() - begun;
    }
    return NULL;
}

/* In the child. */
static int play(const char *path, int process)
{
    struct player players[THREADS];
    ses_store *store = NULL;
    int failed = ses_open(path, NULL, &store, NULL) != SES_OK;

    for (int i = 0; i < THREADS && !failed; i++) {
        players[i] = (struct player){.store = store, .process = process, .number = i};
        failed = pthread_create(&players[i].thread, NULL, play_turns, &players[i]) != 0;
    }
    for (int i = 0; i < THREADS && !failed; i++) {
        (void)pthread_join(players[i].thread, NULL);
        if (players[i].code != SES_OK)
            fprintf(stderr, "process %d: %d %s\n", process, players[i].code, players[i].error.message);
        failed |= players[i].code != SES_OK || players[i].turns < LEAST_TURNS;
    }
    ses_close(store);
    return failed;
}

static void make_session(const char *path)
{
    ses_store *store = must_open(path, NULL);
    must_create(store, &turns, Q("{'busy':0}"));
    ses_close(store); /* a file may not be open at a fork */
}

static void count_events(const char *path, int processes)
{
    for (int i = 0; i < processes; i++) {
        char sql[200];
        struct text text = {NULL, 0};
        sqlite3 *db = raw_open(path);
        snprintf(sql, sizeof sql, "SELECT count(*) FROM events WHERE author = '%d'", i);
        raw_query(db, sql, &text);
        print_message("process %d of %d: %d turns\n", i, processes, atoi(text.data));
        assert_true(atoi(text.data) >= LEAST_TURNS * THREADS);
        free(text.data);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
    }
}

static void play_in_processes(const char *path, int processes)
{
    pid_t children[MOST_PROCESSES];
    int failed = 0;

    make_session(path);
    atomic_store(behind, processes * THREADS);
    for (int i = 0; i < processes; i++) {
        fflush(NULL);
        children[i] = fork();
        assert_int_not_equal(children[i], -1);
        if (children[i] == 0)
            _exit(play(path, i));
    }
    for (int i = 0; i < processes; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        failed |= status;
    }
    assert_int_equal(failed, 0);
    count_events(path, processes);
    assert_sound(path);
}

FOLDER_TEST(two_processes_take_turns)
{
    play_in_processes(folder->path, 2);
}

FOLDER_TEST(four_processes_take_turns)
{
    play_in_processes(folder->path, 4);
}

/* In the child: takes the lease, says so, begins its turn, and is killed. */
static void take_and_stay(const char *path, int begun)
{
    const ses_lease_options brief = {.size = sizeof brief, .duration_us = 400000};
    ses_store *store = NULL;
    ses_lease lease = {0};
    ses_append_options options = {.size = sizeof options};
    int code = ses_open(path, NULL, &store, NULL);

    if (code == SES_OK)
        code = ses_lease_take(store, &turns, "killed", &brief, &lease, NULL);
    options.lease = lease.token;
    if (code == SES_OK)
        code = ses_append_by_key(store, &turns, "{}", SES_NUL, &options, NULL, NULL);
    if (write(begun, &lease, sizeof lease) != sizeof lease || code != SES_OK)
        _exit(1);
    for (;;)
        support_pause_us(1000000);
}

FOLDER_TEST(the_lease_of_a_process_that_is_killed_runs_out)
{
    const ses_append_options none = {.size = sizeof none};
    ses_append_options late = none;
    ses_lease theirs;
    ses_lease lease;
    int status = 0;
    int begun[2];

    make_session(folder->path);
    assert_int_equal(pipe(begun), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_int_not_equal(child, -1);
    if (child == 0)
        take_and_stay(folder->path, begun[1]);
    assert_int_equal(read(begun[0], &theirs, sizeof theirs), sizeof theirs);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    ses_store *store = must_open(folder->path, NULL);
    assert_ok(ses_lease_take(store, &turns, "next", NULL, &lease, &error));
    assert_true(lease.token > theirs.token);
    late.lease = theirs.token;
    assert_code(SES_LEASED, ses_append_by_key(store, &turns, "{}", SES_NUL, &late, NULL, &error));
    late.lease = lease.token;
    assert_ok(ses_append_by_key(store, &turns, "{}", SES_NUL, &late, NULL, &error));
    ses_close(store);
    close(begun[0]);
    close(begun[1]);
}

BEFORE_TESTS()
{
    behind = mmap(NULL, sizeof *behind, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(behind != MAP_FAILED);
}
