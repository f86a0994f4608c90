/* The command, writing: history, deletions with their questions and dry runs, titles and labels, upkeep. */
#include "command.h"

static const ses_key other = {"other", "carol", "o"};

static int64_t events_of(const struct fixture *fixture, const ses_key *key)
{
    ses_session *session = must_get(fixture->store, key);
    int64_t count = ses_session_stored(session);
    ses_session_close(session);
    return count;
}

static bool is_there(const struct fixture *fixture, const ses_key *key)
{
    ses_session *session = NULL;
    int code = ses_get(fixture->store, key, NULL, &session, NULL);
    ses_session_close(session);
    return code == SES_OK;
}

/* ------------------------------------------------------------------------------------------------ history */

TEST_OF(command_setup, fork_prints_the_new_id)
{
    const ses_key fork = {"chat", "alice", "new"};
    const ses_key bobs = {"chat", "bob", "his"};

    run_ok("fork", "one", "--at", "last-turn", "--as", "new");
    assert_string_equal(reply.out.data, "new\n");
    assert_int_equal(events_of(fixture, &fork), 4);
    run_code(4, "fork", "one", "--as", "new");
    run_ok("fork", "one", "--as", "his", "--as-user", "bob", "--json");
    cJSON *json = reply_json(&reply);
    assert_string_equal(json_string(json, "userId"), "bob");
    assert_string_equal(json_string(cJSON_GetObjectItem(json, "parent"), "id"), "one");
    cJSON_Delete(json);
    assert_int_equal(events_of(fixture, &bobs), 6);
}

TEST_OF(command_setup, rewind_takes_back_the_last_turn_and_redo_brings_it_back)
{
    run_ok("rewind", "one");
    assert_string_equal(reply.out.data, "");
    run_ok("-s", "one", "state", "turns");
    assert_string_equal(reply.out.data, "1\n");
    run_ok("redo", "one", "--json");
    cJSON *json = reply_json(&reply);
    assert_true(json_double(json, "seq") == 8);
    cJSON_Delete(json);
    run_ok("-s", "one", "state", "turns");
    assert_string_equal(reply.out.data, "2\n");
    run_ok("redo", "one");
    assert_has(&reply.err, "one has no rewind to undo.");
    run_ok("rewind", "one", "--to", "now", "--json");
    assert_has(&reply.out, "\"changed\":false");
    run_ok("rewind", "one", "--to", "0");
    run_ok("rewind", "one");
    assert_has(&reply.err, "one has no turn to take back.");
}

TEST_OF(command_setup, rewind_into_an_invocation_is_refused)
{
    run_code(2, "rewind", "one", "--to", "2");
    run_code(3, "rewind", "one", "--to", "before:nowhere");
    assert_int_equal(events_of(fixture, &one), 6);
}

/* ---------------------------------------------------------------------------------------------- deletions */

TEST_OF(command_setup, deletions_are_refused_without_yes_or_a_terminal)
{
    run_code(2, "cut", "one", "--to", "4");
    run_code(2, "prune", "one", "--keep", "2");
    run_code(2, "expire");
    run_code(2, "delete", "one");
    run_code(2, "--app", "chat", "delete", "--everything");
    assert_has(&reply.err, "--yes");
    assert_int_equal(events_of(fixture, &one), 6);
}

TEST_OF(command_setup, on_a_terminal_it_asks)
{
    const struct how no = {.terminal = TERMINAL_IN | TERMINAL_ERR, .input = "n\n"};
    const struct how end = {.terminal = TERMINAL_IN | TERMINAL_ERR, .input = "\4"};
    const struct how yes = {.terminal = TERMINAL_IN | TERMINAL_ERR, .input = "y\n"};

    run_at(&reply, 1, &no, fixture->path, "delete", "one");
    assert_has(&reply.screen, "Delete the session one of alice, with 6 events? [y/N] ");
    assert_has(&reply.screen, "Nothing was done.");
    run_at(&reply, 1, &end, fixture->path, "delete", "one");
    assert_true(is_there(fixture, &one));
    run_at(&reply, 0, &yes, fixture->path, "delete", "one");
    assert_false(is_there(fixture, &one));
}

TEST_OF(command_setup, a_dry_run_deletes_nothing)
{
    static const struct {
        const char *point;
        const char *said;
    } cuts[] = {{"4", "2 events would be"},       {"start", "6 events would be"},
                {"now", "0 events would be"},     {"e", "1 event would be"},
                {"event:a", "5 events would be"}, {"before:i2", "2 events would be"}};

    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        run_ok("cut", "one", "--to", cuts[i].point, "--dry-run");
        assert_has(&reply.err, cuts[i].said);
    }
    run_code(3, "cut", "one", "--to", "before:nowhere", "--dry-run");
    run_code(2, "cut", "one", "--to", "last-turn", "--dry-run");
    run_ok("prune", "one", "--keep", "1", "--dry-run", "--json");
    assert_has(&reply.out, "{\"atMost\":5,\"dryRun\":true}");
    run_ok("delete", "one", "--dry-run", "--json");
    assert_has(&reply.out, "{\"deleted\":1,\"dryRun\":true}");
    run_ok("--app", "chat", "delete", "--everything", "--dry-run");
    assert_has(&reply.err, "1 session would be deleted.");
    assert_int_equal(events_of(fixture, &one), 6);
}

TEST_OF(command_setup, cut_deletes_the_end)
{
    run_code(2, "cut", "one", "--yes");
    run_ok("cut", "one", "--to", "last-turn", "--yes", "--json");
    assert_has(&reply.out, "{\"deleted\":2,\"dryRun\":false,\"erased\":{\"sessions\":0,\"events\":2,");
    assert_int_equal(events_of(fixture, &one), 4);
    run_ok("cut", "one", "--to", "start", "--yes", "--secure");
    assert_int_equal(events_of(fixture, &one), 0);
}

TEST_OF(command_setup, prune_deletes_the_beginning)
{
    run_code(2, "prune", "one", "--yes");
    run_ok("prune", "one", "--keep", "1", "--yes");
    assert_has(&reply.err, "4 events were deleted."); /* the invocation of the last two is not parted */
    run_ok("prune", "one", "--before", "2001-01-01", "--yes", "--json");
    assert_has(&reply.out, "{\"deleted\":0,\"dryRun\":false,\"erased\":{");
    run_ok("show", "one");
    assert_has(&reply.err, "up to 4 were pruned");
    run_code(3, "-s", "one", "state", "--at", "2");
}

TEST_OF(command_setup, expire_deletes_what_is_due)
{
    const int64_t due = fixture->now + 1000000;

    must_create(fixture->store, &other, NULL);
    run_ok("expire", "--yes");
    assert_has(&reply.err, "0 sessions were deleted.");
    assert_ok(ses_expiry_set_by_key(fixture->store, &one, &due, NULL, &error));
    run_ok("--app", "other", "expire", "--dry-run");
    assert_has(&reply.err, "0 sessions would be");
    run_ok("expire", "--dry-run");
    assert_has(&reply.err, "1 session would be deleted.");
    run_ok("expire", "--yes");
    assert_has(&reply.err, "1 session was deleted.");
    assert_false(is_there(fixture, &one));
    run_ok("expire", "--idle", "1d", "--dry-run", "--json");
    assert_has(&reply.out, "{\"deleted\":1,");
    run_ok("expire", "--idle", "1d", "--yes", "--json");
    assert_has(&reply.out, "{\"deleted\":1,");
}

TEST_OF(command_setup, a_dry_run_counts_idleness_from_the_write)
{
    must_append_by_key(fixture->store, &one, "{\"timestamp\":90000000000}");
    run_ok("expire", "--idle", "1d", "--dry-run");
    assert_has(&reply.err, "1 session would be deleted.");
    run_ok("expire", "--idle", "1d", "--yes");
    assert_has(&reply.err, "1 session was deleted.");
}

TEST_OF(command_setup, expire_leaves_a_number_of_sessions_a_user)
{
    for (char id[] = "s0"; id[1] < '5'; id[1]++)
        must_create(fixture->store, &(ses_key){"chat", "alice", id}, NULL);
    must_create(fixture->store, &other, NULL);
    run_ok("expire", "--per-user", "2", "--dry-run");
    assert_has(&reply.err, "4 sessions would be deleted.");
    run_ok("expire", "--per-user", "2", "--yes");
    assert_has(&reply.err, "4 sessions were deleted.");
}

TEST_OF(command_setup, delete_takes_a_user_or_an_app)
{
    const ses_key bobs = {"chat", "bob", "b"};

    must_create(fixture->store, &bobs, Q("{'user:k':1}"));
    must_create(fixture->store, &other, NULL);
    run_code(2, "delete", "--yes");
    run_code(2, "delete", "--everything", "--yes");
    run_code(3, "--app", "chat", "--user", "bop", "delete", "--everything", "--yes");
    assert_has(&reply.err, "Did you mean \"bob\"?");
    run_ok("--app", "chat", "--user", "bob", "delete", "--everything", "--yes");
    assert_false(is_there(fixture, &bobs));
    assert_true(is_there(fixture, &one));
    run_ok("--app", "chat", "delete", "--everything", "--yes", "--secure", "--json");
    assert_has(&reply.out, "{\"deleted\":1,");
    assert_false(is_there(fixture, &one));
    assert_true(is_there(fixture, &other));
    run_code(3, "--app", "chat", "delete", "--everything", "--yes");
}

/* -------------------------------------------------------------------------------------- titles and labels */

TEST_OF(command_setup, title_is_set_shown_and_removed)
{
    run_ok("-s", "one", "title", "--json");
    assert_string_equal(reply.out.data, "{\"title\":null}\n");
    run_ok("-s", "one", "title", "A \"trip\"");
    run_ok("-s", "one", "title");
    assert_string_equal(reply.out.data, "A \"trip\"\n");
    run_ok("-s", "one", "title", "--json");
    assert_string_equal(reply.out.data, "{\"title\":\"A \\\"trip\\\"\"}\n");
    run_ok("-s", "one", "title", "--remove");
    run_ok("-s", "one", "title");
    assert_string_equal(reply.out.data, "");
    run_code(2, "-s", "one", "title", "");
    run_code(2, "-s", "one", "title", "x", "--remove");
}

/* Other commands take their argument as the session. */
TEST_OF(command_setup, title_and_label_do_not_take_a_session_for_a_text)
{
    run_ok("title", "A trip");
    assert_string_equal(reply.err.data, "session one (user alice, app chat): the title is now \"A trip\"\n");
    run_code(2, "title", "one");
    assert_has(&reply.err, "\"one\" is a session. Name it with -s: seslite -s one title\n");
    run_ok("title");
    assert_string_equal(reply.out.data, "A trip\n");
    run_ok("label", "project=oslo", "starred");
    assert_string_equal(reply.err.data,
                        "session one (user alice, app chat): labels set: project=oslo starred\n");
    run_code(2, "label", "one");
    run_code(2, "label", "one", "project=rome");
    run_ok("label", "--remove", "starred");
    assert_has(&reply.err, "label removed: starred\n");
    run_ok("label");
    assert_string_equal(reply.out.data, "LABEL    VALUE\nproject  oslo\n");
    run_ok("-s", "one", "title", "one");
    run_ok("-s", "one", "label", "one");
    assert_string_equal(reply.err.data, "");
    run_ok("title", "--remove");
    assert_has(&reply.err, "the title was removed\n");
}

TEST_OF(command_setup, labels_are_set_shown_and_removed)
{
    run_ok("-s", "one", "label", "project=oslo=1", "starred", "old=x");
    run_ok("-s", "one", "label", "--remove", "old");
    run_ok("-s", "one", "label");
    assert_string_equal(reply.out.data, "LABEL    VALUE\nproject  oslo=1\nstarred\n");
    run_ok("-s", "one", "label", "--json");
    assert_string_equal(reply.out.data, "{\"project\":\"oslo=1\",\"starred\":\"\"}\n");
    run_code(2, "-s", "one", "label", "--remove");
    run_code(2, "-s", "one", "label", "=x");
}

/* ------------------------------------------------------------------------------------------------- upkeep */

TEST_OF(command_setup, stats_count)
{
    must_create(fixture->store, &other, NULL);
    run_ok("stats", "--json");
    cJSON *json = reply_json(&reply);
    assert_true(json_double(json, "fileBytes") > 0);
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "apps"), 0);
    assert_string_equal(json_string(first, "appName"), "chat");
    assert_true(json_double(first, "events") == 6);
    cJSON_Delete(json);
    run_ok("stats", "--jsonl");
    assert_int_equal(reply_lines(&reply), 2);
    run_ok("--app", "other", "stats");
    assert_has(&reply.out, "other      1         1       0\n");
    assert_lacks(&reply.out, "chat");
}

TEST_OF(command_setup, doctor_tells_versions_and_modes)
{
    run_ok("doctor");
    assert_has(&reply.out, ses_version());
    assert_has(&reply.out, "mode 0600");
    assert_int_equal(chmod(fixture->path, 0644), 0);
    assert_has(&reply.out, "  free pages        0 of ");
    run_ok("doctor", "--json");
    cJSON *json = reply_json(&reply);
    assert_true(cJSON_GetArraySize(json) >= 7);
    assert_has(&reply.out, "\"ok\":false,\"advice\":\"others on this machine can open it: chmod 600\"");
    cJSON_Delete(json);
}

/* The bugs of this SQLite need several programs on a file with a log. */
TEST_OF(command_setup, doctor_warns_of_bugs_that_this_store_can_meet)
{
    const char *const warns = "! known bugs";
    ses_info info = {.size = sizeof info};

    assert_ok(ses_store_info(fixture->store, &info, &error));
    const bool has_bugs = info.sqlite.bugs[0] != '\0';
    run_ok("doctor");
    if (access("/proc/locks", R_OK) == 0)
        assert_int_equal(strstr(reply.out.data, warns) != NULL, has_bugs);
    ses_close(fixture->store);
    fixture->store = NULL;
    run_ok("doctor");
    assert_null(strstr(reply.out.data, warns));
    assert_int_equal(strstr(reply.out.data, "none while one program has the file open") != NULL, has_bugs);
    fixture->options.journal = SES_JOURNAL_ROLLBACK;
    fixture_reopen(fixture);
    must_append_by_key(fixture->store, &(ses_key){"chat", "alice", "one"}, "{}");
    run_ok("doctor");
    assert_null(strstr(reply.out.data, warns));
}

TEST_OF(command_setup, maintain_and_migrate)
{
    char expected[64];

    run_ok("maintain", "--json");
    assert_has(&reply.out, "\"more\":false");
    run_ok("migrate", "--json");
    snprintf(expected, sizeof expected, "{\"migrated\":false,\"schema\":%d}\n", SES_SCHEMA_VERSION);
    assert_string_equal(reply.out.data, expected);
}

TEST_OF(command_setup, sql_reads_and_writes_only_when_told)
{
    const struct how input = {.input = "SELECT 40 + 2;\n"};

    run_ok("sql", "SELECT count(*) FROM events");
    assert_string_equal(reply.out.data, "6\n");
    run_ok("sql", "--json", "SELECT 1 AS n");
    assert_string_equal(reply.out.data, "[{\"n\":1}]\n");
    run_at(&reply, 0, &input, fixture->path, "sql", "-");
    assert_string_equal(reply.out.data, "42\n");
    run_ok("sql", "--", "-- a comment\nSELECT 2");
    assert_string_equal(reply.out.data, "2\n");
    const char *const arguments[] = {COMMAND, "-f", fixture->path, "sql", "CREATE TABLE mine (x)", NULL};
    command_run(&reply, NULL, arguments);
    assert_int_not_equal(reply.status, 0);
    assert_has(&reply.err, "readonly");
    run_ok("sql", "--write", "CREATE TABLE mine (x)");
    run_code(2, "sql", "--jsonl", "SELECT 1");
    run_code(1, "sql", "SELECT no");
}
