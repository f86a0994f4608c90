/* seslite html: the page in a real browser. Skipped, with a word, where there is none. */
#include "browser.h"
#include "html.h"

static struct browser browser;
static struct fixture *fixture;

static int setup(void **state)
{
    (void)fixture_setup(state);
    fixture = *state;
    fill_page_session(fixture->store);
    (void)browser_start(&browser, fixture->folder);
    return 0;
}

static int teardown(void **state)
{
    *state = fixture;
    browser_stop(&browser);
    return fixture_teardown(state);
}

#define skip_without_browser() \
    do {                       \
        if (browser.pid == 0)  \
            skip();            \
    } while (0)

/* ------------------------------------------------------------------------------------------------ opening */

/* Writes the page of a session, and opens it with that fragment. `option` may be NULL. */
static void open_page_with(const char *session, const char *fragment, const char *option)
{
    char *path = support_path(fixture->folder, "page.html");
    char url[1024];
    struct reply answer = {0};
    cJSON *body = cJSON_CreateObject();

    run_at(&answer, 0, NULL, fixture->path, "html", session, "-o", path, "--replace", option);
    browser_tell(&browser, "/url", cJSON_Parse("{\"url\":\"about:blank\"}"));
    cJSON_Delete(browser_log(&browser, "browser"));
    cJSON_Delete(browser_log(&browser, "performance"));
    snprintf(url, sizeof url, "file://%s%s", path, fragment);
    (void)cJSON_AddStringToObject(body, "url", url);
    browser_tell(&browser, "/url", body);
    reply_free(&answer);
    free(path);
}

static void open_page(const char *session, const char *fragment)
{
    open_page_with(session, fragment, NULL);
}

/* The page said nothing in the console, which is where violations of its policy are told, and asked for
 * nothing but itself, and images that it holds. */
static void check_quiet(void)
{
    cJSON *console = browser_log(&browser, "browser");
    cJSON *performance = browser_log(&browser, "performance");
    const cJSON *entry = NULL;
    int asked = 0;

    cJSON_ArrayForEach(entry, console) print_error("console: %s\n", json_string(entry, "message"));
    assert_int_equal(cJSON_GetArraySize(console), 0);
    cJSON_ArrayForEach(entry, performance)
    {
        const char *message = json_string(entry, "message");
        if (!strstr(message, "\"Network.requestWillBeSent\"") || strstr(message, "\"url\":\"data:image/"))
            continue;
        asked++;
        if (!strstr(message, "/page.html"))
            print_error("asked for: %s\n", message);
        assert_non_null(strstr(message, "/page.html"));
    }
    assert_int_equal(asked, 1);
    cJSON_Delete(console);
    cJSON_Delete(performance);
}

/* The state of the slider: the existing keys, as one JSON object, and its position. */
#define STATE                                                                                           \
    "const state = {}; for (const row of document.querySelectorAll('.values > div:not(.gone)'))"        \
    "  state[row.querySelector('dt').textContent] = JSON.parse(row.querySelector('ins').textContent); " \
    "return JSON.stringify(state);"
#define AT "return document.querySelector('.at').textContent;"
/* But for what a browser rounds: a place may lie between two pixels. */
#define IN_SIGHT(selector)                                                        \
    "const box = document.querySelector('" selector "').getBoundingClientRect();" \
    "return String(box.top > -1 && box.bottom < innerHeight + 1);"

/* ------------------------------------------------------------------------------------------ reading it */

PLAIN_TEST(the_page_opens_without_a_word_and_asks_for_nothing)
{
    skip_without_browser();
    open_page("oslo", "");
    browser_expect(&browser, "return document.title;", "A coat for Oslo");
    browser_await(&browser, AT, "after event 12");
    check_quiet();
    browser_picture(&browser, "light");
    cJSON_Delete(browser_devtools(&browser, "Emulation.setEmulatedMedia",
                                  "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"dark\"}]}"));
    browser_expect(&browser, "return getComputedStyle(document.body).backgroundColor;", "rgb(23, 25, 28)");
    browser_picture(&browser, "dark");
    cJSON_Delete(browser_devtools(&browser, "Emulation.setEmulatedMedia", "{\"features\":[]}"));
}

PLAIN_TEST(a_fold_opens_with_a_click)
{
    skip_without_browser();
    open_page("oslo", "");
    browser_expect(&browser, "return String(document.querySelector('#e2 .call').open);", "false");
    browser_click(&browser, "#e2 .call > summary");
    browser_expect(&browser, "return String(document.querySelector('#e2 .call').open);", "true");
    browser_expect(
        &browser,
        "return JSON.stringify(JSON.parse(document.querySelectorAll('#e2 .call pre')[0].textContent));",
        "{\"city\":\"Oslo\",\"days\":3,\"units\":\"celsius\"}");
    browser_picture(&browser, "fold");
    check_quiet();
}

/* On a phone nothing is wider than the screen. */
PLAIN_TEST(the_page_fits_a_phone)
{
    skip_without_browser();
    cJSON_Delete(browser_devtools(&browser, "Emulation.setDeviceMetricsOverride",
                                  "{\"width\":375,\"height\":780,\"deviceScaleFactor\":2,\"mobile\":true}"));
    open_page("oslo", "");
    browser_expect(&browser, "return String(document.documentElement.scrollWidth <= 375);", "true");
    browser_picture(&browser, "phone");
    browser_click(&browser, ".state > summary");
    browser_type(&browser, ".slider", KEY_HOME KEY_RIGHT KEY_RIGHT KEY_RIGHT);
    browser_await(&browser, AT, "after event 3");
    browser_expect(&browser,
                   "return String(document.querySelector('#e3').getBoundingClientRect().bottom <= "
                   "document.querySelector('.panel').getBoundingClientRect().top);",
                   "true");
    browser_picture(&browser, "phone-state");
    browser_expect(&browser, "return String(document.documentElement.scrollWidth <= 375);", "true");
    check_quiet();
    cJSON_Delete(browser_devtools(&browser, "Emulation.clearDeviceMetricsOverride", "{}"));
}

PLAIN_TEST(the_page_is_readable_without_scripts_and_printed)
{
    skip_without_browser();
    cJSON_Delete(browser_devtools(&browser, "Emulation.setScriptExecutionDisabled", "{\"value\":true}"));
    open_page("oslo", "#e3");
    cJSON *tree = browser_devtools(&browser, "Accessibility.getFullAXTree", "{}");
    char *text = cJSON_PrintUnformatted(tree);
    assert_non_null(strstr(text, "Do I need a coat?"));
    assert_non_null(strstr(text, "The model is overloaded."));
    assert_non_null(strstr(text, "tok-4711-abc"));
    assert_non_null(strstr(text, "Without scripts this page has no search"));
    assert_null(strstr(text, "slider"));
    free(text);
    cJSON_Delete(tree);
    browser_picture(&browser, "no-scripts");
    cJSON_Delete(browser_devtools(&browser, "Emulation.setScriptExecutionDisabled", "{\"value\":false}"));
    open_page("oslo", "");
    cJSON_Delete(browser_devtools(&browser, "Emulation.setEmulatedMedia", "{\"media\":\"print\"}"));
    browser_expect(&browser, "return getComputedStyle(document.querySelector('.search')).display;", "none");
    browser_expect(&browser,
                   "return String(document.querySelector('#e2 .call "
                   "pre').checkVisibility({contentVisibilityAuto: true}));",
                   "true");
    browser_picture(&browser, "print");
    cJSON_Delete(browser_devtools(&browser, "Emulation.setEmulatedMedia", "{\"media\":\"\"}"));
}

/* ----------------------------------------------------------------------------------- the slider and links */

PLAIN_TEST(a_name_is_never_cut_and_agents_have_colors)
{
    static const ses_key key = {"travel", "alice", "names"};
    struct text event = {NULL, 0};

    skip_without_browser();
    text_printf(&event, "{\"author\":\"bot\",\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"");
    for (int i = 0; i < 16; i++)
        text_printf(&event, "part_%d_", i);
    text_printf(&event,
                "\",\"args\":{\"a_long_one\":\"that goes on for a while, and longer than that\"}}}]}}");
    must_create(fixture->store, &key, "{}");
    must_append_by_key(fixture->store, &key, event.data);
    must_append_by_key(fixture->store, &key, "{\"author\":\"other\"}");
    open_page("names", "");
    browser_expect(
        &browser,
        "const name = document.querySelector('.call code'); const box = name.getBoundingClientRect();"
        "return String(name.scrollWidth <= box.width + 1 && box.right <= "
        "document.querySelector('article').getBoundingClientRect().right);",
        "true");
    browser_expect(&browser,
                   "return String(new Set([...document.querySelectorAll('article b')].map(name => "
                   "getComputedStyle(name).color)).size);",
                   "2");
    browser_picture(&browser, "names");
    check_quiet();
    free(event.data);
}

/* The policy lets them in, and nothing else. */
PLAIN_TEST(images_are_shown_on_request)
{
    static const ses_key key = {"travel", "alice", "image"};

    skip_without_browser();
    must_create(fixture->store, &key, "{}");
    must_append_by_key(
        fixture->store, &key,
        Q("{'author':'user','content':{'parts':[{'inlineData':{'mimeType':'image/png','data':"
          "'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs-9AAAAFUlEQVR42mP8z8BQz0AEYBxVSF-FABJADveWkH6oAAAA"
          "AElFTkSuQmCC'}}]}}"));
    open_page_with("image", "", "--images");
    browser_await(&browser, "return String(document.querySelector('img').naturalWidth);", "10");
    browser_picture(&browser, "image");
    check_quiet();
}

/* At each event the slider shows what the store says. */
PLAIN_TEST(the_slider_shows_the_state_at_each_event)
{
    skip_without_browser();
    open_page("oslo", "");
    browser_type(&browser, ".slider", KEY_HOME);
    browser_await(&browser, AT, "before the first event");
    for (int seq = 0; seq <= 12; seq++) {
        char number[16];
        char at[64] = "before the first event";
        snprintf(number, sizeof number, "%d", seq);
        if (seq > 0) {
            snprintf(at, sizeof at, "after event %d", seq);
            browser_type(&browser, ".slider", KEY_RIGHT);
        }
        browser_await(&browser, AT, at);
        run_at(&reply, 0, NULL, fixture->path, "-s", "oslo", "state", "--at", number, "--shared", "--json");
        cJSON *expected = reply_json(&reply);
        cJSON *shown = browser_run(&browser, STATE);
        cJSON *shown_state = cJSON_Parse(shown->valuestring);
        if (!cJSON_Compare(expected, shown_state, true))
            print_error("at %d: %s\n%s\n", seq, reply.out.data, shown->valuestring);
        assert_true(cJSON_Compare(expected, shown_state, true));
        cJSON_Delete(expected);
        cJSON_Delete(shown);
        cJSON_Delete(shown_state);
    }
    check_quiet();
}

PLAIN_TEST(the_slider_shows_what_changed_and_from_what)
{
    static const char changed[] =
        "return [...document.querySelectorAll('.values .changed')].map(row => row.textContent).join('|');";

    skip_without_browser();
    open_page("oslo", "#e8");
    browser_await(&browser, AT, "after event 8");
    browser_expect(&browser, changed, "topic\"travel\"removed|turns12");
    browser_picture(&browser, "slider");
    browser_type(&browser, "body", "j");
    browser_await(&browser, AT, "after event 9");
    browser_expect(&browser, changed, "topic\"travel\"|turns21");
    browser_expect(&browser, "return location.hash;", "#e9");
    browser_type(&browser, "body", "kkk");
    browser_await(&browser, AT, "after event 6");
    browser_expect(&browser, changed, "");
    browser_click(&browser, "#e3 .seq");
    browser_await(&browser, AT, "after event 3");
    browser_expect(&browser, "return location.hash + document.querySelector('article.here').id;", "#e3e3");
    check_quiet();
}

/* From where one has scrolled to, if the event that was gone to is out of sight. */
PLAIN_TEST(a_step_goes_on_from_what_is_in_sight)
{
    static const ses_key key = {"travel", "alice", "steps"};

    skip_without_browser();
    must_create(fixture->store, &key, "{}");
    for (int i = 0; i < 120; i++) {
        struct text event = {NULL, 0};
        text_printf(&event, "{\"author\":\"bot\",\"content\":{\"parts\":[{\"text\":\"");
        for (int line = 0; line < (i == 49 ? 200 : 2); line++) /* the last of its section is long */
            text_printf(&event, "# a line\\n\\n");
        text_printf(&event, "\"}]}}");
        must_append_by_key(fixture->store, &key, event.data);
        free(event.data);
    }
    open_page("steps", "");
    browser_await(&browser, AT, "after event 120");
    browser_type(&browser, "body", "j");
    browser_await(&browser, AT, "after event 1");
    browser_type(&browser, "body", "jj");
    browser_await(&browser, AT, "after event 3");
    cJSON_Delete(browser_run(&browser, "document.querySelector('#e80').scrollIntoView({block: 'start'});"));
    browser_await(&browser, IN_SIGHT("#e80"), "true");
    browser_type(&browser, "body", "j");
    browser_await(&browser, AT, "after event 80");
    browser_await(&browser, IN_SIGHT("#e80"), "true");
    cJSON_Delete(browser_run(&browser, "document.querySelector('#e40').scrollIntoView({block: 'start'});"));
    browser_await(&browser, IN_SIGHT("#e40"), "true");
    browser_type(&browser, "body", "k");
    browser_await(&browser, AT, "after event 39");
    cJSON_Delete(browser_run(&browser, "const box = document.querySelector('#e50').getBoundingClientRect();"
                                       "window.scrollBy(0, (box.top + box.bottom) / 2 - 10);"));
    browser_await(&browser,
                  "return String(document.querySelector('#e51').getBoundingClientRect().top > innerHeight);",
                  "true");
    browser_type(&browser, "body", "j");
    browser_await(&browser, AT, "after event 51");
    check_quiet();
}

/* ------------------------------------------------------------------------------------------------- search */

#define COUNT "return document.querySelector('.search output').value;"

PLAIN_TEST(search_counts_marks_and_opens_folds)
{
    skip_without_browser();
    open_page("oslo", "");
    browser_type(&browser, "body", "/");
    browser_expect(&browser, "return document.activeElement.type;", "search");
    browser_type(&browser, ".search input", "COAT");
    browser_await(&browser, COUNT, "1 of 3");
    browser_expect(&browser, "return String(document.querySelectorAll('main mark').length);", "3");
    browser_expect(&browser, "return document.querySelector('mark.here').closest('article').id;", "e1");
    browser_picture(&browser, "search");
    browser_type(&browser, ".search input", KEY_ENTER);
    browser_expect(&browser, COUNT, "2 of 3");
    browser_type(&browser, ".search input", KEY_SHIFT KEY_ENTER);
    browser_expect(&browser, COUNT, "1 of 3");
    browser_click(&browser, ".search .previous");
    browser_expect(&browser, COUNT, "3 of 3");
    browser_type(&browser, ".search input", KEY_ESCAPE);
    browser_await(&browser, COUNT, "");
    browser_expect(&browser, "return String(document.querySelectorAll('mark').length);", "0");
    browser_expect(&browser, "return document.querySelector('#e1 .text').firstChild.data;",
                   "I fly to Oslo on Friday.\nDo I need a coat?");
    /* In a fold, and then only in the event as it is stored. */
    browser_type(&browser, ".search input", "\"clear\"");
    browser_await(&browser, COUNT, "1 of 2");
    browser_expect(&browser, "return String(document.querySelector('#e2 .call').open);", "true");
    browser_type(&browser, ".search input", KEY_ESCAPE);
    browser_type(&browser, ".search input", "longRunningToolIds");
    browser_await(&browser, COUNT, "1 of 1");
    browser_expect(&browser, "return String(document.querySelector('#e8 .event').open);", "true");
    browser_type(&browser, ".search input", KEY_ESCAPE);
    browser_type(&browser, ".search input", "[.*<b>");
    browser_await(&browser, COUNT, "nothing");
    check_quiet();
}

/* ------------------------------------------------------------------------------------------ hostile texts */

/* Several on a page, since opening one takes long: whatever gets out of its place leaves something that is
 * looked for, or takes something away that is counted. nothing_of_a_log_becomes_markup has a page for
 * each. */
PLAIN_TEST(nothing_of_a_log_runs)
{
    enum { ON_A_PAGE = 7 };

    skip_without_browser();
    for (size_t i = 0; i < HOSTILE_COUNT; i += ON_A_PAGE) {
        char id[32];
        snprintf(id, sizeof id, "hostile-%zu", i);
        const ses_key key = {"travel", "alice", id};
        must_create(fixture->store, &key, "{}");
        for (size_t text = i; text < i + ON_A_PAGE && text < HOSTILE_COUNT; text++)
            fill_hostile_session(fixture->store, &key, hostile[text].json);
        open_page(id, "");
        browser_type(&browser, ".slider", KEY_HOME KEY_RIGHT KEY_END);
        browser_type(&browser, ".search input", "window");
        browser_expect(
            &browser,
            "for (const fold of document.querySelectorAll('details')) fold.open = true; return "
            "String(window.pwned) + String(document.querySelectorAll('script').length) + "
            "String(document.querySelectorAll('img,iframe,svg,form,base,link,object,embed').length);",
            "undefined20");
        check_quiet();
    }
}

/* --------------------------------------------------------------------------------------------- a long log */

PLAIN_TEST(a_log_of_two_thousand_events_is_usable)
{
    static const ses_key key = {"travel", "alice", "many"};
    int64_t begun;

    skip_without_browser();
    must_create(fixture->store, &key, "{}");
    for (int i = 0; i < 2000; i++) {
        char event[512];
        snprintf(event, sizeof event,
                 "{\"author\":\"%s\",\"timestamp\":%d,\"content\":{\"parts\":[{\"text\":\"The %d. thing that "
                 "was said, and it is "
                 "as long as such a thing is, which makes it a line or "
                 "two.\"}]},\"actions\":{\"stateDelta\":{\"count\":%d,"
                 "\"key%d\":\"%d\"}}}",
                 i % 2 ? "bot" : "user", 1700000000 + i, i, i, i % 40, i);
        must_append_by_key(fixture->store, &key, event);
    }
    begun = support_steady_us();
    open_page("many", "");
    browser_await(&browser, AT, "after event 2000");
    print_message("2000 events: %lld ms to write and open\n",
                  (long long)(support_steady_us() - begun) / 1000);
    cJSON *took = browser_run(
        &browser,
        "const slider = document.querySelector('.slider'); const begun = performance.now();"
        "for (let i = 0; i < 100; i++) { slider.value = i * 20; slider.dispatchEvent(new Event('input')); "
        "document.body.offsetHeight; } return (performance.now() - begun) / 100;");
    print_message("moving the slider: %.2f ms\n", took->valuedouble);
    assert_true(took->valuedouble < 200);
    cJSON_Delete(took);
    begun = support_steady_us();
    browser_type(&browser, ".search input", "1999. thing");
    browser_await(&browser, COUNT, "1 of 1");
    print_message("searching: %lld ms\n", (long long)(support_steady_us() - begun) / 1000);
    check_quiet();
    /* A link into the middle of what is not laid out yet. */
    open_page("many", "#e1234");
    browser_await(&browser, AT, "after event 1234");
    browser_await(&browser, IN_SIGHT("#e1234"), "true");
    browser_type(&browser, ".slider", KEY_HOME KEY_RIGHT);
    browser_await(&browser, IN_SIGHT("#e1"), "true");
    browser_type(&browser, ".slider", KEY_END);
    browser_await(&browser, IN_SIGHT("#e2000"), "true");
    check_quiet();
}

TEST_GROUP(setup, teardown)
