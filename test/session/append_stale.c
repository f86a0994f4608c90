/* Several writers of one session: stale handles, catching up, versions, sessions that are gone. */
#include "session/append.h"

static const ses_key same_user = {"app", "user", "another"};
static const ses_append_options anyway = {.size = sizeof anyway, .flags = SES_ANYWAY};

static void append_by_key(struct fixture *fixture, const ses_key *to, const char *delta)
{
    char event[512];
    snprintf(event, sizeof event, "{\"invocationId\":\"else\",\"actions\":{\"stateDelta\":%s}}", delta);
    must_append_by_key(fixture->store, to, event);
}

/* A handle that is behind, in each way another writer can come between. */
static ses_session *stale_handle(struct fixture *fixture)
{
    must_create(fixture->store, &same_user, NULL);
    ses_session *session =
        must_open_new(fixture->store, &key,
                      Q("{'app:kept':0,'app:gone':0,'app:set':0,'user:gone':0,'user:set':0,'kept':0,"
                        "'gone':0,'set':0,'both':0}"));
    must_append(session, Q("{'id':'mine','invocationId':'i','actions':{'stateDelta':{'temp:t':1}}}"));
    fixture->now += 1000;
    append_by_key(fixture, &key, Q("{'gone':" REMOVED ",'set':1,'new':1,'both':1,'brief':1,'temp:else':1}"));
    append_by_key(fixture, &key, Q("{'app:gone':" REMOVED ",'app:set':1,'user:set':1,'brief':" REMOVED "}"));
    append_by_key(fixture, &same_user, Q("{'user:gone':" REMOVED ",'app:new':2,'app:set':2,'gone':2}"));
    return session;
}

static const char caught_up[] = "{\"app:kept\":0,\"app:new\":2,\"app:set\":2,\"user:set\":1,"
                                "\"both\":1,\"kept\":0,\"new\":1,\"set\":1,\"temp:t\":1}";

TEST(a_stale_handle_is_refused)
{
    static const char event[] =
        "{\"id\":\"new\",\"actions\":{\"stateDelta\":{\"app:kept\":5,\"set\":5,\"temp:t\":5}}}";
    const ses_text batch[] = {{event, SES_NUL}, {"{}", SES_NUL}};
    ses_session *session = stale_handle(fixture);
    ses_appended appended[2];
    ses_appended untouched[2];

    memset(untouched, 0x55, sizeof untouched);
    memcpy(appended, untouched, sizeof appended);
    char *handle = describe(session, 1);
    char *file = describe_stored(fixture->store, &key);
    assert_code(SES_STALE, ses_append(session, event, SES_NUL, NULL, appended, &error));
    assert_code(SES_STALE, ses_append(session, "{}", SES_NUL, NULL, appended, &error));
    assert_code(SES_STALE, ses_append_batch(session, batch, 2, NULL, appended, &error));
    assert_memory_equal(appended, untouched, sizeof appended);
    char *handle_after = describe(session, 1);
    char *file_after = describe_stored(fixture->store, &key);
    assert_string_equal(handle_after, handle);
    assert_string_equal(file_after, file);
    free(handle);
    free(file);
    free(handle_after);
    free(file_after);

    must_refresh(session);
    assert_state(session, caught_up);
    assert_int_equal(ses_session_updated_us(session), fixture->now);
    assert_handle_is_current(fixture->store, session);
    assert_ok(ses_append(session, event, SES_NUL, NULL, appended, &error));
    assert_int_equal(appended[0].seq, 4);
    assert_handle_is_current(fixture->store, session);
    ses_session_close(session);
}

/* The other writer may be another program. Here it is another store on the same file. */
TEST(another_store_makes_a_handle_stale)
{
    ses_store *other = must_open(fixture->path, &fixture->options);
    ses_session *here = must_open_new(fixture->store, &key, NULL);
    ses_session *there = must_get(other, &key);
    for (int i = 0; i < 5; i++) {
        must_append(here, Q("{'author':'here','actions':{'stateDelta':{'a':1}}}"));
        assert_code(SES_STALE, ses_append(there, Q("{'author':'there'}"), SES_NUL, NULL, NULL, &error));
        assert_ok(ses_append(there, Q("{'author':'there','actions':{'stateDelta':{'b':1}}}"), SES_NUL,
                             &anyway, NULL, &error));
        assert_handle_is_current(other, there);
        assert_code(SES_STALE, ses_append(here, Q("{'author':'here'}"), SES_NUL, NULL, NULL, &error));
        must_refresh(here);
        assert_handle_is_current(fixture->store, here);
    }
    assert_int_equal(ses_session_version(here), 10);
    ses_session_close(here);
    ses_session_close(there);
    ses_close(other);
}

MEMORY_TEST(a_refresh_sees_shared_scopes_of_other_sessions)
{
    ses_session *session = must_open_new(fixture->store, &key, Q("{'app:a':0,'user:a':0}"));

    must_create(fixture->store, &same_user, NULL);
    append_by_key(fixture, &same_user, Q("{'app:a':" REMOVED ",'app:b':1,'user:a':1}"));
    assert_state(session, Q("{'app:a':0,'user:a':0}")); /* a snapshot until then */
    must_refresh(session);
    assert_state(session, Q("{'app:b':1,'user:a':1}"));
    assert_int_equal(ses_session_version(session), 0);
    must_append(session, "{}");
}

/* ------------------------------------------------------------------------------------------- anyway */

TEST(appending_anyway_catches_up)
{
    ses_session *session = stale_handle(fixture);
    ses_appended appended;

    assert_ok(ses_append(session,
                         Q("{'id':'new','timestamp':1,'invocationId':'i','actions':{'stateDelta':"
                           "{'app:mine':5,'app:kept':" REMOVED ",'user:set':5,'both':5,'kept':" REMOVED
                           ",'temp:u':5}}}"),
                         SES_NUL, &anyway, &appended, &error));
    assert_int_equal(appended.status, SES_OK);
    assert_int_equal(appended.seq, 4);
    assert_int_equal(appended.version, 4);
    assert_state(session, Q("{'app:mine':5,'app:new':2,'app:set':2,'user:set':5,'both':5,'new':1,'set':1,"
                            "'temp:t':1,'temp:u':5}"));
    assert_int_equal(ses_session_event_count(session), 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(ses_session_event(session, i)->seq, i + 1);
    assert_string_equal(ses_session_event(session, 0)->id, "mine");
    assert_string_equal(ses_session_event(session, 1)->invocation_id, "else");
    assert_string_equal(ses_session_event(session, 3)->id, "new");
    assert_int_equal(ses_session_updated_us(session),
                     fixture->now); /* another writer's: later than this event */
    assert_handle_is_current(fixture->store, session);
    /* It is current now. */
    assert_ok(ses_append(session, "{}", SES_NUL, NULL, &appended, &error));
    assert_int_equal(appended.seq, 5);
    /* And where it is current, the flag makes no difference. */
    assert_ok(
        ses_append(session, Q("{'actions':{'stateDelta':{'app:set':6}}}"), SES_NUL, &anyway, NULL, &error));
    assert_handle_is_current(fixture->store, session);
    ses_session_close(session);
}

MEMORY_TEST(a_batch_anyway_catches_up)
{
    const ses_text batch[] = {
        {Q("{'invocationId':'i','actions':{'stateDelta':{'both':5,'app:set':5}}}"), SES_NUL},
        {Q("{'partial':true,'actions':{'stateDelta':{'both':6}}}"), SES_NUL},
        {Q("{'invocationId':'i','actions':{'stateDelta':{'both':7,'app:set':" REMOVED "}}}"), SES_NUL},
    };
    ses_session *session = stale_handle(fixture);
    ses_appended appended[3];

    assert_ok(ses_append_batch(session, batch, 3, &anyway, appended, &error));
    assert_int_equal(appended[0].seq, 4);
    assert_int_equal(appended[1].status, SES_PARTIAL);
    assert_int_equal(appended[2].seq, 5);
    assert_state(session, Q("{'app:kept':0,'app:new':2,'user:set':1,'both':7,'kept':0,'new':1,'set':1,"
                            "'temp:t':1}"));
    assert_handle_is_current(fixture->store, session);
    ses_session_close(session);
}

/* A failure leaves the handle as behind as it was. */
MEMORY_TEST(appending_anyway_can_fail)
{
    static const struct {
        int code;
        const char *event;
    } cases[] = {
        {SES_EXISTS, "{'id':'mine','actions':{'stateDelta':{'set':5}}}"},
        {SES_INVALID, "{'id':5,'actions':{'stateDelta':{'set':5}}}"},
        {SES_JSON, "{'actions':{'stateDelta':{'set':5}}"},
    };
    ses_session *session = stale_handle(fixture);
    char *handle = describe(session, 1);
    char *file = describe_stored(fixture->store, &key);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_code(cases[i].code, ses_append(session, Q(cases[i].event), SES_NUL, &anyway, NULL, &error));
        char *handle_after = describe(session, 1);
        char *file_after = describe_stored(fixture->store, &key);
        assert_string_equal(handle_after, handle);
        assert_string_equal(file_after, file);
        free(handle_after);
        free(file_after);
    }
    free(handle);
    free(file);
    ses_session_close(session);
}

/* ------------------------------------------------------------------------------------------- by key */

MEMORY_TEST(an_append_by_key_asks_for_no_version_unless_told)
{
    ses_append_options options = {.size = sizeof options};
    ses_appended appended;

    must_create(fixture->store, &key, NULL);
    options.version = 77; /* says nothing without its flag */
    assert_ok(ses_append_by_key(fixture->store, &key, "{}", SES_NUL, NULL, &appended, &error));
    assert_int_equal(appended.version, 1);
    assert_ok(ses_append_by_key(fixture->store, &key, "{}", SES_NUL, &options, &appended, &error));
    assert_int_equal(appended.version, 2);
    assert_ok(ses_append_by_key(fixture->store, &key, "{}", SES_NUL, &anyway, &appended, &error));
    assert_int_equal(appended.version, 3);
}

MEMORY_TEST(an_append_by_key_at_a_version)
{
    static const int64_t wrong[] = {-1, 0, 1, 3, INT64_MAX, INT64_MIN};
    const ses_text batch[] = {{Q("{'actions':{'stateDelta':{'app:a':1}}}"), SES_NUL}, {"{}", SES_NUL}};
    ses_append_options options = {.size = sizeof options, .flags = SES_AT_VERSION};
    ses_appended appended[2];

    must_create(fixture->store, &key, NULL);
    assert_ok(ses_append_by_key(fixture->store, &key, "{}", SES_NUL, &options, &appended[0], &error));
    options.version = appended[0].version;
    assert_ok(ses_append_by_key(fixture->store, &key, "{}", SES_NUL, &options, &appended[0], &error));
    assert_int_equal(appended[0].version, 2);
    char *before = describe_stored(fixture->store, &key);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        options.version = wrong[i];
        assert_code(SES_STALE,
                    ses_append_by_key(fixture->store, &key, batch[0].text, SES_NUL, &options, NULL, &error));
        assert_code(SES_STALE,
                    ses_append_batch_by_key(fixture->store, &key, batch, 2, &options, NULL, &error));
    }
    char *after = describe_stored(fixture->store, &key);
    assert_string_equal(after, before);
    free(before);
    free(after);
    options.version = 2;
    assert_ok(ses_append_batch_by_key(fixture->store, &key, batch, 2, &options, appended, &error));
    assert_int_equal(appended[1].version, 4);
}

MEMORY_TEST(an_append_to_no_session_is_not_found)
{
    static const ses_key absent[] = {{"app", "user", "other"},
                                     {"app", "other", "session"},
                                     {"other", "user", "session"},
                                     {"App", "user", "session"}};
    static const ses_key invalid[] = {
        {"", "user", "session"}, {"app", "", "session"}, {"app", "user", ""}, {"app", "user", "\xFF"}};
    static const char event[] = "{\"actions\":{\"stateDelta\":{\"app:a\":1,\"user:a\":1,\"a\":1}}}";
    const ses_text batch[] = {{event, SES_NUL}};
    ses_session *session = NULL;

    must_create(fixture->store, &key, NULL);
    for (size_t i = 0; i < 4; i++) {
        assert_code(SES_NOTFOUND,
                    ses_append_by_key(fixture->store, &absent[i], event, SES_NUL, NULL, NULL, &error));
        assert_code(SES_NOTFOUND,
                    ses_append_by_key(fixture->store, &absent[i], event, SES_NUL, &anyway, NULL, &error));
        assert_code(SES_NOTFOUND,
                    ses_append_batch_by_key(fixture->store, &absent[i], batch, 1, NULL, NULL, &error));
        assert_code(SES_INVALID,
                    ses_append_by_key(fixture->store, &invalid[i], event, SES_NUL, NULL, NULL, &error));
        session = must_open_new(fixture->store, &absent[i], NULL);
        assert_state(session, "{}"); /* no trace in the shared scopes either */
        ses_session_close(session);
    }
    assert_stored_state(fixture->store, &key, "{}");
}

/* ------------------------------------------------------------------------------------------ deleted */

static void assert_gone(ses_session *session)
{
    static const char event[] = "{\"actions\":{\"stateDelta\":{\"app:a\":1,\"user:a\":1,\"a\":1}}}";
    const ses_text batch[] = {{event, SES_NUL}};
    ses_error error;
    char *before = describe(session, 1);

    assert_code(SES_NOTFOUND, ses_append(session, event, SES_NUL, NULL, NULL, &error));
    assert_code(SES_NOTFOUND, ses_append(session, event, SES_NUL, &anyway, NULL, &error));
    assert_code(SES_NOTFOUND, ses_append(session, Q("{'id':'mine'}"), SES_NUL, NULL, NULL, &error));
    assert_code(SES_NOTFOUND, ses_append_batch(session, batch, 1, NULL, NULL, &error));
    assert_code(SES_NOTFOUND, ses_refresh(session, NULL, &error));
    char *after = describe(session, 1);
    assert_string_equal(after, before);
    free(before);
    free(after);
}

MEMORY_TEST(a_handle_on_a_deleted_session_finds_none)
{
    ses_session *session = stale_handle(fixture);

    must_delete(fixture->store, &key);
    assert_gone(session);
    /* A new session of that name is another one. */
    must_create(fixture->store, &key, NULL);
    assert_gone(session);
    assert_stored_state(fixture->store, &key, Q("{'app:kept':0,'app:new':2,'app:set':2,'user:set':1}"));
    assert_ok(ses_delete_user(fixture->store, key.app, key.user, NULL, NULL, NULL, &error));
    assert_gone(session);
    ses_session_close(session);
}

/* --------------------------------------------------------------------------------------- any mixture */

/* A small generator of numbers that are the same in every run (Numerical Recipes). */
static unsigned choose(unsigned *seed, unsigned below)
{
    *seed = *seed * 1664525U + 1013904223U;
    return (*seed >> 16) % below;
}

static void random_delta(unsigned *seed, char *text, size_t size)
{
    static const char *const scopes[] = {"app:", "user:", "", "temp:"};
    static const char *const values[] = {REMOVED, "null", "1.10", "{'a':1}", "\"text\""};
    size_t len = (size_t)snprintf(text, size, "{");
    unsigned count = choose(seed, 5);

    for (unsigned i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, size - len, "%s\"%s%u\":%s", i ? "," : "",
                                scopes[choose(seed, 4)], choose(seed, 12), Q(values[choose(seed, 5)]));
    snprintf(text + len, size - len, "}");
}

/* Three handles on one session and one on its neighbour, which shares two scopes with it. */
MEMORY_TEST(handles_agree_with_the_file_after_any_mixture)
{
    enum { HANDLES = 4, STEPS = 3000 };
    ses_session *handles[HANDLES] = {NULL};
    unsigned seed = 20240115;
    unsigned stale = 0;

    must_create(fixture->store, &key, NULL);
    must_create(fixture->store, &same_user, NULL);
    for (size_t i = 0; i < HANDLES; i++)
        handles[i] = must_get(fixture->store, i < 3 ? &key : &same_user);
    for (int step = 0; step < STEPS; step++) {
        size_t which = choose(&seed, HANDLES);
        char delta[512];
        char event[1024];
        random_delta(&seed, delta, sizeof delta);
        snprintf(event, sizeof event, "{\"invocationId\":\"%u\",\"actions\":{\"stateDelta\":%s}}",
                 choose(&seed, 3), delta);
        if (choose(&seed, 2)) {
            int64_t before = ses_session_version(handles[which]);
            int code = ses_append(handles[which], event, SES_NUL, NULL, NULL, &error);
            stale += code == SES_STALE;
            assert_true(code == SES_OK || code == SES_STALE);
            assert_int_equal(ses_session_version(handles[which]), before + (code == SES_OK));
        } else {
            assert_ok(ses_append(handles[which], event, SES_NUL, &anyway, NULL, &error));
        }
        size_t looked_at = choose(&seed, HANDLES);
        if (step % 7 == 0) {
            must_refresh(handles[looked_at]);
            assert_handle_is_current(fixture->store, handles[looked_at]);
        }
    }
    assert_in_range(stale, STEPS / 20, STEPS); /* the mixture did mix */
    for (size_t i = 0; i < HANDLES; i++) {
        must_refresh(handles[i]);
        assert_handle_is_current(fixture->store, handles[i]);
        ses_session_close(handles[i]);
    }
}
