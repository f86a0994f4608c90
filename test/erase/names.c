/* Names in which a redaction by pattern finds something: they are counted, and removed on request. */
#include "erase.h"

#define MARK "eve@x.org"
#define DELTA "{'address:" MARK "':'Road 1','mail':'" MARK "','user:" MARK "':1,'topic':'order'}"

static const ses_redact_options counting = {
    .size = sizeof counting, .flags = SES_REDACT_STATE, .find = find_text, .find_context = MARK};
static const ses_redact_options removing = {.size = sizeof removing,
                                            .flags = SES_REDACT_STATE | SES_REDACT_NAMES,
                                            .find = find_text,
                                            .find_context = MARK};

static void fill(ses_store *store)
{
    const ses_label labels[] = {{"a", "x"}, {"by", MARK}, {MARK, "x"}};
    const ses_create_options options = {
        .size = sizeof options, .title = "Order of " MARK, .labels = labels, .label_count = 3};
    ses_error error;

    assert_ok(ses_create(store, &key, Q("{'first:" MARK "':1,'other':2}"), SES_NUL, &options, NULL, &error));
    must_say(store, &key, "i1", "user", Q(DELTA));
    must_say(store, &key, "i2", "user", Q("{'address:" MARK "':'__ADK_SENTINEL_REMOVED__','n':2}"));
    must_append_by_key(store, &key, Q("{'id':'of " MARK "','author':'u','invocationId':'i3','timestamp':1}"));
    must_rewind(store, &key, AFTER_SEQ(1));
}

TEST(names_are_counted)
{
    ses_erased erased;

    fill(fixture->store);
    must_redact(fixture->store, &key, all, 0, &counting, &erased);
    /* first:, address:, user:, the title, two labels, and the id of an event */
    assert_int_equal(erased.names_left, 7);
    assert_int_equal(erased.names, 0);
    ses_session *session = must_get(fixture->store, &key);
    assert_string_equal(ses_session_title(session), "Order of " MARK);
    ses_session_close(session);
    assert_no_problems(fixture->store);
}

/* The first three stay and are counted; fields that are not known go. */
TEST(names_of_members)
{
    static const char *const events[] = {
        "'actions':{'artifactDelta':{'x.png':0,'" MARK ".png':1}}",
        "'actions':{'requestedToolConfirmations':{'" MARK "':{'hint':'h'}}}",
        "'actions':{'requested_auth_configs':{'" MARK "':{}}}",
        "'" MARK "':1,'other':2",
        "'content':{'parts':[{'text':'t','\\u0072" MARK "':[]}]}",
        "'other':{'" MARK "':1}",
    };
    char event[300];
    ses_erased erased;

    must_create(fixture->store, &key, NULL);
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        (void)snprintf(event, sizeof event, "{'author':'u',%s}", events[i]);
        must_append_by_key(fixture->store, &key, Q(event));
    }
    must_redact(fixture->store, &key, all, 0, &counting, &erased);
    assert_int_equal(erased.names_left, 3);
    assert_int_equal(erased.events, 3);
    for (int64_t seq = 1; seq <= 6; seq++)
        assert_int_equal(strstr(event_text(fixture->store, &key, seq), MARK) != NULL, seq <= 3);
    assert_non_null(strstr(event_text(fixture->store, &key, 4), Q("'other':2")));
    assert_no_problems(fixture->store);
}

TEST(names_are_removed)
{
    ses_store *store = fixture->store;
    ses_erased erased;

    fill(store);
    must_redact(store, &key, all, 0, &removing, &erased);
    assert_int_equal(erased.names, 6);
    assert_int_equal(erased.names_left, 1); /* the id of an event */
    assert_stored_state(store, &key, Q("{'mail':'[redacted]','other':2,'topic':'order'}"));
    assert_as_of(store, &key, AFTER_SEQ(0), Q("{'other':2}"));
    assert_as_of(store, &key, AFTER_SEQ(2), Q("{'mail':'[redacted]','n':2,'other':2,'topic':'order'}"));
    for (int64_t seq = 1; seq <= 4; seq++)
        assert_true(seq == 3 || !strstr(event_text(store, &key, seq), MARK));
    ses_session *session = must_get(store, &key);
    assert_null(ses_session_title(session));
    assert_int_equal(ses_session_label_count(session), 1);
    ses_session_close(session);
    assert_no_problems(store);
    assert_code(SES_UNCHANGED, ses_redact_by_key(store, &key, all, 0, &removing, &erased, &error));
    assert_int_equal(erased.names_left, 1);
}

/* Its version is that of the redaction, so a refresh would be no reason to look. */
TEST(a_handle_shows_what_is_left)
{
    ses_redact_options options = removing;
    ses_erased erased = {.size = sizeof erased};

    fill(fixture->store);
    ses_session *session = must_get(fixture->store, &key);
    options.flags |= SES_REDACT_DRY_RUN;
    assert_ok(ses_redact(session, all, 0, &options, &erased, &error));
    assert_int_equal(erased.names, 6);
    assert_string_equal(ses_session_title(session), "Order of " MARK);
    assert_int_equal(ses_session_label_count(session), 3);
    assert_ok(ses_redact(session, all, 0, &removing, &erased, &error));
    assert_null(ses_session_title(session));
    assert_int_equal(ses_session_label_count(session), 1);
    assert_string_equal(ses_session_label_value(session, "a"), "x");
    assert_null(ses_session_label_value(session, MARK));
    assert_ok(ses_labels_set(session, &(ses_label){"b", "y"}, 1, NULL, &error));
    assert_int_equal(ses_session_label_count(session), 2);
}

/* The names are those of the base then, which pruned events have left. */
TEST(names_of_pruned_events)
{
    ses_store *store = fixture->store;
    const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_KEEP, .keep = 1};
    ses_erased erased;

    must_create(store, &key, NULL);
    must_say(store, &key, "i1", "user", Q(DELTA));
    must_say(store, &key, "i2", "user", Q("{'n':2}"));
    must_say(store, &key, "i3", "user", Q("{'n':3}"));
    assert_ok(ses_prune_by_key(store, &key, &prune, NULL, &error));
    must_redact(store, &key, all, 0, &removing, &erased);
    assert_int_equal(erased.names, 2);
    assert_int_equal(erased.names_left, 0);
    assert_as_of(store, &key, AFTER_SEQ(3), Q("{'mail':'[redacted]','n':3,'topic':'order'}"));
    assert_no_problems(store);
}

/* A fork keeps its names: the call does not redact all of its events. */
TEST(names_of_forks_are_counted)
{
    ses_store *store = fixture->store;
    const ses_key fork = {"app", "user", "fork"};
    ses_redact_options options = removing;
    ses_erased erased;

    must_create(store, &key, NULL);
    must_say(store, &key, "i1", "user", Q("{'k:" MARK "':1}"));
    assert_ok(ses_fork_by_key(store, &key, NULL, &fork, NULL, NULL, &error));
    options.flags |= SES_REDACT_FORKS;
    must_redact(store, &key, all, 0, &options, &erased);
    assert_int_equal(erased.names, 1);
    assert_int_equal(erased.names_left, 1);
    assert_stored_state(store, &fork, Q("{'k:" MARK "':1}"));
    must_redact(store, &fork, all, 0, &removing, &erased);
    assert_stored_state(store, &fork, "{}");
    assert_no_problems(store);
}

TEST(names_need_a_search)
{
    ses_redact_options options = removing;

    fill(fixture->store);
    assert_code(SES_MISUSE, ses_redact_by_key(fixture->store, &key, SEQS(1), &options, NULL, &error));
    options.flags = SES_REDACT_NAMES;
    assert_code(SES_MISUSE, ses_redact_by_key(fixture->store, &key, all, 0, &options, NULL, &error));
    options = removing;
    options.find = NULL;
    assert_code(SES_MISUSE, ses_redact_by_key(fixture->store, &key, all, 0, &options, NULL, &error));
    assert_message("SES_REDACT_NAMES needs");
}
