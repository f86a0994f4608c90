/* Redacting events that no ADK writes, but that a store can hold, and sessions that only look related. */
#include "erase.h"

/* Replaces what `wanted` is; a macro, as the options are const. */
#define FINDING(wanted, ...)                                                              \
    {                                                                                     \
        .size = sizeof(ses_redact_options), .flags = SES_REDACT_STATE, .find = find_text, \
        .find_context = (wanted), __VA_ARGS__                                             \
    }

/* -------------------------------------------------------------------------------------------- the state */

/* The replacement spells the ADK's word for a removed key, but removes nothing. */
TEST(a_value_that_would_remove_its_key)
{
    const ses_redact_options whole = {
        .size = sizeof whole, .flags = SES_REDACT_STATE, .text = "__ADK_SENTINEL_REMOVED__"};
    const ses_redact_options found = FINDING("4711", .text = "");
    ses_erased erased;

    must_create(fixture->store, &key, Q("{'a':'__ADK_SENTINEL_4711REMOVED__'}"));
    must_say(fixture->store, &key, "i1", "user", Q("{'b':'__ADK_SENTINEL_4711REMOVED__','c':'other'}"));
    must_redact(fixture->store, &key, all, 0, &found, &erased);
    assert_stored_state(
        fixture->store, &key,
        Q("{'a':'\\u005f_ADK_SENTINEL_REMOVED__','b':'\\u005f_ADK_SENTINEL_REMOVED__','c':'other'}"));
    assert_no_problems(fixture->store);
    must_redact(fixture->store, &key, SEQS(1), &whole, &erased);
    assert_stored_state(fixture->store, &key,
                        Q("{'a':'\\u005f_ADK_SENTINEL_REMOVED__','b':'\\u005f_ADK_SENTINEL_REMOVED__',"
                          "'c':'\\u005f_ADK_SENTINEL_REMOVED__'}"));
    assert_no_problems(fixture->store);
    assert_code(SES_UNCHANGED, ses_redact_by_key(fixture->store, &key, SEQS(1), &whole, NULL, &error));
}

/* If a key appears twice, the last value counts, and it is harmless, or another secret of the same length. */
TEST(a_key_that_appears_twice)
{
    const ses_redact_options secure = {.size = sizeof secure,
                                       .flags = SES_REDACT_STATE | (support_on_server() ? 0U : SES_SECURE),
                                       .find = find_text,
                                       .find_context = "4711"};
    const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_SEQ, .last_seq = 1};
    ses_erased erased;

    must_create(fixture->store, &key, Q("{'i':'4711','i':'harmless'}"));
    must_append_by_key(
        fixture->store, &key,
        Q("{'author':'user','actions':{'stateDelta':{'a':'4711','a':'harmless','b':'4711-1','b':'4711-2',"
          "'user:c':'4711','user:c':'harmless'}}}"));
    must_say(fixture->store, &key, "i2", "user",
             Q("{'d':'4711-1','d':'4711-2','e':'4711','e':'harmless','user:f':'4711','user:f':'harmless'}"));
    assert_ok(ses_prune_by_key(fixture->store, &key, &prune, NULL, &error));
    must_redact(fixture->store, &key, all, 0, &secure, &erased);
    assert_stored_state(
        fixture->store, &key,
        Q("{'user:c':'harmless','user:f':'harmless','a':'harmless','b':'[redacted]-2','d':'[redacted]-2','e':'harmless','i':'harmless'}"));
    assert_no_problems(fixture->store);
}

static int64_t stored_version(ses_store *store, const ses_key *of)
{
    ses_session *session = must_get(store, of);
    const int64_t version = ses_session_version(session);
    ses_session_close(session);
    return version;
}

/* The text to find is the text that replaces it. */
TEST(a_secret_that_is_replaced_by_itself)
{
    const ses_redact_options same = FINDING("4711", .text = "4711");

    must_create(fixture->store, &key, Q("{'a':'x4711'}"));
    must_say(fixture->store, &key, "i1", "user", Q("{'b':['4711']}"));
    const int64_t version = stored_version(fixture->store, &key);
    assert_code(SES_UNCHANGED, ses_redact_by_key(fixture->store, &key, all, 0, &same, NULL, &error));
    assert_int_equal(version, stored_version(fixture->store, &key));
}

/* ------------------------------------------------------------------------------------------ the contents */

/* A response can have parts of its own, and data may be no base64. */
TEST(inline_data_wherever_it_is)
{
    const ses_redact_options found = FINDING("4711", .text = "***");
    ses_erased erased;

    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key,
                       Q("{'id':'e1','author':'user','timestamp':1,'content':{'parts':["
                         "{'functionResponse':{'id':'c1','name':'f','response':{},"
                         "'parts':[{'inlineData':{'mimeType':'text/plain','data':'cGluIDQ3MTE='}}]}},"
                         "{'inlineData':{'data':'pin: 4711!'}},{'inlineData':{'data':{'4711':4711}}}]}}"));
    must_redact(fixture->store, &key, all, 0, &found, &erased);
    assert_event(fixture->store, &key, 1,
                 Q("{'id':'e1','author':'user','timestamp':1,'content':{'parts':["
                   "{'functionResponse':{'id':'c1','name':'f','response':{},"
                   "'parts':[{'inlineData':{'mimeType':'text/plain','data':'cGluICoqKg=='}}]}},"
                   "{'inlineData':{'data':'pin: ***!'}},{'inlineData':{}}]}}"));
}

/* A member that is kept for what it says stays only if it can say that. */
TEST(members_of_another_type)
{
    const ses_redact_options found = FINDING("4711", .text = "***");
    static const char *const event =
        ("{'id':'e%s','author':'user','timestamp':1,'content':{'parts':["
         "{'thought':'%s','text':%s},{'functionCall':{'id':{'4711':1},'name':['4711'],'scheduling':{'a':4711}}}]},"
         "'actions':{'artifactDelta':['4711']}}");
    char text[600];
    ses_erased erased;

    must_create(fixture->store, &key, NULL);
    snprintf(text, sizeof text, event, "1", "4711", "{'x':4711}");
    must_append_by_key(fixture->store, &key, Q(text));
    snprintf(text, sizeof text, event, "2", "4711", "''");
    must_append_by_key(fixture->store, &key, Q(text));
    must_redact(fixture->store, &key, SEQS(1), NULL, &erased);
    assert_event(fixture->store, &key, 1,
                 Q("{'id':'e1','author':'user','timestamp':1,'content':{'parts':[{'text':'[redacted]'},"
                   "{'functionCall':{}}]},'actions':{'artifactDelta':[]}}"));
    must_redact(fixture->store, &key, all, 0, &found, &erased);
    assert_event(fixture->store, &key, 2,
                 Q("{'id':'e2','author':'user','timestamp':1,'content':{'parts':[{'text':''},"
                   "{'functionCall':{'id':{'***':1},'name':['***'],'scheduling':{'a':null}}}]},"
                   "'actions':{'artifactDelta':['***']}}"));
}

static int find_as_told(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end,
                        ses_error *error)
{
    (void)error, (void)text, (void)len, (void)from, (void)begin, (void)end;
    return *(int *)context;
}

/* The code of the caller's function is returned as it is. */
TEST(every_code_of_the_function)
{
    static const int codes[] = {SES_JSON,        SES_BUSY,    SES_STALE, SES_NOTFOUND,
                                SES_INTERRUPTED, SES_UNKNOWN, SES_NOMEM};

    must_create(fixture->store, &key, Q("{'a':'x'}"));
    must_say(fixture->store, &key, "i1", "user", Q("{'a':'y'}"));
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        int code = codes[i];
        for (unsigned flags = 0; flags <= SES_REDACT_DRY_RUN; flags += SES_REDACT_DRY_RUN) {
            const ses_redact_options options = {
                .size = sizeof options, .flags = flags, .find = find_as_told, .find_context = &code};
            assert_code(code, ses_redact_by_key(fixture->store, &key, SEQS(1), &options, NULL, &error));
        }
    }
}

/* --------------------------------------------------------------------------------------------- relatives */

/* The fork has gone another way: the number is that of a rewind there. */
TEST(a_rewind_in_a_fork_is_no_copy)
{
    const ses_key fork = {"app", "user", "fork"};
    const ses_redact_options forks = {.size = sizeof forks, .flags = SES_REDACT_FORKS | SES_REDACT_STATE};
    ses_erased erased;

    must_create(fixture->store, &key, NULL);
    must_say(fixture->store, &key, "i1", "user", Q("{'a':'secret'}"));
    must_say(fixture->store, &key, "i2", "user", Q("{'a':'other'}"));
    assert_ok(ses_fork_by_key(fixture->store, &key, NULL, &fork, NULL, NULL, &error));
    must_rewind(fixture->store, &fork, AFTER_SEQ(1));
    must_say(fixture->store, &key, "i3", "user", Q("{'a':'third'}"));
    must_redact(fixture->store, &key, SEQS(3), NULL, &erased);
    assert_int_equal(erased.forks_left, 0);
    must_redact(fixture->store, &key, SEQS(1, 2, 3), &forks, &erased);
    assert_int_equal(erased.sessions, 1);
    for (int64_t seq = 1; seq <= 3; seq++)
        assert_null(strstr(event_text(fixture->store, &fork, seq), "secret"));
    assert_stored_state(fixture->store, &fork, Q("{'a':'[redacted]'}"));
    assert_no_problems(fixture->store);
}

/* A number that was pruned here can be that of a rewind, which a fork still has. */
TEST(a_pruned_rewind_that_a_fork_has)
{
    const ses_key fork = {"app", "user", "fork"};
    const ses_redact_options forks = {.size = sizeof forks, .flags = SES_REDACT_FORKS | SES_REDACT_STATE};
    const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_SEQ, .last_seq = 3};
    ses_erased erased;

    must_create(fixture->store, &key, NULL);
    must_say(fixture->store, &key, "i1", "user", Q("{'a':'secret'}"));
    must_say(fixture->store, &key, "i2", "user", Q("{'a':'other'}"));
    must_rewind(fixture->store, &key, AFTER_SEQ(1));
    must_say(fixture->store, &key, "i3", "user", NULL);
    assert_ok(ses_fork_by_key(fixture->store, &key, NULL, &fork, NULL, NULL, &error));
    assert_ok(ses_prune_by_key(fixture->store, &key, &prune, NULL, &error));
    must_redact(fixture->store, &key, SEQS(3), &forks, &erased);
    assert_int_equal(erased.sessions, 1);
    assert_stored_state(fixture->store, &key, Q("{'a':'[redacted]'}"));
    assert_stored_state(fixture->store, &fork, Q("{'a':'[redacted]'}"));
    assert_null(strstr(event_text(fixture->store, &fork, 3), "secret"));
    assert_no_problems(fixture->store);
}

/* A program that numbers its events uses the same ids in all sessions. */
TEST(forks_of_others_with_the_same_ids)
{
    const ses_key other = {"app", "user", "other"};
    const ses_key fork = {"app", "user", "fork"};
    const ses_redact_options forks = {.size = sizeof forks, .flags = SES_REDACT_FORKS | SES_REDACT_STATE};
    ses_erased erased;

    must_create(fixture->store, &key, Q("{'i':1}"));
    must_create(fixture->store, &other, Q("{'i':2}"));
    must_append_by_key(fixture->store, &key,
                       Q("{'id':'1','author':'user','timestamp':1,'errorMessage':'mine'}"));
    must_append_by_key(fixture->store, &other,
                       Q("{'id':'1','author':'user','timestamp':2,'errorMessage':'theirs'}"));
    assert_ok(ses_fork_by_key(fixture->store, &other, NULL, &fork, NULL, NULL, &error));
    must_redact(fixture->store, &key, all, 0, &forks, &erased);
    assert_int_equal(erased.sessions, 0);
    assert_non_null(strstr(event_text(fixture->store, &fork, 1), "theirs"));
    assert_stored_state(fixture->store, &fork, Q("{'i':2}"));
}
