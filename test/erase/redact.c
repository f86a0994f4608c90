/* Redacting events: what is replaced, what stays, and who hears of it. */
#include "erase.h"

static const ses_redact_options with_state = {.size = sizeof with_state, .flags = SES_REDACT_STATE};

/* ------------------------------------------------------------------------------------------ one event */

TEST(an_event_keeps_what_makes_it_one)
{
    ses_erased erased;

    must_create(fixture->store, &key, NULL);
    must_append_by_key(
        fixture->store, &key,
        Q("{'id':'e1','invocationId':'i1','author':'agent','timestamp':1.50,'branch':'a.b', 'partial':false,"
          "'content':{'role':'model','parts':["
          "{'text':'a secret','thought':true,'thoughtSignature':'c2VjcmV0'},"
          "{'functionCall':{'id':'c1','name':'f','args':{'secret':1}},'thoughtSignature':'c2VjcmV0'},"
          "{'functionCall':{'id':'c2','name':'g','args':{}}},"
          "{'inlineData':{'mimeType':'text/plain','data':'c2VjcmV0'}}, {'fileData':{'fileUri':'secret'}},"
          "{'executableCode':{'code':'secret'}}, 'secret', {}]},"
          "'usageMetadata':{'totalTokenCount':7}, 'errorCode':'X','errorMessage':'secret',"
          "'customMetadata':{'secret':'secret'},'secretNumber':4711,'secretList':[1],'flag':true,'none':null,"
          "'longRunningToolIds':['c1'],'modelVersion':'m',"
          "'actions':{'stateDelta':{'k':'secret'},'transferToAgent':'other','agentState':{'secret':1}}}"));
    must_redact(fixture->store, &key, SEQS(1), NULL, &erased);
    assert_event(
        fixture->store, &key, 1,
        Q("{'id':'e1','invocationId':'i1','author':'agent','timestamp':1.50,'branch':'a.b', 'partial':false,"
          "'content':{'role':'model','parts':["
          "{'text':'[redacted]','thought':true},"
          "{'functionCall':{'id':'c1','name':'f','args':{'redacted':'[redacted]'}}},"
          "{'functionCall':{'id':'c2','name':'g','args':{}}},"
          "{'text':'[redacted]'}, {'text':'[redacted]'},{'executableCode':{'code':'[redacted]'}}, "
          "{'text':'[redacted]'}, {}]},"
          "'usageMetadata':{'totalTokenCount':7}, 'errorCode':'X','errorMessage':'[redacted]',"
          "'customMetadata':{},'flag':true,'none':null,"
          "'longRunningToolIds':['c1'],'modelVersion':'m',"
          "'actions':{'stateDelta':{'k':'secret'},'transferToAgent':'other','agentState':{}}}"));
    assert_int_equal(erased.events, 1);
    assert_int_equal(erased.state_keys, 0);
    assert_int_equal(erased.state_left, 1);
    assert_int_equal(erased.forks_left, 0);
    assert_stored_state(fixture->store, &key, Q("{'k':'secret'}"));
    assert_no_problems(fixture->store);
}

TEST(a_response_keeps_its_call)
{
    ses_erased erased;

    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key,
                       Q("{'id':'e1','author':'user','timestamp':1,'content':{'parts':[{'function_response':"
                         "{'id':'c1','name':'f','response':{'secret':1},'will_continue':false,'scheduling':"
                         "'SILENT','parts':[{'x':'secret'}]}}]}}"));
    must_redact(fixture->store, &key, SEQS(1), NULL, &erased);
    assert_event(fixture->store, &key, 1,
                 Q("{'id':'e1','author':'user','timestamp':1,'content':{'parts':[{'function_response':"
                   "{'id':'c1','name':'f','response':{'redacted':'[redacted]'},'will_continue':false,"
                   "'scheduling':'SILENT'}}]}}"));
}

TEST(a_redacted_event_is_left_alone)
{
    ses_erased erased = {.size = sizeof erased};

    must_create(fixture->store, &key, NULL);
    must_say(fixture->store, &key, "i1", "user", Q("{'a':'secret'}"));
    must_redact(fixture->store, &key, SEQS(1, 1), &with_state, &erased);
    assert_int_equal(erased.state_keys, 1);
    assert_code(SES_UNCHANGED,
                ses_redact_by_key(fixture->store, &key, SEQS(1), &with_state, &erased, &error));
    assert_int_equal(erased.events, 0);
    assert_code(SES_UNCHANGED, ses_redact_by_key(fixture->store, &key, SEQS(1), NULL, NULL, &error));
    assert_int_equal(erased.state_left, 0);
    ses_session *session = must_get(fixture->store, &key);
    assert_int_equal(ses_session_version(session), 2);
}

TEST(texts_can_be_given)
{
    const ses_redact_options named = {.size = sizeof named, .text = "(\"gone\")"};
    const ses_redact_options given = {
        .size = sizeof given,
        .content = Q("{'parts':[{'text':'harmless'},{'functionCall':{'id':'c','name':'f','args':{}}}]}"),
        .content_len = SES_NUL};
    ses_erased erased;

    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key,
                       Q("{'id':'e1','author':'a','timestamp':1,'content':{'parts':[{'text':'secret'}]}}"));
    must_append_by_key(fixture->store, &key,
                       Q("{'id':'e2','author':'a','timestamp':1,'x':'secret','content':{'parts':[{"
                         "'functionCall':{'id':'c','name':'f','args':{'a':1}}}]}}"));
    must_append_by_key(fixture->store, &key, Q("{'id':'e3','author':'a','timestamp':1}"));
    assert_code(SES_INVALID, ses_redact_by_key(fixture->store, &key, SEQS(1), &given, NULL, &error));
    assert_message("function calls and responses");
    assert_code(SES_INVALID, ses_redact_by_key(fixture->store, &key, SEQS(3), &given, NULL, &error));
    assert_message("no content");
    assert_code(SES_INVALID, ses_redact_by_key(fixture->store, &key, SEQS(1, 2), &given, NULL, &error));
    must_redact(fixture->store, &key, SEQS(2), &given, &erased);
    assert_event(fixture->store, &key, 2,
                 Q("{'id':'e2','author':'a','timestamp':1,'content':{'parts':[{'text':"
                   "'harmless'},{'functionCall':{'id':'c','name':'f','args':{}}}]}}"));
    must_redact(fixture->store, &key, SEQS(1), &named, &erased);
    assert_event(
        fixture->store, &key, 1,
        "{\"id\":\"e1\",\"author\":\"a\",\"timestamp\":1,\"content\":{\"parts\":[{\"text\":\"(\\\"gone\\\")\"}]}}");
}

/* ------------------------------------------------------------------------------------------ what is found */

TEST(only_what_is_found_is_replaced)
{
    const ses_redact_options find = {.size = sizeof find,
                                     .flags = SES_REDACT_STATE,
                                     .text = "***",
                                     .find = find_text,
                                     .find_context = "4711"};
    ses_erased erased;

    must_create(fixture->store, &key, Q("{'pin':'4711','other':1,'user:pin':[4711]}"));
    must_say(fixture->store, &key, "i1", "user", Q("{'harmless':'x'}"));
    must_append_by_key(
        fixture->store, &key,
        Q("{'id':'e4711','invocationId':'4711','author':'4711','timestamp':4711,'content':{'role':'user','parts':["
          "{'text':'pin 4711, \\u0034711 (4711)', 'thought':true},"
          "{'functionCall':{'id':'4711','name':'4711','args':{'4711':{'n':[14711.5, 12]}}}},"
          "{'inlineData':{'mimeType':'text/plain','data':'cGluIDQ3MTE='}}]},'errorMessage':'4711',"
          "'customMetadata':{'a':['4711','b']},'actions':{'stateDelta':{'pin':{'was':'4711'},'4711':2}}}"));
    must_redact(fixture->store, &key, all, 0, &find, &erased);
    assert_event(
        fixture->store, &key, 2,
        Q("{'id':'e4711','invocationId':'4711','author':'4711','timestamp':4711,'content':{'role':'user','parts':["
          "{'text':'pin ***, *** (***)', 'thought':true},"
          "{'functionCall':{'id':'4711','name':'4711','args':{'***':{'n':['1***.5', 12]}}}},"
          "{'inlineData':{'mimeType':'text/plain','data':'cGluICoqKg=='}}]},'errorMessage':'***',"
          "'customMetadata':{'a':['***','b']},'actions':{'stateDelta':{'pin':{'was':'***'},'4711':2}}}"));
    assert_int_equal(erased.events, 1);
    assert_int_equal(erased.state_keys, 2); /* pin, of the event, and user:pin, as created */
    assert_stored_state(fixture->store, &key,
                        Q("{'user:pin':['***'],'4711':2,'harmless':'x','other':1,'pin':{'was':'***'}}"));
    assert_as_of(fixture->store, &key, AFTER_SEQ(0), Q("{'other':1,'pin':'***'}"));
    assert_no_problems(fixture->store);
}

static int find_badly(void *context, const char *text, size_t len, size_t from, size_t *begin, size_t *end,
                      ses_error *error)
{
    (void)text, (void)error;
    *begin = *(int *)context == 0 ? from : len;
    *end = *(int *)context == 0 ? from : len + 1;
    return *(int *)context < 0 ? *(int *)context : 1;
}

TEST(a_function_that_finds_badly)
{
    static const int results[][2] = {{0, SES_MISUSE}, {1, SES_MISUSE}, {SES_FULL, SES_FULL}, {-1000, SES_IO}};

    must_create(fixture->store, &key, NULL);
    must_say(fixture->store, &key, "i1", "user", NULL);
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        int how = results[i][0];
        const ses_redact_options options = {.size = sizeof options, .find = find_badly, .find_context = &how};
        assert_code(results[i][1], ses_redact_by_key(fixture->store, &key, all, 0, &options, NULL, &error));
    }
}

/* ----------------------------------------------------------------------------------------------- state */

TEST(values_are_replaced_where_they_are_still_theirs)
{
    const ses_key other = {"app", "user", "other"};
    ses_erased erased;

    must_create(fixture->store, &key, Q("{'a':'secret','kept':1}"));
    must_create(fixture->store, &other, NULL);
    must_say(fixture->store, &key, "i1", "user",
             Q("{'a':'secret','b':'secret','c':'secret','gone':'__ADK_SENTINEL_REMOVED__','app:x':'secret',"
               "'user:y':'secret'}"));
    must_say(fixture->store, &key, "i2", "user", Q("{'b':'own'}"));
    must_say(fixture->store, &other, "i1", "user", Q("{'user:y':'secret'}"));
    must_redact(fixture->store, &key, SEQS(1), &with_state, &erased);
    assert_int_equal(erased.state_keys, 3); /* a, c, app:x */
    assert_stored_state(
        fixture->store, &key,
        Q("{'app:x':'[redacted]','user:y':'secret','a':'[redacted]','b':'own','c':'[redacted]',"
          "'kept':1}"));
    assert_as_of(fixture->store, &key, AFTER_SEQ(1),
                 Q("{'a':'[redacted]','b':'[redacted]','c':'[redacted]','kept':1}"));
    assert_as_of(fixture->store, &key, AFTER_SEQ(0), Q("{'a':'secret','kept':1}"));
    must_redact(fixture->store, &key, SEQS(0), &with_state, &erased);
    assert_as_of(fixture->store, &key, AFTER_SEQ(0), Q("{'a':'[redacted]','kept':'[redacted]'}"));
    assert_no_problems(fixture->store);
}

/* A rewind repeats the values of the point, and a later one those of the first. */
TEST(rewinds_repeat_no_secret)
{
    ses_erased erased;

    must_create(fixture->store, &key, NULL);
    must_say(fixture->store, &key, "i1", "user", Q("{'a':'secret'}"));
    must_say(fixture->store, &key, "i2", "user", Q("{'a':'other'}"));
    must_rewind(fixture->store, &key, AFTER_SEQ(1));
    must_say(fixture->store, &key, "i3", "user", Q("{'a':'third'}"));
    must_rewind(fixture->store, &key, AFTER_SEQ(3));
    assert_code(SES_INVALID, ses_redact_by_key(fixture->store, &key, SEQS(3), NULL, NULL, &error));
    assert_message("is a rewind");
    must_redact(fixture->store, &key, SEQS(1), &with_state, &erased);
    assert_int_equal(erased.events, 3);
    for (int64_t seq = 1; seq <= 5; seq++)
        assert_null(strstr(event_text(fixture->store, &key, seq), "secret"));
    assert_stored_state(fixture->store, &key, Q("{'a':'[redacted]'}"));
    assert_no_problems(fixture->store);
    must_rewind(fixture->store, &key, AFTER_SEQ(2));
    assert_stored_state(fixture->store, &key, Q("{'a':'other'}"));
}

TEST(values_of_pruned_events)
{
    const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_SEQ, .last_seq = 2};
    ses_erased erased;

    must_create(fixture->store, &key, Q("{'given':'secret'}"));
    must_say(fixture->store, &key, "i1", "user", Q("{'a':'secret','user:b':'secret'}"));
    must_say(fixture->store, &key, "i2", "user", Q("{'c':1}"));
    must_say(fixture->store, &key, "i3", "user", Q("{'a':2}"));
    assert_ok(ses_prune_by_key(fixture->store, &key, &prune, NULL, &error));
    assert_code(SES_NOTFOUND, ses_redact_by_key(fixture->store, &key, SEQS(1), NULL, NULL, &error));
    assert_message("was pruned");
    must_redact(fixture->store, &key, SEQS(0, 1), &with_state, &erased);
    assert_int_equal(erased.state_keys, 2); /* given and user:b; a has another value by now */
    assert_as_of(fixture->store, &key, AFTER_SEQ(2), Q("{'a':'[redacted]','c':1,'given':'[redacted]'}"));
    assert_stored_state(fixture->store, &key, Q("{'user:b':'[redacted]','a':2,'c':1,'given':'[redacted]'}"));
    assert_no_problems(fixture->store);
}

TEST(pruned_rewinds_repeat_no_secret)
{
    const ses_prune_options prune = {.size = sizeof prune, .which = SES_PRUNE_SEQ, .last_seq = 2};
    ses_erased erased;

    must_create(fixture->store, &key, Q("{'a':'secret','b':'secret'}"));
    must_say(fixture->store, &key, "i1", "user", Q("{'a':'other'}"));
    must_rewind(fixture->store, &key, AFTER_SEQ(0));
    must_say(fixture->store, &key, "i2", "user", NULL);
    assert_ok(ses_prune_by_key(fixture->store, &key, &prune, NULL, &error));
    must_redact(fixture->store, &key, SEQS(0), &with_state, &erased);
    assert_int_equal(erased.state_keys, 2);
    assert_as_of(fixture->store, &key, AFTER_SEQ(2), Q("{'a':'[redacted]','b':'[redacted]'}"));
    assert_stored_state(fixture->store, &key, Q("{'a':'[redacted]','b':'[redacted]'}"));
    assert_no_problems(fixture->store);
}

/* ---------------------------------------------------------------------------------------- who hears of it */

TEST(the_original_is_another_event)
{
    const char *event =
        Q("{'id':'e1','author':'user','timestamp':1,'content':{'parts':[{'text':'secret'}]}}");
    ses_erased erased;

    must_create(fixture->store, &key, NULL);
    must_append_by_key(fixture->store, &key, event);
    assert_code(SES_DUPLICATE, ses_append_by_key(fixture->store, &key, event, SES_NUL, NULL, NULL, &error));
    must_redact(fixture->store, &key, SEQS(1), NULL, &erased);
    assert_code(SES_EXISTS, ses_append_by_key(fixture->store, &key, event, SES_NUL, NULL, NULL, &error));
    assert_code(SES_DUPLICATE, ses_append_by_key(fixture->store, &key, event_text(fixture->store, &key, 1),
                                                 SES_NUL, NULL, NULL, &error));
}

TEST(handles_show_no_secret)
{
    ses_follow_options follow = {.size = sizeof follow};
    ses_follower *follower = NULL;
    const ses_event *event;

    ses_session *own = must_open_new(fixture->store, &key, NULL);
    for (int i = 0; i < 3; i++)
        must_append(own, Q("{'author':'user','content':{'parts':[{'text':'secret'}]},'actions':{'stateDelta':"
                           "{'a':'secret'}}}"));
    ses_session *other = must_get(fixture->store, &key);
    assert_ok(ses_follower_open(fixture->store, &key, &follow, &follower, &error));
    assert_code(SES_STALE, ses_redact_by_key(fixture->store, &key, SEQS(2),
                                             &(ses_redact_options){.size = sizeof(ses_redact_options),
                                                                   .flags = SES_AT_VERSION,
                                                                   .version = 1},
                                             NULL, &error));
    assert_ok(ses_redact(own, SEQS(2, 3), &with_state, NULL, &error));
    assert_string_equal(ses_session_event(own, 0)->json, ses_session_event(other, 0)->json);
    assert_null(strstr(ses_session_event(own, 1)->json, "secret"));
    assert_null(strstr(ses_session_event(own, 2)->json, "secret"));
    assert_string_equal(support_state(own, NULL), Q("{'a':'[redacted]'}"));
    assert_code(SES_STALE, ses_append(other, Q("{'author':'user'}"), SES_NUL, NULL, NULL, &error));
    assert_code(SES_STALE, ses_redact(other, SEQS(1), NULL, NULL, &error));
    must_refresh(other);
    assert_int_equal(ses_session_event_count(other), 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(ses_session_event(own, i)->json, ses_session_event(other, i)->json);
    assert_string_equal(support_state(other, NULL), Q("{'a':'[redacted]'}"));
    must_append(other, Q("{'author':'user'}"));
    assert_code(SES_RESET, ses_follower_next(follower, 0, &event, &error));
    ses_follower_close(follower);
}

TEST(counting_changes_nothing)
{
    const ses_redact_options count = {.size = sizeof count, .flags = SES_REDACT_DRY_RUN | SES_REDACT_STATE};
    ses_erased erased;

    must_create(fixture->store, &key, NULL);
    must_say(fixture->store, &key, "i1", "user", Q("{'a':'secret'}"));
    must_redact(fixture->store, &key, SEQS(1), &count, &erased);
    assert_int_equal(erased.events, 1);
    assert_int_equal(erased.state_keys, 1);
    assert_non_null(strstr(event_text(fixture->store, &key, 1), "secret"));
    assert_stored_state(fixture->store, &key, Q("{'a':'secret'}"));
    ses_session *session = must_get(fixture->store, &key);
    assert_int_equal(ses_session_version(session), 1);
}

/* ------------------------------------------------------------------------------------------------- forks */

TEST(copies_in_forks)
{
    const ses_key fork = {"app", "user", "fork"};
    const ses_key second = {"app", "user", "second"};
    const ses_key unrelated = {"app", "user", "unrelated"};
    const ses_redact_options forks = {.size = sizeof forks, .flags = SES_REDACT_FORKS | SES_REDACT_STATE};
    ses_erased erased;

    must_create(fixture->store, &key, NULL);
    must_create(fixture->store, &unrelated, NULL);
    for (int i = 0; i < 3; i++) {
        must_say(fixture->store, &key, "i1", "user", Q("{'a':'secret'}"));
        must_say(fixture->store, &unrelated, "i1", "user", Q("{'a':'secret'}"));
    }
    assert_ok(ses_fork_by_key(fixture->store, &key, AFTER_SEQ(2), &fork, NULL, NULL, &error));
    must_say(fixture->store, &fork, "i1", "user", Q("{'b':'other'}"));
    assert_ok(ses_fork_by_key(fixture->store, &fork, NULL, &second, NULL, NULL, &error));
    must_delete(fixture->store, &fork);
    must_redact(fixture->store, &key, SEQS(1, 2, 3), &with_state, &erased);
    assert_int_equal(erased.events, 3);
    assert_int_equal(erased.sessions, 0);
    assert_int_equal(erased.forks_left, 1);
    assert_non_null(strstr(event_text(fixture->store, &second, 1), "secret"));
    must_redact(fixture->store, &key, SEQS(1, 2, 3), &forks, &erased);
    assert_int_equal(erased.events, 2);
    assert_int_equal(erased.sessions, 1);
    assert_int_equal(erased.forks_left, 0);
    assert_stored_state(fixture->store, &second, Q("{'a':'[redacted]','b':'other'}"));
    assert_non_null(strstr(event_text(fixture->store, &second, 3), "said")); /* its own */
    assert_non_null(strstr(event_text(fixture->store, &unrelated, 1), "secret"));
    assert_no_problems(fixture->store);
}

/* From the fork, the session that it was made from is found. */
TEST(copies_in_the_parent)
{
    const ses_key fork = {"app", "user", "fork"};
    const ses_redact_options found = {.size = sizeof found,
                                      .flags = SES_REDACT_FORKS | SES_REDACT_STATE,
                                      .find = find_text,
                                      .find_context = "secret"};
    ses_erased erased;

    must_create(fixture->store, &key, Q("{'g':'a secret','user:u':1}"));
    must_say(fixture->store, &key, "i1", "user", Q("{'a':'my secret','user:u':'the secret'}"));
    assert_ok(ses_fork_by_key(fixture->store, &key, NULL, &fork, NULL, NULL, &error));
    must_say(fixture->store, &key, "i2", "user", Q("{'b':'secret'}")); /* no copy of anything */
    must_redact(fixture->store, &fork, all, 0, &found, &erased);
    assert_int_equal(erased.sessions, 1);
    assert_int_equal(erased.events, 2);
    assert_stored_state(fixture->store, &key,
                        Q("{'user:u':'the [redacted]','a':'my [redacted]','b':'secret','g':'a [redacted]'}"));
    assert_stored_state(fixture->store, &fork,
                        Q("{'user:u':'the [redacted]','a':'my [redacted]','g':'a [redacted]'}"));
    assert_no_problems(fixture->store);
}

/* --------------------------------------------------------------------------------------------- artifacts */

static void append_with_artifact(ses_store *store, const char *name, const char *bytes)
{
    SES_OPTIONS(ses_append_options, options);
    ses_artifacts *artifacts;
    ses_error error;

    assert_ok(ses_artifacts_open(store, &key, &artifacts, &error));
    assert_ok(ses_artifacts_add(artifacts, name, bytes, strlen(bytes), NULL, &error));
    options.artifacts = artifacts;
    assert_ok(ses_append_by_key(store, &key, Q("{'author':'user'}"), SES_NUL, &options, NULL, &error));
    ses_artifacts_close(artifacts);
}

static size_t versions_of(ses_store *store, const char *name)
{
    ses_artifact_list *list;
    ses_error error;

    assert_ok(ses_artifact_versions_by_key(store, &key, name, NULL, &list, &error));
    const size_t count = ses_artifact_list_count(list);
    ses_artifact_list_close(list);
    return count;
}

TEST(artifacts_of_the_events)
{
    ses_erased erased;

    must_create(fixture->store, &key, NULL);
    append_with_artifact(fixture->store, "a", "secret");
    append_with_artifact(fixture->store, "user:u", "secret");
    must_say(fixture->store, &key, "i2", "user", NULL);
    must_say(fixture->store, &key, "i3", "user", NULL);
    append_with_artifact(fixture->store, "b", "other");
    append_with_artifact(fixture->store, "a", "new");
    must_rewind(fixture->store, &key, AFTER_SEQ(3));
    assert_int_equal(versions_of(fixture->store, "a"), 3);
    must_redact(fixture->store, &key, SEQS(1, 2), NULL, &erased);
    assert_int_equal(erased.events, 3); /* the rewind, too */
    assert_int_equal(erased.artifacts, 2);
    assert_int_equal(erased.artifacts_left, 1);
    assert_int_equal(versions_of(fixture->store, "a"), 1);
    assert_int_equal(versions_of(fixture->store, "user:u"), 1);
    for (int64_t seq = 1; seq <= 2; seq++)
        assert_non_null(strstr(event_text(fixture->store, &key, seq), "\"artifactDelta\":{}"));
    assert_null(strstr(event_text(fixture->store, &key, 7), "\"a\":"));
    assert_non_null(strstr(event_text(fixture->store, &key, 7), "\"b\":"));
    assert_no_problems(fixture->store);
}

/* ------------------------------------------------------------------------------------------- in and out */

TEST(a_redacted_log_comes_back)
{
    const ses_export_options sessions = {.size = sizeof sessions, .app = "app"};
    ses_import_report report;
    ses_erased erased;

    must_create(fixture->store, &key, Q("{'given':'secret','user:u':'secret'}"));
    must_append_by_key(
        fixture->store, &key,
        Q("{'id':'e\\u0031','invocationId':'i\\u0031','author':'user','timestamp':1,'content':{'parts':"
          "[{'text':'a secret'}]},'actions':{'stateDelta':{'a':'secret','user:v':'secret'}}}"));
    must_say(fixture->store, &key, "i2", "user", Q("{'a':1}"));
    must_rewind(fixture->store, &key, AFTER_SEQ(1));
    must_redact(fixture->store, &key, SEQS(0, 1), &with_state, &erased);
    struct text lines = exported(fixture->store, &sessions);
    assert_null(strstr(lines.data, "secret"));
    ses_store *other = empty_store();
    assert_ok(import_text(other, lines.data, lines.len, 0, &report, &error));
    for (int64_t seq = 1; seq <= 3; seq++) {
        char *text = strdup(event_text(fixture->store, &key, seq));
        assert_event(other, &key, seq, text);
        free(text);
    }
    assert_stored_state(
        other, &key,
        Q("{'user:u':'[redacted]','user:v':'[redacted]','a':'[redacted]','given':'[redacted]'}"));
    assert_no_problems(other);
    assert_no_problems(fixture->store);
    /* An imported key was set by no session, but is redacted the same way. */
    const ses_redact_options again = {.size = sizeof again, .flags = SES_REDACT_STATE, .text = "again"};
    must_redact(other, &key, SEQS(0, 1), &again, &erased);
    assert_int_equal(erased.state_keys, 4);
    free(lines.data);
    ses_close(other);
}

/* ---------------------------------------------------------------------------------------------- refusals */

TEST(refusals)
{
    const ses_key absent = {"app", "user", "absent"};
    ses_redact_options options = {.size = sizeof options};
    ses_erased unsized = {0};

    must_create(fixture->store, &key, NULL);
    must_say(fixture->store, &key, "i1", "user", NULL);
    must_append_by_key(fixture->store, &key,
                       Q("{'author':'a','actions':{'compaction':{'startTimestamp':1,'endTimestamp':2,"
                         "'compactedContent':{'role':'model','parts':[{'text':'a secret'}]}}}}"));
    assert_code(SES_NOTFOUND, ses_redact_by_key(fixture->store, &absent, SEQS(1), NULL, NULL, &error));
    assert_code(SES_NOTFOUND, ses_redact_by_key(fixture->store, &key, SEQS(3), NULL, NULL, &error));
    assert_message("there is no event 3");
    assert_code(SES_INVALID, ses_redact_by_key(fixture->store, &key, SEQS(2), NULL, NULL, &error));
    assert_message("is a compaction");
    assert_code(SES_INVALID, ses_redact_by_key(fixture->store, &key, SEQS(-1), NULL, NULL, &error));
    assert_code(SES_INVALID, ses_redact_by_key(fixture->store, &key, SEQS(0), NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_redact_by_key(fixture->store, &key, NULL, 1, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_redact_by_key(fixture->store, &key, SEQS(1), NULL, &unsized, &error));
    options.text = "\xff";
    assert_code(SES_INVALID, ses_redact_by_key(fixture->store, &key, SEQS(1), &options, NULL, &error));
    options = (ses_redact_options){.size = sizeof options, .content = "{", .content_len = 1};
    assert_code(SES_JSON, ses_redact_by_key(fixture->store, &key, SEQS(1), &options, NULL, &error));
    options = (ses_redact_options){.size = sizeof options, .content = "[]", .content_len = 2};
    assert_code(SES_INVALID, ses_redact_by_key(fixture->store, &key, SEQS(1), &options, NULL, &error));
    options.find = find_text;
    assert_code(SES_MISUSE, ses_redact_by_key(fixture->store, &key, SEQS(1), &options, NULL, &error));
    options = (ses_redact_options){.size = sizeof options, .flags = 0x100};
    assert_code(SES_MISUSE, ses_redact_by_key(fixture->store, &key, SEQS(1), &options, NULL, &error));
    assert_ok(ses_redact_by_key(fixture->store, &key, all, 0, NULL, NULL, &error)); /* with the compaction */
    assert_non_null(strstr(event_text(fixture->store, &key, 2),
                           Q("'compactedContent':{'role':'model','parts':[{'text':'[redacted]'}]}")));
    assert_no_problems(fixture->store);
}
