/* Reading a session with a range: which events come, and which ranges and option structs are refused. */
#include "support.h"

#include <stdbool.h>

static const ses_key key = {"app", "user", "session"};

/* The timestamps of the events, in seconds, in the order of commit: which is not the order of time. */
static const int64_t seconds[] = {100, 50, 300, 200, 300, 10, 400, 400, 350, 5, 400, 1};
enum { EVENTS = sizeof seconds / sizeof seconds[0] };

/* Three sessions with the same events, so that a walk that leaves its session would be seen. */
static void make_sessions(struct fixture *fixture, int64_t created_us)
{
    const ses_key around[] = {{"app", "user", "before"}, key, {"app", "user", "behind"}};
    const ses_create_options options = {.size = sizeof options, .created_us = &created_us};
    ses_error error;

    for (size_t i = 0; i < 3; i++)
        assert_ok(ses_create(fixture->store, &around[i], Q("{'k':1}"), SES_NUL, &options, NULL, &error));
    for (int event = 0; event < EVENTS; event++) {
        for (size_t i = 0; i < 3; i++) {
            char json[100];
            snprintf(json, sizeof json, "{\"id\":\"%s-%d\",\"timestamp\":%d}", around[i].session, event + 1,
                     (int)seconds[event]);
            must_append_by_key(fixture->store, &around[i], json);
        }
    }
}

/* The header's rule for a range, written again: time and sequence first, then the newest of the rest. */
static size_t expect_range(const ses_range *range, int64_t seqs[EVENTS])
{
    size_t count = 0;
    for (int64_t seq = 1; seq <= EVENTS; seq++) {
        bool in_time = !(range->which & SES_RANGE_SINCE) || seconds[seq - 1] * 1000000 >= range->since_us;
        bool in_seq = !(range->which & SES_RANGE_SEQ) || (seq >= range->first_seq && seq <= range->last_seq);
        if (in_time && in_seq && !(range->which & SES_RANGE_NONE))
            seqs[count++] = seq;
    }
    if (range->which & SES_RANGE_NEWEST && (int64_t)count > range->newest) {
        size_t skip = count - (size_t)range->newest;
        memmove(seqs, seqs + skip, (count - skip) * sizeof *seqs);
        count -= skip;
    }
    return count;
}

static void check_range(ses_store *store, const ses_range *range)
{
    int64_t expected[EVENTS];
    size_t count = expect_range(range, expected);
    ses_session *session = NULL;
    ses_error error;

    assert_ok(ses_get(store, &key, GET_RANGE(range), &session, &error));
    bool good = ses_session_event_count(session) == count;
    for (size_t i = 0; i < count && good; i++) {
        const ses_event *event = ses_session_event(session, i);
        char id[32];
        snprintf(id, sizeof id, "session-%d", (int)expected[i]);
        good = event->seq == expected[i] && strcmp(event->id, id) == 0;
    }
    if (!good)
        fail_msg(
            "which %u, newest %lld, since %lld, seq %lld to %lld: there are %zu events, not the right %zu",
            range->which, (long long)range->newest, (long long)range->since_us, (long long)range->first_seq,
            (long long)range->last_seq, ses_session_event_count(session), count);
    assert_null(ses_session_event(session, count));
    assert_int_equal(ses_session_stored(session), EVENTS);
    assert_int_equal(ses_session_last_seq(session), EVENTS);
    assert_string_equal(support_state(session, NULL), Q("{'k':1}"));
    ses_session_close(session);
}

/* Every combination of the four kinds with every value that could matter. */
static void check_all_ranges(ses_store *store)
{
    static const int64_t newest[] = {0, 1, 2, 3, EVENTS - 1, EVENTS, EVENTS + 1, INT64_MAX};
    static const int64_t since[] = {INT64_MIN, 0,         1000000,   1000001,   50000000,
                                    300000000, 300000001, 400000000, 400000001, INT64_MAX};
    static const int64_t seqs[][2] = {{1, INT64_MAX},
                                      {1, 1},
                                      {3, 8},
                                      {EVENTS, EVENTS},
                                      {EVENTS + 1, 100},
                                      {5, INT64_MAX},
                                      {INT64_C(1) << 32, INT64_MAX},
                                      {INT64_MAX, INT64_MAX},
                                      {1, INT64_C(0xFFFFFFFF)}};

    for (unsigned which = 0; which < 16; which++) {
        size_t newest_count = which & SES_RANGE_NEWEST ? sizeof newest / sizeof *newest : 1;
        size_t since_count = which & SES_RANGE_SINCE ? sizeof since / sizeof *since : 1;
        size_t seq_count = which & SES_RANGE_SEQ ? sizeof seqs / sizeof *seqs : 1;
        for (size_t i = 0; i < newest_count; i++) {
            for (size_t j = 0; j < since_count; j++) {
                for (size_t k = 0; k < seq_count; k++) {
                    const ses_range range = {sizeof range, which,      newest[i],
                                             since[j],     seqs[k][0], seqs[k][1]};
                    check_range(store, &range);
                }
            }
        }
    }
}

TEST(every_range_of_events_after_the_creation)
{
    make_sessions(fixture, 0);
    check_all_ranges(fixture->store);
}

/* Then the session's time is the time of its creation throughout. */
MEMORY_TEST(every_range_of_events_before_the_creation)
{
    make_sessions(fixture, fixture->now);
    check_all_ranges(fixture->store);
}

TEST(no_range_is_all_events)
{
    const ses_range all = {.size = sizeof all};

    make_sessions(fixture, 0);
    check_range(fixture->store, &all);
    ses_session *session = must_get(fixture->store, &key);
    assert_int_equal(ses_session_event_count(session), EVENTS);
    for (size_t i = 0; i < EVENTS; i++) {
        assert_int_equal(ses_session_event(session, i)->seq, i + 1);
        assert_int_equal(ses_session_event(session, i)->time_us, seconds[i] * 1000000);
    }
}

TEST(ranges_of_a_session_without_events)
{
    must_create(fixture->store, &key, NULL);
    for (unsigned which = 0; which < 16; which++) {
        const ses_range range = {sizeof range, which, 5, 0, 1, 10};
        ses_session *session = NULL;
        assert_ok(ses_get(fixture->store, &key, GET_RANGE(&range), &session, &error));
        assert_int_equal(ses_session_event_count(session), 0);
        ses_session_close(session);
    }
}

TEST(members_that_are_not_asked_for_do_not_count)
{
    const ses_range range = {sizeof range, SES_RANGE_NEWEST, 2, INT64_MAX, -3, -7};
    const ses_range other = {sizeof other, SES_RANGE_SINCE, -1, 0, 9, 3};

    make_sessions(fixture, 0);
    check_range(fixture->store, &range);
    check_range(fixture->store, &other);
}

TEST(impossible_ranges_are_invalid)
{
    const ses_range ranges[] = {
        {sizeof(ses_range), SES_RANGE_NEWEST, -1, 0, 0, 0},
        {sizeof(ses_range), SES_RANGE_NEWEST, INT64_MIN, 0, 0, 0},
        {sizeof(ses_range), SES_RANGE_SEQ, 0, 0, 0, 5},
        {sizeof(ses_range), SES_RANGE_SEQ, 0, 0, -1, 5},
        {sizeof(ses_range), SES_RANGE_SEQ, 0, 0, 5, 4},
        {sizeof(ses_range), SES_RANGE_SEQ, 0, 0, 1, 0},
        {sizeof(ses_range), SES_RANGE_SEQ, 0, 0, 1, INT64_MIN},
    };

    make_sessions(fixture, 0);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        ses_session *session = (ses_session *)(void *)&error;
        assert_code(SES_INVALID, ses_get(fixture->store, &key, GET_RANGE(&ranges[i]), &session, &error));
        assert_null(session);
    }
}

TEST(unknown_kinds_of_range_are_misuse)
{
    ses_session *session = NULL;

    make_sessions(fixture, 0);
    for (int bit = 5; bit < 32; bit++) {
        const ses_range range = {.size = sizeof range, .which = 1u << bit};
        assert_code(SES_MISUSE, ses_get(fixture->store, &key, GET_RANGE(&range), &session, &error));
    }
}

/* ------------------------------------------------------------------------------------------ option structs
 */

/* The calls that take options, as the bytes of a struct. */
struct taker {
    size_t size; /* of the struct */
    int (*call)(ses_store *store, const void *options, ses_error *error);
};

static int take_range(ses_store *store, const void *options, ses_error *error)
{
    ses_session *session = NULL;
    int code = ses_get(store, &key, options, &session, error);
    ses_session_close(session);
    return code;
}

static int take_create_options(ses_store *store, const void *options, ses_error *error)
{
    int code = ses_create(store, &(ses_key){"app", "user", NULL}, NULL, 0, options, NULL, error);
    return code;
}

static int take_append_options(ses_store *store, const void *options, ses_error *error)
{
    return ses_append_by_key(store, &key, "{}", SES_NUL, options, NULL, error);
}

static int take_batch_options(ses_store *store, const void *options, ses_error *error)
{
    const ses_text text = {"{}", 2};
    return ses_append_batch_by_key(store, &key, &text, 1, options, NULL, error);
}

static int take_list_options(ses_store *store, const void *options, ses_error *error)
{
    ses_page *page = NULL;
    int code = ses_list(store, "app", "user", options, &page, error);
    ses_page_close(page);
    return code;
}

static int take_cursor_options(ses_store *store, const void *options, ses_error *error)
{
    ses_cursor *cursor = NULL;
    int code = ses_cursor_open(store, &key, options, &cursor, error);
    ses_cursor_close(cursor, NULL);
    return code;
}

static int take_open_options(ses_store *store, const void *options, ses_error *error)
{
    ses_store *opened = NULL;
    (void)store;
    int code = ses_open(":memory:", options, &opened, error);
    ses_close(opened);
    return code;
}

static const struct taker takers[] = {
    {sizeof(ses_range), take_range},
    {sizeof(ses_create_options), take_create_options},
    {sizeof(ses_append_options), take_append_options},
    {sizeof(ses_append_options), take_batch_options},
    {sizeof(ses_list_options), take_list_options},
    {sizeof(ses_cursor_options), take_cursor_options},
    {sizeof(ses_open_options), take_open_options},
};
enum { TAKERS = sizeof takers / sizeof takers[0] };

/* Options of a later version: zero but for their size, which goes beyond what this version knows. */
struct later_options {
    union {
        size_t size;
        max_align_t alignment;
        unsigned char bytes[256];
    } as;
};

TEST(options_without_their_size_are_misuse)
{
    must_create(fixture->store, &key, NULL);
    for (size_t i = 0; i < TAKERS; i++) {
        struct later_options options = {{0}};
        assert_code(SES_MISUSE, takers[i].call(fixture->store, &options, &error));
        assert_message("size");
        options.as.size = 1;
        assert_code(SES_MISUSE, takers[i].call(fixture->store, &options, &error));
        options.as.size = takers[i].size;
        assert_ok(takers[i].call(fixture->store, &options, &error));
    }
}

MEMORY_TEST(larger_options_are_taken_while_the_rest_is_zero)
{
    must_create(fixture->store, &key, NULL);
    for (size_t i = 0; i < TAKERS; i++) {
        struct later_options options = {{0}};
        options.as.size = sizeof options;
        assert_true(sizeof options > takers[i].size);
        assert_ok(takers[i].call(fixture->store, &options, &error));
        for (size_t at = takers[i].size; at < sizeof options; at++) {
            options.as.bytes[at] = 1;
            assert_code(SES_MISUSE, takers[i].call(fixture->store, &options, &error));
            options.as.size = at; /* it stands just behind the end */
            assert_ok(takers[i].call(fixture->store, &options, &error));
            options.as.size = sizeof options;
            options.as.bytes[at] = 0;
        }
    }
}

/* The options of a program that was built with a header whose struct ended with the member before
 * `member`. */
#define SIZE_BEFORE(type, member) offsetof(type, member)

TEST(smaller_options_of_an_older_version_are_taken)
{
    ses_range range = {SIZE_BEFORE(ses_range, first_seq), SES_RANGE_SINCE, 0, 300000000, 0, 0};
    ses_list_options list = {.size = SIZE_BEFORE(ses_list_options, token), .limit = 2, .token = "garbage"};
    ses_session *session = NULL;
    ses_page *page = NULL;

    make_sessions(fixture, 0);
    assert_ok(ses_get(fixture->store, &key, GET_RANGE(&range), &session, &error));
    assert_int_equal(ses_session_event_count(session), 6);
    ses_session_close(session);
    assert_ok(ses_list(fixture->store, "app", "user", &list, &page, &error));
    assert_int_equal(ses_page_count(page), 2);
    ses_page_close(page);
}
