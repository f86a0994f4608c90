/* A list shows of each conversation what was said last and first. */
#include "lines.h"
#include "seslite_erase.h"
#include "seslite_history.h"

#define SAYS(author, text) "{\"author\":\"" author "\",\"content\":{\"parts\":[{\"text\":\"" text "\"}]}}"
#define PART(author, part) "{\"author\":\"" author "\",\"content\":{\"parts\":[" part "]}}"
#define CALL(id, name) PART("agent", "{\"functionCall\":{\"id\":\"" id "\",\"name\":\"" name "\"}}")
#define RESPONSE(id, name) PART("user", "{\"functionResponse\":{\"id\":\"" id "\",\"name\":\"" name "\"}}")

static ses_page *must_list(ses_store *store, size_t preview_bytes)
{
    const ses_list_options options = {.size = sizeof options,
                                      .order = SES_ORDER_CREATED,
                                      .limit = 1000,
                                      .flags = SES_LIST_PREVIEW,
                                      .preview_bytes = preview_bytes};
    ses_page *page = NULL;
    ses_error error;

    assert_ok(ses_list(store, "app", NULL, &options, &page, &error));
    return page;
}

static void assert_text(ses_text text, const char *expected)
{
    if (!expected) {
        assert_null(text.text);
        return;
    }
    assert_non_null(text.text);
    assert_string_equal(text.text, expected);
    assert_int_equal(text.len, strlen(expected));
}

/* Compares the preview of the only session. */
static void assert_preview(const struct fixture *fixture, size_t bytes, const char *last, const char *author,
                           int64_t seq, const char *first, size_t pending)
{
    ses_page *page = must_list(fixture->store, bytes);
    const ses_preview *preview = ses_page_preview(page, 0);

    assert_non_null(preview);
    assert_text(preview->last, last);
    assert_true(author ? preview->last_author && strcmp(preview->last_author, author) == 0
                       : !preview->last_author);
    assert_int_equal(preview->last_seq, seq);
    assert_text(preview->first, first);
    assert_int_equal(preview->pending_calls, pending);
    ses_page_close(page);
}

static void begin(const struct fixture *fixture)
{
    must_create(fixture->store, &key, NULL);
}

static void append(const struct fixture *fixture, const char *event)
{
    must_append_by_key(fixture->store, &key, event);
}

/* ---------------------------------------------------------------------------------------------- texts */

TEST(it_shows_the_newest_text_and_the_first_of_the_user)
{
    begin(fixture);
    assert_preview(fixture, 0, NULL, NULL, 0, NULL, 0);
    append(fixture, "{\"author\":\"agent\",\"actions\":{\"stateDelta\":{\"k\":1}}}");
    assert_preview(fixture, 0, NULL, NULL, 0, NULL, 0);
    append(fixture, SAYS("user", "How are you?"));
    assert_preview(fixture, 0, "How are you?", "user", 2, "How are you?", 0);
    append(fixture, SAYS("agent", "Well."));
    append(fixture, "{\"author\":\"agent\",\"actions\":{\"stateDelta\":{\"k\":2}}}");
    assert_preview(fixture, 0, "Well.", "agent", 3, "How are you?", 0);
    append(fixture, SAYS("user", "And now?"));
    assert_preview(fixture, 0, "And now?", "user", 5, "How are you?", 0);
}

TEST(a_title_is_shown_instead_of_the_first_text)
{

    begin(fixture);
    append(fixture, SAYS("user", "How are you?"));
    assert_ok(ses_title_set_by_key(fixture->store, &key, "A chat", NULL, &error));
    assert_preview(fixture, 0, "How are you?", "user", 1, NULL, 0);
    assert_ok(ses_title_set_by_key(fixture->store, &key, NULL, NULL, &error));
    assert_preview(fixture, 0, "How are you?", "user", 1, "How are you?", 0);
}

TEST(texts_are_joined_without_thoughts)
{
    begin(fixture);
    append(fixture, PART("agent", "{\"text\":\"I think \",\"thought\":true},{\"text\":\"one \"},"
                                  "{\"inlineData\":{}},{\"thought\":false,\"text\":\"two\"}"));
    assert_preview(fixture, 0, "one two", "agent", 1, NULL, 0);
    append(fixture, PART("agent", "{\"text\":\"only a thought\",\"thought\":true}"));
    append(fixture, PART("agent", "{\"text\":\"\"}"));
    assert_preview(fixture, 0, "one two", "agent", 1, NULL, 0);
}

TEST(a_text_is_cut_between_characters)
{
    begin(fixture);
    append(fixture, SAYS("user", "a\\u00e9\xc3\xa9\xf0\x9f\x98\x80 \\\"x\\\" \\ud800."));
    assert_preview(fixture, 1, "a", "user", 1, "a", 0);
    assert_preview(fixture, 2, "a", "user", 1, "a", 0);
    assert_preview(fixture, 3, "a\xc3\xa9", "user", 1, "a\xc3\xa9", 0);
    assert_preview(fixture, 8, "a\xc3\xa9\xc3\xa9", "user", 1, "a\xc3\xa9\xc3\xa9", 0);
    assert_preview(fixture, 0, "a\xc3\xa9\xc3\xa9\xf0\x9f\x98\x80 \"x\" \xef\xbf\xbd.", "user", 1,
                   "a\xc3\xa9\xc3\xa9\xf0\x9f\x98\x80 \"x\" \xef\xbf\xbd.", 0);
}

TEST(a_text_has_at_most_the_bytes_that_are_asked_for)
{
    enum { LONG = 300000 };
    char *event = malloc(LONG + 100);

    assert_non_null(event);
    const int start = snprintf(event, LONG, "{\"author\":\"user\",\"content\":{\"parts\":[{\"text\":\"");
    memset(event + start, 'x', LONG);
    strcpy(event + start + LONG, "\"}]}}");
    begin(fixture);
    append(fixture, event);
    free(event);
    for (size_t bytes = 0; bytes <= 4096; bytes += 1024) {
        ses_page *page = must_list(fixture->store, bytes);
        assert_int_equal(ses_page_preview(page, 0)->last.len, bytes ? bytes : 200);
        assert_int_equal(ses_page_preview(page, 0)->first.len, bytes ? bytes : 200);
        ses_page_close(page);
    }
}

TEST(content_of_any_shape_is_passed_over)
{
    static const char *const odd[] = {
        "{\"author\":\"agent\",\"content\":null}", "{\"author\":\"agent\",\"content\":{\"parts\":{}}}",
        "{\"author\":\"agent\",\"content\":{\"parts\":[1,null,[],{\"text\":7}]}}",
        "{\"author\":\"agent\",\"content\":{\"parts\":[{\"functionCall\":[]},{\"functionCall\":{\"id\":1}}]}}"};

    begin(fixture);
    append(fixture, SAYS("user", "hello"));
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        append(fixture, odd[i]);
    assert_preview(fixture, 0, "hello", "user", 1, "hello", 1);
}

TEST(it_looks_at_eight_events_from_each_end)
{
    begin(fixture);
    for (int i = 0; i < 7; i++)
        append(fixture, "{\"author\":\"agent\"}");
    append(fixture, SAYS("user", "in the middle"));
    assert_preview(fixture, 0, "in the middle", "user", 8, "in the middle", 0);
    for (int i = 0; i < 7; i++)
        append(fixture, "{\"author\":\"agent\"}");
    assert_preview(fixture, 0, "in the middle", "user", 8, "in the middle", 0);
    append(fixture, "{\"author\":\"agent\"}");
    assert_preview(fixture, 0, NULL, NULL, 0, "in the middle", 0);
}

/* ---------------------------------------------------------------------------------------------- calls */

TEST(calls_without_a_response_are_counted)
{
    begin(fixture);
    append(fixture, SAYS("user", "Do it."));
    append(fixture, CALL("1", "tool"));
    assert_preview(fixture, 0, "Do it.", "user", 1, "Do it.", 1);
    append(fixture, CALL("2", "tool"));
    append(fixture, RESPONSE("1", "other"));
    assert_preview(fixture, 0, "Do it.", "user", 1, "Do it.", 1);
    append(fixture, CALL("1", "tool")); /* after its response */
    assert_preview(fixture, 0, "Do it.", "user", 1, "Do it.", 2);
    append(fixture, RESPONSE("1", "tool"));
    append(fixture, RESPONSE("2", "tool"));
    assert_preview(fixture, 0, "Do it.", "user", 1, "Do it.", 0);
}

TEST(calls_without_an_id_are_answered_by_name)
{
    begin(fixture);
    append(fixture, CALL("", "tool"));
    append(fixture, CALL("", "tool"));
    append(fixture, RESPONSE("", "tool"));
    append(fixture, RESPONSE("", "else"));
    assert_preview(fixture, 0, NULL, NULL, 0, NULL, 1);
    append(fixture, RESPONSE("", "tool"));
    assert_preview(fixture, 0, NULL, NULL, 0, NULL, 0);
    append(fixture, PART("agent", "{\"functionCall\":{\"id\":\"a\"}},{\"functionResponse\":{\"id\":\"a\"}}"));
    assert_preview(fixture, 0, NULL, NULL, 0, NULL, 1);
}

TEST(calls_before_the_newest_text_are_left_out)
{
    begin(fixture);
    append(fixture, CALL("1", "tool"));
    append(fixture, SAYS("user", "Forget it."));
    assert_preview(fixture, 0, "Forget it.", "user", 2, "Forget it.", 0);
    append(fixture, PART("agent", "{\"text\":\"I will.\"},{\"functionCall\":{\"id\":\"2\"}}"));
    assert_preview(fixture, 0, "I will.", "agent", 3, "Forget it.", 1);
}

/* -------------------------------------------------------------------------------------------- history */

TEST(it_shows_what_is_live)
{
    const ses_point before_two = {.size = sizeof before_two, .kind = SES_POINT_INVOCATION, .id = "two"};
    const ses_point start = {.size = sizeof start, .kind = SES_POINT_INVOCATION, .id = "one"};

    begin(fixture);
    append(fixture,
           "{\"invocationId\":\"one\",\"author\":\"user\",\"content\":{\"parts\":[{\"text\":\"1\"}]}}");
    append(fixture,
           "{\"invocationId\":\"two\",\"author\":\"user\",\"content\":{\"parts\":[{\"text\":\"2\"}]}}");
    assert_preview(fixture, 0, "2", "user", 2, "1", 0);
    assert_ok(ses_rewind_by_key(fixture->store, &key, &before_two, NULL, NULL, &error));
    assert_preview(fixture, 0, "1", "user", 1, "1", 0);
    assert_ok(ses_redo_by_key(fixture->store, &key, NULL, NULL, &error));
    assert_preview(fixture, 0, "2", "user", 2, "1", 0);
    assert_ok(ses_rewind_by_key(fixture->store, &key, &start, NULL, NULL, &error));
    assert_preview(fixture, 0, NULL, NULL, 0, NULL, 0);
    append(fixture, SAYS("user", "again"));
    ses_page *page = must_list(fixture->store, 0);
    assert_text(ses_page_preview(page, 0)->first, "again");
    ses_page_close(page);
    assert_ok(ses_cut_by_key(fixture->store, &key, &before_two, NULL, NULL, &error));
    assert_preview(fixture, 0, "1", "user", 1, "1", 0);
}

TEST(nothing_of_what_was_redacted_or_pruned_is_kept)
{
    const ses_prune_options last = {.size = sizeof last, .which = SES_PRUNE_KEEP, .keep = 1};
    int64_t deleted = 0;

    begin(fixture);
    append(fixture, SAYS("user", "a secret"));
    append(fixture, SAYS("agent", "noted"));
    assert_ok(ses_redact_by_key(fixture->store, &key, (const int64_t[]){1}, 1, NULL, NULL, &error));
    assert_preview(fixture, 0, "noted", "agent", 2, "[redacted]", 0);
    append(fixture, SAYS("user", "more"));
    assert_ok(ses_prune_by_key(fixture->store, &key, &last, &deleted, &error));
    assert_preview(fixture, 0, "more", "user", 3, "more", 0);
}

/* ---------------------------------------------------------------------------------------------- lists */

TEST(each_session_of_a_long_page_shows_its_own)
{
    enum { SESSIONS = 230 };
    char name[20];
    char event[200];

    for (int i = 0; i < SESSIONS; i++) {
        snprintf(name, sizeof name, "s%d", i);
        const ses_key own = {"app", i % 3 ? "alice" : "bob", name};
        must_create(fixture->store, &own, NULL);
        if (i % 7 == 0)
            continue;
        snprintf(event, sizeof event, SAYS("user", "number %d"), i);
        must_append_by_key(fixture->store, &own, event);
    }
    ses_page *page = must_list(fixture->store, 0);
    assert_int_equal(ses_page_count(page), SESSIONS);
    for (int i = 0; i < SESSIONS; i++) {
        snprintf(event, sizeof event, "number %d", i);
        assert_text(ses_page_preview(page, (size_t)i)->last, i % 7 ? event : NULL);
        assert_text(ses_page_preview(page, (size_t)i)->first, i % 7 ? event : NULL);
    }
    ses_page_close(page);
}

TEST(there_is_none_unless_it_is_asked_for)
{
    ses_list_options options = {.size = sizeof options, .preview_bytes = 10};
    ses_page *page = NULL;

    begin(fixture);
    assert_ok(ses_list(fixture->store, "app", "user", &options, &page, &error));
    assert_null(ses_page_preview(page, 0));
    ses_page_close(page);
    page = must_list(fixture->store, 0);
    assert_null(ses_page_preview(page, 1));
    ses_page_close(page);
    options.flags = SES_LIST_PREVIEW | SES_LIST_NO_STATE;
    options.preview_bytes = 4097;
    assert_code(SES_INVALID, ses_list(fixture->store, "app", "user", &options, &page, &error));
    options.preview_bytes = 4096;
    assert_ok(ses_list(fixture->store, "nobody", NULL, &options, &page, &error));
    assert_null(ses_page_preview(page, 0));
    ses_page_close(page);
}
