/* A snapshot, and what moves it forward: made ready first, shown only once it is applied. */
#include "model/snapshot.h"

#include "support.h"

struct subject {
    ses_allocator allocator;
    struct snapshot snapshot; /* at version and event 2, with {"app:a":1,"user:b":1,"c":1} */
};

static struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

/* The body is kept by the row, as long as the text lives. */
static struct event_row row_of(int64_t seq, const char *body)
{
    return (struct event_row){.seq = seq,
                              .time_us = seq * 1000,
                              .id = span_of("id"),
                              .invocation_id = span_of("i"),
                              .author = span_of("a"),
                              .body = span_of(body)};
}

static void load_one(struct state *state, enum scope scope, const char *key, const char *value)
{
    struct state_loading loading;
    ses_error error;

    assert_ok(ses__state_load_begin(&loading, state, scope, &error));
    assert_ok(ses__state_load_put(&loading, span_of(key), span_of(value), &error));
    ses__state_load_end(&loading, true);
}

static int subject_setup(void **state)
{
    struct subject *subject = calloc(1, sizeof *subject);
    const struct hash_seed seed = {{1, 2}};
    ses_error error;

    assert_non_null(subject);
    ses__memory_default(&subject->allocator);
    assert_ok(ses__snapshot_init(&subject->snapshot, &subject->allocator, seed, &error));
    subject->snapshot.row = (struct session_row){.id = 1, .version = 2, .last_seq = 2, .event_count = 2};
    subject->snapshot.keeps_events = true;
    load_one(&subject->snapshot.state, SCOPE_APP, "a", "1");
    load_one(&subject->snapshot.state, SCOPE_USER, "b", "1");
    load_one(&subject->snapshot.state, SCOPE_SESSION, "c", "1");
    for (int64_t seq = 1; seq <= 2; seq++) {
        struct event_row row = row_of(seq, "{}");
        assert_ok(ses__snapshot_add_event(&subject->snapshot, &row, &error));
    }
    *state = subject;
    return 0;
}

static int subject_teardown(void **state)
{
    struct subject *subject = *state;

    ses__snapshot_free(&subject->snapshot);
    free(subject);
    return 0;
}

static void assert_shows(const struct snapshot *snapshot, int64_t version, size_t events, const char *state)
{
    struct span json;
    ses_error error;

    assert_int_equal(snapshot->row.version, version);
    assert_int_equal(snapshot->events.count, events);
    for (size_t i = 0; i < events; i++)
        assert_int_equal(snapshot->events.items[i]->seq, i + 1);
    assert_ok(ses__state_to_json(&snapshot->state, &json, &error));
    assert_string_equal(json.ptr, Q(state));
}

static const char unmoved[] = "{'app:a':1,'user:b':1,'c':1}";

/* Events 3 and 4 that others stored; then they are two ahead. */
static void read_others(struct advance *advance, struct session_row *row)
{
    struct event_row third = row_of(3, "{\"actions\":{\"stateDelta\":{\"c\":3,\"d\":3,\"app:a\":3}}}");
    struct event_row fourth = row_of(4, "{\"actions\":{\"state_delta\":{\"c\":\"" TOMBSTONE "\"}}}");
    ses_error error;

    assert_ok(ses__advance_read_event(advance, &third, &error));
    assert_ok(ses__advance_read_event(advance, &fourth, &error));
    *row = advance->row;
    row->version = 4;
    row->last_seq = 4;
}

#define SUBJECT_TEST(name) TEST_WITH(struct subject *subject, subject_setup, subject_teardown, name)

SUBJECT_TEST(an_advance_shows_nothing_until_it_is_applied)
{
    struct advance advance;
    struct session_row row;

    for (int applies = 0; applies < 2; applies++) {
        assert_ok(ses__advance_init(&advance, &subject->snapshot, &error));
        read_others(&advance, &row);
        load_one(&advance.fresh, SCOPE_APP, "a", "9");
        load_one(&advance.fresh, SCOPE_USER, "new", "9");
        advance.loaded = SCOPE_SESSION;
        assert_ok(ses__advance_prepare(&advance, &row, &error));
        assert_shows(&subject->snapshot, 2, 2, unmoved);
        if (applies)
            ses__advance_apply(&advance);
        ses__advance_free(&advance);
        ses__advance_free(&advance); /* which is fine */
    }
    /* Shared scopes are those that were read anew, not what single events did to them. */
    assert_shows(&subject->snapshot, 4, 4, "{'app:a':9,'user:new':9,'d':3}");
    assert_string_equal(subject->snapshot.events.items[3]->id, "id");
}

SUBJECT_TEST(without_reloading_the_shared_scopes_stay)
{
    struct advance advance;
    struct session_row row;

    assert_ok(ses__advance_init(&advance, &subject->snapshot, &error));
    read_others(&advance, &row);
    assert_ok(ses__advance_prepare(&advance, &row, &error));
    ses__advance_apply(&advance);
    ses__advance_free(&advance);
    assert_shows(&subject->snapshot, 4, 4, "{'app:a':1,'user:b':1,'d':3}");
}

static void add_own(struct subject *subject, enum scope from)
{
    static const char text[] =
        "{\"id\":\"own\",\"timestamp\":1,\"actions\":{\"stateDelta\":{\"app:a\":5,\"user:b\":5,"
        "\"c\":5,\"temp:d\":5}}}";
    struct advance advance;
    struct event_draft draft;
    ses_error error;

    assert_ok(ses__advance_init(&advance, &subject->snapshot, &error));
    ses__event_draft_init(&draft, &subject->allocator);
    assert_ok(ses__event_read(&draft, span_of(text), &error));
    assert_ok(ses__event_seal(&draft, &error));
    draft.row.seq = 3;
    assert_ok(ses__advance_add_draft(&advance, &draft, from, &error));
    struct session_row row = advance.row;
    row.version = row.last_seq = 3;
    assert_ok(ses__advance_prepare(&advance, &row, &error));
    ses__event_draft_free(&draft); /* it is needed no more */
    ses__advance_apply(&advance);
    ses__advance_free(&advance);
}

/* The temp: values do not belong to the advance. */
SUBJECT_TEST(an_event_of_ones_own)
{
    add_own(subject, SCOPE_APP);
    assert_shows(&subject->snapshot, 3, 3, "{'app:a':5,'user:b':5,'c':5}");
    assert_string_equal(subject->snapshot.events.items[2]->id, "own");
    assert_null(strstr(subject->snapshot.events.items[2]->json, "temp:"));
}

SUBJECT_TEST(an_event_of_ones_own_without_its_shared_changes)
{
    add_own(subject, SCOPE_SESSION);
    assert_shows(&subject->snapshot, 3, 3, "{'app:a':1,'user:b':1,'c':5}");
}

SUBJECT_TEST(a_snapshot_without_events_stays_without)
{
    subject->snapshot.keeps_events = false;
    subject->snapshot.events.count = 0;
    add_own(subject, SCOPE_APP);
    assert_shows(&subject->snapshot, 3, 0, "{'app:a':5,'user:b':5,'c':5}");
}

SUBJECT_TEST(events_that_cannot_be_are_corrupt)
{
    static const char *const bodies[] = {"", "{", "[]", "{'id':7}", "{} {}"};
    struct event_row late = row_of(3, "{}");
    struct advance advance;

    assert_code(SES_CORRUPT, ses__snapshot_add_event(&subject->snapshot, &late, &error));
    assert_message("event 3 of session number 1 comes after its last event, 2");
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct event_row row = row_of(3, Q(bodies[i]));
        assert_ok(ses__advance_init(&advance, &subject->snapshot, &error));
        assert_code(SES_CORRUPT, ses__advance_read_event(&advance, &row, &error));
        assert_message("the stored event 3");
        ses__advance_free(&advance);
    }
    assert_shows(&subject->snapshot, 2, 2, unmoved);
}
