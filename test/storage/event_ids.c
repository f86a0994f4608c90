/*
 * Ids are kept as places in the event's body, and found by a hash of 32 bits: the ids that come out are still
 * exact.
 */
#include "open.h"

static const ses_key key = {"app", "user", "one"};

/* Three ids of one hash. */
#define FIRST "72a3897"
#define SECOND "23761019"
#define THIRD "8a61f182"

static int ids_setup(void **state)
{
    int failed = fixture_setup(state);
    const struct fixture *fixture = *state;
    must_create(fixture->store, &key, NULL);
    return failed;
}

static int append(const struct fixture *fixture, const char *event, int64_t *seq)
{
    ses_appended appended = {0};
    ses_error error;
    int code = ses_append_by_key(fixture->store, &key, event, SES_NUL, NULL, &appended, &error);
    if (seq)
        *seq = appended.seq;
    return code;
}

static void assert_appended(const struct fixture *fixture, const char *id, int expected, int64_t number)
{
    char event[200];
    int64_t seq = 0;
    snprintf(event, sizeof event, Q("{'id':'%s','author':'a'}"), id);
    assert_int_equal(append(fixture, event, &seq), expected);
    assert_int_equal(seq, number);
}

static void append_all(const struct fixture *fixture)
{
    assert_appended(fixture, FIRST, SES_OK, 1);
    assert_appended(fixture, SECOND, SES_OK, 2);
    assert_appended(fixture, THIRD, SES_OK, 3);
}

/* As what prunes or cuts a log does. */
static void delete_events(const struct fixture *fixture, int first, int last)
{
    char sql[200];
    snprintf(sql, sizeof sql,
             "DELETE FROM events WHERE position & 4294967295 BETWEEN %d AND %d;"
             "UPDATE sessions SET event_count = event_count - %d",
             first, last, last - first + 1);
    raw_exec(fixture->path, sql);
}

TEST_OF(ids_setup, ids_of_one_hash)
{
    append_all(fixture);
    assert_query(fixture->path, "SELECT typeof(id_key) FROM events", "integer\ntext\ntext\n");
    for (int i = 0; i < 2; i++) {
        assert_appended(fixture, FIRST, SES_DUPLICATE, 1);
        assert_appended(fixture, SECOND, SES_DUPLICATE, 2);
        assert_appended(fixture, THIRD, SES_DUPLICATE, 3);
    }
    assert_int_equal(append(fixture, Q("{'id':'" THIRD "'}"), NULL), SES_EXISTS);
    assert_appended(fixture, "another", SES_OK, 4);
    assert_query(fixture->path, "SELECT group_concat(id) FROM event_log",
                 FIRST "," SECOND "," THIRD ",another\n");
}

TEST_OF(ids_setup, ids_of_one_hash_when_the_first_is_gone)
{
    append_all(fixture);
    delete_events(fixture, 1, 1);
    assert_appended(fixture, THIRD, SES_DUPLICATE, 3);
    assert_appended(fixture, SECOND, SES_DUPLICATE, 2);
    assert_int_equal(append(fixture, Q("{'id':'" SECOND "'}"), NULL), SES_EXISTS);
    assert_appended(fixture, FIRST, SES_OK, 4);
    assert_appended(fixture, FIRST, SES_DUPLICATE, 4);
    assert_appended(fixture, SECOND, SES_DUPLICATE, 2);
    assert_appended(fixture, "another", SES_OK, 5);
    delete_events(fixture, 2, 2);
    assert_appended(fixture, SECOND, SES_OK, 6);
    assert_appended(fixture, SECOND, SES_DUPLICATE, 6);
    assert_appended(fixture, THIRD, SES_DUPLICATE, 3);
}

TEST_OF(ids_setup, ids_of_one_hash_when_the_last_is_gone)
{
    append_all(fixture);
    delete_events(fixture, 2, 3);
    assert_appended(fixture, FIRST, SES_DUPLICATE, 1);
    assert_appended(fixture, THIRD, SES_OK, 4);
    assert_appended(fixture, THIRD, SES_DUPLICATE, 4);
    delete_events(fixture, 1, 1);
    assert_appended(fixture, THIRD, SES_DUPLICATE, 4);
}

TEST_OF(ids_setup, ids_of_one_hash_in_a_batch)
{
    const ses_text events[] = {{Q("{'id':'" FIRST "'}"), SES_NUL},
                               {Q("{'id':'" SECOND "'}"), SES_NUL},
                               {Q("{'id':'" THIRD "'}"), SES_NUL},
                               {Q("{'id':'" SECOND "'}"), SES_NUL}};
    ses_appended appended[4];

    assert_ok(ses_append_batch_by_key(fixture->store, &key, events, 4, NULL, appended, &error));
    assert_int_equal(appended[3].status, SES_DUPLICATE);
    assert_int_equal(appended[3].seq, 2);
    assert_query(fixture->path, "SELECT count(*) FROM events", "3\n");
}

/* Each session has ids of its own, and of its own hashes. */
TEST_OF(ids_setup, ids_of_one_hash_in_two_sessions)
{
    const ses_key other = {"app", "user", "two"};

    must_create(fixture->store, &other, NULL);
    must_append_by_key(fixture->store, &other, Q("{'id':'" FIRST "'}"));
    assert_appended(fixture, SECOND, SES_OK, 1);
    assert_query(fixture->path, "SELECT typeof(id_key) FROM events", "integer\ninteger\n");
}

/* Spellings of ids; what the event says beside them, and what comes out. */
static const struct {
    const char *event;
    const char *id;
    const char *invocation_id;
} spellings[] = {
    {"{'id':'plain','invocationId':'inv'}", "plain", "inv"},
    {" { 'invocation_id' : 'same' , 'id' : 'same' } ", "same", "same"},
    {"{'id':'\\u0061b','invocationId':'\\u0063'}", "ab", "c"},
    {"{'text':'xy','id':'\\u0078y'}", "xy", ""}, /* the text is there, in another place */
    {"{'text':'zxz','id':'\\u0078z'}", "xz", ""},
    {"{'id':'a\\'b','invocationId':'\\''}", "a\"b", "\""},
    {"{'x':'1','id':'x\\':\\'1'}", "x\":\"1", ""},
    {"{'x':'a\\\\','id':'a\\\\','invocationId':'\\\\'}", "a\\", "\\"},
    {"{'id':'\xc3\xa9\xe2\x82\xac','invocationId':'\\u00e9'}", "\xc3\xa9\xe2\x82\xac", "\xc3\xa9"},
    {"{'id':'t','actions':{'stateDelta':{'temp:t':'t','k':1}},'invocationId':'u'}", "t", "u"},
    {"{'actions':{'stateDelta':{'temp:t':'v','k':1}},'id':'v','invocationId':''}", "v", ""},
    {"{'timestamp':null,'id':'w'}", "w", ""},
    {"{'id':'0','n':0,'invocationId':'0'}", "0", "0"},
};

TEST_OF(ids_setup, ids_come_out_as_they_went_in)
{
    const size_t count = sizeof spellings / sizeof spellings[0];

    for (size_t i = 0; i < count; i++) {
        assert_int_equal(append(fixture, Q(spellings[i].event), NULL), SES_OK);
        assert_int_equal(append(fixture, Q(spellings[i].event), NULL), SES_DUPLICATE);
    }
    ses_session *session = must_get(fixture->store, &key);
    for (size_t i = 0; i < count; i++) {
        char sql[100];
        struct text expected = {NULL, 0};
        const ses_event *event = ses_session_event(session, i);
        assert_string_equal(event->id, spellings[i].id);
        assert_string_equal(event->invocation_id, spellings[i].invocation_id);
        snprintf(sql, sizeof sql, "SELECT id, invocation_id FROM event_log WHERE seq = %zu", i + 1);
        text_printf(&expected, "%s|%s\n", spellings[i].id, spellings[i].invocation_id);
        assert_query(fixture->path, sql, expected.data);
        free(expected.data);
    }
}

TEST_OF(ids_setup, made_ids_are_places_as_well)
{
    assert_int_equal(append(fixture, Q("{'author':'a'}"), NULL), SES_OK);
    assert_int_equal(append(fixture, Q("{'author':'a','id':null}"), NULL), SES_OK);
    assert_query(fixture->path, "SELECT typeof(id_at), typeof(invocation_at) FROM events",
                 "integer|text\ninteger|text\n");
    assert_query(fixture->path,
                 "SELECT count(*) FROM event_log WHERE length(id) = 36 AND id = json_extract(body, '$.id')",
                 "2\n");
}

/* A body that another program changes takes its ids along. */
TEST_OF(ids_setup, a_changed_body_takes_its_ids_along)
{
    sqlite3 *db = raw_open(fixture->path);

    assert_int_equal(append(fixture, Q("{'id':'e','invocationId':'i'}"), NULL), SES_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE events SET body = '{}'", NULL, NULL, NULL), SQLITE_CONSTRAINT);
    assert_non_null(strstr(sqlite3_errmsg(db), "set id_at and invocation_at"));
    raw_run(db, "UPDATE events SET body = '{}', id_at = 'e', invocation_at = 'i'");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_query(fixture->path, "SELECT id, invocation_id, body FROM event_log", "e|i|{}\n");
    assert_int_equal(append(fixture, Q("{'id':'e','invocationId':'i'}"), NULL), SES_EXISTS);
}

/* FNV-1a, less 2^31: files are made of it. */
TEST_OF(ids_setup, the_hash_never_changes)
{
    must_append_by_key(fixture->store, &key, Q("{'id':'e1'}"));
    assert_query(fixture->path, "SELECT id_key FROM events", "68865795\n");
}
