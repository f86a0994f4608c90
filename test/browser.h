/* A real browser: headless Chromium, driven through chromedriver by the WebDriver protocol. */
#ifndef SESLITE_TEST_BROWSER_H
#define SESLITE_TEST_BROWSER_H

#include "command.h"

#include <curl/curl.h>

struct browser {
    pid_t pid; /* of chromedriver; 0: there is none */
    char url[256];
};

/* ----------------------------------------------------------------------------------------------- requests */

static inline size_t browser_take(char *data, size_t bytes, size_t len, void *context)
{
    struct text *text = context;
    (void)bytes; /* always 1 */
    text_add(text, data, len);
    return len;
}

/* Sends a command. Gives its value, or fails; cJSON_Delete. */
static inline cJSON *browser_ask(const struct browser *browser, const char *method, const char *path,
                                 const char *body)
{
    char url[1024];
    struct text answer = {NULL, 0};
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    CURL *curl = curl_easy_init();

    assert_non_null(curl);
    text_add(&answer, "", 0);
    snprintf(url, sizeof url, "%s%s", browser->url, path);
    (void)curl_easy_setopt(curl, CURLOPT_URL, url);
    (void)curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT, 120L);
    (void)curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, browser_take);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
    if (body)
        (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    int code = (int)curl_easy_perform(curl);
    long status = 0;
    (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK || status != 200)
        print_error("%s %s: %d, %ld %s\n", method, path, code, status, answer.data);
    assert_int_equal(code, CURLE_OK);
    assert_int_equal(status, 200);
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    cJSON *json = cJSON_Parse(answer.data);
    cJSON *value = cJSON_DetachItemFromObject(json, "value");
    assert_non_null(value);
    cJSON_Delete(json);
    free(answer.data);
    return value;
}

/* The same with an object as the body, which it deletes. */
static inline cJSON *browser_post(const struct browser *browser, const char *path, cJSON *body)
{
    char *text = cJSON_PrintUnformatted(body);
    cJSON *value = browser_ask(browser, "POST", path, text);

    cJSON_Delete(body);
    free(text);
    return value;
}

static inline void browser_tell(const struct browser *browser, const char *path, cJSON *body)
{
    cJSON_Delete(browser_post(browser, path, body));
}

/* --------------------------------------------------------------------------------------------- its life */

/* Starts chromedriver. False: it, or Chromium, is not there. */
static inline bool browser_start_driver(struct browser *browser)
{
    char line[512] = "";
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    browser->pid = fork();
    assert_true(browser->pid >= 0);
    if (browser->pid == 0) {
        (void)dup2(ends[1], 1);
        (void)close(ends[0]);
        (void)close(ends[1]);
        execlp("chromedriver", "chromedriver", "--port=0", (char *)NULL);
        _exit(127);
    }
    (void)close(ends[1]);
    FILE *out = fdopen(ends[0], "r");
    assert_non_null(out);
    const char *port = NULL;
    while (!port && fgets(line, sizeof line, out))
        port = strstr(line, "successfully on port ");
    if (port)
        snprintf(browser->url, sizeof browser->url, "http://127.0.0.1:%d",
                 atoi(port + strlen("successfully on port ")));
    else
        (void)waitpid(browser->pid, NULL, 0);
    (void)fclose(out);
    return port != NULL;
}

/* Starts the browser, with its files in the folder. False, with a word, if there is none. */
static inline bool browser_start(struct browser *browser, const char *folder)
{
    static const char form[] =
        "{\"capabilities\":{\"alwaysMatch\":{\"browserName\":\"chrome\",\"goog:loggingPrefs\":{\"browser\":"
        "\"ALL\","
        "\"performance\":\"ALL\"},\"goog:chromeOptions\":{\"args\":[\"--headless\",\"--no-sandbox\",\"--"
        "disable-gpu\","
        "\"--disable-quic\",\"--no-first-run\",\"--disable-background-networking\",\"--disable-component-"
        "update\","
        "\"--disable-sync\",\"--disable-dev-shm-usage\",\"--hide-scrollbars\",\"--window-size=1280,1000\","
        "\"--user-data-dir=%s/profile\"]}}}}";
    char body[2048];

    *browser = (struct browser){.pid = 0};
    if (system("command -v chromium >/dev/null 2>&1 || command -v chrome >/dev/null 2>&1 || command -v "
               "google-chrome "
               ">/dev/null 2>&1") != 0 ||
        system("command -v chromedriver >/dev/null 2>&1") != 0 || !browser_start_driver(browser)) {
        browser->pid = 0;
        print_message("skipped: there is no Chromium with chromedriver (make deps-browser)\n");
        return false;
    }
    snprintf(body, sizeof body, form, folder);
    cJSON *session = browser_ask(browser, "POST", "/session", body);
    const char *id = json_string(session, "sessionId");
    assert_non_null(id);
    size_t len = strlen(browser->url);
    snprintf(browser->url + len, sizeof browser->url - len, "/session/%.64s", id);
    cJSON_Delete(session);
    return true;
}

static inline void browser_stop(struct browser *browser)
{
    if (browser->pid == 0)
        return;
    cJSON_Delete(browser_ask(browser, "DELETE", "", NULL));
    (void)kill(browser->pid, SIGTERM);
    (void)waitpid(browser->pid, NULL, 0);
    browser->pid = 0;
}

/* ------------------------------------------------------------------------------------------- what it does */

/* Runs a script within the page. Gives what it returns; cJSON_Delete. */
static inline cJSON *browser_run(const struct browser *browser, const char *script)
{
    cJSON *body = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(body, "script", script);
    (void)cJSON_AddArrayToObject(body, "args");
    return browser_post(browser, "/execute/sync", body);
}

/* The result of a script must be this text. */
static inline void browser_expect(const struct browser *browser, const char *script, const char *expected)
{
    cJSON *value = browser_run(browser, script);

    if (!cJSON_IsString(value))
        print_error("%s: no text\n", script);
    assert_true(cJSON_IsString(value));
    assert_string_equal(value->valuestring, expected);
    cJSON_Delete(value);
}

/* The same until it is so, for at most ten seconds: something in the page takes its time. */
static inline void browser_await(const struct browser *browser, const char *script, const char *expected)
{
    bool same = false;

    for (int i = 0; i < 500 && !same; i++) {
        cJSON *value = browser_run(browser, script);
        same = cJSON_IsString(value) && strcmp(value->valuestring, expected) == 0;
        cJSON_Delete(value);
        if (!same)
            support_pause_us(20000);
    }
    browser_expect(browser, script, expected);
}

/* The element, for the paths of other commands: "/element/ID". It lives until the next call. */
static inline const char *browser_find(const struct browser *browser, const char *selector)
{
    static char path[256];
    cJSON *body = cJSON_CreateObject();

    (void)cJSON_AddStringToObject(body, "using", "css selector");
    (void)cJSON_AddStringToObject(body, "value", selector);
    cJSON *element = browser_post(browser, "/element", body);
    assert_non_null(element->child);
    snprintf(path, sizeof path, "/element/%s", element->child->valuestring);
    cJSON_Delete(element);
    return path;
}

static inline void browser_click(const struct browser *browser, const char *selector)
{
    char path[300];
    snprintf(path, sizeof path, "%s/click", browser_find(browser, selector));
    browser_tell(browser, path, cJSON_CreateObject());
}

/* Types into an element. Keys without a letter are in the private use area: see WebDriver. */
static inline void browser_type(const struct browser *browser, const char *selector, const char *keys)
{
    char path[300];
    cJSON *body = cJSON_CreateObject();

    snprintf(path, sizeof path, "%s/value", browser_find(browser, selector));
    (void)cJSON_AddStringToObject(body, "text", keys);
    browser_tell(browser, path, body);
}
#define KEY_ENTER "\xee\x80\x87"
#define KEY_SHIFT "\xee\x80\x88"
#define KEY_ESCAPE "\xee\x80\x8c"
#define KEY_END "\xee\x80\x90"
#define KEY_HOME "\xee\x80\x91"
#define KEY_LEFT "\xee\x80\x92"
#define KEY_RIGHT "\xee\x80\x94"

/* A command of the Chrome DevTools Protocol; `params` is JSON. cJSON_Delete. */
static inline cJSON *browser_devtools(const struct browser *browser, const char *command, const char *params)
{
    cJSON *body = cJSON_CreateObject();

    (void)cJSON_AddStringToObject(body, "cmd", command);
    cJSON *json = cJSON_Parse(params);
    assert_non_null(json);
    (void)cJSON_AddItemToObject(body, "params", json);
    return browser_post(browser, "/goog/cdp/execute", body);
}

/* Entries of a log, "browser" or "performance", since it was asked last; cJSON_Delete. */
static inline cJSON *browser_log(const struct browser *browser, const char *type)
{
    cJSON *body = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(body, "type", type);
    return browser_post(browser, "/se/log", body);
}

/* Writes a picture of what the window shows into the folder that SESLITE_SCREENSHOTS names, if it does. */
static inline void browser_picture(const struct browser *browser, const char *name)
{
    const char *folder = getenv("SESLITE_SCREENSHOTS");
    char command[1024];

    if (!folder)
        return;
    cJSON *picture = browser_ask(browser, "GET", "/screenshot", NULL);
    assert_true(cJSON_IsString(picture));
    assert_true(strlen(picture->valuestring) > 1000);
    snprintf(command, sizeof command, "base64 -d > '%s/%s.png'", folder, name);
    FILE *file = popen(command, "w");
    assert_non_null(file);
    assert_true(fputs(picture->valuestring, file) >= 0);
    assert_int_equal(pclose(file), 0);
    cJSON_Delete(picture);
}

#endif
