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

/* --------------------------------------------------------------------------------------------------- index */

static void test_index_makes_updates_and_drops_it(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

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
    reply_free(&reply);
}

static void test_search_says_when_it_reads_the_events(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

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
    reply_free(&reply);
}

/* The search is the one that brings it up to date. */
static void test_search_finds_the_newest_event_by_the_index(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    need_fts5(fixture);
    must_append_by_key(fixture->store, &two, SAYS("umbrella"));
    run_ok("search", "--words", "umbrella");
    assert_has(&reply.out, "umbrella");
    assert_string_equal(reply.err.data, "");
    run_ok("index");
    assert_has(&reply.err, "0 events added");
    reply_free(&reply);
}

static void test_search_reads_the_events_of_a_file_that_it_may_not_write(void **state)
{
    struct fixture *fixture = *state;
    const char *const arguments[] = {COMMAND, "-f", fixture->path, "search", "--words", "umbrella", NULL};
    struct reply reply = {0};

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
    reply_free(&reply);
}

/* ---------------------------------------------------------------------------------------------- containing */

static void check_containing(const struct fixture *fixture)
{
    struct reply reply = {0};

    run_ok("list", "--containing", "WARM jacket", "--names", "sessions");
    assert_string_equal(reply.out.data, "two\n");
    run_ok("list", "--containing", "warm dry", "--jsonl");
    assert_int_equal(reply_lines(&reply), 1);
    run_code(3, "list", "--containing", "warm dry rain");
    assert_string_equal(reply.out.data, "");
    run_ok("show", "two", "--containing", "jacket warm");
    assert_has(&reply.out, "a warm jacket");
    assert_has(&reply.out, "Jacket, WARM and dry");
    assert_lacks(&reply.out, "not for rain");
    run_ok("show", "two", "--containing", "jacket", "--from", "2");
    assert_lacks(&reply.out, "a warm jacket");
    assert_has(&reply.out, "Jacket, WARM and dry");
    run_ok("show", "two", "--containing", "nowhere");
    assert_lacks(&reply.out, "jacket");
    reply_free(&reply);
}

static void test_list_and_show_select_by_words(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    check_containing(fixture);
    if (has_fts5(fixture))
        check_containing(fixture);
    run_code(2, "show", "two", "--containing", "jacket", "--json");
    run_code(2, "list", "--containing", "jacket", "--names", "users");
    run_code(2, "list", "--containing", "...");
    run_code(2, "show", "two", "--containing", "...");
    reply_free(&reply);
}

/* More events than a page of hits has. */
static void test_show_selects_from_a_long_log(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    for (int i = 0; i < 2100; i++)
        must_append_by_key(fixture->store, &two, i % 2 ? SAYS("odd jacket") : SAYS("other"));
    run_ok("show", "two", "--containing", "odd");
    size_t count = 0;
    for (const char *at = strstr(reply.out.data, "odd jacket"); at; at = strstr(at + 1, "odd jacket"))
        count++;
    assert_int_equal(count, 1050);
    assert_lacks(&reply.out, "other");
    reply_free(&reply);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_index_makes_updates_and_drops_it),
        T(test_search_says_when_it_reads_the_events),
        T(test_search_finds_the_newest_event_by_the_index),
        T(test_search_reads_the_events_of_a_file_that_it_may_not_write),
        T(test_list_and_show_select_by_words),
        T(test_show_selects_from_a_long_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
