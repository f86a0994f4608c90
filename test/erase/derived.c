/* After a redaction the index of words finds nothing of what was redacted, and the tally of tokens counts
 * what it did. */
#include "erase.h"
#include "seslite_search.h"
#include "seslite_usage.h"

static const ses_key branched = {"app", "user", "branched"};

static size_t found(ses_store *store, const char *word)
{
    ses_hits *hits = NULL;
    ses_error error;

    assert_ok(ses_store_search(store, &(ses_key){"app", NULL, NULL}, word, SES_NUL, NULL, &hits, &error));
    const size_t count = ses_hits_count(hits);
    ses_hits_close(hits);
    return count;
}

static void assert_used(ses_store *store, int64_t calls, int64_t tokens)
{
    ses_usage_rows *rows = NULL;
    ses_error error;

    assert_ok(ses_store_usage(store, NULL, NULL, &rows, &error));
    assert_int_equal(ses_usage_rows_sum(rows)->calls, calls);
    assert_int_equal(ses_usage_rows_sum(rows)->total, tokens);
    ses_usage_rows_close(rows);
}

static void say_numbered(ses_store *store, int first, int count)
{
    char event[500];

    for (int i = first; i < first + count; i++) {
        snprintf(event, sizeof event,
                 Q("{'invocationId':'i%d','author':'agent','content':{'parts':[{'text':'secret number%d'}]},"
                   "'usageMetadata':{'totalTokenCount':%d},'modelVersion':'m'}"),
                 i, i, i);
        must_append_by_key(store, &key, event);
    }
}

static void make_log(ses_store *store)
{
    ses_error error;

    must_create(store, &key, NULL);
    say_numbered(store, 1, 6);
    support_make_index(store);
    assert_ok(ses_store_tally(store, NULL, NULL, &error));
    assert_ok(ses_fork_by_key(store, &key, AFTER_SEQ(4), &branched, NULL, NULL, &error));
    say_numbered(store, 7, 2); /* the tally lacks these so far */
    assert_used(store, 12, 46);
    assert_int_equal(found(store, "secret"), 12);
}

TEST(whole_events)
{
    const ses_redact_options forks = {.size = sizeof forks, .flags = SES_REDACT_FORKS};
    ses_erased erased;

    make_log(fixture->store);
    must_redact(fixture->store, &key, SEQS(2, 8), &forks, &erased);
    assert_int_equal(erased.sessions, 1);
    assert_used(fixture->store, 12, 46);
    assert_int_equal(found(fixture->store, "secret"), 9);
    assert_int_equal(found(fixture->store, "number2"), 0);
    assert_int_equal(found(fixture->store, "redacted"), 3);
    assert_no_problems(fixture->store);
    say_numbered(fixture->store, 9, 1);
    assert_used(fixture->store, 13, 55);
}

TEST(redacted_text_that_was_found)
{
    const ses_redact_options options = {
        .size = sizeof options, .text = "other", .find = find_text, .find_context = "secret number"};
    const ses_redact_options count = {.size = sizeof count, .flags = SES_REDACT_DRY_RUN};
    ses_erased erased;

    make_log(fixture->store);
    must_redact(fixture->store, &key, all, 0, &count, &erased);
    assert_int_equal(erased.index_events, 8);
    assert_int_equal(found(fixture->store, "number3"), 2);
    assert_no_problems(fixture->store);
    must_redact(fixture->store, &key, all, 0, &options, &erased);
    assert_used(fixture->store, 12, 46);
    assert_int_equal(found(fixture->store, "secret"), 4); /* the fork's */
    assert_int_equal(found(fixture->store, "number3"), 1);
    assert_int_equal(found(fixture->store, "other3"), 1);
    assert_no_problems(fixture->store);
}
