/* The command, appending events: from standard input, from a file, or made of options; and what is
 * refused. */
#include "command.h"

/* The fixture's session has six events and version 6. */
enum { EVENTS = 6 };

static int64_t events_of(const struct fixture *fixture)
{
    ses_session *session = must_get(fixture->store, &one);
    int64_t count = ses_session_stored(session);
    ses_session_close(session);
    return count;
}

static void assert_stored(const struct fixture *fixture, size_t seq, const char *expected)
{
    ses_session *session = must_get(fixture->store, &one);
    const ses_event *event = ses_session_event(session, seq - 1);

    assert_non_null(event);
    assert_string_equal(event->json, expected);
    ses_session_close(session);
}

static void assert_value(const struct fixture *fixture, const char *name, const char *expected)
{
    char *json = NULL;
    ses_error error;

    const int code = ses_state_get_by_key(fixture->store, &one, name, NULL, &json, NULL, &error);
    assert_int_equal(code, expected ? SES_OK : SES_ABSENT);
    if (expected)
        assert_string_equal(json, expected);
    ses_free(json);
}

/* Runs `seslite append one ...` with that input. */
#define append_text(expected, text, ...) \
    run_at(&reply, (expected), (&(const struct how){.input = (text)}), fixture->path, "append", __VA_ARGS__)

#define EVENT_G "{\"id\":\"g\",\"timestamp\":1700000007,\"author\":\"user\""
#define EVENT_H "{\"id\":\"h\",\"timestamp\":1700000008,\"author\":\"bot\""

/* -------------------------------------------------------------------------------------------------- input */

TEST_OF(command_setup, one_event_is_stored_byte_for_byte)
{
    static const char event[] =
        EVENT_G ",\"n\": 1.0 ,\n  \"big\":12345678901234567890,\"s\":\"}\\\"\\u0041\","
                "\"actions\":{\"stateDelta\":{\"n\":1.0,\"big\":12345678901234567890}}\n}";
    struct text input = {NULL, 0};

    text_printf(&input, "\n  %s \r\n\n", event);
    append_text(0, input.data, "one");
    assert_string_equal(reply.out.data, " SEQ  ID  VERSION\n   7  g         7\n");
    assert_string_equal(reply.err.data, "");
    assert_stored(fixture, 7, event);
    assert_value(fixture, "n", "1.0");
    assert_value(fixture, "big", "12345678901234567890");
    run_ok("events", "one", "--from", "7", "--json");
    assert_has(&reply.out, "\"big\":12345678901234567890,\"s\":\"}\\\"\\u0041\"");
    free(input.data);
}

TEST_OF(command_setup, a_missing_id_and_time_are_added)
{
    append_text(0, Q("{'author':'user'}"), "one", "--json");
    cJSON *rows = reply_json(&reply);
    assert_int_equal(cJSON_GetArraySize(rows), 1);
    const cJSON *row = cJSON_GetArrayItem(rows, 0);
    assert_string_equal(json_string(row, "session"), "one");
    assert_true(json_double(row, "seq") == 7);
    assert_true(json_double(row, "version") == 7);
    assert_true(json_double(row, "timestamp") > 1700000007);
    assert_int_equal(strlen(json_string(row, "eventId")), 36);
    assert_string_equal(json_string(row, "status"), "stored");
    ses_session *session = must_get(fixture->store, &one);
    assert_string_equal(ses_session_event(session, 6)->id, json_string(row, "eventId"));
    ses_session_close(session);
    cJSON_Delete(rows);
}

TEST_OF(command_setup, lines_are_one_batch)
{
    static const char several[] = "{\n\"id\":\"i\"}\n{\"id\":\"j\"}{\"id\":\"k\"}";
    char *path = support_path(fixture->folder, "events.jsonl");

    append_text(0, EVENT_G "}\r\n\n" EVENT_H "}", "one", "--jsonl");
    assert_int_equal(reply_lines(&reply), 2);
    assert_has(&reply.out, "{\"session\":\"one\",\"seq\":7,\"version\":8,");
    assert_has(&reply.out, "{\"session\":\"one\",\"seq\":8,\"version\":8,");
    assert_stored(fixture, 7, EVENT_G "}");
    assert_stored(fixture, 8, EVENT_H "}");
    write_file(path, several, strlen(several));
    run_ok("append", "one", "-i", path);
    assert_has(&reply.out, "  11  k        11\n");
    assert_string_equal(reply.err.data, "");
    free(path);
}

TEST_OF(command_setup, a_pipe_and_a_dash_are_inputs)
{
    char command[1024];
    int status = 0;

    append_text(0, EVENT_G "}", "one", "--input", "-");
    snprintf(
        command, sizeof command,
        "bash -c \"%s -f '%s' append one --input <(printf '{}') && echo '{\\\"id\\\":\\\"x\\\"}' | %s -f '%s' "
        "append one\"",
        COMMAND, fixture->path, COMMAND, fixture->path);
    free(support_run(command, &status));
    assert_int_equal(status, 0);
    assert_int_equal(events_of(fixture), EVENTS + 3);
}

TEST_OF(command_setup, an_empty_input_is_refused)
{
    const struct how terminal = {.terminal = TERMINAL_IN, .input = "\4"};
    const struct how typed = {.terminal = TERMINAL_IN, .input = EVENT_G "}\n\4"};

    append_text(2, "", "one");
    assert_has(&reply.err, "standard input has no event");
    append_text(2, " \n\t\r\n", "one");
    run_at(&reply, 2, &terminal, fixture->path, "append", "one");
    assert_has(&reply.err, "standard input has no event");
    run_at(&reply, 0, &typed, fixture->path, "append", "one");
    run_code(2, "append", "one", "--input", "/dev/null");
    assert_has(&reply.err, "/dev/null has no event");
    run_code(3, "append", "one", "--input", "/nowhere/at/all");
    run_code(1, "append", "one", "--input", fixture->folder);
    run_code(2, "append", "one", "--input", fixture->path);
    assert_has(&reply.err, "the store itself");
    assert_int_equal(events_of(fixture), EVENTS + 1);
}

/* ----------------------------------------------------------------------------------------------- refusals */

TEST_OF(command_setup, a_line_that_is_refused_is_named_and_nothing_is_stored)
{
    static const struct {
        const char *input;
        const char *said;
    } inputs[] = {
        {"{}\n\nnot json\n{}\n", "standard input, line 3: event 2 of 3: "},
        {"nope", "standard input, line 1: "},
        {"{}\n{\"author\":\"a\n\"}\n{}", "standard input, line 2: "},
        {"{}\n{\"author\":\n", "standard input, line 2: "},
        {"{}\n{}}\n{}\n", "standard input, line 2: "},
        {"{\n}\n[1]\n", "standard input, line 3: "},
        {"{\"author\":1}", "standard input, line 1: "},
        {"{}\n{\"id\":\"a\",\"author\":\"other\"}", "standard input, line 2: "},
        {"{}\n{\"n\":01}", "standard input, line 2: "},
        {"{}\n\"text\"", "standard input, line 2: "},
        {"{}\n{\"actions\":{\"stateDelta\":{\"a\":\"\xff\"}}}", "standard input, line 2: "},
    };

    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        append_text(strstr(inputs[i].input, "other") ? 4 : 2, inputs[i].input, "one");
        assert_has(&reply.err, inputs[i].said);
        assert_string_equal(reply.out.data, "");
        assert_int_equal(events_of(fixture), EVENTS);
    }
}

/* A pipe that copies events would otherwise store rows. */
TEST_OF(command_setup, rows_of_events_are_refused)
{
    char command[1024];
    int status = 0;

    snprintf(command, sizeof command,
             "{ echo '{}'; %s -f '%s' events one --jsonl; } | %s -f '%s' append one 2>&1", COMMAND,
             fixture->path, COMMAND, fixture->path);
    char *text = support_run(command, &status);
    assert_int_equal(status, 2);
    assert_non_null(strstr(text, "standard input, line 2: this is a row of seslite events"));
    free(text);
    assert_int_equal(events_of(fixture), EVENTS);
}

TEST_OF(command_setup, bytes_that_are_no_text_are_refused)
{
    char *path = support_path(fixture->folder, "events");

    write_file(path, "{}\n{\"a\":\"\0\"}\n", 14);
    run_code(2, "append", "one", "--input", path);
    assert_has(&reply.err, "events, line 2: ");
    write_file(path, "\0\0\0", 3);
    run_code(2, "append", "one", "--input", path);
    assert_int_equal(events_of(fixture), EVENTS);
    free(path);
}

static void assert_too_large(const struct fixture *fixture, const char *producer, const char *words)
{
    char command[2048];
    int status = 0;

    snprintf(command, sizeof command, "%s | %s -f '%s' append one 2>&1", producer, COMMAND, fixture->path);
    char *text = support_run(command, &status);
    assert_int_equal(status, 1);
    if (!strstr(text, words))
        print_error("%s\n", text);
    assert_non_null(strstr(text, words));
    free(text);
    assert_int_equal(events_of(fixture), EVENTS);
}

TEST_OF(command_setup, input_that_is_too_large_is_refused)
{
    assert_too_large(
        fixture, "{ echo '{}'; printf '{\"a\":\"'; head -c 17000000 /dev/zero | tr '\\0' x; printf '\"}'; }",
        "standard input, line 2: ");
    assert_too_large(fixture, "head -c 68000000 /dev/zero | tr '\\0' '['", "longer than 64 MiB");
    assert_too_large(fixture, "head -c 2000 /dev/zero | tr '\\0' '[' | sed 's/^/{\"a\":/'", "line 1: ");
    assert_too_large(fixture, "yes '{}' | head -n 10001", "more than 10000 events");
}

TEST_OF(command_setup, a_batch_may_be_large)
{
    char command[1024];
    int status = 0;

    snprintf(command, sizeof command, "yes '{}' | head -n 10000 | %s -f '%s' append one --jsonl | wc -l",
             COMMAND, fixture->path);
    char *text = support_run(command, &status);
    assert_int_equal(strtol(text, NULL, 10), 10000);
    free(text);
    assert_int_equal(events_of(fixture), EVENTS + 10000);
}

TEST_OF(command_setup, the_session_must_be_there_with_its_whole_id)
{
    run_code(3, "append", "two", "--text", "Hello");
    run_code(3, "append", "on", "--text", "Hello");
    assert_has(&reply.err, "no session \"on\", and here the id must be complete. These begin with it:");
    run_ok("append", "--text", "Hello");
    must_create(fixture->store, &(ses_key){"chat", "bob", "two"}, NULL);
    run_code(2, "append", "--text", "Hello");
    assert_has(&reply.err, "which session?");
    assert_int_equal(events_of(fixture), EVENTS + 1);
    run_at(&reply, 3, NULL, "/nowhere/at/all", "append", "one", "--text", "Hello");
}

TEST_OF(command_setup, a_store_that_may_not_be_written_stays)
{
    make_read_only(fixture);
    run_at_read_only(&reply, fixture, "append", "one", "--text", "Hello");
    assert_string_equal(reply.out.data, "");
    assert_has(&reply.err, "read");
    run_ok("events", "one", "--jsonl");
    assert_int_equal(reply_lines(&reply), EVENTS);
}

/* ----------------------------------------------------------------------------------- partials, duplicates */

TEST_OF(command_setup, partial_events_and_duplicates_are_named)
{
    static const char input[] =
        EVENT_G "}\n{\"id\":\"p\",\"partial\":true}\n{\"partial\":true}\n" EVENT_H "}\n";

    append_text(0, EVENT_G "}", "one");
    append_text(0, input, "one");
    assert_string_equal(reply.out.data, " SEQ  ID  VERSION  STATUS\n"
                                        "   7  g         8  duplicate\n"
                                        "      p            partial\n"
                                        "                   partial\n"
                                        "   8  h         8\n");
    assert_string_equal(reply.err.data, "Partial, so not stored: 2 events.\n"
                                        "Stored before, so not stored again: 1 event.\n");
    append_text(0, input, "one", "--jsonl");
    assert_has(&reply.out, "\"eventId\":\"g\",\"status\":\"duplicate\"}\n"
                           "{\"session\":\"one\",\"eventId\":\"p\",\"status\":\"partial\"}\n"
                           "{\"session\":\"one\",\"status\":\"partial\"}\n");
    append_text(0, "{\"partial\":true}", "one");
    assert_has(&reply.err, "Partial, so not stored: 1 event.\n");
    append_text(4, EVENT_G ",\"more\":1}", "one");
    assert_has(&reply.err, "standard input, line 1: ");
    assert_int_equal(events_of(fixture), EVENTS + 2);
}

/* --------------------------------------------------------------------------------------- what is expected */

TEST_OF(command_setup, a_version_may_be_expected)
{
    append_text(5, EVENT_G "}\n" EVENT_H "}", "one", "--expected-version", "5");
    assert_string_equal(reply.err.data, "seslite: one is at version 6, not 5: nothing was stored\n");
    run_code(5, "append", "one", "--text", "Hello", "--expected-version", "7");
    assert_int_equal(events_of(fixture), EVENTS);
    append_text(0, EVENT_G "}\n" EVENT_H "}", "one", "--expected-version", "6");
    run_ok("append", "one", "--text", "Hello", "--expected-version", "8");
    append_text(0, EVENT_G "}", "one", "--expected-version", "6"); /* a retry */
    run_code(2, "append", "one", "--text", "Hello", "--expected-version", "x");
}

TEST_OF(command_setup, values_of_shared_keys_may_be_expected)
{
    run_ok("append", "one", "--author", "user", "--state", "user:n=1", "--expected-state",
           "user:n=\"__ADK_SENTINEL_REMOVED__\"");
    run_code(5, "append", "one", "--author", "user", "--state", "user:n=2", "--expected-state", "user:n=0");
    assert_has(&reply.err, "user:n");
    run_ok("append", "one", "--author", "user", "--state", "user:n=2", "--expected-state", "user:n=1",
           "--expected-state", "app:units=\"celsius\"");
    assert_value(fixture, "user:n", "2");
    append_text(5, "{}\n{}", "one", "--expected-state", "user:n=1");
    run_code(2, "append", "one", "--text", "x", "--expected-state", "topic=1");
    run_code(2, "append", "one", "--text", "x", "--expected-state", "user:n");
    run_code(2, "append", "one", "--text", "x", "--expected-state", "user:n=x");
    assert_has(&reply.err, "--expected-state user:n=x: ");
    append_text(2, "{}", "one", "--expected-state", "topic=1");
    assert_lacks(&reply.err, "line");
}

/* ---------------------------------------------------------------------------------------------- made here */

TEST_OF(command_setup, a_text_becomes_an_event_in_an_invocation)
{
    run_ok("append", "one", "--text", "Is it \"cold\"?\n");
    run_ok("append", "one", "--author", "bot", "--text", "Yes.");
    ses_session *session = must_get(fixture->store, &one);
    const ses_event *question = ses_session_event(session, 6);
    const ses_event *answer = ses_session_event(session, 7);
    assert_string_equal(question->author, "user");
    assert_string_equal(answer->author, "bot");
    assert_int_equal(strncmp(question->invocation_id, "e-", 2), 0);
    assert_string_equal(question->invocation_id, answer->invocation_id);
    assert_non_null(
        strstr(question->json, "{\"parts\":[{\"text\":\"Is it \\\"cold\\\"?\\n\"}],\"role\":\"user\"}"));
    assert_non_null(strstr(answer->json, "\"role\":\"model\""));
    ses_session_close(session);
    run_ok("show", "one", "--newest", "2");
    assert_has(&reply.out, "Is it \"cold\"?");
    run_ok("rewind", "one");
    run_ok("events", "one", "--live", "--jsonl");
    assert_int_equal(reply_lines(&reply), EVENTS);
    run_ok("append", "one", "--author", "bot", "--text", "I mean no.");
    session = must_get(fixture->store, &one);
    assert_string_equal(ses_session_event(session, 9)->invocation_id, "i2");
    ses_session_close(session);
    run_ok("append", "one", "--text", "Why?", "--invocation", "i9", "--state", "asked=true");
    session = must_get(fixture->store, &one);
    assert_string_equal(ses_session_event(session, 10)->invocation_id, "i9");
    ses_session_close(session);
    assert_value(fixture, "asked", "true");
}

TEST_OF(command_setup, the_first_event_of_another_author_begins_an_invocation)
{
    const ses_key fresh = {"chat", "alice", "fresh"};

    must_create(fixture->store, &fresh, NULL);
    run_ok("append", "fresh", "--author", "bot", "--text", "Hello");
    ses_session *session = must_get(fixture->store, &fresh);
    assert_int_equal(strncmp(ses_session_event(session, 0)->invocation_id, "e-", 2), 0);
}

TEST_OF(command_setup, options_that_do_not_fit_are_refused)
{
    run_code(2, "append", "one", "--author", "bot");
    run_code(2, "append", "one", "--text", "a", "--input", "-");
    append_text(2, "{}", "one", "--invocation", "i3");
    run_code(2, "append", "one", "--text", "a", "--author", "");
    run_code(2, "append", "one", "--text", "a", "--invocation", "");
    run_code(2, "append", "one", "--text", "\xff");
    run_code(2, "append", "one", "--text", "a", "--text", "b");
    run_code(2, "append", "one", "--text", "a", "--state", "a");
    run_code(2, "append", "one", "two", "--text", "a");
    assert_int_equal(events_of(fixture), EVENTS);
}

/* -------------------------------------------------------------------------------------------------- state */

TEST_OF(command_setup, state_is_changed_with_the_event)
{
    run_ok("append", "one", "--author", "system", "--state", "n=1.0", "--state",
           "topic=\"__ADK_SENTINEL_REMOVED__\"", "--state", "user:lang=\"en\"", "--state", "temp:x=1");
    assert_value(fixture, "n", "1.0");
    assert_value(fixture, "topic", NULL);
    assert_value(fixture, "user:lang", "\"en\"");
    run_ok("events", "one", "--from", "7", "--json");
    assert_lacks(&reply.out, "temp:");
    assert_lacks(&reply.out, "content");
    append_text(0, EVENT_G ",\"actions\":{\"stateDelta\":{\"n\":2,\"m\":3,\"temp:y\":1}}}", "one", "--state",
                "n=2.50");
    assert_stored(fixture, 8, EVENT_G ",\"actions\":{\"stateDelta\":{\"m\":3,\"n\":2.50}}}");
    append_text(2, "{}\n{}", "one", "--state", "n=3");
    assert_has(&reply.err, "--state is for a single event");
    append_text(2, "{\"n\":}", "one", "--state", "n=3");
    assert_has(&reply.err, "standard input, line 1: ");
    assert_int_equal(events_of(fixture), EVENTS + 2);
}

TEST_OF(command_setup, a_title_and_labels_are_set_with_the_event)
{
    append_text(0, EVENT_G "}", "one", "--title", "Packing", "-l", "answered", "--label", "project=oslo");
    ses_session *session = must_get(fixture->store, &one);
    assert_string_equal(ses_session_title(session), "Packing");
    assert_string_equal(ses_session_label_value(session, "answered"), "");
    assert_string_equal(ses_session_label_value(session, "project"), "oslo");
    ses_session_close(session);
    append_text(0, EVENT_G "}", "one", "--title", "Again"); /* a retry */
    append_text(2, EVENT_H "}", "one", "--title", "");
    append_text(2, EVENT_H "}", "one", "--title", "Never", "--label", "=x");
    assert_has(&reply.err, "label 0");
    session = must_get(fixture->store, &one);
    assert_string_equal(ses_session_title(session), "Packing");
    assert_int_equal(ses_session_stored(session), EVENTS + 1);
}
