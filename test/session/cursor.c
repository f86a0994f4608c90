/* Cursors: every range in both directions over many pages, whatever happens to the session meanwhile. */
#include "support.h"

#include <stdbool.h>

static const ses_key key = {"app", "user", "session"};

enum { MANY = 300 }; /* a page has 64 events */

/* The time of event `seq`: mostly ascending, with some far back and some far ahead. */
static int64_t time_of(int64_t seq)
{
    return (seq % 10 == 3 ? 5 : seq % 50 == 7 ? 100000 : seq) * 1000000;
}

/* Appends events from number `first` to `last`, each with so many bytes of content. */
static void append_events(ses_store *store, const ses_key *to, int first, int last, size_t bytes)
{
    size_t count = (size_t)(last - first + 1);
    ses_text *events = calloc(count, sizeof *events);
    char *content = malloc(bytes + 1);
    ses_error error;

    assert_non_null(events);
    assert_non_null(content);
    memset(content, 'c', bytes);
    content[bytes] = '\0';
    for (size_t i = 0; i < count; i++) {
        int64_t seq = first + (int64_t)i;
        char *json = malloc(bytes + 150);
        assert_non_null(json);
        snprintf(
            json, bytes + 150,
            "{\"id\":\"%s-%lld\",\"timestamp\":%lld,\"author\":\"a\",\"branch\":\"b\",\"content\":\"%s\"}",
            to->session, (long long)seq, (long long)time_of(seq) / 1000000, content);
        events[i] = (ses_text){json, SES_NUL};
    }
    assert_ok(ses_append_batch_by_key(store, to, events, count, NULL, NULL, &error));
    for (size_t i = 0; i < count; i++)
        free((char *)(uintptr_t)events[i].text);
    free(events);
    free(content);
}

static void make_session(struct fixture *fixture, int events, size_t bytes)
{
    const int64_t early = 0;
    const ses_create_options options = {.size = sizeof options, .created_us = &early};
    ses_error error;

    assert_ok(ses_create(fixture->store, &key, NULL, 0, &options, NULL, &error));
    if (events > 0)
        append_events(fixture->store, &key, 1, events, bytes);
}

static ses_cursor *open_cursor(ses_store *store, const ses_range *range, bool backward)
{
    const ses_cursor_options options = {
        .size = sizeof options, .flags = backward ? SES_CURSOR_BACKWARD : 0, .range = range};
    ses_cursor *cursor = NULL;
    ses_error error;
    assert_ok(ses_cursor_open(store, &key, &options, &cursor, &error));
    return cursor;
}

static void check_event(const ses_event *event, int64_t seq)
{
    char id[40];
    snprintf(id, sizeof id, "session-%lld", (long long)seq);
    assert_int_equal(event->seq, seq);
    assert_int_equal(event->time_us, time_of(seq));
    assert_string_equal(event->id, id);
    assert_string_equal(event->author, "a");
    assert_string_equal(event->invocation_id, "");
    assert_string_equal(event->branch, "b");
    assert_int_equal(event->json_len, strlen(event->json));
    assert_non_null(strstr(event->json, id));
}

/* ------------------------------------------------------------------------------------------ ranges */

/* The walk meets just the events of the range, as ses_get does; `events` are stored. */
static void check_walk(ses_store *store, const ses_range *range, bool backward, int64_t events)
{
    static int64_t seqs[2000];
    size_t count = 0;
    const ses_event *event = NULL;
    ses_cursor *cursor = open_cursor(store, range, backward);
    ses_error error;

    for (int64_t seq = events; seq >= 1; seq--) { /* newest first, which is how the newest are counted */
        bool in_time = !(range->which & SES_RANGE_SINCE) || time_of(seq) >= range->since_us;
        bool in_seq = !(range->which & SES_RANGE_SEQ) || (seq >= range->first_seq && seq <= range->last_seq);
        bool in_count = !(range->which & SES_RANGE_NEWEST) || (int64_t)count < range->newest;
        if (in_time && in_seq && in_count && !(range->which & SES_RANGE_NONE))
            seqs[count++] = seq;
    }
    for (size_t i = 0; i < count; i++) {
        int64_t seq = seqs[backward ? i : count - 1 - i];
        assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
        if (event->seq != seq)
            fail_msg("which %u, newest %lld, since %lld, seq %lld to %lld, %s: number %zu is %lld, not %lld",
                     range->which, (long long)range->newest, (long long)range->since_us,
                     (long long)range->first_seq, (long long)range->last_seq, backward ? "back" : "on", i,
                     (long long)event->seq, (long long)seq);
        check_event(event, seq);
    }
    for (int i = 0; i < 2; i++) { /* the end stays the end */
        event = (const ses_event *)(const void *)&error;
        assert_ok(ses_cursor_next(cursor, &event, &error));
        assert_null(event);
    }
    assert_ok(ses_cursor_close(cursor, &error));
}

static void check_all_ranges(ses_store *store, int64_t events)
{
    const int64_t newest[] = {0, 1, 63, 64, 65, 128, events - 1, events, INT64_MAX};
    const int64_t since[] = {INT64_MIN, 6000000, 64000000, 200000000, 100000000000, INT64_MAX};
    const int64_t seqs[][2] = {{1, INT64_MAX},          {1, 64},   {2, 65}, {65, 128}, {events, events},
                               {events + 1, INT64_MAX}, {100, 250}};

    for (unsigned which = 0; which < 32; which++) { /* all are live */
        size_t newest_count = which & SES_RANGE_NEWEST ? sizeof newest / sizeof *newest : 1;
        size_t since_count = which & SES_RANGE_SINCE ? sizeof since / sizeof *since : 1;
        size_t seq_count = which & SES_RANGE_SEQ ? sizeof seqs / sizeof *seqs : 1;
        for (size_t i = 0; i < newest_count * since_count * seq_count; i += support_stride()) {
            const int64_t *seq = seqs[i / since_count / newest_count];
            const ses_range range = {
                sizeof range, which, newest[i % newest_count], since[i / newest_count % since_count],
                seq[0],       seq[1]};
            check_walk(store, &range, false, events);
            check_walk(store, &range, true, events);
        }
    }
}

TEST_FILE_AND_MEMORY(every_range_in_both_directions)
{
    const ses_key behind = {"app", "user", "z"};

    make_session(fixture, MANY, 0);
    must_create(fixture->store, &behind, NULL);
    append_events(fixture->store, &behind, 1, 100, 0); /* never met */
    check_all_ranges(fixture->store, MANY);
}

TEST(pages_that_are_full_by_count)
{
    const ses_range all = {.size = sizeof all};
    static const int sizes[] = {1, 63, 64, 65, 127, 128, 129};
    int stored = 0;

    make_session(fixture, 0, 0);
    check_walk(fixture->store, &all, false, 0);
    check_walk(fixture->store, &all, true, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        append_events(fixture->store, &key, stored + 1, sizes[i], 0);
        stored = sizes[i];
        check_walk(fixture->store, &all, false, stored);
        check_walk(fixture->store, &all, true, stored);
    }
}

TEST(pages_that_are_full_by_bytes)
{
    const ses_range all = {.size = sizeof all};
    const ses_range newest = {.size = sizeof newest, .which = SES_RANGE_NEWEST, .newest = 7};

    make_session(fixture, 12, 100 * 1024); /* three a page */
    append_events(fixture->store, &key, 13, 15, 300 * 1024);
    append_events(fixture->store, &key, 16, 150, 10);
    for (int backward = 0; backward <= 1; backward++) {
        check_walk(fixture->store, &all, backward, 150);
        check_walk(fixture->store, &newest, backward, 150);
    }
}

TEST(no_options_is_forward_over_all)
{
    const ses_event *event = NULL;
    ses_cursor *cursor = NULL;

    make_session(fixture, 70, 0);
    assert_ok(ses_cursor_open(fixture->store, &key, NULL, &cursor, &error));
    for (int64_t seq = 1; seq <= 70; seq++) {
        assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
        check_event(event, seq);
    }
    assert_ok(ses_cursor_next(cursor, &event, &error));
    assert_null(event);
    assert_ok(ses_cursor_close(cursor, &error));
}

/* ---------------------------------------------------------------------------------------- meanwhile */

TEST(events_appended_meanwhile_are_not_seen)
{
    const ses_range ranges[] = {
        {.size = sizeof(ses_range)},
        {.size = sizeof(ses_range), .which = SES_RANGE_NEWEST, .newest = 200},
        {.size = sizeof(ses_range), .which = SES_RANGE_SINCE, .since_us = 0},
        {.size = sizeof(ses_range), .which = SES_RANGE_SEQ, .first_seq = 1, .last_seq = INT64_MAX}};
    int stored = 200;

    make_session(fixture, stored, 0);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        for (int backward = 0; backward <= 1; backward++) {
            ses_cursor *cursor = open_cursor(fixture->store, &ranges[i], backward);
            int64_t end = stored;
            int64_t begin = ranges[i].which & SES_RANGE_NEWEST ? end - 200 + 1 : 1;
            for (int64_t step = 0; step <= end - begin; step++) {
                const ses_event *event = NULL;
                if (step % 60 == 0) {
                    append_events(fixture->store, &key, stored + 1, stored + 5, 0);
                    stored += 5;
                }
                assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
                check_event(event, backward ? end - step : begin + step);
            }
            const ses_event *event = NULL;
            assert_ok(ses_cursor_next(cursor, &event, &error));
            assert_null(event);
            assert_ok(ses_cursor_close(cursor, &error));
        }
    }
}

/* Walks on until there are no more events; returns what ended it. */
static int walk_on(ses_cursor *cursor, size_t *count)
{
    const ses_event *event = NULL;
    int result;
    while ((result = ses_cursor_next(cursor, &event, NULL)) == SES_ROW)
        (*count)++;
    assert_null(event);
    return result;
}

TEST(session_deleted_meanwhile_is_notfound)
{
    for (int steps = 0; steps <= 70; steps += 10) {
        for (int again = 0; again <= 1; again++) { /* again: one of the same key is there */
            const ses_event *event = NULL;
            size_t count = 0;
            make_session(fixture, MANY, 0);
            ses_cursor *cursor = open_cursor(fixture->store, NULL, steps % 20 == 0);
            for (int i = 0; i < steps; i++)
                assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
            must_delete(fixture->store, &key);
            if (again)
                make_session(fixture, MANY, 0);
            assert_int_equal(walk_on(cursor, &count), SES_NOTFOUND);
            assert_true((size_t)steps + count < MANY);
            event = (const ses_event *)(const void *)&error;
            assert_code(SES_NOTFOUND, ses_cursor_next(cursor, &event, &error)); /* it stays so */
            assert_null(event);
            memset(&error, 0, sizeof error);
            assert_code(SES_NOTFOUND, ses_cursor_close(cursor, &error));
            assert_message("deleted");
            if (again)
                must_delete(fixture->store, &key);
        }
    }
}

TEST(close_is_silent_where_next_met_no_failure)
{
    const ses_event *event = NULL;

    make_session(fixture, MANY, 0);
    ses_cursor *cursor = open_cursor(fixture->store, NULL, false);
    assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
    must_delete(fixture->store, &key);
    memset(&error, 1, sizeof error);
    assert_ok(ses_cursor_close(cursor, &error)); /* it had not gone on to where it would have failed */
    assert_int_equal(error.code, SES_OK);
    assert_string_equal(error.message, "");
    assert_ok(ses_cursor_close(NULL, &error));
    assert_int_equal(ses_cursor_close(NULL, NULL), SES_OK);
}

TEST(close_returns_the_failure_without_an_error)
{
    size_t count = 0;

    make_session(fixture, MANY, 0);
    ses_cursor *cursor = open_cursor(fixture->store, NULL, true);
    must_delete(fixture->store, &key);
    assert_int_equal(walk_on(cursor, &count), SES_NOTFOUND);
    assert_true(count < MANY); /* what it had read already was of before */
    assert_int_equal(ses_cursor_close(cursor, NULL), SES_NOTFOUND);
}

TEST(cursors_do_not_disturb_each_other)
{
    ses_cursor *cursors[4];

    make_session(fixture, MANY, 0);
    for (int i = 0; i < 4; i++)
        cursors[i] = open_cursor(fixture->store, NULL, i % 2 == 1);
    for (int64_t step = 0; step < MANY; step++) {
        for (int i = 0; i < 4; i++) {
            const ses_event *event = NULL;
            assert_code(SES_ROW, ses_cursor_next(cursors[i], &event, &error));
            check_event(event, i % 2 == 1 ? MANY - step : step + 1);
        }
    }
    for (int i = 0; i < 4; i++)
        assert_ok(ses_cursor_close(cursors[i], &error));
}

/* -------------------------------------------------------------------------------------- wrong calls */

TEST(cursor_of_what_is_not_there)
{
    ses_cursor *cursor = (ses_cursor *)(void *)&fixture;

    assert_code(SES_NOTFOUND, ses_cursor_open(fixture->store, &key, NULL, &cursor, &error));
    assert_null(cursor);
    assert_message("app/user/session");
}

TEST(wrong_arguments_are_refused)
{
    ses_range range = {.size = sizeof range, .which = SES_RANGE_NEWEST, .newest = -1};
    const ses_cursor_options options = {.size = sizeof options, .range = &range};
    const ses_event *event = NULL;
    ses_cursor *cursor = (ses_cursor *)(void *)&range;

    make_session(fixture, 3, 0);
    assert_code(SES_INVALID, ses_cursor_open(fixture->store, &key, &options, &cursor, &error));
    assert_null(cursor);
    range = (ses_range){.size = sizeof range, .which = SES_RANGE_SEQ, .first_seq = 2, .last_seq = 1};
    assert_code(SES_INVALID, ses_cursor_open(fixture->store, &key, &options, &cursor, &error));
    range = (ses_range){.size = sizeof range, .which = 32};
    assert_code(SES_MISUSE, ses_cursor_open(fixture->store, &key, &options, &cursor, &error));
    range.size = 0;
    assert_code(SES_MISUSE, ses_cursor_open(fixture->store, &key, &options, &cursor, &error));
    assert_code(SES_MISUSE, ses_cursor_open(fixture->store, &key, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_cursor_open(fixture->store, NULL, NULL, &cursor, &error));
    assert_code(SES_MISUSE, ses_cursor_open(NULL, &key, NULL, &cursor, &error));
    assert_null(cursor);
    assert_code(SES_MISUSE, ses_cursor_next(NULL, &event, &error));
    cursor = open_cursor(fixture->store, NULL, false);
    assert_code(SES_MISUSE, ses_cursor_next(cursor, NULL, &error));
    assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error)); /* nothing was skipped */
    check_event(event, 1);
    (void)ses_cursor_close(cursor, &error);
}

TEST(cursor_of_a_closed_store_is_misuse)
{
    size_t count = 0;

    make_session(fixture, MANY, 0);
    ses_cursor *cursor = open_cursor(fixture->store, NULL, false);
    fixture_reopen(fixture);
    assert_int_equal(walk_on(cursor, &count), SES_MISUSE);
    assert_int_equal(count, 0);
    assert_code(SES_MISUSE, ses_cursor_close(cursor, &error));
}

/* "Handles made from it may be closed later; every other call on them is MISUSE from now on." */
TEST(started_cursor_of_a_closed_store_is_misuse)
{
    const ses_event *event = NULL;

    make_session(fixture, 3, 0);
    ses_cursor *cursor = open_cursor(fixture->store, NULL, false);
    assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
    fixture_reopen(fixture);
    int result = ses_cursor_next(cursor, &event, &error);
    (void)ses_cursor_close(cursor, NULL);
    assert_code(SES_MISUSE, result);
}
