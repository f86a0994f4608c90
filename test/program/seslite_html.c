/* seslite html: what stands in the page. */
#include "html.h"

#define page_ok(...) run_at(&reply, 0, NULL, fixture->path, __VA_ARGS__)

static int setup(void **state)
{
    (void)fixture_setup(state);
    const struct fixture *fixture = *state;
    fill_page_session(fixture->store);
    return 0;
}

/* --------------------------------------------------------------------------------------- reading the page */

/* The data of the script; cJSON_Delete. */
static cJSON *page_data(const struct text *page)
{
    static const char begin[] = "<script type=\"application/json\" id=\"data\">";
    const char *from = strstr(page->data, begin);

    assert_non_null(from);
    from += strlen(begin);
    const char *to = strstr(from, "</script>");
    assert_non_null(to);
    for (const char *at = from; at < to; at++)
        assert_null(strchr("<>&", *at));
    cJSON *data = cJSON_ParseWithLength(from, (size_t)(to - from));
    assert_non_null(data);
    return data;
}

/* The length of the tag at `at`, which must be one of ours: a known name, and attributes that hold nothing of the log. */
static size_t check_tag(const char *at)
{
    static const char *const names[] = {
        "!DOCTYPE", "html",   "head", "meta",  "title", "style",   "body",    "script",  "header",
        "h1",       "h2",     "h3",   "dl",    "div",   "dt",      "dd",      "span",    "code",
        "pre",      "p",      "b",    "a",     "time",  "article", "details", "summary", "ul",
        "li",       "strong", "main", "aside", "input", "button",  "output",  "footer",  "noscript"};
    const char *name = at + 1 + (at[1] == '/');
    size_t len = strcspn(name, " >");
    const char *end = strchr(at, '>');
    bool known = false;

    assert_non_null(end);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        known = known || (strlen(names[i]) == len && strncmp(names[i], name, len) == 0);
    if (!known)
        print_error("a tag that is none of ours: %.80s\n", at);
    assert_true(known);
    for (const char *in = name; in < end; in++)
        if (strncmp(in, " href=\"", 7) == 0 || strncmp(in, " src", 4) == 0 || strncmp(in, " on", 3) == 0)
            assert_int_equal(strncmp(in, " href=\"#e", 9), 0);
    return (size_t)(end - at) + 1;
}

/* Between our styles and scripts there are only our tags, texts without anything that could begin one, and no character that
 * nobody can see. */
static void check_page(const struct text *page)
{
    uint32_t scripts = 0;

    assert_int_equal(strncmp(page->data, "<!DOCTYPE html>", 15), 0);
    for (const char *at = page->data; *at;) {
        unsigned char byte = (unsigned char)*at;
        assert_true(byte >= 0x20 || byte == '\n');
        assert_true(byte != 0x7f && strncmp(at, "\xe2\x80\xa8", 3) != 0 &&
                    strncmp(at, "\xe2\x80\xae", 3) != 0);
        if (*at != '<') {
            at++;
            continue;
        }
        const char *closing = strncmp(at, "<script", 7) == 0   ? "</script>"
                              : strncmp(at, "<style>", 7) == 0 ? "</style>"
                                                               : NULL;
        scripts += strncmp(at, "<script", 7) == 0;
        at += check_tag(at);
        if (closing)
            at = strstr(at, closing);
        assert_non_null(at);
    }
    assert_int_equal(scripts, 2);
    assert_int_equal(strcmp(page->data + page->len - 8, "</html>\n"), 0);
}

/* -------------------------------------------------------------------------------------------------- tests */

static void test_a_page_shows_the_session(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    page_ok("html", "oslo");
    check_page(&reply.out);
    assert_has(&reply.out, "<title>A coat for Oslo</title>");
    assert_has(&reply.out, "<h1>A coat for Oslo</h1>");
    assert_has(&reply.out, "<dt>App</dt><dd>travel</dd>");
    assert_has(&reply.out, "project\xc2\xa0= oslo</span>");
    assert_has(&reply.out, "1346 in (256 cached), 111 out, 64 thought, 1521 in all, in 3 events");
    assert_has(&reply.out, "<div class=\"text\">I fly to Oslo on Friday.\nDo I need a coat?</div>");
    assert_has(&reply.out, "<div class=\"text thought\">The user asks about the weather.");
    assert_has(&reply.out,
               "<time datetime=\"2023-11-14T22:13:23.200000Z\">22:13:23</time> <span class=\"gap\">+2.2");
    assert_has(&reply.out, "<strong>RESOURCE_EXHAUSTED</strong> The model is overloaded.");
    assert_has(&reply.out, "image/png, 24 bytes, not shown");
    assert_lacks(&reply.out, "iVBOR");
    assert_has(&reply.out, "<li class=\"removed\"><code>topic</code> removed</li>");
    assert_has(&reply.out, "<code>transferToAgent</code> &quot;booker&quot;");
    assert_string_equal(reply.err.data, "");
    reply_free(&reply);
}

static void test_a_response_stands_with_its_call(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    page_ok("html", "oslo");
    const char *call =
        strstr(reply.out.data, "<code>forecast</code> <span class=\"brief\">{&quot;city&quot;:");
    assert_non_null(call);
    const char *response = strstr(call, "<h3>Response, in event <a href=\"#e3\">3</a></h3>");
    assert_non_null(response);
    assert_true(response < strstr(call, "<code>remember</code>"));
    assert_has(&reply.out, "<code>forecast</code> answered: see the call in event <a href=\"#e2\">2</a>");
    assert_has(&reply.out, "<span class=\"took\">no response</span>");
    reply_free(&reply);
}

static void test_what_was_taken_back_is_marked_and_summaries_have_bars(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    page_ok("html", "oslo");
    assert_has(&reply.out, "<article id=\"e6\" class=\"agent\"><a class=\"bar lane0\" href=\"#e11\"");
    assert_has(&reply.out, "<article id=\"e7\" class=\"user gone\"><header>");
    assert_has(&reply.out, "<article id=\"e9\" class=\"user rewind\"><header>");
    assert_has(&reply.out, "<code>rewindBeforeInvocationId</code> &quot;i3&quot;");
    assert_has(&reply.out, "<article id=\"e10\" class=\"user\"><header>");
    assert_has(&reply.out, "6 events, <a href=\"#e1\">1</a> to <a href=\"#e6\">6</a>");
    assert_has(&reply.out, "Alice flies from Rome to Oslo on Friday.");
    reply_free(&reply);
}

static void test_the_data_holds_the_state_and_its_changes(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    page_ok("html", "oslo");
    cJSON *data = page_data(&reply.out);
    const cJSON *first = cJSON_GetObjectItem(data, "state");
    const cJSON *changes = cJSON_GetObjectItem(data, "changes");
    assert_int_equal(cJSON_GetArraySize(first), 3);
    assert_string_equal(json_string(first, "topic"), "\"travel\"");
    assert_int_equal(cJSON_GetArraySize(changes), 6);
    const cJSON *third = cJSON_GetArrayItem(changes, 1);
    assert_true(cJSON_GetArrayItem(third, 0)->valuedouble == 3);
    assert_string_equal(json_string(cJSON_GetArrayItem(third, 1), "low"), "-7.50");
    const cJSON *removing = cJSON_GetArrayItem(cJSON_GetArrayItem(changes, 3), 1);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(removing, "topic")));
    cJSON_Delete(data);
    reply_free(&reply);
}

static void test_a_part_of_the_log_begins_with_the_state_before_it(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    page_ok("html", "oslo", "--from", "4", "--up-to", "6");
    check_page(&reply.out);
    cJSON *data = page_data(&reply.out);
    assert_string_equal(json_string(cJSON_GetObjectItem(data, "state"), "low"), "-7.50");
    assert_null(cJSON_GetObjectItem(cJSON_GetObjectItem(data, "state"), "turns"));
    assert_has(&reply.out, "3 of 12, from 4 to 6");
    assert_lacks(&reply.out, "id=\"e3\"");
    assert_lacks(&reply.out, "id=\"e7\"");
    cJSON_Delete(data);
    page_ok("html", "oslo", "--newest", "0");
    check_page(&reply.out);
    assert_has(&reply.out, "There are no events.");
    reply_free(&reply);
}

static void test_a_session_without_events_has_a_page(void **state)
{
    static const ses_key empty = {"travel", "alice", "empty"};
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    must_create(fixture->store, &empty, Q("{'a':[1,{'b':null}]}"));
    page_ok("html", "empty");
    check_page(&reply.out);
    assert_has(&reply.out, "<dt>a</dt><dd>[1,{&quot;b&quot;:null}]</dd>");
    run_at(&reply, 3, NULL, fixture->path, "html", "nowhere");
    assert_string_equal(reply.out.data, "");
    reply_free(&reply);
}

/* ------------------------------------------------------------------------------------------- hostile texts */

static void test_nothing_of_a_log_becomes_markup(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    for (size_t i = 0; i < HOSTILE_COUNT; i++) {
        char id[32];
        snprintf(id, sizeof id, "hostile-%zu", i);
        fill_hostile_session(fixture->store, &(ses_key){"travel", "alice", id}, hostile[i].json);
        page_ok("html", id);
        check_page(&reply.out);
        cJSON_Delete(page_data(&reply.out));
        if (hostile[i].shown)
            assert_has(&reply.out, hostile[i].shown);
    }
    reply_free(&reply);
}

static void test_names_of_a_session_become_no_markup(void **state)
{
    static const char evil[] = "</title><script>window.pwned=1</script>\xe2\x80\xae";
    const struct fixture *fixture = *state;
    const ses_key key = {evil, evil, evil};
    const ses_label labels[] = {{evil, evil}};
    struct reply reply = {0};
    ses_error error;

    must_create(fixture->store, &key, "{}");
    assert_ok(ses_title_set_by_key(fixture->store, &key, evil, NULL, &error));
    assert_ok(ses_labels_set_by_key(fixture->store, &key, labels, 1, NULL, &error));
    page_ok("--app", evil, "--user", evil, "html", evil);
    check_page(&reply.out);
    assert_has(&reply.out,
               "<title>&lt;/title&gt;&lt;script&gt;window.pwned=1&lt;/script&gt;&lt;U+202E&gt;</title>");
    reply_free(&reply);
}

static void test_a_long_line_stays_whole(void **state)
{
    static const ses_key key = {"travel", "alice", "long"};
    enum { LONG = 1 << 20 };
    const struct fixture *fixture = *state;
    struct reply reply = {0};
    struct text event = {NULL, 0};

    text_printf(&event, "{\"author\":\"user\",\"content\":{\"parts\":[{\"text\":\"");
    for (int i = 0; i < LONG; i += 16)
        text_add(&event, "x<x>x&xxxxxxxxxx", 16);
    text_printf(&event, "<end>\"}]}}");
    must_create(fixture->store, &key, "{}");
    must_append_by_key(fixture->store, &key, event.data);
    page_ok("html", "long");
    check_page(&reply.out);
    assert_has(&reply.out, "xxx&lt;end&gt;</div>");
    assert_true(reply.out.len > 2 * (size_t)LONG);
    free(event.data);
    reply_free(&reply);
}

static void test_deep_json_makes_no_huge_page(void **state)
{
    static const ses_key key = {"travel", "alice", "deep"};
    const struct fixture *fixture = *state;
    struct reply reply = {0};
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
    page_ok("html", "deep");
    check_page(&reply.out);
    assert_true(reply.out.len < 400000);
    free(event.data);
    reply_free(&reply);
}

/* ----------------------------------------------------------------------------------------------- redaction */

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

static void test_what_is_redacted_leaves_no_trace(void **state)
{
    static const char *const secrets[] = {"tok-4711-abc", "48151623", "gh_secret_x9", "quoted"};
    static const ses_key key = {"travel", "alice", "secret"};
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    fill_secret_session(fixture->store, &key);
    page_ok("html", "secret");
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
        assert_has(&reply.out, secrets[i]);
    page_ok("html", "secret", "--redact", "user:token", "--redact=pin");
    check_page(&reply.out);
    cJSON_Delete(page_data(&reply.out));
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
        assert_lacks(&reply.out, secrets[i]);
    assert_has(&reply.out, "My token is [redacted], the pin [redacted].");
    assert_has(&reply.out, "<code>user:token</code> [redacted]");
    assert_has(&reply.out, "&quot;why&quot;: &quot;say [redacted][redacted]&quot;");
    assert_has(&reply.out, "About [redacted]");
    assert_has(&reply.out, "tok-4711-ab</div>");
    assert_has(&reply.out, "<dt>Redacted</dt><dd><code>user:token</code>, <code>pin</code></dd>");
    assert_string_equal(reply.err.data, "");
    /* A part of the log is written without what another part knows. */
    page_ok("html", "secret", "--up-to", "1", "--redact", "pin");
    assert_lacks(&reply.out, "48151623");
    reply_free(&reply);
}

static void test_a_key_that_is_nowhere_is_told(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    page_ok("html", "oslo", "--redact", "user:tokn");
    assert_has(&reply.err, "nothing to redact: the session has no \"user:tokn\"");
    reply_free(&reply);
}

/* Another program may have stored what is no JSON. */
static void test_an_event_that_is_no_json_is_shown_unless_something_is_hidden(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    char *guard = raw_text(fixture->path, "SELECT sql FROM sqlite_schema WHERE name = 'guard_events_update'");
    raw_exec(fixture->path, "DROP TRIGGER guard_events_update;"
                            "UPDATE events SET body = body || '<b>tok' WHERE position & 4294967295 = 4");
    raw_exec(fixture->path, guard);
    free(guard);
    page_ok("html", "oslo");
    check_page(&reply.out);
    assert_has(&reply.out, "This event cannot be read");
    assert_has(&reply.out, "&lt;b&gt;tok</pre>");
    page_ok("html", "oslo", "--redact", "user:token");
    assert_lacks(&reply.out, "&lt;b&gt;tok");
    reply_free(&reply);
}

/* ------------------------------------------------------------------------------------------------- the file */

static void test_a_file_is_whole_and_is_not_written_over(void **state)
{
    const struct fixture *fixture = *state;
    char *path = support_path(fixture->folder, "page.html");
    struct reply reply = {0};
    struct stat info;

    page_ok("html", "oslo", "-o", path);
    assert_has(&reply.err, "12 events of the session oslo");
    assert_string_equal(reply.out.data, "");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    run_at(&reply, 4, NULL, fixture->path, "html", "oslo", "-o", path);
    assert_has(&reply.err, "--replace");
    page_ok("html", "oslo", "--output", path, "--replace", "--json");
    cJSON *json = reply_json(&reply);
    assert_string_equal(json_string(json, "file"), path);
    assert_true(json_double(json, "eventCount") == 12);
    cJSON_Delete(json);
    size_t len = 0;
    char *page = support_read_file(path, &len);
    struct text text = {page, len};
    check_page(&text);
    page_ok("html", "oslo", "-o", "-");
    assert_int_equal(reply.out.len, len);
    free(page);
    free(path);
    reply_free(&reply);
}

static void test_what_cannot_be_written_is_told(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    run_at(&reply, 1, NULL, fixture->path, "html", "oslo", "-o", "/nowhere/at/all.html");
    assert_has(&reply.err, "cannot be written");
    run_at(&reply, 1, NULL, fixture->path, "html", "oslo", "-o", "/dev/full");
    assert_has(&reply.err, "cannot be written");
    run_at(&reply, 2, NULL, fixture->path, "html", "oslo", "--json");
    run_at(&reply, 2, (&(struct how){.terminal = TERMINAL_OUT}), fixture->path, "html", "oslo");
    assert_has(&reply.err, "name a file with -o");
    reply_free(&reply);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_a_page_shows_the_session),
        T(test_a_response_stands_with_its_call),
        T(test_what_was_taken_back_is_marked_and_summaries_have_bars),
        T(test_the_data_holds_the_state_and_its_changes),
        T(test_a_part_of_the_log_begins_with_the_state_before_it),
        T(test_a_session_without_events_has_a_page),
        T(test_nothing_of_a_log_becomes_markup),
        T(test_names_of_a_session_become_no_markup),
        T(test_a_long_line_stays_whole),
        T(test_deep_json_makes_no_huge_page),
        T(test_what_is_redacted_leaves_no_trace),
        T(test_a_key_that_is_nowhere_is_told),
        T(test_an_event_that_is_no_json_is_shown_unless_something_is_hidden),
        T(test_a_file_is_whole_and_is_not_written_over),
        T(test_what_cannot_be_written_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
