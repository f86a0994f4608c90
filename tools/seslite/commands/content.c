#include "commands/content.h"

#include <string.h>

#include "commands/content_items.h"
#include "output/out.h"
#include "store/artifacts.h"

enum { INDENT = 4, SHORT = 240 /* columns of a shortened call or response */ };

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

/* ------------------------------------------------------------------------------------------------- a line */

static void add_to_line(void *context, enum content_item_kind kind, const struct text *words)
{
    struct text *line = context;

    if (kind == ITEM_THOUGHT)
        return;
    if (line->len > 0)
        text_puts(line, "  ");
    text_add(line, words->data, words->len);
}

static void add_saved_to_line(void *context, const struct text *name, int64_t version)
{
    struct text *line = context;

    text_puts(line, line->len > 0 ? "  [artifact " : "[artifact ");
    text_add(line, name->data, name->len);
    if (version >= 0)
        text_print(line, ", version %lld", (long long)version);
    text_puts(line, "]");
}

void content_line(struct run *run, const ses_event *event, const struct rewind *rewind, struct text *line)
{
    ses_content *content = open_content(run, event);

    if (content) {
        const ses_text actions = ses_content_actions(content);
        each_content_item(content, rewind, add_to_line, line);
        each_saved_artifact(&actions, add_saved_to_line, line);
    } else {
        text_print(line, "(cannot be read: %s)", run->error.message);
    }
    if (rewind && rewind->gone)
        text_puts(line, "  (taken back)");
    if (line->len == 0 && ses_content_part_count(content) > 0)
        text_puts(line, "[thought]");
    ses_content_close(content);
}

/* ------------------------------------------------------------------------------------------------ in full */

/* The number of bytes that fit on the line, up to a blank if there is one. */
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

/* A call or a response, as one line. */
static void put_function(const struct text *words, bool full)
{
    struct text clean = {NULL, 0, 0};

    text_add_clean(&clean, words->data, words->len, LINES_ONE);
    size_t fits = full ? clean.len : text_fitting(clean.data, clean.len, SHORT);
    if (fits < clean.len) {
        clean.len = fits;
        text_puts(&clean, "\xe2\x80\xa6");
    }
    put_wrapped(COLOUR_YELLOW, clean.data, clean.len);
    text_free(&clean);
}

static void put_item(void *context, enum content_item_kind kind, const struct text *words)
{
    static const enum colour colours[] = {[ITEM_TEXT] = COLOUR_NONE,
                                          [ITEM_THOUGHT] = COLOUR_DIM,
                                          [ITEM_CODE] = COLOUR_CYAN,
                                          [ITEM_OTHER] = COLOUR_DIM,
                                          [ITEM_ERROR] = COLOUR_RED};
    const bool *full = context;

    if (kind == ITEM_CALL || kind == ITEM_RESPONSE)
        put_function(words, *full);
    else if (kind == ITEM_THOUGHT && !*full)
        put_text(COLOUR_DIM, "[thought]", strlen("[thought]"));
    else
        put_text(colours[kind], words->data, words->len);
}

static void put_saved(void *context, const struct text *name, int64_t version)
{
    struct run *run = context;
    struct text words = {NULL, 0, 0};
    ses_artifact *artifact = open_saved_artifact(run, name, version);

    add_saved_to_line(&words, name, version);
    words.len--; /* the bracket */
    if (artifact)
        artifact_type_words(&words, ses_artifact_info_of(artifact));
    else
        text_print(&words, ": %s", run->error.code == SES_NOTFOUND ? "not in the store" : run->error.message);
    text_puts(&words, "]");
    put_text(COLOUR_DIM, words.data, words.len);
    ses_artifact_close(artifact);
    text_free(&words);
}

void content_print(struct run *run, const ses_event *event, const struct rewind *rewind, bool full)
{
    ses_content *content = open_content(run, event);

    if (content) {
        const ses_text actions = ses_content_actions(content);
        each_content_item(content, rewind, put_item, &full);
        each_saved_artifact(&actions, put_saved, run);
    } else {
        put_text(COLOUR_RED, run->error.message, strlen(run->error.message));
    }
    ses_content_close(content);
}
