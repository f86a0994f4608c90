/*
 * One of several programs that use a session at the same time: together FILE APP USER SESSION N NAME
 *
 * It appends N events whose author is NAME, and follows the session until it has seen N events of each of
 * three authors, or 30 seconds have passed. It prints how many events it saw of each, as JSON. It fails if it
 * has not seen them all. tools/rust/seslite/examples/together.rs does the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seslite.h"

enum { AUTHORS = 3, PATIENCE_MS = 30 * 1000 };

struct count {
    char author[64];
    int events;
};

static struct count seen[AUTHORS];
static ses_error error;

static int complete(int wanted)
{
    int at = 0;
    while (at < AUTHORS && seen[at].events >= wanted)
        at++;
    return at == AUTHORS;
}

static void count(const char *author)
{
    int at = 0;
    while (at < AUTHORS && seen[at].events > 0 && strcmp(seen[at].author, author) != 0)
        at++;
    if (at == AUTHORS)
        return;
    snprintf(seen[at].author, sizeof seen[at].author, "%s", author);
    seen[at].events++;
}

/* Counts the events that come until all are there, or for a time without any. */
static int follow(ses_follower *follower, int wanted, int64_t wait_ms)
{
    const ses_event *event;
    int code = SES_ROW;
    while (code == SES_ROW && !complete(wanted)) {
        code = ses_follower_next(follower, wait_ms, &event, &error);
        if (code == SES_ROW)
            count(event->author);
    }
    return code;
}

static int together(ses_store *store, const ses_key *key, int wanted, const char *name)
{
    ses_follower *follower = NULL;
    int code = ses_follower_open(store, key, NULL, &follower, &error);
    for (int number = 1; code >= 0 && number <= wanted; number++) {
        char event[256];
        snprintf(event, sizeof event, "{\"author\":\"%s\",\"actions\":{\"stateDelta\":{\"%s\":%d}}}", name,
                 name, number);
        code = ses_append_by_key(store, key, event, SES_NUL, NULL, NULL, &error);
        if (code >= 0)
            code = follow(follower, wanted, 0);
    }
    if (code >= 0)
        code = follow(follower, wanted, PATIENCE_MS);
    ses_follower_close(follower);
    return code;
}

int main(int argc, char **argv)
{
    ses_store *store = NULL;
    if (argc != 7) {
        fputs("usage: together FILE APP USER SESSION N NAME\n", stderr);
        return 2;
    }
    int wanted = atoi(argv[5]);
    ses_key key = {argv[2], argv[3], argv[4]};
    int code = ses_open(argv[1], NULL, &store, &error);
    if (code >= 0)
        code = together(store, &key, wanted, argv[6]);
    ses_close(store);
    if (code < 0)
        fprintf(stderr, "together: %s\n", error.message);
    printf("{\"%s\":%d,\"%s\":%d,\"%s\":%d}\n", seen[0].author, seen[0].events, seen[1].author,
           seen[1].events, seen[2].author, seen[2].events);
    return complete(wanted) ? 0 : 1;
}
