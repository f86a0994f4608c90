/* Pruning: what goes, what stays, and what is never parted. */
#include "../open.h"
#include "append.h"

static int64_t prune_with(ses_store *store, int expected, const ses_prune_options *options)
{
    int64_t deleted = 0;
    ses_error error;

    assert_code(expected, ses_prune_by_key(store, &key, options, &deleted, &error));
    return deleted;
}

static int64_t prune_keep(ses_store *store, int expected, int64_t keep)
{
    const ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_KEEP, .keep = keep};
    return prune_with(store, expected, &options);
}

static void append_n(ses_store *store, int count)
{
    for (int i = 0; i < count; i++) {
        char event[200];
        snprintf(event, sizeof event,
                 "{\"id\":\"e%d\",\"timestamp\":%d,\"actions\":{\"stateDelta\":{\"n\":%d,\"k%d\":1.0}}}",
                 i + 1, (i + 1) * 10, i + 1, i);
        must_append_by_key(store, &key, event);
    }
}

/* The numbers of the events that are left, as "4 5 6". */
static void assert_left(ses_store *store, const char *expected)
{
    ses_session *session = must_get(store, &key);
    char left[1000] = "";

    for (size_t i = 0; i < ses_session_event_count(session); i++)
        snprintf(left + strlen(left), sizeof left - strlen(left), "%s%d", i > 0 ? " " : "",
                 (int)ses_session_event(session, i)->seq);
    assert_string_equal(left, expected);
    assert_int_equal(ses_session_stored(session), (int64_t)ses_session_event_count(session));
    ses_session_close(session);
}

/* ------------------------------------------------------------------------------------------ what goes */

TEST(all_but_the_newest_go)
{
    must_create(fixture->store, &key, Q("{'a':1,'app:x':2}"));
    append_n(fixture->store, 10);
    ses_session *session = must_get(fixture->store, &key);
    const int64_t updated_us = ses_session_updated_us(session);
    ses_session_close(session);
    assert_int_equal(prune_keep(fixture->store, SES_OK, 3), 7);
    assert_left(fixture->store, "8 9 10");
    assert_int_equal(prune_keep(fixture->store, SES_UNCHANGED, 3), 0);
    session = must_get(fixture->store, &key);
    assert_int_equal(ses_session_version(session), ses_session_last_seq(session));
    assert_int_equal(ses_session_last_seq(session), 10);
    assert_int_equal(ses_session_base_seq(session), 7);
    assert_int_equal(ses_session_updated_us(session), updated_us);
    ses_session_close(session);
    fixture_reopen(fixture);
    assert_query(fixture->path, "SELECT key, value, seq FROM base_state ORDER BY key",
                 "a|1|0\napp:x|2|0\nk0|1.0|1\nk1|1.0|2\nk2|1.0|3\nk3|1.0|4\nk4|1.0|5\nk5|1.0|6\nk6|1.0|7\n"
                 "n|7|7\n");
    assert_int_equal(prune_keep(fixture->store, SES_OK, 0), 3);
    assert_left(fixture->store, "");
    assert_stored_state(fixture->store, &key,
                        Q("{'app:x':2,'a':1,'k0':1.0,'k1':1.0,'k2':1.0,'k3':1.0,'k4':1.0,'k5':1.0,'k6':1.0,"
                          "'k7':1.0,'k8':1.0,'k9':1.0,'n':10}"));
    must_append_by_key(fixture->store, &key, "{}");
    assert_left(fixture->store, "11");
    assert_sound(fixture->path);
}

TEST(all_conditions_hold_together)
{
    ses_prune_options options = {.size = sizeof options,
                                 .which = SES_PRUNE_KEEP | SES_PRUNE_BEFORE | SES_PRUNE_SEQ,
                                 .keep = 2,
                                 .before_us = 50000000,
                                 .last_seq = 3};

    must_create(fixture->store, &key, NULL);
    append_n(fixture->store, 10);
    assert_int_equal(prune_with(fixture->store, SES_OK, &options), 3);
    options.last_seq = 9;
    assert_int_equal(prune_with(fixture->store, SES_OK, &options), 1);
    options.before_us = INT64_MAX;
    options.which = SES_PRUNE_BEFORE | SES_PRUNE_KEEP;
    assert_int_equal(prune_with(fixture->store, SES_OK, &options), 4);
    assert_left(fixture->store, "9 10");
}

/* Up to the first event that is not old: one that is old and comes later stays. */
TEST(a_time_ends_at_the_first_that_is_later)
{
    const ses_prune_options options = {
        .size = sizeof options, .which = SES_PRUNE_BEFORE, .before_us = 20000000};

    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, Q("{'timestamp':10}"));
    must_append_by_key(fixture->store, &key, Q("{'timestamp':20}"));
    must_append_by_key(fixture->store, &key, Q("{'timestamp':5}"));
    assert_int_equal(prune_with(fixture->store, SES_OK, &options), 1);
    assert_left(fixture->store, "2 3");
}

TEST(ids_of_pruned_events_are_forgotten)
{
    const char *event = Q("{'id':'e1','timestamp':1}");
    ses_appended appended;

    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, event);
    must_append_by_key(fixture->store, &key, Q("{'id':'e2'}"));
    prune_keep(fixture->store, SES_OK, 1);
    assert_ok(ses_append_by_key(fixture->store, &key, event, SES_NUL, NULL, &appended, &error));
    assert_int_equal(appended.seq, 3);
}

/* ------------------------------------------------------------------------------------ what stays together */

static void append_all(ses_store *store, const char *const *events)
{
    must_create(store, &key, NULL);
    for (size_t i = 0; events[i]; i++)
        must_append_by_key(store, &key, Q(events[i]));
}

/* Asked to keep so many, this is what is left. */
static void assert_kept(ses_store *store, const char *const *events, int64_t keep, const char *left)
{
    append_all(store, events);
    (void)prune_keep(store, strlen(left) > 1 && left[0] == '1' && left[1] == ' ' ? SES_UNCHANGED : SES_OK,
                     keep);
    assert_left(store, left);
    must_delete(store, &key);
}

#define CALL(id, name) "{'content':{'parts':[{'functionCall':{'id':'" id "','name':'" name "'}}]}}"
#define RESPONSE(id, name) "{'content':{'parts':[{'function_response':{'id':'" id "','name':'" name "'}}]}}"
#define NAMED_CALL(name) "{'content':{'parts':[{'function_call':{'name':'" name "'}}]}}"
#define NAMED_RESPONSE(name) "{'content':{'parts':[{'functionResponse':{'name':'" name "'}}]}}"

TEST(an_invocation_is_not_parted)
{
    static const char *const events[] = {"{'invocationId':'a'}", "{'invocationId':'b'}", "{}",
                                         "{'invocationId':'b'}", "{'invocationId':'c'}", NULL};

    assert_kept(fixture->store, events, 2, "2 3 4 5");
    assert_kept(fixture->store, events, 1, "5");
}

TEST(a_call_is_not_parted_from_its_response)
{
    static const char *const by_id[] = {"{}", CALL("1", "f"), "{}", RESPONSE("1", "g"), "{}", NULL};
    static const char *const by_name[] = {"{}",
                                          NAMED_CALL("f"),
                                          NAMED_CALL("f"),
                                          CALL("1", "f"),
                                          NAMED_RESPONSE("f"),
                                          NAMED_RESPONSE("g"),
                                          "{}",
                                          NULL};

    assert_kept(fixture->store, by_id, 2, "2 3 4 5");
    assert_kept(fixture->store, by_id, 1, "5");
    assert_kept(fixture->store, by_name, 2, "6 7");
    assert_kept(fixture->store, by_name, 3, "2 3 4 5 6 7");
}

/* A tool that asks for a confirmation, or runs for long, answers twice. Another call of that id is another
 * call. */
TEST(all_responses_stay_with_their_call)
{
    static const char *const twice[] = {"{}", CALL("1", "f"),     RESPONSE("1", "f"),
                                        "{}", RESPONSE("1", "f"), NULL};
    static const char *const again[] = {CALL("1", "f"), RESPONSE("1", "f"), CALL("1", "f"),
                                        RESPONSE("1", "f"), NULL};
    static const char *const in_one[] = {
        CALL("1", "f"), "{'content':{'parts':[{'functionCall':{'id':'1'}},{'functionResponse':{'id':'1'}}]}}",
        RESPONSE("1", "f"), NULL};

    assert_kept(fixture->store, twice, 1, "2 3 4 5");
    assert_kept(fixture->store, again, 2, "3 4");
    assert_kept(fixture->store, in_one, 1, "1 2 3");
}

TEST(names_with_escapes_are_names)
{
    static const char *const events[] = {
        "{}", "{'content':{'parts':[{'\\u0066unctionCall':{'id':'\\u0031'}}]}}", RESPONSE("1", "f"), NULL};

    assert_kept(fixture->store, events, 1, "2 3");
}

TEST(a_rewind_is_not_parted_from_what_it_takes_back)
{
    static const char *const events[] = {"{'invocationId':'a'}",
                                         "{'invocationId':'b'}",
                                         "{'invocationId':'c'}",
                                         "{'invocationId':'r','actions':{'rewindBeforeInvocationId':'b'}}",
                                         "{'invocationId':'s','actions':{'rewindBeforeInvocationId':'none'}}",
                                         NULL};

    assert_kept(fixture->store, events, 3, "2 3 4 5");
    assert_kept(fixture->store, events, 1, "5");
    assert_query(fixture->path, "SELECT count(*) FROM event_marks", "0\n");
}

/* ---------------------------------------------------------------------------------------------- steps */

/* A call goes on until half of what it looked at is gone. */
TEST(calls_are_limited)
{
    ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_KEEP, .keep = 1, .limit = 1};

    must_create(fixture->store, &key, NULL);
    append_n(fixture->store, 8);
    assert_int_equal(prune_with(fixture->store, SES_MORE, &options), 4);
    options.limit = 3;
    assert_int_equal(prune_with(fixture->store, SES_OK, &options), 3);
    assert_int_equal(prune_with(fixture->store, SES_UNCHANGED, &options), 0);
    assert_left(fixture->store, "8");
}

TEST(a_step_goes_on_beyond_its_limit_where_it_must)
{
    static const char *const events[] = {
        "{'invocationId':'a'}", "{'invocationId':'a'}", "{'invocationId':'b'}", "{'invocationId':'a'}",
        "{'invocationId':'b'}", "{'invocationId':'c'}", "{'invocationId':'d'}", NULL};
    ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_KEEP, .keep = 1, .limit = 2};

    append_all(fixture->store, events);
    options.keep = 3;
    assert_int_equal(prune_with(fixture->store, SES_UNCHANGED, &options), 0);
    options.keep = 1;
    assert_int_equal(prune_with(fixture->store, SES_MORE, &options), 5);
    assert_int_equal(prune_with(fixture->store, SES_OK, &options), 1);
    assert_left(fixture->store, "7");
}

/* ------------------------------------------------------------------------------------------- compacted */

#define COMPACTION(time, from, to)                                                                \
    "{'timestamp':" time ",'actions':{'compaction':{'startTimestamp':" from ",'endTimestamp':" to \
    ",'compactedContent':{}}}}"

static int64_t prune_compacted(ses_store *store, int expected)
{
    const ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_COMPACTED};
    return prune_with(store, expected, &options);
}

TEST(only_what_is_compacted_goes)
{
    static const char *const events[] = {"{'timestamp':1}",         "{'timestamp':2}", "{'timestamp':3}",
                                         COMPACTION("4", "1", "2"), "{'timestamp':5}", NULL};

    append_all(fixture->store, events);
    assert_int_equal(prune_compacted(fixture->store, SES_OK), 2);
    assert_left(fixture->store, "3 4 5");
    assert_int_equal(prune_compacted(fixture->store, SES_UNCHANGED), 0);
    /* The summary stays, though its own time is covered; and goes when another covers what it does. */
    must_append_by_key(fixture->store, &key, Q(COMPACTION("6", "2", "5")));
    assert_int_equal(prune_compacted(fixture->store, SES_OK), 1);
    assert_left(fixture->store, "4 5 6");
    must_append_by_key(fixture->store, &key, Q(COMPACTION("7", "1", "5")));
    assert_int_equal(prune_compacted(fixture->store, SES_OK), 3);
    assert_left(fixture->store, "7");
}

TEST(a_compaction_that_was_taken_back_covers_nothing)
{
    static const char *const events[] = {
        "{'timestamp':1}",
        "{'timestamp':4,'invocationId':'c','actions':{'compaction':{'startTimestamp':1,'endTimestamp':2,'"
        "compactedContent':{}}}}",
        "{'timestamp':5,'actions':{'rewindBeforeInvocationId':'c'}}",
        COMPACTION("6", "9", "8"),
        "{'timestamp':7,'actions':{'compaction':{'startTimestamp':1,'endTimestamp':3}}}",
        NULL};

    append_all(fixture->store, events);
    assert_int_equal(prune_compacted(fixture->store, SES_UNCHANGED), 0);
    must_append_by_key(fixture->store, &key, Q(COMPACTION("8", "1", "1")));
    assert_int_equal(prune_compacted(fixture->store, SES_OK), 3);
    assert_left(fixture->store, "4 5 6");
}

/* ------------------------------------------------------------------------------------------- handles */

TEST(no_handle_becomes_stale)
{
    const ses_prune_options options = {.size = sizeof options, .which = SES_PRUNE_KEEP, .keep = 2};
    int64_t deleted = 0;

    must_create(fixture->store, &key, NULL);
    append_n(fixture->store, 5);
    ses_session *pruner = must_get(fixture->store, &key);
    ses_session *other = must_get(fixture->store, &key);
    assert_ok(ses_prune(pruner, &options, &deleted, &error));
    assert_int_equal(deleted, 3);
    assert_int_equal(ses_session_base_seq(pruner), 3);
    assert_int_equal(ses_session_stored(pruner), 2);
    assert_int_equal(ses_session_event_count(pruner), 5);
    must_append(other, Q("{'id':'more'}"));
    assert_int_equal(ses_session_event_count(other), 6);
    /* A handle prunes only what it knows. */
    const ses_prune_options all = {.size = sizeof all, .which = SES_PRUNE_SEQ, .last_seq = 100};
    assert_ok(ses_prune(pruner, &all, &deleted, &error));
    assert_int_equal(deleted, 2);
    assert_int_equal(ses_session_stored(pruner), 0);
    assert_left(fixture->store, "6");
}

/* A thread that appends calls and their responses, and rewinds now and then. */
enum { PAIRS = 400 };

static void *append_pairs(void *context)
{
    ses_store *store = context;
    char event[300];

    for (int i = 0; i < PAIRS; i++) {
        for (int part = 0; part < 2; part++) {
            snprintf(event, sizeof event,
                     "{\"invocationId\":\"i%d\",\"content\":{\"parts\":[{\"%s\":{\"id\":\"c%d\"}}]},"
                     "\"actions\":{\"stateDelta\":{\"n\":%d}}}",
                     i * 2 + part, part == 0 ? "functionCall" : "functionResponse", i, i);
            must_append_by_key(store, &key, event);
        }
        if (i % 20 == 19)
            must_append_by_key(store, &key, Q("{'actions':{'rewindBeforeInvocationId':'none'}}"));
    }
    return NULL;
}

/* A call that has no response yet is among the newest three. */
TEST(events_that_come_meanwhile_are_looked_at)
{
    const ses_prune_options options = {
        .size = sizeof options, .which = SES_PRUNE_KEEP, .keep = 3, .limit = 50};
    pthread_t thread;
    int64_t pruned = 0;
    int64_t deleted = 0;

    fixture->options.synchronous = SES_SYNC_NORMAL;
    fixture_reopen(fixture);
    must_create(fixture->store, &key, NULL);
    assert_int_equal(pthread_create(&thread, NULL, append_pairs, fixture->store), 0);
    while (pruned < 2 * PAIRS - 6) {
        int code = ses_prune_by_key(fixture->store, &key, &options, &deleted, &error);
        assert_true(code >= 0);
        pruned += deleted;
        ses_session *session = must_get(fixture->store, &key);
        if (ses_session_event_count(session) > 0)
            assert_null(strstr(ses_session_event(session, 0)->json, "functionResponse"));
        assert_int_equal(ses_session_stored(session), (int64_t)ses_session_event_count(session));
        ses_session_close(session);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    char expected[40];
    snprintf(expected, sizeof expected, "{\"n\":%d}", PAIRS - 1);
    assert_stored_state(fixture->store, &key, expected);
}

/* -------------------------------------------------------------------------------------------- refusals */

/* It knows nothing of events that came and went since it was read. */
TEST(a_handle_that_prunes_nothing_stays_as_it_is)
{
    const ses_prune_options all = {.size = sizeof all, .which = SES_PRUNE_KEEP};

    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, "{}");
    ses_session *session = must_get(fixture->store, &key);
    for (int i = 0; i < 3; i++)
        must_append_by_key(fixture->store, &key, "{}");
    assert_ok(ses_prune_by_key(fixture->store, &key, &all, NULL, &error));
    assert_code(SES_UNCHANGED, ses_prune(session, &all, NULL, &error));
    assert_int_equal(ses_session_base_seq(session), 0);
    assert_int_equal(ses_session_stored(session), 1);
}

TEST(wrong_arguments_are_refused)
{
    static const ses_key missing = {"app", "user", "missing"};
    ses_prune_options options = {.size = sizeof options};

    must_create(fixture->store, &key, NULL);
    assert_code(SES_MISUSE, ses_prune_by_key(NULL, &key, &options, NULL, &error));
    assert_code(SES_MISUSE, ses_prune(NULL, &options, NULL, &error));
    assert_code(SES_INVALID, ses_prune_by_key(fixture->store, &key, NULL, NULL, &error));
    assert_code(SES_INVALID, ses_prune_by_key(fixture->store, &key, &options, NULL, &error));
    assert_message("SES_PRUNE_");
    options.which = 0x100;
    assert_code(SES_MISUSE, ses_prune_by_key(fixture->store, &key, &options, NULL, &error));
    options.which = SES_PRUNE_KEEP;
    options.keep = -1;
    assert_code(SES_INVALID, ses_prune_by_key(fixture->store, &key, &options, NULL, &error));
    options.keep = 0;
    options.limit = -1;
    assert_code(SES_INVALID, ses_prune_by_key(fixture->store, &key, &options, NULL, &error));
    options.limit = 0;
    options.flags = 0x100;
    assert_code(SES_MISUSE, ses_prune_by_key(fixture->store, &key, &options, NULL, &error));
    options.flags = 0;
    options.which |= SES_PRUNE_SEQ;
    options.last_seq = -1;
    assert_code(SES_INVALID, ses_prune_by_key(fixture->store, &key, &options, NULL, &error));
    options.which = SES_PRUNE_KEEP;
    assert_code(SES_NOTFOUND, ses_prune_by_key(fixture->store, &missing, &options, NULL, &error));
    assert_code(SES_UNCHANGED, ses_prune_by_key(fixture->store, &key, &options, NULL, &error));
    fixture->options.flags = SES_OPEN_READ_ONLY;
    fixture_reopen(fixture);
    assert_code(SES_READONLY, ses_prune_by_key(fixture->store, &key, &options, NULL, &error));
}
