/* Prepares JSON for a page: cleaned, redacted, and without inline data. */
#ifndef HTML_PAGE_VIEW_H
#define HTML_PAGE_VIEW_H

#include "html/page/redact.h"

enum layout {
    LAYOUT_LINE, /* on one line, without blanks */
    LAYOUT_LINES /* indented */
};

/* Adds a JSON text that the library has checked. */
void view_json(struct text *text, const struct redactor *redactor, const char *json, size_t len,
               enum layout layout);
/* Adds a value, on one line if it is short. */
void view_value(struct text *text, const struct redactor *redactor, const char *json, size_t len);
/* Adds a name as spelled in JSON, without the quotes, so that different names are shown differently. */
void view_name(struct text *text, const struct redactor *redactor, const char *name, size_t len);
/* Adds a text, cleaned line by line. */
void view_text(struct text *text, const struct redactor *redactor, const char *more, size_t len);

#endif
