/* seslite html: what stands in the page, and where it goes. */
#include "html.h"

/* -------------------------------------------------------------------------------------------------- tests */

TEST_OF(page_setup, a_page_shows_the_session)
{
    run_ok("html", "oslo");
    check_page(&reply.out);
    assert_has(&reply.out, "<title>A coat for Oslo</title>");
    assert_has(&reply.out, "<h1>A coat for Oslo</h1>");
    assert_has(&reply.out, "<dt>App</dt><dd>travel</dd>");
    assert_has(&reply.out, "project\xc2\xa0= oslo</span>");
    assert_has(&reply.out, "1346 in (256 cached), 111 out, 64 thought, 1521 in all, in 3 events");
    assert_has(&reply.out, "<div class=\"text\">I fly to Oslo on Friday.\nDo I need a coat?</div>");
    assert_has(&reply.out, "<div class=\"text thought marked\"><p>The user asks about the weather.");
    assert_has(&reply.out,
               "<time datetime=\"2023-11-14T22:13:23.200000Z\">22:13:23</time> <span class=\"gap\">+2.2");
    assert_has(&reply.out, "<strong>RESOURCE_EXHAUSTED</strong> The model is overloaded.");
    assert_has(&reply.out, "image/png, 24 bytes, not shown");
    assert_lacks(&reply.out, "iVBOR");
    assert_has(&reply.out, "<li class=\"removed\"><code>topic</code> removed</li>");
    assert_has(&reply.out, "<code>transferToAgent</code> &quot;booker&quot;");
    assert_string_equal(reply.err.data, "");
}

TEST_OF(page_setup, relatives_are_named)
{
    run_ok("html", "oslo");
    assert_lacks(&reply.out, "<dt>Forks</dt>");
    run_ok("fork", "oslo", "--at", "2", "--as", "a<b");
    run_ok("fork", "oslo", "--at", "2", "--as", "other");
    run_ok("-a", "travel", "-u", "alice", "create", "helper", "--child-of", "oslo");
    run_ok("html", "oslo");
    check_page(&reply.out);
    assert_has(&reply.out, "<dt>Forks</dt><dd>a&lt;b, after <a href=\"#e2\">event 2</a>; "
                           "other, after <a href=\"#e2\">event 2</a></dd>");
    assert_has(&reply.out, "<dt>Children</dt><dd>helper</dd>");
    run_ok("html", "other");
    check_page(&reply.out);
    assert_has(&reply.out, "<dt>Fork of</dt><dd>oslo, after event 2</dd>");
    assert_has(&reply.out, "<dt>Siblings</dt><dd>a&lt;b, after <a href=\"#e2\">event 2</a></dd>");
    run_ok("html", "helper");
    assert_has(&reply.out, "<dt>Child of</dt><dd>oslo</dd>");
}

/* Cached, the rest of the prompt, and the answer, above each other. */
TEST_OF(page_setup, bars_of_the_tokens_of_turns)
{
    static const ses_key key = {"travel", "alice", "turns"};
    char event[300];

    must_create(fixture->store, &key, NULL);
    must_append_by_key(
        fixture->store, &key,
        Q("{'invocationId':'a','usageMetadata':{'promptTokenCount':50,'candidatesTokenCount':50}}"));
    run_ok("html", "turns");
    assert_lacks(&reply.out, "<figure");
    must_append_by_key(
        fixture->store, &key,
        Q("{'invocationId':'a','usageMetadata':{'promptTokenCount':300,'cachedContentTokenCount':100}}"));
    must_append_by_key(
        fixture->store, &key,
        Q("{'invocationId':'b','usageMetadata':{'candidatesTokenCount':150,'thoughtsTokenCount':50}}"));
    run_ok("html", "turns");
    check_page(&reply.out);
    assert_has(&reply.out, "<title>1 turn from event 1: 350 in (100 cached), 50 out</title>"
                           "<rect class=\"bar-cached\" x=\"0\" y=\"750\" width=\"8\" height=\"250\"/>"
                           "<rect class=\"bar-prompt\" x=\"0\" y=\"125\" width=\"8\" height=\"625\"/>"
                           "<rect class=\"bar-answer\" x=\"0\" y=\"0\" width=\"8\" height=\"125\"/></a>");
    assert_has(&reply.out, "<a href=\"#e3\"><title>1 turn from event 3: 0 in, 200 out</title>"
                           "<rect class=\"bar-answer\" x=\"10\" y=\"500\" width=\"8\" height=\"500\"/></a>");
    for (int i = 0; i < 500; i++) {
        snprintf(event, sizeof event, "{\"invocationId\":\"%d\",\"usageMetadata\":{\"promptTokenCount\":9}}",
                 i);
        must_append_by_key(fixture->store, &key, event);
    }
    run_ok("html", "turns");
    check_page(&reply.out);
    assert_has(&reply.out, "<title>4 turns from event 1: 368 in (100 cached), 250 out</title>");
}

TEST_OF(page_setup, a_response_stands_with_its_call)
{
    run_ok("html", "oslo");
    const char *call =
        strstr(reply.out.data, "<code>forecast</code> <span class=\"brief\">{&quot;city&quot;:");
    assert_non_null(call);
    const char *response = strstr(call, "<h3>Response, in event <a href=\"#e3\">3</a></h3>");
    assert_non_null(response);
    assert_true(response < strstr(call, "<code>remember</code>"));
    assert_has(&reply.out, "<code>forecast</code> answered: see the call in event <a href=\"#e2\">2</a>");
    assert_has(&reply.out, "<span class=\"took\">no response</span>");
}

TEST_OF(page_setup, responses_without_an_id_or_a_call_stand_alone)
{
    static const ses_key key = {"travel", "alice", "pairs"};
    static const char *const events[] = {
        "{'author':'bot','content':{'parts':[{'functionCall':{'name':'plain','args':{}}},{'functionCall':{'"
        "id':'x',"
        "'name':'twice','args':{}}}]}}",
        "{'author':'bot','content':{'parts':[{'functionResponse':{'name':'plain','response':{'of':'plain'}}},"
        "{'functionResponse':{'id':'x','name':'twice','response':{'of':'first'}}},{'functionResponse':{'id':'"
        "x','name':"
        "'twice','response':{'of':'second'}}},{'functionResponse':{'id':'y','response':{'of':'nobody'}}}]}}",
    };
    static const char *const alone[] = {"plain", "second", "nobody"};

    must_create(fixture->store, &key, "{}");
    must_append_by_key(fixture->store, &key, Q(events[0]));
    must_append_by_key(fixture->store, &key, Q(events[1]));
    run_ok("html", "pairs");
    check_page(&reply.out);
    assert_has(&reply.out, "<code>twice</code> answered: see the call in event <a href=\"#e1\">1</a>");
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
        char brief[64];
        snprintf(brief, sizeof brief, "<span class=\"brief\">{&quot;of&quot;:&quot;%s&quot;}", alone[i]);
        assert_has(&reply.out, brief);
    }
    assert_lacks(&reply.out, "<span class=\"brief\">{&quot;of&quot;:&quot;first");
}

TEST_OF(page_setup, undone_turns_are_marked_and_summaries_have_bars)
{
    run_ok("html", "oslo");
    assert_has(&reply.out, "<article id=\"e6\" class=\"agent color0\"><a class=\"bar lane0\" href=\"#e11\"");
    assert_has(&reply.out, "<article id=\"e7\" class=\"user gone\"><header>");
    assert_has(&reply.out, "<article id=\"e9\" class=\"user rewind\"><header>");
    assert_has(&reply.out, "Took back events <a href=\"#e7\">7</a> to <a href=\"#e8\">8</a></p>");
    assert_lacks(&reply.out, "<code>rewindBeforeInvocationId");
    assert_has(&reply.out, "<article id=\"e8\" class=\"agent color1 gone\">");
    assert_has(&reply.out, "<article id=\"e10\" class=\"user\"><header>");
    assert_has(&reply.out, "6 events, <a href=\"#e1\">1</a> to <a href=\"#e6\">6</a>");
    assert_has(&reply.out, "Alice flies from Rome to Oslo on Friday.");
}

static void append_turn(ses_store *store, const ses_key *key, const char *invocation)
{
    char event[128];

    (void)snprintf(event, sizeof event,
                   "{\"author\":\"user\",\"invocationId\":\"%s\",\"content\":{\"parts\":[{\"text\":\"x\"}]}}",
                   invocation);
    must_append_by_key(store, key, event);
}

TEST_OF(page_setup, a_redo_is_called_so_and_the_rewind_is_grey)
{
    static const ses_key key = {"travel", "alice", "redone"};
    const ses_point last = {.size = sizeof last, .kind = SES_POINT_LAST_TURN};

    must_create(fixture->store, &key, "{}");
    append_turn(fixture->store, &key, "i1");
    append_turn(fixture->store, &key, "i2");
    assert_ok(ses_rewind_by_key(fixture->store, &key, &last, NULL, NULL, &error));
    assert_ok(ses_redo_by_key(fixture->store, &key, NULL, NULL, &error));
    run_ok("html", "redone");
    check_page(&reply.out);
    assert_has(&reply.out, "<article id=\"e2\" class=\"user\">");
    assert_has(&reply.out, "<article id=\"e3\" class=\"user rewind gone\">");
    assert_has(&reply.out, "<article id=\"e4\" class=\"user rewind\">");
    assert_has(&reply.out, "<span class=\"mark kind\">redo</span>");
    assert_has(
        &reply.out,
        "Took back event <a href=\"#e3\">3</a>, and with it the rewind of event <a href=\"#e2\">2</a></p>");
    run_ok("html", "redone", "--from", "3");
    assert_has(&reply.out, "the rewind of event 2</p>");
    run_ok("html", "redone", "--up-to", "3");
    assert_has(&reply.out, "<article id=\"e3\" class=\"user rewind gone\">");
    must_append_by_key(
        fixture->store, &key,
        Q("{'author':'user','invocationId':'i5','actions':{'rewindBeforeInvocationId':'none'}}"));
    run_ok("html", "redone");
    assert_has(&reply.out, "Took nothing back");
}

/* -------------------------------------------------------------------------------------------------- parts */

static void fill_parts_session(ses_store *store, const ses_key *key, const char *event)
{
    must_create(store, key, "{}");
    must_append_by_key(store, key, event);
}

TEST_OF(page_setup, parts_are_joined_and_the_branch_is_shown)
{
    static const ses_key key = {"travel", "alice", "parts"};

    fill_parts_session(
        fixture->store, &key,
        Q("{'author':'bot','branch':'root.<b>','content':{'parts':[{'text':'I think','thought':true},"
          "{'text':' so','thought':true},{'text':'To **be'},{'text':'gin** with'},"
          "{'functionCall':{'name':'f','args':{}}},{'text':'the end'}]}}"));
    run_ok("html", "parts");
    check_page(&reply.out);
    assert_has(&reply.out, "<div class=\"text thought marked\"><p>I think so</p>\n</div>");
    assert_has(&reply.out, "<div class=\"text marked\"><p>To <strong>begin</strong> with</p>\n</div>");
    assert_has(&reply.out, "<div class=\"text marked\"><p>the end</p>");
    assert_has(&reply.out, "<span class=\"branch\" title=\"branch\">root.&lt;b&gt;</span>");
}

TEST_OF(page_setup, a_call_that_failed_is_marked)
{
    static const ses_key key = {"travel", "alice", "failed"};

    fill_parts_session(
        fixture->store, &key,
        Q("{'author':'bot','content':{'parts':[{'functionCall':{'id':'1','name':'one','args':{}}},"
          "{'functionCall':{'id':'2','name':'two','args':{}}}]}}"));
    must_append_by_key(fixture->store, &key,
                       Q("{'author':'bot','content':{'parts':[{'functionResponse':{'id':'1','name':'one','"
                         "response':{'error':'no'}}},"
                         "{'functionResponse':{'id':'2','name':'two','response':{'error':null,'isError':"
                         "false,'status':'ok'}}},"
                         "{'functionResponse':{'id':'3','name':'three','response':{'isError':true}}},"
                         "{'functionResponse':{'id':'4','name':'four','response':{'status':'error'}}}]}}"));
    run_ok("html", "failed");
    check_page(&reply.out);
    assert_has(&reply.out, "<span class=\"errors\">3 failed calls</span>");
    assert_has(&reply.out, "<details class=\"fold call failed\"><summary><code>one</code>");
    assert_has(&reply.out, "<details class=\"fold call\"><summary><code>two</code>");
    assert_has(&reply.out, "<code>one</code> failed: see the call");
    assert_has(&reply.out, "<code>two</code> answered: see the call");
    assert_has(&reply.out,
               "<details class=\"fold response failed\"><summary>\xe2\x86\x90 <code>three</code>");
    assert_has(&reply.out, "<details class=\"fold response failed\"><summary>\xe2\x86\x90 <code>four</code>");
}

/* A text of an agent as JSON has it, and what becomes of it. */
static const struct {
    const char *json;
    const char *markup;
} markdown[] = {
    {"one\\ntwo\\n\\nthree", "<p>one\ntwo</p>\n<p>three</p>\n"},
    {"## A `b`\\ntext", "<h4 class=\"level2\">A <code>b</code></h4>\n<p>text</p>\n"},
    {"#1 is no heading", "<p>#1 is no heading</p>\n"},
    {"- a\\n  * b\\n12. c", "<p class=\"item depth0\"><span class=\"marker\">\xe2\x80\xa2 </span>a</p>\n"
                            "<p class=\"item depth1\"><span class=\"marker\">\xe2\x80\xa2 </span>b</p>\n"
                            "<p class=\"item depth0\"><span class=\"marker\">12. </span>c</p>\n"},
    {"-5 degrees\\n1.5 metres", "<p>-5 degrees\n1.5 metres</p>\n"},
    {"> q\\n> r\\ns", "<blockquote>q\nr</blockquote>\n<p>s</p>\n"},
    {"a\\n```c\\n  *x* <b>\\n\\n```\\nb", "<p>a</p>\n<pre>  *x* &lt;b&gt;\n</pre>\n<p>b</p>\n"},
    {"```\\nnever closed", "<pre>never closed</pre>\n"},
    {"a\\n|x|y|\\n|-|:-:|\\n|1|\\nb",
     "<p>a</p>\n<table><tr><th>x</th><th>y</th></tr>\n<tr><td>1</td></tr>\n</table>\n<p>b</p>\n"},
    {"---", "<hr>\n"},
    {"***\\n* * *", "<hr>\n<hr>\n"},
    {"**a _b_ c** *d* __e__ ~~f~~",
     "<p><strong>a <em>b</em> c</strong> <em>d</em> <strong>e</strong> <s>f</s></p>\n"},
    {"2*3*4 a_b_c * x * **open", "<p>2*3*4 a_b_c * x * **open</p>\n"},
    {"``a ` b`` `**c**`", "<p><code>a ` b</code> <code>**c**</code></p>\n"},
    {"\\\\*a\\\\* \\\\n", "<p>*a* \\n</p>\n"},
    {"[a **b**](javascript:x)",
     "<p>a <strong>b</strong> <span class=\"address\">(javascript:x)</span></p>\n"},
    {"![i](https://e.com/i.png) [1] [a](b",
     "<p>!i <span class=\"address\">(https://e.com/i.png)</span> [1] [a](b</p>\n"},
};

TEST_OF(page_setup, texts_of_agents_are_shown_as_markdown)
{
    static const ses_key key = {"travel", "alice", "markdown"};

    must_create(fixture->store, &key, "{}");
    for (size_t i = 0; i < sizeof markdown / sizeof markdown[0]; i++) {
        struct text event = {NULL, 0};
        text_printf(&event, "{\"author\":\"bot\",\"content\":{\"parts\":[{\"text\":\"%s\"}]}}",
                    markdown[i].json);
        must_append_by_key(fixture->store, &key, event.data);
        free(event.data);
    }
    must_append_by_key(fixture->store, &key,
                       Q("{'author':'user','content':{'parts':[{'text':'**as** I wrote'}]}}"));
    run_ok("html", "markdown");
    check_page(&reply.out);
    for (size_t i = 0; i < sizeof markdown / sizeof markdown[0]; i++) {
        struct text div = {NULL, 0};
        text_printf(&div, "<div class=\"text marked\">%s</div>\n", markdown[i].markup);
        assert_has(&reply.out, div.data);
        free(div.data);
    }
    assert_has(&reply.out, "<div class=\"text\">**as** I wrote</div>");
}

TEST_OF(page_setup, images_are_included_on_request)
{
    static const ses_key key = {"travel", "alice", "images"};

    fill_parts_session(
        fixture->store, &key,
        Q("{'author':'user','content':{'parts':[{'inlineData':{'mimeType':'image/png','data':'iVBOR-_='}},"
          "{'inlineData':{'mimeType':'image/svg+xml','data':'PHN2Zz4='}},"
          "{'inlineData':{'mimeType':'image/gif','data':'\\u003cb>'}},"
          "{'inlineData':{'mimeType':'text/html','data':'AAAA'}}]}}"));
    run_ok("html", "images");
    assert_lacks(&reply.out, "<img");
    assert_lacks(&reply.out, "img-src");
    assert_has(&reply.out, "image/png, 5 bytes, not shown");
    run_ok("html", "images", "--images");
    check_page(&reply.out);
    assert_has(&reply.out, "image/png, 5 bytes</p>\n<img class=\"image\" alt=\"\" loading=\"lazy\" "
                           "src=\"data:image/png;base64,iVBOR+/=\">");
    assert_has(&reply.out, "img-src data:; ");
    assert_has(&reply.out, "image/svg+xml, 5 bytes, not shown");
    assert_has(&reply.out, "image/gif, ");
    assert_has(&reply.out, "text/html, 3 bytes, not shown");
    assert_null(strstr(strstr(reply.out.data, "<img") + 1, "<img"));
    run_ok("html", "images", "--images", "--redact", "data");
    assert_lacks(&reply.out, "<img");
}

/* -------------------------------------------------------------------------------------------------- state */

TEST_OF(page_setup, the_data_holds_the_state_and_its_changes)
{
    run_ok("html", "oslo");
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
}

TEST_OF(page_setup, a_part_of_the_log_begins_with_the_state_before_it)
{
    run_ok("html", "oslo", "--from", "4", "--up-to", "6");
    check_page(&reply.out);
    cJSON *data = page_data(&reply.out);
    assert_string_equal(json_string(cJSON_GetObjectItem(data, "state"), "low"), "-7.50");
    assert_null(cJSON_GetObjectItem(cJSON_GetObjectItem(data, "state"), "turns"));
    assert_has(&reply.out, "3 of 12, from 4 to 6");
    assert_lacks(&reply.out, "id=\"e3\"");
    assert_lacks(&reply.out, "id=\"e7\"");
    cJSON_Delete(data);
    run_ok("html", "oslo", "--newest", "0");
    check_page(&reply.out);
    assert_has(&reply.out, "There are no events.");
}

TEST_OF(page_setup, a_session_without_events_has_a_page)
{
    static const ses_key empty = {"travel", "alice", "empty"};

    must_create(fixture->store, &empty, Q("{'a':[1,{'b':null}]}"));
    run_ok("html", "empty");
    check_page(&reply.out);
    assert_has(&reply.out, "<dt>a</dt><dd>[1,{&quot;b&quot;:null}]</dd>");
    run_at(&reply, 3, NULL, fixture->path, "html", "nowhere");
    assert_string_equal(reply.out.data, "");
}

/* ----------------------------------------------------------------------------------------------- the file */

TEST_OF(page_setup, a_file_is_whole_and_is_not_written_over)
{
    char *path = support_path(fixture->folder, "page.html");
    struct stat info;

    run_ok("html", "oslo", "-o", path);
    assert_has(&reply.err, "12 events of the session oslo");
    assert_string_equal(reply.out.data, "");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    run_at(&reply, 4, NULL, fixture->path, "html", "oslo", "-o", path);
    assert_has(&reply.err, "--replace");
    run_ok("html", "oslo", "--output", path, "--replace", "--json");
    cJSON *json = reply_json(&reply);
    assert_string_equal(json_string(json, "file"), path);
    assert_true(json_double(json, "eventCount") == 12);
    cJSON_Delete(json);
    size_t len = 0;
    char *page = support_read_file(path, &len);
    struct text text = {page, len};
    check_page(&text);
    run_ok("html", "oslo", "-o", "-");
    assert_int_equal(reply.out.len, len);
    free(page);
    free(path);
}

TEST_OF(page_setup, failures_to_write_are_reported)
{
    run_at(&reply, 1, NULL, fixture->path, "html", "oslo", "-o", "/nowhere/at/all.html");
    assert_has(&reply.err, "cannot create a temporary file next to it");
    run_at(&reply, 1, NULL, fixture->path, "html", "oslo", "-o", "/dev/full");
    assert_has(&reply.err, "cannot write");
    run_at(&reply, 2, NULL, fixture->path, "html", "oslo", "--json");
    run_at(&reply, 2, (&(struct how){.terminal = TERMINAL_OUT}), fixture->path, "html", "oslo");
    assert_has(&reply.err, "name a file with -o");
}
