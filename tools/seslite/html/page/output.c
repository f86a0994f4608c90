#include "html/page/output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "output/out.h"
#include "store/choose.h"

static int cannot(const char *path)
{
    say("cannot write %s: %s", path, strerror(errno));
    return EXIT_FAILED;
}

static int open_named(struct output *output, struct run *run, const char *path)
{
    if (whole_file_begin(&output->whole, path, WHOLE_TEXT, given(run, OPTION_REPLACE), &run->error) < 0)
        return fail(run);
    int fd = dup(output->whole.fd);
    output->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (output->file)
        return EXIT_OK;
    if (fd >= 0)
        (void)close(fd);
    return output_close(output, cannot(path));
}

int output_open(struct output *output, struct run *run)
{
    const char *path = run->values[OPTION_OUTPUT];

    *output = (struct output){.run = run, .whole = {.fd = -1}};
    if (path && strcmp(path, "-") != 0 && is_of_store(run, path))
        return say_usage(run, "%s is the store itself or one of its files", path);
    if (path && strcmp(path, "-") != 0)
        return open_named(output, run, path);
    if (!path && out_is_terminal())
        return say_usage(run, "the page would be written to the terminal: name a file with -o, or use \"-o "
                              "-\"");
    output->file = stdout;
    return EXIT_OK;
}

int output_close(struct output *output, int status)
{
    const char *name = output->whole.path ? output->whole.path : "the output";
    bool failed = output->file && (fflush(output->file) != 0 || ferror(output->file));

    if (output->file && output->file != stdout)
        failed = fclose(output->file) != 0 || failed;
    if (failed && status == EXIT_OK)
        status = cannot(name);
    int code = whole_file_end(&output->whole, status == EXIT_OK ? SES_OK : SES_IO, &output->run->error);
    return status == EXIT_OK && code < 0 ? fail(output->run) : status;
}
