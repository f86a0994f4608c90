#include "html/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "out.h"
#include "text.h"

static int cannot(const char *path)
{
    say("%s cannot be written: %s", path, strerror(errno));
    return EXIT_FAILED;
}

/* The page holds a conversation, so that only its owner may read the file. */
static int open_temporary(struct output *output, const char *path)
{
    struct text name = {NULL, 0, 0};

    text_print(&name, "%s.XXXXXX", path);
    int fd = mkstemp(name.data);
    if (fd < 0) {
        text_free(&name);
        return cannot(path);
    }
    output->path = path;
    output->temporary = name.data;
    output->file = fdopen(fd, "w");
    if (output->file)
        return EXIT_OK;
    (void)close(fd);
    return output_close(output, cannot(path));
}

static int open_named(struct output *output, const struct run *run, const char *path)
{
    struct stat found;

    if (stat(path, &found) != 0)
        return open_temporary(output, path);
    if (S_ISREG(found.st_mode) && !given(run, OPTION_REPLACE)) {
        say("there is a file %s already; --replace writes over it", path);
        return EXIT_EXISTS;
    }
    if (S_ISREG(found.st_mode))
        return open_temporary(output, path);
    output->file = fopen(path, "w"); /* a device, a pipe */
    return output->file ? EXIT_OK : cannot(path);
}

int output_open(struct output *output, const struct run *run)
{
    const char *path = run->values[OPTION_OUTPUT];

    *output = (struct output){.file = NULL};
    if (path && strcmp(path, "-") != 0)
        return open_named(output, run, path);
    if (!path && out_is_terminal())
        return say_usage(run, "the page would go to the terminal: name a file with -o, or \"-o -\"");
    output->file = stdout;
    return EXIT_OK;
}

/* Closes the file, with its bytes on the disk if it is to be kept. */
static int finish(struct output *output, int status)
{
    const char *name = output->path ? output->path : "the output";

    if (!output->file)
        return status;
    bool failed = fflush(output->file) != 0 || ferror(output->file);
    if (!failed && output->path && status == EXIT_OK)
        failed = fsync(fileno(output->file)) != 0;
    if (failed && status == EXIT_OK)
        status = cannot(name);
    if (output->file != stdout && fclose(output->file) != 0 && status == EXIT_OK)
        status = cannot(name);
    return status;
}

int output_close(struct output *output, int status)
{
    status = finish(output, status);
    if (output->temporary && status == EXIT_OK && rename(output->temporary, output->path) != 0)
        status = cannot(output->path);
    if (output->temporary && status != EXIT_OK)
        (void)unlink(output->temporary);
    free(output->temporary);
    *output = (struct output){.file = NULL};
    return status;
}
