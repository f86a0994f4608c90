/* The command, creating sessions: names, the initial state, details, and what is refused. */
#include "command.h"

static const ses_key made = {"chat", "alice", "new"};

static void assert_state(const struct fixture *fixture, const ses_key *key, const char *expected)
{
    char *json = NULL;
    ses_error error;

    assert_ok(ses_state_json_by_key(fixture->store, key, NULL, &json, NULL, &error));
    assert_string_equal(json, expected);
    ses_free(json);
}

static int64_t session_count(const struct fixture *fixture)
{
    int64_t count = 0;
    ses_error error;

    assert_ok(ses_list_count(fixture->store, "chat", NULL, NULL, NULL, &count, &error));
    return count;
}

/* -------------------------------------------------------------------------------------------------- names */

TEST_OF(command_setup, it_prints_the_id)
{
    run_ok("-a", "chat", "-u", "alice", "create", "new");
    assert_string_equal(reply.out.data, "new\n");
    assert_string_equal(reply.err.data, "");
    assert_state(fixture, &made, Q("{'app:units':'celsius'}"));
    run_ok("-a", "chat", "-u", "alice", "create");
    assert_int_equal(reply.out.len, 37);
    reply.out.data[36] = '\0';
    assert_state(fixture, &(ses_key){"chat", "alice", reply.out.data}, Q("{'app:units':'celsius'}"));
}

TEST_OF(command_setup, the_only_app_and_user_need_no_name)
{
    run_ok("create", "new");
    assert_state(fixture, &made, Q("{'app:units':'celsius'}"));
    run_ok("-u", "bob", "create", "his");
    assert_state(fixture, &(ses_key){"chat", "bob", "his"}, Q("{'app:units':'celsius'}"));
    run_code(2, "create", "other");
    assert_has(&reply.err, "which user?");
    run_ok("-a", "other", "-u", "bob", "create", "his");
    run_code(2, "-u", "bob", "create", "other");
    assert_has(&reply.err, "which app?");
    run_ok("-a", "other", "create", "more");
    run_code(3, "-a", "third", "create");
    assert_has(&reply.err, "Name a new app or user with --app and --user.");
}

TEST_OF(command_setup, the_store_is_created_only_for_full_names)
{
    char *path = support_path(fixture->folder, "fresh.db");

    run_at(&reply, 3, NULL, path, "create", "s1");
    run_at(&reply, 3, NULL, path, "-u", "alice", "create", "s1");
    run_at(&reply, 3, NULL, path, "-a", "a", "-u", "u", "create", "--state-file", "/nowhere/at/all");
    assert_int_equal(access(path, F_OK), -1);
    run_at(&reply, 0, NULL, path, "-a", "a", "-u", "u", "create", "s1");
    run_at(&reply, 0, NULL, path, "list", "--names", "sessions");
    assert_string_equal(reply.out.data, "s1\n");
    free(path);
}

TEST_OF(command_setup, an_existing_session_is_an_error_unless_it_is_accepted)
{
    run_code(4, "create", "one", "--state", "topic=1");
    assert_string_equal(reply.out.data, "");
    run_ok("create", "one", "--state", "topic=1", "--title", "x", "--if-not-exists");
    assert_string_equal(reply.out.data, "one\n");
    assert_string_equal(reply.err.data, "one already exists, and stays as it is.\n");
    assert_state(fixture, &one, Q("{'app:units':'celsius','low':-7.50,'topic':'travel','turns':2}"));
    run_ok("create", "one", "--if-not-exists", "--json");
    cJSON *json = reply_json(&reply);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(json, "created")));
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(json, "title")));
    assert_true(json_double(json, "eventCount") == 6);
    cJSON_Delete(json);
    run_ok("create", "new", "--if-not-exists");
    assert_string_equal(reply.err.data, "");
    run_code(2, "create", "--if-not-exists");
    run_code(2, "create", "one", "--if-not-exists", "--state", "topic=x");
    assert_int_equal(session_count(fixture), 2);
}

/* -------------------------------------------------------------------------------------------------- state */

TEST_OF(command_setup, state_goes_to_its_scopes_and_keeps_its_bytes)
{
    run_ok("create", "new", "--state", "n=1.0", "--state", "big=12345678901234567890", "--state",
           "user:lang=\"en\"", "--state", "app:units=\"kelvin\"", "--state", "temp:x=1", "--state",
           "list=[1, 2e0 ,{\"a\":\"=\"}]", "--state", "n=2.00");
    assert_state(
        fixture, &made,
        Q("{'app:units':'kelvin','user:lang':'en','big':12345678901234567890,'list':[1, 2e0 ,{'a':'='}],"
          "'n':2.00}"));
    assert_state(fixture, &one,
                 Q("{'app:units':'kelvin','user:lang':'en','low':-7.50,'topic':'travel','turns':2}"));
}

TEST_OF(command_setup, state_may_come_from_a_file)
{
    const struct how input = {.input = Q(" {'b':1.50, 'temp:c':2}\n")};
    char *path = support_path(fixture->folder, "state.json");

    write_file(path, "{\n  \"a\": 1.0\n}\n", 15);
    run_ok("create", "new", "--state-file", path);
    assert_state(fixture, &made, Q("{'app:units':'celsius','a':1.0}"));
    run_at(&reply, 0, &input, fixture->path, "create", "next", "--state-file", "-");
    assert_state(fixture, &(ses_key){"chat", "alice", "next"}, Q("{'app:units':'celsius','b':1.50}"));
    run_code(2, "create", "--state-file", path, "--state", "a=1");
    free(path);
}

TEST_OF(command_setup, state_that_is_wrong_is_refused)
{
    char *path = support_path(fixture->folder, "state.json");
    char key[700];

    run_code(2, "create", "--state", "topic");
    assert_has(&reply.err, "--state takes KEY=JSON");
    run_code(2, "create", "--state", "=1");
    run_code(2, "create", "--state", "a=1", "--state", "topic=travel");
    assert_has(&reply.err, "seslite: --state topic=travel: ");
    assert_has(&reply.err, "quotes of its own: --state 'topic=\"...\"'");
    run_code(2, "create", "--state", "topic=1,\"x\":2");
    run_code(2, "create", "--state", "topic=");
    run_code(2, "create", "--state", "user:=1,");
    run_code(2, "create", "--state", "\xff=1");
    snprintf(key, sizeof key, "%0600d=1", 0);
    run_code(2, "create", "--state", key);
    run_code(3, "create", "--state-file", path);
    assert_has(&reply.err, path);
    run_code(1, "create", "--state-file", fixture->folder);
    run_code(2, "create", "--state-file", fixture->path);
    assert_has(&reply.err, "the store itself");
    write_file(path, "", 0);
    run_code(2, "create", "--state-file", path);
    assert_has(&reply.err, path);
    write_file(path, "[1]", 3);
    run_code(2, "create", "--state-file", path);
    run_code(2, "create", "--state-file", "-");
    assert_has(&reply.err, "standard input");
    assert_int_equal(session_count(fixture), 1);
    free(path);
}

TEST_OF(command_setup, state_has_a_limit)
{
    char command[2048];
    int status = 0;

    snprintf(command, sizeof command,
             "{ printf '{\"a\":\"'; head -c 17000000 /dev/zero | tr '\\0' x; printf '\"}'; } | "
             "%s -f '%s' create --state-file - 2>&1",
             COMMAND, fixture->path);
    char *text = support_run(command, &status);
    assert_int_equal(status, 1);
    assert_non_null(strstr(text, "16777216"));
    free(text);
    snprintf(command, sizeof command, "head -c 68000000 /dev/zero | %s -f '%s' create --state-file - 2>&1",
             COMMAND, fixture->path);
    text = support_run(command, &status);
    assert_int_equal(status, 1);
    assert_non_null(strstr(text, "standard input is longer than 64 MiB"));
    free(text);
    assert_int_equal(session_count(fixture), 1);
}

/* ------------------------------------------------------------------------------------------------ details */

TEST_OF(command_setup, title_labels_and_expiry_are_set)
{
    const int64_t before_us = (int64_t)time(NULL) * 1000000;

    run_ok("create", "new", "--title", "A trip", "-l", "project=oslo=2", "--label", "starred", "--ttl", "2h",
           "--json");
    cJSON *json = reply_json(&reply);
    assert_string_equal(json_string(json, "id"), "new");
    assert_string_equal(json_string(json, "title"), "A trip");
    const cJSON *labels = cJSON_GetObjectItem(json, "labels");
    assert_int_equal(cJSON_GetArraySize(labels), 2);
    assert_string_equal(json_string(labels, "project"), "oslo=2");
    assert_string_equal(json_string(labels, "starred"), "");
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(json, "created")));
    cJSON_Delete(json);
    ses_session *session = must_get(fixture->store, &made);
    assert_in_range(ses_session_expires_us(session) - before_us, INT64_C(7200000000), INT64_C(7320000000));
}

TEST_OF(command_setup, details_that_are_wrong_are_refused)
{
    run_code(2, "create", "--title", "");
    run_code(2, "create", "--label", "=x");
    run_code(2, "create", "--ttl", "0s");
    run_code(2, "create", "--ttl", "1y");
    run_code(2, "create", "--ttl", "999999999999w"); /* more than a time can hold */
    run_code(2, "create", "--ttl", "500000w");       /* after the year 9999 */
    run_code(2, "create", "");
    run_code(2, "create", "\xff");
    run_code(2, "create", "a", "b");
    run_code(2, "-s", "a", "create", "b");
    run_code(2, "-u", "\xff", "-a", "chat", "create");
    assert_int_equal(session_count(fixture), 1);
}

TEST_OF(command_setup, options_are_not_repeated_without_end)
{
    const char *arguments[140] = {COMMAND, "-f", fixture->path, "create"};

    for (size_t i = 4; i < 134; i += 2) {
        arguments[i] = i % 4 ? "--state" : "--label";
        arguments[i + 1] = "a=1";
    }
    command_run(&reply, NULL, arguments);
    assert_int_equal(reply.status, 2);
    assert_has(&reply.err, "more than 64");
}

/* ---------------------------------------------------------------------------------------------- read-only */

TEST_OF(command_setup, a_store_that_may_not_be_written_stays)
{
    make_read_only(fixture);
    run_at_read_only(&reply, fixture, "create", "new");
    assert_string_equal(reply.out.data, "");
    assert_has(&reply.err, "read");
    run_ok("list", "--names", "sessions");
    assert_string_equal(reply.out.data, "one\n");
}
