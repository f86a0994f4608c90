/* Workers that are killed between an input, its lease and the answer: each input is answered once.
 * SESLITE_KILLS=2000 kills at so many moments. */
#include "open.h"

#include <signal.h>

#include "seslite_inbox.h"

enum { SESSIONS = 3, LEASE_US = 1000000000 };

/* Asks a question, and answers the oldest, until it is killed. Each life is another owner; a lease of a dead
 * one is made to end by the clock. */
struct life {
    const char *path;
    int64_t now_us;
    int64_t number;
    int ready; /* is told by a byte that it has answered once */
};

static int64_t clock_of_life(void *context)
{
    return ((struct life *)context)->now_us;
}

static const ses_key *session_of(int64_t number, ses_key *place, char name[16])
{
    snprintf(name, 16, "s%d", (int)(number % SESSIONS));
    *place = (ses_key){"app", "user", name};
    return place;
}

static int ask(ses_store *store, int64_t number, ses_error *error)
{
    const ses_inbox_add_options creates = {
        .size = sizeof creates, .flags = SES_INBOX_CREATES, .max_waiting = INT64_MAX};
    char request[32];
    char name[16];
    ses_key of;

    snprintf(request, sizeof request, "q%lld", (long long)number);
    return ses_inbox_add(store, session_of(number, &of, name), request, "1", 1, &creates, error);
}

/* The input becomes an event under its request, so that it is no question again; then the answer. */
static int answer(ses_store *store, const ses_input *input, int64_t lease, ses_error *error)
{
    const ses_key of = {input->app, input->user, input->session};
    const ses_append_options mine = {.size = sizeof mine, .lease = lease};
    const ses_append_options last = {.size = sizeof last, .lease = lease, .answers = input->request};
    char event[100];

    snprintf(event, sizeof event, "{\"id\":\"%s\",\"author\":\"user\"}", input->request);
    int code = ses_append_by_key(store, &of, event, SES_NUL, &mine, NULL, error);
    snprintf(event, sizeof event, "{\"author\":\"answer\",\"invocationId\":\"%s\"}", input->request);
    if (code >= 0)
        code = ses_append_by_key(store, &of, event, SES_NUL, &last, NULL, error);
    return code >= 0 ? ses_lease_release(store, &of, lease, NULL, error) : code;
}

static int live(void *context)
{
    struct life *life = context;
    const ses_open_options options = {.size = sizeof options,
                                      .synchronous = SES_SYNC_NORMAL,
                                      .clock = clock_of_life,
                                      .clock_context = life};
    const ses_inbox_take_options holding = {.size = sizeof holding, .duration_us = LEASE_US};
    ses_inputs *input = NULL;
    ses_store *store = NULL;
    ses_lease lease;
    ses_error error;
    char owner[32];
    int code = ses_open(life->path, &options, &store, &error);

    snprintf(owner, sizeof owner, "life %lld", (long long)life->number);
    for (int64_t next = life->number * 100000; code == SES_OK; next++) {
        code = ask(store, next, &error);
        if (code == SES_OK)
            code = ses_inbox_take(store, NULL, owner, &holding, &input, &lease, &error);
        if (code == SES_OK)
            code = answer(store, ses_inputs_at(input, 0), lease.token, &error);
        ses_inputs_close(input);
        input = NULL;
        if (code == SES_OK && next == life->number * 100000 && write(life->ready, "r", 1) != 1)
            return 1;
    }
    fprintf(stderr, "life %lld: %d %s\n", (long long)life->number, code, error.message);
    return 1;
}

/* Every question is answered once or waits, and none has two answers. */
static void assert_each_once(const char *path)
{
    assert_query(
        path,
        "WITH answers AS (SELECT body ->> 'invocationId' AS request FROM events WHERE author = 'answer'),"
        " questions AS (SELECT body ->> 'id' AS request FROM events WHERE author = 'user') "
        "SELECT (SELECT count(*) - count(DISTINCT request) FROM answers),"
        " (SELECT count(*) FROM session_inbox WHERE request IN (SELECT request FROM answers)),"
        " (SELECT count(*) FROM questions WHERE request NOT IN (SELECT request FROM answers)"
        " AND request NOT IN (SELECT request FROM session_inbox))",
        "0|0|0\n");
}

FOLDER_TEST(each_input_is_answered_once)
{
    const int kills = (int)support_setting("SESLITE_KILLS", 40);
    struct life life = {.path = folder->path, .now_us = INT64_C(1700000000000000)};
    unsigned seed = (unsigned)support_setting("SESLITE_TEST_SEED", 1);
    char byte = 0;

    for (int i = 1; i <= kills; i++) {
        int ready[2];
        assert_int_equal(pipe(ready), 0);
        life.number = i;
        life.now_us += 2 * (int64_t)LEASE_US; /* the leases of the dead have ended */
        life.ready = ready[1];
        const pid_t child = child_start(live, &life);
        close(ready[1]);
        assert_int_equal(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        seed = seed * 1103515245U + 12345U;
        support_pause_us((long)(seed / 65536U % 8000));
        assert_int_equal(kill(child, SIGKILL), 0);
        (void)child_end(child);
        if (i % 20 == 0 || i == kills)
            assert_each_once(folder->path);
    }
    support_figure("kills", kills);
    char *answers = raw_text(folder->path, "SELECT count(*) FROM events WHERE author = 'answer'");
    print_message("%d kills, %d answers\n", kills, atoi(answers));
    assert_true(atoi(answers) >= kills);
    free(answers);
    assert_sound(folder->path);
}
