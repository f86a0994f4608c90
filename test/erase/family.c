/* Which sessions are relatives: those that were forked from each other, and no others. */
#include "erase.h"

#include "seslite_transfer.h"

static int64_t version_of(ses_store *store, const ses_key *of)
{
    ses_session *session = must_get(store, of);
    const int64_t version = ses_session_version(session);

    ses_session_close(session);
    return version;
}

static const ses_redact_options with_forks = {.size = sizeof with_forks, .flags = SES_REDACT_FORKS};

static void say(ses_store *store, const ses_key *of, const char *text)
{
    char event[300];

    snprintf(event, sizeof event,
             "{'id':'1','author':'user','timestamp':1700000000,'content':{'parts':[{'text':'%s'}]}}", text);
    must_create(store, of, NULL);
    must_append_by_key(store, of, Q(event));
}

static void must_fork(ses_store *store, const ses_key *from, const ses_key *to)
{
    ses_error error;
    assert_ok(ses_fork_by_key(store, from, NULL, to, NULL, NULL, &error));
}

static int64_t redact_with_forks(ses_store *store, const ses_key *of)
{
    ses_erased erased;
    must_redact(store, of, SEQS(1), &with_forks, &erased);
    return erased.sessions;
}

/* Both have an event with the same id and time, and a fork of their own. */
TEST(strangers_that_look_alike)
{
    ses_store *store = fixture->store;
    const ses_key alice = {"app", "alice", "s"};
    const ses_key alices = {"app", "alice", "fork"};
    const ses_key bob = {"app", "bob", "s"};
    const ses_key bobs = {"app", "bob", "fork"};
    const ses_redact_options alone = {.size = sizeof alone, .flags = SES_REDACT_DRY_RUN};
    ses_erased erased;

    say(store, &alice, "of alice");
    must_fork(store, &alice, &alices);
    say(store, &bob, "of bob");
    must_fork(store, &bob, &bobs);
    must_redact(store, &alice, SEQS(1), &alone, &erased);
    assert_int_equal(erased.forks_left, 1);
    assert_int_equal(redact_with_forks(store, &alice), 1);
    assert_non_null(strstr(event_text(store, &alices, 1), "[redacted]"));
    assert_non_null(strstr(event_text(store, &bob, 1), "of bob"));
    assert_non_null(strstr(event_text(store, &bobs, 1), "of bob"));
    assert_no_problems(store);
}

/* Forks of forks of a session that is deleted, with one of another user. */
TEST(relatives_survive_what_is_between_them)
{
    ses_store *store = fixture->store;
    const ses_key first = {"app", "alice", "first"};
    const ses_key one = {"app", "alice", "one"};
    const ses_key two = {"app", "alice", "two"};
    const ses_key three = {"app", "bob", "three"};
    const ses_fork_options other_user = {.size = sizeof other_user, .flags = SES_FORK_OTHER_USER};

    say(store, &first, "secret");
    const int64_t version = version_of(store, &first);
    must_fork(store, &first, &one);
    assert_int_equal(version_of(store, &first), version);
    must_fork(store, &first, &two);
    assert_ok(ses_fork_by_key(store, &two, NULL, &three, &other_user, NULL, &error));
    must_delete(store, &first);
    must_delete(store, &two);
    say(store, &first, "of another"); /* a new session of an old name */
    assert_int_equal(redact_with_forks(store, &one), 1);
    assert_non_null(strstr(event_text(store, &three, 1), "[redacted]"));
    assert_non_null(strstr(event_text(store, &first, 1), "of another"));
    assert_no_problems(store);
}

/* The number is in the export, which a version without it reads as well. */
TEST(relatives_survive_an_export)
{
    ses_store *store = fixture->store;
    const ses_key first = {"app", "alice", "first"};
    const ses_key one = {"app", "alice", "one"};
    const ses_key two = {"app", "alice", "two"};
    ses_import_report outcome;

    say(store, &first, "secret");
    must_fork(store, &first, &one);
    must_fork(store, &first, &two);
    must_delete(store, &first);
    struct text lines = exported(store, NULL);
    text_add(&lines, "", 1);
    assert_non_null(strstr(lines.data, "\"origin\":"));
    assert_non_null(strstr(lines.data, "\"format\":1"));
    ses_store *other = empty_store();
    assert_ok(import_text(other, lines.data, lines.len - 1, 0, &outcome, &error));
    assert_same_store(store, other);
    assert_int_equal(redact_with_forks(other, &one), 1);
    free(lines.data);
    ses_close(other);
}

TEST(a_loaded_number)
{
    const ses_loaded negative = {.size = sizeof negative, .origin = -1};

    assert_code(SES_INVALID, ses_load(fixture->store, &key, &negative, NULL, NULL, &error));
    assert_message("origin");
}
