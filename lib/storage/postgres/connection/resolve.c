/*
 * libpq calls getaddrinfo, which has no deadline. A name server that does not answer would cost many seconds,
 * and the other hosts would not be tried. So a thread resolves the name, and writes the answer into a pipe.
 * It is left to itself if that takes too long: then nobody reads the pipe (threads of the library block the
 * signal).
 */

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/thread.h"
#include "storage/postgres/connection/connection.h"
#include "storage/postgres/connection/hosts.h"

/* A pipe takes and gives it as a whole. */
struct answer {
    bool found;
    char addresses[ADDRESSES_SIZE]; /* or the reason why there are none */
};
_Static_assert(sizeof(struct answer) <= 512, "an answer has more bytes than every system's PIPE_BUF");

/* The thread's. It may outlive the store, and so does not use the store's allocator. */
struct lookup {
    int output;
    char host[];
};

bool ses__pg_is_host_name(const char *host)
{
    struct in6_addr address;

    return *host && *host != '/' && *host != '@' && inet_pton(AF_INET, host, &address) != 1 &&
           inet_pton(AF_INET6, host, &address) != 1 && !strchr(host, '%');
}

static void look_up(const char *host, struct answer *answer)
{
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const int failure = getaddrinfo(host, NULL, &wanted, &found);

    for (const struct addrinfo *info = failure == 0 ? found : NULL; info; info = info->ai_next) {
        char text[64];
        char *end = answer->addresses + strlen(answer->addresses);
        const size_t room = (size_t)(answer->addresses + sizeof answer->addresses - end);
        if (getnameinfo(info->ai_addr, info->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST) != 0)
            continue;
        const int added = snprintf(end, room, "%s%s", answer->found ? "," : "", text);
        if (added < 0 || (size_t)added >= room)
            *end = '\0';
        else
            answer->found = true;
    }
    if (failure == 0)
        freeaddrinfo(found);
    if (!answer->found)
        (void)snprintf(answer->addresses, sizeof answer->addresses,
                       "the host name \"%.200s\" could not be resolved: %.200s", host,
                       failure ? gai_strerror(failure) : "it has no addresses");
}

static void *run_lookup(void *context)
{
    struct lookup *lookup = context;
    struct answer answer = {.found = false};

    look_up(lookup->host, &answer);
    const ssize_t written = write(lookup->output, &answer, sizeof answer);
    (void)written; /* the caller has gone, or sees the end of the pipe */
    (void)close(lookup->output);
    free(lookup);
    return NULL;
}

static bool start_lookup(const char *host, int output)
{
    const size_t size = strlen(host) + 1;
    struct lookup *lookup = malloc(sizeof *lookup + size);
    pthread_t thread;

    if (lookup) {
        lookup->output = output;
        memcpy(lookup->host, host, size);
    }
    if (lookup && ses__thread_start(&thread, run_lookup, lookup)) {
        (void)pthread_detach(thread);
        return true;
    }
    free(lookup);
    (void)close(output);
    return false;
}

int ses__pg_resolve(const struct pg *pg, const char *host, char addresses[ADDRESSES_SIZE])
{
    struct answer answer;
    int ends[2];

    if (pipe(ends) != 0)
        return SES_NOMEM;
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    int code = start_lookup(host, ends[1]) ? ses__pg_wait(pg, ends[0], false) : SES_NOMEM;
    if (code == SES_OK && read(ends[0], &answer, sizeof answer) != (ssize_t)sizeof answer)
        code = SES_NOMEM;
    (void)close(ends[0]);
    if (code != SES_OK)
        return code;
    memcpy(addresses, answer.addresses, ADDRESSES_SIZE);
    return answer.found ? SES_OK : SES_CANTOPEN;
}
