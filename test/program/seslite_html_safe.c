/* seslite html: what must not stand in the page: markup of the log, and what is redacted. */
#include <sys/resource.h>

#include "html.h"

/* ------------------------------------------------------------------------------------------ hostile texts */

TEST_OF(page_setup, nothing_of_a_log_becomes_markup)
{
    for (size_t i = 0; i < HOSTILE_COUNT; i++) {
        char id[32];
        snprintf(id, sizeof id, "hostile-%zu", i);
        const ses_key key = {"travel", "alice", id};
        must_create(fixture->store, &key, "{}");
        fill_hostile_session(fixture->store, &key, hostile[i].json);
        run_ok("html", id);
        check_page(&reply.out);
        cJSON_Delete(page_data(&reply.out));
        if (hostile[i].shown)
            assert_has(&reply.out, hostile[i].shown);
    }
}

TEST_OF(page_setup, names_of_a_session_become_no_markup)
{
    static const char evil[] = "</title><script>window.pwned=1</script>\xe2\x80\xae";
    const ses_key key = {evil, evil, evil};
    const ses_label labels[] = {{evil, evil}};

    must_create(fixture->store, &key, "{}");
    assert_ok(ses_title_set_by_key(fixture->store, &key, evil, NULL, &error));
    assert_ok(ses_labels_set_by_key(fixture->store, &key, labels, 1, NULL, &error));
    run_ok("--app", evil, "--user", evil, "html", evil);
    check_page(&reply.out);
    assert_has(&reply.out,
               "<title>&lt;/title&gt;&lt;script&gt;window.pwned=1&lt;/script&gt;&lt;U+202E&gt;</title>");
}

/* Copies the nonce that the page's policy allows to scripts. */
static void take_nonce(const struct text *page, char nonce[33])
{
    const char *at = strstr(page->data, "script-src 'nonce-");

    assert_non_null(at);
    at += strlen("script-src 'nonce-");
    assert_int_equal(strspn(at, "0123456789abcdef"), 32);
    assert_int_equal(at[32], '\'');
    memcpy(nonce, at, 32);
    nonce[32] = '\0';
}

TEST_OF(page_setup, each_page_allows_only_its_own_script_by_a_new_nonce)
{
    char nonces[2][33];
    char tag[64];

    for (size_t i = 0; i < 2; i++) {
        run_ok("html", "oslo");
        take_nonce(&reply.out, nonces[i]);
        snprintf(tag, sizeof tag, "style-src 'nonce-%s'", nonces[i]);
        assert_has(&reply.out, tag);
        snprintf(tag, sizeof tag, "<style nonce=\"%s\">", nonces[i]);
        assert_has(&reply.out, tag);
        snprintf(tag, sizeof tag, "<script nonce=\"%s\">", nonces[i]);
        assert_has(&reply.out, tag);
        assert_lacks(&reply.out, "unsafe");
    }
    assert_string_not_equal(nonces[0], nonces[1]);
}

TEST_OF(page_setup, a_long_line_stays_whole)
{
    static const ses_key key = {"travel", "alice", "long"};
    enum { LONG = 1 << 20 };
    struct text event = {NULL, 0};

    text_printf(&event, "{\"author\":\"user\",\"content\":{\"parts\":[{\"text\":\"");
    for (int i = 0; i < LONG; i += 16)
        text_add(&event, "x<x>x&xxxxxxxxxx", 16);
    text_printf(&event, "<end>\"}]}}");
    must_create(fixture->store, &key, "{}");
    must_append_by_key(fixture->store, &key, event.data);
    run_ok("html", "long");
    check_page(&reply.out);
    assert_has(&reply.out, "xxx&lt;end&gt;</div>");
    assert_true(reply.out.len > 2 * (size_t)LONG);
    free(event.data);
}

/* The processor time of the programs that were run. */
static int64_t children_us(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
    return (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_usec;
}

/* Marks that open and never close are looked for once. */
TEST_OF(page_setup, markdown_takes_time_as_its_text_is_long)
{
    static const char *const pieces[] = {"*a ",  "`a ",    "``a` ",     "[a](", "[",         "**a _b ~~c ",
                                         "| a ", "> a\\n", "a\\n|-\\n", "__",   "[a](b)*c* "};
    enum { LONG = 1 << 17 };

    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        char id[32];
        snprintf(id, sizeof id, "marks-%zu", i);
        const ses_key key = {"travel", "alice", id};
        struct text event = {NULL, 0};
        struct text many = {NULL, 0};
        while (many.len < 1024)
            text_add(&many, pieces[i], strlen(pieces[i]));
        text_printf(&event, "{\"author\":\"bot\",\"content\":{\"parts\":[{\"text\":\"");
        while (event.len < LONG)
            text_add(&event, many.data, many.len);
        text_printf(&event, "<end>\"}]}}");
        must_create(fixture->store, &key, "{}");
        must_append_by_key(fixture->store, &key, event.data);
        const int64_t before_us = children_us();
        run_ok("html", id);
        assert_true(children_us() - before_us < INT64_C(5000000));
        assert_has(&reply.out, "&lt;end&gt;");
        free(event.data);
        free(many.data);
    }
}

TEST_OF(page_setup, deep_json_makes_no_huge_page)
{
    static const ses_key key = {"travel", "alice", "deep"};
    struct text event = {NULL, 0};

    text_printf(&event, "{\"author\":\"user\",\"customMetadata\":");
    for (int i = 0; i < 900; i++)
        text_printf(&event, "[1,");
    text_printf(&event, "2");
    for (int i = 0; i < 900; i++)
        text_printf(&event, "]");
    text_printf(&event, "}");
    must_create(fixture->store, &key, "{}");
    must_append_by_key(fixture->store, &key, event.data);
    run_ok("html", "deep");
    check_page(&reply.out);
    assert_true(reply.out.len < 400000);
    free(event.data);
}

/* ---------------------------------------------------------------------------------------------- redaction */

static void fill_secret_session(ses_store *store, const ses_key *key)
{
    static const char *const events[] = {
        "{'id':'a','author':'user','content':{'parts':[{'text':'My token is tok-4711-abc, the pin "
        "48151623.'}]}}",
        "{'id':'b','author':'bot','content':{'parts':[{'functionCall':{'id':'c','name':'login','args':{'"
        "token':"
        "'tok-4711-abc','why':'say "
        "tok-4711-abctok-4711-abc','deep':[{'t\\u006fken':{'kept':'gh_secret_x9','short':'ab'}},"
        "48151623,'tok\\u002d4711-abc']}}}]}}",
        "{'id':'c','author':'bot','content':{'parts':[{'functionResponse':{'id':'c','name':'login','response'"
        ":{'user:token':"
        "'tok-4711-abc','said':'it was "
        "gh_secret_x9'}}}]},'actions':{'stateDelta':{'user:token':'other\\\"quoted\\\"one',"
        "'pin':48151623,'copy':'tok-4711-abc','note':{'other\\\"quoted\\\"one':1}}}}",
        "{'id':'d','author':'bot','errorMessage':'tok-4711-abc is wrong','content':{'parts':[{'text':"
        "'as JSON: "
        "{\\\"token\\\":\\\"other\\\\\\\"quoted\\\\\\\"one\\\"}'}]},'customMetadata':{'x':'tok-4711-abc'},"
        "'actions':{'token':'tok-4711-abc','compaction':{'startTimestamp':1,'endTimestamp':2,'"
        "compactedContent':{'parts':["
        "{'text':'tok-4711-abc was used'}]}}}}",
        "{'id':'e','author':'tok-4711-abc','content':{'parts':[{'inlineData':{'mimeType':'tok-4711-abc','"
        "data':'AAAA'}},"
        "{'tok-4711-abc':1},{'text':'tok-4711-ab'}]},'actions':{'stateDelta':{'user:token':null}}}",
    };
    const ses_label labels[] = {{"tok-4711-abc", "tok-4711-abc"}};
    ses_error error;

    must_create(store, key, Q("{'user:token':'tok-4711-abc'}"));
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        must_append_by_key(store, key, Q(events[i]));
    assert_ok(ses_title_set_by_key(store, key, "About tok-4711-abc", NULL, &error));
    assert_ok(ses_labels_set_by_key(store, key, labels, 1, NULL, &error));
}

TEST_OF(page_setup, redacted_text_leaves_no_trace)
{
    static const char *const secrets[] = {"tok-4711-abc", "48151623", "gh_secret_x9", "quoted"};
    static const ses_key key = {"travel", "alice", "secret"};

    fill_secret_session(fixture->store, &key);
    run_ok("html", "secret");
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
        assert_has(&reply.out, secrets[i]);
    run_ok("html", "secret", "--redact", "user:token", "--redact=pin");
    check_page(&reply.out);
    cJSON_Delete(page_data(&reply.out));
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
        assert_lacks(&reply.out, secrets[i]);
    assert_has(&reply.out, "My token is [redacted], the pin [redacted].");
    assert_has(&reply.out, "<code>user:token</code> [redacted]");
    assert_has(&reply.out, "&quot;why&quot;: &quot;say [redacted][redacted]&quot;");
    assert_has(&reply.out, "About [redacted]");
    assert_has(&reply.out, "tok-4711-ab</p>");
    assert_has(&reply.out, "<dt>Redacted</dt><dd><code>user:token</code>, <code>pin</code></dd>");
    assert_string_equal(reply.err.data, "");
    /* A part of the log is written without what another part knows. */
    run_ok("html", "secret", "--up-to", "1", "--redact", "pin");
    assert_lacks(&reply.out, "48151623");
}

TEST_OF(page_setup, a_key_that_is_nowhere_is_told)
{
    run_ok("html", "oslo", "--redact", "user:tokn");
    assert_has(&reply.err, "nothing to redact: the session has no \"user:tokn\"");
}

/* Another program may have stored what is no JSON. */
TEST_OF(page_setup, an_event_that_is_no_json_is_shown_unless_something_is_hidden)
{
    char *guard = raw_text(fixture->path, "SELECT sql FROM sqlite_schema WHERE name = 'guard_events_update'");
    raw_exec(fixture->path, "DROP TRIGGER guard_events_update;"
                            "UPDATE events SET body = body || '<b>tok' WHERE position & 4294967295 = 4");
    raw_exec(fixture->path, guard);
    free(guard);
    run_ok("html", "oslo");
    check_page(&reply.out);
    assert_has(&reply.out, "This event cannot be read");
    assert_has(&reply.out, "&lt;b&gt;tok</pre>");
    run_ok("html", "oslo", "--redact", "user:token");
    assert_lacks(&reply.out, "&lt;b&gt;tok");
}
