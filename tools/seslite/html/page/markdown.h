/* Converts Markdown, as models write it, to our own markup: only a small part of it, and never a link or
 * image. */
#ifndef HTML_PAGE_MARKDOWN_H
#define HTML_PAGE_MARKDOWN_H

#include "html/page/page.h"

/*
 * Puts a text with its headings, lists, quotes, tables, code, emphasis and rules. Everything else appears as
 * written. It takes linear time for any text.
 */
void markdown_put(struct page *page, const char *text, size_t len);

#endif
