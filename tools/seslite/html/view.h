/* JSON as a page shows it: clean, without what is hidden, and without inline data. */
#ifndef HTML_VIEW_H
#define HTML_VIEW_H

#include "html/redact.h"

enum layout {
    LAYOUT_LINE, /* all in a line, without blanks */
    LAYOUT_LINES /* indented */
};

/* Adds a JSON text that the library has checked. */
void view_json(struct text *text, const struct redactor *redactor, const char *json, size_t len,
               enum layout layout);
/* The same for a value, which is a line if it is short. */
void view_value(struct text *text, const struct redactor *redactor, const char *json, size_t len);
/* Adds a name as it stands within the quotes of JSON, so that two names that differ are shown differently. */
void view_name(struct text *text, const struct redactor *redactor, const char *name, size_t len);
/* Adds what a text says, clean, line by line. */
void view_text(struct text *text, const struct redactor *redactor, const char *more, size_t len);

#endif
