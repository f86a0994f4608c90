/* The command, looking after a store: checks and backups. */
#include "command.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

/* The name of a file beside the store; it is removed. Free it. */
static char *beside(const struct fixture *fixture, const char *suffix)
{
    struct text path = {NULL, 0};

    text_printf(&path, "%s%s", fixture->path, suffix);
    (void)unlink(path.data);
    return path.data;
}

/* ------------------------------------------------------------------------------------------------- checks */

TEST_OF(command_setup, a_sound_store_has_no_problem)
{
    run_ok("check");
    assert_string_equal(reply.out.data, "");
    assert_has(&reply.err, "The store is sound.");
    run_ok("check", "--quick", "--json");
    assert_string_equal(reply.out.data, "{\"problems\":[],\"sound\":true}\n");
    run_ok("check", "--jsonl");
    assert_string_equal(reply.out.data, "");
}

TEST_OF(command_setup, each_problem_is_named)
{
    raw_exec(fixture->path, "UPDATE session_state SET value = '7' WHERE key = 'turns'");
    raw_exec(fixture->path, "UPDATE sessions SET created_us = updated_us + 1");
    run_ok("check", "--quick");
    run_code(7, "check");
    assert_has(&reply.out, "! state: chat/alice/one: ");
    assert_has(&reply.out, "! time: chat/alice/one: ");
    assert_has(&reply.err, "3 problems found. Nothing was changed.");
    run_code(7, "check", "--json");
    cJSON *json = reply_json(&reply);
    const cJSON *problems = cJSON_GetObjectItem(json, "problems");
    assert_int_equal(cJSON_GetArraySize(problems), 3);
    assert_string_equal(json_string(cJSON_GetArrayItem(problems, 0), "id"), "one");
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(json, "sound")));
    cJSON_Delete(json);
    run_code(7, "check", "--jsonl");
    assert_int_equal(reply_lines(&reply), 3);
    run_code(7, "check", "--limit", "1", "--jsonl");
    assert_int_equal(reply_lines(&reply), 1);
}

TEST_OF(command_setup, names_in_problems_cannot_drive_the_terminal)
{
    const ses_key odd = {"chat", "alice", "\x1b[31m"};

    must_create(fixture->store, &odd, Q("{'k':1}"));
    raw_exec(fixture->path, "UPDATE session_state SET value = '7' WHERE key = 'k'");
    run_code(7, "check");
    assert_lacks(&reply.out, "\x1b");
}

/* ------------------------------------------------------------------------------------------------ backups */

TEST_OF(command_setup, a_backup_is_a_store_of_its_own)
{
    char *copy = beside(fixture, ".copy");
    struct stat file;

    run_ok("backup", copy);
    assert_string_equal(reply.out.data, "");
    assert_has(&reply.err, copy);
    assert_int_equal(stat(copy, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0600);
    run_at(&reply, 0, NULL, copy, "check");
    run_at(&reply, 0, NULL, copy, "state", "turns");
    assert_string_equal(reply.out.data, "2\n");
    assert_int_equal(unlink(copy), 0);
    free(copy);
}

TEST_OF(command_setup, a_file_is_replaced_only_when_told)
{
    char *copy = beside(fixture, ".copy");

    run_ok("backup", copy, "--json");
    cJSON *json = reply_json(&reply);
    assert_string_equal(json_string(json, "file"), copy);
    assert_true(json_double(json, "bytes") > 4096);
    cJSON_Delete(json);
    run_code(4, "backup", copy);
    assert_has(&reply.err, "--replace");
    run_ok("backup", copy, "--replace", "--compact");
    assert_int_equal(unlink(copy), 0);
    run_code(2, "backup");
    run_code(2, "backup", ":memory:");
    run_code(1, "backup", "/nonexistent/folder/copy");
    free(copy);
}

static int count_unfinished(const char *folder)
{
    DIR *open = opendir(folder);
    const struct dirent *entry;
    int count = 0;

    assert_non_null(open);
    while ((entry = readdir(open)) != NULL)
        count += strstr(entry->d_name, ".seslite-backup-") != NULL;
    (void)closedir(open);
    return count;
}

/* Waits until the process has a handler for the signal; where that cannot be seen, long enough. */
static void wait_for_handler(pid_t child, int number)
{
    char path[64];
    bool handled = false;

    snprintf(path, sizeof path, "/proc/%d/status", (int)child);
    for (int i = 0; i < 10000 && !handled; i++) {
        char *text = support_read_file(path, NULL);
        const char *caught = text ? strstr(text, "SigCgt:") : NULL;
        handled = caught && (strtoull(caught + strlen("SigCgt:"), NULL, 16) >> (number - 1) & 1) != 0;
        support_pause_us(text ? 1000 : 100);
        free(text);
    }
}

/* The lock on the folder keeps the backup from beginning, until the signal has come. */
static int interrupt_backup(const struct fixture *fixture, const char *copy, int number)
{
    const int folder = open(fixture->folder, O_RDONLY | O_DIRECTORY);
    int status = 0;

    assert_int_equal(flock(folder, LOCK_EX), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(folder);
        (void)signal(number, SIG_DFL); /* a shell in the background has it ignored */
        execl(COMMAND, COMMAND, "-f", fixture->path, "backup", copy, (char *)NULL);
        _exit(127);
    }
    wait_for_handler(child, number);
    assert_int_equal(kill(child, number), 0);
    assert_int_equal(waitpid(child, &status, WNOHANG), 0);
    assert_int_equal(close(folder), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

TEST_OF(command_setup, an_interrupted_backup_leaves_nothing)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    char *copy = beside(fixture, ".copy");

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        const int status = interrupt_backup(fixture, copy, signals[i]);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), signals[i]);
        assert_int_equal(count_unfinished(fixture->folder), 0);
        assert_int_equal(access(copy, F_OK), -1);
    }
    free(copy);
}

TEST_OF(command_setup, a_file_with_a_second_name_needs_linked)
{
    char *path = beside(fixture, ".first");
    char *name = beside(fixture, ".second");
    char *copy = beside(fixture, ".copy");

    run_at(&reply, 0, NULL, path, "-a", "app", "-u", "user", "create", "s1");
    assert_int_equal(link(path, name), 0);
    run_at(&reply, 1, NULL, path, "append", "s1", "--text", "hello");
    assert_has(&reply.err, "a second name");
    assert_has(&reply.err, "add --linked");
    run_at(&reply, 0, NULL, path, "--linked", "append", "s1", "--text", "hello");
    run_at(&reply, 0, NULL, path, "title", "Oslo", "--linked");
    run_at(&reply, 0, NULL, path, "--linked", "index");
    run_at(&reply, 0, NULL, path, "--linked", "search", "--words", "hello");
    run_at(&reply, 0, NULL, path, "--linked", "maintain");
    run_at(&reply, 0, NULL, path, "--linked", "migrate");

    /* A log beside one name: by that name only those who know better read. */
    char *log = beside(fixture, ".first-wal");
    FILE *file = fopen(log, "w");
    assert_non_null(file);
    assert_int_equal(fputc('x', file), 'x');
    assert_int_equal(fclose(file), 0);
    run_at(&reply, 1, NULL, copy, "import", path);
    assert_has(&reply.err, "a second name");
    run_at(&reply, 0, NULL, copy, "--linked", "import", path);
    run_at(&reply, 0, NULL, path, "--linked", "list");
    assert_has(&reply.out, "Oslo");
    free(log);
    free(copy);
    free(name);
    free(path);
}
