#include "content.h"

#include <string.h>

#include "out.h"

enum { INDENT = 4, SHORT = 240 /* columns of a call or response that is shortened */ };

static ses_content *open_content(struct run *run, const ses_event *event)
{
    ses_content *content = NULL;
    (void)ses_content_open(run->store, event->json, event->json_len, &content, &run->error);
    return content;
}

int content_check(struct run *run, const ses_event *event)
{
    ses_content *content = open_content(run, event);

    ses_content_close(content);
    return run->error.code == SES_JSON || run->error.code == SES_NOMEM ? run->error.code : SES_OK;
}

/* --------------------------------------------------------------------------------------------------- a line */

static void add_function(struct text *line, const char *arrow, const ses_function *function)
{
    if (line->len > 0)
        text_puts(line, "  ");
    text_puts(line, arrow);
    text_add(line, function->name.text ? function->name.text : "?",
             function->name.text ? function->name.len : 1);
    if (function->json.text) {
        text_puts(line, " ");
        text_add(line, function->json.text, function->json.len);
    }
}

static void add_functions(struct text *line, const ses_content *content)
{
    for (size_t i = 0; i < ses_content_response_count(content); i++)
        add_function(line, "\xe2\x86\x90 ", ses_content_response(content, i));
    for (size_t i = 0; i < ses_content_call_count(content); i++)
        add_function(line, "\xe2\x86\x92 ", ses_content_call(content, i));
}

void content_line(struct run *run, const ses_event *event, struct text *line)
{
    ses_content *content = open_content(run, event);
    size_t len = 0;
    const char *text = content ? ses_content_text(content, &len) : NULL;

    if (!content)
        text_print(line, "(cannot be read: %s)", run->error.message);
    if (text)
        text_add(line, text, len);
    if (content)
        add_functions(line, content);
    if (line->len == 0 && ses_content_part_count(content) > 0)
        text_puts(line, "(other parts)");
    ses_content_close(content);
}

/* ------------------------------------------------------------------------------------------------- in full */

/* The bytes of the line that fit, up to a blank if there is one. */
static size_t fitting_words(const char *line, size_t len, size_t columns)
{
    size_t fits = text_fitting(line, len, columns);

    if (fits == len)
        return len;
    for (size_t at = fits; at > fits / 2; at--)
        if (line[at] == ' ')
            return at;
    return fits > 0 ? fits : len;
}

/* Prints a clean text, each line indented and wrapped. */
static void put_wrapped(enum colour colour, const char *text, size_t len)
{
    size_t width = out_width();
    size_t columns = width == SIZE_MAX ? SIZE_MAX : width > 2 * INDENT ? width - INDENT : INDENT;

    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t line = end ? (size_t)(end - text) - at : len - at;
        size_t fits = fitting_words(text + at, line, columns);
        out_print("%*s", fits > 0 ? INDENT : 0, "");
        out_coloured(colour, text + at, fits);
        out_text("\n", 1);
        at += fits;
        if (at < len && (text[at] == '\n' || (text[at] == ' ' && fits < line)))
            at++;
    }
}

static void put_text(enum colour colour, const char *text, size_t len)
{
    struct text clean = {NULL, 0, 0};

    text_add_clean(&clean, text, len, LINES_KEEP);
    put_wrapped(colour, clean.data, clean.len);
    text_free(&clean);
}

static void put_function(const char *arrow, const ses_function *function, bool full)
{
    struct text line = {NULL, 0, 0};
    struct text clean = {NULL, 0, 0};

    add_function(&line, arrow, function);
    text_add_clean(&clean, line.data, line.len, LINES_ONE);
    size_t fits = full ? clean.len : text_fitting(clean.data, clean.len, SHORT);
    if (fits < clean.len) {
        clean.len = fits;
        text_puts(&clean, "\xe2\x80\xa6");
    }
    put_wrapped(COLOUR_YELLOW, clean.data, clean.len);
    text_free(&clean);
    text_free(&line);
}

static const char other_parts[] = "(other parts: see seslite events --json)";

static void put_content(const ses_content *content, bool full)
{
    size_t len = 0;
    const char *text = ses_content_text(content, &len);
    size_t calls = ses_content_call_count(content);
    size_t responses = ses_content_response_count(content);

    if (text)
        put_text(COLOUR_NONE, text, len);
    for (size_t i = 0; i < responses; i++)
        put_function("\xe2\x86\x90 ", ses_content_response(content, i), full);
    for (size_t i = 0; i < calls; i++)
        put_function("\xe2\x86\x92 ", ses_content_call(content, i), full);
    if (!text && calls + responses == 0 && ses_content_part_count(content) > 0)
        put_text(COLOUR_DIM, other_parts, strlen(other_parts));
}

void content_print(struct run *run, const ses_event *event, bool full)
{
    ses_content *content = open_content(run, event);

    if (content)
        put_content(content, full);
    else
        put_text(COLOUR_RED, run->error.message, strlen(run->error.message));
    ses_content_close(content);
}
