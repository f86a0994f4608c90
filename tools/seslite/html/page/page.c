#include "html/page/page.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "output/out.h"

#if defined(__APPLE__)
#include <sys/random.h> /* getentropy, which is in unistd.h elsewhere */
#endif

int page_begin(struct page *page)
{
    unsigned char random[(NONCE_SIZE - 1) / 2];

    if (getentropy(random, sizeof random) != 0) {
        say("the system provides no random numbers");
        return EXIT_FAILED;
    }
    for (size_t i = 0; i < sizeof random; i++)
        (void)snprintf(page->nonce + 2 * i, 3, "%02x", random[i]);
    return EXIT_OK;
}

void page_puts(struct page *page, const char *markup)
{
    (void)fputs(markup, page->output.file); /* output_close reports a failure */
}

void page_print(struct page *page, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vfprintf(page->output.file, format, arguments);
    va_end(arguments);
}

/* ----------------------------------------------------------------------------------------------- escaping */

static const char *markup_for(char character)
{
    switch (character) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* JSON in a script must not contain markup or line breaks. Clean texts contain no other control
 * characters. */
static const char *escape_for(char character)
{
    switch (character) {
    case '&':
        return "\\u0026";
    case '<':
        return "\\u003c";
    case '>':
        return "\\u003e";
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    default:
        return NULL;
    }
}

static void put(struct page *page, const char *text, size_t len, const char *(*instead)(char))
{
    size_t begin = 0;

    for (size_t at = 0; at < len; at++) {
        const char *other = instead(text[at]);
        if (!other)
            continue;
        (void)fwrite(text + begin, 1, at - begin, page->output.file);
        page_puts(page, other);
        begin = at + 1;
    }
    (void)fwrite(text + begin, 1, len - begin, page->output.file);
}

static void put_and_free(struct page *page, struct text *clean)
{
    put(page, clean->data, clean->len, markup_for);
    text_free(clean);
}

void page_string(struct page *page, const struct text *text)
{
    page_puts(page, "\"");
    put(page, text->data, text->len, escape_for);
    page_puts(page, "\"");
}

void page_shown(struct page *page, const char *text, size_t len)
{
    put(page, text, len, markup_for);
}

void page_text(struct page *page, const char *text, size_t len)
{
    struct text clean = {NULL, 0, 0};

    view_text(&clean, &page->redactor, text, len);
    put_and_free(page, &clean);
}

void page_words(struct page *page, const char *text)
{
    page_text(page, text, strlen(text));
}

void page_json(struct page *page, const char *json, size_t len, enum layout layout)
{
    struct text clean = {NULL, 0, 0};

    view_json(&clean, &page->redactor, json, len, layout);
    put_and_free(page, &clean);
}

void page_json_short(struct page *page, const char *json, size_t len, size_t columns)
{
    struct text clean = {NULL, 0, 0};

    view_json(&clean, &page->redactor, json, len, LAYOUT_LINE);
    size_t fits = text_fitting(clean.data, clean.len, columns);
    if (fits < clean.len) {
        clean.len = fits;
        text_puts(&clean, "\xe2\x80\xa6");
    }
    put_and_free(page, &clean);
}

void page_name(struct page *page, const char *name, size_t len)
{
    struct text clean = {NULL, 0, 0};

    text_add(&clean, "", 0);
    view_name(&clean, &page->redactor, name, len);
    put_and_free(page, &clean);
}

/* -------------------------------------------------------------------------------------------------- times */

static void put_time(struct page *page, int64_t time_us, const char *shown)
{
    int64_t micro = (time_us % 1000000 + 1000000) % 1000000;
    time_t seconds = (time_t)((time_us - micro) / 1000000);
    struct tm parts;
    char machine[64];
    char people[64];

    if (!gmtime_r(&seconds, &parts) || strftime(machine, sizeof machine, "%Y-%m-%dT%H:%M:%S", &parts) == 0 ||
        strftime(people, sizeof people, shown, &parts) == 0) {
        page_print(page, "%" PRId64 " \xc2\xb5s", time_us);
        return;
    }
    page_print(page, "<time datetime=\"%s.%06" PRId64 "Z\">%s</time>", machine, micro, people);
}

void page_moment(struct page *page, int64_t time_us)
{
    put_time(page, time_us, "%Y-%m-%d %H:%M:%S");
}

void page_time_of_day(struct page *page, int64_t time_us)
{
    put_time(page, time_us, "%H:%M:%S");
}

void page_day(struct page *page, int64_t time_us)
{
    put_time(page, time_us, "%A, %e %B %Y");
}

void page_span(struct page *page, int64_t span_us)
{
    int64_t seconds = span_us / 1000000;

    if (seconds < 1)
        page_print(page, "%" PRId64 "\xc2\xa0ms", span_us / 1000);
    else if (seconds < 10)
        page_print(page, "%" PRId64 ".%" PRId64 "\xc2\xa0s", seconds, span_us / 100000 % 10);
    else if (seconds < 60)
        page_print(page, "%" PRId64 "\xc2\xa0s", seconds);
    else if (seconds < 3600)
        page_print(page, "%" PRId64 "\xc2\xa0min %" PRId64 "\xc2\xa0s", seconds / 60, seconds % 60);
    else if (seconds < 86400)
        page_print(page, "%" PRId64 "\xc2\xa0h %" PRId64 "\xc2\xa0min", seconds / 3600, seconds % 3600 / 60);
    else
        page_print(page,
                   "%" PRId64 "\xc2\xa0"
                   "d %" PRId64 "\xc2\xa0h",
                   seconds / 86400, seconds % 86400 / 3600);
}
