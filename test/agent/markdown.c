/* Sessions as Markdown. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent.h"
#include "random.h"

static char *markdown_of(const ses_session *session, unsigned flags)
{
    const ses_markdown_options options = {.size = sizeof options, .flags = flags};
    char *text = NULL;
    size_t len = 0;
    ses_error error;

    assert_ok(ses_session_markdown(session, &options, &text, &len, &error));
    assert_int_equal(len, strlen(text));
    return text;
}

static void assert_markdown(const ses_session *session, unsigned flags, const char *expected)
{
    char *text = markdown_of(session, flags);
    assert_string_equal(text, expected);
    ses_free(text);
}

#define EVENT(id, time, author, rest) Q("{'id':'" id "','timestamp':" time ",'author':'" author "'" rest "}")
#define PARTS(parts) ",'content':{'parts':[" parts "]}"
#define HEAD "# session\n\nApp app, user user, session session, created 2023-11-14 22:13:20 UTC\n\n"

MEMORY_TEST(a_conversation_with_calls)
{
    ses_session *session = agent_session(fixture, NULL);

    must_append(session, EVENT("1", "1700000000", "user", PARTS("{'text':'Weather in Oslo?'}")));
    must_append(session,
                EVENT("2", "1700000001", "agent",
                      PARTS("{'text':'I think','thought':true},{'text':'Let me '},{'text':'look.'},"
                            "{'functionCall':{'id':'c','name':'get_weather','args':{'city':'Oslo'}}},"
                            "{'functionCall':{'id':'d','name':'a<b'}}")));
    must_append(session,
                EVENT("3", "1700000002", "user",
                      PARTS("{'functionResponse':{'id':'c','name':'get_weather','response':{'sky':'`'}}}")));
    must_append(session, EVENT("4", "1700000063", "agent", PARTS("{'text':'Snow.'}")));
    must_append(session, EVENT("5", "1700000064", "agent", ",'actions':{'stateDelta':{'k':1}}"));
    assert_markdown(session, 0,
                    HEAD "## user, 2023-11-14 22:13:20 UTC\n\nWeather in Oslo?\n\n"
                         "## agent, 2023-11-14 22:13:21 UTC\n\n"
                         "<details><summary>Thought</summary>\n\nI think\n\n</details>\n\n"
                         "Let me look.\n\n"
                         "<details><summary>Call <code>get_weather</code></summary>\n\n"
                         "```json\n{\"city\":\"Oslo\"}\n```\n\nResponse:\n\n```json\n{\"sky\":\"`\"}\n```\n\n"
                         "</details>\n\n"
                         "<details><summary>Call <code>a&lt;b</code>, no response</summary>\n\n"
                         "```json\n{}\n```\n\n</details>\n\nSnow.\n\n");
    assert_markdown(session, SES_MARKDOWN_TEXTS,
                    HEAD "## user, 2023-11-14 22:13:20 UTC\n\nWeather in Oslo?\n\n"
                         "## agent, 2023-11-14 22:13:21 UTC\n\nLet me look.\n\nSnow.\n\n");
}

MEMORY_TEST(everything_else_that_an_event_holds)
{
    ses_session *session = agent_session(fixture, NULL);

    must_append(session,
                EVENT("1", "1700000000", "a", PARTS("{'functionResponse':{'id':'c','name':'late'}}")));
    must_append(session, EVENT("2", "1700000000", "a",
                               PARTS("{'inlineData':{'mimeType':'image/png','data':'AAAA'}},"
                                     "{'file_data':{'file_uri':'gs://b/x*y','display_name':'[x]'}},"
                                     "{'executableCode':{'language':'PYTHON','code':'print(1)\\n'}},"
                                     "{'codeExecutionResult':{'outcome':'OUTCOME_OK','output':'```\\n1'}},"
                                     "{'inlineData':7},{'video':{}},{'text':''}")));
    must_append(session, EVENT("3", "1700000000", "a", ",'errorCode':'QUOTA','errorMessage':'try\\nlater'"));
    must_append(session,
                EVENT("4", "1700000000", "a",
                      ",'actions':{'compaction':{'startTimestamp':1,'endTimestamp':2,'compactedContent':"
                      "{'parts':[{'text':'In short: snow.'}]}}}"));
    must_append(session,
                EVENT("5", "1700000000", "a",
                      ",'actions':{'compaction':{'startTimestamp':1,'endTimestamp':2,'compactedContent':"
                      "{'parts':7}}}"));
    must_append(session, EVENT("6", "1700000000", "", ",'content':{'parts':1}"));
    assert_markdown(
        session, 0,
        HEAD
        "## a, 2023-11-14 22:13:20 UTC\n\n"
        "<details><summary>Response <code>late</code></summary>\n\n```json\n{}\n```\n\n</details>\n\n"
        "*File: image\\/png*\n\n*File: \\[x\\], gs\\:\\/\\/b\\/x\\*y*\n\n"
        "```python\nprint(1)\n```\n\nOutput:\n\n````\n```\n1\n````\n\n"
        "<details><summary>Part</summary>\n\n```json\n{\"inlineData\":7}\n```\n\n</details>\n\n"
        "<details><summary>Part</summary>\n\n```json\n{\"video\":{}}\n```\n\n</details>\n\n"
        "*Error: QUOTA, try later*\n\n"
        "<details><summary>Summary of earlier events</summary>\n\nIn short: snow.\n\n</details>\n\n"
        "<details><summary>Summary of earlier events</summary>\n\n```json\n{\"parts\":7}\n```\n\n</details>\n\n"
        "## \\(no author\\), 2023-11-14 22:13:20 UTC\n\n"
        "<details><summary>Event</summary>\n\n```json\n"
        "{\"id\":\"6\",\"timestamp\":1700000000,\"author\":\"\",\"content\":{\"parts\":1}}\n```\n\n"
        "</details>\n\n");
    assert_markdown(session, SES_MARKDOWN_TEXTS,
                    HEAD "## a, 2023-11-14 22:13:20 UTC\n\n*Error: QUOTA, try later*\n\n"
                         "## \\(no author\\), 2023-11-14 22:13:20 UTC\n\n"
                         "<details><summary>Event</summary>\n\n```json\n"
                         "{\"id\":\"6\",\"timestamp\":1700000000,\"author\":\"\",\"content\":{\"parts\":1}}\n"
                         "```\n\n</details>\n\n");
}

TEST(texts_end_no_block_of_the_document)
{
    static const struct {
        const char *text; /* as in JSON */
        const char *expected;
    } cases[] = {
        {"# One\\n## Two\\r\\n##### Five\\r###### Six\\n#no\\n   # in",
         "### One\n#### Two\n###### Five\n###### Six\n"
         "#no\n   ### in\n"},
        {"#", "###\n"},
        {"Name\\n===\\n--\\n\\n---", "Name\n\n===\n\n--\n\n---\n"},
        {"```sh\\n# comment\\n---\\n<!--\\n```\\n# x", "```sh\n# comment\n---\n<!--\n```\n### x\n"},
        {"Run\\n~~~~ `x`\\n~~~\\n# comment", "Run\n\n~~~~ `x`\n~~~\n# comment\n~~~~\n"},
        {"```", "```\n```\n"},
        {"``` a`b\\n# x", "``` a`b\n### x\n"},
        {"1. do\\n   ```\\n   # comment\\n\\n   ```\\n# x",
         "1. do\n\n   ```\n   # comment\n\n   ```\n### x\n"},
        {"- a\\n  ```\\n# x", "- a\n\n  ```\n  ```\n### x\n"},
        {"    # code\\n    ```", "    # code\n    ```\n"},
        {"<!-- a\\n<PRE>\\n<?x\\n<div>\\n  <script>", "\\<!-- a\n\\<PRE>\n\\<?x\n<div>\n  \\<script>\n"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char event[512];
        char expected[1024];
        snprintf(event, sizeof event,
                 "{\"author\":\"a\",\"timestamp\":0,\"content\":{\"parts\":[{\"text\":\"%s\"}]}}",
                 cases[i].text);
        snprintf(expected, sizeof expected, HEAD "## a, 1970-01-01 00:00:00 UTC\n\n%s\n", cases[i].expected);
        ses_session *session = agent_session(fixture, NULL);
        must_append(session, event);
        assert_markdown(session, 0, expected);
        must_delete(fixture->store, &agent_key);
        ses_session_close(session);
    }
}

/* The number of lines of the text that are equal to the line. */
static size_t count_lines(const char *text, const char *line)
{
    size_t count = 0;

    for (const char *at = text; (at = strstr(at, line)) != NULL; at += strlen(line))
        count++;
    return count;
}

/* cmark is the specification's own program. It finds the headings of the document and no others, whatever the
 * texts are made of. */
TEST(a_renderer_finds_the_headings_of_the_document)
{
    static const char *const pieces[] = {
        "# a",        "## a", "a",     "===",   "---",    "```",      "````",      "~~~", "``` a`", "- ",
        "1. ",        "> ",   "  ",    "   ",   "    ",   "\\t",      "\\n",       "\\n", "\\n",    "\\n\\n",
        "\\r",        "<!--", "<pre>", "<div>", "</div>", "<script>", "<![CDATA[", "<?",  "`",      "[a]: <",
        "</details>", "|",    "\\\\",  "*",     "<a",     "&#35;",    "<x>"};
    enum { EVENTS = 3000 };
    char *file = support_path(fixture->folder, "session.md");
    uint64_t seed = 20261129;
    char command[1200];
    int status = 0;

    char *text = support_run("cmark --version", &status);
    free(text);
    if (status != 0) {
        print_message("skipped: there is no cmark (make deps-dev installs it)\n");
        skip();
    }
    ses_session *session = agent_session(fixture, NULL);
    for (int i = 0; i < EVENTS; i++) {
        char event[1024];
        int len = snprintf(event, sizeof event, "{\"author\":\"%s\",\"content\":{\"parts\":[{\"text\":\"",
                           i % 2 == 0 ? "user" : "agent");
        for (size_t left = 1 + random_below(&seed, 12); left > 0; left--)
            len += snprintf(event + len, sizeof event - (size_t)len, "%s",
                            pieces[random_below(&seed, sizeof pieces / sizeof pieces[0])]);
        snprintf(event + len, sizeof event - (size_t)len, "\"}]}}");
        must_append(session, event);
    }
    char *markdown = markdown_of(session, 0);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(markdown, 1, strlen(markdown), out), strlen(markdown));
    assert_int_equal(fclose(out), 0);
    snprintf(command, sizeof command, "cmark -t xml '%s'", file);
    text = support_run(command, &status);
    assert_int_equal(status, 0);
    assert_int_equal(count_lines(text, "\n  <heading level=\"1\">"), 1);
    assert_int_equal(count_lines(text, "\n  <heading level=\"2\">"), EVENTS);
    free(text);
    free(file);
    ses_free(markdown);
}

TEST(a_title_and_names_of_any_characters)
{
    const ses_key odd = {"a*b", "\n#", "[x](y)"};
    const ses_create_options options = {.size = sizeof options, .title = "# <b> & `x`"};
    ses_session *session = NULL;

    assert_ok(ses_create(fixture->store, &odd, NULL, 0, &options, &session, &error));
    assert_markdown(session, 0,
                    "# \\# \\<b\\> \\& \\`x\\`\n\nApp a\\*b, user  \\#, session \\[x\\]\\(y\\), created "
                    "2023-11-14 22:13:20 UTC\n\n");
    ses_session_close(session);
}

TEST(dates_of_the_calendar)
{
    static const struct {
        int64_t us;
        const char *date;
    } dates[] = {
        {INT64_C(-62167219200000000), "0000-01-01 00:00:00"},
        {INT64_C(-62162035200000001), "0000-02-29 23:59:59"},
        {-1, "1969-12-31 23:59:59"},
        {INT64_C(951782400000000), "2000-02-29 00:00:00"},
        {INT64_C(4107542400000000), "2100-03-01 00:00:00"},
        {INT64_C(1735689599999999), "2024-12-31 23:59:59"},
        {INT64_C(1735689600000000), "2025-01-01 00:00:00"},
        {INT64_C(253402300799999999), "9999-12-31 23:59:59"},
    };

    for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++) {
        const ses_create_options options = {.size = sizeof options, .created_us = &dates[i].us};
        const ses_key nameless = {"app", "user", NULL};
        ses_session *session = NULL;
        assert_ok(ses_create(fixture->store, &nameless, NULL, 0, &options, &session, &error));
        char *text = markdown_of(session, 0);
        assert_non_null(strstr(text, ", created "));
        assert_memory_equal(strstr(text, ", created ") + 10, dates[i].date, 19);
        ses_free(text);
        ses_session_close(session);
    }
}

TEST(markdown_of_a_handle_that_outlives_its_store)
{
    ses_session *session = agent_session(fixture, NULL);

    ses_close(fixture->store);
    fixture->store = NULL;
    assert_markdown(session, 0, HEAD);
}

TEST(arguments_that_are_wrong)
{
    ses_session *session = agent_session(fixture, NULL);
    const ses_markdown_options unknown = {.size = sizeof unknown, .flags = 2};
    const ses_markdown_options sizeless = {.flags = 0};
    char *text = NULL;

    assert_code(SES_MISUSE, ses_session_markdown(NULL, NULL, &text, NULL, &error));
    assert_code(SES_MISUSE, ses_session_markdown(session, NULL, NULL, NULL, &error));
    assert_code(SES_MISUSE, ses_session_markdown(session, &unknown, &text, NULL, &error));
    assert_code(SES_MISUSE, ses_session_markdown(session, &sizeless, &text, NULL, &error));
}
