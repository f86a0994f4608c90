/* Sessions that the ADK recorded: their own state at every point of their log, and back at the last turn. */
#include "recording.h"

enum { MAX_KEYS = 32 };

/* The own state, replayed by bytes, in the order of the keys. */
struct own_state {
    struct text_span names[MAX_KEYS]; /* with their quotes */
    struct text_span values[MAX_KEYS];
    size_t count;
};

static int compare_spans(struct text_span left, struct text_span right)
{
    int order = memcmp(left.start, right.start, left.len < right.len ? left.len : right.len);
    return order ? order : (left.len > right.len) - (left.len < right.len);
}

static void set_key(struct own_state *own, struct text_span name, struct text_span value)
{
    size_t at = 0;

    assert_null(memchr(name.start, ':', name.len)); /* the recordings have own keys only, */
    assert_false(span_is(value, SES_TOMBSTONE));    /* and remove none */
    while (at < own->count && compare_spans(own->names[at], name) < 0)
        at++;
    if (at == own->count || compare_spans(own->names[at], name) != 0) {
        assert_true(own->count < MAX_KEYS);
        memmove(&own->names[at + 1], &own->names[at], (own->count - at) * sizeof *own->names);
        memmove(&own->values[at + 1], &own->values[at], (own->count - at) * sizeof *own->values);
        own->names[at] = name;
        own->count++;
    }
    own->values[at] = value;
}

static void set_keys_of(struct own_state *own, const char *object)
{
    const char *p = object + 1;
    struct text_span name;
    struct text_span value;

    while (next_member(&p, &name, &value))
        set_key(own, name, value);
}

static void replay_event(struct own_state *own, const struct recording *recording, size_t index)
{
    struct text_span actions = member_of(recording->events[index].start, "\"actions\"");
    struct text_span delta = member_of(actions.start, "\"state_delta\"");

    if (!delta.start)
        delta = member_of(actions.start, "\"stateDelta\"");
    if (delta.start && *delta.start == '{')
        set_keys_of(own, delta.start);
}

/* As the library writes it; free it. */
static char *own_json(const struct own_state *own)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    for (size_t i = 0; i < own->count; i++)
        fprintf(out, "%c%.*s:%.*s", i == 0 ? '{' : ',', (int)own->names[i].len, own->names[i].start,
                (int)own->values[i].len, own->values[i].start);
    fputs(own->count > 0 ? "}" : "{}", out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_as_of(ses_store *store, const ses_key *key, const ses_point *point, const char *expected)
{
    char *json = NULL;
    ses_error error;

    assert_ok(ses_state_json_as_of_by_key(store, key, point, NULL, &json, NULL, &error));
    assert_string_equal(json, expected);
    ses_free(json);
}

static void assert_own_state(ses_store *store, const ses_key *key, const char *expected)
{
    char *json = NULL;
    ses_error error;

    assert_ok(ses_state_json_by_key(store, key, NULL, &json, NULL, &error));
    assert_string_equal(json, expected);
    ses_free(json);
}

/* How many events come before the last turn, which begins at the last event by the user: none of them is an
 * answer to a call. */
static size_t count_before_last_turn(const struct recording *recording)
{
    size_t first = recording->event_count - 1;

    while (strcmp(string_of(event_json(recording, first), "author"), "user") != 0)
        first--;
    return first;
}

/* After every event, by its number and by its id, and as the session was created. Gives the own state before
 * the last turn, and now. */
static void look_at_every_point(ses_store *store, const struct recording *recording, char **before,
                                char **now)
{
    ses_point by_seq = {.size = sizeof by_seq, .kind = SES_POINT_SEQ};
    ses_point by_id = {.size = sizeof by_id, .kind = SES_POINT_EVENT};
    struct own_state own = {.count = 0};

    set_keys_of(&own, recording->initial_state);
    *now = own_json(&own);
    assert_as_of(store, &recording->key, &by_seq, *now);
    for (size_t i = 0; i < recording->event_count; i++) {
        if (i == count_before_last_turn(recording))
            *before = strdup(*now);
        free(*now);
        replay_event(&own, recording, i);
        *now = own_json(&own);
        by_seq.seq = (int64_t)i + 1;
        by_id.id = string_of(event_json(recording, i), "id");
        assert_as_of(store, &recording->key, &by_seq, *now);
        assert_as_of(store, &recording->key, &by_id, *now);
    }
}

static void go_through_history(struct fixture *fixture, const char *name)
{
    struct recording recording;
    char *before = NULL;
    char *now = NULL;
    ses_error error;

    if (!recording_open(&recording, name))
        skip();
    recording_create(&recording, fixture->store, NULL);
    for (size_t i = 0; i < recording.event_count; i++)
        assert_ok(ses_append_by_key(fixture->store, &recording.key, recording.events[i].start,
                                    recording.events[i].len, NULL, NULL, &error));
    look_at_every_point(fixture->store, &recording, &before, &now);
    assert_non_null(before);
    const ses_point last_turn = {.size = sizeof last_turn, .kind = SES_POINT_LAST_TURN};
    assert_as_of(fixture->store, &recording.key, &last_turn, before);
    assert_ok(ses_rewind_by_key(fixture->store, &recording.key, &last_turn, NULL, NULL, &error));
    assert_own_state(fixture->store, &recording.key, before);
    assert_ok(ses_redo_by_key(fixture->store, &recording.key, NULL, NULL, &error));
    assert_own_state(fixture->store, &recording.key, now);
    free(before);
    free(now);
    recording_close(&recording);
}

MEMORY_TEST(history_of_customer_service)
{
    go_through_history(fixture, "data/adk-samples/customer_service.session.json");
}

MEMORY_TEST(history_of_image_search)
{
    go_through_history(fixture, "data/adk-samples/image_search_denim_skirt.session.json");
}
