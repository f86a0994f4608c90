/* State changes that are given beside an event: `delta` of the options. */
#include "session/append.h"

#include <cjson/cJSON.h>

#define EVENT(members) "{\"id\":\"x\",\"timestamp\":1" members "}"
#define DELTA(members) EVENT(",\"actions\":{\"stateDelta\":{" members "},\"x\":[ ]}")

static ses_append_options with_delta(const char *delta)
{
    return (ses_append_options){.size = sizeof(ses_append_options), .delta = delta, .delta_len = SES_NUL};
}

static ses_session *create(struct fixture *fixture)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    return session;
}

static void destroy(struct fixture *fixture, ses_session *session)
{
    ses_error error;
    ses_session_close(session);
    assert_ok(ses_delete_user(fixture->store, key.app, key.user, NULL, NULL, NULL, &error));
}

static void assert_last_event(const ses_session *session, const char *json)
{
    const ses_event *event = ses_session_event(session, ses_session_event_count(session) - 1);
    assert_string_equal(event->json, json);
}

/* ------------------------------------------------------------------------------------------ where they go */

struct placing {
    const char *event;
    const char *delta;
    const char *stored;
};

static void check_placing(struct fixture *fixture, const struct placing *placing)
{
    const ses_append_options options = with_delta(Q(placing->delta));
    ses_session *session = create(fixture);
    ses_error error;

    assert_ok(ses_append_by_key(fixture->store, &key, Q(placing->event), SES_NUL, &options, NULL, &error));
    must_refresh(session);
    assert_last_event(session, Q(placing->stored));
    destroy(fixture, session);
    session = create(fixture);
    assert_ok(ses_append(session, Q(placing->event), SES_NUL, &options, NULL, &error));
    assert_last_event(session, Q(placing->stored));
    assert_handle_is_current(fixture->store, session);
    destroy(fixture, session);
}

MEMORY_TEST(they_are_put_into_the_delta_and_every_other_byte_stays)
{
    static const struct placing cases[] = {
        {EVENT(""), "{}", EVENT("")},
        {EVENT(",'actions':null"), " { } ", EVENT(",'actions':null")},
        {EVENT(""), "{'k':1}", EVENT(",'actions':{'stateDelta':{'k':1}}")},
        {EVENT(" , 'y' : [ ] "), "{'k':1}", EVENT(" , 'y' : [ ] ,'actions':{'stateDelta':{'k':1}}")},
        {EVENT(",'actions': null "), "{'k':1}", EVENT(",'actions': {'stateDelta':{'k':1}} ")},
        {EVENT(",'actions':{}"), "{'k':1}", EVENT(",'actions':{'stateDelta':{'k':1}}")},
        {EVENT(",'actions':{ }"), "{'k':1}", EVENT(",'actions':{'stateDelta':{'k':1} }")},
        {EVENT(",'actions':{ 'x':1}"), "{'k':1}", EVENT(",'actions':{'stateDelta':{'k':1}, 'x':1}")},
        {EVENT(",'actions':{'state_delta':null,'x':1}"), "{'k':1}",
         EVENT(",'actions':{'state_delta':{'k':1},'x':1}")},
        {DELTA(""), "{'k':1}", DELTA("'k':1")},
        {DELTA(" "), "{'k':1}", DELTA(" 'k':1")},
        {DELTA(" 'j' : 1.0 "), "{ 'k' : [ 1 , 2 ] , 'l':1e400}",
         DELTA(" 'j' : 1.0 ,'k':[ 1 , 2 ],'l':1e400")},
        /* Keys are spelled as the library spells strings; of one that appears twice the last counts. */
        {DELTA(""), "{'\\u0061\\u00e9\\n\\/':'\\u0061'}", DELTA("'a\u00e9\\n/':'\\u0061'")},
        {DELTA(""), "{'a':1,'b':2,'\\u0061':3}", DELTA("'b':2,'a':3")},
        /* Keys that both write are cut out of the event's delta. */
        {DELTA("'a':1"), "{'a':2}", DELTA("'a':2")},
        {DELTA(" 'a' : 1 , 'b' : 2 , 'c' : 3 "), "{'a':0}", DELTA(" 'b' : 2 , 'c' : 3 ,'a':0")},
        {DELTA(" 'a' : 1 , 'b' : 2 , 'c' : 3 "), "{'b':0}", DELTA(" 'a' : 1 , 'c' : 3 ,'b':0")},
        {DELTA(" 'a' : 1 , 'b' : 2 , 'c' : 3 "), "{'c':0}", DELTA(" 'a' : 1 , 'b' : 2 , 'c':0")},
        {DELTA(" 'a' : 1 , 'b' : 2 , 'c' : 3 "), "{'c':0,'a':0,'b':0}", DELTA(" 'c':0,'a':0,'b':0")},
        {DELTA("'a':1,'\\u0061':2,'a':3,'ab':4"), "{'a':0}", DELTA("'ab':4,'a':0")},
        {DELTA("'user:a':1,'app:a':2,'a':3"), "{'app:a':" REMOVED "}",
         DELTA("'user:a':1,'a':3,'app:a':" REMOVED)},
        /* temp: keys are never stored, whoever writes them. */
        {EVENT(""), "{'temp:k':1}", EVENT(",'actions':{'stateDelta':{}}")},
        {DELTA(" 'a' : 1 "), "{'temp:k':1}", DELTA(" 'a' : 1 ")},
        {DELTA("'temp:a':1"), "{'temp:k':1}", DELTA("")},
        {DELTA("'a':1, 'temp:a':1 "), "{'temp:k':1,'b':2}", DELTA("'a':1, 'b':2")},
        {DELTA("'a':1, 'temp:a':1 "), "{'temp:a':2}", DELTA("'a':1 ")},
        {DELTA("'temp:a':1, 'b':1, 'c':1 "), "{'b':2,'temp:b':0}", DELTA("'c':1 ,'b':2")},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_placing(fixture, &cases[i]);
}

/* Members that an event lacks are put in front of those beside it. */
MEMORY_TEST(events_without_id_and_time)
{
    static const struct placing cases[] = {
        {"{}", "{'k':1}", "{%2$s,%1$s,'actions':{'stateDelta':{'k':1}}}"},
        {" { } ", "{'k':1}", " {%2$s,%1$s, 'actions':{'stateDelta':{'k':1}}} "},
        {"{'actions':null}", "{'k':1}", "{%2$s,%1$s,'actions':{'stateDelta':{'k':1}}}"},
        {"{'actions':{'stateDelta':{'k':0}},'id':null,'timestamp':null}", "{'k':1}",
         "{'actions':{'stateDelta':{'k':1}},%1$s,%2$s}"},
        {"{'id':null,'timestamp':null}", "{'k':1}", "{%1$s,%2$s,'actions':{'stateDelta':{'k':1}}}"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ses_append_options options = with_delta(Q(cases[i].delta));
        ses_session *session = create(fixture);
        ses_appended appended;
        char id[100];
        char expected[400];

        fixture->now = 1700000000000000;
        assert_ok(ses_append(session, Q(cases[i].event), SES_NUL, &options, &appended, &error));
        snprintf(id, sizeof id, "\"id\":\"%s\"", appended.made_id);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(expected, sizeof expected, Q(cases[i].stored), id, "\"timestamp\":1700000000.000000");
#pragma GCC diagnostic pop
        assert_last_event(session, expected);
        assert_state(session, Q("{'k':1}"));
        destroy(fixture, session);
    }
}

/* --------------------------------------------------------------------------------------- what they change */

MEMORY_TEST(they_change_the_state_and_win)
{
    const ses_append_options options =
        with_delta(Q("{'user:n':42,'both':'beside','gone':" REMOVED ",'temp:t':[1],'temp:both':'beside'}"));
    ses_session *session = create(fixture);

    must_append(session, Q("{'actions':{'stateDelta':{'gone':1,'both':0}}}"));
    assert_ok(ses_append(session,
                         DELTA("\"gone\":2,\"both\":\"event\",\"own\":1,\"temp:both\":0,\"temp:own\":0"),
                         SES_NUL, &options, NULL, &error));
    assert_state(session, Q("{'user:n':42,'both':'beside','own':1,'temp:both':'beside','temp:"
                            "own':0,'temp:t':[1]}"));
    assert_handle_is_current(fixture->store, session);
    assert_stored_state(fixture->store, &key, Q("{'user:n':42,'both':'beside','own':1}"));
    ses_session_close(session);
}

MEMORY_TEST(a_partial_event_changes_nothing)
{
    const ses_append_options options = with_delta(Q("{'k':1,'temp:t':1}"));
    ses_session *session = create(fixture);

    assert_code(SES_PARTIAL, ses_append(session, Q("{'partial':true}"), SES_NUL, &options, NULL, &error));
    assert_code(SES_PARTIAL, ses_append_by_key(fixture->store, &key, Q("{'partial':true}"), SES_NUL, &options,
                                               NULL, &error));
    assert_state(session, "{}");
    assert_int_equal(ses_session_version(session), 0);
    assert_handle_is_current(fixture->store, session);
    ses_session_close(session);
}

MEMORY_TEST(a_retry_is_a_duplicate_with_the_same_changes_only)
{
    const ses_append_options options = with_delta(Q("{'k':1,'temp:t':1}"));
    const ses_append_options spelled = with_delta(Q("{ '\\u006b' : 1 }"));
    const ses_append_options others = with_delta(Q("{'k':2}"));
    static const char *const events[] = {EVENT(""), "{'id':'no time'}"};
    ses_session *session = create(fixture);
    ses_appended appended;

    for (size_t i = 0; i < 2; i++) {
        assert_ok(ses_append(session, Q(events[i]), SES_NUL, &options, NULL, &error));
        fixture->now += 5000000;
        assert_code(SES_DUPLICATE, ses_append(session, Q(events[i]), SES_NUL, &options, &appended, &error));
        assert_int_equal(appended.seq, i + 1);
        assert_code(SES_DUPLICATE,
                    ses_append_by_key(fixture->store, &key, Q(events[i]), SES_NUL, &spelled, NULL, &error));
        assert_code(SES_EXISTS, ses_append(session, Q(events[i]), SES_NUL, &others, NULL, &error));
        assert_code(SES_EXISTS, ses_append(session, Q(events[i]), SES_NUL, NULL, NULL, &error));
        assert_stored_state(fixture->store, &key, Q("{'k':1}"));
    }
    /* The event as it is stored is the same event. */
    assert_code(SES_DUPLICATE, ses_append(session, EVENT(",\"actions\":{\"stateDelta\":{\"k\":1}}"), SES_NUL,
                                          NULL, NULL, &error));
    ses_session_close(session);
}

/* With `expected`: the two halves of a counter. */
MEMORY_TEST(a_counter_beside_the_event)
{
    ses_append_options options = with_delta(Q("{'user:n':1}"));
    ses_session *session = create(fixture);

    options.expected = "{\"user:n\":" REMOVED "}";
    options.expected_len = SES_NUL;
    assert_ok(ses_append_by_key(fixture->store, &key, "{}", SES_NUL, &options, NULL, &error));
    assert_code(SES_STALE, ses_append_by_key(fixture->store, &key, "{}", SES_NUL, &options, NULL, &error));
    options.expected = "{\"user:n\":1}";
    options.delta = "{\"user:n\":2}";
    assert_ok(ses_append_by_key(fixture->store, &key, "{}", SES_NUL, &options, NULL, &error));
    assert_stored_state(fixture->store, &key, Q("{'user:n':2}"));
    ses_session_close(session);
}

/* The event, the view on it, the options: the later win. */
MEMORY_TEST(the_options_win_over_a_view)
{
    const ses_append_options options = with_delta(Q("{'c':'options','b':'options'}"));
    ses_session *session = create(fixture);
    ses_tracked *tracked = NULL;

    assert_ok(ses_tracked_open(session, NULL, &tracked, &error));
    assert_ok(ses_tracked_append(tracked, EVENT(""), SES_NUL, &options, NULL, &error));
    assert_last_event(session, EVENT(",\"actions\":{\"stateDelta\":{\"c\":\"options\",\"b\":\"options\"}}"));
    assert_ok(ses_tracked_set(tracked, "a", Q("'view'"), SES_NUL, &error));
    assert_ok(ses_tracked_set(tracked, "b", Q("'view'"), SES_NUL, &error));
    assert_ok(ses_tracked_append(
        tracked, Q("{'id':'y','timestamp':1,'actions':{'stateDelta':{'a':0,'b':0,'c':0,'d':0}}}"), SES_NUL,
        &options, NULL, &error));
    assert_last_event(session, Q("{'id':'y','timestamp':1,'actions':{'stateDelta':{'d':0,'a':'view',"
                                 "'c':'options','b':'options'}}}"));
    assert_state(session, Q("{'a':'view','b':'options','c':'options','d':0}"));
    ses_tracked_close(tracked);
    ses_session_close(session);
}

/* ---------------------------------------------------------------------------------------- what is refused */

struct refusal {
    const char *event;
    const char *delta;
    int code;
    int offset;
    const char *words;
};

MEMORY_TEST(a_refused_call_changes_nothing)
{
    static const struct refusal cases[] = {
        {"{}", "", SES_JSON, -1, "append options: `delta`: at byte 0"},
        {"{}", "{'a':1,}", SES_JSON, -1, "`delta`: at byte 7"},
        {"{}", "{'a':1} x", SES_JSON, -1, "`delta`: at byte 8"},
        {"{}", "[]", SES_INVALID, -1, "must be a JSON object"},
        {"{}", "null", SES_INVALID, -1, "must be a JSON object"},
        {"{}", "{'\\ud800':1}", SES_INVALID, -1, "lone surrogate"},
        {"{}", "{'a\\u0000b':1}", SES_INVALID, -1, "NUL"},
        /* In the event: the offset is that of the caller's text. */
        {"{'author':7,'actions':{}}", "{'k':'long enough'}", SES_INVALID, 10,
         "at byte 10: the event's author"},
        {"{'actions':null,'author':7}", "{'k':'long enough'}", SES_INVALID, 25,
         "at byte 25: the event's author"},
        {"{'actions':{'stateDelta':{'a':1}},'timestamp':'x'}", "{'a':'long enough'}", SES_INVALID, 46,
         "at byte 46: the event's timestamp"},
        {"{'actions':{'stateDelta':[]}}", "{'k':1}", SES_INVALID, 25,
         "at byte 25: the event's actions.stateDelta"},
        {"{'actions':{'stateDelta':{'a':1}}", "{'a':1}", SES_JSON, 33, "at byte 33"},
        {"{'actions':{'stateDelta':{'a':tru}}}", "{'a':1}", SES_JSON, 30, "at byte 30"},
    };
    ses_session *session = create(fixture);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ses_append_options options = with_delta(Q(cases[i].delta));
        assert_code(cases[i].code, ses_append(session, Q(cases[i].event), SES_NUL, &options, NULL, &error));
        assert_message(cases[i].words);
        assert_int_equal(error.offset, cases[i].offset);
        assert_code(cases[i].code, ses_append_by_key(fixture->store, &key, Q(cases[i].event), SES_NUL,
                                                     &options, NULL, &error));
    }
    assert_int_equal(ses_session_version(session), 0);
    assert_handle_is_current(fixture->store, session);
    ses_session_close(session);
}

MEMORY_TEST(a_batch_takes_none)
{
    const ses_append_options options = with_delta("{}");
    const ses_text event = {"{}", 2};
    ses_session *session = create(fixture);

    assert_code(SES_MISUSE, ses_append_batch(session, &event, 1, &options, NULL, &error));
    assert_message("`delta` is only for single events");
    assert_code(SES_MISUSE, ses_append_batch_by_key(fixture->store, &key, &event, 0, &options, NULL, &error));
    assert_int_equal(ses_session_version(session), 0);
    ses_session_close(session);
}

/* The event that is stored is one that the store would have accepted. */
TEST(limits_are_those_of_the_whole_event)
{
    enum { DEEPEST = 997, LIMIT = 2000 };
    ses_append_options options = with_delta(NULL);
    char *delta = malloc(3 * LIMIT);
    char *event = malloc(3 * LIMIT);
    ses_session *session;

    for (int depth = DEEPEST; depth <= DEEPEST + 1; depth++) {
        sprintf(delta, "{\"k\":%*s}", 2 * depth, "");
        memset(delta + 5, '[', (size_t)depth);
        memset(delta + 5 + depth, ']', (size_t)depth);
        options.delta = delta;
        session = create(fixture);
        assert_code(depth == DEEPEST ? SES_OK : SES_LIMIT,
                    ses_append(session, "{}", SES_NUL, &options, NULL, &error));
        if (depth == DEEPEST) {
            ses_content *content = NULL;
            const ses_event *stored = ses_session_event(session, 0);
            assert_ok(ses_content_open(fixture->store, stored->json, stored->json_len, &content, &error));
            ses_content_close(content);
        }
        destroy(fixture, session);
    }
    fixture->options.max_event_bytes = LIMIT;
    fixture_reopen(fixture);
    session = create(fixture);
    for (int over = 0; over <= 1; over++) {
        int half = LIMIT / 2;
        sprintf(event, "{\"id\":\"%d\"%*s}", over, half - 10, "");
        sprintf(delta, "{\"k\":%*d}", half + over - 4, 1); /* the space is not kept */
        options.delta = delta;
        assert_code(SES_OK, ses_append(session, event, SES_NUL, &options, NULL, &error));
        sprintf(event, "{\"id\":\"-%d\"%*s}", over, half - 11, "");
        sprintf(delta, "{\"k\":\"%0*d\"}", half + over - 6, 1);
        assert_code(over ? SES_LIMIT : SES_OK, ses_append(session, event, SES_NUL, &options, NULL, &error));
    }
    sprintf(delta, "{\"k\":\"%0*d\"}", LIMIT, 1);
    assert_code(SES_LIMIT, ses_append(session, "{}", SES_NUL, &options, NULL, &error));
    assert_message("delta");
    ses_session_close(session);
    free(event);
    free(delta);
}

/* ------------------------------------------------------------------------------------------- many of them */

enum { NAMES = 6, ROUNDS = 3000 };
static const char *const names[NAMES] = {"a", "b", "ab", "user:a", "temp:a", "temp:b"};
static const char *const spellings[NAMES] = {"\\u0061", "b", "a\\u0062", "user:a", "t\\u0065mp:a", "temp:b"};

static unsigned random_state = 7;

static int pick(int below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (int)((random_state >> 8) % (unsigned)below);
}

static const char *space(void)
{
    static const char *const spaces[] = {"", "", " ", "\n", "\t "};
    return spaces[pick(5)];
}

/* Members with random names, some more than once. `counts` and `last` say what they hold. */
static char *random_members(char *to, int counts[NAMES], int last[NAMES])
{
    const char *comma = "";

    memset(counts, 0, NAMES * sizeof counts[0]);
    for (int n = pick(6); n > 0; n--) {
        int name = pick(NAMES);
        counts[name]++;
        last[name] = pick(1000);
        to += sprintf(to, "%s%s\"%s\"%s:%s%d%s", comma, space(), pick(2) ? names[name] : spellings[name],
                      space(), space(), last[name], space());
        comma = ",";
    }
    *to = '\0';
    return to;
}

static int count_members(const cJSON *delta, const char *name, int *value)
{
    int count = 0;
    const cJSON *member;

    cJSON_ArrayForEach(member, delta)
    {
        if (strcmp(member->string, name) == 0) {
            count++;
            *value = member->valueint;
        }
    }
    return count;
}

MEMORY_TEST(each_key_of_a_merge_has_the_right_value)
{
    ses_session *session = create(fixture);
    char own[600];
    char beside[600];
    char event[800];
    int counts[2][NAMES];
    int last[2][NAMES];

    for (int round = 0; round < ROUNDS; round++) {
        const ses_append_options options = with_delta(beside);
        random_members(own, counts[0], last[0]);
        beside[0] = '{';
        strcpy(random_members(beside + 1, counts[1], last[1]), "}");
        snprintf(event, sizeof event, "{\"id\":\"%d\",\"timestamp\":1,\"actions\":{\"stateDelta\":{%s%s}}}",
                 round, own, space());
        assert_ok(ses_append(session, event, SES_NUL, &options, NULL, &error));
        const ses_event *stored = ses_session_event(session, ses_session_event_count(session) - 1);
        cJSON *tree = cJSON_ParseWithLength(stored->json, stored->json_len);
        assert_non_null(tree);
        const cJSON *delta = cJSON_GetObjectItem(cJSON_GetObjectItem(tree, "actions"), "stateDelta");
        for (int name = 0; name < NAMES; name++) {
            bool is_temp = strncmp(names[name], "temp:", 5) == 0;
            int wins = counts[1][name] > 0;
            int value = -1;
            assert_int_equal(count_members(delta, names[name], &value), is_temp ? 0
                                                                        : wins  ? 1
                                                                                : counts[0][name]);
            if (counts[wins][name] > 0) {
                int64_t shown = -1;
                assert_ok(ses_state_get_int64(session, names[name], &shown, &error));
                assert_int_equal(shown, last[wins][name]);
                assert_true(is_temp || value == last[wins][name]);
            }
        }
        cJSON_Delete(tree);
        assert_code(SES_DUPLICATE, ses_append(session, event, SES_NUL, &options, NULL, &error));
    }
    assert_handle_is_current(fixture->store, session);
    ses_session_close(session);
}

MEMORY_TEST(ten_thousand_changes)
{
    enum { KEYS = 10000 };
    char *text = malloc(KEYS * 20);
    char *at = text;
    ses_session *session = create(fixture);
    ses_append_options options = with_delta(text);
    int64_t value = 0;

    *at++ = '{';
    for (int i = 0; i < KEYS; i++)
        at += sprintf(at, "%s\"%d\":%d", i ? "," : "", i * 7919 % KEYS, i);
    strcpy(at, "}");
    assert_ok(ses_append(session, "{}", SES_NUL, &options, NULL, &error));
    assert_int_equal(ses_state_count(session), KEYS);
    assert_ok(ses_state_get_int64(session, "7919", &value, &error));
    assert_int_equal(value, 1);
    ses_session_close(session);
    free(text);
}
