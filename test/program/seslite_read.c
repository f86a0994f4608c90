/* The command, reading: list, show, state, events, tail, search. */
#include "command.h"

static const ses_key two = {"chat", "bob", "two"};

static int setup(void **state)
{
    const ses_label labels[] = {{"project", "oslo"}, {"starred", ""}};
    ses_error error;

    (void)command_setup(state);
    const struct fixture *fixture = *state;
    must_create(fixture->store, &two, "{}");
    assert_ok(ses_title_set_by_key(fixture->store, &one, "A trip", NULL, &error));
    assert_ok(ses_labels_set_by_key(fixture->store, &one, labels, 2, NULL, &error));
    return 0;
}

TEST_OF(setup, list_is_an_aligned_table)
{
    run_ok("list", "--order", "created");
    const char *user = strstr(reply.out.data, "USER");
    const char *alice = strstr(reply.out.data, "alice");
    assert_non_null(alice);
    assert_int_equal(user - reply.out.data, alice - strchr(reply.out.data, '\n') - 1);
    assert_has(&reply.out, "one");
    assert_has(&reply.out, "A trip [project=oslo] [starred]\n");
    assert_lacks(&reply.out, " \n");
    assert_string_equal(reply.err.data, "");
}

TEST_OF(setup, an_empty_column_is_left_out)
{
    run_ok("-u", "bob", "list");
    assert_has(&reply.out, "EVENTS\n");
    assert_has(&reply.out, "     0\n");
    run_ok("-u", "alice", "list");
    assert_has(&reply.out, "  TITLE AND LABELS\n");
}

TEST_OF(setup, tables_name_the_zone_of_their_times)
{
    const struct how summer = {.env = "TZ=XST-1XDT,M3.5.0,M10.5.0/3"};

    run_ok("events", "one");
    assert_has(&reply.out, "TIME (UTC)  ");
    run_at(&reply, 0, &summer, fixture->path, "events", "one");
    assert_has(&reply.out, "TIME (XST/XDT)  ");
    assert_has(&reply.out, "2023-11-14 23:13:21");
    run_at(&reply, 0, &summer, fixture->path, "list");
    assert_has(&reply.out, "UPDATED (XST/XDT)  ");
    run_at(&reply, 0, &summer, fixture->path, "show", "one");
    assert_has(&reply.out, " (XST/XDT)\n");
}

TEST_OF(setup, list_has_json_and_lines_of_json)
{
    run_ok("--json", "list", "--order", "created");
    cJSON *json = reply_json(&reply);
    assert_int_equal(cJSON_GetArraySize(json), 2);
    const cJSON *first = cJSON_GetArrayItem(json, 0);
    assert_string_equal(json_string(first, "id"), "one");
    assert_string_equal(json_string(first, "userId"), "alice");
    assert_string_equal(json_string(first, "title"), "A trip");
    assert_string_equal(json_string(cJSON_GetObjectItem(first, "labels"), "project"), "oslo");
    assert_true(json_double(first, "eventCount") == 6);
    cJSON_Delete(json);
    run_ok("list", "--jsonl");
    assert_int_equal(reply_lines(&reply), 2);
    run_code(3, "--user", "nobody", "list", "--json");
    assert_string_equal(reply.out.data, "[]\n");
}

TEST_OF(setup, list_filters_and_limits)
{
    run_ok("list", "--label", "project=oslo");
    assert_has(&reply.out, "one");
    assert_lacks(&reply.out, "two");
    run_code(3, "list", "--label", "project=rome");
    assert_string_equal(reply.out.data, "");
    assert_string_equal(reply.err.data, "seslite: no session matches\n");
    run_ok("-u", "bob", "list", "--prefix", "tw");
    assert_has(&reply.out, "two");
    run_ok("list", "--limit", "1");
    assert_has(&reply.err, "there are more");
    run_ok("list", "--since", "@1700000006");
    assert_has(&reply.out, "one");
    run_code(3, "list", "--before", "2001-01-01T00:00:00Z", "--jsonl");
    assert_lacks(&reply.out, "one");
}

TEST_OF(setup, list_leaves_out_the_archive)
{
    run_ok("archive", "two");
    assert_string_equal(reply.err.data, "two is in the archive.\n");
    run_ok("list", "--names", "sessions");
    assert_string_equal(reply.out.data, "one\n");
    run_ok("list", "--all");
    assert_has(&reply.out, "(archived)\n");
    run_ok("list", "--archived", "--jsonl");
    assert_int_equal(reply_lines(&reply), 1);
    assert_has(&reply.out, "\"archiveTime\":");
    run_ok("archive", "one");
    run_ok("list");
    assert_string_equal(reply.err.data,
                        "All sessions are in the archive, children or memory. --all lists them, too.\n");
    run_code(3, "-u", "alice", "list");
    run_ok("unarchive", "one");
    run_ok("unarchive", "two");
    run_code(3, "list", "--archived");
    run_code(2, "list", "--archived", "--all");
    run_code(3, "archive", "none");
}

TEST_OF(setup, kinds)
{
    run_ok("-u", "alice", "create", "sub", "--child-of", "one", "--title", "Research");
    run_code(3, "-u", "alice", "create", "other", "--child-of", "none");
    run_ok("list", "--names", "sessions");
    assert_string_equal(reply.out.data, "one\ntwo\n");
    run_ok("list", "--kind", "child");
    assert_has(&reply.out, "Research (child of one)\n");
    run_ok("list", "--kind", "child", "--jsonl");
    assert_int_equal(reply_lines(&reply), 1);
    assert_has(&reply.out, "\"childOf\":{\"userId\":\"alice\",\"id\":\"one\"}");
    run_ok("list", "--all", "--names", "sessions");
    assert_has(&reply.out, "sub\n");
    run_ok("-u", "alice", "list", "--child-of", "one", "--names", "sessions");
    assert_string_equal(reply.out.data, "sub\n");
    run_code(3, "-u", "alice", "list", "--child-of", "sub");
    run_code(2, "list", "--child-of", "one");
    run_ok("family", "one");
    assert_has(&reply.out, "sub");
    run_ok("family", "sub", "--jsonl");
    assert_has(&reply.out, "\"relation\":\"child of\",\"id\":\"one\"");
    run_ok("family", "two");
    assert_string_equal(reply.out.data, "");
    run_code(2, "delete", "one", "--children", "--dry-run");
    assert_has(&reply.err, "--children deletes");
    run_code(3, "list", "--kind", "memory");
    run_code(2, "list", "--kind", "other");
    run_code(2, "list", "--kind", "child", "--all");
    run_ok("delete", "one", "--children", "--yes");
    run_ok("list", "--all", "--names", "sessions");
    assert_string_equal(reply.out.data, "two\n");
}

TEST_OF(setup, list_of_an_empty_store_is_no_error)
{
    must_delete(fixture->store, &one);
    must_delete(fixture->store, &two);
    run_ok("list");
    assert_string_equal(reply.err.data, "The store has no sessions.\n");
    run_ok("list", "--names", "sessions", "--json");
    assert_string_equal(reply.out.data, "[]\n");
}

TEST_OF(setup, list_finds_failed_sessions)
{
    run_code(3, "list", "--failed");
    must_append_by_key(fixture->store, &two, Q("{'author':'bot','errorCode':'SAFETY'}"));
    run_ok("list", "--failed", "--names", "sessions");
    assert_string_equal(reply.out.data, "two\n");
    must_append_by_key(fixture->store, &one, Q("{'author':'bot','error_message':'no answer'}"));
    run_ok("list", "--failed", "--jsonl");
    assert_int_equal(reply_lines(&reply), 2);
    must_append_by_key(fixture->store, &two, Q("{'author':'user'}"));
    run_ok("list", "--failed", "--names", "sessions");
    assert_string_equal(reply.out.data, "one\n");
    run_code(2, "list", "--failed", "--names", "users");
}

TEST_OF(setup, list_prints_names)
{
    run_ok("list", "--names", "apps");
    assert_string_equal(reply.out.data, "chat\n");
    run_ok("list", "--names", "users");
    assert_string_equal(reply.out.data, "alice\nbob\n");
    run_ok("--user", "bob", "list", "--names", "sessions");
    assert_string_equal(reply.out.data, "two\n");
}

TEST_OF(setup, show_is_a_transcript)
{
    run_ok("show", "one");
    assert_has(&reply.out, "title    A trip\n");
    assert_has(&reply.out, "#1  user  2023-11-14 22:13:21\n    Do I need a coat?\n");
    assert_has(&reply.out, "    \xe2\x86\x92 forecast {\"city\":\"Oslo\"}\n");
    assert_has(&reply.out, "    \xe2\x86\x90 forecast {\"low\":-7.50}\n");
    run_ok("show", "one", "-n", "1");
    assert_has(&reply.out, "Good trip.");
    assert_lacks(&reply.out, "coat");
}

TEST_OF(setup, show_marks_what_a_rewind_took_back)
{
    run_ok("rewind", "one");
    run_ok("show", "one");
    assert_has(&reply.out, "#5  user  2023-11-14 22:13:25  (taken back)\n");
    assert_has(&reply.out, "#4  bot  2023-11-14 22:13:24\n");
    run_ok("show", "one", "--live");
    assert_lacks(&reply.out, "Thank you!");
}

TEST_OF(setup, show_and_tail_say_what_rewinds_did)
{
    run_ok("rewind", "one", "--to", "4");
    run_ok("show", "one", "--from", "7");
    assert_has(&reply.out, "    rewind: took back events 5 to 6\n");
    assert_lacks(&reply.out, "(taken back)");
    run_ok("redo", "one");
    run_ok("show", "one");
    assert_has(&reply.out, "  (taken back)\n    rewind: took back events 5 to 6\n");
    assert_has(&reply.out, "\n    redo: brought back events 5 to 6\n");
    assert_has(&reply.out, "#5  user  2023-11-14 22:13:25\n");
    run_ok("tail", "one");
    assert_has(&reply.out, "  rewind: took back events 5 to 6  (taken back)\n");
    assert_has(&reply.out, "  redo: brought back events 5 to 6\n");
    run_ok("events", "one", "-r");
    assert_has(&reply.out, "  redo: brought back events 5 to 6\n");
    must_append_by_key(fixture->store, &one, Q("{'author':'user','invocationId':'i9'}"));
    run_ok("rewind", "one", "--to", "6");
    run_ok("tail", "one");
    assert_has(&reply.out, "  redo: brought back events 5 to 6  (taken back)\n");
    assert_has(&reply.out, "  rewind: took back events 7 to 9\n");
}

TEST_OF(setup, show_hides_nothing_that_an_event_says)
{
    static const char *const shown[] = {"    [image/png \"a.png\", 4 bytes]\n",
                                        "    [application/pdf at gs://b/c.pdf]\n",
                                        "    code (PYTHON):\n    print(1)\n",
                                        "    result (OUTCOME_OK):\n    1\n",
                                        "    [toolCall: see seslite events --json]\n",
                                        "    transfer to billing\n",
                                        "    error SAFETY: Blocked\n",
                                        "    ab\n    [image/png",
                                        "    [thought]\n"};

    must_append_by_key(
        fixture->store, &two,
        Q("{'author':'bot','content':{'parts':[{'thought':true,'text':'hm'},{'text':'a'},{'text':'b'},{'"
          "inlineData':{"
          "'mimeType':'image/png','data':'AAAAAA==','displayName':'a.png'}},{'file_data':{'mime_type':"
          "'application/pdf','file_uri':'gs://b/c.pdf'}},{'executableCode':{'language':'PYTHON','code':"
          "'print(1)'}},{'code_execution_result':{'outcome':'OUTCOME_OK','output':'1\\n'}},{'"
          "thoughtSignature':'x',"
          "'toolCall':{}}]},'actions':{'transferToAgent':'billing'},'errorCode':'SAFETY','errorMessage':'"
          "Blocked'}"));
    run_ok("show", "two");
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        assert_has(&reply.out, shown[i]);
    run_ok("show", "two", "--full");
    assert_has(&reply.out, "    hm\n    ab\n");
    run_ok("events", "two");
    assert_has(&reply.out,
               "  ab  [image/png \"a.png\", 4 bytes]  [application/pdf at gs://b/c.pdf]  code (PYTHON): "
               "print(1)  result (OUTCOME_OK): 1   [toolCall: see seslite events --json]  transfer to "
               "billing  error SAFETY: Blocked\n");
    run_ok("rewind", "one");
    run_ok("tail", "one");
    assert_has(&reply.out, "  rewind: took back events 5 to 6\n");
}

TEST_OF(setup, show_as_json_is_the_session_of_the_adk)
{
    run_ok("show", "one", "--json");
    cJSON *json = reply_json(&reply);
    assert_string_equal(json_string(json, "appName"), "chat");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "events")), 6);
    assert_has(&reply.out, "\"low\":-7.50");
    cJSON_Delete(json);
}

TEST_OF(setup, state_is_a_table_a_value_or_json)
{
    run_ok("-s", "one", "state");
    assert_string_equal(reply.out.data, "KEY        VALUE\n"
                                        "app:units  \"celsius\"\n"
                                        "low        -7.50\n"
                                        "topic      \"travel\"\n"
                                        "turns      2\n");
    run_ok("-s", "one", "state", "topic");
    assert_string_equal(reply.out.data, "travel\n");
    run_ok("-s", "one", "state", "topic", "--json");
    assert_string_equal(reply.out.data, "\"travel\"\n");
    run_ok("-s", "one", "state", "--json");
    assert_string_equal(reply.out.data,
                        "{\"app:units\":\"celsius\",\"low\":-7.50,\"topic\":\"travel\",\"turns\":2}\n");
}

TEST_OF(setup, state_is_shown_as_of_points)
{
    static const char *const points[][2] = {
        {"start", "{\"topic\":\"travel\"}\n"},
        {"0", "{\"topic\":\"travel\"}\n"},
        {"3", "{\"low\":-7.50,\"topic\":\"travel\"}\n"},
        {"c", "{\"low\":-7.50,\"topic\":\"travel\"}\n"},
        {"event:c", "{\"low\":-7.50,\"topic\":\"travel\"}\n"},
        {"before:i2", "{\"low\":-7.50,\"topic\":\"travel\",\"turns\":1}\n"},
        {"last-turn", "{\"low\":-7.50,\"topic\":\"travel\",\"turns\":1}\n"},
        {"now", "{\"low\":-7.50,\"topic\":\"travel\",\"turns\":2}\n"}};

    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        run_ok("-s", "one", "state", "--json", "--at", points[i][0]);
        assert_string_equal(reply.out.data, points[i][1]);
    }
    run_ok("-s", "one", "state", "turns", "--at", "last-turn");
    assert_string_equal(reply.out.data, "1\n");
    run_at(&reply, 3, NULL, fixture->path, "-s", "one", "state", "--at", "before:nowhere");
}

TEST_OF(setup, events_have_their_stored_bytes)
{
    run_ok("events", "one", "--jsonl", "--from", "3", "--up-to", "3");
    assert_int_equal(reply_lines(&reply), 1);
    assert_has(&reply.out, "{\"seq\":3,\"event\":{\"id\":\"c\",");
    assert_has(&reply.out, "{\"low\":-7.50}");
    run_ok("events", "one", "--json", "--reverse");
    cJSON *json = reply_json(&reply);
    assert_int_equal(cJSON_GetArraySize(json), 6);
    assert_true(json_double(cJSON_GetArrayItem(json, 0), "seq") == 6);
    cJSON_Delete(json);
    run_ok("events", "one");
    assert_has(&reply.out, "  bot     ");
    assert_has(&reply.out, "Good trip.\n");
}

TEST_OF(setup, an_event_of_several_lines_is_one_line_of_json)
{
    must_append_by_key(fixture->store, &two, Q("{\n  'author': 'user',\r\n 'id': 'x'\n}\n"));
    run_ok("events", "two", "--jsonl");
    assert_int_equal(reply_lines(&reply), 1);
}

TEST_OF(setup, tail_shows_the_newest)
{
    run_ok("tail", "one", "-n", "2", "--jsonl");
    assert_int_equal(reply_lines(&reply), 2);
    assert_has(&reply.out, "\"seq\":6");
    run_at(&reply, 2, NULL, fixture->path, "tail", "one", "--follow", "--json");
}

TEST_OF(setup, tail_follows_until_the_session_is_deleted)
{
    static const char script[] = "timeout 60 %s -f '%s' tail -f two --jsonl >'%s' 2>&1; echo $? >>'%s'";
    char *out = support_path(fixture->folder, "tail.out");
    char command[2048];
    char *text = NULL;

    snprintf(command, sizeof command, script, COMMAND, fixture->path, out, out);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    must_append_by_key(fixture->store, &two, Q("{'id':'x','author':'user'}"));
    for (int i = 0; i < 3000 && !(text && strstr(text, "\"x\"")); i++) {
        free(text);
        support_pause_us(10000);
        text = support_read_file(out, NULL);
    }
    assert_non_null(text);
    assert_non_null(strstr(text, "\"id\":\"x\""));
    free(text);
    must_delete(fixture->store, &two);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    text = support_read_file(out, NULL);
    assert_non_null(strstr(text, "\n3\n"));
    free(text);
    free(out);
}

/* Without a user and an app it follows the store. It has no past, so events are added until one is shown. */
TEST_OF(setup, tail_follows_the_store)
{
    static const char script[] = "exec timeout 60 %s -f '%s' tail -f --everything --jsonl >'%s' 2>&1";
    const ses_key elsewhere = {"elsewhere", "bob", "new"};
    char *out = support_path(fixture->folder, "tail.out");
    char command[2048];
    char *text = NULL;

    snprintf(command, sizeof command, script, COMMAND, fixture->path, out);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    must_create(fixture->store, &elsewhere, NULL);
    for (int i = 0; i < 500 && !(text && strchr(text, '\n')); i++) {
        must_append_by_key(fixture->store, &elsewhere, "{}");
        free(text);
        support_pause_us(100000);
        text = support_read_file(out, NULL);
    }
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_non_null(strstr(text, "{\"app\":\"elsewhere\",\"user\":\"bob\",\"session\":\"new\",\"seq\":"));
    free(text);
    free(out);
}

TEST_OF(setup, search_finds_texts_and_calls)
{
    run_ok("search", "coat");
    assert_has(&reply.out, "Do I need a coat?");
    run_ok("search", "-i", "OSLO", "--jsonl");
    assert_int_equal(reply_lines(&reply), 1);
    assert_has(&reply.out, "\"session\":\"one\",\"seq\":2,");
    run_ok("search", "stateDelta", "--json", "-n", "2");
    cJSON *json = reply_json(&reply);
    assert_int_equal(cJSON_GetArraySize(json), 2);
    cJSON_Delete(json);
    run_at(&reply, 3, NULL, fixture->path, "search", "OSLO");
    run_at(&reply, 3, NULL, fixture->path, "-s", "two", "search", "coat");
    run_at(&reply, 2, NULL, fixture->path, "search", "");
}

TEST_OF(setup, search_reads_escaped_texts)
{
    must_append_by_key(fixture->store, &two,
                       "{\"content\":{\"parts\":[{\"text\":\"caf\\u00e9 au\\nlait\"}]},\"author\":\"user\"}");
    run_ok("search", "caf\xc3\xa9 au");
    assert_has(&reply.out, "caf\xc3\xa9 au lait");
}

TEST_OF(setup, search_finds_words)
{
    must_append_by_key(
        fixture->store, &two,
        "{\"id\":\"w1\",\"content\":{\"parts\":[{\"text\":\"Un caf\\u00e9 au\\nlait, please\"}]}}");
    run_ok("search", "--words", "please CAFE");
    assert_has(&reply.out, "Un caf\xc3\xa9 au lait, please");
    run_ok("-s", "two", "search", "-w", "lait", "--jsonl");
    assert_int_equal(reply_lines(&reply), 1);
    assert_has(&reply.out, "\"session\":\"two\"");
    assert_has(&reply.out, "\"id\":\"w1\"");
    run_at(&reply, 3, NULL, fixture->path, "search", "--words", "pleas");
    run_at(&reply, 3, NULL, fixture->path, "search", "--words", "lait", "--up-to", "0");
    run_at(&reply, 3, NULL, fixture->path, "-a", "nope", "search", "--words", "lait");
    run_at(&reply, 2, NULL, fixture->path, "search", "--words", "...");
}
