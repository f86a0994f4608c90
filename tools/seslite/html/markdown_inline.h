/* Emphasis, code and links within a line of Markdown. */
#ifndef HTML_MARKDOWN_INLINE_H
#define HTML_MARKDOWN_INLINE_H

#include "html/page.h"

/* The text was made by view.h. Of a link its text and its address are shown; nothing leads there. */
void markdown_inline_put(struct page *page, const char *text, size_t len);

#endif
