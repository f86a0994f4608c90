/* The command redacts events: by number, by text, by pattern; and gives receipts. */
#include "command.h"

#define SECRET "sk-4711xyzzy"

static const ses_key two = {"chat", "alice", "two"};

/* The texts of all events of the session; until the next call. */
static const char *log_of(const struct fixture *fixture, const ses_key *key)
{
    static char kept[20000];
    ses_session *session = must_get(fixture->store, key);
    size_t len = 0;

    kept[0] = '\0';
    for (size_t i = 0; i < ses_session_event_count(session) && len < sizeof kept - 3000; i++)
        len += (size_t)snprintf(kept + len, sizeof kept - len, "%s\n", ses_session_event(session, i)->json);
    ses_session_close(session);
    return kept;
}

static void fill(const struct fixture *fixture)
{
    must_create(fixture->store, &two, Q("{'start':'" SECRET "'}"));
    must_append_by_key(fixture->store, &two,
                       Q("{'invocationId':'i1','author':'user','content':{'parts':[{'text':'my key is " SECRET
                         ", \xc3\xa4 Sk-4711XYZZY'}]},'actions':{'stateDelta':{'key':'" SECRET "','n':1}}}"));
    must_append_by_key(fixture->store, &two,
                       Q("{'invocationId':'i1','author':'agent','content':{'parts':[{'text':'thanks'}]}}"));
}

TEST_OF(command_setup, by_number)
{
    fill(fixture);
    run_ok("redact", "two", "--events", "1-2", "--dry-run", "--json");
    assert_string_equal(
        reply.out.data,
        Q("{'redacted':2,'dryRun':true,'erased':{'sessions':0,'events':2,'stateKeys':0,"
          "'artifacts':0,'indexEvents':0,'names':0},'left':{'forks':0,'stateValues':2,'artifacts':0,"
          "'compactions':0,'derived':0,'names':0,'backups':'not covered'}}\n"));
    assert_non_null(strstr(log_of(fixture, &two), "thanks"));
    run_ok("redact", "two", "--events", "1", "--yes");
    assert_has(&reply.err, "1 event was redacted.");
    assert_has(&reply.err, "2 values in state stay: add --state to replace values, too.");
    assert_null(strstr(log_of(fixture, &two), "my key"));
    run_ok("redact", "two", "--events", "0,1", "--state", "--with", "gone", "--yes", "--secure");
    assert_has(&reply.err, "3 values in stored state were replaced.");
    assert_null(strstr(log_of(fixture, &two), SECRET));
    run_ok("-s", "two", "state", "start");
    assert_string_equal(reply.out.data, "gone\n");
}

TEST_OF(command_setup, by_text_and_by_pattern)
{
    fill(fixture);
    run_ok("redact", "two", "--text", SECRET, "--yes");
    assert_non_null(strstr(log_of(fixture, &two), "my key is [redacted], \xc3\xa4 Sk-4711XYZZY"));
    assert_non_null(strstr(log_of(fixture, &two), "\"key\":\"" SECRET "\""));
    run_ok("redact", "two", "--text", SECRET, "--ignore-case", "--state", "--yes");
    assert_non_null(strstr(log_of(fixture, &two), "my key is [redacted], \xc3\xa4 [redacted]"));
    assert_non_null(strstr(log_of(fixture, &two), "\"key\":\"[redacted]\""));
    run_ok("redact", "two", "--pattern", "t[ah]+.k*", "--yes", "--with", "<>");
    assert_non_null(strstr(log_of(fixture, &two), "\"text\":\"<>"));
    run_ok("redact", "two", "--pattern", "\xc3", "--yes"); /* half of a character */
    assert_non_null(strstr(log_of(fixture, &two), "[redacted], [redacted] [redacted]"));
    run_ok("check");
}

TEST_OF(command_setup, names)
{
    const ses_create_options options = {.size = sizeof options, .title = "Order of " SECRET};

    assert_ok(
        ses_create(fixture->store, &two, Q("{'of:" SECRET "':1,'n':2}"), SES_NUL, &options, NULL, &error));
    run_ok("redact", "two", "--text", SECRET, "--state", "--yes");
    assert_has(&reply.err, "2 names stay");
    run_code(2, "redact", "two", "--text", SECRET, "--names", "--yes");
    run_code(2, "redact", "two", "--events", "1", "--state", "--names", "--yes");
    run_ok("redact", "two", "--text", SECRET, "--state", "--names", "--yes", "--json");
    assert_has(&reply.out, "\"names\":2}");
    assert_has(&reply.out, "\"names\":0,");
    run_code(3, "find", SECRET);
    run_ok("check");
}

TEST_OF(command_setup, all_sessions_of_a_user)
{
    fill(fixture);
    run_ok("-s", "two", "fork", "--as", "three");
    run_ok("redact", "two", "--text", SECRET, "--dry-run");
    assert_has(&reply.err, "1 session still has copies of events.");
    run_ok("--app", "chat", "redact", "--everything", "--text", SECRET, "--forks", "--dry-run", "--json");
    assert_has(&reply.out, "{\"redacted\":2,");
    assert_has(&reply.out, "\"left\":{\"forks\":0,");
    run_ok("--app", "chat", "redact", "--everything", "--text", SECRET, "--state", "--yes", "--json");
    assert_has(&reply.out, "{\"redacted\":2,");
    assert_has(&reply.out, "\"left\":{\"forks\":1,"); /* as of when the first was redacted */
    run_ok("--app", "chat", "redact", "--everything", "--text", SECRET, "--state", "--yes", "--json");
    assert_has(&reply.out, "{\"redacted\":0,");
    run_code(3, "search", SECRET);
}

TEST_OF(command_setup, it_asks_and_says_what_is_wrong)
{
    const struct how no = {.terminal = TERMINAL_IN | TERMINAL_ERR, .input = "n\n"};

    fill(fixture);
    run_at(&reply, 1, &no, fixture->path, "redact", "two", "--events", "1");
    assert_has(&reply.screen, "Redact events of two for good? [y/N] ");
    run_code(2, "redact", "two", "--events", "1");
    run_code(2, "redact", "two", "--yes");
    run_code(2, "redact", "two", "--events", "1", "--text", "x", "--yes");
    run_code(2, "redact", "two", "--text", "", "--yes");
    run_code(2, "redact", "two", "--pattern", "(", "--yes");
    assert_has(&reply.err, "--pattern: ");
    run_code(2, "redact", "--everything", "--text", "x", "--yes");
    static const char *const wrong[] = {"", "x", "1,", "1-", "3-1", "1,,2", "1-99999", "-1", "1;2"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char option[64];
        snprintf(option, sizeof option, "--events=%s", wrong[i]);
        run_code(2, "redact", "two", option, "--yes");
    }
    run_code(3, "redact", "two", "--events", "9", "--yes");
    assert_has(&reply.err, "there is no event 9");
    assert_non_null(strstr(log_of(fixture, &two), "my key is " SECRET));
}

TEST_OF(command_setup, deletions_give_receipts)
{
    fill(fixture);
    run_ok("-s", "two", "fork", "--as", "three");
    run_ok("prune", "two", "--keep", "0", "--yes", "--json");
    assert_has(&reply.out, Q("'deleted':2,'dryRun':false,'erased':{'sessions':0,'events':2,"));
    assert_has(&reply.out, Q("'left':{'forks':1,"));
    run_ok("delete", "two", "--yes", "--json");
    assert_has(&reply.out, Q("'erased':{'sessions':1,'events':0,'stateKeys':3,"));
    run_ok("--app", "chat", "--user", "alice", "delete", "--everything", "--yes", "--json");
    assert_has(&reply.out, Q("'deleted':2,"));
    assert_has(&reply.out, Q("'left':{'forks':0,"));
    run_ok("expire", "--yes", "--json");
    assert_has(&reply.out, Q("'left':{'forks':null,"));
}

/* For each field that google-adk has. SESLITE_PYTHON names a Python that has it. */
TEST_OF(command_setup, google_adk_reads_what_is_left)
{
    const char *python = getenv("SESLITE_PYTHON") ? getenv("SESLITE_PYTHON") : "python3";
    char command[600];
    int status = 0;

    snprintf(command, sizeof command, "%s -c 'import google.adk.events' 2>/dev/null", python);
    free(support_run(command, &status));
    if (status != 0) {
        print_message("skipped: there is no google-adk (set SESLITE_PYTHON to a python that has it)\n");
        skip();
    }
    snprintf(command, sizeof command, "%s test/program/adk_redact.py '%s' '%s' 2>&1", python, COMMAND,
             fixture->path);
    char *said = support_run(command, &status);
    print_message("%s", said);
    free(said);
    assert_int_equal(status, 0);
}
