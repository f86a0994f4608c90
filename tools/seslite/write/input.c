#include "write/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "output/out.h"
#include "store/choose.h"

static const size_t max_bytes = (size_t)INPUT_MAX_MIB << 20;

static bool is_standard_input(const char *path)
{
    return strcmp(path, "-") == 0;
}

const char *input_name(const char *path)
{
    return is_standard_input(path) ? "standard input" : path;
}

static int read_all(int fd, const char *name, struct text *input)
{
    char data[65536];
    ssize_t got;

    while ((got = read(fd, data, sizeof data)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            say("cannot read %s: %s", name, strerror(errno));
            return EXIT_FAILED;
        }
        if (input->len + (size_t)got > max_bytes) {
            say("%s is longer than %d MiB, the most that is stored at once", name, (int)INPUT_MAX_MIB);
            return exit_code_of(SES_LIMIT);
        }
        text_add(input, data, (size_t)got);
    }
    return EXIT_OK;
}

int input_open(struct run *run, const char *path, int *fd)
{
    *fd = STDIN_FILENO;
    if (is_standard_input(path))
        return EXIT_OK;
    if (is_of_store(run, path)) /* closing it would also drop SQLite's locks on it */
        return say_usage(run, "%s is the store itself or one of its files", path);
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd >= 0)
        return EXIT_OK;
    const int number = errno;
    say("cannot open %s: %s", path, strerror(number));
    return number == ENOENT ? EXIT_NOTFOUND : EXIT_FAILED;
}

void input_close(int fd)
{
    if (fd != STDIN_FILENO)
        (void)close(fd);
}

int input_read(struct run *run, const char *path, struct text *input)
{
    int fd = -1;
    int status = input_open(run, path, &fd);

    text_add(input, "", 0);
    if (status != EXIT_OK)
        return status;
    status = read_all(fd, input_name(path), input);
    input_close(fd);
    return status;
}
