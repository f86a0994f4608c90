/*
 * The page being written. Data from the store enters it only through page_text, page_words, page_json,
 * page_json_short, page_name, page_shown and page_string. Each of them escapes markup. All except page_shown
 * and page_string, whose texts come from view.h, also redact secrets and make unreadable characters visible.
 * No data from the store is put inside a tag, except the base64 of an image (image.c).
 */
#ifndef HTML_PAGE_PAGE_H
#define HTML_PAGE_PAGE_H

#include "command.h"
#include "html/page/output.h"
#include "html/page/view.h"

enum { NONCE_SIZE = 33 };

/* The images of a page. Their size is bounded, so that a browser can open the page. */
enum { MAX_IMAGE_MIB = 8, MAX_IMAGES_MIB = 64 };
struct images {
    bool wanted;
    int64_t bytes; /* in the page so far */
    int64_t left_out;
};

struct page {
    struct run *run;
    struct output output;
    struct redactor redactor;
    struct images images;
    /* Permits the page's own style and script, and no other, to the content security policy. The page stays
     * the same each time it is opened, but every text in it was stored before the nonce was made, so that no
     * text can contain it. */
    char nonce[NONCE_SIZE];
};

/* Makes the nonce, of 128 random bits. Returns EXIT_OK, or prints the error. */
int page_begin(struct page *page);

/* Put our own markup. */
void page_puts(struct page *page, const char *markup);
void page_print(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Put a text. */
void page_text(struct page *page, const char *text, size_t len);
void page_words(struct page *page, const char *text);
void page_json(struct page *page, const char *json, size_t len, enum layout layout);
/* Puts the beginning of the JSON as one line of at most `columns`. */
void page_json_short(struct page *page, const char *json, size_t len, size_t columns);
/* Puts a state key or the name of a member. */
void page_name(struct page *page, const char *name, size_t len);
/* Puts a text from view_text, or a piece of it. */
void page_shown(struct page *page, const char *text, size_t len);
/* Puts a string in a JSON script. `text` comes from view.h. */
void page_string(struct page *page, const struct text *text);

/* Put a time in UTC, within <time>: "2023-11-14 22:13:21"; only the time of day; "Tuesday, 14 November
 * 2023". */
void page_moment(struct page *page, int64_t time_us);
void page_time_of_day(struct page *page, int64_t time_us);
void page_day(struct page *page, int64_t time_us);
/* Puts a span: "1.5 s", "3 min 20 s". */
void page_span(struct page *page, int64_t span_us);

#endif
