/* The pieces of a Markdown document: https://spec.commonmark.org/0.31.2. */
#ifndef SESLITE_AGENT_MARKDOWN_H
#define SESLITE_AGENT_MARKDOWN_H

#include "base/common.h"
#include "base/memory.h"

/*
 * Adds a text that is Markdown itself, and an empty line. Its headings become those of the third level and
 * below, so that only the document has some of the first and second. A fence that it leaves open is closed,
 * and it begins no block of HTML that an empty line would not end.
 */
SESLITE_PRIVATE void ses__markdown_text(struct buffer *out, struct span text);
/* Adds a plain text to a line of Markdown. */
SESLITE_PRIVATE void ses__markdown_plain(struct buffer *out, struct span text);
/* Adds a plain text to a line of HTML. */
SESLITE_PRIVATE void ses__markdown_html(struct buffer *out, struct span text);
/* Adds a block of code, and an empty line. The language is a word. */
SESLITE_PRIVATE void ses__markdown_code(struct buffer *out, const char *language, struct span code);

#endif
