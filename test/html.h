/* The page of `seslite html`: a session to write it of, and texts that want to get out of it. */
#ifndef SESLITE_TEST_HTML_H
#define SESLITE_TEST_HTML_H

#include "command.h"

static const ses_key page_key = {"travel", "alice", "oslo"};

/* Everything that a page shows: thoughts, calls with and without a response, an error, a picture, tokens, a
 * compaction, a turn * that was taken back, state of all scopes, and two days. */
static inline void fill_page_session(ses_store *store)
{
    static const char *const events[] = {
        "{'id':'a','invocationId':'i1','author':'user','timestamp':1700000001,'content':{'role':'user','"
        "parts':["
        "{'text':'I fly to Oslo on Friday.\\nDo I need a coat?'}]}}",
        "{'id':'b','invocationId':'i1','author':'planner','timestamp':1700000003.2,'content':{'role':'model',"
        "'parts':["
        "{'text':'The user asks about the weather. I should look at the forecast before I "
        "answer.','thought':true},"
        "{'functionCall':{'id':'c1','name':'forecast','args':{'city':'Oslo','days':3,'units':'celsius'}}},"
        "{'functionCall':{'id':'c2','name':'remember','args':{'note':'Oslo on Friday'}}}]},"
        "'usageMetadata':{'promptTokenCount':412,'cachedContentTokenCount':256,'candidatesTokenCount':38,"
        "'thoughtsTokenCount':64,'totalTokenCount':514},'actions':{'stateDelta':{'user:home':'Rome'}}}",
        "{'id':'c','invocationId':'i1','author':'planner','timestamp':1700000004.5,'content':{'role':'user','"
        "parts':["
        "{'functionResponse':{'id':'c1','name':'forecast','response':{'city':'Oslo','days':["
        "{'day':'Friday','low':-7.50,'high':-2,'sky':'snow'},{'day':'Saturday','low':-9,'high':-4,'sky':'"
        "clear'}]}}}]},"
        "'actions':{'stateDelta':{'low':-7.50,'forecast':{'city':'Oslo','days':[{'day':'Friday','low':-7.50,'"
        "high':-2}]}}}}",
        "{'id':'d','invocationId':'i1','author':'planner','timestamp':1700000006,'content':{'role':'model','"
        "parts':["
        "{'text':'Yes, take the warm one. It will snow on Friday, between \\u22127 and \\u22122 degrees, and "
        "Saturday is clear "
        "but colder still.\\n\\nA hat and gloves will not hurt.'}]},"
        "'usageMetadata':{'promptTokenCount':730,'candidatesTokenCount':52,'totalTokenCount':782},"
        "'actions':{'stateDelta':{'turns':1}}}",
        "{'id':'e','invocationId':'i2','author':'user','timestamp':1700003700,'content':{'role':'user','"
        "parts':["
        "{'text':'This is the one I "
        "have.'},{'inlineData':{'mimeType':'image/png','data':'iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB'}}]}}",
        "{'id':'f','invocationId':'i2','author':'planner','timestamp':1700003702,'errorCode':'RESOURCE_"
        "EXHAUSTED',"
        "'errorMessage':'The model is overloaded. Try again later.'}",
        "{'id':'g','invocationId':'i3','author':'user','timestamp':1700090000,'content':{'role':'user','"
        "parts':["
        "{'text':'And can you book a taxi?'}]}}",
        "{'id':'h','invocationId':'i3','author':'booker','timestamp':1700090002,'content':{'role':'model','"
        "parts':["
        "{'functionCall':{'id':'c3','name':'book_taxi','args':{'from':'airport','to':'Storgata "
        "1','at':'2023-11-17T18:30:00+01:00'}}}"
        "]},'longRunningToolIds':['c3'],'actions':{'transferToAgent':'booker','stateDelta':{'turns':2,'topic'"
        ":"
        "'__ADK_SENTINEL_REMOVED__'}}}",
    };
    static const char *const later[] = {
        "{'id':'k','invocationId':'i4','author':'user','timestamp':1700090100,'content':{'role':'user','"
        "parts':["
        "{'text':'Leave the taxi. Just sum up what we have.'}]}}",
        "{'id':'l','invocationId':'i4','author':'planner','timestamp':1700090103,'actions':{'compaction':{'"
        "startTimestamp':"
        "1700000001,'endTimestamp':1700003702,'compactedContent':{'role':'model','parts':[{'text':"
        "'Alice flies from Rome to Oslo on Friday. Snow, \\u22127 to \\u22122 degrees: she takes the warm "
        "coat.'}]}}}}",
        "{'id':'m','invocationId':'i4','author':'planner','timestamp':1700090106,'content':{'role':'model','"
        "parts':["
        "{'text':'You fly on Friday, it will snow, and the warm coat is "
        "packed.'}]},'usageMetadata':{'promptTokenCount':204,"
        "'candidatesTokenCount':21,'totalTokenCount':225},'actions':{'stateDelta':{'turns':2,'app:trips':18}}"
        "}",
    };
    const ses_label labels[] = {{"project", "oslo"}, {"starred", ""}};
    ses_error error;

    must_create(store, &page_key, Q("{'app:units':'celsius','user:token':'tok-4711-abc','topic':'travel'}"));
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        must_append_by_key(store, &page_key, Q(events[i]));
    assert_ok(ses_rewind_by_key(store, &page_key,
                                &(ses_point){.size = sizeof(ses_point), .kind = SES_POINT_LAST_TURN}, NULL,
                                NULL, &error));
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++)
        must_append_by_key(store, &page_key, Q(later[i]));
    assert_ok(ses_title_set_by_key(store, &page_key, "A coat for Oslo", NULL, &error));
    assert_ok(ses_labels_set_by_key(store, &page_key, labels, 2, NULL, &error));
}

/* --------------------------------------------------------------------------------------- reading the page */

/* The data of the script; cJSON_Delete. */
static inline cJSON *page_data(const struct text *page)
{
    static const char begin[] = "<script type=\"application/json\" id=\"data\">";
    const char *from = strstr(page->data, begin);

    assert_non_null(from);
    from += strlen(begin);
    const char *to = strstr(from, "</script>");
    assert_non_null(to);
    for (const char *at = from; at < to; at++)
        if (*at == '<' || *at == '>' || *at == '&')
            fail();
    cJSON *data = cJSON_ParseWithLength(from, (size_t)(to - from));
    assert_non_null(data);
    return data;
}

/* The address of an image is the image itself, in base64. */
static inline void check_image(const char *src)
{
    static const char begin[] = " src=\"data:image/";

    assert_int_equal(strncmp(src, begin, sizeof begin - 1), 0);
    const char *data = strstr(src, ";base64,");
    assert_non_null(data);
    data += strlen(";base64,");
    data += strspn(data, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=");
    assert_int_equal(strncmp(data, "\">", 2), 0);
}

/* The length of the tag at `at`, which must be one of ours: a known name, and attributes that hold nothing of
 * the log. */
static inline size_t check_tag(const char *at)
{
    static const char *const names[] = {
        "!DOCTYPE", "html",   "head",   "meta",    "title", "style",      "body",    "script",  "header",
        "h1",       "h2",     "h3",     "dl",      "div",   "dt",         "dd",      "span",    "code",
        "pre",      "p",      "b",      "a",       "time",  "article",    "details", "summary", "ul",
        "li",       "strong", "main",   "section", "aside", "input",      "button",  "output",  "footer",
        "noscript", "em",     "s",      "h4",      "hr",    "blockquote", "table",   "tr",      "th",
        "td",       "img",    "figure", "svg",     "rect",  "figcaption"};
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
        if (strncmp(in, " src=\"", 6) == 0)
            check_image(in);
        else if (strncmp(in, " href=\"", 7) == 0 || strncmp(in, " src", 4) == 0 || strncmp(in, " on", 3) == 0)
            assert_int_equal(strncmp(in, " href=\"#e", 9), 0);
    return (size_t)(end - at) + 1;
}

/* Between our styles and scripts there are only our tags, texts without anything that could begin one, and no
 * character that * nobody can see. */
static inline void check_page(const struct text *page)
{
    uint32_t scripts = 0;

    assert_int_equal(strncmp(page->data, "<!DOCTYPE html>", 15), 0);
    for (const char *at = page->data; *at;) {
        unsigned char byte = (unsigned char)*at;
        if ((byte < 0x20 && byte != '\n') || byte == 0x7f)
            fail();
        if (byte == 0xe2)
            assert_true(strncmp(at, "\xe2\x80\xa8", 3) != 0 && strncmp(at, "\xe2\x80\xae", 3) != 0);
        if (*at != '<') {
            at++;
            continue;
        }
        const char *closing = strncmp(at, "<script", 7) == 0   ? "</script>"
                              : strncmp(at, "<style ", 7) == 0 ? "</style>"
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

/* ------------------------------------------------------------------------------------------ hostile texts */

/* Each is the inside of a JSON string. `shown` is how a page shows it, or a part of it; NULL: not looked
 * for. */
static const struct {
    const char *json;
    const char *shown;
} hostile[] = {
    {"</script><script>window.pwned=1</script>",
     "&lt;/script&gt;&lt;script&gt;window.pwned=1&lt;/script&gt;"},
    {"</SCRIPT ><script>window.pwned=1//", "&lt;/SCRIPT &gt;"},
    {"<img src=x onerror='window.pwned=1'>", "&lt;img src=x onerror=&#39;window.pwned=1&#39;&gt;"},
    {"<svg/onload=window.pwned=1>", "&lt;svg/onload"},
    {"<iframe srcdoc='&lt;script&gt;parent.pwned=1&lt;/script&gt;'>", "&amp;lt;script&amp;gt;"},
    {"javascript:window.pwned=1", "javascript:window.pwned=1"},
    {"<a href=\\\"javascript:window.pwned=1\\\">x</a>", "&lt;a href="},
    {"data:text/html,<script>window.pwned=1</script>", NULL},
    {"https://example.com/?q=<b>", "https://example.com/?q=&lt;b&gt;"},
    {"<!--<script>", "&lt;!--&lt;script&gt;"},
    {"--><script>window.pwned=1</script>", "--&gt;&lt;script&gt;"},
    {"]]><script>window.pwned=1</script>", "]]&gt;&lt;script&gt;"},
    {"\\\" onmouseover=\\\"window.pwned=1", "&quot; onmouseover="},
    {"' autofocus onfocus='window.pwned=1", "&#39; autofocus"},
    {"</style><style>@import 'https://example.com/x.css'", "&lt;/style&gt;&lt;style&gt;"},
    {"</title></textarea></pre></details></main><plaintext>", "&lt;plaintext&gt;"},
    {"<meta http-equiv=refresh content='0;url=https://example.com'>", "&lt;meta http-equiv"},
    {"<base href=https://example.com><form action=https://example.com><link rel=stylesheet "
     "href=//example.com>",
     NULL},
    {"&lt;script&gt;&#x3c;script&#62;&amp;", "&amp;lt;script&amp;gt;&amp;#x3c;script&amp;#62;&amp;amp;"},
    {"a\\u2028b\\u2029c\xe2\x80\xa8"
     "d\xe2\x80\xa9"
     "e",
     "b"},
    {"abc\xe2\x80\xae"
     "fdp.exe\\u202dx\\u2066y\\u2069",
     "&lt;U+202E&gt;fdp.exe&lt;U+202D&gt;"},
    {"a\\u0000b\\u001b[31m\\u0007\\u009b\\u007f", "a^@b^[[31m^G&lt;U+009B&gt;^?"},
    {"\\u200bzero\\ufeffwidth", "&lt;U+200B&gt;zero&lt;U+FEFF&gt;width"},
    {"lone \\ud800 and \\udc00", "lone \xef\xbf\xbd and \xef\xbf\xbd"},
    {"\\u003c/script\\u003e\\u003cscript\\u003ewindow.pwned=1", "&lt;/script&gt;&lt;script&gt;"},
    {"\\\\u003cscript>\\\"+window.pwned+\\\"", NULL},
    {"__proto__", "__proto__"},
    {"[redacted]%s%n{{constructor.constructor('window.pwned=1')()}}${window.pwned=1}`", NULL},
};
enum { HOSTILE_COUNT = sizeof hostile / sizeof hostile[0] };

/* The text in every place that a session has for it; the session is there. */
static inline void fill_hostile_session(ses_store *store, const ses_key *key, const char *t)
{
    static const char *const events[] = {
        "{\"author\":\"user\",\"content\":{\"role\":\"%s\",\"parts\":[{\"text\":\"%s\"},{\"text\":\"%s\","
        "\"thought\":true},"
        "{\"%s\":\"%s\"},{\"fileData\":{\"fileUri\":\"%s\",\"mimeType\":\"text/html\"}}]}}",
        "{\"author\":\"bot\",\"content\":{\"parts\":[{\"functionCall\":{\"id\":\"%s\",\"name\":\"%s\","
        "\"args\":{\"%s\":[\"%s\"]}}},"
        "{\"inlineData\":{\"mimeType\":\"%s\",\"data\":\"%s\"}}]}}",
        "{\"author\":\"bot\",\"content\":{\"parts\":[{\"functionResponse\":{\"id\":\"%s\",\"name\":\"%s\","
        "\"response\":{\"%s\":\"%s\"}}}"
        "]},\"errorCode\":\"%s\",\"errorMessage\":\"%s\"}",
        "{\"author\":\"bot\",\"actions\":{\"stateDelta\":{\"%s\":\"%s\"},\"%s\":\"%s\",\"compaction\":{"
        "\"startTimestamp\":0,"
        "\"endTimestamp\":1,\"compactedContent\":{\"parts\":[{\"text\":\"%s\"}]}}},\"%s\":1}",
        "{\"author\":\"%s\",\"invocationId\":\"%s\",\"branch\":\"%s\"}",
        "{\"author\":\"bot\",\"actions\":{\"stateDelta\":{\"plain\":{\"%s\":\"%s\"}}}}",
        "{\"author\":\"bot\",\"content\":{\"parts\":[{\"text\":\"# %s\\n\\n- **%s**\\n> "
        "_%s_\\n\\n|%s|\\n|-|\\n|`%s`|\"},"
        "{\"functionCall\":{\"name\":\"f\",\"args\":{}}},{\"text\":\"[%s](%s)\\n```%s\\n%s\"}]}}",
    };
    ses_error error;

    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        struct text event = {NULL, 0};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        text_printf(&event, events[i], t, t, t, t, t, t, t, t, t);
#pragma GCC diagnostic pop
        /* Some fields take fewer characters than a JSON string has: then the event is refused, and is not on
         * the page. */
        int code = ses_append_by_key(store, key, event.data, event.len, NULL, NULL, &error);
        assert_true(code == SES_OK || (i > 0 && (code == SES_INVALID || code == SES_RANGE)));
        free(event.data);
    }
}

static inline int page_setup(void **state)
{
    (void)fixture_setup(state);
    const struct fixture *fixture = *state;
    fill_page_session(fixture->store);
    return 0;
}

#endif
