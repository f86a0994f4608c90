/* A handle holds little more than its events, and an import little more than a line. */
#include "open.h"

enum { EVENTS = 1000 };

static const ses_key key = {"app", "user", "session"};

struct memory_test {
    struct counting_memory memory;
    ses_allocator allocator;
    ses_store *store;
};

/* Event `i` of a log in which all are equally long, or some are ten times as long as others. */
static size_t length_of(size_t len, size_t i)
{
    return len > 0 ? len : 300 + i * 7919 % 2701;
}

static const char *event_of(size_t len, size_t i)
{
    static char json[3001];
    const int head =
        snprintf(json, sizeof json,
                 "{\"id\":\"e%zu\",\"timestamp\":5,\"invocationId\":\"i%zu\",\"author\":\"user\","
                 "\"branch\":\"b\",\"x\":\"",
                 i, i / 2);

    len = length_of(len, i);
    assert_in_range(len, (size_t)head + 2, sizeof json - 1);
    memset(json + head, 'x', len - (size_t)head - 2);
    memcpy(json + len - 2, "\"}", 3);
    return json;
}

static int setup(void **state)
{
    struct memory_test *test = calloc(1, sizeof *test);
    ses_error error;

    assert_non_null(test);
    test->allocator = counting_allocator(&test->memory);
    const ses_open_options options = {.size = sizeof options, .allocator = &test->allocator};
    assert_ok(ses_open(":memory:", &options, &test->store, &error));
    *state = test;
    return 0;
}

static int teardown(void **state)
{
    struct memory_test *test = *state;

    ses_close(test->store);
    assert_no_blocks(&test->memory);
    free(test);
    return 0;
}

/* A handle with the newest events, and what it holds. */
static long held_by_get(struct memory_test *test, const ses_range *range, ses_session **session)
{
    const ses_get_options options = {.size = sizeof options, .range = range};
    ses_error error;
    const long before = test->memory.bytes;

    assert_ok(ses_get(test->store, &key, &options, session, &error));
    return test->memory.bytes - before;
}

static long bytes_of(const ses_session *session, size_t len)
{
    const size_t count = ses_session_event_count(session);
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        const ses_event *event = ses_session_event(session, i);
        char id[32];
        snprintf(id, sizeof id, "e%lld", (long long)event->seq - 1);
        assert_string_equal(event->id, id);
        snprintf(id, sizeof id, "i%lld", (long long)(event->seq - 1) / 2);
        assert_string_equal(event->invocation_id, id);
        assert_string_equal(event->author, "user");
        assert_string_equal(event->branch, "b");
        assert_string_equal(event->json, event_of(len, (size_t)event->seq - 1));
        bytes += sizeof *event + sizeof event + strlen(event->id) + strlen(event->invocation_id) +
                 strlen(event->author) + strlen(event->branch) + event->json_len + 5;
    }
    return (long)bytes;
}

static void append_all(ses_session *session, size_t len)
{
    for (size_t i = 0; i < EVENTS; i++)
        must_append(session, event_of(len, i));
}

#define HELD_TEST(name) TEST_WITH(struct memory_test *test, setup, teardown, name)

HELD_TEST(a_get_reserves_what_it_needs)
{
    static const size_t lengths[] = {300, 3000, 0};
    static const int64_t counts[] = {1, 4, 20, EVENTS};
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    ses_session *session;

    for (size_t i = 0; i < 3; i++) {
        must_create(test->store, &key, NULL);
        ses_session *writer = must_get(test->store, &key);
        const long empty = held_by_get(test, &none, &session);
        ses_session_close(session);
        append_all(writer, lengths[i]);
        ses_session_close(writer);
        for (size_t j = 0; j < 4; j++) {
            const ses_range range = {.size = sizeof range, .which = SES_RANGE_NEWEST, .newest = counts[j]};
            const long held = held_by_get(test, &range, &session) - empty;
            assert_int_equal(ses_session_event_count(session), counts[j]);
            assert_in_range(held * 100, 1, bytes_of(session, lengths[i]) * 115);
            ses_session_close(session);
        }
        must_delete(test->store, &key);
    }
}

/* The number of events in such a range is not known before. */
HELD_TEST(a_range_of_none_reserves_nothing)
{
    const ses_range none = {.size = sizeof none, .which = SES_RANGE_NONE};
    const ses_range late = {.size = sizeof late, .which = SES_RANGE_SINCE, .since_us = 6000000};
    ses_session *session;

    must_create(test->store, &key, NULL);
    for (size_t i = 0; i < 20; i++)
        must_append_by_key(test->store, &key, event_of(300, i));
    /* The first get also holds what its connection keeps for those after it. */
    ses_session_close(must_get(test->store, &key));
    const long empty = held_by_get(test, &none, &session);
    ses_session_close(session);
    assert_int_equal(held_by_get(test, &late, &session), empty);
    ses_session_close(session);
}

HELD_TEST(an_append_holds_its_event_only)
{
    must_create(test->store, &key, NULL);
    ses_session *session = must_get(test->store, &key);
    const long before = test->memory.bytes;
    append_all(session, 300);
    assert_in_range((test->memory.bytes - before) * 100, 1, bytes_of(session, 300) * 115);
}

/* Lines that are made as they are read, and the bytes that were held after the first events and at the
 * end. */
struct made_lines {
    const struct counting_memory *memory;
    size_t at;
    long early;
    long late;
};

enum { EARLY = 100, LINES = 5000 };

static int read_made_line(void *context, char *buffer, size_t capacity, size_t *len, ses_error *error)
{
    struct made_lines *lines = context;
    const size_t at = lines->at++;
    int written = 0;

    (void)error;
    if (at == EARLY)
        lines->early = lines->memory->bytes;
    lines->late = lines->memory->bytes;
    if (at == 0)
        written =
            snprintf(buffer, capacity,
                     "{\"kind\":\"seslite\",\"format\":1}\n"
                     "{\"kind\":\"session\",\"app\":\"app\",\"user\":\"user\",\"session\":\"session\"}\n");
    else if (at <= LINES)
        written = snprintf(buffer, capacity, "{\"kind\":\"event\",\"body\":%s}\n", event_of(300, at));
    else if (at == LINES + 1)
        written = snprintf(buffer, capacity, "{\"kind\":\"end\"}\n{\"kind\":\"total\"}\n");
    assert_in_range(written, 0, capacity - 1);
    *len = (size_t)written;
    return 0;
}

HELD_TEST(an_import_holds_a_line_only)
{
    struct made_lines lines = {.memory = &test->memory};
    ses_import_report report = {.size = sizeof report};

    assert_ok(ses_store_import(test->store, read_made_line, &lines, NULL, &report, &error));
    assert_int_equal(report.events, LINES);
    assert_in_range(lines.late, 1, lines.early + 20000);
}
