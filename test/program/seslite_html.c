/* seslite html: what stands in the page, and where it goes. */
#include "html.h"

/* -------------------------------------------------------------------------------------------------- tests */

static void test_a_page_shows_the_session(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    run_ok("html", "oslo");
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

    run_ok("html", "oslo");
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

static void test_what_has_no_id_or_no_call_stands_for_itself(void **state)
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
    const struct fixture *fixture = *state;
    struct reply reply = {0};

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
    reply_free(&reply);
}

static void test_what_was_taken_back_is_marked_and_summaries_have_bars(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    run_ok("html", "oslo");
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
    reply_free(&reply);
}

static void test_a_part_of_the_log_begins_with_the_state_before_it(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

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
    reply_free(&reply);
}

static void test_a_session_without_events_has_a_page(void **state)
{
    static const ses_key empty = {"travel", "alice", "empty"};
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    must_create(fixture->store, &empty, Q("{'a':[1,{'b':null}]}"));
    run_ok("html", "empty");
    check_page(&reply.out);
    assert_has(&reply.out, "<dt>a</dt><dd>[1,{&quot;b&quot;:null}]</dd>");
    run_at(&reply, 3, NULL, fixture->path, "html", "nowhere");
    assert_string_equal(reply.out.data, "");
    reply_free(&reply);
}

/* ------------------------------------------------------------------------------------------------- the file */

static void test_a_file_is_whole_and_is_not_written_over(void **state)
{
    const struct fixture *fixture = *state;
    char *path = support_path(fixture->folder, "page.html");
    struct reply reply = {0};
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
    reply_free(&reply);
}

static void test_what_cannot_be_written_is_told(void **state)
{
    const struct fixture *fixture = *state;
    struct reply reply = {0};

    run_at(&reply, 1, NULL, fixture->path, "html", "oslo", "-o", "/nowhere/at/all.html");
    assert_has(&reply.err, "no file can be made beside it");
    run_at(&reply, 1, NULL, fixture->path, "html", "oslo", "-o", "/dev/full");
    assert_has(&reply.err, "cannot be written");
    run_at(&reply, 2, NULL, fixture->path, "html", "oslo", "--json");
    run_at(&reply, 2, (&(struct how){.terminal = TERMINAL_OUT}), fixture->path, "html", "oslo");
    assert_has(&reply.err, "name a file with -o");
    reply_free(&reply);
}

#define T(name) cmocka_unit_test_setup_teardown(name, page_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_a_page_shows_the_session),
        T(test_a_response_stands_with_its_call),
        T(test_what_has_no_id_or_no_call_stands_for_itself),
        T(test_what_was_taken_back_is_marked_and_summaries_have_bars),
        T(test_the_data_holds_the_state_and_its_changes),
        T(test_a_part_of_the_log_begins_with_the_state_before_it),
        T(test_a_session_without_events_has_a_page),
        T(test_a_file_is_whole_and_is_not_written_over),
        T(test_what_cannot_be_written_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
