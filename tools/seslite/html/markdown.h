/* Markdown, as models write it, becomes our own markup: a small part of it, and never a link or an image. */
#ifndef HTML_MARKDOWN_H
#define HTML_MARKDOWN_H

#include "html/page.h"

/*
 * Puts a text with its headings, lists, quotes, tables, code, emphasis and rules. Everything else stands as it was written.
 * The time it takes grows with the length of the text, whatever is in it.
 */
void markdown_put(struct page *page, const char *text, size_t len);

#endif
