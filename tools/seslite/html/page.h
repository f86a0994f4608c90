/*
 * The page that is being written. What comes from the store gets into it through page_text, page_words, page_json,
 * page_json_short, page_name, page_shown and page_string alone. Each of them escapes what is markup; all but page_shown and
 * page_string, which take texts of view.h, also hide what is to be hidden, and make visible what cannot be read. Nothing of
 * the store stands within a tag, but for the base64 of an image (image.c).
 */
#ifndef HTML_PAGE_H
#define HTML_PAGE_H

#include "command.h"
#include "html/output.h"
#include "html/view.h"

struct page {
    struct run *run;
    struct output output;
    struct redactor redactor;
    bool images; /* are included */
};

/* Our own markup. */
void page_puts(struct page *page, const char *markup);
void page_print(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What a text says. */
void page_text(struct page *page, const char *text, size_t len);
void page_words(struct page *page, const char *text);
void page_json(struct page *page, const char *json, size_t len, enum layout layout);
/* The beginning of the JSON, as one line of at most so many columns. */
void page_json_short(struct page *page, const char *json, size_t len, size_t columns);
/* A state key, or the name of a member. */
void page_name(struct page *page, const char *name, size_t len);
/* A text that view_text has made, or a piece of it. */
void page_shown(struct page *page, const char *text, size_t len);
/* A string in a script of JSON. `text` is of view.h. */
void page_string(struct page *page, const struct text *text);

/* "2023-11-14 22:13:21" in UTC, within <time>; only the time of day; and "Tuesday, 14 November 2023". */
void page_moment(struct page *page, int64_t time_us);
void page_time_of_day(struct page *page, int64_t time_us);
void page_day(struct page *page, int64_t time_us);
/* "1.5 s", "3 min 20 s". */
void page_span(struct page *page, int64_t span_us);

#endif
