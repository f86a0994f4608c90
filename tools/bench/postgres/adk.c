/* google-adk's side: a Python program that reads commands as lines and answers when each is done. */
#include "sides.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct adk {
    pid_t pid;
    FILE *to;
    FILE *from;
};

/* Reads its next answer. Returns false if the program has ended. */
static bool adk_answer(struct adk *adk, const char *wanted)
{
    char line[64];

    return fgets(line, sizeof line, adk->from) && strncmp(line, wanted, strlen(wanted)) == 0;
}

static void adk_exec(const char *python, const char *place, const int in[2], const int out[2])
{
    if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0)
        _exit(127);
    close(in[0]);
    close(out[1]);
    execlp(python, python, "tools/bench/postgres/adk.py", place, (char *)NULL);
    _exit(127);
}

struct adk *adk_open(const char *python, const char *place)
{
    struct adk *adk = calloc(1, sizeof *adk);
    int in[2];
    int out[2];

    CHECK(adk && pipe(in) == 0 && pipe(out) == 0);
    /* A program started later must not inherit these pipes. */
    CHECK(fcntl(in[1], F_SETFD, FD_CLOEXEC) == 0 && fcntl(out[0], F_SETFD, FD_CLOEXEC) == 0);
    (void)signal(SIGPIPE, SIG_IGN);
    fflush(stdout);
    adk->pid = fork();
    CHECK(adk->pid >= 0);
    if (adk->pid == 0)
        adk_exec(python, place, in, out);
    close(in[0]);
    close(out[1]);
    adk->to = fdopen(in[1], "w");
    adk->from = fdopen(out[0], "r");
    CHECK(adk->to && adk->from);
    if (adk_answer(adk, "ready"))
        return adk;
    adk_close(adk);
    return NULL;
}

void adk_close(struct adk *adk)
{
    fclose(adk->to);
    fclose(adk->from);
    (void)waitpid(adk->pid, NULL, 0);
    free(adk);
}

static void adk_do(struct adk *adk, const char *what, int count)
{
    CHECK(fprintf(adk->to, "%s %d\n", what, count) > 0 && fflush(adk->to) == 0);
    CHECK(adk_answer(adk, "done"));
}

void adk_append(void *context, int count)
{
    adk_do(context, "append", count);
}

void adk_get(void *context, int count)
{
    adk_do(context, "get", count);
}
