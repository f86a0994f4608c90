/* The command as its users meet it: the program, with pipes or a pseudo-terminal. */
#ifndef SESLITE_TEST_COMMAND_H
#define SESLITE_TEST_COMMAND_H

#include "open.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#if defined(__APPLE__)
#include <util.h>
#elif defined(__FreeBSD__)
#include <libutil.h>
#else
#include <pty.h>
#endif

/* The streams of the program that are on the terminal. */
enum { TERMINAL_IN = 1, TERMINAL_OUT = 2, TERMINAL_ERR = 4, TERMINAL_ALL = 7 };

/* How the program is run. All zero: with pipes, and nothing to read. */
struct how {
    unsigned terminal;      /* TERMINAL_* */
    unsigned short columns; /* of the terminal; 0: 80 */
    const char *input;      /* what it reads; NULL: nothing */
    const char *env;        /* a variable, as putenv takes it; NULL: none */
    int64_t out_after_ms;   /* its output is not read before; so it waits when its pipe is full */
    bool as_nobody;         /* not as root, who may write every file; status 127 where nobody cannot run it */
};

struct reply {
    int status;
    struct text out;
    struct text err;
    struct text screen; /* what came to the terminal */
};

/* --------------------------------------------------------------------------------------------- the child */

struct ends {
    int in[2];
    int out[2];
    int err[2];
    int master;
    int slave;
};

static inline void command_child(const struct ends *ends, const struct how *how, char *const *arguments)
{
    (void)setsid();
    if (how->terminal)
        (void)ioctl(ends->slave, TIOCSCTTY, 0);
    (void)dup2(how->terminal & TERMINAL_IN ? ends->slave : ends->in[0], 0);
    (void)dup2(how->terminal & TERMINAL_OUT ? ends->slave : ends->out[1], 1);
    (void)dup2(how->terminal & TERMINAL_ERR ? ends->slave : ends->err[1], 2);
    for (int fd = 3; fd < 256; fd++)
        (void)close(fd);
    (void)setenv("TERM", "xterm", 1);
    (void)setenv("TZ", "UTC", 1);
    (void)unsetenv("NO_COLOR");
    (void)unsetenv("SESLITE_DB");
    if (how->env)
        (void)putenv((char *)(uintptr_t)how->env);
    (void)alarm(120);
    if (how->as_nobody && geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        _exit(127);
    execv(arguments[0], arguments);
    _exit(127);
}

/* A slim container may lack /dev/pts: then the test is skipped. */
static inline void command_open_terminal(struct ends *ends, const struct how *how)
{
    struct winsize size = {.ws_row = 24, .ws_col = how->columns ? how->columns : 80};

    if (openpty(&ends->master, &ends->slave, NULL, NULL, &size) != 0) {
        print_message("skipped: a test that needs a terminal, since there are no pseudo-terminals here\n");
        skip();
    }
}

static inline void command_open(struct ends *ends, const struct how *how)
{
    ends->master = -1;
    ends->slave = -1;
    if (how->terminal)
        command_open_terminal(ends, how);
    assert_int_equal(pipe(ends->in), 0);
    assert_int_equal(pipe(ends->out), 0);
    assert_int_equal(pipe(ends->err), 0);
}

/* ---------------------------------------------------------------------------------------------- the reply */

/* Reads what there is; closes the end, and sets it to -1, when there will be no more. */
static inline void command_take(struct pollfd *end, struct text *text)
{
    char data[65536];

    if (end->fd < 0 || !(end->revents & (POLLIN | POLLHUP | POLLERR)))
        return;
    ssize_t len = read(end->fd, data, sizeof data);
    if (len > 0) {
        text_add(text, data, (size_t)len);
    } else if (len == 0 || errno != EINTR) {
        (void)close(end->fd);
        end->fd = -1;
    }
}

static inline void command_read(struct reply *reply, const struct ends *ends, const struct how *how)
{
    struct pollfd fds[3] = {{-1, POLLIN, 0}, {ends->err[0], POLLIN, 0}, {ends->master, POLLIN, 0}};
    const int64_t begun = support_steady_us();
    bool waits = true;

    while (waits || fds[0].fd >= 0 || fds[1].fd >= 0 || fds[2].fd >= 0) {
        if (waits && support_steady_us() - begun >= how->out_after_ms * 1000) {
            fds[0].fd = ends->out[0];
            waits = false;
        }
        (void)poll(fds, 3, waits ? 20 : 1000);
        command_take(&fds[0], &reply->out);
        command_take(&fds[1], &reply->err);
        command_take(&fds[2], &reply->screen);
    }
}

static inline void reply_free(struct reply *reply)
{
    free(reply->out.data);
    free(reply->err.data);
    free(reply->screen.data);
    *reply = (struct reply){.status = 0};
}

/* A program that refuses its arguments may end before it has read anything. */
static inline void command_give(int input, const char *text)
{
    const size_t len = strlen(text);
    void (*const before)(int) = signal(SIGPIPE, SIG_IGN);
    const ssize_t written = write(input, text, len);

    assert_true((size_t)written == len || (written < 0 && errno == EPIPE));
    assert_true(signal(SIGPIPE, before) == SIG_IGN);
}

/* Runs the program to its end. `reply` is empty, or that of an earlier run. */
static inline void command_run(struct reply *reply, const struct how *how, const char *const *arguments)
{
    static const struct how plain = {.terminal = 0};
    struct ends ends;
    int status = 0;

    how = how ? how : &plain;
    reply_free(reply);
    command_open(&ends, how);
    text_add(&reply->out, "", 0);
    text_add(&reply->err, "", 0);
    text_add(&reply->screen, "", 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        command_child(&ends, how, (char *const *)(uintptr_t)arguments);
    (void)close(ends.in[0]);
    (void)close(ends.out[1]);
    (void)close(ends.err[1]);
    int input = how->terminal & TERMINAL_IN ? ends.master : ends.in[1];
    if (how->input)
        command_give(input, how->input);
    (void)close(ends.in[1]);
    if (ends.slave >= 0)
        (void)close(ends.slave);
    command_read(reply, &ends, how);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    reply->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Runs `seslite -f FILE ...`, which must end with that code. */
#define run_at(reply, expected, how, file, ...)                                               \
    do {                                                                                      \
        const char *const arguments_[] = {COMMAND, "-f", (file), __VA_ARGS__, NULL};          \
        command_run((reply), (how), arguments_);                                              \
        if ((reply)->status != (expected))                                                    \
            print_error("%s: %d\n%s%s%s\n", #__VA_ARGS__, (reply)->status, (reply)->out.data, \
                        (reply)->err.data, (reply)->screen.data);                             \
        assert_int_equal((reply)->status, (expected));                                        \
    } while (0)

/* Closes the fixture's store, and leaves a file that only root could write, and nobody else beside it. */
static inline void make_read_only(struct fixture *fixture)
{
    ses_close(fixture->store);
    fixture->store = NULL;
    raw_exec(fixture->path, "PRAGMA journal_mode = DELETE");
    assert_int_equal(chmod(fixture->path, 0444), 0);
    assert_int_equal(chmod(fixture->folder, 0755), 0);
}

/* Runs `seslite -f FILE ...` on it, which must fail with 1. Root's checkout may be closed to others: then the
 * test is skipped. */
#define run_at_read_only(reply, fixture, ...)                                                       \
    do {                                                                                            \
        const char *const arguments_[] = {COMMAND, "-f", (fixture)->path, __VA_ARGS__, NULL};       \
        command_run((reply), &(const struct how){.as_nobody = true}, arguments_);                   \
        if ((reply)->status == 127) {                                                               \
            print_message("skipped: a file without rights, since others cannot run the program\n"); \
            skip();                                                                                 \
        }                                                                                           \
        assert_int_equal((reply)->status, 1);                                                       \
    } while (0)

/* True if the bytes, which may be a database, contain the word. */
static inline bool has_bytes(const char *bytes, size_t len, const char *word)
{
    const size_t word_len = strlen(word);

    for (size_t at = 0; at + word_len <= len; at++) {
        if (memcmp(bytes + at, word, word_len) == 0)
            return true;
    }
    return false;
}

static inline void assert_has(const struct text *text, const char *words)
{
    if (!strstr(text->data, words)) {
        print_error("there is no \"%s\" in:\n%s\n", words, text->data);
        fail();
    }
}

static inline void assert_lacks(const struct text *text, const char *words)
{
    if (strstr(text->data, words)) {
        print_error("there is \"%s\" in:\n%s\n", words, text->data);
        fail();
    }
}

/* The output as JSON, which it must be; cJSON_Delete. */
static inline cJSON *reply_json(const struct reply *reply)
{
    cJSON *json = cJSON_Parse(reply->out.data);
    if (!json)
        print_error("this is no JSON:\n%s\n", reply->out.data);
    assert_non_null(json);
    return json;
}

/* Every line must be JSON. Gives their number. */
static inline size_t reply_lines(const struct reply *reply)
{
    size_t count = 0;

    for (const char *line = reply->out.data; *line; count++) {
        const char *end = strchr(line, '\n');
        assert_non_null(end);
        cJSON *json = cJSON_ParseWithLength(line, (size_t)(end - line));
        assert_non_null(json);
        cJSON_Delete(json);
        line = end + 1;
    }
    return count;
}

static inline const char *json_string(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static inline double json_double(const cJSON *object, const char *name)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, name);
    assert_true(cJSON_IsNumber(number));
    return number->valuedouble;
}

/* ------------------------------------------------------------------------------------------------ a store */

/* A session of two turns, with a call in the first. */
static inline void fill_session(ses_store *store, const ses_key *key)
{
    must_create(store, key, Q("{'app:units':'celsius','topic':'travel'}"));
    must_append_by_key(store, key,
                       Q("{'id':'a','invocationId':'i1','author':'user','timestamp':1700000001,'content':{"
                         "'role':'user','parts':[{'text':'Do I need a coat?'}]}}"));
    must_append_by_key(
        store, key,
        Q("{'id':'b','invocationId':'i1','author':'bot','timestamp':1700000002,'content':{'role'"
          ":'model','parts':[{'functionCall':{'id':'c','name':'forecast','args':{'city':'Oslo'}"
          "}}]}}"));
    must_append_by_key(
        store, key,
        Q("{'id':'c','invocationId':'i1','author':'bot','timestamp':1700000003,'content':{'role'"
          ":'user','parts':[{'functionResponse':{'id':'c','name':'forecast','response':{'low':"
          "-7.50}}}]},'actions':{'stateDelta':{'low':-7.50}}}"));
    must_append_by_key(
        store, key,
        Q("{'id':'d','invocationId':'i1','author':'bot','timestamp':1700000004,'content':{'role'"
          ":'model','parts':[{'text':'Take the warm one.'}]},'actions':{'stateDelta':{'turns':"
          "1}}}"));
    must_append_by_key(store, key,
                       Q("{'id':'e','invocationId':'i2','author':'user','timestamp':1700000005,'content':{"
                         "'role':'user','parts':[{'text':'Thank you!'}]}}"));
    must_append_by_key(
        store, key,
        Q("{'id':'f','invocationId':'i2','author':'bot','timestamp':1700000006,'content':{'role'"
          ":'model','parts':[{'text':'Good trip.'}]},'actions':{'stateDelta':{'turns':2}}}"));
}

/* ----------------------------------------------------------------------------------------- the usual test */

/* A file with one session, filled. */
static const ses_key one = {"chat", "alice", "one"};

static inline int command_setup(void **state)
{
    (void)fixture_setup(state);
    const struct fixture *fixture = *state;
    fill_session(fixture->store, &one);
    return 0;
}

/* The reply to the command that ran last. */
static struct reply reply __attribute__((unused));

/* On the fixture's file; into `reply`. */
#define run_ok(...) run_at(&reply, 0, NULL, fixture->path, __VA_ARGS__)
#define run_code(code, ...) run_at(&reply, (code), NULL, fixture->path, __VA_ARGS__)

#endif
