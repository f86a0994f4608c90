/* The id and the timestamp that the store makes where an event has none, or null. */
#include "support.h"

#include <cjson/cJSON.h>

static const ses_key key = {"app", "user", "session"};

static void assert_uuid_7(const char *id)
{
    static const char pattern[] = "xxxxxxxx-xxxx-7xxx-yxxx-xxxxxxxxxxxx";

    assert_int_equal(strlen(id), sizeof pattern - 1);
    for (size_t i = 0; i < sizeof pattern - 1; i++) {
        const char *allowed = "0123456789abcdef";
        char single[2] = {pattern[i], '\0'};
        if (pattern[i] == 'y')
            allowed = "89ab"; /* the variant of RFC 9562 */
        else if (pattern[i] != 'x')
            allowed = single;
        assert_non_null(strchr(allowed, id[i]));
    }
}

static int64_t milliseconds_of(const char *uuid)
{
    char digits[13];
    memcpy(digits, uuid, 8);
    memcpy(digits + 8, uuid + 9, 4);
    digits[12] = '\0';
    return (int64_t)strtoll(digits, NULL, 16);
}

/* How many members of that name the event has itself. */
static int count_members(const cJSON *event, const char *name)
{
    int count = 0;
    const cJSON *member = NULL;
    cJSON_ArrayForEach(member, event)
    {
        count += strcmp(member->string, name) == 0;
    }
    return count;
}

/* Both stand in the stored event once, and mean what the row says. */
static void assert_id_and_time_stand_in(const ses_event *event)
{
    cJSON *json = cJSON_ParseWithLength(event->json, event->json_len);

    assert_non_null(json);
    assert_int_equal(count_members(json, "id"), 1);
    assert_int_equal(count_members(json, "timestamp"), 1);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "id")), event->id);
    assert_true(cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(json, "timestamp")));
    cJSON_Delete(json);
}

/* Another session that is given the stored bytes understands the same id and time, and adds nothing. */
static void assert_reads_as_itself(struct fixture *fixture, const ses_event *event)
{
    const ses_key copy_key = {"app", "user", "copy"};
    ses_session *copy = must_open_new(fixture->store, &copy_key, NULL);
    ses_error error;

    assert_ok(ses_append(copy, event->json, event->json_len, NULL, NULL, &error));
    const ses_event *read = ses_session_event(copy, 0);
    assert_non_null(read);
    assert_string_equal(read->id, event->id);
    assert_int_equal(read->time_us, event->time_us);
    assert_string_equal(read->json, event->json);
    ses_session_close(copy);
    must_delete(fixture->store, &copy_key);
}

/* Appends the event; what was made must be in `appended`, in the handle and in the file. Returns the bytes.
 */
static char *append_and_check(struct fixture *fixture, const char *event, int makes_id, int makes_time)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_appended appended;
    ses_error error;

    assert_ok(ses_append(session, event, SES_NUL, NULL, &appended, &error));
    const ses_event *kept = ses_session_event(session, 0);
    assert_non_null(kept);
    assert_int_equal(appended.status, SES_OK);
    if (makes_id) {
        assert_uuid_7(kept->id);
        assert_string_equal(appended.made_id, kept->id);
    } else {
        assert_string_equal(kept->id, "given");
        assert_string_equal(appended.made_id, "");
    }
    assert_int_equal(kept->time_us, makes_time ? fixture->now : 7000000);
    assert_int_equal(appended.time_us, kept->time_us);
    assert_id_and_time_stand_in(kept);
    assert_reads_as_itself(fixture, kept);

    ses_session *stored = must_get(fixture->store, &key);
    assert_string_equal(ses_session_event(stored, 0)->json, kept->json);
    assert_string_equal(ses_session_event(stored, 0)->id, kept->id);
    assert_int_equal(ses_session_event(stored, 0)->time_us, kept->time_us);
    char *json = strdup(kept->json);
    assert_non_null(json);
    ses_session_close(session);
    ses_session_close(stored);
    must_delete(fixture->store, &key);
    return json;
}

static cJSON *parse_rest(const char *event)
{
    cJSON *json = cJSON_Parse(event);
    assert_non_null(json);
    cJSON_DeleteItemFromObjectCaseSensitive(json, "id");
    cJSON_DeleteItemFromObjectCaseSensitive(json, "timestamp");
    return json;
}

/* Nothing but the id and the timestamp has come or gone. */
static void assert_rest_is_the_same(const char *given, const char *stored)
{
    cJSON *before = parse_rest(given);
    cJSON *after = parse_rest(stored);
    assert_true(cJSON_Compare(before, after, 1));
    assert_int_equal(cJSON_GetArraySize(before), cJSON_GetArraySize(after));
    cJSON_Delete(before);
    cJSON_Delete(after);
}

MEMORY_TEST(missing_members_are_added_at_the_front)
{
    static const struct {
        const char *event;
        int makes_id;
        int makes_time;
        const char *begin; /* how the stored event begins and ends */
        const char *end;
    } cases[] = {
        {"{}", 1, 1, "{", "}"},
        {"{ }", 1, 1, "{", " }"},
        {"{'author':'a'}", 1, 1, "{", ",\"author\":\"a\"}"},
        {"\n{ 'author' : 'a'\t}\r\n", 1, 1, "\n{", " \"author\" : \"a\"\t}\r\n"},
        {"{'id':'given'}", 0, 1, "{", ",\"id\":\"given\"}"},
        {"{'author':'a','i\\u0064':'giv\\u0065n'}", 0, 1, "{",
         ",\"author\":\"a\",\"i\\u0064\":\"giv\\u0065n\"}"},
        {"{'timestamp':7}", 1, 0, "{", ",\"timestamp\":7}"},
        {"{'x':{'id':'no','timestamp':1.10},'timestamp':7.000}", 1, 0, "{",
         ",\"x\":{\"id\":\"no\",\"timestamp\":1.10},\"timestamp\":7.000}"},
        {"{'content':9007199254740993,'content':1e400}", 1, 1, "{",
         ",\"content\":9007199254740993,\"content\":1e400}"},
    };

    fixture->now = INT64_C(1700000000123456);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *json = append_and_check(fixture, Q(cases[i].event), cases[i].makes_id, cases[i].makes_time);
        size_t begin_len = strlen(cases[i].begin);
        size_t end_len = strlen(cases[i].end);
        assert_true(strlen(json) >= begin_len + end_len);
        assert_memory_equal(json, cases[i].begin, begin_len);
        assert_string_equal(json + strlen(json) - end_len, cases[i].end);
        assert_rest_is_the_same(Q(cases[i].event), json);
        free(json);
    }
}

/* A null is replaced where it stands: a second member of that name would be worse. */
MEMORY_TEST(null_members_are_replaced)
{
    static const struct {
        const char *event;
        int makes_id;
        int makes_time;
    } cases[] = {
        {"{'id':null,'timestamp':null}", 1, 1},
        {"{'timestamp' : null ,'author':null, 'id' :null }", 1, 1},
        {"{'id':null}", 1, 1},
        {"{'timestamp':null}", 1, 1},
        {"{'id':null,'timestamp':7}", 1, 0},
        {"{'id':'given','timestamp':null}", 0, 1},
        {"{'x':null,'id':null,'y':[null],'timestamp':null,'z':null}", 1, 1},
    };

    fixture->now = INT64_C(1700000000123456);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *json = append_and_check(fixture, Q(cases[i].event), cases[i].makes_id, cases[i].makes_time);
        assert_rest_is_the_same(Q(cases[i].event), json);
        free(json);
    }
}

/* The stored number is the time the clock gave, to the microsecond. */
MEMORY_TEST(the_clock_is_written_exactly)
{
    static const int64_t times[] = {
        0,
        1,
        -1,
        999999,
        1000000,
        -1000000,
        -1500000,
        INT64_C(1700000000000000),
        INT64_C(1700000000000001),
        INT64_C(1741218414968405),
        INT64_C(-62167219200000000),
        INT64_C(99999999999999999),
    };

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        fixture->now = times[i];
        free(append_and_check(fixture, "{}", 1, 1));
    }
}

/* From 1e11 seconds on, in the year 5138, a number would be read as milliseconds. */
MEMORY_TEST(the_clock_is_written_exactly_in_the_far_future)
{
    static const int64_t times[] = {
        INT64_C(100000000000000000),
        INT64_C(100000000000000001),
        INT64_C(253402300799999999),
    };

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        fixture->now = times[i];
        free(append_and_check(fixture, Q("{'author':'a'}"), 1, 1));
    }
}

/* ----------------------------------------------------------------------------------------------- ids */

MEMORY_TEST(made_ids_ascend_whatever_the_clock_does)
{
    char before[64] = "";

    ses_session *session = must_open_new(fixture->store, &key, NULL);
    for (size_t i = 0; i < 6000;
         i++) { /* more than the 4096 that the counter of one millisecond has room for */
        ses_appended appended;
        if (i == 5000)
            fixture->now -= 3600 * INT64_C(1000000);
        else if (i == 5500)
            fixture->now += 7200 * INT64_C(1000000);
        assert_ok(ses_append(session, "{}", SES_NUL, NULL, &appended, &error));
        assert_uuid_7(appended.made_id);
        if (strcmp(before, appended.made_id) >= 0) {
            print_error("%zu: %s does not come after %s\n", i, appended.made_id, before);
            fail();
        }
        if (i == 0 || i == 5500)
            assert_int_equal(milliseconds_of(appended.made_id), fixture->now / 1000);
        memcpy(before, appended.made_id, sizeof before);
    }
}

MEMORY_TEST(each_event_of_a_batch_gets_its_own_id)
{
    const ses_text events[] = {
        {"{}", SES_NUL}, {Q("{'id':'given'}"), SES_NUL}, {"{}", SES_NUL}, {Q("{'id':null}"), SES_NUL}};
    ses_appended appended[4];
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    assert_ok(ses_append_batch(session, events, 4, NULL, appended, &error));
    assert_string_equal(appended[1].made_id, "");
    assert_true(strcmp(appended[0].made_id, appended[2].made_id) < 0);
    assert_true(strcmp(appended[2].made_id, appended[3].made_id) < 0);
    for (size_t i = 0; i < 4; i++) {
        const ses_event *event = ses_session_event(session, i);
        assert_string_equal(event->id, i == 1 ? "given" : appended[i].made_id);
        assert_int_equal(appended[i].time_us, fixture->now);
        assert_id_and_time_stand_in(event);
    }
}

/* ------------------------------------------------------------------------------------ the caller's ids */

struct id_maker {
    const char *id;
    int result;
    int calls;
};

static int make_id(void *context, char *id, size_t capacity)
{
    struct id_maker *maker = context;
    maker->calls++;
    if (maker->result == 0)
        snprintf(id, capacity, "%s", maker->id);
    return maker->result;
}

static void use_maker(struct fixture *fixture, struct id_maker *maker)
{
    fixture->options.make_id = make_id;
    fixture->options.make_id_context = maker;
    fixture_reopen(fixture);
}

MEMORY_TEST(ids_can_be_made_by_the_caller)
{
    struct id_maker maker = {.id = "mine \"quoted\" \\ \xC3\xA9 \x01"};
    ses_appended appended;

    use_maker(fixture, &maker);
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    assert_ok(ses_append(session, Q("{'id':'given'}"), SES_NUL, NULL, &appended, &error));
    assert_int_equal(maker.calls, 0);
    assert_string_equal(appended.made_id, "");
    assert_ok(ses_append(session, "{}", SES_NUL, NULL, &appended, &error));
    assert_int_equal(maker.calls, 1);
    assert_string_equal(appended.made_id, maker.id);
    assert_string_equal(ses_session_event(session, 1)->id, maker.id);
    assert_id_and_time_stand_in(ses_session_event(session, 1));
    assert_reads_as_itself(fixture, ses_session_event(session, 1));
}

MEMORY_TEST(a_long_made_id_is_not_cut)
{
    char letters[SES_ID_MAX + 1];
    struct id_maker maker = {.id = letters};
    ses_appended appended;

    memset(letters, 'a', SES_ID_MAX);
    letters[SES_ID_MAX] = '\0';
    use_maker(fixture, &maker);
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    assert_ok(ses_append(session, "{}", SES_NUL, NULL, &appended, &error));
    assert_string_equal(ses_session_event(session, 0)->id, letters);
    assert_string_equal(appended.made_id, ""); /* it has no room for it */
    letters[63] = '\0';
    assert_ok(ses_append(session, "{}", SES_NUL, NULL, &appended, &error));
    assert_string_equal(appended.made_id, letters);
    assert_int_equal(strlen(appended.made_id), 63);
}

MEMORY_TEST(an_id_that_cannot_be_made_fails_the_append)
{
    static const struct id_maker makers[] = {
        {.id = "x", .result = 1}, {.id = "x", .result = -1}, {.id = ""}, {.id = "\xFF"}};
    struct id_maker maker = {.id = "x"};

    use_maker(fixture, &maker);
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++) {
        maker = makers[i];
        assert_code(SES_INVALID, ses_append(session, Q("{'actions':{'stateDelta':{'a':1}}}"), SES_NUL, NULL,
                                            NULL, &error));
        assert_int_equal(maker.calls, 1);
    }
    must_refresh(session);
    assert_int_equal(ses_session_version(session), 0);
    assert_string_equal(support_state(session, NULL), "{}");
}
