/* An event from the text that came to the row that is stored, without a store. */
#include "model/event/event.h"

#include "random.h"

#define TOMBSTONE_JSON "'" TOMBSTONE "'"
#define TIME "1741218414.968405"

static const int64_t now_us = INT64_C(1741218414968405);

static struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

static void assert_span(struct span span, const char *expected)
{
    assert_int_equal(span.len, strlen(expected));
    assert_memory_equal(span.ptr, expected, span.len);
}

/* A draft, and the changes beside it. */
struct reading {
    ses_allocator allocator;
    struct event_draft draft;
    struct changes extras;
};

/* `beside` NULL: none. */
static int read_event(struct reading *reading, const char *text, const char *beside, ses_error *error)
{
    ses__memory_default(&reading->allocator);
    ses__event_draft_init(&reading->draft, &reading->allocator);
    ses__changes_init(&reading->extras, &reading->allocator);
    if (beside) {
        assert_int_equal(
            ses__delta_read_text(span_of(beside), 0, &reading->extras.arena, &reading->extras.delta, error),
            SES_OK);
        assert_int_equal(ses__changes_settle(&reading->extras, error), SES_OK);
    }
    reading->draft.extras = &reading->extras;
    return ses__event_read(&reading->draft, span_of(text), error);
}

static void reading_end(struct reading *reading)
{
    ses__event_draft_free(&reading->draft);
    ses__changes_free(&reading->extras);
}

/* Reads it, and seals it with the id "made" and the time `now_us` where it has none of its own. */
static void seal_event(struct reading *reading, const char *text, const char *beside)
{
    ses_error error;

    assert_ok(read_event(reading, text, beside, &error));
    if (!reading->draft.has_id)
        reading->draft.row.id = span_of("made");
    if (!reading->draft.has_time)
        reading->draft.row.time_us = now_us;
    assert_ok(ses__event_seal(&reading->draft, &error));
    assert_ok(ses__json_check(reading->draft.row.body.ptr, reading->draft.row.body.len, &error));
}

/* ------------------------------------------------------------------------------------------ envelope */

PLAIN_TEST(the_envelope_is_read)
{
    static const char *const texts[] = {
        "{'id':'e','timestamp':1.5,'invocationId':'i','author':'a','branch':'b','partial':false}",
        " { 'branch' : 'b' , 'partial' : null , 'author' : '\\u0061' , 'invocation_id' : 'i' , 'actions' : "
        "null , "
        "'timestamp' : '1970-01-01T00:00:01.5Z' , 'id' : 'e' } ",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct reading reading;
        assert_ok(read_event(&reading, Q(texts[i]), NULL, &error));
        assert_true(reading.draft.has_id && reading.draft.has_time);
        assert_false(reading.draft.partial);
        assert_span(reading.draft.row.id, "e");
        assert_span(reading.draft.row.invocation_id, "i");
        assert_span(reading.draft.row.author, "a");
        assert_span(reading.draft.row.branch, "b");
        assert_int_equal(reading.draft.row.time_us, 1500000);
        reading_end(&reading);
    }
}

PLAIN_TEST(members_that_an_event_lacks)
{
    static const char *const texts[] = {"{}", "{'content':{'id':'not this'}}",
                                        "{'id':null,'timestamp':null,'branch':null,'author':null}"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct reading reading;
        assert_ok(read_event(&reading, Q(texts[i]), NULL, &error));
        assert_false(reading.draft.has_id || reading.draft.has_time || reading.draft.partial);
        assert_span(reading.draft.row.invocation_id, "");
        assert_span(reading.draft.row.author, "");
        assert_null(reading.draft.row.branch.ptr);
        assert_int_equal(reading.draft.delta.count, 0);
        reading_end(&reading);
    }
}

PLAIN_TEST(events_that_are_refused)
{
    static const struct {
        const char *text;
        int code;
        int64_t offset;
        const char *words;
    } cases[] = {
        {"[]", SES_INVALID, 0, "an event must be a JSON object"},
        {"{'id':7}", SES_INVALID, 6, "the event's id must be a string"},
        {"{'id':''}", SES_INVALID, 6, "1 to 512 bytes"},
        {"{'author':'\\u0000'}", SES_INVALID, 10, "author must be text without NULs"},
        {"{'branch':'\\uD800'}", SES_INVALID, 10, "lone surrogates"},
        {"{'timestamp':true}", SES_INVALID, 13, "a number of seconds or RFC 3339 text"},
        {"{'timestamp':'soon'}", SES_INVALID, 13, "is not RFC 3339"},
        {"{'timestamp':1e300}", SES_INVALID, 13, "outside the years"},
        {"{'partial':1}", SES_INVALID, 11, "partial must be true or false"},
        {"{'actions':[]}", SES_INVALID, 11, "actions must be an object"},
        {"{'actions':{'stateDelta':[]}}", SES_INVALID, 25, "actions.stateDelta must be an object"},
        {"{'actions':{'stateDelta':{},'state_delta':{}}}", SES_INVALID, 28, "both"},
        {"{'id':'a','id':'a'}", SES_INVALID, 10, "appears twice"},
        {"{'invocationId':'a','invocation_id':'a'}", SES_INVALID, 20, "both"},
        {"{'id':'a'", SES_JSON, 9, "expected , or }"},
        {"{'id':'a'} {}", SES_JSON, 11, "after the JSON value"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reading reading;
        assert_code(cases[i].code, read_event(&reading, Q(cases[i].text), NULL, &error));
        assert_int_equal(error.offset, cases[i].offset);
        assert_message(cases[i].words);
        reading_end(&reading);
    }
}

/* ----------------------------------------------------------------------------------------- what is stored */

static const struct {
    const char *text;
    const char *beside;
    const char *body;
} sealed[] = {
    /* id and time, at the front or in place of a null */
    {"{}", NULL, "{'timestamp':" TIME ",'id':'made'}"},
    {"{'author':'a'}", NULL, "{'timestamp':" TIME ",'id':'made','author':'a'}"},
    {" { 'author':'a' } ", NULL, " {'timestamp':" TIME ",'id':'made', 'author':'a' } "},
    {"{'id':'e'}", NULL, "{'timestamp':" TIME ",'id':'e'}"},
    {"{'timestamp':1}", NULL, "{'id':'made','timestamp':1}"},
    {"{'id':null}", NULL, "{'timestamp':" TIME ",'id':'made'}"},
    {"{'timestamp' : null , 'id' : null }", NULL, "{'timestamp' : " TIME " , 'id' : 'made' }"},
    /* temp: keys are cut out */
    {"{'id':'e','timestamp':1,'actions':{'stateDelta':{'temp:t':1,'a':1,'temp:u':2}}}", NULL,
     "{'id':'e','timestamp':1,'actions':{'stateDelta':{'a':1}}}"},
    /* changes beside it go into its delta, which is made where there is none */
    {"{}", "{'x':1}", "{'timestamp':" TIME ",'id':'made','actions':{'stateDelta':{'x':1}}}"},
    {"{'id':'e','timestamp':1}", "{'x':1}", "{'id':'e','timestamp':1,'actions':{'stateDelta':{'x':1}}}"},
    {"{'id':'e','timestamp':1 } ", "{'x':1}", "{'id':'e','timestamp':1 ,'actions':{'stateDelta':{'x':1}}} "},
    {"{'id':'e','timestamp':1,'actions':null}", "{'x':1}",
     "{'id':'e','timestamp':1,'actions':{'stateDelta':{'x':1}}}"},
    {"{'id':'e','timestamp':1,'actions':{}}", "{'x':1}",
     "{'id':'e','timestamp':1,'actions':{'stateDelta':{'x':1}}}"},
    {"{'id':'e','timestamp':1,'actions':{ }}", "{'x':1}",
     "{'id':'e','timestamp':1,'actions':{'stateDelta':{'x':1} }}"},
    {"{'id':'e','timestamp':1,'actions':{'a':1}}", "{'x':1}",
     "{'id':'e','timestamp':1,'actions':{'stateDelta':{'x':1},'a':1}}"},
    {"{'id':'e','timestamp':1,'actions':{'state_delta':null}}", "{'x':1}",
     "{'id':'e','timestamp':1,'actions':{'state_delta':{'x':1}}}"},
    {"{'id':'e','timestamp':1,'actions':{'stateDelta':{'x':0,'y':0}}}", "{'x':1}",
     "{'id':'e','timestamp':1,'actions':{'stateDelta':{'y':0,'x':1}}}"},
    {"{'id':'e','timestamp':1}", "{'temp:x':1}", "{'id':'e','timestamp':1,'actions':{'stateDelta':{}}}"},
    {"{'id':'e','timestamp':1}", "{}", "{'id':'e','timestamp':1}"},
};

PLAIN_TEST(the_stored_text)
{
    for (size_t i = 0; i < sizeof sealed / sizeof sealed[0]; i++) {
        struct reading reading;
        char body[512];
        seal_event(&reading, Q(sealed[i].text), sealed[i].beside ? Q(sealed[i].beside) : NULL);
        assert_in_range(reading.draft.row.body.len, 1, sizeof body - 1);
        memcpy(body, reading.draft.row.body.ptr, reading.draft.row.body.len);
        body[reading.draft.row.body.len] = '\0';
        assert_string_equal(body, Q(sealed[i].body));
        reading_end(&reading);
    }
}

PLAIN_TEST(a_complete_event_is_not_copied)
{
    static const char text[] = "{\"id\":\"e\",\"timestamp\":1,\"actions\":{\"stateDelta\":{\"a\":1}}}";
    struct reading reading;

    seal_event(&reading, text, NULL);
    assert_ptr_equal(reading.draft.row.body.ptr, text);
    reading_end(&reading);
}

PLAIN_TEST(a_made_id_is_escaped)
{
    struct reading reading;

    assert_ok(read_event(&reading, Q("{'timestamp':1}"), NULL, &error));
    reading.draft.row.id = span_of(Q("'\\\n"));
    assert_ok(ses__event_seal(&reading.draft, &error));
    assert_span(reading.draft.row.body, "{\"id\":\"\\\"\\\\\\n\",\"timestamp\":1}");
    reading_end(&reading);
}

/* Changes beside the event win over those inside it, also in the operations. */
PLAIN_TEST(operations_beside_the_event_come_last)
{
    struct reading reading;

    assert_ok(read_event(&reading, Q("{'actions':{'stateDelta':{'a':1,'b':1,'temp:t':1}}}"),
                         Q("{'a':2,'temp:t':2,'app:c':" TOMBSTONE_JSON "}"), &error));
    assert_int_equal(reading.draft.delta.count, 4);
    assert_span(reading.draft.delta.ops[0].name, "b");
    assert_span(reading.draft.delta.ops[1].name, "a");
    assert_span(reading.draft.delta.ops[1].value, "2");
    assert_span(reading.draft.delta.ops[2].name, "temp:t");
    assert_true(reading.draft.delta.ops[3].removes);
    reading_end(&reading);
}

/* ------------------------------------------------------------------------------------------- retries */

static void assert_same(const char *text, const char *beside, const struct event_row *stored, int expected)
{
    struct reading again;
    ses_error error;

    seal_event(&again, text, beside);
    if (!again.draft.has_time) { /* a later try */
        again.draft.row.time_us += 5000000;
        assert_ok(ses__event_seal(&again.draft, &error));
    }
    assert_int_equal(ses__event_is(&again.draft, stored, &error), expected);
    reading_end(&again);
}

PLAIN_TEST(an_event_is_known_again)
{
    for (size_t i = 0; i < sizeof sealed / sizeof sealed[0]; i++) {
        const char *beside = sealed[i].beside ? Q(sealed[i].beside) : NULL;
        struct reading stored;
        seal_event(&stored, Q(sealed[i].text), beside);
        assert_same(Q(sealed[i].text), beside, &stored.draft.row, 1);
        assert_same(Q("{'timestamp':" TIME ",'id':'made','author':'another'}"), NULL, &stored.draft.row, 0);
        reading_end(&stored);
    }
}

/* Sent again with the id that was made, in front, and another time. */
PLAIN_TEST(an_event_is_known_again_by_its_made_id)
{
    static const char *const texts[][2] = {{"{}", "{'id':'made'}"},
                                           {"{'author':'a'}", "{'id':'made','author':'a'}"},
                                           {"{'timestamp':1}", "{'id':'made','timestamp':1}"},
                                           {"{'a':1,'id':null}", "{'a':1,'id':'made'}"}};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct reading stored;
        seal_event(&stored, Q(texts[i][0]), NULL);
        assert_same(Q(texts[i][1]), NULL, &stored.draft.row, 1);
        reading_end(&stored);
    }
}

/* ------------------------------------------------------------------------------------- random events */

/* A random event with random changes beside it; its stored form is JSON, complete, and stored as it is when
 * it is given once more. */
PLAIN_TEST(stored_bytes_stay_as_they_are)
{
    static const char *const fields[] = {
        "\"id\":\"e\"",     "\"id\":null",     "\"timestamp\":1.5",         "\"timestamp\":null",
        "\"author\":\"a\"", "\"branch\":null", "\"content\":{\"parts\":[]}"};
    static const char *const actions[] = {"\"actions\":null",
                                          "\"actions\":{}",
                                          "\"actions\":{\"x\":[1]}",
                                          "\"actions\":{\"stateDelta\":null}",
                                          "\"actions\":{ \"state_delta\" : { } , \"y\":1}",
                                          "\"actions\":{\"stateDelta\":{\"temp:a\":1,\"b\":1,\"app:c\":1}}",
                                          "\"actions\":{\"stateDelta\":{\"b\":1,\"temp:a\":{}}}"};
    static const char *const beside[] = {NULL, "{}", "{'b':2}", "{'temp:a':2}", "{'n':[ ],'b':3,'temp:q':0}"};
    enum { ROUNDS = 5000 };
    uint64_t seed = 8;

    for (int round = 0; round < ROUNDS; round++) {
        char text[512] = "{";
        struct reading reading;
        struct reading again;
        size_t place = random_below(&seed, 6);
        for (size_t i = 0; i < 6; i++) {
            const char *comma = strlen(text) > 1 ? "," : "";
            const char *space = random_below(&seed, 4) == 0 ? " " : "";
            size_t field = random_below(&seed, 4);
            if (i == place)
                sprintf(text + strlen(text), "%s%s%s", comma, space, actions[random_below(&seed, 7)]);
            else if (i == 0 || i == 1)
                sprintf(text + strlen(text), "%s%s%s", comma, space, fields[i * 2 + field % 2]);
            else if (i < 5 && field > 1)
                sprintf(text + strlen(text), "%s%s%s", comma, space, fields[i + 2]);
        }
        strcat(text, random_below(&seed, 2) ? " }" : "}");
        seal_event(&reading, text, Q(beside[random_below(&seed, 5)]));
        char body[1024];
        memcpy(body, reading.draft.row.body.ptr, reading.draft.row.body.len);
        body[reading.draft.row.body.len] = '\0';
        assert_null(strstr(body, "temp:"));
        seal_event(&again, body, NULL);
        assert_ptr_equal(again.draft.row.body.ptr, body);
        assert_int_equal(again.draft.row.time_us, reading.draft.row.time_us);
        assert_int_equal(again.draft.row.id.len, reading.draft.row.id.len);
        reading_end(&again);
        reading_end(&reading);
    }
}
