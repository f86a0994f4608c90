/* The command and its index of words: index, search --words, list and show --containing. */
#include "command.h"

#include "seslite_search.h"

static const ses_key two = {"chat", "bob", "two"};

#define SAYS(text) Q("{'author':'user','content':{'parts':[{'text':'" text "'}]}}")
#define SCANNED "The events were read"

static int setup(void **state)
{
    (void)command_setup(state);
    const struct fixture *fixture = *state;
    must_create(fixture->store, &two, "{}");
    must_append_by_key(fixture->store, &two, SAYS("a warm jacket"));
    must_append_by_key(fixture->store, &two, SAYS("not for rain"));
    must_append_by_key(fixture->store, &two, SAYS("Jacket, WARM and dry"));
    return 0;
}

static bool has_fts5(const struct fixture *fixture)
{
    ses_error error;
    const int code = ses_store_index(fixture->store, NULL, NULL, &error);

    assert_true(code == SES_OK || code == SES_UNSUPPORTED);
    return code == SES_OK;
}

#define need_fts5(fixture)                                  \
    do {                                                    \
        if (!has_fts5(fixture)) {                           \
            print_message("skipped: SQLite has no FTS5\n"); \
            skip();                                         \
        }                                                   \
    } while (0)

/* -------------------------------------------------------------------------------------------------- index */

TEST_OF(setup, index_makes_updates_and_drops_it)
{
    need_fts5(fixture);
    run_ok("index", "--drop");
    assert_has(&reply.err, "no index of words");
    run_ok("index", "--json");
    assert_has(&reply.out, "\"index\":true");
    assert_lacks(&reply.out, "\"eventsAdded\":0");
    run_ok("index");
    assert_has(&reply.err, "0 events added");
    must_append_by_key(fixture->store, &two, SAYS("later"));
    run_ok("index");
    assert_has(&reply.err, "1 event added");
    run_ok("index", "--rebuild", "--json");
    assert_lacks(&reply.out, "\"eventsAdded\":0");
    run_ok("index", "--drop", "--json");
    assert_string_equal(reply.out.data, "{\"index\":false,\"eventsAdded\":0}\n");
    run_code(2, "index", "--drop", "--rebuild");
}

TEST_OF(setup, search_says_when_it_reads_the_events)
{
    need_fts5(fixture);
    run_ok("index", "--drop");
    run_ok("search", "--words", "warm jacket");
    assert_has(&reply.out, "a warm jacket");
    assert_has(&reply.out, "Jacket, WARM and dry");
    assert_has(&reply.err, SCANNED);
    run_ok("search", "--words", "warm jacket", "--json");
    assert_string_equal(reply.err.data, "");
    run_ok("index");
    run_ok("search", "--words", "warm jacket");
    assert_has(&reply.out, "a warm jacket");
    assert_string_equal(reply.err.data, "");
}

/* The search is the one that brings it up to date. */
TEST_OF(setup, search_finds_the_newest_event_by_the_index)
{
    need_fts5(fixture);
    must_append_by_key(fixture->store, &two, SAYS("umbrella"));
    run_ok("search", "--words", "umbrella");
    assert_has(&reply.out, "umbrella");
    assert_string_equal(reply.err.data, "");
    run_ok("index");
    assert_has(&reply.err, "0 events added");
}

TEST_OF(setup, search_reads_the_events_of_a_file_that_it_may_not_write)
{
    const char *const arguments[] = {COMMAND, "-f", fixture->path, "search", "--words", "umbrella", NULL};

    need_fts5(fixture);
    must_append_by_key(fixture->store, &two, SAYS("umbrella"));
    make_read_only(fixture);
    command_run(&reply, &(const struct how){.as_nobody = true}, arguments);
    if (reply.status == 127) {
        print_message("skipped: a file without rights, since others cannot run the program\n");
        skip();
    }
    assert_int_equal(reply.status, 0);
    assert_has(&reply.out, "umbrella");
    assert_has(&reply.err, SCANNED);
}

/* --------------------------------------------------------------------------------------------- containing */

static void check_containing(const struct fixture *fixture)
{
    struct reply answer = {0};

    run_at(&answer, 0, NULL, fixture->path, "list", "--containing", "WARM jacket", "--names", "sessions");
    assert_string_equal(answer.out.data, "two\n");
    run_at(&answer, 0, NULL, fixture->path, "list", "--containing", "warm dry", "--jsonl");
    assert_int_equal(reply_lines(&answer), 1);
    run_at(&answer, (3), NULL, fixture->path, "list", "--containing", "warm dry rain");
    assert_string_equal(answer.out.data, "");
    run_at(&answer, 0, NULL, fixture->path, "show", "two", "--containing", "jacket warm");
    assert_has(&answer.out, "a warm jacket");
    assert_has(&answer.out, "Jacket, WARM and dry");
    assert_lacks(&answer.out, "not for rain");
    run_at(&answer, 0, NULL, fixture->path, "show", "two", "--containing", "jacket", "--from", "2");
    assert_lacks(&answer.out, "a warm jacket");
    assert_has(&answer.out, "Jacket, WARM and dry");
    run_at(&answer, 0, NULL, fixture->path, "show", "two", "--containing", "nowhere");
    assert_lacks(&answer.out, "jacket");
    reply_free(&answer);
}

TEST_OF(setup, list_and_show_select_by_words)
{
    check_containing(fixture);
    if (has_fts5(fixture))
        check_containing(fixture);
    run_code(2, "show", "two", "--containing", "jacket", "--json");
    run_code(2, "list", "--containing", "jacket", "--names", "users");
    run_code(2, "list", "--containing", "...");
    run_code(2, "show", "two", "--containing", "...");
}

/* More events than a page of hits has. */
TEST_OF(setup, show_selects_from_a_long_log)
{
    for (int i = 0; i < 2100; i++)
        must_append_by_key(fixture->store, &two, i % 2 ? SAYS("odd jacket") : SAYS("other"));
    run_ok("show", "two", "--containing", "odd");
    size_t count = 0;
    for (const char *at = strstr(reply.out.data, "odd jacket"); at; at = strstr(at + 1, "odd jacket"))
        count++;
    assert_int_equal(count, 1050);
    assert_lacks(&reply.out, "other");
}
