/* One event by its id, and the number of events, without reading the log. */
#include "support.h"

static const ses_key key = {"app", "user", "session"};
static const ses_key nobody = {"app", "user", "nobody"};
static const ses_call_options flags = {.size = sizeof flags, .flags = 1};

TEST(an_event_is_found_by_its_id)
{
    static const char *const ids[] = {"a", "A", "e-\xc3\xa4", "b"};
    ses_session *session = must_open_new(fixture->store, &key, NULL);
    char event[64];

    must_create(fixture->store, &(ses_key){"app", "user", "other"}, NULL);
    must_append_by_key(fixture->store, &(ses_key){"app", "user", "other"}, Q("{'id':'elsewhere'}"));
    for (size_t i = 0; i < 4; i++) {
        snprintf(event, sizeof event, Q(" {'timestamp':1,'id':'%s','n':1.10}"), ids[i]);
        must_append(session, event);
    }
    for (size_t i = 0; i < 4; i++) {
        char *json = NULL;
        size_t len = 0;
        int64_t seq = 0;
        assert_ok(ses_event_get_by_key(fixture->store, &key, ids[i], NULL, &seq, &json, &len, &error));
        assert_int_equal(seq, i + 1);
        const ses_event *held = ses_session_event_by_id(session, ids[i]);
        assert_ptr_equal(held, ses_session_event(session, i));
        assert_string_equal(json, held->json);
        assert_int_equal(len, held->json_len);
        ses_free(json);
        assert_ok(ses_event_get_by_key(fixture->store, &key, ids[i], NULL, NULL, &json, NULL, &error));
        ses_free(json);
    }
    assert_null(ses_session_event_by_id(session, "elsewhere"));
    assert_ptr_equal(ses_session_newest_event(session), ses_session_event(session, 3));
    assert_null(
        ses_session_newest_event(must_open_new(fixture->store, &(ses_key){"app", "user", "empty"}, NULL)));
}

static void assert_absent(ses_store *store, const char *id)
{
    char *json = (char *)1;
    size_t len = 7;
    int64_t seq = 7;
    ses_error error;

    assert_code(SES_ABSENT, ses_event_get_by_key(store, &key, id, NULL, &seq, &json, &len, &error));
    assert_null(json);
    assert_int_equal(seq, 7);
    assert_int_equal(len, 0);
}

TEST(an_event_that_was_cut_or_pruned_is_absent)
{
    const ses_point second = {.size = sizeof second, .kind = SES_POINT_SEQ, .seq = 2};
    const ses_prune_options one = {.size = sizeof one, .which = SES_PRUNE_SEQ, .last_seq = 1};
    int64_t count = 7;
    int64_t version = 7;

    must_create(fixture->store, &key, NULL);
    assert_absent(fixture->store, "a");
    assert_ok(ses_event_count_by_key(fixture->store, &key, NULL, &count, &version, &error));
    assert_int_equal(count, 0);
    const int64_t first = version;
    must_append_by_key(fixture->store, &key, Q("{'id':'a'}"));
    must_append_by_key(fixture->store, &key, Q("{'id':'b'}"));
    must_append_by_key(fixture->store, &key, Q("{'id':'c'}"));
    assert_ok(ses_cut_by_key(fixture->store, &key, &second, NULL, NULL, &error));
    assert_absent(fixture->store, "c");
    assert_ok(ses_prune_by_key(fixture->store, &key, &one, NULL, &error));
    assert_absent(fixture->store, "a");
    assert_ok(ses_event_count_by_key(fixture->store, &key, NULL, &count, &version, &error));
    assert_int_equal(count, 1);
    assert_int_equal(version, first + 4);
    const ses_append_options here = {.size = sizeof here, .flags = SES_AT_VERSION, .version = version};
    assert_ok(ses_append_by_key(fixture->store, &key, "{}", 2, &here, NULL, &error));
    assert_ok(ses_event_count_by_key(fixture->store, &key, NULL, &count, NULL, &error));
    assert_int_equal(count, 2);
}

TEST(wrong_arguments)
{
    ses_store *store = fixture->store;
    char *json = (char *)1;
    int64_t count = 7;

    must_create(store, &key, NULL);
    assert_code(SES_MISUSE, ses_event_get_by_key(NULL, &key, "a", NULL, NULL, &json, NULL, &error));
    assert_code(SES_MISUSE, ses_event_get_by_key(store, NULL, "a", NULL, NULL, &json, NULL, &error));
    assert_null(json);
    assert_code(SES_MISUSE, ses_event_get_by_key(store, &key, NULL, NULL, NULL, &json, NULL, &error));
    assert_code(SES_MISUSE, ses_event_get_by_key(store, &key, "a", NULL, NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_event_get_by_key(store, &key, "a", &flags, NULL, &json, NULL, &error));
    assert_code(SES_INVALID, ses_event_get_by_key(store, &key, "", NULL, NULL, &json, NULL, &error));
    assert_code(SES_INVALID, ses_event_get_by_key(store, &key, "\xff", NULL, NULL, &json, NULL, &error));
    assert_code(SES_NOTFOUND, ses_event_get_by_key(store, &nobody, "a", NULL, NULL, &json, NULL, &error));
    assert_code(SES_MISUSE, ses_event_count_by_key(NULL, &key, NULL, &count, NULL, &error));
    assert_code(SES_MISUSE, ses_event_count_by_key(store, NULL, NULL, &count, NULL, &error));
    assert_code(SES_MISUSE, ses_event_count_by_key(store, &key, &flags, &count, NULL, &error));
    assert_code(SES_MISUSE, ses_event_count_by_key(store, &key, NULL, NULL, NULL, &error));
    assert_code(SES_NOTFOUND, ses_event_count_by_key(store, &nobody, NULL, &count, NULL, &error));
    assert_int_equal(count, 7);
}
