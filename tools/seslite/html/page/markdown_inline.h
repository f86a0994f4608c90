/* Emphasis, code and links within a line of Markdown. */
#ifndef HTML_PAGE_MARKDOWN_INLINE_H
#define HTML_PAGE_MARKDOWN_INLINE_H

#include "html/page/page.h"

/* The text comes from view.h. A link is shown as its text and address, and cannot be followed. */
void markdown_inline_put(struct page *page, const char *text, size_t len);

#endif
