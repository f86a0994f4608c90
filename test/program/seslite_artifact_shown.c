/* The command, artifacts: where an event names them, in a transcript, in lists of events and in the page. */
#include "html.h"

#include "seslite_artifact.h"

static const char PNG[] = "\x89PNG\r\n\x1a\n";

static void save(const struct fixture *fixture, const char *name, const char *bytes, size_t len,
                 const char *type)
{
    const ses_artifact_save_options options = {
        .size = sizeof options, .mime_type = type, .max_bytes = INT64_C(64) << 20};
    ses_error error;

    assert_ok(ses_artifact_save_by_key(fixture->store, &page_key, name, bytes, len, &options, NULL, &error));
}

static void append_delta(const struct fixture *fixture, const char *name, const char *delta)
{
    char event[1000];

    snprintf(event, sizeof event, "{\"author\":\"painter\",\"actions\":{\"%s\":%s}}", name, delta);
    must_append_by_key(fixture->store, &page_key, event);
}

/* --------------------------------------------------------------------------------------------- transcript */

TEST_OF(page_setup, show_lists_what_an_event_saved)
{
    save(fixture, "chart.png", PNG, 8, "image/png");
    save(fixture, "chart.png", "x", 1, NULL);
    save(fixture, "user:logo", "xy", 2, "text/plain");
    append_delta(fixture, "artifactDelta", "{\"chart.png\":0,\"user:logo\":0,\"gone.txt\":7,\"odd\":\"1\"}");
    append_delta(fixture, "artifact_delta", "{\"chart.png\":1}");
    run_ok("show", "oslo");
    assert_has(&reply.out, "    [artifact chart.png, version 0, image/png, 8 bytes]\n");
    assert_has(&reply.out, "    [artifact user:logo, version 0, text/plain, 2 bytes]\n");
    assert_has(&reply.out, "    [artifact gone.txt, version 7: not in the store]\n");
    assert_has(&reply.out, "    [artifact odd: not in the store]\n");
    assert_has(&reply.out, "    [artifact chart.png, version 1, 1 byte]\n");
    run_ok("events", "oslo", "-n", "1");
    assert_has(&reply.out, "  [artifact chart.png, version 1]\n");
    run_ok("tail", "oslo");
    assert_has(&reply.out, "[artifact chart.png, version 0]  [artifact user:logo, version 0]");
}

TEST_OF(page_setup, names_of_artifacts_drive_no_terminal)
{
    const struct how terminal = {.terminal = TERMINAL_ALL, .env = "NO_COLOR=1"};

    save(fixture, "\x1b[2J\xe2\x80\xae", "x", 1, "\x1b[31m");
    append_delta(fixture, "artifactDelta", "{\"\\u001b[2J\\u202e\":0,\"a\\u0000b\":0}");
    run_at(&reply, 0, &terminal, fixture->path, "show", "oslo");
    assert_lacks(&reply.screen, "\x1b");
    assert_has(&reply.screen, "^[[2J<U+202E>, version 0, ^[[31m, 1 byte");
    run_at(&reply, 0, &terminal, fixture->path, "-s", "oslo", "artifact", "list");
    assert_lacks(&reply.screen, "\x1b");
    assert_has(&reply.screen, "^[[2J<U+202E>");
    run_at(&reply, 2, &terminal, fixture->path, "-s", "oslo", "artifact", "\x1b[2J");
    assert_lacks(&reply.screen, "\x1b");
}

/* ----------------------------------------------------------------------------------------------- the page */

TEST_OF(page_setup, the_page_lists_what_an_event_saved)
{
    save(fixture, "chart.png", PNG, 8, "image/png");
    save(fixture, "page.html", "<script>", 8, "text/html");
    append_delta(fixture, "artifactDelta", "{\"chart.png\":0,\"page.html\":0,\"gone\":1}");
    run_ok("html", "oslo");
    check_page(&reply.out);
    assert_has(
        &reply.out,
        "<p class=\"action\">artifact <code>chart.png</code> version 0, image/png, 8 bytes, not shown</p>\n");
    assert_has(&reply.out, "<code>page.html</code> version 0, text/html, 8 bytes</p>\n");
    assert_has(&reply.out, "<code>gone</code> version 1, not in the store</p>\n");
    assert_lacks(&reply.out, "<code>artifactDelta</code>");
    assert_lacks(&reply.out, "iVBORw0KGgo=");
    run_ok("html", "oslo", "--images");
    check_page(&reply.out);
    assert_has(&reply.out, "image/png, 8 bytes</p>\n<img class=\"image\" alt=\"\" loading=\"lazy\" "
                           "src=\"data:image/png;base64,iVBORw0KGgo=\">");
    assert_lacks(&reply.out, "PHNjcmlwdD4=");
}

TEST_OF(page_setup, large_images_are_only_named)
{
    const size_t limit = (size_t)8 << 20;
    char *bytes = calloc(1, limit + 1);

    assert_non_null(bytes);
    save(fixture, "small.gif", "GIF", 3, "image/gif");
    save(fixture, "large.gif", bytes, limit + 1, "image/gif");
    append_delta(fixture, "artifactDelta", "{\"large.gif\":0,\"small.gif\":0}");
    run_ok("html", "oslo", "--images");
    assert_has(&reply.out, "version 0, image/gif, 8388609 bytes, not shown: more than 8 MiB</p>\n"
                           "<p class=\"action\">artifact");
    assert_has(&reply.out, "base64,R0lG\">");
    free(bytes);
}

/* Artifacts and inline data together. */
TEST_OF(page_setup, a_page_has_a_bounded_number_of_images)
{
    enum { SIZE = 7 << 20, FIT = 9 };
    static const char event[] =
        "{'author':'painter','content':{'parts':[{'inlineData':{'mimeType':'image/gif','data':'R0lG'}}]}}";
    char *file = support_path(fixture->folder, "page.html");
    char *bytes = calloc(1, SIZE);
    size_t count = 0;
    size_t len = 0;

    assert_non_null(bytes);
    save(fixture, "a.gif", bytes, SIZE, "image/gif");
    for (int i = 0; i <= FIT; i++)
        append_delta(fixture, "artifactDelta", "{\"a.gif\":0}");
    must_append_by_key(fixture->store, &page_key, Q(event));
    run_ok("html", "oslo", "-o", file, "--images");
    assert_has(&reply.err, "1 image not in it: larger than 8 MiB, or the page has 64 MiB of images");
    char *page = support_read_file(file, &len);
    for (const char *at = page; (at = strstr(at, "<img")) != NULL; at++)
        count++;
    assert_int_equal(count, FIT + 2); /* with the small one, and that of the setup */
    assert_true(len < (size_t)90 << 20);
    assert_non_null(strstr(page, "7340032 bytes, not shown: the page has 64 MiB of images</p>"));
    run_ok("html", "oslo", "-o", file, "--replace");
    assert_has(&reply.err, "12 images not in it: --images includes them");
    run_ok("html", "oslo", "-o", file, "--replace", "--json");
    cJSON *json = reply_json(&reply);
    assert_true(json_double(json, "imagesLeftOut") == FIT + 3);
    cJSON_Delete(json);
    free(page);
    free(file);
    free(bytes);
}

TEST_OF(page_setup, a_damaged_image_is_told)
{
    save(fixture, "a.gif", "GIF", 3, "image/gif");
    append_delta(fixture, "artifactDelta", "{\"a.gif\":0}");
    raw_exec(fixture->path, "UPDATE artifact_chunks SET bytes = zeroblob(3)");
    run_ok("html", "oslo", "--images");
    assert_has(&reply.out, "image/gif, 3 bytes, cannot be read</p>");
    assert_lacks(&reply.out, "base64,AAAA\"");
}

TEST_OF(page_setup, hostile_artifacts_stay_texts)
{
    static const char evil[] = "<script>window.pwned=1</script>";

    save(fixture, evil, PNG, 8, "image/png\"><script>window.pwned=1</script>");
    save(fixture, "plain", "<svg onload=x>", 14, "image/svg+xml");
    append_delta(fixture, "artifactDelta", "{\"<script>window.pwned=1</script>\":0,\"plain\":0}");
    run_ok("html", "oslo", "--images");
    check_page(&reply.out);
    assert_has(&reply.out, "<code>&lt;script&gt;window.pwned=1&lt;/script&gt;</code> version 0, "
                           "image/png&quot;&gt;&lt;script&gt;");
    assert_lacks(&reply.out, "<script>window.pwned");
    assert_lacks(&reply.out, "image/svg+xml;base64");
}

TEST_OF(page_setup, artifacts_are_redacted_like_other_members)
{
    save(fixture, "secret", PNG, 8, "image/png");
    save(fixture, "open", "x", 1, "text/plain");
    append_delta(fixture, "artifactDelta", "{\"secret\":0,\"open\":0}");
    run_ok("html", "oslo", "--images", "--redact", "secret");
    check_page(&reply.out);
    assert_has(&reply.out, "artifact <code>secret</code> [redacted]</p>\n");
    assert_has(&reply.out, "artifact <code>open</code> version 0, text/plain, 1 byte</p>\n");
    assert_lacks(&reply.out, "iVBORw0KGgo=");
    run_ok("html", "oslo", "--redact", "artifactDelta");
    assert_has(&reply.out, "<code>artifactDelta</code> [redacted]");
    assert_lacks(&reply.out, "<code>open</code>");
}
