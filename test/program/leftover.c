/* The command leaves no unfinished file behind when a signal ends it. */
#include "support.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/signals.h"

/* The end of a process that watches the file and gets the signal. */
static int end_of(const char *path, int number)
{
    int status = 0;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(SIGHUP, SIG_IGN);
        leftover_watch(path);
        (void)raise(number);
        leftover_forget();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static char *file_in(const char *folder)
{
    char *path = support_path(folder, "file");
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    return path;
}

PLAIN_TEST(a_signal_that_ends_the_program_removes_the_file)
{
    char *folder = support_folder_make();
    char *path = file_in(folder);
    const int status = end_of(path, SIGTERM);

    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
    assert_int_equal(access(path, F_OK), -1);
    free(path);
    support_folder_remove(folder);
}

PLAIN_TEST(a_signal_that_is_ignored_stays_ignored)
{
    char *folder = support_folder_make();
    char *path = file_in(folder);
    const int status = end_of(path, SIGHUP);

    assert_true(WIFEXITED(status));
    assert_int_equal(access(path, F_OK), 0);
    free(path);
    support_folder_remove(folder);
}
