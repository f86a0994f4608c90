/*
 * google-adk's page, in a real browser, on the example server. Skipped, with a word, where there is no
 * Chromium, or no google-adk, whose package holds the page: SESLITE_PYTHON names a Python that has it.
 */
#include "browser.h"
#include "server.h"

/* The folder of the page; free it. NULL: there is none. */
static char *find_page(void)
{
    const char *python = getenv("SESLITE_PYTHON") ? getenv("SESLITE_PYTHON") : "python3";
    struct text command = {NULL, 0};
    int status = 0;

    text_printf(
        &command,
        "%s -c 'import importlib.util as u, os; d = os.path.join(os.path.dirname(u.find_spec(\"google.adk\")"
        ".origin), \"cli\", \"browser\"); assert os.path.exists(d + \"/index.html\"); print(d, end=\"\")' "
        "2>/dev/null",
        python);
    char *folder = support_run(command.data, &status);
    free(command.data);
    if (status == 0)
        return folder;
    free(folder);
    print_message(
        "skipped: there is no google-adk with its page (set SESLITE_PYTHON to a python that has it)\n");
    return NULL;
}

static void open_page(const struct browser *browser, const struct server *server)
{
    struct text url = {NULL, 0};
    cJSON *body = cJSON_CreateObject();

    text_printf(&url, "%s/", server->url); /* it leads to the page */
    (void)cJSON_AddStringToObject(body, "url", url.data);
    browser_tell(browser, "/url", body);
    free(url.data);
}

#define SAYS(text) "return String(document.body.innerText.includes('" text "'));"

static void use_page(const struct browser *browser, const struct server *server)
{
    open_page(browser, server);
    browser_await(browser, "return String(!!document.querySelector('textarea'));", "true");
    browser_await(browser, SAYS("secretary"), "true");
    browser_type(browser, "textarea", "note buy tea" KEY_ENTER);
    browser_await(browser, SAYS("Noted. Notes: [\"buy tea\"]."), "true");
    browser_picture(browser, "adk-page");
}

/* The page has made a session, whose events are the conversation. */
static void check_store(const struct folder *folder)
{
    char *found = raw_text(
        folder->path, "SELECT group_concat(author), count(DISTINCT session) FROM (SELECT author, session "
                      "FROM event_log ORDER BY seq)");

    assert_string_equal(found, "user,secretary,secretary,secretary|1\n");
    free(found);
}

FOLDER_TEST(google_adks_page_talks_to_the_agent)
{
    char *page = find_page();
    struct server server = {.options = {"--web", page}};
    struct browser browser = {.pid = 0};

    if (!page || !browser_start(&browser, folder->folder)) {
        free(page);
        skip();
    }
    server_start_at(&server, folder->path, "0");
    use_page(&browser, &server);
    browser_stop(&browser);
    server_stop(&server);
    check_store(folder);
    free(page);
}

BEFORE_TESTS()
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}
