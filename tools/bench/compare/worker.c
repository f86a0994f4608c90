/*
 * A store, as a worker of `make compare`: it does and times what the lines of its standard input ask for
 * (README.md).
 *
 *     worker FILE
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "seslite.h"

enum { LONGEST_LINE = 256, LONGEST_EVENT = 1024, MOST_AT_ONCE = 4096 };

struct worker {
    ses_store *store;
    ses_session *session; /* that was written to last */
    int64_t appended;
    ses_error error;
};

static void must(struct worker *worker, int code)
{
    if (code >= 0)
        return;
    fprintf(stderr, "%s\n", worker->error.message);
    exit(1);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static ses_key key_of(const char *session)
{
    return (ses_key){.app = "app", .user = "u", .session = session};
}

static void make_event(struct worker *worker, char *event)
{
    const int64_t n = ++worker->appended;
    char text[302] = "";

    for (int i = 0; i < 10; i++)
        strcat(text, "what a user may say in a turn ");
    snprintf(event, LONGEST_EVENT,
             "{\"invocationId\":\"i%" PRId64
             "\",\"author\":\"user\",\"content\":{\"parts\":[{\"text\":\"%s\"}],\"role\":\"user\"},"
             "\"actions\":{\"stateDelta\":{\"n\":%" PRId64 ",\"user:count\":%" PRId64 "}}}",
             n / 4, text, n, n);
}

/* Keeps a handle on the session, as an agent does. */
static void turn_to(struct worker *worker, const char *session)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_get_options options = {.size = sizeof options, .range = &none};
    const ses_key key = key_of(session);

    if (worker->session && strcmp(ses_session_id(worker->session), session) == 0)
        return;
    ses_session_close(worker->session);
    must(worker, ses_get(worker->store, &key, &options, &worker->session, &worker->error));
}

static int append(struct worker *worker, const char *event)
{
    return ses_append(worker->session, event, SES_NUL, NULL, NULL, &worker->error);
}

static void do_create(struct worker *worker, const char *session)
{
    const ses_key key = key_of(session);

    must(worker, ses_create(worker->store, &key, NULL, 0, NULL, NULL, &worker->error));
    puts("0 1");
}

static void do_append(struct worker *worker, const char *session, int count)
{
    static char events[MOST_AT_ONCE][LONGEST_EVENT];

    if (count > MOST_AT_ONCE)
        count = MOST_AT_ONCE;
    turn_to(worker, session);
    for (int i = 0; i < count; i++)
        make_event(worker, events[i]);
    const double begun = seconds();
    for (int i = 0; i < count; i++)
        must(worker, append(worker, events[i]));
    printf("%.9f %d\n", seconds() - begun, count);
}

static void do_get(struct worker *worker, const char *session, int64_t newest)
{
    const ses_range range = {
        .size = sizeof range, .which = newest > 0 ? SES_RANGE_NEWEST : 0, .newest = newest};
    const ses_get_options options = {.size = sizeof options, .range = &range};
    const ses_key key = key_of(session);
    ses_session *found = NULL;
    const double begun = seconds();

    must(worker, ses_get(worker->store, &key, &options, &found, &worker->error));
    printf("%.9f %zu\n", seconds() - begun, ses_session_event_count(found));
    ses_session_close(found);
}

static void do_list(struct worker *worker)
{
    const ses_list_options options = {.size = sizeof options, .limit = 10000};
    ses_page *page = NULL;
    const double begun = seconds();

    must(worker, ses_list(worker->store, "app", "u", &options, &page, &worker->error));
    printf("%.9f %zu\n", seconds() - begun, ses_page_count(page));
    ses_page_close(page);
}

static void do_write(struct worker *worker, const char *session, double how_long)
{
    const double end = seconds() + how_long;
    char event[LONGEST_EVENT];
    int stored = 0;
    int failed = 0;

    turn_to(worker, session);
    while (seconds() < end) {
        make_event(worker, event);
        if (append(worker, event) < 0)
            failed++;
        else
            stored++;
    }
    printf("%d %d\n", stored, failed);
}

static void do_acknowledge(struct worker *worker, const char *session)
{
    char event[LONGEST_EVENT];

    turn_to(worker, session);
    for (;;) {
        make_event(worker, event);
        must(worker, append(worker, event));
        puts("ack");
    }
}

static bool obey(struct worker *worker, const char *line)
{
    char session[LONGEST_LINE];
    double number = 0;

    if (sscanf(line, "create %255s", session) == 1)
        do_create(worker, session);
    else if (sscanf(line, "append %255s %lf", session, &number) == 2)
        do_append(worker, session, (int)number);
    else if (sscanf(line, "get %255s %lf", session, &number) == 2)
        do_get(worker, session, (int64_t)number);
    else if (sscanf(line, "write %255s %lf", session, &number) == 2)
        do_write(worker, session, number);
    else if (sscanf(line, "acknowledge %255s", session) == 1)
        do_acknowledge(worker, session);
    else if (strncmp(line, "list", 4) == 0)
        do_list(worker);
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    struct worker worker = {0};
    char line[LONGEST_LINE];

    if (argc != 2)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    must(&worker, ses_open(argv[1], NULL, &worker.store, &worker.error));
    while (fgets(line, sizeof line, stdin))
        if (!obey(&worker, line)) {
            fprintf(stderr, "not known: %s", line);
            return 2;
        }
    ses_session_close(worker.session);
    ses_close(worker.store);
    return 0;
}
