/* The fields of an event that the store reads: their spellings, types and what is refused. */
#include "support.h"

#include <ctype.h>

static const ses_key key = {"app", "user", "session"};

/* ------------------------------------------------------------------------------------------- reading */

static const struct {
    const char *event; /* with a timestamp, so that it is stored as it is */
    const char *id;
    const char *invocation_id;
    const char *author;
    const char *branch;
} read_cases[] = {
    {"{'id':'0','timestamp':1,'invocationId':'inv','author':'me','branch':'a.b'}", "0", "inv", "me", "a.b"},
    {"{'id':'1','timestamp':1,'invocation_id':'inv','author':'me','branch':'a.b'}", "1", "inv", "me", "a.b"},
    {"{'branch':'b','author':'a','timestamp':1,'invocationId':'i','id':'2'}", "2", "i", "a", "b"},
    {"{'id':'3','timestamp':1}", "3", "", "", NULL},
    {"{'id':'4','timestamp':1,'invocationId':null,'author':null,'branch':null}", "4", "", "", NULL},
    {"{'id':'5','timestamp':1,'invocation_id' : null ,'partial':null,'actions':null}", "5", "", "", NULL},
    {"{'id':'6','timestamp':1,'invocationId':'','author':'','branch':''}", "6", "", "", ""},
    /* Names are compared as texts, so their spelling does not matter ... */
    {"{'\\u0069d':'7','time\\u0073tamp':1,'invocation\\u0049d':'i',"
     "'\\u0061uthor':'a','branc\\u0068':'b'}",
     "7", "i", "a", "b"},
    {"{'\\u0069\\u0064':'8','timestamp':1,'invocation\\u005fid':'i','author':'a'}", "8", "i", "a", NULL},
    /* ... and case does. */
    {"{'id':'9','timestamp':1,'ID':1,'Author':2,'invocationID':3,'Branch':5}", "9", "", "", NULL},
    {"{'id':'10','timestamp':1,'id ':1,'authors':2,'invocation-id':3,'bra':4,'':5}", "10", "", "", NULL},
    /* Values are decoded. */
    {"{'id':'\\u0031\\u0031','timestamp':1,'invocationId':'\\/\\'\\\\',"
     "'author':'\\b\\f\\n\\r\\t','branch':'\\u00e9'}",
     "11", "/\"\\", "\b\f\n\r\t", "\xC3\xA9"},
    {"{'id':'12 \\uD83D\\uDE00','timestamp':1,'author':'\xC3\xA9\xF0\x9F\x98\x80'}", "12 \xF0\x9F\x98\x80",
     "", "\xC3\xA9\xF0\x9F\x98\x80", NULL},
    {"{'id':' 13 ','timestamp':1,'author':' a '}", " 13 ", "", " a ", NULL},
    /* Only the event's own members are its fields. */
    {"{'id':'14','timestamp':1,'content':{'author':'no','id':1,'branch':[]},"
     "'actions':{'id':[],'author':1,'invocationId':2,'timestamp':{},'partial':1,'actions':1}}",
     "14", "", "", NULL},
    {"{'id':'15','timestamp':1,'actions':{}}", "15", "", "", NULL},
    {"{'id':'16','timestamp':1,'actions':{'stateDelta':null}}", "16", "", "", NULL},
    {"{'id':'17','timestamp':1,'actions':{'state_delta':{}}}", "17", "", "", NULL},
    {"{'id':'18','timestamp':1,'partial':false}", "18", "", "", NULL},
    /* At the top a delta is an unknown member, in whatever type; so is a spelling that no field has. */
    {"{'id':'19','timestamp':1,'stateDelta':[],'state_delta':1,'time_stamp':true}", "19", "", "", NULL},
};

enum { READ_COUNT = sizeof read_cases / sizeof read_cases[0] };

static void assert_read(const ses_event *event, size_t index)
{
    assert_non_null(event);
    assert_string_equal(event->id, read_cases[index].id);
    assert_string_equal(event->invocation_id, read_cases[index].invocation_id);
    assert_string_equal(event->author, read_cases[index].author);
    if (read_cases[index].branch)
        assert_non_null(event->branch);
    if (event->branch) {
        assert_non_null(read_cases[index].branch);
        assert_string_equal(event->branch, read_cases[index].branch);
    }
    assert_int_equal(event->time_us, 1000000);
    assert_int_equal(event->seq, index + 1);
    assert_string_equal(event->json, Q(read_cases[index].event));
    assert_int_equal(event->json_len, strlen(Q(read_cases[index].event)));
}

TEST(fields_are_read_in_both_spellings)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_cursor *cursor = NULL;
    const ses_event *event = NULL;

    for (size_t i = 0; i < READ_COUNT; i++) {
        must_append(session, Q(read_cases[i].event));
        assert_read(ses_session_event(session, i), i);
    }
    assert_string_equal(support_state(session, NULL), "{}");
    ses_session_close(session);
    fixture_reopen(fixture);
    session = must_get(fixture->store, &key);
    assert_ok(ses_cursor_open(fixture->store, &key, NULL, &cursor, &error));
    for (size_t i = 0; i < READ_COUNT; i++) {
        assert_read(ses_session_event(session, i), i);
        assert_code(SES_ROW, ses_cursor_next(cursor, &event, &error));
        assert_read(event, i);
    }
    assert_ok(ses_cursor_close(cursor, &error));
    ses_session_close(session);
}

MEMORY_TEST(deltas_are_read_in_both_spellings)
{
    static const char *const events[] = {
        "{'actions':{'stateDelta':{'a':0}}}",
        "{'actions':{'state_delta':{'a':1}}}",
        "{'\\u0061ctions':{'state\\u0044elta':{'a':2}}}",
        "{'actions':{'state\\u005fdelta':{'a':3}}}",
        "{'actions':{'x':{'stateDelta':{'a':0}},'stateDelta':{'a':4},'y':{'stateDelta':0}}}",
    };
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    int64_t value = -1;

    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        must_append(session, Q(events[i]));
        assert_ok(ses_state_get_int64(session, "a", &value, &error));
        assert_int_equal(value, i);
        assert_int_equal(ses_state_count(session), 1);
    }
}

/* ------------------------------------------------------------------------------------------ refusing */

struct refused {
    const char *event;
    const char *field; /* that the message must name; the part that two spellings share */
};

/* The message has the field as a word of its own: "invalid" does not name the id. */
static void assert_names(const ses_error *error, const char *field)
{
    int named = 0;
    for (const char *p = strstr(error->message, field); p && !named; p = strstr(p + 1, field)) {
        int begins = p == error->message || (!isalnum((unsigned char)p[-1]) && p[-1] != '_');
        named = begins && !islower((unsigned char)p[strlen(field)]);
    }
    if (!named) {
        print_error("the message \"%s\" does not name %s\n", error->message, field);
        fail();
    }
}

static const struct refused both_spellings[] = {
    {"{'invocationId':'a','invocation_id':'a'}", "invocation"},
    {"{'invocation_id':'a','author':'x','invocationId':'b'}", "invocation"},
    {"{'invocation_id':'a','invocation\\u0049d':'a'}", "invocation"},
    {"{'actions':{'stateDelta':{},'state_delta':{}}}", "state"},
    {"{'actions':{'state_delta':{'a':1},'x':1,'stateDelta':{'a':1}}}", "state"},
    {"{'actions':{'state\\u005fdelta':{},'stateDelta':{}}}", "state"},
};

static const struct refused twice[] = {
    {"{'id':'a','id':'a'}", "id"},
    {"{'id':'a','author':'x','\\u0069d':'b'}", "id"},
    {"{'invocationId':'a','invocationId':'a'}", "invocationId"},
    {"{'invocation_id':'a','invocation_id':'a'}", "invocation_id"},
    {"{'author':'a','author':'a'}", "author"},
    {"{'branch':'a','branch':'a'}", "branch"},
    {"{'timestamp':1,'timestamp':1}", "timestamp"},
    {"{'partial':false,'partial':false}", "partial"},
    {"{'partial':false,'partial':true}", "partial"},
    {"{'actions':{},'actions':{}}", "actions"},
    {"{'actions':{'stateDelta':{'a':1}},'actions':{'stateDelta':{'b':1}}}", "actions"},
    {"{'actions':{'stateDelta':{},'stateDelta':{}}}", "stateDelta"},
    {"{'actions':{'state_delta':{},'state_delta':{}}}", "state_delta"},
};

static void assert_events_refused(struct fixture *fixture, const struct refused *cases, size_t count)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    ses_error error;

    for (size_t i = 0; i < count; i++) {
        const ses_text batch[] = {{Q(cases[i].event), SES_NUL}};
        assert_code(SES_INVALID, ses_append(session, Q(cases[i].event), SES_NUL, NULL, NULL, &error));
        assert_names(&error, cases[i].field);
        assert_code(SES_INVALID,
                    ses_append_by_key(fixture->store, &key, Q(cases[i].event), SES_NUL, NULL, NULL, &error));
        assert_names(&error, cases[i].field);
        assert_code(SES_INVALID, ses_append_batch(session, batch, 1, NULL, NULL, &error));
        assert_names(&error, cases[i].field);
    }
    must_refresh(session);
    assert_int_equal(ses_session_version(session), 0);
    assert_int_equal(ses_session_event_count(session), 0);
    assert_string_equal(support_state(session, NULL), "{}");
    ses_session_close(session);
}

MEMORY_TEST(both_spellings_at_once_are_invalid)
{
    assert_events_refused(fixture, both_spellings, sizeof both_spellings / sizeof both_spellings[0]);
}

MEMORY_TEST(a_field_that_stands_twice_is_invalid)
{
    assert_events_refused(fixture, twice, sizeof twice / sizeof twice[0]);
}

/* The field with each value that is of another type than it must be. */
MEMORY_TEST(wrong_types_are_invalid_and_name_the_field)
{
    static const struct {
        const char *format;
        const char *field;
        const char *good_types; /* letters of the values below that are not wrong here */
    } fields[] = {
        {"{'id':%s}", "id", "s"},
        {"{'invocationId':%s}", "invocationId", "s"},
        {"{'invocation_id':%s}", "invocation_id", "s"},
        {"{'author':%s}", "author", "s"},
        {"{'branch':%s}", "branch", "s"},
        {"{'timestamp':%s}", "timestamp", "n"},
        {"{'partial':%s}", "partial", "b"},
        {"{'actions':%s}", "actions", "o"},
        {"{'actions':{'stateDelta':%s}}", "stateDelta", "o"},
        {"{'actions':{'state_delta':%s}}", "state_delta", "o"},
    };
    static const struct {
        char type;
        const char *value;
    } values[] = {
        {'s', "\"\""}, {'s', "\"true\""}, {'s', "\"{}\""}, {'n', "0"},    {'n', "1"},  {'n', "-1.5e3"},
        {'b', "true"}, {'b', "false"},    {'a', "[]"},     {'a', "[{}]"}, {'o', "{}"}, {'o', "{'a':1}"},
    };
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    char event[128];

    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        for (size_t j = 0; j < sizeof values / sizeof values[0]; j++) {
            if (strchr(fields[i].good_types, values[j].type))
                continue;
            snprintf(event, sizeof event, Q(fields[i].format), Q(values[j].value));
            assert_code(SES_INVALID, ses_append(session, event, SES_NUL, NULL, NULL, &error));
            assert_names(&error, fields[i].field);
            assert_code(SES_INVALID,
                        ses_append_by_key(fixture->store, &key, event, SES_NUL, NULL, NULL, &error));
            assert_names(&error, fields[i].field);
        }
    }
    must_refresh(session);
    assert_int_equal(ses_session_version(session), 0);
    assert_string_equal(support_state(session, NULL), "{}");
}

/* An id follows the rules of all ids; the other texts go out as C strings, which a NUL would cut. */
MEMORY_TEST(texts_that_cannot_be_kept_are_invalid)
{
    static const struct refused cases[] = {
        {"{'id':''}", "id"},
        {"{'id':'a\\u0000b'}", "id"},
        {"{'id':'\\ud800'}", "id"},
        {"{'id':'\\udc00\\ud800'}", "id"},
        {"{'author':'a\\u0000b'}", "author"},
        {"{'invocationId':'\\u0000'}", "invocationId"},
        {"{'invocation_id':'\\ud800x'}", "invocation_id"},
        {"{'branch':'a\\u0000'}", "branch"},
    };
    assert_events_refused(fixture, cases, sizeof cases / sizeof cases[0]);
}

MEMORY_TEST(an_id_has_at_most_512_bytes)
{
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    char letters[SES_ID_MAX + 2];
    char event[SES_ID_MAX * 6 + 64];

    memset(letters, 'a', sizeof letters);
    letters[SES_ID_MAX + 1] = '\0';
    snprintf(event, sizeof event, "{\"id\":\"%s\"}", letters);
    assert_code(SES_INVALID, ses_append(session, event, SES_NUL, NULL, NULL, &error));
    assert_names(&error, "id");
    letters[SES_ID_MAX] = '\0';
    snprintf(event, sizeof event, "{\"id\":\"%s\"}", letters);
    must_append(session, event);
    assert_string_equal(ses_session_event(session, 0)->id, letters);
    /* The bytes of the text count, not those of its spelling. */
    char *to = stpcpy(event, "{\"id\":\"");
    for (size_t i = 0; i < SES_ID_MAX; i++) {
        to = stpcpy(to, "\\u0062");
        letters[i] = 'b';
    }
    (void)stpcpy(to, "\"}");
    must_append(session, event);
    assert_string_equal(ses_session_event(session, 1)->id, letters);
    assert_int_equal(ses_session_stored(session), 2);
}

/* ------------------------------------------------------------------------------------------- partial */

MEMORY_TEST(a_partial_event_is_neither_stored_nor_applied)
{
    static const char *const events[] = {
        "{'partial':true}",
        "{'id':'e','timestamp':1800000000,'partial':true,'actions':{'stateDelta':{'app:a':1}}}",
        "{'actions':{'stateDelta':{'user:a':1,'temp:a':1}},'p\\u0061rtial':true}",
        "{'invocationId':'other','partial':true}",
    };
    ses_session *session = must_open_new(fixture->store, &key, NULL);

    assert_ok(ses_append(session, Q("{'invocationId':'i','actions':{'stateDelta':{'temp:t':1}}}"), SES_NUL,
                         NULL, NULL, &error));
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        ses_appended appended;
        memset(&appended, 0x55, sizeof appended);
        error.code = SES_IO;
        assert_code(SES_PARTIAL, ses_append(session, Q(events[i]), SES_NUL, NULL, &appended, &error));
        assert_int_equal(error.code, SES_OK);
        assert_string_equal(error.message, "");
        assert_int_equal(appended.status, SES_PARTIAL);
        assert_int_equal(appended.seq, 0);
        assert_int_equal(appended.version, 0);
        assert_int_equal(appended.time_us, 0);
        assert_string_equal(appended.made_id, "");
        assert_code(SES_PARTIAL,
                    ses_append_by_key(fixture->store, &key, Q(events[i]), SES_NUL, NULL, NULL, &error));
        assert_string_equal(support_state(session, NULL), Q("{'temp:t':1}"));
        assert_int_equal(ses_session_version(session), 1);
    }
    must_refresh(session);
    assert_int_equal(ses_session_version(session), 1);
    assert_int_equal(ses_session_event_count(session), 1);
    assert_int_equal(ses_session_updated_us(session), fixture->now);
    assert_string_equal(support_state(session, NULL), Q("{'temp:t':1}"));
    /* Its id is free: the whole event that follows has the same one. */
    must_append(session, Q("{'id':'e','partial':false}"));
}

/* An invalid event is refused if it is partial, too. */
MEMORY_TEST(a_partial_event_is_checked)
{
    static const struct refused cases[] = {
        {"{'partial':true,'id':5}", "id"},
        {"{'partial':true,'actions':{'stateDelta':[]}}", "stateDelta"},
        {"{'author':[],'partial':true}", "author"},
        {"{'partial':true,'timestamp':'today'}", "timestamp"},
    };
    assert_events_refused(fixture, cases, sizeof cases / sizeof cases[0]);
}
