/* The command, looking after a store: checks and backups. */
#include "command.h"

#include <sys/stat.h>

/* The name of a file beside the store; it is removed. Free it. */
static char *beside(const struct fixture *fixture, const char *suffix)
{
    struct text path = {NULL, 0};

    text_printf(&path, "%s%s", fixture->path, suffix);
    (void)unlink(path.data);
    return path.data;
}

/* -------------------------------------------------------------------------------------------------- checks */

static void test_a_sound_store_has_no_problem(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    run_ok("check");
    assert_string_equal(reply.out.data, "");
    assert_has(&reply.err, "The store is sound.");
    run_ok("check", "--quick", "--json");
    assert_string_equal(reply.out.data, "{\"problems\":[],\"sound\":true}\n");
    run_ok("check", "--jsonl");
    assert_string_equal(reply.out.data, "");
    reply_free(&reply);
}

static void test_each_problem_is_named(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

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
    reply_free(&reply);
}

static void test_names_in_problems_cannot_drive_the_terminal(void **state)
{
    const struct fixture *fixture = *state;
    const ses_key odd = {"chat", "alice", "\x1b[31m"};
    struct reply reply = {0};

    must_create(fixture->store, &odd, Q("{'k':1}"));
    raw_exec(fixture->path, "UPDATE session_state SET value = '7' WHERE key = 'k'");
    run_code(7, "check");
    assert_lacks(&reply.out, "\x1b");
    reply_free(&reply);
}

/* ------------------------------------------------------------------------------------------------- backups */

static void test_a_backup_is_a_store_of_its_own(void **state)
{
    const struct fixture *fixture = *state;
    char *copy = beside(fixture, ".copy");
    struct reply reply = {0};
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
    reply_free(&reply);
}

static void test_a_file_is_replaced_only_when_told(void **state)
{
    const struct fixture *fixture = *state;
    char *copy = beside(fixture, ".copy");
    struct reply reply = {0};

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
    reply_free(&reply);
}

#define T(name) cmocka_unit_test_setup_teardown(name, command_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_a_sound_store_has_no_problem),
        T(test_each_problem_is_named),
        T(test_names_in_problems_cannot_drive_the_terminal),
        T(test_a_backup_is_a_store_of_its_own),
        T(test_a_file_is_replaced_only_when_told),
    };
    return cmocka_run_group_tests_name("seslite upkeep", tests, NULL, NULL);
}
