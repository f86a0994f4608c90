/* The copies that a memory service has of a session (lib/memory/README.md): redacted with it, or counted. */
#include "erase.h"

#include "seslite_transfer.h"

static const ses_key source = {"app", "user", "s1"};
static const ses_key kept = {"app", "user", "memory:s1"};

static const char *const said[] = {
    "{'id':'a','invocationId':'i1','author':'user','timestamp':1700000001,'branch':'b',"
    "'content':{'parts':[{'text':'hello'}]}}",
    "{'id':'b','invocationId':'i1','author':'agent','timestamp':1700000002,"
    "'content':{'parts':[{'text':'how are you?'}]}}",
    "{'id':'c','invocationId':'i2','author':'user','timestamp':1700000003.5,"
    "'content':{'parts':[{'text':'my password is hunter2'}]}}",
};
static const char remembered[] =
    "{'id':'c','author':'user','timestamp':1700000003.5,'content':{'parts':[{'text':"
    "'my password is hunter2'}]},'customMetadata':{'topic':'x'}}";

static void say_all(ses_store *store, const ses_key *of)
{
    must_create(store, of, Q("{'k':'v'}"));
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        must_append_by_key(store, of, Q(said[i]));
}

/* As the packages do: the session of the copies names the one that they come from, or (NULL) not. */
static void keep(ses_store *store, const ses_key *place, const ses_key *parent, const char *event)
{
    static const ses_label label = {"memory", "all"};
    const ses_loaded loaded = {.size = sizeof loaded, .labels = &label, .label_count = 1, .parent = parent};
    ses_error error;

    assert_ok(ses_load(store, place, &loaded, NULL, NULL, &error));
    must_append_by_key(store, place, Q(event));
}

static void redact(ses_store *store, const ses_key *of, unsigned flags, const char *wanted, int64_t seq,
                   ses_erased *erased)
{
    char text[40];
    const ses_redact_options options = {.size = sizeof options,
                                        .flags = flags,
                                        .find = wanted ? find_text : NULL,
                                        .find_context = wanted ? text : NULL};

    snprintf(text, sizeof text, "%s", wanted ? wanted : "");
    if (seq > 0)
        must_redact(store, of, SEQS(seq), &options, erased);
    else
        must_redact(store, of, all, 0, &options, erased);
}

TEST(copies_are_redacted_by_their_ids)
{
    ses_store *store = fixture->store;
    ses_erased erased;

    say_all(store, &source);
    keep(store, &kept, &source, remembered);
    must_append_by_key(store, &kept, Q(said[0])); /* is number 2 here */
    redact(store, &source, SES_REDACT_STATE, NULL, 2, &erased);
    assert_int_equal(erased.forks_left, 0);
    redact(store, &source, SES_REDACT_STATE | SES_REDACT_DRY_RUN, NULL, 3, &erased);
    assert_int_equal(erased.forks_left, 1);
    redact(store, &source, SES_REDACT_STATE | SES_REDACT_FORKS, NULL, 3, &erased);
    assert_int_equal(erased.sessions, 1);
    assert_int_equal(erased.events, 2);
    assert_int_equal(erased.forks_left, 0);
    assert_null(strstr(event_text(store, &kept, 1), "hunter2"));
    assert_non_null(strstr(event_text(store, &kept, 2), "hello"));
    redact(store, &source, SES_REDACT_FORKS, "hell", 0, &erased);
    assert_int_equal(erased.sessions, 1);
    assert_non_null(strstr(event_text(store, &kept, 2), "[redacted]o"));
    assert_no_problems(store);
}

/* A fork is linked to the copies of its parent, also when that is gone. */
TEST(copies_of_the_parent)
{
    ses_store *store = fixture->store;
    const ses_key fork = {"app", "other", "fork"};
    const ses_fork_options other_user = {.size = sizeof other_user, .flags = SES_FORK_OTHER_USER};
    ses_erased erased;

    say_all(store, &source);
    keep(store, &kept, &source, remembered);
    assert_ok(ses_fork_by_key(store, &source, NULL, &fork, &other_user, NULL, &error));
    assert_int_equal(left_by_delete(store, &source), 2);
    redact(store, &fork, SES_REDACT_FORKS, "hunter2", 0, &erased);
    assert_int_equal(erased.sessions, 1);
    assert_non_null(strstr(event_text(store, &kept, 1), "is [redacted]"));
    redact(store, &kept, SES_REDACT_FORKS, "password", 0, &erased); /* and the other way */
    assert_int_equal(erased.sessions, 1);
    assert_non_null(strstr(event_text(store, &fork, 3), "my [redacted] is [redacted]"));
    assert_no_problems(store);
}

/* As older versions have made them. */
TEST(copies_that_are_not_linked_are_counted)
{
    ses_store *store = fixture->store;
    ses_erased erased;

    say_all(store, &source);
    keep(store, &kept, NULL, remembered);
    redact(store, &source, SES_REDACT_FORKS, "hello", 0, &erased);
    assert_int_equal(erased.forks_left, 0);
    redact(store, &source, SES_REDACT_FORKS, "hunter2", 0, &erased);
    assert_int_equal(erased.sessions, 0);
    assert_int_equal(erased.forks_left, 1);
    assert_non_null(strstr(event_text(store, &kept, 1), "hunter2"));
    must_append_by_key(store, &source, Q("{'author':'user'}"));
    assert_int_equal(left_by_cut(store, &source, 3), 0);
    assert_int_equal(left_by_cut(store, &source, 2), 1);
    assert_int_equal(left_by_delete(store, &source), 1); /* what was cut is still there */
}

/* Such as those of adk-rust, which have ids of their own. */
TEST(events_that_may_be_copies_are_counted)
{
    ses_store *store = fixture->store;
    ses_erased erased;

    say_all(store, &source);
    keep(store, &kept, &source, "{'id':'d','author':'user','content':{'parts':[{'text':'is hunter2'}]}}");
    redact(store, &source, SES_REDACT_FORKS, "hello", 0, &erased);
    assert_int_equal(erased.forks_left, 0);
    redact(store, &source, SES_REDACT_FORKS, "hunter2", 0, &erased);
    assert_int_equal(erased.forks_left, 1);
    redact(store, &source, SES_REDACT_FORKS, NULL, 3, &erased);
    assert_int_equal(erased.forks_left, 1);
    assert_non_null(strstr(event_text(store, &kept, 1), "hunter2"));
    assert_int_equal(left_by_delete(store, &source), 1);
}

/* Ids that are not kept in a name as they are. */
TEST(names_of_memory)
{
    static const struct {
        const char *session;
        const char *memory;
    } names[] = {
        {"notes", "memory:sha256:ab5aa97074c454a0632057e704220d9a6678fbf773a0a5806fc09b8173b07309"},
        {"sha256:x", "memory:sha256:fe8eb9ab9836bcf963c044b6f84eb71c089db399876f45e72a6c21b488da26c4"},
    };
    ses_store *store = fixture->store;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const ses_key session = {"app", "user", names[i].session};
        say_all(store, &session);
        keep(store, &(ses_key){"app", "user", names[i].memory}, NULL, remembered);
        assert_int_equal(left_by_delete(store, &session), 1);
    }
    say_all(store, &source);
    keep(store, &(ses_key){"app", "user", "memory:notes"}, NULL, remembered);
    keep(store, &(ses_key){"app", "other", "memory:s1"}, NULL, remembered);
    assert_int_equal(left_by_delete(store, &source), 0);
}
