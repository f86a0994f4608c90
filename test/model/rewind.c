/* The event that a rewind appends, made of two states without a store. */
#include "model/rewind.h"

#include "support.h"

struct subject {
    ses_allocator allocator;
    struct state then;
    struct state now;
    struct event_draft draft;
};

static struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

static int subject_setup(void **state)
{
    struct subject *subject = calloc(1, sizeof *subject);
    const struct hash_seed seed = {{1, 2}};
    ses_error error;

    assert_non_null(subject);
    ses__memory_default(&subject->allocator);
    assert_ok(ses__state_init(&subject->then, &subject->allocator, seed, &error));
    assert_ok(ses__state_init(&subject->now, &subject->allocator, seed, &error));
    ses__event_draft_init(&subject->draft, &subject->allocator);
    *state = subject;
    return 0;
}

static int subject_teardown(void **state)
{
    struct subject *subject = *state;

    ses__event_draft_free(&subject->draft);
    ses__state_free(&subject->now);
    ses__state_free(&subject->then);
    free(subject);
    return 0;
}

/* Pairs of keys and values, ended by NULL. */
static void fill(struct state *state, const char *const *pairs)
{
    struct state_loading loading;
    ses_error error;

    assert_ok(ses__state_load_begin(&loading, state, SCOPE_SESSION, &error));
    for (; *pairs; pairs += 2)
        assert_ok(ses__state_load_put(&loading, span_of(pairs[0]), span_of(pairs[1]), &error));
    ses__state_load_end(&loading, true);
}

#define FILL(state, ...) fill((state), (const char *const[]){__VA_ARGS__, NULL})

static int make(struct subject *subject, const char *before, const char *artifacts, ses_error *error)
{
    const struct rewind_event event = {.id = span_of("id \"1\""),
                                       .invocation_id = span_of("e-own"),
                                       .before = span_of(before),
                                       .before_seq = 3,
                                       .time_us = 1500000,
                                       .artifact_delta =
                                           artifacts ? span_of(artifacts) : (struct span){NULL, 0}};
    return ses__rewind_draft(&subject->draft, &event, &subject->then, &subject->now, error);
}

static void assert_body(const struct subject *subject, const char *expected)
{
    const struct span body = subject->draft.row.body;

    assert_int_equal(body.len, strlen(expected));
    assert_memory_equal(body.ptr, expected, body.len);
}

TEST_WITH(struct subject *subject, subject_setup, subject_teardown, keys_that_differ_are_in_order)
{
    FILL(&subject->then, "b", "1.10", "z", "[1, 2]", "", "0", "a\"", "null", "same", "{ }");
    FILL(&subject->now, "z", "[1,2]", "new", "1", "b", "1.1", "same", "{ }", "az", "2");
    assert_ok(make(subject, "i\n2", "{\"f\": 1}", &error));
    assert_body(
        subject,
        "{\"timestamp\":1.500000,\"id\":\"id "
        "\\\"1\\\"\",\"invocationId\":\"e-own\",\"author\":\"user\",\"actions\":"
        "{\"stateDelta\":{\"\":0,\"a\\\"\":null,\"az\":\"__ADK_SENTINEL_REMOVED__\",\"b\":1.10,\"new\":"
        "\"__ADK_SENTINEL_REMOVED__\",\"z\":[1, 2]},\"artifactDelta\":{\"f\": "
        "1},\"rewindBeforeInvocationId\":"
        "\"i\\n2\"}}");
    assert_int_equal(subject->draft.delta.count, 6);
    assert_true(subject->draft.delta.ops[2].removes);
    assert_int_equal(subject->draft.row.rewinds_to, 3);
    assert_int_equal(subject->draft.row.rewinds_before.len, 3);
    assert_int_equal(subject->draft.row.time_us, 1500000);
    assert_memory_equal(subject->draft.row.author.ptr, "user", 4);
    assert_memory_equal(subject->draft.row.invocation_id.ptr, "e-own", 5);
}

TEST_WITH(struct subject *subject, subject_setup, subject_teardown, equal_states_make_an_empty_delta)
{
    FILL(&subject->then, "a", "1");
    FILL(&subject->now, "a", "1");
    assert_ok(make(subject, "i", NULL, &error));
    assert_body(
        subject,
        "{\"timestamp\":1.500000,\"id\":\"id \\\"1\\\"\",\"invocationId\":\"e-own\",\"author\":\"user\","
        "\"actions\":{\"stateDelta\":{},\"artifactDelta\":{},\"rewindBeforeInvocationId\":\"i\"}}");
    assert_int_equal(subject->draft.delta.count, 0);
}

PLAIN_TEST(nothing_that_another_program_wrote_gets_into_it)
{
    static const struct {
        const char *then[3];
        const char *now[3];
        const char *before;
    } cases[] = {
        {{"app:x", "1"}, {NULL}, "i"},     {{NULL}, {"user:x", "1"}, "i"}, {{"a", "{"}, {NULL}, "i"},
        {{"a\xFF", "1"}, {NULL}, "i"},     {{NULL}, {"temp:x", "1"}, "i"}, {{NULL}, {"a\xFF", "1"}, "i"},
        {{"a", "1,\"b\":2"}, {NULL}, "i"}, {{"a", "1"}, {NULL}, "i\xFF"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct subject *subject = NULL;
        subject_setup((void **)&subject);
        fill(&subject->then, cases[i].then);
        fill(&subject->now, cases[i].now);
        assert_code(SES_CORRUPT, make(subject, cases[i].before, NULL, &error));
        subject_teardown((void **)&subject);
    }
}
