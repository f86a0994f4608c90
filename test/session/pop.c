/* Popping: the newest events are cut and returned. */
#include "history.h"

static void begin(const struct fixture *fixture)
{
    must_create(fixture->store, &key, Q("{'a':1}"));
    must_say(fixture->store, &key, "i1", "user", Q("{'a':2}"));
    must_say(fixture->store, &key, "i1", "agent", Q("{'b':1}"));
    must_say(fixture->store, &key, "i2", "user", Q("{'a':3}"));
    must_say(fixture->store, &key, "i2", "agent", Q("{'b':2}"));
}

static const ses_point last_turn = {.size = sizeof last_turn, .kind = SES_POINT_LAST_TURN};

/* The events of the handle from that index on are those that were popped. */
static void assert_popped(const ses_popped *popped, const ses_session *before, size_t from)
{
    assert_int_equal(ses_popped_count(popped), ses_session_event_count(before) - from);
    for (size_t i = 0; i < ses_popped_count(popped); i++) {
        const ses_event *event = ses_popped_event(popped, i);
        const ses_event *same = ses_session_event(before, from + i);
        assert_int_equal(event->seq, same->seq);
        assert_int_equal(event->time_us, same->time_us);
        assert_string_equal(event->id, same->id);
        assert_string_equal(event->invocation_id, same->invocation_id);
        assert_string_equal(event->author, same->author);
        assert_string_equal(event->json, same->json);
        assert_int_equal(event->json_len, same->json_len);
    }
    assert_null(ses_popped_event(popped, ses_popped_count(popped)));
}

TEST(turns_are_popped_one_by_one)
{
    ses_popped *popped = NULL;

    begin(fixture);
    ses_session *before = must_get(fixture->store, &key);
    assert_ok(ses_pop_by_key(fixture->store, &key, &last_turn, NULL, &popped, &error));
    assert_popped(popped, before, 2);
    ses_popped_close(popped);
    assert_string_equal(stored_seqs(fixture->store, &key), "1 2");
    assert_stored_state(fixture->store, &key, Q("{'a':2,'b':1}"));
    assert_ok(ses_pop_by_key(fixture->store, &key, &last_turn, NULL, &popped, &error));
    assert_int_equal(ses_popped_count(popped), 2);
    ses_popped_close(popped);
    assert_string_equal(stored_seqs(fixture->store, &key), "");
    assert_code(SES_NOTFOUND, ses_pop_by_key(fixture->store, &key, &last_turn, NULL, &popped, &error));
    assert_null(popped);
    assert_sound(fixture->path);
}

TEST(a_handle_no_longer_shows_what_was_popped)
{
    ses_popped *popped = NULL;

    begin(fixture);
    ses_session *before = must_get(fixture->store, &key);
    ses_session *session = must_get(fixture->store, &key);
    assert_ok(ses_pop(session, AFTER_SEQ(3), NULL, &popped, &error));
    assert_int_equal(ses_session_event_count(session), 3);
    assert_string_equal(support_state(session, NULL), Q("{'a':3,'b':1}"));
    assert_popped(popped, before, 3);
    ses_popped_close(popped);
    assert_code(SES_UNCHANGED, ses_pop(session, NULL, NULL, &popped, &error));
    assert_int_equal(ses_popped_count(popped), 0);
    assert_null(ses_popped_event(popped, 0));
    ses_popped_close(popped);
    assert_code(SES_STALE, ses_pop(before, AFTER_SEQ(0), NULL, &popped, &error));
    assert_null(popped);
    ses_session_close(before);
    assert_ok(ses_pop(session, AFTER_SEQ(0), NULL, &popped, &error));
    ses_session_close(session);
    ses_close(fixture->store);
    fixture->store = NULL;
    assert_int_equal(ses_popped_count(popped), 3); /* it outlives both */
    assert_int_equal(ses_popped_event(popped, 0)->seq, 1);
    ses_popped_close(popped);
    ses_popped_close(NULL);
}

static void note_bytes(void *context, const ses_trace *trace)
{
    if (strcmp(trace->call, "ses_pop_by_key") == 0)
        *(int64_t *)context = trace->bytes_out;
}

/* The state need not be computed from the log again if no event that goes has changed it. */
TEST(the_log_before_is_read_only_for_a_state_that_changes)
{
    int64_t bytes = 0;
    const ses_open_options options = {.size = sizeof options, .trace = note_bytes, .trace_context = &bytes};
    ses_store *store = NULL;
    ses_popped *popped = NULL;

    must_create(fixture->store, &key, Q("{'a':1}"));
    must_say(fixture->store, &key, "i1", "user", Q("{'a':2,'b':1}"));
    for (int i = 0; i < 50; i++)
        must_say(fixture->store, &key, "i2", "agent", NULL);
    assert_ok(ses_open(fixture->path, &options, &store, &error));
    assert_ok(ses_pop_by_key(store, &key, AFTER_SEQ(49), NULL, &popped, &error));
    assert_int_equal(ses_popped_count(popped), 2);
    ses_popped_close(popped);
    assert_in_range(bytes, 100, 1000);
    assert_stored_state(store, &key, Q("{'a':2,'b':1}"));
    assert_ok(ses_pop_by_key(store, &key, AFTER_SEQ(0), NULL, &popped, &error));
    assert_int_equal(ses_popped_count(popped), 49);
    ses_popped_close(popped);
    assert_true(bytes > 5000);
    assert_stored_state(store, &key, Q("{'a':1}"));
    ses_close(store);
    assert_sound(fixture->path);
}

TEST(wrong_arguments)
{
    const ses_key nobody = {"app", "user", "nobody"};
    const ses_cut_options here = {.size = sizeof here, .flags = SES_AT_VERSION, .version = 1};
    const ses_cut_options flags = {.size = sizeof flags, .flags = 8};
    ses_popped *popped = (ses_popped *)1;

    begin(fixture);
    ses_session *session = must_get(fixture->store, &key);
    assert_code(SES_MISUSE, ses_pop(NULL, NULL, NULL, &popped, &error));
    assert_null(popped);
    assert_code(SES_MISUSE, ses_pop(session, NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_pop(session, NULL, &flags, &popped, &error));
    assert_code(SES_MISUSE, ses_pop_by_key(NULL, &key, NULL, NULL, &popped, &error));
    assert_code(SES_NOTFOUND, ses_pop_by_key(fixture->store, &nobody, NULL, NULL, &popped, &error));
    assert_code(SES_NOTFOUND, ses_pop_by_key(fixture->store, &key, AFTER_SEQ(9), NULL, &popped, &error));
    assert_code(SES_STALE, ses_pop_by_key(fixture->store, &key, AFTER_SEQ(1), &here, &popped, &error));
    assert_null(popped);
    assert_string_equal(stored_seqs(fixture->store, &key), "1 2 3 4");
}
